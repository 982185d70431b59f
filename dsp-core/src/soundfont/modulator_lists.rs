//! The modulators that a zone has in the end: the defaults, those of the global zone and its own
//! (sections 7.4, 8.4 and 9.5.4).

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::default_modulators_table::DEFAULT_MODULATORS;
use super::modulators::{self, Controller, Destination, Modulator, Target, VelocityToCutoffForm};
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
        let entries = self.with_one_velocity_to_cutoff();
        let find = |link| Some(self.places.iter().find(|(place, _)| *place == link)?.1);
        let has_links = |entry: &Entry| entry.link.is_some() || entry.waits();
        if !entries.iter().any(has_links) {
            return entries.iter().map(|entry| entry.modulator).collect();
        }
        let mut links = Links {
            targets: entries.iter().map(|entry| entry.link.map(find)).collect(),
            entries,
            alive: Vec::new(),
        };
        links.leave_out_dead_ends();
        for (number, entry) in self.entries.iter().enumerate() {
            if !links.alive[number] && entry.level == Some(level) {
                skip(Reason::ModulatorLink(self.number_in_file(number)));
            }
        }
        links.unite_twins();
        links.list()
    }

    /// The entries. The form of version 2.01 of velocity to cutoff has an amount of 0 where the
    /// form of 2.04 stands, too: banks state their curve in the latter, and the former for older
    /// players.
    fn with_one_velocity_to_cutoff(&self) -> Vec<Entry> {
        let has = |entry: &Entry, form| entry.modulator.velocity_to_cutoff_form() == Some(form);
        let mut entries = self.entries.clone();
        if entries.iter().any(|entry| has(entry, VelocityToCutoffForm::Of2_04)) {
            for entry in &mut entries {
                if has(entry, VelocityToCutoffForm::Of2_01) {
                    entry.modulator.amount = 0;
                }
            }
        }
        entries
    }

    /// The number in its zone of the modulator that went to a place last.
    fn number_in_file(&self, entry: usize) -> usize {
        let place = self.places.iter().rev().find(|(_, place)| *place == entry);
        place.map_or(0, |((_, number), _)| usize::from(*number))
    }
}

impl Entry {
    /// Whether its source is other modulators.
    fn waits(&self) -> bool {
        self.modulator.source.controller == Controller::Link
    }

    /// Section 7.4: the same but for the amount.
    fn is_identical(&self, other: &Self) -> bool {
        self.link == other.link
            // Of a link, the destination is only an index in its own zone.
            && (self.link.is_some() || self.modulator.destination == other.modulator.destination)
            && self.modulator.acts_like(&other.modulator)
    }
}

/// A list of which the links are followed.
struct Links {
    entries: Vec<Entry>,
    /// Of a link, the place in the list it leads to, if there is one.
    targets: Vec<Option<Option<usize>>>,
    alive: Vec<bool>,
}

impl Links {
    /// Links end in a modulator that waits for one, and every such modulator has a link.
    fn leave_out_dead_ends(&mut self) {
        let count = self.entries.len();
        self.alive = (0..count).map(|place| self.ends(place)).collect();
        loop {
            let before = self.alive.clone();
            for (place, entry) in self.entries.iter().enumerate() {
                let leads_on = match self.targets[place] {
                    None => true,
                    Some(target) => {
                        target.is_some_and(|target| self.alive[target] && self.entries[target].waits())
                    }
                };
                let is_fed = !entry.waits()
                    || (0..count).any(|other| self.alive[other] && self.targets[other] == Some(Some(place)));
                self.alive[place] &= leads_on && is_fed;
            }
            if self.alive == before {
                break;
            }
        }
    }

    /// Whether the links from one place end, rather than going round in a circle.
    fn ends(&self, place: usize) -> bool {
        let mut here = place;
        for _ in 0..self.targets.len() {
            match self.targets[here] {
                Some(Some(next)) => here = next,
                _ => return true,
            }
        }
        false
    }

    /// Links of the global zone and of the zone itself can turn out to be identical; then, too,
    /// the later one takes the earlier one's place.
    fn unite_twins(&mut self) {
        while let Some((first, second)) = self.twins() {
            self.entries[first].modulator.amount = self.entries[second].modulator.amount;
            self.alive[second] = false;
            for target in &mut self.targets {
                if *target == Some(Some(second)) {
                    *target = Some(Some(first));
                }
            }
        }
    }

    fn twins(&self) -> Option<(usize, usize)> {
        let count = self.entries.len();
        let pairs = (0..count).flat_map(|second| (0..second).map(move |first| (first, second)));
        pairs.into_iter().find(|&(first, second)| {
            self.alive[first]
                && self.alive[second]
                && self.targets[first].is_some()
                && self.targets[first] == self.targets[second]
                && self.entries[first].modulator.acts_like(&self.entries[second].modulator)
        })
    }

    fn list(&self) -> Arc<[Modulator]> {
        let mut new_places = Vec::with_capacity(self.alive.len());
        let mut next = 0;
        for &is_alive in &self.alive {
            new_places.push(next);
            next += u16::from(is_alive);
        }
        (0..self.alive.len())
            .filter(|&place| self.alive[place])
            .map(|place| {
                let modulator = self.entries[place].modulator;
                match self.targets[place] {
                    Some(Some(target)) => {
                        Modulator { destination: Destination::Modulator(new_places[target]), ..modulator }
                    }
                    _ => modulator,
                }
            })
            .collect()
    }
}
