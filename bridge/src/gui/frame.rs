//! A picture of the window, the part of it that differs from another, and its JPEG.

use std::time::Instant;

use jpeg_encoder::{ColorType, Encoder, EncodingError, SamplingFactor};

/// Bytes of a pixel: blue, green, red and an unused one.
const PIXEL_BYTES: usize = 4;

/// Quality of JPEGs, of 100. Thin lines and small texts of plugins stay sharp.
const QUALITY: u8 = 88;

/// A picture.
#[derive(Debug)]
pub(super) struct Frame {
    /// Width in pixels.
    pub(super) width: u16,
    /// Height in pixels.
    pub(super) height: u16,
    /// Rows of pixels from top to bottom.
    pub(super) pixels: Vec<u8>,
}

/// The last picture that was captured.
#[derive(Debug, Clone)]
pub(super) struct Captured {
    /// The picture; a new one only if it differs from the last.
    pub(super) frame: std::sync::Arc<Frame>,
    /// When it was captured last.
    pub(super) at: Instant,
}

/// A rectangle of pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) x: u16,
    pub(super) y: u16,
    pub(super) width: u16,
    pub(super) height: u16,
}

impl Frame {
    /// Returns the whole area.
    pub(super) fn area(&self) -> Area {
        Area { x: 0, y: 0, width: self.width, height: self.height }
    }

    fn row(&self, y: u16) -> &[u8] {
        let bytes = usize::from(self.width) * PIXEL_BYTES;
        &self.pixels[usize::from(y) * bytes..][..bytes]
    }

    /// Returns the smallest rectangle that contains all pixels that differ from `previous_frame`; the whole
    /// area if the sizes differ, and `None` if all pixels are equal.
    pub(super) fn difference(&self, previous_frame: &Self) -> Option<Area> {
        if (self.width, self.height) != (previous_frame.width, previous_frame.height) {
            return Some(self.area());
        }
        let differs = |y: &u16| self.row(*y) != previous_frame.row(*y);
        let top = (0..self.height).find(differs)?;
        let bottom = (top..self.height).rev().find(differs)?;
        let (mut left, mut right) = (self.width, 0);
        for y in top..=bottom {
            let (frame_row, other_pixel) = (self.row(y), previous_frame.row(y));
            let pixels = || frame_row.chunks_exact(PIXEL_BYTES).zip(other_pixel.chunks_exact(PIXEL_BYTES));
            let Some(first_pixel) = pixels().position(|(pixel, other_pixel)| pixel != other_pixel) else {
                continue;
            };
            let last_pixel =
                pixels().rposition(|(pixel, other_pixel)| pixel != other_pixel).unwrap_or(first_pixel);
            left = left.min(first_pixel as u16);
            right = right.max(last_pixel as u16);
        }
        Some(Area { x: left, y: top, width: right - left + 1, height: bottom - top + 1 })
    }

    /// Returns a part of the picture as JPEG.
    pub(super) fn jpeg(&self, area: Area) -> Result<Vec<u8>, EncodingError> {
        let mut pixels = Vec::with_capacity(usize::from(area.width) * usize::from(area.height) * PIXEL_BYTES);
        for y in area.y..area.y + area.height {
            let start = usize::from(area.x) * PIXEL_BYTES;
            pixels.extend_from_slice(&self.row(y)[start..][..usize::from(area.width) * PIXEL_BYTES]);
        }
        let mut jpeg = Vec::new();
        let mut encoder = Encoder::new(&mut jpeg, QUALITY);
        encoder.set_sampling_factor(SamplingFactor::F_1_1);
        encoder.encode(&pixels, area.width, area.height, ColorType::Bgra)?;
        Ok(jpeg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(width: u16, height: u16, changed_pixels: &[(u16, u16)]) -> Frame {
        let mut pixels = vec![7; usize::from(width) * usize::from(height) * PIXEL_BYTES];
        for (x, y) in changed_pixels {
            pixels[(usize::from(*y) * usize::from(width) + usize::from(*x)) * PIXEL_BYTES] = 200;
        }
        Frame { width, height, pixels }
    }

    #[test]
    fn the_difference_contains_all_changed_pixels_and_no_others() {
        let previous_frame = frame(40, 30, &[]);
        assert_eq!(frame(40, 30, &[]).difference(&previous_frame), None);
        let cases = [
            (vec![(0, 0)], Area { x: 0, y: 0, width: 1, height: 1 }),
            (vec![(39, 29)], Area { x: 39, y: 29, width: 1, height: 1 }),
            (vec![(5, 20), (30, 3), (7, 9)], Area { x: 5, y: 3, width: 26, height: 18 }),
        ];
        for (changed_pixels, area) in cases {
            assert_eq!(frame(40, 30, &changed_pixels).difference(&previous_frame), Some(area));
        }
        assert_eq!(frame(40, 31, &[]).difference(&previous_frame), Some(frame(40, 31, &[]).area()));
    }

    #[test]
    fn the_jpeg_of_a_part_has_its_size() {
        let jpeg = frame(40, 30, &[(5, 5)]).jpeg(Area { x: 4, y: 3, width: 17, height: 9 }).expect("encodes");
        assert!(jpeg.starts_with(&[0xff, 0xd8]) && jpeg.ends_with(&[0xff, 0xd9]));
        // Height and width follow the length and the precision in the frame header (ITU T.81,
        // B.2.2), whose marker is FFC0.
        let header = jpeg.windows(2).position(|bytes| bytes == [0xff, 0xc0]).expect("a header");
        assert_eq!(jpeg[header + 5..header + 9], [0, 9, 0, 17]);
    }
}
