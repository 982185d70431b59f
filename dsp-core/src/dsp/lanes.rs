//! Eight values that are computed together, lane by lane, with bit-identical results on every
//! target.
//!
//! On native targets, the compiler vectorizes loops over arrays with the widest enabled
//! instructions. On WebAssembly it does not, so the code uses vector instructions explicitly. No
//! operation is fused, reordered or approximated.

use core::ops::{Add, Div, Mul, Sub};

/// Number of values that are computed together, on every target.
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

        /// Returns the higher value of each lane, or `rhs`'s value where either value is NaN.
        #[inline(always)]
        pub(crate) fn higher(self, rhs: Self) -> Self {
            self.zip(rhs, |a, b| if a > b { a } else { b })
        }

        /// Returns the lower value of each lane, or `rhs`'s value where either value is NaN.
        #[inline(always)]
        pub(crate) fn lower(self, rhs: Self) -> Self {
            self.zip(rhs, |a, b| if a < b { a } else { b })
        }

        /// Returns the lanes in which `a` is at most `b`, and 0 elsewhere.
        #[inline(always)]
        pub(crate) fn where_at_most(mut self, a: Self, b: Self) -> Self {
            for (value, (a, b)) in self.0.iter_mut().zip(a.0.into_iter().zip(b.0)) {
                *value = if a <= b { *value } else { 0.0 };
            }
            self
        }

        /// Returns the lanes in which `condition` is above 0, and 0 elsewhere.
        #[inline(always)]
        pub(crate) fn where_positive(self, condition: Self) -> Self {
            self.zip(condition, |value, condition| if condition > 0.0 { value } else { 0.0 })
        }

        /// Whether every lane is a number of at most `limit`, and not NaN.
        #[inline(always)]
        pub(crate) fn are_at_most(self, limit: f32) -> bool {
            self.0.iter().fold(true, |is_so_far, value| is_so_far & (*value <= limit))
        }

        #[inline(always)]
        pub(crate) fn plus(self, rhs: Self) -> Self {
            self.zip(rhs, |a, b| a + b)
        }

        #[inline(always)]
        pub(crate) fn minus(self, rhs: Self) -> Self {
            self.zip(rhs, |a, b| a - b)
        }

        #[inline(always)]
        pub(crate) fn times(self, rhs: Self) -> Self {
            self.zip(rhs, |a, b| a * b)
        }

        #[inline(always)]
        pub(crate) fn divided_by(self, rhs: Self) -> Self {
            self.zip(rhs, |a, b| a / b)
        }

        #[inline(always)]
        fn zip(mut self, rhs: Self, combine: impl Fn(f32, f32) -> f32) -> Self {
            for (a, b) in self.0.iter_mut().zip(rhs.0) {
                *a = combine(*a, b);
            }
            self
        }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod target {
    use super::LANES;
    use core::arch::wasm32::{
        f32x4_abs, f32x4_add, f32x4_div, f32x4_gt, f32x4_le, f32x4_mul, f32x4_pmax, f32x4_pmin, f32x4_splat,
        f32x4_sub, i32x4_all_true, v128, v128_and,
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

        /// Returns the higher value of each lane, or `rhs`'s value where either value is NaN.
        #[inline(always)]
        pub(crate) fn higher(self, rhs: Self) -> Self {
            // `pmax(a, b)` is `b` where `a < b`, and `a` elsewhere.
            rhs.zip(self, |a, b| f32x4_pmax(a, b))
        }

        /// Returns the lower value of each lane, or `rhs`'s value where either value is NaN.
        #[inline(always)]
        pub(crate) fn lower(self, rhs: Self) -> Self {
            // `pmin(a, b)` is `b` where `b < a`, and `a` elsewhere.
            rhs.zip(self, |a, b| f32x4_pmin(a, b))
        }

        /// Returns the lanes in which `a` is at most `b`, and 0 elsewhere.
        #[inline(always)]
        pub(crate) fn where_at_most(self, a: Self, b: Self) -> Self {
            self.zip(a.zip(b, |a, b| f32x4_le(a, b)), |value, mask| v128_and(value, mask))
        }

        /// Returns the lanes in which `condition` is above 0, and 0 elsewhere.
        #[inline(always)]
        pub(crate) fn where_positive(self, condition: Self) -> Self {
            self.zip(condition, |value, condition| v128_and(value, f32x4_gt(condition, f32x4_splat(0.0))))
        }

        /// Whether every lane is a number of at most `limit`, and not NaN.
        #[inline(always)]
        pub(crate) fn are_at_most(self, limit: f32) -> bool {
            let [a, b] = self.0.map(|four| f32x4_le(four, f32x4_splat(limit)));
            i32x4_all_true(v128_and(a, b))
        }

        #[inline(always)]
        pub(crate) fn plus(self, rhs: Self) -> Self {
            self.zip(rhs, |a, b| f32x4_add(a, b))
        }

        #[inline(always)]
        pub(crate) fn minus(self, rhs: Self) -> Self {
            self.zip(rhs, |a, b| f32x4_sub(a, b))
        }

        #[inline(always)]
        pub(crate) fn times(self, rhs: Self) -> Self {
            self.zip(rhs, |a, b| f32x4_mul(a, b))
        }

        #[inline(always)]
        pub(crate) fn divided_by(self, rhs: Self) -> Self {
            self.zip(rhs, |a, b| f32x4_div(a, b))
        }

        #[inline(always)]
        fn zip(self, rhs: Self, combine: impl Fn(v128, v128) -> v128) -> Self {
            let ([a, b], [rhs_a, rhs_b]) = (self.0, rhs.0);
            Self([combine(a, rhs_a), combine(b, rhs_b)])
        }
    }
}

pub(crate) use target::Lanes;

use super::decibels::lower;

impl Lanes {
    /// Returns zero in all lanes.
    #[inline(always)]
    pub(crate) fn zero() -> Self {
        Self::splat(0.0)
    }

    /// Returns the sum of all lanes. The order of the additions is fixed, for bit-identical
    /// results.
    #[inline(always)]
    pub(crate) fn sum(self) -> f32 {
        let [a, b, c, d, e, f, g, h] = self.to_array();
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }

    /// Returns the lowest value of all lanes, which are numbers.
    #[inline(always)]
    pub(crate) fn lowest(self) -> f32 {
        let [a, b, c, d, e, f, g, h] = self.to_array();
        lower(lower(lower(a, e), lower(c, g)), lower(lower(b, f), lower(d, h)))
    }
}

impl Add for Lanes {
    type Output = Self;

    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        self.plus(rhs)
    }
}

impl Sub for Lanes {
    type Output = Self;

    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        self.minus(rhs)
    }
}

impl Mul for Lanes {
    type Output = Self;

    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        self.times(rhs)
    }
}

impl Div for Lanes {
    type Output = Self;

    #[inline(always)]
    fn div(self, rhs: Self) -> Self {
        self.divided_by(rhs)
    }
}

impl Mul<f32> for Lanes {
    type Output = Self;

    #[inline(always)]
    fn mul(self, factor: f32) -> Self {
        self.times(Self::splat(factor))
    }
}

/// An array of `W` values of type `T` with element-wise operators, which the compiler vectorizes.
#[derive(Debug, Clone, Copy)]
pub struct ArrayLanes<T, const W: usize>(pub(crate) [T; W]);

macro_rules! element_wise {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl<T: Copy + $trait<Output = T>, const W: usize> $trait for ArrayLanes<T, W> {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let mut result = self;
                for lane in 0..W {
                    result.0[lane] = self.0[lane] $operator other.0[lane];
                }
                result
            }
        }
    };
}

element_wise!(Add, add, +);
element_wise!(Sub, sub, -);
element_wise!(Mul, mul, *);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_compared_separately_and_summed_together() {
        let values = [1.0, -2.0, 0.0, -0.0, f32::NAN, f32::INFINITY, -1e-30, 3.5];
        let lanes = Lanes::new(values);
        assert_eq!(
            lanes.higher(Lanes::splat(-0.5)).to_array(),
            [1.0, -0.5, 0.0, 0.0, -0.5, f32::INFINITY, -1e-30, 3.5]
        );
        assert_eq!(
            lanes.lower(Lanes::splat(-0.5)).to_array(),
            [-0.5, -2.0, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5]
        );
        let one = Lanes::splat(1.0);
        assert_eq!(one.where_positive(lanes).to_array(), [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
        assert_eq!(one.where_at_most(lanes, one).to_array(), [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!((one / Lanes::splat(4.0)).to_array(), [0.25; LANES]);
        assert!(!lanes.are_at_most(f32::INFINITY));
        let ascending = Lanes::new([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!((ascending.sum(), ascending.lowest()), (36.0, 1.0));
        let numbers = Lanes::new([1.0, -2.0, 0.0, -0.0, -9.0, 1.5, -1e-30, 1.25]);
        assert!(numbers.are_at_most(1.5) && !numbers.are_at_most(1.49));
    }
}
