//! A band of the equalizer: parameters on their way, and the filters that they mean.

use super::super::Glide;
use super::super::section::{Shape, warp};
use super::FLAT_Q;

/// Most sections that a band has: a cut of 48 dB an octave.
const CUT_SECTIONS: usize = 4;

/// What a band does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    LowCut,
    LowShelf,
    Bell,
    HighShelf,
    HighCut,
}

/// The bands, in the order in which the signal passes them.
pub(super) const BANDS: [Kind; 8] = [
    Kind::LowCut,
    Kind::LowShelf,
    Kind::Bell,
    Kind::Bell,
    Kind::Bell,
    Kind::Bell,
    Kind::HighShelf,
    Kind::HighCut,
];

/// Sections of all bands together.
pub(super) const MOST_SECTIONS: usize = 14;

impl Kind {
    /// How many sections it has.
    pub(super) const fn sections(self) -> usize {
        if self.is_cut() { CUT_SECTIONS } else { 1 }
    }

    const fn is_cut(self) -> bool {
        matches!(self, Self::LowCut | Self::HighCut)
    }
}

const _: () = {
    let (mut sections, mut at) = (0, 0);
    while at < BANDS.len() {
        sections += BANDS[at].sections();
        at += 1;
    }
    assert!(sections == MOST_SECTIONS, "every section has a band");
};

/// Q of each section of a Butterworth filter of an order: `1 / (2 cos((2 i + 1) pi / (2 order)))`.
fn butterworth_q(order: usize, section: usize) -> f64 {
    let angle = (2 * section + 1) as f64 * core::f64::consts::PI / (2 * order) as f64;
    0.5 / libm::cos(angle)
}

/// A band.
#[derive(Debug, Clone)]
pub(super) struct Band {
    kind: Kind,
    is_on: bool,
    q: f64,
    /// Whether something was set since the last control place, also what is there at once.
    was_set: bool,
    /// Sections that a cut uses now.
    used: usize,
    frequency_hz: Glide,
    gain_db: Glide,
    /// Q of each section.
    qs: [Glide; CUT_SECTIONS],
    /// How much of each section is heard.
    shares: [Glide; CUT_SECTIONS],
}

impl Band {
    /// A band that is off.
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            is_on: false,
            q: FLAT_Q,
            was_set: false,
            used: 1,
            frequency_hz: Glide::new(1_000.0),
            gain_db: Glide::new(0.0),
            qs: [Glide::new(FLAT_Q); CUT_SECTIONS],
            shares: [Glide::new(0.0); CUT_SECTIONS],
        }
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Moves one of its parameters: on, frequency, slope or gain, Q.
    pub(super) fn set(&mut self, parameter: usize, value: f64, glide_frames: u32, switch_frames: u32) {
        self.was_set = true;
        let slowly = glide_frames.max(switch_frames);
        match parameter {
            0 => {
                self.is_on = value >= 0.5;
                self.aim_shares(slowly);
            }
            1 => self.frequency_hz.set(value, glide_frames),
            2 if self.kind.is_cut() => {
                self.used = 1 << (value as usize);
                self.aim_shares(slowly);
                self.aim_qs(slowly);
            }
            2 => self.gain_db.set(value, glide_frames),
            _ => {
                self.q = value;
                self.aim_qs(glide_frames);
            }
        }
    }

    fn aim_shares(&mut self, glide_frames: u32) {
        for (section, share) in self.shares.iter_mut().enumerate() {
            share.set(if self.is_on && section < self.used { 1.0 } else { 0.0 }, glide_frames);
        }
    }

    fn aim_qs(&mut self, glide_frames: u32) {
        for (section, glide) in self.qs.iter_mut().enumerate() {
            let q = if !self.kind.is_cut() {
                self.q
            } else if section + 1 == self.used {
                self.q / FLAT_Q * butterworth_q(2 * self.used, section)
            } else if section < self.used {
                butterworth_q(2 * self.used, section)
            } else {
                FLAT_Q
            };
            glide.set(q, glide_frames);
        }
    }

    fn glides(&mut self) -> impl Iterator<Item = &mut Glide> {
        [&mut self.frequency_hz, &mut self.gain_db].into_iter().chain(&mut self.qs).chain(&mut self.shares)
    }

    /// Whether it is where it was at the last control place, and stays there.
    pub(super) fn is_at_rest(&self) -> bool {
        !self.was_set
            && self.frequency_hz.is_at_rest()
            && self.gain_db.is_at_rest()
            && self.qs.iter().chain(&self.shares).all(Glide::is_at_rest)
    }

    /// Goes on to the next control place.
    pub(super) fn pass(&mut self, frames: usize) {
        self.was_set = false;
        self.glides().for_each(|glide| glide.pass(frames));
    }

    pub(super) fn jump(&mut self) {
        self.was_set = false;
        self.glides().for_each(Glide::jump);
    }

    /// What its sections do where its parameters are now; one for each section of its kind.
    pub(super) fn shapes(&self, sample_rate_hz: f64) -> impl Iterator<Item = Shape> {
        let g = warp(self.frequency_hz.value(), sample_rate_hz);
        let a = libm::exp10(self.gain_db.value() * self.shares[0].value() / 40.0);
        let sections = self.qs.iter().zip(&self.shares).take(self.kind.sections());
        sections.map(move |(q, share)| {
            let (q, share) = (q.value(), share.value());
            match self.kind {
                Kind::LowCut => Shape::high_pass(g, 1.0 / q).share(share),
                Kind::HighCut => Shape::low_pass(g, 1.0 / q).share(share),
                Kind::LowShelf => Shape::low_shelf(g, q, a),
                Kind::Bell => Shape::bell(g, q, a),
                Kind::HighShelf => Shape::high_shelf(g, q, a),
            }
        })
    }
}
