//! Other people's programs read exported files: `ffprobe`, `ffmpeg`, `flac`, `sox`, `mediainfo` and
//! `sndfile-info`.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::songfoundry;

const BANK: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";

/// File name of the song.
const SONG: &str = "song.json";

/// File name of the cover picture, which is larger than a page of an Ogg file.
const COVER: &str = "cover.png";

/// Names of exported files with the options of their formats, and the codec and rate that they then
/// have.
const FILES: [(&str, &[&str], &str, u32); 14] = [
    ("a.wav", &["--sample-rate", "44100", "--bit-depth", "pcm8"], "pcm_u8", 44_100),
    ("b.wav", &["--sample-rate", "48000", "--bit-depth", "pcm16", "--noise-shaping"], "pcm_s16le", 48_000),
    ("c.wav", &["--sample-rate", "96000", "--bit-depth", "pcm24"], "pcm_s24le", 96_000),
    ("d.wav", &["--bit-depth", "float32", "--lufs", "-14"], "pcm_f32le", 48_000),
    ("e.flac", &["--sample-rate", "44100", "--lufs", "-23"], "flac", 44_100),
    ("f.flac", &["--bit-depth", "pcm24"], "flac", 48_000),
    ("g.flac", &["--sample-rate", "96000", "--bit-depth", "pcm24"], "flac", 96_000),
    ("h.mp3", &["--sample-rate", "44100", "--lufs", "-9"], "mp3", 44_100),
    ("i.mp3", &["--quality", "8"], "mp3", 48_000),
    ("j.ogg", &["--sample-rate", "44100", "--quality", "3"], "vorbis", 44_100),
    ("k.ogg", &["--lufs", "-9"], "vorbis", 48_000),
    ("l.ogg", &["--sample-rate", "96000", "--quality", "10"], "vorbis", 96_000),
    ("m.opus", &["--lufs", "-16"], "opus", 48_000),
    ("n.opus", &["--bit-rate-kbps", "64"], "opus", 48_000),
];

/// Songs of Debian's package `openttd-openmsx`.
const SONGS_FOLDER: &str = "/usr/share/games/openttd/baseset/openmsx";
const SONGS: [&str; 10] = [
    "5432gone_redfarn",
    "boogi_marabi_redfarn",
    "chuggachugga",
    "city_blues_redfarn",
    "coconut_run2",
    "flying_scotsman",
    "mosey_along_redfarn",
    "slow_neasy_redfarn",
    "train_filled_with_cash",
    "tttheme2",
];

/// Text with letters beyond ASCII and characters that formats of tags use.
const TITLE: &str = "Träin = \"cash\"; ../$(x)";

/// Times in milliseconds and names of the song's markers before its end.
const CHAPTERS: [(u32, &str); 3] = [(0, "Intro"), (2_000, "Ä; B=\"c\""), (6_500, "Outro")];

/// Runs a program and returns its standard output and standard error.
#[track_caller]
fn run(program: &str, folder: &Path, args: &[&str]) -> String {
    let output = Command::new(program)
        .current_dir(folder)
        .args(args)
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{program} {args:?}: {text}");
    text
}

/// Makes a folder with a song of eight seconds: chords and drums, with a different level in each
/// second.
fn folder_with_song() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let note = |beat: u32, pitch: u32, velocity: f64| json!({"tick": 480 * beat, "length_ticks": 460, "pitch": pitch, "velocity": velocity});
    let track = |id: &str, bank: u32, program: u32, pan: f64, notes: Vec<Value>| {
        let item = json!({"type": "midi", "id": id, "start_tick": 0, "length_ticks": 15_360, "notes": notes});
        let engine = json!({"type": "soundfont", "bank": bank, "program": program});
        json!({"id": id, "kind": "instrument", "pan": pan, "synth_engine": engine, "items": [item]})
    };
    let loudness = |beat: u32| 0.3 + 0.08 * f64::from(beat / 4);
    let chords = (0..32)
        .flat_map(|beat| [48, 60, 64, 67].map(|pitch| note(beat, pitch + 2 * (beat / 8), loudness(beat))));
    let drums = (0..32).map(|beat| note(beat, if beat % 2 == 0 { 36 } else { 38 }, loudness(beat)));
    let tracks =
        [track("chords", 0, 4, -0.2, chords.collect()), track("drums", 128, 0, 0.3, drums.collect())];
    // At 120 beats per minute, a second has 1,920 ticks.
    let markers = CHAPTERS.iter().map(|(ms, name)| (ms / 100 * 192, *name)).chain([(99_999, "Too late")]);
    let markers: Vec<_> = markers.map(|(tick, name)| json!({"tick": tick, "name": name})).collect();
    let song = json!({"schema_version": 1, "name": "Song", "tracks": tracks, "markers": markers});
    std::fs::write(folder.path().join(SONG), song.to_string()).expect("writes");
    let noise = "noise=alls=100:all_seed=1";
    let picture = ["-f", "lavfi", "-i", "color=red:size=200x200", "-vf", noise, "-frames:v", "1", COVER];
    run("ffmpeg", folder.path(), &[&["-v", "error"][..], &picture].concat());
    folder
}

#[track_caller]
fn render(folder: &Path, name: &str, args: &[&str]) -> Value {
    render_input(folder, SONG, name, args)
}

#[track_caller]
fn render_input(folder: &Path, input: &str, name: &str, args: &[&str]) -> Value {
    let output = songfoundry(&folder.join("storage"))
        .current_dir(folder)
        .args(["render", input, "--soundfont", BANK, "--json", "-o", name])
        .args(args)
        .output()
        .expect("runs");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a receipt as JSON")
}

/// Returns a number of the summary of ffmpeg's filter `ebur128`.
fn summary_value(summary: &str, name: &str) -> f64 {
    let value_text =
        summary.rsplit("Summary:").next().and_then(|text| text.split_once(name)).expect("a value").1;
    value_text.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number")
}

/// Checks the codec, rate, length and loudness of a file.
#[track_caller]
fn check(folder: &Path, name: &str, receipt: &Value, codec: &str, rate_hz: u32) {
    let entries = "stream=codec_name,sample_rate,channels,duration_ts:format=duration";
    let probe = run("ffprobe", folder, &["-v", "error", "-show_entries", entries, "-of", "json", name]);
    let probe: Value = serde_json::from_str(&probe).expect("JSON of ffprobe");
    let stream = &probe["streams"][0];
    assert_eq!((&stream["codec_name"], &stream["channels"]), (&json!(codec), &json!(2)), "{name}");
    assert_eq!(stream["sample_rate"], rate_hz.to_string(), "{name}");
    let secs: f64 =
        probe["format"]["duration"].as_str().and_then(|secs| secs.parse().ok()).expect("a length");
    let expected_secs = receipt["duration_secs"].as_f64().expect("a number");
    assert!((secs - expected_secs).abs() < 0.06, "{name}: {secs} s instead of {expected_secs} s");

    let filter = "ebur128=peak=true";
    let summary = run("ffmpeg", folder, &["-nostats", "-i", name, "-af", filter, "-f", "null", "-"]);
    let (lufs, peak_db) = (summary_value(&summary, "I:"), summary_value(&summary, "Peak:"));
    let number = |field: &str| receipt[field].as_f64().expect("a number");
    assert!((lufs - number("lufs")).abs() <= 0.1, "{name}: {lufs} LUFS, {receipt}");
    // ffmpeg prints one digit.
    assert!(peak_db <= number("true_peak_db") + 0.25, "{name}: {peak_db} dBTP, {receipt}");
}

/// Checks the times in milliseconds and the names of a file's chapters.
#[track_caller]
fn check_chapters(folder: &Path, name: &str) {
    let text =
        run("ffprobe", folder, &["-v", "error", "-show_chapters", "-show_format", "-of", "json", name]);
    let probe_report: Value = serde_json::from_str(&text).expect("JSON of ffprobe");
    let chapter = |chapter: &Value| {
        let secs: f64 = chapter["start_time"].as_str().and_then(|secs| secs.parse().ok()).expect("a time");
        ((1_000.0 * secs).round() as u32, chapter["tags"]["title"].as_str().unwrap_or_default().to_owned())
    };
    let chapters: Vec<_> = probe_report["chapters"].as_array().expect("a list").iter().map(chapter).collect();
    assert_eq!(chapters, CHAPTERS.map(|(ms, title)| (ms, title.to_owned())), "{name}");
    let secs = |value: &Value| value.as_str().and_then(|secs| secs.parse::<f64>().ok()).expect("a time");
    let end_secs = secs(&probe_report["chapters"][CHAPTERS.len() - 1]["end_time"]);
    assert!(
        (end_secs - secs(&probe_report["format"]["duration"])).abs() < 0.1,
        "{name}: {end_secs} s, {text}"
    );
}

/// Checks that a file has the cover picture.
#[track_caller]
fn check_cover(folder: &Path, name: &str) {
    let copy = format!("{name}.png");
    run("ffmpeg", folder, &["-v", "error", "-y", "-i", name, "-map", "0:v", "-c", "copy", &copy]);
    let [probe_report, expected] =
        [&*copy, COVER].map(|name| std::fs::read(folder.join(name)).expect("a picture"));
    assert!(probe_report == expected, "{name}: the picture differs");
}

/// Checks the positions and the names of the cue points of a WAV file.
#[track_caller]
fn check_cues(folder: &Path, name: &str, rate_hz: u32) {
    let text = run("sndfile-info", folder, &[name]);
    let value_text = |line: &str, key: &str| Some(line.split_once(key)?.1.trim().to_owned());
    let offsets: Vec<_> = text.lines().filter_map(|line| value_text(line, "Offset :")).collect();
    let names: Vec<_> = text.lines().filter_map(|line| value_text(line, "labl : ")).collect();
    assert_eq!(offsets, CHAPTERS.map(|(ms, _)| (ms * (rate_hz / 100) / 10).to_string()), "{name}: {text}");
    let numbered = CHAPTERS.iter().zip(1..).map(|((_, title), number)| format!("{number} : {title}"));
    assert!(names.iter().eq(&numbered.collect::<Vec<_>>()), "{name}: {text}");
}

#[test]
fn other_programs_read_every_format_rate_and_depth() {
    let folder = folder_with_song();
    let folder = folder.path();
    let tags = [
        "--title",
        TITLE,
        "--artist",
        "Ada",
        "--album",
        "First",
        "--genre",
        "Folk",
        "--year",
        "1987",
        "--isrc",
        "GB-A1B-23-00001",
    ];
    for (name, args, codec, rate_hz) in FILES {
        let cover = if name.ends_with(".wav") { &[][..] } else { &["--cover", COVER] };
        let receipt = render(folder, name, &[args, &tags[..], cover].concat());
        let container = match codec {
            "flac" => "FLAC",
            "mp3" => "MPEG Audio",
            "vorbis" | "opus" => "Ogg",
            _ => "Wave",
        };
        check(folder, name, &receipt, codec, rate_hz);
        if args.contains(&"--lufs") {
            let true_peak_db = receipt["true_peak_db"].as_f64().expect("a number");
            assert!(true_peak_db <= -1.0, "{name}: {receipt}");
        }
        if codec == "flac" {
            run("flac", folder, &["--silent", "--test", name]);
        }
        if codec != "opus" && codec != "mp3" {
            run("sox", folder, &[name, "-n", "stat"]);
        }
        let info = run("mediainfo", folder, &["--Output=General;%Format%", name]);
        assert_eq!(info.trim(), container, "{name}");
        let entries = "format_tags:stream_tags";
        let tags = run("ffprobe", folder, &["-v", "error", "-show_entries", entries, "-of", "json", name]);
        let tags: Value = serde_json::from_str(&tags).expect("JSON of ffprobe");
        // Ogg files have the tags of their stream.
        let tag = |tag: &str| {
            let of = |part: &Value| {
                let probe_report =
                    part["tags"].as_object()?.iter().find(|(key, _)| key.eq_ignore_ascii_case(tag))?;
                probe_report.1.as_str().map(ToOwned::to_owned)
            };
            of(&tags["format"]).or_else(|| of(&tags["streams"][0]))
        };
        for (field, expected) in
            [("title", TITLE), ("artist", "Ada"), ("album", "First"), ("genre", "Folk"), ("date", "1987")]
        {
            assert_eq!(tag(field).as_deref(), Some(expected), "{name}: {field} in {tags}");
        }
        if container == "Wave" {
            check_cues(folder, name, rate_hz);
        } else {
            check_chapters(folder, name);
            check_cover(folder, name);
        }
        let bytes = std::fs::read(folder.join(name)).expect("the file");
        let isrc = b"GBA1B2300001";
        assert!(
            bytes.windows(isrc.len()).any(|window| window == isrc)
                || bytes.windows(2 * isrc.len()).any(|window| {
                    window.iter().step_by(2).eq(isrc) || window.iter().skip(1).step_by(2).eq(isrc)
                }),
            "{name} has no ISRC"
        );
    }
}

#[test]
fn other_programs_measure_ten_songs_as_their_receipts_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    for (number, song) in SONGS.into_iter().enumerate() {
        let input = format!("{SONGS_FOLDER}/{song}.mid");
        for step in [0, 5, 10] {
            let (name, args, codec, rate_hz) = FILES[(number + step) % FILES.len()];
            let receipt = render_input(folder, &input, name, &[args, &["--range", "0:28800"]].concat());
            println!("{song} to {name}");
            check(folder, name, &receipt, codec, rate_hz);
        }
    }
}

#[test]
fn a_broadcast_wave_file_has_the_loudness_of_its_receipt() {
    let folder = folder_with_song();
    let receipt = render(folder.path(), "a.wav", &["--lufs", "-23", "--title", "Song"]);
    let bytes = std::fs::read(folder.path().join("a.wav")).expect("the file");
    let start = bytes.windows(4).position(|id| id == b"bext").expect("a chunk bext") + 8;
    let hundredths = |index: usize| {
        let at = start + 412 + 2 * index;
        f64::from(i16::from_le_bytes([bytes[at], bytes[at + 1]])) / 100.0
    };
    assert!(bytes[start..].starts_with(b"Song\0"));
    assert_eq!(bytes[start + 346..start + 348], [2, 0], "the version");
    for (index, expected) in [
        (0, &receipt["lufs"]),
        (1, &receipt["receipt"]["loudness_range_lu"]),
        (2, &receipt["true_peak_db"]),
        (3, &receipt["receipt"]["max_momentary_lufs"]),
        (4, &receipt["receipt"]["max_short_term_lufs"]),
    ] {
        let expected = expected.as_f64().expect("a number");
        assert!(
            (hundredths(index) - expected).abs() <= 0.005,
            "value {index}: {} for {expected}",
            hundredths(index)
        );
    }
    assert!((hundredths(0) + 23.0).abs() < 0.1);
}

#[test]
fn a_flac_file_contains_the_samples_of_the_wav_file() {
    let folder = folder_with_song();
    let folder = folder.path();
    for (depth, raw) in [("pcm16", "s16le"), ("pcm24", "s24le")] {
        let hashes = ["a.wav", "a.flac"].map(|name| {
            let receipt = render(folder, name, &["--bit-depth", depth]);
            let codec = format!("pcm_{raw}");
            let output_name = format!("{name}.raw");
            run(
                "ffmpeg",
                folder,
                &["-v", "error", "-y", "-i", name, "-f", raw, "-c:a", &codec, &output_name],
            );
            let sum = run("sha256sum", folder, &[&output_name]);
            let decoded_hash = sum.split(' ').next().expect("a hash").to_owned();
            assert_eq!(receipt["receipt"]["pcm_sha256"], decoded_hash, "{name}");
            decoded_hash
        });
        assert_eq!(hashes[0], hashes[1], "{depth}");
    }
}

#[test]
fn a_file_that_is_encoded_again_has_no_bytes_of_the_first_attempt() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let song = format!("{SONGS_FOLDER}/the_hobo_redfarn.mid");
    for (name, quality) in [("a.mp3", "6"), ("a.ogg", "8")] {
        let options = ["--lufs", "-14", "--range", "7680:30720", "--quality", quality];
        let receipt = render_input(folder, &song, name, &options);
        let attempts = receipt.pointer("/receipt/normalization/attempts").and_then(Value::as_u64);
        assert!(attempts.is_some_and(|attempts| attempts > 1), "{name}: {attempts:?} attempts");
        assert_eq!(run("ffmpeg", folder, &["-v", "error", "-i", name, "-f", "null", "-"]), "", "{name}");
    }
    let ogg = std::fs::read(folder.join("a.ogg")).expect("the file");
    let page = ogg.windows(4).rposition(|bytes| bytes == b"OggS").expect("a page");
    // RFC 3533, section 6: 27 bytes, and then the sizes of the segments of the page.
    let sizes = &ogg[page + 27..][..usize::from(ogg[page + 26])];
    let end = page + 27 + sizes.len() + sizes.iter().map(|size| usize::from(*size)).sum::<usize>();
    assert_eq!(end, ogg.len(), "the file ends with its last page");
}

/// Returns the content of the chunk `data` of a WAV file.
fn data_of(folder: &Path, name: &str) -> Vec<u8> {
    let bytes = std::fs::read(folder.join(name)).expect("the file");
    let mut chunks = &bytes[12..];
    loop {
        let (head, content) = chunks.split_at(8);
        let size = u32::from_le_bytes(head[4..].try_into().expect("four bytes")) as usize;
        if head.starts_with(b"data") {
            return content[..size].to_vec();
        }
        chunks = &content[size.next_multiple_of(2)..];
    }
}

#[test]
fn integers_differ_from_floats_by_dither_only() {
    let folder = folder_with_song();
    let folder = folder.path();
    render(folder, "float.wav", &["--bit-depth", "float32"]);
    let floats: Vec<f64> = data_of(folder, "float.wav")
        .chunks_exact(4)
        .map(|bytes| f64::from(f32::from_le_bytes(bytes.try_into().expect("four bytes"))))
        .collect();
    for (depth, bytes, steps) in [("pcm16", 2, 32_768.0), ("pcm24", 3, 8_388_608.0)] {
        render(folder, "integer.wav", &["--bit-depth", depth]);
        let data = data_of(folder, "integer.wav");
        // Errors in steps of the integers.
        let errors: Vec<f64> = data
            .chunks_exact(bytes)
            .zip(&floats)
            .map(|(bytes, float)| {
                let mut wide = [0; 4];
                wide[4 - bytes.len()..].copy_from_slice(bytes);
                let integer = i32::from_le_bytes(wide) >> (32 - 8 * bytes.len());
                f64::from(integer) - steps * float
            })
            .collect();
        assert_eq!(errors.len(), floats.len(), "{depth}");
        let count = errors.len() as f64;
        let mean = errors.iter().sum::<f64>() / count;
        let variance = errors.iter().map(|error| error * error).sum::<f64>() / count;
        let largest_error =
            errors.iter().fold(0.0_f64, |largest_error, error| largest_error.max(error.abs()));
        // Dither with a triangular distribution of two steps (variance 1/6), then rounding (1/12).
        assert!(mean.abs() < 0.005, "{depth}: mean {mean}");
        assert!((variance - 0.25).abs() < 0.005, "{depth}: variance {variance}");
        assert!(largest_error <= 1.5, "{depth}: {largest_error}");
        // The errors of neighbouring samples of a channel are not correlated.
        let neighbours = errors.iter().zip(&errors[2..]).map(|(a, b)| a * b).sum::<f64>() / count;
        assert!(neighbours.abs() < 0.005, "{depth}: covariance {neighbours}");
    }
}

#[test]
fn options_that_a_format_lacks_are_refused_with_what_it_has() {
    let folder = folder_with_song();
    for (name, args, part) in [
        ("a.aiff", &[][..], "supported formats: wav, flac, mp3, ogg and opus"),
        ("a.mp3", &["--sample-rate", "96000"], "one of 44100 and 48000 Hz"),
        ("a.opus", &["--bit-depth", "pcm16"], "`opus` has no bit depth"),
        ("a.mp3", &["--bit-rate-kbps", "100"], "96, 128, 160, 192, 224, 256 and 320"),
        ("a.ogg", &["--quality", "11"], "choose 0 to 10"),
        ("a.wav", &["--cover", COVER], "a WAV file cannot have a cover picture"),
        ("a.mp3", &["--cover", SONG], "the cover song.json is neither a JPEG nor a PNG file"),
        ("a.mp3", &["--cover", "none.png"], "cannot read the cover none.png"),
        ("a.flac", &["--isrc", "x"], "--isrc is `x`; expected two letters"),
        ("a.flac", &["--title", "two\nlines"], "--title contains the control character U+000A"),
    ] {
        let output = songfoundry(&folder.path().join("storage"))
            .current_dir(folder.path())
            .args(["render", SONG, "--soundfont", BANK, "-o", name])
            .args(args)
            .output()
            .expect("runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(part), "{name} {args:?}: {text}");
    }
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("a folder").count(),
        2,
        "only song and cover are there"
    );
}

#[test]
fn audio_files_are_converted_and_measured() {
    let folder = folder_with_song();
    let folder = folder.path();
    let mix = render(folder, "mix.wav", &["--bit-depth", "float32"]);
    let command = |args: &[&str]| {
        let mut command = songfoundry(&folder.join("storage"));
        let output = command.current_dir(folder).args(args).output().expect("runs");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    // `analyze` measures in the file the values that `render` reported.
    let analysis = command(&["analyze", "mix.wav", "--json"]);
    for field in ["lufs", "true_peak_db", "duration_secs"] {
        let values = [&mix[field], &analysis[field]].map(|value| value.as_f64().expect("a number"));
        assert!((values[0] - values[1]).abs() < 1e-9, "{field}: {values:?}");
    }
    // A conversion to floats at the same rate changes no sample.
    let second_output = command(&["master", "mix.wav", "--bit-depth", "float32", "-o", "same.wav", "--json"]);
    assert_eq!(second_output["pcm_sha256"], mix["receipt"]["pcm_sha256"]);
    for (name, codec, rate_hz, args) in [
        ("cd.wav", "pcm_s16le", 44_100, &["--lufs", "-14", "--sample-rate", "44100"][..]),
        ("archive.flac", "flac", 96_000, &["--bit-depth", "pcm24", "--sample-rate", "96000"]),
        ("episode.mp3", "mp3", 48_000, &["--lufs", "-16", "--title", "Episode"]),
        ("web.opus", "opus", 48_000, &["--lufs", "-16"]),
    ] {
        let receipt = command(&[&["master", "mix.wav", "-o", name, "--json"][..], args].concat());
        check(folder, name, &receipt, codec, rate_hz);
    }
    for (args, part) in [
        (&["master", "mix.wav", "-o", "mix.wav"][..], "would replace mix.wav"),
        (&["master", "gone.wav", "-o", "out.wav"], "gone.wav"),
        (&["analyze", "storage"], "storage"),
        (&["render", SONG, "--soundfont", BANK, "--gain-db=-inf", "-o", "out.wav"], "--gain-db"),
    ] {
        let output =
            songfoundry(&folder.join("storage")).current_dir(folder).args(args).output().expect("runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(part), "{args:?}: {text}");
    }
    assert!(!folder.join("out.wav").exists());
}
