//! A voice's way through its sample: where it is, its loop, and the stretches that it reads.

use super::interpolation::{
    CHUNK_FRAMES, FRAME, Kernel, Pcm16, SILENT_WINDOW, UNIT_16, WINDOW_FRAMES, WINDOW_VALUES, Window,
};
use crate::simd::prefetch;
use crate::soundfont::Wave;

/// Fastest that a sample is played: ten octaves up.
const STEP_MAX: u64 = 1_024 * FRAME;

/// Up to this step a window holds a whole chunk.
const UNDIVIDED_STEP: u64 = WINDOW_FRAMES as u64 * FRAME / CHUNK_FRAMES as u64;

/// More frames than any kernel looks back.
const GONE_THROUGH_MAX: i64 = 1 << 20;

/// Longest loop that is looked through for its peak, in frames.
const LOOP_SEARCH_FRAMES: i64 = 32_768;

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
    /// Frames of the loop that have been gone through: so far back, what lies before its start is
    /// its end; up to a number that no kernel looks back.
    gone_through: i64,
    frame: i64,
    fraction: u32,
    step: u64,
}

impl Playback {
    pub(super) fn new(region: Region) -> Self {
        Self {
            region,
            looping: region.mode != LoopMode::Once,
            gone_through: 0,
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

    /// Lets the values that the next chunk begins with be brought near.
    pub(super) fn prefetch(&self, wave: Wave<'_>) {
        /// Values in a line of a cache.
        const LINE: i64 = 32;
        for line in 0..3 {
            let place = usize::try_from(self.frame + line * LINE).ok();
            if let Some(value) = place.and_then(|place| wave.high.get(place)) {
                prefetch(value);
            }
        }
    }

    /// Whether all that is still to come are passes of the loop.
    pub(super) fn is_in_loop(&self) -> bool {
        self.gone_through > 0 || self.frame >= self.region.loop_start
    }

    /// The highest magnitude that the loop has, full scale being 1, if it loops for ever and the
    /// loop is short enough to look through.
    pub(super) fn loop_peak(&self, wave: Wave<'_>) -> Option<f32> {
        let Region { loop_start, loop_end, .. } = self.region;
        if self.region.mode != LoopMode::Always || self.loop_frames() > LOOP_SEARCH_FRAMES {
            return None;
        }
        let values = wave.high.get(loop_start as usize..loop_end as usize)?;
        let magnitude = |value: &Pcm16| i16::from_le_bytes(*value).unsigned_abs();
        let peak = values.iter().map(magnitude).fold(0, u16::max);
        // With 24 bits, up to a step more.
        Some((f32::from(peak) + 1.0) * UNIT_16)
    }

    fn loop_frames(&self) -> i64 {
        self.region.loop_end - self.region.loop_start
    }

    /// Goes on by so many frames of output, less than 2^22.
    #[inline(always)]
    pub(super) fn advance(&mut self, frames: usize) {
        let place = u64::from(self.fraction) + self.step * frames as u64;
        self.fraction = place as u32;
        self.frame += (place >> 32) as i64;
        if self.looping && self.frame >= self.region.loop_end {
            let frame = self.unrolled(self.frame);
            self.gone_through = (self.gone_through + self.frame - frame).min(GONE_THROUGH_MAX);
            self.frame = frame;
        }
    }

    /// The frame of the loop that sounds at a place behind its end.
    fn unrolled(&self, frame: i64) -> i64 {
        self.region.loop_start + (frame - self.region.loop_start).rem_euclid(self.loop_frames())
    }

    /// Goes through the stretch of `count` frames from a frame on as it is heard, the loop
    /// unrolled: `visit` gets runs of frames of the wave, or `None` for silence, and how long they
    /// are.
    #[inline(always)]
    fn unroll(&self, first: i64, count: usize, mut visit: impl FnMut(Option<usize>, usize)) {
        let Region { start, end, loop_start, loop_end, .. } = self.region;
        let (mut at, mut rest) = (first, count);
        while self.gone_through > 0 && at < loop_start && rest > 0 {
            let (place, run) = if loop_start - at <= self.gone_through {
                let place = self.unrolled(at);
                (Some(place as usize), (loop_start - at).min(loop_end - place))
            } else {
                // Before the first pass.
                let place = at + self.gone_through;
                if place < start { (None, start - place) } else { (Some(place as usize), loop_start - place) }
            };
            let run = rest.min(run as usize);
            visit(place, run);
            rest -= run;
            at += run as i64;
        }
        if at < start && self.gone_through == 0 {
            let silent = rest.min((start - at) as usize);
            visit(None, silent);
            rest -= silent;
            at += silent as i64;
        }
        while rest > 0 {
            if self.looping && at >= loop_end {
                at = self.unrolled(at);
            }
            let limit = if self.looping { loop_end } else { end };
            let run = rest.min((limit - at).max(0) as usize);
            if run == 0 {
                visit(None, rest);
                return;
            }
            visit(Some(at as usize), run);
            rest -= run;
            at += run as i64;
        }
    }

    /// The stretch of `count` frames from a frame on, if it is heard just as it stands in the wave.
    #[inline(always)]
    fn straight<'a>(&self, wave: Wave<'a>, first: i64, count: usize) -> Option<&'a [Pcm16]> {
        let Region { start, end, loop_start, loop_end, .. } = self.region;
        let lowest = if self.gone_through > 0 { loop_start } else { start };
        let limit = if self.looping { loop_end } else { end };
        if first < lowest || first + count as i64 > limit {
            return None;
        }
        wave.high.get(first as usize..first as usize + count)
    }

    /// Fills `out` with the next values.
    pub(super) fn read(&mut self, wave: Wave<'_>, kernel: &Kernel, scratch: &mut Scratch, out: &mut [f32]) {
        let longest = match self.step {
            // The usual case, without a division.
            0..=UNDIVIDED_STEP => CHUNK_FRAMES,
            step => ((WINDOW_FRAMES as u64 * FRAME) / step).max(1) as usize,
        };
        for part in out.chunks_mut(longest) {
            let last = (u64::from(self.fraction) + self.step * (part.len() as u64 - 1)) >> 32;
            let first = self.frame - kernel.taps_before() as i64;
            let count = last as usize + kernel.taps_before() + kernel.taps_from();
            if let (None, Some(read)) = (wave.low, kernel.pcm16_reader()) {
                let values = match self.straight(wave, first, count) {
                    Some(values) => values,
                    None => {
                        self.lay_out_pcm16(wave, first, &mut scratch.pcm16[..count]);
                        &scratch.pcm16[..count]
                    }
                };
                read(values, self.fraction, self.step, part);
            } else {
                self.lay_out(wave, first, &mut scratch.window[..count]);
                kernel.read(&scratch.window, self.fraction, self.step, part);
            }
            self.advance(part.len());
        }
    }

    fn lay_out_pcm16(&self, wave: Wave<'_>, first: i64, window: &mut [Pcm16]) {
        let mut done = 0;
        self.unroll(first, window.len(), |at, count| {
            let run = &mut window[done..done + count];
            match at {
                Some(at) => run.copy_from_slice(&wave.high[at..at + count]),
                None => run.fill([0, 0]),
            }
            done += count;
        });
    }

    fn lay_out(&self, wave: Wave<'_>, first: i64, window: &mut [f32]) {
        let mut done = 0;
        self.unroll(first, window.len(), |at, count| {
            let run = &mut window[done..done + count];
            match at {
                Some(at) => convert(wave, at, run),
                None => run.fill(0.0),
            }
            done += count;
        });
    }
}

/// Room for a stretch of a sample.
pub(super) struct Scratch {
    window: Window,
    pcm16: [Pcm16; WINDOW_VALUES],
}

impl Scratch {
    pub(super) const NEW: Self = Self { window: SILENT_WINDOW, pcm16: [[0, 0]; WINDOW_VALUES] };
}

/// Values from a frame of the wave on as floats, full scale being 1.
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
