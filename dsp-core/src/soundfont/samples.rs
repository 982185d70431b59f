//! Sample headers (section 7.10) and sample data (section 6).

use super::records::{VORBIS_SAMPLE, u16_at, u32_at};
use super::skipped::BankIssueReason;
use super::streams::Streams;

/// A sample. Its positions are frame numbers in its [`Wave`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) start: u32,
    /// Frame after the last frame of the sample.
    pub(crate) end: u32,
    pub(crate) loop_start: u32,
    /// Frame after the last frame of the loop. It has the same value as the frame `loop_start`.
    pub(crate) loop_end: u32,
    pub(crate) rate_hz: u32,
    /// MIDI key at which the sample has its recorded pitch; 60 if the file does not specify a key.
    pub(crate) root_key: u8,
    /// Correction that is added to the pitch.
    pub(crate) correction_cents: i8,
    /// Type bits (section 7.10): 1 mono, 2 right, 4 left, 8 linked.
    pub(crate) kind: u16,
    /// Index of the sample with the other channel of a stereo pair.
    pub(crate) link: u16,
    /// Whether the loop in the header is valid. If it is not, the sample plays once.
    pub(crate) is_loop_valid: bool,
}

impl Sample {
    /// Whether the header specifies a loop. Files without a loop have equal positions or an end of
    /// 0.
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

/// Type of a mono sample (section 7.10).
pub(super) const MONO_TYPE: u16 = 1;

/// Flag in the type of a sample whose data are in the ROM of a sound card (section 7.10).
const ROM_SAMPLE: u16 = 0x8000;

/// Range of the supported sample rates. It is wider than the 400 to 50,000 Hz of section 7.10.
const SAMPLE_RATES_HZ: core::ops::RangeInclusive<u32> = 100..=768_000;

/// A sample and the result of the checks of its header.
pub(super) struct Header {
    pub(super) sample: Sample,
    /// Index of the Ogg Vorbis stream of a compressed sample.
    pub(super) stream: Option<usize>,
    /// Why the sample cannot be played.
    pub(super) problem: Option<BankIssueReason>,
    /// Why the sample plays differently from what its header specifies.
    pub(super) warning: Option<BankIssueReason>,
}

/// Reads a sample header. `wave` holds the sample data of the file. If `is_packed`, they are
/// compressed as a whole. `streams` are the Ogg Vorbis streams in the sample data.
pub(super) fn read(record: &[u8; 46], wave: &[u8], streams: &Streams, is_packed: bool) -> Header {
    let [start, end, loop_start, loop_end, rate_hz] =
        [20, 24, 28, 32, 36].map(|offset| u32_at(record, offset));
    let kind = u16_at(record, 44);
    let common_problem = if kind & ROM_SAMPLE != 0 {
        Some(BankIssueReason::Rom(kind))
    } else if !SAMPLE_RATES_HZ.contains(&rate_hz) {
        Some(BankIssueReason::SampleRate(rate_hz))
    } else if is_packed && kind & VORBIS_SAMPLE == 0 {
        Some(BankIssueReason::Packed)
    } else {
        None
    };
    let mut stream = None;
    let span = if kind & VORBIS_SAMPLE == 0 {
        frame_span(start, end, wave.len() / 2)
    } else {
        streams.find_range(start, end).map(|(number, frames)| {
            stream = Some(number);
            Span { start: 0, end: frames, cut: None }
        })
    };
    let (start, available_end, cut, problem) = match span {
        Ok(Span { start, end, cut }) => (start, end, cut, common_problem),
        Err(problem) => (start, end, None, common_problem.or(Some(problem))),
    };
    let is_loop_valid = start <= loop_start && loop_start < loop_end && loop_end <= available_end;
    let sample = Sample {
        start,
        end: available_end,
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
        Some(BankIssueReason::Loop { start: loop_start, end: loop_end })
    } else {
        None
    };
    Header { sample, stream: stream.filter(|_| problem.is_none()), problem, warning }
}

/// The range of a sample in its wave, in frames.
struct Span {
    start: u32,
    end: u32,
    /// The warning if the header states more frames than exist.
    cut: Option<BankIssueReason>,
}

/// Returns the frames of a PCM sample. `limit` is the number of frames in the file.
fn frame_span(start: u32, end: u32, limit: usize) -> Result<Span, BankIssueReason> {
    let available_end = end.min(u32::try_from(limit).unwrap_or(u32::MAX));
    if start >= available_end {
        return Err(BankIssueReason::SampleFrames { start, end, limit });
    }
    let cut = (available_end < end).then_some(BankIssueReason::SampleCut { end, limit });
    Ok(Span { start, end: available_end, cut })
}
