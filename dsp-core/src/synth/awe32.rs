//! Stores the NRPNs of the Sound Blaster AWE32. They replace generator values of the bank.

use super::awe32_table::{Conversion, PARAMETERS, PITCH};
use super::filter::CENT_ZERO_HZ;
use super::generator_values::GeneratorValues;

/// The NRPN MSB of the AWE32.
pub(super) const NRPN_MSB: u8 = 127;

/// The 14-bit data value that stands for 0.
const VALUE_CENTRE: i32 = 8_192;

/// The shortest time of a generator: 1 ms (section 8.1.3). The synthesizer treats a delay of this
/// time as no delay.
const MIN_TIMECENTS: f32 = -12_000.0;

/// Frequency of a stopped LFO in absolute cents: the lowest frequency of the generator (section
/// 8.1.3).
const STOPPED_LFO_CENTS: f32 = -16_000.0;

/// The AWE32 parameters that a channel has received.
#[derive(Debug, Clone, Default)]
pub(super) struct Awe32 {
    /// Values by NRPN LSB, in the units of the generators.
    values: [Option<f32>; PARAMETERS.len()],
    pitch_cents: f32,
    /// Whether any value was received. If none was, voices do not search the table.
    is_used: bool,
}

impl Awe32 {
    /// Whether the AWE32 has a parameter with this LSB.
    pub(super) fn has(lsb: u8) -> bool {
        usize::from(lsb) < PARAMETERS.len()
    }

    /// Sets the parameter with the NRPN LSB `number`. `msb` and `lsb` are the values of the data
    /// entry controllers, 0 to 127. The data are clamped to the range of the parameter.
    pub(super) fn set_parameter(&mut self, number: u8, msb: u8, lsb: u8) {
        let centred_value = (i32::from(msb) << 7 | i32::from(lsb)) - VALUE_CENTRE;
        if number == PITCH {
            self.pitch_cents = centred_value as f32;
            return;
        }
        let Some(parameter) = PARAMETERS.get(usize::from(number)).copied().flatten() else { return };
        self.values[usize::from(number)] = Some(match parameter.conversion {
            Conversion::Time { unit_secs, max } => timecents(unit_secs * centred_value.clamp(0, max) as f32),
            Conversion::Frequency { unit_hz } => absolute_cents(unit_hz * f32::from(lsb)),
            Conversion::LowByte { base, unit } => base + unit * f32::from(lsb),
            Conversion::Centred { min, max, unit } => unit * centred_value.clamp(min, max) as f32,
        });
        self.is_used = true;
    }

    /// Returns the offset of the channel's tuning in cents.
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

    fn replace(&self, values: &mut GeneratorValues, is_realtime_only: bool) {
        if !self.is_used {
            return;
        }
        for (parameter, value) in PARAMETERS.iter().zip(self.values) {
            if let (Some(parameter), Some(value)) = (parameter, value)
                && (parameter.is_realtime || !is_realtime_only)
            {
                values[parameter.generator as usize] = value;
            }
        }
    }
}

/// Converts a time to timecents: `1200 log2(secs)`, at least [`MIN_TIMECENTS`].
fn timecents(secs: f32) -> f32 {
    if secs > 0.0 { (1_200.0 * libm::log2f(secs)).max(MIN_TIMECENTS) } else { MIN_TIMECENTS }
}

/// Converts a frequency to absolute cents: `1200 log2(hz / 8.1758)`.
fn absolute_cents(hz: f32) -> f32 {
    if hz > 0.0 { 1_200.0 * libm::log2f(hz / CENT_ZERO_HZ) } else { STOPPED_LFO_CENTS }
}
