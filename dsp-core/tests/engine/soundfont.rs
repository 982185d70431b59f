//! SoundFont files, sound and damaged.

use crate::sessions::{peak, session, track};
use crate::small_bank::{SampleHeader, Tables, small_bank_bytes};
use dsp_core::soundfont::{Bank, BankError, BankSummary, SampleEncoding};

#[test]
fn a_summary_lists_the_presets_in_order() {
    let summary = BankSummary::read(&small_bank_bytes(|_| {})).unwrap();
    assert_eq!(summary.name, "Small bank");
    assert_eq!(summary.encoding, SampleEncoding::Pcm);
    let presets: Vec<_> = summary.presets.iter().map(|p| (p.bank, p.program, p.name.as_str())).collect();
    assert_eq!(presets, [(0, 0, "Sine"), (0, 5, "Low sine"), (128, 0, "Kit")]);
}

/// The message with which a damaged bank is refused.
fn refusal(change: impl FnOnce(&mut Tables)) -> String {
    Bank::from_bytes(&small_bank_bytes(change)).expect_err("a damaged bank").to_string()
}

#[test]
fn damaged_tables_are_refused_by_name() {
    let check = |change: fn(&mut Tables), expected: &str| {
        let message = refusal(change);
        assert!(message.contains(expected), "{message:?} does not say {expected:?}");
    };
    check(|bank| bank.form = *b"sfbl", "not a SoundFont");
    check(|bank| bank.presets.clear(), "phdr chunk has 0 bytes");
    check(|bank| bank.presets[1].3 = 9, "preset 1 points to zone 9, of 4");
    check(|bank| bank.presets[0].3 = 2, "preset 1 points to zone 1");
    check(|bank| bank.preset_bags[3].0 = 5, "preset zone 3 points to generator 5, of 5");
    check(|bank| bank.preset_generators[0].1 = 1, "preset generator 0 points to instrument 1, of 1");
    check(|bank| bank.instruments[1].1 = 2, "instrument 1 points to zone 2, of 2");
    check(|bank| bank.instrument_bags[1].0 = 0xffff, "instrument zone 1 points to generator 65535");
    check(|bank| bank.instrument_generators[2].1 = 7, "instrument generator 2 points to sample 7, of 1");
    check(|bank| bank.sample_headers.clear(), "shdr chunk has 0 bytes");
    check(|bank| bank.sample_headers[0].end = 90_000_000, "sample 0 points to frame 90000000, of 1046");
    check(|bank| bank.sample_headers[0].start = 1_000, "sample 0 points to frame 1000, of 1046");
    check(|bank| bank.sample_headers[0].rate_hz = u32::MAX, "sample 0 has a rate of 4294967295 Hz");
}

#[test]
fn a_bank_cut_anywhere_is_an_error_and_no_panic() {
    let bytes = small_bank_bytes(|_| {});
    for length in 0..bytes.len() {
        let error = Bank::from_bytes(&bytes[..length]).expect_err("a bank cut short");
        assert!(matches!(error, BankError::NotASoundFont | BankError::Truncated { .. }), "{length}: {error}");
    }
}

#[test]
fn any_damaged_byte_is_an_error_or_a_bank_and_no_panic() {
    let bytes = small_bank_bytes(|bank| bank.samples.truncate(46 + 200));
    for place in 0..bytes.len() {
        for value in [0x00, 0x7f, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[place] = value;
            // Either outcome is fine; a panic or an allocation that a size field asks for is not.
            if let Ok(bank) = Bank::from_bytes(&damaged) {
                assert!(bank.summary().presets.len() <= 3);
            }
        }
    }
}

#[test]
fn a_loop_too_short_to_follow_plays_once() {
    let bytes = small_bank_bytes(|bank| {
        bank.sample_headers[0] = SampleHeader { loop_start: 500, loop_end: 501, ..bank.sample_headers[0] };
    });
    let bank = Bank::from_bytes(&bytes).unwrap();
    // Four octaves up, where a step is far longer than the loop.
    let session = session(vec![track("a", &[(0, 40_000, 120)])]);
    let mut render =
        dsp_core::session::OfflineRender::new(&session, &[Some(bank)], Default::default()).unwrap();
    let mut loudest = 0.0_f32;
    while let Some((left, _)) = render.next_block() {
        loudest = loudest.max(peak(left));
    }
    assert!(loudest > 0.01, "silent: {loudest}");
}

#[test]
fn a_pad_byte_that_is_left_out_does_not_matter() {
    let padded = small_bank_bytes(|_| {});
    let name = padded.windows(4).position(|id| id == b"INAM").expect("a name chunk");
    let (size_place, body) = (name + 4, name + 8);
    let size = u32::from_le_bytes(padded[size_place..body].try_into().expect("four bytes"));
    let mut unpadded = padded.clone();
    // One byte less, and no pad byte: the enclosing sizes go down with it.
    unpadded[size_place..body].copy_from_slice(&(size - 1).to_le_bytes());
    unpadded.remove(body + size as usize - 1);
    for place in [4, 16] {
        let enclosing = u32::from_le_bytes(unpadded[place..place + 4].try_into().expect("four bytes")) - 1;
        unpadded[place..place + 4].copy_from_slice(&enclosing.to_le_bytes());
    }
    assert_eq!(BankSummary::read(&unpadded), BankSummary::read(&padded));
}

#[test]
fn a_riff_header_of_size_zero_is_an_error() {
    let mut bytes = small_bank_bytes(|_| {});
    bytes[4..8].fill(0);
    assert_eq!(BankSummary::read(&bytes), Err(BankError::NotASoundFont));
}

#[test]
fn generators_far_outside_their_ranges_play_at_the_nearest_end() {
    // Those of the pitch are left out: within their ranges, too, they can outrun a loop.
    for operator in [10, 11, 13, 22, 24, 52] {
        for amount in [i16::MAX, i16::MIN] {
            let bytes = small_bank_bytes(|bank| {
                bank.instrument_generators.insert(0, (operator, amount.cast_unsigned()));
                bank.instrument_bags[1].0 += 1;
            });
            let bank = Bank::from_bytes(&bytes).unwrap();
            let session = session(vec![track("a", &[(0, 20_000, 60), (100, 20_000, 0)])]);
            let mut render =
                dsp_core::session::OfflineRender::new(&session, &[Some(bank)], Default::default()).unwrap();
            while let Some((left, right)) = render.next_block() {
                assert!(left.iter().chain(right).all(|value| value.is_finite()), "generator {operator}");
            }
        }
    }
}

#[test]
fn sound_banks_are_loaded_whole() {
    for path in ["/usr/share/sounds/sf2/TimGM6mb.sf2", "/usr/share/sounds/sf2/FluidR3_GM.sf2"] {
        let file = std::fs::read(path).expect("the bank is installed");
        let bank = Bank::from_vec(file).unwrap();
        let skipped: Vec<_> = bank.skipped().iter().map(ToString::to_string).collect();
        assert_eq!(skipped, [""; 0], "{path}");
    }
}
