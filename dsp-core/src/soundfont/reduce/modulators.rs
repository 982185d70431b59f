//! Modulators of a list of zones: those of a global zone, and those of each zone.

use alloc::vec::Vec;

use super::super::modulators::{Destination, Modulator};
use super::zones::cheapest;

/// What to write so that every zone's list is the same when it is read.
pub(super) struct Modulators {
    pub(super) global: Vec<Modulator>,
    pub(super) own: Vec<Vec<Modulator>>,
}

/// Splits the complete lists of some zones, each of which begins with `defaults`, of which the
/// amounts may differ.
pub(super) fn split(lists: &[&[Modulator]], defaults: &[Modulator]) -> Modulators {
    let has_links = |list: &&[Modulator]| {
        list.iter().any(|modulator| matches!(modulator.destination, Destination::Modulator(_)))
    };
    if lists.iter().any(has_links) {
        // Links only lead to modulators of their own zone.
        let own = lists.iter().map(|list| linked(list, defaults)).collect();
        return Modulators { global: Vec::new(), own };
    }
    let Some((first, others)) = lists.split_first() else {
        return Modulators { global: Vec::new(), own: Vec::new() };
    };
    let common = (0..first.len())
        .find(|&place| {
            !others.iter().all(|list| list.get(place).is_some_and(|it| is_twin(it, &first[place])))
        })
        .unwrap_or(first.len());
    // Where one list for all begins with the fewest records: amounts may still differ in zones.
    let amounts = |place: usize| lists.iter().map(move |list| list[place].amount);
    let mut base: Vec<Modulator> = defaults.to_vec();
    let mut global = Vec::new();
    for place in 0..common {
        let amount = match defaults.get(place) {
            Some(default) => cheapest(amounts(place), default.amount).0,
            None => cheapest(amounts(place), first[place].amount).0,
        };
        let modulator = Modulator { amount, ..first[place] };
        match base.get_mut(place) {
            Some(own) if own.amount == amount => {}
            Some(own) => {
                *own = modulator;
                global.push(modulator);
            }
            // One zone alone needs no global zone.
            None if lists.len() > 1 => {
                base.push(modulator);
                global.push(modulator);
            }
            None => {}
        }
    }
    let own = |list: &&[Modulator]| {
        let (begin, rest) = list.split_at(base.len());
        let changed = begin.iter().zip(&base).filter(|(own, base)| own != base).map(|(own, _)| *own);
        changed.chain(rest.iter().copied()).collect()
    };
    Modulators { own: lists.iter().map(own).collect(), global }
}

/// The modulators of a zone with links, which lead to places among those that are written.
fn linked(list: &[Modulator], defaults: &[Modulator]) -> Vec<Modulator> {
    let is_written = |place: usize| defaults.get(place) != Some(&list[place]);
    let written_before =
        |place: u16| (0..usize::from(place)).filter(|&place| is_written(place)).count() as u16;
    let places = (0..list.len()).filter(|&place| is_written(place));
    places
        .map(|place| match list[place].destination {
            Destination::Modulator(target) => {
                Modulator { destination: Destination::Modulator(written_before(target)), ..list[place] }
            }
            Destination::Generator(_) => list[place],
        })
        .collect()
}

/// Whether one replaces the other when it is read after it (section 7.4).
fn is_twin(one: &Modulator, other: &Modulator) -> bool {
    one.destination == other.destination && one.acts_like(other)
}
