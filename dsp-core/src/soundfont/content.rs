//! A bank's tables, read from its file.

#[cfg(feature = "vorbis")]
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range as Span;

use super::generators::{Generator, Generators};
use super::modulators::Modulator;
use super::records::{self, MOST_PRESETS, table, text, u16_at};
use super::riff::Chunks;
use super::samples::{self, Sample};
use super::skipped::{Place, Reason, Report};
use super::streams::Streams;
use super::zones::{Range, Zone, ZoneTables};
use super::{BankError, BankSummary};

/// A sound of a bank, as a program change selects it.
#[derive(Debug)]
pub(crate) struct Preset {
    pub(crate) bank: u16,
    pub(crate) program: u16,
    pub(crate) zones: Vec<PresetZone>,
}

/// Keys and velocities for which a preset plays an instrument.
#[derive(Debug)]
pub(crate) struct PresetZone {
    pub(crate) keys: Range,
    pub(crate) velocities: Range,
    /// Offsets to the instrument's generators; 0 where the zone has none.
    pub(crate) generators: Generators,
    /// They act beside those of the instrument's zone.
    pub(crate) modulators: Arc<[Modulator]>,
    /// Index of the instrument.
    pub(crate) instrument: usize,
}

/// What presets are made of.
#[derive(Debug)]
pub(crate) struct Instrument {
    pub(crate) zones: Vec<InstrumentZone>,
}

/// Keys and velocities for which an instrument plays a sample.
#[derive(Debug)]
pub(crate) struct InstrumentZone {
    pub(crate) keys: Range,
    pub(crate) velocities: Range,
    /// Values of all generators, the defaults included.
    pub(crate) generators: Generators,
    /// All of them: the defaults, replaced by the global zone's, replaced by the zone's own.
    pub(crate) modulators: Arc<[Modulator]>,
    /// Index of the sample.
    pub(crate) sample: usize,
}

/// Everything of a bank but its sample data.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) summary: BankSummary,
    /// By ascending bank and program, each pair once.
    pub(super) presets: Vec<Preset>,
    pub(super) instruments: Vec<Instrument>,
    pub(super) samples: Vec<Sample>,
    /// Number of the Ogg Vorbis stream of a compressed sample.
    pub(super) sample_streams: Vec<Option<usize>>,
    pub(super) streams: Streams,
    /// Number and name of the first sample that plays each stream.
    #[cfg(feature = "vorbis")]
    pub(super) stream_samples: Vec<(usize, String)>,
    pub(super) report: Report,
}

/// Where the sample data stands in the file, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WavePlace {
    pub(super) high: Span<usize>,
    pub(super) low: Option<Span<usize>>,
}

/// The records of a table that counts as empty when it is missing or broken; the terminal
/// record is left out.
fn optional_table<'a, const N: usize>(
    name: &'static str,
    body: Option<&'a [u8]>,
    report: &mut Report,
) -> &'a [[u8; N]] {
    match table::<N>(name, body) {
        Ok(records) => &records[..records.len() - 1],
        Err(_) => {
            report.add(Reason::Table { record_bytes: N }, || Place::Chunk(name));
            &[]
        }
    }
}

/// Most samples and instruments of a bank: zones name them by 16 bits (section 8.1.2).
const MOST_NAMED: usize = 1 << 16;

/// The first `most` records of a table.
fn nameable<'a, const N: usize>(
    name: &'static str,
    records: &'a [[u8; N]],
    most: usize,
    report: &mut Report,
) -> &'a [[u8; N]] {
    if records.len() > most {
        let reason = Reason::TooManyRecords { count: records.len(), limit: most };
        report.add(reason, || Place::Chunk(name));
    }
    &records[..records.len().min(most)]
}

fn without_terminal<const N: usize>(records: &[[u8; N]]) -> &[[u8; N]] {
    &records[..records.len() - 1]
}

/// Reads all tables of a file.
pub(super) fn read(file: &[u8]) -> Result<(Content, WavePlace), BankError> {
    let chunks = Chunks::read(file)?;
    let summary = records::summary(&chunks)?;
    let mut report = Report::default();
    let wave = wave_place(file, &chunks, &mut report);
    let sample_headers = without_terminal(table::<46>("shdr", chunks.sample_headers)?);
    let sample_headers = nameable("shdr", sample_headers, MOST_NAMED, &mut report);
    let samples = read_samples(sample_headers, &file[wave.high.clone()], chunks.packed, &mut report);
    let instrument_zones = ZoneTables {
        target: Generator::SampleId,
        target_name: "sample",
        bags: table("ibag", chunks.instrument_bags)?,
        generators: without_terminal(table("igen", chunks.instrument_generators)?),
        modulators: optional_table("imod", chunks.instrument_modulators, &mut report),
    };
    let headers = table::<22>("inst", chunks.instrument_headers)?;
    let headers = nameable("inst", headers, MOST_NAMED + 1, &mut report);
    let instruments: Vec<_> = read_instruments(headers, &instrument_zones, &samples.playable, &mut report);
    report_missing_loops(sample_headers, &samples, &instruments, &mut report);
    let preset_zones = ZoneTables {
        target: Generator::Instrument,
        target_name: "instrument",
        bags: table("pbag", chunks.preset_bags)?,
        generators: without_terminal(table("pgen", chunks.preset_generators)?),
        modulators: optional_table("pmod", chunks.preset_modulators, &mut report),
    };
    let headers = table::<38>("phdr", chunks.preset_headers)?;
    let headers = nameable("phdr", headers, MOST_PRESETS + 1, &mut report);
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

fn wave_place(file: &[u8], chunks: &Chunks<'_>, report: &mut Report) -> WavePlace {
    let span = |part: &[u8]| {
        let start = part.as_ptr() as usize - file.as_ptr() as usize;
        start..start + part.len()
    };
    let high = chunks.samples.map_or(0..0, span);
    let frames = high.len() / 2;
    let low = chunks.sample_low_bytes.filter(|low| !low.is_empty()).and_then(|low| {
        let version = chunks.version.filter(|version| version.len() >= 4);
        let (major, minor) = version.map_or((0, 0), |version| (u16_at(version, 0), u16_at(version, 2)));
        // Section 6.2: from version 2.04 on, and one byte a frame, padded to an even number.
        if (major, minor) >= (2, 4) && (low.len() == frames || low.len() == frames.next_multiple_of(2)) {
            return Some(span(low));
        }
        let reason = Reason::LowBytes { low_bytes: low.len(), frames, major, minor };
        report.add(reason, || Place::Chunk("sm24"));
        None
    });
    WavePlace { high, low }
}

struct Samples {
    samples: Vec<Sample>,
    sample_streams: Vec<Option<usize>>,
    streams: Streams,
    #[cfg(feature = "vorbis")]
    stream_samples: Vec<(usize, String)>,
    playable: Vec<bool>,
}

fn read_samples(headers: &[[u8; 46]], wave: &[u8], packed: bool, report: &mut Report) -> Samples {
    let count = headers.len();
    let streams = Streams::find(headers, wave);
    let mut all = Samples {
        samples: Vec::with_capacity(count),
        sample_streams: Vec::with_capacity(count),
        #[cfg(feature = "vorbis")]
        stream_samples: vec![(usize::MAX, String::new()); streams.all().len()],
        streams,
        playable: Vec::with_capacity(count),
    };
    for (number, header) in headers.iter().enumerate() {
        let name = || text(&header[..20]);
        let samples::Header { sample, stream, problem, remark } =
            samples::read(header, wave, &all.streams, packed);
        if let Some(reason) = problem.or(remark) {
            report.add(reason, || Place::Sample { number, name: name() });
        }
        all.samples.push(sample);
        #[cfg(feature = "vorbis")]
        if let Some(first) = stream.map(|stream| &mut all.stream_samples[stream])
            && first.0 == usize::MAX
        {
            *first = (number, name());
        }
        all.sample_streams.push(stream);
        all.playable.push(problem.is_none());
    }
    all
}

/// Samples that a zone wants to loop and that have no loop at all.
fn report_missing_loops(
    headers: &[[u8; 46]],
    samples: &Samples,
    instruments: &[Instrument],
    report: &mut Report,
) {
    let mut wanted = vec![false; headers.len()];
    for zone in instruments.iter().flat_map(|instrument| &instrument.zones) {
        wanted[zone.sample] |= matches!(zone.generators.get(Generator::SampleModes), 1 | 3);
    }
    let playable = samples.samples.iter().zip(&samples.playable).zip(wanted).enumerate();
    for (number, ((sample, playable), wanted)) in playable {
        if wanted && *playable && !sample.has_loop() {
            let reason = Reason::Loop { start: sample.loop_start, end: sample.loop_end };
            report.add(reason, || Place::Sample { number, name: text(&headers[number][..20]) });
        }
    }
}

fn read_instruments(
    headers: &[[u8; 22]],
    tables: &ZoneTables<'_>,
    playable: &[bool],
    report: &mut Report,
) -> Vec<Instrument> {
    let limit = playable.len();
    let check = |index: usize| match playable.get(index) {
        Some(true) => Ok(()),
        Some(false) => Err(Reason::UnplayableSample(index)),
        None => Err(Reason::Target { what: "sample", index, limit }),
    };
    let mut allowances = tables.allowances();
    let read = |(number, pair): (usize, &[[u8; 22]; 2])| {
        let [start, end] = pair.each_ref().map(|header| usize::from(u16_at(header, 20)));
        let zones = tables.zones(&mut allowances, start..end, check, |(zone, reason)| {
            report.add(reason, || {
                let name = text(&pair[0][..20]);
                match zone {
                    Some(zone) => Place::InstrumentZone { number, name, zone },
                    None => Place::Instrument { number, name },
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
    headers.array_windows().enumerate().map(read).collect()
}

/// Most zones of instruments that the zones of one preset lead to: each of them is looked at when
/// a note starts. The largest banks stay below a tenth of it.
const MOST_PRESET_ZONES: usize = 1 << 16;

fn read_presets(
    headers: &[[u8; 38]],
    tables: &ZoneTables<'_>,
    instruments: &[Instrument],
    report: &mut Report,
) -> Vec<Preset> {
    let limit = instruments.len();
    let check = |index| match index {
        index if index < limit => Ok(()),
        index => Err(Reason::Target { what: "instrument", index, limit }),
    };
    let mut order: Vec<usize> = (0..headers.len() - 1).collect();
    let id = |number: usize| (u16_at(&headers[number], 22), u16_at(&headers[number], 20));
    order.sort_by_key(|&number| id(number));
    let mut allowances = tables.allowances();
    let mut presets: Vec<Preset> = Vec::with_capacity(order.len());
    for number in order {
        let name = || text(&headers[number][..20]);
        let (bank, program) = id(number);
        if presets.last().is_some_and(|last| (last.bank, last.program) == (bank, program)) {
            report.add(Reason::TakenPreset { bank, program }, || Place::Preset { number, name: name() });
            continue;
        }
        let [start, end] = [number, number + 1].map(|number| usize::from(u16_at(&headers[number], 24)));
        let zones = tables.zones(&mut allowances, start..end, check, |(zone, reason)| {
            report.add(reason, || match zone {
                Some(zone) => Place::PresetZone { number, name: name(), zone },
                None => Place::Preset { number, name: name() },
            });
        });
        let mut reached = 0;
        let is_within = |zone: &Zone| {
            reached += instruments[zone.target].zones.len();
            reached <= MOST_PRESET_ZONES
        };
        let count = zones.len();
        let zones: Vec<Zone> = zones.into_iter().take_while(is_within).collect();
        if zones.len() < count {
            let reason = Reason::TooManyZones { from: zones.len(), limit: MOST_PRESET_ZONES };
            report.add(reason, || Place::Preset { number, name: name() });
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
    /// Bytes that the tables take in memory, about.
    pub(super) fn bytes(&self) -> usize {
        let modulators = |list: &Arc<[Modulator]>| size_of_val(&**list) / Arc::strong_count(list);
        let presets = self.presets.iter().map(|preset| {
            let lists = preset.zones.iter().map(|zone| modulators(&zone.modulators));
            size_of_val(preset) + size_of_val(&*preset.zones) + lists.sum::<usize>()
        });
        let instruments = self.instruments.iter().map(|instrument| {
            let lists = instrument.zones.iter().map(|zone| modulators(&zone.modulators));
            size_of_val(instrument) + size_of_val(&*instrument.zones) + lists.sum::<usize>()
        });
        let names = self.summary.presets.iter().map(|preset| size_of_val(preset) + preset.name.len());
        presets.sum::<usize>()
            + instruments.sum::<usize>()
            + names.sum::<usize>()
            + size_of_val(&*self.samples)
            + size_of_val(&*self.sample_streams)
            + size_of_val(self.streams.all())
    }
}
