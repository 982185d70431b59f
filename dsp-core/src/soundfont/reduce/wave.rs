//! Writes the samples of a reduced bank. Only frames that a zone can play are written.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::super::bank::{Bank, Selection};
use super::super::content::InstrumentZone;
use super::super::error::BankError;
use super::super::generator::Generator;
use super::super::generators::Generators;
use super::super::sample_positions::{
    COARSE_FRAMES, OFFSET_GENERATORS, header_positions, offset_positions, playable_range, zone_offsets,
};
use super::super::samples::{self, Sample};
use super::writer::{Wave, name_field};

/// Number of silent frames after each contiguous range of sample data (section 6.1).
const GUARD_FRAMES: usize = 46;

/// A range of frames in the sample data. The end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    start: u64,
    end: u64,
}

/// Position of a sample in the written file.
struct WrittenSample {
    /// Number of the sample in the written file.
    index: usize,
    /// Number of frames that is added to the positions of the sample.
    shift: i64,
}

/// Chooses the frames of all samples and writes them.
pub(super) struct WaveWriter<'a> {
    bank: &'a Bank,
    /// Written samples by their index in the bank.
    samples: BTreeMap<usize, WrittenSample>,
    /// Ranges of frames to copy, in order of writing. Each has the index of a sample in whose wave
    /// the range lies.
    parts: Vec<(usize, Span)>,
}

/// Sample data, and sample headers with the terminal record.
pub(super) struct Samples {
    pub(super) wave: Wave,
    pub(super) headers: Vec<u8>,
}

impl<'a> WaveWriter<'a> {
    pub(super) fn new(bank: &'a Bank, selection: &Selection) -> Self {
        let mut spans = BTreeMap::new();
        for &instrument in &selection.instruments {
            for zone in &bank.instruments()[instrument].zones {
                let Some(wave) = bank.wave(zone.sample) else { continue };
                let zone_span = needed_span(&bank.samples()[zone.sample], &zone.generators, wave.high.len());
                let span = spans.entry(zone.sample).or_insert(zone_span);
                *span = Span { start: span.start.min(zone_span.start), end: span.end.max(zone_span.end) };
            }
        }
        let mut order: Vec<(Option<usize>, Span, usize)> = spans
            .iter()
            // Each stream has a separate wave. Samples without a stream share one wave.
            .map(|(&sample, &span)| (bank.stream(sample), span, sample))
            .collect();
        order.sort_unstable();
        let mut parts: Vec<(usize, Span)> = Vec::new();
        let mut shifts = BTreeMap::new();
        let mut written_frames = 0;
        let mut last_stream = None;
        for (stream, span, sample) in order {
            match parts.last_mut() {
                Some((_, last)) if stream == last_stream && span.start <= last.end => {
                    let added_frames = span.end.saturating_sub(last.end);
                    last.end += added_frames;
                    written_frames += added_frames;
                }
                _ => {
                    if !parts.is_empty() {
                        written_frames += GUARD_FRAMES as u64;
                    }
                    parts.push((sample, span));
                    written_frames += span.end - span.start;
                }
            }
            last_stream = stream;
            let last = parts.last().map_or(span, |(_, last)| *last);
            shifts.insert(sample, written_frames as i64 - last.end as i64);
        }
        let samples = shifts.into_iter().enumerate();
        let samples =
            samples.map(|(index, (sample, shift))| (sample, WrittenSample { index, shift })).collect();
        Self { bank, samples, parts }
    }

    /// Returns the number of a sample in the written file; `None` if it is not written.
    pub(super) fn index(&self, sample: usize) -> Option<usize> {
        self.samples.get(&sample).map(|written_sample| written_sample.index)
    }

    /// Returns the generators of a zone with clamped offsets. A reader of the whole bank clamps
    /// positions to its sample data, but the written file has other frames around the sample.
    /// `None` if the sample is not written.
    pub(super) fn adjusted_generators(&self, zone: &InstrumentZone) -> Option<Generators> {
        let sample = &self.bank.samples()[zone.sample];
        let limit = self.bank.wave(zone.sample)?.high.len() as i64;
        let mut generators = zone.generators;
        if !sample.is_loop_valid {
            // The loop is not written, so a loop mode would have no effect.
            generators.set_value(Generator::SampleModes, 0);
        }
        for (((fine, coarse), position), offset) in
            OFFSET_GENERATORS.into_iter().zip(header_positions(sample)).zip(zone_offsets(&generators))
        {
            let shifted_position = i64::from(position);
            let adjusted_offset = (shifted_position + offset).clamp(0, limit) - shifted_position;
            if adjusted_offset != offset && is_offset_used(sample, fine) {
                generators.set_value(fine, adjusted_offset.rem_euclid(COARSE_FRAMES) as i16);
                generators.set_value(coarse, adjusted_offset.div_euclid(COARSE_FRAMES) as i16);
            }
        }
        Some(generators)
    }

    /// Returns the number of frames to write.
    fn frames(&self) -> u64 {
        self.parts.iter().map(|(_, span)| span.end - span.start + GUARD_FRAMES as u64).sum()
    }

    /// Whether any of the samples has 24 bits.
    fn has_low_bytes(&self) -> bool {
        self.parts.iter().any(|&(sample, _)| self.bank.wave(sample).is_some_and(|wave| wave.low.is_some()))
    }

    /// Returns the size of the sample data to write, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.frames() * if self.has_low_bytes() { 3 } else { 2 }
    }

    /// Writes sample data and headers.
    pub(super) fn finish(self) -> Result<Samples, BankError> {
        let frames = self.frames();
        let limit = u64::from(u32::MAX / 2);
        if frames > limit {
            return Err(BankError::TooLarge { kind: "frames", count: frames, limit });
        }
        let mut high = Vec::with_capacity(frames as usize * 2);
        let mut low = self.has_low_bytes().then(|| Vec::with_capacity(frames as usize));
        for &(sample, span) in &self.parts {
            let Some(wave) = self.bank.wave(sample) else { continue };
            let span = span.start as usize..span.end as usize;
            high.extend_from_slice(wave.high[span.clone()].as_flattened());
            high.resize(high.len() + GUARD_FRAMES * 2, 0);
            if let Some(low) = &mut low {
                // Low bytes of 0 have the same effect as no low bytes.
                low.extend_from_slice(wave.low.map_or(&[], |low| &low[span]));
                low.resize(high.len() / 2, 0);
            }
        }
        let mut headers: Vec<u8> = self
            .samples
            .iter()
            .flat_map(|(&sample, written_sample)| self.header(sample, written_sample))
            .collect();
        headers.extend(name_field("EOS", 0));
        headers.extend([0; 26]);
        Ok(Samples { wave: Wave { high, low }, headers })
    }

    /// Returns the header of a sample (section 7.10).
    fn header(&self, sample: usize, written_sample: &WrittenSample) -> [u8; 46] {
        let sample = &self.bank.samples()[sample];
        let shift_position = |position: u32| (i64::from(position) + written_sample.shift) as u32;
        let (start, end) = (shift_position(sample.start), shift_position(sample.end));
        let (loop_start, loop_end) = if sample.is_loop_valid {
            (shift_position(sample.loop_start), shift_position(sample.loop_end))
        } else {
            (start, start)
        };
        let link = self.index(usize::from(sample.link));
        // If the other channel of a stereo pair is not written, the sample becomes mono.
        let kind = if link.is_some() { sample.kind } else { samples::MONO_TYPE };
        let mut header = [0; 46];
        header[..20].copy_from_slice(&name_field("Sample", written_sample.index));
        for (bytes, number) in header[20..40].as_chunks_mut().0.iter_mut().zip([
            start,
            end,
            loop_start,
            loop_end,
            sample.rate_hz,
        ]) {
            *bytes = number.to_le_bytes();
        }
        header[40] = sample.root_key;
        header[41] = sample.correction_cents.cast_unsigned();
        header[42..44].copy_from_slice(&(link.unwrap_or(0) as u16).to_le_bytes());
        header[44..46].copy_from_slice(&kind.to_le_bytes());
        header
    }
}

/// Whether an offset has an effect. Offsets of loop positions have none if the loop is invalid.
fn is_offset_used(sample: &Sample, fine: Generator) -> bool {
    sample.is_loop_valid || matches!(fine, Generator::StartAddrsOffset | Generator::EndAddrsOffset)
}

/// Returns the frames of a wave that a zone can play, including the sample itself. `frames` is the
/// length of the wave.
fn needed_span(sample: &Sample, generators: &Generators, frames: usize) -> Span {
    let [start, end] = playable_range(sample, &offset_positions(sample, generators, frames as i64));
    Span { start: start as u64, end: end as u64 }
}
