//! What the dynamics effects listen to.

use super::butterworth::Butterworth;
use super::step::{Step, step_of};
use crate::chain::make_fit;

/// The signal by which a gain is decided: the side-chain where there is one, else the programme,
/// each without what lies below a frequency.
pub(crate) struct Key {
    high_pass: Butterworth,
    /// Whether the high-pass is off until the next control place.
    is_off: bool,
}

/// At and below this the high-pass of a side-chain is off, in hertz.
pub(crate) const HIGH_PASS_OFF_HZ: f64 = 20.0;

impl Key {
    pub(crate) fn new(high_pass_hz: f64, sample_rate_hz: u32) -> Self {
        let mut key = Self { high_pass: Butterworth::new(high_pass_hz, sample_rate_hz), is_off: false };
        key.is_off = key.stays_off();
        key
    }

    pub(crate) fn set_high_pass_hz(&mut self, high_pass_hz: f64, glide_frames: u32) {
        self.high_pass.set_frequency_hz(high_pass_hz, glide_frames);
    }

    pub(crate) fn reset(&mut self) {
        self.high_pass.reset();
        self.is_off = self.stays_off();
    }

    fn stays_off(&self) -> bool {
        self.high_pass.is_still() && self.high_pass.target_hz() <= HIGH_PASS_OFF_HZ
    }

    /// See [`Butterworth::rests`].
    pub(crate) fn rests(&self) -> bool {
        self.high_pass.rests()
    }

    /// See [`Butterworth::refresh`].
    pub(crate) fn refresh(&mut self) {
        self.high_pass.refresh();
        self.is_off = self.stays_off();
        if self.is_off {
            self.high_pass.clear();
        }
    }

    /// See [`Butterworth::is_still`].
    pub(crate) fn is_still(&self) -> bool {
        self.high_pass.is_still() && self.is_off == self.stays_off()
    }

    /// See [`Butterworth::hush`].
    pub(crate) fn hush(&mut self) {
        self.high_pass.hush();
    }

    /// Left and right of some frames, at most a step; what is not heard as it comes is put into
    /// `room`.
    #[inline(always)]
    pub(crate) fn hear<'a, const FRAMES: usize>(
        &mut self,
        programme: [&'a [f32]; 2],
        side: Option<[&[f32]; 2]>,
        room: &'a mut Option<[Step<FRAMES>; 2]>,
    ) -> [&'a [f32]; 2] {
        let frames = programme[0].len();
        if let Some(side) = side {
            make_fit(room.insert(side.map(step_of)).each_mut().map(|side| &mut side[..frames]));
        }
        if !self.is_off {
            let heard = room.as_ref().map_or(programme, |side| side.each_ref().map(|side| &side[..frames]));
            *room = Some(self.high_pass.split(heard).high);
        }
        room.as_ref().map_or(programme, |heard| heard.each_ref().map(|heard| &heard[..frames]))
    }
}
