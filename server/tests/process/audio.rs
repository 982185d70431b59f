//! Audio in the real program, which decodes in separate processes and keeps acknowledged files.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Answer, Service, form, songfoundry};
use serde_json::{Value, json};

const AUDIO: &str = "/api/v1/audio";

/// Returns a mono 16-bit WAV file at 48 kHz. Each byte of its samples is `value`.
pub(crate) fn wav(frames: u32, value: u8) -> Vec<u8> {
    let data_bytes = frames * 2;
    let mut file_bytes = b"RIFF".to_vec();
    file_bytes.extend((36 + data_bytes).to_le_bytes());
    file_bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    file_bytes.extend(48_000_u32.to_le_bytes());
    file_bytes.extend(96_000_u32.to_le_bytes());
    file_bytes.extend(b"\x02\0\x10\0data");
    file_bytes.extend(data_bytes.to_le_bytes());
    file_bytes.resize(file_bytes.len() + data_bytes as usize, value);
    file_bytes
}

pub(crate) fn upload(service: &Service, query: &str, bytes: &[u8]) -> Option<Answer> {
    upload_to(service, &format!("{AUDIO}/upload{query}"), "a.wav", bytes)
}

/// Sends a file as a form.
pub(crate) fn upload_to(service: &Service, path: &str, name: &str, bytes: &[u8]) -> Option<Answer> {
    service.send("POST", path, &[("Content-Type", "multipart/form-data; boundary=b")], &form(name, bytes))
}

fn stored_file_count(storage: &std::path::Path) -> usize {
    std::fs::read_dir(storage.join("blobs/audio")).map_or(0, Iterator::count)
}

#[test]
fn uploads_survive_a_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let service = Service::start(&storage, &[]);
    let answer = upload(&service, "", &wav(48_000, 1)).expect("an answer");
    assert_eq!(answer.status, 201, "{}", answer.body);
    let answer: Value = serde_json::from_str(&answer.body).expect("JSON");
    let path = format!("{AUDIO}/{}", answer["files"][0]["id"].as_str().expect("an id"));
    service.kill();
    // Creates two files as an interrupted upload leaves them.
    std::fs::write(storage.join("blobs/audio/.writing-0123"), b"half").expect("writes");
    std::fs::write(storage.join(format!("blobs/audio/{}.wav", "0".repeat(64))), b"no entry").expect("writes");
    let restarted_service = Service::start(&storage, &[]);
    assert_eq!(restarted_service.expect(200, "GET", &path, &[], &Value::Null)["frames"], 48_000);
    let file =
        restarted_service.send("GET", &format!("{path}/file?format=wav32f"), &[], &[]).expect("an answer");
    assert_eq!(file.status, 200);
    // A start does not delete unknown files, because a file must first be unneeded for a minimum
    // time.
    assert_eq!(stored_file_count(&storage), 4);
}

/// Returns the process id of a service's decoder, from `ps`.
fn decoder_of(service_id: u32) -> Option<u32> {
    let output = Command::new("ps").args(["-e", "-o", "pid=,ppid=,args="]).output().expect("ps runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = lines.find(|words| {
        words.len() > 2 && words[1] == service_id.to_string() && words.last() == Some(&"decode")
    })?;
    line[0].parse().ok()
}

fn is_decoding(process_id: u32) -> bool {
    let output = Command::new("ps").args(["-o", "args=", "-p", &process_id.to_string()]).output();
    String::from_utf8_lossy(&output.expect("ps runs").stdout).trim_end().ends_with("decode")
}

#[test]
fn a_decoder_ends_with_the_service_and_the_next_start_decodes_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let settings = [("SF_TASK_LOST_AFTER_SECS", "3")];
    let service = Service::start(&storage, &settings);
    let answer = upload(&service, "?async=true", &wav(40_000_000, 0)).expect("an answer");
    assert_eq!(answer.status, 202, "{}", answer.body);
    let decoder = next_decoder(&service, None);
    // A stopped decoder cannot complete its work before the service is killed.
    send_signal("-STOP", &decoder.to_string());
    service.kill();
    // The system continues a process group whose last parent ends, but only if it was already
    // stopped and its new parent belongs to another session. A decoder that the system has ended
    // with this signal no longer exists.
    let _ = Command::new("kill").args(["-CONT", &decoder.to_string()]).status().expect("kill runs");
    let start_time = Instant::now();
    while is_decoding(decoder) {
        assert!(start_time.elapsed() < Duration::from_secs(600), "a decoder survives its service");
        std::thread::sleep(Duration::from_millis(10));
    }
    let restarted_service = Service::start(&storage, &settings);
    let task = || restarted_service.expect(200, "GET", "/api/v1/tasks", &[], &Value::Null)["items"][0].take();
    // The restarted service continues the task. If the processes share a database, it first waits
    // until the heartbeat of the killed service is too old.
    let start_time = Instant::now();
    while task()["state"] != "succeeded" {
        assert!(start_time.elapsed() < Duration::from_secs(600), "{}", task());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(stored_file_count(&storage), 3);
}

/// Waits for a decoder of a service that is not the process `known_pid`.
fn next_decoder(service: &Service, known_pid: Option<u32>) -> u32 {
    let start_time = Instant::now();
    loop {
        if let Some(decoder) = decoder_of(service.id()).filter(|decoder| Some(*decoder) != known_pid) {
            return decoder;
        }
        assert!(start_time.elapsed() < Duration::from_secs(30), "no decoder starts");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to a process. A target that begins with a minus is a process group.
fn send_signal(signal: &str, target: &str) {
    let status = Command::new("kill").args([signal, "--", target]).status().expect("kill runs");
    assert!(status.success(), "there is no process {target}");
}

#[test]
fn an_upload_survives_signals_to_its_decoder() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let settings = [("SF_TASK_RETRY_SECS", "1")];
    let mut command = songfoundry(&storage);
    // The service gets its own process group, as a shell creates for each command.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let service = Service::spawn(command.arg("serve").envs(settings).stderr(std::process::Stdio::null()));
    let bytes = wav(40_000_000, 0);
    let length = bytes.len().to_string();
    let begin = [("Tus-Resumable", "1.0.0"), ("Upload-Length", length.as_str())];
    let create_answer = service.send("POST", "/api/v1/audio/uploads", &begin, &[]).expect("an answer");
    let path = header(&create_answer, "location").to_owned();
    let upload_answer = service.send("PATCH", &path, &tus("0"), &bytes).expect("an answer");
    assert_eq!(upload_answer.status, 204, "{}", upload_answer.body);
    let first = next_decoder(&service, None);
    send_signal("-TERM", &first.to_string());
    // The service decodes the upload again. Ctrl-C sends the signal to the whole process group.
    next_decoder(&service, Some(first));
    send_signal("-INT", &format!("-{}", service.id()));
    assert!(service.stop().0.success());
    let restarted_service = Service::start(&storage, &settings);
    let start_time = Instant::now();
    loop {
        let upload = restarted_service.expect(200, "GET", &path, &[], &Value::Null);
        if upload["state"] == "done" {
            break;
        }
        assert_eq!(upload["state"], "decoding", "{upload}");
        assert!(start_time.elapsed() < Duration::from_secs(600), "{upload}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_decode_command_fails_without_a_job() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = songfoundry(&folder.path().join("storage")).arg("decode").output().expect("runs");
    assert!(!output.status.success());
}

fn tus(offset: &str) -> [(&str, &str); 3] {
    let content_type = ("Content-Type", "application/offset+octet-stream");
    [("Tus-Resumable", "1.0.0"), ("Upload-Offset", offset), content_type]
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    let line = answer.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_else(|| panic!("no {name}: {}", answer.head)).trim()
}

/// Waits until the task that decodes an upload has ended, and returns the task.
fn wait_for_decoding(service: &Service, answer: &Answer) -> Value {
    assert_eq!(answer.status, 204, "{}", answer.body);
    let path = format!("/api/v1/tasks/{}", header(answer, "songfoundry-task-id"));
    let start_time = Instant::now();
    loop {
        let task = service.expect(200, "GET", &path, &[], &Value::Null);
        if !matches!(task["state"].as_str(), Some("queued" | "running")) {
            return task;
        }
        assert!(start_time.elapsed() < Duration::from_secs(600), "{task}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_upload_that_the_quota_stopped_keeps_its_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let me = service.expect(200, "GET", "/api/v1/auth/me", &[], &Value::Null);
    let account = format!("/api/v1/admin/users/{}", me["id"].as_str().expect("an id"));
    let bytes = wav(48_000, 1);
    let length = bytes.len().to_string();
    let begin = [("Tus-Resumable", "1.0.0"), ("Upload-Length", length.as_str())];
    let create_answer = service.send("POST", "/api/v1/audio/uploads", &begin, &[]).expect("an answer");
    let path = header(&create_answer, "location").to_owned();
    // The quota is enough for the file, but not for its decoded copy.
    service.expect(200, "PATCH", &account, &[], &json!({ "audio_quota_bytes": 150_000 }));
    let task =
        wait_for_decoding(&service, &service.send("PATCH", &path, &tus("0"), &bytes).expect("an answer"));
    assert_eq!(task["error"]["code"], "quota_exceeded", "{task}");
    let upload = service.expect(200, "GET", &path, &[], &Value::Null);
    assert_eq!((&upload["state"], &upload["offset_bytes"]), (&json!("receiving"), &json!(bytes.len())));

    service.expect(200, "PATCH", &account, &[], &json!({ "audio_quota_bytes": null }));
    let task =
        wait_for_decoding(&service, &service.send("PATCH", &path, &tus(&length), &[]).expect("an answer"));
    assert_eq!((&task["state"], &task["result"]["frames"]), (&json!("succeeded"), &json!(48_000)), "{task}");
    // A file without audio is refused, and its bytes are deleted.
    let begin = [("Tus-Resumable", "1.0.0"), ("Upload-Length", "8")];
    let create_answer = service.send("POST", "/api/v1/audio/uploads", &begin, &[]).expect("an answer");
    let path = header(&create_answer, "location").to_owned();
    wait_for_decoding(&service, &service.send("PATCH", &path, &tus("0"), b"no sound").expect("an answer"));
    assert_eq!(service.expect(200, "GET", &path, &[], &Value::Null)["state"], "refused");
}

#[test]
fn a_deleted_file_is_restored_by_a_song_that_uses_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let service = Service::start(&storage, &[]);
    let upload_one = || {
        let answer = upload(&service, "", &wav(4_800, 1)).expect("an answer");
        assert_eq!(answer.status, 201, "{}", answer.body);
        let answer: Value = serde_json::from_str(&answer.body).expect("JSON");
        answer["files"][0]["id"].as_str().expect("an id").to_owned()
    };
    let song = |id: &str| {
        let item = json!({ "type": "audio", "id": "i", "start_tick": 0, "length_frames": 100, "server_file_id": id });
        let track = json!({ "id": "t", "kind": "audio", "items": [item] });
        json!({ "schema_version": 1, "project_id": "song", "name": "S", "tracks": [track] })
    };
    let id = upload_one();
    let path = format!("{AUDIO}/{id}");
    let tagged = service.expect(200, "PUT", &format!("{path}/tags"), &[], &json!({ "tags": ["drums"] }));
    let bytes = service.send("GET", &format!("{path}/file"), &[], &[]).expect("an answer").body;
    let assert_is_whole = |service: &Service| {
        let metadata = service.expect(200, "GET", &path, &[], &Value::Null);
        assert_eq!((&metadata["tags"], &metadata["name"]), (&tagged["tags"], &json!("a.wav")));
        for query in ["", "?format=wav32f"] {
            let answer = service.send("GET", &format!("{path}/file{query}"), &[], &[]).expect("an answer");
            assert_eq!(answer.status, 200, "{}", answer.body);
        }
        assert_eq!(service.send("GET", &format!("{path}/file"), &[], &[]).expect("an answer").body, bytes);
    };
    // The file is deleted just before a client saves a song that uses it.
    service.expect(204, "DELETE", &path, &[], &Value::Null);
    service.expect(404, "GET", &path, &[], &Value::Null);
    assert_eq!(stored_file_count(&storage), 0);
    service.expect(201, "POST", "/api/v1/projects", &[], &song(&id));
    assert_is_whole(&service);
    service.expect(409, "DELETE", &path, &[], &Value::Null);
    // An autosave after a restart restores the file, too.
    service.expect(204, "DELETE", "/api/v1/projects/song", &[], &Value::Null);
    service.expect(204, "DELETE", &path, &[], &Value::Null);
    assert!(service.stop().0.success());
    let restarted_service = Service::start(&storage, &[]);
    let draft = json!({ "client_id": "window", "project": song(&id) });
    restarted_service.expect(200, "PUT", "/api/v1/projects/temp", &[], &draft);
    assert_is_whole(&restarted_service);
    // Uploading the same file again restores it under the id that the songs use.
    restarted_service.expect(204, "DELETE", "/api/v1/projects/temp", &[], &Value::Null);
    restarted_service.expect(204, "DELETE", &path, &[], &Value::Null);
    let answer = upload(&restarted_service, "", &wav(4_800, 1)).expect("an answer");
    assert!(answer.body.contains(&id), "{}", answer.body);
}

/// Starts the service with a limit on its number of open files.
fn start_with_open_files(storage: &std::path::Path, files: u32) -> Service {
    let program_command = songfoundry(storage);
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -n {files} && exec \"$0\" serve")])
        .arg(program_command.get_program());
    command.current_dir(storage.parent().expect("a folder above"));
    for (key, value) in program_command.get_envs() {
        match value {
            Some(value) => command.env(key, value),
            None => command.env_remove(key),
        };
    }
    Service::spawn(command.stderr(std::process::Stdio::null()))
}

#[test]
fn a_bundle_may_have_more_files_than_the_limit_of_open_files() {
    const FILES: u32 = 100;
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let service = Service::start(&storage, &[]);
    let mut body = Vec::new();
    for number in 0..FILES {
        body.extend(form(&format!("{number}.wav"), &wav(100 + number, 1)));
        // Removes the end of the form, so that the next file can follow.
        if number + 1 < FILES {
            body.truncate(body.len() - b"--b--\r\n".len());
        }
    }
    let content_type = [("Content-Type", "multipart/form-data; boundary=b")];
    let answer = service.send("POST", &format!("{AUDIO}/upload"), &content_type, &body).expect("an answer");
    assert_eq!(answer.status, 201, "{}", answer.body);
    let answer: Value = serde_json::from_str(&answer.body).expect("JSON");
    let item = |file: &Value| json!({ "type": "audio", "id": file["id"], "start_tick": 0, "source": { "server_file_id": file["id"] } });
    let items: Vec<Value> = answer["files"].as_array().expect("files").iter().map(item).collect();
    assert_eq!(items.len(), FILES as usize);
    let track = json!({ "id": "t", "kind": "audio", "items": items });
    let project = json!({ "schema_version": 1, "project_id": "song", "tracks": [track] });
    service.expect(201, "POST", "/api/v1/projects", &[], &project);
    service.stop();
    let service = start_with_open_files(&storage, FILES + 20);
    let bundle = service.send("GET", "/api/v1/projects/song/bundle", &[], &[]).expect("an answer");
    assert_eq!(bundle.status, 200, "{}", bundle.body);
    // The directory of the archive has an entry for each file, the project and the manifest.
    assert_eq!(bundle.body.matches("PK\u{1}\u{2}").count(), FILES as usize + 2);
}
