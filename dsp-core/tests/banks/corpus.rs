//! Loads and plays the broken bank of each test case and checks the outcome.

use crate::counting::{Cost, cost};
use crate::maker::Tables;
use crate::playing::{self, PRESETS};
use crate::{floods, modulators, samples, structure, zones};
use dsp_core::soundfont::Bank;

/// A test case with a broken bank.
pub(crate) struct Case {
    /// Name of the defect, or of the part of the file that has the defect.
    pub(crate) name: &'static str,
    /// Makes the bytes of the file.
    pub(crate) file: fn() -> Vec<u8>,
    pub(crate) outcome: Outcome,
}

/// Expected result of loading and playing a bank.
pub(crate) enum Outcome {
    /// The bank is refused with an error that contains this text.
    Refused(&'static str),
    /// The bank is played and preset 0:0 is audible. Each skipped part has a reason that contains
    /// one of these texts.
    Audible(&'static [&'static str]),
    /// The bank is played, but preset 0:0 is silent. Each skipped part has a reason that contains
    /// one of these texts.
    Silent(&'static [&'static str]),
}

/// A sine with a period of 100 frames.
fn sine() -> Vec<i16> {
    (0..1_000).map(|n| (16_000.0 * libm::sin(f64::from(n) * std::f64::consts::TAU / 100.0)) as i16).collect()
}

/// Number of the generator sampleModes (section 8.1.2); its amount 1 loops the sample.
pub(crate) const SAMPLE_MODES: u16 = 54;

/// Returns the tables of a valid bank. Preset 0:0 plays sample 0 through instrument 0, and preset
/// 0:1 plays sample 1 through instrument 1.
pub(crate) fn valid_tables() -> Tables {
    let mut tables = Tables::new();
    for program in 0..2 {
        let sample = tables.add_sample(&sine(), 100..900);
        let instrument = tables.add_instrument();
        tables.add_instrument_zone((&[(SAMPLE_MODES, 1)], &[]), Some(sample));
        tables.add_preset(0, program);
        tables.add_preset_zone((&[], &[]), Some(instrument));
    }
    tables
}

/// Returns the file of the valid bank after a change of its tables.
pub(crate) fn changed(change: impl FnOnce(&mut Tables)) -> Vec<u8> {
    let mut tables = valid_tables();
    change(&mut tables);
    tables.bytes()
}

/// Returns the file of the valid bank with additional generators in the zone of instrument 0.
pub(crate) fn zone_with(generators: &[(u16, i16)]) -> Vec<u8> {
    changed(|tables| {
        for (index, &(number, amount)) in generators.iter().enumerate() {
            tables.instrument_generators.insert(index, (number, amount.cast_unsigned()));
        }
        tables.instrument_bags[1].0 += generators.len() as u16;
    })
}

/// Limits of the memory and the allocations of one step. Each limit grows with the file size.
struct Limit {
    /// Memory in bytes that the step may use for each byte of the file.
    memory_per_file_byte: usize,
    /// Memory in bytes that the step may use for any file.
    fixed_bytes: usize,
    /// Number of bytes of the file for which the step may make one allocation.
    file_bytes_per_allocation: usize,
    /// Number of allocations that the step may make for any file.
    fixed_allocations: usize,
}

const LOADING: Limit = Limit {
    memory_per_file_byte: 100,
    fixed_bytes: 64 << 10,
    file_bytes_per_allocation: 2,
    fixed_allocations: 200,
};

const DECODING: Limit = Limit {
    memory_per_file_byte: 1_100,
    fixed_bytes: 16 << 20,
    file_bytes_per_allocation: 1,
    fixed_allocations: 200,
};

impl Limit {
    fn check(&self, label: &str, cost: Cost, file_bytes: usize) {
        let Cost { peak_bytes, allocations } = cost;
        println!("{label} {file_bytes} bytes used {peak_bytes} bytes in {allocations} allocations");
        let limit = self.fixed_bytes + self.memory_per_file_byte * file_bytes;
        assert!(peak_bytes <= limit, "{label} {file_bytes} bytes used {peak_bytes} bytes, limit {limit}");
        let limit = self.fixed_allocations + file_bytes / self.file_bytes_per_allocation;
        assert!(allocations <= limit, "{label} {file_bytes} bytes: {allocations} allocations, limit {limit}");
    }
}

fn check(case: &Case) {
    let file = (case.file)();
    let (bank, loading) = cost(|| Bank::from_bytes(&file));
    LOADING.check("loading", loading, file.len());
    let (expected_reasons, bank, is_audible) = match (&case.outcome, bank) {
        (Outcome::Refused(expected), Err(error)) => {
            let message = error.to_string();
            assert!(message.contains(expected), "the error {message:?} does not contain {expected:?}");
            return;
        }
        (Outcome::Refused(_), Ok(_)) => panic!("the bank is not refused"),
        (_, Err(error)) => panic!("the bank is refused: {error}"),
        (Outcome::Audible(expected), Ok(bank)) => (expected, bank, true),
        (Outcome::Silent(expected), Ok(bank)) => (expected, bank, false),
    };
    let ((), decoding) = cost(|| bank.prepare(&PRESETS).expect("samples that fit"));
    DECODING.check("decoding", decoding, file.len());
    let skipped: Vec<String> = bank.issues().iter().map(ToString::to_string).collect();
    for expected in *expected_reasons {
        assert!(
            skipped.iter().any(|reason| reason.contains(expected)),
            "no reason in {skipped:#?} contains {expected:?}"
        );
    }
    for reason in &skipped {
        assert!(
            expected_reasons.iter().any(|expected| reason.contains(expected)),
            "{reason:?} is not expected"
        );
    }
    let reduced_bank =
        Bank::from_vec(bank.write_reduced(&PRESETS).expect("a smaller bank")).expect("a valid bank");
    assert_eq!(reduced_bank.issues(), []);
    for number in 0..PRESETS.len() {
        let bits = playing::track(&bank, number);
        assert!(bits.iter().all(|&bits| f32::from_bits(bits).is_finite()), "track {number} is not finite");
        assert!(bits == playing::track(&reduced_bank, number), "track {number} differs in the reduced bank");
        let peak = playing::peak(&bits);
        match number {
            0 => assert_eq!(peak > 0.001, is_audible, "preset 0:0 has a peak of {peak}"),
            1 => assert!(peak > 0.1, "the intact preset 0:1 has a peak of {peak}"),
            _ => {}
        }
    }
    playing::mix(&bank);
}

fn check_all(cases: &[Case]) {
    let failures: Vec<&str> = cases
        .iter()
        .filter(|case| {
            let outcome = std::panic::catch_unwind(|| check(case));
            if outcome.is_err() {
                eprintln!("the case above that failed: {}", case.name);
            }
            outcome.is_err()
        })
        .map(|case| case.name)
        .collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_valid_bank_is_played_completely() {
    let case = Case { name: "no defect", file: || valid_tables().bytes(), outcome: Outcome::Audible(&[]) };
    check(&case);
}

#[test]
fn banks_with_broken_chunks_are_refused_or_played_without_them() {
    check_all(structure::CASES);
}

#[test]
fn banks_with_broken_zones_are_played_without_them() {
    check_all(zones::CASES);
}

#[test]
fn banks_with_broken_samples_are_played_without_them() {
    check_all(samples::CASES);
}

#[test]
fn banks_with_broken_modulators_are_played_without_them() {
    check_all(modulators::CASES);
}

#[test]
fn banks_with_huge_numbers_of_records_stay_within_the_limits() {
    check_all(floods::CASES);
}

#[cfg(feature = "vorbis")]
#[test]
fn banks_with_broken_vorbis_streams_are_played_without_them() {
    check_all(crate::vorbis::CASES);
}

#[test]
fn the_corpus_has_at_least_40_cases_with_different_names() {
    let lists = [structure::CASES, zones::CASES, samples::CASES, modulators::CASES, floods::CASES];
    let names: Vec<&str> = lists.into_iter().flatten().map(|case| case.name).collect();
    let unique_names: std::collections::BTreeSet<&str> = names.iter().copied().collect();
    assert!(
        unique_names.len() == names.len() && names.len() >= 40,
        "{} cases, {} different names",
        names.len(),
        unique_names.len()
    );
}
