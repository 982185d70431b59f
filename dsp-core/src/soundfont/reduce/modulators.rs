//! Splits the modulator lists of zones into modulators of a global zone and of each zone.

use alloc::vec::Vec;

use super::super::modulator::{Destination, Modulator};
use super::shared_value::shared_value;

/// The modulators that are written. A reader of the file builds the complete lists from them.
pub(super) struct SplitModulators {
    /// Modulators of the global zone.
    pub(super) global_modulators: Vec<Modulator>,
    /// Modulators of each zone.
    pub(super) local_modulators: Vec<Vec<Modulator>>,
}

/// Splits the complete modulator lists of the zones of a preset or instrument. Each list starts
/// with the modulators of `defaults`, possibly with other amounts.
pub(super) fn split(lists: &[&[Modulator]], defaults: &[Modulator]) -> SplitModulators {
    let has_links = |list: &&[Modulator]| {
        list.iter().any(|modulator| matches!(modulator.destination, Destination::Modulator(_)))
    };
    if lists.iter().any(has_links) {
        // A link and its destination must be in the same zone, so no modulator is written to the
        // global zone.
        let local_modulators = lists.iter().map(|list| zone_with_links(list, defaults)).collect();
        return SplitModulators { global_modulators: Vec::new(), local_modulators };
    }
    let Some((first, other_lists)) = lists.split_first() else {
        return SplitModulators { global_modulators: Vec::new(), local_modulators: Vec::new() };
    };
    let common_count = (0..first.len())
        .find(|&index| {
            !other_lists
                .iter()
                .all(|list| list.get(index).is_some_and(|modulator| is_replacement(modulator, &first[index])))
        })
        .unwrap_or(first.len());
    // The global zone has the amounts for which the zones need the fewest records. A zone with
    // another amount replaces the modulator.
    let amounts = |index: usize| lists.iter().map(move |list| list[index].amount);
    let mut base: Vec<Modulator> = defaults.to_vec();
    let mut global = Vec::new();
    for index in 0..common_count {
        let amount = match defaults.get(index) {
            Some(default) => shared_value(amounts(index), default.amount).0,
            None => shared_value(amounts(index), first[index].amount).0,
        };
        let modulator = Modulator { amount, ..first[index] };
        match base.get_mut(index) {
            Some(entry) if entry.amount == amount => {}
            Some(entry) => {
                *entry = modulator;
                global.push(modulator);
            }
            // If there is only one zone, all of its modulators are local.
            None if lists.len() > 1 => {
                base.push(modulator);
                global.push(modulator);
            }
            None => {}
        }
    }
    let local_part = |list: &&[Modulator]| {
        let (shared_modulators, additional) = list.split_at(base.len());
        let pairs = shared_modulators.iter().zip(&base);
        let changed_modulators =
            pairs.filter(|(modulator, base)| modulator != base).map(|(modulator, _)| *modulator);
        changed_modulators.chain(additional.iter().copied()).collect()
    };
    SplitModulators { local_modulators: lists.iter().map(local_part).collect(), global_modulators: global }
}

/// Returns the modulators to write for a zone with links. The destinations of links become indices
/// of the written modulators.
fn zone_with_links(list: &[Modulator], defaults: &[Modulator]) -> Vec<Modulator> {
    let is_written = |index: usize| defaults.get(index) != Some(&list[index]);
    let written_before =
        |index: u16| (0..usize::from(index)).filter(|&index| is_written(index)).count() as u16;
    let indices = (0..list.len()).filter(|&index| is_written(index));
    indices
        .map(|index| match list[index].destination {
            Destination::Modulator(target) => {
                Modulator { destination: Destination::Modulator(written_before(target)), ..list[index] }
            }
            Destination::Generator(_) => list[index],
        })
        .collect()
}

/// Whether a reader replaces `earlier_modulator` by `later_modulator` (section 7.4).
fn is_replacement(later_modulator: &Modulator, earlier_modulator: &Modulator) -> bool {
    later_modulator.destination == earlier_modulator.destination
        && later_modulator.has_same_operators(earlier_modulator)
}
