//! Fuzz target for project documents. A document must be refused with a limited number of problems,
//! or read and compiled, in bounded memory. The engine then plays the project with finite output
//! within the estimated memory, and the project is exported as a MIDI file.

use std::sync::LazyLock;

use dsp_core::effects::EFFECTS;
use dsp_core::mixer::Slots;
use dsp_core::render::{OfflineRender, TailConfig};
use dsp_core::session::{Audio, AudioSlot};
use dsp_core::soundfont::Bank;
use schemas::Project;
use schemas::json::JsonText;
use schemas::session::{CompiledProject, MediaResolver, ResolvedAudio, compile, files_used, presets_used};
use schemas::upgrade::upgrade;
use schemas::validate::{MAX_VIOLATIONS, validate};
use serde_json::{Value, json};

use crate::choices::Choices;
use crate::{Seed, banks, midi, mutate, with_memory_limit};

/// Maximum length of a description of a problem, in bytes.
const DETAIL_MAX_BYTES: usize = 1_000;

/// Maximum memory of sessions that are played, in bytes. The service has a setting for this.
const PLAYED_MAX_BYTES: u64 = 16 << 20;

/// Number of blocks that each session renders.
const BLOCKS: usize = 3;

/// Length of all audio files, in frames at the sample rate of the session.
const AUDIO_FRAMES: u64 = 3_000;
/// Sample rate of all audio files.
const AUDIO_RATE_HZ: u32 = 44_100;

/// Returns the maximum memory of checking a document: ten times its size, and the memory of an
/// empty document with the tables of the schema, which are allocated once.
fn limit_bytes(document: &[u8]) -> usize {
    10 * document.len() + (512 << 10)
}

/// Panics if a document is read, validated, played or exported incorrectly.
pub fn check(input: &[u8]) {
    let limit_bytes = limit_bytes(input);
    let Ok(text) = with_memory_limit(limit_bytes, "reading JSON", || JsonText::read(input)) else { return };
    let Ok(document) = with_memory_limit(limit_bytes, "an upgrade", || upgrade(&text, "fuzz")) else {
        return;
    };
    assert_eq!(
        JsonText::read(document.as_str().as_bytes()).as_ref().ok(),
        Some(&document),
        "an upgraded project must be JSON"
    );
    assert_eq!(upgrade(&document, "other").as_ref(), Ok(&document), "a second upgrade must change nothing");
    if let Err(violations) = with_memory_limit(limit_bytes, "validation", || validate(&document)) {
        assert!((1..=MAX_VIOLATIONS).contains(&violations.len()), "{} problems", violations.len());
        for violation in violations {
            let bytes = violation.detail.len();
            assert!(
                (1..=DETAIL_MAX_BYTES).contains(&bytes),
                "{bytes} bytes of detail for {}",
                violation.pointer
            );
        }
        return;
    }
    let project = schemas::read::project(&document).expect("a valid document is a project");
    let read_document = JsonText::of_value(&serde_json::to_value(&project).expect("a project is JSON"));
    assert_eq!(validate(&read_document), Ok(()), "a project that was read must be valid");
    midi::check_export(&document, &project);
    play(&project);
}

/// A resolver with all audio files and one bank.
struct AllMedia {
    files: Vec<String>,
}

impl MediaResolver for AllMedia {
    fn bank_slot(&mut self, _: Option<&str>) -> Option<u32> {
        Some(0)
    }

    fn audio(&mut self, server_file_id: &str) -> Option<ResolvedAudio> {
        let slot = self.files.iter().position(|id| id == server_file_id)? as u32;
        Some(ResolvedAudio { slot, frames: AUDIO_FRAMES, file_rate_hz: AUDIO_RATE_HZ })
    }
}

fn play(project: &Project) {
    static BANK: LazyLock<Bank> =
        LazyLock::new(|| Bank::from_vec(banks::looped().bytes()).expect("a valid bank"));
    static SAMPLES: LazyLock<Vec<f32>> =
        LazyLock::new(|| (0..AUDIO_FRAMES).map(|frame| (frame % 100) as f32 / 100.0 - 0.5).collect());
    let files = files_used(project);
    let mut media = AllMedia { files };
    let CompiledProject { session, left_out } =
        compile(project, project.sample_rate_hz, &mut media).expect("a valid project has a session");
    for part in left_out {
        assert!(part.pointer.starts_with('/') && !part.reason.to_string().is_empty());
    }
    let slot = |_: &String| Some(AudioSlot::Whole(Audio::from_channels(&SAMPLES, None)));
    let audio: Vec<Option<AudioSlot>> = media.files.iter().take(8).map(slot).collect();
    let banks = [Some(BANK.clone())];
    let slots = Slots { banks: &banks, audio: &audio };
    let memory_need = session.memory_need(slots).expect("a valid project can be played");
    if memory_need.bytes() > PLAYED_MAX_BYTES {
        return;
    }
    BANK.prepare(&presets_used(&session, 0)).expect("a bank without compressed samples");
    with_memory_limit(memory_need.bytes() as usize, "a render", || {
        let tail = TailConfig::default();
        let mut render = OfflineRender::new(&session, slots, tail).expect("a valid project can be played");
        for _ in 0..BLOCKS {
            let Some((left, right)) = render.next_block() else { break };
            assert!(left.iter().chain(right).all(|value| value.is_finite()), "a value is not finite");
        }
    });
}

/// Mutates values of a document.
pub fn mutate(bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    mutate::json::mutate(bytes, choices)
}

/// Returns documents with each kind of track, effect, automation and control.
pub fn seeds() -> Vec<Seed> {
    let seed = |name: &str, value: Value| (name.to_owned(), value.to_string().into_bytes());
    let mut seeds = vec![
        seed("notes.json", song(json!([notes()]))),
        seed("controls.json", song(json!([controls()]))),
        seed("audio.json", song(json!([audio_track()]))),
        seed("routes.json", routes()),
        seed("old.json", historical()),
        seed("plugins.json", plugins()),
    ];
    for effect in EFFECTS {
        seeds.push(seed(&format!("effect-{}.json", effect.id), with_effect(effect)));
    }
    seeds
}

/// Returns no seeds. `scripts/fuzz` also uses the examples of the schema.
pub fn installed_seeds() -> Vec<Seed> {
    Vec::new()
}

fn song(tracks: Value) -> Value {
    json!({"schema_version": 1, "project_id": "p", "name": "Song", "sample_rate_hz": 48_000,
           "tempo_map": [{"tick": 0, "bpm": 120}, {"tick": 960, "bpm": 90.5}],
           "settings": {"polyphony": 8, "seed": 7, "interpolation": "linear"}, "tracks": tracks})
}

fn notes() -> Value {
    let note = |tick: u32, length_ticks: u32, pitch: u8, velocity: f64| json!({"tick": tick, "length_ticks": length_ticks, "pitch": pitch, "velocity": velocity});
    json!({"id": "t", "name": "Keys", "kind": "instrument", "volume_db": -3, "pan": 0.5,
           "synth_engine": {"type": "soundfont", "bank": 0, "program": 0},
           "items": [{"type": "midi", "id": "i", "start_tick": 0, "length_ticks": 960,
                      "notes": [note(0, 480, 60, 0.8), note(0, 0, 127, 1.0), note(20, 2_000, 0, 0.001)]},
                     {"type": "midi", "id": "j", "start_tick": 10, "length_ticks": 1, "soundfont_bank": 128,
                      "soundfont_program": 0, "notes": [note(0, 1, 61, 0.5)]}]})
}

fn controls() -> Value {
    let mut track = notes();
    track["items"][0]["controls"] = json!([
        {"tick": 0, "type": "cc", "controller": 7, "value": 100}, {"tick": 0, "type": "bend", "value": -8192},
        {"tick": 1, "type": "pressure", "value": 30}, {"tick": 1, "type": "key_pressure", "key": 60, "value": 12},
        {"tick": 2, "type": "program", "program": 0, "bank": 128}, {"tick": 3, "type": "program", "program": 5},
        {"tick": 4, "type": "rpn", "parameter": 0, "value": 1536}, {"tick": 5, "type": "nrpn", "parameter": 16383,
        "value": 0}]);
    track
}

fn audio_track() -> Value {
    json!({"id": "v", "kind": "audio", "items": [
        {"type": "audio", "id": "a", "start_tick": 0, "offset_frames": 10, "length_frames": 2000, "gain_db": -1.5,
         "fades": {"in_frames": 64, "out_frames": 200}, "source": {"server_file_id": "f"}, "server_file_id": "f"},
        {"type": "audio", "id": "b", "start_tick": 1, "length_frames": 9000, "loop": true,
         "source": {"server_file_id": "f"}, "server_file_id": "f", "audio_file_url": "/api/v1/audio/f/file"},
        {"type": "section", "sectionId": "s", "name": "Verse", "start_tick": 0, "length_ticks": 960}]})
}

/// Returns a document with groups, buses, sends and a side-chain, and automation of each.
fn routes() -> Value {
    let points = json!([{"tick": 0, "value": -60, "curve": "linear"}, {"tick": 20, "value": 0, "curve": "step"},
                        {"tick": 40, "value": -6, "curve": -0.5}]);
    let mut keys = notes();
    keys["output"] = "group".into();
    keys["sends"] = json!([{"to": "bus", "level_db": -12, "pre_fader": true}]);
    keys["effects"] = json!([{"id": "e", "type": "builtin", "name": "compressor", "params": {"threshold_db": -40},
                              "side_chain": "v"}]);
    keys["automation"] = json!([{"target": "volume_db", "points": points}, {"target": "send/bus", "points": points},
                                {"target": "e/threshold_db", "points": points}, {"target": "pan", "points": [
                                {"tick": 0, "value": -1}]}]);
    let mut document = song(json!([keys, audio_track(), {"id": "group", "kind": "group", "mute": true},
                                   {"id": "bus", "kind": "bus", "solo": true, "effects": [
                                    {"id": "r", "type": "builtin", "name": "reverb", "params": {}}]}]));
    document["master"] = json!({"volume_db": -2, "effects": [{"id": "m", "type": "builtin", "name": "equalizer"}],
                                "automation": [{"target": "volume_db", "points": points}]});
    document["markers"] = json!([{"tick": 0, "name": "Start"}]);
    document["time_signatures"] = json!([{"tick": 0, "numerator": 7, "denominator": 8}]);
    document
}

/// Returns a document with historical names and forms, which an upgrade changes.
fn historical() -> Value {
    json!({"name": "Old", "tracks": [{"id": "t", "kind": "instrument", "synth_engine": null, "items": [
        {"type": "section", "section_id": "s", "name": "A", "start_tick": 0, "length_ticks": 1},
        {"type": "section", "name": "no id", "start_tick": 0, "length_ticks": 1},
        {"type": "audio", "id": "a", "start_tick": 0, "source": {"server_file_id": ""},
         "audio_file_url": "/api/v1/audio/f-17/file"}]}]})
}

fn plugins() -> Value {
    song(
        json!([{"id": "t", "kind": "instrument", "synth_engine": {"type": "vst3", "plugin_id": "A", "state": "AAEC"},
                 "effects": [{"id": "x", "type": "vst3", "plugin_id": "ABC", "name": "Plugin", "params": {"1": 0.5},
                              "state": "AAEC", "bypass": true}], "items": []}]),
    )
}

/// Returns a document with one effect. Each parameter of the effect is automated, and the last
/// parameter is set to its maximum.
fn with_effect(effect: &dsp_core::effects::EffectKind) -> Value {
    let mut track = notes();
    let mut settings = json!({"id": "e", "type": "builtin", "name": effect.id, "params": {}});
    let mut lanes = Vec::new();
    for parameter in effect.parameters {
        let (min, max) = (parameter.min, parameter.max);
        lanes.push(json!({"target": format!("e/{}", parameter.id), "points": [
            {"tick": 0, "value": min, "curve": "linear"}, {"tick": 20, "value": max}]}));
    }
    if let Some(last) = effect.parameters.last() {
        settings["params"][last.id] = last.max.into();
    }
    if effect.impulse_max_secs.is_some() {
        settings["impulse"] = "f".into();
    }
    if effect.has_side_chain {
        settings["side_chain"] = "v".into();
    }
    track["effects"] = json!([settings]);
    track["automation"] = lanes.into();
    song(json!([track, audio_track()]))
}
