//! The longest silence after which a mix may sound again without new input.

use alloc::vec;

use super::Destination;
use crate::mixer::Mixer;
use crate::mixer::channel::rack::EffectRack;

impl Mixer {
    /// The largest sum of [`crate::effects::Effect::longest_silence_frames`] along a signal path,
    /// side-chains included: the signal of a side-chain may open a gate.
    ///
    /// Latency compensation adds nothing: it delays the signal by as much as the session is
    /// delayed. Neither do the shared reverb and chorus, which are silent for at most 70 ms: a
    /// render waits longer in any case.
    pub(crate) fn longest_silence_frames(&self) -> usize {
        let strips = &self.graph.strips;
        let mut silences_frames = vec![0; strips.len()];
        let mut master_silence_frames = 0;
        for &index in &self.graph.order {
            let rack = &self.racks[index];
            silences_frames[index] = sidechain_silence_frames(rack, &silences_frames)
                .max(silences_frames[index])
                + rack.longest_silence_frames();
            for route in &strips[index].routes {
                let silence_frames = silences_frames[index];
                let input = match route.to {
                    Destination::Master => &mut master_silence_frames,
                    Destination::Strip(to) => &mut silences_frames[to],
                };
                *input = silence_frames.max(*input);
            }
        }
        let rack = &self.graph.master.rack;
        sidechain_silence_frames(rack, &silences_frames).max(master_silence_frames)
            + rack.longest_silence_frames()
    }
}

fn sidechain_silence_frames(rack: &EffectRack, silences_frames: &[usize]) -> usize {
    let inputs = rack.sidechains.iter().filter_map(|sidechain| sidechain.from);
    inputs.map(|from| silences_frames[from]).max().unwrap_or(0)
}
