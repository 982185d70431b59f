//! Reads the packets of a file and reports the frames that are missing between them.

use std::collections::VecDeque;

use symphonia::core::errors::Error;
use symphonia::core::formats::FormatReader;
use symphonia::core::packet::Packet;
use symphonia::core::units::Duration;

use super::Refusal;
use super::refusal::{is_content_error, refusal_of_error};
use super::repair::Gaps;

/// Maximum length of a gap in frames (87 s at 48 kHz) if the header does not contain the length of
/// the file. A longer gap is taken for a damaged timestamp.
const GAP_MAX_FRAMES: i64 = 1 << 22;

/// Maximum number of packets that end on one Ogg page: one per segment (RFC 3533, section 6).
const PAGE_PACKETS_MAX: usize = 255;

/// Reason why there are no more packets.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    #[default]
    Regular,
    /// The file is truncated, or its container is damaged.
    Early,
    /// Another stream follows.
    Chained,
}

/// The next packet, gap or end.
pub(super) enum PacketEvent {
    /// A packet of the track.
    Packet(Packet),
    /// This number of frames is missing before the next packet.
    Lost(u64),
    /// There are no more packets.
    Ended(End),
    /// The file cannot be used.
    Failed(Refusal),
}

/// The packets of one track.
pub(super) struct Packets {
    format: Box<dyn FormatReader>,
    track_id: u32,
    declared_frames: Option<i64>,
    gaps: Gaps,
    /// Timestamp in frames that the next packet should have; `None` before the first packet.
    expected_start: Option<i64>,
    /// Packets read so far.
    count: u64,
    /// Events to return before more packets are read.
    queue: VecDeque<PacketEvent>,
    /// An event that was read ahead and is not processed yet.
    lookahead: Option<PacketEvent>,
}

impl Packets {
    pub(super) fn new(format: Box<dyn FormatReader>, track_id: u32, gaps: Gaps) -> Self {
        let track = format.tracks().iter().find(|track| track.id == track_id);
        let declared_frames =
            track.and_then(|track| track.num_frames).and_then(|frames| i64::try_from(frames).ok());
        Self {
            format,
            track_id,
            declared_frames,
            gaps,
            expected_start: None,
            count: 0,
            queue: VecDeque::new(),
            lookahead: None,
        }
    }

    pub(super) fn format(&self) -> &dyn FormatReader {
        &*self.format
    }

    /// Returns the next packet, or the gap before it.
    pub(super) fn next(&mut self) -> PacketEvent {
        if let Some(queued_event) = self.queue.pop_front() {
            return queued_event;
        }
        let packet = match self.read() {
            PacketEvent::Packet(packet) => packet,
            event => return event,
        };
        match &mut self.gaps {
            Gaps::Unknown => PacketEvent::Packet(packet),
            Gaps::ByTimestamp => self.with_gap_by_timestamp(packet),
            Gaps::Packets(lost_ranges) => {
                let number = self.count - 1;
                while lost_ranges.front().is_some_and(|lost_range| lost_range.end <= number) {
                    lost_ranges.pop_front();
                }
                match lost_ranges.front().is_some_and(|lost_range| lost_range.contains(&number)) {
                    true => PacketEvent::Lost(packet.dur.get()),
                    false => PacketEvent::Packet(packet),
                }
            }
            Gaps::Pages { holes, end } => {
                let (start, end) = (packet.pts.get(), *end);
                let is_first = self.count == 1;
                let hole_count = holes.len();
                while holes.front().is_some_and(|hole| *hole <= start) {
                    holes.pop_front();
                }
                match (holes.len() < hole_count, is_first) {
                    (false, _) => PacketEvent::Packet(packet),
                    // No packet was read before this one, so its timestamp is correct. The decoder
                    // trims its start, so the trimmed length is added.
                    (true, true) => {
                        self.after_gap(start.saturating_add_unsigned(packet.trim_start.get()), packet)
                    }
                    (true, false) => self.after_lost_pages(packet, end),
                }
            }
        }
    }

    fn read(&mut self) -> PacketEvent {
        if let Some(lookahead_event) = self.lookahead.take() {
            return lookahead_event;
        }
        loop {
            match self.format.next_packet() {
                Ok(Some(packet)) if packet.track_id == self.track_id => {
                    self.count += 1;
                    return PacketEvent::Packet(packet);
                }
                Ok(Some(_)) => {}
                Ok(None) => return PacketEvent::Ended(End::Regular),
                Err(Error::IoError(error)) if is_content_error(&error) => {
                    return PacketEvent::Ended(End::Early);
                }
                Err(Error::ResetRequired) => return PacketEvent::Ended(End::Chained),
                // The container itself is damaged, so later packets cannot be found.
                Err(Error::DecodeError(_)) => return PacketEvent::Ended(End::Early),
                Err(read_error) => return PacketEvent::Failed(refusal_of_error(read_error)),
            }
        }
    }

    /// Compares the timestamp of a packet with the end of the one before it.
    fn with_gap_by_timestamp(&mut self, packet: Packet) -> PacketEvent {
        let start = packet.pts.get();
        let end = start.saturating_add_unsigned(packet.dur.get());
        let gap = start.saturating_sub(self.expected_start.unwrap_or(0));
        if gap < 0 {
            // The timestamps begin again, because another stream follows.
            return PacketEvent::Ended(End::Chained);
        }
        self.expected_start = Some(end);
        let is_plausible = match self.declared_frames {
            Some(declared_frames) => end <= declared_frames,
            None => gap <= GAP_MAX_FRAMES && self.count > 1,
        };
        if is_plausible { self.after_gap(gap, packet) } else { PacketEvent::Packet(packet) }
    }

    /// Reports a gap of `gap` frames, then the packet.
    fn after_gap(&mut self, gap: i64, packet: Packet) -> PacketEvent {
        match u64::try_from(gap) {
            Ok(gap) if gap > 0 => {
                self.queue.push_back(PacketEvent::Packet(packet));
                PacketEvent::Lost(gap)
            }
            _ => PacketEvent::Packet(packet),
        }
    }

    /// Reads the page after lost pages. A page contains only the end position of its last packet.
    /// `symphonia` assumes that the page's first packet begins at the end of the last intact page.
    /// So the number of lost frames is known only from the start of the next page. The first packet
    /// is lost too, because it cannot be decoded without the packet before it.
    fn after_lost_pages(&mut self, first: Packet, last_end: i64) -> PacketEvent {
        let mut lost_frames = decoded_frames(&first);
        let mut end = first.pts.get().saturating_add_unsigned(lost_frames);
        let mut page = vec![first];
        let next = loop {
            match self.read() {
                PacketEvent::Packet(packet) if page.len() <= PAGE_PACKETS_MAX && packet.pts.get() == end => {
                    end = end.saturating_add_unsigned(decoded_frames(&packet));
                    page.push(packet);
                }
                event => break event,
            }
        };
        let is_last = !matches!(next, PacketEvent::Packet(_));
        let actual_end = match &next {
            PacketEvent::Packet(packet) => packet.pts.get(),
            _ => last_end,
        };
        let mut gap = u64::try_from(actual_end.saturating_sub(end)).unwrap_or(0);
        if let Some(last) = page.last_mut().filter(|_| is_last) {
            // The last page trims the end of its last packet by an unknown amount, so the gap is
            // rounded up to complete packets.
            let rounded_frames = gap.next_multiple_of(decoded_frames(last).max(1));
            last.trim_end = last.trim_end.saturating_add(Duration::from(rounded_frames - gap));
            last.dur = last.dur.saturating_sub(Duration::from(rounded_frames - gap));
            gap = rounded_frames;
        }
        lost_frames += gap;
        self.queue.extend(page.into_iter().map(PacketEvent::Packet));
        self.lookahead = Some(next);
        PacketEvent::Lost(lost_frames)
    }
}

/// Returns the number of frames of a packet before trimming.
fn decoded_frames(packet: &Packet) -> u64 {
    packet.dur.get().saturating_add(packet.trim_start.get()).saturating_add(packet.trim_end.get())
}
