//! Tests of fader moves and edits in sessions with automation lanes. Gains ramp without steps, and
//! then follow the lanes exactly.

use dsp_core::mixer::{Mixer, Slots, TrackMix};
use dsp_core::session::{
    Audio, AudioSlot, AutomationLane, AutomationTarget, Clip, Curve, SendSettings, Session, Track,
};

use crate::full::{SECOND, effect, lane, play, point};
use crate::sessions::peak;

/// Frames at which playback starts: a multiple of 32, a frame between two multiples, and a frame
/// just before a multiple.
const STARTS: [u64; 3] = [0, 16, 31];

/// Length in frames of the ramp to an edited lane, and of the interval between control points.
const RAMP_FRAMES: usize = 480;
const CONTROL_FRAMES: usize = 32;

/// Value of the constant audio.
const CONSTANT: f32 = 0.5;

fn slots() -> [Option<AudioSlot>; 1] {
    [Some(AudioSlot::Whole(Audio::from_channels(&[CONSTANT; 4 * SECOND as usize], None)))]
}

/// Returns a track that plays the constant for four seconds, with these lanes.
fn track(lanes: &[AutomationLane]) -> Track {
    let clip = Clip {
        frame: 0,
        offset_frames: 0,
        length_frames: 4 * SECOND,
        gain: 1.0,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: false,
        audio_slot: 0,
    };
    Track { id: "constant".to_owned(), clips: vec![clip], automation: lanes.to_vec(), ..Track::default() }
}

fn session(tracks: Vec<Track>) -> Session {
    Session { tracks, length_frames: 4 * SECOND, ..Session::default() }
}

/// Returns a mixer that has played some frames, starting at frame `from`.
fn playing(session: &Session, from: u64, frames: usize) -> Mixer {
    let slots = slots();
    let mut mixer = Mixer::new(session, Slots { banks: &[], audio: &slots }).unwrap();
    mixer.seek(from);
    mixer.play();
    play(&mut mixer, frames, &[128]);
    mixer
}

fn edit(mixer: &mut Mixer, session: &Session) {
    let slots = slots();
    mixer.set_session(session, Slots { banks: &[], audio: &slots }).unwrap();
}

/// Returns the left output of the next frames.
fn left(mixer: &mut Mixer, frames: usize) -> Vec<f32> {
    let mut output = play(mixer, frames, &[128]);
    output.truncate(frames);
    output
}

fn largest_step(values: &[f32]) -> f32 {
    values.windows(2).fold(0.0, |largest_step, pair| (pair[1] - pair[0]).abs().max(largest_step))
}

/// Returns a lane with a constant value.
fn constant_lane(target: AutomationTarget, value: f64) -> AutomationLane {
    lane(target, &[point(0, value, Curve::Linear)])
}

/// Returns a lane that falls by 12 dB a second from a value, with a step of -6 dB after one second.
fn falling_lane(target: AutomationTarget, value: f64) -> AutomationLane {
    let points = [
        point(0, value, Curve::Linear),
        point(SECOND, value - 12.0, Curve::Linear),
        point(SECOND, value - 18.0, Curve::Linear),
        point(3 * SECOND, value - 42.0, Curve::Linear),
    ];
    lane(target, &points)
}

#[test]
fn a_fader_ramps_the_same_with_and_without_a_lane() {
    let closed = TrackMix { gain: 0.0, pan: 0.0, is_muted: false, is_soloed: false };
    for start in STARTS {
        let moved = |lanes: &[AutomationLane]| {
            let mut mixer = playing(&session(vec![track(lanes)]), start, 12_800);
            mixer.set_track_mix(0, &closed);
            left(&mut mixer, 12_800)
        };
        let expected = moved(&[]);
        assert_eq!(*expected.last().unwrap(), 0.0);
        let output = moved(&[constant_lane(AutomationTarget::Pan, 0.0)]);
        println!(
            "from {start}: largest step {}, without a lane {}",
            largest_step(&output),
            largest_step(&expected)
        );
        assert!(
            output == expected,
            "from {start}: the output differs, with a step of {}",
            largest_step(&output)
        );
    }
}

#[test]
fn the_pan_ramps_if_the_volume_is_automated() {
    let panned = TrackMix { gain: 1.0, pan: 1.0, is_muted: false, is_soloed: false };
    for start in STARTS {
        let mut mixer =
            playing(&session(vec![track(&[constant_lane(AutomationTarget::Volume, 0.0)])]), start, 12_800);
        mixer.set_track_mix(0, &panned);
        let output = left(&mut mixer, 12_800);
        assert!(largest_step(&output) < 0.003, "from {start}: a step of {}", largest_step(&output));
        assert_eq!(*output.last().unwrap(), 0.0);
    }
}

/// Name of a lane's target, two distant values of the lane, and a function that returns a session
/// in which the lane has a value.
type Target = (&'static str, [f64; 2], Box<dyn Fn(f64) -> Session>);

fn targets() -> Vec<Target> {
    let on_track = |target| move |value: f64| session(vec![track(&[constant_lane(target, value)])]);
    let gain_db = AutomationTarget::Effect { effect: 0, parameter: 0 };
    let with_effect = move |value: f64| {
        let utility = effect("utility", "utility", &[]);
        session(vec![Track { effects: vec![utility], ..track(&[constant_lane(gain_db, value)]) }])
    };
    let with_send = |value: f64| {
        let send = SendSettings { to: 1, gain: 1.0, pre_fader: true };
        let lanes = [
            constant_lane(AutomationTarget::Send(0), value),
            constant_lane(AutomationTarget::Volume, -144.0),
        ];
        let bus = Track { id: "bus".to_owned(), ..Track::default() };
        session(vec![Track { sends: vec![send], ..track(&lanes) }, bus])
    };
    let with_master = |value: f64| Session {
        master_automation: vec![constant_lane(AutomationTarget::Volume, value)],
        ..session(vec![track(&[])])
    };
    vec![
        ("volume", [0.0, -144.0], Box::new(on_track(AutomationTarget::Volume))),
        ("pan", [0.0, 1.0], Box::new(on_track(AutomationTarget::Pan))),
        ("send", [0.0, -144.0], Box::new(with_send)),
        ("effect", [0.0, -144.0], Box::new(with_effect)),
        ("master", [0.0, -144.0], Box::new(with_master)),
    ]
}

#[test]
fn editing_a_lane_while_playing_does_not_click() {
    for (label, [from, to], session_at) in targets() {
        for start in STARTS {
            let mut mixer = playing(&session_at(from), start, 12_800);
            edit(&mut mixer, &session_at(to));
            let output = left(&mut mixer, 12_800);
            let step = largest_step(&output);
            println!("{label} from {start}: largest step {step}");
            let has_changed = output[0] > 0.9 * CONSTANT && *output.last().unwrap() == 0.0;
            assert!(has_changed, "{label} from {start}: the edit has no effect");
            // The gain ramps linearly within 10 ms. The limit is twice this slope, because the pan
            // follows a quarter of a cosine.
            assert!(step < 2.0 * CONSTANT / RAMP_FRAMES as f32, "{label} from {start}: a step of {step}");
        }
    }
}

#[test]
fn adding_a_lane_while_playing_does_not_click() {
    for (label, _, session_at) in targets() {
        let with_lane = session_at(-144.0);
        let mut without = with_lane.clone();
        without.master_automation.clear();
        without.tracks.iter_mut().for_each(|track| {
            track.automation.retain(|lane| label == "send" && lane.target == AutomationTarget::Volume);
        });
        for start in STARTS {
            let mut mixer = playing(&without, start, 12_800);
            edit(&mut mixer, &with_lane);
            let output = left(&mut mixer, 12_800);
            let step = largest_step(&output);
            assert!(output[0] > 0.9 * CONSTANT, "{label} from {start}: the output is silent before the ramp");
            assert!(step < 2.0 * CONSTANT / RAMP_FRAMES as f32, "{label} from {start}: a step of {step}");
        }
    }
}

#[test]
fn an_edited_lane_is_followed_exactly_after_its_ramp() {
    let session_before = session(vec![track(&[constant_lane(AutomationTarget::Volume, 0.0)])]);
    let session_after = session(vec![track(&[falling_lane(AutomationTarget::Volume, -2.0)])]);
    for start in STARTS {
        let mut edited_output = playing(&session_before, start, 4_801);
        edit(&mut edited_output, &session_after);
        let frames = RAMP_FRAMES + CONTROL_FRAMES + edited_output.latency_frames();
        play(&mut edited_output, frames, &[128]);
        let mut expected = playing(&session_after, start, 4_801 + frames);
        assert!(left(&mut edited_output, 96_000) == left(&mut expected, 96_000), "from {start}");
    }
}

#[test]
fn an_unrelated_edit_does_not_move_lanes() {
    let gain_db = AutomationTarget::Effect { effect: 0, parameter: 0 };
    let lanes = [falling_lane(AutomationTarget::Volume, 0.0), falling_lane(gain_db, 6.0)];
    let track = Track { effects: vec![effect("utility", "utility", &[])], ..track(&lanes) };
    let session_before = session(vec![track.clone()]);
    let session_after = session(vec![Track { id: "other".to_owned(), ..Track::default() }, track]);
    // The edit is just before the step of the lanes.
    let frames = SECOND as usize - 100;
    let mut edited_output = playing(&session_before, 0, frames);
    edit(&mut edited_output, &session_after);
    assert!(left(&mut edited_output, 48_000) == left(&mut playing(&session_before, 0, frames), 48_000));
}

#[test]
fn new_tracks_and_sends_start_at_the_value_of_their_lane() {
    let closed = constant_lane(AutomationTarget::Volume, -144.0);
    let empty = session(Vec::new());
    let mut mixer = playing(&empty, 0, 4_801);
    edit(&mut mixer, &session(vec![track(core::slice::from_ref(&closed))]));
    assert_eq!(peak(&left(&mut mixer, 4_800)), 0.0, "a new track is audible");
    let with_send = |sends: Vec<SendSettings>| {
        let lanes = [closed.clone(), constant_lane(AutomationTarget::Send(0), -144.0)];
        let bus = Track { id: "bus".to_owned(), ..Track::default() };
        session(vec![Track { sends, ..track(&lanes) }, bus])
    };
    let mut mixer = playing(&with_send(Vec::new()), 0, 4_801);
    edit(&mut mixer, &with_send(vec![SendSettings { to: 1, gain: 1.0, pre_fader: true }]));
    assert_eq!(peak(&left(&mut mixer, 4_800)), 0.0, "a new send is audible");
}

#[test]
fn a_send_whose_lane_is_removed_returns_to_its_set_gain() {
    let with_lanes = |lanes: &[AutomationLane]| {
        let send = SendSettings { to: 1, gain: 0.5, pre_fader: true };
        let bus = Track { id: "bus".to_owned(), ..Track::default() };
        session(vec![Track { sends: vec![send], gain: 0.0, ..track(lanes) }, bus])
    };
    let mut mixer = playing(&with_lanes(&[constant_lane(AutomationTarget::Send(0), -144.0)]), 0, 4_801);
    edit(&mut mixer, &with_lanes(&[]));
    assert_eq!(*left(&mut mixer, 12_800).last().unwrap(), 0.5 * CONSTANT);
}

#[test]
fn fader_moves_and_edits_do_not_depend_on_call_sizes() {
    let gain_db = AutomationTarget::Effect { effect: 0, parameter: 0 };
    let session_with = |lanes: &[AutomationLane]| {
        let utility = effect("utility", "utility", &[]);
        session(vec![Track { effects: vec![utility], ..track(lanes) }])
    };
    let pan =
        lane(AutomationTarget::Pan, &[point(0, -0.3, Curve::Linear), point(SECOND, 0.4, Curve::Linear)]);
    let session_before = session_with(&[pan.clone(), constant_lane(gain_db, -6.0)]);
    let session_after = session_with(&[pan, falling_lane(gain_db, 0.0)]);
    let output_in = |calls: &[usize]| {
        let mut mixer = playing(&session_before, 5, 0);
        let mut output = play(&mut mixer, 5_003, calls);
        mixer.set_track_mix(0, &TrackMix { gain: 0.3, pan: 0.7, is_muted: false, is_soloed: false });
        output.extend(play(&mut mixer, 100, calls));
        edit(&mut mixer, &session_after);
        mixer.set_track_mix(0, &TrackMix { gain: 0.6, pan: 0.7, is_muted: false, is_soloed: false });
        output.extend(play(&mut mixer, 60_000, calls));
        output
    };
    let expected = output_in(&[128]);
    for calls in [&[1][..], &[31, 77, 500], &[4_096]] {
        assert!(output_in(calls) == expected, "calls of {calls:?}");
    }
}
