//! Tests of `POST /audio/export`.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use crate::audio::test_files::sine_wav;
use crate::audio::tests::uploaded;
use crate::test_app::TestApp;

const PATH: &str = "/api/v1/audio/export";

/// Starts the service and uploads a file of three seconds at 44.1 kHz. Returns the service and the
/// id of the file.
async fn app_with_file() -> (TestApp, Value) {
    let app = TestApp::start().await;
    let file = uploaded(&app, "tone.wav", &sine_wav(1_000.0, 44_100, 3.0)).await;
    (app, file["id"].clone())
}

#[tokio::test]
async fn a_file_is_normalized_and_converted_to_each_format() {
    let (app, id) = app_with_file().await;
    for (format, rate_hz, media_type) in [
        ("wav", 44_100, "audio/wav"),
        ("flac", 44_100, "audio/flac"),
        ("mp3", 44_100, "audio/mpeg"),
        ("ogg", 44_100, "audio/ogg"),
        ("opus", 48_000, "audio/ogg"),
    ] {
        let body = json!({ "file_id": id, "format": format, "normalize": { "lufs": -20 }, "channel_check": true,
            "metadata": { "artist": "Ada" } });
        let answer = app.local(Method::POST, PATH).json(&body).send().await.expect(200);
        assert_eq!((&answer["format"], &answer["sample_rate_hz"]), (&json!(format), &json!(rate_hz)));
        let lufs = answer["lufs"].as_f64().expect("has sound");
        assert!((lufs + 20.0).abs() < 0.3, "{format}: {answer}");
        assert_eq!(answer["duration_secs"], 3.0, "{format}");
        assert_eq!(answer["receipt"]["channels"]["correlation"], 1.0, "{format}");
        let url = answer["audio_url"].as_str().expect("an address");
        let file = app.local(Method::GET, url).send().await;
        assert_eq!((file.status.as_u16(), file.header("content-type")), (200, media_type));
        assert!(file.header("content-disposition").contains(&format!("tone.{format}")), "{format}");
    }
}

#[tokio::test]
async fn a_float_file_keeps_its_samples() {
    let (app, id) = app_with_file().await;
    let body = json!({ "file_id": id, "bit_depth": "float32" });
    let answer = app.local(Method::POST, PATH).json(&body).send().await.expect(200);
    let url = answer["audio_url"].as_str().expect("an address");
    let exported_bytes = app.local(Method::GET, url).send().await.bytes;
    let path = format!("/api/v1/audio/{}/file?format=wav32f", id.as_str().expect("an id"));
    let stored_bytes = app.local(Method::GET, &path).send().await.bytes;
    let samples = |bytes: &[u8]| -> Vec<f32> {
        let reader = hound::WavReader::new(bytes).expect("a WAV file");
        let channels = usize::from(reader.spec().channels);
        reader.into_samples::<f32>().step_by(channels).map(Result::unwrap).collect()
    };
    assert_eq!(samples(&exported_bytes), samples(&stored_bytes));
}

#[tokio::test]
async fn a_task_converts_the_same_file() {
    let (app, id) = app_with_file().await;
    let body = json!({ "file_id": id, "format": "flac", "sample_rate_hz": 96_000 });
    let direct_answer = app.local(Method::POST, PATH).json(&body).send().await.expect(200);
    let started = app.local(Method::POST, &format!("{PATH}?async=true")).json(&body).send().await.expect(202);
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(60)).await);
    let path = format!("/api/v1/tasks/{}", started["task_id"].as_str().expect("an id"));
    let task = app.local(Method::GET, &path).send().await.expect(200);
    assert_eq!(task["result"]["receipt"]["pcm_sha256"], direct_answer["receipt"]["pcm_sha256"], "{task}");
}

#[tokio::test]
async fn unknown_files_and_options_are_refused() {
    let (app, id) = app_with_file().await;
    let check = async |body: Value, status: u16, code: &str| {
        app.local(Method::POST, PATH).json(&body).send().await.problem(status, code)
    };
    check(json!({ "file_id": "nothing" }), 404, "not_found").await;
    check(json!({ "file_id": id, "tail_secs": 3 }), 400, "unsupported_option").await;
    check(
        json!({ "file_id": id, "format": "mp3", "sample_rate_hz": 96_000 }),
        422,
        "unsupported_sample_rate",
    )
    .await;
    check(json!({ "file_id": id, "metadata": { "isrc": "x" } }), 400, "bad_metadata").await;
    let token = app.token_of_new_user("ada").await;
    let body = json!({ "file_id": id });
    app.remote(Method::POST, PATH).token(&token).json(&body).send().await.problem(404, "not_found");
}
