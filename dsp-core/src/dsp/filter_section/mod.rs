//! A second-order filter section whose coefficients may change without clicks.
//!
//! The section is the trapezoidal state-variable filter of A. Simper, "Linear Trapezoidal
//! Integrated SVF" (Cytomic, 2013), and V. Zavalishin, "The Art of VA Filter Design" (2012),
//! chapter 4. Its transfer function is the bilinear transform of an analogue transfer function,
//! like those of R. Bristow-Johnson's "Audio EQ Cookbook". Unlike a direct form, the section does
//! not gain energy when the coefficients change.

#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod avx2;
mod factors;
mod section;
mod shape;

pub(crate) use section::{Section, process_in_series};
pub(crate) use shape::{Shape, warp};
