//! Generators: the numbers that say how a zone sounds (section 8.1).

use super::generator_table::{BY_NUMBER, PROPERTIES};

/// A generator by its number in the file (section 8.1.2). Units are those of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Generator {
    StartAddrsOffset = 0,
    EndAddrsOffset = 1,
    StartloopAddrsOffset = 2,
    EndloopAddrsOffset = 3,
    StartAddrsCoarseOffset = 4,
    ModLfoToPitch = 5,
    VibLfoToPitch = 6,
    ModEnvToPitch = 7,
    InitialFilterFc = 8,
    InitialFilterQ = 9,
    ModLfoToFilterFc = 10,
    ModEnvToFilterFc = 11,
    EndAddrsCoarseOffset = 12,
    ModLfoToVolume = 13,
    ChorusEffectsSend = 15,
    ReverbEffectsSend = 16,
    Pan = 17,
    DelayModLfo = 21,
    FreqModLfo = 22,
    DelayVibLfo = 23,
    FreqVibLfo = 24,
    DelayModEnv = 25,
    AttackModEnv = 26,
    HoldModEnv = 27,
    DecayModEnv = 28,
    SustainModEnv = 29,
    ReleaseModEnv = 30,
    KeynumToModEnvHold = 31,
    KeynumToModEnvDecay = 32,
    DelayVolEnv = 33,
    AttackVolEnv = 34,
    HoldVolEnv = 35,
    DecayVolEnv = 36,
    SustainVolEnv = 37,
    ReleaseVolEnv = 38,
    KeynumToVolEnvHold = 39,
    KeynumToVolEnvDecay = 40,
    Instrument = 41,
    KeyRange = 43,
    VelRange = 44,
    StartloopAddrsCoarseOffset = 45,
    Keynum = 46,
    Velocity = 47,
    InitialAttenuation = 48,
    EndloopAddrsCoarseOffset = 50,
    CoarseTune = 51,
    FineTune = 52,
    SampleId = 53,
    SampleModes = 54,
    ScaleTuning = 56,
    ExclusiveClass = 57,
    OverridingRootKey = 58,
}

/// What an amount means beside its number, and where it may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// A value; one of a preset zone is added to the instrument's.
    Value,
    /// A value that a preset zone cannot have (section 8.5).
    InstrumentOnly,
    /// Keynum, Velocity and OverridingRootKey: only in instruments, and -1 where absent.
    Substitution,
    /// A pair of bounds or an index into a table, not a value.
    Structure,
}

impl Generator {
    /// One more than the highest number of a generator that has a value.
    pub(crate) const COUNT: usize = 60;

    pub(super) fn from_number(number: u16) -> Option<Self> {
        BY_NUMBER.get(usize::from(number)).copied().flatten()
    }

    /// The least and the greatest value (section 8.1.3). A delay, attack or hold may also be
    /// -32768, "none at all".
    pub(crate) const fn range(self) -> (i16, i16) {
        let properties = &PROPERTIES[self as usize];
        (properties.low, properties.high)
    }

    /// The value in an instrument that does not have the generator.
    pub(crate) const fn default(self) -> i16 {
        PROPERTIES[self as usize].default
    }

    pub(super) const fn usage(self) -> Use {
        PROPERTIES[self as usize].usage
    }

    /// Whether a modulator may end here.
    pub(super) fn can_be_modulated(self) -> bool {
        match self {
            Self::SampleModes | Self::ExclusiveClass => false,
            _ => matches!(self.usage(), Use::Value | Use::InstrumentOnly),
        }
    }

    /// The value as which an instrument's `amount` is understood: itself inside the range,
    /// otherwise the nearest end.
    pub(super) fn instrument_value(self, amount: i16) -> i16 {
        let (low, high) = self.range();
        match self {
            // Only the lowest two bits mean something (section 8.1.2, number 54).
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
            _ if self.usage() == Use::Substitution && !(low..=high).contains(&amount) => self.default(),
            _ => amount.clamp(low, high),
        }
    }
}

/// The generators of a zone, by number.
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

    /// The value or offset of one generator.
    pub(crate) const fn get(&self, generator: Generator) -> i16 {
        self.0[generator as usize]
    }

    /// All of them, by number; numbers without a generator have 0.
    pub(crate) const fn values(&self) -> &[i16; Generator::COUNT] {
        &self.0
    }

    pub(super) const fn set(&mut self, generator: Generator, value: i16) {
        self.0[generator as usize] = value;
    }
}
