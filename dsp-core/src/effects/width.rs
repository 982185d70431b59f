//! Width: how far left and right lie apart.
//!
//! With `M = (L + R) / 2` and `S = (L - R) / 2`, the outputs are `M + w S'` and `M - w S'`: their
//! sum is that of the inputs whatever the width, so that a mono listener hears no difference. `S'`
//! is `S`, or where the lows are made mono, `S` through a Butterworth high-pass filter of 24 dB an
//! octave.

use wide::f64x2;

use super::best::best;
use super::section::{Section, Shape, in_a_row, warp};
use super::{CONTROL_FRAMES, Effect, EffectConfig, EffectKind, Glide, Parameter, Unit, memory};

const MONO_BELOW: usize = 2;

/// Stereo width by middle and sides.
pub(super) static WIDTH: EffectKind = EffectKind {
    id: "width",
    name: "Width",
    parameters: &[
        Parameter::linear("width", "Width", Unit::Share, [0.0, 2.0], 1.0),
        Parameter::switch("mono_below_on", "Mono below", false),
        Parameter::logarithmic("mono_below_hz", "Mono below frequency", Unit::Hertz, [20.0, 500.0], 120.0),
    ],
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| best(Width::new(config)),
    memory_bytes: memory::inline_bytes::<Width>,
};

/// `1 / Q` of the two sections of a Butterworth filter of fourth order: `2 cos(3 pi / 8)`,
/// `2 cos(pi / 8)`.
const DAMPINGS: [f64; 2] = [0.765_366_864_730_179_5, 1.847_759_065_022_573_5];

/// How long the switch takes, in seconds.
const SWITCH_SECS: f64 = 0.01;

struct Width {
    sample_rate_hz: f64,
    clock: u64,
    width: Glide,
    mono_share: Glide,
    mono_below_hz: Glide,
    /// Whether something was set since the last control place, also what is there at once.
    was_set: bool,
    /// What the difference of the channels goes through.
    sections: [Section; 2],
}

impl Width {
    fn new(config: &EffectConfig<'_>) -> Self {
        let mut width = Self {
            sample_rate_hz: f64::from(config.sample_rate_hz),
            clock: 0,
            width: Glide::new(1.0),
            mono_share: Glide::new(0.0),
            mono_below_hz: Glide::new(WIDTH.parameters[MONO_BELOW].default),
            was_set: false,
            sections: DAMPINGS.map(|damping| Section::new(Shape::open(1.0, damping))),
        };
        width.reset(0);
        width
    }

    fn shapes(&self) -> [Shape; 2] {
        let g = warp(self.mono_below_hz.value(), self.sample_rate_hz);
        DAMPINGS.map(|damping| Shape::high_pass(g, damping).share(self.mono_share.value()))
    }

    /// Lets frames pass, and says how many frames behind a control place the first of them is.
    fn pass(&mut self, frames: usize) -> usize {
        let place = (self.clock % CONTROL_FRAMES as u64) as usize;
        self.clock += frames as u64;
        if place == 0 {
            self.control();
        }
        place
    }

    /// At a control place: what the filter will be at the next.
    fn control(&mut self) {
        let at_rest = self.mono_share.is_at_rest() && self.mono_below_hz.is_at_rest();
        if core::mem::take(&mut self.was_set) || !at_rest || self.sections.iter().any(Section::is_moving) {
            self.mono_share.pass(CONTROL_FRAMES);
            self.mono_below_hz.pass(CONTROL_FRAMES);
            let shapes = self.shapes();
            for (section, shape) in self.sections.iter_mut().zip(shapes) {
                section.aim(shape);
            }
        }
        self.sections.iter_mut().for_each(Section::hush);
    }
}

impl Effect for Width {
    fn reset(&mut self, frame: u64) {
        self.clock = frame;
        [&mut self.width, &mut self.mono_share, &mut self.mono_below_hz].into_iter().for_each(Glide::jump);
        let shapes = self.shapes();
        for (section, shape) in self.sections.iter_mut().zip(shapes) {
            section.reset(shape);
        }
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        self.was_set = true;
        match parameter {
            0 => self.width.set(value, glide_frames),
            1 => {
                let switch_frames = (SWITCH_SECS * self.sample_rate_hz) as u32;
                self.mono_share.set(value, glide_frames.max(switch_frames));
            }
            _ => self.mono_below_hz.set(value, glide_frames),
        }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        let place = self.pass(left.len());
        let is_stereo = self.sections.iter().all(Section::is_open);
        if is_stereo && self.width.is_at_rest() && self.width.target() == 1.0 {
            return;
        }
        let mut sides = [f64x2::ZERO; CONTROL_FRAMES];
        let sides = &mut sides[..left.len()];
        for ((side, left), right) in sides.iter_mut().zip(&*left).zip(&*right) {
            *side = f64x2::new([(f64::from(*left) - f64::from(*right)) * 0.5, 0.0]);
        }
        in_a_row(&mut self.sections, place, sides);
        for ((side, left), right) in sides.iter().zip(left).zip(right) {
            let [side, _] = side.to_array();
            // What comes on top of the side that is there already.
            let own = (f64::from(*left) - f64::from(*right)) * 0.5;
            let more = side * self.width.next() - own;
            (*left, *right) = ((f64::from(*left) + more) as f32, (f64::from(*right) - more) as f32);
        }
    }

    fn rest(&mut self, frames: usize) -> bool {
        let rests = self.width.is_at_rest() && self.sections.iter().all(Section::is_silent);
        if rests {
            self.pass(frames);
        }
        rests
    }
}
