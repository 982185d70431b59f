//! Checks that a reduced bank plays the same samples as the whole bank.

use super::super::Bank;
use super::super::content::{InstrumentZone, PresetZone};
use super::super::generator::Generator;
use super::super::generators::Generators;
use super::super::sample_positions::{OFFSET_GENERATORS, header_positions, zone_offsets};

const TIM_GM6MB: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";
const FLUID_R3: &str = "/usr/share/sounds/sf2/FluidR3_GM.sf2";

fn bank(path: &str) -> Bank {
    Bank::from_vec(std::fs::read(path).expect("the bank is installed")).expect("the bank is valid")
}

fn all_presets(bank: &Bank) -> Vec<(u16, u8)> {
    bank.presets().iter().map(|preset| (preset.bank, preset.program as u8)).collect()
}

/// Returns the generators with all offsets of sample positions set to 0.
fn without_offsets(generators: &Generators) -> Generators {
    let mut result = *generators;
    for (fine, coarse) in OFFSET_GENERATORS {
        result.set_value(fine, 0);
        result.set_value(coarse, 0);
    }
    result
}

/// 16-bit values and low bytes of the frames that a zone plays, and its loop relative to the first
/// of them.
type PlayedFrames<'a> = (&'a [[u8; 2]], Option<&'a [u8]>, Option<(usize, usize)>);

fn played_frames<'a>(bank: &'a Bank, zone: &InstrumentZone) -> Option<PlayedFrames<'a>> {
    let sample = &bank.samples()[zone.sample];
    let wave = bank.wave(zone.sample)?;
    let frames = wave.high.len() as i64;
    let [start, end, loop_start, loop_end] = core::array::from_fn(|index| {
        (i64::from(header_positions(sample)[index]) + zone_offsets(&zone.generators)[index]).clamp(0, frames)
            as usize
    });
    let loops = sample.is_loop_valid.then(|| (loop_start.wrapping_sub(start), loop_end.wrapping_sub(start)));
    Some((wave.high.get(start..end)?, wave.low.and_then(|low| low.get(start..end)), loops))
}

fn check_zone(full_zone: (&Bank, &InstrumentZone), small: (&Bank, &InstrumentZone)) {
    let ((whole_bank, full_zone), (small_bank, small)) = (full_zone, small);
    assert_eq!((full_zone.keys, full_zone.velocities), (small.keys, small.velocities));
    let mut expected = without_offsets(&full_zone.generators);
    if !whole_bank.samples()[full_zone.sample].is_loop_valid {
        expected.set_value(Generator::SampleModes, 0);
    }
    assert_eq!(expected, without_offsets(&small.generators));
    assert_eq!(full_zone.modulators, small.modulators);
    let header = |bank: &Bank, zone: &InstrumentZone| {
        let sample = bank.samples()[zone.sample];
        (sample.rate_hz, sample.root_key, sample.correction_cents, sample.is_loop_valid)
    };
    assert_eq!(header(whole_bank, full_zone), header(small_bank, small));
    let (high, low, loops) = played_frames(whole_bank, full_zone).expect("the zone has frames");
    let (small_high, small_low, small_loops) = played_frames(small_bank, small).expect("the zone has frames");
    assert!(high == small_high && loops == small_loops);
    let silent_samples = vec![0; high.len()];
    assert!(low.unwrap_or(&silent_samples) == small_low.unwrap_or(&silent_samples));
}

fn check_preset_zone(full_zone: (&Bank, &PresetZone), small: (&Bank, &PresetZone)) {
    let ((whole_bank, full_zone), (small_bank, small)) = (full_zone, small);
    assert_eq!((full_zone.keys, full_zone.velocities), (small.keys, small.velocities));
    assert_eq!(full_zone.generators, small.generators);
    assert_eq!(full_zone.modulators, small.modulators);
    let zones = &whole_bank.instruments()[full_zone.instrument].zones;
    let zones: Vec<_> = zones.iter().filter(|zone| whole_bank.wave(zone.sample).is_some()).collect();
    let small_zones = &small_bank.instruments()[small.instrument].zones;
    assert_eq!(zones.len(), small_zones.len());
    for (full_zone, small) in zones.into_iter().zip(small_zones) {
        check_zone((whole_bank, full_zone), (small_bank, small));
    }
}

/// Reduces a bank to some presets and compares these with the whole bank. Returns the size of the
/// reduced file in bytes.
pub(in super::super) fn check(full_zone: &Bank, presets: &[(u16, u8)]) -> usize {
    let file = full_zone.write_reduced(presets).expect("the bank can be reduced");
    assert!(
        file == full_zone.write_reduced(presets).expect("the bank can be reduced"),
        "the file is reproducible"
    );
    let small = Bank::from_bytes(&file).expect("the reduced bank is valid");
    assert_eq!(small.issues(), []);
    for &(bank, program) in presets {
        let index = (full_zone.resolve(bank, program), small.resolve(bank, program));
        let (Some(whole_index), Some(small_index)) = index else {
            assert_eq!(index, (None, None), "{bank}:{program}");
            continue;
        };
        let (whole_preset, small_preset) = (&full_zone.presets()[whole_index], &small.presets()[small_index]);
        assert_eq!(
            (whole_preset.bank, whole_preset.program),
            (small_preset.bank, small_preset.program),
            "{bank}:{program}"
        );
        assert_eq!(whole_preset.zones.len(), small_preset.zones.len());
        for (whole_zone, small_zone) in whole_preset.zones.iter().zip(&small_preset.zones) {
            check_preset_zone((full_zone, whole_zone), (&small, small_zone));
        }
    }
    file.len()
}

#[test]
fn presets_of_a_reduced_bank_play_the_same_frames() {
    let tim = bank(TIM_GM6MB);
    for preset in all_presets(&tim) {
        check(&tim, &[preset]);
    }
    let whole_bytes = std::fs::metadata(TIM_GM6MB).expect("the bank is installed").len() as usize;
    let all_bytes = check(&tim, &all_presets(&tim));
    assert!(all_bytes.abs_diff(whole_bytes) < whole_bytes / 20, "{all_bytes} of {whole_bytes} bytes");
}

#[test]
fn a_bank_reduced_to_two_presets_is_much_smaller() {
    let fluid = bank(FLUID_R3);
    let bytes = check(&fluid, &[(0, 0), (128, 0)]);
    assert!((10_000_000..20_000_000).contains(&bytes), "{bytes} bytes");
    assert_eq!(fluid.write_reduced(&[(0, 0), (128, 0)]), fluid.write_reduced(&[(128, 0), (0, 0), (0, 0)]));
    check(&fluid, &all_presets(&fluid));
}

#[test]
fn missing_presets_have_the_same_substitutes_in_a_reduced_bank() {
    let tim = bank(TIM_GM6MB);
    check(&tim, &[(77, 5), (0, 127), (130, 99)]);
    let empty = Bank::from_bytes(&tim.write_reduced(&[]).unwrap()).unwrap();
    assert_eq!((empty.presets().len(), empty.samples().len()), (0, 0));
}

#[test]
fn a_reduced_bank_keeps_names_and_numbers() {
    let small = Bank::from_bytes(&bank(TIM_GM6MB).write_reduced(&[(0, 40)]).unwrap()).unwrap();
    let presets: Vec<_> = small
        .summary()
        .presets
        .iter()
        .map(|preset| (preset.bank, preset.program, preset.name.as_str()))
        .collect();
    assert_eq!(presets, [(0, 40, "Violin")]);
    assert_eq!(small.summary().name, bank(TIM_GM6MB).summary().name);
}

#[test]
fn offsets_beyond_the_sample_data_are_clamped_to_the_same_frames() {
    let tim = bank(TIM_GM6MB);
    let zone = &tim.instruments()[0].zones[0];
    let mut selection = tim.select(&[]);
    selection.instruments.insert(0);
    let writer = super::WaveWriter::new(&tim, &selection);
    let mut wide_zone = InstrumentZone {
        keys: zone.keys,
        velocities: zone.velocities,
        generators: zone.generators,
        modulators: zone.modulators.clone(),
        sample: zone.sample,
    };
    wide_zone.generators.set_value(Generator::EndAddrsCoarseOffset, i16::MAX);
    wide_zone.generators.set_value(Generator::StartAddrsCoarseOffset, i16::MIN);
    let (high, ..) = played_frames(&tim, &wide_zone).expect("the zone has frames");
    assert_eq!(
        high.len(),
        tim.wave(0).expect("the sample has a wave").high.len(),
        "the offsets reach both ends of the sample data"
    );
    let adjusted_zone = InstrumentZone {
        generators: writer.adjusted_generators(&wide_zone).expect("the sample is written"),
        ..wide_zone
    };
    assert!(played_frames(&tim, &adjusted_zone).expect("the zone has frames").0 == high);
    let [start, end, ..] = zone_offsets(&adjusted_zone.generators);
    let sample = tim.samples()[zone.sample];
    assert_eq!(i64::from(sample.start) + start, 0);
    assert_eq!(i64::from(sample.end) + end, high.len() as i64);
}

#[cfg(feature = "vorbis")]
#[test]
fn compressed_samples_are_written_as_pcm() {
    let muse = bank("/usr/share/sounds/sf3/MuseScore_General_Lite.sf3");
    check(&muse, &[(0, 40), (128, 0)]);
}
