//! Reads a voice's sample: its position, its loop, and the frames that interpolation needs.

use super::chunk::CHUNK_FRAMES;
use super::interpolation::{
    FRAME, Kernel, Pcm16, SILENT_WINDOW, UNIT_16, WINDOW_FRAMES, WINDOW_VALUES, Window,
};
use crate::simd::prefetch;
use crate::soundfont::Wave;

/// Highest playback speed: ten octaves up.
const STEP_MAX: u64 = 1_024 * FRAME;

/// Highest step at which a window holds a whole chunk.
const WHOLE_CHUNK_STEP: u64 = WINDOW_FRAMES as u64 * FRAME / CHUNK_FRAMES as u64;

/// Maximum of [`SampleReader::looped_frames`]: more frames than any kernel reads back.
const LOOPED_FRAMES_MAX: i64 = 1 << 20;

/// Longest loop that is searched for its peak, in frames.
const PEAK_SEARCH_FRAMES: i64 = 32_768;

/// Loop mode of a sample (section 8.1.2, sampleModes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopMode {
    /// The sample plays once.
    None,
    /// The sample loops to the end of the voice.
    Continuous,
    /// The sample loops until the release, then plays to its end.
    UntilRelease,
}

/// The part of a sample that is played, in frames of its wave. Ends are exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SampleRegion {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) loop_start: i64,
    pub(super) loop_end: i64,
    pub(super) mode: LoopMode,
}

/// The position of a voice in its sample.
#[derive(Debug, Clone)]
pub(super) struct SampleReader {
    region: SampleRegion,
    is_looping: bool,
    /// Frames of the loop that have been played, up to [`LOOPED_FRAMES_MAX`]. For that many frames
    /// before the loop start, the previous output was the loop's end.
    looped_frames: i64,
    /// Whole frames of the position in the wave.
    frame: i64,
    /// Fraction of the position, in 2^-32 of a frame.
    fraction: u32,
    /// Frames of the wave per output frame, in 2^-32 of a frame.
    step: u64,
}

impl SampleReader {
    pub(super) fn new(region: SampleRegion) -> Self {
        Self {
            region,
            is_looping: region.mode != LoopMode::None,
            looped_frames: 0,
            frame: region.start,
            fraction: 0,
            step: FRAME,
        }
    }

    /// Sets the number of frames of the wave per output frame.
    pub(super) fn set_speed(&mut self, ratio: f64) {
        // The cast clamps floats to the range and turns NaN into 0.
        self.step = ((ratio * FRAME as f64) as u64).clamp(1, STEP_MAX);
    }

    /// Ends the loop if it lasts until the release.
    pub(super) fn release(&mut self) {
        if self.region.mode == LoopMode::UntilRelease {
            self.is_looping = false;
        }
    }

    /// Whether only silence remains.
    pub(super) fn has_ended(&self, kernel: &Kernel) -> bool {
        !self.is_looping && self.frame >= self.region.end + kernel.taps_before() as i64
    }

    /// Prefetches the first values of the next chunk.
    pub(super) fn prefetch(&self, wave: Wave<'_>) {
        /// Values in a cache line.
        const LINE_VALUES: i64 = 32;
        for line in 0..3 {
            let index = usize::try_from(self.frame + line * LINE_VALUES).ok();
            if let Some(value) = index.and_then(|index| wave.high.get(index)) {
                prefetch(value);
            }
        }
    }

    /// Whether the position has reached the loop.
    pub(super) fn is_in_loop(&self) -> bool {
        self.looped_frames > 0 || self.frame >= self.region.loop_start
    }

    /// The highest magnitude in a continuous loop, where full scale is 1. `None` for other modes
    /// and for loops longer than [`PEAK_SEARCH_FRAMES`].
    pub(super) fn loop_peak(&self, wave: Wave<'_>) -> Option<f32> {
        let SampleRegion { loop_start, loop_end, .. } = self.region;
        if self.region.mode != LoopMode::Continuous || self.loop_frames() > PEAK_SEARCH_FRAMES {
            return None;
        }
        let values = wave.high.get(loop_start as usize..loop_end as usize)?;
        let magnitude = |value: &Pcm16| i16::from_le_bytes(*value).unsigned_abs();
        let peak = values.iter().map(magnitude).fold(0, u16::max);
        // The low bytes of 24-bit samples add less than one step.
        Some((f32::from(peak) + 1.0) * UNIT_16)
    }

    fn loop_frames(&self) -> i64 {
        self.region.loop_end - self.region.loop_start
    }

    /// Advances by some output frames, fewer than 2^22.
    #[inline(always)]
    pub(super) fn advance(&mut self, frames: usize) {
        let position = u64::from(self.fraction) + self.step * frames as u64;
        self.fraction = position as u32;
        self.frame += (position >> 32) as i64;
        if self.is_looping && self.frame >= self.region.loop_end {
            let frame = self.wrapped(self.frame);
            self.looped_frames = (self.looped_frames + self.frame - frame).min(LOOPED_FRAMES_MAX);
            self.frame = frame;
        }
    }

    /// The frame of the loop that plays at a frame outside it.
    fn wrapped(&self, frame: i64) -> i64 {
        self.region.loop_start + (frame - self.region.loop_start).rem_euclid(self.loop_frames())
    }

    /// Visits `count` frames from `first` on in the order in which they play, with the loop
    /// unrolled. `visit` gets the first frame of each contiguous part of the wave, or `None` for
    /// silence, and the length of the part.
    #[inline(always)]
    fn unroll(&self, first: i64, count: usize, mut visit: impl FnMut(Option<usize>, usize)) {
        let SampleRegion { start, end, loop_start, loop_end, .. } = self.region;
        let (mut at, mut remaining) = (first, count);
        while self.looped_frames > 0 && at < loop_start && remaining > 0 {
            let (from, length) = if loop_start - at <= self.looped_frames {
                let frame = self.wrapped(at);
                (Some(frame as usize), (loop_start - at).min(loop_end - frame))
            } else {
                // Before the first pass of the loop.
                let frame = at + self.looped_frames;
                if frame < start { (None, start - frame) } else { (Some(frame as usize), loop_start - frame) }
            };
            let length = remaining.min(length as usize);
            visit(from, length);
            remaining -= length;
            at += length as i64;
        }
        if at < start && self.looped_frames == 0 {
            let silent = remaining.min((start - at) as usize);
            visit(None, silent);
            remaining -= silent;
            at += silent as i64;
        }
        while remaining > 0 {
            if self.is_looping && at >= loop_end {
                at = self.wrapped(at);
            }
            let limit = if self.is_looping { loop_end } else { end };
            let length = remaining.min((limit - at).max(0) as usize);
            if length == 0 {
                visit(None, remaining);
                return;
            }
            visit(Some(at as usize), length);
            remaining -= length;
            at += length as i64;
        }
    }

    /// `count` frames from `first` on, if they play exactly as the wave stores them.
    #[inline(always)]
    fn contiguous<'a>(&self, wave: Wave<'a>, first: i64, count: usize) -> Option<&'a [Pcm16]> {
        let SampleRegion { start, end, loop_start, loop_end, .. } = self.region;
        let lowest = if self.looped_frames > 0 { loop_start } else { start };
        let limit = if self.is_looping { loop_end } else { end };
        if first < lowest || first + count as i64 > limit {
            return None;
        }
        wave.high.get(first as usize..first as usize + count)
    }

    /// Fills `out` with the next interpolated values.
    pub(super) fn read(&mut self, wave: Wave<'_>, kernel: &Kernel, buffer: &mut ReadBuffer, out: &mut [f32]) {
        let longest = match self.step {
            // The usual case, which needs no division.
            0..=WHOLE_CHUNK_STEP => CHUNK_FRAMES,
            step => ((WINDOW_FRAMES as u64 * FRAME) / step).max(1) as usize,
        };
        for chunk in out.chunks_mut(longest) {
            let last = (u64::from(self.fraction) + self.step * (chunk.len() as u64 - 1)) >> 32;
            let first = self.frame - kernel.taps_before() as i64;
            let count = last as usize + kernel.taps_before() + kernel.taps_from();
            if let (None, Some(read)) = (wave.low, kernel.pcm16_reader()) {
                let values = match self.contiguous(wave, first, count) {
                    Some(values) => values,
                    None => {
                        self.copy_pcm16(wave, first, &mut buffer.pcm16[..count]);
                        &buffer.pcm16[..count]
                    }
                };
                read(values, self.fraction, self.step, chunk);
            } else {
                self.copy_floats(wave, first, &mut buffer.window[..count]);
                kernel.read(&buffer.window, self.fraction, self.step, chunk);
            }
            self.advance(chunk.len());
        }
    }

    fn copy_pcm16(&self, wave: Wave<'_>, first: i64, window: &mut [Pcm16]) {
        let mut done = 0;
        self.unroll(first, window.len(), |from, count| {
            let chunk = &mut window[done..done + count];
            match from {
                Some(from) => chunk.copy_from_slice(&wave.high[from..from + count]),
                None => chunk.fill([0, 0]),
            }
            done += count;
        });
    }

    fn copy_floats(&self, wave: Wave<'_>, first: i64, window: &mut [f32]) {
        let mut done = 0;
        self.unroll(first, window.len(), |from, count| {
            let chunk = &mut window[done..done + count];
            match from {
                Some(from) => convert(wave, from, chunk),
                None => chunk.fill(0.0),
            }
            done += count;
        });
    }
}

/// Scratch memory for frames of a sample with its loop unrolled.
pub(super) struct ReadBuffer {
    window: Window,
    pcm16: [Pcm16; WINDOW_VALUES],
}

impl ReadBuffer {
    pub(super) const NEW: Self = Self { window: SILENT_WINDOW, pcm16: [[0, 0]; WINDOW_VALUES] };
}

/// Converts values from a frame of the wave on to floats, where full scale is 1.
#[inline(always)]
fn convert(wave: Wave<'_>, first: usize, out: &mut [f32]) {
    const UNIT_24: f32 = 1.0 / 8_388_608.0;
    let high = &wave.high[first..first + out.len()];
    match wave.low {
        None => {
            for (value, high) in out.iter_mut().zip(high) {
                *value = f32::from(i16::from_le_bytes(*high)) * UNIT_16;
            }
        }
        Some(low) => {
            for ((value, high), low) in out.iter_mut().zip(high).zip(&low[first..]) {
                let whole = i32::from(i16::from_le_bytes(*high)) << 8 | i32::from(*low);
                *value = whole as f32 * UNIT_24;
            }
        }
    }
}
