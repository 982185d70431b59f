//! Tests of audio files in exports.

use axum::http::Method;
use serde_json::{Value, json};

use super::{LIST, get, uploaded};
use crate::audio::test_files::{float_wav, sine_wav};
use crate::test_app::TestApp;

/// Returns a project with one clip that begins half a second into the song.
fn song(file_id: &Value) -> Value {
    json!({"schema_version": 1, "project_id": "song", "tracks": [{"id": "t", "kind": "audio", "items": [
        {"type": "audio", "id": "clip", "start_tick": 960, "source": {"server_file_id": file_id}}]}]})
}

async fn export(app: &TestApp, project: &Value, rate_hz: u32) -> (Value, Vec<f32>) {
    let request = json!({"project": project, "bit_depth": "float32", "sample_rate_hz": rate_hz});
    let answer = app.local(Method::POST, "/api/v1/plugins/render").json(&request).send().await.expect(200);
    let file = app.local(Method::GET, answer["audio_url"].as_str().expect("an address")).send().await;
    let mut reader = hound::WavReader::new(&file.bytes[..]).expect("a WAV file");
    assert_eq!((reader.spec().channels, reader.spec().sample_rate), (2, rate_hz));
    let samples = reader.samples::<f32>().collect::<Result<_, _>>().expect("samples");
    (answer, samples)
}

/// Returns interleaved stereo samples whose channels differ.
fn ramp(frames: usize) -> Vec<f32> {
    (0..frames).flat_map(|frame| [0.25 - frame as f32 / 20_000.0, (frame % 97) as f32 / 400.0]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_contains_the_exact_samples_of_a_clip() {
    let app = TestApp::start().await;
    let sound = ramp(2_400);
    let file = uploaded(&app, "ramp.wav", &float_wav(2, 48_000, &sound)).await;
    let (answer, samples) = export(&app, &song(&file["id"]), 48_000).await;
    assert_eq!(
        (&answer["receipt"]["silent_tracks"], &answer["receipt"]["left_out"]),
        (&json!([]), &json!([]))
    );
    assert_eq!(answer["receipt"]["song_secs"], 0.55);
    let (silent_frames, from_clip) = samples.split_at(2 * 24_000);
    let (clip, remaining_frames) = from_clip.split_at(sound.len());
    assert!(silent_frames.iter().chain(remaining_frames).all(|sample| *sample == 0.0));
    assert!(clip == sound);
}

#[tokio::test(flavor = "multi_thread")]
async fn export_and_page_use_the_same_converted_samples() {
    let app = TestApp::start().await;
    let file = uploaded(&app, "sine.wav", &sine_wav(440.0, 44_100, 0.25)).await;
    let path = format!("{LIST}/{}/file?format=wav32f&sample_rate_hz=48000", file["id"].as_str().unwrap());
    let page = get(&app, &path).await;
    let expected: Vec<f32> =
        hound::WavReader::new(&page.bytes[..]).unwrap().samples().collect::<Result<_, _>>().unwrap();
    assert_eq!(expected.len(), 12_000);
    let (_, samples) = export(&app, &song(&file["id"]), 48_000).await;
    for (frame, value) in expected.iter().enumerate() {
        let index = 2 * (24_000 + frame);
        assert_eq!((samples[index], samples[index + 1]), (*value, *value), "frame {frame}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_at_another_rate_is_converted_after_the_mix() {
    let app = TestApp::start().await;
    let file = uploaded(&app, "sine.wav", &sine_wav(1_000.0, 48_000, 1.0)).await;
    let (answer, samples) = export(&app, &song(&file["id"]), 44_100).await;
    assert_eq!(answer["receipt"]["song_secs"], 1.5);
    assert!((answer["duration_secs"].as_f64().unwrap() - 1.6).abs() < 0.01, "{answer}");
    // Compares only the middle of the sine, because its abrupt ends cause ringing.
    let largest_error = (36_000..60_000)
        .map(|frame| {
            let secs = f64::from(frame) / 44_100.0 - 0.5;
            let expected = 0.5 * (std::f64::consts::TAU * 1_000.0 * secs).sin();
            (f64::from(samples[2 * frame as usize]) - expected).abs()
        })
        .fold(0.0, f64::max);
    assert!(largest_error < 1e-6, "the largest error is {largest_error:e}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_receipt_names_a_missing_file() {
    let app = TestApp::start().await;
    let (answer, samples) = export(&app, &song(&json!("gone")), 48_000).await;
    assert!(samples.iter().all(|sample| *sample == 0.0));
    assert_eq!(answer["receipt"]["silent_tracks"], json!(["t"]));
    assert_eq!(
        answer["receipt"]["left_out"],
        json!([{"pointer": "/tracks/0/items/0", "reason": "the audio file \"gone\" is missing"}])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_impulse_response_lasts_at_most_30_seconds() {
    let app = TestApp::start().await;
    let clip = uploaded(&app, "sine.wav", &sine_wav(440.0, 48_000, 0.1)).await;
    for (secs, is_accepted) in [(30, true), (31, false)] {
        let file = uploaded(&app, "response.wav", &sine_wav(100.0, 8_000, f64::from(secs))).await;
        let mut project = song(&clip["id"]);
        project["tracks"][0]["effects"] = json!([{"id": "room", "type": "builtin", "name": "convolution",
            "impulse": file["id"], "params": {"response": "Own", "mix": 1}}]);
        let (answer, samples) = export(&app, &project, 48_000).await;
        assert_eq!(samples.iter().any(|sample| *sample != 0.0), is_accepted, "{secs} s");
        let reason = "the impulse response lasts 31.00000 s; the limit is 30 s";
        let left_out = json!([{"pointer": "/tracks/0/effects/0/impulse", "reason": reason}]);
        assert_eq!(answer["receipt"]["left_out"], if is_accepted { json!([]) } else { left_out }, "{secs} s");
    }
}
