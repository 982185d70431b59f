//! The order of the strips, which also respects removed routes that still fade out.

use alloc::collections::BTreeSet;

use super::routing::topological_order;
use super::{Destination, MixGraph};
use crate::mixer::channel::rack::EffectRack;
use crate::mixer::channel::route::Route;

impl MixGraph {
    /// Sorts the strips such that each comes after all strips that feed it. A removed route that
    /// would close a loop is cut, and the declicker at its destination removes the click.
    pub(crate) fn update_order(&mut self, racks: &[EffectRack]) {
        let count = self.strips.len();
        let order = |pairs: &BTreeSet<(usize, usize)>| {
            let fed_by = |source_index: usize| {
                pairs.range((source_index, 0)..(source_index + 1, 0)).map(|pair| pair.1).collect()
            };
            topological_order(count, fed_by).ok()
        };
        let side_chains = racks.iter().enumerate().flat_map(|(destination_index, rack)| {
            let inputs = rack.side_chains.iter().filter_map(|side_chain| side_chain.source_index);
            inputs.map(move |source_index| (source_index, destination_index))
        });
        let mut pairs: BTreeSet<(usize, usize)> = self.pairs(false).chain(side_chains).collect();
        self.unedited_order = order(&pairs).unwrap_or_else(|| (0..count).collect());
        self.order = self.unedited_order.clone();
        let removed_pairs: BTreeSet<(usize, usize)> = self.pairs(true).collect();
        for pair in removed_pairs {
            let is_new = pairs.insert(pair);
            if let Some(order) = order(&pairs) {
                self.order = order;
            } else if is_new {
                pairs.remove(&pair);
                self.cut(pair);
            }
        }
    }

    /// Returns pairs of strips of which the first feeds the second. If `is_removed` is true, only
    /// removed routes are considered, otherwise only routes that are not removed.
    fn pairs(&self, is_removed: bool) -> impl Iterator<Item = (usize, usize)> {
        self.strips.iter().enumerate().flat_map(move |(source_index, strip)| {
            let routes = strip.routes.iter();
            let routes = routes.filter(move |route| route.is_removed() == is_removed && !route.has_ended());
            routes.filter_map(move |route| match route.destination {
                Destination::Strip(destination_index) => Some((source_index, destination_index)),
                Destination::Master => None,
            })
        })
    }

    fn cut(&mut self, (source_index, destination_index): (usize, usize)) {
        self.strips[destination_index].input_declicker.switch();
        let routes = self.strips[source_index].routes.iter_mut();
        let cut = routes
            .filter(|route| route.is_removed() && route.destination == Destination::Strip(destination_index));
        cut.for_each(Route::cut);
    }
}
