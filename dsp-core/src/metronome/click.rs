//! The sounds of the metronome.

use alloc::vec::Vec;

/// Duration of a click in seconds.
const CLICK_SECS: f64 = 0.03;
/// Time in which a click decays by half, in seconds.
const HALF_LIFE_SECS: f64 = 0.004;
/// Frequencies of the click on the first beat of a bar and on other beats, in hertz.
const FIRST_BEAT_HZ: f64 = 1_760.0;
const BEAT_HZ: f64 = 1_174.66;

/// Plays one click at a time.
pub(super) struct ClickSounds {
    first_beat: Vec<f32>,
    beat: Vec<f32>,
    /// The current click: whether it is that of a first beat, and its next frame.
    current: Option<(bool, usize)>,
    /// The click that begins in the next block: whether it is that of a first beat, and its offset
    /// from the start of the block in frames.
    next: Option<(bool, usize)>,
}

impl ClickSounds {
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        let click = |frequency_hz: f64| {
            let frames = (CLICK_SECS * f64::from(sample_rate_hz)) as usize;
            let value = |frame: usize| {
                let secs = frame as f64 / f64::from(sample_rate_hz);
                let decay = libm::exp2(-secs / HALF_LIFE_SECS) * (1.0 - secs / CLICK_SECS);
                (decay * libm::sin(core::f64::consts::TAU * frequency_hz * secs)) as f32
            };
            (0..frames).map(value).collect()
        };
        Self { first_beat: click(FIRST_BEAT_HZ), beat: click(BEAT_HZ), current: None, next: None }
    }

    /// Starts a click `offset_frames` after the start of the next block. It ends the previous
    /// click. Of several clicks in a block, only the last is audible.
    pub(super) fn start(&mut self, offset_frames: usize, is_first_of_bar: bool) {
        self.next = Some((is_first_of_bar, offset_frames));
    }

    pub(super) fn stop(&mut self) {
        (self.current, self.next) = (None, None);
    }

    pub(super) fn is_silent(&self) -> bool {
        self.current.is_none() && self.next.is_none()
    }

    /// Writes the next frames to `block`, which is silent.
    pub(super) fn render(&mut self, block: &mut [f32]) {
        let end = self.next.map_or(block.len(), |(_, offset)| block.len().min(offset));
        if let Some((is_first_of_bar, frame)) = self.current {
            self.current = self.write(is_first_of_bar, frame, &mut block[..end]);
        }
        if let Some((is_first_of_bar, _)) = self.next.take() {
            self.current = self.write(is_first_of_bar, 0, &mut block[end..]);
        }
    }

    /// Writes a click from its frame `frame` on. Returns its state after the block; `None` if it
    /// has ended.
    fn write(&self, is_first_of_bar: bool, frame: usize, block: &mut [f32]) -> Option<(bool, usize)> {
        let click = if is_first_of_bar { &self.first_beat } else { &self.beat };
        let remaining = &click[click.len().min(frame)..];
        block.iter_mut().zip(remaining).for_each(|(value, click)| *value = *click);
        (remaining.len() > block.len()).then_some((is_first_of_bar, frame + block.len()))
    }
}
