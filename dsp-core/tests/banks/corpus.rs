//! The test cases, and the checks of each.

use crate::counting::{Cost, cost};
use crate::maker::Tables;
use crate::playing::{self, PRESETS};
use crate::{floods, modulators, samples, structure, zones};
use dsp_core::soundfont::Bank;

/// A bank with an error in it.
pub(crate) struct Case {
    /// Description of the error.
    pub(crate) reason: &'static str,
    pub(crate) file: fn() -> Vec<u8>,
    pub(crate) outcome: Outcome,
}

/// Expected result of loading a bank.
pub(crate) enum Outcome {
    /// Refused, with an error that contains this text.
    Refused(&'static str),
    /// Played without the parts that these texts name; preset 0:0 is audible.
    Audible(&'static [&'static str]),
    /// Played without the parts that these texts name; preset 0:0 is silent.
    Silent(&'static [&'static str]),
}

/// A sine of 100 frames a period.
fn sine() -> Vec<i16> {
    (0..1_000).map(|n| (16_000.0 * libm::sin(f64::from(n) * std::f64::consts::TAU / 100.0)) as i16).collect()
}

/// Number of the sample modes generator.
pub(crate) const SAMPLE_MODES: u16 = 54;

/// A valid bank: preset 0:0 plays instrument 0 with sample 0, preset 0:1 instrument 1 with sample
/// 1.
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

/// The valid bank with a change.
pub(crate) fn changed(change: impl FnOnce(&mut Tables)) -> Vec<u8> {
    let mut tables = valid_tables();
    change(&mut tables);
    tables.bytes()
}

/// A bank in which the zone of instrument 0 has its sample and these generators.
pub(crate) fn zone_with(generators: &[(u16, i16)]) -> Vec<u8> {
    changed(|tables| {
        for (index, &(number, amount)) in generators.iter().enumerate() {
            tables.instrument_generators.insert(index, (number, amount.cast_unsigned()));
        }
        tables.instrument_bags[1].0 += generators.len() as u16;
    })
}

/// Limits of memory use: an amount for each byte of a file and a fixed amount.
struct Limit {
    bytes_per_byte: usize,
    fixed_bytes: usize,
    /// Bytes of the file for each allocation.
    bytes_per_request: usize,
    fixed_requests: usize,
}

const LOADING: Limit =
    Limit { bytes_per_byte: 100, fixed_bytes: 64 << 10, bytes_per_request: 2, fixed_requests: 200 };

const DECODING: Limit =
    Limit { bytes_per_byte: 1_100, fixed_bytes: 16 << 20, bytes_per_request: 1, fixed_requests: 200 };

impl Limit {
    fn check(&self, label: &str, cost: Cost, file_bytes: usize) {
        let Cost { peak_bytes, requests } = cost;
        println!("{label}: {peak_bytes} bytes and {requests} requests for {file_bytes} bytes of file");
        let limit = self.fixed_bytes + self.bytes_per_byte * file_bytes;
        assert!(peak_bytes <= limit, "{label} took {peak_bytes} bytes for {file_bytes} of file");
        let limit = self.fixed_requests + file_bytes / self.bytes_per_request;
        assert!(requests <= limit, "{label} asked {requests} times for {file_bytes} bytes of file");
    }
}

fn check(case: &Case) {
    let file = (case.file)();
    let (bank, loading) = cost(|| Bank::from_bytes(&file));
    LOADING.check("loading", loading, file.len());
    let (expected, is_audible) = match (&case.outcome, bank) {
        (Outcome::Refused(expected), Err(error)) => {
            let message = error.to_string();
            assert!(message.contains(expected), "{message:?} does not say {expected:?}");
            return;
        }
        (Outcome::Refused(_), Ok(_)) => panic!("it is not refused"),
        (_, Err(error)) => panic!("it is refused: {error}"),
        (Outcome::Audible(expected), Ok(bank)) => (expected, Some((bank, true))),
        (Outcome::Silent(expected), Ok(bank)) => (expected, Some((bank, false))),
    };
    let Some((bank, is_audible)) = is_audible else { return };
    let ((), decoding) = cost(|| bank.prepare(&PRESETS).expect("samples that fit"));
    DECODING.check("decoding", decoding, file.len());
    let skipped: Vec<String> = bank.skipped().iter().map(ToString::to_string).collect();
    for words in *expected {
        assert!(skipped.iter().any(|text| text.contains(words)), "{skipped:#?} does not say {words:?}");
    }
    for text in &skipped {
        assert!(expected.iter().any(|words| text.contains(words)), "{text:?} is not expected");
    }
    let small = Bank::from_vec(bank.reduced(&PRESETS).expect("a smaller bank")).expect("a valid bank");
    assert_eq!(small.skipped(), []);
    for number in 0..PRESETS.len() {
        let bits = playing::track(&bank, number);
        assert!(bits.iter().all(|&bits| f32::from_bits(bits).is_finite()), "track {number} is not finite");
        assert!(bits == playing::track(&small, number), "track {number} differs in the smaller bank");
        let peak = playing::peak(&bits);
        match number {
            0 => assert_eq!(peak > 0.001, is_audible, "peak {peak}"),
            1 => assert!(peak > 0.1, "the other preset has a peak of {peak}"),
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
                eprintln!("^ {}", case.reason);
            }
            outcome.is_err()
        })
        .map(|case| case.reason)
        .collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_valid_bank_is_played_completely() {
    let case = Case { reason: "nothing", file: || valid_tables().bytes(), outcome: Outcome::Audible(&[]) };
    check(&case);
}

#[test]
fn broken_files() {
    check_all(structure::CASES);
}

#[test]
fn broken_zones() {
    check_all(zones::CASES);
}

#[test]
fn broken_samples() {
    check_all(samples::CASES);
}

#[test]
fn broken_modulators() {
    check_all(modulators::CASES);
}

#[test]
fn floods_of_records() {
    check_all(floods::CASES);
}

#[cfg(feature = "vorbis")]
#[test]
fn broken_streams() {
    check_all(crate::vorbis::CASES);
}

#[test]
fn the_corpus_is_large_and_has_no_case_twice() {
    let lists = [structure::CASES, zones::CASES, samples::CASES, modulators::CASES, floods::CASES];
    let reasons: Vec<&str> = lists.into_iter().flatten().map(|case| case.reason).collect();
    let unique: std::collections::BTreeSet<&str> = reasons.iter().copied().collect();
    assert!(unique.len() == reasons.len() && reasons.len() >= 40, "{} cases", reasons.len());
}
