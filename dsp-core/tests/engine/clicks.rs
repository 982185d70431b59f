//! Edits of a playing mix must not click. The input is a sine so slow that any click exceeds its
//! steepest step.

use dsp_core::effects::effect_kind;
use dsp_core::mixer::{Mixer, Slots, TrackMix};
use dsp_core::session::{Audio, AudioSlot, Clip, EffectSettings, SendSettings, Session, Track};

use crate::full::play;
use crate::sessions::{peak, session};
use crate::tails::with;

/// Level of the sine.
const LEVEL: f32 = 0.25;

/// Largest difference between consecutive frames of the sine.
const STEEPEST: f32 = LEVEL * core::f32::consts::TAU / 480.0;

/// Frames before an edit; the sine is near its peak there.
const BEFORE: usize = 24_064;

/// A looped sine of 100 Hz.
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

fn to(output_index: u32, track: Track) -> Track {
    Track { output: Some(output_index), ..track }
}

fn started(session: &Session) -> Mixer {
    let mut mixer = Mixer::new(session, Slots { banks: &[], audio: &sine() }).unwrap();
    mixer.play();
    mixer
}

/// Left output before and after some edits: 4,800 frames before the first edit and all frames until
/// 1.5 s after the last. Each edit comes with the number of frames since the edit before.
fn around_edits(before: Vec<Track>, edits: Vec<(usize, Vec<Track>)>) -> [Vec<f32>; 2] {
    let mut mixer = started(&session(before));
    let mut rendered = play(&mut mixer, BEFORE, &[128]);
    rendered.truncate(BEFORE);
    for (wait_frames, tracks) in edits {
        let from = rendered.len();
        rendered.extend(play(&mut mixer, wait_frames, &[128]));
        rendered.truncate(from + wait_frames);
        mixer.set_session(&session(tracks), Slots { banks: &[], audio: &sine() }).unwrap();
    }
    let from = rendered.len();
    rendered.extend(play(&mut mixer, 72_000, &[128]));
    rendered.truncate(from + 72_000);
    [rendered[BEFORE - 4_800..BEFORE].to_vec(), rendered[BEFORE - 1..].to_vec()]
}

fn steepest(values: &[f32]) -> f32 {
    values.windows(2).fold(0.0, |steepest, pair| steepest.max((pair[1] - pair[0]).abs()))
}

/// Checks an edit. No step exceeds `most` times the largest of the sine, and no peak exceeds those
/// before the edit and of a fresh render after it.
#[track_caller]
fn check(label: &str, before: Vec<Track>, after: Vec<Track>, most: f32) {
    check_all(label, before, vec![(0, after)], most);
}

/// Like [`check`], for several edits.
#[track_caller]
fn check_all(label: &str, before: Vec<Track>, edits: Vec<(usize, Vec<Track>)>, most: f32) {
    let last = edits.last().map(|(_, tracks)| tracks.clone()).unwrap_or_default();
    let fresh = play(&mut started(&session(last)), 48_000, &[128]);
    let [early, late] = around_edits(before, edits);
    let (step, loudest) = (steepest(&late), peak(&late));
    println!("{label}: {step:.4} a frame (the sine {STEEPEST:.4}), {loudest:.4} at most");
    assert!(step < most * STEEPEST, "{label}: a step of {step}");
    assert!(loudest < 1.1 * peak(&early).max(peak(&fresh)), "{label}: {loudest}");
}

#[test]
fn signals_fading_into_a_bus_pass_through_its_effects() {
    let quiet = || vec![with("utility", &[("gain_db", -36.0)])];
    let sends = vec![SendSettings { to: 1, gain: 1.0, pre_fader: true }];
    let muted = |sends| Track { sends, gain: 0.0, ..sounding("a", vec![]) };
    let bus = || silent("bus", quiet());
    check("the only send", vec![muted(sends), bus()], vec![muted(vec![]), bus()], 0.1);
    let other = || Track { mute: true, ..silent("other", vec![]) };
    let grouped = |output_index| vec![to(output_index, sounding("a", vec![])), bus(), other()];
    check("the only output", grouped(1), grouped(2), 0.1);
    check("the only track of a group", grouped(1), vec![bus(), other()], 0.1);
}

#[test]
fn signals_that_get_a_new_delay_fade_in() {
    let late = || vec![with("limiter", &[])];
    for effects in [vec![], vec![with("utility", &[("gain_db", 6.0)])]] {
        let fed = |upstream| vec![to(1, silent("a", upstream)), sounding("g", effects.clone())];
        check("a track with latency is routed to it", fed(vec![]), fed(late()), 2.5);
        check("and is removed", fed(late()), fed(vec![]), 2.5);
        // Routes and delays are new at the same time.
        let alone = vec![silent("a", late()), sounding("g", effects.clone())];
        check("a route from a track with latency", alone.clone(), fed(late()), 2.5);
        check("that is removed", fed(late()), alone, 2.5);
    }
    let mut compressor = with("compressor", &[("ratio", 1.0)]);
    compressor.side_chain = Some(0);
    let listening = |effects| vec![silent("a", late()), sounding("b", effects)];
    check("a side-chain with latency", listening(vec![]), listening(vec![compressor.clone()]), 2.5);
    check("that is removed", listening(vec![compressor]), listening(vec![]), 2.5);
}

#[test]
fn delayed_tracks_mute_and_unmute_without_clicks_at_any_call_size() {
    let tracks = vec![sounding("a", vec![]), silent("b", vec![with("limiter", &[]), with("saturator", &[])])];
    let rendered = |calls: &[usize]| {
        let mut mixer = started(&session(tracks.clone()));
        let mut rendered = Vec::new();
        for (mute, frames) in [(false, BEFORE), (true, 12_000), (false, 12_000)] {
            mixer.set_track_mix(0, &TrackMix { gain: 1.0, pan: 0.0, mute, solo: false });
            rendered.extend(play(&mut mixer, frames, calls).into_iter().take(frames));
        }
        rendered
    };
    let expected = rendered(&[128]);
    assert!(peak(&expected[BEFORE + 1_000..][..10_000]) == 0.0, "not muted");
    assert!(steepest(&expected[1_000..]) < 1.3 * STEEPEST, "{}", steepest(&expected[1_000..]));
    for calls in [&[1][..], &[100], &[32], &[7, 256]] {
        assert!(rendered(calls) == expected, "calls of {calls:?}");
    }
}

#[test]
fn reordering_effects_with_latency_does_not_burst() {
    let quiet = || with("utility", &[("gain_db", -20.0)]);
    for late in ["limiter", "saturator"] {
        let late = || with(late, &[]);
        let one = |effects| vec![sounding("a", effects)];
        check("quieter in front", one(vec![late(), quiet()]), one(vec![quiet(), late()]), 1.3);
        check("quieter behind", one(vec![quiet(), late()]), one(vec![late(), quiet()]), 1.3);
    }
    // Two changes of order; the second reduces the latency in front.
    let [three, gain] = [0, 1].map(|_| || ["1", "2", "3"].map(|id| named(id, with("limiter", &[]))));
    let order = |last: [&str; 2], first: bool| {
        let last = last.map(|kind| with(kind, if kind == "saturator" { &[("drive_db", 0.0)] } else { &[] }));
        let quiet = [named("quiet", with("utility", &[("gain_db", -36.0)]))];
        let late = if first { [&quiet[..], &three()[..]] } else { [&gain()[..], &quiet[..]] };
        vec![sounding("a", late.concat().into_iter().chain(last).collect())]
    };
    let ends = [["utility", "saturator"], ["saturator", "utility"]];
    check_all(
        "twice",
        order(ends[0], false),
        vec![(0, order(ends[0], true)), (128, order(ends[1], true))],
        0.1,
    );
}

/// An effect with another id.
fn named(id: &str, effect: EffectSettings) -> EffectSettings {
    EffectSettings { id: id.to_owned(), ..effect }
}

fn quiet(id: &str) -> EffectSettings {
    named(id, with("utility", &[("gain_db", -36.0)]))
}

#[test]
fn replaced_effects_stay_audible_until_the_new_ones_are_ready() {
    let one = |effects| vec![sounding("a", effects)];
    check("one for another", one(vec![quiet("1")]), one(vec![quiet("2")]), 0.1);
    let late = || vec![with("limiter", &[]), quiet("2")];
    check("for one with latency and another", one(vec![quiet("1")]), one(late()), 0.1);
    check("two for one", one(late()), one(vec![quiet("1")]), 0.1);
    let moved = one(vec![quiet("3"), with("limiter", &[])]);
    check("one that moves", one(late()), moved, 0.1);
    let stays = |more| one(vec![quiet("3"), with("limiter", &[]), with("width", &[("width", more)])]);
    let before = one(vec![with("limiter", &[]), with("width", &[]), quiet("2")]);
    let twice = |last| vec![(0, stays(1.0)), (128, last)];
    let without = one(vec![quiet("3"), with("limiter", &[])]);
    check_all("and then another is removed", before, twice(without), 0.1);
    let thrice = vec![(0, one(vec![quiet("2")])), (0, one(vec![quiet("3")])), (300, one(vec![quiet("4")]))];
    check_all("again and again", one(vec![quiet("1")]), thrice, 0.1);
    let back = vec![(0, one(vec![quiet("2")])), (600, one(vec![quiet("1")]))];
    check_all("and back while it fades", one(vec![quiet("1")]), back, 0.1);
}

#[test]
fn a_new_track_passes_through_its_effects_from_the_first_frame() {
    let track = || sounding("a", vec![quiet("1")]);
    check("a track", vec![], vec![track()], 0.1);
    check_all(
        "one that is deleted and added again",
        vec![track()],
        vec![(0, vec![]), (256, vec![track()])],
        0.1,
    );
    let sends = vec![SendSettings { to: 1, gain: 1.0, pre_fader: true }];
    let sent = |sends| Track { sends, gain: 0.0, ..sounding("a", vec![]) };
    let bus = || silent("bus", vec![quiet("1"), with("limiter", &[])]);
    check("a bus", vec![sent(vec![])], vec![sent(sends), bus()], 0.1);
}

#[test]
fn fades_at_both_ends_of_a_delay_stay_aligned() {
    let late = |count: usize| {
        let limiters = (0..count).map(|number| named(&number.to_string(), with("limiter", &[])));
        silent("b", limiters.collect())
    };
    let tracks = |mute, count| vec![Track { mute, ..sounding("a", vec![]) }, late(count)];
    for wait_frames in [128, 256, 384, 512] {
        let edits = vec![(0, tracks(true, 8)), (wait_frames, tracks(true, 0))];
        check_all("mute, then less latency", tracks(false, 8), edits, 1.2);
        let edits = vec![(0, tracks(false, 1)), (wait_frames, tracks(false, 0))];
        check_all("latency that is added and removed", tracks(false, 0), edits, 1.2);
    }
}

#[test]
fn a_crossfading_input_stays_in_front_of_its_effects() {
    let listening = |side_chain, gain| {
        let listener = EffectSettings { side_chain, ..with("compressor", &[("ratio", 1.0)]) };
        let compressed = Track { gain, ..sounding("b", vec![listener, quiet("1")]) };
        vec![silent("a", vec![with("limiter", &[])]), compressed]
    };
    for wait_frames in [0, 128] {
        let edits = vec![(0, listening(None, 1.0)), (wait_frames, listening(None, 0.99))];
        check_all("a side-chain is removed, then another edit", listening(Some(0), 1.0), edits, 0.1);
    }
    let late = || silent("late", vec![with("limiter", &[])]);
    let group = |effects| sounding("g", effects);
    let alone = vec![late(), group(vec![with("utility", &[])])];
    let fed = vec![to(1, late()), group(vec![with("utility", &[])])];
    check_all(
        "a new effect, then a track with latency",
        vec![late(), group(vec![])],
        vec![(0, alone), (0, fed)],
        2.5,
    );
}

#[test]
fn reversed_routes_crossfade_and_leave_other_routes_alone() {
    let reversed = vec![sounding("a", vec![]), to(0, silent("b", vec![]))];
    check("reversed", vec![to(1, sounding("a", vec![])), silent("b", vec![])], reversed, 2.5);
    let other = || to(2, sounding("c", vec![with("utility", &[])]));
    let tracks = |routes: [&dyn Fn(Track) -> Track; 2]| {
        vec![routes[0](silent("a", vec![])), routes[1](silent("b", vec![])), silent("d", vec![])]
    };
    let mut before = tracks([&|track| to(1, track), &|track| track]);
    before.push(other());
    check("another deleted", before, tracks([&|track| track, &|track| to(0, track)]), 2.5);
}

#[test]
fn many_tracks_that_are_deleted_at_once_fade() {
    let tracks = (0..60).map(|number| Track { gain: 1.0 / 60.0, ..sounding(&number.to_string(), vec![]) });
    check("60 tracks", tracks.collect(), vec![], 1.3);
}

#[test]
fn sends_to_the_shared_effects_crossfade_when_their_delay_changes() {
    let rendered = |before: Vec<Track>, after: Vec<Track>| {
        let chorus = |tracks| {
            let mut session = session(tracks);
            session.chorus.level = 1.0;
            session
        };
        let mut mixer = started(&chorus(before));
        mixer.set_takes_input(0, true);
        let mut rendered = Vec::new();
        for block in 0..750 {
            if block == 188 {
                mixer.set_session(&chorus(after.clone()), Slots { banks: &[], audio: &sine() }).unwrap();
            }
            for (frame, value) in mixer.track_input(0).unwrap()[3].iter_mut().enumerate() {
                let phase = core::f64::consts::TAU * (128 * block + frame) as f64 / 480.0;
                *value = LEVEL * libm::sin(phase) as f32;
            }
            let [mut left, mut right] = [[0.0; 128]; 2];
            mixer.process(&mut left, &mut right);
            rendered.extend(left);
        }
        rendered
    };
    let late = || vec![with("limiter", &[])];
    let alone = |effects| vec![silent("a", effects)];
    let fed = |effects| vec![silent("g", vec![]), to(0, silent("b", effects))];
    for (label, before, after) in [
        ("its effects get latency", alone(vec![]), alone(late())),
        ("and lose it again", alone(late()), alone(vec![])),
        ("a track with latency is routed to it", fed(vec![]), fed(late())),
        ("and is removed", fed(late()), fed(vec![])),
    ] {
        let rendered = rendered(before, after);
        let (early, late) = (steepest(&rendered[12_000..24_000]), steepest(&rendered[24_000..]));
        println!("{label}: {late:.4} a frame, {early:.4} before");
        assert!(early > 0.001 && late < 1.5 * early, "{label}: {late} instead of {early}");
    }
}

#[test]
fn new_effects_start_from_silence() {
    for kind in ["delay", "chorus", "flanger", "reverb", "convolution", "limiter", "phaser"] {
        for mix in [0.25, 1.0] {
            let has_mix = effect_kind(kind).unwrap().parameter_index("mix").is_some();
            let new = if has_mix { with(kind, &[("mix", mix)]) } else { with(kind, &[]) };
            check(kind, vec![sounding("a", vec![])], vec![sounding("a", vec![new])], 2.0);
        }
    }
}

#[test]
fn removed_routes_do_not_affect_solo() {
    let soloed = || Track { solo: true, ..sounding("a", vec![]) };
    let group = || sounding("g", vec![]);
    let apart = vec![soloed(), Track { gain: 0.5, ..group() }];
    let fresh = play(&mut started(&session(apart.clone())), 48_000, &[128]);
    let [_, late] = around_edits(vec![to(1, soloed()), Track { gain: 0.5, ..group() }], vec![(0, apart)]);
    let (rendered, expected) = (peak(&late[24_000..]), peak(&fresh[24_000..48_000]));
    assert!((rendered - expected).abs() < 1e-4, "{rendered} instead of {expected}");
    // The track is audible only through its send.
    let sends = vec![SendSettings { to: 1, gain: 1.0, pre_fader: true }];
    let by_send = |sends| vec![Track { sends, mute: true, ..soloed() }, group()];
    let [_, late] = around_edits(by_send(sends), vec![(0, by_send(vec![]))]);
    assert_eq!(peak(&late[24_000..]), 0.0);
}

#[test]
fn removed_effects_fade_out_in_time_however_many_edits_follow() {
    let louder = |number: usize| named(&number.to_string(), with("utility", &[("gain_db", 6.0)]));
    let three =
        |first: usize| vec![Track { gain: 0.01, ..sounding("a", (first..first + 3).map(louder).collect()) }];
    let edits = (1..40).map(|number| (480, three(number))).collect();
    let [early, late] = around_edits(three(0), edits);
    assert!(peak(&late) < 4.1 * peak(&early), "{} after {}", peak(&late), peak(&early));
    // One effect is added and another removed each time.
    let also = |first: usize, last: &str| {
        let effects = (first..first + 3).map(louder).chain([named(last, with("utility", &[]))]);
        vec![Track { gain: 0.01, ..sounding("a", effects.collect()) }]
    };
    let edits = (1..40).map(|number| (450, also(number, ["x", "y"][number % 2]))).collect();
    let [early, late] = around_edits(also(0, "x"), edits);
    assert!(peak(&late) < 4.1 * peak(&early), "{} after {}", peak(&late), peak(&early));
}

#[test]
fn a_removed_effect_with_latency_takes_its_signal_with_it() {
    let at = |id: &str, gain_db: f64| named(id, with("utility", &[("gain_db", gain_db)]));
    let limiter = |id: &str| named(id, with("limiter", &[]));
    let one = |effects: &[EffectSettings]| vec![sounding("a", effects.to_vec())];
    let (first, second, third) = (at("1", -14.0), at("2", -17.0), at("3", -12.0));
    let before = one(&[first.clone(), second.clone(), limiter("l")]);
    check("reordered in front of it", before, one(&[second, first]), 0.1);
    let (before, after) =
        ([third.clone(), at("4", -24.0), limiter("l")], [limiter("m"), at("4", -24.0), third]);
    check("another in front of them", one(&before), one(&after), 0.1);
    // Removed during its fade, in front of an effect that stays.
    let new = || [at("5", -20.0), at("6", 0.0)];
    let both = one(&[new().to_vec(), vec![limiter("l")]].concat());
    for wait_frames in [720, 880] {
        let edits =
            vec![(0, both.clone()), (wait_frames, one(&[new()[1].clone(), at("7", -20.0), limiter("l")]))];
        check_all("removed in front of it", one(&[at("8", -20.0), limiter("l")]), edits, 0.3);
    }
    // All removed while the change of order is silent.
    let many = ["1", "2", "3"].map(limiter).to_vec();
    let around = |first: bool| {
        one(&if first { [vec![at("u", 0.0)], many.clone()] } else { [many.clone(), vec![at("u", 0.0)]] }
            .concat())
    };
    let muted = |gain| vec![Track { gain, ..sounding("a", vec![]) }];
    for wait_frames in [482, 500, 600] {
        let edits = vec![(0, around(true)), (0, muted(1.0)), (wait_frames, muted(0.99))];
        check_all("all removed meanwhile", around(false), edits, 2.0);
    }
}

#[test]
fn a_removed_side_chain_effect_does_not_listen_to_itself() {
    let gate = |id: &str, side_chain| {
        let gate = with("gate", &[("threshold_db", -30.0), ("range_db", 60.0), ("ratio", 100.0)]);
        named(id, EffectSettings { side_chain, ..gate })
    };
    let tracks = |effect| vec![silent("key", vec![]), sounding("a", vec![effect])];
    check("for another", tracks(gate("1", Some(0))), tracks(gate("2", Some(0))), 0.1);
    check("for a quiet one", tracks(gate("1", Some(0))), tracks(quiet("2")), 0.1);
    check("with its track", tracks(gate("1", Some(0))), vec![silent("key", vec![])], 0.1);
}

#[test]
fn removed_routes_stay_removed() {
    let tracks = |routes: [Option<u32>; 2]| {
        let [a, b] = routes;
        vec![Track { output: a, ..sounding("a", vec![]) }, Track { output: b, ..silent("b", vec![]) }]
    };
    let (there, back, apart) = (|| tracks([Some(1), None]), tracks([None, Some(0)]), tracks([None, None]));
    for wait_frames in [0, 128, 256] {
        check_all("and back", there(), vec![(0, back.clone()), (wait_frames, there())], 2.0);
        check_all("and apart", there(), vec![(0, back.clone()), (wait_frames, apart.clone())], 2.0);
    }
}
