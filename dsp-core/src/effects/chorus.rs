//! Chorus: voices that drift around the sound (J. Dattorro, "Effect Design, Part 2", JAES 45-10,
//! 1997).

use wide::f32x4;

use super::best::best;
use super::control::{ControlClock, Due, Ramp, Settings, aim_all, jump_all};
use super::fractional_line::{FractionalLine, SHORTEST_FRAMES, Taps, sum};
use super::lfo::{Lfo, Speed, sine, turns};
use super::memory::inline_bytes;
use super::mixing::flush;
use super::{CONTROL_FRAMES, Effect, EffectConfig, EffectKind, Glide, LineSum, Parameter, Unit};

/// Most voices.
const VOICES: usize = 4;

/// Longest delay and widest drift, in milliseconds.
const LONGEST_MS: f64 = 40.0;
const WIDEST_MS: f64 = 10.0;

/// How long a voice takes to come or go, in seconds.
const SWITCH_SECS: f64 = 0.03;

/// Two to four voices, each late by a delay that swings.
///
/// A voice is late by `delay_ms` and swings by `depth_ms` to either side, but never comes early:
/// where the depth exceeds the delay, the delay counts. The voices' phases divide a turn into equal
/// parts. `spread` moves them from the middle to places between the sides, from -1 to 1, where a
/// voice has gains of `min(1, 1 - place)` and `min(1, 1 + place)`; each side's voices together then
/// have the power of the input. `feedback` leads the mean of the first two back. `mix` goes
/// straight from the dry to the wet signal.
pub(super) static CHORUS: EffectKind = EffectKind {
    id: "chorus",
    name: "Chorus",
    parameters: PARAMETERS,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| best(Chorus::new(config)),
    memory_bytes: Chorus::memory_bytes,
};

const VOICE_COUNT: usize = 0;
const RATE_HZ: usize = 1;
const DEPTH_MS: usize = 2;
const DELAY_MS: usize = 3;
const SPREAD: usize = 4;
const FEEDBACK: usize = 5;
const MIX: usize = 6;

const PARAMETERS: &[Parameter] = &[
    Parameter::choice("voices", "Voices", &["2", "3", "4"], 1),
    Parameter::logarithmic("rate_hz", "Rate", Unit::Hertz, [0.02, 10.0], 0.6),
    Parameter::linear("depth_ms", "Depth", Unit::Milliseconds, [0.0, WIDEST_MS], 1.5),
    Parameter::linear("delay_ms", "Delay", Unit::Milliseconds, [1.0, LONGEST_MS], 14.0),
    Parameter::linear("spread", "Spread", Unit::Share, [0.0, 1.0], 0.8),
    Parameter::linear("feedback", "Feedback", Unit::Share, [0.0, 0.5], 0.0),
    Parameter::linear("mix", "Mix", Unit::Share, [0.0, 1.0], 0.4),
];

/// What goes straight between control places.
const DRY: usize = 0;
const WET: usize = 1;
const WAY_BACK: usize = 2;
/// From here on the delay of each voice in frames, then its gain on the left, then on the right.
const DELAYS: usize = 3;
const LEFT: usize = DELAYS + VOICES;
const RIGHT: usize = LEFT + VOICES;
const RAMPS: usize = RIGHT + VOICES;

/// Voices of which the mean is fed back: those that are always there.
const FED_BACK: usize = 2;

struct Chorus {
    sample_rate_hz: f64,
    settings: Settings<{ PARAMETERS.len() }>,
    clock: ControlClock,
    lfo: Lfo,
    /// How far each voice is there, 0 to 1, and what part of a turn it is ahead of the first.
    presences: [Glide; VOICES],
    aheads: [Glide; VOICES],
    lines: [FractionalLine; 2],
    /// For how many frames both lines have been given silence.
    silent_frames: usize,
    taps: [Taps; VOICES],
    ramps: [Ramp; RAMPS],
    /// Voices that are heard between this control place and the next.
    heard: usize,
}

impl Chorus {
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
        let mut chorus = Self {
            sample_rate_hz,
            settings: Settings::new(PARAMETERS),
            clock: ControlClock::new(),
            lfo: Lfo::new(config.sample_rate_hz),
            presences: [Glide::new(0.0); VOICES],
            aheads: [Glide::new(0.0); VOICES],
            lines: [line.clone(), line],
            silent_frames: usize::MAX,
            taps: [Taps::NONE; VOICES],
            ramps: [Ramp::default(); RAMPS],
            heard: VOICES,
        };
        chorus.count(0);
        chorus
    }

    /// Has as many voices as are set, after so many frames.
    fn count(&mut self, glide_frames: u32) {
        let voices = self.settings.choice(VOICE_COUNT) + 2;
        for (place, (presence, ahead)) in self.presences.iter_mut().zip(&mut self.aheads).enumerate() {
            presence.set(if place < voices { 1.0 } else { 0.0 }, glide_frames);
            ahead.set(place as f64 / voices as f64, glide_frames);
        }
    }

    fn speed(&self) -> Speed {
        Speed::Hertz(self.settings.get(RATE_HZ))
    }

    fn targets(&self) -> [f64; RAMPS] {
        let settings = &self.settings;
        let delay_ms = settings.get(DELAY_MS);
        let depth_ms = settings.get(DEPTH_MS).min(delay_ms);
        let mut targets = [0.0; RAMPS];
        let present: f64 = self.presences.iter().map(Glide::value).sum();
        let mut powers = [0.0; 2];
        for voice in 0..VOICES {
            let phase = self.lfo.phase().wrapping_add(turns(self.aheads[voice].value()));
            let late_ms = delay_ms + depth_ms * sine(phase);
            targets[DELAYS + voice] = (1e-3 * late_ms * self.sample_rate_hz).max(SHORTEST_FRAMES);
            let presence = self.presences[voice].value();
            // From left to right, whatever the number of voices.
            let place = settings.get(SPREAD) * (2.0 * voice as f64 / (present - 1.0) - 1.0).clamp(-1.0, 1.0);
            let gains = [presence * (1.0 - place).min(1.0), presence * (1.0 + place).min(1.0)];
            for (power, gain) in powers.iter_mut().zip(gains) {
                *power += gain * gain;
            }
            (targets[LEFT + voice], targets[RIGHT + voice]) = (gains[0], gains[1]);
        }
        for (from, power) in [LEFT, RIGHT].into_iter().zip(powers) {
            let gain = 1.0 / libm::sqrt(power);
            targets[from..from + VOICES].iter_mut().for_each(|target| *target *= gain);
        }
        targets[DRY] = 1.0 - settings.get(MIX);
        targets[WET] = settings.get(MIX);
        targets[WAY_BACK] = settings.get(FEEDBACK) / FED_BACK as f64;
        targets
    }

    fn start(&mut self) {
        self.lfo.start(self.clock.place(), self.speed());
        let targets = self.targets();
        jump_all(&mut self.ramps, targets);
    }

    fn step(&mut self) {
        let were_there = self.voices_there();
        self.settings.step();
        self.presences.iter_mut().chain(&mut self.aheads).for_each(|glide| glide.pass(CONTROL_FRAMES));
        self.heard = were_there.max(self.voices_there());
        self.lfo.step(self.speed());
        let targets = self.targets();
        aim_all(&mut self.ramps, Some(targets));
    }

    fn voices_there(&self) -> usize {
        self.presences.iter().filter(|presence| presence.value() > 0.0).count()
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

impl Effect for Chorus {
    fn reset(&mut self, frame: u64) {
        self.settings.jump();
        self.presences.iter_mut().chain(&mut self.aheads).for_each(Glide::jump);
        self.clock.reset(frame);
        self.lines.iter_mut().for_each(FractionalLine::clear);
        self.silent_frames = usize::MAX;
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        self.settings.set(parameter, value, glide_frames);
        if parameter == MIX && glide_frames == 0 {
            self.ramps[DRY].jump(1.0 - value);
            self.ramps[WET].jump(value);
        }
        if parameter == VOICE_COUNT {
            self.count(glide_frames.max((SWITCH_SECS * self.sample_rate_hz) as u32));
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
        for (taps, delay) in self.taps.iter_mut().zip(&self.ramps[DELAYS..LEFT]).take(self.heard) {
            taps.find(delay, offset, frames);
        }
        let [left_line, right_line] = &mut self.lines;
        for (frame, (left, right)) in left.iter_mut().zip(right).enumerate() {
            let at = |ramp: usize| self.ramps[ramp].gain_at(offset + frame);
            let (mut wet, mut back) = ([f32x4::ZERO; 2], [f32x4::ZERO; 2]);
            for (voice, taps) in self.taps.iter().enumerate().take(self.heard) {
                let voices = [left_line.read(taps, frame), right_line.read(taps, frame)];
                wet[0] += voices[0] * f32x4::splat(at(LEFT + voice));
                wet[1] += voices[1] * f32x4::splat(at(RIGHT + voice));
                if voice < FED_BACK {
                    back[0] += voices[0];
                    back[1] += voices[1];
                }
            }
            let (dry, loud, way_back) = (at(DRY), at(WET), at(WAY_BACK));
            left_line.write(flush(*left + sum(back[0]) * way_back));
            right_line.write(flush(*right + sum(back[1]) * way_back));
            *left = *left * dry + sum(wet[0]) * loud;
            *right = *right * dry + sum(wet[1]) * loud;
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
