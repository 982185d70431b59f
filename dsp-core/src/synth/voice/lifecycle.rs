//! Releases, fades and ends a voice. Fades a voice in after a seek.

use super::super::envelope::FULL_FALL_CB;
use super::super::interpolation::Kernel;
use super::super::units::{gain_to_centibels, higher};
use super::state::{FADE_SECS, Voice};
use crate::soundfont::Bank;

/// Minimum time from the start of a voice to its release, in seconds. MIDI files have drum notes
/// with a length of 0.
const MIN_NOTE_SECS: f32 = 0.01;

/// Minimum duration of the fade-in of a voice after a seek, in seconds. The fade-in ends at the
/// next control point after this time.
const FADE_IN_SECS: f32 = 0.003;

impl Voice {
    /// Releases the voice if it has lasted for [`MIN_NOTE_SECS`]. Otherwise schedules the release
    /// for that time.
    pub(in crate::synth) fn release_after_minimum(&mut self, clock: u64, sample_rate_hz: f32) {
        let earliest_release = self.started_at + (MIN_NOTE_SECS * sample_rate_hz) as u64;
        if earliest_release > clock {
            self.release_at.get_or_insert(earliest_release);
        } else {
            self.release();
        }
    }

    /// Starts the release, even if a key or pedal holds the voice. [`Self::advance_to`] must have
    /// been called for this frame.
    pub(in crate::synth) fn release(&mut self) {
        self.release_at = None;
        if !self.is_released {
            self.is_released = true;
            self.state.release(&self.params);
            self.reader.release();
        }
    }

    /// Fades the voice out as fast as possible without a click. [`Self::advance_to`] must have been
    /// called for this frame.
    pub(in crate::synth) fn fade_out(&mut self, sample_rate_hz: f32) {
        self.release();
        self.is_fading = true;
        self.is_key_down = false;
        self.is_held_by_sostenuto = false;
        self.params.vol_env_times.full_release_frames = FADE_SECS * sample_rate_hz;
    }

    /// Fades the voice in from silence. `elapsed_frames` is the time of the ramp clock.
    pub(in crate::synth) fn fade_in(&mut self, clock: u64, elapsed_frames: u32, sample_rate_hz: f32) {
        self.fade_in_end = clock + (FADE_IN_SECS * sample_rate_hz) as u64;
        let frames = self.remaining_segment_frames(clock);
        let gain = self.fade_in_gain(clock + u64::from(frames), sample_rate_hz);
        self.gain_ramps.fade_in(elapsed_frames, frames, gain);
    }

    /// Returns the linear gain of the fade-in at a frame of the clock, 0 to 1.
    pub(super) fn fade_in_gain(&self, clock: u64, sample_rate_hz: f32) -> f32 {
        match self.fade_in_end.checked_sub(clock) {
            None | Some(0) => 1.0,
            Some(remaining) => higher(1.0 - remaining as f32 / (FADE_IN_SECS * sample_rate_hz), 0.0),
        }
    }

    /// Whether the volume envelope is in its delay. The sample starts after the delay.
    pub(in crate::synth) fn is_in_delay(&self) -> bool {
        self.state.vol_env.delay_frames(&self.params.vol_env_times).is_some_and(|frames| frames >= 1.0)
    }

    /// Whether the sample has ended and the filter has decayed.
    pub(in crate::synth) fn has_ended(&self, kernel: &Kernel) -> bool {
        self.reader.has_ended(kernel) && self.filter.has_decayed()
    }

    /// Whether the voice is below -96 dBFS and no controller can make it audible again. The result
    /// depends on key and velocity, the envelope, the peak of the loop and the range of the
    /// modulators.
    pub(in crate::synth) fn is_inaudible(&mut self, bank: &Bank) -> bool {
        let Some(envelope_cb) = self.state.vol_env.falling_attenuation_cb() else { return false };
        if envelope_cb + self.loop_attenuation_cb.unwrap_or(0.0) >= self.inaudible_attenuation_cb {
            return true;
        }
        if envelope_cb >= self.inaudible_attenuation_cb - FULL_FALL_CB / 2.0
            && self.loop_attenuation_cb.is_none()
        {
            // The sample before the loop may be louder than the loop.
            if self.reader.is_in_loop() {
                let peak = bank.wave(self.sample).and_then(|wave| self.reader.loop_peak(wave));
                self.loop_attenuation_cb = Some(peak.map_or(0.0, gain_to_centibels).max(0.0));
            }
        }
        false
    }

    /// Whether the voice starts at this frame, so that no frame of the voice has been rendered yet.
    pub(in crate::synth) fn starts_at(&self, clock: u64) -> bool {
        self.started_at == clock
    }

    /// Returns the number of frames since the start of the voice.
    pub(in crate::synth) fn age_frames(&self, clock: u64) -> u64 {
        clock.saturating_sub(self.started_at)
    }

    /// Returns the attenuation by parameters and envelope in centibels.
    pub(in crate::synth) fn attenuation_cb(&self) -> f32 {
        self.params.attenuation_cb + self.state.vol_env.falling_attenuation_cb().unwrap_or(0.0)
    }
}
