//! Small requests that need much time or memory. The work ends when its caller disconnects, and its
//! memory is bounded.

use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::audio::upload_to;
use crate::made_banks::{Tables, sf3, silent};
use crate::support::{Answer, Service, form};

/// Number of threads for the runtime and the database, in addition to the threads for the work.
const OTHER_THREADS: u64 = 24;

/// A setting that lets uploads pause for longer than a test lasts.
const LONG_PAUSES: (&str, &str) = ("SF_BODY_PAUSE_SECS", "3600");

/// Starts a service whose SoundFont folder contains `banks`.
fn service(folder: &Path, banks: &[(&str, Vec<u8>)], settings: &[(&str, &str)]) -> Service {
    let sounds = folder.join("sounds");
    std::fs::create_dir(&sounds).expect("a folder");
    for (name, bytes) in banks {
        std::fs::write(sounds.join(name), bytes).expect("writes");
    }
    let mut all_settings = vec![("SF_SOUNDFONT_DIRS", sounds.to_str().expect("UTF-8"))];
    all_settings.extend(settings);
    let service = Service::start(&folder.join("storage"), &all_settings);
    let catalog_answer = service.expect(200, "GET", "/api/v1/plugins/soundfonts/catalog", &[], &Value::Null);
    assert_eq!(catalog_answer["soundfonts"].as_array().map(Vec::len), Some(banks.len()), "{catalog_answer}");
    service
}

/// Reads a number from the status of a process, such as the one after `Threads:`.
pub(crate) fn status_field(process: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("the system counts it");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Returns the processor time of a process in seconds: fields 14 and 15 of proc_pid_stat(5).
fn cpu_secs(process: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    let fields = text.rsplit_once(')').expect("a name").1;
    let ticks = fields.split_whitespace().skip(11).take(2).map(|field| field.parse::<f64>().expect("ticks"));
    ticks.sum::<f64>() / 100.0
}

/// Returns the number of child processes of a service, started by any of its threads.
fn children(process: u32) -> usize {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).expect("it runs");
    let child_count = |thread: std::fs::DirEntry| {
        let text = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        text.split_whitespace().count()
    };
    threads.flatten().map(child_count).sum()
}

/// Sends a request, waits until the service has read it, and closes the connection before the
/// answer.
fn hang_up(service: &Service, path: &str, content_type: &str, body: &[u8]) {
    let mut stream = TcpStream::connect(service.address).expect("connects");
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        service.address,
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("sends");
    stream.write_all(body).expect("sends");
    // The service answers these requests after it has read the one above.
    for _ in 0..4 {
        service.expect(200, "GET", "/api/v1/plugins/soundfonts/catalog", &[], &Value::Null);
    }
}

fn render(service: &Service, bank: &str) -> Answer {
    let body = notes(bank).to_string();
    service.call("POST", "/api/v1/plugins/soundfont-render", &[], &body).expect("an answer")
}

fn notes(bank: &str) -> Value {
    json!({
        "soundfont_id": bank, "tail_secs": 0.1,
        "notes": [{"tick": 0, "length_ticks": 240, "pitch": 60, "velocity": 1}],
    })
}

fn processors() -> u64 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u64)
}

#[test]
fn renders_end_when_their_callers_hang_up() {
    let folder = tempfile::tempdir().expect("a folder");
    // The bank has 384 MiB of silence in 400 KB.
    let slow_bank = sf3(&vec![silent(1 << 24, &[]); 12], 1);
    let small_bank = sf3(&[silent(4_096, &[])], 1);
    let service = service(folder.path(), &[("slow.sf3", slow_bank), ("small.sf3", small_bank)], &[]);
    let limit = status_field(service.id(), "Threads:") + processors() + OTHER_THREADS;
    let body = notes("slow").to_string();
    for round in 0..60 {
        hang_up(&service, "/api/v1/plugins/soundfont-render", "application/json", body.as_bytes());
        let threads = status_field(service.id(), "Threads:");
        assert!(threads <= limit, "{threads} threads after {round} abandoned renders; the limit is {limit}");
    }
    let answer = render(&service, "small");
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[test]
fn decoders_end_when_their_callers_hang_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path(), &[("small.sf3", sf3(&[silent(4_096, &[])], 1))], &[]);
    for round in 0..8 {
        // Each file has 5 minutes of silence. The lengths differ, so the service knows none of the
        // files.
        let sound = form("silence.ogg", &silent((1 << 24) - (round << 13), &[]));
        hang_up(&service, "/api/v1/audio/upload", "multipart/form-data; boundary=b", &sound);
        let decoders = children(service.id());
        assert!(decoders as u64 <= processors(), "{decoders} decoders after {} uploads", round + 1);
    }
}

#[test]
fn slow_uploads_occupy_no_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path(), &[("small.sf3", sf3(&[silent(4_096, &[])], 1))], &[LONG_PAUSES]);
    let limit = status_field(service.id(), "Threads:") + OTHER_THREADS;
    let mut half_sent = Vec::new();
    let sound = form("silence.ogg", &silent(1 << 20, &[]));
    for _ in 0..100 {
        let mut stream = TcpStream::connect(service.address).expect("connects");
        let head = format!(
            "POST /api/v1/audio/upload HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\
             Content-Type: multipart/form-data; boundary=b\r\n\r\n",
            service.address,
            sound.len()
        );
        stream.write_all(head.as_bytes()).expect("sends");
        stream.write_all(&sound[..sound.len() / 2]).expect("sends");
        half_sent.push(stream);
    }
    service.expect(200, "GET", "/api/v1/plugins/soundfonts/catalog", &[], &Value::Null);
    wait_for_threads(&service, limit);
}

/// Waits until at most `limit` threads run. Idle threads end after ten seconds. A thread that waits
/// for an upload would run as long as the upload.
fn wait_for_threads(service: &Service, limit: u64) {
    let start_time = std::time::Instant::now();
    loop {
        let threads = status_field(service.id(), "Threads:");
        if threads <= limit {
            return;
        }
        assert!(
            start_time.elapsed() < std::time::Duration::from_secs(600),
            "{threads} threads for slow uploads; the limit is {limit}"
        );
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn slow_parts_of_resumable_uploads_occupy_no_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path(), &[("small.sf3", sf3(&[silent(4_096, &[])], 1))], &[LONG_PAUSES]);
    let limit = status_field(service.id(), "Threads:") + OTHER_THREADS;
    let mut half_sent = Vec::new();
    for _ in 0..60 {
        let headers = [("Tus-Resumable", "1.0.0"), ("Upload-Length", "1000000")];
        let create_answer = service.send("POST", "/api/v1/audio/uploads", &headers, &[]).expect("an answer");
        let path =
            create_answer.head.lines().find_map(|line| line.strip_prefix("location: ")).expect("a location");
        let mut stream = TcpStream::connect(service.address).expect("connects");
        let head = format!(
            "PATCH {} HTTP/1.1\r\nHost: {}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n\
             Content-Type: application/offset+octet-stream\r\nContent-Length: 1000000\r\n\r\nRIFF",
            path.trim(),
            service.address,
        );
        stream.write_all(head.as_bytes()).expect("sends");
        half_sent.push((stream, path.trim().to_owned()));
    }
    wait_for_threads(&service, limit);
    // The service keeps the received bytes of an interrupted part.
    let (stream, path) = half_sent.remove(0);
    drop(stream);
    let start_time = std::time::Instant::now();
    loop {
        let status = service.expect(200, "GET", &path, &[], &Value::Null);
        if status["offset_bytes"] == 4 {
            break;
        }
        assert!(start_time.elapsed() < std::time::Duration::from_secs(600), "{status}");
    }
}

#[test]
fn a_song_whose_banks_exceed_the_memory_is_refused_with_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    // Each bank has 40 MiB of silence.
    let banks = [0, 4_096].map(|fewer_frames| sf3(&[silent((20 << 20) - fewer_frames, &[])], 1));
    let [one, other] = banks;
    let limit = [("SF_BANK_CACHE_BYTES", "67108864")];
    let service = service(folder.path(), &[("one.sf3", one), ("other.sf3", other)], &limit);
    for bank in ["one", "other"] {
        assert_eq!(render(&service, bank).status, 200);
    }
    let track = |bank: &str| {
        let note = json!({"tick": 0, "length_ticks": 240, "pitch": 60, "velocity": 1});
        let item = json!({"type": "midi", "id": "m", "start_tick": 0, "length_ticks": 960, "notes": [note]});
        let engine = json!({"type": "soundfont", "soundfont_id": bank, "bank": 0, "program": 0});
        json!({"id": bank, "name": bank, "kind": "instrument", "synth_engine": engine, "items": [item]})
    };
    let project = json!({"schema_version": 1, "project_id": "p", "tracks": [track("one"), track("other")]});
    let body = json!({"project": project, "tail_secs": 0}).to_string();
    let answer = service.call("POST", "/api/v1/plugins/render", &[], &body).expect("an answer");
    assert_eq!(answer.status, 422, "{}", answer.body);
    assert!(answer.body.contains("`one`, `other`") && answer.body.contains("64 MiB"), "{}", answer.body);
}

#[test]
fn headers_of_the_same_stream_share_its_decoded_samples() {
    let folder = tempfile::tempdir().expect("a folder");
    // The bank has 8 MiB of silence, which 60 sample headers share.
    let shared_bank = sf3(&[silent(1 << 22, &[])], 60);
    let service = service(folder.path(), &[("shared.sf3", shared_bank)], &[]);
    let answer = render(&service, "shared");
    assert_eq!(answer.status, 200, "{}", answer.body);
    let peak_mib = status_field(service.id(), "VmHWM:") / 1024;
    assert!(peak_mib < 250, "the service used {peak_mib} MiB of memory for 8 MiB of sound");
}

/// Registers a user and returns the user's `Authorization` header. Registration must be open.
fn register_user(service: &Service, name: &str) -> String {
    let body = json!({"username": name, "password": "a long road through tall grass"});
    let answer = service.expect(201, "POST", "/api/v1/auth/register", &[], &body);
    format!("Bearer {}", answer["access_token"].as_str().expect("a token"))
}

#[test]
fn a_small_render_does_not_wait_for_long_renders_of_other_users() {
    let folder = tempfile::tempdir().expect("a folder");
    let small_bank = sf3(&[silent(4_096, &[])], 1);
    let service = service(folder.path(), &[("small.sf3", small_bank)], &[("SF_REGISTRATION", "open")]);
    let chord: Vec<Value> = (0..64)
        .map(|key| json!({"tick": 0, "length_ticks": 960 * 3_600, "pitch": key, "velocity": 1}))
        .collect();
    // The song lasts an hour and has 640 voices.
    let tracks: Vec<Value> = (0..10)
        .map(|track| {
            json!({"id": format!("t{track}"), "kind": "instrument",
                "synth_engine": {"type": "soundfont", "soundfont_id": "small", "bank": 0, "program": 0},
                "items": [{"type": "midi", "id": "m", "start_tick": 0, "length_ticks": 960 * 3_600, "notes": chord}]})
        })
        .collect();
    let project = json!({"schema_version": 1, "project_id": "long", "name": "Long",
        "tempo_map": [{"tick": 0, "bpm": 60.0}], "tracks": tracks});
    let body = json!({ "project": project }).to_string();
    let long_requests: Vec<TcpStream> = ["ada", "bob", "cy", "dee"]
        .iter()
        .map(|name| {
            let mut stream = TcpStream::connect(service.address).expect("connects");
            let head = format!(
                "POST /api/v1/plugins/render HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\n\
                 Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                service.address,
                register_user(&service, name),
                body.len()
            );
            stream.write_all(head.as_bytes()).expect("sends");
            stream.write_all(body.as_bytes()).expect("sends");
            stream
        })
        .collect();
    // The service answers these requests after it has read the ones above.
    for _ in 0..4 {
        service.expect(200, "GET", "/api/v1/plugins/soundfonts/catalog", &[], &Value::Null);
    }
    assert_eq!(render(&service, "small").status, 200);
    for stream in long_requests {
        stream.set_nonblocking(true).expect("sets");
        let read_error = stream.peek(&mut [0]).expect_err("a long render has ended");
        assert_eq!(read_error.kind(), std::io::ErrorKind::WouldBlock);
    }
}

#[test]
fn concurrent_renders_prepare_a_bank_once() {
    let folder = tempfile::tempdir().expect("a folder");
    // Each bank has 96 MiB of silence.
    let bank = sf3(&vec![silent(1 << 24, &[]); 3], 1);
    let banks = [("alone.sf3", bank.clone()), ("together.sf3", bank)];
    let service = service(folder.path(), &banks, &[("SF_REGISTRATION", "open")]);
    let bearers = ["ada", "bob", "cy", "dee"].map(|name| register_user(&service, name));
    let peak_growth_mib = |work: &dyn Fn()| {
        let value_before = status_field(service.id(), "VmRSS:");
        work();
        (status_field(service.id(), "VmHWM:") - value_before) / 1024
    };
    let alone_mib = peak_growth_mib(&|| assert_eq!(render(&service, "alone").status, 200));
    assert!(alone_mib >= 96, "the bank needed only {alone_mib} MiB");
    let body = notes("together").to_string();
    let together_mib = peak_growth_mib(&|| {
        std::thread::scope(|scope| {
            for bearer in &bearers {
                let (service, body, headers) = (&service, &body, [("Authorization", bearer.as_str())]);
                scope.spawn(move || {
                    let answer = service.call("POST", "/api/v1/plugins/soundfont-render", &headers, body);
                    assert_eq!(answer.expect("an answer").status, 200);
                });
            }
        });
    });
    assert!(together_mib < 96 + 48, "four users needed {together_mib} MiB for one bank of 96 MiB");
}

#[test]
fn codebooks_that_are_slow_to_build_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let slow_bank = sf3(&vec![silent(4_096, &[19, 18, 17]); 40], 1);
    assert!(slow_bank.len() < 20_000, "the bank has {} bytes", slow_bank.len());
    let service = service(folder.path(), &[("slow.sf3", slow_bank)], &[]);
    let value_before = cpu_secs(service.id());
    assert_eq!(render(&service, "slow").status, 200);
    let used_secs = cpu_secs(service.id()) - value_before;
    assert!(used_secs < 4.0, "a render used {used_secs} s of processor time for a bank of 20 KB");
}

#[test]
fn a_bank_that_needs_too_much_memory_is_refused_with_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let large_bank = sf3(&vec![silent(1 << 23, &[]); 8], 1);
    let small_bank = sf3(&[silent(1 << 20, &[])], 1);
    let settings = [("SF_BANK_DECODED_MAX_BYTES", "67108864")];
    let service = service(folder.path(), &[("large.sf3", large_bank), ("small.sf3", small_bank)], &settings);
    let answer = render(&service, "large");
    assert_eq!(answer.status, 422, "{}", answer.body);
    for words in ["soundfont_unusable", "`large`", "128 MiB", "64 MiB", "SF_BANK_DECODED_MAX_BYTES"] {
        assert!(answer.body.contains(words), "{words}: {}", answer.body);
    }
    assert_eq!(render(&service, "small").status, 200);
    let peak_mib = status_field(service.id(), "VmHWM:") / 1024;
    assert!(peak_mib < 200, "the service used {peak_mib} MiB of memory");
}

#[test]
fn banks_in_memory_are_evicted_for_other_banks() {
    let folder = tempfile::tempdir().expect("a folder");
    let names = ["a", "b", "c", "d", "e", "f"];
    let banks: Vec<(String, Vec<u8>)> =
        names.iter().map(|name| (format!("{name}.sf3"), sf3(&vec![silent(1 << 23, &[]); 3], 1))).collect();
    let banks: Vec<(&str, Vec<u8>)> =
        banks.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let settings = [("SF_BANK_CACHE_BYTES", "125829120"), ("SF_BANK_DECODED_MAX_BYTES", "67108864")];
    let service = service(folder.path(), &banks, &settings);
    for name in names {
        // Each bank needs 48 MiB, and the limit for all banks is 120 MiB.
        let answer = render(&service, name);
        assert_eq!(answer.status, 200, "{name}: {}", answer.body);
    }
    let peak_mib = status_field(service.id(), "VmHWM:") / 1024;
    assert!(
        peak_mib < 250,
        "the service used {peak_mib} MiB of memory, and at most 120 MiB of banks may stay in memory"
    );
}

#[test]
fn a_bank_whose_instruments_share_their_zones_needs_little_memory() {
    const ZONES: u16 = 65_000;
    let mut tables = Tables::new();
    let sample = tables.add_sample(&[0; 480], 0..480);
    let instrument = tables.add_instrument();
    for _ in 0..ZONES {
        tables.add_instrument_zone((&[], &[]), Some(sample));
    }
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    // Every second instrument has all zones: 100 times 65,000 zones of about 150 bytes each.
    tables.instruments = (0..200).map(|number| if number % 2 == 0 { 0 } else { ZONES }).collect();
    let bank = tables.bytes();
    assert!(bank.len() < 600_000, "the bank has {} bytes", bank.len());

    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let path = "/api/v1/plugins/soundfonts/upload";
    let answer = upload_to(&service, path, "Shared.sf2", &bank).expect("an answer");
    let peak_mib = status_field(service.id(), "VmHWM:") / 1024;
    assert!(peak_mib < 250, "the service used {peak_mib} MiB of memory for a bank of 540 KB");
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert!(answer.body.contains("zones are skipped: overlapping lists"), "{}", answer.body);
}
