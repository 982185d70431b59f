//! Tests that signals are latency-aligned before they are summed.

use super::*;
use crate::effects::test_kinds::{TEST_DELAY_FRAMES, TEST_SIDE_CHAIN_FRAMES};

/// Checks that tracks with the same noise in opposite polarity cancel each other. The peak of the
/// sum is compared with the peak of track "a" alone.
fn check_null(label: &str, tracks: &[Track]) {
    let both_tracks = render(&session(tracks.to_vec()));
    let mut alone = tracks.to_vec();
    alone.iter_mut().filter(|track| track.id == "b").for_each(|track| track.mute = true);
    let alone = render(&session(alone));
    let loudest = peak(&alone[0]).max(peak(&alone[1]));
    assert!(loudest > 0.05, "{label}: track a alone has a peak of only {loudest}");
    let remaining = peak(&both_tracks[0]).max(peak(&both_tracks[1]));
    std::println!("{label}: {:.1} dB", 20.0 * libm::log10(f64::from(remaining.max(1e-30) / loudest)));
    // The limit is -140 dB.
    assert!(remaining <= 1e-7 * loudest, "{label}: a peak of {remaining} remains of {loudest}");
}

#[test]
fn tracks_of_opposite_polarity_cancel_at_any_latency_of_their_effects() {
    let with = |mut track: Track, effects: &[EffectSettings]| {
        track.effects = effects.to_vec();
        track
    };
    let to = |mut track: Track, output: u32| {
        track.output = Some(output);
        track
    };
    let late = |id, gain| with(noisy(id, gain), &[delaying_effect()]);
    check_null("tracks", &[late("a", 1.0), noisy("b", -1.0)]);
    let mut bypassed = late("a", 1.0);
    bypassed.bypass = true;
    check_null("a bypassed chain", &[bypassed, noisy("b", -1.0)]);
    let twice = [delaying_effect(), effect("second", "test_latent")];
    check_null("through a group", &[to(with(noisy("a", 1.0), &twice), 2), to(noisy("b", -1.0), 2), bus("g")]);
    check_null(
        "a group against a track",
        &[to(noisy("a", 1.0), 2), noisy("b", -1.0), with(bus("g"), &[delaying_effect()])],
    );
    check_null(
        "a group in a group",
        &[
            to(late("a", 1.0), 2),
            late("b", -1.0),
            to(with(bus("g"), &[delaying_effect()]), 3),
            with(bus("h"), &twice),
        ],
    );
    let sending = |mut track: Track, to: u32, pre_fader: bool| {
        track.sends = vec![send(to, 0.5, pre_fader), send(to, 0.5, pre_fader)];
        track.output = Some(3);
        track
    };
    // Each of two sends has half of the signal. The outputs lead to a muted group.
    let mut closed = bus("closed");
    closed.mute = true;
    for pre_fader in [false, true] {
        let bus = with(bus("bus"), &[delaying_effect()]);
        let tracks = [
            sending(late("a", 1.0), 2, pre_fader),
            sending(noisy("b", -1.0), 2, pre_fader),
            bus,
            closed.clone(),
        ];
        check_null("through sends", &tracks);
    }
    check_null(
        "a send against a track",
        &[
            sending(late("a", 1.0), 2, false),
            noisy("b", -1.0),
            with(bus("bus"), &[delaying_effect()]),
            closed,
        ],
    );
}

#[test]
fn a_side_chain_is_latency_compensated() {
    // The effect "test_listener" subtracts its side-chain, which is the same noise.
    let listening =
        |from: u32| EffectSettings { side_chain: Some(from), ..effect("listener", "test_listener") };
    for (label, input_effects, side_chain_effects) in [
        ("no latency", vec![], vec![]),
        ("a side-chain with latency", vec![], vec![delaying_effect()]),
        ("an input with latency", vec![delaying_effect()], vec![]),
    ] {
        let mut listener = noisy("a", 1.0);
        listener.effects = input_effects;
        listener.effects.push(listening(1));
        let mut side_chain = noisy("b", 1.0);
        side_chain.effects = side_chain_effects;
        // The fader of the track does not affect the side-chain, which is before the fader.
        side_chain.gain = 0.0;
        let remaining = peak(&render(&session(vec![listener.clone(), side_chain.clone()]))[0]);
        assert_eq!(remaining, 0.0, "{label}: remaining peak");
        listener.effects.pop();
        let alone = peak(&render(&session(vec![listener, side_chain]))[0]);
        assert!(alone > 0.05, "{label}: without the effect, the peak is only {alone}");
    }
    // The side-chain of the master is aligned with the signal of a group that has latency.
    let mut late = bus("late");
    late.effects = vec![delaying_effect()];
    let mut fed = noisy("a", 1.0);
    fed.output = Some(1);
    let mut master = session(vec![fed, late]);
    master.master_effects = vec![listening(1)];
    assert_eq!(peak(&render(&master)[0]), 0.0);
}

#[test]
fn the_total_latency_is_reported_and_removed_from_renders() {
    let plain = session(vec![noisy("a", 1.0)]);
    let expected = render(&plain);
    let mix_latency_frames = mixer(&plain).latency_frames();
    let mut late = session(vec![noisy("a", 1.0), bus("g")]);
    late.tracks[0].effects = vec![delaying_effect()];
    late.tracks[0].output = Some(index_of(&late, "g"));
    late.tracks[1].effects = vec![delaying_effect(), effect("listener", "test_listener")];
    late.master_effects = vec![delaying_effect()];
    assert_eq!(
        mixer(&late).latency_frames(),
        mix_latency_frames + 3 * TEST_DELAY_FRAMES + TEST_SIDE_CHAIN_FRAMES
    );
    assert!(render(&late) == expected, "the render with latency differs from that without");
}

#[test]
fn automation_gets_the_same_delay_as_the_signal() {
    use crate::session::{AutomationLane, AutomationPoint, AutomationTarget, Curve};
    let lane = |target| {
        let point = |frame, value, curve| AutomationPoint { frame, value, curve };
        let points = vec![
            point(3_001, -20.0, Curve::Linear),
            point(9_000, 0.0, Curve::Step),
            point(12_345, -60.0, Curve::Step),
        ];
        AutomationLane { target, points }
    };
    let gain = AutomationTarget::Effect { effect: 1, parameter: 0 };
    for (label, targets) in [
        ("fader", vec![AutomationTarget::Volume]),
        ("effect", vec![gain]),
        ("send", vec![AutomationTarget::Send(0)]),
        ("all", vec![gain, AutomationTarget::Volume, AutomationTarget::Send(0)]),
    ] {
        let build = |is_late: bool| {
            let mut session = session(vec![noisy("a", 1.0), bus("bus"), bus("closed")]);
            session.tracks[0].effects = vec![delaying_effect(), effect("u", "utility"), delaying_effect()];
            if !is_late {
                for effect in [0, 2] {
                    session.tracks[0].effects[effect] = super::effect("none", "utility");
                }
            }
            session.tracks[0].output = Some(2);
            session.tracks[2].mute = true;
            session.tracks[0].sends = vec![send(1, 1.0, false)];
            session.tracks[0].automation = targets.iter().map(|target| lane(*target)).collect();
            session
        };
        let (late, plain) = (render(&build(true)), render(&build(false)));
        let difference: Vec<f32> = late[0].iter().zip(&plain[0]).map(|(late, plain)| late - plain).collect();
        // The results differ only because the control points, between which the ramps are linear,
        // are at other frames.
        assert!(peak(&difference) < 2e-4 * peak(&plain[0]), "{label}: difference of {}", peak(&difference));
        assert!(
            late[0].len() == plain[0].len() && peak(&plain[0][12_400..]) < 0.01,
            "{label}: length, or level after the last point"
        );
    }
}

#[test]
fn effects_get_the_musical_time_of_their_input() {
    use crate::session::TempoChange;
    let change = |frame, bpm, beat| TempoChange { frame, bpm, beat };
    let tempo = [change(0, 120.0, 0.0), change(4_801, 60.0, 0.2), change(9_600, 240.0, 0.3)];
    let beat = |frame: i64| {
        let last = tempo.iter().rfind(|change| change.frame as i64 <= frame).unwrap_or(&tempo[0]);
        last.beat + (frame - last.frame as i64) as f64 * last.bpm / (60.0 * 48_000.0)
    };
    // An effect in a group that follows a track with latency gets the beat of its input. Before the
    // start of the session, the beat is negative.
    let mut late = session(vec![noisy("a", 1.0), bus("g")]);
    late.tracks[0].effects = vec![delaying_effect()];
    late.tracks[0].output = Some(1);
    late.tracks[1].effects = vec![effect("clock", "test_clock")];
    late.tempo = tempo.to_vec();
    for start in [0, 4_800, 9_000] {
        let mut mixer = mixer(&late);
        mixer.seek(start);
        mixer.play();
        let latency_frames = mixer.latency_frames();
        let (mut left, mut right) = (vec![0.0; latency_frames + 8_000], vec![0.0; latency_frames + 8_000]);
        for (left, right) in left.chunks_mut(100).zip(right.chunks_mut(100)) {
            assert_no_alloc::assert_no_alloc(|| mixer.process(left, right));
        }
        let clock_latency_frames = latency_frames - TEST_DELAY_FRAMES;
        for (frame, value) in (start as i64 - TEST_DELAY_FRAMES as i64..).zip(&left[clock_latency_frames..]) {
            let difference = f64::from(*value) * 1_000.0 - beat(frame);
            assert!(
                difference.abs() < 1e-4,
                "the clock outputs {value} at frame {frame} after a start at {start}"
            );
        }
    }
}

#[test]
fn sends_to_the_shared_effects_have_the_latency_of_the_track() {
    let play = |effects: &[EffectSettings]| {
        let mut session = session(vec![bus("a"), bus("g")]);
        session.tracks[0].effects = effects.to_vec();
        session.tracks[0].output = Some(1);
        session.tracks[1].effects = effects.to_vec();
        let mut mixer = mixer(&session);
        mixer.set_input_enabled(0, true);
        mixer.play();
        let latency_frames = mixer.latency_frames();
        let [noise, _] = match noise() {
            AudioSlot::Whole(audio) => audio.channels(),
            AudioSlot::Streamed { .. } => panic!("the noise must not be streamed"),
        };
        let (mut output, mut right) = (Vec::new(), [0.0; 100]);
        for block in noise[..10_000].chunks_exact(100) {
            let input = mixer.track_input(0).expect("track 0 has external input");
            // The chorus depends on the clock of the mix, so the chorus send stays silent.
            input[..3].iter_mut().for_each(|output| output[..100].copy_from_slice(block));
            let mut left = [0.0; 100];
            mixer.process(&mut left, &mut right);
            output.extend(left);
        }
        output.split_off(latency_frames)
    };
    let (plain, late) = (play(&[]), play(&[delaying_effect()]));
    assert!(peak(&plain) > 0.1);
    assert!(late[..] == plain[..late.len()], "the reverb starts at a different time");
}
