//! The packets of a file in their time: where some are missing, so many frames are.

use std::collections::VecDeque;

use symphonia::core::errors::Error;
use symphonia::core::formats::FormatReader;
use symphonia::core::packet::Packet;
use symphonia::core::units::Duration;

use super::Refusal;
use super::refusal::{is_of_the_file, refusal};
use super::repair::Missing;

/// Longest gap that is believed where the header does not say how long the file is, in frames.
const GAP_MAX_FRAMES: i64 = 1 << 22;

/// Most packets that end on a page of Ogg (RFC 3533, section 6): one for each of its segments.
const PAGE_PACKETS_MAX: usize = 255;

/// How the end of the packets came.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    #[default]
    Regular,
    /// The file stops in the middle of something.
    Early,
    /// Another stream follows.
    Chained,
}

/// What comes next.
pub(super) enum Found {
    /// A packet of the track.
    Packet(Packet),
    /// Sound of so many frames is missing; the packet behind it does not follow that before it.
    Lost(u64),
    /// Nothing any more.
    Ended(End),
    /// The file cannot be used.
    Failed(Refusal),
}

/// The packets of one track.
pub(super) struct Packets {
    format: Box<dyn FormatReader>,
    track_id: u32,
    promised_frames: Option<i64>,
    missing: Missing,
    /// Where the next packet belongs, once there was one.
    expected: Option<i64>,
    /// Packets that were read.
    count: u64,
    waiting: VecDeque<Found>,
    /// Read ahead, and not yet looked at.
    unread: Option<Found>,
}

impl Packets {
    pub(super) fn new(format: Box<dyn FormatReader>, track_id: u32, missing: Missing) -> Self {
        let track = format.tracks().iter().find(|track| track.id == track_id);
        let promised_frames =
            track.and_then(|track| track.num_frames).and_then(|frames| i64::try_from(frames).ok());
        Self {
            format,
            track_id,
            promised_frames,
            missing,
            expected: None,
            count: 0,
            waiting: VecDeque::new(),
            unread: None,
        }
    }

    pub(super) fn format(&self) -> &dyn FormatReader {
        &*self.format
    }

    /// The next packet, or what is missing before it.
    pub(super) fn next(&mut self) -> Found {
        if let Some(found) = self.waiting.pop_front() {
            return found;
        }
        let packet = match self.read() {
            Found::Packet(packet) => packet,
            other => return other,
        };
        match &mut self.missing {
            Missing::Unknown => Found::Packet(packet),
            Missing::ByTime => self.by_time(packet),
            Missing::Packets(lost) => {
                let number = self.count - 1;
                while lost.front().is_some_and(|lost| lost.end <= number) {
                    lost.pop_front();
                }
                match lost.front().is_some_and(|lost| lost.contains(&number)) {
                    true => Found::Lost(packet.dur.get()),
                    false => Found::Packet(packet),
                }
            }
            Missing::Pages { holes, end } => {
                let (start, end) = (packet.pts.get(), *end);
                let is_first = self.count == 1;
                let known = holes.len();
                while holes.front().is_some_and(|hole| *hole <= start) {
                    holes.pop_front();
                }
                match (holes.len() < known, is_first) {
                    (false, _) => Found::Packet(packet),
                    // Nothing was read before it, and so it lies where it belongs; but its own
                    // start is not heard.
                    (true, true) => {
                        self.later(start.saturating_add_unsigned(packet.trim_start.get()), packet)
                    }
                    (true, false) => self.behind_lost_pages(packet, end),
                }
            }
        }
    }

    fn read(&mut self) -> Found {
        if let Some(found) = self.unread.take() {
            return found;
        }
        loop {
            match self.format.next_packet() {
                Ok(Some(packet)) if packet.track_id == self.track_id => {
                    self.count += 1;
                    return Found::Packet(packet);
                }
                Ok(Some(_)) => {}
                Ok(None) => return Found::Ended(End::Regular),
                Err(Error::IoError(error)) if is_of_the_file(&error) => return Found::Ended(End::Early),
                Err(Error::ResetRequired) => return Found::Ended(End::Chained),
                // The frame of the file itself is broken: nothing behind it can be found.
                Err(Error::DecodeError(_)) => return Found::Ended(End::Early),
                Err(other) => return Found::Failed(refusal(other)),
            }
        }
    }

    /// A packet that says where it belongs.
    fn by_time(&mut self, packet: Packet) -> Found {
        let start = packet.pts.get();
        let end = start.saturating_add_unsigned(packet.dur.get());
        let gap = start.saturating_sub(self.expected.unwrap_or(0));
        if gap < 0 {
            // It begins anew.
            return Found::Ended(End::Chained);
        }
        self.expected = Some(end);
        let is_believed = match self.promised_frames {
            Some(promised) => end <= promised,
            None => gap <= GAP_MAX_FRAMES && self.count > 1,
        };
        if is_believed { self.later(gap, packet) } else { Found::Packet(packet) }
    }

    /// A packet after so many frames that are missing.
    fn later(&mut self, gap: i64, packet: Packet) -> Found {
        match u64::try_from(gap) {
            Ok(gap) if gap > 0 => {
                self.waiting.push_back(Found::Packet(packet));
                Found::Lost(gap)
            }
            _ => Found::Packet(packet),
        }
    }

    /// The packets of a page behind lost ones. A page says where its last packet ends; the reader
    /// puts the first one where the page before ended. So the next page tells how much is missing.
    /// The first packet needs the one before it to be whole, which is lost.
    fn behind_lost_pages(&mut self, first: Packet, last_end: i64) -> Found {
        let mut lost = decoded_frames(&first);
        let mut end = first.pts.get().saturating_add_unsigned(lost);
        let mut page = vec![first];
        let next = loop {
            match self.read() {
                Found::Packet(packet) if page.len() <= PAGE_PACKETS_MAX && packet.pts.get() == end => {
                    end = end.saturating_add_unsigned(decoded_frames(&packet));
                    page.push(packet);
                }
                other => break other,
            }
        };
        let is_last = !matches!(next, Found::Packet(_));
        let true_end = match &next {
            Found::Packet(packet) => packet.pts.get(),
            _ => last_end,
        };
        let mut gap = u64::try_from(true_end.saturating_sub(end)).unwrap_or(0);
        if let Some(last) = page.last_mut().filter(|_| is_last) {
            // The last page leaves out the end of its last packet, nobody says how much: what is
            // lost has whole packets.
            let whole = gap.next_multiple_of(decoded_frames(last).max(1));
            last.trim_end = last.trim_end.saturating_add(Duration::from(whole - gap));
            last.dur = last.dur.saturating_sub(Duration::from(whole - gap));
            gap = whole;
        }
        lost += gap;
        self.waiting.extend(page.into_iter().map(Found::Packet));
        self.unread = Some(next);
        Found::Lost(lost)
    }
}

/// How many frames a packet comes to before any of them are left out.
fn decoded_frames(packet: &Packet) -> u64 {
    packet.dur.get().saturating_add(packet.trim_start.get()).saturating_add(packet.trim_end.get())
}
