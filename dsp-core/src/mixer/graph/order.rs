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
            let fed_by = |from: usize| pairs.range((from, 0)..(from + 1, 0)).map(|pair| pair.1).collect();
            topological_order(count, fed_by).ok()
        };
        let sidechains = racks.iter().enumerate().flat_map(|(to, rack)| {
            let inputs = rack.sidechains.iter().filter_map(|sidechain| sidechain.from);
            inputs.map(move |from| (from, to))
        });
        let mut pairs: BTreeSet<(usize, usize)> = self.pairs(false).chain(sidechains).collect();
        self.unedited_order = order(&pairs).unwrap_or_else(|| (0..count).collect());
        self.order = self.unedited_order.clone();
        let removed: BTreeSet<(usize, usize)> = self.pairs(true).collect();
        for pair in removed {
            let is_new = pairs.insert(pair);
            if let Some(order) = order(&pairs) {
                self.order = order;
            } else if is_new {
                pairs.remove(&pair);
                self.cut(pair);
            }
        }
    }

    /// Returns pairs of strips of which the first feeds the second. If `removed` is true, only
    /// removed routes are considered, otherwise only routes that are not removed.
    fn pairs(&self, removed: bool) -> impl Iterator<Item = (usize, usize)> {
        self.strips.iter().enumerate().flat_map(move |(from, strip)| {
            let routes = strip.routes.iter();
            let routes = routes.filter(move |route| route.is_removed() == removed && !route.has_ended());
            routes.filter_map(move |route| match route.to {
                Destination::Strip(to) => Some((from, to)),
                Destination::Master => None,
            })
        })
    }

    fn cut(&mut self, (from, to): (usize, usize)) {
        self.strips[to].input_declicker.switch();
        let routes = self.strips[from].routes.iter_mut();
        let cut = routes.filter(|route| route.is_removed() && route.to == Destination::Strip(to));
        cut.for_each(Route::cut);
    }
}
