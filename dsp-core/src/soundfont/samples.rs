//! Sample headers (section 7.10) and the sample data they point into (section 6).

use super::records::{VORBIS_SAMPLE, u16_at, u32_at};
use super::skipped::Reason;
use super::streams::Streams;

/// A sample. Positions are frames of its [`Wave`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) start: u32,
    /// Frame after the last one.
    pub(crate) end: u32,
    pub(crate) loop_start: u32,
    /// Frame after the last one of the loop; it has the same value as `loop_start`.
    pub(crate) loop_end: u32,
    pub(crate) rate_hz: u32,
    /// MIDI key at which it plays as recorded; 60 if the file has none.
    pub(crate) root_key: u8,
    pub(crate) correction_cents: i8,
    /// Type bits (section 7.10): 1 mono, 2 right, 4 left, 8 linked.
    pub(crate) kind: u16,
    /// Index of the other side of a stereo sample.
    pub(crate) link: u16,
    /// Whether the loop of the header is valid; otherwise the sample plays once.
    pub(crate) is_loop_valid: bool,
}

impl Sample {
    /// Whether the header has a loop. Files mark its absence in several ways.
    pub(super) fn has_loop(&self) -> bool {
        self.loop_start != self.loop_end && self.loop_end != 0
    }
}

/// Sample data, 16 or 24 bits per value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wave<'a> {
    /// 16-bit little-endian values.
    pub(crate) high: &'a [[u8; 2]],
    /// The lowest eight bits of 24-bit values (`sm24`), if the file has them.
    pub(crate) low: Option<&'a [u8]>,
}

/// Type of a mono sample.
pub(super) const MONO: u16 = 1;

/// Type flag of samples in the ROM of a sound card.
const ROM_SAMPLE: u16 = 0x8000;

/// Sample rates that are played: well beyond the 400 to 50,000 Hz of section 7.10.
const SAMPLE_RATES_HZ: core::ops::RangeInclusive<u32> = 100..=768_000;

/// The header of a sample.
pub(super) struct Header {
    pub(super) sample: Sample,
    /// Index of its Ogg Vorbis stream, if it is compressed.
    pub(super) stream: Option<usize>,
    /// Why it cannot be played.
    pub(super) problem: Option<Reason>,
    /// Why it plays differently from its header.
    pub(super) warning: Option<Reason>,
}

/// Reads a header. `wave` holds the sample data of the file, which are not PCM if `is_packed`, and
/// `streams` the compressed samples in them.
pub(super) fn read(record: &[u8; 46], wave: &[u8], streams: &Streams, is_packed: bool) -> Header {
    let [start, end, loop_start, loop_end, rate_hz] =
        [20, 24, 28, 32, 36].map(|offset| u32_at(record, offset));
    let kind = u16_at(record, 44);
    let common_problem = if kind & ROM_SAMPLE != 0 {
        Some(Reason::Rom(kind))
    } else if !SAMPLE_RATES_HZ.contains(&rate_hz) {
        Some(Reason::SampleRate(rate_hz))
    } else if is_packed && kind & VORBIS_SAMPLE == 0 {
        Some(Reason::Packed)
    } else {
        None
    };
    let mut stream = None;
    let span = if kind & VORBIS_SAMPLE == 0 {
        frame_span(start, end, wave.len() / 2)
    } else {
        streams.of(start, end).map(|(number, frames)| {
            stream = Some(number);
            Span { start: 0, end: frames, cut: None }
        })
    };
    let (start, available, cut, problem) = match span {
        Ok(Span { start, end, cut }) => (start, end, cut, common_problem),
        Err(problem) => (start, end, None, common_problem.or(Some(problem))),
    };
    let is_loop_valid = start <= loop_start && loop_start < loop_end && loop_end <= available;
    let sample = Sample {
        start,
        end: available,
        loop_start,
        loop_end,
        rate_hz,
        root_key: if record[40] > 127 { 60 } else { record[40] },
        correction_cents: record[41].cast_signed(),
        kind: kind & !VORBIS_SAMPLE,
        link: u16_at(record, 42),
        is_loop_valid,
    };
    let warning = if cut.is_some() {
        cut
    } else if sample.has_loop() && !is_loop_valid {
        Some(Reason::Loop { start: loop_start, end: loop_end })
    } else {
        None
    };
    Header { sample, stream: stream.filter(|_| problem.is_none()), problem, warning }
}

/// The frames of a sample in its wave.
struct Span {
    start: u32,
    end: u32,
    /// The warning if the header states more frames than exist.
    cut: Option<Reason>,
}

fn frame_span(start: u32, end: u32, limit: usize) -> Result<Span, Reason> {
    let available = end.min(u32::try_from(limit).unwrap_or(u32::MAX));
    if start >= available {
        return Err(Reason::SampleFrames { start, end, limit });
    }
    let cut = (available < end).then_some(Reason::SampleCut { end, limit });
    Ok(Span { start, end: available, cut })
}
