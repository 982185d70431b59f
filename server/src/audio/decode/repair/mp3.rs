//! Scans MP3 files. A file is a chain of frames, and each header determines the length of its
//! frame. Where the chain is broken, silent frames are inserted in place of the lost ones.

use std::fs::File;
use std::io;

use super::mpeg_frame::{Frame, HEADER_BYTES};
use super::window::Window;
use super::{Gaps, Repair};
use crate::audio::decode::input::Piece;

/// Number of consecutive frame headers that confirm a frame.
const CONFIRMING_HEADERS: usize = 3;

/// Tags that may follow the last frame: ID3v1, APEv2, ID3v2, Lyrics3.
const TAG_MARKERS: [&[u8; 3]; 4] = [b"TAG", b"APE", b"ID3", b"LYR"];

/// A gap in the chain, from byte `start` to byte `end`.
struct Gap {
    start: u64,
    end: u64,
    /// Number of packets before the gap. It is also the number of the first packet after the gap.
    packets_before: u64,
    lost_frames: u64,
}

/// Metadata that encoders put into the first frame in place of audio.
#[derive(Debug, Clone, Copy, Default)]
struct Info {
    frames: Option<u64>,
    size_bytes: Option<u64>,
}

pub(super) fn scan(file: &mut Window<File>, start: u64) -> io::Result<Repair> {
    let Some(first) = read_confirmed_frame(file, start, None)? else { return Ok(Repair::default()) };
    let stream_info = read_info(file, start, &first)?;
    let mut chain = Chain { first, packets: 0, gaps: Vec::new(), end: start, is_chained: false };
    chain.follow(file, start, stream_info.is_some())?;
    let audio_bytes = chain.end - start;
    // The declared frame count includes frames that are missing at the end of a truncated file. So
    // it is used only for complete files.
    let complete = stream_info
        .filter(|stream_info| stream_info.size_bytes.is_some_and(|size_bytes| size_bytes <= audio_bytes));
    chain.count_lost(audio_bytes, complete.and_then(|stream_info| stream_info.frames));
    Ok(chain.repair())
}

struct Chain {
    first: Frame,
    packets: u64,
    gaps: Vec<Gap>,
    end: u64,
    is_chained: bool,
}

impl Chain {
    /// Follows the chain to the end of the file or of the first stream.
    fn follow(&mut self, file: &mut Window<File>, start: u64, has_info: bool) -> io::Result<()> {
        let mut offset = start;
        while let Some(frame) = read_frame(file, offset)?.filter(|frame| frame.is_like(&self.first)) {
            if offset > start && read_info(file, offset, &frame)?.is_some() {
                self.is_chained = true;
                return Ok(());
            }
            let mut next = offset + frame.size_bytes;
            if next > file.size_bytes() {
                // The frame is truncated, so it is not read.
                return Ok(());
            }
            let is_packet = offset > start || !has_info;
            self.packets += u64::from(is_packet);
            self.end = next;
            if !continues(file, next, &self.first)? {
                let Some(resumed_offset) = self.resume(file, offset + 1)? else { return Ok(()) };
                if is_tag(file, next)? && read_info(file, resumed_offset, &self.first)?.is_some() {
                    self.is_chained = true;
                    return Ok(());
                }
                // Either the next header is damaged, or the frame size in this frame's header is
                // wrong.
                let gap_start = if resumed_offset < next { offset } else { next };
                self.packets -= u64::from(is_packet && gap_start == offset);
                let packets_before = self.packets;
                self.gaps.push(Gap { start: gap_start, end: resumed_offset, packets_before, lost_frames: 0 });
                next = resumed_offset;
            }
            offset = next;
            self.end = offset;
        }
        Ok(())
    }

    /// Returns the position in bytes where the chain resumes, or `None` if no confirmed frame
    /// follows.
    fn resume(&self, file: &mut Window<File>, mut offset: u64) -> io::Result<Option<u64>> {
        while offset < file.size_bytes() {
            if read_confirmed_frame(file, offset, Some(&self.first))?.is_some() {
                return Ok(Some(offset));
            }
            offset += 1;
        }
        Ok(None)
    }

    /// Estimates the lost frames of each gap. Uses the file's declared frame count if there is one,
    /// and otherwise the mean frame size.
    fn count_lost(&mut self, audio_bytes: u64, declared_frames: Option<u64>) {
        let gap_bytes: u64 = self.gaps.iter().map(|gap| gap.end - gap.start).sum();
        if gap_bytes == 0 {
            return;
        }
        let mean_bytes = (audio_bytes.saturating_sub(gap_bytes) / self.packets.max(1)).max(1);
        let estimated_lost = (gap_bytes + mean_bytes / 2) / mean_bytes;
        // Each lost frame has at least the size of a header.
        let max = gap_bytes / HEADER_BYTES as u64;
        let lost =
            declared_frames.map_or(estimated_lost, |declared| declared.saturating_sub(self.packets)).min(max);
        let (mut bytes, mut assigned_bytes) = (0, 0);
        for gap in &mut self.gaps {
            bytes += gap.end - gap.start;
            let total_up_to_gap =
                (lost as u128 * u128::from(bytes) + u128::from(gap_bytes / 2)) / u128::from(gap_bytes);
            gap.lost_frames = total_up_to_gap as u64 - assigned_bytes;
            assigned_bytes = total_up_to_gap as u64;
        }
    }

    fn repair(self) -> Repair {
        if self.gaps.is_empty() && !self.is_chained {
            return Repair::default();
        }
        let (mut pieces, mut lost_ranges, mut packets_inserted, mut piece_start) =
            (Vec::new(), Vec::new(), 0, 0);
        for gap in self.gaps {
            pieces.push(Piece::File { start: piece_start, length_bytes: gap.start - piece_start });
            let pattern = self.first.silent();
            pieces.push(Piece::Repeated { length_bytes: pattern.len() as u64 * gap.lost_frames, pattern });
            let number = gap.packets_before + packets_inserted;
            lost_ranges.push(number..number + gap.lost_frames);
            packets_inserted += gap.lost_frames;
            piece_start = gap.end;
        }
        pieces.push(Piece::File { start: piece_start, length_bytes: self.end.saturating_sub(piece_start) });
        Repair {
            pieces,
            gaps: Gaps::Packets(lost_ranges.into()),
            is_chained: self.is_chained,
            ..Repair::default()
        }
    }
}

fn read_frame(file: &mut Window<File>, offset: u64) -> io::Result<Option<Frame>> {
    Ok(file.read_array(offset)?.and_then(Frame::parse))
}

/// Returns the frame at `offset` if frames of the same stream follow it. If `reference_frame` is
/// set, the frame must also be of the stream of `reference_frame`.
fn read_confirmed_frame(
    file: &mut Window<File>,
    offset: u64,
    reference_frame: Option<&Frame>,
) -> io::Result<Option<Frame>> {
    let Some(first) = read_frame(file, offset)?
        .filter(|frame| reference_frame.is_none_or(|reference_frame| frame.is_like(reference_frame)))
    else {
        return Ok(None);
    };
    let mut next = offset + first.size_bytes;
    for _ in 1..CONFIRMING_HEADERS {
        match read_frame(file, next)? {
            Some(frame) if frame.is_like(&first) => next += frame.size_bytes,
            _ => return Ok((next == file.size_bytes() || is_tag(file, next)?).then_some(first)),
        }
    }
    Ok(Some(first))
}

/// Whether a frame of the stream of `reference_frame` begins at `offset`, or the file ends there.
fn continues(file: &mut Window<File>, offset: u64, reference_frame: &Frame) -> io::Result<bool> {
    let has_frame = read_frame(file, offset)?.is_some_and(|frame| frame.is_like(reference_frame));
    Ok(has_frame || offset + HEADER_BYTES as u64 > file.size_bytes())
}

fn is_tag(file: &mut Window<File>, offset: u64) -> io::Result<bool> {
    let marker = file.read_array::<3>(offset)?;
    Ok(marker.is_some_and(|marker| TAG_MARKERS.contains(&&marker)))
}

/// Reads the metadata that encoders put into the first frame. Xing's metadata (`Xing` or `Info`)
/// follows empty side information; Fraunhofer's (`VBRI`) begins 32 bytes after the header.
fn read_info(file: &mut Window<File>, offset: u64, frame: &Frame) -> io::Result<Option<Info>> {
    let marker_offset = HEADER_BYTES + frame.side_bytes();
    let bytes = file.read_bytes(offset, marker_offset + 16)?;
    let Some((before, xing)) = bytes.split_at_checked(marker_offset) else { return Ok(None) };
    // The first two bytes after the header may be a checksum, so they are not compared.
    let is_empty = before[HEADER_BYTES + 2..].iter().all(|byte| *byte == 0);
    if !is_empty {
        return Ok(None);
    }
    if xing.starts_with(b"Xing") || xing.starts_with(b"Info") {
        let field = |field_offset: usize| {
            let bytes =
                xing.get(field_offset..field_offset + 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
            bytes.map(|bytes| u64::from(u32::from_be_bytes(bytes)))
        };
        let flags = field(4).unwrap_or(0);
        let frames = field(8).filter(|_| flags & 1 != 0);
        let size_bytes = field(if flags & 1 != 0 { 12 } else { 8 }).filter(|_| flags & 2 != 0);
        return Ok(Some(Info { frames, size_bytes }));
    }
    let fraunhofer = file.read_bytes(offset + HEADER_BYTES as u64 + 32, 4)? == b"VBRI";
    Ok(fraunhofer.then(Info::default))
}
