//! Acknowledged data survives a restart, however the process ended.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::Service;
use serde_json::{Value, json};

const SONG: &str = "/api/v1/projects/song";

fn song(name: &str) -> Value {
    // The document is so large that a save spans many pages of the database.
    json!({ "schema_version": 1, "project_id": "song", "name": name, "tracks": [], "client": name.repeat(3000) })
}

#[test]
fn a_second_start_has_all_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let first = Service::start(&storage, &[]);
    let token = first.expect(200, "POST", "/api/v1/auth/local", &[], &Value::Null);
    let bearer = format!("Bearer {}", token["access_token"].as_str().expect("a token"));
    first.expect(201, "POST", "/api/v1/projects", &[], &song("one"));
    first.expect(200, "PUT", SONG, &[("If-Match", "\"1\"")], &song("two"));
    let draft = json!({ "client_id": "window", "project": song("draft") });
    let autosave = first.expect(200, "PUT", "/api/v1/projects/temp", &[], &draft);
    first.expect(204, "DELETE", "/api/v1/projects/demo", &[], &Value::Null);
    let songs_before = first.expect(200, "GET", "/api/v1/projects", &[], &Value::Null);
    let (status, _) = first.stop();
    assert!(status.success(), "{status}");

    let second = Service::start(&storage, &[]);
    assert_eq!(second.expect(200, "GET", SONG, &[], &Value::Null), song("two"));
    assert_eq!(second.expect(200, "GET", "/api/v1/projects", &[], &Value::Null), songs_before);
    let revisions = second.expect(200, "GET", &format!("{SONG}/revisions"), &[], &Value::Null);
    assert_eq!(revisions["items"].as_array().map(Vec::len), Some(2));
    assert_eq!(second.expect(200, "GET", "/api/v1/projects/temp/revision", &[], &Value::Null), autosave);
    // The signing key is unchanged, so the token remains valid. A remote client needs a token.
    let headers = [("Authorization", bearer.as_str()), ("X-Forwarded-For", "192.0.2.1")];
    second.expect(200, "GET", SONG, &headers, &Value::Null);
    // The deleted demo song is not created again.
    second.expect(404, "GET", "/api/v1/projects/demo", &[], &Value::Null);
}

#[test]
fn the_first_start_creates_the_demo_song() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let demo = service.expect(200, "GET", "/api/v1/projects/demo", &[], &Value::Null);
    assert!(demo["tracks"].as_array().is_some_and(|tracks| tracks.len() >= 4), "{}", demo["name"]);
}

/// The state of a writer when its service was killed.
struct WriterState {
    /// Revision and name of the last acknowledged save; the name is empty if there was none.
    acknowledged: (i64, String),
    /// Name of the last attempted save.
    attempted: String,
}

/// Saves repeatedly until the service is gone; counts acknowledged saves.
fn save_until_killed(service: &Service, from: i64, round: usize, count: &AtomicUsize) -> WriterState {
    let mut written = WriterState { acknowledged: (from, String::new()), attempted: String::new() };
    loop {
        let revision = written.acknowledged.0;
        written.attempted = format!("round {round} after {revision}");
        let etag = format!("\"{revision}\"");
        match service.call("PUT", SONG, &[("If-Match", &etag)], &song(&written.attempted).to_string()) {
            Some(answer) if answer.status == 200 => {
                let body: Value = serde_json::from_str(&answer.body).expect("JSON");
                written.acknowledged =
                    (body["revision"].as_i64().expect("a revision"), written.attempted.clone());
                count.fetch_add(1, Ordering::Relaxed);
            }
            Some(answer) => panic!("a save was refused: {answer:?}"),
            None => return written,
        }
    }
}

#[test]
fn no_acknowledged_save_is_lost_to_a_kill() {
    const ROUNDS: usize = 20;
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let mut service = Service::start(&storage, &[]);
    service.expect(201, "POST", "/api/v1/projects", &[], &song("begin"));
    let mut revision = 1;
    for round in 0..ROUNDS {
        let count = AtomicUsize::new(0);
        let written = std::thread::scope(|scope| {
            let writer = scope.spawn(|| save_until_killed(&service, revision, round, &count));
            let start_time = Instant::now();
            while count.load(Ordering::Relaxed) <= round % 4 {
                assert!(
                    start_time.elapsed() < Duration::from_secs(600),
                    "round {round}: the service acknowledges no save"
                );
                std::thread::yield_now();
            }
            // Each round kills the service at a different moment of a save.
            std::thread::sleep(Duration::from_micros((round as u64 * 1709) % 12_000));
            service.signal_kill();
            writer.join().expect("the writer")
        });
        service.kill();
        service = Service::start(&storage, &[]);
        let stored_song = service.expect(200, "GET", SONG, &[], &Value::Null);
        let revisions = service.expect(200, "GET", &format!("{SONG}/revisions"), &[], &Value::Null);
        let current_revision = revisions["items"][0]["revision"].as_i64().expect("a revision");
        let (last, last_name) = written.acknowledged;
        // The newest revision is the last acknowledged save, or the save in flight.
        let (expected, name) =
            if current_revision == last { (last, last_name) } else { (last + 1, written.attempted) };
        assert_eq!(current_revision, expected, "round {round}");
        assert_eq!(stored_song, song(&name), "round {round}: the stored document differs from the saved one");
        revision = current_revision;
    }
}
