//! A low-frequency oscillator that is synchronized to the session.

use super::effect::{CurveIntegral, MusicalTime};
use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::phase::{Phase, fraction_of_period, periods};

/// The frequency of an oscillator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LfoRate {
    /// Periods per second. A period starts at the session's first frame.
    Hertz(f64),
    /// Quarter notes per period. A period starts at the session's first beat.
    Beats(f64),
}

/// The phase of an oscillator that is synchronized to the session's clock or its beats.
///
/// At a constant speed, the phase is that of an oscillator that has run at this speed from the
/// session's start. This nominal phase is the same wherever playback starts. After a change of
/// speed, the phase continues without a jump and approaches its nominal value. Meanwhile the speed
/// differs from the new speed by at most an eighth.
///
/// If the speed in hertz is automated, the nominal phase is the integral of the speed from the
/// session's start. While the oscillator is synchronized to beats, it stores that integral.
/// Afterwards, its phase approaches the integral again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lfo {
    sample_rate_hz: f64,
    rate: LfoRate,
    time: MusicalTime,
    /// Frame of the session's clock at which `time` is the musical time.
    time_frame: u64,
    /// Control point at which the oscillator has the phase `phase`.
    control_point: u64,
    phase: Phase,
    phase_per_frame: Phase,
    /// Nominal phase at frame 0 of the session's clock, at the current speed.
    phase_at_frame_zero: Phase,
    /// Integral of the speed, in periods; `None` unless the speed in hertz is automated.
    integrated_phase: Option<IntegratedPhase>,
}

/// Nominal phases at a control point and at the next one, from the integral of an automated speed.
#[derive(Debug, Clone, Copy)]
struct IntegratedPhase {
    control_point: u64,
    phase_here: Phase,
    next_phase: Phase,
}

impl IntegratedPhase {
    fn new(integral: CurveIntegral) -> Self {
        let [phase_here, next] = integral.value_secs.map(periods);
        Self { control_point: integral.frame, phase_here, next_phase: next }
    }

    /// Returns the nominal phase at any control point. The speed is assumed constant before
    /// [`Self::control_point`] and after the control point that follows it.
    fn phase_at(&self, control_point: u64, phase_per_frame: Phase) -> Phase {
        let frames = control_point.wrapping_sub(self.control_point);
        if frames.cast_signed() <= 0 {
            self.phase_here.wrapping_add(phase_per_frame.wrapping_mul(frames))
        } else {
            self.next_phase
                .wrapping_add(phase_per_frame.wrapping_mul(frames.wrapping_sub(CONTROL_FRAMES as u64)))
        }
    }
}

impl Lfo {
    /// Creates an oscillator at the session's start, at 120 quarter notes per minute.
    pub(crate) fn new(sample_rate_hz: u32) -> Self {
        Self {
            sample_rate_hz: f64::from(sample_rate_hz),
            rate: LfoRate::Hertz(0.0),
            time: MusicalTime { bpm: 120.0, beat: 0.0 },
            time_frame: 0,
            control_point: 0,
            phase: 0,
            phase_per_frame: 0,
            phase_at_frame_zero: 0,
            integrated_phase: None,
        }
    }

    /// Sets the integral of the speed in hertz, or `None` if the speed is not automated. The caller
    /// calls this at each control point before [`Self::step`].
    pub(crate) fn set_integral(&mut self, integral: Option<CurveIntegral>) {
        self.integrated_phase = integral.map(IntegratedPhase::new);
    }

    /// Sets the musical time of a frame of the session's clock.
    pub(crate) fn set_time(&mut self, time: MusicalTime, frame: u64) {
        (self.time, self.time_frame) = (time, frame);
        self.update_origin();
    }

    /// Moves to a control point and sets the nominal phase of that point.
    pub(crate) fn start(&mut self, control_point: u64, rate: LfoRate) {
        (self.control_point, self.rate) = (control_point, rate);
        self.update_origin();
        self.phase = self.nominal_phase();
    }

    /// Advances to the next control point.
    pub(crate) fn step(&mut self, rate: LfoRate) {
        let deviation = self.phase.wrapping_sub(self.nominal_phase()).cast_signed();
        let is_rate_steady = rate == self.rate;
        let increment = self.advance_to(rate);
        let max_correction = (increment / 8).cast_signed();
        let correction = if is_rate_steady || self.integrated_phase.is_some() {
            deviation.clamp(-max_correction, max_correction)
        } else {
            0
        };
        self.phase = self.phase.wrapping_add(increment).wrapping_sub(correction.cast_unsigned());
    }

    /// Advances to the next control point, sets the speed there, and returns the phase increment.
    fn advance_to(&mut self, rate: LfoRate) -> Phase {
        let (control_point, last_phase_per_frame) = (self.control_point, self.phase_per_frame);
        self.control_point = control_point.wrapping_add(CONTROL_FRAMES as u64);
        if rate != self.rate {
            self.rate = rate;
            self.update_origin();
        }
        match (self.integrated_phase, rate) {
            (Some(integrated), LfoRate::Hertz(_)) if integrated.control_point == control_point => {
                integrated.next_phase.wrapping_sub(integrated.phase_here)
            }
            _ => last_phase_per_frame.wrapping_mul(CONTROL_FRAMES as u64),
        }
    }

    /// Returns the phase at the current control point.
    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns the current nominal frequency in hertz.
    pub(crate) fn rate_hz(&self) -> f64 {
        fraction_of_period(self.phase_per_frame) * self.sample_rate_hz
    }

    fn update_origin(&mut self) {
        match self.rate {
            LfoRate::Hertz(rate_hz) => {
                self.phase_per_frame = periods(rate_hz / self.sample_rate_hz);
                self.phase_at_frame_zero = 0;
            }
            LfoRate::Beats(beats) => {
                self.phase_per_frame = periods(self.time.bpm / (60.0 * beats * self.sample_rate_hz));
                let phase_here = periods(self.time.beat / beats);
                self.phase_at_frame_zero =
                    phase_here.wrapping_sub(self.phase_per_frame.wrapping_mul(self.time_frame));
            }
        }
    }

    fn nominal_phase(&self) -> Phase {
        match (&self.integrated_phase, self.rate) {
            (Some(integrated), LfoRate::Hertz(_)) => {
                integrated.phase_at(self.control_point, self.phase_per_frame)
            }
            _ => self.phase_at_frame_zero.wrapping_add(self.phase_per_frame.wrapping_mul(self.control_point)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dsp::phase::PERIOD;

    #[test]
    fn the_phase_does_not_depend_on_where_playback_starts() {
        let mut continuous = Lfo::new(48_000);
        continuous.start(0, LfoRate::Hertz(0.37));
        for _ in 0..1_000 {
            continuous.step(LfoRate::Hertz(0.37));
        }
        let mut restarted_lfo = Lfo::new(48_000);
        restarted_lfo.start(32_000, LfoRate::Hertz(0.37));
        assert_eq!(continuous.phase(), restarted_lfo.phase());
        assert!((restarted_lfo.phase() as f64 / PERIOD - (0.37 * 2.0 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn a_synchronized_phase_starts_at_the_first_beat_and_stays_continuous_through_a_change_of_tempo() {
        let mut lfo = Lfo::new(48_000);
        lfo.set_time(MusicalTime { bpm: 90.0, beat: 5.25 }, 12_345);
        lfo.start(12_320, LfoRate::Beats(1.5));
        let expected = |beat: f64| (beat / 1.5).fract() * PERIOD;
        let beat = 5.25 - 25.0 * 90.0 / 60.0 / 48_000.0;
        assert!((lfo.phase() as f64 - expected(beat)).abs() < 1e-9 * PERIOD);
        lfo.step(LfoRate::Beats(1.5));
        lfo.step(LfoRate::Beats(1.5));
        // At frame 12,384 the tempo doubles.
        let beat = beat + 64.0 * 90.0 / 60.0 / 48_000.0;
        lfo.set_time(MusicalTime { bpm: 180.0, beat }, 12_384);
        (0..100).for_each(|_| lfo.step(LfoRate::Beats(1.5)));
        let beat = beat + 3_200.0 * 180.0 / 60.0 / 48_000.0;
        assert!((lfo.phase() as f64 - expected(beat)).abs() < 1e-9 * PERIOD);
    }

    /// Frame between two control points at which the speed steps from 1 Hz to 20 Hz.
    const STEP_FRAME: u64 = 24_001;

    fn speed_at(control_point: u64) -> LfoRate {
        LfoRate::Hertz(if control_point < STEP_FRAME { 1.0 } else { 20.0 })
    }

    fn speed_integral_at(control_point: u64) -> Option<CurveIntegral> {
        let secs = |frame: u64| (frame as f64 + 19.0 * frame.saturating_sub(STEP_FRAME) as f64) / 48_000.0;
        Some(CurveIntegral {
            frame: control_point,
            value_secs: [control_point, control_point + 32].map(secs),
        })
    }

    /// Advances an oscillator with the automated speed through a range of frames.
    fn advance_with_automation(lfo: &mut Lfo, frames: core::ops::Range<u64>) {
        for control_point in frames.step_by(CONTROL_FRAMES) {
            lfo.set_integral(speed_integral_at(control_point));
            lfo.step(speed_at(control_point + 32));
        }
    }

    #[test]
    fn the_phase_is_the_integral_of_an_automated_speed() {
        let mut continuous = Lfo::new(48_000);
        continuous.set_integral(speed_integral_at(0));
        continuous.start(0, speed_at(0));
        advance_with_automation(&mut continuous, 0..480_000);
        for start in [32, 24_000, 24_032, 240_000] {
            let mut restarted_lfo = Lfo::new(48_000);
            restarted_lfo.set_integral(speed_integral_at(start));
            restarted_lfo.start(start, speed_at(start));
            advance_with_automation(&mut restarted_lfo, start..480_000);
            assert_eq!(continuous.phase(), restarted_lfo.phase(), "the phase after a start at frame {start}");
        }
        let increment = 10.0 + 19.0 * (480_000 - STEP_FRAME) as f64 / 48_000.0;
        let error = continuous.phase().wrapping_sub(periods(increment)).cast_signed() as f64 / PERIOD;
        assert!(error.abs() < 1e-9, "the phase is {error} periods off");
        // Without automation the phase returns to its nominal value.
        continuous.set_integral(None);
        (0..20_000).for_each(|_| continuous.step(LfoRate::Hertz(20.0)));
        let mut nominal = Lfo::new(48_000);
        nominal.start(35_000 * 32, LfoRate::Hertz(20.0));
        assert_eq!(continuous.phase(), nominal.phase());
    }

    #[test]
    fn after_synchronization_to_beats_the_phase_returns_to_the_integral_of_the_automated_speed() {
        let mut synchronized = Lfo::new(48_000);
        synchronized.set_integral(speed_integral_at(0));
        synchronized.start(0, speed_at(0));
        for control_point in (0..96_000).step_by(CONTROL_FRAMES) {
            synchronized.set_integral(speed_integral_at(control_point));
            synchronized.step(LfoRate::Beats(0.7));
        }
        let mut free = Lfo::new(48_000);
        free.set_integral(speed_integral_at(96_000));
        free.start(96_000, speed_at(96_000));
        assert_ne!(synchronized.phase(), free.phase());
        [&mut synchronized, &mut free]
            .into_iter()
            .for_each(|lfo| advance_with_automation(lfo, 96_000..192_000));
        assert_eq!(synchronized.phase(), free.phase());
    }

    #[test]
    fn a_change_of_speed_keeps_the_phase_continuous_and_the_phase_returns_to_its_nominal_value() {
        let mut lfo = Lfo::new(48_000);
        lfo.start(0, LfoRate::Hertz(1.0));
        (0..7_000).for_each(|_| lfo.step(LfoRate::Hertz(1.0)));
        let phase_before = lfo.phase();
        lfo.step(LfoRate::Hertz(1.3));
        let mut last = lfo.phase();
        assert_eq!(last.wrapping_sub(phase_before), periods(1.0 / 48_000.0) * 32);
        for _ in 0..6_000 {
            lfo.step(LfoRate::Hertz(1.3));
            let increment = lfo.phase().wrapping_sub(last) as f64 / (periods(1.3 / 48_000.0) * 32) as f64;
            assert!((0.87..=1.13).contains(&increment), "the increment is {increment} times that of 1.3 Hz");
            last = lfo.phase();
        }
        let mut nominal = Lfo::new(48_000);
        nominal.start(13_001 * 32, LfoRate::Hertz(1.3));
        assert_eq!(lfo.phase(), nominal.phase());
    }
}
