//! `songfoundry render` and the service render the same song with the same bank to the same
//! samples.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use crate::made_banks::Tables;
use crate::support::{Service, songfoundry};

const BANK: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";
const SONGS: &str = "/usr/share/games/openttd/baseset/openmsx";

fn render(folder: &Path, args: &[&str]) -> Output {
    let mut command = songfoundry(&folder.join("storage"));
    command.current_dir(folder).arg("render").args(args).output().expect("runs")
}

#[track_caller]
fn rendered(folder: &Path, args: &[&str]) -> Value {
    let output = render(folder, args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a receipt as JSON")
}

/// Imports a MIDI file through the service and returns the project.
fn import(address: SocketAddr, file: &Path) -> Value {
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut stream = TcpStream::connect(address).expect("connects");
    let head = format!(
        "POST /api/v1/multitrack/midi/import HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: audio/midi\r\nContent-Length: {}\r\n\r\n",
        bytes.len()
    );
    stream.write_all(head.as_bytes()).expect("sends");
    stream.write_all(&bytes).expect("sends");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("reads");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    assert!(head.starts_with("HTTP/1.1 200"), "{head} {body}");
    let mut answer: Value = serde_json::from_str(body).expect("JSON");
    answer["project"].take()
}

#[test]
fn the_command_and_the_service_render_the_same_samples() {
    let folder = tempfile::tempdir().expect("a folder");
    let sounds = folder.path().join("sounds");
    std::fs::create_dir(&sounds).expect("a folder");
    assert!(Path::new(BANK).is_file(), "{BANK} is missing; install timgm6mb-soundfont");
    std::os::unix::fs::symlink(BANK, sounds.join("TimGM6mb.sf2")).expect("links");
    let settings = [("SF_SOUNDFONT_DIRS", sounds.to_str().expect("UTF-8"))];
    let service = Service::start(&folder.path().join("storage"), &settings);
    // The first song has a tempo change and an endless note, the second a pitch bend; the third is
    // short.
    for (song, rate, depth) in [
        ("chuggachugga.mid", 48_000, "pcm16"),
        ("coconut_run2.mid", 44_100, "float32"),
        ("train_filled_with_cash.mid", 96_000, "pcm24"),
    ] {
        let path = PathBuf::from(SONGS).join(song);
        let rate_text = rate.to_string();
        let song_path = path.to_str().expect("UTF-8");
        let args = [
            song_path,
            "--soundfont",
            BANK,
            "--sample-rate",
            &rate_text,
            "--bit-depth",
            depth,
            "-o",
            "a.wav",
            "--json",
        ];
        let command = rendered(folder.path(), &args);
        let request =
            json!({"project": import(service.address, &path), "sample_rate_hz": rate, "bit_depth": depth});
        let answer = service.expect(200, "POST", "/api/v1/plugins/render", &[], &request);
        let compared_values = |answer_json: &Value| {
            let receipt = &answer_json["receipt"];
            json!([
                receipt["pcm_sha256"],
                receipt["frames"],
                receipt["peak"],
                answer_json["lufs"],
                answer_json["true_peak_db"]
            ])
        };
        assert_eq!(compared_values(&command), compared_values(&answer), "{song}");
        assert_eq!(command["receipt"]["silent_tracks"], json!([]), "{song}");
        assert!(command["receipt"]["peak"].as_f64().expect("a number") > 0.05, "{song}: {command}");
        let frames = command["receipt"]["frames"].as_u64().expect("a number");
        let frame_bytes = match depth {
            "pcm16" => 4,
            "pcm24" => 6,
            _ => 8,
        };
        let file = std::fs::metadata(folder.path().join("a.wav")).expect("the file").len();
        assert!(file > frames * frame_bytes && file <= frames * frame_bytes + 1_000, "{song}: {file} bytes");
    }
}

#[test]
fn the_command_renders_a_project_and_prints_progress_and_receipt() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo-song.json");
    let output = render(folder.path(), &[demo, "--soundfont", BANK, "-o", "demo.wav"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let progress = String::from_utf8(output.stderr).expect("text");
    assert!(progress.contains("rendering  50 %"), "{progress}");
    let receipt = String::from_utf8(output.stdout).expect("text");
    assert!(
        receipt.contains("demo.wav") && receipt.contains("pcm sha256") && receipt.contains("LUFS"),
        "{receipt}"
    );
    let wav = std::fs::read(folder.path().join("demo.wav")).expect("the file");
    assert!(wav.starts_with(b"RIFF") && wav.len() > 60 * 48_000 * 4);
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("the folder").count(),
        1,
        "the render left other files"
    );
}

#[test]
fn a_song_of_two_hundred_thousand_controllers_is_rendered() {
    let folder = tempfile::tempdir().expect("a folder");
    // The song has 16,384 ticks to a quarter note, and one note of six seconds that fades in and
    // out.
    let mut track = vec![0, 0x90, 60, 100];
    track.extend((0..200_000_u32).flat_map(|n| [1, 0xb0, 11, (n / 64 % 128) as u8]));
    track.extend([0, 0x80, 60, 0, 0, 0xff, 0x2f, 0]);
    let mut song = b"MThd\0\0\0\x06\0\0\0\x01\x40\0MTrk".to_vec();
    song.extend((track.len() as u32).to_be_bytes());
    song.extend(track);
    std::fs::write(folder.path().join("swell.mid"), song).expect("writes");
    let printed_text = rendered(folder.path(), &["swell.mid", "--soundfont", BANK, "-o", "a.wav", "--json"]);
    let song_secs = printed_text["receipt"]["song_secs"].as_f64().expect("seconds");
    assert!((song_secs - 200_000.0 / 32_768.0).abs() < 0.01, "{song_secs} s");
    assert_eq!(printed_text["receipt"]["silent_tracks"], json!([]));
}

#[test]
fn the_gain_applies_before_the_limiter() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo-song.json");
    let receipt = |gain: &[&str]| {
        let args = [demo, "--soundfont", BANK, "-o", "a.wav", "--bit-depth", "float32", "--json"];
        rendered(folder.path(), &[&args, gain].concat())["receipt"].take()
    };
    let number = |value: &Value| value.as_f64().expect("a number");
    let (loud, soft) = (receipt(&["--gain-db", "18"]), receipt(&["--gain-db", "-12.5"]));
    assert!(number(&loud["limiter"]["largest_reduction_db"]) > 3.0, "{loud}");
    assert!(number(&loud["limiter"]["reduced_secs"]) > 1.0, "{loud}");
    assert_eq!(soft["limiter"], json!({"largest_reduction_db": 0.0, "reduced_secs": 0.0}));
    // The peaks before the limiter differ by 30.5 dB.
    let loud_peak_db = number(&loud["limiter"]["largest_reduction_db"]) - 3.0;
    let soft_peak_db = 20.0 * number(&soft["peak"]).log10();
    assert!((loud_peak_db - soft_peak_db - 30.5).abs() < 0.02, "{loud_peak_db} and {soft_peak_db} dBFS");
    assert_ne!(soft["project_sha256"], loud["project_sha256"]);
    let args = [demo, "--soundfont", BANK, "-o", "x.wav", "--gain-db", "500"];
    check_refused(folder.path(), &args, "--gain-db 500");
}

#[track_caller]
fn check_refused(folder: &Path, args: &[&str], expected_text: &str) {
    let output = render(folder, args);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains(expected_text), "{args:?}: {text}");
    assert!(!folder.join("x.wav").exists(), "{args:?}");
}

#[test]
fn invalid_renders_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let write = |name: &str, content: &[u8]| std::fs::write(folder.join(name), content).expect("writes");
    write("text.mid", b"hello");
    write("bad.json", b"{\"schema_version\": 1, \"project_id\": \"p\", \"tracks\": [{\"id\": \"t\"}]}");
    write("newer.json", b"{\"schema_version\": 9}");
    write("good.json", b"{\"schema_version\": 1, \"project_id\": \"p\", \"tracks\": []}");
    write("bad.sf2", b"RIFF");
    check_refused(folder, &["gone.mid", "--soundfont", BANK, "-o", "x.wav"], "gone.mid");
    check_refused(folder, &["text.mid", "--soundfont", BANK, "-o", "x.wav"], "not a MIDI file");
    check_refused(
        folder,
        &["bad.json", "--soundfont", BANK, "-o", "x.wav"],
        "at /tracks/0: the required field",
    );
    check_refused(folder, &["newer.json", "--soundfont", BANK, "-o", "x.wav"], "schema_version 9");
    check_refused(folder, &["good.json", "--soundfont", "bad.sf2", "-o", "x.wav"], "bad.sf2");
    check_refused(folder, &["good.json", "--soundfont", "gone.sf2", "-o", "x.wav"], "gone.sf2");
    check_refused(folder, &["good.json", "--soundfont", BANK, "-o", "gone/x.wav"], "cannot write");
    check_refused(
        folder,
        &["good.json", "--soundfont", BANK, "-o", "x.wav", "--sample-rate", "8000"],
        "48000",
    );
    check_refused(
        folder,
        &["good.json", "--soundfont", BANK, "-o", "x.wav", "--tail-secs=-1"],
        "outside 0 to 60",
    );
}

fn write_song(folder: &Path, name: &str, mute: bool) {
    let note = json!({"tick": 0, "length_ticks": 480, "pitch": 60, "velocity": 0.8});
    let item = json!({"type": "midi", "id": "i", "start_tick": 0, "length_ticks": 960, "notes": [note]});
    let engine = json!({"type": "soundfont", "soundfont_id": "grand", "bank": 5, "program": 3});
    let track =
        json!({"id": "t", "kind": "instrument", "mute": mute, "synth_engine": engine, "items": [item]});
    let song = json!({"schema_version": 1, "tracks": [track]});
    std::fs::write(folder.join(name), song.to_string()).expect("writes");
}

#[test]
fn a_file_name_of_another_format_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write_song(folder, "song.json", false);
    for output in ["x.aiff", "x.M4A", "x.wma"] {
        check_refused(folder, &["song.json", "--soundfont", BANK, "-o", output], "supported formats: wav");
        assert!(!folder.join(output).exists(), "{output}");
    }
    for output in ["x.WAV", "without-extension"] {
        assert!(
            render(folder, &["song.json", "--soundfont", BANK, "-o", output]).status.success(),
            "{output}"
        );
    }
}

#[test]
fn a_song_is_written_in_several_formats_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let song = format!("{SONGS}/train_filled_with_cash.mid");
    let files = ["-o", "a.wav", "--also", "a.flac", "--also", "a.opus", "--json", "--quiet"];
    let args = [&[&*song, "--soundfont", BANK, "--sample-rate", "44100", "--bit-depth", "pcm24"][..], &files]
        .concat();
    let output = render(folder.path(), &args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summaries: Vec<Value> = serde_json::Deserializer::from_slice(&output.stdout)
        .into_iter()
        .map(|summary| summary.expect("JSON"))
        .collect();
    let [wav, flac, opus] = &summaries[..] else { panic!("{summaries:?}") };
    assert_eq!((&flac["output"], &flac["bit_depth"]), (&"a.flac".into(), &"pcm24".into()));
    // Both have the same samples with the same dither.
    assert_eq!(flac["receipt"]["pcm_sha256"], wav["receipt"]["pcm_sha256"]);
    assert_eq!((&opus["sample_rate_hz"], &opus["bit_depth"]), (&48_000.into(), &Value::Null));
    for (name, start) in [("a.wav", &b"RIFF"[..]), ("a.flac", b"fLaC"), ("a.opus", b"OggS")] {
        assert!(std::fs::read(folder.path().join(name)).expect("a file").starts_with(start), "{name}");
    }
    let repeated_output = [&*song, "--soundfont", BANK, "-o", "b.wav", "--also", "b.wav"];
    check_refused(folder.path(), &repeated_output, "would be written twice");
    let two_songs = [&*song, &*song, "--soundfont", BANK, "-o", "b/", "--also", "c.mp3"];
    check_refused(folder.path(), &two_songs, "single song");
}

#[test]
fn each_section_is_written_to_a_file_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write_song(folder, "song.json", false);
    let text = std::fs::read(folder.join("song.json")).expect("the song");
    let mut song: Value = serde_json::from_slice(&text).expect("JSON");
    let with_sections = |args: &[&str]| {
        let args = [&["song.json", "--soundfont", BANK, "--sections"][..], args].concat();
        render(folder, &args)
    };
    check_refused(folder, &["song.json", "--soundfont", BANK, "--sections", "-o", "x.wav"], "folder");
    let none = with_sections(&["-o", "parts/"]);
    assert!(String::from_utf8_lossy(&none.stderr).contains("no sections and no markers"), "{none:?}");
    // The song lasts 960 ticks, so nothing begins at the last marker.
    song["markers"] =
        json!([{"tick": 240, "name": "B/2"}, {"tick": 0, "name": "Intro"}, {"tick": 9_600, "name": "Late"}]);
    std::fs::write(folder.join("song.json"), song.to_string()).expect("writes");
    let output = with_sections(&["-o", "parts/", "--format", "flac", "--quiet"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The file of a section equals that of its range, except for the title.
    let args = ["song.json", "--soundfont", BANK, "--range", "0:240", "-o", "range.flac", "--json"];
    let range = rendered(folder, &args);
    let args = ["--json", "--quiet", "-o", "again/", "--title", "Song"];
    let second_render = with_sections(&args);
    let summaries: Vec<Value> = serde_json::Deserializer::from_slice(&second_render.stdout)
        .into_iter()
        .map(|summary| summary.expect("JSON"))
        .collect();
    let names: Vec<_> = summaries.iter().map(|summary| summary["output"].as_str()).collect();
    assert_eq!(names, [Some("again/song - 01 Intro.wav"), Some("again/song - 02 B_2.wav")]);
    assert_eq!(summaries[0]["receipt"]["pcm_sha256"], range["receipt"]["pcm_sha256"]);
    for name in ["song - 01 Intro.flac", "song - 02 B_2.flac"] {
        let file = std::fs::read(folder.join("parts").join(name)).expect("a file");
        assert!(file.starts_with(b"fLaC"), "{name}");
    }
}

#[test]
fn a_silent_render_is_a_warning_and_with_strict_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write_song(folder, "silent.json", true);
    write_song(folder, "song.json", false);
    let receipt = rendered(folder, &["silent.json", "--soundfont", BANK, "-o", "silent.wav", "--json"]);
    let warnings = receipt["warnings"].to_string();
    assert!(warnings.contains("silent") && folder.join("silent.wav").exists(), "{warnings}");
    check_refused(folder, &["silent.json", "--soundfont", BANK, "-o", "x.wav", "--strict"], "silent");
    let output = render(folder, &["song.json", "--soundfont", BANK, "-o", "x.wav", "--strict"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_missing_soundfont_or_preset_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    write_song(folder.path(), "song.json", false);
    let output = render(folder.path(), &["song.json", "--soundfont", BANK, "-o", "x.wav", "--json"]);
    let receipt: Value = serde_json::from_slice(&output.stdout).expect("a receipt as JSON");
    let printed_text = String::from_utf8_lossy(&output.stderr);
    for text in [&receipt["warnings"].to_string(), &*printed_text] {
        assert!(text.contains("`grand` is missing; `timgm6mb` played instead"), "{text}");
        assert!(text.contains("no preset 5:3") && text.contains("0:3"), "{text}");
    }
    let missing = &receipt["receipt"]["missing_sounds"];
    assert_eq!(
        (&missing[0]["soundfont_id"], &missing[1]["played_preset"]["program"]),
        (&json!("grand"), &json!(3))
    );
}

#[test]
fn only_a_plain_file_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::write(folder.join("good.json"), b"{\"schema_version\": 1, \"tracks\": []}").expect("writes");
    std::fs::create_dir(folder.join("folder")).expect("a folder");
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).expect("a socket");
    for output in ["folder", "socket"] {
        check_refused(folder, &["good.json", "--soundfont", BANK, "-o", output], "not a plain file");
        let kind = std::fs::metadata(folder.join(output)).expect("still there").file_type();
        assert!(!kind.is_file(), "{output}");
    }

    // A symbolic link stays a link, and the render is written to its target.
    std::fs::write(folder.join("target.wav"), b"old").expect("writes");
    std::os::unix::fs::symlink("target.wav", folder.join("link.wav")).expect("links");
    let output = render(folder, &["good.json", "--soundfont", BANK, "-o", "link.wav"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::symlink_metadata(folder.join("link.wav")).expect("still there").is_symlink());
    assert!(std::fs::read(folder.join("target.wav")).expect("the file").starts_with(b"RIFF"));
}

#[test]
fn an_interrupted_render_leaves_no_file_and_keeps_the_previous_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let note = json!({"tick": 0, "length_ticks": 20_000_000, "pitch": 60, "velocity": 1});
    let item =
        json!({"type": "midi", "id": "i", "start_tick": 0, "length_ticks": 20_000_000, "notes": [note]});
    let engine = json!({"type": "soundfont", "bank": 0, "program": 19});
    let track = json!({"id": "t", "kind": "instrument", "synth_engine": engine, "items": [item]});
    let song = json!({"schema_version": 1, "tracks": [track]});
    std::fs::write(folder.path().join("hours.json"), song.to_string()).expect("writes");
    std::fs::write(folder.path().join("x.wav"), b"before").expect("writes");
    for signal in ["-INT", "-TERM", "-HUP"] {
        let mut command = songfoundry(&folder.path().join("storage"));
        command.current_dir(folder.path()).args(["render", "hours.json", "--soundfont", BANK, "-o", "x.wav"]);
        let child = command.stderr(std::process::Stdio::piped()).spawn().expect("starts");
        let start_time = std::time::Instant::now();
        while std::fs::read_dir(folder.path()).expect("the folder").count() < 3 {
            assert!(start_time.elapsed().as_secs() < 30, "the render creates no file");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let kill_status = std::process::Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status()
            .expect("runs");
        assert!(kill_status.success());
        let output = child.wait_with_output().expect("ends");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains("interrupted; x.wav was not written"), "{text}");
        assert_eq!(std::fs::read(folder.path().join("x.wav")).expect("the file"), b"before");
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 2, "{signal}");
    }
}

#[test]
fn the_command_refuses_a_song_that_needs_more_memory_than_the_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let effect = |number: usize| json!({ "id": format!("e{number}"), "type": "builtin", "name": "delay" });
    let effects: Vec<Value> = (0..50).map(effect).collect();
    let song = json!({ "schema_version": 1, "project_id": "p", "tracks": [{ "id": "b", "kind": "bus", "effects": effects }] });
    std::fs::write(folder.path().join("song.json"), song.to_string()).expect("writes");
    let args = ["song.json", "--soundfont", BANK, "-o", "song.wav", "--memory-bytes", "67108864"];
    let refusal = render(folder.path(), &args);
    let printed_text = String::from_utf8_lossy(&refusal.stderr).into_owned();
    assert!(!refusal.status.success(), "{printed_text}");
    assert!(printed_text.contains("largest part: 101 MiB for delay effects (50)"), "{printed_text}");
    assert!(!folder.path().join("song.wav").exists());
    rendered(folder.path(), &["song.json", "--soundfont", BANK, "-o", "song.wav", "--json"]);
}

#[cfg(unix)]
#[test]
fn the_memory_setting_of_the_service_applies_to_renders() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let song = json!({ "schema_version": 1, "project_id": "p", "tracks": [{ "id": "b", "kind": "bus" }] });
    std::fs::write(folder.path().join("song.json"), song.to_string()).expect("writes");
    let with_memory = |value: &[u8], more_args: &[&str]| {
        let mut command = songfoundry(&folder.path().join("storage"));
        let args = ["render", "song.json", "--soundfont", BANK, "-o", "song.wav"];
        command.current_dir(folder.path()).args(args).args(more_args);
        let output =
            command.env("SF_RENDER_MEMORY_BYTES", std::ffi::OsStr::from_bytes(value)).output().expect("runs");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for value in [&b"\xff"[..], b"much", b"1"] {
        let (is_rendered, printed_text) = with_memory(value, &[]);
        assert!(!is_rendered && printed_text.contains("SF_RENDER_MEMORY_BYTES"), "{value:?}: {printed_text}");
    }
    for value in [&b""[..], b"471859200"] {
        let (is_rendered, printed_text) = with_memory(value, &[]);
        assert!(is_rendered, "{value:?}: {printed_text}");
    }
    let (is_rendered, printed_text) = with_memory(b"much", &["--memory-bytes", "471859200"]);
    assert!(is_rendered, "{printed_text}");
}

#[test]
fn a_tail_of_more_than_a_minute_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let song = json!({ "schema_version": 1, "project_id": "p", "tracks": [{ "id": "b", "kind": "bus" }] });
    std::fs::write(folder.path().join("song.json"), song.to_string()).expect("writes");
    let args = |secs: &'static str| {
        ["song.json", "--soundfont", BANK, "-o", "song.wav", "--tail-secs", secs, "--json"]
    };
    let refusal = render(folder.path(), &args("60.5"));
    let printed_text = String::from_utf8_lossy(&refusal.stderr).into_owned();
    assert!(
        !refusal.status.success() && printed_text.contains("60.5 is outside 0 to 60 seconds"),
        "{printed_text}"
    );
    rendered(folder.path(), &args("60"));
    let started =
        songfoundry(&folder.path().join("storage")).arg("serve").env("SF_TAIL_MAX_SECS", "61").output();
    let started = started.expect("runs");
    let printed_text = String::from_utf8_lossy(&started.stderr).into_owned();
    assert!(
        !started.status.success() && printed_text.contains("SF_TAIL_MAX_SECS") && printed_text.contains("60"),
        "{printed_text}"
    );
}

/// Numbers of the generators of a zone (SoundFont 2.04, section 8.1.2).
const INITIAL_FILTER_FC: u16 = 8;
const ATTACK_VOL_ENV: u16 = 34;
const INITIAL_ATTENUATION: u16 = 48;
const SAMPLE_MODES: u16 = 54;

/// Number of ticks in a second of a file from [`midi`].
const SECOND_TICKS: u16 = 960;

/// Returns a MIDI file with one track and 480 ticks to a quarter note, at 120 beats per minute.
/// Each event has a delta time in ticks.
fn midi(events: &[(u16, [u8; 3])]) -> Vec<u8> {
    let mut track = Vec::new();
    for (ticks, bytes) in events {
        if *ticks > 127 {
            track.push((ticks >> 7) as u8 | 0x80);
        }
        track.push((ticks & 127) as u8);
        track.extend(bytes);
    }
    track.extend([0, 0xff, 0x2f, 0]);
    let length = (track.len() as u32).to_be_bytes();
    [&b"MThd\0\0\0\x06\0\0\0\x01\x01\xe0MTrk"[..], &length, &track].concat()
}

/// Renders notes of one second on key 60, a second apart. The bank has a 1 kHz sine with these
/// generators and modulators. Each note has the controllers that come before it and a velocity.
/// Returns the levels of the notes in decibels.
fn levels_db(generators: &[(u16, i16)], modulators: &[[u16; 5]], notes: &[(&[(u8, u8)], u8)]) -> Vec<f64> {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let phase = |frame: i32| f64::from(frame) * std::f64::consts::TAU / 48.0;
    let sine: Vec<i16> = (0..1_920).map(|frame| (16_000.0 * phase(frame).sin()) as i16).collect();
    let mut tables = Tables::new();
    let sample = tables.add_sample(&sine, 480..1_440);
    let instrument = tables.add_instrument();
    let generators = [&[(SAMPLE_MODES, 1), (ATTACK_VOL_ENV, i16::MIN)], generators].concat();
    tables.add_instrument_zone((&generators, modulators), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    std::fs::write(folder.join("bank.sf2"), tables.bytes()).expect("writes");

    // Controllers 91 and 93 turn the reverb and the chorus off.
    let mut events = vec![(0, [0xb0, 91, 0]), (0, [0xb0, 93, 0])];
    for (number, (controllers, velocity)) in notes.iter().enumerate() {
        let since_note = if number == 0 { 0 } else { SECOND_TICKS };
        events.push((since_note, [0xb0, 7, 100]));
        events.extend(controllers.iter().map(|&(controller, value)| (0, [0xb0, controller, value])));
        events.extend([(0, [0x90, 60, *velocity]), (SECOND_TICKS, [0x80, 60, 0])]);
    }
    std::fs::write(folder.join("song.mid"), midi(&events)).expect("writes");
    let args = ["song.mid", "--soundfont", "bank.sf2", "--sample-rate", "48000", "--bit-depth", "float32"];
    rendered(folder, &[&args[..], &["-o", "a.wav", "--json"]].concat());

    let wav = std::fs::read(folder.join("a.wav")).expect("the file");
    let start = wav.windows(4).position(|id| id == b"data").expect("a data chunk") + 8;
    let samples = wav[start..].as_chunks::<4>().0;
    // The level is that of the left channel from 0.3 s to 0.9 s of each note.
    let level = |number: usize| {
        let frames = (0..28_800).map(|frame| 96_000 * number + 14_400 + frame);
        let power = frames.map(|frame| f64::from(f32::from_le_bytes(samples[2 * frame])).powi(2));
        10.0 * (power.sum::<f64>() / 28_800.0).log10()
    };
    (0..notes.len()).map(level).collect()
}

/// Returns the attenuation of a second-order low-pass filter at 1 kHz, in decibels.
fn filter_attenuation_db(cutoff_hz: f64) -> f64 {
    10.0 * (1.0 + (1_000.0 / cutoff_hz).powi(4)).log10()
}

#[test]
fn awe32_nrpns_move_the_cutoff_of_an_imported_song() {
    let notes = [127_u8, 64, 0].map(|value| ([(99, 127), (98, 21), (6, 64), (38, value)], 100));
    let notes: Vec<(&[(u8, u8)], u8)> =
        notes.iter().map(|(controllers, velocity)| (&controllers[..], *velocity)).collect();
    let levels = levels_db(&[], &[], &notes);
    assert!(levels[0] > -50.0, "{levels:?}");
    for (level, cutoff_hz, tolerance_db) in [(levels[1], 910.0, 0.3), (levels[2], 100.0, 1.0)] {
        let (attenuation_db, expected_db) = (levels[0] - level, filter_attenuation_db(cutoff_hz));
        assert!(
            (attenuation_db - expected_db).abs() < tolerance_db,
            "{cutoff_hz} Hz: {attenuation_db} dB, not {expected_db}"
        );
    }
}

#[test]
fn velocity_moves_the_cutoff_of_a_bank_with_both_forms_of_the_modulator() {
    // The cutoff is 4 kHz, and 104 Hz at a velocity of 15. The level does not follow the velocity.
    let modulators = [
        [0x0502, INITIAL_ATTENUATION, 0, 0, 0],
        [0x0102, INITIAL_FILTER_FC, (-7_200_i16).cast_unsigned(), 0, 0],
        [0x0102, INITIAL_FILTER_FC, 0, 0x0d02, 0],
    ];
    let levels = levels_db(&[(INITIAL_FILTER_FC, 10_721)], &modulators, &[(&[], 127), (&[], 15)]);
    let (attenuation_db, expected_db) =
        (levels[0] - levels[1], filter_attenuation_db(104.0) - filter_attenuation_db(4_000.0));
    assert!(
        levels[0] > -50.0 && (attenuation_db - expected_db).abs() < 1.0,
        "{attenuation_db} dB, not {expected_db}: {levels:?}"
    );
}
