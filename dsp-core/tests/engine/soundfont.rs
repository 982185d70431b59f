//! Tests of loading SoundFont files, valid and damaged.

use crate::sessions::{peak, session, track};
use crate::small_bank::{SampleHeader, small_bank_bytes};
use dsp_core::soundfont::{Bank, BankError, BankSummary, SampleEncoding};

#[test]
fn a_summary_lists_the_presets_in_order() {
    let summary = BankSummary::read(&small_bank_bytes(|_| {})).unwrap();
    assert_eq!(summary.name, "Small bank");
    assert_eq!(summary.encoding, SampleEncoding::Pcm);
    let presets: Vec<_> = summary.presets.iter().map(|p| (p.bank, p.program, p.name.as_str())).collect();
    assert_eq!(presets, [(0, 0, "Sine"), (0, 5, "Low sine"), (128, 0, "Kit")]);
}

#[test]
fn a_reduced_bank_has_the_same_output_as_the_whole_bank() {
    let whole_bank = std::fs::read("/usr/share/sounds/sf2/TimGM6mb.sf2").expect("the bank is installed");
    let whole_bank = Bank::from_vec(whole_bank).unwrap();
    let reduced_bank =
        Bank::from_vec(whole_bank.write_reduced(&[(0, 0), (0, 48), (8, 4), (128, 25)]).unwrap()).unwrap();
    let notes: Vec<_> = (0..24).map(|n| (n * 1_500, n * 1_500 + 9_000, 30 + 3 * n as u8)).collect();
    let instruments = [(0, 0), (0, 48), (8, 4), (128, 25)].map(|(bank, program)| {
        let instrument = dsp_core::session::Instrument { bank_slot: 0, bank, program };
        let id = format!("{bank}:{program}");
        dsp_core::session::Track { instrument: Some(instrument), ..track(&id, &notes) }
    });
    let session = session(instruments.to_vec());
    let render = |bank: &Bank| {
        let mut render =
            dsp_core::render::OfflineRender::new(&session, &[Some(bank.clone())], Default::default())
                .unwrap();
        let mut values = Vec::new();
        while let Some((left, right)) = render.next_block() {
            values.extend(left.iter().chain(right).map(|value| value.to_bits()));
        }
        values
    };
    let (whole_bank, reduced_bank) = (render(&whole_bank), render(&reduced_bank));
    assert!(whole_bank.iter().any(|&bits| f32::from_bits(bits).abs() > 0.05), "silent");
    assert!(whole_bank == reduced_bank);
}

#[test]
fn a_truncated_bank_is_refused_without_a_panic() {
    let bytes = small_bank_bytes(|_| {});
    for length in 0..bytes.len() {
        let error = Bank::from_bytes(&bytes[..length]).expect_err("a truncated bank");
        assert!(matches!(error, BankError::NotASoundFont | BankError::Truncated { .. }), "{length}: {error}");
    }
}

#[test]
fn a_bank_with_a_damaged_byte_is_refused_or_loaded_without_a_panic() {
    let bytes = small_bank_bytes(|bank| bank.samples.truncate(46 + 200));
    for offset in 0..bytes.len() {
        for value in [0x00, 0x7f, 0x80, 0xff] {
            let mut damaged_file = bytes.clone();
            damaged_file[offset] = value;
            // The loader may return an error or a bank. It may not panic or allocate as much memory
            // as a damaged size field states.
            if let Ok(bank) = Bank::from_bytes(&damaged_file) {
                assert!(bank.summary().presets.len() <= 3);
            }
        }
    }
}

#[test]
fn a_sample_with_a_loop_of_one_frame_is_audible() {
    let bytes = small_bank_bytes(|bank| {
        bank.sample_headers[0] = SampleHeader { loop_start: 500, loop_end: 501, ..bank.sample_headers[0] };
    });
    let bank = Bank::from_bytes(&bytes).unwrap();
    // The key is four octaves above the root key, so a step in the sample is far longer than the
    // loop.
    let session = session(vec![track("a", &[(0, 40_000, 120)])]);
    let mut render =
        dsp_core::render::OfflineRender::new(&session, &[Some(bank)], Default::default()).unwrap();
    let mut loudest = 0.0_f32;
    while let Some((left, _)) = render.next_block() {
        loudest = loudest.max(peak(left));
    }
    assert!(loudest > 0.01, "silent: {loudest}");
}

#[test]
fn a_missing_pad_byte_does_not_change_the_summary() {
    let padded = small_bank_bytes(|_| {});
    let name = padded.windows(4).position(|id| id == b"INAM").expect("a name chunk");
    let (size_offset, body) = (name + 4, name + 8);
    let size = u32::from_le_bytes(padded[size_offset..body].try_into().expect("four bytes"));
    let mut unpadded = padded.clone();
    // The chunk is one byte shorter, without a pad byte. The enclosing chunks shrink by one byte.
    unpadded[size_offset..body].copy_from_slice(&(size - 1).to_le_bytes());
    unpadded.remove(body + size as usize - 1);
    for offset in [4, 16] {
        let enclosing = u32::from_le_bytes(unpadded[offset..offset + 4].try_into().expect("four bytes")) - 1;
        unpadded[offset..offset + 4].copy_from_slice(&enclosing.to_le_bytes());
    }
    assert_eq!(BankSummary::read(&unpadded), BankSummary::read(&padded));
}

#[test]
fn a_riff_header_with_size_0_is_refused() {
    let mut bytes = small_bank_bytes(|_| {});
    bytes[4..8].fill(0);
    assert_eq!(BankSummary::read(&bytes), Err(BankError::NotASoundFont));
}

#[test]
fn generators_out_of_range_lead_to_finite_output() {
    for operator in [5, 6, 7, 10, 11, 13, 22, 24, 51, 52, 56] {
        for amount in [i16::MAX, i16::MIN] {
            let bytes = small_bank_bytes(|bank| {
                bank.instrument_generators.insert(0, (operator, amount.cast_unsigned()));
                bank.instrument_bags[1].0 += 1;
            });
            let bank = Bank::from_bytes(&bytes).unwrap();
            let session = session(vec![track("a", &[(0, 20_000, 60), (100, 20_000, 0)])]);
            let mut render =
                dsp_core::render::OfflineRender::new(&session, &[Some(bank)], Default::default()).unwrap();
            while let Some((left, right)) = render.next_block() {
                assert!(
                    left.iter().chain(right).all(|value| value.is_finite()),
                    "the output for generator {operator} is not finite"
                );
            }
        }
    }
}
