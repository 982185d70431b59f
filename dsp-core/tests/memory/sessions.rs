//! Compares the memory estimates of whole sessions with the memory that a render allocates.

use dsp_core::effects::EFFECTS;
use dsp_core::mixer::Slots;
use dsp_core::render::{OfflineRender, TailConfig};
use dsp_core::session::{
    Audio, AudioSlot, AutomationLane, AutomationPoint, AutomationTarget, Clip, Curve, EffectSettings, Event,
    Instrument, SendSettings, Session, Track, TrackEvent,
};
use dsp_core::soundfont::Bank;

use crate::counting::cost;
use crate::small_bank::small_bank;

fn effect(id: usize, kind: &str) -> EffectSettings {
    EffectSettings {
        id: format!("e{id}"),
        kind: kind.to_owned(),
        values: Vec::new(),
        bypass: false,
        side_chain: None,
        audio_slot: None,
    }
}

fn track(id: usize) -> Track {
    Track { id: format!("t{id}"), gain: 1.0, ..Track::default() }
}

/// Renders a session and compares the memory that this uses with the estimate.
fn check(name: &str, session: &Session, banks: &[Option<Bank>]) {
    let audio = [
        Some(AudioSlot::Whole(Audio::from_channels(&[0.5; 200], None))),
        Some(AudioSlot::Streamed { frames: 200 }),
    ];
    let slots = Slots { banks, audio: &audio };
    let need = session.memory_need(slots).expect("valid session");
    let (_, cost) = cost(|| {
        let tail = TailConfig { max_secs: 0.0 };
        let mut render = OfflineRender::new(session, slots, tail).expect("valid session");
        while render.next_block().is_some() {}
    });
    let (measured_bytes, estimate) = (cost.peak_bytes as u64, need.bytes());
    println!("{name}: {measured_bytes} measured, {estimate} estimated; {:?}", need.components().first());
    assert!(
        measured_bytes <= estimate,
        "{name}: {measured_bytes} bytes used, {estimate} estimated: {:?}",
        need.components()
    );
    assert!(
        estimate <= 4 * measured_bytes + 4 * 1024 * 1024,
        "{name}: only {measured_bytes} bytes used, {estimate} estimated: {:?}",
        need.components()
    );
}

/// Returns a session of a tenth of a second.
fn session(tracks: Vec<Track>) -> Session {
    Session { sample_rate_hz: 48_000, length_frames: 4_800, tracks, ..Session::default() }
}

#[test]
fn a_session_uses_at_most_its_estimated_memory() {
    let banks = [Some(small_bank())];
    check("an empty session", &session(Vec::new()), &banks);
    check("300 tracks", &session((0..300).map(track).collect()), &banks);

    let instrument = Some(Instrument { bank_slot: 0, bank: 0, program: 0 });
    let notes = |id: usize| {
        let event = |frame: u64| TrackEvent { frame, event: Event::NoteOn { key: 60, velocity: 100 } };
        Track { instrument, events: (0..100).map(event).collect(), ..track(id) }
    };
    check("50 instruments", &Session { polyphony: 256, ..session((0..50).map(notes).collect()) }, &banks);

    for kind in EFFECTS {
        let with_effects =
            |id: usize| Track { effects: (0..8).map(|id| effect(id, kind.id)).collect(), ..track(id) };
        check(&format!("80 effects {}", kind.id), &session((0..10).map(with_effects).collect()), &banks);
    }

    let point = |frame: u64| AutomationPoint { frame, value: 0.0, curve: Curve::Linear };
    let lane = AutomationLane { target: AutomationTarget::Volume, points: (0..20_000).map(point).collect() };
    let automated_track = |id: usize| Track { automation: vec![lane.clone()], ..track(id) };
    check("automation points", &session((0..20).map(automated_track).collect()), &banks);

    let clip = |frame: u64| Clip {
        frame,
        offset_frames: 0,
        length_frames: 100,
        gain: 1.0,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: false,
        audio_slot: 0,
    };
    let clips = |clips: Vec<Clip>| session(vec![Track { clips, ..track(0) }]);
    check("clips", &clips((0..10_000).map(|number| clip(10 * number)).collect()), &banks);
    let streamed_clip = |number: u64| Clip { audio_slot: 1, ..clip(10 * number) };
    check("streamed clips", &clips((0..300).map(streamed_clip).collect()), &banks);
}

/// One track has a high latency, so the routes of all other tracks need long delays.
#[test]
fn the_estimate_includes_latency_compensation() {
    const TRACKS: usize = 100;
    let late_track = Track { effects: (0..64).map(|id| effect(id, "limiter")).collect(), ..track(TRACKS) };
    let send = SendSettings { to: 0, gain: 1.0, pre_fader: false };
    let bus = track(0);
    let without_latency = |id: usize| Track { output: Some(0), sends: vec![send; 16], ..track(id) };
    let late_track = Track { output: Some(0), ..late_track };
    let tracks = std::iter::once(bus).chain((1..TRACKS).map(without_latency)).chain([late_track]).collect();
    let session = session(tracks);
    check("routes without latency beside one with latency", &session, &[]);
    let need = session.memory_need(Slots::default()).expect("valid session");
    assert_eq!(need.components()[0].kind, "delays that compensate latency");
}

#[test]
fn the_largest_component_is_listed_first() {
    let with_delays =
        |id: usize| Track { effects: (0..16).map(|id| effect(id, "delay")).collect(), ..track(id) };
    let need =
        session((0..100).map(with_delays).collect()).memory_need(Slots::default()).expect("valid session");
    let largest_component = &need.components()[0];
    assert_eq!((largest_component.kind.as_str(), largest_component.count), ("delay effects", 1_600));
    assert!(largest_component.bytes > 3_000_000_000, "{} bytes", largest_component.bytes);
}
