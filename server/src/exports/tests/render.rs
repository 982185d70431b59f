use std::io::Cursor;
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::auth::add_test_user;
use crate::test_app::{Answer, TestApp};
use crate::test_studio::{Studio, float_samples, song};

const PATH: &str = "/plugins/render";

async fn file(studio: &Studio, answer: &Value) -> Answer {
    let path = answer["audio_url"].as_str().expect("an address");
    studio.app.local(Method::GET, path).send().await
}

/// Returns the audio bytes of a WAV file, whose last chunk contains them.
fn audio(wav: &[u8]) -> &[u8] {
    let offset = wav.windows(4).position(|id| id == b"data").expect("a data chunk");
    let size = u32::from_le_bytes(wav[offset + 4..offset + 8].try_into().unwrap()) as usize;
    &wav[offset + 8..offset + 8 + size]
}

#[tokio::test]
async fn a_project_becomes_a_file_with_a_receipt() {
    let studio = Studio::start().await;
    let answer =
        studio.post(PATH, &json!({"project": song(0, 4, json!([])), "metadata": {"title": "Tïtle"}})).await;
    let answer = answer.expect(200);
    assert_eq!((&answer["format"], &answer["bit_depth"]), (&"wav".into(), &"pcm16".into()));
    assert_eq!(answer["sample_rate_hz"], 48_000);
    let duration_secs = answer["duration_secs"].as_f64().unwrap();
    assert!((1.0..6.1).contains(&duration_secs), "{duration_secs}");
    assert!(
        answer["lufs"].as_f64().unwrap() < -10.0 && answer["true_peak_db"].as_f64().unwrap() < -3.0,
        "{answer}"
    );
    let receipt = &answer["receipt"];
    assert!(receipt["peak"].as_f64().unwrap() > 0.01, "{receipt}");
    assert_eq!((&receipt["clipped_samples"], &receipt["silent_tracks"]), (&0.into(), &json!([])));
    assert_eq!(receipt["engine_version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(receipt["project_sha256"].as_str().unwrap().len(), 64);
    assert_eq!(receipt["song_secs"], 1.0);
    assert_eq!(receipt["limiter"], json!({"largest_reduction_db": 0.0, "reduced_secs": 0.0}));
    assert_eq!(
        receipt["settings"],
        json!({"sample_rate_hz": 48000, "format": "wav", "bit_depth": "pcm16", "bit_rate_kbps": null, "quality": null,
               "noise_shaping": false, "range": null, "tracks": null, "tail_secs": 5.0, "polyphony": 256,
               "interpolation": "four_point", "velocity_to_cutoff": "as_stated",
               "reverb": {"room": 0.5, "damping": 0.5, "width": 1.0, "level_db": 0.0},
               "chorus": {"delay_ms": 8.0, "depth_ms": 2.5, "rate_hz": 0.4, "level_db": 0.0}, "seed": 0,
               "soundfonts": ["timgm6mb"]})
    );

    let wav = file(&studio, &answer).await;
    assert_eq!((wav.status.as_u16(), wav.header("content-type")), (200, "audio/wav"));
    assert!(
        wav.header("content-disposition").ends_with("filename*=UTF-8''T%C3%AFtle.wav"),
        "{:?}",
        wav.headers
    );
    let samples = audio(&wav.bytes);
    assert_eq!(receipt["pcm_sha256"], format!("{:x}", Sha256::digest(samples)));
    assert_eq!(receipt["frames"], samples.len() / 4);
    let peak = samples
        .chunks_exact(2)
        .map(|b| f64::from(i16::from_le_bytes([b[0], b[1]])).abs())
        .fold(0.0, f64::max);
    assert!((receipt["peak"].as_f64().unwrap() - peak / 32_768.0).abs() < 1e-6);

    let path = answer["audio_url"].as_str().unwrap();
    let part = studio.app.local(Method::GET, path).header("range", "bytes=0-3").send().await;
    assert!(part.status == 206 && part.bytes == b"RIFF");
    let tag = wav.header("etag");
    studio.app.local(Method::GET, path).header("if-none-match", tag).send().await.expect(304);
}

#[tokio::test]
async fn velocity_to_cutoff_as_specified_makes_soft_notes_duller() {
    let studio = Studio::start().await;
    let mut project = song(0, 4, json!([]));
    project["tracks"][0]["items"][0]["notes"][0]["velocity"] = (40.0 / 127.0).into();
    let mut treble = Vec::new();
    for setting in ["as_stated", "specification"] {
        project["settings"]["velocity_to_cutoff"] = setting.into();
        let answer =
            studio.post(PATH, &json!({"project": project, "bit_depth": "float32"})).await.expect(200);
        assert_eq!(answer["receipt"]["settings"]["velocity_to_cutoff"], setting);
        let samples = float_samples(&file(&studio, &answer).await.bytes);
        let left: Vec<f32> = samples.into_iter().step_by(2).collect();
        // The second difference is a high-pass filter that rises by 12 dB per octave.
        treble.push(
            left.windows(3).map(|window| (window[0] - 2.0 * window[1] + window[2]).powi(2)).sum::<f32>(),
        );
    }
    assert!(treble[1] < 0.5 * treble[0], "{treble:?}");
    project["settings"]["velocity_to_cutoff"] = "other".into();
    let refusal = studio.post(PATH, &json!({"project": project})).await.expect(400);
    assert!(refusal.to_string().contains("/settings/velocity_to_cutoff"), "{refusal}");
}

#[tokio::test]
async fn a_file_has_the_requested_bit_depth() {
    let studio = Studio::start().await;
    let project = song(0, 4, json!([]));
    let mut peaks = Vec::new();
    for (depth, bits) in [("pcm8", 8), ("pcm16", 16), ("PCM24", 24), ("float32", 32)] {
        let answer = studio.post(PATH, &json!({"project": project, "bit_depth": depth})).await.expect(200);
        assert_eq!(answer["bit_depth"], depth.to_lowercase());
        let file = file(&studio, &answer).await;
        let reader = hound::WavReader::new(Cursor::new(&file.bytes[..])).expect("a WAV file");
        assert_eq!((reader.spec().bits_per_sample, reader.spec().channels), (bits, 2));
        peaks.push((bits, answer["receipt"]["peak"].as_f64().expect("a number")));
    }
    let (_, exact_peaks) = peaks.pop().expect("the floats");
    for (bits, peak) in peaks {
        // Rounding and dither change a sample by up to one and a half steps.
        let step = 2_f64.powi(1 - i32::from(bits));
        assert!((peak - exact_peaks).abs() <= 1.5 * step, "{bits} bits: {peak} instead of {exact_peaks}");
    }
}

#[tokio::test]
async fn noise_shaping_is_applied_to_integers_and_reported() {
    let studio = Studio::start().await;
    let project = song(0, 4, json!([]));
    let hash = async |depth: &str, rate_hz: u32, noise_shaping: bool, expected: bool| {
        let request = json!({"project": project, "bit_depth": depth, "sample_rate_hz": rate_hz, "noise_shaping": noise_shaping});
        let receipt = studio.post(PATH, &request).await.expect(200)["receipt"].clone();
        assert_eq!(receipt["settings"]["noise_shaping"], expected, "{depth} at {rate_hz} Hz");
        receipt["pcm_sha256"].clone()
    };
    assert_ne!(hash("pcm16", 48_000, true, true).await, hash("pcm16", 48_000, false, false).await);
    // Floats have no quantization noise, and there is no filter for 96 kHz.
    assert_eq!(hash("float32", 48_000, true, false).await, hash("float32", 48_000, false, false).await);
    assert_eq!(hash("pcm16", 96_000, true, false).await, hash("pcm16", 96_000, false, false).await);
    let refusal = studio.post(PATH, &json!({"project": project, "noise_shaping": "on"})).await;
    refusal.problem(400, "unexpected_json");
}

#[tokio::test]
async fn a_normalized_mix_has_the_target_loudness_and_true_peak() {
    let studio = Studio::start().await;
    let project = song(0, 4, json!([]));
    let original_answer = studio.post(PATH, &json!({"project": project})).await.expect(200);
    assert_eq!(original_answer["receipt"]["normalization"], Value::Null);
    for (depth, target_lufs) in [("float32", -23.0), ("pcm16", -30.0)] {
        let request = json!({"project": project, "bit_depth": depth, "normalize": {"lufs": target_lufs, "true_peak_db": -1}});
        let answer = studio.post(PATH, &request).await.expect(200);
        let lufs = answer["lufs"].as_f64().expect("a loudness");
        assert!((lufs - target_lufs).abs() < 0.1, "{depth}: {lufs} LUFS instead of {target_lufs}");
        assert!(answer["true_peak_db"].as_f64().expect("a peak") <= -1.0, "{answer}");
        let report = &answer["receipt"]["normalization"];
        let gain_db = target_lufs - original_answer["lufs"].as_f64().expect("a loudness");
        assert!((report["gain_db"].as_f64().expect("a gain") - gain_db).abs() < 0.05, "{report}");
        assert_eq!(answer["receipt"]["frames"], original_answer["receipt"]["frames"]);
    }
    // At the highest targets, the limiter must keep the true peak below its target, including the
    // dither.
    for (depth, noise_shaping) in [("pcm8", true), ("pcm16", true), ("pcm24", false), ("float32", false)] {
        let request = json!({"project": project, "bit_depth": depth, "noise_shaping": noise_shaping,
                             "normalize": {"lufs": -6, "true_peak_db": -1}});
        let answer = studio.post(PATH, &request).await.expect(200);
        assert!(answer["true_peak_db"].as_f64().expect("a peak") <= -1.0, "{depth}: {answer}");
        assert!(answer["receipt"]["normalization"]["peak_reduction_db"].as_f64().expect("decibels") > 0.0);
    }
    let empty = json!({"schema_version": 1, "project_id": "p", "tracks": []});
    let answer = studio.post(PATH, &json!({"project": empty, "normalize": {}})).await.expect(200);
    let report = &answer["receipt"]["normalization"];
    assert_eq!((&report["original_lufs"], &report["gain_db"]), (&Value::Null, &json!(0.0)));
    let stems = json!({"project": project, "normalize": {"lufs": -14}});
    studio.post("/multitrack/stems", &stems).await.problem(400, "unsupported_option");
}

#[tokio::test]
async fn a_normalized_mix_that_misses_its_loudness_gets_a_warning() {
    let studio = Studio::start().await;
    let mut project = song(0, 4, json!([]));
    let normalized = |project: &Value, depth: &str, target: Value| {
        let body = json!({"project": project, "tail_secs": 0, "bit_depth": depth, "normalize": target});
        let studio = &studio;
        async move { studio.post(PATH, &body).await.expect(200) }
    };
    let answer = normalized(&project, "pcm24", json!({"lufs": -60})).await;
    assert_eq!(answer["warnings"], json!([]));
    let answer = normalized(&project, "pcm8", json!({"lufs": -60})).await;
    let warning = answer["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("instead of -60.0 LUFS") && warning.contains("dither"), "{warning}");

    project["tracks"][0]["items"][0]["length_ticks"] = 240.into();
    project["master"]["volume_db"] = 24.into();
    let answer = normalized(&project, "pcm24", json!({"lufs": -14, "true_peak_db": -20})).await;
    let warning = answer["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("shorter than 0.4 s"), "{warning}");
    assert!(answer["true_peak_db"].as_f64().expect("a peak") <= -20.0, "{answer}");
    let report = &answer["receipt"]["normalization"];
    assert!(report["peak_reduction_db"].as_f64().expect("decibels") > 0.0, "{report}");
}

#[tokio::test]
async fn a_receipt_reports_the_limiter_reduction() {
    let studio = Studio::start().await;
    let mut project = song(0, 4, json!([]));
    project["master"]["volume_db"] = 24.into();
    let answer = studio.post(PATH, &json!({"project": project, "bit_depth": "float32"})).await.expect(200);
    let limiter = &answer["receipt"]["limiter"];
    let reduction_db = limiter["largest_reduction_db"].as_f64().expect("decibels");
    // The limiter leaves a signal below its ceiling unchanged.
    project["master"]["volume_db"] = 0.into();
    let soft = studio.post(PATH, &json!({"project": project, "bit_depth": "float32"})).await.expect(200);
    let soft_peak_db = 20.0 * soft["receipt"]["peak"].as_f64().expect("a peak").log10();
    assert!((reduction_db - (soft_peak_db + 24.0 + 3.0)).abs() < 0.02, "{limiter}, {soft_peak_db} dBFS");
    let reduced_secs = limiter["reduced_secs"].as_f64().expect("seconds");
    let duration_secs = answer["duration_secs"].as_f64().expect("seconds");
    assert!(reduced_secs > 0.05 && reduced_secs < duration_secs, "{limiter}");
    let is_warned_of = |answer: &Value| answer["warnings"].to_string().contains("the limiter lowered it");
    assert!(!is_warned_of(&answer), "{answer}");
    project["master"]["volume_db"] = 24.into();
    project["tracks"][0]["volume_db"] = 24.into();
    let loud = studio.post(PATH, &json!({"project": project, "bit_depth": "float32"})).await.expect(200);
    assert!(is_warned_of(&loud), "{}", loud["warnings"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_renders_the_same_file() {
    let studio = Studio::start().await;
    let request = json!({"project": song(0, 4, json!([])), "bit_depth": "float32", "sample_rate_hz": 44100,
                         "normalize": {"lufs": -20}});
    let direct_answer = studio.post(PATH, &request).await.expect(200);
    let started = studio.post(&format!("{PATH}?async=true"), &request).await.expect(202);
    assert!(studio.app.state.tasks.wait_until_drained(Duration::from_secs(60)).await);
    let task = studio.get(&format!("/tasks/{}", started["task_id"].as_str().unwrap())).await.expect(200);
    assert_eq!((&task["kind"], &task["state"]), (&"render".into(), &"succeeded".into()));
    let result = &task["result"];
    assert_eq!(result["receipt"], direct_answer["receipt"]);
    assert_ne!(result["render_id"], direct_answer["render_id"]);
    assert_eq!(audio(&file(&studio, result).await.bytes), audio(&file(&studio, &direct_answer).await.bytes));

    let broken_project = json!({"project": {"schema_version": 1, "project_id": "p"}});
    let started = studio.post(&format!("{PATH}?async=true"), &broken_project).await.expect(202);
    assert!(studio.app.state.tasks.wait_until_drained(Duration::from_secs(60)).await);
    let task = studio.get(&format!("/tasks/{}", started["task_id"].as_str().unwrap())).await.expect(200);
    assert_eq!((&task["state"], &task["error"]["code"]), (&"failed".into(), &"invalid_project".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_render_can_be_cancelled() {
    let studio = Studio::start().await;
    let mut project = song(0, 48, json!([]));
    // The song lasts an hour, so that the render is still running when the test cancels it.
    let item = &mut project["tracks"][0]["items"][0];
    item["length_ticks"] = 6_912_000.into();
    item["notes"] = (0..7_000)
        .map(|beat| json!({"tick": beat * 960, "length_ticks": 960, "pitch": 60, "velocity": 1}))
        .collect();
    let started = studio.post(&format!("{PATH}?async=true"), &json!({"project": project})).await.expect(202);
    let path = format!("/tasks/{}", started["task_id"].as_str().unwrap());
    loop {
        let task = studio.get(&path).await.expect(200);
        if task["progress"].as_f64().unwrap() > 0.0 {
            assert_eq!((&task["state"], &task["message"]), (&"running".into(), &"Rendering".into()));
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    studio.app.local(Method::DELETE, &format!("/api/v1{path}")).send().await.expect(200);
    assert!(
        studio.app.state.tasks.wait_until_drained(Duration::from_secs(20)).await,
        "the cancelled render still runs"
    );
    assert_eq!(studio.get(&path).await.expect(200)["state"], "cancelled");
    let renders = studio.app.state.config.storage.dir.join("blobs/renders");
    assert_eq!(std::fs::read_dir(renders).unwrap().count(), 0, "a cancelled render leaves no files");
}

#[tokio::test]
async fn a_stored_project_is_rendered_for_its_owner_only() {
    let studio = Studio::start().await;
    studio.post("/projects", &song(0, 0, json!([]))).await.expect(201);
    let answer = studio.post(PATH, &json!({"project_id": "song"})).await.expect(200);
    assert!(file(&studio, &answer).await.header("content-disposition").contains("S%C3%B6ng.wav"));
    studio.post(PATH, &json!({"project_id": "nothing"})).await.problem(404, "not_found");

    add_test_user(&studio.app.state, "other", "correct horse battery").await;
    let body = json!({"username": "other", "password": "correct horse battery"});
    let login = studio.app.remote(Method::POST, "/api/v1/auth/login").json(&body).send().await.expect(200);
    let token = login["access_token"].as_str().unwrap();
    let call = studio.app.remote(Method::GET, answer["audio_url"].as_str().unwrap());
    call.token(token).send().await.problem(404, "not_found");
    let call = studio.app.remote(Method::POST, "/api/v1/plugins/render").token(token);
    call.json(&json!({"project_id": "song"})).send().await.problem(404, "not_found");
}

#[tokio::test]
async fn a_render_is_deleted_by_its_owner_only() {
    let studio = Studio::start().await;
    let answer = studio.post(PATH, &json!({"project": song(0, 0, json!([]))})).await.expect(200);
    let render = format!("/plugins/renders/{}", answer["render_id"].as_str().unwrap());
    let delete = |path: String| studio.app.local(Method::DELETE, &format!("/api/v1{path}")).send();

    add_test_user(&studio.app.state, "other", "correct horse battery").await;
    let body = json!({"username": "other", "password": "correct horse battery"});
    let login = studio.app.remote(Method::POST, "/api/v1/auth/login").json(&body).send().await.expect(200);
    let other_user_delete = studio.app.remote(Method::DELETE, &format!("/api/v1{render}"));
    other_user_delete.token(login["access_token"].as_str().unwrap()).send().await.problem(404, "not_found");
    let anonymous = studio.app.remote(Method::DELETE, &format!("/api/v1{render}"));
    anonymous.send().await.problem(401, "token_missing");

    file(&studio, &answer).await;
    let file_path = format!("/api/v1{render}/file");
    let slow_body = studio.app.local(Method::GET, &file_path).response().await.into_body();
    delete(render.clone()).await.expect(204);
    let read_byte_count = axum::body::to_bytes(slow_body, usize::MAX).await.map_or(0, |bytes| bytes.len());
    assert_eq!(read_byte_count, 0, "the file occupies space while somebody downloads it");
    studio.get(&format!("{render}/file")).await.problem(404, "not_found");
    delete(render).await.problem(404, "not_found");
    delete("/plugins/renders/..%2Fx".to_owned()).await.problem(404, "not_found");
}

#[tokio::test]
async fn no_render_id_reaches_files_outside_the_storage() {
    let studio = Studio::start().await;
    for id in ["nothing", "..%2F..%2Fsongfoundry", "%2Fetc%2Fpasswd", "a.b", "%00", "%C3%A9"] {
        studio.get(&format!("/plugins/renders/{id}/file")).await.problem(404, "not_found");
    }
}

#[tokio::test]
async fn silent_tracks_are_listed_in_the_receipt() {
    let studio = Studio::start().await;
    let mut project = song(0, 0, json!([]));
    let mut silent_track = project["tracks"][0].clone();
    silent_track["id"] = "silenced by a controller".into();
    silent_track["items"][0]["controls"] = json!([{"tick": 0, "type": "cc", "controller": 7, "value": 0}]);
    let mut muted = project["tracks"][0].clone();
    muted["id"] = "muted".into();
    muted["mute"] = true.into();
    let mut plugin = project["tracks"][0].clone();
    plugin["id"] = "plugin".into();
    plugin["synth_engine"] = json!({"type": "vst3", "plugin_id": "x"});
    project["tracks"].as_array_mut().unwrap().extend([silent_track, muted, plugin]);
    let answer = studio.post(PATH, &json!({"project": project})).await.expect(200);
    assert_eq!(answer["receipt"]["silent_tracks"], json!(["silenced by a controller", "plugin"]));

    let empty = json!({"schema_version": 1, "project_id": "p", "tracks": []});
    let answer = studio.post(PATH, &json!({"project": empty, "bit_depth": "float32"})).await.expect(200);
    assert_eq!((&answer["lufs"], &answer["true_peak_db"]), (&Value::Null, &Value::Null));
    assert_eq!(file(&studio, &answer).await.status, 200);
}

#[tokio::test]
async fn items_can_select_every_bank() {
    let studio = Studio::start().await;
    let hash = async |project: &Value| {
        studio.post(PATH, &json!({"project": project})).await.expect(200)["receipt"]["pcm_sha256"].clone()
    };
    let drums = song(128, 0, json!([]));
    let piano = song(0, 0, json!([]));
    let (drums_hash, piano_hash) = (hash(&drums).await, hash(&piano).await);
    assert_ne!(drums_hash, piano_hash);
    let mut from_piano = piano;
    from_piano["tracks"][0]["items"][0]["soundfont_bank"] = 128.into();
    assert_eq!(hash(&from_piano).await, drums_hash);
    let mut from_drums = drums;
    from_drums["tracks"][0]["items"][0]["soundfont_bank"] = 0.into();
    assert_eq!(hash(&from_drums).await, piano_hash);
}

#[tokio::test]
async fn invalid_options_are_refused_by_name() {
    let studio = Studio::start().await;
    let project = song(0, 0, json!([]));
    let check = async |extra: Value, status: u16, code: &str| {
        let mut request = json!({"project": project});
        request.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        studio.post(PATH, &request).await.problem(status, code)
    };
    check(json!({"project_id": "song"}), 400, "one_project").await;
    check(json!({"project": null}), 400, "one_project").await;
    check(json!({"format": "aiff"}), 400, "unsupported_format").await;
    check(json!({"bit_depth": "pcm12"}), 400, "unsupported_format").await;
    check(json!({"sample_rate_hz": 22050}), 400, "unsupported_sample_rate").await;
    check(json!({"tail_secs": 60.5}), 400, "bad_tail").await;
    let detail = check(json!({"tail_secs": 1e308}), 400, "bad_tail").await;
    assert!(detail.contains("1e308") && detail.contains("0 to 60 seconds"), "{detail}");
    check(json!({"tail_secs": "long"}), 400, "unexpected_json").await;
    check(json!({"normalize": {"lufs": 3}}), 400, "bad_normalization").await;
    let detail = check(json!({"normalize": {"true_peak_db": -20.5}}), 400, "bad_normalization").await;
    assert!(detail.contains("`normalize.true_peak_db`") && detail.contains("-20 to 0"), "{detail}");
    check(json!({"normalize": {"loudness": -14}}), 400, "unexpected_json").await;
    let detail = check(json!({"surround": true}), 400, "unsupported_option").await;
    assert!(detail.contains("`surround`"), "{detail}");
    for (extra, status, code, part) in [
        (
            json!({"format": "mp3", "sample_rate_hz": 96000}),
            422,
            "unsupported_sample_rate",
            "one of 44100 and 48000 Hz",
        ),
        (
            json!({"format": "opus", "sample_rate_hz": 44100}),
            422,
            "unsupported_sample_rate",
            "choose 48000 Hz",
        ),
        (json!({"format": "mp3", "bit_depth": "pcm16"}), 400, "unsupported_format", "`mp3` has no bit depth"),
        (json!({"format": "flac", "bit_depth": "float32"}), 400, "unsupported_format", "`pcm16` and `pcm24`"),
        (
            json!({"format": "mp3", "bit_rate_kbps": 123}),
            400,
            "unsupported_quality",
            "96, 128, 160, 192, 224, 256 and 320",
        ),
        (
            json!({"format": "mp3", "bit_rate_kbps": 320, "quality": 3}),
            400,
            "unsupported_quality",
            "leave one out",
        ),
        (json!({"format": "ogg", "bit_rate_kbps": 128}), 400, "unsupported_quality", "`ogg` has no bit rate"),
        (json!({"format": "ogg", "quality": 11}), 400, "unsupported_quality", "choose 0 to 10"),
        (json!({"quality": 5}), 400, "unsupported_quality", "`wav` has no variable quality"),
        (json!({"metadata": {"isrc": "QM0001"}}), 400, "bad_metadata", "`metadata.isrc` is `QM0001`"),
        (json!({"metadata": {"year": 0}}), 400, "bad_metadata", "`metadata.year` is 0"),
        (json!({"metadata": {"title": "a\u{0}b"}}), 400, "bad_metadata", "U+0000"),
        (json!({"metadata": {"artist": "x".repeat(65_536)}}), 400, "bad_metadata", "at most 1024"),
        (json!({"range": {"start_tick": 960, "end_tick": 960}}), 400, "bad_range", "tick 960"),
        (
            json!({"range": {"start_tick": 0, "end_tick": 2_000_000_000}}),
            422,
            "too_long",
            "at most 86400 seconds",
        ),
        (json!({"tracks": []}), 400, "bad_tracks", "0 entries"),
        (json!({"tracks": ["nobody"]}), 404, "not_found", "nobody"),
        (json!({"metadata": {"composer": "Ada"}}), 400, "unsupported_option", "`composer`"),
    ] {
        let detail = check(extra, status, code).await;
        assert!(detail.contains(part), "{detail}");
    }
    check(json!({"project": {"schema_version": 99}}), 400, "invalid_project").await;
    check(json!({"project": {"schema_version": 1, "project_id": "p", "tracks": 5}}), 400, "invalid_project")
        .await;
    let mut long = song(0, 0, json!([]));
    long["tracks"][0]["items"][0]["length_ticks"] = 1_000_000_000.into();
    check(json!({"project": long}), 422, "too_long").await;
    // Unknown options are accepted if they are switched off.
    let request = json!({"project": project, "surround": false, "channel_check": false, "normalize": null, "metadata": {"artist": ""}});
    studio.post(PATH, &request).await.expect(200);
}

#[tokio::test]
async fn only_the_newest_50_renders_are_kept() {
    let studio = Studio::start().await;
    let empty = json!({"project": {"schema_version": 1, "project_id": "p", "tracks": []}});
    let first = studio.post(PATH, &empty).await.expect(200);
    for _ in 0..50 {
        studio.post(PATH, &empty).await.expect(200);
    }
    assert_eq!(file(&studio, &first).await.status, 404);
    let folder = studio.app.state.config.storage.dir.join("blobs/renders");
    assert_eq!(
        std::fs::read_dir(folder).unwrap().count(),
        100,
        "each render has an audio file and a description"
    );
}

#[tokio::test]
async fn old_renders_above_the_quota_are_deleted_but_not_the_newest() {
    let app = TestApp::with(&[("SF_RENDERS_QUOTA_BYTES", "1000000")]).await;
    let item = json!({"type": "midi", "id": "m", "start_tick": 0, "length_ticks": 5_760, "notes": []});
    let track = json!({"id": "t", "name": "T", "kind": "instrument", "items": [item]});
    // Each render lasts three seconds and has 576 044 bytes.
    let project = json!({"schema_version": 1, "project_id": "p", "tracks": [track]});
    let body = json!({ "project": project, "tail_secs": 0.0 });
    let mut urls = Vec::new();
    for _ in 0..2 {
        let render_answer =
            app.local(Method::POST, "/api/v1/plugins/render").json(&body).send().await.expect(200);
        urls.push(render_answer["audio_url"].as_str().expect("an address").to_owned());
    }
    app.local(Method::GET, &urls[0]).send().await.problem(404, "not_found");
    assert_eq!(app.local(Method::GET, &urls[1]).send().await.status, 200);
}

/// Returns a valid project with the largest number of effects. All are delays, which need two
/// gigabytes of memory.
fn many_delays() -> Value {
    let effect = |number: usize| json!({ "id": format!("e{number}"), "type": "builtin", "name": "delay" });
    let bus = |number: usize| {
        let effects: Vec<Value> = (0..50).map(effect).collect();
        json!({ "id": format!("b{number}"), "kind": "bus", "effects": effects })
    };
    let buses: Vec<Value> = (0..20).map(bus).collect();
    json!({ "schema_version": 1, "project_id": "large", "tracks": buses })
}

#[tokio::test]
async fn a_song_that_needs_more_memory_than_the_limit_is_refused_with_the_reason() {
    let app = TestApp::start().await;
    let body = json!({ "project": many_delays() });
    let detail = app
        .local(Method::POST, "/api/v1/plugins/render")
        .json(&body)
        .send()
        .await
        .problem(422, "too_much_memory");
    assert!(detail.contains("largest part: 2"), "{detail}");
    assert!(detail.ends_with(" MiB for delay effects (1000)."), "{detail}");
    assert!(detail.contains("360 MiB (SF_RENDER_MEMORY_BYTES)"), "{detail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_song_that_takes_hours_is_refused_while_others_render() {
    let app = TestApp::with(&[("SF_RENDER_MAX_SECS", "1")]).await;
    let effect = |number: usize| json!({ "id": format!("e{number}"), "type": "builtin", "name": "reverb" });
    let item = json!({ "type": "midi", "id": "m", "start_tick": 0, "length_ticks": 10_000_000, "notes": [] });
    let effects: Vec<Value> = (0..64).map(effect).collect();
    let track = |number: usize| json!({ "id": format!("t{number}"), "kind": "instrument", "items": [item], "effects": effects });
    let project =
        json!({ "schema_version": 1, "project_id": "long", "tracks": (0..6).map(track).collect::<Vec<_>>() });
    let body = json!({ "project": project });
    // Several long renders run at the same time.
    let long = (0..4).map(|_| app.local(Method::POST, "/api/v1/plugins/render").json(&body).send());
    let token = app.token_of_new_user("bob").await;
    let short_request = json!({ "project": { "tracks": [{ "id": "b", "kind": "bus" }] }, "tail_secs": 0 });
    let render_of_bob =
        app.remote(Method::POST, "/api/v1/plugins/render").token(&token).json(&short_request).send();
    let (long, render_of_bob) = tokio::join!(futures_util::future::join_all(long), render_of_bob);
    render_of_bob.expect(200);
    for answer in long {
        let detail = answer.problem(422, "too_much_work");
        assert!(detail.contains("at most 1 seconds are allowed (SF_RENDER_MAX_SECS)"), "{detail}");
    }
}

#[tokio::test]
async fn large_renders_wait_until_there_is_memory_for_them() {
    // Each render needs about 45 MB, so the memory is enough for only one at a time.
    let app = TestApp::with(&[("SF_RENDER_MEMORY_BYTES", "67108864")]).await;
    let effect = |number: usize| json!({ "id": format!("e{number}"), "type": "builtin", "name": "delay" });
    let bus = json!({ "id": "b", "kind": "bus", "effects": (0..20).map(effect).collect::<Vec<Value>>() });
    let body = json!({ "project": { "tracks": [bus] }, "tail_secs": 0 });
    let renders = (0..8).map(|_| app.local(Method::POST, "/api/v1/plugins/render").json(&body).send());
    for answer in futures_util::future::join_all(renders).await {
        answer.expect(200);
    }
}

#[tokio::test]
async fn a_project_becomes_a_file_of_each_format() {
    let studio = Studio::start().await;
    let project = song(0, 4, json!([]));
    for (format, media_type, rate_hz, start) in [
        ("FLAC", "audio/flac", 48_000, &b"fLaC"[..]),
        ("mp3", "audio/mpeg", 48_000, b"ID3"),
        ("Ogg", "audio/ogg", 48_000, b"OggS"),
        ("opus", "audio/ogg", 48_000, b"OggS"),
    ] {
        let metadata = json!({"title": "Tïtle", "artist": "Ada", "comment": "two\nlines"});
        let request = json!({"project": project, "format": format, "metadata": metadata});
        let answer = studio.post(PATH, &request).await.expect(200);
        let name = format.to_lowercase();
        assert_eq!(
            (&answer["format"], &answer["receipt"]["settings"]["format"]),
            (&json!(name), &json!(name))
        );
        assert_eq!(answer["sample_rate_hz"], rate_hz, "{format}");
        assert_eq!(answer["bit_depth"], if name == "flac" { json!("pcm16") } else { json!(null) });
        let audible_file = file(&studio, &answer).await;
        assert_eq!((audible_file.status.as_u16(), audible_file.header("content-type")), (200, media_type));
        let file_name = format!("filename*=UTF-8''T%C3%AFtle.{name}");
        assert!(audible_file.header("content-disposition").ends_with(&file_name), "{format}");
        assert!(audible_file.bytes.starts_with(start), "{format}");
        let has = |text: &str| audible_file.bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(name == "mp3" || (has("ARTIST=Ada") && has("two\nlines")), "{format}");
        assert_eq!(audible_file.header("etag").len(), 66);
    }
}

#[tokio::test]
async fn a_lossy_file_keeps_below_the_true_peak_of_its_normalization() {
    let studio = Studio::start().await;
    for format in ["mp3", "ogg", "opus"] {
        let request = json!({"project": song(0, 4, json!([])), "format": format, "normalize": {"lufs": -8}});
        let answer = studio.post(PATH, &request).await.expect(200);
        let true_peak_db = answer["true_peak_db"].as_f64().expect("is audible");
        assert!((-6.0..=-1.0).contains(&true_peak_db), "{format}: {true_peak_db} dBTP, {answer}");
    }
}

#[tokio::test]
async fn a_file_of_a_song_at_another_rate_has_the_next_rate_of_its_format() {
    let studio = Studio::start().await;
    let mut project = song(0, 4, json!([]));
    for (project_rate_hz, format, rate_hz) in
        [(44_100, "opus", 48_000), (96_000, "mp3", 48_000), (44_100, "mp3", 44_100), (96_000, "flac", 96_000)]
    {
        project["sample_rate_hz"] = project_rate_hz.into();
        let answer = studio.post(PATH, &json!({"project": project, "format": format})).await.expect(200);
        assert_eq!(answer["sample_rate_hz"], rate_hz, "{project_rate_hz} Hz as {format}");
    }
}

#[tokio::test]
async fn the_channel_check_reports_what_a_mono_loudspeaker_loses() {
    let studio = Studio::start().await;
    let request = json!({"project": song(0, 4, json!([])), "channel_check": true});
    let answer = studio.post(PATH, &request).await.expect(200);
    let channels = &answer["receipt"]["channels"];
    let correlation = channels["correlation"].as_f64().expect("has sound");
    assert!((-1.0..=1.0).contains(&correlation), "{channels}");
    let octaves = channels["octaves"].as_array().expect("a list");
    assert!((3..=10).contains(&octaves.len()), "{channels}");
    assert!(
        octaves.iter().all(|octave| octave["mono_loss_db"].as_f64().expect("remains") > -0.01),
        "{channels}"
    );
    let unchecked = studio.post(PATH, &json!({"project": song(0, 4, json!([]))})).await.expect(200);
    assert_eq!(unchecked["receipt"]["channels"], json!(null));
    assert_eq!(unchecked["receipt"]["pcm_sha256"], answer["receipt"]["pcm_sha256"]);
}

/// Renders a project as floats and returns the bytes of its samples.
async fn float_bytes(studio: &Studio, project: &Value, extra: Value) -> Vec<u8> {
    let mut request = json!({"project": project, "bit_depth": "float32"});
    request.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    let answer = studio.post(PATH, &request).await.expect(200);
    audio(&file(studio, &answer).await.bytes).to_vec()
}

#[tokio::test]
async fn a_range_has_the_samples_of_the_whole_song() {
    let studio = Studio::start().await;
    let project = song(0, 4, json!([]));
    let whole_file = float_bytes(&studio, &project, json!({})).await;
    // At 120 quarter notes per minute, 960 ticks are 24,000 frames of 8 bytes.
    let range = json!({"range": {"start_tick": 480, "end_tick": 1_440}});
    let part = float_bytes(&studio, &project, range).await;
    assert_eq!(part.len(), 24_000 * 8);
    assert!(part == whole_file[12_000 * 8..36_000 * 8], "the samples differ");
}

#[tokio::test]
async fn selected_tracks_play_alone_even_if_they_are_muted() {
    let studio = Studio::start().await;
    let mut project = song(0, 4, json!([]));
    let mut second = project["tracks"][0].clone();
    second["id"] = "second".into();
    second["items"][0]["notes"][0]["pitch"] = 40.into();
    let first_id = project["tracks"][0]["id"].clone();
    let single_render = float_bytes(&studio, &project, json!({})).await;
    project["tracks"].as_array_mut().unwrap().push(second);
    let both_tracks = float_bytes(&studio, &project, json!({})).await;
    assert!(both_tracks != single_render);
    assert!(float_bytes(&studio, &project, json!({"tracks": [first_id]})).await == single_render);
    project["tracks"][0]["mute"] = true.into();
    project["tracks"][1]["solo"] = true.into();
    assert!(float_bytes(&studio, &project, json!({"tracks": [first_id]})).await == single_render);
}

#[tokio::test]
async fn a_render_makes_files_of_several_formats_and_parts() {
    let studio = Studio::start().await;
    let project = song(0, 4, json!([]));
    let range = |start: u32, end: u32| json!({"start_tick": start, "end_tick": end});
    let request = json!({
        "project": project, "bit_depth": "float32", "range": range(0, 480), "metadata": {"title": "Intro"},
        "more_files": [
            {"bit_depth": "float32", "range": range(480, 960), "metadata": {"title": "Verse"}},
            {"bit_depth": "float32"},
            {"format": "mp3", "sample_rate_hz": 44_100, "normalize": {"lufs": -20}},
            {"format": "flac", "range": range(960, 1_920)}
        ]
    });
    let answer = studio.post(PATH, &request).await.expect(200);
    let more = answer["more_files"].as_array().expect("the further files");
    let whole_file = audio(&file(&studio, &more[1]).await.bytes).to_vec();
    assert!(whole_file == float_bytes(&studio, &project, json!({})).await);
    let mut parts = audio(&file(&studio, &answer).await.bytes).to_vec();
    parts.extend(audio(&file(&studio, &more[0]).await.bytes));
    assert!(parts == whole_file[..24_000 * 8], "the samples of the parts differ from those of the song");
    assert_eq!((&more[2]["format"], &more[2]["sample_rate_hz"]), (&"mp3".into(), &44_100.into()));
    assert!((more[2]["lufs"].as_f64().unwrap() + 20.0).abs() < 0.5, "{}", more[2]);
    assert_eq!(more[3]["receipt"]["frames"], 24_000);
    // The note ends before the last part, so its track is not listed as silent there.
    assert_eq!(more[3]["receipt"]["silent_tracks"], json!([]));

    let listed_renders = studio.app.local(Method::GET, "/api/v1/plugins/renders").send().await.expect(200);
    let titles: Vec<_> =
        listed_renders["items"].as_array().unwrap().iter().map(|item| &item["title"]).collect();
    for (title, count) in [("Intro", 1), ("Verse", 1), ("Söng", 4)] {
        assert_eq!(titles.iter().filter(|known_title| **known_title == title).count(), count, "{titles:?}");
    }
    let path = format!("/api/v1/plugins/renders/{}", more[2]["render_id"].as_str().unwrap());
    assert_eq!(studio.app.local(Method::GET, &path).send().await.expect(200), more[2]);
}

#[tokio::test]
async fn invalid_further_files_are_refused_with_their_index() {
    let studio = Studio::start().await;
    let post = async |more_files: Value| {
        studio.post(PATH, &json!({"project": song(0, 4, json!([])), "more_files": more_files})).await
    };
    for (file, code, word) in [
        (json!({"format": "wma"}), "unsupported_format", "`wma`"),
        (json!({"tracks": ["t"]}), "unsupported_option", "`tracks`"),
        (json!({"range": {"start_tick": 5, "end_tick": 5}}), "bad_range", "tick 5"),
        (json!({"metadata": {"isrc": "x"}}), "bad_metadata", "isrc"),
    ] {
        let detail = post(json!([{}, file])).await.problem(400, code);
        assert!(detail.contains("`more_files[1]`") && detail.contains(word), "{detail}");
    }
    let opus = json!({"format": "opus", "sample_rate_hz": 44_100});
    post(json!([opus])).await.problem(422, "unsupported_sample_rate");
    post(json!(vec![json!({}); 32])).await.problem(400, "too_many_files");
    post(json!(vec![json!({}); 16])).await.problem(400, "too_many_files");
}
