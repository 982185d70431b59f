//! Tests of the reports about missing SoundFonts and presets.

use std::time::Duration;

use serde_json::{Value, json};

use crate::soundfonts::tests::small_banks::sf3;
use crate::test_studio::{Studio, song};

/// Returns a song with a missing SoundFont, and with a missing preset that only a preset of bank 0
/// can replace.
fn song_with_missing_sounds() -> Value {
    let mut song = song(5, 3, json!([]));
    song["tracks"][0]["synth_engine"]["soundfont_id"] = "grand".into();
    song
}

#[track_caller]
fn check(missing: &Value, warnings: &Value) {
    assert_eq!(missing.as_array().map(Vec::len), Some(2), "{missing}");
    let (bank, preset) = (&missing[0], &missing[1]);
    assert_eq!((&bank["soundfont_id"], &bank["preset"]), (&json!("grand"), &Value::Null));
    assert_eq!((&bank["played_soundfont_id"], &bank["tracks"]), (&json!("timgm6mb"), &json!(["t"])));
    assert_eq!(
        (&preset["soundfont_id"], &preset["preset"]),
        (&json!("timgm6mb"), &json!({ "bank": 5, "program": 3 }))
    );
    let played_preset = &preset["played_preset"];
    assert_eq!((&played_preset["bank"], &played_preset["program"]), (&json!(0), &json!(3)));
    let name = played_preset["name"].as_str().expect("a name");
    let warning = |number: usize| warnings[number].as_str().unwrap_or_default();
    assert!(
        !name.is_empty() && warning(1).contains("5:3") && warning(1).contains(&format!("0:3 `{name}`")),
        "{warnings}"
    );
    assert!(warning(0).contains("`grand`") && warning(0).contains("`timgm6mb` played instead"), "{warnings}");
    assert_eq!(warnings.as_array().map(Vec::len), Some(2), "{warnings}");
}

async fn result_of_task(studio: &Studio, path: &str, request: &Value) -> Value {
    let started = studio.post(path, request).await.expect(202);
    assert!(studio.app.state.tasks.wait_until_drained(Duration::from_secs(120)).await);
    let task =
        studio.get(&format!("/tasks/{}", started["task_id"].as_str().expect("an id"))).await.expect(200);
    assert_eq!(task["state"], "succeeded", "{task}");
    task["result"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_soundfont_or_preset_is_reported_with_its_replacement() {
    let studio = Studio::start().await;
    let request = json!({ "project": song_with_missing_sounds(), "tail_secs": 0 });
    let answer = studio.post("/plugins/render", &request).await.expect(200);
    check(&answer["receipt"]["missing_sounds"], &answer["warnings"]);
    for (path, more) in [
        ("/multitrack/mixdown", json!({})),
        ("/multitrack/stems", json!({})),
        ("/multitrack/freeze", json!({ "track_id": "t" })),
    ] {
        let mut request = request.clone();
        request.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        let result = result_of_task(&studio, path, &request).await;
        check(&result["missing_sounds"], &result["warnings"]);
    }
    let complete = json!({ "project": song(0, 4, json!([])), "tail_secs": 0 });
    let answer = studio.post("/plugins/render", &complete).await.expect(200);
    assert_eq!((&answer["receipt"]["missing_sounds"], &answer["warnings"]), (&json!([]), &json!([])));
}

#[tokio::test]
async fn a_damaged_sample_is_reported() {
    let studio = Studio::start().await;
    let mut bank = sf3();
    let request = || {
        let mut song = song(0, 0, json!([]));
        song["tracks"][0]["synth_engine"]["soundfont_id"] = "tiny".into();
        json!({ "project": song, "tail_secs": 0 })
    };
    std::fs::write(studio.path("tiny.sf3"), &bank).expect("writes");
    let answer = studio.post("/plugins/render", &request()).await.expect(200);
    assert_eq!(answer["warnings"], json!([]));

    // The number of channels in the identification header (Vorbis I specification, section 4.2.2).
    let header = bank.windows(7).position(|bytes| bytes == b"\x01vorbis").expect("a Vorbis stream");
    bank[header + 11] = 2;
    let damaged_studio = Studio::start().await;
    std::fs::write(damaged_studio.path("tiny.sf3"), &bank).expect("writes");
    let answer = damaged_studio.post("/plugins/render", &request()).await.expect(200);
    let warning = answer["warnings"][0].as_str().expect("a warning");
    assert!(warning.starts_with("A sample of the SoundFont `tiny` is silent: "), "{warning}");
}

#[tokio::test]
async fn a_missing_preset_is_reported_only_if_a_note_plays_it() {
    let studio = Studio::start().await;
    let change = |tick: u32, program: u8, bank: u8| json!({ "type": "program", "tick": tick, "program": program, "bank": bank });
    let missing = async |controls: Value| {
        let request = json!({ "project": song(7, 9, controls), "tail_secs": 0 });
        studio.post("/plugins/render", &request).await.expect(200)["receipt"]["missing_sounds"].clone()
    };
    assert_eq!(missing(json!([change(0, 4, 0)])).await, json!([]));
    assert_eq!(missing(json!([change(0, 4, 3)])).await[0]["preset"], json!({ "bank": 3, "program": 4 }));
    assert_eq!(missing(json!([change(1_000, 4, 3)])).await[0]["preset"], json!({ "bank": 7, "program": 9 }));
}

#[tokio::test]
async fn a_missing_preset_chosen_by_bank_select_is_reported() {
    let studio = Studio::start().await;
    let select = |controller: u8, value: u8| json!({ "type": "cc", "tick": 0, "controller": controller, "value": value });
    let program = json!({ "type": "program", "tick": 0, "program": 3 });
    for (controls, expected) in [
        (json!([select(0, 5), program]), json!([{ "bank": 5, "program": 3 }])),
        (json!([select(32, 6), program]), json!([{ "bank": 6, "program": 3 }])),
        (json!([select(0, 121), select(32, 7), program]), json!([{ "bank": 7, "program": 3 }])),
        // The default SoundFont has this drum kit.
        (json!([select(0, 120), { "type": "program", "tick": 0, "program": 0 }]), json!([])),
        (json!([select(0, 0), program]), json!([])),
        // Without a program change, bank select has no effect.
        (json!([select(0, 5)]), json!([])),
    ] {
        let request = json!({ "project": song(0, 4, controls.clone()), "tail_secs": 0 });
        let answer = studio.post("/plugins/render", &request).await.expect(200);
        let missing = answer["receipt"]["missing_sounds"].as_array().expect("a list");
        let presets: Vec<&Value> = missing.iter().map(|sound| &sound["preset"]).collect();
        assert_eq!(json!(presets), expected, "{controls}");
    }
}

#[tokio::test]
async fn a_header_of_a_soundfont_render_lists_missing_presets() {
    let studio = Studio::start().await;
    let note = json!({ "tick": 0, "length_ticks": 480, "pitch": 60, "velocity": 0.8 });
    for (bank, expected) in [(5, "5:3=0:3"), (0, "")] {
        let request = json!({ "notes": [note], "bank": bank, "program": 3, "tail_secs": 0 });
        let answer = studio.post("/plugins/soundfont-render", &request).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("x-soundfont-missing-presets"), expected);
        assert!(answer.headers.contains_key("x-soundfont-missing-presets"));
    }
}

#[tokio::test]
async fn a_silent_render_gives_a_warning() {
    let studio = Studio::start().await;
    let mut song = song(0, 4, json!([]));
    song["tracks"][0]["mute"] = true.into();
    let answer = studio.post("/plugins/render", &json!({ "project": song })).await.expect(200);
    assert!(answer["warnings"][0].as_str().is_some_and(|text| text.contains("silent")), "{answer}");
}
