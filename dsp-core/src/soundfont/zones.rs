//! Zones of presets and instruments, each merged with its global zone (sections 7.2 to 7.9).

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops;

use super::generators::{Generator, Generators, Use};
use super::modulator_lists::{Draft, Level};
use super::modulators::Modulator;
use super::records::u16_at;
use super::skipped::Reason;

/// Keys or velocities, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Range {
    pub(crate) low: u8,
    pub(crate) high: u8,
}

impl Range {
    pub(super) const ALL: Self = Self { low: 0, high: 127 };

    pub(crate) const fn contains(self, value: u8) -> bool {
        self.low <= value && value <= self.high
    }
}

/// A zone of a preset or of an instrument, with what it has from its global zone.
#[derive(Debug, Clone)]
pub(super) struct Zone {
    pub(super) keys: Range,
    pub(super) velocities: Range,
    pub(super) generators: Generators,
    pub(super) modulators: Arc<[Modulator]>,
    /// Index of what it plays.
    pub(super) target: usize,
}

/// Presets or instruments: the tables of their zones, without the terminal records.
pub(super) struct ZoneTables<'a> {
    /// The generator that ends a zone's list and names what it plays.
    pub(super) target: Generator,
    pub(super) target_name: &'static str,
    /// With the terminal record, which says where the last zone ends.
    pub(super) bags: &'a [[u8; 4]],
    pub(super) generators: &'a [[u8; 4]],
    pub(super) modulators: &'a [[u8; 10]],
}

/// How often the lists of a bank may read each record of a table, on average. In a sound bank, one
/// list reads it once. Lists that overlap read it again, at the cost of memory and time.
const MOST_READS: usize = 2;

/// Most records of a table that lists can name, by 16 bits (sections 7.2 to 7.9).
const MOST_NAMED: usize = 1 << 16;

/// Number of records that the lists of a bank may still read from its tables.
pub(super) struct Allowances {
    zones: Allowance,
    generators: Allowance,
    modulators: Allowance,
}

struct Allowance {
    /// What the records are.
    what: &'static str,
    limit: usize,
    remaining: usize,
}

impl Allowance {
    fn new(what: &'static str, records: usize) -> Self {
        let limit = MOST_READS * records.min(MOST_NAMED);
        Self { what, limit, remaining: limit }
    }

    fn take(&mut self, count: usize) -> Result<(), Reason> {
        let &mut Self { what, limit, remaining } = self;
        self.remaining = remaining.checked_sub(count).ok_or(Reason::SharedList { what, count, limit })?;
        Ok(())
    }
}

/// What a zone has, or what it begins with from its global zone.
#[derive(Clone)]
struct Settings {
    keys: Range,
    velocities: Range,
    generators: Generators,
}

/// A complaint, about one zone of the list or about all of it.
pub(super) type Complaint = (Option<usize>, Reason);

impl ZoneTables<'_> {
    /// What all lists of these tables may read together.
    pub(super) fn allowances(&self) -> Allowances {
        Allowances {
            zones: Allowance::new("zones", self.bags.len() - 1),
            generators: Allowance::new("generators", self.generators.len()),
            modulators: Allowance::new("modulators", self.modulators.len()),
        }
    }

    /// The zones from one bag to another that play something; `check` says whether an index can
    /// be played.
    pub(super) fn zones(
        &self,
        allowances: &mut Allowances,
        bags: ops::Range<usize>,
        check: impl Fn(usize) -> Result<(), Reason>,
        mut skip: impl FnMut(Complaint),
    ) -> Vec<Zone> {
        let limit = self.bags.len() - 1;
        if bags.start > bags.end || bags.end > limit {
            skip((None, Reason::List { what: "zones", start: bags.start, end: bags.end, limit }));
            return Vec::new();
        }
        if let Err(reason) = allowances.zones.take(bags.len()) {
            skip((None, reason));
            return Vec::new();
        }
        let mut zones: Vec<Zone> = Vec::new();
        let mut base = self.defaults();
        let mut base_modulators = match self.target {
            Generator::SampleId => Draft::defaults(),
            _ => Draft::empty(),
        };
        let mut inherited = base_modulators.finish(Level::Own, |_| {});
        for (number, bag) in bags.enumerate() {
            let mut skip = |reason| skip((Some(number), reason));
            let generators = match self.list(bag, 0, self.generators, &mut allowances.generators) {
                Ok(generators) => generators,
                Err(reason) => {
                    skip(reason);
                    continue;
                }
            };
            let modulators = self.list(bag, 2, self.modulators, &mut allowances.modulators);
            let modulators = modulators.unwrap_or_else(|reason| {
                skip(reason);
                &[]
            });
            let mut settings = base.clone();
            let target = self.read_generators(generators, &mut settings, &mut skip);
            let Some(target) = target else {
                if number == 0 {
                    base = settings;
                    base_modulators.add(Level::Global, modulators, &mut skip);
                    inherited = base_modulators.finish(Level::Global, &mut skip);
                } else {
                    skip(Reason::NoTarget(self.target_name));
                }
                continue;
            };
            let mut list = Arc::clone(&inherited);
            if !modulators.is_empty() {
                let mut draft = base_modulators.clone();
                draft.add(Level::Own, modulators, &mut skip);
                list = draft.finish(Level::Own, &mut skip);
                // Most zones of an instrument have the same modulators; they share one list.
                if let Some(last) = zones.last().filter(|last| last.modulators == list) {
                    list = Arc::clone(&last.modulators);
                }
            }
            let Settings { keys, velocities, generators } = settings;
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

    fn defaults(&self) -> Settings {
        let generators = match self.target {
            Generator::SampleId => Generators::DEFAULTS,
            _ => Generators::NO_OFFSETS,
        };
        Settings { keys: Range::ALL, velocities: Range::ALL, generators }
    }

    /// The generators or modulators of a zone.
    fn list<'t, const N: usize>(
        &self,
        bag: usize,
        offset: usize,
        table: &'t [[u8; N]],
        allowance: &mut Allowance,
    ) -> Result<&'t [[u8; N]], Reason> {
        let [start, end] = [bag, bag + 1].map(|bag| usize::from(u16_at(&self.bags[bag], offset)));
        if start == end {
            return Ok(&[]);
        }
        let what = allowance.what;
        let records = table.get(start..end).ok_or(Reason::List { what, start, end, limit: table.len() })?;
        allowance.take(records.len())?;
        Ok(records)
    }

    /// Reads a zone's generators into what it has from its global zone; returns what it plays.
    fn read_generators(
        &self,
        records: &[[u8; 4]],
        settings: &mut Settings,
        mut skip: impl FnMut(Reason),
    ) -> Option<usize> {
        let is_key_range = |record: Option<&[u8; 4]>| {
            record.is_some_and(|record| u16_at(record, 0) == Generator::KeyRange as u16)
        };
        for (place, record) in records.iter().enumerate() {
            let (number, amount) = (u16_at(record, 0), u16_at(record, 2));
            match Generator::from_number(number) {
                // What follows it does not count (section 8.1.2, numbers 41 and 53).
                Some(generator) if generator == self.target => return Some(usize::from(amount)),
                Some(Generator::KeyRange) => match place {
                    0 => settings.keys = range(amount),
                    _ => skip(Reason::MisplacedRange("key range")),
                },
                Some(Generator::VelRange) => match place {
                    0 => settings.velocities = range(amount),
                    1 if is_key_range(records.first()) => settings.velocities = range(amount),
                    _ => skip(Reason::MisplacedRange("velocity range")),
                },
                Some(generator) => self.set(generator, amount.cast_signed(), &mut settings.generators),
                None => skip(Reason::UnknownGenerator(number)),
            }
        }
        None
    }

    fn set(&self, generator: Generator, amount: i16, generators: &mut Generators) {
        match (self.target, generator.usage()) {
            (_, Use::Structure) => {}
            (Generator::SampleId, _) => generators.set(generator, generator.instrument_value(amount)),
            // In a preset, an offset: only the sum has to be in the range.
            (_, Use::Value) => generators.set(generator, amount),
            (_, Use::InstrumentOnly | Use::Substitution) => {}
        }
    }
}

/// The low byte is the lower end (section 8.1.2, number 43).
fn range(amount: u16) -> Range {
    let [low, high] = amount.to_le_bytes();
    Range { low, high: high.min(127) }
}

fn check_range(what: &'static str, range: Range) -> Result<(), Reason> {
    let Range { low, high } = range;
    if low > high { Err(Reason::EmptyRange { what, low, high }) } else { Ok(()) }
}
