//! Eight values that are computed together.
//!
//! An array with element-wise operators: the compiler turns it into one AVX2, two SSE2 or two wasm
//! `simd128` registers, which all round alike. Nothing here fuses, reorders or estimates.

use core::ops::{Add, Mul, Sub};

/// How many values are computed together, on every target.
pub(super) const LANES: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(32))]
pub(super) struct Lanes(pub(super) [f32; LANES]);

impl Lanes {
    pub(super) const ZERO: Self = Self([0.0; LANES]);

    #[inline(always)]
    pub(super) fn all(value: f32) -> Self {
        Self([value; LANES])
    }

    /// The sum of all lanes, always in this order.
    #[inline(always)]
    pub(super) fn sum(self) -> f32 {
        let [a, b, c, d, e, f, g, h] = self.0;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }
}

macro_rules! element_wise {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl $trait for Lanes {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let mut result = [0.0; LANES];
                for lane in 0..LANES {
                    result[lane] = self.0[lane] $operator other.0[lane];
                }
                Self(result)
            }
        }
    };
}

element_wise!(Add, add, +);
element_wise!(Sub, sub, -);
element_wise!(Mul, mul, *);
