//! Tests that edits of a playing mix do not click. The input is a slow sine, so any click is larger
//! than the steps between its frames.

use dsp_core::effects::effect_kind;
use dsp_core::mixer::{Mixer, Slots, TrackMix};
use dsp_core::session::{Audio, AudioSlot, Clip, EffectSettings, SendSettings, Session, Track};

use crate::full::play;
use crate::sessions::{peak, session};
use crate::tails::effect_with;

/// Amplitude of the sine.
const LEVEL: f32 = 0.25;

/// Largest difference between consecutive frames of the sine.
const SINE_STEP: f32 = LEVEL * core::f32::consts::TAU / 480.0;

/// Frame of the first edit, at which the sine is near its peak.
const EDIT_FRAME: usize = 24_064;

/// Returns an audio slot with a sine of 100 Hz that can be looped.
fn sine() -> [Option<AudioSlot>; 1] {
    let value = |frame: usize| LEVEL * libm::sin(core::f64::consts::TAU * frame as f64 / 480.0) as f32;
    [Some(AudioSlot::Whole(Audio::from_channels(&(0..48_000).map(value).collect::<Vec<_>>(), None)))]
}

/// Returns a track without clips.
fn silent(id: &str, effects: Vec<EffectSettings>) -> Track {
    Track { id: id.to_owned(), effects, ..Track::default() }
}

/// Returns a track that plays the sine.
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

/// Routes a track to another track.
fn routed_to(output_index: u32, track: Track) -> Track {
    Track { output: Some(output_index), ..track }
}

fn started(session: &Session) -> Mixer {
    let mut mixer = Mixer::new(session, Slots { banks: &[], audio: &sine() }).unwrap();
    mixer.play();
    mixer
}

/// Plays tracks and edits them. Returns the left output of the 4,800 frames before the first edit,
/// and from the first edit until 1.5 s after the last. An edit has the number of frames since the
/// edit before.
fn before_and_after_edits(tracks_before: Vec<Track>, edits: Vec<(usize, Vec<Track>)>) -> [Vec<f32>; 2] {
    let mut mixer = started(&session(tracks_before));
    let mut rendered_output = play(&mut mixer, EDIT_FRAME, &[128]);
    rendered_output.truncate(EDIT_FRAME);
    for (wait_frames, tracks) in edits {
        let from = rendered_output.len();
        rendered_output.extend(play(&mut mixer, wait_frames, &[128]));
        rendered_output.truncate(from + wait_frames);
        mixer.set_session(&session(tracks), Slots { banks: &[], audio: &sine() }).unwrap();
    }
    let from = rendered_output.len();
    rendered_output.extend(play(&mut mixer, 72_000, &[128]));
    rendered_output.truncate(from + 72_000);
    [rendered_output[EDIT_FRAME - 4_800..EDIT_FRAME].to_vec(), rendered_output[EDIT_FRAME - 1..].to_vec()]
}

fn largest_step(values: &[f32]) -> f32 {
    values.windows(2).fold(0.0, |largest_step, pair| largest_step.max((pair[1] - pair[0]).abs()))
}

/// Checks an edit. No step may exceed `max_steps` times that of the sine. The peak may not exceed
/// that before the edit or that of a new mixer with the edited tracks by more than a tenth.
#[track_caller]
fn check(label: &str, tracks_before: Vec<Track>, tracks_after: Vec<Track>, max_steps: f32) {
    check_all(label, tracks_before, vec![(0, tracks_after)], max_steps);
}

/// Like [`check`], for several edits.
#[track_caller]
fn check_all(label: &str, tracks_before: Vec<Track>, edits: Vec<(usize, Vec<Track>)>, max_steps: f32) {
    let last_tracks = edits.last().map(|(_, tracks)| tracks.clone()).unwrap_or_default();
    let fresh_output = play(&mut started(&session(last_tracks)), 48_000, &[128]);
    let [early, late] = before_and_after_edits(tracks_before, edits);
    let (step, loudest) = (largest_step(&late), peak(&late));
    println!("{label}: largest step {step:.4} (of the sine {SINE_STEP:.4}), peak {loudest:.4}");
    assert!(step < max_steps * SINE_STEP, "{label}: a step of {step}");
    assert!(loudest < 1.1 * peak(&early).max(peak(&fresh_output)), "{label}: a peak of {loudest}");
}

#[test]
fn signals_fading_into_a_bus_pass_through_its_effects() {
    let quiet = || vec![effect_with("utility", &[("gain_db", -36.0)])];
    let sends = vec![SendSettings { to: 1, gain: 1.0, pre_fader: true }];
    let muted = |sends| Track { sends, gain: 0.0, ..sounding("a", vec![]) };
    let bus = || silent("bus", quiet());
    check("the only send is removed", vec![muted(sends), bus()], vec![muted(vec![]), bus()], 0.1);
    let other = || Track { mute: true, ..silent("other", vec![]) };
    let grouped = |output_index| vec![routed_to(output_index, sounding("a", vec![])), bus(), other()];
    check("the output is changed", grouped(1), grouped(2), 0.1);
    check("the only track of a group is deleted", grouped(1), vec![bus(), other()], 0.1);
}

#[test]
fn signals_whose_compensating_delay_changes_do_not_click() {
    let late = || vec![effect_with("limiter", &[])];
    for effects in [vec![], vec![effect_with("utility", &[("gain_db", 6.0)])]] {
        let fed = |upstream| vec![routed_to(1, silent("a", upstream)), sounding("g", effects.clone())];
        check("a track gets latency before a group", fed(vec![]), fed(late()), 2.5);
        check("a track before a group loses its latency", fed(late()), fed(vec![]), 2.5);
        // In these cases, the route and the delay change at the same time.
        let single_track = vec![silent("a", late()), sounding("g", effects.clone())];
        check("a track with latency is routed to a group", single_track.clone(), fed(late()), 2.5);
        check("the route of a track with latency is removed", fed(late()), single_track, 2.5);
    }
    let mut compressor = effect_with("compressor", &[("ratio", 1.0)]);
    compressor.side_chain = Some(0);
    let tracks_with_side_chain = |effects| vec![silent("a", late()), sounding("b", effects)];
    check(
        "a side-chain with latency is added",
        tracks_with_side_chain(vec![]),
        tracks_with_side_chain(vec![compressor.clone()]),
        2.5,
    );
    check(
        "a side-chain with latency is removed",
        tracks_with_side_chain(vec![compressor]),
        tracks_with_side_chain(vec![]),
        2.5,
    );
}

#[test]
fn delayed_tracks_are_muted_and_unmuted_without_clicks_at_any_call_size() {
    let tracks = vec![
        sounding("a", vec![]),
        silent("b", vec![effect_with("limiter", &[]), effect_with("saturator", &[])]),
    ];
    let rendered_output = |calls: &[usize]| {
        let mut mixer = started(&session(tracks.clone()));
        let mut rendered_output = Vec::new();
        for (mute, frames) in [(false, EDIT_FRAME), (true, 12_000), (false, 12_000)] {
            mixer.set_track_mix(0, &TrackMix { gain: 1.0, pan: 0.0, is_muted: mute, is_soloed: false });
            rendered_output.extend(play(&mut mixer, frames, calls).into_iter().take(frames));
        }
        rendered_output
    };
    let expected = rendered_output(&[128]);
    assert!(peak(&expected[EDIT_FRAME + 1_000..][..10_000]) == 0.0, "the track is not muted");
    let step = largest_step(&expected[1_000..]);
    assert!(step < 1.3 * SINE_STEP, "a step of {step}");
    for calls in [&[1][..], &[100], &[32], &[7, 256]] {
        assert!(rendered_output(calls) == expected, "calls of {calls:?}");
    }
}

#[test]
fn reordering_effects_with_latency_causes_no_steps_or_peaks() {
    let quiet = || effect_with("utility", &[("gain_db", -20.0)]);
    for late in ["limiter", "saturator"] {
        let late = || effect_with(late, &[]);
        let one = |effects| vec![sounding("a", effects)];
        check("attenuation moves first", one(vec![late(), quiet()]), one(vec![quiet(), late()]), 1.3);
        check("attenuation moves last", one(vec![quiet(), late()]), one(vec![late(), quiet()]), 1.3);
    }
    // The order changes twice. The second change reduces the latency in front of the last effect.
    let [three, gain] = [0, 1].map(|_| || ["1", "2", "3"].map(|id| named(id, effect_with("limiter", &[]))));
    let order = |last: [&str; 2], first: bool| {
        let last_effects =
            last.map(|kind| effect_with(kind, if kind == "saturator" { &[("drive_db", 0.0)] } else { &[] }));
        let quiet = [named("quiet", effect_with("utility", &[("gain_db", -36.0)]))];
        let late = if first { [&quiet[..], &three()[..]] } else { [&gain()[..], &quiet[..]] };
        vec![sounding("a", late.concat().into_iter().chain(last_effects).collect())]
    };
    let ends = [["utility", "saturator"], ["saturator", "utility"]];
    check_all(
        "the order changes twice",
        order(ends[0], false),
        vec![(0, order(ends[0], true)), (128, order(ends[1], true))],
        0.1,
    );
}

/// Returns an effect with another id.
fn named(id: &str, effect: EffectSettings) -> EffectSettings {
    EffectSettings { id: id.to_owned(), ..effect }
}

/// Returns an effect that attenuates by 36 dB.
fn quiet(id: &str) -> EffectSettings {
    named(id, effect_with("utility", &[("gain_db", -36.0)]))
}

#[test]
fn replaced_effects_stay_audible_until_the_new_ones_are_ready() {
    let one = |effects| vec![sounding("a", effects)];
    check("an effect replaces another", one(vec![quiet("1")]), one(vec![quiet("2")]), 0.1);
    let late = || vec![effect_with("limiter", &[]), quiet("2")];
    check("two effects, one with latency, replace one", one(vec![quiet("1")]), one(late()), 0.1);
    check("one effect replaces two", one(late()), one(vec![quiet("1")]), 0.1);
    let moved_tracks = one(vec![quiet("3"), effect_with("limiter", &[])]);
    check("an effect is replaced and another moves", one(late()), moved_tracks, 0.1);
    let stays =
        |more| one(vec![quiet("3"), effect_with("limiter", &[]), effect_with("width", &[("width", more)])]);
    let tracks_before = one(vec![effect_with("limiter", &[]), effect_with("width", &[]), quiet("2")]);
    let twice = |last_tracks| vec![(0, stays(1.0)), (128, last_tracks)];
    let without = one(vec![quiet("3"), effect_with("limiter", &[])]);
    check_all("an effect is replaced, then another is removed", tracks_before, twice(without), 0.1);
    let thrice = vec![(0, one(vec![quiet("2")])), (0, one(vec![quiet("3")])), (300, one(vec![quiet("4")]))];
    check_all("effects are replaced three times", one(vec![quiet("1")]), thrice, 0.1);
    let return_edits = vec![(0, one(vec![quiet("2")])), (600, one(vec![quiet("1")]))];
    check_all("a replaced effect returns while it fades", one(vec![quiet("1")]), return_edits, 0.1);
}

#[test]
fn a_new_track_passes_through_its_effects_from_the_first_frame() {
    let track = || sounding("a", vec![quiet("1")]);
    check("a new track", vec![], vec![track()], 0.1);
    check_all(
        "a track that is deleted and added again",
        vec![track()],
        vec![(0, vec![]), (256, vec![track()])],
        0.1,
    );
    let sends = vec![SendSettings { to: 1, gain: 1.0, pre_fader: true }];
    let sending_track = |sends| Track { sends, gain: 0.0, ..sounding("a", vec![]) };
    let bus = || silent("bus", vec![quiet("1"), effect_with("limiter", &[])]);
    check("a new bus", vec![sending_track(vec![])], vec![sending_track(sends), bus()], 0.1);
}

#[test]
fn fades_before_and_after_a_changing_delay_stay_aligned() {
    let late = |count: usize| {
        let limiters = (0..count).map(|number| named(&number.to_string(), effect_with("limiter", &[])));
        silent("b", limiters.collect())
    };
    let tracks = |mute, count| vec![Track { mute, ..sounding("a", vec![]) }, late(count)];
    for wait_frames in [128, 256, 384, 512] {
        let edits = vec![(0, tracks(true, 8)), (wait_frames, tracks(true, 0))];
        check_all("a mute, then less latency", tracks(false, 8), edits, 1.2);
        let edits = vec![(0, tracks(false, 1)), (wait_frames, tracks(false, 0))];
        check_all("latency is added and removed", tracks(false, 0), edits, 1.2);
    }
}

#[test]
fn a_crossfade_of_the_input_stays_in_front_of_the_effects() {
    let tracks_with_side_chain = |side_chain, gain| {
        let compressor = EffectSettings { side_chain, ..effect_with("compressor", &[("ratio", 1.0)]) };
        let compressed_track = Track { gain, ..sounding("b", vec![compressor, quiet("1")]) };
        vec![silent("a", vec![effect_with("limiter", &[])]), compressed_track]
    };
    for wait_frames in [0, 128] {
        let edits =
            vec![(0, tracks_with_side_chain(None, 1.0)), (wait_frames, tracks_with_side_chain(None, 0.99))];
        check_all(
            "a side-chain is removed, then the gain changes",
            tracks_with_side_chain(Some(0), 1.0),
            edits,
            0.1,
        );
    }
    let late = || silent("late", vec![effect_with("limiter", &[])]);
    let group = |effects| sounding("g", effects);
    let single_track = vec![late(), group(vec![effect_with("utility", &[])])];
    let fed = vec![routed_to(1, late()), group(vec![effect_with("utility", &[])])];
    check_all(
        "an effect is added, then a track with latency is routed to the group",
        vec![late(), group(vec![])],
        vec![(0, single_track), (0, fed)],
        2.5,
    );
}

#[test]
fn reversing_a_route_crossfades_and_does_not_change_other_routes() {
    let reversed = vec![sounding("a", vec![]), routed_to(0, silent("b", vec![]))];
    check(
        "a route is reversed",
        vec![routed_to(1, sounding("a", vec![])), silent("b", vec![])],
        reversed,
        2.5,
    );
    let other = || routed_to(2, sounding("c", vec![effect_with("utility", &[])]));
    let tracks = |routes: [&dyn Fn(Track) -> Track; 2]| {
        vec![routes[0](silent("a", vec![])), routes[1](silent("b", vec![])), silent("d", vec![])]
    };
    let mut tracks_before = tracks([&|track| routed_to(1, track), &|track| track]);
    tracks_before.push(other());
    check(
        "a route is reversed and another track deleted",
        tracks_before,
        tracks([&|track| track, &|track| routed_to(0, track)]),
        2.5,
    );
}

#[test]
fn many_tracks_that_are_deleted_at_once_fade_out() {
    let tracks = (0..60).map(|number| Track { gain: 1.0 / 60.0, ..sounding(&number.to_string(), vec![]) });
    check("60 tracks", tracks.collect(), vec![], 1.3);
}

#[test]
fn sends_to_the_shared_effects_crossfade_when_their_delay_changes() {
    let rendered_output = |tracks_before: Vec<Track>, tracks_after: Vec<Track>| {
        let chorus = |tracks| {
            let mut session = session(tracks);
            session.chorus.level = 1.0;
            session
        };
        let mut mixer = started(&chorus(tracks_before));
        mixer.set_input_enabled(0, true);
        let mut rendered_output = Vec::new();
        for block in 0..750 {
            if block == 188 {
                mixer
                    .set_session(&chorus(tracks_after.clone()), Slots { banks: &[], audio: &sine() })
                    .unwrap();
            }
            for (frame, value) in mixer.track_input(0).unwrap()[3].iter_mut().enumerate() {
                let phase = core::f64::consts::TAU * (128 * block + frame) as f64 / 480.0;
                *value = LEVEL * libm::sin(phase) as f32;
            }
            let [mut left, mut right] = [[0.0; 128]; 2];
            mixer.process(&mut left, &mut right);
            rendered_output.extend(left);
        }
        rendered_output
    };
    let late = || vec![effect_with("limiter", &[])];
    let single_track = |effects| vec![silent("a", effects)];
    let fed = |effects| vec![silent("g", vec![]), routed_to(0, silent("b", effects))];
    for (label, tracks_before, tracks_after) in [
        ("the effects of the track get latency", single_track(vec![]), single_track(late())),
        ("the effects of the track lose their latency", single_track(late()), single_track(vec![])),
        ("a track before the group gets latency", fed(vec![]), fed(late())),
        ("a track before the group loses its latency", fed(late()), fed(vec![])),
    ] {
        let rendered_output = rendered_output(tracks_before, tracks_after);
        let (early, late) =
            (largest_step(&rendered_output[12_000..24_000]), largest_step(&rendered_output[24_000..]));
        println!("{label}: largest step {late:.4}, before the edit {early:.4}");
        assert!(early > 0.001 && late < 1.5 * early, "{label}: a step of {late}, before the edit {early}");
    }
}

#[test]
fn new_effects_start_from_silence() {
    for kind in ["delay", "chorus", "flanger", "reverb", "convolution", "limiter", "phaser"] {
        for mix in [0.25, 1.0] {
            let has_mix = effect_kind(kind).unwrap().parameter_index("mix").is_some();
            let new = if has_mix { effect_with(kind, &[("mix", mix)]) } else { effect_with(kind, &[]) };
            check(kind, vec![sounding("a", vec![])], vec![sounding("a", vec![new])], 2.0);
        }
    }
}

#[test]
fn removed_routes_do_not_affect_solo() {
    let soloed = || Track { solo: true, ..sounding("a", vec![]) };
    let group = || sounding("g", vec![]);
    let apart = vec![soloed(), Track { gain: 0.5, ..group() }];
    let fresh_output = play(&mut started(&session(apart.clone())), 48_000, &[128]);
    let [_, late] = before_and_after_edits(
        vec![routed_to(1, soloed()), Track { gain: 0.5, ..group() }],
        vec![(0, apart)],
    );
    let (rendered_output, expected) = (peak(&late[24_000..]), peak(&fresh_output[24_000..48_000]));
    assert!((rendered_output - expected).abs() < 1e-4, "a peak of {rendered_output} instead of {expected}");
    // The track is audible only through its send, which is then removed.
    let sends = vec![SendSettings { to: 1, gain: 1.0, pre_fader: true }];
    let by_send = |sends| vec![Track { sends, mute: true, ..soloed() }, group()];
    let [_, late] = before_and_after_edits(by_send(sends), vec![(0, by_send(vec![]))]);
    assert_eq!(peak(&late[24_000..]), 0.0);
}

#[test]
fn removed_effects_fade_out_even_if_edits_follow_quickly() {
    let louder = |number: usize| named(&number.to_string(), effect_with("utility", &[("gain_db", 6.0)]));
    let three =
        |first: usize| vec![Track { gain: 0.01, ..sounding("a", (first..first + 3).map(louder).collect()) }];
    let edits = (1..40).map(|number| (480, three(number))).collect();
    let [early, late] = before_and_after_edits(three(0), edits);
    assert!(peak(&late) < 4.1 * peak(&early), "a peak of {} after {}", peak(&late), peak(&early));
    // Each edit adds an effect and removes another.
    let with_last = |first: usize, last_id: &str| {
        let effects = (first..first + 3).map(louder).chain([named(last_id, effect_with("utility", &[]))]);
        vec![Track { gain: 0.01, ..sounding("a", effects.collect()) }]
    };
    let edits = (1..40).map(|number| (450, with_last(number, ["x", "y"][number % 2]))).collect();
    let [early, late] = before_and_after_edits(with_last(0, "x"), edits);
    assert!(peak(&late) < 4.1 * peak(&early), "a peak of {} after {}", peak(&late), peak(&early));
}

#[test]
fn removing_or_reordering_effects_before_a_latency_causes_no_steps() {
    let gain = |id: &str, gain_db: f64| named(id, effect_with("utility", &[("gain_db", gain_db)]));
    let limiter = |id: &str| named(id, effect_with("limiter", &[]));
    let one = |effects: &[EffectSettings]| vec![sounding("a", effects.to_vec())];
    let (first, second, third) = (gain("1", -14.0), gain("2", -17.0), gain("3", -12.0));
    let tracks_before = one(&[first.clone(), second.clone(), limiter("l")]);
    check("effects are reordered and the limiter is removed", tracks_before, one(&[second, first]), 0.1);
    let (tracks_before, tracks_after) =
        ([third.clone(), gain("4", -24.0), limiter("l")], [limiter("m"), gain("4", -24.0), third]);
    check("another limiter is added in front", one(&tracks_before), one(&tracks_after), 0.1);
    // A new effect is removed again during its fade, in front of an effect that stays.
    let new = || [gain("5", -20.0), gain("6", 0.0)];
    let both_effects = one(&[new().to_vec(), vec![limiter("l")]].concat());
    for wait_frames in [720, 880] {
        let edits = vec![
            (0, both_effects.clone()),
            (wait_frames, one(&[new()[1].clone(), gain("7", -20.0), limiter("l")])),
        ];
        check_all("a new effect is removed in its fade", one(&[gain("8", -20.0), limiter("l")]), edits, 0.3);
    }
    // All effects are removed while the reordered effects still fade in.
    let many = ["1", "2", "3"].map(limiter).to_vec();
    let reordered = |first: bool| {
        one(&if first { [vec![gain("u", 0.0)], many.clone()] } else { [many.clone(), vec![gain("u", 0.0)]] }
            .concat())
    };
    let bare = |gain| vec![Track { gain, ..sounding("a", vec![]) }];
    for wait_frames in [482, 500, 600] {
        let edits = vec![(0, reordered(true)), (0, bare(1.0)), (wait_frames, bare(0.99))];
        check_all("all effects are removed", reordered(false), edits, 2.0);
    }
}

#[test]
fn a_fading_effect_with_a_side_chain_keeps_its_side_chain() {
    let gate = |id: &str, side_chain| {
        let gate = effect_with("gate", &[("threshold_db", -30.0), ("range_db", 60.0), ("ratio", 100.0)]);
        named(id, EffectSettings { side_chain, ..gate })
    };
    let tracks = |effect| vec![silent("source", vec![]), sounding("a", vec![effect])];
    check("replaced by another gate", tracks(gate("1", Some(0))), tracks(gate("2", Some(0))), 0.1);
    check("replaced by a quiet effect", tracks(gate("1", Some(0))), tracks(quiet("2")), 0.1);
    check("removed with its track", tracks(gate("1", Some(0))), vec![silent("source", vec![])], 0.1);
}

#[test]
fn routes_that_are_reversed_and_then_restored_or_removed_do_not_click() {
    let tracks = |routes: [Option<u32>; 2]| {
        let [a, b] = routes;
        vec![Track { output: a, ..sounding("a", vec![]) }, Track { output: b, ..silent("b", vec![]) }]
    };
    let (forward, reversed, unrouted) =
        (|| tracks([Some(1), None]), tracks([None, Some(0)]), tracks([None, None]));
    for wait_frames in [0, 128, 256] {
        check_all("restored", forward(), vec![(0, reversed.clone()), (wait_frames, forward())], 2.0);
        check_all("removed", forward(), vec![(0, reversed.clone()), (wait_frames, unrouted.clone())], 2.0);
    }
}
