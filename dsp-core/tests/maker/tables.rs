//! The tables of a bank in the units of the file. Section numbers refer to SoundFont 2.04; the
//! tables are defined in section 7.

use super::file::{Chunk, File, List};

/// Generators that link a zone to an instrument or a sample (section 8.1.2).
const INSTRUMENT: u16 = 41;
const SAMPLE_ID: u16 = 53;

/// A modulator: source, destination, amount, amount source and transform (section 7.4).
pub(crate) type ModulatorRecord = [u16; 5];

#[derive(Clone)]
pub(crate) struct PresetHeader {
    pub(crate) name: [u8; 20],
    pub(crate) program: u16,
    pub(crate) bank: u16,
    pub(crate) first_zone: u16,
}

#[derive(Clone)]
pub(crate) struct SampleHeader {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) loop_start: u32,
    pub(crate) loop_end: u32,
    pub(crate) rate_hz: u32,
    pub(crate) root_key: u8,
    pub(crate) correction_cents: i8,
    pub(crate) link: u16,
    pub(crate) kind: u16,
}

/// The tables of a bank. A record states where its list begins in the next table; the list ends
/// where that of the next record begins. [`Tables::file`] adds the terminal records.
#[derive(Clone)]
pub(crate) struct Tables {
    pub(crate) version: (u16, u16),
    /// Bytes of the `smpl` chunk: the 16-bit sample data.
    pub(crate) wave: Vec<u8>,
    /// Bytes of the `sm24` chunk: the low bytes of 24-bit sample data.
    pub(crate) low: Option<Vec<u8>>,
    pub(crate) presets: Vec<PresetHeader>,
    /// Zones of the presets: index of the first generator, index of the first modulator.
    pub(crate) preset_bags: Vec<(u16, u16)>,
    /// Generators of the preset zones: number and amount.
    pub(crate) preset_generators: Vec<(u16, u16)>,
    pub(crate) preset_modulators: Vec<ModulatorRecord>,
    /// Instruments: index of the first zone.
    pub(crate) instruments: Vec<u16>,
    pub(crate) instrument_bags: Vec<(u16, u16)>,
    pub(crate) instrument_generators: Vec<(u16, u16)>,
    pub(crate) instrument_modulators: Vec<ModulatorRecord>,
    pub(crate) samples: Vec<SampleHeader>,
}

/// Generators and modulators of a zone, without the generator that links an instrument or a sample.
type Zone<'a> = (&'a [(u16, i16)], &'a [ModulatorRecord]);

impl Tables {
    /// Creates the tables of an empty bank.
    pub(crate) fn new() -> Self {
        Self {
            version: (2, 4),
            wave: Vec::new(),
            low: None,
            presets: Vec::new(),
            preset_bags: Vec::new(),
            preset_generators: Vec::new(),
            preset_modulators: Vec::new(),
            instruments: Vec::new(),
            instrument_bags: Vec::new(),
            instrument_generators: Vec::new(),
            instrument_modulators: Vec::new(),
            samples: Vec::new(),
        }
    }

    /// Adds a mono sample at 48 kHz with root key 60 and returns its index. Zero frames follow the
    /// sample (section 6.1). `loops` is the range of the loop, relative to the sample's first
    /// frame.
    pub(crate) fn add_sample(&mut self, frames: &[i16], loops: core::ops::Range<u32>) -> u16 {
        const GUARD_FRAMES: usize = 46;
        let start = (self.wave.len() / 2) as u32;
        self.wave.extend(frames.iter().flat_map(|frame| frame.to_le_bytes()));
        self.wave.resize(self.wave.len() + 2 * GUARD_FRAMES, 0);
        self.samples.push(SampleHeader {
            start,
            end: start + frames.len() as u32,
            loop_start: start + loops.start,
            loop_end: start + loops.end,
            rate_hz: 48_000,
            root_key: 60,
            correction_cents: 0,
            link: 0,
            kind: 1,
        });
        self.samples.len() as u16 - 1
    }

    /// Adds an instrument without zones and returns its index.
    pub(crate) fn add_instrument(&mut self) -> u16 {
        self.instruments.push(self.instrument_bags.len() as u16);
        self.instruments.len() as u16 - 1
    }

    /// Adds a zone to the last instrument. Without a sample, the zone is global if it is the first.
    pub(crate) fn add_instrument_zone(&mut self, (generators, modulators): Zone<'_>, sample: Option<u16>) {
        self.instrument_bags
            .push((self.instrument_generators.len() as u16, self.instrument_modulators.len() as u16));
        self.instrument_generators
            .extend(generators.iter().map(|&(number, amount)| (number, amount.cast_unsigned())));
        self.instrument_generators.extend(sample.map(|sample| (SAMPLE_ID, sample)));
        self.instrument_modulators.extend(modulators);
    }

    /// Adds a preset without zones.
    pub(crate) fn add_preset(&mut self, bank: u16, program: u16) {
        let first_zone = self.preset_bags.len() as u16;
        let mut name = [0; 20];
        name[..6].copy_from_slice(b"Preset");
        self.presets.push(PresetHeader { name, program, bank, first_zone });
    }

    /// Adds a zone to the last preset. Without an instrument, the zone is global if it is the
    /// first.
    pub(crate) fn add_preset_zone(&mut self, (generators, modulators): Zone<'_>, instrument: Option<u16>) {
        self.preset_bags.push((self.preset_generators.len() as u16, self.preset_modulators.len() as u16));
        self.preset_generators
            .extend(generators.iter().map(|&(number, amount)| (number, amount.cast_unsigned())));
        self.preset_generators.extend(instrument.map(|instrument| (INSTRUMENT, instrument)));
        self.preset_modulators.extend(modulators);
    }

    pub(crate) fn file(&self) -> File {
        let pairs = |records: &[(u16, u16)], terminal: (u16, u16)| -> Vec<u8> {
            let records = records.iter().chain([&terminal]);
            records.flat_map(|&(a, b)| [a.to_le_bytes(), b.to_le_bytes()].concat()).collect()
        };
        let modulators = |records: &[ModulatorRecord]| -> Vec<u8> {
            let words = records.iter().chain([&[0; 5]]).flatten();
            words.flat_map(|word| word.to_le_bytes()).collect()
        };
        let mut phdr = Vec::new();
        let terminal = PresetHeader {
            name: name(b"EOP"),
            program: 0,
            bank: 0,
            first_zone: self.preset_bags.len() as u16,
        };
        for PresetHeader { name, program, bank, first_zone } in self.presets.iter().chain([&terminal]) {
            phdr.extend(name);
            phdr.extend([*program, *bank, *first_zone].map(u16::to_le_bytes).concat());
            phdr.extend([0; 12]);
        }
        let mut inst = Vec::new();
        for first_zone in self.instruments.iter().chain([&(self.instrument_bags.len() as u16)]) {
            inst.extend(name(b"Instrument"));
            inst.extend(first_zone.to_le_bytes());
        }
        let mut shdr = Vec::new();
        for sample in &self.samples {
            let SampleHeader { start, end, loop_start, loop_end, rate_hz, .. } = *sample;
            shdr.extend(name(b"Sample"));
            shdr.extend([start, end, loop_start, loop_end, rate_hz].map(u32::to_le_bytes).concat());
            shdr.extend([sample.root_key, sample.correction_cents.cast_unsigned()]);
            shdr.extend([sample.link, sample.kind].map(u16::to_le_bytes).concat());
        }
        shdr.extend(name(b"EOS"));
        shdr.extend([0; 26]);
        let ends = |generators: usize, modulators: usize| (generators as u16, modulators as u16);
        let preset_end = ends(self.preset_generators.len(), self.preset_modulators.len());
        let instrument_end = ends(self.instrument_generators.len(), self.instrument_modulators.len());
        let (major, minor) = self.version;
        let info = vec![
            Chunk::new(b"ifil", [major, minor].map(u16::to_le_bytes).concat()),
            Chunk::new(b"isng", b"EMU8000\0".to_vec()),
            Chunk::new(b"INAM", b"Made for a test\0".to_vec()),
        ];
        let mut wave = vec![Chunk::new(b"smpl", self.wave.clone())];
        wave.extend(self.low.clone().map(|low| Chunk::new(b"sm24", low)));
        let data = vec![
            Chunk::new(b"phdr", phdr),
            Chunk::new(b"pbag", pairs(&self.preset_bags, preset_end)),
            Chunk::new(b"pmod", modulators(&self.preset_modulators)),
            Chunk::new(b"pgen", pairs(&self.preset_generators, (0, 0))),
            Chunk::new(b"inst", inst),
            Chunk::new(b"ibag", pairs(&self.instrument_bags, instrument_end)),
            Chunk::new(b"imod", modulators(&self.instrument_modulators)),
            Chunk::new(b"igen", pairs(&self.instrument_generators, (0, 0))),
            Chunk::new(b"shdr", shdr),
        ];
        let list = |kind: &[u8; 4], chunks| List { kind: *kind, chunks };
        File { form: *b"sfbk", lists: vec![list(b"INFO", info), list(b"sdta", wave), list(b"pdta", data)] }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.file().bytes()
    }
}

fn name(text: &[u8]) -> [u8; 20] {
    let mut field = [0; 20];
    field[..text.len()].copy_from_slice(text);
    field
}
