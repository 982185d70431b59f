//! Tests of processed copies: their pitch, length, level and bits.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use super::{LIST, get, uploaded};
use crate::audio::test_files::{float_wav, sine_wav};
use crate::test_app::TestApp;

const RATE_HZ: f64 = 48_000.0;

/// Processes a file and returns the task.
async fn task_of(app: &TestApp, file: &Value, recipe: Value) -> Value {
    let path = format!("{LIST}/{}/process", file["id"].as_str().expect("an id"));
    let started = app.local(Method::POST, &path).json(&recipe).send().await.expect(202);
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(120)).await);
    let task_id = started["task_id"].as_str().expect("an id").to_owned();
    get(app, &format!("/api/v1/tasks/{task_id}")).await.expect(200)
}

/// Processes a file, and returns the copy.
async fn processed(app: &TestApp, file: &Value, recipe: Value) -> Value {
    let task = task_of(app, file, recipe).await;
    assert_eq!(task["state"], "succeeded", "{task}");
    task["result"]["file"].clone()
}

/// Returns the decoded samples of a file, interleaved.
async fn samples_of(app: &TestApp, file: &Value) -> Vec<f32> {
    let path = format!("{LIST}/{}/file?format=wav32f", file["id"].as_str().expect("an id"));
    let answer = get(app, &path).await;
    assert_eq!(answer.status.as_u16(), 200);
    let bytes = &answer.bytes[dsp_core::wav::FLOAT_HEADER_BYTES as usize..];
    bytes.chunks_exact(4).map(|value| f32::from_le_bytes(value.try_into().expect("4 bytes"))).collect()
}

/// Returns the frequency of a tone, from the rising zero crossings of its middle half.
fn frequency_hz(samples: &[f32]) -> f64 {
    let middle = &samples[samples.len() / 4..samples.len() * 3 / 4];
    let crossings: Vec<f64> = middle
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| pair[0] <= 0.0 && pair[1] > 0.0)
        .map(|(frame, pair)| frame as f64 - f64::from(pair[0]) / f64::from(pair[1] - pair[0]))
        .collect();
    (crossings.len() - 1) as f64 * RATE_HZ / (crossings[crossings.len() - 1] - crossings[0])
}

#[track_caller]
fn assert_cents(found_hz: f64, expected_hz: f64, tolerance: f64) {
    let cents = 1_200.0 * (found_hz / expected_hz).log2();
    assert!(cents.abs() < tolerance, "{found_hz} Hz is {cents} cents from {expected_hz} Hz");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transposed_tone_has_the_pitch_and_keeps_its_length() {
    let app = TestApp::start().await;
    let file = uploaded(&app, "a.wav", &sine_wav(440.0, 48_000, 2.0)).await;
    // A fifth: 440 to 660 Hz.
    let fifth = processed(&app, &file, json!({ "pitch_cents": 701.955 })).await;
    assert_eq!((&fifth["frames"], &fifth["name"]), (&json!(96_000), &json!("a (+7.02 st).wav")));
    assert_cents(frequency_hz(&samples_of(&app, &fifth).await), 660.0, 3.0);
    let slower = processed(&app, &file, json!({ "stretch": 1.37, "length_frames": 48_000 })).await;
    assert_eq!(slower["frames"], 65_760);
    assert_cents(frequency_hz(&samples_of(&app, &slower).await), 440.0, 3.0);
    let combined_result = processed(&app, &file, json!({ "stretch": 0.7, "pitch_cents": -350 })).await;
    assert_eq!(combined_result["frames"], 67_200);
    // The pitch has steps of 1/512 of the product of both factors, here of 0.57: 6 cents.
    assert_cents(
        frequency_hz(&samples_of(&app, &combined_result).await),
        440.0 * (-350.0_f64 / 1200.0).exp2(),
        6.0,
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn stretched_clicks_keep_their_positions() {
    let app = TestApp::start().await;
    let mut samples = vec![0.0; 192_000];
    let starts: Vec<usize> = (0..8).map(|click| 1_000 + click * 24_000).collect();
    for start in &starts {
        for frame in 0..200 {
            let sign = if frame % 8 < 4 { 1.0 } else { -1.0 };
            samples[start + frame] = sign * 0.9 * (1.0 - frame as f32 / 200.0);
        }
    }
    let file = uploaded(&app, "clicks.wav", &float_wav(1, 48_000, &samples)).await;
    for stretch in [1.5, 0.8] {
        let copy = processed(&app, &file, json!({ "stretch": stretch })).await;
        let samples = samples_of(&app, &copy).await;
        assert_eq!(samples.len() as f64, 192_000.0 * stretch);
        for start in &starts {
            let expected = (*start as f64 * stretch) as usize;
            let from = expected.saturating_sub(6_000);
            let click_frame =
                (from..expected + 6_000).find(|frame| samples[*frame].abs() > 0.2).expect("a click");
            // 5 ms: an ear hears two clicks that are closer together as one.
            assert!(
                click_frame.abs_diff(expected) < 240,
                "{stretch}: click at {click_frame}, expected {expected}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_reversed_twice_has_the_same_bits() {
    let app = TestApp::start().await;
    let samples: Vec<f32> = (0..20_000).map(|sample| ((sample * 7_919) % 65_536) as f32 / 65_536.0).collect();
    let file = uploaded(&app, "noise.wav", &float_wav(2, 44_100, &samples)).await;
    let reversed = processed(&app, &file, json!({ "reverse": true })).await;
    let backwards: Vec<f32> = samples.chunks(2).rev().flatten().copied().collect();
    assert_eq!(samples_of(&app, &reversed).await, backwards);
    let twice_reversed = processed(&app, &reversed, json!({ "reverse": true })).await;
    assert_eq!(samples_of(&app, &twice_reversed).await, samples);
    // The same operations are not processed again.
    let task = task_of(&app, &file, json!({ "reverse": true, "stretch": 1 })).await;
    assert_eq!(task["result"], json!({ "file": reversed, "is_stored": true }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_normalized_copy_has_the_level() {
    let app = TestApp::start().await;
    let file = uploaded(&app, "a.wav", &sine_wav(1_000.0, 48_000, 2.0)).await;
    let peak = json!({ "normalize": { "measure": "peak", "level_db": -1 } });
    let samples = samples_of(&app, &processed(&app, &file, peak).await).await;
    let highest = samples.iter().fold(0.0_f32, |highest, sample| highest.max(sample.abs()));
    assert!((20.0 * highest.log10() + 1.0).abs() < 0.01, "{highest}");
    let loud = json!({ "normalize": { "measure": "loudness", "level_db": -14 } });
    let copy = processed(&app, &file, loud).await;
    let path = format!("{LIST}/{}/analyze", copy["id"].as_str().expect("an id"));
    let analysis = app.local(Method::POST, &path).send().await.expect(200);
    assert!((analysis["lufs"].as_f64().expect("a loudness") + 14.0).abs() < 0.1, "{analysis}");
    let silence = uploaded(&app, "silence.wav", &float_wav(1, 48_000, &[0.0; 48_000])).await;
    let normalize = json!({ "normalize": { "measure": "peak", "level_db": 0 } });
    assert_eq!(task_of(&app, &silence, normalize).await["error"]["code"], "nothing_to_normalize");
}

#[tokio::test(flavor = "multi_thread")]
async fn very_short_and_slow_files_can_be_stretched() {
    let app = TestApp::start().await;
    for (rate_hz, frames) in [(8_000, 900), (192_000, 9_000), (48_000, 1), (44_100, 100)] {
        let samples: Vec<f32> = (0..frames).map(|frame| (frame as f32 * 0.1).sin() * 0.5).collect();
        let file = uploaded(&app, "short.wav", &float_wav(1, rate_hz, &samples)).await;
        let copy = processed(&app, &file, json!({ "stretch": 2, "pitch_cents": 200 })).await;
        assert_eq!(copy["frames"], frames * 2, "{rate_hz} Hz");
        assert_eq!(copy["sample_rate_hz"], rate_hz);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_operations_and_files_of_others_are_refused() {
    let app = TestApp::start().await;
    let file = uploaded(&app, "a.wav", &sine_wav(440.0, 48_000, 0.5)).await;
    let path = format!("{LIST}/{}/process", file["id"].as_str().expect("an id"));
    let post = |recipe: Value| app.local(Method::POST, &path).json(&recipe);
    let detail = post(json!({ "stretch": 5 })).send().await.problem(400, "bad_processing");
    assert!(detail.contains("`stretch` is 5; it must be from 0.25 to 4"), "{detail}");
    post(json!({ "speed": 5 })).send().await.problem(400, "unexpected_json");
    let token = app.token_of_new_user("other").await;
    app.remote(Method::POST, &path).token(&token).json(&json!({})).send().await.problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_above_the_limit_of_an_upload_is_refused_at_once() {
    let app = TestApp::with(&[("SF_UPLOAD_MAX_BYTES", "100000")]).await;
    let file = uploaded(&app, "a.wav", &sine_wav(440.0, 48_000, 0.5)).await;
    let path = format!("{LIST}/{}/process", file["id"].as_str().expect("an id"));
    let answer = app.local(Method::POST, &path).json(&json!({ "stretch": 4 })).send().await;
    let detail = answer.problem(413, "too_large");
    assert!(detail.contains("A processed file may have at most 100000 bytes"), "{detail}");
}
