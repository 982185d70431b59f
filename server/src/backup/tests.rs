//! Tests of incomplete, invalid and newer backups.

use std::collections::BTreeMap;
use std::fs;

use serde_json::json;

use super::*;
use crate::audio;
use crate::audio::test_files::sine_wav;
use crate::audio::tests::{UPLOAD, with_form};
use crate::config::{Config, Source};
use crate::test_app::TestApp;

/// Returns the settings of another installation, with an SQLite database.
fn other_installation(folder: &tempfile::TempDir) -> Config {
    let dir = folder.path().join("storage").to_string_lossy().into_owned();
    Config::load(&Source::from_pairs([("SF_STORAGE_DIR", dir)])).expect("valid settings")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_with_a_missing_file_fails() {
    let app = TestApp::start().await;
    let sound = sine_wav(440.0, 48_000, 0.1);
    let call = with_form(app.local(axum::http::Method::POST, UPLOAD), &[("a.wav", &sound)]);
    let sha256 = call.send().await.expect(201)["files"][0]["sha256"].as_str().expect("a hash").to_owned();
    let folder = tempfile::tempdir().expect("a folder");
    let made = make(&app.state.config, &folder.path().join("first"), true).await.expect("saves");
    // The backup has the three files of the sound, the signing key and the database.
    assert!(made.has_database);
    assert_eq!(made.files, 5);
    let error = make(&app.state.config, &folder.path().join("first"), true)
        .await
        .expect_err("the folder is not empty");
    assert!(format!("{error:#}").contains("is not empty"), "{error:#}");

    let key = audio::FILE_KIND.key(&format!("{sha256}.peaks")).expect("fits");
    app.state.blobs.remove(&key).expect("removes");
    let second = folder.path().join("second");
    let error = make(&app.state.config, &second, true).await.expect_err("a file is missing");
    assert!(format!("{error:#}").contains("songfoundry admin check"), "{error:#}");
    let error =
        restore(&other_installation(&folder), &second, false).await.expect_err("the backup is not complete");
    assert!(format!("{error:#}").contains("is not a complete backup"), "{error:#}");
}

#[tokio::test]
async fn a_backup_with_a_path_outside_its_folder_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let backup = folder.path().join("backup");
    fs::create_dir_all(backup.join("blobs/strange")).expect("makes");
    fs::write(backup.join("blobs/strange/a.wav"), "").expect("writes");
    fs::write(folder.path().join("outside"), "").expect("writes");
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let config = other_installation(&folder);
    for (name, expected) in [
        ("../outside", "outside its folder"),
        ("/etc/hostname", "outside its folder"),
        ("blobs/strange/a.wav", "this version does not know"),
    ] {
        let files = BTreeMap::from([(name, json!({ "size_bytes": 0, "sha256": empty }))]);
        let manifest =
            json!({ "form": 1, "made_by": "0", "made_at": "", "database_form": 1, "files": files });
        fs::write(backup.join("backup.json"), manifest.to_string()).expect("writes");
        let error = format!("{:#}", restore(&config, &backup, false).await.expect_err("refused"));
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[tokio::test]
async fn a_backup_of_a_newer_version_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = other_installation(&folder);
    for (form, database_form, expected) in [(2, 1, "reads format 1"), (1, 9_999, "schema version 9999")] {
        let manifest = json!({ "form": form, "made_by": "9.9", "made_at": "", "database_form": database_form, "files": {} });
        fs::write(folder.path().join("backup.json"), manifest.to_string()).expect("writes");
        let error = format!("{:#}", restore(&config, folder.path(), false).await.expect_err("refused"));
        assert!(error.contains(expected), "{error}");
    }
    assert!(!config.storage.dir.exists(), "the refused restore changed the storage");
}
