//! NRPNs of the Sound Blaster AWE32, which replace values of a bank.

use super::awe32_table::{Law, NUMBERS, PITCH};
use super::filter::CENT_ZERO_HZ;
use super::modulation::Values;

/// The NRPN MSB of the AWE32.
pub(super) const MSB: u8 = 127;

/// The data of 14 bits that mean 0.
const CENTRE: i32 = 8_192;

/// The shortest time that a generator can have, a millisecond (SoundFont 2.04, section 8.1.3); a
/// delay of it is none.
const LEAST_TIMECENTS: f32 = -12_000.0;

/// Below the lowest frequency of an oscillator, in absolute cents: it stands still.
const STANDING_CENTS: f32 = -16_000.0;

/// The values that a channel has been sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Awe32 {
    /// By LSB, in the units of the generators.
    values: [Option<f32>; NUMBERS.len()],
    pitch_cents: f32,
    /// Whether any value has been sent, so that voices of other songs need not look.
    is_used: bool,
}

impl Awe32 {
    /// Whether the AWE32 has a parameter of this LSB.
    pub(super) fn has(number: u8) -> bool {
        usize::from(number) < NUMBERS.len()
    }

    /// Takes the data of a number, 7 bits each. Data beyond its range count as the end of the
    /// range.
    pub(super) fn enter(&mut self, number: u8, msb: u8, lsb: u8) {
        let centred = (i32::from(msb) << 7 | i32::from(lsb)) - CENTRE;
        if number == PITCH {
            self.pitch_cents = centred as f32;
            return;
        }
        let Some(parameter) = NUMBERS.get(usize::from(number)).copied().flatten() else { return };
        self.values[usize::from(number)] = Some(match parameter.law {
            Law::Time { unit_secs, most } => timecents(unit_secs * centred.clamp(0, most) as f32),
            Law::Frequency { unit_hz } => absolute_cents(unit_hz * f32::from(lsb)),
            Law::LowByte { base, unit } => base + unit * f32::from(lsb),
            Law::Centred { least, most, unit } => unit * centred.clamp(least, most) as f32,
        });
        self.is_used = true;
    }

    /// Offset to the channel's tuning in cents.
    pub(super) fn pitch_cents(&self) -> f32 {
        self.pitch_cents
    }

    /// Replaces the values of a note that begins.
    pub(super) fn replace(&self, values: &mut Values) {
        self.put(values, false);
    }

    /// Replaces the values that also move notes that sound.
    pub(super) fn replace_live(&self, values: &mut Values) {
        self.put(values, true);
    }

    fn put(&self, values: &mut Values, only_live: bool) {
        if !self.is_used {
            return;
        }
        for (parameter, value) in NUMBERS.iter().zip(self.values) {
            if let (Some(parameter), Some(value)) = (parameter, value)
                && (parameter.is_live || !only_live)
            {
                values[parameter.generator as usize] = value;
            }
        }
    }
}

/// `1200 log2(seconds)`, but not less than a generator can be.
fn timecents(secs: f32) -> f32 {
    if secs > 0.0 { (1_200.0 * libm::log2f(secs)).max(LEAST_TIMECENTS) } else { LEAST_TIMECENTS }
}

/// `1200 log2(hertz / 8.1758)`.
fn absolute_cents(hz: f32) -> f32 {
    if hz > 0.0 { 1_200.0 * libm::log2f(hz / CENT_ZERO_HZ) } else { STANDING_CENTS }
}
