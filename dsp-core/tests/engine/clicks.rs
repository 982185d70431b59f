//! A mix that is edited while it plays: heard by a sine so slow that every click stands out.

use dsp_core::effects::effect_kind;
use dsp_core::session::{
    Audio, AudioSlot, Clip, EffectSettings, Mixer, SendSettings, Session, Slots, Track, TrackMix,
};

use crate::full::play;
use crate::sessions::{peak, session};
use crate::tails::with;

/// Level of the sine.
const LEVEL: f32 = 0.25;

/// Its steepest step from frame to frame.
const STEEPEST: f32 = LEVEL * core::f32::consts::TAU / 480.0;

/// Frames before an edit, at which the sine stands high.
const BEFORE: usize = 24_064;

/// 100 Hz, over and over.
fn sine() -> [Option<AudioSlot>; 1] {
    let value = |frame: usize| LEVEL * libm::sin(core::f64::consts::TAU * frame as f64 / 480.0) as f32;
    [Some(AudioSlot::Whole(Audio::from_channels(&(0..48_000).map(value).collect::<Vec<_>>(), None)))]
}

fn silent(id: &str, effects: Vec<EffectSettings>) -> Track {
    Track { id: id.to_owned(), effects, ..Track::default() }
}

fn sounding(id: &str, effects: Vec<EffectSettings>) -> Track {
    let clip = Clip {
        frame: 0,
        offset_frames: 0,
        length_frames: 1 << 30,
        gain: 1.0,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: true,
        audio_slot: 0,
    };
    Track { clips: vec![clip], ..silent(id, effects) }
}

fn to(place: u32, track: Track) -> Track {
    Track { output: Some(place), ..track }
}

fn started(session: &Session) -> Mixer {
    let mut mixer = Mixer::new(session, Slots { banks: &[], audio: &sine() }).unwrap();
    mixer.play();
    mixer
}

/// Left of what is heard just before an edit, and of the second and a half after it.
fn around_edit(before: Vec<Track>, after: Vec<Track>) -> [Vec<f32>; 2] {
    let mut mixer = started(&session(before));
    let mut early = play(&mut mixer, BEFORE, &[128]);
    early.truncate(BEFORE);
    mixer.set_session(&session(after), Slots { banks: &[], audio: &sine() }).unwrap();
    let mut late = play(&mut mixer, 72_000, &[128]);
    late.truncate(72_000);
    late.insert(0, early[BEFORE - 1]);
    [early.split_off(BEFORE - 4_800), late]
}

fn steepest(values: &[f32]) -> f32 {
    values.windows(2).fold(0.0, |steepest, pair| steepest.max((pair[1] - pair[0]).abs()))
}

/// That an edit is followed by no step that is steeper than this many times those of the sine, and nothing louder than
/// before and after it.
#[track_caller]
fn check(what: &str, before: Vec<Track>, after: Vec<Track>, most: f32) {
    let fresh = play(&mut started(&session(after.clone())), 48_000, &[128]);
    let [early, late] = around_edit(before, after);
    let (step, loudest) = (steepest(&late), peak(&late));
    println!("{what}: {step:.4} a frame (the sine {STEEPEST:.4}), {loudest:.4} at most");
    assert!(step < most * STEEPEST, "{what}: a step of {step}");
    assert!(loudest < 1.1 * peak(&early).max(peak(&fresh)), "{what}: {loudest}");
}

#[test]
fn what_fades_into_a_bus_is_heard_through_its_effects() {
    let quiet = || vec![with("utility", &[("gain_db", -36.0)])];
    let sends = vec![SendSettings { to: 1, gain: 1.0, pre_fader: true }];
    let muted = |sends| Track { sends, gain: 0.0, ..sounding("a", vec![]) };
    let bus = || silent("bus", quiet());
    check("the only send", vec![muted(sends), bus()], vec![muted(vec![]), bus()], 0.1);
    let other = || Track { mute: true, ..silent("other", vec![]) };
    let grouped = |place| vec![to(place, sounding("a", vec![])), bus(), other()];
    check("the only output", grouped(1), grouped(2), 0.1);
    check("the only track of a group", grouped(1), vec![bus(), other()], 0.1);
}

#[test]
fn what_has_to_wait_from_now_on_begins_softly() {
    let late = || vec![with("limiter", &[])];
    for effects in [vec![], vec![with("utility", &[("gain_db", 6.0)])]] {
        let fed = |upstream| vec![to(1, silent("a", upstream)), sounding("g", effects.clone())];
        check("a late track comes to it", fed(vec![]), fed(late()), 2.5);
        check("and goes", fed(late()), fed(vec![]), 2.5);
        // The ways are new, too, and with them the wait.
        let alone = vec![silent("a", late()), sounding("g", effects.clone())];
        check("a way from a late track", alone.clone(), fed(late()), 2.5);
        check("that goes", fed(late()), alone, 2.5);
    }
    let mut listens = with("compressor", &[("ratio", 1.0)]);
    listens.side_chain = Some(0);
    let listening = |effects| vec![silent("a", late()), sounding("b", effects)];
    check("a side-chain that is late", listening(vec![]), listening(vec![listens.clone()]), 2.5);
    check("that goes", listening(vec![listens]), listening(vec![]), 2.5);
}

#[test]
fn tracks_that_wait_are_muted_and_come_back_without_a_click_whatever_the_calls() {
    let tracks = vec![sounding("a", vec![]), silent("b", vec![with("limiter", &[]), with("saturator", &[])])];
    let heard = |calls: &[usize]| {
        let mut mixer = started(&session(tracks.clone()));
        let mut heard = Vec::new();
        for (mute, frames) in [(false, BEFORE), (true, 12_000), (false, 12_000)] {
            mixer.set_track_mix(0, &TrackMix { gain: 1.0, pan: 0.0, mute, solo: false });
            heard.extend(play(&mut mixer, frames, calls).into_iter().take(frames));
        }
        heard
    };
    let expected = heard(&[128]);
    assert!(peak(&expected[BEFORE + 1_000..][..10_000]) == 0.0, "it is not muted");
    assert!(steepest(&expected[1_000..]) < 1.3 * STEEPEST, "{}", steepest(&expected[1_000..]));
    for calls in [&[1][..], &[100], &[32], &[7, 256]] {
        assert!(heard(calls) == expected, "calls of {calls:?}");
    }
}

#[test]
fn late_effects_that_change_places_do_not_burst() {
    let quiet = || with("utility", &[("gain_db", -20.0)]);
    for late in ["limiter", "saturator"] {
        let late = || with(late, &[]);
        let one = |effects| vec![sounding("a", effects)];
        check("quieter before", one(vec![late(), quiet()]), one(vec![quiet(), late()]), 1.3);
        check("quieter behind", one(vec![quiet(), late()]), one(vec![late(), quiet()]), 1.3);
    }
}

#[test]
fn new_effects_hear_what_comes_from_silence_on() {
    for kind in ["delay", "chorus", "flanger", "reverb", "convolution", "limiter", "phaser"] {
        for mix in [0.25, 1.0] {
            let has_mix = effect_kind(kind).unwrap().parameter_place("mix").is_some();
            let new = if has_mix { with(kind, &[("mix", mix)]) } else { with(kind, &[]) };
            check(kind, vec![sounding("a", vec![])], vec![sounding("a", vec![new])], 2.0);
        }
    }
}

#[test]
fn ways_that_go_decide_nothing_about_solo() {
    let soloed = || Track { solo: true, ..sounding("a", vec![]) };
    let group = || sounding("g", vec![]);
    let apart = vec![soloed(), Track { gain: 0.5, ..group() }];
    let fresh = play(&mut started(&session(apart.clone())), 48_000, &[128]);
    let [_, late] = around_edit(vec![to(1, soloed()), Track { gain: 0.5, ..group() }], apart);
    let (heard, expected) = (peak(&late[24_000..]), peak(&fresh[24_000..48_000]));
    assert!((heard - expected).abs() < 1e-4, "{heard} instead of {expected}");
    // A send, whose track is heard through it only.
    let sends = vec![SendSettings { to: 1, gain: 1.0, pre_fader: true }];
    let by_send = |sends| vec![Track { sends, mute: true, ..soloed() }, group()];
    let [_, late] = around_edit(by_send(sends), by_send(vec![]));
    assert_eq!(peak(&late[24_000..]), 0.0);
}
