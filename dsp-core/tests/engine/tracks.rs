//! Tests of tracks that are removed or changed while they sound, and of external input.

use std::sync::LazyLock;

use assert_no_alloc::assert_no_alloc;
use dsp_core::mixer::{Mixer, TrackMix};
use dsp_core::session::{Event, Interpolation, Session, TrackEvent, VelocityToCutoff};
use dsp_core::soundfont::Bank;

use crate::sessions::{peak, session, track};
use crate::small_bank::small_bank;

/// Returns the same small bank on every call.
fn banks() -> [Option<Bank>; 1] {
    static BANK: LazyLock<Bank> = LazyLock::new(small_bank);
    [Some(BANK.clone())]
}

fn play(mixer: &mut Mixer, frames: usize) -> Vec<f32> {
    let (mut left, mut right) = (vec![0.0; frames], vec![0.0; frames]);
    assert_no_alloc(|| mixer.process(&mut left, &mut right));
    left
}

fn largest_step(values: &[f32]) -> f32 {
    values.windows(2).fold(0.0, |largest_step, pair| largest_step.max((pair[1] - pair[0]).abs()))
}

/// Returns a session with three tracks. Only the middle track has a note.
fn held_note() -> Session {
    session(vec![track("first", &[]), track("held", &[(0, 400_000, 69)]), track("last", &[])])
}

/// Returns a mixer that has played [`held_note`] until the sine is near its peak. A cut there would
/// cause the largest step.
fn sounding() -> Mixer {
    let mut mixer = Mixer::new(&held_note(), &banks()).unwrap();
    mixer.play();
    let mut last = play(&mut mixer, 20_000)[19_999];
    let sine_peak = peak(&play(&mut mixer, 1_000));
    while last < 0.9 * sine_peak {
        last = play(&mut mixer, 1)[0];
    }
    // The output is delayed by the latency. The mixer advances by the remainder of a period of
    // 108.84 frames, so that the next frame that enters the mix is at the peak.
    let lag = mixer.latency_frames() as f64 % 108.84;
    play(&mut mixer, (108.84 - lag) as usize);
    mixer
}

#[test]
fn a_removed_or_changed_track_ends_without_a_click() {
    let undisturbed = largest_step(&play(&mut sounding(), 9_600));
    type Edit = fn(&mut Session);
    let edits: [(&str, Edit); 6] = [
        ("removed", |session| drop(session.tracks.remove(1))),
        ("without an instrument", |session| session.tracks[1].instrument = None),
        ("another instrument", |session| session.tracks[1].instrument.as_mut().unwrap().program = 5),
        ("polyphony", |session| session.polyphony = 32),
        ("interpolation", |session| session.interpolation = Interpolation::Sinc),
        ("velocity", |session| session.velocity_to_cutoff = VelocityToCutoff::Specification),
    ];
    for (label, edit) in edits {
        let mut mixer = sounding();
        let mut edited_mixer = held_note();
        edit(&mut edited_mixer);
        mixer.set_session(&edited_mixer, &banks()).unwrap();
        let output = play(&mut mixer, 9_600);
        // A fade of 96 dB in 50 ms, or 0.04 dB a frame, hardly changes the steps of a sine of 441
        // Hz.
        let step = largest_step(&output);
        assert!(step < 1.5 * undisturbed, "{label}: a step of {step}, {undisturbed} without the edit");
    }
}

#[test]
fn a_removed_track_is_silent_after_its_fade() {
    let mut mixer = sounding();
    let mut edited_mixer = held_note();
    edited_mixer.tracks.remove(1);
    mixer.set_session(&edited_mixer, &banks()).unwrap();
    assert_eq!((mixer.track_count(), mixer.track_index("held")), (2, None));
    assert_eq!(mixer.track_index("last"), Some(1));
    assert_eq!(mixer.active_voice_count(), 1);
    let lag = mixer.latency_frames();
    let (mut left, mut right) = (vec![0.0; 9_600], vec![0.0; 9_600]);
    assert_no_alloc(|| mixer.process(&mut left, &mut right));
    assert!(peak(&left[lag..lag + 100]) > 0.02, "the track is cut without a fade");
    assert_eq!(peak(&left[lag + 2_600..]), 0.0, "the track is audible after its fade");
    assert_eq!(mixer.active_voice_count(), 0);
    // The track can be added again. After another removal, a seek ends its fade.
    mixer.set_session(&held_note(), &banks()).unwrap();
    assert!(peak(&play(&mut mixer, 4_800)) > 0.02);
    mixer.set_session(&edited_mixer, &banks()).unwrap();
    mixer.seek(300_000);
    assert_eq!(peak(&play(&mut mixer, 4_800)), 0.0);
}

#[test]
fn the_number_of_fading_tracks_is_limited() {
    let mut mixer = Mixer::new(&session(vec![]), &banks()).unwrap();
    mixer.play();
    play(&mut mixer, 1_000);
    for number in 0..200 {
        let one = session(vec![track(&format!("{number}"), &[(0, 400_000, 69)])]);
        mixer.set_session(&one, &banks()).unwrap();
    }
    // The last track sounds, and 128 removed tracks fade.
    assert_eq!(mixer.active_voice_count(), 129);
}

#[test]
fn duplicate_track_ids_are_refused_without_a_change_of_the_mix() {
    let mut duplicate = held_note();
    duplicate.tracks[2].id = "held".to_owned();
    let mut mixer = sounding();
    let mut expected = sounding();
    let error = mixer.set_session(&duplicate, &banks()).unwrap_err().to_string();
    assert_eq!(error, "the session has more than one track with the id \"held\"; ids must be unique");
    assert!(play(&mut mixer, 4_800) == play(&mut expected, 4_800), "the refused session is audible");
    assert!(Mixer::new(&duplicate, &banks()).is_err());
}

#[test]
fn nan_and_infinite_input_does_not_stay_in_the_mix() {
    let mut with_reverb = track("a", &[(0, 400_000, 69)]);
    with_reverb.events[0].event = Event::Controller { controller: 91, value: 127 };
    let mut mixer = Mixer::new(&session(vec![with_reverb]), &banks()).unwrap();
    mixer.set_input_enabled(0, true);
    mixer.play();
    for invalid in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        mixer.track_input(0).unwrap().iter_mut().for_each(|output| output[..128].fill(invalid));
        let output = play(&mut mixer, 128);
        assert!(output.iter().all(|value| value.is_finite()), "the output for {invalid} is not finite");
    }
    mixer.set_track_mix(0, &TrackMix { gain: f32::NAN, pan: f32::NAN, is_muted: false, is_soloed: false });
    mixer.set_master_gain(f32::NAN);
    for _ in 0..100 {
        for input in mixer.track_input(0).unwrap() {
            input.fill(0.25);
        }
        let output = play(&mut mixer, 128);
        assert!(output.iter().all(|value| value.is_finite()));
    }
    let output = play(&mut mixer, 128);
    assert!(peak(&output) > 0.1, "the input is not audible: {}", peak(&output));
}

#[test]
fn a_seek_or_an_edit_does_not_start_notes_of_a_track_with_external_input() {
    let mut mixer = Mixer::new(&held_note(), &banks()).unwrap();
    mixer.set_input_enabled(1, true);
    mixer.play();
    mixer.seek(30_000);
    assert_eq!(mixer.active_voice_count(), 0, "notes sound after a seek");
    let mut edited_mixer = held_note();
    edited_mixer.polyphony = 32;
    mixer.set_session(&edited_mixer, &banks()).unwrap();
    assert_eq!(mixer.active_voice_count(), 0, "notes sound after an edit");
    mixer.set_input_enabled(1, false);
    assert_eq!(mixer.active_voice_count(), 1);
}

#[test]
fn an_edit_of_the_events_does_not_end_live_notes_while_playback_is_stopped() {
    let mut mixer = Mixer::new(&held_note(), &banks()).unwrap();
    mixer.play_event(1, Event::NoteOn { key: 60, velocity: 100 });
    play(&mut mixer, 4_800);
    let mut edited_mixer = held_note();
    edited_mixer.tracks[1].events.push(TrackEvent { frame: 500_000, event: Event::NoteOff { key: 60 } });
    mixer.set_session(&edited_mixer, &banks()).unwrap();
    assert!(peak(&play(&mut mixer, 9_600)[4_800..]) > 0.05);
}
