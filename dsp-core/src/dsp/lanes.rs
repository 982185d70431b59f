//! Lanes numbers that are computed together, lane by lane, with the same bits on every target.
//!
//! Elsewhere the compiler makes vectors of the loops over arrays, as wide as the instructions that
//! are chosen. For WebAssembly it does not, so there the vectors are written out.

use core::ops::{Add, Mul, Sub};

/// Number of values.
pub(crate) const LANES: usize = 8;

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod target {
    use super::LANES;

    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Lanes([f32; LANES]);

    impl Lanes {
        #[inline(always)]
        pub(crate) fn new(values: [f32; LANES]) -> Self {
            Self(values)
        }

        #[inline(always)]
        pub(crate) fn splat(value: f32) -> Self {
            Self([value; LANES])
        }

        #[inline(always)]
        pub(crate) fn to_array(self) -> [f32; LANES] {
            self.0
        }

        #[inline(always)]
        pub(crate) fn abs(self) -> Self {
            Self(self.0.map(f32::abs))
        }

        /// The higher value of each lane; that of `other` where one of them is not a number.
        #[inline(always)]
        pub(crate) fn higher(self, other: Self) -> Self {
            self.with(other, |a, b| if a > b { a } else { b })
        }

        /// Whether every lane is a number and at most `limit`.
        #[inline(always)]
        pub(crate) fn are_at_most(self, limit: f32) -> bool {
            self.0.iter().fold(true, |all, value| all & (*value <= limit))
        }

        #[inline(always)]
        pub(super) fn plus(self, other: Self) -> Self {
            self.with(other, |a, b| a + b)
        }

        #[inline(always)]
        pub(super) fn minus(self, other: Self) -> Self {
            self.with(other, |a, b| a - b)
        }

        #[inline(always)]
        pub(super) fn times(self, other: Self) -> Self {
            self.with(other, |a, b| a * b)
        }

        #[inline(always)]
        fn with(mut self, other: Self, of: impl Fn(f32, f32) -> f32) -> Self {
            for (a, b) in self.0.iter_mut().zip(other.0) {
                *a = of(*a, b);
            }
            self
        }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod target {
    use super::LANES;
    use core::arch::wasm32::{
        f32x4_abs, f32x4_add, f32x4_le, f32x4_mul, f32x4_pmax, f32x4_splat, f32x4_sub, i32x4_all_true, v128,
        v128_and,
    };

    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Lanes([v128; 2]);

    impl Lanes {
        #[inline(always)]
        pub(crate) fn new(values: [f32; LANES]) -> Self {
            Self(bytemuck::cast(values))
        }

        #[inline(always)]
        pub(crate) fn splat(value: f32) -> Self {
            Self([f32x4_splat(value); 2])
        }

        #[inline(always)]
        pub(crate) fn to_array(self) -> [f32; LANES] {
            bytemuck::cast(self.0)
        }

        #[inline(always)]
        pub(crate) fn abs(self) -> Self {
            Self(self.0.map(|four| f32x4_abs(four)))
        }

        /// The higher value of each lane; that of `other` where one of them is not a number.
        #[inline(always)]
        pub(crate) fn higher(self, other: Self) -> Self {
            // `pmax(a, b)` is b where a is less, and a elsewhere.
            other.with(self, |a, b| f32x4_pmax(a, b))
        }

        /// Whether every lane is a number and at most `limit`.
        #[inline(always)]
        pub(crate) fn are_at_most(self, limit: f32) -> bool {
            let [a, b] = self.0.map(|four| f32x4_le(four, f32x4_splat(limit)));
            i32x4_all_true(v128_and(a, b))
        }

        #[inline(always)]
        pub(super) fn plus(self, other: Self) -> Self {
            self.with(other, |a, b| f32x4_add(a, b))
        }

        #[inline(always)]
        pub(super) fn minus(self, other: Self) -> Self {
            self.with(other, |a, b| f32x4_sub(a, b))
        }

        #[inline(always)]
        pub(super) fn times(self, other: Self) -> Self {
            self.with(other, |a, b| f32x4_mul(a, b))
        }

        #[inline(always)]
        fn with(self, other: Self, of: impl Fn(v128, v128) -> v128) -> Self {
            let ([a, b], [other_a, other_b]) = (self.0, other.0);
            Self([of(a, other_a), of(b, other_b)])
        }
    }
}

pub(crate) use target::Lanes;

impl Lanes {
    /// All zero.
    #[inline(always)]
    pub(crate) fn zero() -> Self {
        Self::splat(0.0)
    }
}

impl Add for Lanes {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.plus(other)
    }
}

impl Sub for Lanes {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.minus(other)
    }
}

impl Mul<f32> for Lanes {
    type Output = Self;

    #[inline(always)]
    fn mul(self, factor: f32) -> Self {
        self.times(Self::splat(factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_compared_one_by_one() {
        let values = [1.0, -2.0, 0.0, -0.0, f32::NAN, f32::INFINITY, -1e-30, 3.5];
        let lanes = Lanes::new(values);
        assert_eq!(
            lanes.higher(Lanes::splat(-0.5)).to_array(),
            [1.0, -0.5, 0.0, 0.0, -0.5, f32::INFINITY, -1e-30, 3.5]
        );
        assert!(!lanes.are_at_most(f32::INFINITY));
        let numbers = Lanes::new([1.0, -2.0, 0.0, -0.0, -9.0, 1.5, -1e-30, 1.25]);
        assert!(numbers.are_at_most(1.5) && !numbers.are_at_most(1.49));
    }
}
