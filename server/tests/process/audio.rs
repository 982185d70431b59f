//! Audio with the real program: it decodes in processes of its own and keeps what it acknowledged.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Answer, Service, form, songfoundry};
use serde_json::Value;

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
fn what_was_uploaded_is_there_after_a_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let service = Service::start(&storage, &[]);
    let answer = upload(&service, "", &wav(48_000, 1)).expect("an answer");
    assert_eq!(answer.status, 201, "{}", answer.body);
    let answer: Value = serde_json::from_str(&answer.body).expect("JSON");
    let path = format!("{LIST}/{}", answer["files"][0]["id"].as_str().expect("an id"));
    service.kill();
    // What an upload that was under way leaves.
    std::fs::write(storage.join("blobs/audio/.writing-0123"), b"half").expect("writes");
    std::fs::write(storage.join(format!("blobs/audio/{}.wav", "0".repeat(64))), b"no entry").expect("writes");
    let again = Service::start(&storage, &[]);
    assert_eq!(again.expect(200, "GET", &path, &[], &Value::Null)["frames"], 48_000);
    let file = again.send("GET", &format!("{path}/file?format=wav32f"), &[], &[]).expect("an answer");
    assert_eq!(file.status, 200);
    assert_eq!(stored(&storage), 3);
}

/// The decoder that a service has started, by what the system says of processes.
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
fn a_decoder_ends_with_the_service() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let settings = [("SF_TASK_LOST_AFTER_SECS", "3")];
    let service = Service::start(&storage, &settings);
    let answer = upload(&service, "?async=true", &wav(40_000_000, 0)).expect("an answer");
    assert_eq!(answer.status, 202, "{}", answer.body);
    let begun = Instant::now();
    let decoder = loop {
        if let Some(decoder) = decoder_of(service.id()) {
            break decoder;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "nothing decodes");
        std::thread::sleep(Duration::from_millis(5));
    };
    service.kill();
    let begun = Instant::now();
    while is_decoding(decoder) {
        assert!(begun.elapsed() < Duration::from_secs(1), "a decoder goes on without its service");
        std::thread::sleep(Duration::from_millis(10));
    }
    let again = Service::start(&storage, &settings);
    let task = || again.expect(200, "GET", "/api/v1/tasks", &[], &Value::Null)["items"][0].take();
    if crate::database::of(&storage).is_none() {
        assert_eq!(stored(&storage), 0);
        assert_eq!(task()["error"]["code"], "interrupted");
        return;
    }
    // Where processes share the tasks, the next one takes it up when the first shows no sign of life any more.
    let begun = Instant::now();
    while task()["state"] != "succeeded" {
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", task());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(stored(&storage), 3);
}

#[test]
fn the_command_refuses_without_a_job() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = songfoundry(&folder.path().join("storage")).arg("decode").output().expect("runs");
    assert!(!output.status.success());
}
