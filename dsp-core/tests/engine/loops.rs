//! Tests that a loop is exact to the frame.

use assert_no_alloc::assert_no_alloc;
use dsp_core::mixer::{LoopRegion, Mixer, Slots, Underruns};
use dsp_core::session::{Audio, AudioSlot, Clip, EffectSettings, Event, Session, Track, TrackEvent};

use crate::sessions::{peak, session, track};
use crate::small_bank::small_bank;

/// Returns values that are different in each frame, and so small that the limiter passes them.
fn source(frames: usize) -> Vec<f32> {
    (0..frames).map(|frame| (1 + frame * 7_919 % 4_093) as f32 / 16_384.0).collect()
}

fn clip(frame: u64, length_frames: u64) -> Clip {
    Clip {
        frame,
        offset_frames: 0,
        length_frames,
        gain: 1.0,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: false,
        audio_slot: 0,
    }
}

fn region(start_frame: u64, end_frame: u64) -> LoopRegion {
    LoopRegion::new(start_frame, end_frame).expect("the loop is long enough")
}

/// Renders blocks of at most `block_frames` frames and returns the left side. Calls `after_block`
/// after each block.
fn play(
    mixer: &mut Mixer,
    frames: usize,
    block_frames: usize,
    mut after_block: impl FnMut(&mut Mixer),
) -> Vec<f32> {
    let (mut left, mut right) = (vec![0.0; frames], vec![0.0; frames]);
    for (left, right) in left.chunks_mut(block_frames).zip(right.chunks_mut(block_frames)) {
        assert_no_alloc(|| mixer.process(left, right));
        after_block(mixer);
    }
    left
}

/// Length of the declicked start of an iteration in frames. After it, the step has decayed by 120
/// dB.
const DECLICKED_FRAMES: usize = 1_000;

/// Checks that playback from frame 0 plays the values of a clip at frame 0, and repeats `region`.
fn check_repeats(output: &[f32], values: &[f32], region: LoopRegion) {
    let (start, end) = (region.start_frame as usize, region.end_frame as usize);
    for (index, value) in output.iter().enumerate() {
        let (frame, since_jump) = if index < end {
            (index, usize::MAX)
        } else {
            let since_jump = (index - end) % (end - start);
            (start + since_jump, since_jump)
        };
        let expected = values[frame];
        let tolerance = if since_jump < DECLICKED_FRAMES { 0.3 } else { 1e-6 };
        assert!(
            (value - expected).abs() < tolerance,
            "{value} instead of {expected} at {index}, frame {frame}"
        );
        let is_first = since_jump == 0;
        let step = if is_first { (value - output[index - 1]).abs() } else { 0.0 };
        assert!(step < 1e-3, "the output jumps by {step} at {index}");
    }
}

#[test]
fn clips_repeat_exactly_for_any_block_size() {
    let values = source(20_000);
    let audio = [Some(AudioSlot::Whole(Audio::from_channels(&values, None)))];
    let track = Track { id: "a".to_owned(), clips: vec![clip(0, 20_000)], ..Track::default() };
    let session = session(vec![track]);
    let loop_region = region(3_011, 9_017);
    for block_frames in [1, 100, 128, 256] {
        let mut mixer = Mixer::new(&session, Slots { banks: &[], audio: &audio }).unwrap();
        mixer.set_loop(Some(loop_region));
        mixer.play();
        let lag = mixer.latency_frames();
        let output = play(&mut mixer, lag + 30_000, block_frames, |_| {});
        check_repeats(&output[lag..], &values, loop_region);
        let played_frames = (lag + 30_000) as u64 - loop_region.end_frame;
        assert_eq!(mixer.position_frames(), loop_region.start_frame + played_frames % 6_006);
    }
}

#[test]
fn streamed_clips_and_recorded_effects_repeat_without_underruns() {
    let values = source(60_000);
    let slots = [Some(AudioSlot::Streamed { frames: 60_000 })];
    let recorded_effect = EffectSettings {
        id: "plugin".to_owned(),
        kind: "recorded_output".to_owned(),
        values: Vec::new(),
        bypass: false,
        side_chain: None,
        audio_slot: Some(0),
    };
    let with_clip = Track { id: "clip".to_owned(), clips: vec![clip(0, 60_000)], ..Track::default() };
    let with_effect = Track { id: "effect".to_owned(), effects: vec![recorded_effect], ..Track::default() };
    // The second region is shorter than the audio that is requested ahead.
    for loop_region in [region(5_003, 55_009), region(40_000, 45_001)] {
        for track in [&with_clip, &with_effect] {
            let mut mixer =
                Mixer::new(&session(vec![track.clone()]), Slots { banks: &[], audio: &slots }).unwrap();
            mixer.set_loop(Some(loop_region));
            mixer.play();
            let deliver = |mixer: &mut Mixer| {
                let wanted_audio: Vec<_> = mixer.wanted_audio().collect();
                for block in wanted_audio {
                    let start = block.source_frame as usize;
                    let audio = &values[start..start + block.frames];
                    mixer.fill_audio(0, block.source_frame, [audio, audio]);
                }
            };
            deliver(&mut mixer);
            let lag = mixer.latency_frames();
            // The requested audio is delivered 20 times a second.
            let mut rendered_frames = 0;
            let output = play(&mut mixer, lag + 130_000, 128, |mixer| {
                rendered_frames += 128;
                if rendered_frames % 2_432 == 0 {
                    deliver(mixer);
                }
            });
            assert_eq!(mixer.take_underruns(), Underruns::default(), "{}, {loop_region:?}", track.id);
            check_repeats(&output[lag..], &values, loop_region);
        }
    }
}

fn note(start: u64, end: u64, key: u8) -> [TrackEvent; 2] {
    [
        TrackEvent { frame: start, event: Event::NoteOn { key, velocity: 100 } },
        TrackEvent { frame: end, event: Event::NoteOff { key } },
    ]
}

fn with_notes(events: Vec<TrackEvent>) -> Session {
    let mut session = session(vec![track("a", &[])]);
    session.tracks[0].events.extend(events);
    session
}

#[test]
fn notes_start_at_the_start_of_the_loop_and_end_at_its_end() {
    let banks = [Some(small_bank())];
    let loop_region = region(24_000, 72_000);
    // The first note starts with the loop. The second is held at its end, by key and by pedal.
    let mut events = note(24_000, 30_000, 60).to_vec();
    events.push(TrackEvent { frame: 60_000, event: Event::Controller { controller: 64, value: 127 } });
    events.extend(note(61_000, 80_000, 67));
    for block_frames in [100, 256] {
        let mut mixer = Mixer::new(&with_notes(events.clone()), &banks).unwrap();
        mixer.seek(24_000);
        mixer.set_loop(Some(loop_region));
        mixer.play();
        let lag = mixer.latency_frames();
        let output = play(&mut mixer, lag + 5 * 48_000, block_frames, |_| {});
        let passes: Vec<&[f32]> = output[lag..].chunks(48_000).collect();
        for pass in &passes[1..] {
            // The held note is released at the jump and decays in a tenth of a second; the pedal is
            // up until frame 60,000.
            assert!(peak(&pass[20_000..36_000]) == 0.0, "a note hangs: {}", peak(&pass[20_000..36_000]));
            assert!(peak(&pass[..5_000]) > 0.01 && peak(&pass[38_000..]) > 0.01);
        }
        assert_eq!(passes[2], passes[4], "the passes differ");
        // Without the second note, the first one starts on the same frame in each pass.
        let mut mixer = Mixer::new(&with_notes(note(24_000, 30_000, 60).to_vec()), &banks).unwrap();
        mixer.seek(24_000);
        mixer.set_loop(Some(loop_region));
        mixer.play();
        let output = play(&mut mixer, lag + 4 * 48_000, block_frames, |_| {});
        let first_sound = |pass: &[f32]| pass.iter().position(|value| *value != 0.0);
        let starts: Vec<_> = output[lag..].chunks(48_000).map(first_sound).collect();
        assert!(starts[0].is_some_and(|start| start < 64), "the first note starts at {starts:?}");
        assert!(starts.iter().all(|start| *start == starts[0]), "the notes start at {starts:?}");
    }
}

#[test]
fn a_note_that_is_held_at_the_start_starts_there_again() {
    let banks = [Some(small_bank())];
    let mut mixer = Mixer::new(&with_notes(note(10_000, 70_000, 60).to_vec()), &banks).unwrap();
    mixer.set_loop(Some(region(24_000, 72_000)));
    mixer.play();
    let lag = mixer.latency_frames();
    let output = play(&mut mixer, lag + 72_000 + 47_000, 128, |_| {});
    let second_pass = &output[lag + 72_000..];
    assert!(peak(&second_pass[1_000..40_000]) > 0.01);
    assert_eq!(mixer.active_voice_count(), 1, "the voices of earlier passes have ended");
}

/// Returns the third pass of a loop over two held notes that starts at frame 24,000, after `past`.
fn third_pass(past: &[TrackEvent]) -> Vec<f32> {
    let mut events = past.to_vec();
    events.extend([60, 67].map(|key| TrackEvent { frame: 28_000, event: Event::NoteOff { key } }));
    events.push(control(32_000, 66, 0));
    let mut mixer = Mixer::new(&with_notes(events), &[Some(small_bank())]).unwrap();
    mixer.set_loop(Some(region(24_000, 36_000)));
    mixer.seek(24_000);
    mixer.play();
    let lag = mixer.latency_frames();
    play(&mut mixer, lag + 36_000, 256, |_| {}).split_off(lag + 24_000)
}

fn control(frame: u64, controller: u8, value: u8) -> TrackEvent {
    TrackEvent { frame, event: Event::Controller { controller, value } }
}

#[test]
fn many_controllers_before_the_start_do_not_change_the_sound_of_the_loop() {
    let event = |frame, event| TrackEvent { frame, event };
    let needed = [
        // The reset ends the vibrato of the modulation wheel.
        control(9_000, 121, 0),
        event(9_100, Event::Program { program: 5 }),
        event(9_200, Event::NoteOn { key: 60, velocity: 100 }),
        // The sostenuto pedal holds only the first note.
        control(9_300, 66, 127),
        event(9_400, Event::Program { program: 0 }),
        event(9_500, Event::NoteOn { key: 67, velocity: 100 }),
        // A bend range of 12 semitones and 2 cents, and a fine tuning.
        control(9_600, 101, 0),
        control(9_600, 100, 0),
        control(9_600, 6, 12),
        control(9_601, 96, 0),
        control(9_602, 96, 0),
        control(9_700, 100, 1),
        control(9_700, 6, 70),
        control(9_700, 38, 20),
        control(20_000, 7, 90),
        control(20_000, 10, 50),
        control(20_000, 11, 100),
        event(20_000, Event::PitchBend { value: 2_000 }),
        event(20_000, Event::ChannelPressure { value: 80 }),
    ];
    let mut few = needed.to_vec();
    few.extend([
        control(8_000, 1, 127),
        control(20_000, 64, 0),
        event(20_000, Event::KeyPressure { key: 60, value: 33 }),
    ]);
    let expected = third_pass(&few);
    assert!(peak(&expected) > 0.01);
    for (index, removed) in needed.iter().enumerate() {
        let mut without = few.clone();
        without.remove(index);
        assert!(third_pass(&without) != expected, "the loop ignores {removed:?}");
    }
    let mut many = few;
    for frame in (0..19_000).step_by(10) {
        let value = (frame / 10 * 37 % 128) as u8;
        many.extend([7, 10, 11, 64].map(|controller| control(frame, controller, value)));
        many.extend((frame < 8_000).then(|| control(frame, 1, value)));
        many.extend([
            event(frame, Event::PitchBend { value: i16::from(value) * 100 - 6_400 }),
            event(frame, Event::ChannelPressure { value }),
            event(frame, Event::KeyPressure { key: 60, value }),
        ]);
    }
    assert!(third_pass(&many) == expected, "earlier values of the controllers change the loop");
}

#[test]
fn the_output_frame_follows_the_jump_after_the_latency() {
    let mut mixer = Mixer::new(&session(Vec::new()), &[]).unwrap();
    let lag = mixer.latency_frames() as u64;
    assert!(lag > 16);
    mixer.set_loop(Some(region(1_000, 3_000)));
    assert_eq!(mixer.frames_to_jump(), None);
    mixer.play();
    assert_eq!(mixer.frames_to_jump(), Some(3_000));
    play(&mut mixer, 3_016, 128, |_| {});
    assert_eq!(mixer.position_frames(), 1_016);
    assert_eq!(mixer.output_frame(), 3_016 - lag);
    play(&mut mixer, lag as usize, 128, |_| {});
    assert_eq!(mixer.output_frame(), 1_016);
    // From the end of the loop on, playback continues without a jump.
    mixer.seek(3_000);
    assert_eq!(mixer.frames_to_jump(), None);
    play(&mut mixer, 256, 128, |_| {});
    assert_eq!(mixer.output_frame(), 3_256 - lag);
    assert_eq!(LoopRegion::new(10, 265), None);
    assert_eq!(LoopRegion::new(10, 9), None);
}
