//! De-esser: turns down sharp s sounds.

use alloc::boxed::Box;

use wide::f64x2;

use super::ballistics::Ballistics;
use super::butterworth::{Bands, Butterworth};
use super::curve::{Curves, GlidingCurve};
use super::decibels::{Step, gain, peak_levels_db};
use super::{CONTROL_FRAMES, Effect, EffectConfig, EffectKind, Glide, Parameter, Unit};

/// A compressor that listens to what is above a frequency.
///
/// Split, it is a high shelf that follows the level: with what a Butterworth filter of second order leaves
/// below, in the middle and above, the output is `below + sqrt(g) middle + g above`. With `w` the frequency in
/// parts of `frequency_hz` its response is `sqrt((1 + g^2 w^4) / (1 + w^4))`: it falls evenly, and where nothing
/// is turned down the output is the input.
///
/// - `mode`: whether it turns down what is above the frequency, or everything.
/// - `frequency_hz`: where what it listens to begins, 12 dB an octave.
/// - `threshold_db`: peak level of that, in dBFS, above which it turns down, decibel for decibel (a knee 6 dB wide).
/// - `range_db`: most that it turns down.
/// - `listen`: lets what it listens to be heard.
///
/// The time constants are 0.5 ms and 40 ms: s sounds begin fast and end before the next vowel.
pub(super) static DE_ESSER: EffectKind = EffectKind {
    id: "de_esser",
    name: "De-esser",
    parameters: &[
        Parameter::choice("mode", "Mode", &["Split", "Wide"], 0),
        Parameter::logarithmic("frequency_hz", "Frequency", Unit::Hertz, [1_000.0, 16_000.0], FREQUENCY_HZ),
        Parameter::linear("threshold_db", "Threshold", Unit::Decibels, [-60.0, 0.0], THRESHOLD_DB),
        Parameter::linear("range_db", "Range", Unit::Decibels, [0.0, 24.0], RANGE_DB),
        Parameter::switch("listen", "Listen", false),
    ],
    has_side_chain: false,
    make: |config| Box::new(DeEsser::new(config)),
};

const FREQUENCY_HZ: f64 = 5_500.0;
const THRESHOLD_DB: f64 = -28.0;
const RANGE_DB: f64 = 8.0;
const KNEE_DB: f64 = 6.0;
const ATTACK_MS: f64 = 0.5;
const RELEASE_MS: f64 = 40.0;

/// How long switches and choices take, in seconds.
const SWITCH_SECS: f64 = 0.02;

struct DeEsser {
    clock: u64,
    switch_frames: u32,
    filter: Butterworth,
    curve: GlidingCurve,
    range_db: Glide,
    ballistics: Ballistics,
    /// 1 while it turns down everything.
    wide: Glide,
    /// 1 while it lets hear what it listens to.
    listen: Glide,
}

impl DeEsser {
    fn new(config: &EffectConfig<'_>) -> Self {
        let rate_hz = config.sample_rate_hz;
        Self {
            clock: 0,
            switch_frames: (SWITCH_SECS * f64::from(rate_hz)) as u32,
            filter: Butterworth::new(FREQUENCY_HZ, rate_hz),
            curve: GlidingCurve {
                threshold_db: Glide::new(THRESHOLD_DB),
                ratio: Glide::new(f64::INFINITY),
                knee_db: Glide::new(KNEE_DB),
            },
            range_db: Glide::new(RANGE_DB),
            ballistics: Ballistics::new(ATTACK_MS, RELEASE_MS, rate_hz),
            wide: Glide::new(0.0),
            listen: Glide::new(0.0),
        }
    }

    /// Turns levels into square roots of gains.
    fn roots(&mut self, mut values: Step, frames: usize) -> Step {
        match self.curve.next(frames) {
            Curves::Same(curve) => values.iter_mut().for_each(|value| *value = curve.reduction_db(*value)),
            Curves::Each(curves) => {
                values.iter_mut().zip(curves).for_each(|(value, curve)| *value = curve.reduction_db(*value));
            }
        }
        for (value, range_db) in values.iter_mut().zip(self.range_db.step(frames)) {
            *value = value.min(range_db);
        }
        self.ballistics.follow(&mut values, frames);
        values.map(|reduction_db| gain(-0.5 * reduction_db))
    }
}

impl Effect for DeEsser {
    fn reset(&mut self, frame: u64) {
        self.clock = frame;
        self.filter.reset();
        self.curve.jump();
        self.range_db.jump();
        self.ballistics.reset();
        self.wide.jump();
        self.listen.jump();
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        let switch_frames = glide_frames.max(self.switch_frames);
        match parameter {
            0 => self.wide.set(value, switch_frames),
            1 => self.filter.set_frequency_hz(value, glide_frames),
            2 => self.curve.threshold_db.set(value, glide_frames),
            3 => self.range_db.set(value, glide_frames),
            _ => self.listen.set(value, switch_frames),
        }
    }

    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        let frames = left.len();
        if self.clock.is_multiple_of(CONTROL_FRAMES as u64) {
            self.filter.refresh();
            self.ballistics.refresh();
        }
        self.clock += frames as u64;

        let mut middles = [f64x2::ZERO; CONTROL_FRAMES];
        let mut highs = [f64x2::ZERO; CONTROL_FRAMES];
        let mut heard = [[0.0; CONTROL_FRAMES]; 2];
        for frame in 0..frames {
            let input = f64x2::from([f64::from(left[frame]), f64::from(right[frame])]);
            let Bands { middle, high } = self.filter.next(input);
            (middles[frame], highs[frame]) = (middle, high);
            let [high_left, high_right] = high.to_array();
            (heard[0][frame], heard[1][frame]) = (high_left as f32, high_right as f32);
        }
        self.filter.pass(frames);
        let roots = self.roots(peak_levels_db(&heard), frames);
        let is_plain = [&self.wide, &self.listen].map(|share| share.is_at_rest() && share.target() == 0.0);
        let (wides, listens) = (self.wide.step(frames), self.listen.step(frames));
        for frame in 0..frames {
            let input = f64x2::from([f64::from(left[frame]), f64::from(right[frame])]);
            let root = f64::from(roots[frame]);
            let gain = root * root;
            let mut output = input - middles[frame] * (1.0 - root) - highs[frame] * (1.0 - gain);
            if is_plain != [true; 2] {
                output += (input * gain - output) * f64::from(wides[frame]);
                output += (highs[frame] - output) * f64::from(listens[frame]);
            }
            [left[frame], right[frame]] = output.to_array().map(|value| value as f32);
        }
    }

    fn gain_reduction_db(&self) -> Option<f32> {
        Some(self.ballistics.reduction_db())
    }
}
