//! Finds the audible part of an MP4 file.
//!
//! AAC encoders add one or two thousand frames of silence before the audio. The edit list of the
//! track (ISO/IEC 14496-12, 8.6.6) or an iTunes tag contains the start and the length of the audio.
//! `symphonia` applies neither of them.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

/// Maximum number of boxes that are read.
const BOXES_MAX: usize = 10_000;

/// The audible part, in frames at the sample rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edit {
    /// Frames to drop from the start.
    pub(super) skip_frames: u64,
    /// Number of frames to keep after the skipped ones.
    pub(super) keep_frames: u64,
}

/// Maximum length of an iTunes tag's text that is read, in bytes.
const TEXT_MAX_BYTES: u64 = 256;

/// Finds the audible part of the first audio track. Uses the track's edit list if it has exactly
/// one edit, and otherwise the iTunes tag. If the edit list has no duration, as in fragmented
/// files, the iTunes tag is preferred. Returns `None` if neither exists.
pub(super) fn find(mut file: impl Read + Seek, sample_rate_hz: u32) -> Option<Edit> {
    let end = file.seek(SeekFrom::End(0)).ok()?;
    let mut reader = BoxReader { file, boxes_left: BOXES_MAX };
    let moov = reader.find_child(0..end, b"moov").ok()??;
    let edit_list = from_edit_list(&mut reader, &moov, sample_rate_hz);
    match edit_list {
        Some(Edit { keep_frames, .. }) if keep_frames < u64::MAX => edit_list,
        _ => from_itunes_tag(&mut reader, moov).or(edit_list),
    }
}

fn from_edit_list(
    reader: &mut BoxReader<impl Read + Seek>,
    moov: &Span,
    sample_rate_hz: u32,
) -> Option<Edit> {
    let movie_scale = reader.read_time_scale(moov.clone(), b"mvhd").ok()??;
    let mut search_start = moov.start;
    loop {
        let track = reader.find_child(search_start..moov.end, b"trak").ok()??;
        search_start = track.end;
        let media = reader.find_child(track.clone(), b"mdia").ok()??;
        let handler = reader.find_child(media.clone(), b"hdlr").ok()??;
        if &reader.read_bytes::<4>(handler.start + 8).ok()? != b"soun" {
            continue;
        }
        let media_scale = reader.read_time_scale(media, b"mdhd").ok()??;
        let edits = reader.find_child(track, b"edts").ok()??;
        let list = reader.find_child(edits, b"elst").ok()??;
        let (duration, start) = reader.read_single_edit(list.start).ok()??;
        let frames = |time: u64, scale: u32| {
            let frames = u128::from(time) * u128::from(sample_rate_hz) / u128::from(scale.max(1));
            u64::try_from(frames).ok()
        };
        let keep_frames = frames(duration, movie_scale).filter(|frames| *frames > 0).unwrap_or(u64::MAX);
        return Some(Edit { skip_frames: frames(start, media_scale)?, keep_frames });
    }
}

/// Reads the iTunes tag `iTunSMPB`, a list of hexadecimal numbers. The second is the silence before
/// the audio, the third the silence after it, and the fourth the length, in frames.
fn from_itunes_tag(reader: &mut BoxReader<impl Read + Seek>, moov: Span) -> Option<Edit> {
    let user = reader.find_child(moov, b"udta").ok()??;
    let meta = reader.find_child(user, b"meta").ok()??;
    // The version and flags, 4 bytes, come before the child boxes.
    let tags = reader.find_child(meta.start + 4..meta.end, b"ilst").ok()??;
    let mut search_start = tags.start;
    loop {
        let tag = reader.find_child(search_start..tags.end, b"----").ok()??;
        search_start = tag.end;
        let name = reader.find_child(tag.clone(), b"name").ok()??;
        if reader.read_text(name.start + 4..name.end).ok()? != "iTunSMPB" {
            continue;
        }
        let data_box = reader.find_child(tag, b"data").ok()??;
        let text = reader.read_text(data_box.start + 8..data_box.end).ok()?;
        let number =
            |index| text.split_whitespace().nth(index).and_then(|text| u64::from_str_radix(text, 16).ok());
        let edit = Edit { skip_frames: number(1)?, keep_frames: number(3)? };
        return Some(edit).filter(|edit| edit.keep_frames > 0);
    }
}

type Span = std::ops::Range<u64>;

struct BoxReader<R> {
    file: R,
    boxes_left: usize,
}

impl<R: Read + Seek> BoxReader<R> {
    fn read_bytes<const N: usize>(&mut self, offset: u64) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn read_u32(&mut self, offset: u64) -> io::Result<u32> {
        self.read_bytes(offset).map(u32::from_be_bytes)
    }

    /// Returns the content of the first box of `kind` within `span`.
    fn find_child(&mut self, span: Span, kind: &[u8; 4]) -> io::Result<Option<Span>> {
        let mut offset = span.start;
        while offset.saturating_add(8) <= span.end {
            self.boxes_left = self.boxes_left.checked_sub(1).ok_or(ErrorKind::InvalidData)?;
            let [a, b, c, d, box_kind @ ..] = self.read_bytes::<8>(offset)?;
            let (size_bytes, header_bytes) = match u32::from_be_bytes([a, b, c, d]) {
                0 => (span.end - offset, 8),
                1 => (u64::from_be_bytes(self.read_bytes(offset + 8)?), 16),
                size_bytes => (u64::from(size_bytes), 8),
            };
            let end =
                offset.checked_add(size_bytes).filter(|end| size_bytes >= header_bytes && *end <= span.end);
            let end = end.ok_or(ErrorKind::InvalidData)?;
            if &box_kind == kind {
                return Ok(Some(offset + header_bytes..end));
            }
            offset = end;
        }
        Ok(None)
    }

    /// Reads a text of at most [`TEXT_MAX_BYTES`].
    fn read_text(&mut self, span: Span) -> io::Result<String> {
        let mut text = String::new();
        self.file.seek(SeekFrom::Start(span.start))?;
        let length_bytes = span.end.saturating_sub(span.start).min(TEXT_MAX_BYTES);
        self.file.by_ref().take(length_bytes).read_to_string(&mut text)?;
        Ok(text)
    }

    /// Reads the units per second of a `mvhd` or `mdhd` box.
    fn read_time_scale(&mut self, span: Span, kind: &[u8; 4]) -> io::Result<Option<u32>> {
        let Some(header) = self.find_child(span, kind)? else { return Ok(None) };
        let is_64_bit = self.read_bytes::<1>(header.start)?[0] == 1;
        self.read_u32(header.start + if is_64_bit { 20 } else { 12 }).map(Some)
    }

    /// Reads the duration and the start of the edit if the list contains exactly one.
    fn read_single_edit(&mut self, list: u64) -> io::Result<Option<(u64, u64)>> {
        let is_64_bit = self.read_bytes::<1>(list)?[0] == 1;
        if self.read_u32(list + 4)? != 1 {
            return Ok(None);
        }
        let (duration, start) = if is_64_bit {
            (u64::from_be_bytes(self.read_bytes(list + 8)?), i64::from_be_bytes(self.read_bytes(list + 16)?))
        } else {
            (u64::from(self.read_u32(list + 8)?), i64::from(i32::from_be_bytes(self.read_bytes(list + 12)?)))
        };
        // A negative start adds silence before the audio, so no frames are skipped.
        Ok(u64::try_from(start).ok().map(|start| (duration, start)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::audio::test_files::{M4A, MP3};

    #[test]
    fn the_edit_list_skips_the_silence_of_the_encoder() {
        let edit = find(Cursor::new(M4A), 44_100);
        assert_eq!(edit, Some(Edit { skip_frames: 1_024, keep_frames: 22_050 }));
        assert_eq!(find(Cursor::new(MP3), 44_100), None);
        assert_eq!(find(Cursor::new(b""), 44_100), None);
        for cut in 0..M4A.len() / 8 {
            // `find` must terminate for every truncated file.
            find(Cursor::new(&M4A[M4A.len() - 8 * cut..]), 44_100);
        }
    }

    fn mp4_box(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
        [&(content.len() as u32 + 8).to_be_bytes()[..], kind, content].concat()
    }

    #[test]
    fn the_itunes_tag_skips_the_silence_of_the_encoder() {
        let tag = |name: &[u8], text: &[u8]| {
            let parts = [
                mp4_box(b"mean", b"\0\0\0\0com.apple.iTunes"),
                mp4_box(b"name", &[&[0; 4], name].concat()),
                mp4_box(b"data", &[&[0, 0, 0, 1, 0, 0, 0, 0], text].concat()),
            ];
            mp4_box(b"----", &parts.concat())
        };
        let file = |text: &[u8]| {
            let tags = mp4_box(b"ilst", &[tag(b"iTunNORM", b" 0"), tag(b"iTunSMPB", text)].concat());
            let meta = mp4_box(b"meta", &[&[0; 4], &tags[..]].concat());
            Cursor::new(mp4_box(b"moov", &mp4_box(b"udta", &meta)))
        };
        let edit = find(file(b" 00000000 00000840 000001CC 0000000000061F34 00000000 00000000"), 44_100);
        assert_eq!(edit, Some(Edit { skip_frames: 2_112, keep_frames: 401_204 }));
        for invalid in [&b""[..], b" 00000000 00000840", b" 0 x 0 10", b" 0 840 0 0", b"\xFF\xFE"] {
            assert_eq!(find(file(invalid), 44_100), None, "{invalid:?}");
        }
    }

    #[test]
    fn a_file_with_too_many_boxes_has_no_edit() {
        let small_boxes: Vec<u8> = b"\0\0\0\x08free".repeat(2 * BOXES_MAX);
        assert_eq!(find(Cursor::new(&small_boxes), 44_100), None);
    }
}
