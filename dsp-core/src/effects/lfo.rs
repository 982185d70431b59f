//! A low-frequency oscillator that keeps time with the session.

use super::{CONTROL_FRAMES, LineSum, MusicalTime};

/// A place in a turn of an oscillator; a whole turn is 2^64.
pub(crate) type Phase = u64;

/// A whole turn.
const TURN: f64 = 18_446_744_073_709_551_616.0;

/// How fast an oscillator turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Speed {
    /// Turns a second. A turn starts at the session's first frame.
    Hertz(f64),
    /// Quarter notes a turn. A turn starts at the session's first beat.
    Beats(f64),
}

/// A phase that follows the session's clock or its beats.
///
/// As long as its speed rests, its phase is that of an oscillator which has turned at this speed
/// from the session's start on: wherever playing starts, it is the same. Where the speed changes,
/// the phase goes on from where it is, and once the speed rests, it is pulled to where it belongs,
/// turning by at most an eighth faster or slower. A speed in hertz that follows a line has a phase
/// of its own at each place: all turns that it has made from the session's start on. It keeps that
/// also while the oscillator turns by beats, and is pulled there when it no longer does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lfo {
    sample_rate_hz: f64,
    speed: Speed,
    time: MusicalTime,
    /// The frame at which `time` holds.
    time_frame: u64,
    /// The control place at which `phase` holds.
    place: u64,
    phase: Phase,
    per_frame: Phase,
    /// The phase that belongs to frame 0 of the session's clock.
    origin: Phase,
    /// Where the speed in hertz follows a line.
    counted: Option<Counted>,
}

/// The phases that belong to a control place and to the next one, by the turns that a line has
/// made.
#[derive(Debug, Clone, Copy)]
struct Counted {
    place: u64,
    here: Phase,
    next: Phase,
}

impl Counted {
    fn new(line: LineSum) -> Self {
        let [here, next] = line.value_secs.map(turns);
        Self { place: line.place, here, next }
    }

    /// The phase that belongs to any place, where the line is level before and behind the two.
    fn at(&self, place: u64, per_frame: Phase) -> Phase {
        let frames = place.wrapping_sub(self.place);
        if frames.cast_signed() <= 0 {
            self.here.wrapping_add(per_frame.wrapping_mul(frames))
        } else {
            self.next.wrapping_add(per_frame.wrapping_mul(frames.wrapping_sub(CONTROL_FRAMES as u64)))
        }
    }
}

impl Lfo {
    /// An oscillator at the session's start, at 120 quarter notes a minute.
    pub(crate) fn new(sample_rate_hz: u32) -> Self {
        Self {
            sample_rate_hz: f64::from(sample_rate_hz),
            speed: Speed::Hertz(0.0),
            time: MusicalTime { bpm: 120.0, beat: 0.0 },
            time_frame: 0,
            place: 0,
            phase: 0,
            per_frame: 0,
            origin: 0,
            counted: None,
        }
    }

    /// The speed, in hertz, follows a line, or no longer does. Said at each control place before
    /// the step from there.
    pub(crate) fn follow(&mut self, line: Option<LineSum>) {
        self.counted = line.map(Counted::new);
    }

    /// The music goes on in this time from a frame of the session's clock.
    pub(crate) fn set_time(&mut self, time: MusicalTime, frame: u64) {
        (self.time, self.time_frame) = (time, frame);
        self.find_origin();
    }

    /// Stands at a control place, with the phase that belongs there.
    pub(crate) fn start(&mut self, place: u64, speed: Speed) {
        (self.place, self.speed) = (place, speed);
        self.find_origin();
        self.phase = self.belonging();
    }

    /// Goes on to the next control place.
    pub(crate) fn step(&mut self, speed: Speed) {
        let ahead = self.phase.wrapping_sub(self.belonging()).cast_signed();
        let rests = speed == self.speed;
        let turned = self.turn_to(speed);
        let most = (turned / 8).cast_signed();
        let pulled = if rests || self.counted.is_some() { ahead.clamp(-most, most) } else { 0 };
        self.phase = self.phase.wrapping_add(turned).wrapping_sub(pulled.cast_unsigned());
    }

    /// Stands at the next control place with another speed, and says how far it turns until there.
    fn turn_to(&mut self, speed: Speed) -> Phase {
        let (place, before) = (self.place, self.per_frame);
        self.place = place.wrapping_add(CONTROL_FRAMES as u64);
        if speed != self.speed {
            self.speed = speed;
            self.find_origin();
        }
        match (self.counted, speed) {
            (Some(counted), Speed::Hertz(_)) if counted.place == place => {
                counted.next.wrapping_sub(counted.here)
            }
            _ => before.wrapping_mul(CONTROL_FRAMES as u64),
        }
    }

    /// The phase at the place it stands at.
    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// Turns a second.
    pub(crate) fn rate_hz(&self) -> f64 {
        share_of_turn(self.per_frame) * self.sample_rate_hz
    }

    fn find_origin(&mut self) {
        match self.speed {
            Speed::Hertz(rate_hz) => {
                self.per_frame = turns(rate_hz / self.sample_rate_hz);
                self.origin = 0;
            }
            Speed::Beats(beats) => {
                self.per_frame = turns(self.time.bpm / (60.0 * beats * self.sample_rate_hz));
                let here = turns(self.time.beat / beats);
                self.origin = here.wrapping_sub(self.per_frame.wrapping_mul(self.time_frame));
            }
        }
    }

    fn belonging(&self) -> Phase {
        match (&self.counted, self.speed) {
            (Some(counted), Speed::Hertz(_)) => counted.at(self.place, self.per_frame),
            _ => self.origin.wrapping_add(self.per_frame.wrapping_mul(self.place)),
        }
    }
}

/// A phase as a share of a turn, 0 to 1.
pub(crate) fn share_of_turn(phase: Phase) -> f64 {
    phase as f64 * (1.0 / TURN)
}

/// So many turns as a phase; whole turns do not count.
pub(crate) fn turns(turns: f64) -> Phase {
    ((turns - libm::floor(turns)) * TURN) as Phase
}

/// The sine of a phase, off by at most 6e-8: a Taylor series of degree 11 over a quarter of a turn.
pub(crate) fn sine(phase: Phase) -> f64 {
    // Half turns from -1 to 1, then folded into the quarters around 0.
    let half_turns = phase.cast_signed() as f64 * (2.0 / TURN);
    let folded = if half_turns > 0.5 {
        1.0 - half_turns
    } else if half_turns < -0.5 {
        -1.0 - half_turns
    } else {
        half_turns
    };
    let x = folded * core::f64::consts::PI;
    let square = x * x;
    let series = -1.0 / 39_916_800.0;
    let series = 1.0 / 362_880.0 + square * series;
    let series = -1.0 / 5_040.0 + square * series;
    let series = 1.0 / 120.0 + square * series;
    let series = -1.0 / 6.0 + square * series;
    x + x * square * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sine_is_a_sine() {
        for step in -1_000..=3_000 {
            let share = f64::from(step) / 2_000.0;
            let expected = libm::sin(core::f64::consts::TAU * share);
            assert!((sine(turns(share)) - expected).abs() < 6e-8, "at {share} turns");
        }
    }

    #[test]
    fn anywhere_it_is_as_if_it_had_run_from_the_start() {
        let mut running = Lfo::new(48_000);
        running.start(0, Speed::Hertz(0.37));
        for _ in 0..1_000 {
            running.step(Speed::Hertz(0.37));
        }
        let mut started = Lfo::new(48_000);
        started.start(32_000, Speed::Hertz(0.37));
        assert_eq!(running.phase(), started.phase());
        assert!((started.phase() as f64 / TURN - (0.37 * 2.0 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn beats_count_from_the_first_beat_and_go_on_through_a_change_of_tempo() {
        let mut lfo = Lfo::new(48_000);
        lfo.set_time(MusicalTime { bpm: 90.0, beat: 5.25 }, 12_345);
        lfo.start(12_320, Speed::Beats(1.5));
        let expected = |beat: f64| (beat / 1.5).fract() * TURN;
        let beat = 5.25 - 25.0 * 90.0 / 60.0 / 48_000.0;
        assert!((lfo.phase() as f64 - expected(beat)).abs() < 1e-9 * TURN);
        lfo.step(Speed::Beats(1.5));
        lfo.step(Speed::Beats(1.5));
        // At frame 12,384 the tempo doubles.
        let beat = beat + 64.0 * 90.0 / 60.0 / 48_000.0;
        lfo.set_time(MusicalTime { bpm: 180.0, beat }, 12_384);
        (0..100).for_each(|_| lfo.step(Speed::Beats(1.5)));
        let beat = beat + 3_200.0 * 180.0 / 60.0 / 48_000.0;
        assert!((lfo.phase() as f64 - expected(beat)).abs() < 1e-9 * TURN);
    }

    /// 1 Hz, from a frame between two control places on 20 Hz, and what that adds up to.
    const JUMP_FRAME: u64 = 24_001;

    fn jumping_speed(place: u64) -> Speed {
        Speed::Hertz(if place < JUMP_FRAME { 1.0 } else { 20.0 })
    }

    fn jumping_sum(place: u64) -> Option<LineSum> {
        let secs = |frame: u64| (frame as f64 + 19.0 * frame.saturating_sub(JUMP_FRAME) as f64) / 48_000.0;
        Some(LineSum { place, value_secs: [place, place + 32].map(secs) })
    }

    /// Goes on along the jumping line to a place.
    fn follow_jump(lfo: &mut Lfo, places: core::ops::Range<u64>) {
        for place in places.step_by(CONTROL_FRAMES) {
            lfo.follow(jumping_sum(place));
            lfo.step(jumping_speed(place + 32));
        }
    }

    #[test]
    fn a_speed_on_a_line_has_made_all_turns_of_the_line() {
        let mut running = Lfo::new(48_000);
        running.follow(jumping_sum(0));
        running.start(0, jumping_speed(0));
        follow_jump(&mut running, 0..480_000);
        for start in [32, 24_000, 24_032, 240_000] {
            let mut started = Lfo::new(48_000);
            started.follow(jumping_sum(start));
            started.start(start, jumping_speed(start));
            follow_jump(&mut started, start..480_000);
            assert_eq!(running.phase(), started.phase(), "from {start}");
        }
        let turned = 10.0 + 19.0 * (480_000 - JUMP_FRAME) as f64 / 48_000.0;
        let off = running.phase().wrapping_sub(turns(turned)).cast_signed() as f64 / TURN;
        assert!(off.abs() < 1e-9, "{off} turns off");
        // Without a line it comes home.
        running.follow(None);
        (0..20_000).for_each(|_| running.step(Speed::Hertz(20.0)));
        let mut home = Lfo::new(48_000);
        home.start(35_000 * 32, Speed::Hertz(20.0));
        assert_eq!(running.phase(), home.phase());
    }

    #[test]
    fn a_line_is_counted_while_the_beats_lead() {
        let mut beaten = Lfo::new(48_000);
        beaten.follow(jumping_sum(0));
        beaten.start(0, jumping_speed(0));
        for place in (0..96_000).step_by(CONTROL_FRAMES) {
            beaten.follow(jumping_sum(place));
            beaten.step(Speed::Beats(0.7));
        }
        let mut never = Lfo::new(48_000);
        never.follow(jumping_sum(96_000));
        never.start(96_000, jumping_speed(96_000));
        assert_ne!(beaten.phase(), never.phase());
        [&mut beaten, &mut never].into_iter().for_each(|lfo| follow_jump(lfo, 96_000..192_000));
        assert_eq!(beaten.phase(), never.phase());
    }

    #[test]
    fn a_change_of_speed_does_not_jump_and_the_phase_comes_home() {
        let mut lfo = Lfo::new(48_000);
        lfo.start(0, Speed::Hertz(1.0));
        (0..7_000).for_each(|_| lfo.step(Speed::Hertz(1.0)));
        let before = lfo.phase();
        lfo.step(Speed::Hertz(1.3));
        let mut last = lfo.phase();
        assert_eq!(last.wrapping_sub(before), turns(1.0 / 48_000.0) * 32);
        for _ in 0..6_000 {
            lfo.step(Speed::Hertz(1.3));
            let turned = lfo.phase().wrapping_sub(last) as f64 / (turns(1.3 / 48_000.0) * 32) as f64;
            assert!((0.87..=1.13).contains(&turned), "{turned}");
            last = lfo.phase();
        }
        let mut home = Lfo::new(48_000);
        home.start(13_001 * 32, Speed::Hertz(1.3));
        assert_eq!(lfo.phase(), home.phase());
    }
}
