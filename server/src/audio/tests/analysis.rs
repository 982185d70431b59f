//! Tests of measuring stored files and references.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use super::{LIST, get, stored_names, uploaded, with_form};
use crate::audio::test_files::{float_wav, sine_wav};
use crate::test_app::TestApp;

const REFERENCE: &str = "/api/v1/audio/reference";

/// Returns a stereo sine of 1 kHz at -23 dBFS, as in EBU Tech 3341, case 1.
fn tone_at_minus_23(secs: u32) -> Vec<u8> {
    let step = std::f64::consts::TAU * 1_000.0 / 48_000.0;
    let amplitude = 10_f64.powf(-23.0 / 20.0);
    let samples: Vec<f32> = (0..secs * 48_000)
        .flat_map(|frame| [(amplitude * (step * f64::from(frame)).sin()) as f32; 2])
        .collect();
    float_wav(2, 48_000, &samples)
}

#[track_caller]
fn assert_near(answer: &Value, field: &str, expected: f64, tolerance: f64) {
    let measured_value = answer[field].as_f64().unwrap_or(f64::NAN);
    assert!(
        (measured_value - expected).abs() <= tolerance,
        "{field} is {measured_value}, expected {expected}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn analysis_measures_a_tone_correctly() {
    let app = TestApp::start().await;
    let file = uploaded(&app, "tone.wav", &tone_at_minus_23(20)).await;
    let path = format!("{LIST}/{}/analyze", file["id"].as_str().expect("an id"));
    let answer = app.local(Method::POST, &path).send().await.expect(200);
    assert_near(&answer, "duration_secs", 20.0, 0.0);
    assert_near(&answer, "lufs", -23.0, 0.1);
    assert_near(&answer, "max_short_term_lufs", -23.0, 0.1);
    assert_near(&answer, "max_momentary_lufs", -23.0, 0.1);
    assert_near(&answer, "loudness_range_lu", 0.0, 0.1);
    assert_near(&answer, "true_peak_db", -23.0, 0.2);
    assert_near(&answer, "sample_peak_db", -23.0, 0.1);
    assert_near(&answer, "spectral_centroid_hz", 1_000.0, 5.0);
    assert_eq!(answer["tempo"], Value::Null);
    let bands = answer["third_octaves"].as_array().expect("bands");
    assert_eq!(bands.len(), 30);
    assert_near(&bands[16], "center_hz", 1_000.0, 1e-6);
    assert_near(&bands[16], "level_db", -23.0, 0.1);
    // The result is stored, and a task returns the same result.
    let second_answer = app.local(Method::POST, &path).send().await.expect(200);
    assert_eq!(second_answer, answer);
    let started = app.local(Method::POST, &format!("{path}?async=true")).send().await.expect(202);
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(60)).await);
    let task = get(&app, &format!("/api/v1/tasks/{}", started["task_id"].as_str().expect("an id"))).await;
    assert_eq!(task.expect(200)["result"], answer);
}

#[tokio::test(flavor = "multi_thread")]
async fn mono_is_measured_as_played_from_both_loudspeakers() {
    let app = TestApp::start().await;
    let samples: Vec<f32> = (0..480_000)
        .map(|frame| (f64::from(frame) * std::f64::consts::TAU / 48.0).sin() as f32 * 0.070_794_58)
        .collect();
    let file = uploaded(&app, "mono.wav", &float_wav(1, 48_000, &samples)).await;
    let path = format!("{LIST}/{}/analyze", file["id"].as_str().expect("an id"));
    assert_near(&app.local(Method::POST, &path).send().await.expect(200), "lufs", -23.0, 0.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_file_is_measured_without_padding() {
    let app = TestApp::start().await;
    let file = uploaded(&app, "short.wav", &tone_at_minus_23(1)).await;
    let path = format!("{LIST}/{}/analyze", file["id"].as_str().expect("an id"));
    let answer = app.local(Method::POST, &path).send().await.expect(200);
    for field in ["lufs", "max_momentary_lufs", "max_short_term_lufs"] {
        assert_near(&answer, field, -23.0, 0.1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_has_null_measurements() {
    let app = TestApp::start().await;
    let file = uploaded(&app, "silence.wav", &float_wav(2, 48_000, &[0.0; 96_000])).await;
    let path = format!("{LIST}/{}/analyze", file["id"].as_str().expect("an id"));
    let answer = app.local(Method::POST, &path).send().await.expect(200);
    for field in ["lufs", "true_peak_db", "sample_peak_db", "spectral_centroid_hz", "tempo", "key"] {
        assert_eq!(answer[field], Value::Null, "{field}");
    }
    assert_eq!(answer["third_octaves"][3]["level_db"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reference_is_measured_and_not_stored() {
    let app = TestApp::start().await;
    let tone = tone_at_minus_23(5);
    let post = || app.local(Method::POST, REFERENCE);
    let analysis_answer = with_form(post(), &[("hit.wav", &tone)]).send().await.expect(200);
    assert_eq!((&analysis_answer["name"], stored_names(&app)), (&json!("hit.wav"), vec![]));
    assert_near(&analysis_answer, "lufs", -23.0, 0.1);
    assert_near(&analysis_answer, "true_peak_db", -23.0, 0.2);
    assert_near(&analysis_answer, "spectral_centroid_hz", 1_000.0, 5.0);
    assert_eq!(analysis_answer["third_octaves"].as_array().map(Vec::len), Some(30));
    let file = uploaded(&app, "hit.wav", &tone).await;
    let stored_analysis = post().json(&json!({ "audio_id": file["id"] })).send().await.expect(200);
    assert_eq!(stored_analysis, analysis_answer);
    assert_eq!(analysis_answer["warnings"], json!([]));
    let mut stale = tone.clone();
    stale[4..8].fill(0);
    let warned = with_form(post(), &[("cut.wav", &stale)]).send().await.expect(200);
    assert_eq!(warned["warnings"].as_array().map(Vec::len), Some(1), "{warned}");
    assert_near(&warned, "lufs", -23.0, 0.1);
    let file = uploaded(&app, "cut.wav", &stale).await;
    let kept_file = post().json(&json!({ "audio_id": file["id"] })).send().await.expect(200);
    assert_eq!(kept_file["warnings"], warned["warnings"]);
    post().json(&json!({ "audio_id": "nothing" })).send().await.problem(404, "not_found");
    post().json(&json!({ "id": 1 })).send().await.problem(400, "unexpected_json");
    post().send().await.problem(415, "unsupported_media_type");
    with_form(post(), &[("a.txt", b"no sound at all")]).send().await.problem(415, "unsupported_media_type");
    with_form(post(), &[]).send().await.problem(400, "no_file");
    assert_eq!(stored_names(&app).len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_owner_can_analyze_a_file() {
    let app = TestApp::start().await;
    let file = uploaded(&app, "a.wav", &sine_wav(440.0, 48_000, 0.5)).await;
    let token = app.token_of_new_user("other").await;
    let path = format!("{LIST}/{}/analyze", file["id"].as_str().expect("an id"));
    app.remote(Method::POST, &path).send().await.problem(401, "token_missing");
    app.remote(Method::POST, &path).token(&token).send().await.problem(404, "not_found");
    let body = json!({ "audio_id": file["id"] });
    app.remote(Method::POST, REFERENCE).json(&body).send().await.problem(401, "token_missing");
    app.remote(Method::POST, REFERENCE).token(&token).json(&body).send().await.problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_json_reference_has_the_body_limit_of_json() {
    let app = TestApp::start().await;
    let body = json!({"audio_id": "x".repeat(1024 * 1024)});
    let detail = app.local(Method::POST, REFERENCE).json(&body).send().await.problem(413, "too_large");
    assert!(detail.contains("1048576"), "{detail}");
}
