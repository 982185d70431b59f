//! Tests of outputs, sends, mute, solo, automation of the mix, and invalid sessions.

use dsp_core::mixer::{Mixer, Slots, TrackMix};
use dsp_core::render::{OfflineRender, TailConfig};
use dsp_core::session::{AutomationTarget, Clip, Curve, SendSettings, Session, TempoChange, Track};

use crate::full::{SECOND, effect, lane, media, mixer, play, point, song};
use crate::sessions::{peak, session};

/// Returns a track that plays a constant, so that the output level shows the gain.
fn constant_track(id: &str) -> Track {
    let clip = Clip {
        frame: 0,
        offset_frames: 0,
        length_frames: 10 * SECOND,
        gain: 1.0,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: false,
        audio_slot: 0,
    };
    Track { id: id.to_owned(), clips: vec![clip], ..Track::default() }
}

fn bus(id: &str) -> Track {
    Track { id: id.to_owned(), ..Track::default() }
}

fn send(to: u32, gain: f32, pre_fader: bool) -> SendSettings {
    SendSettings { to, gain, pre_fader }
}

/// Returns an audio slot with a constant value of 0.125.
fn constant_slots() -> [Option<dsp_core::session::AudioSlot>; 1] {
    let values = vec![0.125; 10 * SECOND as usize];
    [Some(dsp_core::session::AudioSlot::Whole(dsp_core::session::Audio::from_channels(&values, None)))]
}

fn mixer_of_constants(session: &Session) -> Mixer {
    Mixer::new(session, Slots { banks: &[], audio: &constant_slots() }).unwrap()
}

/// Plays tracks whose audio is constant. Returns the gain of their sum on the left and on the
/// right.
fn output_gains(tracks: &[Track]) -> (f32, f32) {
    let mut mixer = mixer_of_constants(&session(tracks.to_vec()));
    mixer.play();
    let signal = play(&mut mixer, 4_800, &[256]);
    (signal[4_000] / 0.125, signal[4_800 + 4_000] / 0.125)
}

fn check_gain(label: &str, tracks: &[Track], expected: f32) {
    let (left, right) = output_gains(tracks);
    assert!(
        (left - expected).abs() < 1e-5 && left == right,
        "{label}: gains of {left} and {right}, expected {expected}"
    );
}

#[test]
fn gains_along_a_route_multiply() {
    let changed_track = |mut track: Track, change: &dyn Fn(&mut Track)| {
        change(&mut track);
        track
    };
    let half = changed_track(bus("g"), &|track| track.gain = 0.5);
    let fed = changed_track(constant_track("a"), &|track| (track.output, track.gain) = (Some(1), 0.5));
    check_gain("a group", &[fed.clone(), half.clone()], 0.25);
    let group_first = [half.clone(), changed_track(fed.clone(), &|track| track.output = Some(0))];
    check_gain("a group before its tracks", &group_first, 0.25);
    check_gain(
        "two tracks in a group",
        &[fed.clone(), half.clone(), changed_track(fed.clone(), &|track| track.id = "b".into())],
        0.5,
    );
    let sending = |pre_fader| {
        changed_track(constant_track("a"), &|track| {
            (track.gain, track.sends) = (0.5, vec![send(1, 0.5, pre_fader)]);
        })
    };
    check_gain("a send after the fader", &[sending(false), half.clone()], 0.5 + 0.125);
    check_gain("a send before the fader", &[sending(true), half.clone()], 0.5 + 0.25);
    let panned = changed_track(sending(true), &|track| track.pan = 1.0);
    assert_eq!(output_gains(&[panned, half.clone()]), (0.25, 0.75));
    let muted = changed_track(sending(true), &|track| track.mute = true);
    check_gain("a muted track with a send", &[muted, half.clone()], 0.0);
    check_gain("a muted group", &[fed, changed_track(half, &|track| track.mute = true)], 0.0);
}

#[test]
fn solo_keeps_the_tracks_before_and_after_the_soloed_track_audible() {
    // Tracks a and b feed the group g. Track c feeds the master. Tracks a and c send to the bus r.
    let check = |solo: &[&str], expected: f32| {
        let mut tracks =
            vec![constant_track("a"), constant_track("b"), constant_track("c"), bus("g"), bus("r")];
        tracks[0].output = Some(3);
        tracks[1].output = Some(3);
        (tracks[0].gain, tracks[1].gain, tracks[2].gain) = (0.5, 0.25, 0.125);
        tracks[0].sends = vec![send(4, 0.25, false)];
        tracks[2].sends = vec![send(4, 0.25, false)];
        for track in tracks.iter_mut().filter(|track| solo.contains(&&*track.id)) {
            track.solo = true;
        }
        check_gain(&format!("solo {solo:?}"), &tracks, expected);
    };
    let (a, b, c) = (0.5, 0.25, 0.125);
    check(&[], a + b + c + (a + c) / 4.0);
    check(&["a"], a + a / 4.0);
    check(&["b"], b);
    check(&["c"], c + c / 4.0);
    check(&["g"], a + b);
    check(&["r"], (a + c) / 4.0);
    check(&["b", "r"], b + (a + c) / 4.0);
    // A track that is both soloed and muted is silent.
    let mut muted = [constant_track("a"), constant_track("b")];
    (muted[0].mute, muted[0].solo) = (true, true);
    check_gain("a muted and soloed track", &muted, 0.0);
}

#[test]
fn solo_and_mute_ramp_without_steps() {
    let mut mixer = mixer_of_constants(&session(vec![constant_track("a"), constant_track("b")]));
    mixer.play();
    play(&mut mixer, 4_800, &[128]);
    let switch = |mute, solo| TrackMix { gain: 1.0, pan: 0.0, is_muted: mute, is_soloed: solo };
    for (index, mix, expected) in [
        (1, switch(false, true), 1.0),
        (1, switch(true, true), 0.0),
        (1, switch(false, false), 2.0),
        (0, switch(true, false), 1.0),
    ] {
        mixer.set_track_mix(index, &mix);
        let signal = play(&mut mixer, 4_800, &[128]);
        let left = &signal[..4_800];
        let largest_step =
            left.windows(2).fold(0.0_f32, |largest_step, pair| largest_step.max((pair[1] - pair[0]).abs()));
        assert!(largest_step < 0.001, "{mix:?}: a step of {largest_step}");
        assert_eq!(left[4_799] / 0.125, expected, "{mix:?}");
    }
    assert!(!mixer.lets_through(0) && mixer.lets_through(1) && !mixer.lets_through(2));
}

#[test]
fn automation_of_the_mix_is_exact_to_the_frame() {
    type Point = (u64, f64, Curve);
    let rendered_output = |targets: &[(AutomationTarget, [Point; 3])]| {
        let mut track = constant_track("a");
        track.automation = targets
            .iter()
            .map(|(target, points)| {
                lane(*target, &points.map(|(frame, value, curve)| point(frame, value, curve)))
            })
            .collect();
        let mut mixer = mixer_of_constants(&session(vec![track]));
        mixer.play();
        let lag = mixer.latency_frames();
        let mut signal = play(&mut mixer, lag + 4_000, &[77, 256]);
        let right = signal.split_off(lag + 4_000).split_off(lag);
        (signal.split_off(lag), right)
    };
    let db = |value: f32| 20.0 * libm::log10(f64::from(value) / 0.125);
    // The volume is linear in decibels, with steps at exact frames.
    let (left, right) = rendered_output(&[(
        AutomationTarget::Volume,
        [(101, -24.0, Curve::Linear), (1_101, -4.0, Curve::Step), (3_003, -10.0, Curve::Linear)],
    )]);
    assert_eq!(left, right);
    for frame in 0..4_000_u64 {
        let expected = match frame {
            0..=100 => -24.0,
            101..=1_100 => -24.0 + 20.0 * (frame - 101) as f64 / 1_000.0,
            1_101..=3_002 => -4.0,
            _ => -10.0,
        };
        let level_db = db(left[frame as usize]);
        // Between two control points, the gain is linear instead of the level. The difference is
        // 0.01 dB for 20 dB in 1000 frames.
        assert!(
            (level_db - expected).abs() < 0.015,
            "{level_db} dB at frame {frame}, expected {expected} dB"
        );
    }
    let (left, right) = rendered_output(&[
        (
            AutomationTarget::Pan,
            [(0, 0.0, Curve::Linear), (2_000, 1.0, Curve::Step), (2_500, -1.0, Curve::Linear)],
        ),
        (
            AutomationTarget::Volume,
            [(0, 0.0, Curve::Step), (3_000, -6.0, Curve::Step), (3_500, 0.0, Curve::Step)],
        ),
    ]);
    let expected = libm::cos(0.5 * core::f64::consts::FRAC_PI_2);
    assert!((f64::from(left[1_000]) / 0.125 - expected).abs() < 1e-4, "{}", left[1_000]);
    assert_eq!((left[2_000], right[2_499], right[2_500]), (0.0, 0.125, 0.0));
    assert!(
        (db(left[3_000]) + 6.0).abs() < 1e-4 && db(left[2_999]).abs() < 1e-5 && db(left[3_500]).abs() < 1e-5
    );
}

#[test]
fn meters_report_peaks_and_levels_of_tracks_groups_and_master() {
    let mut tracks = vec![constant_track("a"), bus("g"), constant_track("muted")];
    tracks[0].output = Some(1);
    (tracks[0].gain, tracks[1].gain, tracks[2].mute) = (0.5, 0.5, true);
    tracks[1].pan = 1.0;
    let mut mixer = mixer_of_constants(&session(tracks));
    mixer.play();
    play(&mut mixer, 4_800, &[128]);
    let mut readings = [[0.0; 8]; 2];
    mixer.take_peaks(&mut readings[0]);
    mixer.take_rms(&mut readings[1]);
    play(&mut mixer, 4_800, &[100]);
    mixer.take_peaks(&mut readings[0]);
    mixer.take_rms(&mut readings[1]);
    for readings in readings {
        assert_eq!(readings, [0.0625, 0.0625, 0.0, 0.031_25, 0.0, 0.0, 0.0, 0.031_25]);
    }
}

#[test]
fn invalid_sessions_are_refused_with_the_reason() {
    let check = |change: &dyn Fn(&mut Session), expected: &str| {
        let mut invalid = session(vec![constant_track("a"), bus("b"), bus("c")]);
        change(&mut invalid);
        let error = Mixer::new(&invalid, Slots::default()).err().expect("refused").to_string();
        assert_eq!(error, expected);
        let mut mixer = mixer(&session(vec![constant_track("a")]));
        assert_eq!(mixer.set_session(&invalid, Slots::default()).unwrap_err().to_string(), expected);
        mixer.play();
        assert!(peak(&play(&mut mixer, 1_000, &[256])) > 0.0, "the mixer does not continue to play");
    };
    let loop_error = "track \"b\" feeds itself through its outputs, sends or side-chains";
    check(
        &|session| (session.tracks[1].output, session.tracks[2].sends) = (Some(2), vec![send(1, 1.0, false)]),
        loop_error,
    );
    check(&|session| session.tracks[1].output = Some(1), loop_error);
    check(
        &|session| session.tracks[0].output = Some(3),
        "track \"a\" refers to the track with index 3, which does not exist; indices start at 0",
    );
    check(
        &|session| session.tracks[2].sends = vec![send(u32::MAX, 1.0, false)],
        "track \"c\" refers to the track with index 4294967295, which does not exist; indices start at 0",
    );
    check(
        &|session| session.master_effects = vec![effect("x", "none", &[])],
        "the engine has no kind of effect with the id \"none\"",
    );
    check(
        &|session| session.tracks[0].effects = vec![effect("x", "utility", &[]); 65],
        "track \"a\" has more than 64 effects",
    );
}

#[test]
fn numbers_out_of_range_lead_to_finite_output() {
    let numbers = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e300, -1e300, 1e-320];
    let frames = [0, 1, 31, u64::MAX, u64::MAX - 1, 1 << 62, 1 << 60];
    for (rotation, &number) in numbers.iter().enumerate() {
        let frame = |step: usize| frames[(rotation + step) % frames.len()];
        let mut invalid = song(2);
        invalid.master_gain = number as f32;
        invalid.tempo =
            (0..4).map(|step| TempoChange { frame: frame(step), bpm: number, beat: number }).collect();
        for track in &mut invalid.tracks {
            (track.gain, track.pan) = (number as f32, number as f32);
            for clip in &mut track.clips {
                (clip.frame, clip.offset_frames, clip.length_frames) = (frame(0), frame(1), frame(2));
                (clip.fade_in_frames, clip.fade_out_frames) = (frame(3), frame(4));
                (clip.gain, clip.audio_slot) = (number as f32, (rotation % 2) as u32 * 99);
            }
            track.sends.iter_mut().for_each(|send| send.gain = number as f32);
            track.effects.iter_mut().for_each(|effect| {
                (effect.values, effect.audio_slot) = (vec![number; 100], Some(u32::MAX));
            });
            for lane in &mut track.automation {
                lane.points = (0..5)
                    .map(|step| {
                        point(frame(step), numbers[(rotation + step) % numbers.len()], Curve::Arc(number))
                    })
                    .collect();
            }
            let target = AutomationTarget::Effect { effect: u32::MAX, parameter: u32::MAX };
            track.automation.push(lane(target, &[point(0, 1.0, Curve::Linear)]));
            track.automation.push(lane(AutomationTarget::Send(9), &[]));
        }
        let mut mixer = mixer(&invalid);
        mixer.play();
        for position in [0, 5_000, u64::MAX] {
            mixer.seek(position);
            let signal = play(&mut mixer, 3_000, &[256, 31]);
            assert!(
                signal.iter().all(|value| value.is_finite()),
                "the output for {number} at {position} is not finite"
            );
        }
        let valid = song(2);
        mixer.set_session(&valid, media().slots()).unwrap();
        mixer.seek(0);
        assert!(peak(&play(&mut mixer, 48_000, &[256])) > 0.01, "the mixer is silent after {number}");
    }
}

#[test]
fn a_render_without_notes_and_clips_is_silent_and_ends() {
    let mut empty = song(2);
    empty.tracks.iter_mut().for_each(|track| (track.events.clear(), track.clips.clear()).0);
    empty.length_frames = 0;
    let mut render = OfflineRender::new(&empty, media().slots(), TailConfig { max_secs: 1.0 }).unwrap();
    while let Some((left, _)) = render.next_block() {
        assert!(peak(left) < 1e-3);
    }
}
