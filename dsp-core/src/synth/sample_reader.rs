//! Reads the sample of a voice at its playback speed, with its loop.

use super::chunk::CHUNK_FRAMES;
use super::interpolation::{
    FRAME_UNITS, Kernel, Pcm16, READ_AHEAD, SILENT_WINDOW, UNIT_16, WINDOW_FRAMES, WINDOW_VALUES, Window,
};
use crate::simd::prefetch;
use crate::soundfont::Wave;

/// Highest step: 1,024 frames of the wave for each output frame. At equal sample rates, this is ten
/// octaves above the recorded pitch.
const STEP_MAX: u64 = 1_024 * FRAME_UNITS;

/// Highest step at which one window holds all frames for a whole chunk.
const WHOLE_CHUNK_STEP: u64 = WINDOW_FRAMES as u64 * FRAME_UNITS / CHUNK_FRAMES as u64;

/// Maximum of [`SampleReader::looped_frames`]. It exceeds the number of past frames that any
/// interpolation kernel reads.
const LOOPED_FRAMES_MAX: i64 = 1 << 20;

/// Maximum length in frames of a loop whose peak is searched.
const PEAK_SEARCH_FRAMES: i64 = 32_768;

/// Loop mode of a sample (section 8.1.2, sampleModes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopMode {
    /// The sample plays once.
    None,
    /// The sample loops until the voice ends.
    Continuous,
    /// The sample loops until the note is released, then plays to its end.
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
    /// Number of frames by which the position has moved back in the loop so far, at most
    /// [`LOOPED_FRAMES_MAX`]. Within this distance before the loop start, a kernel must read the
    /// end of the loop instead.
    looped_frames: i64,
    /// Position in the wave, in whole frames.
    frame: i64,
    /// Fractional part of the position, in units of 2^-32 frames.
    fraction: u32,
    /// Distance in the wave from one output frame to the next, in units of 2^-32 frames.
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
            step: FRAME_UNITS,
        }
    }

    /// Sets the playback speed: the number of frames of the wave per output frame.
    pub(super) fn set_speed(&mut self, ratio: f64) {
        // The cast clamps to the range of the type and converts NaN to 0.
        self.step = ((ratio * FRAME_UNITS as f64) as u64).clamp(1, STEP_MAX);
    }

    /// Leaves the loop if its mode is [`LoopMode::UntilRelease`].
    pub(super) fn release(&mut self) {
        if self.region.mode == LoopMode::UntilRelease {
            self.is_looping = false;
        }
    }

    /// Whether all remaining output is silent.
    pub(super) fn has_ended(&self, kernel: &Kernel) -> bool {
        !self.is_looping && self.frame >= self.region.end + kernel.taps_before() as i64
    }

    /// Prefetches the first samples of the next chunk into the CPU cache.
    pub(super) fn prefetch(&self, wave: Wave<'_>) {
        /// Number of values in a cache line of 64 bytes.
        const LINE_VALUES: i64 = 32;
        for cache_line in 0..3 {
            let index = usize::try_from(self.frame + cache_line * LINE_VALUES).ok();
            if let Some(value) = index.and_then(|index| wave.high.get(index)) {
                prefetch(value);
            }
        }
    }

    /// Whether the position has reached the loop.
    pub(super) fn is_in_loop(&self) -> bool {
        self.looped_frames > 0 || self.frame >= self.region.loop_start
    }

    /// Returns the highest magnitude in a continuous loop. Full scale is 1. `None` for other loop
    /// modes and for loops longer than [`PEAK_SEARCH_FRAMES`].
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

    /// Advances the position by `frames` output frames. `frames` must be below 2^22, because the
    /// product with a step of up to 2^42 must fit into 64 bits.
    #[inline(always)]
    pub(super) fn advance(&mut self, frames: usize) {
        let position_fixed = u64::from(self.fraction) + self.step * frames as u64;
        self.fraction = position_fixed as u32;
        self.frame += (position_fixed >> 32) as i64;
        if self.is_looping && self.frame >= self.region.loop_end {
            let frame = self.wrapped(self.frame);
            self.looped_frames = (self.looped_frames + self.frame - frame).min(LOOPED_FRAMES_MAX);
            self.frame = frame;
        }
    }

    /// Returns the frame of the loop that is played instead of a frame outside the loop.
    fn wrapped(&self, frame: i64) -> i64 {
        self.region.loop_start + (frame - self.region.loop_start).rem_euclid(self.loop_frames())
    }

    /// Visits `count` frames, starting with `first`, in the order of playback with the loop
    /// unrolled. Calls `visit` for each contiguous part of the wave with its first frame and its
    /// length. The frame is `None` for silence.
    #[inline(always)]
    fn unroll(&self, first: i64, count: usize, mut visit: impl FnMut(Option<usize>, usize)) {
        let SampleRegion { start, end, loop_start, loop_end, .. } = self.region;
        let (mut frame, mut remaining) = (first, count);
        while self.looped_frames > 0 && frame < loop_start && remaining > 0 {
            let (source, length_frames) = if loop_start - frame <= self.looped_frames {
                let source = self.wrapped(frame);
                (Some(source as usize), (loop_start - frame).min(loop_end - source))
            } else {
                // The frame was played before the loop.
                let source = frame + self.looped_frames;
                if source < start {
                    (None, start - source)
                } else {
                    (Some(source as usize), loop_start - source)
                }
            };
            let length_frames = remaining.min(length_frames as usize);
            visit(source, length_frames);
            remaining -= length_frames;
            frame += length_frames as i64;
        }
        if frame < start && self.looped_frames == 0 {
            let silent_frames = remaining.min((start - frame) as usize);
            visit(None, silent_frames);
            remaining -= silent_frames;
            frame += silent_frames as i64;
        }
        while remaining > 0 {
            if self.is_looping && frame >= loop_end {
                frame = self.wrapped(frame);
            }
            let limit = if self.is_looping { loop_end } else { end };
            let length_frames = remaining.min((limit - frame).max(0) as usize);
            if length_frames == 0 {
                visit(None, remaining);
                return;
            }
            visit(Some(frame as usize), length_frames);
            remaining -= length_frames;
            frame += length_frames as i64;
        }
    }

    /// Returns `count` frames, starting with `first`, if they are contiguous in the wave; otherwise
    /// `None`. If the wave is long enough, [`READ_AHEAD`] further values follow.
    #[inline(always)]
    fn contiguous<'a>(&self, wave: Wave<'a>, first: i64, count: usize) -> Option<&'a [Pcm16]> {
        let SampleRegion { start, end, loop_start, loop_end, .. } = self.region;
        let lowest = if self.looped_frames > 0 { loop_start } else { start };
        let limit = if self.is_looping { loop_end } else { end };
        if first < lowest || first + count as i64 > limit {
            return None;
        }
        let values = wave.high.get(first as usize..)?;
        values.get(..count + READ_AHEAD).or_else(|| values.get(..count))
    }

    /// Fills `output` with the next interpolated values.
    pub(super) fn read(
        &mut self,
        wave: Wave<'_>,
        kernel: &Kernel,
        buffer: &mut ReadBuffer,
        output: &mut [f32],
    ) {
        let longest = match self.step {
            // Most calls use this arm, which needs no division.
            0..=WHOLE_CHUNK_STEP => CHUNK_FRAMES,
            step => ((WINDOW_FRAMES as u64 * FRAME_UNITS) / step).max(1) as usize,
        };
        for chunk in output.chunks_mut(longest) {
            let last = (u64::from(self.fraction) + self.step * (chunk.len() as u64 - 1)) >> 32;
            let first = self.frame - kernel.taps_before() as i64;
            let count = last as usize + kernel.taps_before() + kernel.taps_from();
            if let (None, Some(read_pcm16)) = (wave.low, kernel.pcm16_reader()) {
                let values = match self.contiguous(wave, first, count) {
                    Some(values) => values,
                    None => {
                        self.copy_pcm16(wave, first, &mut buffer.pcm16[..count]);
                        &buffer.pcm16[..count + READ_AHEAD]
                    }
                };
                read_pcm16(values, self.fraction, self.step, chunk);
            } else {
                self.copy_floats(wave, first, &mut buffer.window[..count]);
                kernel.read(&buffer.window, self.fraction, self.step, chunk);
            }
            self.advance(chunk.len());
        }
    }

    /// Copies 16-bit values, starting with frame `first`, with the loop unrolled.
    fn copy_pcm16(&self, wave: Wave<'_>, first: i64, window: &mut [Pcm16]) {
        let mut copied_frames = 0;
        self.unroll(first, window.len(), |source, count| {
            let chunk = &mut window[copied_frames..copied_frames + count];
            match source {
                Some(source) => chunk.copy_from_slice(&wave.high[source..source + count]),
                None => chunk.fill([0, 0]),
            }
            copied_frames += count;
        });
    }

    /// Like [`Self::copy_pcm16`], but converts the values to floats.
    fn copy_floats(&self, wave: Wave<'_>, first: i64, window: &mut [f32]) {
        let mut copied_frames = 0;
        self.unroll(first, window.len(), |source, count| {
            let chunk = &mut window[copied_frames..copied_frames + count];
            match source {
                Some(source) => convert(wave, source, chunk),
                None => chunk.fill(0.0),
            }
            copied_frames += count;
        });
    }
}

/// Buffers for frames of a sample with its loop unrolled.
pub(super) struct ReadBuffer {
    window: Window,
    pcm16: [Pcm16; WINDOW_VALUES],
}

impl ReadBuffer {
    pub(super) const NEW: Self = Self { window: SILENT_WINDOW, pcm16: [[0, 0]; WINDOW_VALUES] };
}

/// Converts the values of a wave, starting with frame `first`, to floats with a full scale of 1.
#[inline(always)]
fn convert(wave: Wave<'_>, first: usize, output: &mut [f32]) {
    const UNIT_24: f32 = 1.0 / 8_388_608.0;
    let high = &wave.high[first..first + output.len()];
    match wave.low {
        None => {
            for (value, high) in output.iter_mut().zip(high) {
                *value = f32::from(i16::from_le_bytes(*high)) * UNIT_16;
            }
        }
        Some(low) => {
            for ((value, high), low) in output.iter_mut().zip(high).zip(&low[first..]) {
                let value_24 = i32::from(i16::from_le_bytes(*high)) << 8 | i32::from(*low);
                *value = value_24 as f32 * UNIT_24;
            }
        }
    }
}
