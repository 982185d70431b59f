//! Flanger: a comb whose teeth move.

use super::best::best;
use super::control::{ControlClock, Due, Ramp, Settings, aim_all, jump_all};
use super::fractional_line::{FractionalLine, SHORTEST_FRAMES, Taps, sum};
use super::lfo::{Lfo, Speed, sine, turns};
use super::memory::inline_bytes;
use super::mixing::flush;
use super::{Effect, EffectConfig, EffectKind, LineSum, Parameter, Unit};

/// Longest delay and widest sweep, in milliseconds.
const LONGEST_MS: f64 = 10.0;
const WIDEST_MS: f64 = 10.0;

/// A copy that is late by a short, swinging time.
///
/// The delay goes from `delay_ms`, where a turn starts, to `delay_ms + depth_ms`, half a turn
/// later, and back. The right side is ahead by `stereo_degrees`. With `mix` at 0.5 the comb has
/// zeros at odd multiples of half the delay's inverse; negative `feedback` turns what comes back
/// over. `mix` goes straight from the dry to the wet signal. A delay is two frames at least.
pub(super) static FLANGER: EffectKind = EffectKind {
    id: "flanger",
    name: "Flanger",
    parameters: PARAMETERS,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| best(Flanger::new(config)),
    memory_bytes: Flanger::memory_bytes,
};

const RATE_HZ: usize = 0;
const DELAY_MS: usize = 1;
const DEPTH_MS: usize = 2;
const FEEDBACK: usize = 3;
const STEREO_DEGREES: usize = 4;
const MIX: usize = 5;

const PARAMETERS: &[Parameter] = &[
    Parameter::logarithmic("rate_hz", "Rate", Unit::Hertz, [0.01, 10.0], 0.2),
    Parameter::logarithmic("delay_ms", "Delay", Unit::Milliseconds, [0.1, LONGEST_MS], 0.6),
    Parameter::linear("depth_ms", "Depth", Unit::Milliseconds, [0.0, WIDEST_MS], 3.0),
    Parameter::linear("feedback", "Feedback", Unit::Share, [-0.95, 0.95], 0.4),
    Parameter::linear("stereo_degrees", "Stereo", Unit::Degrees, [0.0, 180.0], 60.0),
    Parameter::linear("mix", "Mix", Unit::Share, [0.0, 1.0], 0.5),
];

struct Flanger {
    sample_rate_hz: f64,
    settings: Settings<{ PARAMETERS.len() }>,
    clock: ControlClock,
    lfo: Lfo,
    lines: [FractionalLine; 2],
    /// For how many frames both lines have been given silence.
    silent_frames: usize,
    taps: [Taps; 2],
    /// Delays in frames, left and right; dry, wet, feedback.
    ramps: [Ramp; 5],
}

impl Flanger {
    fn longest_frames(sample_rate_hz: f64) -> f64 {
        1e-3 * (LONGEST_MS + WIDEST_MS) * sample_rate_hz + SHORTEST_FRAMES
    }

    /// Two lines.
    fn memory_bytes(sample_rate_hz: u32, impulse_frames: u64) -> u64 {
        2 * FractionalLine::memory_bytes(Self::longest_frames(sample_rate_hz.into()))
            + inline_bytes::<Self>(sample_rate_hz, impulse_frames)
    }

    fn new(config: &EffectConfig<'_>) -> Self {
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let line = FractionalLine::new(Self::longest_frames(sample_rate_hz));
        Self {
            sample_rate_hz,
            settings: Settings::new(PARAMETERS),
            clock: ControlClock::new(),
            lfo: Lfo::new(config.sample_rate_hz),
            lines: [line.clone(), line],
            silent_frames: usize::MAX,
            taps: [Taps::NONE; 2],
            ramps: [Ramp::default(); 5],
        }
    }

    fn speed(&self) -> Speed {
        Speed::Hertz(self.settings.get(RATE_HZ))
    }

    fn targets(&self) -> [f64; 5] {
        let settings = &self.settings;
        let delay = |ahead: f64| {
            // A sine that starts a quarter of a turn late starts at its lowest.
            let swing = 0.5 + 0.5 * sine(self.lfo.phase().wrapping_add(turns(ahead - 0.25)));
            let late_ms = settings.get(DELAY_MS) + settings.get(DEPTH_MS) * swing;
            (1e-3 * late_ms * self.sample_rate_hz).max(SHORTEST_FRAMES)
        };
        let mix = settings.get(MIX);
        [delay(0.0), delay(settings.get(STEREO_DEGREES) / 360.0), 1.0 - mix, mix, settings.get(FEEDBACK)]
    }

    fn start(&mut self) {
        self.lfo.start(self.clock.place(), self.speed());
        let targets = self.targets();
        jump_all(&mut self.ramps, targets);
    }

    fn step(&mut self) {
        self.settings.step();
        self.lfo.step(self.speed());
        let targets = self.targets();
        aim_all(&mut self.ramps, Some(targets));
    }

    /// What is to be done before the next frame.
    fn control(&mut self) {
        match self.clock.due() {
            Due::Start => {
                self.start();
                self.step();
            }
            Due::Step => self.step(),
            Due::Nothing => {}
        }
    }
}

impl Effect for Flanger {
    fn reset(&mut self, frame: u64) {
        self.settings.jump();
        self.clock.reset(frame);
        self.lines.iter_mut().for_each(FractionalLine::clear);
        self.silent_frames = usize::MAX;
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        self.settings.set(parameter, value, glide_frames);
        if parameter == MIX && glide_frames == 0 {
            let [_, _, dry, wet, _] = &mut self.ramps;
            dry.jump(1.0 - value);
            wet.jump(value);
        }
    }

    fn counts(&self, parameter: usize) -> bool {
        parameter == RATE_HZ
    }

    fn follow(&mut self, parameter: usize, line: Option<LineSum>) {
        if self.counts(parameter) {
            self.lfo.follow(line);
        }
    }

    fn gap_frames(&self) -> usize {
        (1e-3 * (LONGEST_MS + WIDEST_MS) * self.sample_rate_hz) as usize
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        self.control();
        let (frames, offset) = (left.len(), self.clock.offset());
        for (taps, delay) in self.taps.iter_mut().zip(&self.ramps) {
            taps.find(delay, offset, frames);
        }
        let [left_line, right_line] = &mut self.lines;
        for (frame, (left, right)) in left.iter_mut().zip(right).enumerate() {
            let [_, _, dry, wet, feedback] = self.ramps.each_ref().map(|ramp| ramp.gain_at(offset + frame));
            let late =
                [sum(left_line.read(&self.taps[0], frame)), sum(right_line.read(&self.taps[1], frame))];
            left_line.write(flush(*left + late[0] * feedback));
            right_line.write(flush(*right + late[1] * feedback));
            *left = *left * dry + late[0] * wet;
            *right = *right * dry + late[1] * wet;
        }
        let is_silent = self.lines.iter().all(|line| line.ends_in_silence(frames));
        self.silent_frames = if is_silent { self.silent_frames.saturating_add(frames) } else { 0 };
        self.clock.pass(frames);
    }

    fn rest(&mut self, frames: usize) -> bool {
        let rests = self.silent_frames >= self.lines[0].frames();
        if rests {
            self.control();
            self.clock.pass(frames);
        }
        rests
    }
}
