//! The cover picture of a file.

use std::ops::RangeInclusive;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// Maximum size of a picture in bytes.
pub(crate) const COVER_MAX_BYTES: usize = 1 << 20;

/// Width and height that a picture may have, in pixels. A JPEG file can have no more.
const SIDE_PIXELS: RangeInclusive<u32> = 1..=65_535;

/// Type of a picture in tags: the front cover (ID3v2.3, section 4.15; RFC 9639, section 8.8).
const FRONT_COVER: u32 = 3;

/// A cover picture. Its base64 and its size were checked when the value was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cover {
    kind: Kind,
    /// The file of the picture in base64.
    base64: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    Jpeg,
    Png,
}

impl Cover {
    /// Checks the file of a picture in base64.
    ///
    /// # Errors
    /// The problem, as a sentence without its subject.
    pub(crate) fn from_base64(text: String) -> Result<Self, String> {
        // Base64 encodes 3 bytes as 4 letters.
        if text.len() / 4 * 3 > COVER_MAX_BYTES + 3 {
            return Err(too_large(text.trim_end_matches('=').len() * 3 / 4));
        }
        let bytes = STANDARD
            .decode(&text)
            .map_err(|error| format!("is not base64 (RFC 4648, section 4): {error}."))?;
        Ok(Self { kind: kind_of(&bytes)?, base64: text })
    }

    /// Checks the file of a picture.
    ///
    /// # Errors
    /// The problem, as a sentence without its subject.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        Ok(Self { kind: kind_of(bytes)?, base64: STANDARD.encode(bytes) })
    }

    /// Returns the media type.
    pub(super) fn media_type(&self) -> &'static str {
        match self.kind {
            Kind::Jpeg => "image/jpeg",
            Kind::Png => "image/png",
        }
    }

    /// Returns the file of the picture.
    pub(super) fn bytes(&self) -> Vec<u8> {
        STANDARD.decode(&self.base64).unwrap_or_default()
    }

    /// Returns the size of the picture.
    pub(super) fn dimensions(&self) -> Dimensions {
        dimensions(self.kind, &self.bytes()).unwrap_or_default()
    }

    /// Returns the picture as FLAC files contain it (RFC 9639, section 8.8). It has no description.
    pub(super) fn flac_picture(&self) -> Vec<u8> {
        let bytes = self.bytes();
        let Dimensions { width, height, bits_per_pixel } = self.dimensions();
        let media_type = self.media_type();
        let mut picture = Vec::with_capacity(bytes.len() + 64);
        let number = |picture: &mut Vec<u8>, value: u32| picture.extend(value.to_be_bytes());
        number(&mut picture, FRONT_COVER);
        number(&mut picture, media_type.len() as u32);
        picture.extend(media_type.as_bytes());
        let (description_length, colours) = (0, 0);
        for value in [description_length, width, height, bits_per_pixel, colours, bytes.len() as u32] {
            number(&mut picture, value);
        }
        picture.extend(bytes);
        picture
    }

    /// Returns the picture as Ogg files contain it: as a Vorbis comment
    /// (<https://wiki.xiph.org/VorbisComment#Cover_art>).
    pub(super) fn vorbis_comment(&self) -> (String, String) {
        ("METADATA_BLOCK_PICTURE".to_owned(), STANDARD.encode(self.flac_picture()))
    }
}

/// Size of a picture in pixels, and its colour depth.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Dimensions {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) bits_per_pixel: u32,
}

fn too_large(bytes: usize) -> String {
    format!("is too large: it has {bytes} bytes, and at most {COVER_MAX_BYTES} are allowed.")
}

fn kind_of(bytes: &[u8]) -> Result<Kind, String> {
    if bytes.len() > COVER_MAX_BYTES {
        return Err(too_large(bytes.len()));
    }
    let kind = match bytes {
        [0xFF, 0xD8, 0xFF, ..] => Kind::Jpeg,
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Kind::Png,
        _ => return Err("is neither a JPEG nor a PNG file.".to_owned()),
    };
    let has_size = dimensions(kind, bytes)
        .is_some_and(|size| SIDE_PIXELS.contains(&size.width) && SIDE_PIXELS.contains(&size.height));
    if !has_size {
        return Err(format!(
            "is damaged: its header has no width and height of 1 to {} pixels.",
            SIDE_PIXELS.end()
        ));
    }
    Ok(kind)
}

/// Reads the size of a picture; `None` if its header is damaged.
fn dimensions(kind: Kind, bytes: &[u8]) -> Option<Dimensions> {
    match kind {
        Kind::Jpeg => jpeg_dimensions(bytes),
        Kind::Png => png_dimensions(bytes),
    }
}

/// Reads the header of a PNG file (PNG specification, third edition, section 11.2.1).
fn png_dimensions(bytes: &[u8]) -> Option<Dimensions> {
    let number = |offset: usize| Some(u32::from_be_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?));
    let (depth, colour_type) = (u32::from(*bytes.get(24)?), *bytes.get(25)?);
    let channels = match colour_type {
        2 => 3,
        4 => 2,
        6 => 4,
        _ => 1,
    };
    Some(Dimensions { width: number(16)?, height: number(20)?, bits_per_pixel: depth * channels })
}

/// Reads the frame header of a JPEG file (ITU-T T.81, section B.2.2).
fn jpeg_dimensions(bytes: &[u8]) -> Option<Dimensions> {
    let mut marker_offset = 2;
    loop {
        let (mark, kind) = (*bytes.get(marker_offset)?, *bytes.get(marker_offset + 1)?);
        let number = |offset: usize| {
            Some(u16::from_be_bytes(
                bytes.get(marker_offset + offset..marker_offset + offset + 2)?.try_into().ok()?,
            ))
        };
        match (mark, kind) {
            // Fill bytes may precede a marker.
            (0xFF, 0xFF) => marker_offset += 1,
            // Frames of all kinds. 0xC4, 0xC8 and 0xCC mark no frames.
            (0xFF, 0xC0..=0xCF) if !matches!(kind, 0xC4 | 0xC8 | 0xCC) => {
                let bits_per_pixel =
                    u32::from(*bytes.get(marker_offset + 4)?) * u32::from(*bytes.get(marker_offset + 9)?);
                return Some(Dimensions {
                    width: number(7)?.into(),
                    height: number(5)?.into(),
                    bits_per_pixel,
                });
            }
            (0xFF, _) => marker_offset += 2 + usize::from(number(2)?).max(2),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The start of a grey JPEG file of 300 by 200 pixels, with an application segment.
    const JPEG: [u8; 29] = [
        0xFF, 0xD8, 0xFF, 0xE0, 0, 6, 1, 2, 3, 4, 0xFF, 0xFF, 0xC2, 0, 11, 8, 0, 200, 1, 44, 1, 1, 0x11, 0,
        0xFF, 0xDA, 0, 2, 0,
    ];

    /// The start of a PNG file of 258 by 3 pixels with transparency.
    const PNG: [u8; 29] = [
        0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 1, 2,
        0, 0, 0, 3, 8, 6, 0, 0, 0,
    ];

    #[test]
    fn the_size_of_a_picture_is_read_from_its_header() {
        let size = |width, height, bits_per_pixel| Some(Dimensions { width, height, bits_per_pixel });
        assert_eq!(jpeg_dimensions(&JPEG), size(300, 200, 8));
        assert_eq!(png_dimensions(&PNG), size(258, 3, 32));
        for length in 0..JPEG.len() {
            assert!(
                jpeg_dimensions(&JPEG[..length]).is_none_or(|jpeg_size| Some(jpeg_size) == size(300, 200, 8))
            );
            assert!(png_dimensions(&PNG[..length.min(25)]).is_none());
        }
    }

    #[test]
    fn a_cover_is_a_jpeg_or_png_file_of_bounded_size() {
        for file in [&JPEG[..], &PNG] {
            let cover = Cover::from_base64(STANDARD.encode(file)).expect("a picture");
            assert_eq!(cover.bytes(), file);
            assert_eq!(Ok(cover), Cover::from_bytes(file));
        }
        let mut large_picture = JPEG.to_vec();
        large_picture.resize(COVER_MAX_BYTES, 0);
        assert!(Cover::from_base64(STANDARD.encode(&large_picture)).is_ok());
        large_picture.push(0);
        for (text, part) in [
            (STANDARD.encode(&large_picture), "too large"),
            ("A".repeat(4 * COVER_MAX_BYTES), "too large"),
            ("*".to_owned(), "not base64"),
            (STANDARD.encode("GIF89a"), "neither"),
            (STANDARD.encode(&JPEG[..3]), "damaged"),
            (STANDARD.encode(&PNG[..20]), "damaged"),
            (STANDARD.encode([&PNG[..16], &[0; 13]].concat()), "damaged"),
            (STANDARD.encode([&PNG[..16], &[255; 13]].concat()), "damaged"),
            (String::new(), "neither"),
        ] {
            let problem = Cover::from_base64(text).expect_err("is refused");
            assert!(problem.contains(part), "{problem}");
        }
    }
}
