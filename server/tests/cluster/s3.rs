//! Servers and workers that share only PostgreSQL and a bucket.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::small_disk::SmallDisk;
use crate::support::{Answer, Service, form, songfoundry};
use crate::worker::Worker;
use crate::{BANK, Cluster, database, song, soundfonts_are_shared, task};

const AUDIO: &str = "/api/v1/audio";

/// Returns a cluster with its own prefix in the bucket. Each process has a cache of `cache_bytes`.
fn cluster(prefix: &str, cache_bytes: u64) -> Cluster {
    let endpoint = std::env::var("SF_TEST_S3_ENDPOINT").expect("an S3 service: run this by scripts/with-s3");
    let mut cluster = Cluster::new();
    cluster.settings = vec![
        ("SF_BLOB_STORE", format!("s3://songs/{prefix}")),
        ("SF_S3_ENDPOINT", endpoint),
        ("SF_S3_ACCESS_KEY_ID", "testing".to_owned()),
        ("SF_S3_SECRET_ACCESS_KEY", "testing".to_owned()),
        ("SF_BLOB_CACHE_BYTES", cache_bytes.to_string()),
    ];
    cluster
}

/// Returns a 16-bit mono WAV file at 44.1 kHz with a sine of `hz`.
fn wav(hz: f64, frames: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let spec = hound::WavSpec {
        channels: 1,
        sample_rate: 44_100,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let mut writer = hound::WavWriter::new(std::io::Cursor::new(&mut bytes), spec).expect("a header");
    for frame in 0..frames {
        let phase = std::f64::consts::TAU * hz * f64::from(frame) / 44_100.0;
        writer.write_sample((phase.sin() * 10_000.0) as i16).expect("a sample");
    }
    writer.finalize().expect("a file");
    bytes
}

fn upload(server: &Service, query: &str, bytes: &[u8]) -> Value {
    let headers = [("Content-Type", "multipart/form-data; boundary=b")];
    let body = form("a.wav", bytes);
    let answer = server.send("POST", &format!("{AUDIO}/upload{query}"), &headers, &body).expect("an answer");
    assert!(matches!(answer.status, 201 | 202), "{}", answer.body);
    serde_json::from_str(&answer.body).expect("JSON")
}

#[test]
fn soundfonts_in_a_bucket_are_playable_on_all() {
    let mut cluster = cluster("soundfonts", 0);
    let (first, second) = (cluster.process(Service::start), cluster.process(Service::start));
    let _worker = cluster.process(Worker::start);
    soundfonts_are_shared(&first, &second);
}

/// Starts a proxy in front of the S3 service that pauses uploads of audio and SoundFonts. Returns
/// the address of the proxy, a receiver that gets a message for each paused upload, and a sender
/// whose messages let one upload continue.
fn proxy_that_pauses_uploads(endpoint: &str) -> (String, Receiver<()>, Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let target = endpoint.trim_start_matches("http://").to_owned();
    let ((pause_sender, paused_uploads), (resume, resume_receiver)) = (channel(), channel());
    let resume_receiver = Arc::new(Mutex::new(resume_receiver));
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, mut server) =
                (client.expect("a client"), TcpStream::connect(&target).expect("S3"));
            let (mut answers, mut to_client) =
                (server.try_clone().expect("a stream"), client.try_clone().expect("a stream"));
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut answers, &mut to_client);
                let _ = to_client.shutdown(Shutdown::Both);
            });
            let (pause_sender, resume_receiver) = (pause_sender.clone(), Arc::clone(&resume_receiver));
            std::thread::spawn(move || {
                let mut buffer = vec![0; 64 * 1024];
                while let Ok(count @ 1..) = client.read(&mut buffer) {
                    let line = String::from_utf8_lossy(&buffer[..count.min(200)]).into_owned();
                    if line.starts_with("PUT ") && (line.contains("/audio/") || line.contains("/soundfonts/"))
                    {
                        let _ = pause_sender.send(());
                        let _ = resume_receiver.lock().expect("not poisoned").recv();
                    }
                    if server.write_all(&buffer[..count]).is_err() {
                        break;
                    }
                }
                let _ = server.shutdown(Shutdown::Both);
            });
        }
    });
    (url, paused_uploads, resume)
}

#[test]
fn a_slow_upload_to_a_bucket_does_not_delay_other_users() {
    let mut cluster = cluster("slow-upload", 1 << 30);
    let direct_settings = cluster.settings.clone();
    let (url, paused_uploads, resume) = proxy_that_pauses_uploads(&direct_settings[1].1);
    cluster.settings[1].1 = url;
    let slow_server = cluster.process(Service::start);
    cluster.settings = direct_settings;
    let fast = cluster.process(Service::start);
    // The second upload of a SoundFont stores its file again.
    let send_bank = |server: &Service| {
        let headers = [("Content-Type", "multipart/form-data; boundary=b")];
        let body = form("Own.sf2", &std::fs::read(BANK).expect("reads"));
        server.send("POST", "/api/v1/plugins/soundfonts/upload", &headers, &body).expect("an answer").status
    };
    assert_eq!(send_bank(&fast), 201);
    std::thread::scope(|scope| {
        let uploading = scope.spawn(|| upload(&slow_server, "", &wav(440.0, 20_000)));
        let sending_bank = scope.spawn(|| send_bank(&slow_server));
        for _ in 0..2 {
            paused_uploads.recv().expect("an upload to the bucket");
        }
        let file = upload(&fast, "", &wav(550.0, 20_000))["files"][0].take();
        let path = format!("{AUDIO}/{}", file["id"].as_str().expect("an id"));
        fast.expect(204, "DELETE", &path, &[], &Value::Null);
        drop(resume);
        assert!(matches!(sending_bank.join().expect("uploads"), 200 | 201));
        let file = uploading.join().expect("uploads")["files"][0].take();
        let path = format!("{AUDIO}/{}/file", file["id"].as_str().expect("an id"));
        assert_eq!(get(&fast, &path).status, 200);
    });
}

fn get(server: &Service, path: &str) -> Answer {
    server.send("GET", path, &[], &[]).expect("an answer")
}

fn wait_for_success(server: &Service, id: &str) -> Value {
    let started = Instant::now();
    loop {
        let task = task(server, id);
        if !matches!(task["state"].as_str(), Some("queued" | "running")) {
            assert_eq!(task["state"], "succeeded", "{task}");
            return task;
        }
        assert!(started.elapsed() < Duration::from_secs(600), "{task}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the paths of the files in the cache of a machine.
fn cached_files(cluster: &Cluster, machine: usize) -> Vec<PathBuf> {
    let root = PathBuf::from(cluster.path(&format!("machine-{machine}/blobs")));
    let folders = std::fs::read_dir(root).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten().flatten());
    files.map(|file| file.path()).collect()
}

#[test]
fn files_of_one_server_are_available_on_all() {
    let mut cluster = cluster("all-have", 1 << 30);
    let (first, second) = (cluster.process(Service::start), cluster.process(Service::start));
    let _worker = cluster.process(Worker::start);
    let bytes = wav(440.0, 44_100);
    let file = upload(&first, "", &bytes)["files"][0].take();
    let path = format!("{AUDIO}/{}", file["id"].as_str().expect("an id"));
    assert_eq!(cached_files(&cluster, 2), [""; 0].map(Path::new));
    let (first_answer, second_answer) =
        (get(&first, &format!("{path}/file")), get(&second, &format!("{path}/file")));
    assert_eq!(
        (first_answer.status, first_answer.body == second_answer.body, second_answer.body.is_empty()),
        (200, true, false)
    );
    assert_eq!(cached_files(&cluster, 2).len(), 1, "only the requested file is copied");
    // One server creates a copy at another sample rate, and the other server reads it.
    let rate = format!("{path}/file?format=wav32f&sample_rate_hz=48000");
    assert_eq!(get(&second, &rate).body, get(&first, &rate).body);
    assert_eq!(get(&second, &format!("{path}/peaks")).status, 200);

    // A worker without local copies decodes and renders the recording.
    let started = upload(&second, "?async=true", &wav(220.0, 44_100));
    let task = wait_for_success(&first, started["task_id"].as_str().expect("an id"));
    let recording = task["result"]["files"][0]["id"].as_str().expect("an id").to_owned();
    let mut project = song(3);
    project["tracks"].as_array_mut().expect("tracks").push(json!({
        "id": "r", "name": "Recording", "kind": "audio",
        "items": [{"type": "audio", "id": "i", "start_tick": 0, "offset_frames": 0, "length_frames": 44_100,
            "server_file_id": recording, "source": {"server_file_id": recording}}],
    }));
    let body = json!({"project": project, "tail_secs": 1.0});
    let started = first.expect(202, "POST", "/api/v1/plugins/render?async=true", &[], &body);
    let result = wait_for_success(&second, started["task_id"].as_str().expect("an id"))["result"].take();
    assert_eq!(result["receipt"]["left_out"].as_array().map_or(0, Vec::len), 0, "{result}");
    let render = result["audio_url"].as_str().expect("an address");
    let (first_answer, second_answer) = (get(&first, render), get(&second, render));
    assert_eq!((first_answer.status, first_answer.body == second_answer.body), (200, true));
    assert_eq!(result["receipt"], first.expect(200, "POST", "/api/v1/plugins/render", &[], &body)["receipt"]);

    second.expect(204, "DELETE", &path, &[], &Value::Null);
    assert_eq!(get(&first, &format!("{path}/file")).status, 404);
}

#[test]
fn a_cache_that_is_too_small_changes_no_answer() {
    let mut cluster = cluster("no-room", 0);
    let (first, second) = (cluster.process(Service::start), cluster.process(Service::start));
    for hz in [300.0, 400.0, 500.0] {
        let file = upload(&first, "", &wav(hz, 20_000))["files"][0].take();
        let path = format!("{AUDIO}/{}/file", file["id"].as_str().expect("an id"));
        let (first_answer, second_answer) = (get(&first, &path), get(&second, &path));
        assert_eq!((first_answer.status, first_answer.body == second_answer.body), (200, true));
    }
    // Each copy is evicted by the next one.
    assert!(cached_files(&cluster, 2).len() <= 1, "{:?}", cached_files(&cluster, 2));
}

#[test]
fn copies_of_files_in_a_bucket_do_not_fill_a_small_disk() {
    let mut cluster = cluster("small-disk", 1 << 30);
    let healthy = cluster.process(Service::start);
    cluster.settings.push(("SF_DISK_RESERVE_BYTES", (4 * 1024 * 1024).to_string()));
    let (small, disk) = cluster.process(|folder, settings| {
        std::fs::create_dir_all(folder).expect("a folder");
        let disk = SmallDisk::mount(folder, 40);
        let mut command = disk.songfoundry(&disk.folder.join("storage"));
        command.arg("serve").envs(settings.iter().copied()).stderr(Stdio::null());
        (Service::spawn(&mut command), disk)
    });
    // 56 MB of files, which together do not fit on the small disk.
    for number in 0..28 {
        let file = upload(&healthy, "", &wav(300.0 + f64::from(number), 1_000_000))["files"][0].take();
        let path = format!("{AUDIO}/{}/file", file["id"].as_str().expect("an id"));
        assert_eq!(get(&small, &path).status, 200, "file {number}");
    }
    let file = upload(&small, "", &wav(200.0, 500_000))["files"][0].take();
    // The server delivers a file even if other files fill the disk, because it then deletes cached
    // copies.
    let path = format!("{AUDIO}/{}/peaks", file["id"].as_str().expect("an id"));
    disk.fill();
    assert_eq!(get(&small, &path).status, 200);
}

#[test]
fn a_resumable_upload_is_decoded_by_a_worker() {
    let mut cluster = cluster("resumable", 1 << 30);
    let (first, second) = (cluster.process(Service::start), cluster.process(Service::start));
    let _worker = cluster.process(Worker::start);
    let bytes = wav(330.0, 30_000);
    let length = bytes.len().to_string();
    let version = ("Tus-Resumable", "1.0.0");
    let started =
        first.send("POST", &format!("{AUDIO}/uploads"), &[version, ("Upload-Length", &length)], &[]);
    assert_eq!(started.expect("an answer").status, 201);
    let uploads = PathBuf::from(cluster.path("machine-1/blobs-of-this-machine/audio-uploads"));
    let stored_part = std::fs::read_dir(uploads).expect("lists").next().expect("a part").expect("reads");
    let path =
        format!("{AUDIO}/uploads/{}", stored_part.path().file_stem().expect("an id").to_string_lossy());
    let content_type = ("Content-Type", "application/offset+octet-stream");
    let append = |server: &Service, offset: usize, bytes: &[u8]| {
        let offset = offset.to_string();
        server
            .send("PATCH", &path, &[version, content_type, ("Upload-Offset", &offset)], bytes)
            .expect("an answer")
    };
    assert_eq!(append(&first, 0, &bytes[..20_000]).status, 204);
    let refusal = append(&second, 20_000, &bytes[20_000..]);
    assert!(refusal.status == 409 && refusal.body.contains("upload_elsewhere"), "{}", refusal.body);
    assert_eq!(append(&first, 20_000, &bytes[20_000..]).status, 204);
    let status = second.expect(200, "GET", &path, &[], &Value::Null);
    wait_for_success(&second, status["task_id"].as_str().expect("a task"));
    let status = second.expect(200, "GET", &path, &[], &Value::Null);
    let file = get(&second, &format!("{AUDIO}/{}/file", status["audio_id"].as_str().expect("a file")));
    assert_eq!(file.status, 200);
}

#[test]
fn files_in_a_bucket_are_backed_up_and_restored() {
    let mut cluster = cluster("saved", 1 << 30);
    let server = cluster.process(Service::start);
    let file = upload(&server, "", &wav(440.0, 44_100))["files"][0].take();
    let path = format!("{AUDIO}/{}/file", file["id"].as_str().expect("an id"));
    let body_before = get(&server, &path).body;
    // The bytes of this unfinished upload are only on the machine of the server.
    let headers = [("Tus-Resumable", "1.0.0"), ("Upload-Length", "1000")];
    assert_eq!(
        server.send("POST", &format!("{AUDIO}/uploads"), &headers, &[]).expect("an answer").status,
        201
    );

    let folder = cluster.path("backup");
    let admin = |cluster: &Cluster, machine: &str, args: &[&str]| {
        let mut command = songfoundry(Path::new(&cluster.path(machine)));
        command.arg("admin").args(args).env("SF_DATABASE_URL", &cluster.database_url);
        command.envs(cluster.settings.iter().map(|(key, value)| (*key, value.as_str())));
        let output = command.output().expect("runs");
        let printed_text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&printed_text).into_owned())
    };
    // The commands run on another machine than the server, without a storage folder.
    let (ok, printed_text) = admin(&cluster, "machine-9", &["backup", &folder]);
    assert!(ok && printed_text.contains("Saved 4 files"), "{printed_text}");
    let (ok, printed_text) = admin(&cluster, "machine-9", &["check"]);
    assert!(ok && printed_text.contains(" 0 problems"), "{printed_text}");
    let (ok, printed_text) = admin(&cluster, "machine-9", &["restore", &folder]);
    assert!(!ok && printed_text.contains("SF_DATABASE_URL"), "{printed_text}");

    // A restore needs an empty database, and also an empty prefix of the bucket.
    let database_folder = tempfile::tempdir().expect("a folder");
    let empty_database_url =
        database::postgres_address(&database_folder.path().join("any")).expect("PostgreSQL");
    let first_database_url = std::mem::replace(&mut cluster.database_url, empty_database_url.clone());
    let (ok, printed_text) = admin(&cluster, "machine-9", &["restore", &folder]);
    assert!(!ok && printed_text.contains("SF_BLOB_STORE"), "{printed_text}");
    cluster.settings[0].1.push_str("-elsewhere");
    cluster.database_url = first_database_url;
    let (ok, printed_text) = admin(&cluster, "machine-9", &["check", "--quick"]);
    assert!(!ok && printed_text.contains("3 problems"), "{printed_text}");
    cluster.database_url = empty_database_url;
    let (ok, printed_text) = admin(&cluster, "machine-9", &["restore", &folder]);
    assert!(ok, "{printed_text}");
    let (ok, printed_text) = admin(&cluster, "machine-9", &["check"]);
    assert!(ok && printed_text.contains(" 0 problems"), "{printed_text}");
    let restored_server = cluster.process(Service::start);
    assert_eq!(get(&restored_server, &path).body, body_before);
}

#[test]
fn a_full_disk_removes_nothing_from_a_bucket() {
    let mut cluster = cluster("deleted", 1 << 30);
    let server = cluster.process(Service::start);
    let bytes = [330.0, 440.0].map(|hz| wav(hz, 30_000));
    let [first_id, second_id] = bytes.each_ref().map(|bytes| {
        let file = upload(&server, "", bytes)["files"][0].take();
        file["id"].as_str().expect("an id").to_owned()
    });
    server.expect(204, "DELETE", &format!("{AUDIO}/{first_id}"), &[], &Value::Null);
    // No disk has that much free space.
    cluster.settings.push(("SF_DISK_RESERVE_BYTES", (1_u64 << 50).to_string()));
    let full_server = cluster.process(Service::start);
    full_server.expect(204, "DELETE", &format!("{AUDIO}/{second_id}"), &[], &Value::Null);
    let headers = [("Content-Type", "multipart/form-data; boundary=b")];
    let body = form("b.wav", &wav(550.0, 1_000));
    let refusal = full_server.send("POST", &format!("{AUDIO}/upload"), &headers, &body).expect("an answer");
    assert_eq!(refusal.status, 507, "{}", refusal.body);

    let item = |id: &str| json!({ "type": "audio", "id": id, "start_tick": 0, "length_frames": 100, "server_file_id": id });
    let track = json!({ "id": "t", "kind": "audio", "items": [item(&first_id), item(&second_id)] });
    let song = json!({ "schema_version": 1, "project_id": "song", "name": "Song", "tracks": [track] });
    let draft = json!({ "client_id": "window", "project": song });
    server.expect(200, "PUT", "/api/v1/projects/temp", &[], &draft);
    for (id, bytes) in [first_id, second_id].iter().zip(&bytes) {
        let file = get(&server, &format!("{AUDIO}/{id}/file"));
        assert_eq!(file.status, 200);
        assert!(file.body == String::from_utf8_lossy(bytes), "the file has other bytes");
    }
}
