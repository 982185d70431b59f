//! A band of the equalizer: its parameters and the responses of its sections.

use crate::dsp::filter_section::{Shape, warp};
use crate::dsp::smoothed_value::SmoothedValue;
use crate::effects::params::{ChoiceEnum, choices};

/// Q of a Butterworth cut of 12 dB per octave, and of the steepest shelf without overshoot.
pub(super) const FLAT_Q: f64 = core::f64::consts::FRAC_1_SQRT_2;

/// Maximum number of sections of a band: a cut of 48 dB per octave.
const CUT_SECTIONS: usize = 4;

/// A parameter of a band.
#[derive(Debug, Clone, Copy)]
pub(super) enum BandParam {
    /// Whether the band is on.
    On,
    /// Corner or centre frequency in hertz.
    FrequencyHz,
    /// Slope of a cut, in decibels per octave.
    Slope,
    /// Gain of a shelf or bell, in decibels.
    GainDb,
    Q,
}

choices! {
    pub(super) enum CutSlope { Db12 = "12 dB/octave", Db24 = "24 dB/octave", Db48 = "48 dB/octave" }
}

impl CutSlope {
    /// Returns the number of sections.
    fn sections(self) -> usize {
        match self {
            Self::Db12 => 1,
            Self::Db24 => 2,
            Self::Db48 => CUT_SECTIONS,
        }
    }
}

/// The type of a band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BandKind {
    LowCut,
    LowShelf,
    Bell,
    HighShelf,
    HighCut,
}

/// The bands, in the order of the signal.
pub(super) const BANDS: [BandKind; 8] = [
    BandKind::LowCut,
    BandKind::LowShelf,
    BandKind::Bell,
    BandKind::Bell,
    BandKind::Bell,
    BandKind::Bell,
    BandKind::HighShelf,
    BandKind::HighCut,
];

/// Number of sections of all bands.
pub(super) const TOTAL_SECTIONS: usize = 14;

impl BandKind {
    /// Returns the number of sections.
    pub(super) const fn sections(self) -> usize {
        if self.is_cut() { CUT_SECTIONS } else { 1 }
    }

    const fn is_cut(self) -> bool {
        matches!(self, Self::LowCut | Self::HighCut)
    }
}

const _: () = {
    let (mut sections, mut index) = (0, 0);
    while index < BANDS.len() {
        sections += BANDS[index].sections();
        index += 1;
    }
    assert!(sections == TOTAL_SECTIONS, "TOTAL_SECTIONS must be the sum of the bands' sections");
};

/// Returns the Q of the section with the index `i` of a Butterworth filter: `1 / (2 cos((2 i + 1)
/// pi / (2 order)))`.
fn butterworth_q(order: usize, section: usize) -> f64 {
    let angle = (2 * section + 1) as f64 * core::f64::consts::PI / (2 * order) as f64;
    0.5 / libm::cos(angle)
}

/// A band with its smoothed parameters.
#[derive(Debug, Clone)]
pub(super) struct Band {
    kind: BandKind,
    is_on: bool,
    q: f64,
    /// Whether a parameter was set since the last control point.
    has_new_target: bool,
    /// Number of sections in use by a cut.
    active_sections: usize,
    frequency_hz: SmoothedValue,
    gain_db: SmoothedValue,
    /// Q of each section.
    qs: [SmoothedValue; CUT_SECTIONS],
    /// Proportion of each section's output; the remainder is its input.
    fractions: [SmoothedValue; CUT_SECTIONS],
}

impl Band {
    /// Creates a band that is off.
    pub(super) fn new(kind: BandKind) -> Self {
        Self {
            kind,
            is_on: false,
            q: FLAT_Q,
            has_new_target: false,
            active_sections: 1,
            frequency_hz: SmoothedValue::new(1_000.0),
            gain_db: SmoothedValue::new(0.0),
            qs: [SmoothedValue::new(FLAT_Q); CUT_SECTIONS],
            fractions: [SmoothedValue::new(0.0); CUT_SECTIONS],
        }
    }

    pub(super) fn kind(&self) -> BandKind {
        self.kind
    }

    /// Ramps a parameter to a value. Switches and slopes take at least `switch_frames` frames.
    pub(super) fn set_parameter(
        &mut self,
        parameter: BandParam,
        value: f64,
        ramp_frames: u32,
        switch_frames: u32,
    ) {
        self.has_new_target = true;
        let switch_ramp_frames = ramp_frames.max(switch_frames);
        match parameter {
            BandParam::On => {
                self.is_on = value >= 0.5;
                self.ramp_fractions(switch_ramp_frames);
            }
            BandParam::FrequencyHz => self.frequency_hz.set_target(value, ramp_frames),
            BandParam::Slope => {
                self.active_sections = CutSlope::from_value(value).sections();
                self.ramp_fractions(switch_ramp_frames);
                self.ramp_qs(switch_ramp_frames);
            }
            BandParam::GainDb => self.gain_db.set_target(value, ramp_frames),
            BandParam::Q => {
                self.q = value;
                self.ramp_qs(ramp_frames);
            }
        }
    }

    fn ramp_fractions(&mut self, ramp_frames: u32) {
        for (section, fraction) in self.fractions.iter_mut().enumerate() {
            fraction.set_target(
                if self.is_on && section < self.active_sections { 1.0 } else { 0.0 },
                ramp_frames,
            );
        }
    }

    fn ramp_qs(&mut self, ramp_frames: u32) {
        for (section, smoothed_q) in self.qs.iter_mut().enumerate() {
            let q = if !self.kind.is_cut() {
                self.q
            } else if section + 1 == self.active_sections {
                self.q / FLAT_Q * butterworth_q(2 * self.active_sections, section)
            } else if section < self.active_sections {
                butterworth_q(2 * self.active_sections, section)
            } else {
                FLAT_Q
            };
            smoothed_q.set_target(q, ramp_frames);
        }
    }

    fn smoothed_values(&mut self) -> impl Iterator<Item = &mut SmoothedValue> {
        [&mut self.frequency_hz, &mut self.gain_db].into_iter().chain(&mut self.qs).chain(&mut self.fractions)
    }

    /// Whether no parameter has changed since the last control point, and none ramps.
    pub(super) fn is_steady(&self) -> bool {
        !self.has_new_target
            && self.frequency_hz.is_steady()
            && self.gain_db.is_steady()
            && self.qs.iter().chain(&self.fractions).all(SmoothedValue::is_steady)
    }

    /// Advances all ramps by `frames` frames, to the next control point.
    pub(super) fn advance(&mut self, frames: usize) {
        self.has_new_target = false;
        self.smoothed_values().for_each(|smoothed| smoothed.advance(frames));
    }

    pub(super) fn finish(&mut self) {
        self.has_new_target = false;
        self.smoothed_values().for_each(SmoothedValue::finish);
    }

    /// Returns the responses of the sections at the current parameters: as many as
    /// [`BandKind::sections`].
    pub(super) fn shapes(&self, sample_rate_hz: f64) -> impl Iterator<Item = Shape> {
        let g = warp(self.frequency_hz.value(), sample_rate_hz);
        let a = libm::exp10(self.gain_db.value() * self.fractions[0].value() / 40.0);
        let sections = self.qs.iter().zip(&self.fractions).take(self.kind.sections());
        sections.map(move |(q, fraction)| {
            let (q, fraction) = (q.value(), fraction.value());
            match self.kind {
                BandKind::LowCut => Shape::high_pass(g, 1.0 / q).blend(fraction),
                BandKind::HighCut => Shape::low_pass(g, 1.0 / q).blend(fraction),
                BandKind::LowShelf => Shape::low_shelf(g, q, a),
                BandKind::Bell => Shape::bell(g, q, a),
                BandKind::HighShelf => Shape::high_shelf(g, q, a),
            }
        })
    }
}
