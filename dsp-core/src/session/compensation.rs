//! By how many frames sound lags the clock at every place of the mix, so that all that meets has
//! the same lag.

use alloc::vec;
use alloc::vec::Vec;

use super::edge::Destination;
use super::routing::{Graph, SideRoute};

/// Lags in frames.
pub(super) struct Lags {
    /// Where the effects of each track begin: that of the slowest that it hears.
    pub(super) inputs: Vec<usize>,
    /// Behind the effects of each track.
    pub(super) outputs: Vec<usize>,
    /// Where the master's effects begin.
    pub(super) master: usize,
}

impl Lags {
    /// `latency_frames` is that of all effects of a track, or of those before one of them, of
    /// which `None` asks for all; the master is `None`.
    pub(super) fn of(graph: &Graph, latency_frames: impl Fn(Option<usize>, Option<usize>) -> usize) -> Self {
        let count = graph.routes.len();
        let (mut inputs, mut outputs, mut master) = (vec![0; count], vec![0; count], 0);
        // What a side-chain hears must be there when the sound gets to its effect.
        let for_sides = |track: Option<usize>, sides: &[SideRoute], outputs: &[usize]| {
            let lag = |side: &SideRoute| {
                outputs[side.from].saturating_sub(latency_frames(track, Some(side.effect)))
            };
            sides.iter().map(lag).max().unwrap_or(0)
        };
        for &place in &graph.order {
            inputs[place] = for_sides(Some(place), &graph.sides[place], &outputs).max(inputs[place]);
            outputs[place] = inputs[place] + latency_frames(Some(place), None);
            for route in &graph.routes[place] {
                let input = match route.to {
                    Destination::Master => &mut master,
                    Destination::Strip(to) => &mut inputs[to],
                };
                *input = outputs[place].max(*input);
            }
        }
        master = for_sides(None, &graph.master_sides, &outputs).max(master);
        Self { inputs, outputs, master }
    }

    /// How long a way from a track has to wait.
    pub(super) fn delay_frames(&self, from: usize, to: Destination) -> usize {
        let input = match to {
            Destination::Master => self.master,
            Destination::Strip(to) => self.inputs[to],
        };
        input - self.outputs[from]
    }
}
