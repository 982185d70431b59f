//! Two hundred concurrent clients are served, and the memory of the service is bounded.

use std::sync::Barrier;
use std::thread;

use serde_json::{Value, json};

use crate::support::Service;

const CLIENTS: usize = 200;

/// Number of rounds in which each client saves, lists and reads its recording.
const ROUNDS_PER_CLIENT: usize = 3;

/// Maximum memory of the service, in KiB. It contains the connections of SQLite, the request bodies
/// in progress, and the code of the program.
const RESIDENT_MAX_KIB: u64 = 200 * 1024;

/// Length of the recording of each client, in seconds.
const RECORDING_SECS: u32 = 2;

/// Returns a mono WAV file of 16 bits and 48 kHz whose samples are the client's number.
fn recording(client: usize) -> Vec<u8> {
    let data_bytes = RECORDING_SECS * 96_000;
    let mut output = b"RIFF".to_vec();
    output.extend((36 + data_bytes).to_le_bytes());
    output.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    output.extend(48_000_u32.to_le_bytes());
    output.extend(96_000_u32.to_le_bytes());
    output.extend(b"\x02\0\x10\0data");
    output.extend(data_bytes.to_le_bytes());
    output.extend((client as u16).to_le_bytes().repeat(data_bytes as usize / 2));
    output
}

fn song(client: usize, turn: usize) -> Value {
    let name = format!("Song {client}, save {turn}");
    json!({ "schema_version": 1, "project_id": format!("song-{client}"), "name": name, "tracks": [], "client": name.repeat(500) })
}

/// Returns the peak memory of a process, in KiB.
fn peak_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the system counts it");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Uploads a recording, follows the events of its decoding to the end, and returns the file's id.
fn upload(service: &Service, client: usize) -> String {
    let mut body =
        format!("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{client}.wav\"\r\n\r\n")
            .into_bytes();
    body.extend(recording(client));
    body.extend(b"\r\n--b--\r\n");
    let content_type = [("Content-Type", "multipart/form-data; boundary=b")];
    let started =
        service.send("POST", "/api/v1/audio/upload?async=true", &content_type, &body).expect("an answer");
    assert_eq!(started.status, 202, "{}", started.body);
    let started: Value = serde_json::from_str(&started.body).expect("JSON");
    let task = started["task_id"].as_str().expect("a task");
    let events =
        service.call("GET", &format!("/api/v1/tasks/{task}/events"), &[], "").expect("a stream to its end");
    assert_eq!(events.status, 200, "{}", events.body);
    let last =
        events.body.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().expect("an event");
    let task: Value = serde_json::from_str(last).expect("JSON");
    assert_eq!(task["state"], "succeeded", "{task}");
    task["result"]["files"][0]["id"].as_str().expect("a file").to_owned()
}

fn run_client(service: &Service, client: usize) {
    service.expect(201, "POST", "/api/v1/projects", &[], &song(client, 1));
    let audio = upload(service, client);
    for turn in 2..2 + ROUNDS_PER_CLIENT {
        let etag = format!("\"{}\"", turn - 1);
        service.expect(
            200,
            "PUT",
            &format!("/api/v1/projects/song-{client}"),
            &[("If-Match", &etag)],
            &song(client, turn),
        );
        let listed_projects = service.expect(200, "GET", "/api/v1/projects?limit=10", &[], &Value::Null);
        assert!(listed_projects["items"].as_array().is_some_and(|items| !items.is_empty()));
        let samples = service.call("GET", &format!("/api/v1/audio/{audio}/file?format=wav32f"), &[], "");
        let samples = samples.expect("whole samples");
        assert_eq!(samples.status, 200, "{}", samples.body);
    }
}

#[test]
fn two_hundred_clients_at_once_are_served_and_memory_is_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let start_barrier = Barrier::new(CLIENTS);
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (service, start_barrier) = (&service, &start_barrier);
            scope.spawn(move || {
                start_barrier.wait();
                run_client(service, client);
            });
        }
    });
    let listed_projects = service.expect(200, "GET", "/api/v1/projects?limit=200", &[], &Value::Null);
    let songs = listed_projects["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter(|song| song["revision"] == 1 + ROUNDS_PER_CLIENT as i64);
    assert!(songs.count() >= CLIENTS - 1, "some songs lack a save: {listed_projects}");
    let sounds = service.expect(200, "GET", "/api/v1/audio?limit=200", &[], &Value::Null);
    assert_eq!(sounds["items"].as_array().map(Vec::len), Some(CLIENTS));
    let peak_kib = peak_kib(service.id());
    println!("the service used at most {} MiB of memory", peak_kib / 1024);
    assert!(
        peak_kib < RESIDENT_MAX_KIB,
        "the service used {peak_kib} KiB of memory; the limit is {RESIDENT_MAX_KIB} KiB"
    );
}
