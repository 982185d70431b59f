//! Tests downloads of banks that are reduced to some presets.

use std::fs;

use axum::http::Method;
use dsp_core::soundfont::{Bank, SampleEncoding};
use serde_json::json;

use crate::test_studio::{BANK, SF3, Studio, float_samples, peak};

fn presets(file: &[u8]) -> Vec<(u16, u16)> {
    let bank = Bank::from_bytes(file).expect("a bank");
    assert_eq!((bank.summary().encoding, bank.skipped_total()), (SampleEncoding::Pcm, 0));
    bank.summary().presets.iter().map(|preset| (preset.bank, preset.program)).collect()
}

#[tokio::test]
async fn a_bank_is_sent_with_the_requested_presets() {
    let studio = Studio::start().await;
    let path = "/plugins/soundfonts/download/timgm6mb?presets=128:0,0:0,0:5,0:0";
    let answer = studio.get(path).await;
    assert_eq!((answer.status.as_u16(), answer.header("x-soundfont-id")), (200, "timgm6mb"));
    assert_eq!(answer.header("content-length"), answer.bytes.len().to_string());
    assert_eq!(presets(&answer.bytes), [(0, 0), (0, 5), (128, 0)]);
    let whole_bank = fs::metadata(BANK).unwrap().len();
    assert!((answer.bytes.len() as u64) < whole_bank / 4, "{} of {whole_bank} bytes", answer.bytes.len());

    let tag = answer.header("etag").to_owned();
    let second_download = studio.get("/plugins/soundfonts/download/timgm6mb?presets=0:0,0:5,128:0").await;
    assert!(
        second_download.header("etag") == tag && second_download.bytes == answer.bytes,
        "the order of the presets must not matter"
    );
    let call = studio.app.local(Method::GET, &format!("/api/v1{path}"));
    let unchanged_answer = call.header("if-none-match", &tag).send().await;
    assert_eq!((unchanged_answer.status.as_u16(), unchanged_answer.header("etag")), (304, &*tag));
    let other_bank = studio.get("/plugins/soundfonts/download/timgm6mb?presets=0:0").await;
    assert_ne!(other_bank.header("etag"), tag);
    let part = studio.app.local(Method::GET, &format!("/api/v1{path}")).header("range", "bytes=0-3");
    assert_eq!(part.send().await.bytes, b"RIFF"[..]);
}

#[tokio::test]
async fn compressed_samples_are_sent_decoded() {
    let studio = Studio::without_soundfonts(&[]).await;
    studio.link(SF3.as_ref(), "MuseScore_General_Lite.sf3");
    let catalogue = studio.catalogue().await;
    let bank = &catalogue["soundfonts"][0];
    assert_eq!((&bank["format"], &bank["default"]), (&"sf3".into(), &true.into()), "{bank}");
    let id = "musescoregenerallite";
    let answer = studio.get(&format!("/plugins/soundfonts/download/{id}?presets=0:0,128:0")).await;
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.bytes));
    assert_eq!(presets(&answer.bytes), [(0, 0), (128, 0)]);
    let whole_bank = studio.get(&format!("/plugins/soundfonts/download/{id}")).await;
    assert!(
        whole_bank.bytes == fs::read(SF3).unwrap(),
        "without a list of presets, the unchanged file is sent"
    );

    // The SF3 and the SF2 that was made from it must give the same sound.
    let note = json!({"tick": 0, "length_ticks": 480, "pitch": 60, "velocity": 0.8});
    let request = |id: &str| json!({"notes": [note], "soundfont_id": id, "tail_secs": 0.5});
    let sf3_render = studio.post("/plugins/soundfont-render", &request(id)).await;
    fs::write(studio.path("reduced.sf2"), &answer.bytes).unwrap();
    studio.app.state.soundfonts.catalogue.rescan().await.expect("scans");
    let sf2_render = studio.post("/plugins/soundfont-render", &request("reduced")).await;
    assert_eq!(sf2_render.header("x-soundfont-id"), "reduced");
    assert!(peak(&float_samples(&sf3_render.bytes)) > 0.01);
    assert!(sf3_render.bytes == sf2_render.bytes);
}

#[tokio::test]
async fn a_missing_preset_is_replaced_by_the_preset_that_would_be_played() {
    let studio = Studio::start().await;
    let get =
        async |list: &str| studio.get(&format!("/plugins/soundfonts/download/timgm6mb?presets={list}")).await;
    assert_eq!(presets(&get("77:5").await.bytes), [(0, 5)]);
    assert_eq!(presets(&get("65535:127").await.bytes), [(128, 0)]);
}

#[tokio::test]
async fn invalid_lists_of_presets_are_refused() {
    let studio = Studio::start().await;
    for list in ["", "0", "0:0,", "0:128", "65536:0", "a:b", "0:0;0:1", "-1:0", "0:0%00"] {
        let answer = studio.get(&format!("/plugins/soundfonts/download/timgm6mb?presets={list}")).await;
        let detail = answer.problem(422, "bad_presets");
        assert!(detail.contains("entry"), "{list}: {detail}");
    }
    let many_presets = vec!["0:0"; 5_000].join(",");
    let answer = studio.get(&format!("/plugins/soundfonts/download/timgm6mb?presets={many_presets}")).await;
    answer.problem(422, "bad_presets");
}

#[tokio::test]
async fn reduced_banks_stay_within_their_limit_and_change_with_their_file() {
    let studio = Studio::with(&[("SF_REDUCED_BANKS_BYTES", "1")]).await;
    let get = async || studio.get("/plugins/soundfonts/download/bank?presets=0:0").await;
    fs::copy(BANK, studio.path("bank.sf2")).unwrap();
    studio.app.state.soundfonts.catalogue.rescan().await.expect("scans");
    let first = get().await;
    assert_eq!((first.status.as_u16(), first.header("x-soundfont-fallback")), (200, "false"));
    let folder = studio.app.state.config.storage.dir.join("blobs/reduced-soundfonts");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "a bank beyond the limit is not cached");
    assert!(get().await.bytes == first.bytes, "the bank that is made again is different");

    // Another file gets this name, and no scan has seen it yet.
    let mut bytes = fs::read(BANK).unwrap();
    bytes.extend(*b"junk\0\0\0\0");
    fs::write(studio.path("new"), bytes).unwrap();
    fs::rename(studio.path("new"), studio.path("bank.sf2")).unwrap();
    let second = get().await;
    assert_eq!(second.status, 200);
    assert_ne!(second.header("etag"), first.header("etag"));
}

#[tokio::test]
async fn the_error_for_a_reduced_bank_that_needs_too_much_memory_names_the_bank() {
    let studio = Studio::with(&[("SF_BANK_CACHE_BYTES", "4194304")]).await;
    let all_programs: Vec<String> = (0..128).map(|program| format!("0:{program}")).collect();
    let path = format!("/plugins/soundfonts/download/timgm6mb?presets={}", all_programs.join(","));
    let detail = studio.get(&path).await.problem(422, "soundfont_unusable");
    assert!(detail.contains("`timgm6mb`") && detail.contains("4 MiB"), "{detail}");
    assert!(detail.contains("SF_BANK_CACHE_BYTES"), "{detail}");
    let small_bank = studio.get("/plugins/soundfonts/download/timgm6mb?presets=0:0").await;
    assert_eq!(presets(&small_bank.bytes), [(0, 0)]);
}
