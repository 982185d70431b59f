//! A mix that is edited while it plays: heard by a sine so slow that every click stands out.

use dsp_core::effects::effect_kind;
use dsp_core::mixer::{Mixer, Slots, TrackMix};
use dsp_core::session::{Audio, AudioSlot, Clip, EffectSettings, SendSettings, Session, Track};

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

/// Left of what is heard just before some edits, each so many frames after the one before, and of
/// the second and a half after the last.
fn around_edits(before: Vec<Track>, edits: Vec<(usize, Vec<Track>)>) -> [Vec<f32>; 2] {
    let mut mixer = started(&session(before));
    let mut heard = play(&mut mixer, BEFORE, &[128]);
    heard.truncate(BEFORE);
    for (wait, tracks) in edits {
        let from = heard.len();
        heard.extend(play(&mut mixer, wait, &[128]));
        heard.truncate(from + wait);
        mixer.set_session(&session(tracks), Slots { banks: &[], audio: &sine() }).unwrap();
    }
    let from = heard.len();
    heard.extend(play(&mut mixer, 72_000, &[128]));
    heard.truncate(from + 72_000);
    [heard[BEFORE - 4_800..BEFORE].to_vec(), heard[BEFORE - 1..].to_vec()]
}

fn steepest(values: &[f32]) -> f32 {
    values.windows(2).fold(0.0, |steepest, pair| steepest.max((pair[1] - pair[0]).abs()))
}

/// That an edit is followed by no step that is steeper than this many times those of the sine, and
/// nothing louder than before and after it.
#[track_caller]
fn check(what: &str, before: Vec<Track>, after: Vec<Track>, most: f32) {
    check_all(what, before, vec![(0, after)], most);
}

/// As [`check`], of some edits.
#[track_caller]
fn check_all(what: &str, before: Vec<Track>, edits: Vec<(usize, Vec<Track>)>, most: f32) {
    let last = edits.last().map(|(_, tracks)| tracks.clone()).unwrap_or_default();
    let fresh = play(&mut started(&session(last)), 48_000, &[128]);
    let [early, late] = around_edits(before, edits);
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
    // Twice, and the second time where less is late.
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

/// An effect by another id.
fn named(id: &str, effect: EffectSettings) -> EffectSettings {
    EffectSettings { id: id.to_owned(), ..effect }
}

fn quiet(id: &str) -> EffectSettings {
    named(id, with("utility", &[("gain_db", -36.0)]))
}

#[test]
fn what_an_effect_takes_the_place_of_is_heard_until_it_is_ready() {
    let one = |effects| vec![sounding("a", effects)];
    check("one for another", one(vec![quiet("1")]), one(vec![quiet("2")]), 0.1);
    let late = || vec![with("limiter", &[]), quiet("2")];
    check("for a late one and another", one(vec![quiet("1")]), one(late()), 0.1);
    check("two for one", one(late()), one(vec![quiet("1")]), 0.1);
    let moved = one(vec![quiet("3"), with("limiter", &[])]);
    check("one that comes again elsewhere", one(late()), moved, 0.1);
    let stays = |more| one(vec![quiet("3"), with("limiter", &[]), with("width", &[("width", more)])]);
    let before = one(vec![with("limiter", &[]), with("width", &[]), quiet("2")]);
    let twice = |last| vec![(0, stays(1.0)), (128, last)];
    let without = one(vec![quiet("3"), with("limiter", &[])]);
    check_all("and then another goes", before, twice(without), 0.1);
    let thrice = vec![(0, one(vec![quiet("2")])), (0, one(vec![quiet("3")])), (300, one(vec![quiet("4")]))];
    check_all("again and again", one(vec![quiet("1")]), thrice, 0.1);
    let back = vec![(0, one(vec![quiet("2")])), (600, one(vec![quiet("1")]))];
    check_all("and back while it fades", one(vec![quiet("1")]), back, 0.1);
}

#[test]
fn a_track_that_comes_is_heard_through_its_effects_at_once() {
    let track = || sounding("a", vec![quiet("1")]);
    check("a track", vec![], vec![track()], 0.1);
    check_all(
        "one that is deleted and comes again",
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
fn what_closes_at_one_end_of_its_wait_does_so_at_the_other_as_well() {
    let late = |count: usize| {
        let limiters = (0..count).map(|number| named(&number.to_string(), with("limiter", &[])));
        silent("b", limiters.collect())
    };
    let tracks = |mute, count| vec![Track { mute, ..sounding("a", vec![]) }, late(count)];
    for wait in [128, 256, 384, 512] {
        let edits = vec![(0, tracks(true, 8)), (wait, tracks(true, 0))];
        check_all("mute, then less latency", tracks(false, 8), edits, 1.2);
        let edits = vec![(0, tracks(false, 1)), (wait, tracks(false, 0))];
        check_all("latency that comes and goes", tracks(false, 0), edits, 1.2);
    }
}

#[test]
fn what_is_still_joined_stays_before_its_effects() {
    let listening = |side_chain, gain| {
        let listener = EffectSettings { side_chain, ..with("compressor", &[("ratio", 1.0)]) };
        let listens = Track { gain, ..sounding("b", vec![listener, quiet("1")]) };
        vec![silent("a", vec![with("limiter", &[])]), listens]
    };
    for wait in [0, 128] {
        let edits = vec![(0, listening(None, 1.0)), (wait, listening(None, 0.99))];
        check_all("a side-chain goes, then another edit", listening(Some(0), 1.0), edits, 0.1);
    }
    let late = || silent("late", vec![with("limiter", &[])]);
    let group = |effects| sounding("g", effects);
    let alone = vec![late(), group(vec![with("utility", &[])])];
    let fed = vec![to(1, late()), group(vec![with("utility", &[])])];
    check_all(
        "a new effect, then a late track",
        vec![late(), group(vec![])],
        vec![(0, alone), (0, fed)],
        2.5,
    );
}

#[test]
fn ways_that_turn_around_are_joined_and_cut_no_others() {
    let turned = vec![sounding("a", vec![]), to(0, silent("b", vec![]))];
    check("turned around", vec![to(1, sounding("a", vec![])), silent("b", vec![])], turned, 2.5);
    let other = || to(2, sounding("c", vec![with("utility", &[])]));
    let tracks = |ways: [&dyn Fn(Track) -> Track; 2]| {
        vec![ways[0](silent("a", vec![])), ways[1](silent("b", vec![])), silent("d", vec![])]
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
fn what_goes_to_the_shared_effects_is_joined_when_its_wait_changes() {
    let heard = |before: Vec<Track>, after: Vec<Track>| {
        let chorus = |tracks| {
            let mut session = session(tracks);
            session.chorus.level = 1.0;
            session
        };
        let mut mixer = started(&chorus(before));
        mixer.set_takes_input(0, true);
        let mut heard = Vec::new();
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
            heard.extend(left);
        }
        heard
    };
    let late = || vec![with("limiter", &[])];
    let alone = |effects| vec![silent("a", effects)];
    let fed = |effects| vec![silent("g", vec![]), to(0, silent("b", effects))];
    for (what, before, after) in [
        ("its own effects get late", alone(vec![]), alone(late())),
        ("and are so no more", alone(late()), alone(vec![])),
        ("a late track comes to it", fed(vec![]), fed(late())),
        ("and goes", fed(late()), fed(vec![])),
    ] {
        let heard = heard(before, after);
        let (early, late) = (steepest(&heard[12_000..24_000]), steepest(&heard[24_000..]));
        println!("{what}: {late:.4} a frame, {early:.4} before");
        assert!(early > 0.001 && late < 1.5 * early, "{what}: {late} instead of {early}");
    }
}

#[test]
fn new_effects_hear_what_comes_from_silence_on() {
    for kind in ["delay", "chorus", "flanger", "reverb", "convolution", "limiter", "phaser"] {
        for mix in [0.25, 1.0] {
            let has_mix = effect_kind(kind).unwrap().parameter_index("mix").is_some();
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
    let [_, late] = around_edits(vec![to(1, soloed()), Track { gain: 0.5, ..group() }], vec![(0, apart)]);
    let (heard, expected) = (peak(&late[24_000..]), peak(&fresh[24_000..48_000]));
    assert!((heard - expected).abs() < 1e-4, "{heard} instead of {expected}");
    // A send, whose track is heard through it only.
    let sends = vec![SendSettings { to: 1, gain: 1.0, pre_fader: true }];
    let by_send = |sends| vec![Track { sends, mute: true, ..soloed() }, group()];
    let [_, late] = around_edits(by_send(sends), vec![(0, by_send(vec![]))]);
    assert_eq!(peak(&late[24_000..]), 0.0);
}

#[test]
fn what_goes_does_so_in_time_however_many_edits_follow() {
    let louder = |number: usize| named(&number.to_string(), with("utility", &[("gain_db", 6.0)]));
    let three =
        |first: usize| vec![Track { gain: 0.01, ..sounding("a", (first..first + 3).map(louder).collect()) }];
    let edits = (1..40).map(|number| (480, three(number))).collect();
    let [early, late] = around_edits(three(0), edits);
    assert!(peak(&late) < 4.1 * peak(&early), "{} after {}", peak(&late), peak(&early));
    // Where one comes and goes each time.
    let also = |first: usize, last: &str| {
        let effects = (first..first + 3).map(louder).chain([named(last, with("utility", &[]))]);
        vec![Track { gain: 0.01, ..sounding("a", effects.collect()) }]
    };
    let edits = (1..40).map(|number| (450, also(number, ["x", "y"][number % 2]))).collect();
    let [early, late] = around_edits(also(0, "x"), edits);
    assert!(peak(&late) < 4.1 * peak(&early), "{} after {}", peak(&late), peak(&early));
}

#[test]
fn what_is_late_and_goes_takes_its_sound_with_it() {
    let at = |id: &str, gain_db: f64| named(id, with("utility", &[("gain_db", gain_db)]));
    let limiter = |id: &str| named(id, with("limiter", &[]));
    let one = |effects: &[EffectSettings]| vec![sounding("a", effects.to_vec())];
    let (first, second, third) = (at("1", -14.0), at("2", -17.0), at("3", -12.0));
    let before = one(&[first.clone(), second.clone(), limiter("l")]);
    check("changed places before it", before, one(&[second, first]), 0.1);
    let (before, after) =
        ([third.clone(), at("4", -24.0), limiter("l")], [limiter("m"), at("4", -24.0), third]);
    check("another before them", one(&before), one(&after), 0.1);
    // Cut while it fades, before one that stays.
    let new = || [at("5", -20.0), at("6", 0.0)];
    let both = one(&[new().to_vec(), vec![limiter("l")]].concat());
    for wait in [720, 880] {
        let edits = vec![(0, both.clone()), (wait, one(&[new()[1].clone(), at("7", -20.0), limiter("l")]))];
        check_all("cut before it", one(&[at("8", -20.0), limiter("l")]), edits, 0.3);
    }
    // All removed while there is silence for a change of places.
    let many = ["1", "2", "3"].map(limiter).to_vec();
    let around = |first: bool| {
        one(&if first { [vec![at("u", 0.0)], many.clone()] } else { [many.clone(), vec![at("u", 0.0)]] }
            .concat())
    };
    let muted = |gain| vec![Track { gain, ..sounding("a", vec![]) }];
    for wait in [482, 500, 600] {
        let edits = vec![(0, around(true)), (0, muted(1.0)), (wait, muted(0.99))];
        check_all("all removed meanwhile", around(false), edits, 2.0);
    }
}

#[test]
fn what_listens_and_goes_does_not_hear_itself() {
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
fn ways_that_are_cut_stay_so() {
    let tracks = |ways: [Option<u32>; 2]| {
        let [a, b] = ways;
        vec![Track { output: a, ..sounding("a", vec![]) }, Track { output: b, ..silent("b", vec![]) }]
    };
    let (there, back, apart) = (|| tracks([Some(1), None]), tracks([None, Some(0)]), tracks([None, None]));
    for wait in [0, 128, 256] {
        check_all("and back", there(), vec![(0, back.clone()), (wait, there())], 2.0);
        check_all("and apart", there(), vec![(0, back.clone()), (wait, apart.clone())], 2.0);
    }
}
