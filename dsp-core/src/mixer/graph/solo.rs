//! Mute and solo.

use super::{Destination, MixGraph};
use crate::mixer::channel::rack::EffectRack;
use crate::mixer::channel::side_chain::SideChain;
use crate::mixer::channel::strip::ChannelStrip;

impl MixGraph {
    /// Opens and closes the routes according to mute and solo.
    ///
    /// The routes of a muted track are closed. While any track is soloed, a route is open only in
    /// two cases. Either a soloed track is before or after the route in the signal flow, or the
    /// route leads to the side-chain of the master or of a track that is audible by this rule.
    /// Removed routes that fade out are ignored. `racks` are those of the strips.
    pub(crate) fn update_mute_and_solo(&mut self, racks: &[EffectRack]) {
        let strips = &mut self.strips;
        let mut has_solo = false;
        for strip in strips.iter_mut() {
            let is_soloed = strip.fader.mix().is_soloed && !strip.is_removed;
            (strip.is_fed_by_solo, strip.feeds_solo) = (is_soloed, is_soloed);
            has_solo |= is_soloed;
        }
        for &index in &self.order {
            for route in 0..strips[index].routes.len() {
                let route = &strips[index].routes[route];
                if let (Destination::Strip(destination_index), false) =
                    (route.destination, route.is_removed())
                {
                    strips[destination_index].is_fed_by_solo |= strips[index].is_fed_by_solo;
                }
            }
        }
        feed_solo(strips, &self.master.rack.side_chains);
        for &index in self.order.iter().rev() {
            for route_index in 0..strips[index].routes.len() {
                let route = &strips[index].routes[route_index];
                if route.is_removed() {
                    continue;
                }
                let feeds_solo = match route.destination {
                    Destination::Master => false,
                    Destination::Strip(destination_index) => strips[destination_index].feeds_solo,
                };
                let strip = &mut strips[index];
                strip.feeds_solo |= feeds_solo;
                let is_audible = !has_solo || strip.is_fed_by_solo || feeds_solo;
                strip.routes[route_index].set_open(is_audible && !strip.fader.mix().is_muted);
            }
            if strips[index].is_fed_by_solo || strips[index].feeds_solo {
                feed_solo(strips, &racks[index].side_chains);
            }
        }
    }
}

/// Marks the sources of side-chains whose tracks are audible while a track is soloed.
fn feed_solo(strips: &mut [ChannelStrip], side_chains: &[SideChain]) {
    for source_index in side_chains.iter().filter_map(|side_chain| side_chain.source_index) {
        strips[source_index].feeds_solo = true;
    }
}
