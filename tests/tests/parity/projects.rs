//! Renders documents from their stored form to samples.

use std::path::Path;

use dsp_core::effects::{EFFECTS, EffectKind};
use dsp_core::mixer::{Mixer, Slots};
use dsp_core::session::{AutomationLane, AutomationTarget, EffectSettings, Session};
use dsp_core::simd::force_baseline;
use dsp_core::soundfont::Bank;
use schemas::session::{CompiledProject, compile, presets_used};
use serde_json::{Value, json};
use songfoundry_server::rendering::banks;

use super::documents::{Document, documents};
use super::renders::{Pcm, render_as_export, render_in_calls, render_streamed, sha256};
use super::sounds::{Library, Sound};
use super::{SMALL_BANK, lock_instruction_set, new_folder, write};

/// Length of the start that is also rendered with one frame a call, in seconds.
const START_SECS: u32 = 1;

/// Validates a document and compiles it to a session, as the service does.
fn session(document: &Document, library: &Library) -> Session {
    let name = &document.name;
    schemas::validate::validate(&schemas::json::JsonText::of_value(&document.project))
        .unwrap_or_else(|violations| panic!("{name}: {violations:?}"));
    let project = serde_json::from_value(document.project.clone()).expect("a project");
    let mut sounds = library;
    let CompiledProject { session, left_out } =
        compile(&project, document.sample_rate_hz, &mut sounds).expect("a session");
    assert_eq!(left_out, [], "{name}");
    session
}

/// Returns the small bank and the file of its reduced bank, if the session has instruments.
fn bank(session: &Session) -> Option<(Bank, Vec<u8>)> {
    let presets = presets_used(session, 0);
    session.tracks.iter().any(|track| track.instrument.is_some()).then(|| {
        let whole_slots =
            banks::open(Path::new(SMALL_BANK)).unwrap_or_else(|error| panic!("{SMALL_BANK}: {error}"));
        whole_slots.prepare(&presets).expect("the samples are decoded");
        let reduced_slots = whole_slots.write_reduced(&presets).expect("the bank is reduced");
        (whole_slots, reduced_slots)
    })
}

/// Checks that all methods to render a project give equal samples. Returns the project's entry in
/// the manifest.
fn check_renders(
    index: usize,
    document: &Document,
    session: &Session,
    library: &Library,
    folder: &Path,
) -> Value {
    let name = &document.name;
    let frames = session.length_frames as usize;
    let start_frames = (START_SECS * document.sample_rate_hz) as usize;
    let (whole_bank, reduced_file) = bank(session).unzip();
    let reduced_bank = reduced_file.clone().map(|file| Bank::from_vec(file).expect("a reduced bank"));
    let (whole_banks, reduced_banks) = ([whole_bank], [reduced_bank]);
    let (audio, streamed_audio) = (library.whole(), library.streamed());
    let whole_slots = Slots { banks: &whole_banks, audio: &audio };
    let reduced_slots = Slots { banks: &reduced_banks, audio: &audio };

    force_baseline(false);
    let reference = render_in_calls(session, whole_slots, 512, frames);
    let peak = reference.peak();
    assert!(peak > 0.05, "{name} is silent");
    let (hash, start_hash) = (reference.hash(), reference.start(start_frames).hash());
    let assert_same = |label: &str, pcm: &Pcm| {
        assert_eq!(pcm.hash(), hash, "{name}: {label}: {}", reference.difference(pcm));
    };
    let assert_same_start = |label: &str, pcm: &Pcm| {
        assert_eq!(pcm.hash(), start_hash, "{name}: {label}: {}", reference.difference(pcm));
    };
    assert_same("reduced bank, 4096 frames a call", &render_in_calls(session, reduced_slots, 4096, frames));
    assert_same("two threads", &render_as_export(session, whole_slots, 2, frames));
    let with_streaming = Slots { audio: &streamed_audio, ..whole_slots };
    assert_same("streamed audio", &render_streamed(session, with_streaming, &library.sounds, frames));
    if index.is_multiple_of(2) {
        assert_same_start("one frame a call", &render_in_calls(session, reduced_slots, 1, start_frames));
    }
    force_baseline(true);
    assert_same(
        "baseline instructions, 128 frames a call",
        &render_in_calls(session, whole_slots, 128, frames),
    );
    assert_same(
        "baseline instructions, reduced bank, one thread",
        &render_as_export(session, reduced_slots, 1, frames),
    );
    if index % 2 == 1 {
        assert_same_start(
            "baseline instructions, one frame a call",
            &render_in_calls(session, whole_slots, 1, start_frames),
        );
    }
    force_baseline(false);

    let latency_frames = Mixer::new(session, whole_slots).expect("a mixer").latency_frames();
    println!("{name}: {frames} frames, latency {latency_frames} frames, peak {peak:.2}, {hash}");
    let bank_file = reduced_file.map(|file| {
        let name = format!("{index}.sf2");
        write(folder, &name, file);
        name
    });
    json!({
        "name": name,
        "project": document.project,
        "sampleRateHz": document.sample_rate_hz,
        "frames": frames,
        "startFrames": start_frames,
        "latencyFrames": latency_frames,
        "bank": bank_file,
        "sessionHash": sha256(&postcard::to_allocvec(session).expect("a session")),
        "hash": hash,
        "startHash": start_hash,
    })
}

/// Writes the samples of a recording to a file, the left channel before the right one. Returns the
/// description of the file for the manifest.
fn write_sound(sound: &Sound, sample_rate_hz: u32, folder: &Path) -> Value {
    let Sound { file_id, file_rate_hz, left, right, is_streamed } = sound;
    let file = format!("{file_id}.{sample_rate_hz}");
    let values = left.iter().chain(right.iter().flatten());
    write(folder, &file, values.flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
    let channels = if right.is_some() { 2 } else { 1 };
    json!({
        "fileId": file_id, "file": file, "frames": left.len(), "channels": channels, "fileRateHz": file_rate_hz,
        "isStreamed": is_streamed,
    })
}

/// Returns the effects of every track and of the master, with the automation lanes of the same
/// track.
fn effects_of(session: &Session) -> impl Iterator<Item = (usize, &EffectSettings, &[AutomationLane])> {
    let of_tracks = session.tracks.iter().map(|track| (&track.effects, &track.automation));
    let all_effects = of_tracks.chain([(&session.master_effects, &session.master_automation)]);
    all_effects.flat_map(|(effects, lanes)| {
        effects.iter().enumerate().map(|(index, effect)| (index, effect, lanes.as_slice()))
    })
}

/// Checks that the sessions use every kind of effect, at its defaults and with each parameter
/// automated.
fn check_kinds(sessions: &[Session]) {
    let all_effects = || sessions.iter().flat_map(effects_of);
    let defaults =
        |kind: &EffectKind| kind.parameters.iter().map(|parameter| parameter.default).collect::<Vec<_>>();
    for kind in EFFECTS {
        let uses = || all_effects().filter(|(_, effect, _)| effect.kind == kind.id && !effect.bypass);
        assert!(
            uses().any(|(_, effect, _)| effect.values == defaults(kind)),
            "no session has the effect {} at its defaults",
            kind.id
        );
        for parameter in 0..kind.parameters.len() {
            let is_automated = |(index, _, lanes): (usize, &EffectSettings, &[AutomationLane])| {
                let target = AutomationTarget::Effect { effect: index as u32, parameter: parameter as u32 };
                lanes.iter().any(|lane| {
                    lane.target == target && lane.points.windows(2).any(|pair| pair[0].value != pair[1].value)
                })
            };
            assert!(
                uses().any(is_automated),
                "no session automates {}/{}",
                kind.id,
                kind.parameters[parameter].id
            );
        }
        assert!(
            !kind.has_side_chain || uses().any(|(_, effect, _)| effect.side_chain.is_some()),
            "no session has the effect {} with a side-chain",
            kind.id
        );
    }
}

#[test]
fn all_renders_of_a_project_have_the_same_hash() {
    let _instruction_set_lock = lock_instruction_set();
    let folder = new_folder("projects");
    let documents = documents();
    let libraries = [44_100, 48_000, 96_000].map(|rate_hz| (rate_hz, Library::new(rate_hz)));
    let library = |document: &Document| {
        let library = libraries.iter().find(|(rate_hz, _)| *rate_hz == document.sample_rate_hz);
        &library.expect("a sample rate of the documents").1
    };
    let sessions: Vec<Session> =
        documents.iter().map(|document| session(document, library(document))).collect();
    check_kinds(&sessions);
    let cases: Vec<Value> = (documents.iter().zip(&sessions).enumerate())
        .map(|(index, (document, session))| {
            check_renders(index, document, session, library(document), &folder)
        })
        .collect();
    let sounds: serde_json::Map<String, Value> = (libraries.iter())
        .map(|(rate_hz, library)| {
            let sounds: Vec<Value> =
                library.sounds.iter().map(|recording| write_sound(recording, *rate_hz, &folder)).collect();
            (rate_hz.to_string(), sounds.into())
        })
        .collect();
    write(&folder, "manifest.json", json!({"sounds": sounds, "cases": cases}).to_string());
}
