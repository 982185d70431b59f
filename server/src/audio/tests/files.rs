//! Tests of listing, reading, tagging and deleting audio files.

use std::time::Duration;

use axum::http::Method;
use dsp_core::wav::FLOAT_HEADER_BYTES;
use serde_json::{Value, json};

use super::{LIST, UPLOAD, get, stored_names, uploaded, with_form};
use crate::audio::resume;
use crate::audio::test_files::{FLAC, MP3, float_wav, sine_wav};
use crate::storage::lock_contents;
use crate::test_app::TestApp;

pub(super) fn path_of(file: &Value) -> String {
    format!("{LIST}/{}", file["id"].as_str().expect("an id"))
}

fn names(page: &Value) -> Vec<&str> {
    page["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|file| file["name"].as_str().expect("a name"))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_paged_and_searched() {
    let app = TestApp::start().await;
    for (number, name) in ["Kick 1.wav", "Kick_2.wav", "Größe.wav", "100%.wav"].into_iter().enumerate() {
        uploaded(&app, name, &float_wav(1, 48_000, &[number as f32 / 10.0; 10])).await;
    }
    let all_files = get(&app, LIST).await.expect(200);
    assert_eq!(names(&all_files), ["100%.wav", "Größe.wav", "Kick_2.wav", "Kick 1.wav"]);
    let first = get(&app, &format!("{LIST}?limit=3")).await.expect(200);
    let cursor = first["next_cursor"].as_str().expect("more");
    let second = get(&app, &format!("{LIST}?limit=3&cursor={cursor}")).await.expect(200);
    assert_eq!((names(&first).len(), names(&second)), (3, vec!["Kick 1.wav"]));
    for (search, expected) in [
        ("kick", vec!["Kick_2.wav", "Kick 1.wav"]),
        ("K_2", vec!["Kick_2.wav"]),
        ("%25", vec!["100%.wav"]),
        ("GR%C3%96%C3%9FE", vec!["Größe.wav"]),
        ("nothing", vec![]),
    ] {
        let file_page = get(&app, &format!("{LIST}?search={search}")).await.expect(200);
        assert_eq!(names(&file_page), expected, "{search}");
    }
    uploaded(&app, "Re\u{301}sume\u{301}.wav", &float_wav(1, 48_000, &[0.5; 10])).await;
    for search in ["r%C3%A9sum%C3%A9", "RE%CC%81SUME%CC%81"] {
        let file_page = get(&app, &format!("{LIST}?search={search}")).await.expect(200);
        assert_eq!(names(&file_page).len(), 1, "{search}");
    }
    for query in ["search=%00", "tag=a%00"] {
        get(&app, &format!("{LIST}?{query}")).await.problem(400, "bad_query");
    }
    get(&app, &format!("{LIST}?limit=0")).await.problem(400, "bad_query");
    get(&app, &format!("{LIST}?cursor=x")).await.problem(400, "bad_cursor");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_found_by_their_tags() {
    let app = TestApp::start().await;
    let file = uploaded(&app, "a.wav", &sine_wav(440.0, 48_000, 0.1)).await;
    uploaded(&app, "b.wav", &sine_wav(550.0, 48_000, 0.1)).await;
    let tags = format!("{}/tags", path_of(&file));
    let put = |body: Value| app.local(Method::PUT, &tags).json(&body);
    let answer = put(json!({ "tags": ["Drums", " dark ", "drums", " DRUMS "] })).send().await.expect(200);
    assert_eq!(answer["tags"], json!(["dark", "Drums"]));
    for tag in ["dark", "drums", "DRUMS", "%20Drums%20"] {
        let file_page = get(&app, &format!("{LIST}?tag={tag}")).await.expect(200);
        assert_eq!(names(&file_page), ["a.wav"], "{tag}");
        assert_eq!(file_page["items"][0]["tags"], json!(["dark", "Drums"]));
    }
    // The same letter with an accent, encoded in two ways.
    put(json!({ "tags": ["Caf\u{e9}", "cafe\u{301}"] })).send().await.expect(200);
    for tag in ["caf%C3%A9", "cafe%CC%81"] {
        assert_eq!(names(&get(&app, &format!("{LIST}?tag={tag}")).await.expect(200)), ["a.wav"], "{tag}");
    }
    put(json!({ "tags": [] })).send().await.expect(200);
    assert_eq!(names(&get(&app, &format!("{LIST}?tag=dark")).await.expect(200)), [""; 0]);
    for (bad_upload, pointer, reason) in [
        (json!(["a", ""]), "/tags/1", "1 to 64 characters"),
        (json!(["x".repeat(65)]), "/tags/0", "65 characters; a tag has at most 64"),
        (json!(["a", "b", "a\nb"]), "/tags/2", "control character"),
        (json!(vec!["a"; 51]), "/tags", "51 tags; a file has at most 50"),
    ] {
        let answer = put(json!({ "tags": bad_upload })).send().await;
        let errors = answer.json()["errors"].clone();
        assert_eq!(errors[0]["pointer"], pointer, "{errors}");
        let detail = answer.problem(400, "bad_tags");
        assert!(detail.contains(pointer) && detail.contains(reason), "{detail}");
    }
    put(json!({ "tag": "x" })).send().await.problem(400, "unexpected_json");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_returns_the_uploaded_bytes() {
    let app = TestApp::start().await;
    let file = uploaded(&app, "Größe.mp3", MP3).await;
    let path = format!("{}/file", path_of(&file));
    let whole_file = get(&app, &path).await;
    assert_eq!((whole_file.status.as_u16(), whole_file.bytes.as_slice()), (200, MP3));
    assert_eq!(whole_file.header("content-type"), "audio/mpeg");
    assert!(whole_file.header("content-disposition").contains("Gr%C3%B6%C3%9Fe.mp3"));
    assert_eq!(whole_file.header("accept-ranges"), "bytes");
    let part = app.local(Method::GET, &path).header("range", "bytes=10-19").send().await;
    assert_eq!((part.status.as_u16(), part.bytes.as_slice()), (206, &MP3[10..20]));
    assert_eq!(part.header("content-range"), format!("bytes 10-19/{}", MP3.len()));
    app.local(Method::GET, &path)
        .header("range", "bytes=9999999-")
        .send()
        .await
        .problem(416, "range_not_satisfiable");
    let conditional_answer =
        app.local(Method::GET, &path).header("if-none-match", whole_file.header("etag")).send().await;
    conditional_answer.expect(304);
    get(&app, &format!("{path}?sample_rate_hz=48000")).await.problem(400, "bad_query");
    get(&app, &format!("{path}?format=ogg")).await.problem(400, "bad_query");
}

#[tokio::test(flavor = "multi_thread")]
async fn samples_are_sent_as_floats_at_the_rate_of_the_file() {
    let app = TestApp::start().await;
    let samples = [0.5, -0.25, 1.5, 0.125];
    let file = uploaded(&app, "a.wav", &float_wav(2, 44_100, &samples)).await;
    let path = format!("{}/file?format=wav32f", path_of(&file));
    let answer = get(&app, &path).await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "audio/wav"));
    let tail: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    assert_eq!(answer.bytes[FLOAT_HEADER_BYTES as usize..], tail);
    let at_file_rate = get(&app, &format!("{path}&sample_rate_hz=44100")).await;
    assert_eq!(
        (at_file_rate.bytes, at_file_rate.headers.get("etag")),
        (answer.bytes.clone(), answer.headers.get("etag"))
    );
    let part = app.local(Method::GET, &path).header("range", "bytes=116-").send().await;
    assert_eq!((part.status.as_u16(), part.bytes), (206, tail));
    get(&app, &format!("{path}&sample_rate_hz=12345")).await.problem(400, "bad_query");
}

#[tokio::test(flavor = "multi_thread")]
async fn samples_are_converted_to_the_rate_of_a_project() {
    let app = TestApp::start().await;
    let frames: Vec<f32> = (0..44_100)
        .flat_map(|frame| {
            let turn = std::f64::consts::TAU * f64::from(frame) / 44_100.0;
            [(turn * 441.0).sin() as f32, (turn * 100.0).cos() as f32]
        })
        .collect();
    let file = uploaded(&app, "a.wav", &float_wav(2, 44_100, &frames)).await;
    let path = format!("{}/file?format=wav32f&sample_rate_hz=48000", path_of(&file));
    let answer = get(&app, &path).await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "audio/wav"));
    let planar = |channel: usize| frames.iter().skip(channel).step_by(2).copied().collect::<Vec<f32>>();
    let expected = dsp_core::resample::resample(44_100, 48_000, &[&planar(0), &planar(1)]).expect("converts");
    let bytes: Vec<u8> = (0..48_000)
        .flat_map(|frame| [expected[0][frame], expected[1][frame]])
        .flat_map(f32::to_le_bytes)
        .collect();
    assert!(answer.bytes[FLOAT_HEADER_BYTES as usize..] == bytes, "differs from a conversion in one call");
    // The copy is stored, counts toward the quota, and is removed with the file.
    assert_eq!(stored_names(&app).len(), 4);
    let stored_bytes = get(&app, &path_of(&file)).await.expect(200)["stored_bytes"].as_u64().expect("bytes");
    assert_eq!(stored_bytes, file["stored_bytes"].as_u64().expect("bytes") + answer.bytes.len() as u64);
    let second_answer =
        app.local(Method::GET, &path).header("if-none-match", answer.header("etag")).send().await;
    second_answer.expect(304);
    crate::orphans::collect(&app.state, Duration::ZERO, crate::clock::now_unix_ms()).await.expect("collects");
    assert_eq!(stored_names(&app).len(), 4);
    app.local(Method::DELETE, &path_of(&file)).send().await.expect(204);
    assert_eq!(stored_names(&app), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversion_needs_quota_and_a_supported_ratio_of_rates() {
    let app = TestApp::with(&[("SF_AUDIO_QUOTA_BYTES", "100000")]).await;
    let file = uploaded(&app, "a.wav", &float_wav(1, 8_000, &[0.25; 8_000])).await;
    let path = format!("{}/file?format=wav32f&sample_rate_hz=96000", path_of(&file));
    get(&app, &path).await.problem(507, "quota_exceeded");
    let odd = uploaded(&app, "odd.wav", &float_wav(1, 44_099, &[0.25; 100])).await;
    let path = format!("{}/file?format=wav32f&sample_rate_hz=96000", path_of(&odd));
    let detail = get(&app, &path).await.problem(422, "rate_not_converted");
    assert!(detail.contains("`odd.wav`") && detail.contains("44099 to 96000 Hz"), "{detail}");
    assert_eq!(stored_names(&app).len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn users_cannot_see_files_of_others() {
    let app = TestApp::start().await;
    let [one, two] = [app.token_of_new_user("one").await, app.token_of_new_user("two").await];
    let call = app.remote(Method::POST, UPLOAD).token(&one);
    let file = with_form(call, &[("mine.flac", FLAC)]).send().await.expect(201)["files"][0].clone();
    let path = path_of(&file);
    let paths =
        [(Method::GET, path.clone()), (Method::GET, format!("{path}/file")), (Method::DELETE, path.clone())];
    for (method, path) in &paths {
        app.remote(method.clone(), path).send().await.problem(401, "token_missing");
        app.remote(method.clone(), path).token(&two).send().await.problem(404, "not_found");
        // The administrator cannot either; local callers act as the administrator.
        app.local(method.clone(), path).send().await.problem(404, "not_found");
    }
    let tags = app.remote(Method::PUT, &format!("{path}/tags")).token(&two);
    tags.json(&json!({ "tags": ["x"] })).send().await.problem(404, "not_found");
    let bob_files = app.remote(Method::GET, LIST).token(&two).send().await.expect(200);
    assert_eq!(names(&bob_files), [""; 0]);
    app.remote(Method::GET, LIST).send().await.problem(401, "token_missing");
    app.remote(Method::GET, &path).token(&one).send().await.expect(200);
    app.remote(Method::DELETE, &path).token(&one).send().await.expect(204);
    app.remote(Method::GET, &path).token(&one).send().await.problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_a_song_refers_to_cannot_be_deleted() {
    let app = TestApp::start().await;
    let file = uploaded(&app, "a.wav", &sine_wav(440.0, 48_000, 0.1)).await;
    let id = file["id"].as_str().expect("an id");
    let song = |id: &str| {
        json!({ "schema_version": 1, "project_id": "song", "name": "My song", "tracks": [{
            "id": "t", "kind": "audio",
            "items": [{ "type": "audio", "id": "i", "start_tick": 0, "length_frames": 100, "server_file_id": id }] }] })
    };
    app.local(Method::POST, "/api/v1/projects").json(&song(id)).send().await.expect(201);
    let detail = app.local(Method::DELETE, &path_of(&file)).send().await.problem(409, "audio_in_use");
    assert!(detail.contains("the project `My song`"), "{detail}");
    // An older revision does not count, but an autosave does.
    let put = app.local(Method::PUT, "/api/v1/projects/song").header("if-match", "\"1\"");
    put.json(&song("another")).send().await.expect(200);
    let draft = json!({ "client_id": "window", "project": song(id) });
    app.local(Method::PUT, "/api/v1/projects/temp").json(&draft).send().await.expect(200);
    let detail = app.local(Method::DELETE, &path_of(&file)).send().await.problem(409, "audio_in_use");
    assert!(detail.contains("the autosave") && !detail.contains("project"), "{detail}");
    app.local(Method::DELETE, "/api/v1/projects/temp").send().await.expect(204);
    app.local(Method::DELETE, &path_of(&file)).send().await.expect(204);
    assert_eq!(stored_names(&app), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn starting_the_service_keeps_stored_files_without_a_database_row() {
    let app = TestApp::start().await;
    uploaded(&app, "a.wav", &sine_wav(440.0, 48_000, 0.1)).await;
    let folder = app.state.config.storage.dir.join("blobs/audio");
    let orphan = "0".repeat(64);
    for name in [format!("{orphan}.original"), format!("{orphan}.peaks"), format!("{orphan}_48000.wav")] {
        std::fs::write(folder.join(name), b"left over").expect("writes");
    }
    resume(&app.state).await.expect("resumes");
    crate::orphans::restore_needed(&app.state).await.expect("restores");
    assert_eq!(stored_names(&app).len(), 6);
}

pub(super) fn song_with(id: &str) -> Value {
    let item =
        json!({ "type": "audio", "id": "i", "start_tick": 0, "length_frames": 100, "server_file_id": id });
    let track = json!({ "id": "t", "kind": "audio", "items": [item] });
    json!({ "schema_version": 1, "project_id": "song", "name": "My song", "tracks": [track] })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_save_during_a_deletion_keeps_the_file() {
    let app = std::sync::Arc::new(TestApp::start().await);
    let bytes = sine_wav(440.0, 48_000, 0.1);
    let file = uploaded(&app, "a.wav", &bytes).await;
    let (id, path) = (file["id"].as_str().expect("an id").to_owned(), path_of(&file));
    // The deletion waits for this lock, so the songs that it has already searched are out of date
    // afterwards.
    let (state, runtime) = (app.state.clone(), tokio::runtime::Handle::current());
    let (locked, is_locked) = tokio::sync::oneshot::channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let holder = tokio::task::spawn_blocking(move || {
        let _contents = lock_contents(&state, &runtime).expect("locks");
        locked.send(()).expect("the test waits");
        released.recv().expect("the test sends");
    });
    is_locked.await.expect("the lock is held");
    let deleting = {
        let (app, path) = (std::sync::Arc::clone(&app), path.clone());
        tokio::spawn(async move { app.local(Method::DELETE, &path).send().await })
    };
    // These requests give the deletion time to reach the lock.
    for _ in 0..200 {
        get(&app, "/api/v1/auth/me").await.expect(200);
    }
    app.local(Method::POST, "/api/v1/projects").json(&song_with(&id)).send().await.expect(201);
    release.send(()).expect("the lock's holder waits");
    holder.await.expect("the lock is released");
    deleting.await.expect("the deletion ends").problem(409, "audio_in_use");
    assert_eq!(get(&app, &format!("{path}/file")).await.bytes, bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_file_is_purged_after_its_retention() {
    let app = TestApp::start().await;
    let bytes = sine_wav(440.0, 48_000, 0.1);
    let [named, other_file] = [&bytes, &sine_wav(550.0, 48_000, 0.1)].map(|bytes| bytes.to_vec());
    let (named, other_file) =
        (uploaded(&app, "a.wav", &named).await, uploaded(&app, "b.wav", &other_file).await);
    for file in [&named, &other_file] {
        app.local(Method::DELETE, &path_of(file)).send().await.expect(204);
    }
    let quarantined = || app.state.blobs.list_quarantined().expect("lists").len();
    assert_eq!((stored_names(&app).len(), quarantined()), (0, 6));
    // This song refers to the file without having been saved here, such as after a backup was
    // restored.
    let song = song_with(named["id"].as_str().expect("an id"));
    app.local(Method::POST, "/api/v1/projects").json(&song_with("nothing")).send().await.expect(201);
    sqlx::query("UPDATE project_revisions SET body = $1 WHERE project_id = 'song'")
        .bind(song.to_string())
        .execute(&app.state.db)
        .await
        .expect("updates");
    let now_ms = crate::clock::now_unix_ms();
    crate::audio::remove_expired_deleted_files(&app.state, now_ms).await.expect("purges");
    assert_eq!(quarantined(), 6, "their retention has not ended");
    crate::audio::remove_expired_deleted_files(&app.state, now_ms + 86_400_000).await.expect("purges");
    assert_eq!((stored_names(&app).len(), quarantined()), (3, 0));
    get(&app, &path_of(&named)).await.expect(200);
    get(&app, &path_of(&other_file)).await.problem(404, "not_found");
    let rows: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM audio_contents")
        .fetch_one(&app.state.db)
        .await
        .expect("counts");
    assert_eq!(rows, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_files_are_purged_when_the_quota_is_full() {
    let app = TestApp::with(&[("SF_AUDIO_QUOTA_BYTES", "500000")]).await;
    let deleted = |app: &TestApp| app.state.blobs.list_quarantined().expect("lists").len();
    // Each file needs more than 384 KB.
    for (number, expected) in [(1_u32, 3), (2, 3), (3, 3)] {
        let file = uploaded(&app, "a.wav", &sine_wav(100.0 * f64::from(number), 48_000, 1.0)).await;
        assert_eq!(deleted(&app), 0, "deleted files were not purged");
        app.local(Method::DELETE, &path_of(&file)).send().await.expect(204);
        assert_eq!(deleted(&app), expected);
    }
    let app = TestApp::with(&[("SF_DELETED_KEPT_SECS", "0")]).await;
    let file = uploaded(&app, "a.wav", &sine_wav(440.0, 48_000, 0.1)).await;
    app.local(Method::DELETE, &path_of(&file)).send().await.expect(204);
    assert_eq!((stored_names(&app).len(), deleted(&app)), (0, 0));
}
