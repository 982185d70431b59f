//! Delay: echoes in time with the clock or the music.
//!
//! An echo lasts whole frames, so that at rest nothing is interpolated and nothing gets dull that
//! should not. Where its time changes, by hand or with the tempo, the echo fades over from the old
//! time to the new one in [`FADE_SECS`]: pitch stays as it is, and nothing clicks. Fades begin at
//! fixed places of the session's clock, at most as much later than the change. The gains of a fade
//! add up to one, so the loop never gains by it.

use super::best::best;
use super::control::{ControlClock, Due, Ramp, Settings, aim_all, jump_all};
use super::cuts::Cuts;
use super::fade::Fade;
use super::line::Line;
use super::memory::inline_bytes;
use super::mixing::{equal_power, flush};
use super::note_value::{NOTE_NAMES, note_beats, note_place};
use super::{CONTROL_FRAMES, Effect, EffectConfig, EffectKind, MusicalTime, Parameter, Unit};

/// Longest time of an echo, in seconds: a whole note at 48 quarter notes a minute.
const LONGEST_SECS: f64 = 5.0;

/// Shortest time of an echo, in seconds.
const SHORTEST_SECS: f64 = 0.001;

/// Widest difference between the sides, in milliseconds.
const WIDEST_SPREAD_MS: f64 = 50.0;

/// How long a change of time takes, in seconds.
const FADE_SECS: f64 = 0.03;

/// How long a change of mode takes, in seconds.
const SWITCH_SECS: f64 = 0.01;

/// Echoes that come back filtered, on their side or from side to side.
///
/// Each echo is `feedback` times as loud as the one before it and passes both cuts once more. A
/// synchronised time that exceeds 5 seconds is halved until it does not. `spread_ms` makes the
/// right side's echoes later, or the left side's if it is below 0. Ping-pong sums the input to one
/// side and feeds each side to the other. `mix` is of equal power.
pub(super) static DELAY: EffectKind = EffectKind {
    id: "delay",
    name: "Delay",
    parameters: PARAMETERS,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| best(Delay::new(config)),
    memory_bytes: Delay::memory_bytes,
};

const SYNC: usize = 0;
const TIME_MS: usize = 1;
const NOTE: usize = 2;
const MODE: usize = 3;
const FEEDBACK: usize = 4;
const SPREAD_MS: usize = 5;
const LOW_CUT_HZ: usize = 6;
const HIGH_CUT_HZ: usize = 7;
const MIX: usize = 8;

/// Note values up to a dotted whole note.
const NOTES: &[&str] = NOTE_NAMES.split_at(note_place("1/1D") + 1).0;

const PARAMETERS: &[Parameter] = &[
    Parameter::switch("sync", "Sync", true),
    Parameter::logarithmic(
        "time_ms",
        "Time",
        Unit::Milliseconds,
        [1e3 * SHORTEST_SECS, 1e3 * LONGEST_SECS],
        375.0,
    ),
    Parameter::choice("note", "Note", NOTES, note_place("1/8D")),
    Parameter::choice("mode", "Mode", &["Stereo", "Ping-pong"], 0),
    Parameter::linear("feedback", "Feedback", Unit::Share, [0.0, 0.98], 0.35),
    Parameter::linear("spread_ms", "Spread", Unit::Milliseconds, [-WIDEST_SPREAD_MS, WIDEST_SPREAD_MS], 0.0),
    Parameter::logarithmic("low_cut_hz", "Low cut", Unit::Hertz, [20.0, 2_000.0], 100.0),
    Parameter::logarithmic("high_cut_hz", "High cut", Unit::Hertz, [200.0, 20_000.0], 8_000.0),
    Parameter::linear("mix", "Mix", Unit::Share, [0.0, 1.0], 0.25),
];

struct Delay {
    sample_rate_hz: f64,
    bpm: f64,
    settings: Settings<{ PARAMETERS.len() }>,
    clock: ControlClock,
    lines: [Line; 2],
    /// Where the lines are read, in frames back.
    heads: Fade<[usize; 2]>,
    /// A fade to other places begins at multiples of so many frames.
    fade_every_frames: u64,
    cuts: Cuts,
    /// Gains of the dry signal, of the echoes, and of their way back; share of ping-pong.
    gains: [Ramp; 4],
}

impl Delay {
    fn longest_frames(sample_rate_hz: f64) -> usize {
        let longest_secs = LONGEST_SECS + 1e-3 * WIDEST_SPREAD_MS;
        libm::ceil(longest_secs * sample_rate_hz) as usize + 1
    }

    /// Two lines.
    fn memory_bytes(sample_rate_hz: u32, impulse_frames: u64) -> u64 {
        2 * Line::memory_bytes(Self::longest_frames(sample_rate_hz.into()))
            + inline_bytes::<Self>(sample_rate_hz, impulse_frames)
    }

    fn new(config: &EffectConfig<'_>) -> Self {
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let line = Line::new(Self::longest_frames(sample_rate_hz));
        let fade_frames = (FADE_SECS * sample_rate_hz) as usize;
        Self {
            sample_rate_hz,
            bpm: 120.0,
            settings: Settings::new(PARAMETERS),
            clock: ControlClock::new(),
            lines: [line.clone(), line],
            heads: Fade::new([1; 2], fade_frames),
            fade_every_frames: fade_frames.next_multiple_of(CONTROL_FRAMES) as u64,
            cuts: Cuts::new(config.sample_rate_hz),
            gains: [Ramp::default(); 4],
        }
    }

    /// Frames from a sound to its first echo on each side.
    fn echo_frames(&self) -> [usize; 2] {
        let mut secs = if self.settings.is_on(SYNC) {
            note_beats(self.settings.choice(NOTE)) * 60.0 / self.bpm
        } else {
            1e-3 * self.settings.get(TIME_MS)
        };
        while secs > LONGEST_SECS {
            secs *= 0.5;
        }
        let spread_secs = 1e-3 * self.settings.get(SPREAD_MS);
        [-spread_secs, spread_secs].map(|later_secs| {
            let secs = secs.max(SHORTEST_SECS) + later_secs.max(0.0);
            libm::round(secs * self.sample_rate_hz) as usize
        })
    }

    fn cuts_hz(&self) -> [f64; 2] {
        [self.settings.get(LOW_CUT_HZ), self.settings.get(HIGH_CUT_HZ)]
    }

    fn gain_targets(&self) -> [f64; 4] {
        let [dry, wet] = equal_power(self.settings.get(MIX));
        [dry, wet, self.settings.get(FEEDBACK), self.settings.get(MODE)]
    }

    fn start(&mut self) {
        self.heads.jump(self.echo_frames());
        self.cuts.jump(self.cuts_hz());
        let gains = self.gain_targets();
        jump_all(&mut self.gains, gains);
    }

    fn step(&mut self) {
        let moved = self.settings.step();
        let gains = moved.then(|| self.gain_targets());
        aim_all(&mut self.gains, gains);
        self.cuts.step(moved.then(|| self.cuts_hz()));
        // At places that do not depend on when the change began, or where playing did.
        if self.heads.is_at_rest() && self.clock.place().is_multiple_of(self.fade_every_frames) {
            self.heads.aim(self.echo_frames());
        }
    }

    /// Some frames, of which none comes back within them.
    fn pass(&mut self, [left, right]: [&mut [f32]; 2]) {
        let frames = left.len();
        let offset = self.clock.offset();
        let mut echoes = [[0.0; CONTROL_FRAMES]; 2];
        for (side, (line, echoes)) in self.lines.iter().zip(&mut echoes).enumerate() {
            let echoes = &mut echoes[..frames];
            line.read(self.heads.now()[side], echoes);
            self.heads.blend(echoes, |next, echoes| line.read(next[side], echoes));
        }
        self.heads.pass(frames);
        let [left_echoes, right_echoes] = echoes.each_mut().map(|echoes| &mut echoes[..frames]);
        self.cuts.process(offset, [&mut *left_echoes, &mut *right_echoes]);
        let mut gains = [[0.0; CONTROL_FRAMES]; 4];
        for (gains, ramp) in gains.iter_mut().zip(&self.gains) {
            ramp.fill(offset, gains);
        }
        let [dry, wet, feedback, cross] = &gains;
        let gains = dry.iter().zip(wet).zip(feedback.iter().zip(cross));
        let mut fed = [[0.0; CONTROL_FRAMES]; 2];
        let [fed_left, fed_right] = &mut fed;
        let echoes = left_echoes.iter().zip(&*right_echoes).zip(fed_left.iter_mut().zip(fed_right));
        for ((left, right), ((echo, fed), gains)) in left.iter_mut().zip(right).zip(echoes.zip(gains)) {
            let (((dry, wet), (feedback, cross)), (echo_left, echo_right)) = (gains, echo);
            let (back_left, back_right) = (feedback * echo_left, feedback * echo_right);
            // Ping-pong: both inputs go to the left, and each side's echoes to the other.
            *fed.0 = flush(*left + back_left + cross * (0.5 * (*right - *left) + (back_right - back_left)));
            *fed.1 = flush(*right + back_right + cross * ((back_left - back_right) - *right));
            *left = *left * dry + echo_left * wet;
            *right = *right * dry + echo_right * wet;
        }
        for (line, fed) in self.lines.iter_mut().zip(&fed) {
            line.write(&fed[..frames]);
        }
        self.clock.pass(frames);
    }
}

impl Effect for Delay {
    fn reset(&mut self, frame: u64) {
        self.settings.jump();
        self.clock.reset(frame);
        self.lines.iter_mut().for_each(Line::clear);
        self.cuts.clear();
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        let switch_frames = (SWITCH_SECS * self.sample_rate_hz) as u32;
        let glide_frames = if parameter == MODE { glide_frames.max(switch_frames) } else { glide_frames };
        self.settings.set(parameter, value, glide_frames);
        if parameter == MIX && glide_frames == 0 {
            jump_all(&mut self.gains[..2], equal_power(value));
        }
    }

    fn set_time(&mut self, time: MusicalTime) {
        // Also for what is no number.
        self.bpm = time.bpm.max(1.0);
    }

    fn gap_frames(&self) -> usize {
        let [left, right] = self.echo_frames();
        // Where only one side of a ping-pong is heard, every other echo.
        if self.settings.is_on(MODE) { left + right } else { left.max(right) }
    }

    #[inline(always)]
    fn process(&mut self, [mut left, mut right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        match self.clock.due() {
            Due::Start => {
                self.start();
                self.step();
            }
            Due::Step => self.step(),
            Due::Nothing => {}
        }
        while !left.is_empty() {
            let soonest = self.heads.now().iter().chain(self.heads.next()).min();
            let frames = left.len().min(soonest.copied().unwrap_or(1));
            let (now_left, later_left) = left.split_at_mut(frames);
            let (now_right, later_right) = right.split_at_mut(frames);
            self.pass([now_left, now_right]);
            (left, right) = (later_left, later_right);
        }
    }
}
