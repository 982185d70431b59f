//! The NRPNs of the Sound Blaster AWE32, MSB 127: what each LSB from 0 to 26 replaces, and by how
//! much.
//!
//! Sources: Creative, "SB AWE32 Developer's Information Pack" 3.01 (ranges, units, which of them
//! are realtime), with the corrections that FluidSynth 2.4.5 found by listening
//! (`FluidFeatures.md`, "AWE32 NRPNs"): seven-bit values are the least significant byte alone, and
//! the filter's oscillator and envelope move the cutoff. Cutoff and resonance: S. Christian
//! Collins, "Filter NRPN Test", measured on an Audigy 2.

use crate::soundfont::Generator;

/// A number of the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    pub(super) generator: Generator,
    /// Whether it moves notes that sound; others wait for the next note.
    pub(super) is_live: bool,
    pub(super) law: Law,
}

/// How data become the value of a generator. The centre of 14 bits is 0 for times and for centred
/// data.
#[derive(Debug, Clone, Copy)]
pub(super) enum Law {
    /// A time: seconds of one unit, and the largest data.
    Time { unit_secs: f32, most: i32 },
    /// A frequency: hertz of one unit of the least significant byte.
    Frequency { unit_hz: f32 },
    /// The least significant byte: the value at 0, and what one unit adds.
    LowByte { base: f32, unit: f32 },
    /// Centred data: their range, and what one unit is worth.
    Centred { least: i32, most: i32, unit: f32 },
}

/// The LSB that tunes the channel. It replaces no generator: it adds cents, as the fine tuning
/// does.
pub(super) const PITCH: u8 = 16;

/// 100 Hz, the lowest cutoff, in absolute cents: `1200 log2(100 / 8.175799)`.
const CUTOFF_CENTS: f32 = 4_335.0;

/// Cents of cutoff for one unit: 7646 cents times `value / 128` end at 8 kHz.
const CUTOFF_UNIT_CENTS: f32 = 7_646.0 / 128.0;

/// Resonance for one unit: 20 dB times `value / 128` end at 19.84 dB.
const RESONANCE_UNIT_CB: f32 = 200.0 / 128.0;

/// Tenths of a per cent of one unit of a send: 256 are as much as controllers 91 and 93 reach
/// (SoundFont 2.04, sections 8.4.8 and 8.4.9).
const SEND_UNIT: f32 = 200.0 / 256.0;

const DELAY: Law = Law::Time { unit_secs: 0.004, most: 5_900 };
const ATTACK: Law = Law::Time { unit_secs: 0.001, most: 5_940 };
const HOLD: Law = Law::Time { unit_secs: 0.001, most: 8_191 };
const FALL: Law = Law::Time { unit_secs: 0.004, most: 5_940 };
const RATE: Law = Law::Frequency { unit_hz: 0.084 };
/// 0.75 dB of the volume, 0.75 % of the modulation.
const SUSTAIN: Law = Law::LowByte { base: 0.0, unit: 7.5 };
const PITCH_DEPTH: Law = Law::Centred { least: -127, most: 127, unit: 9.375 };
const TREMOLO_DEPTH: Law = Law::LowByte { base: 0.0, unit: 1.875 };
const SEND: Law = Law::Centred { least: 0, most: 255, unit: SEND_UNIT };

const fn waits(generator: Generator, law: Law) -> Option<Number> {
    Some(Number { generator, is_live: false, law })
}

const fn moves(generator: Generator, law: Law) -> Option<Number> {
    Some(Number { generator, is_live: true, law })
}

/// By LSB; [`PITCH`] has no generator.
#[rustfmt::skip]
pub(super) const NUMBERS: [Option<Number>; 27] = {
    use Generator::*;
    [
        waits(DelayModLfo, DELAY),
        moves(FreqModLfo, RATE),
        waits(DelayVibLfo, DELAY),
        moves(FreqVibLfo, RATE),
        waits(DelayModEnv, DELAY),
        waits(AttackModEnv, ATTACK),
        waits(HoldModEnv, HOLD),
        waits(DecayModEnv, FALL),
        waits(SustainModEnv, SUSTAIN),
        waits(ReleaseModEnv, FALL),
        waits(DelayVolEnv, DELAY),
        waits(AttackVolEnv, ATTACK),
        waits(HoldVolEnv, HOLD),
        waits(DecayVolEnv, FALL),
        waits(SustainVolEnv, SUSTAIN),
        waits(ReleaseVolEnv, FALL),
        None,
        moves(ModLfoToPitch, PITCH_DEPTH),
        moves(VibLfoToPitch, PITCH_DEPTH),
        waits(ModEnvToPitch, PITCH_DEPTH),
        moves(ModLfoToVolume, TREMOLO_DEPTH),
        moves(InitialFilterFc, Law::LowByte { base: CUTOFF_CENTS, unit: CUTOFF_UNIT_CENTS }),
        moves(InitialFilterQ, Law::LowByte { base: 0.0, unit: RESONANCE_UNIT_CB }),
        moves(ModLfoToFilterFc, Law::Centred { least: -64, most: 63, unit: 56.25 }),
        waits(ModEnvToFilterFc, Law::Centred { least: -127, most: 127, unit: 56.25 }),
        waits(ChorusEffectsSend, SEND),
        waits(ReverbEffectsSend, SEND),
    ]
};
