//! Hostile JSON needs at most ten times its size in memory.

use std::io::{Cursor, Write as _};

use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::support::{Service, status_kib};

/// Maximum memory of a request in bytes, for each byte of its JSON.
const MEMORY_FACTOR: u64 = 10;

/// Additional memory for connections, threads and the database, in KiB.
const BASE_KIB: u64 = 16 * 1024;

/// Resets the peak memory of the process and returns its current memory, in KiB.
fn reset_peak_kib(service: &Service) -> u64 {
    const RESET_PEAK: &str = "5";
    std::fs::write(format!("/proc/{}/clear_refs", service.id()), RESET_PEAK).expect("a process of this user");
    status_kib(service, "VmRSS")
}

/// Maximum memory that the process may keep after its requests, in KiB.
const KEPT_KIB: u64 = 48 * 1024;

/// Returns JSON of about `bytes` bytes, which repeats `unit` between `start` and `end`.
fn repeated(start: &str, unit: &str, end: &str, bytes: usize) -> String {
    let count = bytes / unit.len();
    let mut text = String::with_capacity(bytes + start.len() + end.len());
    text.push_str(start);
    text.extend(std::iter::repeat_n(unit, count));
    text.truncate(text.len() - 1);
    text.push_str(end);
    text
}

/// The start of a project with one MIDI item, up to the notes or additional fields of the item.
const ITEM: &str = r#"{"schema_version":1,"project_id":"p","tracks":[{"id":"t","kind":"instrument","items":[{"type":"midi","id":"i","start_tick":0,"length_ticks":9,"#;

const EXPORT: &str = "/api/v1/multitrack/midi/export";

struct Case {
    name: &'static str,
    path: &'static str,
    headers: &'static [(&'static str, &'static str)],
    body: Vec<u8>,
    json_bytes: usize,
    status: u16,
}

fn case(name: &'static str, path: &'static str, status: u16, text: String) -> Case {
    Case { name, path, headers: &[], json_bytes: text.len(), body: text.into_bytes(), status }
}

/// Returns a small archive whose project inflates to `text`.
fn zipped(text: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let manifest = json!({"format": "songfoundry-bundle", "version": 1, "project_id": "p", "name": "p", "audio": [],
        "missing": []});
    for (name, text) in [("bundle.json", manifest.to_string().as_str()), ("project.json", text)] {
        zip.start_file(name, SimpleFileOptions::default()).expect("starts");
        zip.write_all(text.as_bytes()).expect("writes");
    }
    zip.finish().expect("finishes").into_inner()
}

/// Returns the request bodies that are known to need the most memory, the smaller bodies first.
fn cases() -> Vec<Case> {
    const MEGABYTE: usize = 1_000_000;
    let projects = "/api/v1/projects";
    let notes = |bytes| repeated(&format!("{ITEM}\"notes\":["), "{},", "]}]}]}", bytes);
    let project_with = |start: &str, unit: &str, end: &str| {
        repeated(
            &format!(r#"{{"schema_version":1,"project_id":"p","tracks":[],{start}"#),
            unit,
            end,
            3 * MEGABYTE,
        )
    };
    let nested_list = format!("{}{},", "[".repeat(100), "]".repeat(100));
    let inflated_document = repeated(&format!("{ITEM}\"notes\":["), "{},", "]}]}]}", 2_400_000);
    let archive = zipped(&inflated_document);
    assert!(archive.len() < 20_000, "the archive has {} bytes", archive.len());
    vec![
        case(
            "preset",
            "/api/v1/presets",
            400,
            repeated(r#"{"name":"n","kind":"effect_chain","content":["#, "{},", "]}", 900_000),
        ),
        case(
            "AI preset",
            "/api/v1/ai_presets",
            400,
            repeated(r#"{"name":"n","tags":["#, "0,", "]}", 900_000),
        ),
        case(
            "notes to play",
            "/api/v1/plugins/soundfont-render",
            400,
            repeated(r#"{"notes":["#, "{},", "]}", 900_000),
        ),
        case(
            "notes in seconds",
            "/api/v1/plugins/soundfont-render",
            400,
            repeated(r#"{"time_base":"seconds","notes":["#, r#"{"tick":1,"length_ticks":1},"#, "]}", 900_000),
        ),
        case(
            "unknown options",
            "/api/v1/plugins/render",
            400,
            repeated(r#"{"project":{},"x":["#, "0,", "]}", 900_000),
        ),
        Case {
            name: "bundle",
            path: "/api/v1/projects/import",
            headers: &[("Content-Type", "application/zip")],
            json_bytes: inflated_document.len(),
            body: archive,
            status: 400,
        },
        case("empty notes", projects, 400, notes(3 * MEGABYTE)),
        case(
            "notes that are numbers",
            projects,
            400,
            repeated(&format!("{ITEM}\"notes\":["), "0,", "]}]}]}", 3 * MEGABYTE),
        ),
        case(
            "valid notes",
            projects,
            201,
            repeated(
                &format!("{ITEM}\"notes\":["),
                r#"{"tick":0,"length_ticks":1,"pitch":1,"velocity":0},"#,
                "]}]}]}",
                3 * MEGABYTE,
            )
            .replace("\"p\"", "\"valid\""),
        ),
        case(
            "empty items",
            projects,
            400,
            repeated(
                r#"{"schema_version":1,"project_id":"p","tracks":[{"id":"t","kind":"bus","items":["#,
                "{},",
                "]}]}",
                3 * MEGABYTE,
            ),
        ),
        case(
            "tracks that are numbers",
            projects,
            400,
            repeated(r#"{"schema_version":1,"project_id":"p","tracks":["#, "1,", "]}", 3 * MEGABYTE),
        ),
        case("view state of the page", projects, 201, project_with("\"client\":[", "{},", "]}")),
        case("unknown fields", projects, 409, project_with("\"x\":[", "0,", "]}")),
        case("nested lists", projects, 409, project_with("\"x\":[", &nested_list, "]}")),
        case("a repeated field name", projects, 409, project_with("", "\"a\":0,", "}")),
        case(
            "a song to render",
            "/api/v1/plugins/render",
            200,
            format!(r#"{{"project":{}}}"#, project_with("\"x\":[", "0,", "]}")),
        ),
        case("an upgrade", "/api/v1/projects/upgrade", 200, project_with("\"x\":[", "{},", "]}")),
        case("MIDI channels that are lists", EXPORT, 200, {
            let lists = repeated("[", &nested_list, "]", 600_000);
            let track =
                |number: usize| format!(r#"{{"id":"t{number}","kind":"bus","midi_channel":{lists}}}"#);
            let tracks: Vec<String> = (0..5).map(track).collect();
            format!(
                r#"{{"project":{{"schema_version":1,"project_id":"p","tracks":[{}]}}}}"#,
                tracks.join(",")
            )
        }),
        case(
            "exclusive messages that are lists",
            EXPORT,
            200,
            format!(r#"{{"project":{}}}"#, project_with("\"midi_exclusives\":[", &nested_list, "]}")),
        ),
        case(
            "notes to export",
            EXPORT,
            200,
            repeated(
                &format!("{{\"project\":{ITEM}\"notes\":["),
                r#"{"tick":0,"length_ticks":1,"pitch":1,"velocity":0},"#,
                "]}]}]}}",
                3 * MEGABYTE,
            ),
        ),
        case("parameters", projects, 400, {
            let mut text = r#"{"schema_version":1,"project_id":"p","tracks":[],"master":{"effects":[{"id":"e","type":"vst3","plugin_id":"x","params":{"a":0"#.to_owned();
            (0..300_000).for_each(|number| text.push_str(&format!(",\"{number:x}\":0")));
            text + "}}]}}"
        }),
        case("empty notes of 27 MB", projects, 400, notes(27 * MEGABYTE)),
    ]
}

#[test]
fn hostile_json_needs_at_most_ten_times_its_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let at_start_kib = status_kib(&service, "VmRSS");
    let mut over_limit = Vec::new();
    for Case { name, path, headers, body, json_bytes, status } in cases() {
        let before_kib = reset_peak_kib(&service);
        let answer = service.send("POST", path, headers, &body).expect("an answer");
        let used_kib = status_kib(&service, "VmHWM") - before_kib;
        let allowed_kib = BASE_KIB + MEMORY_FACTOR * json_bytes as u64 / 1024;
        println!(
            "{name}: {} KB, {used_kib} KiB of memory above {before_kib} KiB; the limit is {allowed_kib} KiB",
            json_bytes / 1000
        );
        let start: String = answer.body.chars().take(300).collect();
        assert_eq!(answer.status, status, "{name}: {start}");
        if used_kib > allowed_kib {
            over_limit.push(name);
        }
    }
    assert!(over_limit.is_empty(), "requests that need too much memory: {over_limit:?}");
    let kept_kib = status_kib(&service, "VmRSS") - at_start_kib;
    assert!(kept_kib <= KEPT_KIB, "{kept_kib} KiB are kept after the requests; the limit is {KEPT_KIB} KiB");
}

#[test]
fn eight_concurrent_hostile_projects_need_no_more_memory_each() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let before_kib = status_kib(&service, "VmRSS");
    let body = repeated(&format!("{ITEM}\"notes\":["), "{},", "]}]}]}", 3_000_000);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let answer =
                    service.send("POST", "/api/v1/projects", &[], body.as_bytes()).expect("an answer");
                assert_eq!(answer.status, 400);
            });
        }
    });
    let used_kib = status_kib(&service, "VmHWM") - before_kib;
    let allowed_kib = BASE_KIB + 8 * MEMORY_FACTOR * body.len() as u64 / 1024;
    println!("{used_kib} KiB of memory; the limit is {allowed_kib} KiB");
    assert!(used_kib <= allowed_kib, "{used_kib} KiB of memory; the limit is {allowed_kib} KiB");
}

#[test]
fn a_frozen_track_needs_at_most_ten_times_its_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let nested_list = format!("{}{},", "[".repeat(100), "]".repeat(100));
    let start = r#"{"track_id":"t","tail_secs":0.1,"project":{"schema_version":1,"project_id":"p","tracks":[
        {"id":"t","kind":"audio","volume_db":-3,"items":[{"type":"section","sectionId":"s","start_tick":0,"length_ticks":9},
         {"type":"audio","id":"a","start_tick":0,"source":{"server_file_id":"none"}}],"#;
    let points = r#"{"tick":0,"value":0},"#;
    for (name, field, unit, end, expects_warning) in [
        ("unknown fields", "\"x\":[", nested_list.as_str(), "]}]}}", true),
        ("automation", "\"automation\":[{\"target\":\"pan\",\"points\":[", points, "]}]}]}}", false),
    ] {
        // An automation lane may have at most 100,000 points.
        let bytes = if expects_warning { 3_000_000 } else { 2_000_000 };
        let body = repeated(&format!("{start}{field}"), unit, end, bytes);
        let before_kib = reset_peak_kib(&service);
        let started = service.call("POST", "/api/v1/multitrack/freeze", &[], &body).expect("an answer");
        assert_eq!(started.status, 202, "{name}: {}", started.body);
        let started: serde_json::Value = serde_json::from_str(&started.body).expect("JSON");
        let task = format!("/api/v1/tasks/{}", started["task_id"].as_str().expect("an id"));
        // The stream ends when the task ends.
        let events = service.call("GET", &format!("{task}/events"), &[], "").expect("events");
        assert!(events.body.contains(r#""state":"succeeded""#), "{name}: {:.1000}", events.body);
        let task_answer = service.call("GET", &task, &[], "").expect("an answer");
        assert_eq!(service.call("GET", "/api/v1/tasks", &[], "").expect("an answer").status, 200);
        let used_kib = status_kib(&service, "VmHWM") - before_kib;
        let allowed_kib = BASE_KIB + MEMORY_FACTOR * body.len() as u64 / 1024;
        println!(
            "{name}: {} KB, {used_kib} KiB of memory above {before_kib} KiB; the limit is {allowed_kib} KiB",
            body.len() / 1000
        );
        assert!(used_kib <= allowed_kib, "{name}: {used_kib} KiB of memory; the limit is {allowed_kib} KiB");
        let task_answer: serde_json::Value = serde_json::from_str(&task_answer.body).expect("JSON");
        let (track, warnings) = (&task_answer["result"]["track"], &task_answer["result"]["warnings"]);
        assert_eq!((&track["kind"], &track["volume_db"]), (&json!("audio"), &json!(-3)));
        assert_eq!(track["items"][1]["sectionId"], "s");
        assert_eq!(track["items"][0]["server_file_id"], task_answer["result"]["file"]["id"]);
        let has_warning = warnings.to_string().contains("does not know");
        assert_eq!((has_warning, track.get("x").is_none()), (expects_warning, true), "{warnings}");
    }
}

#[test]
fn a_template_of_gigabytes_is_refused_before_it_is_rendered() {
    const VALUE_BYTES: usize = 900_000;
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let template = json!({"title": "Wide", "body": "{{a}}".repeat(3_000)});
    let stored_template = service.expect(201, "POST", "/api/v1/ai_presets", &[], &template);
    let path = format!("/api/v1/ai_presets/{}/render", stored_template["id"].as_str().expect("an id"));
    let before_kib = reset_peak_kib(&service);
    let body = json!({"variables": {"a": "x".repeat(VALUE_BYTES)}});
    assert_eq!(service.expect(413, "POST", &path, &[], &body)["code"], "too_large");
    let used_kib = status_kib(&service, "VmHWM").saturating_sub(before_kib);
    let allowed_kib = MEMORY_FACTOR * VALUE_BYTES as u64 / 1024 + BASE_KIB;
    assert!(used_kib <= allowed_kib, "the request used {used_kib} KiB; the limit is {allowed_kib} KiB");
}

#[test]
fn concurrent_midi_imports_need_a_bounded_amount_of_memory() {
    const FILES: usize = 4;
    const FILE_BYTES: usize = 2_100_000;
    /// One import needs about 55 MiB, and two imports run at a time.
    const ALLOWED_KIB: u64 = 176 * 1024;
    // The notes have no length and use running status, so an event has three bytes.
    let mut track = vec![0, 0x90];
    track.extend(std::iter::repeat_n([60, 100, 0, 60, 0, 0], FILE_BYTES / 6).flatten());
    track.extend([60, 0, 0, 0xff, 0x2f, 0]);
    let mut file = b"MThd\0\0\0\x06\0\0\0\x01\0\x60MTrk".to_vec();
    file.extend((track.len() as u32).to_be_bytes());
    file.extend(track);
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    let before_kib = status_kib(&service, "VmRSS");
    std::thread::scope(|scope| {
        for _ in 0..FILES {
            scope.spawn(|| {
                let content_type = [("Content-Type", "audio/midi")];
                let answer = service.send("POST", "/api/v1/multitrack/midi/import", &content_type, &file);
                assert_eq!(answer.expect("an answer").status, 200);
            });
        }
    });
    let used_kib = status_kib(&service, "VmHWM") - before_kib;
    println!("{used_kib} KiB for {FILES} MIDI files of {} KB", file.len() / 1000);
    assert!(used_kib <= ALLOWED_KIB, "{used_kib} KiB of memory; the limit is {ALLOWED_KIB} KiB");
}
