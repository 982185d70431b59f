//! Properties of the generators, and the generator values of a zone.

use super::generator::{Generator, GeneratorKind};
use super::generator_table::{BY_NUMBER, PROPERTIES};

impl Generator {
    /// Returns the generator with a number in the file; `None` for an undefined number.
    pub(super) fn from_number(number: u16) -> Option<Self> {
        BY_NUMBER.get(usize::from(number)).copied().flatten()
    }

    /// Returns minimum and maximum (section 8.1.3). A delay, attack or hold may also be -32768,
    /// which means a duration of 0.
    pub(crate) const fn range(self) -> (i16, i16) {
        let properties = &PROPERTIES[self as usize];
        (properties.low, properties.high)
    }

    /// Returns the value in an instrument zone that does not have the generator.
    pub(crate) const fn default(self) -> i16 {
        PROPERTIES[self as usize].default
    }

    pub(super) const fn kind(self) -> GeneratorKind {
        PROPERTIES[self as usize].kind
    }

    /// Whether the generator can be the destination of a modulator.
    pub(super) fn can_be_modulated(self) -> bool {
        match self {
            Self::SampleModes | Self::ExclusiveClass => false,
            _ => matches!(self.kind(), GeneratorKind::Value | GeneratorKind::InstrumentOnly),
        }
    }

    /// Returns the value in an instrument zone for an `amount` from the file, clamped to the range.
    pub(super) fn instrument_value(self, amount: i16) -> i16 {
        let (low, high) = self.range();
        match self {
            // Only the lowest two bits are defined (section 8.1.2, number 54).
            Self::SampleModes => amount & 3,
            Self::DelayModLfo
            | Self::DelayVibLfo
            | Self::DelayModEnv
            | Self::AttackModEnv
            | Self::HoldModEnv
            | Self::DelayVolEnv
            | Self::AttackVolEnv
            | Self::HoldVolEnv
                if amount == i16::MIN =>
            {
                amount
            }
            _ if self.kind() == GeneratorKind::Substitution && !(low..=high).contains(&amount) => {
                self.default()
            }
            _ => amount.clamp(low, high),
        }
    }
}

/// The generator values of a zone. The index is the number of the generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Generators([i16; Generator::COUNT]);

impl Generators {
    /// Offsets of a preset zone that has no generators.
    pub(super) const NO_OFFSETS: Self = Self([0; Generator::COUNT]);

    /// Values of an instrument zone that has no generators.
    pub(super) const DEFAULTS: Self = {
        let mut values = [0; Generator::COUNT];
        let mut number = 0;
        while number < Generator::COUNT {
            values[number] = PROPERTIES[number].default;
            number += 1;
        }
        Self(values)
    };

    /// Returns the value of a generator in an instrument zone, or the offset in a preset zone.
    pub(crate) const fn get(&self, generator: Generator) -> i16 {
        self.0[generator as usize]
    }

    /// Returns the values by generator number. Numbers without a generator have 0.
    pub(crate) const fn values(&self) -> &[i16; Generator::COUNT] {
        &self.0
    }

    pub(super) const fn set_value(&mut self, generator: Generator, value: i16) {
        self.0[generator as usize] = value;
    }
}
