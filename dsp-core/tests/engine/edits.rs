//! Tests of notes in sessions that are edited while they play, or entered by a seek.

use std::sync::LazyLock;

use assert_no_alloc::assert_no_alloc;

use crate::sessions::{peak, session, track};
use crate::small_bank::{small_bank, small_bank_bytes};
use dsp_core::mixer::{Mixer, TrackMix};
use dsp_core::session::{Event, TrackEvent};
use dsp_core::soundfont::Bank;

const VOLUME: u8 = 7;
const SUSTAIN: u8 = 64;
const SOSTENUTO: u8 = 66;

fn control(frame: u64, controller: u8, value: u8) -> TrackEvent {
    TrackEvent { frame, event: Event::Controller { controller, value } }
}

fn on(frame: u64, key: u8) -> TrackEvent {
    TrackEvent { frame, event: Event::NoteOn { key, velocity: 100 } }
}

fn off(frame: u64, key: u8) -> TrackEvent {
    TrackEvent { frame, event: Event::NoteOff { key } }
}

fn mixer(bank: Bank, events: &[TrackEvent]) -> Mixer {
    let mut track = track("a", &[]);
    track.events.extend_from_slice(events);
    Mixer::new(&session(vec![track]), &[Some(bank)]).unwrap()
}

fn mixer_without_bank(events: &[TrackEvent]) -> Mixer {
    let mut track = track("a", &[]);
    track.events.extend_from_slice(events);
    Mixer::new(&session(vec![track]), &[None]).unwrap()
}

fn edit(mixer: &mut Mixer, events: &[TrackEvent]) {
    let mut track = track("a", &[]);
    track.events.extend_from_slice(events);
    mixer.set_session(&session(vec![track]), &[Some(bank())]).unwrap();
}

/// Returns the same small bank on every call, so that an edit does not replace the bank.
fn bank() -> Bank {
    static BANK: LazyLock<Bank> = LazyLock::new(small_bank);
    BANK.clone()
}

/// Returns the left output of the next frames.
fn play(mixer: &mut Mixer, frames: usize) -> Vec<f32> {
    let (mut left, mut right) = (vec![0.0; frames], vec![0.0; frames]);
    assert_no_alloc(|| mixer.process(&mut left, &mut right));
    left
}

/// Plays for 20,000 frames and edits the track. Returns the output that begins 8,000 frames after
/// the edit.
fn edited_output(events_before: &[TrackEvent], events_after: &[TrackEvent]) -> Vec<f32> {
    let mut mixer = mixer(bank(), events_before);
    mixer.play();
    play(&mut mixer, 20_000);
    edit(&mut mixer, events_after);
    play(&mut mixer, 16_000).split_off(8_000)
}

/// Returns the output of the same frames as [`edited_output`], without an edit.
fn unedited_output(events: &[TrackEvent]) -> Vec<f32> {
    let mut mixer = mixer(bank(), events);
    mixer.play();
    play(&mut mixer, 36_000).split_off(28_000)
}

fn frequency_hz(values: &[f32]) -> f64 {
    let crossings = values.windows(2).filter(|pair| pair[0] <= 0.0 && pair[1] > 0.0).count();
    crossings as f64 * 48_000.0 / values.len() as f64
}

fn assert_same_level(output: &[f32], expected: &[f32], label: &str) {
    let (output, expected) = (peak(output), peak(expected));
    assert!(expected > 0.02, "{label}: the expected output is silent");
    assert!((output / expected - 1.0).abs() < 0.01, "{label}: a peak of {output} instead of {expected}");
}

#[test]
fn an_unrelated_edit_keeps_notes_that_start_after_a_controller_that_ends_notes() {
    let note = [on(1_000, 69)];
    let pedalled = [control(900, SUSTAIN, 127), on(1_000, 69), off(1_500, 69)];
    for (label, early, sounding) in [
        ("pedal up", vec![control(10, SUSTAIN, 127), control(20, SUSTAIN, 0)], &pedalled[..]),
        ("all notes off", vec![control(10, 123, 0)], &note[..]),
        ("all sound off", vec![control(10, 120, 0)], &note[..]),
        ("reset all controllers", vec![control(10, 121, 0)], &pedalled[..]),
        ("mono on", vec![control(10, 126, 1)], &note[..]),
        ("poly on", vec![control(10, 127, 0)], &note[..]),
    ] {
        let events_before = [early, sounding.to_vec()].concat();
        let events_after = [events_before.clone(), vec![on(90_000, 40)]].concat();
        assert_same_level(
            &edited_output(&events_before, &events_after),
            &unedited_output(&events_before),
            label,
        );
    }
}

#[test]
fn a_sostenuto_note_survives_edits_until_its_pedal_is_removed() {
    let events_before = [on(10, 69), control(1_000, SOSTENUTO, 127), off(1_500, 69)];
    let events_after = [&events_before[..], &[on(90_000, 40)]].concat();
    assert_same_level(
        &edited_output(&events_before, &events_after),
        &unedited_output(&events_before),
        "sostenuto",
    );
    let without = [on(10, 69), off(1_500, 69)];
    assert!(peak(&edited_output(&events_before, &without)) < 1e-3, "a removed pedal holds the note");
}

#[test]
fn a_controller_that_an_edit_removes_returns_to_its_default() {
    let events_before = [control(10, VOLUME, 0), on(1_000, 69)];
    assert!(peak(&unedited_output(&events_before)) < 1e-4);
    let events_after = [on(1_000, 69)];
    assert_same_level(
        &edited_output(&events_before, &events_after),
        &unedited_output(&events_after),
        "volume",
    );
}

#[test]
fn data_increments_count_once_even_if_a_track_is_edited_repeatedly() {
    // The increments set the bend range to two semitones and 50 cents. With the pitch wheel at its
    // maximum, 441 Hz become 509.5 Hz.
    let bend = TrackEvent { frame: 3, event: Event::PitchBend { value: 8_191 } };
    let steps = [control(0, 96, 0); 50];
    let events = [&[control(0, 101, 0), control(0, 100, 0)], &steps[..], &[bend, on(10, 69)]].concat();
    let mut mixer = mixer(bank(), &events);
    mixer.play();
    play(&mut mixer, 9_000);
    for frame in [90_000, 91_000, 92_000] {
        edit(&mut mixer, &[&events[..], &[on(frame, 40)]].concat());
        play(&mut mixer, 1_000);
    }
    let output_hz = frequency_hz(&play(&mut mixer, 24_000));
    assert!((output_hz - 509.5).abs() < 2.0, "{output_hz} Hz");
}

#[test]
fn an_edit_while_stopped_leaves_the_pedals_up() {
    let events_before = [control(10, SUSTAIN, 127), on(1_000, 69)];
    let mut mixer = mixer(bank(), &events_before);
    mixer.play();
    play(&mut mixer, 9_000);
    mixer.stop();
    edit(&mut mixer, &[&events_before[..], &[on(90_000, 40)]].concat());
    mixer.play_event(0, Event::NoteOn { key: 60, velocity: 100 });
    assert!(peak(&play(&mut mixer, 9_000)) > 0.05);
    mixer.play_event(0, Event::NoteOff { key: 60 });
    assert!(peak(&play(&mut mixer, 96_000)[90_000..]) < 1e-4, "a live note does not end");
}

#[test]
fn an_edit_ends_the_note_that_mono_mode_has_returned_to() {
    let tune = [control(0, 126, 1), on(10, 60), on(2_000, 64), off(4_000, 64)];
    let mut mixer = mixer(bank(), &tune);
    mixer.play();
    assert!(peak(&play(&mut mixer, 20_000)[12_000..]) > 0.02, "key 60 does not sound again");
    edit(&mut mixer, &[tune[0], tune[2], tune[3]]);
    assert!(peak(&play(&mut mixer, 96_000)[48_000..]) < 1e-4, "a note does not end");
}

/// Returns the small bank with all notes in one exclusive class.
fn exclusive_bank() -> Bank {
    const EXCLUSIVE_CLASS: u16 = 57;
    let bytes = small_bank_bytes(|tables| {
        tables.instrument_generators.insert(1, (EXCLUSIVE_CLASS, 1));
        for bag in &mut tables.instrument_bags[1..] {
            bag.0 += 1;
        }
    });
    Bank::from_bytes(&bytes).unwrap()
}

#[test]
fn seeking_starts_held_notes_in_their_original_order() {
    // Of two keys that are down, the later one sounds. Here, it is the lower key with 220.5 Hz.
    for (label, bank, events) in [
        ("exclusive class", exclusive_bank(), vec![on(10, 69), on(5_000, 57)]),
        ("mono", bank(), vec![control(0, 126, 1), on(10, 69), on(5_000, 57)]),
    ] {
        let mut mixer = mixer(bank, &events);
        mixer.seek(30_000);
        mixer.play();
        let output_hz = frequency_hz(&play(&mut mixer, 36_000)[12_000..]);
        assert!((output_hz - 220.5).abs() < 3.0, "{label}: {output_hz} Hz");
    }
}

#[test]
fn seeking_does_not_restart_notes_that_a_controller_ended() {
    for controller in [120, 123, 126] {
        let mut mixer = mixer(bank(), &[on(10, 69), control(5_000, controller, 0)]);
        mixer.seek(30_000);
        mixer.play();
        assert_eq!(peak(&play(&mut mixer, 9_000)), 0.0, "after controller {controller}");
    }
}

#[test]
fn seeking_starts_a_held_note_with_the_program_of_its_note_on() {
    let program = TrackEvent { frame: 5_000, event: Event::Program { program: 5 } };
    let mut mixer = mixer(bank(), &[on(10, 69), program]);
    mixer.seek(30_000);
    mixer.play();
    let output_hz = frequency_hz(&play(&mut mixer, 36_000)[12_000..]);
    assert!((output_hz - 441.0).abs() < 3.0, "{output_hz} Hz");
}

#[test]
fn seeking_starts_a_note_that_the_sostenuto_pedal_holds() {
    let events = [
        on(10, 69),
        control(5_000, SOSTENUTO, 127),
        on(6_000, 76),
        off(32_000, 69),
        off(32_000, 76),
        control(90_000, SOSTENUTO, 0),
    ];
    let mut mixer = mixer(bank(), &events);
    mixer.seek(30_000);
    mixer.play();
    // The pedal does not hold key 76, which was pressed after the pedal.
    let output = play(&mut mixer, 48_000).split_off(24_000);
    let output_hz = frequency_hz(&output);
    assert!(peak(&output) > 0.05 && (output_hz - 441.0).abs() < 3.0, "{output_hz} Hz");
}

#[test]
fn portamento_is_the_same_after_a_seek() {
    // Each portamento takes a second from key 45 to key 69. The first begins before the seek, the
    // second after it.
    let portamento = [control(0, 5, 100), control(0, 65, 127)];
    let early = [&portamento[..], &[control(5, 84, 45), on(10, 69)]].concat();
    let late = [&portamento[..], &[on(10, 45), off(2_000, 45), on(40_000, 69)]].concat();
    for (events, measured_from) in [(early, 31_000), (late, 41_000)] {
        let portamento_hz = |seek_frame: usize| {
            let mut mixer = mixer(bank(), &events);
            mixer.seek(seek_frame as u64);
            mixer.play();
            frequency_hz(&play(&mut mixer, measured_from + 9_600 - seek_frame)[measured_from - seek_frame..])
        };
        let expected_hz = portamento_hz(0);
        assert!(expected_hz < 420.0, "{expected_hz} Hz");
        assert!(
            (portamento_hz(30_000) - expected_hz).abs() < 1.0,
            "{} Hz after a seek, {expected_hz} Hz without",
            portamento_hz(30_000)
        );
    }
}

#[test]
fn a_bank_that_arrives_later_does_not_undo_live_changes() {
    let events = [on(1_000, 60)];
    let quiet_mix = TrackMix { gain: 0.25, pan: 0.5, is_muted: false, is_soloed: false };
    let mut late = mixer_without_bank(&events);
    let mut complete = mixer(bank(), &events);
    for mixer in [&mut late, &mut complete] {
        mixer.set_track_mix(0, &quiet_mix);
        mixer.play();
    }
    assert_eq!(peak(&play(&mut late, 20_000)), 0.0);
    play(&mut complete, 20_000);
    late.set_slots(&[Some(bank())]).unwrap();
    // After a seek to the same frame, both mixers are in the same state.
    late.seek(30_000);
    complete.seek(30_000);
    let expected = play(&mut complete, 9_600);
    assert!(peak(&expected) > 0.001, "silent");
    assert_eq!(play(&mut late, 9_600), expected);
    // Setting the same slots again changes no sample.
    late.set_slots(&[Some(bank())]).unwrap();
    assert_eq!(play(&mut late, 9_600), play(&mut complete, 9_600));
    // If the bank is removed, the track fades out.
    late.set_slots(&[None]).unwrap();
    play(&mut late, 4_800);
    assert!(peak(&play(&mut complete, 9_600)) > 0.001, "silent");
    assert_eq!(late.active_voice_count(), 0);
}
