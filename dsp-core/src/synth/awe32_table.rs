//! Table of the NRPNs of the Sound Blaster AWE32 (MSB 127). Each LSB from 0 to 26 replaces a
//! generator and has a conversion of its data.
//!
//! Ranges, units and realtime parameters are those of Creative, "SB AWE32 Developer's Information
//! Pack" 3.01, with the corrections of FluidSynth 2.4.5 (`FluidFeatures.md`, "AWE32 NRPNs"), which
//! are based on listening tests. Seven-bit values use only the least significant byte. Cutoff and
//! resonance are from S. Christian Collins, "Filter NRPN Test", measured on an Audigy 2.

use crate::soundfont::Generator;

/// A parameter of the AWE32 that replaces a generator.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter {
    pub(super) generator: Generator,
    /// Whether the parameter changes active notes. Other parameters take effect with the next note.
    pub(super) is_realtime: bool,
    pub(super) conversion: Conversion,
}

/// Conversion of data entry to the value of a generator. For times and centred data, 8192 (the
/// centre of the 14-bit range) stands for 0.
#[derive(Debug, Clone, Copy)]
pub(super) enum Conversion {
    /// A time. The fields are the seconds per unit, and the maximum of the data.
    Time { unit_secs: f32, max: i32 },
    /// A frequency. The field is the hertz per unit of the least significant byte.
    Frequency { unit_hz: f32 },
    /// A value from the least significant byte. The fields are the generator's value for a byte of
    /// 0, and its increment per unit.
    LowByte { base: f32, unit: f32 },
    /// A value from centred data. The fields are the range of the data, and the generator's value
    /// per unit.
    Centred { min: i32, max: i32, unit: f32 },
}

/// The LSB of the pitch. This parameter replaces no generator, but adds cents to the tuning of the
/// channel.
pub(super) const PITCH: u8 = 16;

/// Lowest cutoff in absolute cents. It is 100 Hz: `1200 log2(100 / 8.175799)`.
const CUTOFF_CENTS: f32 = 4_335.0;

/// Cents of cutoff per unit. The highest value, 127, is a cutoff of 8 kHz.
const CUTOFF_UNIT_CENTS: f32 = 7_646.0 / 128.0;

/// Centibels of resonance per unit. The highest value, 127, is 19.84 dB.
const RESONANCE_UNIT_CB: f32 = 200.0 / 128.0;

/// Send per unit in tenths of a per cent. 256 units are as much as the maximum of controllers 91
/// and 93 (sections 8.4.8 and 8.4.9).
const SEND_UNIT: f32 = 200.0 / 256.0;

const DELAY: Conversion = Conversion::Time { unit_secs: 0.004, max: 5_900 };
const ATTACK: Conversion = Conversion::Time { unit_secs: 0.001, max: 5_940 };
const HOLD: Conversion = Conversion::Time { unit_secs: 0.001, max: 8_191 };
const FALL: Conversion = Conversion::Time { unit_secs: 0.004, max: 5_940 };
const RATE: Conversion = Conversion::Frequency { unit_hz: 0.084 };
/// 0.75 dB of volume or 0.75 % of modulation per unit.
const SUSTAIN: Conversion = Conversion::LowByte { base: 0.0, unit: 7.5 };
const PITCH_DEPTH: Conversion = Conversion::Centred { min: -127, max: 127, unit: 9.375 };
const TREMOLO_DEPTH: Conversion = Conversion::LowByte { base: 0.0, unit: 1.875 };
const SEND: Conversion = Conversion::Centred { min: 0, max: 255, unit: SEND_UNIT };

const fn next_note(generator: Generator, conversion: Conversion) -> Option<Parameter> {
    Some(Parameter { generator, is_realtime: false, conversion })
}

const fn realtime(generator: Generator, conversion: Conversion) -> Option<Parameter> {
    Some(Parameter { generator, is_realtime: true, conversion })
}

/// The parameter of each LSB; `None` for [`PITCH`], which has no generator.
#[rustfmt::skip]
pub(super) const PARAMETERS: [Option<Parameter>; 27] = {
    use Generator::*;
    [
        next_note(DelayModLfo, DELAY),
        realtime(FreqModLfo, RATE),
        next_note(DelayVibLfo, DELAY),
        realtime(FreqVibLfo, RATE),
        next_note(DelayModEnv, DELAY),
        next_note(AttackModEnv, ATTACK),
        next_note(HoldModEnv, HOLD),
        next_note(DecayModEnv, FALL),
        next_note(SustainModEnv, SUSTAIN),
        next_note(ReleaseModEnv, FALL),
        next_note(DelayVolEnv, DELAY),
        next_note(AttackVolEnv, ATTACK),
        next_note(HoldVolEnv, HOLD),
        next_note(DecayVolEnv, FALL),
        next_note(SustainVolEnv, SUSTAIN),
        next_note(ReleaseVolEnv, FALL),
        None,
        realtime(ModLfoToPitch, PITCH_DEPTH),
        realtime(VibLfoToPitch, PITCH_DEPTH),
        next_note(ModEnvToPitch, PITCH_DEPTH),
        realtime(ModLfoToVolume, TREMOLO_DEPTH),
        realtime(InitialFilterFc, Conversion::LowByte { base: CUTOFF_CENTS, unit: CUTOFF_UNIT_CENTS }),
        realtime(InitialFilterQ, Conversion::LowByte { base: 0.0, unit: RESONANCE_UNIT_CB }),
        realtime(ModLfoToFilterFc, Conversion::Centred { min: -64, max: 63, unit: 56.25 }),
        next_note(ModEnvToFilterFc, Conversion::Centred { min: -127, max: 127, unit: 56.25 }),
        next_note(ChorusEffectsSend, SEND),
        next_note(ReverbEffectsSend, SEND),
    ]
};
