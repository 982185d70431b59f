//! Equalizer: a low cut, a low shelf, four bells, a high shelf and a high cut.
//!
//! Shelves and bells are those of R. Bristow-Johnson's "Audio EQ Cookbook" (lowShelf, peakingEQ,
//! highShelf). The cuts are Butterworth filters. The band's Q scales the Q of their section with
//! the highest Q. A band that is off, and a shelf or bell at 0 dB, leaves the signal bit-identical
//! and takes no CPU time.

mod band;

use super::effect::{Effect, EffectConfig, EffectKind, Group};
use super::memory::inline_bytes;
use super::parameter::Unit;
use super::params::{ParameterEnum, parameters};
use super::simd_dispatch::with_simd_dispatch;
use crate::dsp::control::{CONTROL_FRAMES, LONGEST_FRAMES};
use crate::dsp::filter_section::{Section, Shape, process_in_series};
use crate::dsp::smoothed_value::SmoothedValue;
use crate::dsp::stereo_frames::Frames;
use crate::gain;
use band::{BANDS, Band, BandParam, CutSlope, FLAT_Q, TOTAL_SECTIONS};

/// Range of the bands' frequencies in hertz.
const FREQUENCY_HZ: [f64; 2] = [10.0, 20_000.0];

/// Range of the gains of shelves and bells in decibels.
const GAIN_DB: [f64; 2] = [-24.0, 24.0];

/// Ranges of the Q of cuts, shelves and bells.
const CUT_Q: [f64; 2] = [0.1, 10.0];
const SHELF_Q: [f64; 2] = [0.1, 2.0];
const BELL_Q: [f64; 2] = [0.1, 40.0];

parameters! {
    /// Parameters of the equalizer: four for each of [`BANDS`], then the output.
    enum EqualizerParam {
        LowCutOn = switch("low_cut_on", "Low cut", false),
        LowCutFrequencyHz =
            logarithmic("low_cut_frequency_hz", "Low cut frequency", Unit::Hertz, FREQUENCY_HZ, 30.0),
        LowCutSlope = choice("low_cut_slope", "Low cut slope", CutSlope::NAMES, CutSlope::Db24 as usize),
        LowCutQ = logarithmic("low_cut_q", "Low cut Q", Unit::Number, CUT_Q, FLAT_Q),
        LowShelfOn = switch("low_shelf_on", "Low shelf", true),
        LowShelfFrequencyHz =
            logarithmic("low_shelf_frequency_hz", "Low shelf frequency", Unit::Hertz, FREQUENCY_HZ, 100.0),
        LowShelfGainDb = linear("low_shelf_gain_db", "Low shelf gain", Unit::Decibels, GAIN_DB, 0.0),
        LowShelfQ = logarithmic("low_shelf_q", "Low shelf Q", Unit::Number, SHELF_Q, FLAT_Q),
        Bell1On = switch("bell_1_on", "Bell 1", true),
        Bell1FrequencyHz =
            logarithmic("bell_1_frequency_hz", "Bell 1 frequency", Unit::Hertz, FREQUENCY_HZ, 200.0),
        Bell1GainDb = linear("bell_1_gain_db", "Bell 1 gain", Unit::Decibels, GAIN_DB, 0.0),
        Bell1Q = logarithmic("bell_1_q", "Bell 1 Q", Unit::Number, BELL_Q, 1.0),
        Bell2On = switch("bell_2_on", "Bell 2", true),
        Bell2FrequencyHz =
            logarithmic("bell_2_frequency_hz", "Bell 2 frequency", Unit::Hertz, FREQUENCY_HZ, 600.0),
        Bell2GainDb = linear("bell_2_gain_db", "Bell 2 gain", Unit::Decibels, GAIN_DB, 0.0),
        Bell2Q = logarithmic("bell_2_q", "Bell 2 Q", Unit::Number, BELL_Q, 1.0),
        Bell3On = switch("bell_3_on", "Bell 3", true),
        Bell3FrequencyHz =
            logarithmic("bell_3_frequency_hz", "Bell 3 frequency", Unit::Hertz, FREQUENCY_HZ, 1_800.0),
        Bell3GainDb = linear("bell_3_gain_db", "Bell 3 gain", Unit::Decibels, GAIN_DB, 0.0),
        Bell3Q = logarithmic("bell_3_q", "Bell 3 Q", Unit::Number, BELL_Q, 1.0),
        Bell4On = switch("bell_4_on", "Bell 4", true),
        Bell4FrequencyHz =
            logarithmic("bell_4_frequency_hz", "Bell 4 frequency", Unit::Hertz, FREQUENCY_HZ, 5_000.0),
        Bell4GainDb = linear("bell_4_gain_db", "Bell 4 gain", Unit::Decibels, GAIN_DB, 0.0),
        Bell4Q = logarithmic("bell_4_q", "Bell 4 Q", Unit::Number, BELL_Q, 1.0),
        HighShelfOn = switch("high_shelf_on", "High shelf", true),
        HighShelfFrequencyHz =
            logarithmic("high_shelf_frequency_hz", "High shelf frequency", Unit::Hertz, FREQUENCY_HZ, 10_000.0),
        HighShelfGainDb = linear("high_shelf_gain_db", "High shelf gain", Unit::Decibels, GAIN_DB, 0.0),
        HighShelfQ = logarithmic("high_shelf_q", "High shelf Q", Unit::Number, SHELF_Q, FLAT_Q),
        HighCutOn = switch("high_cut_on", "High cut", false),
        HighCutFrequencyHz =
            logarithmic("high_cut_frequency_hz", "High cut frequency", Unit::Hertz, FREQUENCY_HZ, 18_000.0),
        HighCutSlope = choice("high_cut_slope", "High cut slope", CutSlope::NAMES, CutSlope::Db24 as usize),
        HighCutQ = logarithmic("high_cut_q", "High cut Q", Unit::Number, CUT_Q, FLAT_Q),
        /// Gain after all bands, in decibels.
        OutputDb = linear("output_db", "Output", Unit::Decibels, [-24.0, 24.0], 0.0),
    }
}

impl EqualizerParam {
    /// Returns the index of the parameter's band and the parameter of that band, or `None` for the
    /// output.
    fn band(self) -> Option<(usize, BandParam)> {
        let band_parameter = match self {
            Self::LowCutOn => (0, BandParam::On),
            Self::LowCutFrequencyHz => (0, BandParam::FrequencyHz),
            Self::LowCutSlope => (0, BandParam::Slope),
            Self::LowCutQ => (0, BandParam::Q),
            Self::LowShelfOn => (1, BandParam::On),
            Self::LowShelfFrequencyHz => (1, BandParam::FrequencyHz),
            Self::LowShelfGainDb => (1, BandParam::GainDb),
            Self::LowShelfQ => (1, BandParam::Q),
            Self::Bell1On => (2, BandParam::On),
            Self::Bell1FrequencyHz => (2, BandParam::FrequencyHz),
            Self::Bell1GainDb => (2, BandParam::GainDb),
            Self::Bell1Q => (2, BandParam::Q),
            Self::Bell2On => (3, BandParam::On),
            Self::Bell2FrequencyHz => (3, BandParam::FrequencyHz),
            Self::Bell2GainDb => (3, BandParam::GainDb),
            Self::Bell2Q => (3, BandParam::Q),
            Self::Bell3On => (4, BandParam::On),
            Self::Bell3FrequencyHz => (4, BandParam::FrequencyHz),
            Self::Bell3GainDb => (4, BandParam::GainDb),
            Self::Bell3Q => (4, BandParam::Q),
            Self::Bell4On => (5, BandParam::On),
            Self::Bell4FrequencyHz => (5, BandParam::FrequencyHz),
            Self::Bell4GainDb => (5, BandParam::GainDb),
            Self::Bell4Q => (5, BandParam::Q),
            Self::HighShelfOn => (6, BandParam::On),
            Self::HighShelfFrequencyHz => (6, BandParam::FrequencyHz),
            Self::HighShelfGainDb => (6, BandParam::GainDb),
            Self::HighShelfQ => (6, BandParam::Q),
            Self::HighCutOn => (7, BandParam::On),
            Self::HighCutFrequencyHz => (7, BandParam::FrequencyHz),
            Self::HighCutSlope => (7, BandParam::Slope),
            Self::HighCutQ => (7, BandParam::Q),
            Self::OutputDb => return None,
        };
        Some(band_parameter)
    }
}

/// Returns the bands with the parameters at the values that `value` returns.
fn bands(value: impl Fn(EqualizerParam) -> f64) -> [Band; BANDS.len()] {
    let mut bands = BANDS.map(Band::new);
    for parameter in EqualizerParam::ALL {
        if let Some((band, band_parameter)) = parameter.band() {
            bands[band].set_parameter(band_parameter, value(*parameter), 0, 0);
        }
    }
    bands
}

/// Equalizer with eight bands.
pub(super) static EQUALIZER: EffectKind = EffectKind {
    id: "equalizer",
    name: "Equalizer",
    group: Group::Tone,
    parameters: EqualizerParam::TABLE,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(Equalizer::new(config)),
    memory_bytes: inline_bytes::<Equalizer>,
};

/// Returns the magnitude response of an equalizer with steady parameters at a frequency, in
/// decibels.
///
/// `values` contains the parameters in the order of [`EffectKind::parameters`]. Missing parameters
/// have their defaults. `frequency_hz` is between 0 and half of `sample_rate_hz`.
pub fn response_db(values: &[f64], frequency_hz: f64, sample_rate_hz: f64) -> f64 {
    let value = |parameter: EqualizerParam| {
        values.get(parameter.index()).copied().unwrap_or_else(|| parameter.default_value())
    };
    let warped_frequency = libm::tan(core::f64::consts::PI * frequency_hz / sample_rate_hz);
    let bands_db: f64 = bands(value)
        .iter()
        .map(|band| {
            let power: f64 =
                band.shapes(sample_rate_hz).map(|shape| shape.power_at(warped_frequency)).product();
            10.0 * libm::log10(power)
        })
        .sum();
    bands_db + value(EqualizerParam::OutputDb)
}

/// Minimum ramp time of switches and slopes, in seconds.
const SWITCH_SECS: f64 = 0.01;

struct Equalizer {
    sample_rate_hz: f64,
    switch_frames: u32,
    /// Session time of the next frame, in frames.
    next_frame: u64,
    bands: [Band; BANDS.len()],
    /// The sections of all bands, in the order of the bands.
    sections: [Section; TOTAL_SECTIONS],
    output: SmoothedValue,
    /// Whether no band and no section ramps.
    is_steady: bool,
    /// Whether all sections pass their input through.
    is_passthrough: bool,
}

impl Equalizer {
    fn new(config: &EffectConfig<'_>) -> Self {
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let section = Section::new(Shape::passthrough(1.0, 1.0));
        let mut equalizer = Self {
            sample_rate_hz,
            switch_frames: (SWITCH_SECS * sample_rate_hz) as u32,
            next_frame: 0,
            bands: bands(EqualizerParam::default_value),
            sections: core::array::from_fn(|_| section.clone()),
            output: SmoothedValue::new(1.0),
            is_steady: false,
            is_passthrough: false,
        };
        equalizer.reset(0);
        equalizer
    }

    /// Computes the sections' responses at the next control point.
    fn process_control_point(&mut self) {
        let mut remaining = &mut self.sections[..];
        for band in &mut self.bands {
            let (sections, later_sections) = remaining.split_at_mut(band.kind().sections());
            remaining = later_sections;
            // After the last change of its band, a section needs one more step to reach the band's
            // response.
            if !band.is_steady() || sections.iter().any(Section::is_moving) {
                band.advance(CONTROL_FRAMES);
                for (section, shape) in sections.iter_mut().zip(band.shapes(self.sample_rate_hz)) {
                    section.ramp_to(shape);
                }
            }
        }
        self.is_steady =
            self.bands.iter().all(Band::is_steady) && !self.sections.iter().any(Section::is_moving);
        self.is_passthrough = self.sections.iter().all(Section::is_passthrough);
    }
}

impl Effect for Equalizer {
    fn reset(&mut self, frame: u64) {
        self.next_frame = frame;
        self.output.finish();
        self.bands.iter_mut().for_each(Band::finish);
        let shapes = self.bands.iter().flat_map(|band| band.shapes(self.sample_rate_hz));
        for (section, shape) in self.sections.iter_mut().zip(shapes) {
            section.reset(shape);
        }
        self.is_steady = true;
        self.is_passthrough = self.sections.iter().all(Section::is_passthrough);
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = EqualizerParam::from_index(parameter) else { return };
        match parameter.band() {
            Some((band, band_parameter)) => {
                self.bands[band].set_parameter(band_parameter, value, ramp_frames, self.switch_frames);
                self.is_steady = false;
            }
            None => self.output.set_target(f64::from(gain::from_db(value)), ramp_frames),
        }
    }

    fn needs_no_control_points(&self) -> bool {
        self.is_steady
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side_chain: Option<[&[f32]; 2]>) {
        let offset = (self.next_frame % CONTROL_FRAMES as u64) as usize;
        if !self.is_steady && offset == 0 {
            self.process_control_point();
        }
        // A call may cross control points, but never a multiple of `LONGEST_FRAMES`. The result
        // thus does not depend on the call size.
        if !self.is_passthrough && self.next_frame.is_multiple_of(LONGEST_FRAMES as u64) {
            self.sections.iter_mut().for_each(Section::flush_denormals);
        }
        self.next_frame += left.len() as u64;
        if !self.is_passthrough {
            let mut frames = Frames::new(left, right);
            process_in_series(&mut self.sections, offset, frames.as_mut());
            frames.store(left, right);
        }
        if self.output.target() != 1.0 || !self.output.is_steady() {
            for (left, right) in left.iter_mut().zip(right) {
                let gain = self.output.next() as f32;
                (*left, *right) = (*left * gain, *right * gain);
            }
        }
    }

    fn skip_silence(&mut self, frames: usize) -> bool {
        let is_idle =
            self.is_steady && self.output.is_steady() && self.sections.iter().all(Section::is_silent);
        if is_idle {
            self.next_frame += frames as u64;
        }
        is_idle
    }
}
