//! Latency compensation: all signals of a sum arrive with the same latency.

use alloc::vec;
use alloc::vec::Vec;

use super::routing::{Destination, Routing, SidechainSettings};

/// Latencies in frames, relative to the session's clock.
pub(crate) struct Latencies {
    /// At the input of each track's effects: that of its slowest input.
    pub(crate) inputs: Vec<usize>,
    /// At the output of each track's effects.
    pub(crate) outputs: Vec<usize>,
    /// At the input of the master's effects.
    pub(crate) master: usize,
}

impl Latencies {
    /// `effect_latency(track, effect)` is the latency of a track's effects before the one at an
    /// index, or of all of them for `None`. The master is the track `None`.
    pub(crate) fn of(
        routing: &Routing,
        effect_latency: impl Fn(Option<usize>, Option<usize>) -> usize,
    ) -> Self {
        let count = routing.routes.len();
        let (mut inputs, mut outputs, mut master) = (vec![0; count], vec![0; count], 0);
        // A side-chain signal must arrive with the signal that reaches its effect.
        let for_sidechains = |track: Option<usize>, sidechains: &[SidechainSettings], outputs: &[usize]| {
            let latency = |sidechain: &SidechainSettings| {
                outputs[sidechain.from].saturating_sub(effect_latency(track, Some(sidechain.effect)))
            };
            sidechains.iter().map(latency).max().unwrap_or(0)
        };
        for &index in &routing.order {
            let latency = for_sidechains(Some(index), &routing.sidechains[index], &outputs);
            inputs[index] = latency.max(inputs[index]);
            outputs[index] = inputs[index] + effect_latency(Some(index), None);
            for route in &routing.routes[index] {
                let input = match route.to {
                    Destination::Master => &mut master,
                    Destination::Strip(to) => &mut inputs[to],
                };
                *input = outputs[index].max(*input);
            }
        }
        master = for_sidechains(None, &routing.master_sidechains, &outputs).max(master);
        Self { inputs, outputs, master }
    }

    /// The delay of a route in frames.
    pub(crate) fn route_delay(&self, from: usize, to: Destination) -> usize {
        let input = match to {
            Destination::Master => self.master,
            Destination::Strip(to) => self.inputs[to],
        };
        input - self.outputs[from]
    }
}
