//! Number types of samples, one at a time and four at a time.

use core::ops::{Add, Mul, Sub};

use wide::f32x4;

use crate::dsp::lanes::ArrayLanes;
use crate::simd::transpose;

/// Values with sums, differences and products: single numbers, or several in registers.
pub trait Vector: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {}

impl<V: Copy + Add<Output = V> + Sub<Output = V> + Mul<Output = V>> Vector for V {}

/// Maximum magnitude, below which sums do not overflow.
const LOUDEST: f32 = 1e30;

/// Magnitudes below -500 dBFS become 0, so that products are never denormal.
const INAUDIBLE: f32 = 1e-25;

/// `f32` or `f64`.
pub trait Scalar: Vector + 'static {
    /// Silence.
    const ZERO: Self;

    /// Four values in registers.
    type Four: Vector + core::fmt::Debug;

    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;

    /// The clamped value; 0 if it is not finite or inaudible.
    fn cleaned(self) -> Self;

    /// Loads four values.
    fn four(values: [Self; 4]) -> Self::Four;

    /// Stores four values.
    fn values(four: Self::Four) -> [Self; 4];

    /// The columns of four rows.
    fn transposed(rows: [Self::Four; 4]) -> [Self::Four; 4];
}

macro_rules! scalar {
    ($type:ty, $four:ty, $from_array:path, $to_array:path, $transposed:path) => {
        impl Scalar for $type {
            const ZERO: Self = 0.0;

            type Four = $four;

            fn from_f64(value: f64) -> Self {
                value as Self
            }

            #[inline(always)]
            fn cleaned(self) -> Self {
                let limit = Self::from(LOUDEST);
                let size = self.abs();
                let audible = size > Self::from(INAUDIBLE) && size < Self::INFINITY;
                if audible { self.clamp(-limit, limit) } else { 0.0 }
            }

            #[inline(always)]
            fn four(values: [Self; 4]) -> Self::Four {
                $from_array(values)
            }

            #[inline(always)]
            fn values(four: Self::Four) -> [Self; 4] {
                $to_array(four)
            }

            #[inline(always)]
            fn transposed(rows: [Self::Four; 4]) -> [Self::Four; 4] {
                $transposed(rows)
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
