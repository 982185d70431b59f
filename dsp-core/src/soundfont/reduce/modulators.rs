//! Splits the modulators of zones into those of a global zone and those of each zone.

use alloc::vec::Vec;

use super::super::modulator::{Destination, Modulator};
use super::shared_value::shared_value;

/// The modulators to write, from which a reader builds the complete list of every zone.
pub(super) struct SplitModulators {
    pub(super) global: Vec<Modulator>,
    /// Modulators of each zone.
    pub(super) local: Vec<Vec<Modulator>>,
}

/// Splits the complete lists of some zones. Each list starts with `defaults`, whose amounts may
/// differ.
pub(super) fn split(lists: &[&[Modulator]], defaults: &[Modulator]) -> SplitModulators {
    let has_links = |list: &&[Modulator]| {
        list.iter().any(|modulator| matches!(modulator.destination, Destination::Modulator(_)))
    };
    if lists.iter().any(has_links) {
        // The destination of a link is a modulator of the same zone.
        let local = lists.iter().map(|list| linked(list, defaults)).collect();
        return SplitModulators { global: Vec::new(), local };
    }
    let Some((first, others)) = lists.split_first() else {
        return SplitModulators { global: Vec::new(), local: Vec::new() };
    };
    let common = (0..first.len())
        .find(|&index| {
            !others.iter().all(|list| list.get(index).is_some_and(|it| is_replacement(it, &first[index])))
        })
        .unwrap_or(first.len());
    // The global zone states the amounts that need the fewest records; zones may replace them.
    let amounts = |index: usize| lists.iter().map(move |list| list[index].amount);
    let mut base: Vec<Modulator> = defaults.to_vec();
    let mut global = Vec::new();
    for index in 0..common {
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
            // A single zone needs no global zone.
            None if lists.len() > 1 => {
                base.push(modulator);
                global.push(modulator);
            }
            None => {}
        }
    }
    let local = |list: &&[Modulator]| {
        let (shared, further) = list.split_at(base.len());
        let pairs = shared.iter().zip(&base);
        let changed = pairs.filter(|(modulator, base)| modulator != base).map(|(modulator, _)| *modulator);
        changed.chain(further.iter().copied()).collect()
    };
    SplitModulators { local: lists.iter().map(local).collect(), global }
}

/// The modulators of a zone with links, whose destinations become indices among the written ones.
fn linked(list: &[Modulator], defaults: &[Modulator]) -> Vec<Modulator> {
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

/// Whether a modulator replaces an earlier one when it is read (section 7.4).
fn is_replacement(later: &Modulator, earlier: &Modulator) -> bool {
    later.destination == earlier.destination && later.has_same_operators(earlier)
}
