//! Circular convolution by fast Fourier transforms.
//!
//! The forward transform uses decimation in frequency, the inverse transform decimation in time.
//! Both have radix 4 (J. W. Cooley and J. W. Tukey, 1965; W. M. Gentleman and G. Sande, 1966).
//! Spectra stay in digit-reversed order, because they are only multiplied with each other. The real
//! and the imaginary part of a transform hold two independent real signals.

use alloc::vec;
use alloc::vec::Vec;
use core::f64::consts::TAU;

use super::scalar::{Scalar, Vector};
use crate::dsp::lanes::ArrayLanes;

/// Number of values that the passes over blocks longer than a tile compute together.
const WIDE_LANES: usize = 8;
/// Number of values that the last two passes compute together. They work on tiles of 4 x 4 points.
const NARROW_LANES: usize = 4;
/// Number of points in a tile.
const TILE_VALUES: usize = NARROW_LANES * NARROW_LANES;

/// A complex number, or a SIMD vector of complex numbers.
#[derive(Debug, Clone, Copy)]
struct Complex<V> {
    re: V,
    im: V,
}

impl<V: Vector> Complex<V> {
    #[inline(always)]
    fn plus(self, rhs: Self) -> Self {
        Self { re: self.re + rhs.re, im: self.im + rhs.im }
    }

    #[inline(always)]
    fn minus(self, rhs: Self) -> Self {
        Self { re: self.re - rhs.re, im: self.im - rhs.im }
    }

    /// Returns `self + i * rhs`.
    #[inline(always)]
    fn plus_rotated(self, rhs: Self) -> Self {
        Self { re: self.re - rhs.im, im: self.im + rhs.re }
    }

    /// Returns `self - i * rhs`.
    #[inline(always)]
    fn minus_rotated(self, rhs: Self) -> Self {
        Self { re: self.re + rhs.im, im: self.im - rhs.re }
    }

    #[inline(always)]
    fn times(self, rhs: Self) -> Self {
        Self { re: self.re * rhs.re - self.im * rhs.im, im: self.re * rhs.im + self.im * rhs.re }
    }

    #[inline(always)]
    fn times_conjugate(self, rhs: Self) -> Self {
        Self { re: self.re * rhs.re + self.im * rhs.im, im: self.im * rhs.re - self.re * rhs.im }
    }
}

/// Returns the discrete Fourier transform of four points.
#[inline(always)]
fn dft4<V: Vector>([a, b, c, d]: [Complex<V>; 4]) -> [Complex<V>; 4] {
    let (even, odd) = (a.plus(c), b.plus(d));
    let (even_difference, odd_difference) = (a.minus(c), b.minus(d));
    [
        even.plus(odd),
        even_difference.minus_rotated(odd_difference),
        even.minus(odd),
        even_difference.plus_rotated(odd_difference),
    ]
}

/// Returns the inverse transform of four points, multiplied by four.
#[inline(always)]
fn inverse_dft4<V: Vector>([a, b, c, d]: [Complex<V>; 4]) -> [Complex<V>; 4] {
    let (first, second) = (a.plus(c), b.plus(d));
    let (first_difference, second_difference) = (a.minus(c), b.minus(d));
    [
        first.plus(second),
        first_difference.plus_rotated(second_difference),
        first.minus(second),
        first_difference.minus_rotated(second_difference),
    ]
}

/// The twiddle factors of the second, third and fourth quarter of a block in a pass.
#[derive(Debug, Clone, Copy)]
struct Twiddles<V>([Complex<V>; 3]);

impl<V: Vector> Twiddles<V> {
    #[inline(always)]
    fn forward(&self, points: [Complex<V>; 4]) -> [Complex<V>; 4] {
        let [a, b, c, d] = dft4(points);
        [a, b.times(self.0[0]), c.times(self.0[1]), d.times(self.0[2])]
    }

    #[inline(always)]
    fn inverse(&self, [a, b, c, d]: [Complex<V>; 4]) -> [Complex<V>; 4] {
        let [second, third, fourth] = self.0;
        inverse_dft4([a, b.times_conjugate(second), c.times_conjugate(third), d.times_conjugate(fourth)])
    }
}

/// Returns the twiddle factors of `W` points, starting with point `first`, in blocks of
/// `length_values` points. They are the cosine and the negative sine for each of three quarters.
fn twiddles<T: Scalar, const W: usize>(first: usize, length_values: usize) -> [[[T; W]; 2]; 3] {
    let mut twiddles = [[[T::ZERO; W]; 2]; 3];
    for (quarter, [cosines, sines]) in twiddles.iter_mut().enumerate() {
        for lane in 0..W {
            let angle = TAU * ((first + lane) * (quarter + 1)) as f64 / length_values as f64;
            cosines[lane] = T::from_f64(libm::cos(angle));
            sines[lane] = T::from_f64(-libm::sin(angle));
        }
    }
    twiddles
}

/// The spectrum of a filter, as a list of tiles.
#[derive(Debug, Clone)]
pub struct Spectrum<T: Scalar>(Vec<[Complex<T::Four>; 4]>);

/// The tables for transforms of one length.
#[derive(Debug, Clone)]
pub struct Plan<T: Scalar> {
    length_values: usize,
    /// Twiddle factors of the passes, from the longest blocks to blocks of 64 points.
    passes: Vec<Vec<Twiddles<ArrayLanes<T, WIDE_LANES>>>>,
    /// Twiddle factors of the pass over blocks of 16 points.
    tile: Twiddles<T::Four>,
}

/// Two real signals, each as long as the transform.
#[derive(Debug, Clone)]
pub struct Pair<T> {
    pub(super) re: Vec<T>,
    pub(super) im: Vec<T>,
}

impl<T: Scalar> Pair<T> {
    pub(super) fn silent(length_values: usize) -> Self {
        Self { re: vec![T::ZERO; length_values], im: vec![T::ZERO; length_values] }
    }
}

impl<T: Scalar> Plan<T> {
    /// Creates the shortest transform of at least `min_length` points. Lengths are 64, 256, 1024
    /// and so on.
    pub(super) fn new(min_length: usize) -> Self {
        let mut length_values = 4 * TILE_VALUES;
        while length_values < min_length {
            length_values *= 4;
        }
        let mut passes = Vec::new();
        let mut block = length_values;
        while block > TILE_VALUES {
            let wide = |[re, im]: [[T; WIDE_LANES]; 2]| Complex { re: ArrayLanes(re), im: ArrayLanes(im) };
            let at_point = |first| Twiddles(twiddles(first, block).map(wide));
            passes.push((0..block / 4).step_by(WIDE_LANES).map(at_point).collect());
            block /= 4;
        }
        let narrow = |[re, im]: [[T; NARROW_LANES]; 2]| Complex { re: T::load(re), im: T::load(im) };
        Self { length_values, passes, tile: Twiddles(twiddles(0, TILE_VALUES).map(narrow)) }
    }

    /// Returns the number of points.
    pub(super) fn length(&self) -> usize {
        self.length_values
    }

    #[inline(always)]
    fn forward(&self, pair: &mut Pair<T>) {
        for pass in &self.passes {
            let length_values = 4 * WIDE_LANES * pass.len();
            for (re, im) in
                pair.re.chunks_exact_mut(length_values).zip(pair.im.chunks_exact_mut(length_values))
            {
                let (mut re, mut im) = (quarters(re, pass.len()), quarters(im, pass.len()));
                for (index, twiddles) in pass.iter().enumerate() {
                    store(twiddles.forward(load(&re, &im, index)), &mut re, &mut im, index);
                }
            }
        }
    }

    #[inline(always)]
    fn inverse(&self, pair: &mut Pair<T>) {
        for pass in self.passes.iter().rev() {
            let length_values = 4 * WIDE_LANES * pass.len();
            for (re, im) in
                pair.re.chunks_exact_mut(length_values).zip(pair.im.chunks_exact_mut(length_values))
            {
                let (mut re, mut im) = (quarters(re, pass.len()), quarters(im, pass.len()));
                for (index, twiddles) in pass.iter().enumerate() {
                    store(twiddles.inverse(load(&re, &im, index)), &mut re, &mut im, index);
                }
            }
        }
    }

    /// Computes the last two passes of the forward transform on a tile.
    #[inline(always)]
    fn tile_forward(&self, re: &[T; TILE_VALUES], im: &[T; TILE_VALUES]) -> [Complex<T::Four>; 4] {
        dft4(transpose::<T>(self.tile.forward(rows::<T>(re, im))))
    }

    /// Computes the first two passes of the inverse transform on a tile.
    #[inline(always)]
    fn tile_inverse(
        &self,
        points: [Complex<T::Four>; 4],
        re: &mut [T; TILE_VALUES],
        im: &mut [T; TILE_VALUES],
    ) {
        let rows = self.tile.inverse(transpose::<T>(inverse_dft4(points)));
        for (row, (re, im)) in rows
            .iter()
            .zip(re.as_chunks_mut::<NARROW_LANES>().0.iter_mut().zip(im.as_chunks_mut::<NARROW_LANES>().0))
        {
            (*re, *im) = (T::to_array(row.re), T::to_array(row.im));
        }
    }
}

impl Plan<f64> {
    /// Returns the spectrum of a filter for [`convolve`] with a plan of the same length.
    pub(super) fn spectrum<T: Scalar>(&self, impulse_response: Vec<f64>) -> Spectrum<T> {
        let mut pair = Pair { im: vec![0.0; impulse_response.len()], re: impulse_response };
        self.forward(&mut pair);
        let scale = 1.0 / self.length_values as f64;
        let convert =
            |values: ArrayLanes<f64, NARROW_LANES>| T::load(values.0.map(|value| T::from_f64(scale * value)));
        let tiles = pair.re.as_chunks::<TILE_VALUES>().0.iter().zip(pair.im.as_chunks::<TILE_VALUES>().0);
        let spectrum = tiles.map(|(re, im)| {
            self.tile_forward(re, im).map(|point| Complex { re: convert(point.re), im: convert(point.im) })
        });
        Spectrum(spectrum.collect())
    }
}

/// Convolves a pair of signals with several filters. Overwrites `signals`.
#[inline(always)]
pub(super) fn convolve<T: Scalar>(
    plan: &Plan<T>,
    signals: &mut Pair<T>,
    filters: &[Spectrum<T>],
    results: &mut [Pair<T>],
) {
    plan.forward(signals);
    let tiles = signals.re.as_chunks::<TILE_VALUES>().0.iter().zip(signals.im.as_chunks::<TILE_VALUES>().0);
    for (tile, (re, im)) in tiles.enumerate() {
        let points = plan.tile_forward(re, im);
        for (filter, result) in filters.iter().zip(&mut *results) {
            let [a, b, c, d] = filter.0[tile];
            let [e, f, g, h] = points;
            let (re, im) = (&mut result.re.as_chunks_mut().0[tile], &mut result.im.as_chunks_mut().0[tile]);
            plan.tile_inverse([e.times(a), f.times(b), g.times(c), h.times(d)], re, im);
        }
    }
    for result in results {
        plan.inverse(result);
    }
}

/// Splits a block into quarters of `chunks` chunks each.
#[inline(always)]
fn quarters<T>(block: &mut [T], chunks: usize) -> [&mut [[T; WIDE_LANES]]; 4] {
    let (first, remaining) = block.as_chunks_mut().0.split_at_mut(chunks);
    let (second, remaining) = remaining.split_at_mut(chunks);
    let (third, fourth) = remaining.split_at_mut(chunks);
    [first, second, third, &mut fourth[..chunks]]
}

#[inline(always)]
fn load<T: Scalar>(
    re: &[&mut [[T; WIDE_LANES]]; 4],
    im: &[&mut [[T; WIDE_LANES]]; 4],
    index: usize,
) -> [Complex<ArrayLanes<T, WIDE_LANES>>; 4] {
    let mut points =
        [Complex { re: ArrayLanes([T::ZERO; WIDE_LANES]), im: ArrayLanes([T::ZERO; WIDE_LANES]) }; 4];
    for (point, (re, im)) in points.iter_mut().zip(re.iter().zip(im)) {
        *point = Complex { re: ArrayLanes(re[index]), im: ArrayLanes(im[index]) };
    }
    points
}

#[inline(always)]
fn store<T: Scalar>(
    points: [Complex<ArrayLanes<T, WIDE_LANES>>; 4],
    re: &mut [&mut [[T; WIDE_LANES]]; 4],
    im: &mut [&mut [[T; WIDE_LANES]]; 4],
    index: usize,
) {
    for ((point, re), im) in points.iter().zip(re).zip(im) {
        re[index] = point.re.0;
        im[index] = point.im.0;
    }
}

#[inline(always)]
fn rows<T: Scalar>(re: &[T; TILE_VALUES], im: &[T; TILE_VALUES]) -> [Complex<T::Four>; 4] {
    let silence = T::load([T::ZERO; NARROW_LANES]);
    let mut rows = [Complex { re: silence, im: silence }; 4];
    let values = re.as_chunks::<NARROW_LANES>().0.iter().zip(im.as_chunks::<NARROW_LANES>().0);
    for (row, (re, im)) in rows.iter_mut().zip(values) {
        *row = Complex { re: T::load(*re), im: T::load(*im) };
    }
    rows
}

#[inline(always)]
fn transpose<T: Scalar>([a, b, c, d]: [Complex<T::Four>; 4]) -> [Complex<T::Four>; 4] {
    let [e, f, g, h] = T::transpose([a.re, b.re, c.re, d.re]);
    let [i, j, k, l] = T::transpose([a.im, b.im, c.im, d.im]);
    [Complex { re: e, im: i }, Complex { re: f, im: j }, Complex { re: g, im: k }, Complex { re: h, im: l }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convolution_is_circular_and_keeps_the_two_signals_separate() {
        for length in [64, 256, 1_024] {
            let plan = Plan::<f64>::new(length);
            assert_eq!(plan.length(), length);
            let value = |n: usize, factor: usize| ((n * n * factor + 7) % 31) as f64 / 31.0 - 0.5;
            let signal = |factor: usize| -> Vec<f64> { (0..length).map(|n| value(n, factor)).collect() };
            let (first, second, filter) = (signal(3), signal(5), signal(11));
            let mut pair = Pair { re: first.clone(), im: second.clone() };
            let mut results = [Pair::silent(length)];
            convolve(&plan, &mut pair, &[plan.spectrum(filter.clone())], &mut results);
            for (signal, result) in [(first, &results[0].re), (second, &results[0].im)] {
                for (n, result) in result.iter().enumerate() {
                    let expected: f64 =
                        (0..length).map(|k| filter[k] * signal[(n + length - k) % length]).sum();
                    assert!(
                        (result - expected).abs() < 1e-11,
                        "value {n} of {length} is {result}, not {expected}"
                    );
                }
            }
        }
    }
}
