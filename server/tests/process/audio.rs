//! Audio with the real program: it decodes in separate processes and keeps acknowledged files.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Answer, Service, form, songfoundry};
use serde_json::{Value, json};

const LIST: &str = "/api/v1/audio";

/// A mono WAV file of 16 bits.
pub(crate) fn wav(frames: u32, value: u8) -> Vec<u8> {
    let data_bytes = frames * 2;
    let mut out = b"RIFF".to_vec();
    out.extend((36 + data_bytes).to_le_bytes());
    out.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    out.extend(48_000_u32.to_le_bytes());
    out.extend(96_000_u32.to_le_bytes());
    out.extend(b"\x02\0\x10\0data");
    out.extend(data_bytes.to_le_bytes());
    out.resize(out.len() + data_bytes as usize, value);
    out
}

pub(crate) fn upload(service: &Service, query: &str, bytes: &[u8]) -> Option<Answer> {
    upload_to(service, &format!("{LIST}/upload{query}"), "a.wav", bytes)
}

/// Sends a file as a form.
pub(crate) fn upload_to(service: &Service, path: &str, name: &str, bytes: &[u8]) -> Option<Answer> {
    service.send("POST", path, &[("Content-Type", "multipart/form-data; boundary=b")], &form(name, bytes))
}

fn stored(storage: &std::path::Path) -> usize {
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
    let path = format!("{LIST}/{}", answer["files"][0]["id"].as_str().expect("an id"));
    service.kill();
    // The files that an interrupted upload leaves.
    std::fs::write(storage.join("blobs/audio/.writing-0123"), b"half").expect("writes");
    std::fs::write(storage.join(format!("blobs/audio/{}.wav", "0".repeat(64))), b"no entry").expect("writes");
    let again = Service::start(&storage, &[]);
    assert_eq!(again.expect(200, "GET", &path, &[], &Value::Null)["frames"], 48_000);
    let file = again.send("GET", &format!("{path}/file?format=wav32f"), &[], &[]).expect("an answer");
    assert_eq!(file.status, 200);
    // A start does not delete the unknown file: it must be unneeded for a while first.
    assert_eq!(stored(&storage), 4);
}

/// The process id of a service's decoder, from `ps`.
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
    service.kill();
    let begun = Instant::now();
    while is_decoding(decoder) {
        assert!(begun.elapsed() < Duration::from_secs(1), "a decoder survives its service");
        std::thread::sleep(Duration::from_millis(10));
    }
    let again = Service::start(&storage, &settings);
    let task = || again.expect(200, "GET", "/api/v1/tasks", &[], &Value::Null)["items"][0].take();
    // The next start continues it. If processes share the tasks, another one does when the first
    // has no heartbeat any more.
    let begun = Instant::now();
    while task()["state"] != "succeeded" {
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", task());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(stored(&storage), 3);
}

/// Waits for the decoder of a service, other than `known`.
fn next_decoder(service: &Service, known: Option<u32>) -> u32 {
    let begun = Instant::now();
    loop {
        if let Some(decoder) = decoder_of(service.id()).filter(|decoder| Some(*decoder) != known) {
            return decoder;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "nothing decodes");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to a process, or with a minus to a group of processes.
fn kill(signal: &str, target: &str) {
    let status = Command::new("kill").args([signal, "--", target]).status().expect("kill runs");
    assert!(status.success(), "{target} is gone");
}

#[test]
fn signals_to_a_decoder_refuse_no_upload() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let settings = [("SF_TASK_RETRY_SECS", "1")];
    let mut command = songfoundry(&storage);
    // A separate process group, as a shell creates for each command.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let service = Service::spawn(command.arg("serve").envs(settings).stderr(std::process::Stdio::null()));
    let bytes = wav(40_000_000, 0);
    let length = bytes.len().to_string();
    let begin = [("Tus-Resumable", "1.0.0"), ("Upload-Length", length.as_str())];
    let begun = service.send("POST", "/api/v1/audio/uploads", &begin, &[]).expect("an answer");
    let path = header(&begun, "location").to_owned();
    let sent = service.send("PATCH", &path, &tus("0"), &bytes).expect("an answer");
    assert_eq!(sent.status, 204, "{}", sent.body);
    let first = next_decoder(&service, None);
    kill("-TERM", &first.to_string());
    // Tried again, and interrupted by Ctrl-C.
    next_decoder(&service, Some(first));
    kill("-INT", &format!("-{}", service.id()));
    assert!(service.stop().0.success());
    let again = Service::start(&storage, &settings);
    let begun = Instant::now();
    loop {
        let upload = again.expect(200, "GET", &path, &[], &Value::Null);
        if upload["state"] == "done" {
            break;
        }
        assert_eq!(upload["state"], "decoding", "{upload}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{upload}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_command_refuses_without_a_job() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = songfoundry(&folder.path().join("storage")).arg("decode").output().expect("runs");
    assert!(!output.status.success());
}

fn tus(offset: &str) -> [(&str, &str); 3] {
    let kind = ("Content-Type", "application/offset+octet-stream");
    [("Tus-Resumable", "1.0.0"), ("Upload-Offset", offset), kind]
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    let line = answer.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_else(|| panic!("no {name}: {}", answer.head)).trim()
}

/// The task that decodes an upload, after it has ended.
fn decoded(service: &Service, answer: &Answer) -> Value {
    assert_eq!(answer.status, 204, "{}", answer.body);
    let path = format!("/api/v1/tasks/{}", header(answer, "songfoundry-task-id"));
    let begun = Instant::now();
    loop {
        let task = service.expect(200, "GET", &path, &[], &Value::Null);
        if !matches!(task["state"].as_str(), Some("queued" | "running")) {
            return task;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{task}");
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
    let begun = service.send("POST", "/api/v1/audio/uploads", &begin, &[]).expect("an answer");
    let path = header(&begun, "location").to_owned();
    // Enough for the file, not for its decoded copy.
    service.expect(200, "PATCH", &account, &[], &json!({ "audio_quota_bytes": 150_000 }));
    let task = decoded(&service, &service.send("PATCH", &path, &tus("0"), &bytes).expect("an answer"));
    assert_eq!(task["error"]["code"], "quota_exceeded", "{task}");
    let upload = service.expect(200, "GET", &path, &[], &Value::Null);
    assert_eq!((&upload["state"], &upload["offset_bytes"]), (&json!("receiving"), &json!(bytes.len())));

    service.expect(200, "PATCH", &account, &[], &json!({ "audio_quota_bytes": null }));
    let task = decoded(&service, &service.send("PATCH", &path, &tus(&length), &[]).expect("an answer"));
    assert_eq!((&task["state"], &task["result"]["frames"]), (&json!("succeeded"), &json!(48_000)), "{task}");
    // A file without audio is refused, and its bytes are deleted.
    let begin = [("Tus-Resumable", "1.0.0"), ("Upload-Length", "8")];
    let begun = service.send("POST", "/api/v1/audio/uploads", &begin, &[]).expect("an answer");
    let path = header(&begun, "location").to_owned();
    decoded(&service, &service.send("PATCH", &path, &tus("0"), b"no sound").expect("an answer"));
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
    let path = format!("{LIST}/{id}");
    let tagged = service.expect(200, "PUT", &format!("{path}/tags"), &[], &json!({ "tags": ["drums"] }));
    let bytes = service.send("GET", &format!("{path}/file"), &[], &[]).expect("an answer").body;
    let is_whole = |service: &Service| {
        let back = service.expect(200, "GET", &path, &[], &Value::Null);
        assert_eq!((&back["tags"], &back["name"]), (&tagged["tags"], &json!("a.wav")));
        for query in ["", "?format=wav32f"] {
            let answer = service.send("GET", &format!("{path}/file{query}"), &[], &[]).expect("an answer");
            assert_eq!(answer.status, 200, "{}", answer.body);
        }
        assert_eq!(service.send("GET", &format!("{path}/file"), &[], &[]).expect("an answer").body, bytes);
    };
    // Deleted just before a window saves a song with it.
    service.expect(204, "DELETE", &path, &[], &Value::Null);
    service.expect(404, "GET", &path, &[], &Value::Null);
    assert_eq!(stored(&storage), 0);
    service.expect(201, "POST", "/api/v1/projects", &[], &song(&id));
    is_whole(&service);
    service.expect(409, "DELETE", &path, &[], &Value::Null);
    // The same with an autosave, and after a restart.
    service.expect(204, "DELETE", "/api/v1/projects/song", &[], &Value::Null);
    service.expect(204, "DELETE", &path, &[], &Value::Null);
    assert!(service.stop().0.success());
    let again = Service::start(&storage, &[]);
    let draft = json!({ "client_id": "window", "project": song(&id) });
    again.expect(200, "PUT", "/api/v1/projects/temp", &[], &draft);
    is_whole(&again);
    // Uploading it again restores it under the id in the songs.
    again.expect(204, "DELETE", "/api/v1/projects/temp", &[], &Value::Null);
    again.expect(204, "DELETE", &path, &[], &Value::Null);
    let answer = upload(&again, "", &wav(4_800, 1)).expect("an answer");
    assert!(answer.body.contains(&id), "{}", answer.body);
}

/// The service with a limit of open files.
fn start_with_open_files(storage: &std::path::Path, files: u32) -> Service {
    let plain = songfoundry(storage);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {files} && exec \"$0\" serve")]).arg(plain.get_program());
    command.current_dir(storage.parent().expect("a folder above"));
    for (key, value) in plain.get_envs() {
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
        // The next part continues where the form ended.
        if number + 1 < FILES {
            body.truncate(body.len() - b"--b--\r\n".len());
        }
    }
    let kind = [("Content-Type", "multipart/form-data; boundary=b")];
    let answer = service.send("POST", &format!("{LIST}/upload"), &kind, &body).expect("an answer");
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
    // Each name occurs before its content, and in the directory.
    assert_eq!(bundle.body.matches("PK\u{1}\u{2}").count(), FILES as usize + 2);
}
