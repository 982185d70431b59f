//! Writes small SoundFont banks, valid or damaged.

use dsp_core::soundfont::Bank;

/// Returns a SoundFont bank with one looped sample, a sine with a period of 100 frames. It has the
/// presets 0:0, 0:5 (an octave lower) and 128:0. `change` may damage the tables before they are
/// written.
pub(crate) fn small_bank_bytes(change: impl FnOnce(&mut Tables)) -> Vec<u8> {
    let mut tables = Tables::default();
    change(&mut tables);
    tables.write()
}

pub(crate) fn small_bank() -> Bank {
    Bank::from_bytes(&small_bank_bytes(|_| {})).expect("the small bank is valid")
}

/// The tables of a bank, in the units of the file.
pub(crate) struct Tables {
    pub(crate) form: [u8; 4],
    pub(crate) samples: Vec<i16>,
    /// Presets: name, program, bank and index of the first zone.
    pub(crate) presets: Vec<(&'static str, u16, u16, u16)>,
    /// Zones of the presets: index of the first generator and of the first modulator.
    pub(crate) preset_bags: Vec<(u16, u16)>,
    /// Generators of the preset zones: number and amount.
    pub(crate) preset_generators: Vec<(u16, u16)>,
    /// Instruments: name and index of the first zone.
    pub(crate) instruments: Vec<(&'static str, u16)>,
    pub(crate) instrument_bags: Vec<(u16, u16)>,
    pub(crate) instrument_generators: Vec<(u16, u16)>,
    pub(crate) sample_headers: Vec<SampleHeader>,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct SampleHeader {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) loop_start: u32,
    pub(crate) loop_end: u32,
    pub(crate) rate_hz: u32,
    pub(crate) kind: u16,
}

const COARSE_TUNE: u16 = 51;
const SAMPLE_MODES: u16 = 54;
const RELEASE_VOL_ENV: u16 = 38;
const INSTRUMENT: u16 = 41;
const SAMPLE_ID: u16 = 53;

impl Default for Tables {
    fn default() -> Self {
        let sine = |n: u32| (16_000.0 * libm::sin(f64::from(n) * std::f64::consts::TAU / 100.0)) as i16;
        let mut samples: Vec<i16> = (0..1_000).map(sine).collect();
        // The specification requires 46 zero frames after every sample.
        samples.extend([0; 46]);
        let octave_down = (-12_i16) as u16;
        Self {
            form: *b"sfbk",
            samples,
            presets: vec![("Sine", 0, 0, 0), ("Low sine", 5, 0, 1), ("Kit", 0, 128, 2), ("EOP", 0, 0, 3)],
            preset_bags: vec![(0, 0), (1, 0), (3, 0), (4, 0)],
            preset_generators: vec![
                (INSTRUMENT, 0),
                (COARSE_TUNE, octave_down),
                (INSTRUMENT, 0),
                (INSTRUMENT, 0),
                (0, 0),
            ],
            instruments: vec![("Sine", 0), ("EOI", 1)],
            instrument_bags: vec![(0, 0), (3, 0)],
            // The sample is looped. The release takes about a tenth of a second (-4000 timecents).
            instrument_generators: vec![
                (SAMPLE_MODES, 1),
                (RELEASE_VOL_ENV, (-4_000_i16) as u16),
                (SAMPLE_ID, 0),
                (0, 0),
            ],
            sample_headers: vec![
                SampleHeader {
                    start: 0,
                    end: 1_000,
                    loop_start: 100,
                    loop_end: 900,
                    rate_hz: 44_100,
                    kind: 1,
                },
                SampleHeader::default(),
            ],
        }
    }
}

impl Tables {
    fn write(&self) -> Vec<u8> {
        let pairs = |pairs: &[(u16, u16)]| -> Vec<u8> {
            pairs.iter().flat_map(|(a, b)| [a.to_le_bytes(), b.to_le_bytes()].concat()).collect()
        };
        let mut headers = Vec::new();
        for &(name, program, bank, zone) in &self.presets {
            headers.extend(name_field(name));
            headers.extend([program, bank, zone].map(u16::to_le_bytes).concat());
            headers.extend([0; 12]);
        }
        let mut instruments = Vec::new();
        for &(name, zone) in &self.instruments {
            instruments.extend(name_field(name));
            instruments.extend(zone.to_le_bytes());
        }
        let mut samples = Vec::new();
        for header in &self.sample_headers {
            samples.extend(name_field("sine"));
            let numbers = [header.start, header.end, header.loop_start, header.loop_end, header.rate_hz];
            samples.extend(numbers.map(u32::to_le_bytes).concat());
            // The root key is 69, because a period of 100 frames at 44.1 kHz is 441 Hz.
            samples.extend([69, 0]);
            samples.extend(0_u16.to_le_bytes());
            samples.extend(header.kind.to_le_bytes());
        }
        let wave: Vec<u8> = self.samples.iter().flat_map(|value| value.to_le_bytes()).collect();
        let info =
            [chunk(b"ifil", &[2, 0, 4, 0]), chunk(b"isng", b"EMU8000\0"), chunk(b"INAM", b"Small bank\0\0")];
        let data = [
            chunk(b"phdr", &headers),
            chunk(b"pbag", &pairs(&self.preset_bags)),
            chunk(b"pmod", &[0; 10]),
            chunk(b"pgen", &pairs(&self.preset_generators)),
            chunk(b"inst", &instruments),
            chunk(b"ibag", &pairs(&self.instrument_bags)),
            chunk(b"imod", &[0; 10]),
            chunk(b"igen", &pairs(&self.instrument_generators)),
            chunk(b"shdr", &samples),
        ];
        let lists = [
            list(b"INFO", &info.concat()),
            list(b"sdta", &chunk(b"smpl", &wave)),
            list(b"pdta", &data.concat()),
        ];
        chunk(b"RIFF", &[&self.form[..], &lists.concat()].concat())
    }
}

fn name_field(name: &str) -> [u8; 20] {
    let mut field = [0; 20];
    field[..name.len()].copy_from_slice(name.as_bytes());
    field
}

fn chunk(id: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut bytes = [&id[..], &(body.len() as u32).to_le_bytes(), body].concat();
    bytes.extend(vec![0; body.len() % 2]);
    bytes
}

fn list(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    chunk(b"LIST", &[&kind[..], body].concat())
}
