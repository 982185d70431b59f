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
        let mut gaps = vec![0; strips.len()];
        let mut master_gap = 0;
        for &index in &self.graph.order {
            let rack = &self.racks[index];
            gaps[index] = sidechain_gap(rack, &gaps).max(gaps[index]) + rack.longest_silence_frames();
            for route in &strips[index].routes {
                let gap = gaps[index];
                let input = match route.to {
                    Destination::Master => &mut master_gap,
                    Destination::Strip(to) => &mut gaps[to],
                };
                *input = gap.max(*input);
            }
        }
        let rack = &self.graph.master.rack;
        sidechain_gap(rack, &gaps).max(master_gap) + rack.longest_silence_frames()
    }
}

fn sidechain_gap(rack: &EffectRack, gaps: &[usize]) -> usize {
    let inputs = rack.sidechains.iter().filter_map(|sidechain| sidechain.from);
    inputs.map(|from| gaps[from]).max().unwrap_or(0)
}
