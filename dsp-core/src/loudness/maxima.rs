//! The highest momentary and short-term loudness.
//!
//! Both are means over a sliding window. The signal's loudness is asked for every 10 ms, of those
//! 10 ms, and the windows are sums of the last 40 and 300 of these parts: a window that lies
//! between two parts reads 0.06 LU too low at most. A signal that is shorter than a window is
//! measured over its own length: EBU Tech 3341 knows full windows only, and silence around it would
//! make it quieter than it is.

use ebur128::EbuR128;

use crate::meters::gating::{LOUDNESS_OFFSET_LUFS, lufs};

/// Parts of a second.
const PARTS: u32 = 100;
const PART_MS: u32 = 1_000 / PARTS;

/// Parts of 400 ms.
const MOMENTARY: usize = 40;
/// Parts of 3 s.
const SHORT_TERM: usize = 300;

/// Follows a meter.
pub(super) struct Maxima {
    part_frames: usize,
    /// Frames that the current part has already.
    begun_frames: usize,
    /// Powers of the last parts, by their number modulo the length.
    parts: [f64; SHORT_TERM],
    number: usize,
    momentary: f64,
    short_term: f64,
}

impl Maxima {
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        Self {
            part_frames: (sample_rate_hz / PARTS).max(1) as usize,
            begun_frames: 0,
            parts: [0.0; SHORT_TERM],
            number: 0,
            momentary: 0.0,
            short_term: 0.0,
        }
    }

    /// Adds frames to the meter, part by part.
    pub(super) fn add(&mut self, meter: &mut EbuR128, channels: &[&[f32]]) {
        let frames = channels.first().map_or(0, |channel| channel.len());
        assert!(channels.iter().all(|channel| channel.len() == frames), "channels of equal length");
        let mut from = 0;
        while from < frames {
            let count = (frames - from).min(self.part_frames - self.begun_frames);
            // No more channels than a layout can have.
            let mut part: [&[f32]; 6] = [&[]; 6];
            for (part, channel) in part.iter_mut().zip(channels) {
                *part = &channel[from..from + count];
            }
            meter.add_frames_planar_f32(&part[..channels.len()]).expect("a slice for each channel");
            from += count;
            self.begun_frames += count;
            if self.begun_frames == self.part_frames {
                self.begun_frames = 0;
                self.end_part(power(meter.loudness_window(PART_MS).expect("10 ms are kept")));
            }
        }
    }

    fn end_part(&mut self, power: f64) {
        self.parts[self.number % SHORT_TERM] = power;
        self.number += 1;
        // Added up anew each time: a running sum would keep the rounding of what was loud.
        let sum = |parts: usize| -> f64 {
            let end = self.number % SHORT_TERM;
            let newest = &self.parts[end.saturating_sub(parts)..end];
            let oldest = &self.parts[SHORT_TERM - (parts - newest.len())..];
            (newest.iter().sum::<f64>() + oldest.iter().sum::<f64>()) / parts as f64
        };
        self.momentary = self.momentary.max(sum(MOMENTARY));
        self.short_term = self.short_term.max(sum(SHORT_TERM));
    }

    /// The highest momentary loudness; minus infinity for silence.
    pub(super) fn momentary_lufs(&self) -> f64 {
        lufs(self.momentary * self.stretch(MOMENTARY))
    }

    /// The highest short-term loudness; minus infinity for silence.
    pub(super) fn short_term_lufs(&self) -> f64 {
        lufs(self.short_term * self.stretch(SHORT_TERM))
    }

    /// How much longer a window is than the signal, at least 1.
    fn stretch(&self, parts: usize) -> f64 {
        parts as f64 / self.number.clamp(1, parts) as f64
    }
}

/// The power that has a loudness.
fn power(lufs: f64) -> f64 {
    libm::exp10((lufs - LOUDNESS_OFFSET_LUFS) / 10.0)
}
