//! The samples of a smaller bank: only the frames that some zone can play.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::super::bank::Used;
use super::super::content::InstrumentZone;
use super::super::generators::{Generator, Generators};
use super::super::places::{COARSE_FRAMES, OFFSETS, moved, offsets, places, reach};
use super::super::samples::{self, Sample};
use super::super::{Bank, BankError};
use super::writer::{Wave, name_field};

/// Zero frames that follow the data of each sample (section 6.1).
const GUARD_FRAMES: usize = 46;

/// Frames of the sample data that are kept, both ends as in [`core::ops::Range`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    start: u64,
    end: u64,
}

/// A sample that is kept.
struct Kept {
    number: usize,
    /// Where its frame 0 is in the file to be written; may lie before that file's beginning.
    shift: i64,
}

/// Plans and writes the samples.
pub(super) struct WaveWriter<'a> {
    bank: &'a Bank,
    kept: BTreeMap<usize, Kept>,
    /// What is copied, in order: whose wave, and which part of it.
    parts: Vec<(usize, Span)>,
}

/// Sample data and headers, the terminal record included.
pub(super) struct Samples {
    pub(super) wave: Wave,
    pub(super) headers: Vec<u8>,
}

impl<'a> WaveWriter<'a> {
    pub(super) fn new(bank: &'a Bank, used: &Used) -> Self {
        let mut spans = BTreeMap::new();
        for &instrument in &used.instruments {
            for zone in &bank.instruments()[instrument].zones {
                let Some(wave) = bank.wave(zone.sample) else { continue };
                let own = needed(&bank.samples()[zone.sample], &zone.generators, wave.high.len());
                let span = spans.entry(zone.sample).or_insert(own);
                *span = Span { start: span.start.min(own.start), end: span.end.max(own.end) };
            }
        }
        let mut order: Vec<(Option<usize>, Span, usize)> = spans
            .iter()
            // Each stream has a wave of its own, beside that of the samples without a stream.
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
                    let longer = span.end.saturating_sub(last.end);
                    last.end += longer;
                    written_frames += longer;
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
        let kept = shifts.into_iter().enumerate();
        let kept = kept.map(|(number, (sample, shift))| (sample, Kept { number, shift })).collect();
        Self { bank, kept, parts }
    }

    /// The number that a sample gets, if it is kept.
    pub(super) fn number(&self, sample: usize) -> Option<usize> {
        self.kept.get(&sample).map(|kept| kept.number)
    }

    /// A zone's generators, with offsets that end where they ended up: in the file to be written,
    /// its sample has other sounds around it. Nothing if its sample is not kept.
    pub(super) fn pinned(&self, zone: &InstrumentZone) -> Option<Generators> {
        let sample = &self.bank.samples()[zone.sample];
        let limit = self.bank.wave(zone.sample)?.high.len() as i64;
        let mut generators = zone.generators;
        if !sample.loop_ok {
            // A loop that is not written is not asked for either.
            generators.set(Generator::SampleModes, 0);
        }
        for (((fine, coarse), place), offset) in
            OFFSETS.into_iter().zip(places(sample)).zip(offsets(&generators))
        {
            let place = i64::from(place);
            let pinned = (place + offset).clamp(0, limit) - place;
            if pinned != offset && sample_bounds_matter(sample, fine) {
                generators.set(fine, pinned.rem_euclid(COARSE_FRAMES) as i16);
                generators.set(coarse, pinned.div_euclid(COARSE_FRAMES) as i16);
            }
        }
        Some(generators)
    }

    /// Frames that are written.
    fn frames(&self) -> u64 {
        self.parts.iter().map(|(_, span)| span.end - span.start + GUARD_FRAMES as u64).sum()
    }

    /// Whether low bytes are written.
    fn has_low(&self) -> bool {
        self.parts.iter().any(|&(sample, _)| self.bank.wave(sample).is_some_and(|wave| wave.low.is_some()))
    }

    /// Bytes of the sample data.
    pub(super) fn bytes(&self) -> u64 {
        self.frames() * if self.has_low() { 3 } else { 2 }
    }

    pub(super) fn finish(self) -> Result<Samples, BankError> {
        let frames = self.frames();
        let limit = u64::from(u32::MAX / 2);
        if frames > limit {
            return Err(BankError::TooLarge { what: "frames", count: frames, limit });
        }
        let mut high = Vec::with_capacity(frames as usize * 2);
        let mut low = self.has_low().then(|| Vec::with_capacity(frames as usize));
        for &(sample, span) in &self.parts {
            let Some(wave) = self.bank.wave(sample) else { continue };
            let span = span.start as usize..span.end as usize;
            high.extend_from_slice(wave.high[span.clone()].as_flattened());
            high.resize(high.len() + GUARD_FRAMES * 2, 0);
            if let Some(low) = &mut low {
                // Low bytes of zero say the same as none.
                low.extend_from_slice(wave.low.map_or(&[], |low| &low[span]));
                low.resize(high.len() / 2, 0);
            }
        }
        let mut headers: Vec<u8> =
            self.kept.iter().flat_map(|(&sample, kept)| self.header(sample, kept)).collect();
        headers.extend(name_field("EOS", 0));
        headers.extend([0; 26]);
        Ok(Samples { wave: Wave { high, low }, headers })
    }

    /// Section 7.10.
    fn header(&self, number: usize, kept: &Kept) -> [u8; 46] {
        let sample = &self.bank.samples()[number];
        let shifted = |place: u32| (i64::from(place) + kept.shift) as u32;
        let (start, end) = (shifted(sample.start), shifted(sample.end));
        let (loop_start, loop_end) = if sample.loop_ok {
            (shifted(sample.loop_start), shifted(sample.loop_end))
        } else {
            (start, start)
        };
        let link = self.number(usize::from(sample.link));
        // The other side of a stereo sample may not be there.
        let kind = if link.is_some() { sample.kind } else { samples::MONO };
        let mut header = [0; 46];
        header[..20].copy_from_slice(&name_field("Sample", kept.number));
        for (place, number) in header[20..40].as_chunks_mut().0.iter_mut().zip([
            start,
            end,
            loop_start,
            loop_end,
            sample.rate_hz,
        ]) {
            *place = number.to_le_bytes();
        }
        header[40] = sample.root_key;
        header[41] = sample.correction_cents.cast_unsigned();
        header[42..44].copy_from_slice(&(link.unwrap_or(0) as u16).to_le_bytes());
        header[44..46].copy_from_slice(&kind.to_le_bytes());
        header
    }
}

/// A loop that cannot be followed is not written, and not moved either.
fn sample_bounds_matter(sample: &Sample, fine: Generator) -> bool {
    sample.loop_ok || matches!(fine, Generator::StartAddrsOffset | Generator::EndAddrsOffset)
}

/// The frames that a zone can play of a wave with so many, those of the sample itself included.
fn needed(sample: &Sample, generators: &Generators, frames: usize) -> Span {
    let [start, end] = reach(sample, &moved(sample, generators, frames as i64));
    Span { start: start as u64, end: end as u64 }
}
