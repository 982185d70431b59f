//! Stereo audio in double precision.

use wide::f64x2;

use super::control::LONGEST_FRAMES;
use super::smoothed_value::SmoothedValue;

/// The left and the right sample of a frame.
pub(crate) type Frame = f64x2;

/// Stereo frames in double precision.
pub(crate) struct Frames {
    values: [Frame; LONGEST_FRAMES],
    count: usize,
}

impl Frames {
    /// Creates the frames of left and right, at most [`LONGEST_FRAMES`].
    #[inline(always)]
    pub(crate) fn new(left: &[f32], right: &[f32]) -> Self {
        let mut values = [Frame::ZERO; LONGEST_FRAMES];
        for ((value, left), right) in values.iter_mut().zip(left).zip(right) {
            *value = Frame::new([f64::from(*left), f64::from(*right)]);
        }
        Self { values, count: left.len().min(LONGEST_FRAMES) }
    }

    /// Returns the frames for processing in place.
    #[inline(always)]
    pub(crate) fn as_mut(&mut self) -> &mut [Frame] {
        &mut self.values[..self.count]
    }

    /// Mixes the frames into left and right. With a `wet` of 0, left and right do not change. With
    /// 1, they become the frames.
    #[inline(always)]
    pub(crate) fn mix(&self, left: &mut [f32], right: &mut [f32], wet: &mut SmoothedValue) {
        if wet.is_steady() && wet.target() == 1.0 {
            return self.store(left, right);
        }
        for ((value, left), right) in self.values.iter().zip(left).zip(right) {
            let wet = wet.next();
            let dry_frame = Frame::new([f64::from(*left), f64::from(*right)]);
            let [l, r] = (dry_frame + (*value - dry_frame) * wet).to_array();
            (*left, *right) = (l as f32, r as f32);
        }
    }

    /// Writes the frames to left and right.
    #[inline(always)]
    pub(crate) fn store(&self, left: &mut [f32], right: &mut [f32]) {
        for ((value, left), right) in self.values.iter().zip(left).zip(right) {
            let [l, r] = value.to_array();
            (*left, *right) = (l as f32, r as f32);
        }
    }
}
