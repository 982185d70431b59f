//! Tests of bundles through the real router, with real audio.

use std::io::{Cursor, Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::audio::test_files::{silent_flac, sine_wav};
use crate::audio::tests::{UPLOAD, with_form};
use crate::permits::processors;
use crate::test_app::{Answer, TestApp};

const PROJECTS: &str = "/api/v1/projects";
const IMPORT: &str = "/api/v1/projects/import";

/// Returns a short audio file with a tone.
fn sound(frequency_hz: f64) -> Vec<u8> {
    sine_wav(frequency_hz, 48_000, 0.05)
}

async fn upload(app: &TestApp, token: &str, name: &str, bytes: &[u8]) -> String {
    let call = with_form(app.remote(Method::POST, UPLOAD).token(token), &[(name, bytes)]);
    call.send().await.expect(201)["files"][0]["id"].as_str().expect("an id").to_owned()
}

/// Returns a project with two recordings, one of them used twice, an impulse response and a missing
/// recording.
fn song(first: &str, second: &str) -> Value {
    let item = |id: &str, file: &str| {
        json!({ "type": "audio", "id": id, "start_tick": 0, "source": { "server_file_id": file },
            "server_file_id": file, "audio_file_url": format!("/api/v1/audio/{file}/file") })
    };
    json!({ "schema_version": 1, "project_id": "song", "name": "Äther", "client": { "x": [1.5, "é"] }, "tracks": [
        { "id": "t1", "kind": "audio", "items": [item("a", first), item("b", second), item("c", first)],
          "effects": [{ "id": "e", "type": "builtin", "name": "convolution", "impulse": second }] },
        { "id": "t2", "kind": "audio", "items": [item("d", "gone")] },
    ] })
}

struct Songs {
    app: TestApp,
    ada: String,
    first: String,
    second: String,
    first_bytes: Vec<u8>,
}

impl Songs {
    async fn start(settings: &[(&str, &str)]) -> Self {
        let app = TestApp::with(settings).await;
        let ada = app.token_of_new_user("ada").await;
        let first_bytes = sound(1.0);
        let first = upload(&app, &ada, "Kick/ein.wav", &first_bytes).await;
        let second = upload(&app, &ada, "Room.wav", &sound(1_000.0)).await;
        let call = app.remote(Method::POST, PROJECTS).token(&ada).json(&song(&first, &second));
        call.send().await.expect(201);
        Self { app, ada, first, second, first_bytes }
    }

    async fn bundle(&self) -> Answer {
        let path = format!("{PROJECTS}/song/bundle");
        self.app.remote(Method::GET, &path).token(&self.ada).send().await
    }

    async fn import(&self, token: &str, bytes: &[u8]) -> Answer {
        let call = self.app.remote(Method::POST, IMPORT).token(token);
        call.raw("application/zip", bytes.to_vec()).send().await
    }

    async fn get(&self, token: &str, path: &str) -> Answer {
        self.app.remote(Method::GET, path).token(token).send().await
    }

    /// Returns the stored text of one of Ada's projects.
    async fn raw(&self, id: &str) -> String {
        let answer = self.get(&self.ada, &format!("{PROJECTS}/{id}/raw")).await;
        String::from_utf8(answer.bytes).expect("text")
    }

    async fn audio_count(&self, token: &str) -> usize {
        let list = self.get(token, "/api/v1/audio").await.expect(200);
        list["items"].as_array().expect("a list").len()
    }
}

/// Returns the names and contents of an archive's entries, in their order.
fn entries(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut zip = ZipArchive::new(Cursor::new(bytes)).expect("an archive");
    (0..zip.len())
        .map(|number| {
            let mut entry = zip.by_index(number).expect("an entry");
            let mut content = Vec::new();
            entry.read_to_end(&mut content).expect("reads");
            (entry.name().expect("a name").into_owned(), content)
        })
        .collect()
}

fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        zip.start_file(*name, options).expect("starts");
        zip.write_all(content).expect("writes");
    }
    zip.finish().expect("finishes").into_inner()
}

/// Returns a copy of the archive with its entries changed by `change`.
fn changed(bytes: &[u8], change: impl Fn(&mut Vec<(String, Vec<u8>)>)) -> Vec<u8> {
    let mut all = entries(bytes);
    change(&mut all);
    archive(&all.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect::<Vec<_>>())
}

#[tokio::test]
async fn a_bundle_contains_the_project_and_each_audio_file_once() {
    let songs = Songs::start(&[]).await;
    let answer = songs.bundle().await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "application/zip"));
    assert!(
        answer.header("content-disposition").contains("%C3%84ther.songfoundry.zip"),
        "{:?}",
        answer.headers
    );
    let archive_entries = entries(&answer.bytes);
    let names: Vec<&str> = archive_entries.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[..2], ["bundle.json", "project.json"]);
    assert_eq!(names.len(), 4);
    let manifest: Value = serde_json::from_slice(&archive_entries[0].1).expect("JSON");
    assert_eq!((&manifest["version"], &manifest["missing"]), (&json!(1), &json!(["gone"])));
    assert_eq!(manifest["audio"][0]["name"], "ein.wav");
    assert_eq!(
        archive_entries[2],
        (manifest["audio"][0]["path"].as_str().expect("a path").to_owned(), songs.first_bytes.clone())
    );
    let raw = songs.get(&songs.ada, &format!("{PROJECTS}/song/raw")).await;
    assert_eq!(archive_entries[1].1, raw.bytes);

    // A second bundle has the same bytes and tag.
    let second_bundle = songs.bundle().await;
    assert_eq!(second_bundle.bytes, answer.bytes);
    let call = songs.app.remote(Method::GET, &format!("{PROJECTS}/song/bundle")).token(&songs.ada);
    call.header("if-none-match", answer.header("etag")).send().await.expect(304);
    assert_eq!(
        std::fs::read_dir(songs.app.state.blobs.local().root().join("bundles")).expect("a folder").count(),
        0
    );
}

#[tokio::test]
async fn an_imported_bundle_has_the_same_bytes() {
    let songs = Songs::start(&[]).await;
    let bundle = songs.bundle().await.bytes;
    let document_before = songs.raw("song").await;

    // If the exported project still exists, the import has a new id, and no audio is stored again.
    let copy = songs.import(&songs.ada, &bundle).await;
    let body = copy.expect(201);
    assert_eq!(
        (&body["audio_added"], &body["audio_known"], &body["revision"]),
        (&json!(0), &json!(2), &json!(1))
    );
    assert_eq!(body["audio_missing"], json!(["gone"]));
    let copy_id = body["project_id"].as_str().expect("an id").to_owned();
    assert_ne!(copy_id, "song");
    assert_eq!(copy.header("location"), format!("{PROJECTS}/{copy_id}"));
    assert_eq!(songs.audio_count(&songs.ada).await, 2);
    let text = songs.raw(&copy_id).await;
    assert_eq!(text.replace(&copy_id, "song"), document_before);

    // If the project was deleted first, its import has the same id and bytes.
    songs.app.remote(Method::DELETE, &format!("{PROJECTS}/song")).token(&songs.ada).send().await.expect(204);
    let body = songs.import(&songs.ada, &bundle).await.expect(201);
    assert_eq!(body["project_id"], "song");
    assert_eq!(songs.raw("song").await, document_before);
    assert_eq!(songs.bundle().await.bytes, bundle);
}

#[tokio::test]
async fn an_import_by_another_user_creates_independent_files() {
    let songs = Songs::start(&[]).await;
    let bundle = songs.bundle().await.bytes;
    let bob = songs.app.token_of_new_user("bob").await;
    songs.get(&bob, &format!("{PROJECTS}/song/bundle")).await.problem(404, "not_found");
    let body = songs.import(&bob, &bundle).await.expect(201);
    assert_eq!((&body["project_id"], &body["audio_added"]), (&json!("song"), &json!(2)));
    let project = songs.get(&bob, &format!("{PROJECTS}/song")).await.expect(200);
    let items = &project["tracks"][0]["items"];
    let id = items[0]["server_file_id"].as_str().expect("an id");
    assert!(id != songs.first && id != songs.second, "an id of the importing user");
    assert_eq!(items[0]["source"]["server_file_id"], id);
    assert_eq!(items[0]["audio_file_url"], format!("/api/v1/audio/{id}/file"));
    assert_eq!(items[2]["server_file_id"], id);
    assert_eq!(project["tracks"][0]["effects"][0]["impulse"], items[1]["server_file_id"]);
    assert_eq!(project["tracks"][1]["items"][0]["server_file_id"], "gone");
    let file = songs.get(&bob, &format!("/api/v1/audio/{id}/file")).await;
    assert_eq!(file.bytes, songs.first_bytes);
    songs.get(&bob, &format!("/api/v1/audio/{}", songs.first)).await.problem(404, "not_found");
    assert_eq!(songs.get(&bob, &format!("/api/v1/audio/{id}")).await.expect(200)["name"], "ein.wav");
}

#[tokio::test]
async fn archives_that_are_not_bundles_are_refused_and_nothing_is_stored() {
    let songs = Songs::start(&[]).await;
    let bundle = songs.bundle().await.bytes;
    let bob = songs.app.token_of_new_user("bob").await;
    let check_refused = |bytes: Vec<u8>, problem_text: &'static str| {
        let (songs, bob) = (&songs, &bob);
        async move {
            let detail = songs.import(bob, &bytes).await.problem(400, "bad_bundle");
            assert!(detail.contains(problem_text), "{detail}");
        }
    };
    check_refused(Vec::new(), "cannot be opened").await;
    check_refused(b"PK\x03\x04 but no more".to_vec(), "cannot be opened").await;
    check_refused(bundle[..bundle.len() - 30].to_vec(), "cannot be opened").await;
    check_refused(archive(&[]), "bundle.json").await;
    for name in ["../../etc/passwd", "/etc/passwd", "audio/../../x.wav", "notes.txt", "audio\\..\\x"] {
        check_refused(
            changed(&bundle, |all| all.push((name.to_owned(), b"x".to_vec()))),
            "does not belong in a bundle",
        )
        .await;
    }
    check_refused(
        changed(&bundle, |all| all.retain(|(name, _)| name != "project.json")),
        "`project.json` is missing",
    )
    .await;
    check_refused(changed(&bundle, |all| drop(all.pop())), "is missing").await;
    check_refused(changed(&bundle, |all| all[0].1 = b"{}".to_vec()), "bundle.json").await;
    let manifest = |from: &'static str, to: &'static str| {
        changed(&bundle, |all| {
            let text = String::from_utf8(all[0].1.clone()).expect("text");
            assert!(text.contains(from), "{text}");
            all[0].1 = text.replace(from, to).into_bytes();
        })
    };
    check_refused(manifest("\"version\": 1", "\"version\": 2"), "version 2").await;
    check_refused(manifest("songfoundry-bundle", "other-bundle"), "other-bundle").await;
    check_refused(manifest("\"path\": \"audio/", "\"path\": \"../"), "does not belong in a bundle").await;
    // The hash of these bytes is not the one in the manifest.
    check_refused(changed(&bundle, |all| all[2].1 = sound(77.0)), "SHA-256").await;
    let mut damaged_bundle = bundle.clone();
    let index = damaged_bundle
        .windows(4)
        .position(|four| four == &songs.first_bytes[100..104])
        .expect("the bytes are in the archive");
    damaged_bundle[index] ^= 0xFF;
    check_refused(damaged_bundle, "cannot be read to its end").await;

    let project = changed(&bundle, |all| all[1].1 = b"{\"tracks\": 7}".to_vec());
    songs.import(&bob, &project).await.problem(400, "invalid_project");
    let audio = changed(&bundle, |all| all[3].1 = b"no sound at all".to_vec());
    songs.import(&bob, &audio).await.problem(415, "unsupported_media_type");
    assert_eq!(songs.audio_count(&bob).await, 0, "a refused import removes the audio that it added");
    assert_eq!(songs.get(&bob, PROJECTS).await.expect(200)["items"], json!([]));
    assert_eq!(songs.audio_count(&songs.ada).await, 2);
    let call = songs.app.remote(Method::POST, IMPORT).token(&bob).raw("text/html", bundle);
    call.send().await.problem(415, "unsupported_media_type");
}

#[tokio::test]
async fn a_bundle_with_a_symbolic_link_is_refused() {
    let songs = Songs::start(&[]).await;
    let mut zip = ZipWriter::new_append(Cursor::new(songs.bundle().await.bytes)).expect("opens");
    zip.add_symlink("audio/link.wav", "/etc/passwd", SimpleFileOptions::default()).expect("adds");
    let bytes = zip.finish().expect("finishes").into_inner();
    let detail = songs.import(&songs.ada, &bytes).await.problem(400, "bad_bundle");
    assert!(detail.contains("audio/link.wav"), "{detail}");
}

#[tokio::test]
async fn entries_that_unpack_to_too_many_bytes_are_refused() {
    let limits = [
        ("SF_PROJECT_MAX_BYTES", "200000"),
        ("SF_UPLOAD_MAX_BYTES", "1000000"),
        ("SF_BUNDLE_MAX_BYTES", "1000000"),
    ];
    let songs = Songs::start(&limits).await;
    let bundle = songs.bundle().await.bytes;
    let zeros = vec![b' '; 5_000_000];
    let bomb = changed(&bundle, |all| all[1].1 = zeros.clone());
    assert!(bomb.len() < 50_000, "{}", bomb.len());
    assert!(songs.import(&songs.ada, &bomb).await.problem(413, "too_large").contains("200000"));
    let bomb = changed(&bundle, |all| all[2].1 = zeros.clone());
    assert!(songs.import(&songs.ada, &bomb).await.problem(413, "too_large").contains("1000000"));
    let bomb = changed(&bundle, |all| all[0].1 = zeros.clone());
    assert!(songs.import(&songs.ada, &bomb).await.problem(413, "too_large").contains("4194304"));
    let large_file = vec![0; 1_000_001];
    assert!(songs.import(&songs.ada, &large_file).await.problem(413, "too_large").contains("A bundle"));
    // This archive has more entries than the limit.
    let names: Vec<String> = (0..20_001).map(|number| format!("audio/{number}")).collect();
    let many_entries = archive(&names.iter().map(|name| (name.as_str(), &b""[..])).collect::<Vec<_>>());
    let songs = Songs::start(&[]).await;
    let detail = songs.import(&songs.ada, &many_entries).await.problem(400, "bad_bundle");
    assert!(detail.contains("20000"), "{detail}");
}

#[tokio::test]
async fn an_import_beyond_the_quota_is_refused() {
    let songs = Songs::start(&[("SF_AUDIO_QUOTA_BYTES", "60000")]).await;
    let bundle = songs.bundle().await.bytes;
    let bob = songs.app.token_of_new_user("bob").await;
    upload(&songs.app, &bob, "Own.wav", &sound(5_000.0)).await;
    upload(&songs.app, &bob, "Other.wav", &sound(6_000.0)).await;
    songs.import(&bob, &bundle).await.problem(507, "quota_exceeded");
    assert_eq!(songs.audio_count(&bob).await, 2);
    assert_eq!(songs.get(&bob, PROJECTS).await.expect(200)["items"], json!([]));
}

#[tokio::test]
async fn bundles_need_a_log_in_and_a_readable_project() {
    let songs = Songs::start(&[]).await;
    songs
        .app
        .remote(Method::GET, &format!("{PROJECTS}/song/bundle"))
        .send()
        .await
        .problem(401, "token_missing");
    songs
        .app
        .remote(Method::POST, IMPORT)
        .raw("application/zip", "")
        .send()
        .await
        .problem(401, "token_missing");
    let path = format!("{PROJECTS}/song/bundle");
    songs.app.local(Method::GET, &path).send().await.problem(404, "not_found");
    sqlx::query("UPDATE project_revisions SET body = '{'")
        .execute(&songs.app.state.db)
        .await
        .expect("writes");
    songs.bundle().await.problem(422, "project_unreadable");
}

#[tokio::test]
async fn a_bundle_with_two_entries_of_the_same_name_is_refused() {
    let songs = Songs::start(&[]).await;
    let bundle = songs.bundle().await.bytes;
    // The writer refuses duplicate names, so the second entry is renamed afterwards.
    let mut repeated_entry = changed(&bundle, |all| {
        let second_bundle =
            all.iter().find(|(name, _)| name == "project.json").expect("the project's entry").1.clone();
        all.push(("projecT.json".to_owned(), second_bundle));
    });
    let offsets: Vec<usize> = (0..repeated_entry.len())
        .filter(|&offset| repeated_entry[offset..].starts_with(b"projecT.json"))
        .collect();
    assert_eq!(offsets.len(), 2, "the name is in the entry's header and in the directory");
    for offset in offsets {
        repeated_entry[offset..offset + 12].copy_from_slice(b"project.json");
    }
    let detail = songs.import(&songs.ada, &repeated_entry).await.problem(400, "bad_bundle");
    assert!(
        detail.contains("it has more than one entry named `project.json`; every name must be unique"),
        "{detail}"
    );
    assert_eq!(songs.get(&songs.ada, PROJECTS).await.expect(200)["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_project_may_refer_to_many_missing_files() {
    const MISSING: usize = 60_000;
    let songs = Songs::start(&[]).await;
    let item = |number: usize| {
        json!({ "type": "audio", "id": number.to_string(), "start_tick": 0,
            "source": { "server_file_id": format!("gone-{number}") } })
    };
    let items: Vec<Value> = (0..MISSING).map(item).collect();
    let project = json!({ "schema_version": 1, "project_id": "wide", "tracks": [
        { "id": "t", "kind": "audio", "items": items }] });
    let call = songs.app.remote(Method::POST, PROJECTS).token(&songs.ada).json(&project);
    call.send().await.expect(201);
    let bundle = songs.get(&songs.ada, &format!("{PROJECTS}/wide/bundle")).await;
    assert_eq!(bundle.status, 200);
    let (name, manifest) = &entries(&bundle.bytes)[0];
    let manifest: Value = serde_json::from_slice(manifest).expect("JSON");
    assert_eq!((name.as_str(), manifest["missing"].as_array().map(Vec::len)), ("bundle.json", Some(MISSING)));
}

#[tokio::test]
async fn the_size_of_unread_bundles_is_limited() {
    const LIMIT_BYTES: u64 = 8 * 1024 * 1024 * 1024;
    let songs = Songs::start(&[]).await;
    let whole_bundle = songs.bundle().await;
    assert_eq!(whole_bundle.status, 200);
    // Another user's files are being sent.
    let unread = songs.app.state.large_answers.reserve_file("bob", LIMIT_BYTES - 1_000).expect("the first");
    songs.bundle().await.problem(503, "busy");
    drop(unread);
    let path = format!("{PROJECTS}/song/bundle");
    let part =
        songs.app.remote(Method::GET, &path).token(&songs.ada).header("range", "bytes=2-5").send().await;
    assert_eq!((part.status.as_u16(), part.bytes.as_slice()), (206, &whole_bundle.bytes[2..6]));
    assert_eq!(part.header("accept-ranges"), "bytes");
    let unchanged = songs.app.remote(Method::GET, &path).token(&songs.ada);
    let unchanged = unchanged.header("if-none-match", whole_bundle.header("etag")).send().await;
    assert_eq!(unchanged.status, 304);
    songs.app.state.large_answers.reserve_file("bob", LIMIT_BYTES).expect("no bytes are reserved any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_import_keeps_audio_that_a_song_uses() {
    let songs = Arc::new(Songs::start(&[]).await);
    let bundle = songs.bundle().await.bytes;
    let cy = songs.app.token_of_new_user("cy").await;
    let save = async |token: &str, id: &str| {
        let call = songs.app.remote(Method::POST, PROJECTS).token(token).json(&song(id, id));
        call.send().await.expect(201);
        let answer = songs.get(token, &format!("/api/v1/audio/{id}/file")).await;
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.bytes));
    };
    // The import restores a deleted file and then fails.
    let first = upload(&songs.app, &cy, "ein.wav", &songs.first_bytes).await;
    songs.app.remote(Method::DELETE, &format!("/api/v1/audio/{first}")).token(&cy).send().await.expect(204);
    let broken_bundle = changed(&bundle, |all| all[3].1 = b"no sound at all".to_vec());
    songs.import(&cy, &broken_bundle).await.problem(415, "unsupported_media_type");
    songs.get(&cy, &format!("/api/v1/audio/{first}")).await.problem(404, "not_found");
    save(&cy, &first).await;

    // A song refers to a file that was just imported, while the next file is decoded. Then the
    // client disconnects.
    let bob = songs.app.token_of_new_user("bob").await;
    let slow = changed(&bundle, |all| all[3].1 = silent_flac(15_000));
    let importing = {
        let (songs, bob) = (Arc::clone(&songs), bob.clone());
        tokio::spawn(async move { songs.import(&bob, &slow).await })
    };
    let first = loop {
        let list = songs.get(&bob, "/api/v1/audio").await.expect(200);
        if let Some(id) = list["items"][0]["id"].as_str() {
            break id.to_owned();
        }
        assert!(!importing.is_finished(), "{list}");
    };
    save(&bob, &first).await;
    importing.abort();
    songs.app.state.archives.imports_have_ended().await;
    let answer = songs.get(&bob, &format!("/api/v1/audio/{first}/file")).await;
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.bytes));
}

/// An archive may have thousands of files, and decoding them takes minutes.
#[tokio::test]
async fn archives_whose_audio_is_being_decoded_do_not_block_other_archives() {
    let songs = Arc::new(Songs::start(&[]).await);
    let bundle = songs.bundle().await.bytes;
    let without_audio = changed(&bundle, |all| {
        all.retain(|(name, _)| !name.starts_with("audio/"));
        all[0].1 =
            json!({ "format": "songfoundry-bundle", "version": 1, "project_id": "song", "name": "Song",
            "audio": [], "missing": [] })
            .to_string()
            .into_bytes();
    });
    // Without permits to decode, the audio of the imports waits.
    let decoding = songs.app.state.audio.decoding.take_all();
    let mut waiting = Vec::new();
    for number in 0..=processors() {
        let user = songs.app.token_of_new_user(&format!("user-{number}")).await;
        let (songs, bundle) = (Arc::clone(&songs), bundle.clone());
        waiting.push(tokio::spawn(async move { songs.import(&user, &bundle).await.status }));
    }
    while songs.app.state.archives.running_imports() < waiting.len() {
        tokio::task::yield_now().await;
    }
    let bob = songs.app.token_of_new_user("bob").await;
    songs.import(&bob, &without_audio).await.expect(201);
    assert_eq!(songs.bundle().await.bytes, bundle);
    assert!(waiting.iter().all(|import| !import.is_finished()));
    // Stopping the service ends the imports, after which nothing of them is stored.
    songs.app.state.stop.cancel();
    drop(decoding);
    for import in waiting {
        assert_eq!(import.await.expect("no panic"), 503);
    }
    for number in 0..=processors() {
        let user = songs.app.token_of(&format!("user-{number}")).await;
        assert_eq!(songs.audio_count(&user).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_fails_while_the_database_is_locked_stores_nothing() {
    let songs = Arc::new(Songs::start(&[("SF_DATABASE_WAIT_MS", "200")]).await);
    let bob = songs.app.token_of_new_user("bob").await;
    let slow = changed(&songs.bundle().await.bytes, |all| all[3].1 = silent_flac(15_000));
    let importing = {
        let (songs, bob) = (Arc::clone(&songs), bob.clone());
        tokio::spawn(async move { songs.import(&bob, &slow).await })
    };
    while songs.audio_count(&bob).await == 0 {
        assert!(!importing.is_finished());
    }
    let lock = songs.app.lock_database().await;
    importing.abort();
    // The import tries to delete its first file until the database is unlocked.
    let import_end = songs.app.state.archives.imports_have_ended();
    tokio::time::timeout(Duration::from_millis(1_500), import_end).await.expect_err("the database is locked");
    lock.release().await;
    songs.app.state.archives.imports_have_ended().await;
    assert_eq!(songs.audio_count(&bob).await, 0);
}
