//! Reads the presets, instruments and samples of a bank from its file.

#[cfg(feature = "vorbis")]
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range as Span;

use super::error::BankError;
use super::generator::Generator;
use super::generators::Generators;
use super::location::Location;
use super::modulator::Modulator;
use super::records::{table, text, u16_at};
use super::riff::Chunks;
use super::samples::{self, Sample};
use super::skipped::{BankIssueReason, Report};
use super::streams::Streams;
use super::summary::{BankSummary, PRESETS_MAX, summary};
use super::zones::{Range, Zone, ZoneTables};

/// A preset. A program change selects it.
#[derive(Debug)]
pub(crate) struct Preset {
    pub(crate) bank: u16,
    pub(crate) program: u16,
    pub(crate) zones: Vec<PresetZone>,
}

/// A zone of a preset. It plays an instrument for a range of keys and velocities.
#[derive(Debug)]
pub(crate) struct PresetZone {
    pub(crate) keys: Range,
    pub(crate) velocities: Range,
    /// Offsets that are added to the instrument's generators; 0 for generators that the zone does
    /// not have.
    pub(crate) generators: Generators,
    /// Modulators that are added to those of the instrument zone.
    pub(crate) modulators: Arc<[Modulator]>,
    /// Index of the instrument that the zone plays.
    pub(crate) instrument: usize,
}

/// An instrument. Presets play it.
#[derive(Debug)]
pub(crate) struct Instrument {
    pub(crate) zones: Vec<InstrumentZone>,
}

/// A zone of an instrument. It plays a sample for a range of keys and velocities.
#[derive(Debug)]
pub(crate) struct InstrumentZone {
    pub(crate) keys: Range,
    pub(crate) velocities: Range,
    /// Values of all generators. Generators that the zone does not have are at their defaults.
    pub(crate) generators: Generators,
    /// All modulators: the default modulators, then those of the global zone, then those of the
    /// zone. A later modulator replaces an earlier one that is identical except for the amount.
    pub(crate) modulators: Arc<[Modulator]>,
    /// Index of the sample that the zone plays.
    pub(crate) sample: usize,
}

/// A bank without its sample data.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) summary: BankSummary,
    /// Presets by ascending bank and program number. Each pair of numbers occurs once.
    pub(super) presets: Vec<Preset>,
    pub(super) instruments: Vec<Instrument>,
    pub(super) samples: Vec<Sample>,
    /// Index of the Ogg Vorbis stream of each sample; `None` for PCM samples.
    pub(super) sample_streams: Vec<Option<usize>>,
    pub(super) streams: Streams,
    /// Index and name of the first sample that plays each stream.
    #[cfg(feature = "vorbis")]
    pub(super) stream_samples: Vec<(usize, String)>,
    /// The parts of the file that were left out or changed.
    pub(super) report: Report,
}

/// Byte ranges of the sample data in the file: 16-bit values, and the lowest eight bits of 24-bit
/// values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WaveRanges {
    pub(super) high: Span<usize>,
    pub(super) low: Option<Span<usize>>,
}

/// Returns the records of a table without the terminal record. A missing or damaged table is
/// reported and treated as empty.
fn optional_table<'a, const N: usize>(
    name: &'static str,
    body: Option<&'a [u8]>,
    report: &mut Report,
) -> &'a [[u8; N]] {
    match table::<N>(name, body) {
        Ok(records) => &records[..records.len() - 1],
        Err(_) => {
            let size_bytes = body.map_or(0, <[u8]>::len);
            report.add(BankIssueReason::Table { size_bytes, record_bytes: N }, || Location::Chunk(name));
            &[]
        }
    }
}

/// Maximum number of samples, and of instruments, of a bank. Zones refer to them by 16-bit indices
/// (section 8.1.2).
const INDEXED_MAX: usize = 1 << 16;

/// Returns the first `max` records of a table, and reports a longer table.
fn limit_records<'a, const N: usize>(
    name: &'static str,
    records: &'a [[u8; N]],
    max: usize,
    report: &mut Report,
) -> &'a [[u8; N]] {
    if records.len() > max {
        let reason = BankIssueReason::TooManyRecords { count: records.len(), limit: max };
        report.add(reason, || Location::Chunk(name));
    }
    &records[..records.len().min(max)]
}

fn without_terminal<const N: usize>(records: &[[u8; N]]) -> &[[u8; N]] {
    &records[..records.len() - 1]
}

/// Reads all tables of a file.
pub(super) fn read(file: &[u8]) -> Result<(Content, WaveRanges), BankError> {
    let chunks = Chunks::read(file)?;
    let summary = summary(&chunks)?;
    let mut report = Report::default();
    let wave = wave_ranges(file, &chunks, &mut report);
    let sample_headers = without_terminal(table::<46>("shdr", chunks.sample_headers)?);
    let sample_headers = limit_records("shdr", sample_headers, INDEXED_MAX, &mut report);
    let samples = read_samples(sample_headers, &file[wave.high.clone()], chunks.is_packed, &mut report);
    let instrument_zones = ZoneTables {
        target: Generator::SampleId,
        target_name: "sample",
        bags: table("ibag", chunks.instrument_bags)?,
        generators: without_terminal(table("igen", chunks.instrument_generators)?),
        modulators: optional_table("imod", chunks.instrument_modulators, &mut report),
    };
    let headers = table::<22>("inst", chunks.instrument_headers)?;
    let headers = limit_records("inst", headers, INDEXED_MAX + 1, &mut report);
    let instruments: Vec<_> = read_instruments(headers, &instrument_zones, &samples.is_playable, &mut report);
    report_missing_loops(sample_headers, &samples, &instruments, &mut report);
    let preset_zones = ZoneTables {
        target: Generator::Instrument,
        target_name: "instrument",
        bags: table("pbag", chunks.preset_bags)?,
        generators: without_terminal(table("pgen", chunks.preset_generators)?),
        modulators: optional_table("pmod", chunks.preset_modulators, &mut report),
    };
    let headers = table::<38>("phdr", chunks.preset_headers)?;
    let headers = limit_records("phdr", headers, PRESETS_MAX + 1, &mut report);
    let presets = read_presets(headers, &preset_zones, &instruments, &mut report);
    let content = Content {
        summary,
        presets,
        instruments,
        samples: samples.samples,
        sample_streams: samples.sample_streams,
        streams: samples.streams,
        #[cfg(feature = "vorbis")]
        stream_samples: samples.stream_samples,
        report,
    };
    Ok((content, wave))
}

/// Returns the byte ranges of the sample data. Low bytes of the wrong size are reported and
/// ignored.
fn wave_ranges(file: &[u8], chunks: &Chunks<'_>, report: &mut Report) -> WaveRanges {
    let range_in_file = |chunk: &[u8]| {
        let start = chunk.as_ptr() as usize - file.as_ptr() as usize;
        start..start + chunk.len()
    };
    let high = chunks.samples.map_or(0..0, range_in_file);
    let frames = high.len() / 2;
    let low = chunks.sample_low_bytes.filter(|low| !low.is_empty()).and_then(|low| {
        let version = chunks.version.filter(|version| version.len() >= 4);
        let (major, minor) = version.map_or((0, 0), |version| (u16_at(version, 0), u16_at(version, 2)));
        // Section 6.2: the chunk exists since version 2.04. It has one byte per frame, and a pad
        // byte if their number is odd.
        if (major, minor) >= (2, 4) && (low.len() == frames || low.len() == frames.next_multiple_of(2)) {
            return Some(range_in_file(low));
        }
        let reason = BankIssueReason::LowBytes { low_bytes: low.len(), frames, major, minor };
        report.add(reason, || Location::Chunk("sm24"));
        None
    });
    WaveRanges { high, low }
}

/// The samples of a bank, read from their headers.
struct Samples {
    samples: Vec<Sample>,
    sample_streams: Vec<Option<usize>>,
    streams: Streams,
    #[cfg(feature = "vorbis")]
    stream_samples: Vec<(usize, String)>,
    /// Whether each sample can be played.
    is_playable: Vec<bool>,
}

fn read_samples(headers: &[[u8; 46]], wave: &[u8], is_packed: bool, report: &mut Report) -> Samples {
    let count = headers.len();
    let streams = Streams::find(headers, wave);
    let mut samples = Samples {
        samples: Vec::with_capacity(count),
        sample_streams: Vec::with_capacity(count),
        #[cfg(feature = "vorbis")]
        stream_samples: vec![(usize::MAX, String::new()); streams.as_slice().len()],
        streams,
        is_playable: Vec::with_capacity(count),
    };
    for (number, header) in headers.iter().enumerate() {
        let name = || text(&header[..20]);
        let samples::Header { sample, stream, problem, warning } =
            samples::read(header, wave, &samples.streams, is_packed);
        if let Some(reason) = problem.or(warning) {
            report.add(reason, || Location::Sample { number, name: name() });
        }
        samples.samples.push(sample);
        #[cfg(feature = "vorbis")]
        if let Some(first) = stream.map(|stream| &mut samples.stream_samples[stream])
            && first.0 == usize::MAX
        {
            *first = (number, name());
        }
        samples.sample_streams.push(stream);
        samples.is_playable.push(problem.is_none());
    }
    samples
}

/// Reports samples that have no loop although a zone plays them with a loop mode.
fn report_missing_loops(
    headers: &[[u8; 46]],
    samples: &Samples,
    instruments: &[Instrument],
    report: &mut Report,
) {
    let mut has_loop_mode = vec![false; headers.len()];
    for zone in instruments.iter().flat_map(|instrument| &instrument.zones) {
        has_loop_mode[zone.sample] |= matches!(zone.generators.get(Generator::SampleModes), 1 | 3);
    }
    let samples = samples.samples.iter().zip(&samples.is_playable).zip(has_loop_mode).enumerate();
    for (number, ((sample, is_playable), has_loop_mode)) in samples {
        if has_loop_mode && *is_playable && !sample.has_loop() {
            let reason = BankIssueReason::Loop { start: sample.loop_start, end: sample.loop_end };
            report.add(reason, || Location::Sample { number, name: text(&headers[number][..20]) });
        }
    }
}

fn read_instruments(
    headers: &[[u8; 22]],
    tables: &ZoneTables<'_>,
    is_playable: &[bool],
    report: &mut Report,
) -> Vec<Instrument> {
    let limit = is_playable.len();
    let check = |index: usize| match is_playable.get(index) {
        Some(true) => Ok(()),
        Some(false) => Err(BankIssueReason::UnplayableSample(index)),
        None => Err(BankIssueReason::Target { kind: "sample", index, limit }),
    };
    let mut budgets = tables.read_budgets();
    let read_instrument = |(number, pair): (usize, &[[u8; 22]; 2])| {
        let [start, end] = pair.each_ref().map(|header| usize::from(u16_at(header, 20)));
        let zones = tables.zones(&mut budgets, start..end, check, |(zone, reason)| {
            report.add(reason, || {
                let name = text(&pair[0][..20]);
                match zone {
                    Some(zone) => Location::InstrumentZone { number, name, zone },
                    None => Location::Instrument { number, name },
                }
            });
        });
        let zones = zones.into_iter().map(|zone| InstrumentZone {
            keys: zone.keys,
            velocities: zone.velocities,
            generators: zone.generators,
            modulators: zone.modulators,
            sample: zone.target,
        });
        Instrument { zones: zones.collect() }
    };
    headers.array_windows().enumerate().map(read_instrument).collect()
}

/// Maximum number of instrument zones of a preset. The start of a note searches all of them. The
/// largest known banks have less than a tenth of this number.
const PRESET_ZONES_MAX: usize = 1 << 16;

fn read_presets(
    headers: &[[u8; 38]],
    tables: &ZoneTables<'_>,
    instruments: &[Instrument],
    report: &mut Report,
) -> Vec<Preset> {
    let limit = instruments.len();
    let check = |index| match index {
        index if index < limit => Ok(()),
        index => Err(BankIssueReason::Target { kind: "instrument", index, limit }),
    };
    let mut order: Vec<usize> = (0..headers.len() - 1).collect();
    let id = |number: usize| (u16_at(&headers[number], 22), u16_at(&headers[number], 20));
    order.sort_by_key(|&number| id(number));
    let mut budgets = tables.read_budgets();
    let mut presets: Vec<Preset> = Vec::with_capacity(order.len());
    for number in order {
        let name = || text(&headers[number][..20]);
        let (bank, program) = id(number);
        if presets.last().is_some_and(|last| (last.bank, last.program) == (bank, program)) {
            report.add(BankIssueReason::TakenPreset { bank, program }, || Location::Preset {
                number,
                name: name(),
            });
            continue;
        }
        let [start, end] = [number, number + 1].map(|number| usize::from(u16_at(&headers[number], 24)));
        let zones = tables.zones(&mut budgets, start..end, check, |(zone, reason)| {
            report.add(reason, || match zone {
                Some(zone) => Location::PresetZone { number, name: name(), zone },
                None => Location::Preset { number, name: name() },
            });
        });
        let mut instrument_zones = 0;
        let is_within_limit = |zone: &Zone| {
            instrument_zones += instruments[zone.target].zones.len();
            instrument_zones <= PRESET_ZONES_MAX
        };
        let count = zones.len();
        let zones: Vec<Zone> = zones.into_iter().take_while(is_within_limit).collect();
        if zones.len() < count {
            let reason = BankIssueReason::TooManyZones { played_zones: zones.len(), limit: PRESET_ZONES_MAX };
            report.add(reason, || Location::Preset { number, name: name() });
        }
        let zones = zones.into_iter().map(|zone| PresetZone {
            keys: zone.keys,
            velocities: zone.velocities,
            generators: zone.generators,
            modulators: zone.modulators,
            instrument: zone.target,
        });
        presets.push(Preset { bank, program, zones: zones.collect() });
    }
    presets
}

impl Content {
    /// Returns the approximate memory of the tables in bytes.
    pub(super) fn bytes(&self) -> usize {
        let modulator_bytes = |list: &Arc<[Modulator]>| size_of_val(&**list) / Arc::strong_count(list);
        let presets = self.presets.iter().map(|preset| {
            let lists = preset.zones.iter().map(|zone| modulator_bytes(&zone.modulators));
            size_of_val(preset) + size_of_val(&*preset.zones) + lists.sum::<usize>()
        });
        let instruments = self.instruments.iter().map(|instrument| {
            let lists = instrument.zones.iter().map(|zone| modulator_bytes(&zone.modulators));
            size_of_val(instrument) + size_of_val(&*instrument.zones) + lists.sum::<usize>()
        });
        let names = self.summary.presets.iter().map(|preset| size_of_val(preset) + preset.name.len());
        presets.sum::<usize>()
            + instruments.sum::<usize>()
            + names.sum::<usize>()
            + size_of_val(&*self.samples)
            + size_of_val(&*self.sample_streams)
            + size_of_val(self.streams.as_slice())
    }
}
