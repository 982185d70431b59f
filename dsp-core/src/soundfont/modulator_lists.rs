//! Builds the complete modulator list of a zone: the default modulators, those of the global zone
//! and those of the zone itself (sections 7.4, 8.4 and 9.5.4).

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::default_modulators_table::DEFAULT_MODULATORS;
use super::modulator::{Controller, Destination, Modulator};
use super::modulator_records::{self, Target};
use super::skipped::BankIssueReason;
use super::velocity_to_cutoff::VelocityToCutoffForm;

/// Maximum number of modulators of a zone, including the default modulators.
pub(super) const MODULATORS_MAX: usize = 64;

/// The zone to which a modulator belongs in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ZoneScope {
    /// The global zone of the preset or instrument.
    Global,
    /// The zone itself.
    Local,
}

/// Position of a modulator in the file: its zone, and its index in that zone.
type FilePosition = (ZoneScope, u16);

/// A modulator in the list of a zone.
#[derive(Debug, Clone, Copy)]
struct Entry {
    modulator: Modulator,
    /// The destination, if it is a modulator.
    link: Option<FilePosition>,
    /// The zone of the modulator; `None` for default modulators.
    scope: Option<ZoneScope>,
}

/// Builds the modulator list of a zone.
#[derive(Debug, Clone)]
pub(super) struct ModulatorListBuilder {
    entries: Vec<Entry>,
    /// Position of each modulator in the file, and its index in `entries`.
    indices: Vec<(FilePosition, usize)>,
}

impl ModulatorListBuilder {
    /// Creates an empty list, for preset zones.
    pub(super) const fn empty() -> Self {
        Self { entries: Vec::new(), indices: Vec::new() }
    }

    /// Creates a list of the default modulators, for instrument zones.
    pub(super) fn defaults() -> Self {
        let entry = |modulator| Entry { modulator, link: None, scope: None };
        Self { entries: DEFAULT_MODULATORS.into_iter().map(entry).collect(), indices: Vec::new() }
    }

    /// Adds the modulators of a zone. A modulator replaces an earlier one that is identical except
    /// for the amount. Calls `skip` for each modulator that is left out.
    pub(super) fn add(
        &mut self,
        scope: ZoneScope,
        records: &[[u8; 10]],
        mut skip: impl FnMut(BankIssueReason),
    ) {
        let mut has_too_many = false;
        for (number, record) in (0..).zip(records) {
            let (modulator, target) = match modulator_records::read(record) {
                Ok(modulator) => modulator,
                Err(reason) => {
                    skip(reason);
                    continue;
                }
            };
            let link = match target {
                Target::Generator(_) => None,
                Target::Link(index) => Some((scope, index)),
            };
            let entry = Entry { modulator, link, scope: Some(scope) };
            let index = match self.entries.iter().position(|earlier_entry| earlier_entry.is_identical(&entry))
            {
                Some(index) => {
                    self.entries[index] = entry;
                    index
                }
                None if self.entries.len() == MODULATORS_MAX => {
                    has_too_many = true;
                    continue;
                }
                None => {
                    self.entries.push(entry);
                    self.entries.len() - 1
                }
            };
            self.indices.push(((scope, number), index));
        }
        if has_too_many {
            skip(BankIssueReason::TooManyModulators(MODULATORS_MAX));
        }
    }

    /// Returns the list without broken links. Calls `skip` for the broken links of the zone
    /// `scope`.
    pub(super) fn finish(&self, scope: ZoneScope, mut skip: impl FnMut(BankIssueReason)) -> Arc<[Modulator]> {
        let entries = self.with_one_velocity_to_cutoff();
        let find = |link| Some(self.indices.iter().find(|(position, _)| *position == link)?.1);
        let has_links = |entry: &Entry| entry.link.is_some() || entry.has_linked_source();
        if !entries.iter().any(has_links) {
            return entries.iter().map(|entry| entry.modulator).collect();
        }
        let mut links = Links {
            targets: entries.iter().map(|entry| entry.link.map(find)).collect(),
            entries,
            is_valid: Vec::new(),
        };
        links.mark_broken_links();
        for (index, entry) in self.entries.iter().enumerate() {
            if !links.is_valid[index] && entry.scope == Some(scope) {
                skip(BankIssueReason::ModulatorLink(self.index_in_file(index)));
            }
        }
        links.merge_identical_links();
        links.list()
    }

    /// Returns the entries. If the list has the velocity-to-cutoff modulators of both 2.01 and
    /// 2.04, sets the amount of the older form to 0. Banks have both because older players know
    /// only the form of 2.01.
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

    /// Returns the index in the file, within its zone, of the last modulator that was stored in an
    /// entry.
    fn index_in_file(&self, entry: usize) -> usize {
        let last = self.indices.iter().rev().find(|(_, index)| *index == entry);
        last.map_or(0, |((_, number), _)| usize::from(*number))
    }
}

impl Entry {
    /// Whether the source of the modulator is the sum of the modulators that link to it.
    fn has_linked_source(&self) -> bool {
        self.modulator.source.controller == Controller::Link
    }

    /// Whether the two entries are identical except for the amount (section 7.4).
    fn is_identical(&self, entry: &Self) -> bool {
        self.link == entry.link
            // For a link, `modulator.destination` is an index in its zone. `link` includes it.
            && (self.link.is_some() || self.modulator.destination == entry.modulator.destination)
            && self.modulator.has_same_operators(&entry.modulator)
    }
}

/// A modulator list with resolved links.
struct Links {
    entries: Vec<Entry>,
    /// Index of the modulator to which each modulator links; `Some(None)` if it does not exist.
    /// `None` for modulators whose destination is a generator.
    targets: Vec<Option<Option<usize>>>,
    is_valid: Vec<bool>,
}

impl Links {
    /// Marks modulators as invalid: links to modulators without a linked source, linked sources
    /// without a link to them, and cycles of links.
    fn mark_broken_links(&mut self) {
        let count = self.entries.len();
        self.is_valid = (0..count).map(|index| self.has_end(index)).collect();
        loop {
            let was_valid = self.is_valid.clone();
            for (index, entry) in self.entries.iter().enumerate() {
                let has_destination = match self.targets[index] {
                    None => true,
                    Some(target) => target.is_some_and(|target| {
                        self.is_valid[target] && self.entries[target].has_linked_source()
                    }),
                };
                let has_source = !entry.has_linked_source()
                    || (0..count)
                        .any(|source| self.is_valid[source] && self.targets[source] == Some(Some(index)));
                self.is_valid[index] &= has_destination && has_source;
            }
            if self.is_valid == was_valid {
                break;
            }
        }
    }

    /// Whether the chain of links that starts at an entry ends. If it does not, it is a cycle.
    fn has_end(&self, start: usize) -> bool {
        let mut index = start;
        for _ in 0..self.targets.len() {
            match self.targets[index] {
                Some(Some(next)) => index = next,
                _ => return true,
            }
        }
        false
    }

    /// Replaces links of the global zone by identical links of the zone itself.
    fn merge_identical_links(&mut self) {
        while let Some((first, second)) = self.identical_links() {
            self.entries[first].modulator.amount = self.entries[second].modulator.amount;
            self.is_valid[second] = false;
            for target in &mut self.targets {
                if *target == Some(Some(second)) {
                    *target = Some(Some(first));
                }
            }
        }
    }

    /// Returns the indices of two valid links that are identical except for the amount.
    fn identical_links(&self) -> Option<(usize, usize)> {
        let count = self.entries.len();
        let pairs = (0..count).flat_map(|second| (0..second).map(move |first| (first, second)));
        pairs.into_iter().find(|&(first, second)| {
            self.is_valid[first]
                && self.is_valid[second]
                && self.targets[first].is_some()
                && self.targets[first] == self.targets[second]
                && self.entries[first].modulator.has_same_operators(&self.entries[second].modulator)
        })
    }

    /// Returns the valid modulators, with new indices as destinations of the links.
    fn list(&self) -> Arc<[Modulator]> {
        let mut new_indices = Vec::with_capacity(self.is_valid.len());
        let mut next = 0;
        for &is_valid in &self.is_valid {
            new_indices.push(next);
            next += u16::from(is_valid);
        }
        (0..self.is_valid.len())
            .filter(|&index| self.is_valid[index])
            .map(|index| {
                let modulator = self.entries[index].modulator;
                match self.targets[index] {
                    Some(Some(target)) => {
                        Modulator { destination: Destination::Modulator(new_indices[target]), ..modulator }
                    }
                    _ => modulator,
                }
            })
            .collect()
    }
}
