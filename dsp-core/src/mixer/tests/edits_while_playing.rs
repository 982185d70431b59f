//! Tests of edits while a session plays.

use super::*;

/// Returns a session with a slow sine on one track and a silent track.
fn sine_session() -> Session {
    let mut session = session(vec![noisy("a", 1.0), bus("g")]);
    session.tracks[0].clips[0].length_frames = 400_000;
    session
}

fn sine() -> AudioSlot {
    let values: Vec<f32> = (0..400_000)
        .map(|frame| 0.25 * libm::sinf(frame as f32 % 480.0 * core::f32::consts::TAU / 480.0))
        .collect();
    AudioSlot::Whole(Audio::from_channels(&values, None))
}

fn play(mixer: &mut Mixer, frames: usize) -> Vec<f32> {
    let (mut left, mut right) = (vec![0.0; frames], vec![0.0; frames]);
    for (left, right) in left.chunks_mut(128).zip(right.chunks_mut(128)) {
        assert_no_alloc::assert_no_alloc(|| mixer.process(left, right));
    }
    left
}

fn largest_step(values: &[f32]) -> f32 {
    values.windows(2).fold(0.0, |largest_step, pair| largest_step.max((pair[1] - pair[0]).abs()))
}

/// Maximum step between two samples. The largest step of the sine itself is 0.0033. A cut at the
/// peak of the sine would make a step of 0.25.
const STEP_MAX: f32 = 0.0125;

#[test]
fn edits_of_effects_and_routes_do_not_click() {
    type Before = dyn Fn(&mut Session);
    type Edit = fn(&mut Session);
    let gain = |session: &mut Session, gain_db: f64| {
        let mut utility = effect("u", "utility");
        utility.values = vec![gain_db];
        session.tracks[0].effects.push(utility);
    };
    let edits: [(&str, &Before, Edit); 14] = [
        ("an effect with latency is added", &|_| {}, |session| {
            session.tracks[0].effects.push(delaying_effect());
        }),
        (
            "an effect with latency is removed",
            &|session| session.tracks[0].effects.push(delaying_effect()),
            |session| {
                session.tracks[0].effects.clear();
            },
        ),
        ("the master gets latency", &|_| {}, |session| session.master_effects.push(delaying_effect())),
        ("another track gets latency", &|_| {}, |session| session.tracks[1].effects.push(delaying_effect())),
        (
            "another track loses its latency",
            &|session| session.tracks[1].effects.push(delaying_effect()),
            |session| {
                session.tracks[1].effects.clear();
            },
        ),
        ("an effect is added", &|_| {}, |session| {
            let mut quiet = effect("u", "utility");
            quiet.values = vec![-60.0];
            session.tracks[0].effects.push(quiet);
        }),
        ("an effect is removed", &move |session| gain(session, -60.0), |session| {
            session.tracks[0].effects.clear();
        }),
        ("a value changes", &move |session| gain(session, -60.0), |session| {
            session.tracks[0].effects[0].values[0] = 0.0;
        }),
        ("a bypass", &move |session| gain(session, -60.0), |session| session.tracks[0].bypass = true),
        ("another output", &|_| {}, |session| session.tracks[0].output = Some(1)),
        ("a send is added", &|_| {}, |session| session.tracks[0].sends = vec![send(1, 1.0, true)]),
        ("a muted group", &|session| session.tracks[0].output = Some(1), |session| {
            session.tracks[1].mute = true;
        }),
        ("a group is removed", &|session| session.tracks[0].output = Some(1), |session| {
            session.tracks.pop();
            session.tracks[0].output = None;
        }),
        ("a clip is removed", &|_| {}, |session| session.tracks[0].clips.clear()),
    ];
    for (label, before, edit) in edits {
        let audio = [Some(sine())];
        let slots = Slots { banks: &[], audio: &audio };
        // The edit is tested at eight phases of the sine, one of which is near its peak.
        for eighth in 0..8 {
            let mut session = sine_session();
            before(&mut session);
            let mut mixer = Mixer::new(&session, slots).expect("the session is valid");
            mixer.play();
            play(&mut mixer, 9_600 + eighth * 61);
            edit(&mut session);
            mixer.set_session(&session, slots).expect("the edited session is valid");
            let output = play(&mut mixer, 9_600);
            let step = largest_step(&output);
            assert!(step < STEP_MAX, "{label}: a step of {step}");
        }
    }
}

#[test]
fn signals_are_aligned_after_an_edit_of_effects() {
    let audio = [Some(noise())];
    let slots = Slots { banks: &[], audio: &audio };
    let mut edited = session(vec![noisy("a", 1.0), noisy("b", -1.0)]);
    let mut mixer = Mixer::new(&edited, slots).expect("the session is valid");
    mixer.play();
    play(&mut mixer, 4_000);
    for effects in
        [vec![delaying_effect()], vec![], vec![delaying_effect(), effect("other", "test_listener")]]
    {
        edited.tracks[0].effects = effects;
        mixer.set_session(&edited, slots).expect("the edited session is valid");
        play(&mut mixer, 3_000);
        let remaining = peak(&play(&mut mixer, 1_000));
        assert!(remaining < 1e-6, "a peak of {remaining} remains");
    }
}

#[test]
fn setting_an_unchanged_session_changes_no_sample() {
    let audio = [Some(noise())];
    let slots = Slots { banks: &[], audio: &audio };
    let mut session = session(vec![noisy("a", 1.0)]);
    session.tracks[0].effects = vec![delaying_effect(), effect("echo", "delay")];
    let mut mixer = Mixer::new(&session, slots).expect("the session is valid");
    let mut unedited = Mixer::new(&session, slots).expect("the session is valid");
    mixer.play();
    unedited.play();
    play(&mut mixer, 5_000);
    play(&mut unedited, 5_000);
    mixer.set_session(&session, slots).expect("the edited session is valid");
    assert!(play(&mut mixer, 1_000) == play(&mut unedited, 1_000));
}

#[test]
fn effects_keep_their_state_when_others_are_moved_added_or_removed() {
    let audio = [Some(noise())];
    let slots = Slots { banks: &[], audio: &audio };
    let mut echo = effect("echo", "delay");
    // The delay is 375 ms, without synchronization to the tempo.
    echo.values = vec![0.0, 375.0];
    let (utility, other) = (effect("u", "utility"), effect("v", "utility"));
    let build = |effects: &[&EffectSettings]| {
        let mut session = session(vec![noisy("a", 1.0)]);
        session.tracks[0].clips[0].length_frames = 3_000;
        session.tracks[0].effects = effects.iter().copied().cloned().collect();
        session
    };
    let before = build(&[&echo, &utility]);
    // The clip ends at frame 4,000, and its echo begins at frame 19,000. The echo is thus stored in
    // the delay at the time of the edit.
    for after in [build(&[&utility, &echo]), build(&[&echo]), build(&[&utility, &echo, &other])] {
        let mut mixer = Mixer::new(&before, slots).expect("the session is valid");
        let mut unedited = Mixer::new(&before, slots).expect("the session is valid");
        mixer.play();
        unedited.play();
        play(&mut mixer, 10_000);
        play(&mut unedited, 10_000);
        mixer.set_session(&after, slots).expect("the edited session is valid");
        let (output, expected) = (play(&mut mixer, 15_000), play(&mut unedited, 15_000));
        assert!(peak(&expected) > 0.02, "the unedited session has no echo");
        let difference: Vec<f32> =
            output.iter().zip(&expected).map(|(output, expected)| output - expected).collect();
        assert!(peak(&difference) < 1e-6, "the output differs by {}", peak(&difference));
    }
}

#[test]
fn a_track_with_changed_effects_is_audible_after_its_latency_and_20_ms() {
    let audio = [Some(noise())];
    let slots = Slots { banks: &[], audio: &audio };
    let build = |ids: &[&str]| {
        let mut session = session(vec![noisy("a", 1.0)]);
        session.tracks[0].effects = ids.iter().map(|id| effect(id, "test_latent")).collect();
        session
    };
    let mut mixer = Mixer::new(&build(&["x", "y"]), slots).expect("the session is valid");
    let mut unedited = Mixer::new(&build(&["x", "y"]), slots).expect("the session is valid");
    mixer.play();
    unedited.play();
    play(&mut mixer, 5_000);
    play(&mut unedited, 5_000);
    mixer.set_session(&build(&["y", "x"]), slots).expect("the edited session is valid");
    let (output, expected) = (play(&mut mixer, 4_000), play(&mut unedited, 4_000));
    let first_audible_frame = mixer.latency_frames() + 960;
    assert!(peak(&expected[first_audible_frame..]) > 0.05, "the unedited session has no noise");
    let difference: Vec<f32> = output[first_audible_frame..]
        .iter()
        .zip(&expected[first_audible_frame..])
        .map(|(output, expected)| output - expected)
        .collect();
    assert!(peak(&difference) < 1e-6, "the output differs by {}", peak(&difference));
}
