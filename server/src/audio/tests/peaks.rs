//! Tests of the peaks of waveforms.

use serde_json::{Value, json};

use super::{LIST, get, uploaded};
use crate::audio::peaks_file::Shape;
use crate::audio::test_files::float_wav;
use crate::test_app::TestApp;

/// Returns 2000 stereo frames: a ramp on the left, and on the right its mirror at half the size.
fn ramp() -> Vec<f32> {
    (0..2_000).flat_map(|frame| [frame as f32 / 2_000.0, frame as f32 / -4_000.0]).collect()
}

/// Returns the expected peaks of the ramp's frames from `first` to before `end`.
fn expected(first: usize, end: usize) -> Vec<i16> {
    let value = |frame: usize, scale: f32| (frame as f32 / scale * 32_767.0).round_ties_even() as i16;
    vec![value(first, 2_000.0), value(end - 1, 2_000.0), value(end - 1, -4_000.0), value(first, -4_000.0)]
}

async fn start() -> (TestApp, String) {
    let app = TestApp::start().await;
    let file = uploaded(&app, "ramp.wav", &float_wav(2, 44_100, &ramp())).await;
    let path = format!("{LIST}/{}/peaks", file["id"].as_str().expect("an id"));
    (app, path)
}

#[tokio::test(flavor = "multi_thread")]
async fn both_formats_contain_the_same_values() {
    let (app, path) = start().await;
    let answer = get(&app, &format!("{path}?format=json&samples_per_pixel=512")).await.expect(200);
    let data: Vec<i16> = [(0, 512), (512, 1_024), (1_024, 1_536), (1_536, 2_000)]
        .into_iter()
        .flat_map(|(first, end)| expected(first, end))
        .collect();
    let whole_peaks = json!({ "version": 2, "channels": 2, "sample_rate": 44_100, "samples_per_pixel": 512, "bits": 16,
        "length": 4, "data": data });
    assert_eq!(answer, whole_peaks);
    let binary = get(&app, &format!("{path}?samples_per_pixel=512")).await;
    assert_eq!((binary.status.as_u16(), binary.header("content-type")), (200, "application/octet-stream"));
    let number = |at: usize| u32::from_le_bytes(binary.bytes[at..at + 4].try_into().expect("four bytes"));
    assert_eq!([0, 4, 8, 12, 16, 20].map(number), [2, 0, 44_100, 512, 4, 2]);
    let values: Vec<u8> = data.iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(binary.bytes[24..], values);
    let narrow = get(&app, &format!("{path}?samples_per_pixel=512&bits=8")).await;
    let values: Vec<u8> = data.iter().map(|value| (value / 256) as i8 as u8).collect();
    assert_eq!((narrow.bytes[4], &narrow.bytes[24..]), (1, values.as_slice()));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_resolution_and_part_can_be_requested() {
    let (app, path) = start().await;
    let data =
        |answer: Value| -> Vec<i16> { serde_json::from_value(answer["data"].clone()).expect("numbers") };
    for power in 0..=16 {
        let frames = 1_usize << power;
        let pixels = 2_000_usize.div_ceil(frames);
        let first = pixels / 2;
        let query = format!("{path}?format=json&samples_per_pixel={frames}&start={first}&pixels=1");
        let file_data = data(get(&app, &query).await.expect(200));
        assert_eq!(
            file_data,
            expected(first * frames, ((first + 1) * frames).min(2_000)),
            "{frames} frames per pixel"
        );
    }
    let all_peaks = get(&app, &format!("{path}?format=json")).await.expect(200);
    assert_eq!((&all_peaks["samples_per_pixel"], &all_peaks["length"]), (&json!(256), &json!(8)));
    let tail = get(&app, &format!("{path}?format=json&start=6&pixels=99")).await.expect(200);
    assert_eq!((tail["length"].as_u64(), data(tail)), (Some(2), data(all_peaks)[24..].to_vec()));
    let beyond = get(&app, &format!("{path}?format=json&start=99")).await.expect(200);
    assert_eq!((&beyond["length"], &beyond["data"]), (&json!(0), &json!([])));
    for bad_query in
        ["samples_per_pixel=0", "samples_per_pixel=300", "samples_per_pixel=131072", "bits=12", "format=png"]
    {
        get(&app, &format!("{path}?{bad_query}")).await.problem(400, "bad_query");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unchanged_peaks_are_not_sent_again() {
    let (app, path) = start().await;
    let tag = get(&app, &path).await.header("etag").to_owned();
    let call = app.local(axum::http::Method::GET, &path).header("if-none-match", &tag);
    call.send().await.expect(304);
    let byte_peaks = get(&app, &format!("{path}?bits=8")).await;
    assert_ne!(byte_peaks.header("etag"), tag);
    let token = app.token_of_new_user("other").await;
    app.remote(axum::http::Method::GET, &path).token(&token).send().await.problem(404, "not_found");
    app.remote(axum::http::Method::GET, &path).send().await.problem(401, "token_missing");
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_pixels_are_refused() {
    let app = TestApp::start().await;
    let file = uploaded(&app, "long.wav", &float_wav(1, 8_000, &[0.0; 65_537])).await;
    let path = format!("{LIST}/{}/peaks", file["id"].as_str().expect("an id"));
    let detail = get(&app, &format!("{path}?samples_per_pixel=1")).await.problem(400, "bad_query");
    assert!(detail.contains("65537 pixels") && detail.contains("at most 65536"), "{detail}");
    get(&app, &format!("{path}?format=json&samples_per_pixel=1&start=1")).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_file_without_parameters_gets_a_coarser_resolution() {
    let app = TestApp::start().await;
    let file = uploaded(&app, "a.wav", &float_wav(1, 44_100, &[0.5; 2_000])).await;
    let sha256 = file["sha256"].as_str().expect("a hash");
    // The file is one frame too long for 256 frames per pixel. Its file of peaks is sparse, so it
    // needs no disk space.
    let shape = Shape { channels: 1, frames: (1 << 28) + 1 };
    let change = sqlx::query("UPDATE audio_contents SET frames = $1 WHERE sha256 = $2");
    let frames = i64::try_from(shape.frames).expect("fits");
    change.bind(frames).bind(sha256).execute(&app.state.db).await.expect("updates");
    let peaks = app.state.config.storage.dir.join(format!("blobs/audio/{sha256}.peaks"));
    let peaks = std::fs::File::options().write(true).open(peaks).expect("opens");
    peaks.set_len(shape.file_bytes()).expect("grows");
    let path = format!("{LIST}/{}/peaks", file["id"].as_str().expect("an id"));
    let answer = get(&app, &path).await;
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.bytes));
    let number = |at: usize| u32::from_le_bytes(answer.bytes[at..at + 4].try_into().expect("four bytes"));
    assert_eq!((number(12), number(16)), (512, (1 << 19) + 1));
    get(&app, &format!("{path}?samples_per_pixel=256")).await.problem(400, "bad_query");
}
