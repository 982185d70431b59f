//! Backup, restore and check with the real program, on SQLite and on PostgreSQL.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::audio::{upload, upload_to, wav};
use crate::database;
use crate::support::{Service, songfoundry};

const SONG: &str = "/api/v1/projects/song";
const CATALOG: &str = "/api/v1/plugins/soundfonts/catalog";
const BANK: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";

fn admin(storage: &Path, args: &[&str]) -> Output {
    songfoundry(storage).arg("admin").args(args).output().expect("runs")
}

#[track_caller]
fn run_admin(storage: &Path, args: &[&str]) -> String {
    let output = admin(storage, args);
    let (printed_text, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{args:?}: {printed_text}{errors}");
    printed_text.into_owned()
}

#[track_caller]
fn assert_refused(storage: &Path, args: &[&str], expected: &str) -> String {
    let output = admin(storage, args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains(expected), "{args:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn path_text(path: &Path) -> &str {
    path.to_str().expect("Unicode")
}

#[track_caller]
fn run(program: &str, args: &[&str]) {
    let output =
        Command::new(program).args(args).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
}

/// An installation and a folder for its backups.
struct Installation {
    folder: tempfile::TempDir,
}

impl Installation {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn storage(&self) -> PathBuf {
        self.folder.path().join("storage")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn back_up(&self) {
        run_admin(&self.storage(), &["backup", path_text(&self.path("backup"))]);
    }

    /// Deletes the storage and the database.
    fn wipe(&self) {
        fs::remove_dir_all(self.storage()).expect("removes");
        if let Some(url) = database::postgres_address(&self.storage()) {
            let name = url.split(['/', '?']).find(|part| part.starts_with("process_")).expect("a name");
            let server = url.replace(name, "postgres");
            run(
                "psql",
                &[&server, "--quiet", "--command", &format!("DROP DATABASE \"{name}\" WITH (FORCE)")],
            );
        }
    }

    fn restore(&self) {
        // An empty database is created on first use.
        run_admin(&self.storage(), &["restore", path_text(&self.path("backup"))]);
    }
}

fn song(name: &str) -> Value {
    json!({ "schema_version": 1, "project_id": "song", "name": name, "tracks": [], "client": name.repeat(2000) })
}

fn upload_recording(service: &Service, frames: u32) -> String {
    let answer = upload(service, "", &wav(frames, 7)).expect("an answer");
    assert_eq!(answer.status, 201, "{}", answer.body);
    let answer: Value = serde_json::from_str(&answer.body).expect("JSON");
    answer["files"][0]["id"].as_str().expect("an id").to_owned()
}

fn download(service: &Service, id: &str, query: &str) -> String {
    let answer =
        service.send("GET", &format!("/api/v1/audio/{id}/file{query}"), &[], &[]).expect("an answer");
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body
}

/// Returns the catalogue entries of `source`. There must be at least one.
fn entries_of_source(soundfonts: &Value, source: &str) -> Vec<Value> {
    let entries = soundfonts.as_array().expect("a list").iter();
    let entries_found: Vec<Value> = entries.filter(|entry| entry["source"] == source).cloned().collect();
    assert!(!entries_found.is_empty(), "{soundfonts}");
    entries_found
}

#[test]
fn a_backup_of_a_running_service_is_complete_after_a_total_loss() {
    let installation = Installation::new();
    let service = Service::start(&installation.storage(), &[]);
    fs::create_dir_all(installation.storage().join("soundfonts/mine")).expect("makes");
    fs::write(installation.storage().join("soundfonts/mine/bank.sf2"), "a bank").expect("writes");
    let token = service.expect(200, "POST", "/api/v1/auth/local", &[], &Value::Null);
    service.expect(201, "POST", "/api/v1/projects", &[], &song("first"));
    let ids: Vec<String> = (1..=5).map(|number| upload_recording(&service, 4_800 * number)).collect();
    // A copy at another sample rate is a separate file.
    let query = "?format=wav32f&sample_rate_hz=44100";
    let body_before: Vec<String> =
        ids.iter().flat_map(|id| [download(&service, id, ""), download(&service, id, query)]).collect();
    let bank = fs::read(BANK).expect("timgm6mb-soundfont is installed");
    let answer =
        upload_to(&service, "/api/v1/plugins/soundfonts/upload", "Own.sf2", &bank).expect("an answer");
    assert_eq!(answer.status, 201, "{}", answer.body);
    let catalog = service.expect(200, "GET", CATALOG, &[], &Value::Null)["soundfonts"].take();
    let project = json!({ "project": song("rendered") });
    let render = service.expect(200, "POST", "/api/v1/plugins/render", &[], &project);

    // Another client saves and uploads during the backup.
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for revision in 1.. {
                let etag = format!("\"{revision}\"");
                service.expect(200, "PUT", SONG, &[("If-Match", &etag)], &song(&format!("name {revision}")));
                let id = upload_recording(&service, 9_000 + revision);
                service.expect(204, "DELETE", &format!("/api/v1/audio/{id}"), &[], &Value::Null);
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        installation.back_up();
        is_over.store(true, Ordering::Relaxed);
    });
    service.kill();
    installation.wipe();
    installation.restore();
    assert!(run_admin(&installation.storage(), &["check"]).contains(" 0 problems"));

    let restarted_service = Service::start(&installation.storage(), &[]);
    let stored_song = restarted_service.expect(200, "GET", SONG, &[], &Value::Null);
    let name = stored_song["name"].as_str().expect("a name");
    assert_eq!(stored_song, song(name), "the restored revision is incomplete");
    let names_after: Vec<String> = ids
        .iter()
        .flat_map(|id| [download(&restarted_service, id, ""), download(&restarted_service, id, query)])
        .collect();
    assert_eq!(names_after, body_before);
    let file = restarted_service
        .send("GET", render["audio_url"].as_str().expect("an address"), &[], &[])
        .expect("an answer");
    assert_eq!(file.status, 200);
    let soundfonts = restarted_service.expect(200, "GET", CATALOG, &[], &Value::Null)["soundfonts"].take();
    assert_eq!(entries_of_source(&soundfonts, "upload"), entries_of_source(&catalog, "upload"));
    let soundfont = restarted_service
        .send("GET", "/api/v1/plugins/soundfonts/download/own", &[], &[])
        .expect("an answer");
    assert!(soundfont.body == String::from_utf8_lossy(&bank), "the SoundFont differs from the uploaded one");
    // Existing log-ins remain valid.
    let bearer = format!("Bearer {}", token["access_token"].as_str().expect("a token"));
    let headers = [("Authorization", bearer.as_str()), ("X-Forwarded-For", "192.0.2.1")];
    restarted_service.expect(200, "GET", SONG, &headers, &Value::Null);
    assert_eq!(fs::read(installation.storage().join("soundfonts/mine/bank.sf2")).expect("reads"), b"a bank");
    use std::os::unix::fs::PermissionsExt as _;
    for path in [installation.path("backup"), installation.storage().join("token-signing.key")] {
        let mode = fs::metadata(&path).expect("is there").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn a_restore_replaces_nothing_without_permission() {
    let installation = Installation::new();
    let service = Service::start(&installation.storage(), &[]);
    upload_recording(&service, 4_800);
    installation.back_up();
    let (storage, backup) = (installation.storage(), installation.path("backup"));
    assert_refused(
        &storage,
        &["restore", path_text(&backup)],
        "another Songfoundry process is using the storage folder",
    );
    let second = upload_recording(&service, 9_600);
    service.kill();
    assert_refused(&storage, &["restore", path_text(&backup)], "is not empty; nothing was changed");
    // A damaged backup is refused before any change, even with permission to replace.
    let blobs = fs::read_dir(backup.join("blobs/audio")).expect("a folder");
    let original_file = blobs
        .map(|entry| entry.expect("reads").path())
        .find(|path| path.extension().is_some_and(|kind| kind == "original"));
    let original_file = original_file.expect("an original");
    let bytes = fs::read(&original_file).expect("reads");
    fs::write(&original_file, vec![0; bytes.len()]).expect("writes");
    assert_refused(&storage, &["restore", "--replace", path_text(&backup)], "the backup is damaged");
    let restarted_service = Service::start(&storage, &[]);
    download(&restarted_service, &second, "");
    restarted_service.kill();

    fs::write(&original_file, bytes).expect("writes");
    if database::postgres_address(&storage).is_some() {
        let restore = ["restore", "--replace", path_text(&backup)];
        assert_refused(&storage, &restore, "is not empty; nothing was changed. Use an empty database");
        download(&Service::start(&storage, &[]), &second, "");
        return;
    }
    // The restore would move this backup away with the files that it replaces.
    let inside = storage.join("blobs/backup");
    run("cp", &["-r", path_text(&backup), path_text(&inside)]);
    assert_refused(
        &storage,
        &["restore", "--replace", path_text(&inside)],
        "nothing was changed. Move the backup",
    );
    download(&Service::start(&storage, &[]), &second, "");
    fs::remove_dir_all(&inside).expect("removes");
    let printed_text = run_admin(&storage, &["restore", "--replace", path_text(&backup)]);
    assert!(printed_text.contains("The replaced files are in"), "{printed_text}");
    let moved_aside = fs::read_dir(&storage).expect("reads").map(|entry| entry.expect("reads").path());
    let moved_aside =
        moved_aside.into_iter().find(|path| path_text(path).contains("replaced-")).expect("kept");
    assert!(moved_aside.join("blobs/audio").is_dir());
    assert!(moved_aside.join("songfoundry.db").is_file());
    let restarted_service = Service::start(&storage, &[]);
    let audio_files = restarted_service.expect(200, "GET", "/api/v1/audio", &[], &Value::Null);
    assert_eq!(audio_files["items"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_backup_needs_the_programs_of_postgresql_only_for_its_database() {
    let installation = Installation::new();
    let storage = installation.storage();
    let service = Service::start(&storage, &[]);
    upload_recording(&service, 4_800);
    let backup = |folder: &str, flags: &[&str]| {
        let folder = installation.path(folder);
        let args = ["admin", "backup", path_text(&folder)];
        songfoundry(&storage).env("PATH", "").args(args).args(flags).output().expect("runs")
    };
    let output = backup("whole", &[]);
    if database::postgres_address(&storage).is_some() {
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            errors.contains("pg_dump is not installed, or not in PATH: install PostgreSQL's client programs"),
            "{errors}"
        );
        assert!(!installation.path("whole").join("backup.json").exists());
    } else {
        assert!(output.status.success());
    }
    let output = backup("files", &["--without-database"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("The database was not saved."));
    assert!(installation.path("files").join("backup.json").exists());
}

#[test]
fn a_check_reports_missing_damaged_and_left_over_files() {
    let installation = Installation::new();
    let storage = installation.storage();
    let service = Service::start(&storage, &[]);
    upload_recording(&service, 4_800);
    let audio = storage.join("blobs/audio");
    let file = |kind: &str| {
        let files = fs::read_dir(&audio).expect("reads").map(|entry| entry.expect("reads").path());
        files
            .into_iter()
            .find(|path| path.extension().is_some_and(|extension| extension == kind))
            .expect("a file")
    };
    assert!(run_admin(&storage, &["check"]).contains("Checked 3 files; found 0 problems"));
    assert_refused(
        &storage,
        &["check", "--repair"],
        "another Songfoundry process is using the storage folder",
    );
    service.kill();

    let left_over = audio.join(format!("{}.wav", "a".repeat(64)));
    fs::write(&left_over, "left over").expect("writes");
    let original_file = file("original");
    let bytes = fs::read(&original_file).expect("reads");
    fs::write(&original_file, vec![1; bytes.len()]).expect("writes");
    fs::remove_file(file("peaks")).expect("removes");
    let printed_text = assert_refused(&storage, &["check"], "the storage has 2 problems");
    assert!(
        printed_text.contains(".peaks is missing") && printed_text.contains(".original is damaged"),
        "{printed_text}"
    );
    let printed_text =
        assert_refused(&storage, &["check", "--quick", "--json"], "the storage has 1 problem\n");
    let report: Value = serde_json::from_str(&printed_text).expect("JSON");
    assert_eq!(report["files"], 3);

    // A file is quarantined only after the database has recorded for a while that it is unneeded.
    for args in [&["check", "--repair"][..], &["check", "--repair", "--age-secs", "3600"]] {
        let printed_text = assert_refused(&storage, args, "the storage has 2 problems");
        assert!(
            printed_text.contains(" 1 stored file (9 bytes)") && printed_text.contains("SF_ORPHAN_AGE_SECS"),
            "{printed_text}"
        );
        assert!(left_over.exists());
    }
    let printed_text =
        assert_refused(&storage, &["check", "--repair", "--age-secs", "0"], "the storage has 2 problems");
    assert!(
        printed_text.contains(" 1 stored file (9 bytes)")
            && printed_text.contains("Moved 1 file to the quarantine"),
        "{printed_text}"
    );
    assert!(!left_over.exists());
    let quarantined =
        fs::read_dir(storage.join("quarantine")).expect("reads").next().expect("one").expect("reads");
    let quarantined_file = quarantined.path().join("audio").join(left_over.file_name().expect("a name"));
    assert_eq!(fs::read(quarantined_file).expect("reads"), b"left over");
    if database::postgres_address(&storage).is_none() {
        // The database file is replaced by a file that is not a database.
        fs::write(storage.join("songfoundry.db"), "garbage".repeat(1000)).expect("writes");
        assert_refused(&storage, &["check"], "SF_DATABASE_URL");
    }
}

/// Flips one bit in the middle of a file.
fn flip(path: &Path) {
    let mut bytes = fs::read(path).expect("reads");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).expect("writes");
}

/// Returns the stored file in `folder` whose name ends with `end`.
fn stored(storage: &Path, folder: &str, end: &str) -> PathBuf {
    let files = fs::read_dir(storage.join("blobs").join(folder)).expect("reads");
    let mut files = files.map(|entry| entry.expect("reads").path());
    files.find(|path| path_text(path).ends_with(end)).unwrap_or_else(|| panic!("no {folder}/*{end}"))
}

/// Exports the stems of a song with one recording.
fn export_stems(service: &Service, id: &str) {
    let item =
        json!({ "type": "audio", "id": "i", "start_tick": 0, "length_frames": 24_000, "server_file_id": id });
    let track = json!({ "id": "t", "kind": "audio", "items": [item] });
    let song = json!({ "schema_version": 1, "project_id": "stems", "name": "S", "tracks": [track] });
    let started = service.expect(202, "POST", "/api/v1/multitrack/stems", &[], &json!({ "project": song }));
    let path = format!("/api/v1/tasks/{}", started["task_id"].as_str().expect("a task"));
    let start_time = Instant::now();
    loop {
        let task = service.expect(200, "GET", &path, &[], &Value::Null);
        if task["state"] == "succeeded" {
            return;
        }
        assert!(task["error"].is_null() && start_time.elapsed() < Duration::from_secs(600), "{task}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_check_finds_flipped_bits_and_recreates_derived_files() {
    let installation = Installation::new();
    let storage = installation.storage();
    let service = Service::start(&storage, &[]);
    let id = upload_recording(&service, 48_000);
    let query = "?format=wav32f&sample_rate_hz=44100";
    let body_before = [download(&service, &id, "?format=wav32f"), download(&service, &id, query)];
    let peaks = |service: &Service| {
        let path = format!("/api/v1/audio/{id}/peaks?samples_per_pixel=256");
        let answer = service.send("GET", &path, &[], &[]).expect("an answer");
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    };
    let waveform = peaks(&service);
    let project = json!({ "project": song("rendered") });
    service.expect(200, "POST", "/api/v1/plugins/render", &[], &project);
    export_stems(&service, &id);
    assert!(service.stop().0.success());
    assert!(run_admin(&storage, &["check"]).contains(" 0 problems"));

    let samples = stored(&storage, "audio", ".original").with_extension("wav");
    let derived_files =
        [samples, stored(&storage, "audio", ".peaks"), stored(&storage, "audio", "_44100.wav")];
    derived_files.iter().for_each(|path| flip(path));
    let (render, stems) = (stored(&storage, "renders", ".wav"), stored(&storage, "stems", ".zip"));
    flip(&render);
    flip(&stems);
    let printed_text = assert_refused(&storage, &["check"], "the storage has 5 problems");
    for path in derived_files.iter().chain([&render, &stems]) {
        let name = path_text(path.file_name().map(Path::new).expect("a name"));
        assert!(printed_text.contains(&format!("{name} is damaged")), "{name}: {printed_text}");
    }
    // A check recreates derived files, but not renders and stems, which need their song.
    let printed_text = assert_refused(&storage, &["check", "--repair"], "the storage has 2 problems");
    assert!(printed_text.contains("3 files were recreated"), "{printed_text}");
    let restarted_service = Service::start(&storage, &[]);
    assert_eq!(
        [download(&restarted_service, &id, "?format=wav32f"), download(&restarted_service, &id, query)],
        body_before
    );
    assert_eq!(peaks(&restarted_service), waveform);
    assert!(restarted_service.stop().0.success());
    let printed_text = assert_refused(&storage, &["check"], "the storage has 2 problems");
    assert!(printed_text.contains("renders/") && printed_text.contains("stems/"), "{printed_text}");
    // A quick check finds other sizes, and missing files.
    flip(&render);
    flip(&stems);
    for path in [&render, &stems] {
        File::options().append(true).open(path).and_then(|mut file| file.write_all(b"x")).expect("appends");
    }
    let printed_text = assert_refused(&storage, &["check", "--quick"], "the storage has 2 problems");
    assert!(
        printed_text.contains(" bytes instead of ") && printed_text.contains("its list of files"),
        "{printed_text}"
    );
    fs::remove_file(&render).expect("removes");
    let printed_text = assert_refused(&storage, &["check", "--quick"], "the storage has 2 problems");
    assert!(printed_text.contains(".wav is missing"), "{printed_text}");
}

#[test]
fn uploading_a_file_again_restores_its_missing_copies() {
    let installation = Installation::new();
    let storage = installation.storage();
    let service = Service::start(&storage, &[]);
    let id = upload_recording(&service, 4_800);
    let body_before = [download(&service, &id, ""), download(&service, &id, "?format=wav32f")];
    for end in [".original", ".wav", ".peaks"] {
        fs::remove_file(stored(&storage, "audio", end)).expect("removes");
    }
    assert_eq!(upload_recording(&service, 4_800), id);
    assert_eq!([download(&service, &id, ""), download(&service, &id, "?format=wav32f")], body_before);
    assert!(run_admin(&storage, &["check"]).contains("Checked 3 files; found 0 problems"));
}

#[test]
fn a_damaged_original_is_replaced_by_another_upload() {
    let installation = Installation::new();
    let storage = installation.storage();
    let service = Service::start(&storage, &[]);
    let id = upload_recording(&service, 4_800);
    let body_before = [download(&service, &id, ""), download(&service, &id, "?format=wav32f")];
    assert!(service.stop().0.success());
    let original_file = stored(&storage, "audio", ".original");
    flip(&original_file);
    flip(&original_file.with_extension("wav"));
    assert_refused(&storage, &["check", "--repair"], "the storage has 2 problems");
    let restarted_service = Service::start(&storage, &[]);
    assert_eq!(upload_recording(&restarted_service, 4_800), id);
    assert_eq!(
        [download(&restarted_service, &id, ""), download(&restarted_service, &id, "?format=wav32f")],
        body_before
    );
    assert!(restarted_service.stop().0.success());
    assert!(run_admin(&storage, &["check", "--repair"]).contains("Checked 3 files; found 0 problems"));
}

#[test]
fn files_of_an_older_version_get_their_hashes() {
    let installation = Installation::new();
    let storage = installation.storage();
    let service = Service::start(&storage, &[]);
    let [whole, damaged] = [4_800, 9_600].map(|frames| upload_recording(&service, frames));
    let samples_of = |service: &Service, id: &str| download(service, id, "?format=wav32f");
    let body_before = [samples_of(&service, &whole), samples_of(&service, &damaged)];
    download(&service, &whole, "?format=wav32f&sample_rate_hz=44100");
    let metadata = service.expect(200, "GET", &format!("/api/v1/audio/{damaged}"), &[], &Value::Null);
    let samples = format!("{}.wav", metadata["sha256"].as_str().expect("a hash"));
    let samples = stored(&storage, "audio", &samples);
    assert!(service.stop().0.success());
    database::change(&storage, "UPDATE audio_contents SET samples_sha256 = '', peaks_sha256 = ''");
    database::change(&storage, "UPDATE audio_renditions SET file_sha256 = ''");
    flip(&samples);
    assert!(run_admin(&storage, &["check"]).contains("5 files have no hash"));
    let printed_text = run_admin(&storage, &["check", "--repair"]);
    assert!(
        printed_text.contains("2 files were recreated") && !printed_text.contains("no hash"),
        "{printed_text}"
    );
    let restarted_service = Service::start(&storage, &[]);
    assert_eq!(
        [samples_of(&restarted_service, &whole), samples_of(&restarted_service, &damaged)],
        body_before
    );
    assert!(restarted_service.stop().0.success());
    flip(&samples);
    assert_refused(&storage, &["check"], "the storage has 1 problem\n");
}

#[test]
fn the_quarantine_is_listed_and_restored() {
    let installation = Installation::new();
    let storage = installation.storage();
    let service = Service::start(&storage, &[]);
    let id = upload_recording(&service, 4_800);
    let body_before = download(&service, &id, "");
    assert!(service.stop().0.success());
    let unknown_file = storage.join("blobs/audio").join(format!("{}.wav", "a".repeat(64)));
    fs::write(&unknown_file, "left over").expect("writes");
    run_admin(&storage, &["check", "--repair", "--age-secs", "0"]);
    assert!(!unknown_file.exists());
    let listed_files = run_admin(&storage, &["quarantine", "list"]);
    let name = format!("audio/{}.wav", "a".repeat(64));
    assert!(listed_files.contains(&name) && listed_files.contains("9 bytes"), "{listed_files}");
    let listed_files = run_admin(&storage, &["quarantine", "list", "--json"]);
    let listed_files: Value =
        serde_json::from_str(listed_files.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&listed_files["name"], &listed_files["reason"]), (&json!(name), &json!("unneeded")));
    assert_refused(&storage, &["quarantine", "restore", "audio/b.wav"], "is not in the quarantine");
    run_admin(&storage, &["quarantine", "restore", &name]);
    assert_eq!(fs::read(&unknown_file).expect("is back"), b"left over");

    // A check reports a quarantined file that the database needs. Reading the file restores it.
    let batch = storage.join("quarantine/20260101000000/audio");
    fs::create_dir_all(&batch).expect("makes");
    let original_file = stored(&storage, "audio", ".original");
    let moved_aside = batch.join(original_file.file_name().expect("a name"));
    fs::rename(&original_file, &moved_aside).expect("moves");
    let printed_text = assert_refused(&storage, &["check"], "the storage has 1 problem\n");
    assert!(printed_text.contains("is in the quarantine"), "{printed_text}");
    let restarted_service = Service::start(&storage, &[]);
    assert_eq!(download(&restarted_service, &id, ""), body_before);
    assert!(original_file.is_file() && !moved_aside.exists());
}
