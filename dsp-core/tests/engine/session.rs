//! Tests of rendering and playing sessions with a small bank.

use crate::sessions::{peak, session, track};
use crate::small_bank::small_bank;
use assert_no_alloc::assert_no_alloc;
use dsp_core::block::TRACK_OUTPUTS;
use dsp_core::mixer::{Mixer, TrackMix};
use dsp_core::render::{OfflineRender, TailConfig};
use dsp_core::session::{Event, Instrument, Session, TrackEvent};

fn two_tracks() -> Session {
    let mut low = track("low", &[(1_000, 30_000, 40), (20_000, 44_000, 47)]);
    low.pan = -0.4;
    low.events.insert(0, TrackEvent { frame: 0, event: Event::Controller { controller: 7, value: 90 } });
    let mut high = track("high", &[(0, 9_000, 72), (9_000, 9_400, 72), (24_000, 40_000, 76)]);
    high.gain = 0.5;
    session(vec![low, high])
}

fn render(session: &Session) -> (Vec<f32>, Vec<f32>) {
    let mut render = OfflineRender::new(session, &[Some(small_bank())], TailConfig::default()).unwrap();
    let (mut left, mut right) = (Vec::new(), Vec::new());
    while let Some((more_left, more_right)) = render.next_block() {
        left.extend_from_slice(more_left);
        right.extend_from_slice(more_right);
    }
    (left, right)
}

/// Returns the left output of the next frames, rendered in calls of `call_frames` frames.
fn play(mixer: &mut Mixer, frames: usize, call_frames: usize) -> Vec<f32> {
    let (mut left, mut right) = (vec![0.0; frames], vec![0.0; frames]);
    for (left, right) in left.chunks_mut(call_frames).zip(right.chunks_mut(call_frames)) {
        assert_no_alloc(|| mixer.process(left, right));
    }
    left
}

fn mixer(session: &Session) -> Mixer {
    Mixer::new(session, &[Some(small_bank())]).unwrap()
}

#[test]
fn a_note_sounds_from_its_frame_to_the_end_of_its_release() {
    let (left, _) = render(&session(vec![track("a", &[(4_800, 9_600, 69)])]));
    assert_eq!(peak(&left[..4_800]), 0.0, "the output is audible before the note");
    assert!(peak(&left[4_800..9_600]) > 0.05, "the note is silent");
    let end = left.len();
    assert!((9_600 + 4_800..9_600 + 48_000 * 5).contains(&end), "{end} frames");
    assert!(peak(&left[end - 4_800..]) <= 1e-4, "the render ends while the note sounds");
}

#[test]
fn key_69_has_the_pitch_of_the_sample() {
    let (left, _) = render(&session(vec![track("a", &[(0, 48_000, 69)])]));
    let crossings = left[4_800..43_200].windows(2).filter(|pair| pair[0] <= 0.0 && pair[1] > 0.0).count();
    let frequency_hz = crossings as f64 / (38_400.0 / 48_000.0);
    assert!((frequency_hz - 441.0).abs() < 2.0, "{frequency_hz} Hz");
}

#[test]
fn an_offline_render_equals_playback_at_any_call_size() {
    let session = two_tracks();
    let (expected, _) = render(&session);
    for call_frames in [1, 128, 300, 512, 4_096] {
        let mut mixer = mixer(&session);
        mixer.play();
        let latency = mixer.latency_frames();
        let output = play(&mut mixer, latency + expected.len(), call_frames);
        assert!(output[latency..] == expected[..], "calls of {call_frames} frames differ from the render");
    }
}

#[test]
fn mute_solo_gain_and_pan_change_the_level() {
    let base = session(vec![track("a", &[(0, 20_000, 60)])]);
    let changed_session = |change: fn(&mut Session)| {
        let mut session = base.clone();
        change(&mut session);
        let (left, right) = render(&session);
        (peak(&left), peak(&right))
    };
    let (left, right) = changed_session(|_| {});
    assert_eq!(changed_session(|s| s.tracks[0].mute = true), (0.0, 0.0));
    let (half_left, half_right) = changed_session(|s| s.tracks[0].gain = 0.5);
    assert!((half_left / left - 0.5).abs() < 1e-3 && (half_right / right - 0.5).abs() < 1e-3);
    let (master_left, _) = changed_session(|s| s.master_gain = 0.5);
    assert_eq!(master_left, half_left);
    let (panned_left, panned_right) = changed_session(|s| s.tracks[0].pan = 1.0);
    assert_eq!(panned_left, 0.0);
    assert_eq!(panned_right, right);
}

#[test]
fn programs_and_bends_change_the_pitch() {
    let crossings = |event: Event| {
        let mut track = track("a", &[(8, 48_000, 69)]);
        track.events.insert(0, TrackEvent { frame: 0, event });
        let (left, _) = render(&session(vec![track]));
        left[4_800..43_200].windows(2).filter(|pair| pair[0] <= 0.0 && pair[1] > 0.0).count() as f64 / 0.8
    };
    let check = |event, expected_hz: f64| {
        let frequency_hz = crossings(event);
        assert!((frequency_hz / expected_hz - 1.0).abs() < 0.005, "{event:?}: {frequency_hz} Hz");
    };
    check(Event::Program { program: 5 }, 220.5);
    check(Event::Preset { bank: 0, program: 5 }, 220.5);
    check(Event::Preset { bank: 128, program: 0 }, 441.0);
    // The bend range is two semitones.
    check(Event::PitchBend { value: -8_192 }, 441.0 * libm::exp2(-2.0 / 12.0));
    check(Event::PitchBend { value: 4_096 }, 441.0 * libm::exp2(1.0 / 12.0));
}

#[test]
fn a_drum_track_plays_the_drum_bank_and_can_leave_it() {
    let render_drums = |events: &[Event]| {
        let mut drums = track("drums", &[(8, 40_000, 69)]);
        drums.instrument = Some(Instrument { bank_slot: 0, bank: 128, program: 0 });
        for &event in events {
            drums.events.insert(1, TrackEvent { frame: 0, event });
        }
        render(&session(vec![drums])).0
    };
    let kit = render_drums(&[]);
    assert!(peak(&kit) > 0.05);
    let melodic = render_drums(&[Event::Preset { bank: 0, program: 5 }]);
    assert!(peak(&melodic) > 0.05 && melodic != kit);
}

#[test]
fn the_mix_stays_below_minus_three_dbfs() {
    let tracks = (0..8).map(|n| {
        let mut loud = track(&format!("{n}"), &[(0, 20_000, 60), (100, 20_000, 64), (7_000, 20_000, 69)]);
        loud.gain = 8.0;
        loud
    });
    let (left, right) = render(&session(tracks.collect()));
    let ceiling = dsp_core::gain::from_db(-3.0);
    assert!(peak(&left) <= ceiling && peak(&right) <= ceiling, "a peak of {}", peak(&left));
    assert!(peak(&left) > 0.9 * ceiling);
}

#[test]
fn seeking_into_a_note_applies_the_controllers_at_that_frame() {
    let mut held = track("a", &[(0, 90_000, 69)]);
    held.events.insert(0, TrackEvent { frame: 0, event: Event::Controller { controller: 7, value: 10 } });
    let session = session(vec![held]);
    let mut mixer = mixer(&session);
    mixer.seek(40_003);
    assert_eq!(mixer.position_frames(), 40_003);
    mixer.play();
    let after_seek = peak(&play(&mut mixer, 20_000, 128)[10_000..]);
    let from_start = peak(&render(&session).0[50_000..60_000]);
    assert!(
        (after_seek / from_start - 1.0).abs() < 0.01,
        "a peak of {after_seek} after a seek, of {from_start} from the start"
    );
}

#[test]
fn stopping_releases_notes_and_playing_again_repeats_the_output() {
    let session = two_tracks();
    let mut mixer = mixer(&session);
    mixer.play();
    let first = play(&mut mixer, 30_000, 128);
    mixer.stop();
    assert_eq!(mixer.position_frames(), 30_000);
    let ringing = play(&mut mixer, 480_000, 128);
    assert!(peak(&ringing[470_000..]) < 1e-4, "a note sounds ten seconds after the stop");
    assert_eq!(mixer.position_frames(), 30_000, "the position changes while playback is stopped");
    mixer.seek(0);
    mixer.play();
    assert!(play(&mut mixer, 30_000, 512) == first);
}

#[test]
fn events_in_any_order_take_effect_at_their_frames() {
    let ordered = session(vec![track("a", &[(1_000, 9_000, 60), (4_000, 12_000, 67)])]);
    let mut shuffled = ordered.clone();
    shuffled.tracks[0].events.reverse();
    for seek_frame in [0, 2_000, 10_000] {
        let output = [&ordered, &shuffled].map(|session| {
            let mut mixer = mixer(session);
            mixer.seek(seek_frame);
            mixer.play();
            play(&mut mixer, 20_000, 128)
        });
        assert!(
            peak(&output[0]) > 0.01 && output[0] == output[1],
            "the output from frame {seek_frame} is silent or differs"
        );
    }
}

#[test]
fn seeking_while_stopped_does_not_cut_the_tail() {
    let session = session(vec![track("a", &[(0, 9_600, 60)])]);
    let tail = |seeks: bool| {
        let mut mixer = mixer(&session);
        mixer.play();
        play(&mut mixer, 9_600, 128);
        mixer.stop();
        if seeks {
            mixer.seek(0);
        }
        play(&mut mixer, 9_600, 128)
    };
    assert!(peak(&tail(true)) > 0.01, "the seek cuts the tail");
    assert!(tail(true) == tail(false));
}

#[test]
fn live_notes_sound_while_playback_is_stopped() {
    let mut mixer = mixer(&session(vec![track("a", &[])]));
    let index = mixer.track_index("a").unwrap();
    mixer.play_event(index, Event::NoteOn { key: 60, velocity: 100 });
    assert!(peak(&play(&mut mixer, 4_800, 128)) > 0.05);
    mixer.play_event(index, Event::NoteOff { key: 60 });
    assert!(peak(&play(&mut mixer, 480_000, 128)[470_000..]) < 1e-4);
    mixer.play_event(99, Event::NoteOn { key: 60, velocity: 100 });
}

#[test]
fn an_edit_of_a_track_does_not_silence_other_tracks() {
    let session_before = two_tracks();
    let mut session_after = session_before.clone();
    session_after.tracks[1].events.clear();
    session_after.tracks.swap(0, 1);
    let banks = [Some(small_bank())];
    let mut edited_mixer = Mixer::new(&session_before, &banks).unwrap();
    edited_mixer.play();
    play(&mut edited_mixer, 25_600, 128);
    edited_mixer.set_session(&session_after, &banks).unwrap();
    let output = play(&mut edited_mixer, 300_000, 128);
    assert!(peak(&output[..10_000]) > 0.05, "the other track is silent");
    assert!(peak(&output[290_000..]) < 1e-4, "a note of the edited track does not end");
}

#[test]
fn external_input_replaces_the_notes_of_a_track() {
    let session = two_tracks();
    let (expected, _) = render(&session);
    // The tracks are rendered separately, as a plugin host would render them.
    let parts: Vec<_> = (0..2)
        .map(|index| {
            let mut single_track = dsp_core::render::TrackRender::new(
                &session,
                &session.tracks[index],
                Some(&small_bank()),
                TailConfig { max_secs: 10.0 },
            )
            .unwrap();
            let mut outputs: [Vec<f32>; TRACK_OUTPUTS] = Default::default();
            while let Some(block) = single_track.next_block() {
                for (output, more) in outputs.iter_mut().zip(block) {
                    output.extend_from_slice(more);
                }
            }
            outputs
        })
        .collect();
    let mut mixer = mixer(&session);
    mixer.set_input_enabled(0, true);
    mixer.set_input_enabled(1, true);
    mixer.play();
    let latency = mixer.latency_frames();
    let mut output = Vec::new();
    let (mut left, mut right) = ([0.0; 128], [0.0; 128]);
    for start in (0..44_032).step_by(128) {
        for (index, part) in parts.iter().enumerate() {
            for (input, output) in mixer.track_input(index).unwrap().iter_mut().zip(part) {
                input[..128].copy_from_slice(&output[start..start + 128]);
            }
        }
        assert_no_alloc(|| mixer.process(&mut left, &mut right));
        output.extend_from_slice(&left);
    }
    let compared_frames = output.len() - latency;
    assert!(
        output[latency..] == expected[..compared_frames],
        "the output differs from that of playing the notes"
    );
}

#[test]
fn external_input_stops_without_a_click() {
    let mut mixer = mixer(&session(vec![track("a", &[(0, 90_000, 69)])]));
    mixer.set_input_enabled(0, true);
    mixer.play();
    for input in &mut mixer.track_input(0).unwrap()[..2] {
        input.fill(0.5);
    }
    play(&mut mixer, 9_600, 128);
    mixer.stop();
    let output = play(&mut mixer, 9_600, 128);
    let largest_step =
        output.windows(2).fold(0.0_f32, |largest_step, pair| largest_step.max((pair[1] - pair[0]).abs()));
    assert!(largest_step < 0.01, "a step of {largest_step}");
    assert_eq!(output[9_000..].iter().copied().fold(0.0, f32::max), 0.0);
}

#[test]
fn a_track_render_contains_the_whole_tail() {
    let session = session(vec![track("a", &[(0, 9_600, 69)])]);
    let mut single_track = dsp_core::render::TrackRender::new(
        &session,
        &session.tracks[0],
        Some(&small_bank()),
        TailConfig::default(),
    )
    .unwrap();
    let mut left = Vec::new();
    while let Some([more, ..]) = {
        let single_track = &mut single_track;
        assert_no_alloc(move || single_track.next_block())
    } {
        left.extend_from_slice(more);
    }
    let last_audible = left.iter().rposition(|value| *value != 0.0).expect("sound");
    assert!(last_audible > 9_600, "the render has no release");
    assert!(
        left.len() - last_audible > 4_800,
        "the render ends with less than a tenth of a second of silence"
    );
    assert!(left.len() < 48_000 * 5);
}

#[test]
fn playing_does_not_allocate() {
    let mut mixer = mixer(&two_tracks());
    let (mut left, mut right) = (vec![0.0; 1_024], vec![0.0; 1_024]);
    let mut peaks = [0.0; 6];
    assert_no_alloc(|| {
        mixer.play();
        for _ in 0..50 {
            mixer.process(&mut left, &mut right);
        }
        mixer.play_event(0, Event::NoteOn { key: 50, velocity: 90 });
        mixer.set_track_mix(0, &TrackMix { gain: 0.3, pan: 0.5, is_muted: false, is_soloed: false });
        mixer.seek(10_000);
        mixer.process(&mut left, &mut right);
        mixer.take_peaks(&mut peaks);
        mixer.stop();
        mixer.process(&mut left, &mut right);
    });
    assert!(peaks.iter().any(|peak| *peak > 0.0));
}

#[test]
fn a_fader_moves_without_a_step() {
    let mut mixer = mixer(&session(vec![track("a", &[(0, 90_000, 69)])]));
    mixer.play();
    play(&mut mixer, 20_000, 128);
    mixer.set_track_mix(0, &TrackMix { gain: 0.0, pan: 0.0, is_muted: false, is_soloed: false });
    let output = play(&mut mixer, 9_600, 128);
    let largest_step =
        output.windows(2).fold(0.0_f32, |largest_step, pair| largest_step.max((pair[1] - pair[0]).abs()));
    assert!(largest_step < 0.02, "a step of {largest_step}");
    assert!(peak(&output[8_000..]) < 1e-4, "the track is audible with a gain of 0");
}

#[test]
fn unsupported_sample_rates_are_refused() {
    let mut session = two_tracks();
    session.sample_rate_hz = 8_000;
    let error = Mixer::new(&session, &[Some(small_bank())]).err().expect("8 kHz is refused").to_string();
    assert!(error.contains("8000 Hz") && error.contains("\"low\""), "{error}");
    let mut mixer = mixer(&two_tracks());
    let error = mixer.set_session(&session, &[]).unwrap_err().to_string();
    assert_eq!(
        error,
        "the session has a sample rate of 8000 Hz, but the mixer has 48000 Hz; both must be equal"
    );
}

#[test]
fn sends_add_reverb_and_chorus_after_the_fader() {
    const REVERB_SEND: u8 = 91;
    const CHORUS_SEND: u8 = 93;
    let wet = |sends: [(u8, u8); 2], gain: f32| {
        let mut track = track("a", &[(0, 24_000, 69)]);
        track.gain = gain;
        for (controller, value) in sends {
            track.events.insert(1, TrackEvent { frame: 0, event: Event::Controller { controller, value } });
        }
        render(&session(vec![track])).0
    };
    let rms_db = |values: &[f32]| {
        let power: f64 = values.iter().map(|value| f64::from(value * value)).sum();
        10.0 * libm::log10(power / values.len() as f64)
    };
    let dry_output = wet([(REVERB_SEND, 0), (CHORUS_SEND, 0)], 1.0);
    let reverb = wet([(REVERB_SEND, 127), (CHORUS_SEND, 0)], 1.0);
    let half_reverb = wet([(REVERB_SEND, 127), (CHORUS_SEND, 0)], 0.5);
    let chorus = wet([(REVERB_SEND, 0), (CHORUS_SEND, 127)], 1.0);
    // In this range, the note released at 24,000 has ended but its reverb is audible.
    let tail = 36_000..40_000;
    let tail_db = rms_db(&reverb[tail.clone()]);
    assert!(tail_db > -60.0, "the reverb is at {tail_db} dB");
    assert!(dry_output.len() < tail.end || rms_db(&dry_output[tail.clone()]) < tail_db - 20.0);
    assert!((rms_db(&half_reverb[tail]) - tail_db + 6.02).abs() < 0.01, "the send is not after the fader");
    let while_sounding = 4_800..20_000;
    assert!(chorus[while_sounding.clone()] != dry_output[while_sounding]);
}
