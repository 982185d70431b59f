//! Pitch differences, by how two renders of a note drift apart.
//!
//! Both play the same samples, so at any moment the one is the other, some frames later. Where this
//! lag grows, ours is higher. The lag follows vibrato and noise too, which spectra smear; spectra
//! only say first whether the pitches are near enough for the lag to be followed.

use realfft::RealFftPlanner;

use super::Piece;
use super::notes::{HELD_MS, frames};
use crate::song::RATE_HZ;

/// Frames from one look at the lag to the next, and frames that are compared at each.
const HOP_FRAMES: usize = frames(10);
const LOOK_FRAMES: usize = frames(40);
/// Where the first and the last look are, in frames from the start of the note.
const FIRST_LOOK: usize = frames(20);
const LAST_LOOK: usize = frames(HELD_MS) - LOOK_FRAMES - 2 * REACH;
/// How far the lag may move between two looks, in frames: 40 cents, and less than half of the
/// period of the highest key that is compared.
const REACH: usize = 12;
/// Looks softer than the loudest by this factor of power are left out: 60 dB.
const SOFTEST: f64 = 1e-6;
/// Looks, and spectra, less alike than this tell nothing; 1 is the same but for a gain.
const ALIKE: f64 = 0.7;
/// Fewest looks that show a drift.
const FEWEST_LOOKS: usize = 4;
/// Spectra further apart than this are not followed by their lag, in cents.
const NEAR_CENTS: f64 = 25.0;

/// By how many cents our note is higher; `None` if the two have too little in common to tell.
pub(crate) fn difference_cents(ours: Piece<'_>, theirs: Piece<'_>) -> anyhow::Result<Option<f64>> {
    let coarse = spectra_apart_cents(ours, theirs)?;
    if coarse.is_some_and(|cents| cents.abs() > NEAR_CENTS) {
        return Ok(coarse);
    }
    Ok(drift(ours, theirs).map(|drift| 1200.0 * (1.0 + drift).log2()).or(coarse))
}

/// One look: where, the lag, and how much it counts.
struct Look {
    at: f64,
    lag: f64,
    weight: f64,
}

/// Frames by which the lag grows in each frame.
fn drift(ours: Piece<'_>, theirs: Piece<'_>) -> Option<f64> {
    let power = |start: usize| energy(ours, start).min(energy(theirs, start));
    let looks = || (FIRST_LOOK..LAST_LOOK).step_by(HOP_FRAMES);
    let loudest = looks().map(power).fold(0.0, f64::max);
    let mut lag = 0_isize;
    let mut seen = Vec::new();
    for start in looks() {
        if power(start) <= loudest * SOFTEST {
            continue;
        }
        let likeness = |lag: isize| likeness(ours, theirs, start, lag);
        let near = lag - REACH as isize..=lag + REACH as isize;
        let (best, alike) = near.map(|lag| (lag, likeness(lag))).max_by(|a, b| a.1.total_cmp(&b.1))?;
        if alike < ALIKE {
            continue;
        }
        lag = best;
        let (before, after) = (likeness(best - 1), likeness(best + 1));
        let curve = before - 2.0 * alike + after;
        let fine = if curve < 0.0 { (0.5 * (before - after) / curve).clamp(-0.5, 0.5) } else { 0.0 };
        seen.push(Look { at: start as f64, lag: best as f64 + fine, weight: alike * alike });
    }
    (seen.len() >= FEWEST_LOOKS).then(|| slope(&seen))
}

/// The straight line through the looks with the least squares.
fn slope(looks: &[Look]) -> f64 {
    let weight: f64 = looks.iter().map(|look| look.weight).sum();
    let mean =
        |value: fn(&Look) -> f64| looks.iter().map(|look| look.weight * value(look)).sum::<f64>() / weight;
    let (mean_at, mean_lag) = (mean(|look| look.at), mean(|look| look.lag));
    let product = |a: f64, b: f64, weight: f64| a * b * weight;
    let both = looks.iter().map(|look| product(look.at - mean_at, look.lag - mean_lag, look.weight));
    let own = looks.iter().map(|look| product(look.at - mean_at, look.at - mean_at, look.weight));
    both.sum::<f64>() / own.sum::<f64>()
}

fn energy(piece: Piece<'_>, start: usize) -> f64 {
    let of = |side: &[f32]| {
        side[start..start + LOOK_FRAMES].iter().map(|value| f64::from(value * value)).sum::<f64>()
    };
    of(piece.left) + of(piece.right)
}

/// How alike a look of ours is to theirs, `lag` frames later.
fn likeness(ours: Piece<'_>, theirs: Piece<'_>, start: usize, lag: isize) -> f64 {
    let later = start.saturating_add_signed(lag);
    if later + LOOK_FRAMES > theirs.left.len() {
        return -1.0;
    }
    let of = |ours: &[f32], theirs: &[f32]| {
        let pairs = ours[start..start + LOOK_FRAMES].iter().zip(&theirs[later..later + LOOK_FRAMES]);
        pairs.map(|(a, b)| f64::from(a * b)).sum::<f64>()
    };
    let both = of(ours.left, theirs.left) + of(ours.right, theirs.right);
    let power = energy(ours, start) * energy(theirs, later);
    if power > 0.0 { both / power.sqrt() } else { -1.0 }
}

/// Frames of a spectrum: the longest that a held note has room for.
const SPECTRUM_FRAMES: usize = 1 << 16;
/// Steps of its logarithmic axis, in cents, from the lowest frequency over so many octaves.
const STEP_CENTS: f64 = 2.0;
const LOWEST_HZ: f64 = 60.0;
const OCTAVES: f64 = 8.0;
/// Furthest apart that is looked for, in steps: a semitone.
const FURTHEST: isize = 50;

/// By how many cents our spectrum must be moved down to be most like theirs; `None` if they are not
/// alike.
fn spectra_apart_cents(ours: Piece<'_>, theirs: Piece<'_>) -> anyhow::Result<Option<f64>> {
    let (ours, theirs) = (log_spectrum(ours)?, log_spectrum(theirs)?);
    let like = |shift: isize| {
        let start = FURTHEST as usize;
        let theirs = &theirs[start..theirs.len() - start];
        correlation(&ours[start.saturating_add_signed(shift)..][..theirs.len()], theirs)
    };
    let best = (-FURTHEST..=FURTHEST).max_by(|&a, &b| like(a).total_cmp(&like(b)));
    Ok(best.filter(|&shift| like(shift) > ALIKE).map(|shift| shift as f64 * STEP_CENTS))
}

/// How two rows of numbers go together, -1 to 1.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let sum = |pairs: &mut dyn Iterator<Item = (f64, f64)>| pairs.map(|(a, b)| a * b).sum::<f64>();
    let both = sum(&mut a.iter().map(|a| a - mean_a).zip(b.iter().map(|b| b - mean_b)));
    let own = |row: &[f64], mean: f64| sum(&mut row.iter().map(|value| (value - mean, value - mean)));
    let power = own(a, mean_a) * own(b, mean_b);
    if power > 0.0 { both / power.sqrt() } else { 0.0 }
}

/// The fourth root of power, so that soft partials count too, over logarithmic frequency.
fn log_spectrum(piece: Piece<'_>) -> anyhow::Result<Vec<f64>> {
    let fft = RealFftPlanner::<f64>::new().plan_fft_forward(SPECTRUM_FRAMES);
    let mut spectrum = fft.make_output_vec();
    let mut powers = vec![0.0; spectrum.len()];
    for side in [piece.left, piece.right] {
        let step = core::f64::consts::TAU / SPECTRUM_FRAMES as f64;
        let window = (0..SPECTRUM_FRAMES).map(|frame| 0.5 - 0.5 * (frame as f64 * step).cos());
        let mut windowed: Vec<f64> =
            side.iter().zip(window).map(|(&value, window)| f64::from(value) * window).collect();
        windowed.resize(SPECTRUM_FRAMES, 0.0);
        fft.process(&mut windowed, &mut spectrum)?;
        for (power, value) in powers.iter_mut().zip(&spectrum) {
            *power += value.norm_sqr();
        }
    }
    let steps = (OCTAVES * 1200.0 / STEP_CENTS) as usize;
    let root = |bin: usize| powers[bin].sqrt().sqrt();
    let values = (0..steps).map(|step| {
        let hz = LOWEST_HZ * (step as f64 * STEP_CENTS / 1200.0).exp2();
        let bin = hz * SPECTRUM_FRAMES as f64 / f64::from(RATE_HZ);
        let below = (bin as usize).min(powers.len() - 2);
        let part = bin - below as f64;
        root(below) * (1.0 - part) + root(below + 1) * part
    });
    Ok(values.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(signal: impl Fn(f64) -> f64, cents: f64, tolerance: f64) {
        let rendered = |speed: f64| -> Vec<f32> {
            (0..frames(HELD_MS) + 4_800).map(|frame| signal(frame as f64 * speed / 48_000.0) as f32).collect()
        };
        let (ours, theirs) = (rendered((cents / 1200.0).exp2()), rendered(1.0));
        let piece = |side| Piece { left: side, right: side };
        let found = difference_cents(piece(&ours), piece(&theirs)).expect("computes").expect("alike");
        assert!((found - cents).abs() < tolerance, "{cents} cents more: {found}");
    }

    fn tone(hz: f64, secs: f64) -> f64 {
        let turn = core::f64::consts::TAU * hz * secs;
        turn.sin() + 0.5 * (2.0 * turn).sin() + 0.2 * (5.0 * turn).sin()
    }

    #[test]
    fn cents_between_tones() {
        for (hz, decay_secs) in [(65.4, 1e9), (440.0, 1.0), (1046.5, 0.03)] {
            for cents in [-7.0, -1.0, 0.0, 0.5, 7.0] {
                check(|secs| tone(hz, secs) * (-secs / decay_secs).exp(), cents, 0.2);
            }
        }
    }

    #[test]
    fn tones_far_apart_are_seen() {
        for cents in [-90.0, -20.0, 50.0] {
            check(|secs| tone(440.0, secs), cents, 2.1);
        }
    }

    #[test]
    fn vibrato_does_not_hide_the_pitch() {
        // 50 cents up and down, five times a second.
        let vibrato = |secs: f64| {
            secs + 0.029 / (core::f64::consts::TAU * 5.0) * (core::f64::consts::TAU * 5.0 * secs).sin()
        };
        for cents in [-3.0, 0.0, 3.0] {
            check(|secs| tone(440.0, vibrato(secs)), cents, 0.3);
        }
    }
}
