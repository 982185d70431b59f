//! MP3: a chain of frames, each as long as its head says. Where the chain is broken, silent frames
//! take the place of lost ones.

use std::fs::File;
use std::io;

use super::mpeg_frame::{Frame, HEAD_BYTES};
use super::window::Window;
use super::{Missing, Repair};
use crate::audio::decode::input::Piece;

/// Heads one behind another that make a place believable.
const BELIEVED_HEADS: usize = 3;

/// What may stand behind the last frame: ID3v1, APEv2, ID3v2, Lyrics3.
const TAGS: [&[u8; 3]; 4] = [b"TAG", b"APE", b"ID3", b"LYR"];

/// A place where the chain is broken, and goes on.
struct Hole {
    start: u64,
    end: u64,
    /// Number of the first packet behind it.
    packets_before: u64,
    lost_frames: u64,
}

/// What the first frame says of the others, in place of sound.
#[derive(Debug, Clone, Copy, Default)]
struct Info {
    frames: Option<u64>,
    size_bytes: Option<u64>,
}

pub(super) fn look(file: &mut Window<File>, start: u64) -> io::Result<Repair> {
    let Some(first) = believed(file, start, None)? else { return Ok(Repair::default()) };
    let info = info(file, start, &first)?;
    let mut chain = Chain { first, packets: 0, holes: Vec::new(), end: start, is_chained: false };
    chain.follow(file, start, info.is_some())?;
    let sound_bytes = chain.end - start;
    // A file that was cut off lacks frames at its end too.
    let told = info.filter(|info| info.size_bytes.is_some_and(|told| told <= sound_bytes));
    chain.count_lost(sound_bytes, told.and_then(|info| info.frames));
    Ok(chain.repair())
}

struct Chain {
    first: Frame,
    packets: u64,
    holes: Vec<Hole>,
    end: u64,
    is_chained: bool,
}

impl Chain {
    /// Goes from frame to frame, to the end of the file or of the stream.
    fn follow(&mut self, file: &mut Window<File>, start: u64, has_info: bool) -> io::Result<()> {
        let mut at = start;
        while let Some(frame) = frame(file, at)?.filter(|frame| frame.is_like(&self.first)) {
            if at > start && info(file, at, &frame)?.is_some() {
                self.is_chained = true;
                return Ok(());
            }
            let mut next = at + frame.size_bytes;
            if next > file.size_bytes() {
                // Its end is missing, and so it is not read.
                return Ok(());
            }
            let is_packet = at > start || !has_info;
            self.packets += u64::from(is_packet);
            self.end = next;
            if !continues(file, next, &self.first)? {
                let Some(found) = self.resume(file, at + 1)? else { return Ok(()) };
                if is_tag(file, next)? && info(file, found, &self.first)?.is_some() {
                    self.is_chained = true;
                    return Ok(());
                }
                // Either the next head is damaged, or the size in this one.
                let from = if found < next { at } else { next };
                self.packets -= u64::from(is_packet && from == at);
                let packets_before = self.packets;
                self.holes.push(Hole { start: from, end: found, packets_before, lost_frames: 0 });
                next = found;
            }
            at = next;
            self.end = at;
        }
        Ok(())
    }

    /// The next place from which the chain goes on.
    fn resume(&self, file: &mut Window<File>, mut at: u64) -> io::Result<Option<u64>> {
        while at < file.size_bytes() {
            if believed(file, at, Some(&self.first))?.is_some() {
                return Ok(Some(at));
            }
            at += 1;
        }
        Ok(None)
    }

    /// How many frames each hole stands for: by the count that the file names, otherwise by the
    /// mean size of a frame.
    fn count_lost(&mut self, sound_bytes: u64, told_frames: Option<u64>) {
        let hole_bytes: u64 = self.holes.iter().map(|hole| hole.end - hole.start).sum();
        if hole_bytes == 0 {
            return;
        }
        let mean_bytes = (sound_bytes.saturating_sub(hole_bytes) / self.packets.max(1)).max(1);
        let by_size = (hole_bytes + mean_bytes / 2) / mean_bytes;
        // A lost frame has at least a head.
        let most = hole_bytes / HEAD_BYTES as u64;
        let lost = told_frames.map_or(by_size, |told| told.saturating_sub(self.packets)).min(most);
        let (mut bytes, mut given) = (0, 0);
        for hole in &mut self.holes {
            bytes += hole.end - hole.start;
            let upto =
                (lost as u128 * u128::from(bytes) + u128::from(hole_bytes / 2)) / u128::from(hole_bytes);
            hole.lost_frames = upto as u64 - given;
            given = upto as u64;
        }
    }

    fn repair(self) -> Repair {
        if self.holes.is_empty() && !self.is_chained {
            return Repair::default();
        }
        let (mut pieces, mut lost, mut packets_made, mut from) = (Vec::new(), Vec::new(), 0, 0);
        for hole in self.holes {
            pieces.push(Piece::File { start: from, length: hole.start - from });
            let pattern = self.first.silent();
            pieces.push(Piece::Made { length: pattern.len() as u64 * hole.lost_frames, pattern });
            let number = hole.packets_before + packets_made;
            lost.push(number..number + hole.lost_frames);
            packets_made += hole.lost_frames;
            from = hole.end;
        }
        pieces.push(Piece::File { start: from, length: self.end.saturating_sub(from) });
        Repair {
            pieces,
            missing: Missing::Packets(lost.into()),
            is_chained: self.is_chained,
            ..Repair::default()
        }
    }
}

fn frame(file: &mut Window<File>, at: u64) -> io::Result<Option<Frame>> {
    Ok(file.array(at)?.and_then(Frame::of))
}

/// The frame at a place if others follow it, all like `like`.
fn believed(file: &mut Window<File>, at: u64, like: Option<&Frame>) -> io::Result<Option<Frame>> {
    let Some(first) = frame(file, at)?.filter(|frame| like.is_none_or(|like| frame.is_like(like))) else {
        return Ok(None);
    };
    let mut next = at + first.size_bytes;
    for _ in 1..BELIEVED_HEADS {
        match frame(file, next)? {
            Some(frame) if frame.is_like(&first) => next += frame.size_bytes,
            _ => return Ok((next == file.size_bytes() || is_tag(file, next)?).then_some(first)),
        }
    }
    Ok(Some(first))
}

/// Whether the stream goes on or ends well at a place.
fn continues(file: &mut Window<File>, at: u64, like: &Frame) -> io::Result<bool> {
    let goes_on = frame(file, at)?.is_some_and(|frame| frame.is_like(like));
    Ok(goes_on || at + HEAD_BYTES as u64 > file.size_bytes())
}

fn is_tag(file: &mut Window<File>, at: u64) -> io::Result<bool> {
    let mark = file.array::<3>(at)?;
    Ok(mark.is_some_and(|mark| TAGS.contains(&&mark)))
}

/// What a frame says of the others, if it is one of those that encoders put first: Xing's (`Xing`,
/// `Info`) behind empty side information, or Fraunhofer's (`VBRI`) 32 bytes behind the head.
fn info(file: &mut Window<File>, at: u64, frame: &Frame) -> io::Result<Option<Info>> {
    let mark = HEAD_BYTES + frame.side_bytes();
    let bytes = file.bytes(at, mark + 16)?;
    let Some((before, xing)) = bytes.split_at_checked(mark) else { return Ok(None) };
    // A checksum may follow the head.
    let is_empty = before[HEAD_BYTES + 2..].iter().all(|byte| *byte == 0);
    if !is_empty {
        return Ok(None);
    }
    if xing.starts_with(b"Xing") || xing.starts_with(b"Info") {
        let field = |from: usize| {
            let bytes = xing.get(from..from + 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
            bytes.map(|bytes| u64::from(u32::from_be_bytes(bytes)))
        };
        let flags = field(4).unwrap_or(0);
        let frames = field(8).filter(|_| flags & 1 != 0);
        let size_bytes = field(if flags & 1 != 0 { 12 } else { 8 }).filter(|_| flags & 2 != 0);
        return Ok(Some(Info { frames, size_bytes }));
    }
    let fraunhofer = file.bytes(at + HEAD_BYTES as u64 + 32, 4)? == b"VBRI";
    Ok(fraunhofer.then(Info::default))
}
