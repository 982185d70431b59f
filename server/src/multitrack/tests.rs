//! Imports and exports MIDI files through the real router.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::Method;
use futures_util::stream;
use serde_json::{Value, json};

use crate::test_app::{Answer, TestApp};

const IMPORT: &str = "/api/v1/multitrack/midi/import";
const EXPORT: &str = "/api/v1/multitrack/midi/export";

/// Returns a MIDI file of one track with one note.
fn song() -> Vec<u8> {
    let track = [0, 0x90, 60, 100, 0x60, 0x80, 60, 0, 0, 0xff, 0x2f, 0];
    let mut bytes = b"MThd\0\0\0\x06\0\0\0\x01\0\x60MTrk\0\0\0\x0c".to_vec();
    bytes.extend(track);
    bytes
}

async fn import(app: &TestApp, query: &str, kind: &str, body: Vec<u8>) -> Answer {
    app.local(Method::POST, &format!("{IMPORT}{query}")).raw(kind, body).send().await
}

fn form(name: &str, content: &[u8]) -> Vec<u8> {
    let mut body = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\nx\r\n--edge\r\n\
         Content-Disposition: form-data; name=\"{name}\"; filename=\"a.mid\"\r\n\r\n"
    )
    .into_bytes();
    body.extend(content);
    body.extend(b"\r\n--edge--\r\n");
    body
}

#[tokio::test]
async fn a_file_becomes_a_project_that_can_be_saved_and_exported() {
    let app = TestApp::start().await;
    let answer = import(&app, "?name=My%20song&soundfont_id=bank", "audio/midi", song()).await.expect(200);
    assert_eq!(answer["warnings"], json!([]));
    let project = &answer["project"];
    assert_eq!(project["name"], "My song");
    assert_eq!(project["tracks"][0]["synth_engine"]["soundfont_id"], "bank");
    let item = &project["tracks"][0]["items"][0];
    assert_eq!((&item["notes"][0]["tick"], &item["notes"][0]["length_ticks"]), (&0.into(), &960.into()));

    let save_answer = app.local(Method::POST, "/api/v1/projects").json(project).send().await.expect(201);
    assert_eq!(save_answer["project_id"], project["project_id"]);

    let by_document = app.local(Method::POST, EXPORT).json(&json!({"project": project})).send().await;
    let by_id =
        app.local(Method::POST, EXPORT).json(&json!({"project_id": save_answer["project_id"]})).send().await;
    assert_eq!(by_id.header("content-type"), "audio/midi");
    assert!(by_id.header("content-disposition").contains("My song.mid"), "{:?}", by_id.headers);
    assert!(by_id.bytes.starts_with(b"MThd") && by_id.bytes == by_document.bytes);
    let second_project = import(&app, "", "audio/midi", by_id.bytes).await.expect(200)["project"].clone();
    assert_eq!(second_project["tracks"][0]["items"][0]["notes"], item["notes"]);
}

#[tokio::test]
async fn a_form_that_does_not_end_within_the_time_limit_is_refused() {
    let app = TestApp::with(&[("SF_BODY_MAX_SECS", "1"), ("SF_BODY_MIN_BYTES_PER_SEC", "0")]).await;
    for part in ["file", "other"] {
        let head =
            format!("--edge\r\nContent-Disposition: form-data; name=\"{part}\"; filename=\"a.mid\"\r\n\r\n");
        let slow_body = stream::unfold(head.into_bytes(), |piece| async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Some((Ok::<_, std::io::Error>(Bytes::from(piece)), b"x".to_vec()))
        });
        let call = app.local(Method::POST, IMPORT);
        let call = call.raw("multipart/form-data; boundary=edge", Body::from_stream(slow_body));
        let answer = tokio::time::timeout(Duration::from_secs(20), call.send()).await;
        answer.expect("an answer in time").problem(408, "body_incomplete");
    }
}

#[tokio::test]
async fn the_file_may_be_sent_in_a_form_or_as_an_octet_stream() {
    let app = TestApp::start().await;
    let kind = "multipart/form-data; boundary=edge";
    assert!(import(&app, "", kind, form("file", &song())).await.expect(200)["project"].is_object());
    import(&app, "", kind, form("fail", &song())).await.problem(400, "no_file");
    import(&app, "", kind, b"--edge\r\n".to_vec()).await.problem(400, "bad_form");
    import(&app, "", "multipart/form-data", form("file", &song())).await.problem(400, "bad_form");
    import(&app, "", "application/octet-stream", song()).await.expect(200);
    import(&app, "", "text/html", song()).await.problem(415, "unsupported_media_type");
}

#[tokio::test]
async fn a_damaged_file_gives_a_warning_or_an_error() {
    let app = TestApp::start().await;
    let mut cut = song();
    cut.truncate(cut.len() - 5);
    let answer = import(&app, "", "audio/midi", cut).await.expect(200);
    let warnings = answer["warnings"].as_array().unwrap();
    assert!(warnings[0].as_str().unwrap().contains("truncated"), "{warnings:?}");

    for (bytes, named) in [
        (b"".to_vec(), "MThd"),
        (b"RIFF\0\0\0\0WAVE".to_vec(), "MThd"),
        (song()[..10].to_vec(), "header"),
        (b"MThd\0\0\0\x06\0\x09\0\x01\0\x60".to_vec(), "format 9"),
    ] {
        let detail = import(&app, "", "audio/midi", bytes).await.problem(400, "bad_midi_file");
        assert!(detail.contains(named), "{detail}");
    }
}

#[tokio::test]
async fn files_and_names_have_a_maximum_size() {
    let app = TestApp::with(&[("SF_MIDI_MAX_BYTES", "2000")]).await;
    let mut large_song = song();
    large_song.resize(2_001, 0);
    for (kind, body) in [
        ("audio/midi", large_song.clone()),
        ("multipart/form-data; boundary=edge", form("file", &large_song)),
        ("audio/midi", vec![0; 100_000]),
        ("multipart/form-data; boundary=edge", form("file", &vec![0; 100_000])),
    ] {
        let detail = import(&app, "", kind, body).await.problem(413, "too_large");
        assert_eq!(detail, "A MIDI file may have at most 2000 bytes.");
    }
    let long_name = "x".repeat(200);
    import(&app, &format!("?soundfont_id={long_name}"), "audio/midi", song()).await.problem(400, "bad_query");
    let named = import(&app, &format!("?name={}", "x".repeat(900)), "audio/midi", song()).await.expect(200);
    assert_eq!(named["project"]["name"].as_str().unwrap().len(), 500);
}

#[tokio::test]
async fn an_export_has_the_channels_and_exclusive_messages_of_an_import() {
    let app = TestApp::start().await;
    let note = json!({"tick": 0, "length_ticks": 9, "pitch": 60, "velocity": 0.5});
    let project = json!({
        "schema_version": 1, "project_id": "p", "midi_exclusives": [{"tick": 0, "data": "7e7f0901f7"}, {"tick": []}],
        "tracks": [
            {"id": "a", "kind": "instrument", "midi_channel": 5, "items": [
                {"type": "midi", "id": "i", "start_tick": 0, "length_ticks": 9, "notes": [note]}]},
            {"id": "b", "kind": "instrument", "midi_channel": {"of": [5]}, "items": [
                {"type": "midi", "id": "j", "start_tick": 0, "length_ticks": 9, "notes": [note]}]},
        ],
    });
    let file = app.local(Method::POST, EXPORT).json(&json!({"project": project})).send().await;
    assert_eq!(file.status, 200);
    let has = |bytes: &[u8]| file.bytes.windows(bytes.len()).any(|window| window == bytes);
    assert!(has(&[0xf0, 5, 0x7e, 0x7f, 9, 1, 0xf7]), "the system exclusive message is missing");
    assert!(
        has(&[0x95, 60]) && has(&[0x90, 60]),
        "one note is on channel 6, the other on the first free channel"
    );
}

#[tokio::test]
async fn an_export_needs_exactly_one_valid_project() {
    let app = TestApp::start().await;
    let export = |body: Value| app.local(Method::POST, EXPORT).json(&body).send();
    export(json!({})).await.problem(400, "one_project");
    export(json!({"project_id": "gone"})).await.problem(404, "not_found");
    export(json!({"project": {"schema_version": 1}})).await.problem(400, "invalid_project");
    export(json!({"project": {}, "format": 1})).await.problem(400, "unexpected_json");
    // This body is large enough to be parsed on a separate thread.
    let padding = "x".repeat(100_000);
    export(json!({"project": {}, "padding": padding})).await.problem(400, "unexpected_json");
    export(json!({"project": {"client": padding}})).await.problem(400, "invalid_project");
}
