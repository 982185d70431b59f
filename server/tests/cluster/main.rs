//! Several servers and workers with one PostgreSQL database and one shared folder or bucket.
//! Whichever process is killed, every task ends exactly once. Files that one server stores are
//! available on all servers.
//!
//! `scripts/with-postgres` starts PostgreSQL, and `scripts/with-s3` starts the service with the
//! bucket.

#[path = "../process/database.rs"]
mod database;
#[path = "../process/plugin_service.rs"]
#[expect(dead_code, reason = "the tests of single processes use the other items")]
mod plugin_service;
mod s3;
#[path = "../process/small_disk.rs"]
#[expect(dead_code, reason = "the tests of single processes use the other items")]
mod small_disk;
#[path = "../process/support.rs"]
#[expect(dead_code, reason = "the tests of single processes use the other items")]
mod support;
mod windows;
mod worker;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sqlx::{AnyConnection, Connection as _};

use support::{Service, form, request};
use worker::Worker;

const BANK: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";
const TASKS: usize = 200;
const KILLS: usize = 8;
/// Limit for a hanging test; an idle machine needs a minute or two.
const TASKS_END_WITHIN: Duration = Duration::from_secs(1_200);

/// Processes on separate machines that share a database and a folder.
struct Cluster {
    folder: tempfile::TempDir,
    database_url: String,
    /// Additional settings of every process.
    settings: Vec<(&'static str, String)>,
    machine_count: usize,
}

impl Cluster {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("sounds")).expect("a folder");
        assert!(Path::new(BANK).is_file(), "{BANK} is missing; install timgm6mb-soundfont");
        std::os::unix::fs::symlink(BANK, folder.path().join("sounds/TimGM6mb.sf2")).expect("links");
        let database_url = database::postgres_address(&folder.path().join("any"))
            .expect("PostgreSQL: run this by scripts/with-postgres");
        let settings = vec![("SF_BLOB_STORE", folder.path().join("shared").to_string_lossy().into_owned())];
        Self { folder, database_url, settings, machine_count: 0 }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    /// Starts a process with a separate storage folder.
    fn process<P>(&mut self, start: impl FnOnce(&Path, &[(&str, &str)]) -> P) -> P {
        self.machine_count += 1;
        let storage = PathBuf::from(self.path(&format!("machine-{}", self.machine_count)));
        let sounds = self.path("sounds");
        let mut settings = vec![
            ("SF_DATABASE_URL", self.database_url.as_str()),
            ("SF_SOUNDFONT_DIRS", &sounds),
            ("SF_SERVE_TASKS", "off"),
            ("SF_TASK_WORKERS", "2"),
            ("SF_TASK_LOST_AFTER_SECS", "3"),
            ("SF_TASK_RETRY_SECS", "1"),
            ("SF_TASK_ATTEMPTS", "50"),
        ];
        settings.extend(self.settings.iter().map(|(key, value)| (*key, value.as_str())));
        start(&storage, &settings)
    }
}

/// Returns a song of 20 seconds that is different for each number.
fn song(number: usize) -> Value {
    let note = |beat: usize| json!({"tick": beat * 480, "length_ticks": 480, "pitch": 36 + (number + beat * 7) % 60, "velocity": 0.8});
    json!({
        "schema_version": 1, "project_id": format!("song-{number}"), "name": format!("Song {number}"),
        "sample_rate_hz": 44100, "tempo_map": [{"tick": 0, "bpm": 120.0}],
        "tracks": [{
            "id": "t", "name": "Keys", "kind": "instrument",
            "synth_engine": {"type": "soundfont", "bank": 0, "program": number % 100},
            "items": [{
                "type": "midi", "id": "m", "start_tick": 0, "length_ticks": 38_400,
                "notes": (0..80).map(note).collect::<Vec<_>>(),
            }],
        }],
    })
}

fn task(server: &Service, id: &str) -> Value {
    server.expect(200, "GET", &format!("/api/v1/tasks/{id}"), &[], &Value::Null)
}

/// Returns all tasks by their id.
fn tasks(server: &Service) -> HashMap<String, Value> {
    let mut tasks_by_id = HashMap::new();
    let mut path = "/api/v1/tasks?limit=100".to_owned();
    loop {
        let page = server.expect(200, "GET", &path, &[], &Value::Null);
        for task in page["items"].as_array().expect("tasks") {
            tasks_by_id.insert(task["id"].as_str().expect("an id").to_owned(), task.clone());
        }
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/api/v1/tasks?limit=100&cursor={cursor}"),
            None => return tasks_by_id,
        }
    }
}

/// Returns the number of offers in the queue that no worker has answered.
fn unanswered_offers(database_url: &str) -> i64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut connection = AnyConnection::connect(database_url).await.expect("the database of the test");
        let query = sqlx::query_scalar("SELECT COUNT(*) FROM apalis.jobs WHERE status <> 'Done'");
        let count = query.fetch_one(&mut connection).await.expect("a number");
        connection.close().await.expect("closes");
        count
    })
}

/// Returns the next pseudo-random number. The sequence is the same in each run.
fn pseudo_random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).expect("31 bits")
}

#[test]
fn every_task_has_one_result_whichever_process_is_killed() {
    let begun = Instant::now();
    let mut cluster = Cluster::new();
    let servers = [cluster.process(Service::start), cluster.process(Service::start)];
    let mut workers: Vec<Worker> = (0..3).map(|_| cluster.process(Worker::start)).collect();

    let mut ids = Vec::new();
    for number in 0..TASKS {
        let body = json!({"project": song(number), "tail_secs": 1.0});
        let server = &servers[number % 2];
        let started = server.expect(202, "POST", "/api/v1/plugins/render?async=true", &[], &body);
        ids.push(started["task_id"].as_str().expect("an id").to_owned());
    }

    // The first observed end of each task must remain its state.
    let mut first_ends: HashMap<String, Value> = HashMap::new();
    let (mut random_state, mut kills) = (20_261_121_u64, 0);
    let mut next_kill = Instant::now() + Duration::from_secs(1);
    while first_ends.len() < TASKS {
        assert!(
            begun.elapsed() < TASKS_END_WITHIN,
            "{} of {TASKS} tasks have ended; {kills} workers were killed",
            first_ends.len()
        );
        for (id, task) in tasks(&servers[kills % 2]) {
            if !matches!(task["state"].as_str(), Some("queued" | "running")) {
                assert_eq!(*first_ends.entry(id).or_insert_with(|| task.clone()), task);
            }
        }
        if kills < KILLS && Instant::now() > next_kill {
            workers.swap_remove(pseudo_random(&mut random_state) % workers.len()).kill();
            workers.push(cluster.process(Worker::start));
            kills += 1;
            next_kill = Instant::now()
                + Duration::from_millis(300 + (pseudo_random(&mut random_state) % 1_200) as u64);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(kills, KILLS, "the tasks were done before enough workers could be killed");

    let final_tasks = tasks(&servers[0]);
    assert_eq!(final_tasks.len(), TASKS);
    let mut render_ids = std::collections::HashSet::new();
    for id in &ids {
        assert_eq!(
            (&final_tasks[id]["state"], &final_tasks[id]),
            (&json!("succeeded"), &first_ends[id]),
            "{}",
            final_tasks[id]
        );
        assert!(
            render_ids.insert(final_tasks[id]["result"]["render_id"].as_str().expect("an id").to_owned())
        );
    }
    // Every server has the newest renders, whichever worker rendered them.
    let mut newest_tasks: Vec<&Value> = final_tasks.values().collect();
    newest_tasks.sort_by_key(|task| std::cmp::Reverse(task["finished_at"].as_str().map(str::to_owned)));
    for (number, task) in newest_tasks.iter().take(10).enumerate() {
        let path = task["result"]["audio_url"].as_str().expect("an address");
        let file = servers[number % 2].send("GET", path, &[], &[]).expect("an answer");
        assert_eq!(file.status, 200, "{}", file.body);
    }
    // Every offer of a task is answered, and the answers are stored in the queue: an offer without
    // an answer would be repeated whenever its worker ends.
    let mut unanswered_count = unanswered_offers(&cluster.database_url);
    while unanswered_count > 0 {
        assert!(begun.elapsed() < TASKS_END_WITHIN, "{unanswered_count} offers have no answer");
        std::thread::sleep(Duration::from_millis(100));
        unanswered_count = unanswered_offers(&cluster.database_url);
    }
    eprintln!("{TASKS} tasks, {kills} killed workers: {:.1} s", begun.elapsed().as_secs_f64());
}

#[test]
fn a_worker_with_a_full_disk_leaves_tasks_to_others() {
    let mut cluster = Cluster::new();
    let server = cluster.process(Service::start);
    // No disk has the reserve of this worker free.
    cluster.settings.push(("SF_DISK_RESERVE_BYTES", (1_u64 << 50).to_string()));
    let _full = cluster.process(Worker::start);
    cluster.settings.pop();
    let _working = cluster.process(Worker::start);
    let ids: Vec<String> = (0..12)
        .map(|number| {
            let body = json!({"project": song(number)});
            let started = server.expect(202, "POST", "/api/v1/plugins/render?async=true", &[], &body);
            started["task_id"].as_str().expect("an id").to_owned()
        })
        .collect();
    let begun = Instant::now();
    while ids.iter().any(|id| task(&server, id)["state"] != "succeeded") {
        let states: Vec<_> = ids.iter().map(|id| task(&server, id)["state"].clone()).collect();
        assert!(!states.contains(&json!("failed")) && begun.elapsed() < TASKS_END_WITHIN, "{states:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn saves_on_one_server_are_visible_on_the_other_at_once() {
    let mut cluster = Cluster::new();
    let (first, second) = (cluster.process(Service::start), cluster.process(Service::start));
    first.expect(201, "POST", "/api/v1/projects", &[], &song(1));
    let path = "/api/v1/projects/song-1";
    for revision in 1..=10 {
        let (writer, reader) = if revision % 2 == 0 { (&first, &second) } else { (&second, &first) };
        let mut changed_song = song(1);
        changed_song["name"] = format!("Revision {revision}").into();
        let etag = format!("\"{revision}\"");
        writer.expect(200, "PUT", path, &[("If-Match", &etag)], &changed_song);
        assert_eq!(reader.expect(200, "GET", path, &[], &Value::Null)["name"], changed_song["name"]);
        // A save that is based on the previous revision is refused.
        reader.expect(412, "PUT", path, &[("If-Match", &etag)], &song(1));
    }
}

#[test]
fn uploads_to_one_server_are_playable_on_all() {
    let mut cluster = Cluster::new();
    let (first, second) = (cluster.process(Service::start), cluster.process(Service::start));
    let _worker = cluster.process(Worker::start);
    soundfonts_are_shared(&first, &second);
}

/// Checks that a worker plays a SoundFont uploaded to one server for a task of the other server.
/// Deleting the SoundFont removes it from both servers.
fn soundfonts_are_shared(first: &Service, second: &Service) {
    let bank = std::fs::read(BANK).expect("reads");
    let path = "/api/v1/plugins/soundfonts/upload";
    let headers = [("Content-Type", "multipart/form-data; boundary=b")];
    let answer = first.send("POST", path, &headers, &form("Own.sf2", &bank)).expect("an answer");
    assert_eq!(answer.status, 201, "{}", answer.body);
    let download = "/api/v1/plugins/soundfonts/download/own";
    for server in [first, second] {
        let file = server.send("GET", download, &[], &[]).expect("an answer");
        assert!(file.status == 200 && file.body == String::from_utf8_lossy(&bank));
    }
    let mut project = song(1);
    project["tracks"][0]["synth_engine"]["soundfont_id"] = json!("own");
    let body = json!({"project": project});
    let receipt = |server: &Service| {
        let started = server.expect(202, "POST", "/api/v1/plugins/render?async=true", &[], &body);
        let (id, begun) = (started["task_id"].as_str().expect("an id"), Instant::now());
        loop {
            let task = task(server, id);
            if task["state"] == "succeeded" {
                return task["result"]["receipt"].clone();
            }
            assert!(begun.elapsed() < Duration::from_secs(600), "{task}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let own_receipt = receipt(second);
    assert_eq!(own_receipt["settings"]["soundfonts"], json!(["own"]));
    second.expect(204, "DELETE", "/api/v1/plugins/soundfonts/own", &[], &Value::Null);
    // The default bank plays instead. It is a file with the same bytes.
    let fallback_receipt = receipt(first);
    assert_eq!(fallback_receipt["settings"]["soundfonts"], json!(["timgm6mb"]));
    assert_eq!(fallback_receipt["pcm_sha256"], own_receipt["pcm_sha256"]);
}

#[test]
fn a_worker_serves_health_and_metrics_only() {
    let mut cluster = Cluster::new();
    let server = cluster.process(Service::start);
    cluster.settings.push(("SF_WORKER_PORT", "0".to_owned()));
    let mut worker = cluster.process(Worker::start);
    let trust_line = worker.next_line();
    assert!(trust_line.contains("administrator without a log-in"), "{trust_line}");
    let address = worker.greeting.split("http://").nth(1).and_then(|text| text.split(' ').next());
    let address: SocketAddr = address.and_then(|text| text.parse().ok()).expect("an address");
    let get = |path: &str, headers: &[(&str, &str)]| {
        request(address, "GET", path, headers, &[]).expect("connects").expect("an answer")
    };
    for path in ["/healthz", "/readyz"] {
        assert_eq!(get(path, &[]).status, 200, "{path}");
    }
    let body = json!({"project": song(1)});
    let started = server.expect(202, "POST", "/api/v1/plugins/render?async=true", &[], &body);
    let begun = Instant::now();
    while task(&server, started["task_id"].as_str().expect("an id"))["state"] != "succeeded" {
        assert!(begun.elapsed() < Duration::from_secs(600));
        std::thread::sleep(Duration::from_millis(50));
    }
    let expected_line = "songfoundry_tasks_ended_total{kind=\"render\",state=\"succeeded\"} 1";
    let metrics = get("/metrics", &[]);
    assert!(metrics.status == 200 && metrics.body.contains(expected_line), "{}", metrics.body);
    // Metrics are for administrators only; a worker has neither an API nor a page.
    assert_eq!(get("/metrics", &[("X-Forwarded-For", "192.0.2.1")]).status, 401);
    for path in ["/", "/api/v1/projects", "/api/docs"] {
        let answer = get(path, &[]);
        assert!(answer.status == 404 && answer.body.contains("This is a worker"), "{path}: {}", answer.body);
    }
    assert!(worker.stop().success());
    assert!(request(address, "GET", "/healthz", &[], &[]).is_err(), "the worker still answers");
}

#[test]
fn a_worker_that_is_stopped_returns_its_task() {
    let mut cluster = Cluster::new();
    let server = cluster.process(Service::start);
    let mut long_song = song(1);
    let item = &mut long_song["tracks"][0]["items"][0];
    item["length_ticks"] = 6_912_000.into();
    item["notes"] = (0..7_000)
        .map(|beat| json!({"tick": beat * 960, "length_ticks": 960, "pitch": 60, "velocity": 1}))
        .collect();
    let body = json!({"project": long_song});
    let started = server.expect(202, "POST", "/api/v1/plugins/render?async=true", &[], &body);
    let id = started["task_id"].as_str().expect("an id");
    let wait_for_state = |state: &str| {
        let begun = Instant::now();
        while task(&server, id)["state"] != state {
            assert!(begun.elapsed() < Duration::from_secs(30), "{}", task(&server, id));
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let worker = cluster.process(Worker::start);
    wait_for_state("running");
    assert!(worker.stop().success());
    wait_for_state("queued");
    let second_worker = cluster.process(Worker::start);
    wait_for_state("running");
    server.expect(200, "DELETE", &format!("/api/v1/tasks/{id}"), &[], &Value::Null);
    wait_for_state("cancelled");
    assert!(second_worker.stop().success());
}
