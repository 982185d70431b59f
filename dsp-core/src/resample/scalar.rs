//! The number types of samples, as single numbers and as SIMD vectors of four numbers.

use core::ops::{Add, Mul, Sub};

use wide::f32x4;

use crate::dsp::lanes::ArrayLanes;
use crate::simd::transpose;

/// A single number or a SIMD vector, with addition, subtraction and multiplication.
pub trait Vector: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {}

impl<V: Copy + Add<Output = V> + Sub<Output = V> + Mul<Output = V>> Vector for V {}

/// Maximum magnitude of a sample. The sums of a filter then cannot overflow.
const MAX_MAGNITUDE: f32 = 1e30;

/// Magnitudes below this value (-500 dBFS) become 0. Products are then never subnormal.
const MIN_MAGNITUDE: f32 = 1e-25;

/// The number type of a sample: `f32` or `f64`.
pub trait Scalar: Vector + 'static {
    /// The number 0.
    const ZERO: Self;

    /// A SIMD vector of four values.
    type Four: Vector + core::fmt::Debug;

    /// Converts to the nearest value of this type.
    fn from_f64(value: f64) -> Self;

    /// Clamps the value to the allowed magnitudes. Returns 0 for values that are inaudible or not
    /// finite.
    fn sanitize(self) -> Self;

    /// Loads four values into a vector.
    fn load(values: [Self; 4]) -> Self::Four;

    /// Returns the four values of a vector.
    fn to_array(four: Self::Four) -> [Self; 4];

    /// Transposes a matrix of four rows: returns its columns.
    fn transpose(rows: [Self::Four; 4]) -> [Self::Four; 4];
}

macro_rules! scalar {
    ($type:ty, $four:ty, $from_array:path, $to_array:path, $transpose:path) => {
        impl Scalar for $type {
            const ZERO: Self = 0.0;

            type Four = $four;

            fn from_f64(value: f64) -> Self {
                value as Self
            }

            #[inline(always)]
            fn sanitize(self) -> Self {
                let limit = Self::from(MAX_MAGNITUDE);
                let magnitude = self.abs();
                let is_audible = magnitude > Self::from(MIN_MAGNITUDE) && magnitude < Self::INFINITY;
                if is_audible { self.clamp(-limit, limit) } else { 0.0 }
            }

            #[inline(always)]
            fn load(values: [Self; 4]) -> Self::Four {
                $from_array(values)
            }

            #[inline(always)]
            fn to_array(four: Self::Four) -> [Self; 4] {
                $to_array(four)
            }

            #[inline(always)]
            fn transpose(rows: [Self::Four; 4]) -> [Self::Four; 4] {
                $transpose(rows)
            }
        }
    };
}

scalar!(f32, f32x4, f32x4::new, f32x4::to_array, transpose);
scalar!(f64, ArrayLanes<f64, 4>, ArrayLanes, values, columns);

#[inline(always)]
fn values(four: ArrayLanes<f64, 4>) -> [f64; 4] {
    four.0
}

#[inline(always)]
fn columns([a, b, c, d]: [ArrayLanes<f64, 4>; 4]) -> [ArrayLanes<f64, 4>; 4] {
    let (a, b, c, d) = (a.0, b.0, c.0, d.0);
    [
        ArrayLanes([a[0], b[0], c[0], d[0]]),
        ArrayLanes([a[1], b[1], c[1], d[1]]),
        ArrayLanes([a[2], b[2], c[2], d[2]]),
        ArrayLanes([a[3], b[3], c[3], d[3]]),
    ]
}
