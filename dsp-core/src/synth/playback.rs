//! A voice's way through its sample: where it is, its loop, and the stretches that it reads.

use super::interpolation::{CHUNK_FRAMES, FRAME, Kernel, WINDOW_FRAMES, Window};
use super::simd::on_best_instructions;
use crate::soundfont::Wave;

/// Fastest that a sample is played: ten octaves up.
const STEP_MAX: u64 = 1_024 * FRAME;

/// Up to this step a window holds a whole chunk.
const UNDIVIDED_STEP: u64 = WINDOW_FRAMES as u64 * FRAME / CHUNK_FRAMES as u64;

/// What a sample's loop does (section 8.1.2, sampleModes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopMode {
    Once,
    Always,
    /// While the key is down; then the rest of the sample.
    UntilRelease,
}

/// Where a sample begins, ends and loops, in frames of its wave; ends lie behind the last frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) loop_start: i64,
    pub(super) loop_end: i64,
    pub(super) mode: LoopMode,
}

#[derive(Debug, Clone)]
pub(super) struct Playback {
    region: Region,
    looping: bool,
    /// Whether the loop has been gone through: what lies before its start is then its end.
    wrapped: bool,
    frame: i64,
    fraction: u32,
    step: u64,
}

impl Playback {
    pub(super) fn new(region: Region) -> Self {
        Self {
            region,
            looping: region.mode != LoopMode::Once,
            wrapped: false,
            frame: region.start,
            fraction: 0,
            step: FRAME,
        }
    }

    /// Sets how many frames of the sample pass in one frame of output.
    pub(super) fn set_speed(&mut self, ratio: f64) {
        // A float outside the range becomes the nearest end, and what is no number becomes 0.
        self.step = ((ratio * FRAME as f64) as u64).clamp(1, STEP_MAX);
    }

    /// The key is let go.
    pub(super) fn release(&mut self) {
        if self.region.mode == LoopMode::UntilRelease {
            self.looping = false;
        }
    }

    /// Whether nothing but silence is left.
    pub(super) fn is_over(&self, kernel: &Kernel) -> bool {
        !self.looping && self.frame >= self.region.end + kernel.taps_before() as i64
    }

    fn loop_frames(&self) -> i64 {
        self.region.loop_end - self.region.loop_start
    }

    #[inline(always)]
    fn advance(&mut self, frames: usize) {
        let place = u64::from(self.fraction) + self.step * frames as u64;
        self.fraction = place as u32;
        self.frame += (place >> 32) as i64;
        if self.looping && self.frame >= self.region.loop_end {
            self.frame = self.unrolled(self.frame);
            self.wrapped = true;
        }
    }

    /// The frame of the loop that sounds at a place behind its end.
    fn unrolled(&self, frame: i64) -> i64 {
        self.region.loop_start + (frame - self.region.loop_start).rem_euclid(self.loop_frames())
    }

    /// Lays out `window` from a frame on, as it is heard: the loop unrolled, silence before the
    /// start and behind the end.
    #[inline(always)]
    fn lay_out(&self, wave: Wave<'_>, first: i64, window: &mut [f32]) {
        let Region { start, end, loop_start, loop_end, .. } = self.region;
        let mut at = first;
        if self.wrapped && at < loop_start {
            at = self.unrolled(at);
        }
        let mut rest = window;
        if at < start && !self.wrapped {
            let silent = rest.len().min((start - at) as usize);
            rest[..silent].fill(0.0);
            rest = &mut rest[silent..];
            at += silent as i64;
        }
        // What is behind the end of the loop follows it after all when the key is let go, until
        // the place itself has left the loop.
        while !rest.is_empty() {
            if self.looping && at >= loop_end {
                at = self.unrolled(at);
            }
            let limit = if self.looping { loop_end } else { end };
            let run = rest.len().min((limit - at).max(0) as usize);
            if run == 0 {
                rest.fill(0.0);
                return;
            }
            let (now, later) = rest.split_at_mut(run);
            convert(wave, at as usize, now);
            rest = later;
            at += run as i64;
        }
    }

    #[inline(always)]
    fn read_inline(&mut self, wave: Wave<'_>, kernel: &Kernel, window: &mut Window, out: &mut [f32]) {
        let longest = match self.step {
            // The usual case, without a division.
            0..=UNDIVIDED_STEP => CHUNK_FRAMES,
            step => ((WINDOW_FRAMES as u64 * FRAME) / step).max(1) as usize,
        };
        for part in out.chunks_mut(longest) {
            let last = (u64::from(self.fraction) + self.step * (part.len() as u64 - 1)) >> 32;
            let values = last as usize + kernel.taps_before() + kernel.taps_from();
            self.lay_out(wave, self.frame - kernel.taps_before() as i64, &mut window[..values]);
            kernel.read(window, self.fraction, self.step, part);
            self.advance(part.len());
        }
    }
}

/// Values from a frame of the wave on as floats, full scale being 1.
#[inline(always)]
fn convert(wave: Wave<'_>, first: usize, out: &mut [f32]) {
    const UNIT_16: f32 = 1.0 / 32_768.0;
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

#[inline(always)]
fn read_inline(
    playback: &mut Playback,
    wave: Wave<'_>,
    kernel: &Kernel,
    window: &mut Window,
    out: &mut [f32],
) {
    playback.read_inline(wave, kernel, window, out);
}

on_best_instructions! {
    /// Fills `out` with the next values. `window` is scratch.
    pub(super) fn read(
        playback: &mut Playback,
        wave: Wave<'_>,
        kernel: &Kernel,
        window: &mut Window,
        out: &mut [f32],
    ) = read_inline;
}
