//! Tests of notes with controller steps, length 0, short loops and drum kits.

use assert_no_alloc::assert_no_alloc;

use crate::sessions::{peak, session, track};
use crate::small_bank::{SampleHeader, Tables, small_bank, small_bank_bytes};
use dsp_core::mixer::Mixer;
use dsp_core::session::{Event, TrackEvent};
use dsp_core::soundfont::Bank;

fn control(frame: u64, controller: u8, value: u8) -> TrackEvent {
    TrackEvent { frame, event: Event::Controller { controller, value } }
}

/// Plays a track with these events in calls of `call_frames` frames, and returns the left output.
fn play(bank: Bank, mut events: Vec<TrackEvent>, frames: usize, call_frames: usize) -> Vec<f32> {
    let mut track = track("a", &[]);
    track.events.append(&mut events);
    let mut mixer = Mixer::new(&session(vec![track]), &[Some(bank)]).unwrap();
    mixer.play();
    let latency = mixer.latency_frames();
    let (mut left, mut right) = (vec![0.0; frames + latency], vec![0.0; frames + latency]);
    for (left, right) in left.chunks_mut(call_frames).zip(right.chunks_mut(call_frames)) {
        assert_no_alloc(|| mixer.process(left, right));
    }
    left.split_off(latency)
}

fn on(frame: u64, key: u8) -> TrackEvent {
    TrackEvent { frame, event: Event::NoteOn { key, velocity: 127 } }
}

fn off(frame: u64, key: u8) -> TrackEvent {
    TrackEvent { frame, event: Event::NoteOff { key } }
}

fn largest_step(values: &[f32]) -> f32 {
    values.windows(2).fold(0.0, |largest_step, pair| largest_step.max((pair[1] - pair[0]).abs()))
}

/// Returns the frequency of a tone by counting its rising zero crossings.
fn frequency_hz(values: &[f32]) -> f64 {
    let crossings = values.windows(2).filter(|pair| pair[0] <= 0.0 && pair[1] > 0.0).count();
    crossings as f64 * 48_000.0 / values.len() as f64
}

#[test]
fn a_controller_step_does_not_click_at_any_frame() {
    let events = |step_frame: Option<u64>| {
        let mut events = vec![on(0, 69)];
        events.extend(step_frame.map(|frame| control(frame, 7, 0)));
        events
    };
    let undisturbed = largest_step(&play(small_bank(), events(None), 20_000, 256)[10_000..]);
    for frame in [15_999, 16_000, 16_001, 16_063, 16_127] {
        let output = play(small_bank(), events(Some(frame)), 20_000, 256);
        let step = largest_step(&output[10_000..]);
        assert!(step < undisturbed + 0.012, "a step of {step} at frame {frame}, of {undisturbed} without");
        assert!(peak(&output[17_000..]) < 1e-4, "the note is audible at volume 0");
    }
}

#[test]
fn a_note_of_length_zero_is_audible() {
    for length in [0, 1, 10] {
        let output = play(small_bank(), vec![on(1_000, 69), off(1_000 + length, 69)], 10_000, 256);
        assert!(peak(&output) > 0.05, "{length} frames: {}", peak(&output));
    }
}

/// Returns a bank whose sample loops until note-off. The loop may be shorter than the interpolation
/// kernel.
fn bank_with_short_loop(loop_frames: u32) -> Bank {
    const SAMPLE_MODES: u16 = 54;
    let bytes = small_bank_bytes(|tables: &mut Tables| {
        tables.sample_headers[0] =
            SampleHeader { loop_start: 100, loop_end: 100 + loop_frames, ..tables.sample_headers[0] };
        for (operator, amount) in &mut tables.instrument_generators {
            if *operator == SAMPLE_MODES {
                *amount = 3;
            }
        }
    });
    Bank::from_bytes(&bytes).unwrap()
}

#[test]
fn leaving_a_loop_does_not_depend_on_the_call_size() {
    for loop_frames in [1, 3, 40] {
        for release in [1_020, 1_060, 1_061, 1_100] {
            let output_in = |call_frames| {
                let events = vec![on(0, 69), off(release, 69)];
                play(bank_with_short_loop(loop_frames), events, 4_000, call_frames)
            };
            let expected = output_in(256);
            for call_frames in [1, 16, 100] {
                assert!(
                    output_in(call_frames) == expected,
                    "a loop of {loop_frames} frames, release at {release}, calls of {call_frames}"
                );
            }
        }
    }
}

#[test]
fn data_increment_starts_from_the_current_value() {
    // The increments add 50 cents to the bend range of 2 semitones. 441 Hz become 509.5 Hz.
    let bend = TrackEvent { frame: 3, event: Event::PitchBend { value: 8_191 } };
    let steps = [control(0, 96, 0); 50];
    let events = [&[control(0, 101, 0), control(0, 100, 0)], &steps[..], &[bend, on(10, 69)]].concat();
    let output = play(small_bank(), events, 24_000, 256);
    let output_hz = frequency_hz(&output[4_800..]);
    assert!((output_hz - 509.5).abs() < 2.0, "{output_hz} Hz");
}

#[test]
fn a_melodic_track_can_select_a_drum_kit_and_then_a_melodic_program() {
    let program = |frame| TrackEvent { frame, event: Event::Program { program: 5 } };
    // Program 5 of the small bank is an octave below the drum kit.
    let output = |select: Vec<TrackEvent>| {
        let mut events = select;
        events.extend([program(2), on(10, 69)]);
        frequency_hz(&play(small_bank(), events, 24_000, 256)[4_800..])
    };
    let kit = vec![control(0, 0, 127), program(0)];
    assert!((output(kit.clone()) - 441.0).abs() < 4.0, "the track does not play the drum kit");
    for bank_msb in [0, 121] {
        let events = [kit.clone(), vec![control(1, 0, bank_msb), control(1, 32, 0)]].concat();
        let output_hz = output(events);
        assert!((output_hz - 220.5).abs() < 4.0, "after bank select {bank_msb}: {output_hz} Hz");
    }
}

#[test]
fn a_sample_starts_after_the_delay_of_the_volume_envelope() {
    const DELAY_VOL_ENV: u16 = 33;
    const SAMPLE_MODES: u16 = 54;
    // The delay of half a second is far longer than the sample, which plays once.
    let bytes = small_bank_bytes(|tables: &mut Tables| {
        for generator in &mut tables.instrument_generators {
            if generator.0 == SAMPLE_MODES {
                *generator = (DELAY_VOL_ENV, (-1_200_i16).cast_unsigned());
            }
        }
    });
    let output = play(Bank::from_bytes(&bytes).unwrap(), vec![on(0, 69)], 30_000, 256);
    assert_eq!(peak(&output[..23_999]), 0.0);
    assert!(
        peak(&output[24_000..25_200]) > 0.05,
        "the sample does not start after the delay: {}",
        peak(&output[24_000..])
    );
}
