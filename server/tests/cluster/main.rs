//! Several servers and workers on one PostgreSQL and one shared folder or bucket. Whatever is
//! killed, every task ends once, and all servers have what one stores.
//!
//! `scripts/with-postgres` and `scripts/with-s3` start the two services.

#[path = "../process/database.rs"]
mod database;
mod s3;
#[path = "../process/support.rs"]
#[expect(dead_code, reason = "the tests of single processes use the rest")]
mod support;
mod worker;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use support::{Service, form, request};
use worker::Worker;

const BANK: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";
const TASKS: usize = 200;
const KILLS: usize = 8;
const ENDS_WITHIN: Duration = Duration::from_secs(240);

/// A machine for each process, with a common database and folder.
struct Cluster {
    folder: tempfile::TempDir,
    database_url: String,
    /// Additional settings of every process.
    settings: Vec<(&'static str, String)>,
    machines: usize,
}

impl Cluster {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("sounds")).expect("a folder");
        assert!(Path::new(BANK).is_file(), "{BANK} is missing; install timgm6mb-soundfont");
        std::os::unix::fs::symlink(BANK, folder.path().join("sounds/TimGM6mb.sf2")).expect("links");
        let database_url =
            database::of(&folder.path().join("any")).expect("PostgreSQL: run this by scripts/with-postgres");
        let settings = vec![("SF_BLOB_STORE", folder.path().join("shared").to_string_lossy().into_owned())];
        Self { folder, database_url, settings, machines: 0 }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    /// Starts a process with a separate storage folder.
    fn process<P>(&mut self, start: fn(&Path, &[(&str, &str)]) -> P) -> P {
        self.machines += 1;
        let storage = PathBuf::from(self.path(&format!("machine-{}", self.machines)));
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

/// A song of some seconds, different for each number.
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

/// All tasks of the list, by id.
fn tasks(server: &Service) -> HashMap<String, Value> {
    let mut found = HashMap::new();
    let mut path = "/api/v1/tasks?limit=100".to_owned();
    loop {
        let page = server.expect(200, "GET", &path, &[], &Value::Null);
        for task in page["items"].as_array().expect("tasks") {
            found.insert(task["id"].as_str().expect("an id").to_owned(), task.clone());
        }
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/api/v1/tasks?limit=100&cursor={cursor}"),
            None => return found,
        }
    }
}

/// The next pseudo-random number, the same sequence in each run.
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
    let mut ended: HashMap<String, Value> = HashMap::new();
    let (mut dice, mut kills) = (20_261_121_u64, 0);
    let mut next_kill = Instant::now() + Duration::from_secs(1);
    while ended.len() < TASKS {
        assert!(
            begun.elapsed() < ENDS_WITHIN,
            "{} of {TASKS} have ended, {kills} workers were killed",
            ended.len()
        );
        for (id, task) in tasks(&servers[kills % 2]) {
            if !matches!(task["state"].as_str(), Some("queued" | "running")) {
                assert_eq!(*ended.entry(id).or_insert_with(|| task.clone()), task);
            }
        }
        if kills < KILLS && Instant::now() > next_kill {
            workers.swap_remove(pseudo_random(&mut dice) % workers.len()).kill();
            workers.push(cluster.process(Worker::start));
            kills += 1;
            next_kill =
                Instant::now() + Duration::from_millis(300 + (pseudo_random(&mut dice) % 1_200) as u64);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(kills, KILLS, "the tasks were done before enough workers could be killed");

    let after = tasks(&servers[0]);
    assert_eq!(after.len(), TASKS);
    let mut renders = std::collections::HashSet::new();
    for id in &ids {
        assert_eq!((&after[id]["state"], &after[id]), (&json!("succeeded"), &ended[id]), "{}", after[id]);
        assert!(renders.insert(after[id]["result"]["render_id"].as_str().expect("an id").to_owned()));
    }
    // The newest renders are kept; every server has them, whichever worker rendered them.
    let mut newest: Vec<&Value> = after.values().collect();
    newest.sort_by_key(|task| std::cmp::Reverse(task["finished_at"].as_str().map(str::to_owned)));
    for (number, task) in newest.iter().take(10).enumerate() {
        let path = task["result"]["audio_url"].as_str().expect("an address");
        let file = servers[number % 2].send("GET", path, &[], &[]).expect("an answer");
        assert_eq!(file.status, 200, "{}", file.body);
    }
    eprintln!("{TASKS} tasks, {kills} killed workers: {:.1} s", begun.elapsed().as_secs_f64());
}

#[test]
fn saves_on_one_server_are_visible_on_the_other_at_once() {
    let mut cluster = Cluster::new();
    let (first, second) = (cluster.process(Service::start), cluster.process(Service::start));
    first.expect(201, "POST", "/api/v1/projects", &[], &song(1));
    let path = "/api/v1/projects/song-1";
    for revision in 1..=10 {
        let (writer, reader) = if revision % 2 == 0 { (&first, &second) } else { (&second, &first) };
        let mut changed = song(1);
        changed["name"] = format!("Revision {revision}").into();
        let tag = format!("\"{revision}\"");
        writer.expect(200, "PUT", path, &[("If-Match", &tag)], &changed);
        assert_eq!(reader.expect(200, "GET", path, &[], &Value::Null)["name"], changed["name"]);
        // A client that has not read it yet overwrites nothing.
        reader.expect(412, "PUT", path, &[("If-Match", &tag)], &song(1));
    }
}

#[test]
fn uploads_to_one_server_are_playable_on_all() {
    let mut cluster = Cluster::new();
    let (first, second) = (cluster.process(Service::start), cluster.process(Service::start));
    let _worker = cluster.process(Worker::start);
    soundfonts_are_shared(&first, &second);
}

/// A SoundFont that is uploaded to one server is played by a worker for a task of the other.
/// Deleting it removes it from both.
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
            assert!(begun.elapsed() < Duration::from_secs(60), "{task}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let played = receipt(second);
    assert_eq!(played["settings"]["soundfonts"], json!(["own"]));
    second.expect(204, "DELETE", "/api/v1/plugins/soundfonts/own", &[], &Value::Null);
    // The replacement is the same bank of the system.
    let without = receipt(first);
    assert_eq!(without["settings"]["soundfonts"], json!(["timgm6mb"]));
    assert_eq!(without["pcm_sha256"], played["pcm_sha256"]);
}

#[test]
fn a_worker_serves_health_and_metrics_only() {
    let mut cluster = Cluster::new();
    let server = cluster.process(Service::start);
    cluster.settings.push(("SF_WORKER_PORT", "0".to_owned()));
    let mut worker = cluster.process(Worker::start);
    let trusted = worker.next_line();
    assert!(trusted.contains("administrator without a log-in"), "{trusted}");
    let address = worker.greeting.split("http://").nth(1).and_then(|rest| rest.split(' ').next());
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
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(50));
    }
    let ended = "songfoundry_tasks_ended_total{kind=\"render\",state=\"succeeded\"} 1";
    let numbers = get("/metrics", &[]);
    assert!(numbers.status == 200 && numbers.body.contains(ended), "{}", numbers.body);
    // Metrics are for administrators only; a worker has neither an API nor a page.
    assert_eq!(get("/metrics", &[("X-Forwarded-For", "192.0.2.1")]).status, 401);
    for path in ["/", "/api/v1/projects", "/api/docs"] {
        let answer = get(path, &[]);
        assert!(answer.status == 404 && answer.body.contains("This is a worker"), "{path}: {}", answer.body);
    }
    assert!(worker.stop().success());
    assert!(request(address, "GET", "/healthz", &[], &[]).is_err(), "still running");
}

#[test]
fn a_worker_that_is_stopped_returns_its_task() {
    let mut cluster = Cluster::new();
    let server = cluster.process(Service::start);
    let mut long = song(1);
    let item = &mut long["tracks"][0]["items"][0];
    item["length_ticks"] = 6_912_000.into();
    item["notes"] = (0..7_000)
        .map(|beat| json!({"tick": beat * 960, "length_ticks": 960, "pitch": 60, "velocity": 1}))
        .collect();
    let body = json!({"project": long});
    let started = server.expect(202, "POST", "/api/v1/plugins/render?async=true", &[], &body);
    let id = started["task_id"].as_str().expect("an id");
    let until = |state: &str| {
        let begun = Instant::now();
        while task(&server, id)["state"] != state {
            assert!(begun.elapsed() < Duration::from_secs(30), "{}", task(&server, id));
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let worker = cluster.process(Worker::start);
    until("running");
    assert!(worker.stop().success());
    until("queued");
    let another = cluster.process(Worker::start);
    until("running");
    server.expect(200, "DELETE", &format!("/api/v1/tasks/{id}"), &[], &Value::Null);
    until("cancelled");
    assert!(another.stop().success());
}
