//! `songfoundry render` with several songs, standard input and output, compressed songs, further
//! SoundFonts, and the options of sound and range.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::support::songfoundry;

const BANK: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";
const OTHER_BANK: &str = "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3";

/// Runs the command with this standard input.
fn render(folder: &Path, args: &[&str], input: &[u8]) -> Output {
    let mut command = songfoundry(&folder.join("storage"));
    command.current_dir(folder).arg("render").args(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("runs");
    let mut stdin = child.stdin.take().expect("is piped");
    // A command that reads no input may end before this.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("runs")
}

/// Renders to a file, and returns the summary.
#[track_caller]
fn rendered(folder: &Path, args: &[&str]) -> Value {
    let all_args = [args, &["--soundfont", BANK, "-o", "a.wav", "--json"]].concat();
    let output = render(folder, &all_args, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a summary as JSON")
}

#[track_caller]
fn refusal(folder: &Path, args: &[&str], code: i32) -> String {
    let output = render(folder, &[args, &["--soundfont", BANK]].concat(), &[]);
    assert_eq!(output.status.code(), Some(code), "{args:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns a song of two tracks, whose second track names a SoundFont.
fn song(pitch: u8) -> Vec<u8> {
    let track = |id: &str, soundfont_id: Option<&str>| {
        let note = json!({ "tick": 0, "length_ticks": 480, "pitch": pitch, "velocity": 0.8 });
        let item =
            json!({ "type": "midi", "id": "i", "start_tick": 0, "length_ticks": 960, "notes": [note] });
        let mut engine = json!({ "type": "soundfont", "bank": 0, "program": 48 });
        if let Some(id) = soundfont_id {
            engine["soundfont_id"] = id.into();
        }
        json!({ "id": id, "kind": "instrument", "synth_engine": engine, "items": [item] })
    };
    let tracks = [track("first", None), track("second", Some("MuseScore_General_Lite"))];
    json!({ "schema_version": 1, "name": "Song", "tracks": tracks }).to_string().into_bytes()
}

fn hash(summary: &Value) -> &Value {
    &summary["receipt"]["pcm_sha256"]
}

#[test]
fn several_songs_are_written_to_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("one.json"), song(60)).expect("writes");
    fs::write(folder.join("bad.json"), b"{").expect("writes");
    let file = File::create(folder.join("two.json.gz")).expect("creates");
    let mut encoder = GzEncoder::new(file, Compression::fast());
    encoder.write_all(&song(64)).and_then(|()| encoder.finish().map(drop)).expect("writes");

    let songs = ["one.json", "bad.json", "two.json.gz"];
    let args =
        [&songs[..], &["--soundfont", BANK, "--format", "flac", "-o", "new/album/", "--quiet", "--json"]];
    let output = render(folder, &args.concat(), &[]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors.contains("bad.json") && errors.ends_with("1 of 3 songs were not rendered\n"), "{errors}");
    assert_eq!(errors.lines().count(), 2, "only errors are printed: {errors}");
    let summaries: Vec<Value> = serde_json::Deserializer::from_slice(&output.stdout)
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("JSON");
    let names: Vec<&Value> = summaries.iter().map(|summary| &summary["output"]).collect();
    assert_eq!(json!(names), json!(["new/album/one.flac", "new/album/two.flac"]));
    for name in ["one.flac", "two.flac"] {
        assert!(fs::read(folder.join("new/album").join(name)).expect("the file").starts_with(b"fLaC"));
    }

    let text = refusal(folder, &["one.json", "two.json.gz", "-o", "x.wav"], 1);
    assert!(text.contains("2 songs need a folder as the output, such as `-o x.wav/`"), "{text}");
    let text = refusal(folder, &["one.json", "new/../one.json", "-o", "new/"], 1);
    assert!(text.contains("would both be written to new/one.wav"), "{text}");
    let text = refusal(folder, &["-", "-", "-o", "new/"], 1);
    assert!(text.contains("standard input can be rendered only once"), "{text}");
}

#[test]
fn a_song_is_read_from_standard_input_and_written_to_standard_output() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("one.json"), song(60)).expect("writes");
    let expected = rendered(folder, &["one.json"]);
    let output = render(folder, &["-", "--soundfont", BANK, "-o", "-", "--json"], &song(60));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(output.stdout.starts_with(b"RIFF"));
    let json = errors.find("{\n").map(|start| &errors[start..]).expect("a summary on standard error");
    let summary: Value = serde_json::from_str(json).expect("JSON");
    assert_eq!((hash(&summary), &summary["output"]), (hash(&expected), &json!("-")));
    assert_eq!(output.stdout.len() as u64, fs::metadata(folder.join("a.wav")).expect("the file").len());
    let quiet_render =
        render(folder, &["-", "--soundfont", BANK, "-o", "-", "-q", "--format", "MP3"], &song(60));
    assert!(
        quiet_render.status.success() && quiet_render.stderr.is_empty() && !quiet_render.stdout.is_empty()
    );
}

#[test]
fn the_options_change_the_sound() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("one.json"), song(60)).expect("writes");
    let plain_render =
        rendered(folder, &["one.json", "--track", "first", "--reverb-db", "0", "--chorus-db=0"]);
    assert_eq!(hash(&plain_render), hash(&rendered(folder, &["one.json", "--track", "first"])));
    for args in [
        &["--reverb-db", "off"][..],
        &["--chorus-db", "-6"],
        &["--track", "second"],
        &["--range", "0:240"],
        &["--soundfont", OTHER_BANK, "--track", "second"],
    ] {
        let changed_render = rendered(folder, &[&["one.json", "--track", "first"], args].concat());
        assert_ne!(hash(&plain_render), hash(&changed_render), "{args:?}");
    }
    let voices = rendered(folder, &["one.json", "--polyphony", "8"]);
    assert_eq!(voices["receipt"]["settings"]["polyphony"], 8);
    assert_eq!(rendered(folder, &["one.json", "--range", "0:960"])["receipt"]["song_secs"], 0.5);

    let missing = |summary: &Value| summary["receipt"]["missing_sounds"].as_array().map(Vec::len);
    assert_eq!(missing(&rendered(folder, &["one.json"])), Some(1));
    let both_banks = rendered(folder, &["one.json", "--soundfont", OTHER_BANK]);
    assert_eq!(missing(&both_banks), Some(0));
    let soundfonts = &both_banks["receipt"]["settings"]["soundfonts"];
    assert_eq!(soundfonts, &json!(["musescoregenerallite", "timgm6mb"]));

    for (args, expected) in [
        (["--polyphony", "7"], "from 8 to 256"),
        (["--reverb-db", "7"], "neither a level from -144 to 6 dB nor `off`"),
        (["--range", "5:5"], "such as 0:3840"),
        (["--format", "aiff"], "is not one of wav"),
    ] {
        let text = refusal(folder, &[&["one.json", "-o", "x.wav"][..], &args].concat(), 2);
        assert!(text.contains(expected), "{args:?}: {text}");
    }
    let text = refusal(folder, &["one.json", "-o", "x.wav", "--track", "gone"], 1);
    assert!(text.contains("no instrument or audio track with the id `gone`"), "{text}");
    let text = refusal(folder, &["one.json", "-o", "x.wav", "--format", "flac"], 1);
    assert!(text.contains("leave out --format"), "{text}");
    let text = refusal(folder, &["one.json", "-o", "x.wav", "--soundfont", BANK], 1);
    assert!(text.contains("two SoundFonts have the id `timgm6mb`"), "{text}");
}
