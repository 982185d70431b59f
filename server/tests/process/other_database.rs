//! A start with a database that does not belong to the stored files is refused with a reason, and
//! loses nothing.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::audio::{upload, upload_to, wav};
use crate::database;
use crate::support::{Service, songfoundry};

const BANK: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";

/// Creates an installation with a recording and a SoundFont, and stops it. Returns the URL of the
/// recording.
fn installation(storage: &Path, frames: u32) -> String {
    let service = Service::start(storage, &[]);
    let answer = upload(&service, "", &wav(frames, 7)).expect("an answer");
    assert_eq!(answer.status, 201, "{}", answer.body);
    let bank = fs::read(BANK).expect("timgm6mb-soundfont is installed");
    let path = "/api/v1/plugins/soundfonts/upload";
    assert_eq!(upload_to(&service, path, "Own.sf2", &bank).expect("an answer").status, 201);
    assert!(service.stop().0.success());
    let answer: Value = serde_json::from_str(&answer.body).expect("JSON");
    answer["files"][0]["file_url"].as_str().expect("an address").to_owned()
}

/// Returns the paths of the stored files of audio and SoundFonts.
fn stored(storage: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for folder in ["audio", "soundfonts"] {
        for entry in fs::read_dir(storage.join("blobs").join(folder)).into_iter().flatten() {
            paths.push(entry.expect("reads").path());
        }
    }
    paths.sort();
    paths
}

/// Starts the service with the database at `url`, checks that the start is refused, and returns the
/// standard error.
#[track_caller]
fn assert_start_is_refused(storage: &Path, url: &str) -> String {
    let mut command = songfoundry(storage);
    command.arg("serve").env("SF_DATABASE_URL", url).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    let mut greeting = String::new();
    let stdout = child.stdout.take().expect("piped");
    BufReader::new(stdout).read_line(&mut greeting).expect("reads");
    if !greeting.is_empty() {
        child.kill().expect("kills");
    }
    let output = child.wait_with_output().expect("ends");
    assert!(greeting.is_empty(), "started with a database that does not belong to the files: {greeting}");
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn assert_has_the_recording(storage: &Path, file: &str) {
    let service = Service::start(storage, &[]);
    assert_eq!(service.send("GET", file, &[], &[]).expect("an answer").status, 200);
    let catalog = service.expect(200, "GET", "/api/v1/plugins/soundfonts/catalog", &[], &Value::Null);
    assert!(catalog.to_string().contains("\"own\""), "{catalog}");
    // A clean stop removes the database's log, which must not apply to another database at this
    // path.
    assert!(service.stop().0.success());
}

#[test]
fn a_new_database_beside_stored_files_is_refused_and_nothing_is_deleted() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let file = installation(&storage, 4_800);
    let files_before = stored(&storage);
    assert_eq!(files_before.len(), 4);
    let other_folder = tempfile::tempdir().expect("a folder");
    let url = database::address(&other_folder.path().join("storage"));
    let printed_text = assert_start_is_refused(&storage, &url);
    let database_name =
        url.split(['?', '@']).next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    let folder = storage.join("blobs");
    for part in ["--adopt", "SF_DATABASE_URL", database_name, folder.to_str().expect("Unicode")] {
        assert!(printed_text.contains(part), "{part}: {printed_text}");
    }
    assert_eq!(stored(&storage), files_before);

    // With `--adopt` the service starts. It still deletes nothing, because a file must first be
    // unneeded for a minimum time.
    let mut command = songfoundry(&storage);
    command.args(["serve", "--adopt"]).env("SF_DATABASE_URL", &url).stderr(Stdio::null());
    assert!(Service::spawn(&mut command).stop().0.success());
    assert_eq!(stored(&storage), files_before);
    // The first database now belongs to another installation than the files.
    let printed_text = assert_start_is_refused(&storage, &database::address(&storage));
    assert!(printed_text.contains("different installations"), "{printed_text}");
    let mut command = songfoundry(&storage);
    command.args(["serve", "--adopt"]).stderr(Stdio::null());
    assert!(Service::spawn(&mut command).stop().0.success());
    assert_has_the_recording(&storage, &file);
}

#[test]
fn a_start_without_the_stored_files_warns_and_keeps_the_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let file = installation(&storage, 4_800);
    let (blobs, backup_path) = (storage.join("blobs"), folder.path().join("kept"));
    fs::rename(&blobs, &backup_path).expect("moves");
    let mut service = Service::spawn(songfoundry(&storage).arg("serve").stderr(Stdio::piped()));
    let log = service.take_stderr();
    assert!(service.stop().0.success());
    let printed_text = std::io::read_to_string(log).expect("reads");
    assert!(printed_text.contains("stored files, but there are none in"), "{printed_text}");
    fs::remove_dir_all(&blobs).expect("removes");
    fs::rename(&backup_path, &blobs).expect("moves");
    assert_has_the_recording(&storage, &file);
}

#[test]
fn a_database_that_was_lost_is_not_replaced_by_an_empty_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    if database::postgres_address(&storage).is_some() {
        // A database on a server is not lost with a file.
        return;
    }
    let file = installation(&storage, 4_800);
    let files_before = stored(&storage);
    let database = storage.join("songfoundry.db");
    let backup_path = folder.path().join("kept.db");
    fs::rename(&database, &backup_path).expect("moves");
    for leftover in ["songfoundry.db-wal", "songfoundry.db-shm"] {
        let _ = fs::remove_file(storage.join(leftover));
    }
    let printed_text = assert_start_is_refused(&storage, &database::address(&storage));
    assert!(printed_text.contains("songfoundry.db") && printed_text.contains("--adopt"), "{printed_text}");
    assert!(!database.exists(), "an empty database was created in place of the lost one");
    let output = songfoundry(&storage).args(["admin", "create-user", "ada"]).output().expect("runs");
    let printed_text = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success()
            && printed_text.contains("songfoundry.db")
            && printed_text.contains("--adopt"),
        "{printed_text}"
    );
    assert!(!database.exists(), "an empty database was created in place of the lost one");
    assert_eq!(stored(&storage), files_before);
    fs::rename(&backup_path, &database).expect("moves");
    assert_has_the_recording(&storage, &file);
}

#[test]
fn a_database_of_another_installation_is_refused() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let [first, second] = [0, 1].map(|index: usize| folders[index].path().join("storage"));
    // Both installations have the same SoundFont, so the files alone do not distinguish them.
    installation(&first, 4_800);
    let file = installation(&second, 9_600);
    let files_before = stored(&second);
    let printed_text = assert_start_is_refused(&second, &database::address(&first));
    assert!(printed_text.contains("different installations"), "{printed_text}");
    assert_eq!(stored(&second), files_before);
    assert_has_the_recording(&second, &file);
}

#[test]
fn an_older_database_deletes_nothing_at_its_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    if database::postgres_address(&storage).is_some() {
        // The start with PostgreSQL is the same, but only SQLite's file is easy to copy.
        return;
    }
    let file = installation(&storage, 4_800);
    let (database, older_database) = (storage.join("songfoundry.db"), folder.path().join("older.db"));
    let service = Service::start(&storage, &[]);
    let create_headers = [("Tus-Resumable", "1.0.0"), ("Upload-Length", "1000")];
    let create_answer =
        service.send("POST", "/api/v1/audio/uploads", &create_headers, &[]).expect("an answer");
    let location = create_answer.head.lines().find_map(|line| line.strip_prefix("location: "));
    let upload_path = location.expect("a location").trim();
    assert!(service.stop().0.success());
    fs::copy(&database, &older_database).expect("copies");
    let service = Service::start(&storage, &[]);
    let send = |service: &Service, offset: &str| {
        let content_type = ("Content-Type", "application/offset+octet-stream");
        let headers = [("Tus-Resumable", "1.0.0"), ("Upload-Offset", offset), content_type];
        service.send("PATCH", upload_path, &headers, &[7; 400]).expect("an answer").status
    };
    assert_eq!(send(&service, "0"), 204);
    assert_eq!(upload(&service, "", &wav(9_600, 3)).expect("an answer").status, 201);
    assert!(service.stop().0.success());
    let (files_before, newer_database) = (stored(&storage), folder.path().join("newer.db"));
    assert_eq!(files_before.len(), 7);
    fs::rename(&database, &newer_database).expect("moves");
    fs::rename(&older_database, &database).expect("moves");
    // The restored database has the upload in its old state.
    database::change(&storage, "UPDATE audio_uploads SET expires_secs = 1");
    assert_has_the_recording(&storage, &file);
    assert_eq!(stored(&storage), files_before);
    // A repair deletes nothing either, because this database has only just recorded that the files
    // are unneeded.
    let repair = songfoundry(&storage).args(["admin", "check", "--repair"]).output().expect("runs");
    assert!(repair.status.success(), "{}", String::from_utf8_lossy(&repair.stdout));
    assert_eq!(stored(&storage), files_before);
    fs::rename(&newer_database, &database).expect("moves");
    let service = Service::start(&storage, &[]);
    assert_eq!(send(&service, "400"), 204);
    let audio_files = service.expect(200, "GET", "/api/v1/audio", &[], &Value::Null);
    assert_eq!(audio_files["items"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_moved_database_refuses_saves_and_is_complete_when_restored() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    if database::postgres_address(&storage).is_some() {
        // A separate server has no file that could be moved.
        return;
    }
    let service = Service::start(&storage, &[]);
    let song = |name: &str| serde_json::json!({"schema_version": 1, "project_id": "song", "name": name, "tracks": []});
    let path = "/api/v1/projects/song";
    service.expect(201, "POST", "/api/v1/projects", &[], &song("kept"));
    let (database, moved_database) = (storage.join("songfoundry.db"), storage.join("away.db"));
    fs::rename(&database, &moved_database).expect("moves");
    let if_match = [("If-Match", "\"1\"")];
    for _ in 0..20 {
        let problem = service.expect(503, "PUT", path, &if_match, &song("lost"));
        assert_eq!(problem["code"], "database_unreachable", "{problem}");
    }
    service.expect(503, "GET", "/readyz", &[], &Value::Null);
    assert!(!database.exists(), "another database was created");
    fs::rename(&moved_database, &database).expect("moves");
    service.expect(200, "GET", "/readyz", &[], &Value::Null);
    assert_eq!(service.expect(200, "GET", path, &[], &Value::Null), song("kept"));
    service.expect(200, "PUT", path, &if_match, &song("again"));
    assert!(service.stop().0.success());
    let restarted_service = Service::start(&storage, &[]);
    assert_eq!(restarted_service.expect(200, "GET", path, &[], &Value::Null), song("again"));
}
