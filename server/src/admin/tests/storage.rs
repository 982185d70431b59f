//! Tests of the storage overview and of scans for SoundFonts.

use axum::http::Method;
use serde_json::{Value, json};

use super::{admin, get};
use crate::audio;
use crate::audio::test_files::sine_wav;
use crate::audio::tests::{UPLOAD, with_form};
use crate::test_app::TestApp;

const STORAGE: &str = "/api/v1/admin/storage";

fn storage_of<'s>(storage: &'s Value, username: &str) -> &'s Value {
    let users = storage["users"].as_array().expect("users");
    users.iter().find(|user| user["username"] == username).expect("the user")
}

/// Returns the total size of the files in a folder of the store, in bytes.
fn disk_bytes(app: &TestApp, folder: &str) -> u64 {
    let folder = app.state.config.storage.dir.join("blobs").join(folder);
    let files = std::fs::read_dir(folder).expect("the folder");
    files.map(|file| file.expect("a file").metadata().expect("metadata").len()).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_storage_report_includes_decoded_copies_and_matches_the_disk() {
    let app = TestApp::with(&[("SF_AUDIO_QUOTA_BYTES", "100000000")]).await;
    let (ada, bob) = (app.token_of_new_user("ada").await, app.token_of_new_user("bob").await);
    let empty = get(&app, STORAGE).await;
    assert_eq!(storage_of(&empty, "ada")["total_bytes"], 0);
    assert_eq!((&empty["audio_disk_bytes"], &empty["render_disk_bytes"]), (&json!(0), &json!(0)));

    let (first, second) = (sine_wav(440.0, 48_000, 0.5), sine_wav(550.0, 44_100, 0.25));
    let upload = |token: &str, files: &[(&str, &[u8])]| {
        with_form(app.remote(Method::POST, UPLOAD).token(token), files).send()
    };
    upload(&ada, &[("a.wav", &first), ("b.wav", &second)]).await.expect(201);
    upload(&bob, &[("same.wav", &first)]).await.expect(201);
    let project = json!({ "name": "Étude", "tracks": [] });
    app.remote(Method::POST, "/api/v1/projects").token(&ada).json(&project).send().await.expect(201);

    let storage = get(&app, STORAGE).await;
    let (ada, bob) = (storage_of(&storage, "ada"), storage_of(&storage, "bob"));
    let bytes = |object: &Value, field: &str| object[field].as_u64().expect("a number");
    assert_eq!((&ada["audio_files"], &ada["projects"]), (&json!(2), &json!(1)));
    assert_eq!((&bob["audio_files"], &bob["projects"]), (&json!(1), &json!(0)));
    // Ada has all files on the disk; Bob shares one of them.
    let disk = disk_bytes(&app, audio::FOLDER);
    assert_eq!((bytes(ada, "audio_bytes"), bytes(&storage, "audio_disk_bytes")), (disk, disk));
    assert!(disk > 2 * (first.len() + second.len()) as u64, "{disk}");
    assert!(bytes(bob, "audio_bytes") < disk && bytes(bob, "audio_bytes") > 2 * first.len() as u64);
    assert!(bytes(ada, "project_bytes") > 20, "{ada}");
    assert_eq!(bytes(ada, "total_bytes"), bytes(ada, "audio_bytes") + bytes(ada, "project_bytes"));
    assert_eq!(ada["audio_quota_bytes"], 100_000_000);
    // Users are sorted by their total bytes, largest first.
    assert_eq!(storage["users"][0]["username"], "ada");
    assert!(bytes(&storage, "free_bytes") > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_and_autosaves_count_for_their_owner() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let me = app.remote(Method::GET, "/api/v1/auth/me").token(&token).send().await.expect(200);
    let key = crate::storage::BlobKey::new("renders", &format!("{}_r1", me["id"].as_str().unwrap()), "wav");
    app.state.blobs.put(&key.expect("a key"), &[0; 1234]).expect("writes");
    let autosave = json!({ "client_id": "one", "project": { "name": "é" } });
    let call = app.remote(Method::PUT, "/api/v1/projects/temp").token(&token).json(&autosave);
    let answer = call.send().await;
    assert!(answer.status.is_success(), "{:?}", String::from_utf8_lossy(&answer.bytes));
    let storage = get(&app, STORAGE).await;
    let ada = storage_of(&storage, "ada");
    assert_eq!((&ada["render_bytes"], &ada["projects"]), (&json!(1234), &json!(0)));
    assert!(ada["project_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{ada}");
    assert_eq!(storage["render_disk_bytes"], 1234);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_names_unusable_soundfonts() {
    const SCANS: &str = "/api/v1/admin/scans";
    let folder = tempfile::tempdir().expect("a folder");
    let app = TestApp::with(&[("SF_SOUNDFONT_DIRS", folder.path().to_str().expect("text"))]).await;
    let scans_before = get(&app, SCANS).await;
    assert_eq!(
        (&scans_before["soundfonts"]["found"], &scans_before["soundfonts"]["problems"]),
        (&json!(0), &json!([]))
    );
    std::fs::write(folder.path().join("Broken.sf2"), b"RIFF").expect("writes");
    // Reading does not start a scan.
    assert_eq!(get(&app, SCANS).await["soundfonts"]["found"], 0);
    let scans_after = admin(&app, Method::POST, SCANS, Value::Null).await.expect(200);
    let scan = &scans_after["soundfonts"];
    assert_eq!((&scan["found"], &scan["usable"]), (&json!(1), &json!(0)));
    assert_eq!(scan["problems"][0]["soundfont_id"], "broken");
    assert!(scan["problems"][0]["problem"].as_str().is_some_and(|text| !text.is_empty()), "{scan}");
    assert_eq!(scan["folders"], json!([folder.path().to_str()]));
    assert_eq!(get(&app, SCANS).await, scans_after);
}
