//! A full disk loses no stored data. Clients get an error, and the service works again when there
//! is free space.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::audio::{upload, upload_to, wav};
use crate::database;
use crate::small_disk::SmallDisk;
use crate::support::{Answer, Service, form, songfoundry};

const DISK_MEGABYTES: u32 = 48;
const SONG: &str = "/api/v1/projects/song";
const AUTOSAVE: &str = "/api/v1/projects/temp";
const UPLOADS: &str = "/api/v1/audio/uploads";

fn song(name: &str) -> Value {
    // The document is larger than the free space that remains in a database or a file system.
    json!({ "schema_version": 1, "project_id": "song", "name": name, "tracks": [], "client": "x".repeat(500_000) })
}

fn start(disk: &SmallDisk) -> Service {
    let storage = disk.folder.join("storage");
    let mut command = disk.songfoundry(&storage);
    // Without a reserve, writes fail on the disk itself, at any point of a request.
    command.arg("serve").env("SF_DISK_RESERVE_BYTES", "0").stderr(Stdio::null());
    Service::spawn(&mut command)
}

#[track_caller]
fn assert_storage_full(answer: Option<Answer>) {
    let answer = answer.expect("an answer");
    let problem: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    assert_eq!((answer.status, &problem["code"]), (507, &json!("storage_full")), "{}", answer.body);
}

/// Begins a resumable upload and returns its path; `None` if the upload was refused.
fn begin_upload(service: &Service) -> Option<String> {
    let headers = [("Tus-Resumable", "1.0.0"), ("Upload-Length", "400000")];
    let answer = service.send("POST", UPLOADS, &headers, &[]).expect("an answer");
    (answer.status == 201).then(|| {
        let location = answer.head.lines().find_map(|line| line.strip_prefix("location: "));
        location.expect("a location").trim().to_owned()
    })
}

fn continue_upload(service: &Service, path: &str) -> Option<Answer> {
    let headers = [
        ("Tus-Resumable", "1.0.0"),
        ("Upload-Offset", "0"),
        ("Content-Type", "application/offset+octet-stream"),
    ];
    service.send("PATCH", path, &headers, &wav(199_978, 1))
}

fn render(service: &Service) -> Option<Answer> {
    // Half a minute of silence in 32-bit float: 11 MB.
    let item = json!({"type": "midi", "id": "m", "start_tick": 0, "length_ticks": 960 * 60, "notes": []});
    let track = json!({"id": "t", "name": "T", "kind": "instrument", "items": [item]});
    let project = json!({"schema_version": 1, "project_id": "r", "name": "R", "tracks": [track]});
    let body = json!({"project": project, "bit_depth": "float32"}).to_string();
    service.call("POST", "/api/v1/plugins/render", &[], &body)
}

#[test]
fn a_full_disk_loses_nothing_and_the_service_recovers() {
    let folder = tempfile::tempdir().expect("a folder");
    let disk = SmallDisk::mount(folder.path(), DISK_MEGABYTES);
    let service = start(&disk);
    service.expect(201, "POST", "/api/v1/projects", &[], &song("first"));
    let upload_answer = upload(&service, "", &wav(48_000, 1)).expect("an answer");
    assert_eq!(upload_answer.status, 201, "{}", upload_answer.body);
    let upload_answer: Value = serde_json::from_str(&upload_answer.body).expect("JSON");
    let file = upload_answer["files"][0]["file_url"].as_str().expect("an address").to_owned();
    let body_before = service.send("GET", &file, &[], &[]).expect("an answer").body;
    assert_eq!(render(&service).expect("an answer").status, 200);
    let upload_path = begin_upload(&service).expect("begins");

    disk.fill();
    assert_storage_full(upload(&service, "", &wav(480_000, 2)));
    assert_storage_full(continue_upload(&service, &upload_path));
    assert_storage_full(render(&service));
    let is_database_on_disk = database::postgres_address(&disk.folder.join("storage")).is_none();
    if is_database_on_disk {
        let if_match = [("If-Match", "\"1\"")];
        assert_storage_full(service.call("PUT", SONG, &if_match, &song("second").to_string()));
        assert_storage_full(service.call(
            "POST",
            "/api/v1/projects",
            &[],
            &song("other").to_string().replace("\"song\"", "\"other\""),
        ));
        let draft = json!({ "client_id": "window", "project": song("draft") }).to_string();
        assert_storage_full(service.call("PUT", AUTOSAVE, &[], &draft));
        assert!(begin_upload(&service).is_none());
    }
    let assert_unchanged = |service: &Service| {
        assert_eq!(service.expect(200, "GET", SONG, &[], &Value::Null), song("first"));
        let revisions = service.expect(200, "GET", &format!("{SONG}/revisions"), &[], &Value::Null);
        assert_eq!(revisions["items"].as_array().map(Vec::len), Some(1));
        assert_eq!(service.send("GET", &file, &[], &[]).expect("an answer").body, body_before);
        let audio_files = service.expect(200, "GET", "/api/v1/audio", &[], &Value::Null);
        assert_eq!(audio_files["items"].as_array().map(Vec::len), Some(1));
    };
    assert_unchanged(&service);
    service.expect(200, "GET", "/readyz", &[], &Value::Null);

    // With free space the same service works again.
    disk.empty();
    let continued = continue_upload(&service, &upload_path).expect("an answer");
    assert_eq!(continued.status, 204, "{}", continued.body);
    assert_eq!(render(&service).expect("an answer").status, 200);
    let second = upload(&service, "", &wav(480_000, 2)).expect("an answer");
    assert_eq!(second.status, 201, "{}", second.body);
    let second: Value = serde_json::from_str(&second.body).expect("JSON");
    let path = format!("/api/v1/audio/{}", second["files"][0]["id"].as_str().expect("an id"));
    service.expect(204, "DELETE", &path, &[], &Value::Null);

    // The disk is full again, and the power fails.
    disk.fill();
    if is_database_on_disk {
        assert_storage_full(service.call("PUT", SONG, &[("If-Match", "\"1\"")], &song("third").to_string()));
    }
    service.kill();
    disk.empty();
    let restarted_service = start(&disk);
    assert_eq!(restarted_service.expect(200, "GET", SONG, &[], &Value::Null), song("first"));
    assert_eq!(restarted_service.send("GET", &file, &[], &[]).expect("an answer").body, body_before);
    restarted_service.expect(200, "PUT", SONG, &[("If-Match", "\"1\"")], &song("fourth"));
    drop(restarted_service);
    let check_output =
        disk.songfoundry(&disk.folder.join("storage")).args(["admin", "check"]).output().expect("runs");
    let printed_text = String::from_utf8_lossy(&check_output.stdout);
    assert!(check_output.status.success() && printed_text.contains(" 0 problems"), "{printed_text}");
}

/// Waits until a task has ended, and returns it.
fn wait_for_task(service: &Service, id: &str) -> Value {
    let started = std::time::Instant::now();
    loop {
        let task = service.expect(200, "GET", &format!("/api/v1/tasks/{id}"), &[], &Value::Null);
        if !matches!(task["state"].as_str(), Some("queued" | "running")) {
            return task;
        }
        assert!(started.elapsed() < std::time::Duration::from_secs(600), "{task}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn task_of(answer: &Answer) -> String {
    let line = answer.head.lines().find_map(|line| line.strip_prefix("songfoundry-task-id: "));
    line.unwrap_or_else(|| panic!("no task: {}", answer.head)).trim().to_owned()
}

#[test]
fn an_upload_stopped_by_a_full_disk_continues_at_its_offset() {
    let folder = tempfile::tempdir().expect("a folder");
    let disk = SmallDisk::mount(folder.path(), DISK_MEGABYTES);
    let service = start(&disk);
    let upload_path = begin_upload(&service).expect("begins");
    // The free space is enough for the file, but not for its decoded copy.
    disk.fill();
    disk.free_up(1_000_000);
    let sent = continue_upload(&service, &upload_path).expect("an answer");
    assert_eq!(sent.status, 204, "{}", sent.body);
    let task = wait_for_task(&service, &task_of(&sent));
    assert_eq!(task["error"]["code"], "storage_full", "{task}");
    let upload = service.expect(200, "GET", &upload_path, &[], &Value::Null);
    assert_eq!((&upload["state"], &upload["offset_bytes"]), (&json!("receiving"), &json!(400_000)));

    disk.empty();
    let headers = [
        ("Tus-Resumable", "1.0.0"),
        ("Upload-Offset", "400000"),
        ("Content-Type", "application/offset+octet-stream"),
    ];
    let continued = service.send("PATCH", &upload_path, &headers, &[]).expect("an answer");
    assert_eq!(continued.status, 204, "{}", continued.body);
    let task = wait_for_task(&service, &task_of(&continued));
    assert_eq!(task["state"], "succeeded", "{task}");
    assert_eq!(task["result"]["frames"], 199_978);
}

#[test]
fn users_can_free_space_on_a_full_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let disk = SmallDisk::mount(folder.path(), DISK_MEGABYTES);
    let service = start(&disk);
    service.expect(201, "POST", "/api/v1/projects", &[], &song("first"));
    let upload_answer = upload(&service, "", &wav(480_000, 1)).expect("an answer");
    assert_eq!(upload_answer.status, 201, "{}", upload_answer.body);
    let upload_answer: Value = serde_json::from_str(&upload_answer.body).expect("JSON");
    let upload_path = begin_upload(&service).expect("begins");
    let bank = std::fs::read("/usr/share/sounds/sf2/TimGM6mb.sf2").expect("timgm6mb-soundfont is installed");
    let soundfonts = "/api/v1/plugins/soundfonts";
    let sent = upload_to(&service, &format!("{soundfonts}/upload"), "Own.sf2", &bank).expect("an answer");
    assert_eq!(sent.status, 201, "{}", sent.body);
    let sent: Value = serde_json::from_str(&sent.body).expect("JSON");
    let mixdown =
        service.expect(202, "POST", "/api/v1/multitrack/mixdown", &[], &json!({ "project": song("m") }));
    let task = format!("/api/v1/tasks/{}", mixdown["task_id"].as_str().expect("a task"));
    wait_for_task(&service, mixdown["task_id"].as_str().expect("a task"));
    disk.fill();
    let if_match = [("If-Match", "\"1\"")];
    let draft = json!({ "client_id": "window", "project": song("draft") }).to_string();
    let autosave = || service.call("PUT", AUTOSAVE, &[], &draft).expect("an answer").status;
    // With PostgreSQL, projects are on another disk.
    let is_database_on_disk = database::postgres_address(&disk.folder.join("storage")).is_none();
    if is_database_on_disk {
        // The first autosaves use up the free pages of the database's log.
        let mut saves = 0;
        while autosave() == 200 {
            saves += 1;
            assert!(saves < 1_000, "the disk is not full");
        }
        assert_storage_full(service.call("PUT", SONG, &if_match, &song("second").to_string()));
    }
    let file = format!("/api/v1/audio/{}", upload_answer["files"][0]["id"].as_str().expect("an id"));
    service.expect(204, "DELETE", &file, &[], &Value::Null);
    service.expect(404, "GET", &file, &[], &Value::Null);
    let freed_bytes = disk.free_bytes();
    assert!(freed_bytes > 2_000_000, "{freed_bytes} bytes are free after 2.9 MB were deleted");
    // With free space, the next save succeeds.
    service.expect(200, "PUT", SONG, &if_match, &song("second"));

    disk.fill_again();
    let mut saves = 0;
    while autosave() == 200 && is_database_on_disk {
        saves += 1;
        assert!(saves < 1_000, "the disk is not full");
    }
    let terminated =
        service.send("DELETE", &upload_path, &[("Tus-Resumable", "1.0.0")], &[]).expect("an answer");
    assert_eq!(terminated.status, 204, "{}", terminated.body);
    service.expect(200, "DELETE", &format!("{task}?remove=true"), &[], &Value::Null);
    service.expect(404, "GET", &task, &[], &Value::Null);
    let soundfont = format!("{soundfonts}/{}", sent["soundfont_id"].as_str().expect("an id"));
    service.expect(204, "DELETE", &soundfont, &[], &Value::Null);
    service.expect(204, "DELETE", AUTOSAVE, &[], &Value::Null);
    service.expect(204, "DELETE", SONG, &[], &Value::Null);
    service.expect(404, "GET", SONG, &[], &Value::Null);
}

#[test]
fn users_can_empty_a_full_disk_after_a_log_in_or_with_a_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let disk = SmallDisk::mount(folder.path(), DISK_MEGABYTES);
    let mut command = disk.songfoundry(&disk.folder.join("storage"));
    command.arg("serve").env("SF_DISK_RESERVE_BYTES", "0").env("SF_TRUST_LOCAL", "off").stderr(Stdio::null());
    let service = Service::spawn(&mut command);
    let bearer = |answer: &Value, field: &str| format!("Bearer {}", answer[field].as_str().expect("a token"));
    let log_in = |password: &str| {
        let body = json!({ "username": "admin", "password": password });
        let answer = service.expect(200, "POST", "/api/v1/auth/login", &[], &body);
        bearer(&answer, "access_token")
    };
    let first = service.greeting.concat().split('`').nth(3).expect("a password").to_owned();
    let password = "vermilion-otter-413-quay";
    let body = json!({ "current_password": first, "new_password": password });
    let token = log_in(&first);
    let password_answer =
        service.expect(200, "POST", "/api/v1/auth/password", &[("Authorization", &token)], &body);
    let token = bearer(&password_answer, "access_token");
    let by_token = [("Authorization", token.as_str())];
    let key_name = json!({ "name": "nightly" });
    let key = bearer(&service.expect(201, "POST", "/api/v1/auth/api-keys", &by_token, &key_name), "key");
    let by_key = [("Authorization", key.as_str())];
    let uploaded = |value: u8| {
        let headers =
            [("Content-Type", "multipart/form-data; boundary=b"), ("Authorization", token.as_str())];
        let body = form("Sound.wav", &wav(48_000, value));
        let answer = service.send("POST", "/api/v1/audio/upload", &headers, &body).expect("an answer");
        assert_eq!(answer.status, 201, "{}", answer.body);
        let upload_answer: Value = serde_json::from_str(&answer.body).expect("JSON");
        format!("/api/v1/audio/{}", upload_answer["files"][0]["id"].as_str().expect("an id"))
    };
    let (first_file, second_file) = (uploaded(1), uploaded(2));
    service.expect(201, "POST", "/api/v1/projects", &by_token, &song("first"));

    disk.fill();
    let draft = json!({ "client_id": "window", "project": song("draft") }).to_string();
    let mut saves = 0;
    while service.call("PUT", AUTOSAVE, &by_token, &draft).expect("an answer").status == 200 {
        saves += 1;
        // With PostgreSQL, projects are on another disk.
        if saves >= 1_000 && database::postgres_address(&disk.folder.join("storage")).is_some() {
            break;
        }
        assert!(saves < 1_000, "the disk is not full");
    }
    // The key was not used yet, so the service must record its first use.
    service.expect(200, "GET", SONG, &by_key, &Value::Null);
    let second_token = log_in(password);
    service.expect(200, "GET", SONG, &[("Authorization", &second_token)], &Value::Null);
    let third_token = log_in(password);
    service.expect(204, "POST", "/api/v1/auth/logout", &[("Authorization", &third_token)], &Value::Null);
    service.expect(401, "GET", SONG, &[("Authorization", &third_token)], &Value::Null);
    service.expect(204, "DELETE", &first_file, &by_key, &Value::Null);
    service.expect(204, "DELETE", &second_file, &[("Authorization", &second_token)], &Value::Null);
    let freed_bytes = disk.free_bytes();
    assert!(freed_bytes > 200_000, "{freed_bytes} bytes are free");
}

/// Uploads a recording of 2.9 MB with its decoded copy, and deletes it.
fn upload_and_delete(service: &Service, value: u8) {
    let upload_answer = upload(service, "", &wav(480_000, value)).expect("an answer");
    assert_eq!(upload_answer.status, 201, "{}", upload_answer.body);
    let upload_answer: Value = serde_json::from_str(&upload_answer.body).expect("JSON");
    let file = format!("/api/v1/audio/{}", upload_answer["files"][0]["id"].as_str().expect("an id"));
    service.expect(204, "DELETE", &file, &[], &Value::Null);
}

#[test]
fn deleted_files_are_removed_to_make_space_for_uploads() {
    let folder = tempfile::tempdir().expect("a folder");
    let disk = SmallDisk::mount(folder.path(), DISK_MEGABYTES);
    let service = start(&disk);
    upload_and_delete(&service, 1);
    disk.fill();
    disk.free_up(1_000_000);
    let headers = [("Tus-Resumable", "1.0.0"), ("Upload-Length", "2000000")];
    let create_answer = service.send("POST", UPLOADS, &headers, &[]).expect("an answer");
    assert_eq!(create_answer.status, 201, "{}", create_answer.body);

    // The free space is enough for the file, but not for its decoded copy.
    disk.empty();
    upload_and_delete(&service, 2);
    let upload_path = begin_upload(&service).expect("begins");
    disk.fill();
    disk.free_up(1_000_000);
    let sent = continue_upload(&service, &upload_path).expect("an answer");
    assert_eq!(sent.status, 204, "{}", sent.body);
    let task = wait_for_task(&service, &task_of(&sent));
    assert_eq!(task["state"], "succeeded", "{task}");
}

#[test]
fn a_command_fails_if_its_output_does_not_fit_on_the_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [&["--help"][..], &["config"], &["openapi"], &["render", "--help"]] {
        let full_device = std::fs::File::create("/dev/full").expect("opens");
        let mut command = songfoundry(&folder.path().join("storage"));
        let output =
            command.args(arguments).stdout(full_device).stderr(Stdio::piped()).output().expect("runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
        assert!(
            text.contains("cannot write standard output: No space left on device"),
            "{arguments:?}: {text}"
        );
    }
}

#[test]
fn a_restore_without_enough_space_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let disk = SmallDisk::mount(folder.path(), DISK_MEGABYTES);
    let service = start(&disk);
    let storage = disk.folder.join("storage");
    if database::postgres_address(&storage).is_some() {
        // An existing database is not replaced.
        return;
    }
    service.expect(201, "POST", "/api/v1/projects", &[], &song("first"));
    assert_eq!(upload(&service, "", &wav(480_000, 1)).expect("an answer").status, 201);
    service.kill();
    let backup = tempfile::tempdir().expect("a folder");
    let backup = backup.path().join("backup");
    let admin = |args: &[&str]| disk.songfoundry(&storage).arg("admin").args(args).output().expect("runs");
    let backup_output = admin(&["backup", backup.to_str().expect("Unicode")]);
    assert!(backup_output.status.success(), "{}", String::from_utf8_lossy(&backup_output.stderr));
    disk.fill();
    let refusal = admin(&["restore", "--replace", backup.to_str().expect("Unicode")]);
    let errors = String::from_utf8_lossy(&refusal.stderr);
    assert!(
        !refusal.status.success() && errors.contains("MiB of free space; nothing was changed"),
        "{errors}"
    );
    disk.empty();
    let service = start(&disk);
    assert_eq!(service.expect(200, "GET", SONG, &[], &Value::Null), song("first"));
    service.kill();
    let restore_output = admin(&["restore", "--replace", backup.to_str().expect("Unicode")]);
    assert!(restore_output.status.success(), "{}", String::from_utf8_lossy(&restore_output.stderr));
}
