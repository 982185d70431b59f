//! A soft piano is as bright as in FluidSynth, the synthesizer for which banks are tuned.
//!
//! The test uses Debian's `fluidsynth`, `timgm6mb-soundfont` and `fluid-soundfont-gm`, which
//! `scripts/test` installs.

use std::path::Path;
use std::process::Command;

use midly::num::{u4, u7, u15, u28};
use midly::{Format, Header, MidiMessage, Smf, Timing, TrackEvent, TrackEventKind};
use songfoundry_tests::debug_binary;

const BANKS: &str = "/usr/share/sounds/sf2";
const RATE_HZ: f64 = 48_000.0;
const VELOCITY: u8 = 40;

/// Lower limit of the treble, in hertz.
const TREBLE_HZ: f64 = 4_000.0;

/// Allowed difference in decibels. The measured differences of the two banks are 0.2 and 0.6, due
/// to FluidSynth's filter and interpolation. With the default modulator of the SoundFont
/// specification 2.04, section 8.4.2, the differences would be 8 and 11.
const TOLERANCE_DB: f64 = 1.0;

/// Returns a MIDI file with piano keys of four octaves, each for a second, without reverb and
/// chorus.
fn song() -> Vec<u8> {
    let event = |delta: u32, message: MidiMessage| TrackEvent {
        delta: u28::new(delta),
        kind: TrackEventKind::Midi { channel: u4::new(0), message },
    };
    let control =
        |number: u8| event(0, MidiMessage::Controller { controller: u7::new(number), value: u7::new(0) });
    let mut track = vec![control(91), control(93)];
    for key in (48..=96).step_by(6).map(u7::new) {
        track.push(event(0, MidiMessage::NoteOn { key, vel: u7::new(VELOCITY) }));
        track.push(event(960, MidiMessage::NoteOff { key, vel: u7::new(0) }));
    }
    track.push(TrackEvent { delta: u28::new(0), kind: TrackEventKind::Meta(midly::MetaMessage::EndOfTrack) });
    // Without a tempo event, the tempo is 120 quarter notes per minute.
    let header = Header { format: Format::SingleTrack, timing: Timing::Metrical(u15::new(480)) };
    let mut bytes = Vec::new();
    Smf { header, tracks: vec![track] }.write_std(&mut bytes).expect("a MIDI file");
    bytes
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}; see scripts/test"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Reads the left channel of a WAV file of 32-bit floats.
fn left_channel(path: &Path) -> Vec<f64> {
    let wav = std::fs::read(path).expect("the file");
    let start = wav.windows(4).position(|id| id == b"data").expect("a data chunk") + 8;
    wav[start..]
        .chunks_exact(8)
        .map(|frame| f64::from(f32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]])))
        .collect()
}

/// Filters a signal with a fourth-order Butterworth high-pass (Bristow-Johnson, "Audio EQ
/// Cookbook").
fn treble(signal: &[f64]) -> Vec<f64> {
    let angle = std::f64::consts::TAU * TREBLE_HZ / RATE_HZ;
    let mut filtered_signal = signal.to_vec();
    for quality in [0.541_196_1, 1.306_563] {
        let alpha = angle.sin() / (2.0 * quality);
        let (feedforward, norm) = ((1.0 + angle.cos()) / 2.0, 1.0 + alpha);
        let (feedback_1, feedback_2) = (-2.0 * angle.cos() / norm, (1.0 - alpha) / norm);
        let (mut inputs, mut outputs) = ([0.0; 2], [0.0; 2]);
        for value in &mut filtered_signal {
            let output = feedforward / norm * (*value - 2.0 * inputs[0] + inputs[1])
                - feedback_1 * outputs[0]
                - feedback_2 * outputs[1];
            (inputs, outputs) = ([*value, inputs[0]], [output, outputs[0]]);
            *value = output;
        }
    }
    filtered_signal
}

/// Returns the level of the treble relative to the whole signal, in decibels.
fn brightness_db(signal: &[f64]) -> f64 {
    let energy = |signal: &[f64]| signal.iter().map(|value| value * value).sum::<f64>();
    10.0 * (energy(&treble(signal)) / energy(signal)).log10()
}

fn check(bank: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let bank_path = Path::new(BANKS).join(bank);
    std::fs::write(path("song.mid"), song()).expect("writes");
    run(Command::new(debug_binary("songfoundry"))
        .args(["render", "--bit-depth", "float32", "-o"])
        .args([path("ours.wav"), path("song.mid")])
        .arg("--soundfont")
        .arg(&bank_path));
    run(Command::new("fluidsynth")
        .args(["-ni", "-R", "0", "-C", "0", "-r", "48000", "-O", "float", "-T", "wav", "-F"])
        .args([path("theirs.wav"), bank_path, path("song.mid")]));
    let [our_db, fluidsynth_db] =
        ["ours.wav", "theirs.wav"].map(|name| brightness_db(&left_channel(&path(name))));
    println!("{bank}: {our_db:.2} dB, FluidSynth {fluidsynth_db:.2} dB");
    assert!(
        (our_db - fluidsynth_db).abs() < TOLERANCE_DB,
        "{bank}: {our_db:.2} dB, FluidSynth {fluidsynth_db:.2} dB"
    );
}

#[test]
fn a_soft_piano_is_as_bright_as_in_fluidsynth() {
    check("TimGM6mb.sf2");
    check("FluidR3_GM.sf2");
}
