//! NRPNs of the Sound Blaster AWE32, which replace generator values of a bank.

use super::awe32_table::{Conversion, PARAMETERS, PITCH};
use super::filter::CENT_ZERO_HZ;
use super::generator_values::GeneratorValues;

/// The NRPN MSB of the AWE32.
pub(super) const MSB: u8 = 127;

/// The 14-bit data value that means 0.
const CENTRE: i32 = 8_192;

/// The shortest time of a generator, 1 ms (section 8.1.3). As a delay it means no delay.
const MIN_TIMECENTS: f32 = -12_000.0;

/// An LFO frequency below the generator's range, in absolute cents: the LFO is stopped.
const STOPPED_LFO_CENTS: f32 = -16_000.0;

/// The values that a channel has received.
#[derive(Debug, Clone, Default)]
pub(super) struct Awe32 {
    /// Values by NRPN LSB, in the units of the generators.
    values: [Option<f32>; PARAMETERS.len()],
    pitch_cents: f32,
    /// Whether any value was received. If not, voices skip the table.
    is_used: bool,
}

impl Awe32 {
    /// Whether the AWE32 has a parameter with this LSB.
    pub(super) fn has(lsb: u8) -> bool {
        usize::from(lsb) < PARAMETERS.len()
    }

    /// Stores the data of a parameter, 7 bits each. Data outside the parameter's range are clamped.
    pub(super) fn set(&mut self, number: u8, msb: u8, lsb: u8) {
        let centred = (i32::from(msb) << 7 | i32::from(lsb)) - CENTRE;
        if number == PITCH {
            self.pitch_cents = centred as f32;
            return;
        }
        let Some(parameter) = PARAMETERS.get(usize::from(number)).copied().flatten() else { return };
        self.values[usize::from(number)] = Some(match parameter.conversion {
            Conversion::Time { unit_secs, max } => timecents(unit_secs * centred.clamp(0, max) as f32),
            Conversion::Frequency { unit_hz } => absolute_cents(unit_hz * f32::from(lsb)),
            Conversion::LowByte { base, unit } => base + unit * f32::from(lsb),
            Conversion::Centred { min, max, unit } => unit * centred.clamp(min, max) as f32,
        });
        self.is_used = true;
    }

    /// Offset of the channel's tuning in cents.
    pub(super) fn pitch_cents(&self) -> f32 {
        self.pitch_cents
    }

    /// Replaces the generator values of a note that starts.
    pub(super) fn replace_generators(&self, values: &mut GeneratorValues) {
        self.replace(values, false);
    }

    /// Replaces the generator values that also change active notes.
    pub(super) fn replace_realtime_generators(&self, values: &mut GeneratorValues) {
        self.replace(values, true);
    }

    fn replace(&self, values: &mut GeneratorValues, only_realtime: bool) {
        if !self.is_used {
            return;
        }
        for (parameter, value) in PARAMETERS.iter().zip(self.values) {
            if let (Some(parameter), Some(value)) = (parameter, value)
                && (parameter.is_realtime || !only_realtime)
            {
                values[parameter.generator as usize] = value;
            }
        }
    }
}

/// `1200 log2(seconds)`, at least the minimum of a generator.
fn timecents(secs: f32) -> f32 {
    if secs > 0.0 { (1_200.0 * libm::log2f(secs)).max(MIN_TIMECENTS) } else { MIN_TIMECENTS }
}

/// `1200 log2(hertz / 8.1758)`.
fn absolute_cents(hz: f32) -> f32 {
    if hz > 0.0 { 1_200.0 * libm::log2f(hz / CENT_ZERO_HZ) } else { STOPPED_LFO_CENTS }
}
