//! Ranges and defaults of the generators (table of section 8.1.3).
//!
//! Address offsets have the full range of 16 bits here. Their real range depends on the sample.

use super::generator::{Generator, GeneratorKind};

/// Range, default and kind of a generator. Values are in the units of the file.
#[derive(Clone, Copy)]
pub(super) struct Properties {
    pub(super) low: i16,
    pub(super) high: i16,
    pub(super) default: i16,
    pub(super) kind: GeneratorKind,
}

/// Generator, minimum, maximum, default and kind.
type Entry = (Generator, i16, i16, i16, GeneratorKind);

#[rustfmt::skip]
const ENTRIES: [Entry; 52] = {
    use Generator::*;
    use GeneratorKind::*;
    const LOWEST: i16 = i16::MIN;
    const HIGHEST: i16 = i16::MAX;
    [
        (StartAddrsOffset,           LOWEST,     HIGHEST,   0,       InstrumentOnly),
        (EndAddrsOffset,             LOWEST,     HIGHEST,   0,       InstrumentOnly),
        (StartloopAddrsOffset,       LOWEST,     HIGHEST,   0,       InstrumentOnly),
        (EndloopAddrsOffset,         LOWEST,     HIGHEST,   0,       InstrumentOnly),
        (StartAddrsCoarseOffset,     LOWEST,     HIGHEST,   0,       InstrumentOnly),
        (ModLfoToPitch,              -12_000, 12_000, 0,       Value),
        (VibLfoToPitch,              -12_000, 12_000, 0,       Value),
        (ModEnvToPitch,              -12_000, 12_000, 0,       Value),
        (InitialFilterFc,            1_500,   13_500, 13_500,  Value),
        (InitialFilterQ,             0,       960,    0,       Value),
        (ModLfoToFilterFc,           -12_000, 12_000, 0,       Value),
        (ModEnvToFilterFc,           -12_000, 12_000, 0,       Value),
        (EndAddrsCoarseOffset,       LOWEST,     HIGHEST,   0,       InstrumentOnly),
        (ModLfoToVolume,             -960,    960,    0,       Value),
        (ChorusEffectsSend,          0,       1_000,  0,       Value),
        (ReverbEffectsSend,          0,       1_000,  0,       Value),
        (Pan,                        -500,    500,    0,       Value),
        (DelayModLfo,                -12_000, 5_000,  -12_000, Value),
        (FreqModLfo,                 -16_000, 4_500,  0,       Value),
        (DelayVibLfo,                -12_000, 5_000,  -12_000, Value),
        (FreqVibLfo,                 -16_000, 4_500,  0,       Value),
        (DelayModEnv,                -12_000, 5_000,  -12_000, Value),
        (AttackModEnv,               -12_000, 8_000,  -12_000, Value),
        (HoldModEnv,                 -12_000, 5_000,  -12_000, Value),
        (DecayModEnv,                -12_000, 8_000,  -12_000, Value),
        (SustainModEnv,              0,       1_000,  0,       Value),
        (ReleaseModEnv,              -12_000, 8_000,  -12_000, Value),
        (KeynumToModEnvHold,         -1_200,  1_200,  0,       Value),
        (KeynumToModEnvDecay,        -1_200,  1_200,  0,       Value),
        (DelayVolEnv,                -12_000, 5_000,  -12_000, Value),
        (AttackVolEnv,               -12_000, 8_000,  -12_000, Value),
        (HoldVolEnv,                 -12_000, 5_000,  -12_000, Value),
        (DecayVolEnv,                -12_000, 8_000,  -12_000, Value),
        (SustainVolEnv,              0,       1_440,  0,       Value),
        (ReleaseVolEnv,              -12_000, 8_000,  -12_000, Value),
        (KeynumToVolEnvHold,         -1_200,  1_200,  0,       Value),
        (KeynumToVolEnvDecay,        -1_200,  1_200,  0,       Value),
        (Instrument,                 0,       0,      0,       Structure),
        (KeyRange,                   0,       0,      0,       Structure),
        (VelRange,                   0,       0,      0,       Structure),
        (StartloopAddrsCoarseOffset, LOWEST,     HIGHEST,   0,       InstrumentOnly),
        (Keynum,                     0,       127,    -1,      Substitution),
        (Velocity,                   0,       127,    -1,      Substitution),
        (InitialAttenuation,         0,       1_440,  0,       Value),
        (EndloopAddrsCoarseOffset,   LOWEST,     HIGHEST,   0,       InstrumentOnly),
        (CoarseTune,                 -120,    120,    0,       Value),
        (FineTune,                   -99,     99,     0,       Value),
        (SampleId,                   0,       0,      0,       Structure),
        (SampleModes,                0,       3,      0,       InstrumentOnly),
        (ScaleTuning,                0,       1_200,  100,     Value),
        (ExclusiveClass,             0,       127,    0,       InstrumentOnly),
        (OverridingRootKey,          0,       127,    -1,      Substitution),
    ]
};

/// Properties of each generator number. Numbers without a generator always have the value 0.
pub(super) const PROPERTIES: [Properties; Generator::COUNT] = {
    let mut properties =
        [Properties { low: 0, high: 0, default: 0, kind: GeneratorKind::Structure }; Generator::COUNT];
    let mut index = 0;
    while index < ENTRIES.len() {
        let (generator, low, high, default, kind) = ENTRIES[index];
        properties[generator as usize] = Properties { low, high, default, kind };
        index += 1;
    }
    properties
};

/// The generator with each number; `None` for undefined numbers.
pub(super) const BY_NUMBER: [Option<Generator>; Generator::COUNT] = {
    let mut generators = [None; Generator::COUNT];
    let mut index = 0;
    while index < ENTRIES.len() {
        let generator = ENTRIES[index].0;
        generators[generator as usize] = Some(generator);
        index += 1;
    }
    generators
};
