//! The modulators that a zone has in the end: the defaults, those of the global zone and its own
//! (sections 7.4, 8.4 and 9.5.4).

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::default_modulators_table::DEFAULT_MODULATORS;
use super::modulators::{self, Controller, Destination, Modulator, Target};
use super::skipped::Reason;

/// Most modulators of a zone.
pub(super) const MOST_MODULATORS: usize = 64;

/// Which zone a modulator stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Global,
    Own,
}

/// Where a modulator stands in the file: its zone and its number there.
type Place = (Level, u16);

#[derive(Debug, Clone, Copy)]
struct Entry {
    modulator: Modulator,
    /// The place that a link leads to.
    link: Option<Place>,
    level: Option<Level>,
}

/// A list in the making.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    entries: Vec<Entry>,
    /// Where in `entries` the modulators of the file went.
    places: Vec<(Place, usize)>,
}

impl Draft {
    pub(super) const fn empty() -> Self {
        Self { entries: Vec::new(), places: Vec::new() }
    }

    pub(super) fn defaults() -> Self {
        let entry = |modulator| Entry { modulator, link: None, level: None };
        Self { entries: DEFAULT_MODULATORS.into_iter().map(entry).collect(), places: Vec::new() }
    }

    /// Adds the modulators of a zone. One that is identical to an earlier one but for its amount
    /// takes its place.
    pub(super) fn add(&mut self, level: Level, records: &[[u8; 10]], mut skip: impl FnMut(Reason)) {
        let mut too_many = false;
        for (number, record) in (0..).zip(records) {
            let (modulator, target) = match modulators::read(record) {
                Ok(read) => read,
                Err(reason) => {
                    skip(reason);
                    continue;
                }
            };
            let link = match target {
                Target::Generator(_) => None,
                Target::Link(index) => Some((level, index)),
            };
            let entry = Entry { modulator, link, level: Some(level) };
            let place = match self.entries.iter().position(|other| other.is_identical(&entry)) {
                Some(place) => {
                    self.entries[place] = entry;
                    place
                }
                None if self.entries.len() == MOST_MODULATORS => {
                    too_many = true;
                    continue;
                }
                None => {
                    self.entries.push(entry);
                    self.entries.len() - 1
                }
            };
            self.places.push(((level, number), place));
        }
        if too_many {
            skip(Reason::TooManyModulators(MOST_MODULATORS));
        }
    }

    /// The list. Links that lead nowhere are left out; of these, those of `level` are reported.
    pub(super) fn finish(&self, level: Level, mut skip: impl FnMut(Reason)) -> Arc<[Modulator]> {
        let targets: Vec<_> =
            self.entries.iter().map(|entry| entry.link.map(|link| self.find(link))).collect();
        let mut alive: Vec<bool> = (0..targets.len()).map(|place| ends(place, &targets)).collect();
        loop {
            let before = alive.clone();
            for (place, entry) in self.entries.iter().enumerate() {
                let leads_on = match targets[place] {
                    None => true,
                    Some(target) => target.is_some_and(|target| {
                        alive[target] && self.entries[target].modulator.source.controller == Controller::Link
                    }),
                };
                let is_fed = entry.modulator.source.controller != Controller::Link
                    || (0..targets.len()).any(|other| alive[other] && targets[other] == Some(Some(place)));
                alive[place] &= leads_on && is_fed;
            }
            if alive == before {
                break;
            }
        }
        let mut new_places = Vec::with_capacity(alive.len());
        let mut next = 0;
        for &is_alive in &alive {
            new_places.push(next);
            next += u16::from(is_alive);
        }
        for (number, entry) in self.entries.iter().enumerate() {
            if !alive[number] && entry.level == Some(level) {
                skip(Reason::ModulatorLink(self.number_in_file(number)));
            }
        }
        (0..alive.len())
            .filter(|&place| alive[place])
            .map(|place| {
                let modulator = self.entries[place].modulator;
                match targets[place] {
                    Some(Some(target)) => {
                        Modulator { destination: Destination::Modulator(new_places[target]), ..modulator }
                    }
                    _ => modulator,
                }
            })
            .collect()
    }

    fn find(&self, link: Place) -> Option<usize> {
        self.places.iter().find(|(place, _)| *place == link).map(|&(_, place)| place)
    }

    /// The number in its zone of the modulator that went to a place last.
    fn number_in_file(&self, entry: usize) -> usize {
        let place = self.places.iter().rev().find(|(_, place)| *place == entry);
        place.map_or(0, |((_, number), _)| usize::from(*number))
    }
}

/// Whether the links from one place end, rather than going round in a circle.
fn ends(place: usize, targets: &[Option<Option<usize>>]) -> bool {
    let mut here = place;
    for _ in 0..targets.len() {
        match targets[here] {
            Some(Some(next)) => here = next,
            _ => return true,
        }
    }
    false
}

impl Entry {
    /// Section 7.4: the same but for the amount.
    fn is_identical(&self, other: &Self) -> bool {
        let (own, theirs) = (&self.modulator, &other.modulator);
        self.link == other.link
            && own.source == theirs.source
            && own.amount_source == theirs.amount_source
            && own.transform == theirs.transform
            // Of a link, the destination is only an index in its own zone.
            && (self.link.is_some() || own.destination == theirs.destination)
    }
}
