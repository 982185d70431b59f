//! Banks to begin with: small ones made here, and parts of real ones.

use std::path::Path;
use std::{fs, io};

use dsp_core::soundfont::Bank;

use crate::maker::{ModulatorRecord, Tables};

const SF2: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";
const SF3: &str = "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3";

/// Most bytes of a seed; small ones are mutated faster.
const MOST_BYTES: usize = 48 << 10;

/// Writes the seeds, one file each.
pub(crate) fn write(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("looped.sf2"), looped().bytes())?;
    fs::write(folder.join("modulated.sf2"), modulated().bytes())?;
    fs::write(folder.join("compressed.sf3"), compressed(&fs::read(SF3)?).bytes())?;
    let whole = Bank::from_vec(fs::read(SF2)?).map_err(io::Error::other)?;
    let programs = whole.summary().presets.iter().map(|preset| (preset.bank, preset.program as u8));
    for (bank, program) in programs {
        let file = whole.reduced(&[(bank, program)]).map_err(io::Error::other)?;
        if file.len() < MOST_BYTES {
            fs::write(folder.join(format!("{bank}-{program}.sf2")), file)?;
        }
    }
    Ok(())
}

fn ramp() -> Vec<i16> {
    (0..200).map(|n| (n % 50 - 25) * 1_000).collect()
}

/// Two presets, a global zone, ranges, a loop, 24-bit samples.
fn looped() -> Tables {
    let mut tables = Tables::new();
    let sample = tables.add_sample(&ramp(), 50..150);
    let other = tables.add_sample(&ramp(), 10..190);
    tables.low = Some(vec![0x77; tables.wave.len() / 2]);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&[(38, -4_000), (34, -6_000)], &[]), None);
    tables.add_instrument_zone((&[(43, 0x4000), (54, 1), (17, -200)], &[]), Some(sample));
    tables.add_instrument_zone((&[(44, 0x7f20), (54, 3), (0, 10), (3, -5), (57, 1)], &[]), Some(other));
    for (bank, program) in [(0, 0), (128, 0)] {
        tables.add_preset(bank, program);
        tables.add_preset_zone((&[(48, 20)], &[]), None);
        tables.add_preset_zone((&[(51, program as i16 + 1)], &[]), Some(instrument));
    }
    tables
}

/// Modulators of both levels, linked ones among them.
fn modulated() -> Tables {
    let own: [ModulatorRecord; 4] =
        [[2, 8, 0, 0, 0], [0x81, 0x8003, 900, 0, 0], [0x020e, 52, 500, 0x10, 2], [127, 17, 300, 0, 0]];
    let mut tables = Tables::new();
    let sample = tables.add_sample(&ramp(), 50..150);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&[(22, 600)], &[[0x0502, 48, 400, 0, 0], [0x81, 5, 70, 0, 0]]), None);
    tables.add_instrument_zone((&[(54, 1), (8, 9_000), (9, 100)], &own), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &own), Some(instrument));
    tables
}

/// The first stream of a compressed bank.
fn compressed(bank: &[u8]) -> Tables {
    let is_first_page = |place: &usize| bank[*place..].starts_with(b"OggS") && bank[place + 5] & 2 != 0;
    let mut firsts = (0..bank.len() - 5).filter(is_first_page);
    let (start, end) = (firsts.next().unwrap_or(0), firsts.next().unwrap_or(0));
    let mut tables = Tables::new();
    let sample = tables.add_sample(&[], 10..90);
    tables.wave = bank[start..end].to_vec();
    let header = &mut tables.samples[usize::from(sample)];
    (header.start, header.end, header.kind) = (0, (end - start) as u32, 0x11);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&[(54, 1)], &[]), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    tables
}
