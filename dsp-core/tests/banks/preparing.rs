//! Tests that decoding the samples of a bank in advance has a cost limit and can be stopped.

use dsp_core::soundfont::{Bank, BankError};

use crate::sf3::sf3;
use crate::streams::silent;

const PRESET: [(u16, u8); 1] = [(0, 0)];

/// Returns a bank with one preset that plays all these Ogg Vorbis streams.
fn bank(streams: &[Vec<u8>]) -> Bank {
    Bank::from_vec(sf3(streams, 1)).expect("a bank")
}

#[test]
fn a_stopped_preparation_can_be_continued() {
    // Each stream has 256 packets, and `prepare_while` calls its closure at every 16th packet.
    let bank = bank(&vec![silent(1 << 20, &[]); 4]);
    let all_bytes = 4 * (2 << 20);
    assert_eq!((bank.undecoded_bytes(&PRESET), bank.decoded_bytes()), (all_bytes, 0));
    let mut calls = 0;
    let stopped_result = bank.prepare_while(&PRESET, &mut || {
        calls += 1;
        calls <= 20
    });
    assert_eq!(stopped_result, Err(BankError::Stopped));
    assert_eq!(calls, 21);
    // The first stream is decoded; the second was stopped in the middle.
    assert_eq!(bank.decoded_bytes(), 2 << 20);
    assert_eq!(bank.undecoded_bytes(&PRESET), all_bytes - (2 << 20));
    assert_eq!(bank.issues(), []);
    bank.prepare(&PRESET).expect("continues");
    assert_eq!((bank.undecoded_bytes(&PRESET), bank.decoded_bytes()), (0, all_bytes));
}

#[test]
fn many_different_setup_headers_exceed_the_cost_limit() {
    let header = |number: u32| [1 + number % 9, 1 + number / 9 % 9, 1 + number / 81];
    let streams: Vec<Vec<u8>> = (0..600).map(|number| silent(4_096, &header(number))).collect();
    let refusal = bank(&streams).prepare(&PRESET);
    assert!(matches!(refusal, Err(BankError::TooCostly { .. })), "{refusal:?}");
    // Equal headers are parsed only once, so the same number of streams is within the limit.
    let equal_headers = bank(&vec![silent(4_096, &[9, 9, 9]); 600]);
    equal_headers.prepare(&PRESET).expect("within the cost limit");
    assert_eq!((equal_headers.decoded_bytes(), equal_headers.issues().len()), (600 * 8_192, 0));
}

#[test]
fn the_size_of_the_tables_grows_with_the_number_of_samples() {
    let small_bank = bank(&[silent(4_096, &[])]);
    let large_bank = bank(&vec![silent(4_096, &[]); 200]);
    assert!(small_bank.table_bytes() > 200, "{}", small_bank.table_bytes());
    assert!(large_bank.table_bytes() > 100 * 200, "{}", large_bank.table_bytes());
}
