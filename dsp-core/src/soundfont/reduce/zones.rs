//! Writes the zones of presets and instruments (sections 7.3 to 7.5 and 7.7 to 7.9). Values that
//! most zones of a preset or instrument share are written to a global zone. Without it, the number
//! of records could exceed the 16-bit indices.

use alloc::vec::Vec;

use super::super::default_modulators_table::DEFAULT_MODULATORS;
use super::super::error::BankError;
use super::super::generator::{Generator, GeneratorKind};
use super::super::generators::Generators;
use super::super::modulator::Modulator;
use super::super::zones::Range;
use super::modulators::{self, SplitModulators};
use super::shared_value::shared_value;

/// Whether zones belong to presets or to instruments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Preset,
    Instrument,
}

impl Level {
    /// Returns the generator whose amount is the index of the instrument or sample that a zone
    /// plays.
    fn target(self) -> Generator {
        match self {
            Self::Preset => Generator::Instrument,
            Self::Instrument => Generator::SampleId,
        }
    }

    /// Returns the generator values of a zone without generators.
    fn defaults(self) -> Generators {
        match self {
            Self::Preset => Generators::NO_OFFSETS,
            Self::Instrument => Generators::DEFAULTS,
        }
    }

    fn default_modulators(self) -> &'static [Modulator] {
        match self {
            Self::Preset => &[],
            Self::Instrument => &DEFAULT_MODULATORS,
        }
    }
}

/// A zone to write.
pub(super) struct WrittenZone<'a> {
    pub(super) keys: Range,
    pub(super) velocities: Range,
    pub(super) generators: Generators,
    pub(super) modulators: &'a [Modulator],
    /// Index of the instrument or sample that the zone plays, in the written file.
    pub(super) target: usize,
}

/// Writes the zone tables of all presets or of all instruments.
pub(super) struct ZonesWriter {
    level: Level,
    /// Index of the first zone of each preset or instrument.
    first_zones: Vec<usize>,
    /// Indices of the first generator and of the first modulator of each zone.
    bags: Vec<[usize; 2]>,
    generators: Vec<[u8; 4]>,
    modulators: Vec<[u8; 10]>,
    /// The highest index of an instrument or sample that a zone plays.
    max_target: usize,
}

/// Zone tables with their terminal records.
pub(super) struct Tables {
    pub(super) zone_count: u16,
    pub(super) bags: Vec<u8>,
    pub(super) generators: Vec<u8>,
    pub(super) modulators: Vec<u8>,
}

/// Ranges and generators of a zone.
struct ZoneValues {
    keys: Range,
    velocities: Range,
    generators: Generators,
}

impl ZonesWriter {
    pub(super) fn new(level: Level) -> Self {
        Self {
            level,
            first_zones: Vec::new(),
            bags: Vec::new(),
            generators: Vec::new(),
            modulators: Vec::new(),
            max_target: 0,
        }
    }

    /// Returns the number of presets or instruments that were added.
    pub(super) fn len(&self) -> usize {
        self.first_zones.len()
    }

    /// Returns the index of the first zone of each preset or instrument. The indices are valid only
    /// if [`Self::finish`] succeeds.
    pub(super) fn first_zones(&self) -> impl Iterator<Item = u16> {
        self.first_zones.iter().map(|&first| first as u16)
    }

    /// Adds the zones of one preset or instrument.
    pub(super) fn add(&mut self, zones: &[WrittenZone<'_>]) {
        self.first_zones.push(self.bags.len());
        let defaults =
            ZoneValues { keys: Range::FULL, velocities: Range::FULL, generators: self.level.defaults() };
        let global_values = shared_values(zones, &defaults);
        let lists: Vec<_> = zones.iter().map(|zone| zone.modulators).collect();
        let SplitModulators { global_modulators, local_modulators } =
            modulators::split(&lists, self.level.default_modulators());
        let bag = [self.generators.len(), self.modulators.len()];
        self.write_generators(&global_values, &defaults);
        self.modulators.extend(global_modulators.iter().map(Modulator::record));
        if bag != [self.generators.len(), self.modulators.len()] {
            self.bags.push(bag);
        }
        for (zone, modulators) in zones.iter().zip(local_modulators) {
            self.bags.push([self.generators.len(), self.modulators.len()]);
            let WrittenZone { keys, velocities, generators, target, .. } = *zone;
            self.write_generators(&ZoneValues { keys, velocities, generators }, &global_values);
            self.write(self.level.target(), target as u16);
            self.max_target = self.max_target.max(target);
            self.modulators.extend(modulators.iter().map(Modulator::record));
        }
    }

    /// Writes the ranges and then the generators of a zone, as far as they differ from `base`.
    fn write_generators(&mut self, zone: &ZoneValues, base: &ZoneValues) {
        let range = |range: Range| u16::from_le_bytes([range.low, range.high]);
        if zone.keys != base.keys {
            self.write(Generator::KeyRange, range(zone.keys));
        }
        if zone.velocities != base.velocities {
            self.write(Generator::VelRange, range(zone.velocities));
        }
        for generator in value_generators() {
            let value = zone.generators.get(generator);
            if value != base.generators.get(generator) {
                self.write(generator, value.cast_unsigned());
            }
        }
    }

    fn write(&mut self, generator: Generator, amount: u16) {
        let [low, high] = amount.to_le_bytes();
        self.generators.push([generator as u8, 0, low, high]);
    }

    /// Returns the tables with their terminal records.
    pub(super) fn finish(self) -> Result<Tables, BankError> {
        let limit = usize::from(u16::MAX);
        let counts = [
            ("zones", self.bags.len()),
            ("generators", self.generators.len()),
            ("modulators", self.modulators.len()),
            ("instruments or samples", self.max_target),
        ];
        if let Some((kind, count)) = counts.into_iter().find(|(_, count)| *count > limit) {
            return Err(BankError::TooLarge { kind, count: count as u64, limit: limit as u64 });
        }
        let terminal = [self.generators.len(), self.modulators.len()];
        let words = self.bags.iter().chain([&terminal]).flatten();
        Ok(Tables {
            zone_count: self.bags.len() as u16,
            bags: words.flat_map(|&word| (word as u16).to_le_bytes()).collect(),
            generators: [self.generators.as_flattened(), &[0; 4]].concat(),
            modulators: [self.modulators.as_flattened(), &[0; 10]].concat(),
        })
    }
}

/// Iterates over the generators whose amount is a value.
fn value_generators() -> impl Iterator<Item = Generator> {
    (0..Generator::COUNT as u16)
        .filter_map(Generator::from_number)
        .filter(|generator| generator.kind() != GeneratorKind::Structure)
}

/// Returns the values of the global zone with which all zones together need the fewest records.
fn shared_values(zones: &[WrittenZone<'_>], defaults: &ZoneValues) -> ZoneValues {
    let mut saved_bytes = 0;
    let mut generators = defaults.generators;
    for generator in value_generators() {
        let default = defaults.generators.get(generator);
        let (value, records) = shared_value(zones.iter().map(|zone| zone.generators.get(generator)), default);
        generators.set_value(generator, value);
        saved_bytes += records;
    }
    let (keys, key_records) = shared_value(zones.iter().map(|zone| zone.keys), defaults.keys);
    let (velocities, velocity_records) =
        shared_value(zones.iter().map(|zone| zone.velocities), defaults.velocities);
    saved_bytes += key_records + velocity_records;
    // The global zone itself needs a record in the table of zones.
    if saved_bytes < 2 {
        let ZoneValues { keys, velocities, generators } = *defaults;
        return ZoneValues { keys, velocities, generators };
    }
    ZoneValues { keys, velocities, generators }
}
