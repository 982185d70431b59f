//! Windowed-sinc interpolation with a polyphase table.

use alloc::vec::Vec;

use super::window::{FRAME_UNITS, MAX_TAPS, WINDOW_STARTS, Window};
use crate::dsp::lanes::{LANES, Lanes};
use crate::dsp::window::{kaiser, sinc};

/// A table of sincs with a Kaiser window. Each sinc has 16 taps. The phases are 1/512 of a frame
/// apart, and taps are interpolated linearly between phases.
///
/// The table has all phases for each of several cutoffs. The lower cutoffs reduce aliasing of
/// samples that are played faster than they were recorded.
#[derive(Debug, Clone)]
pub(in crate::synth) struct SincTable {
    /// The taps of each phase, for each cutoff.
    phases: Vec<[f32; MAX_TAPS]>,
}

impl SincTable {
    const PHASE_COUNT: usize = 512;
    const PHASE_BITS: u32 = Self::PHASE_COUNT.trailing_zeros();
    /// Cutoffs as fractions of the sample's Nyquist frequency. The second number is the highest
    /// playback speed for which the cutoff is used.
    const CUTOFFS: [(f64, f64); 4] = [(0.92, 1.1), (0.7, 1.5), (0.5, 2.1), (0.35, f64::INFINITY)];
    /// Shape parameter of the Kaiser window. It results in a stop-band attenuation of about 70 dB.
    const BETA: f64 = 7.0;

    pub(super) fn new() -> Self {
        let mut phases = Vec::with_capacity(Self::CUTOFFS.len() * (Self::PHASE_COUNT + 1));
        for (cutoff, _) in Self::CUTOFFS {
            for phase in 0..=Self::PHASE_COUNT {
                phases.push(Self::taps(cutoff, phase as f64 / Self::PHASE_COUNT as f64));
            }
        }
        Self { phases }
    }

    /// Computes the taps for a cutoff and a fraction of a frame.
    fn taps(cutoff: f64, fraction: f64) -> [f32; MAX_TAPS] {
        let half = MAX_TAPS as f64 / 2.0;
        let tap = |index: usize| {
            let distance = index as f64 - (half - 1.0) - fraction;
            let position = distance / half;
            if position * position >= 1.0 {
                return 0.0;
            }
            sinc(cutoff * distance) * kaiser(Self::BETA, position)
        };
        let taps: [f64; MAX_TAPS] = core::array::from_fn(tap);
        // The taps are normalized: a constant signal stays unchanged at every phase.
        let sum: f64 = taps.iter().sum();
        taps.map(|tap| (tap / sum) as f32)
    }

    /// See [`super::Kernel::read`].
    #[inline(always)]
    pub(super) fn read(&self, window: &Window, fraction: u32, step: u64, output: &mut [f32]) {
        let speed = step as f64 / FRAME_UNITS as f64;
        let cutoff = Self::CUTOFFS.iter().position(|(_, max_speed)| speed <= *max_speed).unwrap_or(0);
        let phases = &self.phases[cutoff * (Self::PHASE_COUNT + 1)..][..=Self::PHASE_COUNT];
        let mut position = u64::from(fraction);
        for value in output {
            let phase = (position as u32 >> (32 - Self::PHASE_BITS)) as usize;
            let phase_fraction =
                Lanes::splat((((position as u32) << Self::PHASE_BITS >> 8) as i32) as f32 / 16_777_216.0);
            let values: [f32; MAX_TAPS] = values_at(window, position);
            let (taps, next_taps) = (&phases[phase], &phases[phase + 1]);
            let mut sum = Lanes::zero();
            for half in [0, LANES] {
                let (taps, next_taps) = (load_eight(taps, half), load_eight(next_taps, half));
                sum = sum + load_eight(&values, half) * (taps + (next_taps - taps) * phase_fraction);
            }
            *value = sum.sum();
            position = position.wrapping_add(step);
        }
    }
}

/// Returns the `N` values of a window from a position onwards.
#[inline(always)]
fn values_at<const N: usize>(window: &Window, position_fixed: u64) -> [f32; N] {
    // The mask does not change the index. It tells the compiler that the index is in bounds.
    let index = (position_fixed >> 32) as usize & (WINDOW_STARTS - 1);
    let mut values = [0.0; N];
    values.copy_from_slice(&window[index..index + N]);
    values
}

/// Returns eight of sixteen values, starting at index `first`.
#[inline(always)]
fn load_eight(values: &[f32; MAX_TAPS], first: usize) -> Lanes {
    let mut lanes = [0.0; LANES];
    lanes.copy_from_slice(&values[first..first + LANES]);
    Lanes::new(lanes)
}
