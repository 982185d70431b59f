//! Measures exports of finished files: a song with effects to a normalized file, beside the same
//! steps of other programs, and a song of three hours.

use std::path::Path;

use anyhow::{Context as _, ensure};
use midly::num::{u4, u7, u15, u24, u28};
use midly::{Format, Header, MetaMessage, MidiMessage, Smf, Timing, TrackEvent, TrackEventKind};
use serde_json::{Value, json};
use songfoundry_server::multitrack::midi::{ImportOptions, import};

use super::{Args, FLUIDR3, Goal, TIMGM6MB, print_figure};
use crate::process::{measure, path_text};
use crate::song::RATE_HZ;
use crate::stats::median;

/// Length of the song with effects in seconds, and in its quarter notes at 120 per minute.
const SONG_SECS: f64 = 300.0;
const BEATS: u32 = 600;

/// Ticks per quarter note of the MIDI file.
const PPQ: u16 = 480;

/// Ticks per second of a project at 120 quarter notes per minute.
const TICKS_PER_SEC: u32 = 1_920;

/// The target of the normalization.
const TARGET_LUFS: &str = "-14";
const TRUE_PEAK_DB: &str = "-1";

/// Returns a MIDI file with 16 tracks of chords, melodies and drums, which all play to the end.
fn midi_file() -> anyhow::Result<Vec<u8>> {
    let event = |delta, kind| TrackEvent { delta: u28::new(delta), kind };
    let end = || event(0, TrackEventKind::Meta(MetaMessage::EndOfTrack));
    let mut midi = Smf::new(Header::new(Format::Parallel, Timing::Metrical(u15::new(PPQ))));
    midi.tracks.push(vec![event(0, TrackEventKind::Meta(MetaMessage::Tempo(u24::new(500_000)))), end()]);
    for channel in 0..16_u8 {
        let message = |message| TrackEventKind::Midi { channel: u4::new(channel), message };
        let program = u7::new(channel * 8 % 120);
        let mut track = vec![event(0, message(MidiMessage::ProgramChange { program }))];
        for beat in 0..BEATS {
            let root = match channel {
                9 => 36 + (beat % 2) as u8 * 2,
                _ => 40 + channel * 2 + (beat / 4 % 4) as u8 * 3,
            };
            let chord: &[u8] = if channel % 4 == 0 { &[0, 4, 7] } else { &[0] };
            for interval in chord {
                let (key, vel) = (u7::new(root + interval), u7::new(60 + (beat % 8) as u8 * 6));
                track.push(event(0, message(MidiMessage::NoteOn { key, vel })));
            }
            for (number, interval) in chord.iter().enumerate() {
                let delta = if number == 0 { u32::from(PPQ) } else { 0 };
                let (key, vel) = (u7::new(root + interval), u7::new(0));
                track.push(event(delta, message(MidiMessage::NoteOff { key, vel })));
            }
        }
        track.push(end());
        midi.tracks.push(track);
    }
    let mut bytes = Vec::new();
    midi.write_std(&mut bytes)?;
    Ok(bytes)
}

/// Returns the project of the MIDI file, with an equalizer and a compressor on each track and a
/// delay on some.
fn project_with_effects(midi: &[u8]) -> anyhow::Result<Value> {
    let mut project = serde_json::to_value(import(midi, ImportOptions::default())?.project)?;
    let tracks = project["tracks"].as_array_mut().context("the imported project has no list `tracks`")?;
    ensure!(tracks.len() == 16, "the project has {} tracks instead of 16", tracks.len());
    for (index, track) in tracks.iter_mut().enumerate() {
        let names = ["equalizer", "compressor", "delay"];
        let names = &names[..if index % 4 == 0 { 3 } else { 2 }];
        let effect = |name| json!({ "id": name, "type": "builtin", "name": name });
        track["effects"] = names.iter().map(effect).collect();
    }
    Ok(project)
}

/// Returns the commands with which other programs make the file. Their effects process the mix
/// once, which is less work than effects on each track.
fn peer_commands(midi: &str, folder: &str, cores: &str) -> [Vec<String>; 4] {
    let command = |text: String| vec!["sh".to_owned(), "-c".to_owned(), text];
    let loudnorm = format!("loudnorm=I={TARGET_LUFS}:TP={TRUE_PEAK_DB}:LRA=11");
    [
        command(format!(
            "fluidsynth -n -i -q -r {RATE_HZ} -o synth.polyphony=256 -o synth.cpu-cores={cores} -R 1 -C 1 -O float \
             -T wav -F {folder}/a.wav {FLUIDR3} {midi}"
        )),
        command(format!(
            "sox {folder}/a.wav {folder}/b.wav gain -3 equalizer 100 0.7q 2 equalizer 1000 0.7q -1 equalizer 8000 0.7q 1 \
             compand 0.01,0.2 -30,-30,-18,-15,0,-6 echo 0.8 0.8 300 0.2"
        )),
        // The measurements go to a file, from which the second pass takes them.
        command(format!(
            "ffmpeg -nostats -i {folder}/b.wav -af {loudnorm}:print_format=json -f null - 2> {folder}/measured"
        )),
        command(format!(
            "value() {{ sed -n \"s/.*\\\"$1\\\" : \\\"\\(.*\\)\\\".*/\\1/p\" {folder}/measured; }}; \
             ffmpeg -v error -y -i {folder}/b.wav -af {loudnorm}:measured_I=$(value input_i):measured_TP=$(value input_tp):\
             measured_LRA=$(value input_lra):measured_thresh=$(value input_thresh):offset=$(value target_offset):linear=true \
             -ar {RATE_HZ} -c:a pcm_s16le {folder}/c.wav"
        )),
    ]
}

/// Prints how fast a song of five minutes becomes a normalized file, on one and on two processors.
fn report_song(args: &Args, folder: &Path) -> anyhow::Result<()> {
    let midi = midi_file()?;
    let (midi_path, project_path) = (folder.join("effects.mid"), folder.join("effects.json"));
    std::fs::write(&project_path, project_with_effects(&midi)?.to_string())?;
    std::fs::write(&midi_path, midi)?;
    let (output_path, folder) = (folder.join("effects.wav"), path_text(folder)?);
    let rate = RATE_HZ.to_string();
    let our_arguments = [path_text(&args.songfoundry)?, "render", path_text(&project_path)?];
    let options = [
        "--soundfont",
        FLUIDR3,
        "--sample-rate",
        &rate,
        "--lufs",
        TARGET_LUFS,
        "--true-peak-db",
        TRUE_PEAK_DB,
    ];
    let output = ["-o", path_text(&output_path)?];
    for (cores, processors) in [("1", "0"), ("2", "0,1")] {
        let only = ["taskset", "-c", processors];
        let (mut our_secs, mut peer_secs) = (Vec::new(), Vec::new());
        // The programs run in turn, so that other load of the machine affects all of them equally.
        for _ in 0..args.runs {
            our_secs.push(measure(&[&only[..], &our_arguments, &options, &output].concat())?.wall_secs);
            let mut secs = 0.0;
            for command in peer_commands(path_text(&midi_path)?, folder, cores) {
                let command: Vec<&str> = command.iter().map(String::as_str).collect();
                secs += measure(&[&only[..], &command].concat())?.wall_secs;
            }
            peer_secs.push(secs);
        }
        let [our_secs, peer_secs] = [our_secs, peer_secs].map(|secs| median(secs).unwrap_or(f64::NAN));
        let name = format!("16 tracks with effects to a file of {TARGET_LUFS} LUFS, {cores} processor(s)");
        print_figure(&name, SONG_SECS / our_secs, "x real", None);
        print_figure(
            "  fluidsynth, sox and ffmpeg (loudnorm, two passes)",
            SONG_SECS / peer_secs,
            "x real",
            None,
        );
        print_figure("  speed to theirs", peer_secs / our_secs, "x", Some(Goal::AtLeast(3.0)));
    }
    Ok(())
}

/// Prints the largest memory of a process that exports a song of three hours.
fn report_long_song(args: &Args, folder: &Path) -> anyhow::Result<()> {
    const SECS: u32 = 3 * 3_600;
    let notes: Vec<Value> = (0..SECS / 4)
        .map(|number| {
            let (tick, pitch) = (number * 4 * TICKS_PER_SEC, 48 + number % 24);
            json!({ "tick": tick, "length_ticks": 4 * TICKS_PER_SEC, "pitch": pitch, "velocity": 0.8 })
        })
        .collect();
    let length_ticks = SECS * TICKS_PER_SEC;
    let item =
        json!({ "type": "midi", "id": "i", "start_tick": 0, "length_ticks": length_ticks, "notes": notes });
    let engine = json!({ "type": "soundfont", "bank": 0, "program": 48 });
    let track = json!({ "id": "t", "kind": "instrument", "synth_engine": engine, "items": [item] });
    let song = json!({ "schema_version": 1, "name": "Three hours", "tracks": [track] });
    let song_path = folder.join("hours.json");
    std::fs::write(&song_path, song.to_string())?;
    for extension in ["wav", "mp3"] {
        let output_path = folder.join("hours").with_extension(extension);
        let mut command = vec![path_text(&args.songfoundry)?, "render", path_text(&song_path)?];
        command.extend(["--soundfont", TIMGM6MB, "--lufs", TARGET_LUFS, "-o", path_text(&output_path)?]);
        let usage = measure(&command)?;
        let name = format!("Three hours to a normalized {extension} file: memory");
        print_figure(&name, usage.peak_bytes as f64 / 1e6, "MB", Some(Goal::AtMost(300.0)));
        print_figure("  speed", f64::from(SECS) / usage.wall_secs, "x real", None);
        std::fs::remove_file(output_path)?;
    }
    Ok(())
}

/// Prints the speed of finished files, and the memory of a long one.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    println!();
    println!(
        "From a project to a finished file, with its receipt: time on the clock, loading the bank included."
    );
    report_song(args, folder)?;
    report_long_song(args, folder)
}
