//! The longest silence after which a mix may become audible again without new input.

use alloc::vec;

use super::Destination;
use crate::mixer::Mixer;
use crate::mixer::channel::rack::EffectRack;

impl Mixer {
    /// Returns the largest sum of [`crate::effects::Effect::longest_silence_frames`] along a signal
    /// path. Side-chains count as signal paths, because the signal of a side-chain may open a gate.
    ///
    /// Latency compensation adds no silence, because it delays all signals equally. The shared
    /// reverb and chorus are silent for at most 70 ms. They are ignored, because a render always
    /// waits longer.
    pub(crate) fn longest_silence_frames(&self) -> usize {
        let strips = &self.graph.strips;
        let mut silences_frames = vec![0; strips.len()];
        let mut master_silence_frames = 0;
        for &index in &self.graph.order {
            let rack = &self.racks[index];
            silences_frames[index] = side_chain_silence_frames(rack, &silences_frames)
                .max(silences_frames[index])
                + rack.longest_silence_frames();
            for route in &strips[index].routes {
                let silence_frames = silences_frames[index];
                let input = match route.destination {
                    Destination::Master => &mut master_silence_frames,
                    Destination::Strip(destination_index) => &mut silences_frames[destination_index],
                };
                *input = silence_frames.max(*input);
            }
        }
        let rack = &self.graph.master.rack;
        side_chain_silence_frames(rack, &silences_frames).max(master_silence_frames)
            + rack.longest_silence_frames()
    }
}

fn side_chain_silence_frames(rack: &EffectRack, silences_frames: &[usize]) -> usize {
    let inputs = rack.side_chains.iter().filter_map(|side_chain| side_chain.source_index);
    inputs.map(|source_index| silences_frames[source_index]).max().unwrap_or(0)
}
