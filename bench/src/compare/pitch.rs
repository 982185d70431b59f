//! Pitch differences by the partials that both renders have.

use realfft::RealFftPlanner;

use super::Piece;
use super::notes::{HELD_MS, frames};
use crate::stats::median;

/// Where the sustained part is looked at, in frames from the start of the note.
const SUSTAINED_START: usize = frames(250);
const SUSTAINED_FRAMES: usize = 1 << 15;
/// Where a note is looked at that has died away by then.
const STRUCK_START: usize = 480;
const STRUCK_FRAMES: usize = 1 << 13;
/// A sustained part softer than the start by this factor in amplitude has died away: 50 dB.
const DIED_AWAY: f32 = 0.003;
/// Partials that are compared: the loudest, at most 40 dB below the first.
const PARTIALS: usize = 12;
const PARTIAL_RANGE: f64 = 1e-4;
/// Lowest partial, in bins: below, the window's own width is heard.
const LOWEST_BIN: usize = 8;
/// Neighbouring partials are at least this far apart, in bins: a Hann window's main lobe.
const APART_BINS: usize = 4;
/// How far apart a partial and its counterpart may be: half a semitone.
const FAR: f64 = 0.03;

/// By how many cents our note is higher, as the median of its partials; `None` for a note without any
/// partial that both have.
pub(crate) fn difference_cents(ours: Piece<'_>, theirs: Piece<'_>) -> anyhow::Result<Option<f64>> {
    let sustained = SUSTAINED_START..SUSTAINED_START + SUSTAINED_FRAMES;
    debug_assert!(sustained.end < frames(HELD_MS), "the note is held while it is looked at");
    let struck = STRUCK_START..STRUCK_START + STRUCK_FRAMES;
    let lives = peak(theirs, &sustained) > DIED_AWAY * peak(theirs, &struck);
    let part = if lives { sustained } else { struck };
    let (ours, theirs) = (powers(ours, &part)?, powers(theirs, &part)?);
    let cents = partials(&theirs).into_iter().filter_map(|bin| {
        let reach = ((bin as f64 * FAR).ceil() as usize).max(1);
        let near = bin - reach..=bin + reach;
        let own = near.filter(|&bin| is_peak(&ours, bin)).max_by(|&a, &b| ours[a].total_cmp(&ours[b]))?;
        Some(1200.0 * (exact(&ours, own) / exact(&theirs, bin)).log2())
    });
    Ok(median(cents))
}

fn peak(piece: Piece<'_>, part: &core::ops::Range<usize>) -> f32 {
    let of = |side: &[f32]| side[part.clone()].iter().fold(0.0_f32, |peak, value| peak.max(value.abs()));
    of(piece.left).max(of(piece.right))
}

/// Power of each bin through a Hann window, both channels together.
fn powers(piece: Piece<'_>, part: &core::ops::Range<usize>) -> anyhow::Result<Vec<f64>> {
    let fft = RealFftPlanner::<f64>::new().plan_fft_forward(part.len());
    let mut spectrum = fft.make_output_vec();
    let mut powers = vec![0.0; spectrum.len()];
    for side in [piece.left, piece.right] {
        let step = core::f64::consts::TAU / part.len() as f64;
        let window = (0..part.len()).map(|frame| 0.5 - 0.5 * (frame as f64 * step).cos());
        let mut windowed: Vec<f64> =
            side[part.clone()].iter().zip(window).map(|(&value, window)| f64::from(value) * window).collect();
        fft.process(&mut windowed, &mut spectrum)?;
        for (power, value) in powers.iter_mut().zip(&spectrum) {
            *power += value.norm_sqr();
        }
    }
    Ok(powers)
}

fn is_peak(powers: &[f64], bin: usize) -> bool {
    bin >= LOWEST_BIN
        && bin + 1 < powers.len()
        && powers[bin] > powers[bin - 1]
        && powers[bin] >= powers[bin + 1]
}

/// Bins of the loudest partials, loudest first.
fn partials(powers: &[f64]) -> Vec<usize> {
    let mut peaks: Vec<usize> = (LOWEST_BIN..powers.len()).filter(|&bin| is_peak(powers, bin)).collect();
    peaks.sort_by(|&a, &b| powers[b].total_cmp(&powers[a]));
    let Some(floor) = peaks.first().map(|&bin| powers[bin] * PARTIAL_RANGE) else { return peaks };
    let mut chosen: Vec<usize> = Vec::new();
    for bin in peaks {
        let apart = |other: &usize| other.abs_diff(bin) >= APART_BINS;
        // The reach of the search for the counterpart stays within the spectrum.
        let inside = (bin as f64 * (1.0 + FAR)) as usize + 2 < powers.len();
        if chosen.len() < PARTIALS && powers[bin] > floor && inside && chosen.iter().all(apart) {
            chosen.push(bin);
        }
    }
    chosen
}

/// Where a partial stands between bins: the top of the parabola through three bins in decibels.
fn exact(powers: &[f64], bin: usize) -> f64 {
    let level = |bin: usize| powers[bin].max(1e-30).ln();
    let (before, at, after) = (level(bin - 1), level(bin), level(bin + 1));
    bin as f64 + 0.5 * (before - after) / (before - 2.0 * at + after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cents_between_tones() {
        let tone = |hz: f64, frames: usize, decay: f64| -> Vec<f32> {
            let step = core::f64::consts::TAU * hz / 48_000.0;
            let overtones =
                |n: f64| (n * step).sin() + 0.5 * (2.0 * n * step).sin() + 0.2 * (5.0 * n * step).sin();
            (0..frames).map(|n| (overtones(n as f64) * (-(n as f64) / decay).exp()) as f32).collect()
        };
        for (hz, decay) in [(65.4, 1e9), (440.0, 50_000.0), (1046.5, 1_500.0)] {
            for cents in [-20.0, -1.0, 0.0, 0.5, 7.0] {
                let theirs = tone(hz, 96_000, decay);
                let ours = tone(hz * 2_f64.powf(cents / 1200.0), 96_000, decay);
                let piece = |side| Piece { left: side, right: side };
                let found = difference_cents(piece(&ours), piece(&theirs)).expect("computes");
                let found = found.expect("has partials");
                assert!((found - cents).abs() < 0.2, "{hz} Hz and {cents} cents more: {found}");
            }
        }
    }
}
