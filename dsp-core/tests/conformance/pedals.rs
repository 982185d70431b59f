//! Repeated keys, and pedals held together.

use dsp_core::session::Event;

use crate::generator::RELEASE_VOL_ENV;
use crate::measure::{assert_near, db, frame};
use crate::rig::{Rig, control, off, on};

const SUSTAIN: u8 = 64;
const SOSTENUTO: u8 = 66;
const SOFT: u8 = 67;
const DOWN: u8 = 127;
const UP: u8 = 0;

/// Level at these times, as a number of full notes.
fn notes_at(rig: &Rig, events: &[(f64, Event)], times_secs: &[f64]) -> Vec<f64> {
    let one = Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)];
    let last = times_secs.iter().copied().fold(0.0, f64::max);
    let sound = rig.play(events, last + 0.1);
    times_secs.iter().map(|secs| sound.left[frame(*secs)] / one).collect()
}

#[track_caller]
fn check(rig: &Rig, events: &[(f64, Event)], expected: &[(f64, f64)]) {
    let times: Vec<f64> = expected.iter().map(|(secs, _)| *secs).collect();
    for (measured, (secs, notes)) in notes_at(rig, events, &times).into_iter().zip(expected) {
        assert_near(&format!("notes after {secs} s"), measured, *notes, 0.01);
    }
}

/// Notes with a release of a tenth of a second.
fn short() -> Rig {
    Rig::level(&[(RELEASE_VOL_ENV, -4_000)])
}

/// Notes with a release of eight seconds for 96 dB: 6.02 dB, a half, in 0.502 s.
fn long() -> Rig {
    Rig::level(&[(RELEASE_VOL_ENV, 3_600)])
}

const HALF_SECS: f64 = 6.02 / 12.0;

#[test]
fn a_repeated_key_releases_its_earlier_note() {
    let events = [(0.0, on(60, 127)), (0.5, on(60, 127))];
    check(&short(), &events, &[(0.4, 1.0), (0.8, 1.0)]);
    check(&long(), &events, &[(0.4, 1.0), (0.5 + HALF_SECS, 1.5), (0.5 + 2.0 * HALF_SECS, 1.25)]);
    // Another key does not release it.
    check(&long(), &[(0.0, on(60, 127)), (0.5, on(61, 127))], &[(0.5 + HALF_SECS, 2.0)]);
}

#[test]
fn a_repeated_key_under_the_pedals_releases_its_earlier_note() {
    for pedal in [SUSTAIN, SOSTENUTO] {
        let events = [
            (0.0, on(60, 127)),
            (0.1, control(pedal, DOWN)),
            (0.2, off(60)),
            (0.5, on(60, 127)),
            (2.0, off(60)),
            (3.0, control(pedal, UP)),
        ];
        // The sustain pedal holds the second note, which started too late for the sostenuto pedal.
        let later = if pedal == SUSTAIN { [(2.9, 1.0), (3.3, 0.0)] } else { [(1.9, 1.0), (2.3, 0.0)] };
        check(&short(), &events, &[(0.4, 1.0), (0.8, 1.0), later[0], later[1]]);
        check(&long(), &events, &[(0.4, 1.0), (0.5 + HALF_SECS, 1.5)]);
    }
}

#[test]
fn one_release_ends_all_notes_of_a_key() {
    let events = [(0.0, on(60, 127)), (0.2, on(60, 127)), (0.4, on(60, 127)), (1.0, off(60))];
    check(&short(), &events, &[(0.9, 1.0), (1.3, 0.0)]);
}

/// The sostenuto pedal holds the first note; the second note starts later.
fn two_pedals(more: &[(f64, Event)]) -> Vec<(f64, Event)> {
    let first = [
        (0.0, on(60, 127)),
        (0.1, control(SOSTENUTO, DOWN)),
        (0.2, on(67, 127)),
        (0.3, control(SUSTAIN, DOWN)),
        (0.4, off(60)),
        (0.4, off(67)),
    ];
    [&first, more].concat()
}

#[test]
fn the_sostenuto_pedal_holds_its_notes_when_the_sustain_pedal_is_released() {
    let events = two_pedals(&[(1.0, control(SUSTAIN, UP)), (2.0, control(SOSTENUTO, UP))]);
    check(&short(), &events, &[(0.9, 2.0), (1.3, 1.0), (1.9, 1.0), (2.3, 0.0)]);
}

#[test]
fn the_sustain_pedal_holds_its_notes_when_the_sostenuto_pedal_is_released() {
    let events = two_pedals(&[(1.0, control(SOSTENUTO, UP)), (2.0, control(SUSTAIN, UP))]);
    check(&short(), &events, &[(0.9, 2.0), (1.3, 2.0), (1.9, 2.0), (2.3, 0.0)]);
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
    check(&short(), &events, &[(0.9, 1.0), (1.4, 1.0), (1.8, 0.0)]);
}

#[test]
fn the_sostenuto_pedal_holds_no_later_notes() {
    // A different value of the pressed pedal does not press it again.
    let events = [
        (0.0, on(60, 127)),
        (0.1, control(SOSTENUTO, 64)),
        (0.2, on(67, 127)),
        (0.3, control(SOSTENUTO, DOWN)),
        (0.4, off(60)),
        (0.4, off(67)),
        (1.0, control(SOSTENUTO, 63)),
    ];
    check(&short(), &events, &[(0.39, 2.0), (0.9, 1.0), (1.3, 0.0)]);
}

#[test]
fn the_sostenuto_pedal_does_not_hold_notes_of_the_sustain_pedal() {
    let events = [
        (0.0, on(60, 127)),
        (0.1, control(SUSTAIN, DOWN)),
        (0.2, off(60)),
        (0.3, control(SOSTENUTO, DOWN)),
        (0.5, control(SUSTAIN, UP)),
    ];
    check(&short(), &events, &[(0.45, 1.0), (0.8, 0.0)]);
}

#[test]
fn the_sustain_pedal_does_not_hold_notes_in_release() {
    let events = [(0.0, on(60, 127)), (0.1, off(60)), (0.12, control(SUSTAIN, DOWN))];
    check(&short(), &events, &[(0.4, 0.0)]);
}

#[test]
fn the_soft_pedal_is_up_below_64_and_affects_the_next_note() {
    // -3 dB are 0.7079.
    let three_db_down = libm::pow(10.0, -0.15);
    for (value, expected) in [(63, 1.0), (64, three_db_down), (127, three_db_down)] {
        check(&short(), &[(0.0, control(SOFT, value)), (0.0, on(60, 127))], &[(0.1, expected)]);
    }
    let events = [
        (0.0, control(SOFT, DOWN)),
        (0.0, on(60, 127)),
        (0.2, control(SOFT, UP)),
        (0.5, off(60)),
        (0.8, on(60, 127)),
    ];
    check(&short(), &events, &[(0.1, three_db_down), (0.4, three_db_down), (0.9, 1.0)]);
}

#[test]
fn sustain_and_sostenuto_do_not_change_the_level() {
    let level = |events: &[(f64, Event)]| short().play(&[events, &[(0.0, on(60, 127))]].concat(), 0.2).left;
    let [plain, pressed] =
        [level(&[]), level(&[(0.0, control(SUSTAIN, DOWN)), (0.0, control(SOSTENUTO, DOWN))])];
    assert_near("the level in decibels", db(pressed[frame(0.1)] / plain[frame(0.1)]), 0.0, 1e-6);
}
