//! Renders real songs from MIDI files to WAV files, through the API and the command line.
//!
//! The songs are the 31 of Debian's `openttd-openmsx`, the banks its `timgm6mb-soundfont` and
//! `fluid-soundfont-gm`. The level at import is also tested with songs of its `freedoom`.
//! `scripts/test` installs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use midly::{MetaMessage, Smf, Timing, TrackEventKind};
use serde_json::{Value, json};
use songfoundry_tests::{Service, debug_binary};

const SONGS: &str = "/usr/share/games/openttd/baseset/openmsx";
const BANKS: &str = "/usr/share/sounds/sf2";
const SONG_COUNT: usize = 31;
const WADS: &str = "/usr/share/games/doom";

/// Number of songs of `freedoom` (32 in the first file, 35 in the second) and of Debian's
/// `playmidi` (3).
const OTHER_SONG_COUNT: usize = 70;
const SAMPLE_RATE_HZ: f64 = 48_000.0;

/// Maximum tail of a render after the end of the MIDI file, in seconds, with a margin.
const TAIL_SECS: f64 = 5.1;

fn songs() -> Vec<PathBuf> {
    let folder =
        std::fs::read_dir(SONGS).unwrap_or_else(|error| panic!("{SONGS}: {error}; see scripts/test"));
    let mut songs: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
    songs.retain(|path| path.extension().is_some_and(|extension| extension == "mid"));
    songs.sort();
    assert_eq!(songs.len(), SONG_COUNT, "songs in {SONGS}");
    songs
}

/// Returns the length of a MIDI file: the end of its longest track, with all tempo changes.
fn length_secs(file: &[u8]) -> f64 {
    let smf = Smf::parse(file).expect("a MIDI file");
    let Timing::Metrical(ticks_per_quarter) = smf.header.timing else { panic!("SMPTE timing") };
    let (mut tempos, mut end) = (Vec::new(), 0_u64);
    for track in &smf.tracks {
        let mut tick = 0;
        for event in track {
            tick += u64::from(event.delta.as_int());
            if let TrackEventKind::Meta(MetaMessage::Tempo(micros)) = event.kind {
                tempos.push((tick, f64::from(micros.as_int())));
            }
        }
        end = end.max(tick);
    }
    tempos.sort_by_key(|(tick, _)| *tick);
    let (mut secs, mut segment_start, mut micros) = (0.0, 0, 500_000.0);
    let seconds =
        |ticks: u64, micros: f64| ticks as f64 * micros / 1e6 / f64::from(ticks_per_quarter.as_int());
    for (tick, next_micros) in tempos {
        secs += seconds(tick - segment_start, micros);
        (segment_start, micros) = (tick, next_micros);
    }
    secs + seconds(end - segment_start, micros)
}

fn response_body(
    response: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    song_name: &str,
) -> ureq::Body {
    response.unwrap_or_else(|error| panic!("{song_name}: {error}")).into_body()
}

/// Imports and renders a song through the API, which then deletes the file. Returns the receipt and
/// the WAV file.
fn render_by_api(service: &Service, song: &Path, soundfont_id: &str) -> (Value, Vec<u8>) {
    let song_name = song.display().to_string();
    let bytes = std::fs::read(song).expect("the song reads");
    let import = ureq::post(service.api(&format!("/multitrack/midi/import?soundfont_id={soundfont_id}")))
        .header("content-type", "audio/midi")
        .send(&bytes[..]);
    let imported_song: Value = response_body(import, &song_name).read_json().expect("JSON");
    let request = json!({
        "project": imported_song["project"], "format": "wav", "bit_depth": "pcm16", "sample_rate_hz": SAMPLE_RATE_HZ as u32,
    });
    let render_report: Value =
        response_body(ureq::post(service.api("/plugins/render")).send_json(&request), &song_name)
            .read_json()
            .expect("JSON");
    let path = render_report["audio_url"].as_str().expect("audio_url");
    let path = path.strip_prefix("/api/v1").unwrap_or(path);
    let wav = response_body(ureq::get(service.api(path)).call(), &song_name)
        .with_config()
        .limit(1 << 30)
        .read_to_vec()
        .expect("the WAV file");
    response_body(ureq::delete(service.api(path.trim_end_matches("/file"))).call(), &song_name);
    (render_report, wav)
}

/// Renders a song on the command line and returns the receipt.
fn render_by_command_line(song: &Path, bank: &Path, storage: &Path) -> Value {
    let output = Command::new(debug_binary("songfoundry"))
        .arg("render")
        .arg(song)
        .arg("--soundfont")
        .arg(bank)
        .args(["--sample-rate", "48000", "--json", "-o"])
        .arg(storage.join("song.wav"))
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{}: {}", song.display(), String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a receipt in JSON")
}

/// Returns the samples of a 16-bit WAV file.
fn samples(wav: &[u8]) -> Vec<i16> {
    let start = wav.windows(4).position(|id| id == b"data").expect("a data chunk") + 8;
    wav[start..].as_chunks::<2>().0.iter().map(|bytes| i16::from_le_bytes(*bytes)).collect()
}

/// Counts how often a channel stays at its peak for three frames, which is a sign of clipping.
fn flat_tops(samples: &[i16]) -> usize {
    let peak = samples.iter().map(|sample| sample.unsigned_abs()).max().unwrap_or(0);
    let at_peak = |frame: &[i16], channel: usize| frame[channel].unsigned_abs() >= peak;
    let frames: Vec<&[i16]> = samples.chunks_exact(2).collect();
    let flat_count = |channel| {
        frames.windows(3).filter(|frame_run| frame_run.iter().all(|frame| at_peak(frame, channel))).count()
    };
    flat_count(0) + flat_count(1)
}

/// Returns the name and the gain reduction of a song if the limiter reduced it by more than 1 dB.
fn strongly_limited(name: &str, limiter: &Value) -> Option<String> {
    let reduction_db = limiter["largest_reduction_db"].as_f64().expect("decibels");
    (reduction_db > 1.0).then(|| format!("{name} by {reduction_db:.1} dB"))
}

/// Checks that the limiter reduces at least 95 % of the songs by at most 1 dB.
#[track_caller]
fn check_level_at_import(limited: &[String], song_count: usize) {
    assert!(
        limited.len() * 20 <= song_count,
        "more than 5 % of {song_count} songs are limited by more than 1 dB: {limited:?}"
    );
}

/// Reads a lump of a WAD file. The directory of the file has the offset, the size and the name of
/// each lump.
fn lump(wad: &str, name: &str) -> Vec<u8> {
    let path = Path::new(WADS).join(wad);
    let bytes =
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}; see scripts/test", path.display()));
    let number = |bytes: &[u8]| u32::from_le_bytes(*bytes.first_chunk().expect("4 bytes")) as usize;
    let (count, start) = (number(&bytes[4..]), number(&bytes[8..]));
    let mut padded = [0; 8];
    padded[..name.len()].copy_from_slice(name.as_bytes());
    let mut entries = bytes[start..].as_chunks::<16>().0[..count].iter();
    let entry_found = entries.find(|entry| entry[8..] == padded);
    let entry = entry_found.unwrap_or_else(|| panic!("{wad} has no {name}"));
    bytes[number(&entry[..])..][..number(&entry[4..])].to_vec()
}

/// The six songs are those of the 70 with the highest peaks: four with FluidR3 and two with
/// TimGM6mb. The limiter would reduce any other song by 1 dB only if it were 1.2 dB louder.
#[test]
fn the_limiter_reduces_95_percent_of_other_songs_by_at_most_1_db() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut limited = Vec::new();
    for (bank, wad, names) in [
        ("FluidR3_GM.sf2", "freedoom1.wad", &["D_E3M6", "D_INTER", "D_E3M8"][..]),
        ("FluidR3_GM.sf2", "freedoom2.wad", &["D_OPENIN"][..]),
        ("TimGM6mb.sf2", "freedoom2.wad", &["D_SHAWN", "D_DEAD2"][..]),
    ] {
        for name in names {
            let song = folder.path().join(name).with_extension("mid");
            std::fs::write(&song, lump(wad, name)).expect("writes");
            let receipt = render_by_command_line(&song, &Path::new(BANKS).join(bank), folder.path());
            let limiter = &receipt["receipt"]["limiter"];
            println!("{name} with {bank}: limiter {limiter}");
            limited.extend(strongly_limited(name, limiter));
        }
    }
    check_level_at_import(&limited, OTHER_SONG_COUNT);
}

fn every_song_renders_identically_by_api_and_command_line(bank: &str, soundfont_id: &str) {
    let storage =
        std::env::temp_dir().join(format!("songfoundry-songs-{soundfont_id}-{}", std::process::id()));
    std::fs::create_dir_all(&storage).expect("a folder");
    let service = Service::start(&storage.join("service"), &[("SF_SOUNDFONT_DIRS", BANKS)]);
    let mut limited = Vec::new();
    for song in songs() {
        let name = song.file_name().expect("a name").to_string_lossy().into_owned();
        let (render_report, wav) = render_by_api(&service, &song, soundfont_id);
        let receipt = render_by_command_line(&song, &Path::new(BANKS).join(bank), &storage);
        let hash = &render_report["receipt"]["pcm_sha256"];
        assert!(hash.as_str().is_some_and(|hash| hash.len() == 64), "{name}: {render_report}");
        assert_eq!(hash, &receipt["receipt"]["pcm_sha256"], "{name}: API and command line differ");

        let samples = samples(&wav);
        let peak = samples.iter().map(|sample| sample.unsigned_abs()).max().unwrap_or(0);
        assert!(peak > 1_000, "{name} is nearly silent: peak {peak} of 32768");
        assert_eq!(flat_tops(&samples), 0, "{name} is clipped: a channel stays at its peak");
        assert_eq!(render_report["receipt"]["clipped_samples"], 0, "{name}");

        let rendered_secs = samples.len() as f64 / 2.0 / SAMPLE_RATE_HZ;
        let file_secs = length_secs(&std::fs::read(&song).expect("the song reads"));
        assert!(
            (file_secs - 0.01..file_secs + TAIL_SECS).contains(&rendered_secs),
            "{name} lasts {rendered_secs} s, but the MIDI file lasts {file_secs} s"
        );
        let limiter = &render_report["receipt"]["limiter"];
        println!("{name}: {file_secs:.1} s, rendered {rendered_secs:.1} s, peak {peak}, limiter {limiter}");
        limited.extend(strongly_limited(&name, limiter));
    }
    check_level_at_import(&limited, SONG_COUNT);
    drop(service);
    std::fs::remove_dir_all(&storage).expect("the folder can be removed");
}

#[test]
fn songs_with_timgm6mb_render_identically_by_api_and_command_line() {
    every_song_renders_identically_by_api_and_command_line("TimGM6mb.sf2", "timgm6mb");
}

#[test]
fn songs_with_fluidr3_render_identically_by_api_and_command_line() {
    every_song_renders_identically_by_api_and_command_line("FluidR3_GM.sf2", "fluidr3gm");
}
