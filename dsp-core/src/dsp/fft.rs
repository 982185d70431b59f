//! The discrete Fourier transform, with bit-identical results on every target.
//!
//! The algorithm is Stockham's self-sorting form of radix 4 (C. Van Loan, "Computational Frameworks
//! for the Fast Fourier Transform", SIAM 1992, sections 1.7 and 2.4). Real and imaginary parts are
//! stored separately, which lets inner loops access consecutive values. Twiddle factors come from
//! `libm` in double precision.

use alloc::vec;
use alloc::vec::Vec;
use core::f64::consts::TAU;

use wide::f32x4;

use crate::simd::{on_best_instructions, transpose};

/// A transform of one size, with its buffers.
#[derive(Debug, Clone)]
pub(crate) struct Fft {
    size: usize,
    /// Twiddle factors of each pass of radix 4, in the order of the passes. The final pass of radix
    /// 2 needs no factors.
    passes: Vec<Factors>,
    scratch: [Vec<f32>; 2],
}

/// Real and imaginary parts of `w^p`, `w^2p` and `w^3p`, with `w = e^(-2 pi i / length)` and `p`
/// below a quarter of `length`.
#[derive(Debug, Clone)]
struct Factors {
    powers: [[Vec<f32>; 2]; 3],
}

impl Factors {
    fn new(length: usize) -> Self {
        let values = |power: usize, part: fn(f64) -> f64| {
            (0..length / 4).map(|p| part(TAU * (power * p) as f64 / length as f64) as f32).collect()
        };
        Self {
            powers: [1, 2, 3]
                .map(|power| [values(power, libm::cos), values(power, |angle| -libm::sin(angle))]),
        }
    }

    /// Returns the factors of one index, each in all four lanes.
    #[inline(always)]
    fn splat(&self, index: usize) -> [Complex; 3] {
        let power = |[re, im]: &[Vec<f32>; 2]| (f32x4::splat(re[index]), f32x4::splat(im[index]));
        let [first, second, third] = &self.powers;
        [power(first), power(second), power(third)]
    }

    /// Returns the factors of four consecutive indices.
    #[inline(always)]
    fn load(&self, index: usize) -> [Complex; 3] {
        let power = |[re, im]: &[Vec<f32>; 2]| (load(re, index), load(im, index));
        let [first, second, third] = &self.powers;
        [power(first), power(second), power(third)]
    }
}

/// Real and imaginary parts of four complex values.
type Complex = (f32x4, f32x4);

/// Real and imaginary parts of a signal.
type Parts<'a> = (&'a mut [f32], &'a mut [f32]);

impl Fft {
    /// Creates a transform of `size` complex values, a power of two of at least 16. Any other size
    /// is rounded up to such a power.
    pub(crate) fn new(size: usize) -> Self {
        let size = size.next_power_of_two().max(16);
        let lengths = core::iter::successors(Some(size), |length| Some(length / 4));
        Self {
            size,
            passes: lengths.take_while(|length| *length >= 4).map(Factors::new).collect(),
            scratch: [vec![0.0; size], vec![0.0; size]],
        }
    }

    /// Returns the number of complex values.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Computes `X[k] = sum of x[n] e^(-2 pi i k n / size)` in place. Both slices have at least
    /// [`Self::size`] values.
    pub(crate) fn forward(&mut self, re: &mut [f32], im: &mut [f32]) {
        forward(self, re, im);
    }

    #[inline(always)]
    fn forward_inline(&mut self, re: &mut [f32], im: &mut [f32]) {
        let Self { size, passes, scratch: [scratch_re, scratch_im] } = self;
        let mut source: Parts<'_> = (&mut re[..*size], &mut im[..*size]);
        let mut destination: Parts<'_> = (scratch_re, scratch_im);
        let (mut stride, mut is_swapped) = (1, false);
        for factors in &*passes {
            if stride == 1 {
                first_pass(&source, &mut destination, factors);
            } else {
                pass(&source, &mut destination, stride, factors);
            }
            (stride, is_swapped) = (stride * 4, !is_swapped);
            core::mem::swap(&mut source, &mut destination);
        }
        // After an odd number of passes, `destination` is the caller's buffer.
        match (stride < *size, is_swapped) {
            (true, true) => radix_2_pass(&source, &mut destination),
            (true, false) => radix_2_pass_in_place(&mut source),
            (false, true) => {
                destination.0.copy_from_slice(source.0);
                destination.1.copy_from_slice(source.1);
            }
            (false, false) => {}
        }
    }

    /// Computes `x[n] = sum of X[k] e^(2 pi i k n / size)` in place. The result is `size` times the
    /// inverse of [`Self::forward`].
    pub(crate) fn inverse(&mut self, re: &mut [f32], im: &mut [f32]) {
        self.forward(im, re);
    }
}

on_best_instructions! {
    /// See [`Fft::forward`].
    fn forward(fft: &mut Fft, re: &mut [f32], im: &mut [f32]) = Fft::forward_inline;
}

#[inline(always)]
fn load(values: &[f32], index: usize) -> f32x4 {
    match values[index..][..4] {
        [a, b, c, d] => f32x4::new([a, b, c, d]),
        _ => f32x4::ZERO,
    }
}

#[inline(always)]
fn store(values: &mut [f32], index: usize, four: f32x4) {
    values[index..][..4].copy_from_slice(&four.to_array());
}

#[inline(always)]
fn times((a_re, a_im): Complex, (b_re, b_im): Complex) -> Complex {
    (a_re * b_re - a_im * b_im, a_re * b_im + a_im * b_re)
}

/// Computes four transforms of four values (radix-4 butterflies) and multiplies the results by the
/// factors.
#[inline(always)]
fn butterflies([a, b, c, d]: [Complex; 4], [w1, w2, w3]: [Complex; 3]) -> [Complex; 4] {
    let (sum_ac, difference_ac) = ((a.0 + c.0, a.1 + c.1), (a.0 - c.0, a.1 - c.1));
    let (sum_bd, difference_bd) = ((b.0 + d.0, b.1 + d.1), (b.0 - d.0, b.1 - d.1));
    [
        (sum_ac.0 + sum_bd.0, sum_ac.1 + sum_bd.1),
        // This term subtracts i times the difference of b and d. The last term adds it.
        times((difference_ac.0 + difference_bd.1, difference_ac.1 - difference_bd.0), w1),
        times((sum_ac.0 - sum_bd.0, sum_ac.1 - sum_bd.1), w2),
        times((difference_ac.0 - difference_bd.1, difference_ac.1 + difference_bd.0), w3),
    ]
}

/// Computes the pass of stride 1, which reads from four quarters of the input and writes four
/// consecutive outputs.
#[inline(always)]
fn first_pass((re, im): &Parts<'_>, (destination_re, destination_im): &mut Parts<'_>, factors: &Factors) {
    let quarter = re.len() / 4;
    for index in (0..quarter).step_by(4) {
        let input = |part: usize| (load(re, index + part * quarter), load(im, index + part * quarter));
        let factors = factors.load(index);
        let [a, b, c, d] = butterflies([input(0), input(1), input(2), input(3)], factors);
        let output_re = transpose([a.0, b.0, c.0, d.0]);
        let output_im = transpose([a.1, b.1, c.1, d.1]);
        for part in 0..4 {
            store(destination_re, 4 * (index + part), output_re[part]);
            store(destination_im, 4 * (index + part), output_im[part]);
        }
    }
}

/// Computes a pass of a stride of 4 or more.
#[inline(always)]
fn pass(
    (re, im): &Parts<'_>,
    (destination_re, destination_im): &mut Parts<'_>,
    stride: usize,
    factors: &Factors,
) {
    let quarter = re.len() / 4;
    let outputs =
        destination_re.chunks_exact_mut(4 * stride).zip(destination_im.chunks_exact_mut(4 * stride));
    for (branch, (destination_re, destination_im)) in outputs.enumerate() {
        let factors = factors.splat(branch);
        let input = |part: usize| {
            let index = branch * stride + part * quarter;
            (&re[index..][..stride], &im[index..][..stride])
        };
        let (a, b, c, d) = (input(0), input(1), input(2), input(3));
        for index in (0..stride).step_by(4) {
            let four = |(re, im): (&[f32], &[f32])| (load(re, index), load(im, index));
            let output = butterflies([four(a), four(b), four(c), four(d)], factors);
            for (part, (re, im)) in output.into_iter().enumerate() {
                store(destination_re, part * stride + index, re);
                store(destination_im, part * stride + index, im);
            }
        }
    }
}

/// Computes the final pass of radix 2, which a size that is not a power of four needs.
#[inline(always)]
fn radix_2_pass((re, im): &Parts<'_>, (destination_re, destination_im): &mut Parts<'_>) {
    let half = re.len() / 2;
    for (source, destination) in [(re, destination_re), (im, destination_im)] {
        let ((a, b), (sum, difference)) = (source.split_at(half), destination.split_at_mut(half));
        for (((a, b), sum), difference) in a.iter().zip(b).zip(sum).zip(difference) {
            (*sum, *difference) = (a + b, a - b);
        }
    }
}

/// Like [`radix_2_pass`], but in place.
#[inline(always)]
fn radix_2_pass_in_place((re, im): &mut Parts<'_>) {
    let half = re.len() / 2;
    for values in [re, im] {
        let (first, second) = values.split_at_mut(half);
        for (a, b) in first.iter_mut().zip(second) {
            (*a, *b) = (*a + *b, *a - *b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(count: usize, mut state: u32) -> Vec<f32> {
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        };
        core::iter::repeat_with(next).take(count).collect()
    }

    #[test]
    fn the_transform_equals_the_sum_of_its_definition() {
        for size in [16, 32, 128, 512] {
            let (x, y) = (noise(size, 1), noise(size, 2));
            let (mut re, mut im) = (x.clone(), y.clone());
            Fft::new(size).forward(&mut re, &mut im);
            for k in 0..size {
                let (mut sum_re, mut sum_im) = (0.0, 0.0);
                for n in 0..size {
                    let angle = TAU * (k * n % size) as f64 / size as f64;
                    let (cos, sin) = (libm::cos(angle), -libm::sin(angle));
                    sum_re += f64::from(x[n]) * cos - f64::from(y[n]) * sin;
                    sum_im += f64::from(x[n]) * sin + f64::from(y[n]) * cos;
                }
                let error = libm::hypot(f64::from(re[k]) - sum_re, f64::from(im[k]) - sum_im);
                assert!(
                    error < 1e-6 * libm::sqrt(size as f64) * 4.0,
                    "size {size}: bin {k} has an error of {error}"
                );
            }
        }
    }

    #[test]
    fn the_inverse_restores_the_signal() {
        for size in [16, 64, 2_048, 8_192] {
            let (x, y) = (noise(size, 3), noise(size, 4));
            let (mut re, mut im) = (x.clone(), y.clone());
            let mut fft = Fft::new(size);
            fft.forward(&mut re, &mut im);
            fft.inverse(&mut re, &mut im);
            for n in 0..size {
                let error = (re[n] / size as f32 - x[n]).abs().max((im[n] / size as f32 - y[n]).abs());
                assert!(error < 2e-6, "size {size}: sample {n} has an error of {error}");
            }
        }
    }
}
