//! Delay: echoes in seconds or in note values.
//!
//! A delay has a whole number of frames. It thus needs no interpolation, which would attenuate high
//! frequencies. A change of the delay time crossfades from the old to the new time within
//! [`FADE_SECS`], without a change of pitch. Crossfades start at multiples of a fixed number of
//! frames of the session's clock and so do not depend on where playback started. The gains of a
//! crossfade add up to 1, so a crossfade never raises the gain of the feedback loop.

use super::effect::{Effect, EffectConfig, EffectKind, Group, MusicalTime};
use super::memory::inline_bytes;
use super::note_value::{NOTE_NAMES, note_beats, note_index};
use super::parameter::Unit;
use super::params::{ParameterEnum, choices, parameters};
use super::simd_dispatch::with_simd_dispatch;
use super::smoothed_parameters::SmoothedParameters;
use crate::dsp::control::{CONTROL_FRAMES, ControlClock, ControlRamp, ControlWork, ramp_all, reset_all};
use crate::dsp::cut_filters::CutFilters;
use crate::dsp::denormals::flush_denormal;
use crate::dsp::equal_power::equal_power;
use crate::dsp::tap_crossfade::TapCrossfade;
use crate::dsp::tapped_delay_line::TappedDelayLine;

/// Longest delay in seconds: a whole note at 48 quarter notes per minute.
const LONGEST_SECS: f64 = 5.0;

/// Shortest delay in seconds.
const SHORTEST_SECS: f64 = 0.001;

/// Largest difference between the delays of left and right, in milliseconds.
const WIDEST_SPREAD_MS: f64 = 50.0;

/// Crossfade time after a change of the delay, in seconds.
const FADE_SECS: f64 = 0.03;

/// Minimum ramp time after a change of the mode, in seconds.
const SWITCH_SECS: f64 = 0.01;

/// Echoes with filtered feedback, in stereo or ping-pong.
///
/// Each echo is `feedback` times as loud as the echo before it, and passes the low cut and the high
/// cut once more. A synchronized delay above 5 seconds is halved until it is at most 5 seconds.
/// Ping-pong feeds the mean of both inputs to the left delay line, and the echoes of each channel
/// to the other channel's line.
pub(super) static DELAY: EffectKind = EffectKind {
    id: "delay",
    name: "Delay",
    group: Group::SpaceAndTime,
    parameters: DelayParam::TABLE,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(Delay::new(config)),
    memory_bytes: Delay::memory_bytes,
};

/// Note values up to a dotted whole note.
const NOTES: &[&str] = NOTE_NAMES.split_at(note_index("1/1D") + 1).0;

parameters! {
    enum DelayParam {
        /// Whether the delay is a note value.
        Sync = switch("sync", "Sync", true),
        /// Delay in milliseconds without synchronization.
        TimeMs = logarithmic(
            "time_ms",
            "Time",
            Unit::Milliseconds,
            [1e3 * SHORTEST_SECS, 1e3 * LONGEST_SECS],
            375.0,
        ),
        /// Delay as a note value, with synchronization.
        Note = choice("note", "Note", NOTES, note_index("1/8D")),
        /// Whether echoes stay in their channel.
        Mode = choice("mode", "Mode", Mode::NAMES, Mode::Stereo as usize),
        /// Gain of each echo relative to the one before it.
        Feedback = linear("feedback", "Feedback", Unit::Proportion, [0.0, 0.98], 0.35),
        /// Additional delay of the right channel. A negative value delays the left channel instead.
        SpreadMs =
            linear("spread_ms", "Spread", Unit::Milliseconds, [-WIDEST_SPREAD_MS, WIDEST_SPREAD_MS], 0.0),
        /// Cut-off of a high-pass filter of 6 dB per octave in the feedback.
        LowCutHz = logarithmic("low_cut_hz", "Low cut", Unit::Hertz, [20.0, 2_000.0], 100.0),
        /// Cut-off of a low-pass filter of 6 dB per octave in the feedback.
        HighCutHz = logarithmic("high_cut_hz", "High cut", Unit::Hertz, [200.0, 20_000.0], 8_000.0),
        /// Equal-power mix of input and echoes: 0 is the input only, 1 the echoes only.
        Mix = linear("mix", "Mix", Unit::Proportion, [0.0, 1.0], 0.25),
    }
}

choices! {
    /// The channels of the echoes.
    enum Mode {
        /// Echoes stay in their channel.
        Stereo = "Stereo",
        /// Echoes alternate between the channels.
        PingPong = "Ping-pong",
    }
}

struct Delay {
    sample_rate_hz: f64,
    bpm: f64,
    settings: SmoothedParameters<DelayParam, { DelayParam::COUNT }>,
    clock: ControlClock,
    delay_lines: [TappedDelayLine; 2],
    /// Delays of left and right in frames, which crossfade when they change.
    taps: TapCrossfade<[usize; 2]>,
    /// A crossfade starts at multiples of this number of frames.
    fade_every_frames: u64,
    cuts: CutFilters,
    /// Gains of the dry signal, of the echoes and of the feedback, then the proportion of
    /// ping-pong.
    gains: [ControlRamp; 4],
}

impl Delay {
    fn longest_frames(sample_rate_hz: f64) -> usize {
        let longest_secs = LONGEST_SECS + 1e-3 * WIDEST_SPREAD_MS;
        libm::ceil(longest_secs * sample_rate_hz) as usize + 1
    }

    /// Returns the size of both delay lines and of the effect itself in bytes.
    fn memory_bytes(sample_rate_hz: u32, impulse_frames: u64) -> u64 {
        2 * TappedDelayLine::memory_bytes(Self::longest_frames(sample_rate_hz.into()))
            + inline_bytes::<Self>(sample_rate_hz, impulse_frames)
    }

    fn new(config: &EffectConfig<'_>) -> Self {
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let delay_line = TappedDelayLine::new(Self::longest_frames(sample_rate_hz));
        let fade_frames = (FADE_SECS * sample_rate_hz) as usize;
        Self {
            sample_rate_hz,
            bpm: 120.0,
            settings: SmoothedParameters::new(),
            clock: ControlClock::new(),
            delay_lines: [delay_line.clone(), delay_line],
            taps: TapCrossfade::new([1; 2], fade_frames),
            fade_every_frames: fade_frames.next_multiple_of(CONTROL_FRAMES) as u64,
            cuts: CutFilters::new(config.sample_rate_hz),
            gains: [ControlRamp::default(); 4],
        }
    }

    /// Returns the delays of left and right in frames.
    fn echo_frames(&self) -> [usize; 2] {
        let mut secs = if self.settings.is_on(DelayParam::Sync) {
            note_beats(self.settings.target(DelayParam::Note)) * 60.0 / self.bpm
        } else {
            1e-3 * self.settings.get(DelayParam::TimeMs)
        };
        while secs > LONGEST_SECS {
            secs *= 0.5;
        }
        let spread_secs = 1e-3 * self.settings.get(DelayParam::SpreadMs);
        [-spread_secs, spread_secs].map(|spread_secs| {
            let secs = secs.max(SHORTEST_SECS) + spread_secs.max(0.0);
            libm::round(secs * self.sample_rate_hz) as usize
        })
    }

    fn cuts_hz(&self) -> [f64; 2] {
        [self.settings.get(DelayParam::LowCutHz), self.settings.get(DelayParam::HighCutHz)]
    }

    fn gain_targets(&self) -> [f64; 4] {
        let [dry, wet] = equal_power(self.settings.get(DelayParam::Mix));
        [dry, wet, self.settings.get(DelayParam::Feedback), self.settings.get(DelayParam::Mode)]
    }

    fn start(&mut self) {
        self.taps.reset_to(self.echo_frames());
        self.cuts.reset_to(self.cuts_hz());
        let gains = self.gain_targets();
        reset_all(&mut self.gains, gains);
    }

    fn step(&mut self) {
        let has_changed = self.settings.step();
        let gains = has_changed.then(|| self.gain_targets());
        ramp_all(&mut self.gains, gains);
        self.cuts.step(has_changed.then(|| self.cuts_hz()));
        // Crossfades start only at these frames, which do not depend on where playback started.
        if self.taps.is_steady() && self.clock.control_point().is_multiple_of(self.fade_every_frames) {
            self.taps.fade_to(self.echo_frames());
        }
    }

    /// Processes at most as many frames as the shortest delay has.
    fn process_up_to_shortest_delay(&mut self, [left, right]: [&mut [f32]; 2]) {
        let frames = left.len();
        let offset = self.clock.offset();
        let mut echoes = [[0.0; CONTROL_FRAMES]; 2];
        for (side, (delay_line, echoes)) in self.delay_lines.iter().zip(&mut echoes).enumerate() {
            let echoes = &mut echoes[..frames];
            delay_line.read(self.taps.current()[side], echoes);
            self.taps.crossfade(echoes, |next, echoes| delay_line.read(next[side], echoes));
        }
        self.taps.advance(frames);
        let [left_echoes, right_echoes] = echoes.each_mut().map(|echoes| &mut echoes[..frames]);
        self.cuts.process(offset, [&mut *left_echoes, &mut *right_echoes]);
        let mut gains = [[0.0; CONTROL_FRAMES]; 4];
        for (gains, ramp) in gains.iter_mut().zip(&self.gains) {
            ramp.fill(offset, gains);
        }
        let [dry, wet, feedback, cross] = &gains;
        let gains = dry.iter().zip(wet).zip(feedback.iter().zip(cross));
        let mut delay_inputs = [[0.0; CONTROL_FRAMES]; 2];
        let [input_left, input_right] = &mut delay_inputs;
        let echoes = left_echoes.iter().zip(&*right_echoes).zip(input_left.iter_mut().zip(input_right));
        for ((left, right), ((echo, delay_inputs), gains)) in
            left.iter_mut().zip(right).zip(echoes.zip(gains))
        {
            let (((dry, wet), (feedback, cross)), (echo_left, echo_right)) = (gains, echo);
            let (feedback_left, feedback_right) = (feedback * echo_left, feedback * echo_right);
            // Ping-pong feeds the mean of both inputs to the left line, and the echoes of each
            // channel to the other channel's line.
            *delay_inputs.0 = flush_denormal(
                *left + feedback_left + cross * (0.5 * (*right - *left) + (feedback_right - feedback_left)),
            );
            *delay_inputs.1 =
                flush_denormal(*right + feedback_right + cross * ((feedback_left - feedback_right) - *right));
            *left = *left * dry + echo_left * wet;
            *right = *right * dry + echo_right * wet;
        }
        for (delay_line, delay_inputs) in self.delay_lines.iter_mut().zip(&delay_inputs) {
            delay_line.write(&delay_inputs[..frames]);
        }
        self.clock.advance(frames);
    }
}

impl Effect for Delay {
    fn reset(&mut self, frame: u64) {
        self.settings.finish();
        self.clock.reset(frame);
        self.delay_lines.iter_mut().for_each(TappedDelayLine::clear);
        self.cuts.clear();
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = DelayParam::from_index(parameter) else { return };
        match parameter {
            DelayParam::Mode => {
                let switch_frames = (SWITCH_SECS * self.sample_rate_hz) as u32;
                self.settings.set_target(parameter, value, ramp_frames.max(switch_frames));
            }
            DelayParam::Mix => {
                self.settings.set_target(parameter, value, ramp_frames);
                if ramp_frames == 0 {
                    reset_all(&mut self.gains[..2], equal_power(value));
                }
            }
            DelayParam::Sync
            | DelayParam::TimeMs
            | DelayParam::Note
            | DelayParam::Feedback
            | DelayParam::SpreadMs
            | DelayParam::LowCutHz
            | DelayParam::HighCutHz => self.settings.set_target(parameter, value, ramp_frames),
        }
    }

    fn set_time(&mut self, time: MusicalTime) {
        // `max` also replaces NaN by 1.
        self.bpm = time.bpm.max(1.0);
    }

    fn longest_silence_frames(&self) -> usize {
        let [left, right] = self.echo_frames();
        // In ping-pong mode, a channel may have only every other echo.
        match self.settings.choice(DelayParam::Mode) {
            Mode::Stereo => left.max(right),
            Mode::PingPong => left + right,
        }
    }

    #[inline(always)]
    fn process(&mut self, [mut left, mut right]: [&mut [f32]; 2], _side_chain: Option<[&[f32]; 2]>) {
        match self.clock.take_due_work() {
            ControlWork::Start => {
                self.start();
                self.step();
            }
            ControlWork::Step => self.step(),
            ControlWork::Nothing => {}
        }
        while !left.is_empty() {
            let shortest = self.taps.current().iter().chain(self.taps.next()).min();
            let frames = left.len().min(shortest.copied().unwrap_or(1));
            let (first_left, remaining_left) = left.split_at_mut(frames);
            let (first_right, remaining_right) = right.split_at_mut(frames);
            self.process_up_to_shortest_delay([first_left, first_right]);
            (left, right) = (remaining_left, remaining_right);
        }
    }
}
