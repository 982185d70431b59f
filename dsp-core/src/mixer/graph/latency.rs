//! Latency compensation, by which all signals of a sum get the same latency.

use alloc::vec;
use alloc::vec::Vec;

use super::routing::{Destination, Routing, SideChainSettings};

/// Latencies in frames, relative to the session's clock.
pub(crate) struct Latencies {
    /// Latency at the input of each track's effects, which is the highest latency of the strip's
    /// inputs.
    pub(crate) inputs: Vec<usize>,
    /// Latency at the output of each track's effects.
    pub(crate) outputs: Vec<usize>,
    /// Latency at the input of the master's effects.
    pub(crate) master: usize,
}

impl Latencies {
    /// Computes the latencies. `effect_latency(track, effect)` returns the latency of a track's
    /// effects before the effect at an index, or of all its effects if `effect` is `None`. The
    /// track `None` is the master.
    pub(crate) fn compute(
        routing: &Routing,
        effect_latency: impl Fn(Option<usize>, Option<usize>) -> usize,
    ) -> Self {
        let count = routing.routes.len();
        let (mut inputs, mut outputs, mut master) = (vec![0; count], vec![0; count], 0);
        // A side-chain signal must have the same latency as the signal at the input of its effect.
        let for_side_chains = |track: Option<usize>, side_chains: &[SideChainSettings], outputs: &[usize]| {
            let latency = |side_chain: &SideChainSettings| {
                outputs[side_chain.source_index]
                    .saturating_sub(effect_latency(track, Some(side_chain.effect)))
            };
            side_chains.iter().map(latency).max().unwrap_or(0)
        };
        for &index in &routing.order {
            let latency = for_side_chains(Some(index), &routing.side_chains[index], &outputs);
            inputs[index] = latency.max(inputs[index]);
            outputs[index] = inputs[index] + effect_latency(Some(index), None);
            for route in &routing.routes[index] {
                let input = match route.destination {
                    Destination::Master => &mut master,
                    Destination::Strip(strip_index) => &mut inputs[strip_index],
                };
                *input = outputs[index].max(*input);
            }
        }
        master = for_side_chains(None, &routing.master_side_chains, &outputs).max(master);
        Self { inputs, outputs, master }
    }

    /// Returns the delay of a route in frames.
    pub(crate) fn route_delay(&self, source_index: usize, destination: Destination) -> usize {
        let input = match destination {
            Destination::Master => self.master,
            Destination::Strip(strip_index) => self.inputs[strip_index],
        };
        input - self.outputs[source_index]
    }
}
