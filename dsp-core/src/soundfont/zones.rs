//! Reads the zones of presets and instruments and merges them with their global zones (sections 7.2
//! to 7.9).

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops;

use super::generator::{Generator, GeneratorKind};
use super::generators::Generators;
use super::modulator::Modulator;
use super::modulator_lists::{ModulatorListBuilder, ZoneScope};
use super::records::u16_at;
use super::skipped::BankIssueReason;

/// A range of keys or velocities, including both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Range {
    pub(crate) low: u8,
    pub(crate) high: u8,
}

impl Range {
    pub(super) const FULL: Self = Self { low: 0, high: 127 };

    pub(crate) const fn contains(self, value: u8) -> bool {
        self.low <= value && value <= self.high
    }
}

/// A zone of a preset or of an instrument, merged with its global zone.
#[derive(Debug, Clone)]
pub(super) struct Zone {
    pub(super) keys: Range,
    pub(super) velocities: Range,
    pub(super) generators: Generators,
    pub(super) modulators: Arc<[Modulator]>,
    /// Index of the instrument or sample that the zone plays.
    pub(super) target: usize,
}

/// The tables for the zones of all presets or of all instruments. `generators` and `modulators` are
/// without the terminal record.
pub(super) struct ZoneTables<'a> {
    /// The generator that ends the list of a zone. Its amount is the index of the instrument or
    /// sample that the zone plays.
    pub(super) target: Generator,
    /// "instrument" or "sample", for messages.
    pub(super) target_name: &'static str,
    /// The first generator and the first modulator of each zone. The terminal record has the end of
    /// the last zone.
    pub(super) bags: &'a [[u8; 4]],
    pub(super) generators: &'a [[u8; 4]],
    pub(super) modulators: &'a [[u8; 10]],
}

/// Maximum number of reads per record of a table, on average. In a valid bank each record is read
/// once. If lists overlap, records are read more often, which takes memory and time.
const READS_MAX: usize = 2;

/// Maximum number of records of a table, because lists refer to them by 16-bit indices (sections
/// 7.2 to 7.9).
const INDEXED_MAX: usize = 1 << 16;

/// Number of records that the lists of a bank may still read, for each table.
pub(super) struct ReadBudgets {
    zones: ReadBudget,
    generators: ReadBudget,
    modulators: ReadBudget,
}

/// Number of records that the lists of a bank may still read from a table.
struct ReadBudget {
    /// The kind of record in the plural, for messages.
    kind: &'static str,
    limit: usize,
    remaining: usize,
}

impl ReadBudget {
    fn new(kind: &'static str, records: usize) -> Self {
        let limit = READS_MAX * records.min(INDEXED_MAX);
        Self { kind, limit, remaining: limit }
    }

    /// Subtracts `count` records. Returns an error if fewer remain.
    fn spend(&mut self, count: usize) -> Result<(), BankIssueReason> {
        let &mut Self { kind, limit, remaining } = self;
        self.remaining =
            remaining.checked_sub(count).ok_or(BankIssueReason::SharedList { kind, count, limit })?;
        Ok(())
    }
}

/// Ranges and generators of a zone.
#[derive(Clone)]
struct ZoneValues {
    keys: Range,
    velocities: Range,
    generators: Generators,
}

/// A problem, with the index of its zone in the list. The index is `None` for a problem of the
/// whole list.
pub(super) type ZoneProblem = (Option<usize>, BankIssueReason);

impl ZoneTables<'_> {
    /// Returns the number of records that all lists may read in total, for each table.
    pub(super) fn read_budgets(&self) -> ReadBudgets {
        ReadBudgets {
            zones: ReadBudget::new("zones", self.bags.len() - 1),
            generators: ReadBudget::new("generators", self.generators.len()),
            modulators: ReadBudget::new("modulators", self.modulators.len()),
        }
    }

    /// Reads the zones of a preset or instrument. `bags` is the range of their records. `check`
    /// returns an error if the instrument or sample with an index cannot be played. Calls `skip`
    /// for each problem. Zones that cannot be played are left out.
    pub(super) fn zones(
        &self,
        budgets: &mut ReadBudgets,
        bags: ops::Range<usize>,
        check: impl Fn(usize) -> Result<(), BankIssueReason>,
        mut skip: impl FnMut(ZoneProblem),
    ) -> Vec<Zone> {
        let limit = self.bags.len() - 1;
        if bags.start > bags.end || bags.end > limit {
            skip((None, BankIssueReason::List { kind: "zones", start: bags.start, end: bags.end, limit }));
            return Vec::new();
        }
        if let Err(reason) = budgets.zones.spend(bags.len()) {
            skip((None, reason));
            return Vec::new();
        }
        let mut zones: Vec<Zone> = Vec::new();
        let mut global = self.defaults();
        let mut global_modulators = match self.target {
            Generator::SampleId => ModulatorListBuilder::defaults(),
            _ => ModulatorListBuilder::empty(),
        };
        let mut inherited_modulators = global_modulators.finish(ZoneScope::Local, |_| {});
        for (number, bag) in bags.enumerate() {
            let mut skip = |reason| skip((Some(number), reason));
            let generators = match self.list(bag, 0, self.generators, &mut budgets.generators) {
                Ok(generators) => generators,
                Err(reason) => {
                    skip(reason);
                    continue;
                }
            };
            let modulators = self.list(bag, 2, self.modulators, &mut budgets.modulators);
            let modulators = modulators.unwrap_or_else(|reason| {
                skip(reason);
                &[]
            });
            let mut values = global.clone();
            let target = self.read_generators(generators, &mut values, &mut skip);
            let Some(target) = target else {
                if number == 0 {
                    global = values;
                    global_modulators.add(ZoneScope::Global, modulators, &mut skip);
                    inherited_modulators = global_modulators.finish(ZoneScope::Global, &mut skip);
                } else {
                    skip(BankIssueReason::NoTarget(self.target_name));
                }
                continue;
            };
            let mut list = Arc::clone(&inherited_modulators);
            if !modulators.is_empty() {
                let mut builder = global_modulators.clone();
                builder.add(ZoneScope::Local, modulators, &mut skip);
                list = builder.finish(ZoneScope::Local, &mut skip);
                // Most zones of an instrument have the same modulators. They share one list to save
                // memory.
                if let Some(last) = zones.last().filter(|last| last.modulators == list) {
                    list = Arc::clone(&last.modulators);
                }
            }
            let ZoneValues { keys, velocities, generators } = values;
            let problem = check(target)
                .and_then(|()| check_range("key range", keys))
                .and_then(|()| check_range("velocity range", velocities));
            match problem {
                Ok(()) => zones.push(Zone { keys, velocities, generators, modulators: list, target }),
                Err(reason) => skip(reason),
            }
        }
        zones
    }

    /// Returns the values of a zone without generators.
    fn defaults(&self) -> ZoneValues {
        let generators = match self.target {
            Generator::SampleId => Generators::DEFAULTS,
            _ => Generators::NO_OFFSETS,
        };
        ZoneValues { keys: Range::FULL, velocities: Range::FULL, generators }
    }

    /// Returns the generator or modulator records of a zone. `offset` is that of the index of the
    /// first record in a bag, in bytes.
    fn list<'t, const N: usize>(
        &self,
        bag: usize,
        offset: usize,
        table: &'t [[u8; N]],
        budget: &mut ReadBudget,
    ) -> Result<&'t [[u8; N]], BankIssueReason> {
        let [start, end] = [bag, bag + 1].map(|bag| usize::from(u16_at(&self.bags[bag], offset)));
        if start == end {
            return Ok(&[]);
        }
        let kind = budget.kind;
        let records =
            table.get(start..end).ok_or(BankIssueReason::List { kind, start, end, limit: table.len() })?;
        budget.spend(records.len())?;
        Ok(records)
    }

    /// Reads the generators of a zone into `values`, which the caller sets to those of the global
    /// zone. Returns the index of the instrument or sample that the zone plays.
    fn read_generators(
        &self,
        records: &[[u8; 4]],
        values: &mut ZoneValues,
        mut skip: impl FnMut(BankIssueReason),
    ) -> Option<usize> {
        let is_key_range = |record: Option<&[u8; 4]>| {
            record.is_some_and(|record| u16_at(record, 0) == Generator::KeyRange as u16)
        };
        for (position, record) in records.iter().enumerate() {
            let (number, amount) = (u16_at(record, 0), u16_at(record, 2));
            match Generator::from_number(number) {
                // Generators after the target are ignored (section 8.1.2, numbers 41 and 53).
                Some(generator) if generator == self.target => return Some(usize::from(amount)),
                Some(Generator::KeyRange) => match position {
                    0 => values.keys = range(amount),
                    _ => skip(BankIssueReason::MisplacedRange("key range")),
                },
                Some(Generator::VelRange) => match position {
                    0 => values.velocities = range(amount),
                    1 if is_key_range(records.first()) => values.velocities = range(amount),
                    _ => skip(BankIssueReason::MisplacedRange("velocity range")),
                },
                Some(generator) => {
                    self.set_generator(generator, amount.cast_signed(), &mut values.generators);
                }
                None => skip(BankIssueReason::UnknownGenerator(number)),
            }
        }
        None
    }

    /// Sets a generator, if zones of this kind can have it.
    fn set_generator(&self, generator: Generator, amount: i16, generators: &mut Generators) {
        match (self.target, generator.kind()) {
            (_, GeneratorKind::Structure) => {}
            (Generator::SampleId, _) => generators.set_value(generator, generator.instrument_value(amount)),
            // The amount is an offset in a preset. Only its sum with the instrument's value is
            // clamped.
            (_, GeneratorKind::Value) => generators.set_value(generator, amount),
            (_, GeneratorKind::InstrumentOnly | GeneratorKind::Substitution) => {}
        }
    }
}

/// Converts an amount to a range. The low byte is the lower end (section 8.1.2, number 43).
fn range(amount: u16) -> Range {
    let [low, high] = amount.to_le_bytes();
    Range { low, high: high.min(127) }
}

/// Returns an error for an empty range.
fn check_range(kind: &'static str, range: Range) -> Result<(), BankIssueReason> {
    let Range { low, high } = range;
    if low > high { Err(BankIssueReason::EmptyRange { kind, low, high }) } else { Ok(()) }
}
