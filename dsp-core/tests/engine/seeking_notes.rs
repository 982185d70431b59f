//! Tests that notes that sound at the position of a seek have the same state as when playing from
//! the start.

use assert_no_alloc::assert_no_alloc;
use dsp_core::mixer::Mixer;
use dsp_core::session::{Event, Session, TrackEvent};
use dsp_core::soundfont::Bank;

use crate::full::SECOND;
use crate::sessions::{peak, session, track};
use crate::small_bank::small_bank_bytes;

const SUSTAIN: u8 = 64;
const SOSTENUTO: u8 = 66;
const MONO: u8 = 126;
const POLY: u8 = 127;

/// Frames until the fade-in after a seek is complete: the fade of 144 frames, and up to 256 frames
/// until the next point of the coarsest control grid.
const FADE_IN_FRAMES: usize = 144 + 256;

/// Returns the small bank with a closing filter, vibrato, tremolo and slow envelopes. The notes of
/// its drum kit are in an exclusive class.
fn modulated_bank() -> Bank {
    let signed = |value: i16| value as u16;
    const EXCLUSIVE_CLASS: u16 = 57;
    let generators = [
        (5, 12),              // modulation LFO to pitch, in cents
        (6, 35),              // vibrato LFO to pitch, in cents
        (8, 9_000),           // cutoff, in cents
        (9, 60),              // resonance, in centibels
        (11, 3_600),          // modulation envelope to cutoff, in cents
        (13, 30),             // modulation LFO to volume, in centibels
        (22, signed(-900)),   // frequency of the modulation LFO, in cents
        (23, signed(-1_000)), // delay of the vibrato LFO, in timecents
        (28, 4_000),          // decay of the modulation envelope, in timecents
        (29, 700),            // sustain of the modulation envelope, in tenths of a per cent below full
        (33, signed(-5_000)), // delay of the volume envelope, in timecents
        (34, signed(-1_500)), // attack of the volume envelope, in timecents
        (36, 4_500),          // decay of the volume envelope, in timecents
        (37, 80),             // sustain of the volume envelope, in centibels below full
    ];
    Bank::from_bytes(&small_bank_bytes(|tables| {
        tables.instrument_generators.splice(0..0, generators);
        for bag in &mut tables.instrument_bags[1..] {
            bag.0 += generators.len() as u16;
        }
        // The generator is in the preset zone of the drum kit, before the instrument.
        tables.preset_generators.insert(3, (EXCLUSIVE_CLASS, 1));
        tables.preset_bags[3].0 += 1;
    }))
    .unwrap()
}

const fn on(frame: u64, key: u8) -> TrackEvent {
    TrackEvent { frame, event: Event::NoteOn { key, velocity: 120 } }
}

const fn off(frame: u64, key: u8) -> TrackEvent {
    TrackEvent { frame, event: Event::NoteOff { key } }
}

const fn control(frame: u64, controller: u8, value: u8) -> TrackEvent {
    TrackEvent { frame, event: Event::Controller { controller, value } }
}

/// Returns a session with a dry track that has these events.
fn song(events: &[TrackEvent]) -> Session {
    let mut track = track("notes", &[]);
    track.events.extend(events);
    track.events.sort_by_key(|event| event.frame);
    Session { length_frames: 90 * SECOND, ..session(vec![track]) }
}

fn play(mixer: &mut Mixer, frames: usize) -> Vec<f32> {
    let (mut left, mut right) = (vec![0.0; frames], vec![0.0; frames]);
    assert_no_alloc(|| mixer.process(&mut left, &mut right));
    left.append(&mut right);
    left
}

/// Returns the output of the second from a frame on, and of the second that begins ten seconds
/// later. The mixer seeks to the frame, or plays from the start to the frame.
fn output(bank: &Bank, song: &Session, frame: u64, seeks: bool) -> [Vec<f32>; 2] {
    let slots = [Some(bank.clone())];
    let mut mixer = Mixer::new(song, &slots).unwrap();
    mixer.play();
    if seeks {
        assert_no_alloc(|| mixer.seek(frame));
    } else {
        play(&mut mixer, frame as usize);
    }
    let fade_in_frames = mixer.latency_frames() + FADE_IN_FRAMES;
    play(&mut mixer, fade_in_frames);
    let at_once = play(&mut mixer, SECOND as usize);
    play(&mut mixer, 9 * SECOND as usize);
    [at_once, play(&mut mixer, SECOND as usize)]
}

/// Returns the peak of the output from a frame on, and the peak differences in dBFS between a seek
/// to the frame and playing from the start: at the frame, and ten seconds later.
fn differences_db(bank: &Bank, song: &Session, seek_frame: u64) -> (f32, [f64; 2]) {
    let from_seek = output(bank, song, seek_frame, true);
    let whole_output = output(bank, song, seek_frame, false);
    let differences_db = [0, 1].map(|index| {
        let differences = from_seek[index]
            .iter()
            .zip(&whole_output[index])
            .map(|(after_seek, whole_output)| after_seek - whole_output);
        20.0 * libm::log10(f64::from(peak(&differences.collect::<Vec<f32>>()).max(1e-10)))
    });
    (peak(&whole_output[0]), differences_db)
}

/// Checks that the output after a seek equals that of playing from the start. Returns its peak.
#[track_caller]
fn check(label: &str, bank: &Bank, song: &Session, seek_frame: u64) -> f32 {
    let (peak, [at_once, later_difference]) = differences_db(bank, song, seek_frame);
    let differences =
        format!("a difference of {at_once:.1} dBFS, and of {later_difference:.1} dBFS ten seconds later");
    println!("{label}, seek to {seek_frame}, peak {peak:.3}: {differences}");
    assert!(at_once < -100.0 && later_difference < -100.0, "{label}, seek to {seek_frame}: {differences}");
    peak
}

#[track_caller]
fn check_sounding(label: &str, bank: &Bank, song: &Session, seek_frame: u64) {
    assert!(check(label, bank, song, seek_frame) > 0.01, "{label}: the output is silent");
}

#[test]
fn long_notes_have_the_same_state_after_a_seek() {
    let bank = modulated_bank();
    let chord = [on(100, 57), on(9_000, 64), on(20 * SECOND, 69), off(80 * SECOND, 64)];
    for seek_frame in [3 * SECOND + 39, 20 * SECOND - 1, 20 * SECOND, 60 * SECOND + 17] {
        check_sounding("chord", &bank, &song(&chord), seek_frame);
    }
}

#[test]
fn notes_that_a_pedal_holds_or_in_release_have_the_same_state_after_a_seek() {
    let bank = modulated_bank();
    let sustained = [control(10, SUSTAIN, 127), on(100, 57), off(9_000, 57), on(SECOND, 64), off(70_000, 64)];
    check_sounding("sustain", &bank, &song(&sustained), 15 * SECOND + 5);
    let sostenuto = [
        on(100, 57),
        control(2_000, SOSTENUTO, 127),
        on(SECOND, 64),
        off(80_000, 57),
        off(16 * SECOND, 64),
        control(18 * SECOND, SOSTENUTO, 0),
    ];
    check_sounding("sostenuto", &bank, &song(&sostenuto), 15 * SECOND + 5);
    let released_keys = [on(100, 57), off(4 * SECOND, 57)];
    check_sounding("release", &bank, &song(&released_keys), 4 * SECOND + 1);
}

#[test]
fn notes_that_ended_other_notes_before_the_seek_have_ended_them_after_it() {
    let bank = modulated_bank();
    let kit = TrackEvent { frame: 0, event: Event::Preset { bank: 128, program: 0 } };
    let class = [kit, on(100, 57), on(SECOND, 64), off(2 * SECOND, 64), on(3 * SECOND, 40)];
    check_sounding("exclusive class", &bank, &song(&class), 15 * SECOND + 5);
    let mono = [control(0, MONO, 1), on(100, 57), on(SECOND, 64), off(2 * SECOND, 64)];
    check_sounding("mono", &bank, &song(&mono), 15 * SECOND + 5);
    let repeated_events = [on(100, 57), off(SECOND, 57), on(2 * SECOND, 57), on(3 * SECOND, 60)];
    check_sounding("the same key again", &bank, &song(&repeated_events), 15 * SECOND + 5);
}

/// A generator of pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % end
    }
}

/// Returns pseudo-random notes and controllers for 30 seconds, `per_sec` a second.
fn random_events(seed: u64, per_sec: u64) -> Vec<TrackEvent> {
    let mut random = Random(seed);
    let mut events = Vec::new();
    for _ in 0..30 * per_sec {
        let frame = random.below(30 * SECOND);
        let key = 45 + random.below(30) as u8;
        let value = random.below(128) as u8;
        match random.below(20) {
            0..=11 => {
                events.push(on(frame, key));
                let longest = 1 << (10 + random.below(9));
                events.push(off(frame + 50 + random.below(longest), key));
            }
            12 | 13 => events.push(control(frame, SUSTAIN, value)),
            14 => events.push(control(frame, SOSTENUTO, value)),
            15 => {
                events.push(control(frame, [1, 7, 10, 11, 65, 5][random.below(6) as usize], 64 + value / 2));
            }
            16 => events.push(TrackEvent { frame, event: Event::PitchBend { value: i16::from(value) * 60 } }),
            17 => events.push(TrackEvent { frame, event: Event::ChannelPressure { value } }),
            18 => events.push(TrackEvent { frame, event: Event::Program { program: value % 6 } }),
            _ => {
                let modes = [120, 121, 123, MONO, POLY, POLY, POLY];
                events.push(control(frame, modes[random.below(7) as usize], 0));
            }
        }
    }
    events.sort_by_key(|event| event.frame);
    events
}

#[test]
fn a_seek_into_random_events_equals_playing_from_the_start() {
    let bank = modulated_bank();
    let mut audible_cases = 0;
    for seed in 1..=12 {
        let mut song = song(&random_events(seed * 7_919, 1 + seed));
        // With a polyphony of 8, some voices are stolen.
        song.polyphony = if seed % 2 == 0 { 8 } else { 64 };
        for seek_frame in [8 * SECOND + 39, 13 * SECOND + 1] {
            audible_cases += usize::from(check(&format!("seed {seed}"), &bank, &song, seek_frame) > 0.02);
        }
    }
    assert!(audible_cases >= 16, "only {audible_cases} of 24 cases are audible");
}

#[test]
fn a_long_note_has_the_same_state_after_a_seek_even_if_many_other_notes_have_ended() {
    // The events of a minute of eleven simultaneous notes are more than a seek replays.
    let chords = (0..60).flat_map(|second| (0..10).map(move |note| (second * SECOND + 500, 60 + 2 * note)));
    let notes = chords.flat_map(|(frame, key)| [on(frame, key), off(frame + SECOND - 600, key)]);
    let events: Vec<TrackEvent> = [on(100, 50)].into_iter().chain(notes).collect();
    check_sounding("a long note with chords", &modulated_bank(), &song(&events), 62 * SECOND);
}

/// Checks that a seek restarts the notes. The output then rises slowly, because the attack of the
/// modulated bank takes 0.4 seconds.
#[track_caller]
fn check_restarted(label: &str, song: &Session, seek_frame: u64) {
    let [at_once, _] = output(&modulated_bank(), song, seek_frame, true);
    let peaks = [&at_once[..2_400], &at_once].map(peak);
    assert!(
        peaks[1] > 0.02 && peaks[0] < 0.5 * peaks[1],
        "{label}: the notes are not restarted, with peaks of {peaks:?}"
    );
}

#[test]
fn notes_that_take_too_long_to_replay_are_restarted() {
    check_restarted("a note of ten minutes", &song(&[on(100, 57)]), 600 * SECOND);
    let keys = (30..94).map(|key| on(100, key));
    let wheel = (0..20_000).map(|index| control(200 + 10 * index, 1, (index % 128) as u8));
    let mut wheeled = song(&keys.chain(wheel).collect::<Vec<_>>());
    wheeled.tracks[0].gain = 0.05;
    check_restarted("many notes with many controllers", &wheeled, 4 * SECOND + 39);
    // If there are too many events, a seek replays only the notes that are still held.
    let scale = (0..2_000).map(|index| (500 + 5_000 * index, 60 + (index % 24) as u8));
    let notes = scale.flat_map(|(frame, key)| [on(frame, key), off(frame + 4_000, key)]);
    let drone: Vec<TrackEvent> = [on(100, 50)].into_iter().chain(notes).collect();
    check_sounding("a drone with a long melody", &modulated_bank(), &song(&drone), 120 * SECOND);
}

#[test]
fn notes_at_the_seek_position_start_without_the_fade_in() {
    let bank = Bank::from_bytes(&small_bank_bytes(|_| {})).unwrap();
    let seek_frame = 2 * SECOND + 39;
    // The difference between playing from the start and a seek shows the fade-in.
    let fade_in = |events: &[TrackEvent]| {
        let first = |seeks: bool| {
            let slots = [Some(bank.clone())];
            let mut mixer = Mixer::new(&song(events), &slots).unwrap();
            mixer.play();
            if seeks {
                mixer.seek(seek_frame);
            } else {
                play(&mut mixer, seek_frame as usize);
            }
            play(&mut mixer, FADE_IN_FRAMES)
        };
        let (whole_output, from_seek) = (first(false), first(true));
        whole_output
            .iter()
            .zip(&from_seek)
            .map(|(whole_output, after_seek)| whole_output - after_seek)
            .collect::<Vec<f32>>()
    };
    let held = [on(100, 57)];
    let (single_fade, with_new_note) =
        (fade_in(&held), fade_in(&[&held[..], &[on(seek_frame, 76)]].concat()));
    assert!(peak(&single_fade) > 0.01, "the held note does not fade in");
    let differences: Vec<f32> =
        single_fade.iter().zip(&with_new_note).map(|(single_fade, both)| single_fade - both).collect();
    assert!(peak(&differences) < 1e-6, "the new note differs by {}", peak(&differences));
}

#[test]
fn a_note_of_length_0_at_the_start_sounds_after_a_seek() {
    let bank = Bank::from_bytes(&small_bank_bytes(|_| {})).unwrap();
    check_sounding("a note of length 0", &bank, &song(&[on(0, 57), off(0, 57)]), 900);
}
