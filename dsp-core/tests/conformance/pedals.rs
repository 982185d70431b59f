//! Tests of repeated keys and of the sustain, sostenuto and soft pedals.

use dsp_core::session::Event;

use crate::generator::RELEASE_VOL_ENV;
use crate::measure::{assert_near, db, frame};
use crate::rig::{Rig, control, off, on};

const SUSTAIN: u8 = 64;
const SOSTENUTO: u8 = 66;
const SOFT: u8 = 67;
const DOWN: u8 = 127;
const UP: u8 = 0;

/// Returns the level at each of these times, divided by that of one note of full velocity.
fn notes_at(rig: &Rig, events: &[(f64, Event)], times_secs: &[f64]) -> Vec<f64> {
    let one_note = Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)];
    let last_secs = times_secs.iter().copied().fold(0.0, f64::max);
    let sound = rig.play(events, last_secs + 0.1);
    times_secs.iter().map(|secs| sound.left[frame(*secs)] / one_note).collect()
}

/// Checks the number of audible notes; `expected` has times in seconds and numbers of notes.
#[track_caller]
fn check(rig: &Rig, events: &[(f64, Event)], expected: &[(f64, f64)]) {
    let event_secs: Vec<f64> = expected.iter().map(|(secs, _)| *secs).collect();
    for (measured_notes, (secs, notes)) in notes_at(rig, events, &event_secs).into_iter().zip(expected) {
        assert_near(&format!("number of notes after {secs} s"), measured_notes, *notes, 0.01);
    }
}

/// Returns a rig whose notes have a release of a tenth of a second.
fn rig_with_short_release() -> Rig {
    Rig::level(&[(RELEASE_VOL_ENV, -4_000)])
}

/// Returns a rig whose notes fall by 12 dB a second in their release: 96 dB in eight seconds.
fn rig_with_long_release() -> Rig {
    Rig::level(&[(RELEASE_VOL_ENV, 3_600)])
}

/// Time in which a note of [`rig_with_long_release`] falls to half its amplitude, by 6.02 dB.
const HALF_SECS: f64 = 6.02 / 12.0;

#[test]
fn pressing_a_key_again_releases_its_earlier_note() {
    let events = [(0.0, on(60, 127)), (0.5, on(60, 127))];
    check(&rig_with_short_release(), &events, &[(0.4, 1.0), (0.8, 1.0)]);
    check(
        &rig_with_long_release(),
        &events,
        &[(0.4, 1.0), (0.5 + HALF_SECS, 1.5), (0.5 + 2.0 * HALF_SECS, 1.25)],
    );
    // Pressing another key does not release the first note.
    check(&rig_with_long_release(), &[(0.0, on(60, 127)), (0.5, on(61, 127))], &[(0.5 + HALF_SECS, 2.0)]);
}

#[test]
fn pressing_a_key_again_releases_its_earlier_note_that_a_pedal_holds() {
    for pedal in [SUSTAIN, SOSTENUTO] {
        let events = [
            (0.0, on(60, 127)),
            (0.1, control(pedal, DOWN)),
            (0.2, off(60)),
            (0.5, on(60, 127)),
            (2.0, off(60)),
            (3.0, control(pedal, UP)),
        ];
        // The sustain pedal also holds the second note. The sostenuto pedal does not, because the
        // note starts after the pedal went down.
        let later_levels = if pedal == SUSTAIN { [(2.9, 1.0), (3.3, 0.0)] } else { [(1.9, 1.0), (2.3, 0.0)] };
        check(
            &rig_with_short_release(),
            &events,
            &[(0.4, 1.0), (0.8, 1.0), later_levels[0], later_levels[1]],
        );
        check(&rig_with_long_release(), &events, &[(0.4, 1.0), (0.5 + HALF_SECS, 1.5)]);
    }
}

#[test]
fn one_release_ends_all_notes_of_a_key() {
    let events = [(0.0, on(60, 127)), (0.2, on(60, 127)), (0.4, on(60, 127)), (1.0, off(60))];
    check(&rig_with_short_release(), &events, &[(0.9, 1.0), (1.3, 0.0)]);
}

/// Returns the events of two notes and then `later_events`. The sostenuto pedal holds the first
/// note, and the sustain pedal holds both.
fn two_pedals(later_events: &[(f64, Event)]) -> Vec<(f64, Event)> {
    let two_notes = [
        (0.0, on(60, 127)),
        (0.1, control(SOSTENUTO, DOWN)),
        (0.2, on(67, 127)),
        (0.3, control(SUSTAIN, DOWN)),
        (0.4, off(60)),
        (0.4, off(67)),
    ];
    [&two_notes, later_events].concat()
}

#[test]
fn the_sostenuto_pedal_holds_its_notes_when_the_sustain_pedal_is_released() {
    let events = two_pedals(&[(1.0, control(SUSTAIN, UP)), (2.0, control(SOSTENUTO, UP))]);
    check(&rig_with_short_release(), &events, &[(0.9, 2.0), (1.3, 1.0), (1.9, 1.0), (2.3, 0.0)]);
}

#[test]
fn the_sustain_pedal_holds_its_notes_when_the_sostenuto_pedal_is_released() {
    let events = two_pedals(&[(1.0, control(SOSTENUTO, UP)), (2.0, control(SUSTAIN, UP))]);
    check(&rig_with_short_release(), &events, &[(0.9, 2.0), (1.3, 2.0), (1.9, 2.0), (2.3, 0.0)]);
}

#[test]
fn a_key_that_is_down_outlasts_both_pedals() {
    let events = [
        (0.0, on(60, 127)),
        (0.1, control(SOSTENUTO, DOWN)),
        (0.1, control(SUSTAIN, DOWN)),
        (0.5, control(SOSTENUTO, UP)),
        (0.6, control(SUSTAIN, UP)),
        (1.5, off(60)),
    ];
    check(&rig_with_short_release(), &events, &[(0.9, 1.0), (1.4, 1.0), (1.8, 0.0)]);
}

#[test]
fn the_sostenuto_pedal_does_not_hold_notes_that_start_after_it_went_down() {
    // The second sostenuto event changes the value of a pedal that is already down.
    let events = [
        (0.0, on(60, 127)),
        (0.1, control(SOSTENUTO, 64)),
        (0.2, on(67, 127)),
        (0.3, control(SOSTENUTO, DOWN)),
        (0.4, off(60)),
        (0.4, off(67)),
        (1.0, control(SOSTENUTO, 63)),
    ];
    check(&rig_with_short_release(), &events, &[(0.39, 2.0), (0.9, 1.0), (1.3, 0.0)]);
}

#[test]
fn the_sostenuto_pedal_does_not_hold_released_notes_that_the_sustain_pedal_holds() {
    let events = [
        (0.0, on(60, 127)),
        (0.1, control(SUSTAIN, DOWN)),
        (0.2, off(60)),
        (0.3, control(SOSTENUTO, DOWN)),
        (0.5, control(SUSTAIN, UP)),
    ];
    check(&rig_with_short_release(), &events, &[(0.45, 1.0), (0.8, 0.0)]);
}

#[test]
fn the_sustain_pedal_does_not_hold_notes_in_release() {
    let events = [(0.0, on(60, 127)), (0.1, off(60)), (0.12, control(SUSTAIN, DOWN))];
    check(&rig_with_short_release(), &events, &[(0.4, 0.0)]);
}

#[test]
fn the_soft_pedal_is_up_below_64_and_affects_the_next_note() {
    // A gain of -3 dB is 0.7079.
    let three_db_down = libm::pow(10.0, -0.15);
    for (value, expected) in [(63, 1.0), (64, three_db_down), (127, three_db_down)] {
        check(
            &rig_with_short_release(),
            &[(0.0, control(SOFT, value)), (0.0, on(60, 127))],
            &[(0.1, expected)],
        );
    }
    let events = [
        (0.0, control(SOFT, DOWN)),
        (0.0, on(60, 127)),
        (0.2, control(SOFT, UP)),
        (0.5, off(60)),
        (0.8, on(60, 127)),
    ];
    check(&rig_with_short_release(), &events, &[(0.1, three_db_down), (0.4, three_db_down), (0.9, 1.0)]);
}

#[test]
fn sustain_and_sostenuto_do_not_change_the_level() {
    let level = |events: &[(f64, Event)]| {
        rig_with_short_release().play(&[events, &[(0.0, on(60, 127))]].concat(), 0.2).left
    };
    let [plain, pressed] =
        [level(&[]), level(&[(0.0, control(SUSTAIN, DOWN)), (0.0, control(SOSTENUTO, DOWN))])];
    assert_near("the level in decibels", db(pressed[frame(0.1)] / plain[frame(0.1)]), 0.0, 1e-6);
}
