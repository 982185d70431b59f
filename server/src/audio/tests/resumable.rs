//! Tests of resumable uploads with the tus protocol.

use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures_util::stream;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{LIST, get, stored_names};
use crate::audio::resume;
use crate::audio::test_files::sine_wav;
use crate::test_app::{Answer, Call, TestApp};

pub(super) const UPLOADS: &str = "/api/v1/audio/uploads";
pub(super) const OCTETS: &str = "application/offset+octet-stream";

pub(super) fn tus<'a>(app: &'a TestApp, method: Method, path: &str) -> Call<'a> {
    app.local(method, path).header("tus-resumable", "1.0.0")
}

/// Begins an upload and returns its path.
pub(super) async fn begin(app: &TestApp, name: &str, length_bytes: usize) -> String {
    let metadata = format!("filename {},kind", BASE64_STANDARD.encode(name));
    let call = tus(app, Method::POST, UPLOADS).header("upload-length", &length_bytes.to_string());
    let answer = call.header("upload-metadata", &metadata).send().await;
    answer.expect(201);
    assert_eq!(answer.header("tus-resumable"), "1.0.0");
    assert!(answer.header("upload-expires").ends_with(" GMT"), "{:?}", answer.headers);
    answer.header("location").to_owned()
}

pub(super) async fn append(app: &TestApp, path: &str, offset: usize, bytes: &[u8]) -> Answer {
    let call = tus(app, Method::PATCH, path).header("upload-offset", &offset.to_string());
    call.raw(OCTETS, bytes.to_vec()).send().await
}

async fn offset(app: &TestApp, path: &str) -> String {
    let answer = tus(app, Method::HEAD, path).send().await;
    answer.expect(200);
    assert_eq!(answer.header("cache-control"), "no-store");
    answer.header("upload-offset").to_owned()
}

pub(super) async fn task(app: &TestApp, id: &str) -> Value {
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(60)).await);
    get(app, &format!("/api/v1/tasks/{id}")).await.expect(200)
}

pub(super) fn count_stored_parts(app: &TestApp) -> usize {
    let folder = app.state.config.storage.dir.join("blobs/audio-uploads");
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_in_parts_is_decoded() {
    let app = TestApp::start().await;
    let bytes = sine_wav(440.0, 48_000, 0.5);
    let path = begin(&app, "Größe.wav", bytes.len()).await;
    assert_eq!(offset(&app, &path).await, "0");
    let answer = append(&app, &path, 0, &bytes[..1_000]).await;
    answer.expect(204);
    assert_eq!((answer.header("upload-offset"), answer.header("songfoundry-task-id")), ("1000", ""));
    // A repeated request and a request with a later offset are refused.
    append(&app, &path, 0, &bytes[..1_000]).await.problem(409, "wrong_offset");
    append(&app, &path, 2_000, b"x").await.problem(409, "wrong_offset");
    assert_eq!(offset(&app, &path).await, "1000");
    let head = tus(&app, Method::HEAD, &path).send().await;
    assert_eq!(head.header("upload-length"), bytes.len().to_string());
    assert!(head.header("upload-metadata").starts_with("filename "), "{:?}", head.headers);
    let status = get(&app, &path).await.expect(200);
    assert_eq!((&status["state"], &status["offset_bytes"]), (&json!("receiving"), &json!(1_000)));

    let answer = append(&app, &path, 1_000, &bytes[1_000..]).await;
    answer.expect(204);
    let task = task(&app, answer.header("songfoundry-task-id")).await;
    assert_eq!(
        (&task["state"], &task["result"]["name"]),
        (&json!("succeeded"), &json!("Größe.wav")),
        "{task}"
    );
    let status = get(&app, &path).await.expect(200);
    assert_eq!((&status["state"], &status["audio_id"]), (&json!("done"), &task["result"]["id"]));
    let id = status["audio_id"].as_str().expect("an id");
    let file = get(&app, &format!("{LIST}/{id}/file")).await;
    assert!(file.bytes == bytes, "the returned bytes differ");
    assert_eq!((count_stored_parts(&app), stored_names(&app).len()), (0, 3));
    let detail = append(&app, &path, bytes.len(), b"x").await.problem(409, "upload_finished");
    assert!(detail.contains(&format!("all of its {} bytes have been received", bytes.len())), "{detail}");
    tus(&app, Method::DELETE, &path).send().await.expect(204);
    get(&app, &format!("{LIST}/{id}")).await.expect(200);
}

/// A recording is sent while it grows, in a WAV file with sizes that say "unknown".
#[tokio::test(flavor = "multi_thread")]
async fn an_upload_of_deferred_length_ends_when_its_length_is_announced() {
    let app = TestApp::start().await;
    let mut bytes = sine_wav(440.0, 48_000, 0.5);
    let data = bytes.windows(4).position(|window| window == b"data").expect("a data chunk");
    bytes[4..8].fill(0xff);
    bytes[data + 4..data + 8].fill(0xff);
    let call = tus(&app, Method::POST, UPLOADS).header("upload-defer-length", "1");
    let answer = call.header("upload-metadata", "filename VGFrZS53YXY=").send().await;
    answer.expect(201);
    let path = answer.header("location").to_owned();
    append(&app, &path, 0, &bytes[..10_000]).await.expect(204);
    let head = tus(&app, Method::HEAD, &path).send().await;
    assert_eq!((head.header("upload-defer-length"), head.header("upload-length")), ("1", ""));
    let status = get(&app, &path).await.expect(200);
    assert_eq!((&status["length_bytes"], &status["offset_bytes"]), (&Value::Null, &json!(10_000)));
    append(&app, &path, 10_000, &bytes[10_000..]).await.expect(204);
    let announce = |length: usize| {
        let call = tus(&app, Method::PATCH, &path).header("upload-offset", &bytes.len().to_string());
        call.header("upload-length", &length.to_string()).raw(OCTETS, Vec::new()).send()
    };
    announce(9_999).await.problem(400, "bad_upload_header");
    let answer = announce(bytes.len()).await;
    answer.expect(204);
    let task = task(&app, answer.header("songfoundry-task-id")).await;
    assert_eq!(task["state"], "succeeded", "{task}");
    let file =
        get(&app, &format!("{LIST}/{}", task["result"]["id"].as_str().expect("an id"))).await.expect(200);
    assert_eq!((&file["frames"], &file["warnings"]), (&json!(24_000), &json!([])));
    for header in [("upload-defer-length", "2"), ("upload-length", "none")] {
        let call = tus(&app, Method::POST, UPLOADS).header(header.0, header.1);
        call.send().await.problem(400, "bad_upload_header");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unfinished_uploads_are_listed_in_pages() {
    let app = TestApp::start().await;
    let mut begun_uploads = Vec::new();
    for name in ["a.wav", "b.wav", "c.wav"] {
        begun_uploads.push(begin(&app, name, 1_000).await);
    }
    append(&app, &begun_uploads[1], 0, &[0; 400]).await.expect(204);
    let whole_file = sine_wav(440.0, 48_000, 0.1);
    let finished_upload = begin(&app, "done.wav", whole_file.len()).await;
    let answer = append(&app, &finished_upload, 0, &whole_file).await;
    task(&app, answer.header("songfoundry-task-id")).await;
    let (mut listed_uploads, mut query) = (Vec::new(), "?limit=2".to_owned());
    for expected in [2, 1] {
        let page = get(&app, &format!("{UPLOADS}{query}")).await.expect(200);
        let items = page["items"].as_array().expect("items").clone();
        assert_eq!((items.len(), page["next_cursor"].is_null()), (expected, expected == 1), "{page}");
        query = format!("?limit=2&cursor={}", page["next_cursor"].as_str().unwrap_or_default());
        listed_uploads.extend(items);
    }
    let mut locations: Vec<_> =
        listed_uploads.iter().map(|upload| upload["location"].as_str().expect("a path")).collect();
    locations.sort_unstable();
    begun_uploads.sort_unstable();
    assert_eq!(locations, begun_uploads);
    let second = listed_uploads.iter().find(|upload| upload["name"] == "b.wav").expect("the second");
    assert_eq!((&second["offset_bytes"], &second["length_bytes"]), (&json!(400), &json!(1_000)));
    assert!(second["expires_at"].as_str().is_some_and(|time| time.ends_with('Z')), "{second}");
    let token = app.token_of_new_user("other").await;
    let user_uploads = app.remote(Method::GET, UPLOADS).token(&token).send().await.expect(200);
    assert_eq!(user_uploads["items"], json!([]));
    app.remote(Method::GET, UPLOADS).send().await.problem(401, "token_missing");
    // This cursor is from the list of audio files.
    let cursor = base64::prelude::BASE64_URL_SAFE_NO_PAD.encode("2026-01-01T00:00:00Z|x");
    get(&app, &format!("{UPLOADS}?cursor={cursor}")).await.problem(400, "bad_cursor");
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_before_a_broken_connection_are_kept() {
    let app = TestApp::start().await;
    let bytes = sine_wav(440.0, 48_000, 0.5);
    let path = begin(&app, "a.wav", bytes.len()).await;
    let broken_body = stream::iter([Ok(bytes[..5_000].to_vec()), Err(std::io::Error::other("gone"))]);
    let call = tus(&app, Method::PATCH, &path).header("upload-offset", "0");
    call.raw(OCTETS, Body::from_stream(broken_body)).send().await.problem(408, "body_incomplete");
    assert_eq!(offset(&app, &path).await, "5000");
    // Appends bytes beyond the stored offset, as if the service had been killed while it wrote.
    let id = path.rsplit('/').next().expect("an id");
    let file = app.state.config.storage.dir.join(format!("blobs/audio-uploads/{id}.part"));
    let mut longer = std::fs::read(&file).expect("reads");
    longer.extend(b"not counted");
    std::fs::write(&file, longer).expect("writes");
    let answer = append(&app, &path, 5_000, &bytes[5_000..]).await;
    answer.expect(204);
    assert_eq!(task(&app, answer.header("songfoundry-task-id")).await["state"], "succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_checksum_discards_the_part() {
    let app = TestApp::start().await;
    let bytes = sine_wav(440.0, 48_000, 0.1);
    let path = begin(&app, "a.wav", bytes.len()).await;
    let patch = |checksum: String, body: &[u8]| {
        let call = tus(&app, Method::PATCH, &path).header("upload-offset", "0");
        call.header("upload-checksum", &checksum).raw(OCTETS, body.to_vec())
    };
    let sha256 = |bytes: &[u8]| format!("sha256 {}", BASE64_STANDARD.encode(Sha256::digest(bytes)));
    patch(sha256(b"other"), &bytes[..100]).send().await.problem(460, "checksum_mismatch");
    assert_eq!(offset(&app, &path).await, "0");
    // SHA-1 of "abc" (FIPS 180).
    let abc: Vec<u8> = (0..20)
        .map(|n| {
            u8::from_str_radix(&"a9993e364706816aba3e25717850c26c9cd0d89d"[2 * n..2 * n + 2], 16)
                .expect("hex")
        })
        .collect();
    patch(format!("sha1 {}", BASE64_STANDARD.encode(&abc)), b"abc").send().await.expect(204);
    let call = tus(&app, Method::PATCH, &path).header("upload-offset", "3");
    call.header("upload-checksum", &sha256(&bytes[3..]))
        .raw(OCTETS, bytes[3..].to_vec())
        .send()
        .await
        .expect(204);
    for bad_checksum in ["md5 abcd", "sha1", "sha1 ???"] {
        let other_upload = begin(&app, "b.wav", 10).await;
        let call = tus(&app, Method::PATCH, &other_upload).header("upload-offset", "0");
        call.header("upload-checksum", bad_checksum)
            .raw(OCTETS, "x")
            .send()
            .await
            .problem(400, "bad_upload_header");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_requests_are_refused_as_the_protocol_requires() {
    let app = TestApp::with(&[("SF_UPLOAD_MAX_BYTES", "1000000"), ("SF_AUDIO_QUOTA_BYTES", "500000")]).await;
    let options = app.local(Method::OPTIONS, UPLOADS).send().await;
    options.expect(204);
    assert_eq!(options.header("tus-version"), "1.0.0");
    assert_eq!(
        options.header("tus-extension"),
        "creation,creation-defer-length,expiration,termination,checksum"
    );
    assert_eq!(
        (options.header("tus-max-size"), options.header("tus-checksum-algorithm")),
        ("1000000", "sha1,sha256")
    );
    let refusal = app.local(Method::POST, UPLOADS).header("upload-length", "10").send().await;
    refusal.problem(412, "tus_version");
    assert_eq!(refusal.header("tus-version"), "1.0.0");
    for (length, status, code) in [
        ("1000001", 413, "too_large"),
        ("600000", 507, "quota_exceeded"),
        ("0", 400, "bad_upload_header"),
        ("-1", 400, "bad_upload_header"),
        ("many", 400, "bad_upload_header"),
    ] {
        let call = tus(&app, Method::POST, UPLOADS).header("upload-length", length);
        call.send().await.problem(status, code);
    }
    tus(&app, Method::POST, UPLOADS).send().await.problem(400, "bad_upload_header");
    let call = tus(&app, Method::POST, UPLOADS).header("upload-length", "10");
    call.header("upload-metadata", "filename ???").send().await.problem(400, "bad_upload_header");
    let path = begin(&app, "a.wav", 10).await;
    append(&app, &path, 0, b"eleven bytes").await.problem(400, "upload_too_long");
    assert_eq!(offset(&app, &path).await, "0");
    let call = tus(&app, Method::PATCH, &path).header("upload-offset", "0");
    call.raw("text/plain", "x").send().await.problem(415, "unsupported_media_type");
    tus(&app, Method::PATCH, &path).raw(OCTETS, "x").send().await.problem(400, "bad_upload_header");
    append(&app, &format!("{UPLOADS}/nothing"), 0, b"x").await.problem(404, "not_found");
    tus(&app, Method::DELETE, &path).send().await.expect(204);
    tus(&app, Method::DELETE, &path).send().await.problem(404, "not_found");
    assert_eq!(count_stored_parts(&app), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_that_began_at_the_same_time_share_the_quota() {
    let app = TestApp::with(&[("SF_AUDIO_QUOTA_BYTES", "50000")]).await;
    let mut paths = Vec::new();
    for name in ["a.wav", "b.wav", "c.wav"] {
        paths.push(begin(&app, name, 20_001).await);
    }
    let part = [0; 20_000];
    append(&app, &paths[0], 0, &part).await.expect(204);
    append(&app, &paths[1], 0, &part).await.expect(204);
    append(&app, &paths[2], 0, &part).await.problem(507, "quota_exceeded");
    assert_eq!(offset(&app, &paths[2]).await, "0");
    tus(&app, Method::DELETE, &paths[0]).send().await.expect(204);
    append(&app, &paths[2], 0, &part).await.expect(204);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_complete_upload_without_audio_is_refused_and_removed() {
    let app = TestApp::start().await;
    let path = begin(&app, "notes.txt", 15).await;
    let answer = append(&app, &path, 0, b"no sound at all").await;
    let task = task(&app, answer.header("songfoundry-task-id")).await;
    assert_eq!(task["error"]["status"], 415, "{task}");
    let status = get(&app, &path).await.expect(200);
    assert_eq!((&status["state"], &status["audio_id"]), (&json!("refused"), &Value::Null));
    assert_eq!((count_stored_parts(&app), stored_names(&app).len()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_upload_expires() {
    let app = TestApp::with(&[("SF_UNFINISHED_UPLOAD_SECS", "3600")]).await;
    let path = begin(&app, "a.wav", 100).await;
    append(&app, &path, 0, &[0; 10]).await.expect(204);
    // Sets the expiry time to one second ago.
    let expire = "UPDATE audio_uploads SET expires_secs = expires_secs - 3601";
    sqlx::query(expire).execute(&app.state.db).await.expect("moves");
    tus(&app, Method::HEAD, &path).send().await;
    append(&app, &path, 10, &[0; 10]).await.problem(404, "not_found");
    assert_eq!(count_stored_parts(&app), 1);
    begin(&app, "b.wav", 100).await;
    assert_eq!(count_stored_parts(&app), 1, "a new upload removes expired ones");
}

#[tokio::test(flavor = "multi_thread")]
async fn starting_the_service_decodes_complete_uploads() {
    let app = TestApp::start().await;
    let bytes = sine_wav(440.0, 48_000, 0.1);
    let path = begin(&app, "a.wav", bytes.len()).await;
    append(&app, &path, 0, &bytes[..bytes.len() - 1]).await.expect(204);
    // The upload has the state that remains if the service stops between the last byte and the
    // task, and starts after the expiry time.
    let id = path.rsplit('/').next().expect("an id");
    let file = app.state.config.storage.dir.join(format!("blobs/audio-uploads/{id}.part"));
    std::fs::write(file, &bytes).expect("writes");
    sqlx::query(
        "UPDATE audio_uploads SET offset_bytes = length_bytes, state = 'decoding', expires_secs = 1 WHERE id = $1",
    )
    .bind(id)
    .execute(&app.state.db)
    .await
    .expect("updates");
    resume(&app.state).await.expect("resumes");
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(60)).await);
    let status = get(&app, &path).await.expect(200);
    assert_eq!(status["state"], "done", "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn users_cannot_reach_the_uploads_of_others() {
    let app = TestApp::start().await;
    let path = begin(&app, "a.wav", 100).await;
    let token = app.token_of_new_user("other").await;
    for method in [Method::GET, Method::DELETE] {
        let call = || app.remote(method.clone(), &path).header("tus-resumable", "1.0.0");
        call().send().await.problem(401, "token_missing");
        call().token(&token).send().await.problem(404, "not_found");
    }
    let call =
        || app.remote(Method::PATCH, &path).header("tus-resumable", "1.0.0").header("upload-offset", "0");
    call().raw(OCTETS, "x").send().await.problem(401, "token_missing");
    call().token(&token).raw(OCTETS, "x").send().await.problem(404, "not_found");
    let post =
        app.remote(Method::POST, UPLOADS).header("tus-resumable", "1.0.0").header("upload-length", "1");
    post.send().await.problem(401, "token_missing");
    assert_eq!(offset(&app, &path).await, "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_process_at_a_time_writes_to_an_upload() {
    let app = TestApp::start().await;
    let path = begin(&app, "a.wav", 100).await;
    let set_lease_end = async |until_ms: i64| {
        sqlx::query("UPDATE audio_uploads SET held_by = 'another process', held_until_ms = $1")
            .bind(until_ms)
            .execute(&app.state.db)
            .await
            .expect("updates");
    };
    let now_ms = crate::clock::now_unix_ms();
    set_lease_end(now_ms + 30_000).await;
    if crate::db::kind(&app.state.db) == crate::db::DatabaseKind::Sqlite {
        // Only one process uses SQLite, so the leases of other processes are ignored.
        append(&app, &path, 0, &[0; 10]).await.expect(204);
        return;
    }
    append(&app, &path, 0, &[0; 10]).await.problem(409, "upload_busy");
    tus(&app, Method::DELETE, &path).send().await.problem(409, "upload_busy");
    assert_eq!(offset(&app, &path).await, "0");
    // This lease was renewed before the clock was set back by a day.
    set_lease_end(now_ms + 86_400_000).await;
    append(&app, &path, 0, &[]).await.expect(204);
    // This lease has ended.
    set_lease_end(now_ms - 1).await;
    append(&app, &path, 0, &[0; 10]).await.expect(204);
    append(&app, &path, 10, &[0; 10]).await.expect(204);
    assert_eq!(offset(&app, &path).await, "20");
}
