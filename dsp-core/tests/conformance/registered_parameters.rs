//! Tests of RPNs that change while a note sounds, and of the least significant bytes of the data
//! (controller 38) and of the portamento time (controller 37).

use dsp_core::session::Event;

use crate::measure::{assert_near, cents, cents_at, pitch_hz};
use crate::rig::{Rig, SINE_HZ, bend, control, on};

const DATA: u8 = 6;
const DATA_LSB: u8 = 38;

fn registered(parameter: u8) -> [Event; 2] {
    [control(101, 0), control(100, parameter)]
}

/// Plays a note after the events `first`, and the events `then` half a second later. Returns the
/// detuning of the note in cents before and after `then`.
fn cents_before_and_after(first: &[Event], then: &[Event]) -> (f64, f64) {
    let mut events: Vec<_> = first.iter().map(|event| (0.0, *event)).collect();
    events.push((0.0, on(60, 127)));
    events.extend(then.iter().map(|event| (0.5, *event)));
    let sound = Rig::sine(&[]).play(&events, 1.0);
    let at = |from_secs: f64| cents(pitch_hz(&sound.left, from_secs, from_secs + 0.4), SINE_HZ);
    (at(0.05), at(0.55))
}

const TOLERANCE_CENTS: f64 = 0.05;

#[track_caller]
fn check(first: &[Event], then: &[Event], expected: (f64, f64)) {
    let (cents_before, cents_after_change) = cents_before_and_after(first, then);
    assert_near("before", cents_before, expected.0, TOLERANCE_CENTS);
    assert_near("after", cents_after_change, expected.1, TOLERANCE_CENTS);
}

#[test]
fn a_sounding_note_follows_the_bend_range() {
    let lowest_bend = [bend(-8_192)];
    check(&lowest_bend, &[&registered(0)[..], &[control(DATA, 12)]].concat(), (-200.0, -1_200.0));
    let with_cents = [control(DATA, 3), control(DATA_LSB, 25)];
    check(&lowest_bend, &[&registered(0)[..], &with_cents].concat(), (-200.0, -325.0));
    // The bend range does not change the pitch while the pitch wheel is centred.
    check(&[], &[&registered(0)[..], &[control(DATA, 24)]].concat(), (0.0, 0.0));
}

#[test]
fn a_sounding_note_follows_the_fine_tuning() {
    // 8192 units of the 14-bit value are 100 cents. The centre is a most significant byte of 64.
    let tuned =
        |msb: u8, lsb: u8| [&registered(1)[..], &[control(DATA, msb), control(DATA_LSB, lsb)]].concat();
    check(&[], &tuned(96, 0), (0.0, 50.0));
    check(&[], &tuned(64, 127), (0.0, 100.0 * 127.0 / 8_192.0));
    check(&[], &tuned(127, 127), (0.0, 100.0 * 8_191.0 / 8_192.0));
    check(&tuned(0, 0), &tuned(64, 0), (-100.0, 0.0));
}

#[test]
fn a_sounding_note_follows_the_coarse_tuning() {
    let tuned = |semitones: i8| {
        [&registered(2)[..], &[control(DATA, semitones.wrapping_add(64).cast_unsigned())]].concat()
    };
    check(&[], &tuned(7), (0.0, 700.0));
    check(&tuned(-12), &tuned(12), (-1_200.0, 1_200.0));
    // The coarse tuning ignores the least significant byte.
    check(&[], &[&tuned(3)[..], &[control(DATA_LSB, 127)]].concat(), (0.0, 300.0));
}

#[test]
fn the_tunings_and_the_bend_add_up() {
    let fine = [&registered(1)[..], &[control(DATA, 96), control(DATA_LSB, 0)]].concat();
    let coarse = [&registered(2)[..], &[control(DATA, 69)]].concat();
    let tuning_events = [&fine[..], &coarse, &[bend(-4_096)]].concat();
    check(&[bend(4_096)], &tuning_events, (100.0, 50.0 + 500.0 - 100.0));
}

#[test]
fn the_least_significant_byte_of_data_needs_a_selected_parameter() {
    // Selecting the fine tuning sets its most significant byte to 64, which is the centre. The
    // least significant byte of 64 then adds 64 of 8192 units.
    check(&[], &[&registered(1)[..], &[control(DATA_LSB, 64)]].concat(), (0.0, 100.0 * 64.0 / 8_192.0));
    check(&[], &[control(DATA_LSB, 64)], (0.0, 0.0));
}

#[test]
fn a_unit_of_controller_37_is_a_128th_of_a_unit_of_controller_5() {
    // The portamento takes 3 ms with controller 5 at 0, and twice the time for every 12 units more:
    // 0.77 s at 96, and 0.81 s at 96 and 127 / 128.
    let rig = Rig::sine(&[(crate::generator::RELEASE_VOL_ENV, -12_000)]);
    for lsb in [0_u8, 64, 127] {
        let events = [
            (0.0, control(65, 127)),
            (0.0, control(5, 96)),
            (0.0, control(37, lsb)),
            (0.0, on(60, 127)),
            (0.1, crate::rig::off(60)),
            (0.2, on(72, 127)),
        ];
        let sound = rig.play(&events, 1.2);
        let portamento_secs = 0.003 * libm::exp2((96.0 + f64::from(lsb) / 128.0) / 12.0);
        for secs in [0.2, 0.4, 0.6] {
            let measured_cents = cents_at(&sound.left, 0.2 + secs, SINE_HZ);
            assert_near(
                &format!("controller 37 at {lsb}, after {secs} s"),
                measured_cents,
                1_200.0 * secs / portamento_secs,
                4.0,
            );
        }
    }
}
