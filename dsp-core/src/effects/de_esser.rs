//! De-esser: turns down sharp s sounds.

use super::ballistics::Ballistics;
use super::best::best;
use super::butterworth::{Bands, Butterworth};
use super::curve::GlidingCurve;
use super::decibels::{gain, lower, peak_levels_db};
use super::step::Step;
use super::{CONTROL_FRAMES, Effect, EffectConfig, EffectKind, Glide, Parameter, Unit, memory};

/// A compressor that listens to what is above a frequency.
///
/// Split, it is a high shelf that follows the level: with what a Butterworth filter of second order
/// leaves below, in the middle and above, the output is `below + sqrt(g) middle + g above`. With
/// `w` the frequency in parts of `frequency_hz` its response is `sqrt((1 + g^2 w^4) / (1 + w^4))`:
/// it falls evenly, and where nothing is turned down the output is the input.
///
/// - `mode`: whether it turns down what is above the frequency, or everything.
/// - `frequency_hz`: where what it listens to begins, 12 dB an octave.
/// - `threshold_db`: peak level of that, in dBFS, above which it turns down, decibel for decibel (a
///   knee 6 dB wide).
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
    impulse_max_secs: None,
    make: |config| best(DeEsser::new(config)),
    memory_bytes: memory::inline_bytes::<DeEsser>,
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

    /// Lets frames pass that begin at a control place or behind one.
    fn pass(&mut self, frames: usize) {
        if self.clock.is_multiple_of(CONTROL_FRAMES as u64) {
            self.filter.refresh();
            self.filter.hush();
            self.ballistics.refresh();
            self.ballistics.hush();
        }
        self.clock += frames as u64;
    }

    /// Turns levels into square roots of gains.
    fn roots(&mut self, values: &mut Step, frames: usize) {
        self.curve.reduce(values, frames);
        for (value, range_db) in values.iter_mut().zip(self.range_db.step(frames)) {
            *value = lower(*value, range_db);
        }
        self.ballistics.follow(values, frames);
        values.iter_mut().for_each(|value| *value = gain(-0.5 * *value));
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

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        let frames = left.len();
        self.pass(frames);
        let bands: Bands<CONTROL_FRAMES> = self.filter.split([&*left, &*right]);
        let mut roots = [0.0; CONTROL_FRAMES];
        peak_levels_db(bands.high.each_ref().map(|band| &band[..]), &mut roots);
        self.roots(&mut roots, frames);
        let wide = (!is_off(&self.wide)).then(|| self.wide.step(frames));
        let listen = (!is_off(&self.listen)).then(|| self.listen.step(frames));
        for (channel, values) in [left, right].into_iter().enumerate() {
            let (middles, highs) = (&bands.middle[channel], &bands.high[channel]);
            let mut output = [0.0; CONTROL_FRAMES];
            for (frame, (output, value)) in output.iter_mut().zip(&*values).enumerate() {
                let root = roots[frame];
                *output = *value - middles[frame] * (1.0 - root) - highs[frame] * (1.0 - root * root);
            }
            for (frame, share) in wide.iter().flatten().enumerate().take(frames) {
                output[frame] += share * (values[frame] * roots[frame] * roots[frame] - output[frame]);
            }
            for (frame, share) in listen.iter().flatten().enumerate().take(frames) {
                output[frame] += share * (highs[frame] - output[frame]);
            }
            values.copy_from_slice(&output[..frames]);
        }
    }

    fn rest(&mut self, frames: usize) -> bool {
        let glides = [&self.range_db, &self.wide, &self.listen];
        let rests = self.filter.rests()
            && self.curve.is_at_rest()
            && self.ballistics.rests()
            && glides.iter().all(|glide| glide.is_at_rest());
        if rests {
            self.pass(frames);
        }
        rests
    }

    fn gain_reduction_db(&self) -> Option<f32> {
        Some(self.ballistics.reduction_db())
    }
}

/// Whether a switch is off and stays so.
fn is_off(share: &Glide) -> bool {
    share.is_at_rest() && share.target() == 0.0
}
