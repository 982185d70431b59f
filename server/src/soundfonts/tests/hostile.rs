//! Tests truncated and corrupted banks, which must give an error or some sound, but never a crash.

use std::fs;

use serde_json::json;

use crate::test_studio::{BANK, Studio};

/// Renders with a bank of these bytes, which must give sound or an error. Returns whether it gives
/// sound.
async fn check(studio: &Studio, bytes: &[u8], case: &str) -> bool {
    fs::write(studio.path("hostile.sf2"), bytes).unwrap();
    studio.app.state.soundfonts.catalogue.rescan().await.expect("scans");
    let catalogue = studio.catalogue().await;
    let list = catalogue["soundfonts"].as_array().unwrap();
    let entry = list.iter().find(|entry| entry["soundfont_id"] == "hostile").expect("the bank is listed");
    assert_eq!(entry["usable"] == true, entry["problem"].is_null(), "{case}: {entry}");
    let request = json!({
        "soundfont_id": "hostile", "tail_secs": 0.1,
        "notes": [{"tick": 0, "length_ticks": 240, "pitch": 60, "velocity": 1},
                  {"tick": 0, "length_ticks": 240, "pitch": 127, "velocity": 1},
                  {"tick": 100, "length_ticks": 140, "pitch": 0, "velocity": 0.1}],
    });
    let answer = studio.post("/plugins/soundfont-render", &request).await;
    match answer.status.as_u16() {
        200 => {}
        422 => {
            answer.problem(422, "soundfont_unusable");
        }
        501 => assert_eq!(entry["usable"], false, "{case}"),
        status => panic!("{case}: {status} {}", String::from_utf8_lossy(&answer.bytes)),
    }
    answer.status == 200
}

#[tokio::test]
async fn truncated_banks_are_refused() {
    let studio = Studio::without_soundfonts(&[]).await;
    let bytes = fs::read(BANK).expect("timgm6mb-soundfont is installed");
    let cuts = [0, 1, 4, 8, 11, 12, 16, 20, 100, 500, 10_000, 3_000_000, 5_900_000];
    for cut in cuts.into_iter().chain((1..20).map(|step| bytes.len() - step * 997)) {
        let is_playable = check(&studio, &bytes[..cut], &format!("cut at {cut}")).await;
        assert!(!is_playable, "a bank cut at {cut} is played");
    }
    assert!(check(&studio, &bytes, "whole").await);
}

#[tokio::test]
async fn wrong_chunk_sizes_do_not_crash() {
    let studio = Studio::without_soundfonts(&[]).await;
    let whole_bank = fs::read(BANK).expect("timgm6mb-soundfont is installed");
    for id in ["LIST", "sdta", "smpl", "pdta", "phdr", "pbag", "pgen", "inst", "ibag", "igen", "shdr"] {
        let offset = whole_bank.windows(4).position(|window| window == id.as_bytes()).expect("the chunk");
        for size in [0, 1, 37, 0x7fff_ffff, 0xffff_fffe, u32::MAX] {
            let mut bytes = whole_bank.clone();
            bytes[offset + 4..offset + 8].copy_from_slice(&u32::to_le_bytes(size));
            check(&studio, &bytes, &format!("{id} of {size} bytes")).await;
        }
    }
}

#[tokio::test]
async fn corrupted_tables_do_not_crash() {
    let studio = Studio::without_soundfonts(&[]).await;
    let whole_bank = fs::read(BANK).expect("timgm6mb-soundfont is installed");
    let tables = whole_bank.windows(4).rposition(|window| window == b"pdta").expect("the tables");
    // A linear congruential generator changes the same bytes in every run.
    let mut state = 12_345_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let mut is_playable = 0;
    for round in 0..40 {
        let mut bytes = whole_bank.clone();
        for _ in 0..(1 << (round % 10)) {
            let offset = tables + random() as usize % (bytes.len() - tables);
            bytes[offset] = random() as u8;
        }
        is_playable += usize::from(check(&studio, &bytes, &format!("round {round}")).await);
    }
    assert!(is_playable > 0, "every corrupted bank was refused, so none reached the synthesizer");
}

#[tokio::test]
async fn wrong_sample_positions_do_not_crash() {
    let studio = Studio::without_soundfonts(&[]).await;
    let whole_bank = fs::read(BANK).expect("timgm6mb-soundfont is installed");
    let headers =
        whole_bank.windows(4).rposition(|window| window == b"shdr").expect("the sample headers") + 8;
    // The fields are start, end, loop start and loop end of each sample (SF2.04, section 7.10).
    for positions in
        [[0, u32::MAX, 0, u32::MAX], [u32::MAX, 0, 5, 5], [0, 0, 0, 0], [10, 12, 11, 11], [9, 5, 8, 2]]
    {
        let mut bytes = whole_bank.clone();
        for header in bytes[headers..].chunks_exact_mut(46) {
            for (field, value) in header[20..36].chunks_exact_mut(4).zip(positions) {
                field.copy_from_slice(&value.to_le_bytes());
            }
        }
        check(&studio, &bytes, &format!("{positions:?}")).await;
    }
}
