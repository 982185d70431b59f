//! Equalizer: a low cut, a low shelf, four bells, a high shelf and a high cut.
//!
//! Shelves and bells are those of R. Bristow-Johnson's "Audio EQ Cookbook" (lowShelf, peakingEQ,
//! highShelf); the cuts are Butterworth filters whose sharpest section takes the band's Q. A band
//! that is off, and a shelf or bell at 0 dB, changes no bit and costs no time.

mod band;

use super::best::best;
use super::section::{Frames, Section, Shape, in_a_row};
use super::{
    CONTROL_FRAMES, Effect, EffectConfig, EffectKind, Glide, LONGEST_FRAMES, Parameter, Unit, memory,
};
use crate::gain;
use band::{BANDS, Band, MOST_SECTIONS};

const OUTPUT: usize = PARAMETERS.len() - 1;

const SLOPES: &[&str] = &["12 dB/octave", "24 dB/octave", "48 dB/octave"];

const fn on(id: &'static str, name: &'static str, default: bool) -> Parameter {
    Parameter::switch(id, name, default)
}

const fn frequency(id: &'static str, name: &'static str, default_hz: f64) -> Parameter {
    Parameter::logarithmic(id, name, Unit::Hertz, [10.0, 20_000.0], default_hz)
}

const fn level(id: &'static str, name: &'static str) -> Parameter {
    Parameter::linear(id, name, Unit::Decibels, [-24.0, 24.0], 0.0)
}

const fn q(id: &'static str, name: &'static str, [min, max]: [f64; 2], default: f64) -> Parameter {
    Parameter::logarithmic(id, name, Unit::Number, [min, max], default)
}

const CUT_Q: [f64; 2] = [0.1, 10.0];
const SHELF_Q: [f64; 2] = [0.1, 2.0];
const BELL_Q: [f64; 2] = [0.1, 40.0];

/// The Q at which a cut is flat to its corner, and a shelf the steepest without a hump (nearly).
const FLAT_Q: f64 = core::f64::consts::FRAC_1_SQRT_2;

/// Each band's four in the order of [`BANDS`] (on, frequency, slope or gain, Q), then the output.
const PARAMETERS: &[Parameter] = &[
    on("low_cut_on", "Low cut", false),
    frequency("low_cut_frequency_hz", "Low cut frequency", 30.0),
    Parameter::choice("low_cut_slope", "Low cut slope", SLOPES, 1),
    q("low_cut_q", "Low cut Q", CUT_Q, FLAT_Q),
    on("low_shelf_on", "Low shelf", true),
    frequency("low_shelf_frequency_hz", "Low shelf frequency", 100.0),
    level("low_shelf_gain_db", "Low shelf gain"),
    q("low_shelf_q", "Low shelf Q", SHELF_Q, FLAT_Q),
    on("bell_1_on", "Bell 1", true),
    frequency("bell_1_frequency_hz", "Bell 1 frequency", 200.0),
    level("bell_1_gain_db", "Bell 1 gain"),
    q("bell_1_q", "Bell 1 Q", BELL_Q, 1.0),
    on("bell_2_on", "Bell 2", true),
    frequency("bell_2_frequency_hz", "Bell 2 frequency", 600.0),
    level("bell_2_gain_db", "Bell 2 gain"),
    q("bell_2_q", "Bell 2 Q", BELL_Q, 1.0),
    on("bell_3_on", "Bell 3", true),
    frequency("bell_3_frequency_hz", "Bell 3 frequency", 1_800.0),
    level("bell_3_gain_db", "Bell 3 gain"),
    q("bell_3_q", "Bell 3 Q", BELL_Q, 1.0),
    on("bell_4_on", "Bell 4", true),
    frequency("bell_4_frequency_hz", "Bell 4 frequency", 5_000.0),
    level("bell_4_gain_db", "Bell 4 gain"),
    q("bell_4_q", "Bell 4 Q", BELL_Q, 1.0),
    on("high_shelf_on", "High shelf", true),
    frequency("high_shelf_frequency_hz", "High shelf frequency", 10_000.0),
    level("high_shelf_gain_db", "High shelf gain"),
    q("high_shelf_q", "High shelf Q", SHELF_Q, FLAT_Q),
    on("high_cut_on", "High cut", false),
    frequency("high_cut_frequency_hz", "High cut frequency", 18_000.0),
    Parameter::choice("high_cut_slope", "High cut slope", SLOPES, 1),
    q("high_cut_q", "High cut Q", CUT_Q, FLAT_Q),
    Parameter::linear("output_db", "Output", Unit::Decibels, [-24.0, 24.0], 0.0),
];

/// Eight bands.
pub(super) static EQUALIZER: EffectKind = EffectKind {
    id: "equalizer",
    name: "Equalizer",
    parameters: PARAMETERS,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| best(Equalizer::new(config)),
    memory_bytes: memory::inline_bytes::<Equalizer>,
};

/// The magnitude response of an equalizer at a frequency, in decibels: what it does to a sine once
/// all parameters are at rest.
///
/// `values` are those of the parameters in the order of the kind's table; where there are too few,
/// the defaults count. `frequency_hz` lies between 0 and half of `sample_rate_hz`.
pub fn response_db(values: &[f64], frequency_hz: f64, sample_rate_hz: f64) -> f64 {
    let value = |place: usize| values.get(place).copied().unwrap_or(PARAMETERS[place].default);
    let warped = libm::tan(core::f64::consts::PI * frequency_hz / sample_rate_hz);
    let bands_db: f64 = BANDS
        .iter()
        .enumerate()
        .map(|(number, kind)| {
            let mut band = Band::new(*kind);
            (0..4).for_each(|at| band.set(at, value(4 * number + at), 0, 0));
            let power: f64 = band.shapes(sample_rate_hz).map(|shape| shape.power_at(warped)).product();
            10.0 * libm::log10(power)
        })
        .sum();
    bands_db + value(OUTPUT)
}

/// How long switches and slopes take, in seconds.
const SWITCH_SECS: f64 = 0.01;

struct Equalizer {
    sample_rate_hz: f64,
    switch_frames: u32,
    clock: u64,
    bands: [Band; BANDS.len()],
    /// Those of each band, one after the other.
    sections: [Section; MOST_SECTIONS],
    output: Glide,
    /// Whether bands and sections are where they should be.
    is_still: bool,
    /// Whether no section changes anything.
    is_open: bool,
}

impl Equalizer {
    fn new(config: &EffectConfig<'_>) -> Self {
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let mut bands = BANDS.map(Band::new);
        for (place, parameter) in PARAMETERS[..OUTPUT].iter().enumerate() {
            bands[place / 4].set(place % 4, parameter.default, 0, 0);
        }
        let open = Section::new(Shape::open(1.0, 1.0));
        let mut equalizer = Self {
            sample_rate_hz,
            switch_frames: (SWITCH_SECS * sample_rate_hz) as u32,
            clock: 0,
            bands,
            sections: core::array::from_fn(|_| open.clone()),
            output: Glide::new(1.0),
            is_still: false,
            is_open: false,
        };
        equalizer.reset(0);
        equalizer
    }

    /// At a control place: where the bands will be at the next.
    fn control(&mut self) {
        let mut rest = &mut self.sections[..];
        for band in &mut self.bands {
            let (sections, later) = rest.split_at_mut(band.kind().sections());
            rest = later;
            // One more time after the last move: then the sections are where the band is.
            if !band.is_at_rest() || sections.iter().any(Section::is_moving) {
                band.pass(CONTROL_FRAMES);
                for (section, shape) in sections.iter_mut().zip(band.shapes(self.sample_rate_hz)) {
                    section.aim(shape);
                }
            }
        }
        self.is_still =
            self.bands.iter().all(Band::is_at_rest) && !self.sections.iter().any(Section::is_moving);
        self.is_open = self.sections.iter().all(Section::is_open);
    }
}

impl Effect for Equalizer {
    fn reset(&mut self, frame: u64) {
        self.clock = frame;
        self.output.jump();
        self.bands.iter_mut().for_each(Band::jump);
        let shapes = self.bands.iter().flat_map(|band| band.shapes(self.sample_rate_hz));
        for (section, shape) in self.sections.iter_mut().zip(shapes) {
            section.reset(shape);
        }
        self.is_still = true;
        self.is_open = self.sections.iter().all(Section::is_open);
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        if parameter == OUTPUT {
            self.output.set(f64::from(gain::from_db(value)), glide_frames);
        } else {
            self.bands[parameter / 4].set(parameter % 4, value, glide_frames, self.switch_frames);
            self.is_still = false;
        }
    }

    fn is_still(&self) -> bool {
        self.is_still
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        let place = (self.clock % CONTROL_FRAMES as u64) as usize;
        if !self.is_still && place == 0 {
            self.control();
        }
        // Where all calls end, also those that go on behind control places.
        if !self.is_open && self.clock.is_multiple_of(LONGEST_FRAMES as u64) {
            self.sections.iter_mut().for_each(Section::hush);
        }
        self.clock += left.len() as u64;
        if !self.is_open {
            let mut frames = Frames::of(left, right);
            in_a_row(&mut self.sections, place, frames.as_mut());
            frames.store(left, right);
        }
        if self.output.target() != 1.0 || !self.output.is_at_rest() {
            for (left, right) in left.iter_mut().zip(right) {
                let gain = self.output.next() as f32;
                (*left, *right) = (*left * gain, *right * gain);
            }
        }
    }

    fn rest(&mut self, frames: usize) -> bool {
        let rests = self.is_still && self.output.is_at_rest() && self.sections.iter().all(Section::is_silent);
        if rests {
            self.clock += frames as u64;
        }
        rests
    }
}
