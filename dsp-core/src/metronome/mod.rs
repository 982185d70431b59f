//! The metronome: clicks on the beats of a session, and count-ins.
//!
//! It is not part of a [`Mixer`](crate::mixer::Mixer), so no export contains it. The host passes it
//! the position of each block before the mixer renders the block, and adds its output to that of
//! the mixer. The clicks are delayed by the latency of the mixer.

mod beats;
mod click;

use alloc::vec::Vec;

pub use beats::{BeatGrid, BeatGridError, TimeSignature};

use crate::block::BLOCK_FRAMES;
use crate::dsp::delay_line::DelayLine;
use beats::Beat;
use click::ClickSounds;

/// Clicks on beats, with a higher click on the first beat of each bar.
pub struct Metronome {
    sample_rate_hz: u32,
    grid: BeatGrid,
    /// Linear gain of the clicks.
    gain: f32,
    /// Whether clicks accompany playback.
    is_on: bool,
    /// The next beat, and the position for which it was computed.
    next_beat: Option<Beat>,
    expected_frame: u64,
    sounds: ClickSounds,
    delay: DelayLine,
    count_in: CountIn,
}

/// Beats before playback starts.
#[derive(Default)]
struct CountIn {
    /// Frames from the start of the count-in to its next frame, and to its end. Without a count-in,
    /// both are 0.
    position_frames: u64,
    length_frames: u64,
    /// Remaining beats, the last of them first. Their frames count from the start of the count-in.
    beats: Vec<Beat>,
}

impl Metronome {
    /// Creates a metronome that is off.
    pub fn new(sample_rate_hz: u32) -> Self {
        Self {
            sample_rate_hz,
            grid: BeatGrid::default(),
            gain: 0.5,
            is_on: false,
            next_beat: None,
            expected_frame: 0,
            sounds: ClickSounds::new(sample_rate_hz),
            delay: DelayLine::new(0),
            count_in: CountIn::default(),
        }
    }

    /// Sets whether clicks accompany playback, and the linear gain of all clicks.
    pub fn set(&mut self, is_on: bool, gain: f32) {
        self.is_on = is_on;
        self.gain = if gain.is_finite() { gain.clamp(0.0, 4.0) } else { 0.0 };
        self.next_beat = None;
    }

    /// Sets the beats of the session.
    pub fn set_grid(&mut self, grid: BeatGrid) {
        self.grid = grid;
        self.next_beat = None;
    }

    /// Sets the latency of the mixer in frames. Allocates memory if it has changed.
    pub fn set_latency(&mut self, frames: usize) {
        if frames != self.delay.frames() {
            self.delay = DelayLine::new(frames);
        }
    }

    /// Ends a count-in and all clicks.
    pub fn stop(&mut self) {
        self.count_in.length_frames = self.count_in.position_frames;
        self.next_beat = None;
        self.sounds.stop();
        self.delay.clear();
    }

    /// Begins a count-in of `bars` bars, which leads to the frame `start_frame` of the session in
    /// the tempo and time signature there. Its clicks sound even if the metronome is off. A
    /// count-in has at most 4 bars.
    pub fn begin_count_in(&mut self, start_frame: u64, bars: u32) {
        self.stop();
        let (beats, length_frames) = self.grid.count_in(start_frame, bars.min(4), self.sample_rate_hz);
        self.count_in = CountIn { position_frames: 0, length_frames, beats };
    }

    /// Returns the number of frames until the count-in ends; 0 if there is none.
    pub fn count_in_frames(&self) -> u64 {
        self.count_in.length_frames - self.count_in.position_frames
    }

    /// Adds the next frames, at most a block, to `sides`. `position_frames` is the frame of the
    /// session at which the block starts, or `None` while the session is stopped. During a
    /// count-in, a block has at most [`Self::count_in_frames`] frames.
    pub fn add(&mut self, position_frames: Option<u64>, sides: [&mut [f32]; 2]) {
        let frames = sides[0].len().min(BLOCK_FRAMES);
        if self.count_in_frames() > 0 {
            self.start_count_in_clicks(frames);
        } else if let Some(position_frames) = position_frames.filter(|_| self.is_on) {
            self.start_clicks(position_frames, frames);
        }
        if self.sounds.is_silent() && !self.delay.is_ringing() {
            return;
        }
        let mut block = [0.0; BLOCK_FRAMES];
        let block = &mut block[..frames];
        self.sounds.render(block);
        self.delay.process(block);
        for side in sides {
            side.iter_mut().zip(&*block).for_each(|(value, click)| *value += click * self.gain);
        }
    }

    fn start_clicks(&mut self, position_frames: u64, frames: usize) {
        if self.next_beat.is_none() || position_frames != self.expected_frame {
            self.next_beat = Some(self.grid.first_beat_from(position_frames, self.sample_rate_hz));
        }
        let end_frame = position_frames + frames as u64;
        self.expected_frame = end_frame;
        while let Some(beat) = self.next_beat.filter(|beat| beat.frame < end_frame) {
            self.sounds.start((beat.frame - position_frames) as usize, beat.is_first_of_bar);
            self.next_beat = Some(self.grid.beat_after(beat, self.sample_rate_hz));
        }
    }

    fn start_count_in_clicks(&mut self, frames: usize) {
        let count_in = &mut self.count_in;
        let end_frame = count_in.length_frames.min(count_in.position_frames + frames as u64);
        while let Some(beat) = count_in.beats.pop_if(|beat| beat.frame < end_frame) {
            let offset = beat.frame - count_in.position_frames;
            self.sounds.start(offset as usize, beat.is_first_of_bar);
        }
        count_in.position_frames = end_frame;
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::tempo::TempoMap;

    const RATE_HZ: u32 = 48_000;

    fn grid(tempo: &[(u64, f64)], signatures: &[(u64, u16, u16)]) -> BeatGrid {
        let signatures = signatures.iter().map(|&(tick, numerator, denominator)| TimeSignature {
            tick,
            numerator,
            denominator,
        });
        BeatGrid::new(TempoMap::from_bpm(tempo).unwrap(), signatures.collect()).unwrap()
    }

    /// Returns the frames at which clicks begin: a click's second sample is its first that is not
    /// 0.
    fn clicks(
        metronome: &mut Metronome,
        start_frame: u64,
        frames: usize,
        block_frames: usize,
        is_playing: bool,
    ) -> Vec<u64> {
        let (mut left, mut right) = (vec![0.0; frames], vec![0.0; frames]);
        let mut position_frames = start_frame;
        for (left, right) in left.chunks_mut(block_frames).zip(right.chunks_mut(block_frames)) {
            let block_frames = left.len() as u64;
            assert_no_alloc::assert_no_alloc(|| {
                metronome.add(is_playing.then_some(position_frames), [left, right]);
            });
            position_frames += block_frames;
        }
        assert_eq!(left, right);
        let begins = |frame: &usize| {
            left[*frame] != 0.0 && left[frame.saturating_sub(200)..*frame].iter().all(|value| *value == 0.0)
        };
        (0..frames).filter(begins).map(|frame| start_frame + frame as u64 - 1).collect()
    }

    #[test]
    fn clicks_begin_on_the_frames_of_beats_for_any_block_size() {
        // 90 BPM in 3/4, then 6/8, then 140 BPM.
        let grid = grid(&[(0, 90.0), (5 * 960, 140.0)], &[(0, 3, 4), (3 * 960, 6, 8)]);
        let map = TempoMap::from_bpm(&[(0, 90.0), (5 * 960, 140.0)]).unwrap();
        let ticks = [0, 960, 1_920, 2_880, 3_360, 3_840, 4_320, 4_800, 5_280, 5_760, 6_240];
        let frames = ticks.map(|tick| map.frame_at(tick, RATE_HZ));
        for block_frames in [1, 100, 128, 256] {
            let mut metronome = Metronome::new(RATE_HZ);
            metronome.set(true, 1.0);
            metronome.set_grid(grid.clone());
            metronome.set_latency(77);
            let output = clicks(&mut metronome, 0, frames[10] as usize, block_frames, true);
            let expected: Vec<u64> = frames[..10].iter().map(|frame| frame + 77).collect();
            assert_eq!(output, expected, "blocks of {block_frames} frames");
        }
    }

    #[test]
    fn the_first_beat_of_a_bar_has_another_sound() {
        let mut metronome = Metronome::new(RATE_HZ);
        metronome.set(true, 1.0);
        metronome.set_grid(grid(&[(0, 120.0)], &[(0, 2, 4)]));
        let mut beats = vec![[vec![0.0; 24_000], vec![0.0; 24_000]]; 4];
        for (beat, [left, right]) in beats.iter_mut().enumerate() {
            for (block, (left, right)) in left.chunks_mut(200).zip(right.chunks_mut(200)).enumerate() {
                metronome.add(Some((beat * 24_000 + block * 200) as u64), [left, right]);
            }
        }
        assert_eq!(beats[0], beats[2]);
        assert_eq!(beats[1], beats[3]);
        assert_ne!(beats[0], beats[1]);
    }

    #[test]
    fn a_count_in_ends_at_the_start_with_the_beats_of_its_bar() {
        for block_frames in [100, 128, 256] {
            let mut metronome = Metronome::new(RATE_HZ);
            metronome.set_grid(grid(&[(0, 120.0)], &[(0, 4, 4)]));
            // The start is half a beat after a beat.
            metronome.begin_count_in(24_000 * 5 + 12_000, 1);
            assert_eq!(metronome.count_in_frames(), 96_000);
            let output = clicks(&mut metronome, 0, 96_000, block_frames, false);
            assert_eq!(output, [12_000, 36_000, 60_000, 84_000]);
            assert_eq!(metronome.count_in_frames(), 0);
        }
    }

    #[test]
    fn a_metronome_that_is_off_adds_nothing() {
        let mut metronome = Metronome::new(RATE_HZ);
        assert_eq!(clicks(&mut metronome, 0, 48_000, 256, true), []);
        metronome.set(true, 1.0);
        assert_eq!(clicks(&mut metronome, 0, 48_000, 256, false), []);
    }
}
