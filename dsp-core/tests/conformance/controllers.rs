//! Tests that the default modulators (section 8.4) follow controllers that change while a note
//! sounds.

use dsp_core::session::Event;

use crate::generator::*;
use crate::measure::{assert_near, cents, cents_at, db, frame, pitch_hz};
use crate::rig::{RATE_HZ, Rig, SINE_HZ, Sound, bend, control, on};

/// Time of the controller change in [`with_change`].
const CHANGE_SECS: f64 = 0.5;

/// Plays a note after the event `first`, and the event `then` half a second later.
fn with_change(rig: &Rig, first: Event, then: Event, secs: f64) -> Sound {
    rig.play(&[(0.0, first), (0.0, on(60, 127)), (CHANGE_SECS, then)], secs)
}

/// Returns the gain of a controller value on the concave curve: an attenuation of 96 dB on this
/// curve is 40 dB a decade (section 9.5.3).
fn concave_db(value: u8) -> f64 {
    40.0 * libm::log10(f64::from(value) / 127.0)
}

#[test]
fn volume_and_expression_change_the_level() {
    let rig = Rig::level(&[]);
    for controller in [7, 11] {
        for (first, then) in [(127, 64), (64, 127), (100, 10), (10, 100)] {
            let sound = with_change(&rig, control(controller, first), control(controller, then), 0.7);
            let change_db = db(sound.left[frame(0.6)] / sound.left[frame(0.49)]);
            let label = format!("controller {controller} from {first} to {then}");
            assert_near(&label, change_db, concave_db(then) - concave_db(first), 0.02);
        }
    }
}

#[test]
fn the_level_ramps_within_ten_milliseconds() {
    let rig = Rig::level(&[]);
    for controller in [7, 11] {
        // These times have different offsets from the grid of control points.
        for frames in [24_000_usize, 24_001, 24_062, 24_063, 24_100] {
            let change = (frames as f64 / RATE_HZ, control(controller, 32));
            let sound = rig.play(&[(0.0, control(controller, 127)), (0.0, on(60, 127)), change], 0.7).left;
            let (value_before, value_after) = (sound[frames - 1], sound[frame(0.69)]);
            assert_near("10 ms later", db(sound[frames + 480] / value_after), 0.0, 0.01);
            let step = sound[100..].windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max);
            assert!(
                step < 0.05 * (value_before - value_after),
                "the level changes by {step} in a frame, of {} in all",
                value_before - value_after
            );
        }
    }
}

#[test]
fn pan_changes_the_balance() {
    let sound = with_change(&Rig::level(&[]), control(10, 32), control(10, 96), 0.7);
    let angle = |secs: f64| libm::atan2(sound.right[frame(secs)], sound.left[frame(secs)]).to_degrees();
    assert_near("before", angle(0.49), 22.5, 0.05);
    assert_near("after", angle(0.6), 67.5, 0.05);
}

#[test]
fn sends_follow_their_controllers() {
    let rig = Rig::level(&[]);
    let reverb = with_change(&rig, control(91, 64), control(91, 127), 0.7).reverb;
    assert_near("controller 91", db(reverb[frame(0.6)] / reverb[frame(0.49)]), db(127.0 / 64.0), 0.01);
    let chorus = with_change(&rig, control(93, 120), control(93, 30), 0.7).chorus;
    assert_near("controller 93", db(chorus[frame(0.6)] / chorus[frame(0.49)]), db(30.0 / 120.0), 0.01);
    let silenced = with_change(&rig, control(93, 120), control(93, 0), 0.7).chorus;
    assert_eq!(silenced[frame(0.6)], 0.0);
}

#[test]
fn the_wheel_bends_a_sounding_note() {
    let sound = with_change(&Rig::sine(&[]), bend(-4_096), bend(8_191), 1.0);
    let at = |from_secs: f64| cents(pitch_hz(&sound.left, from_secs, from_secs + 0.4), SINE_HZ);
    assert_near("before", at(0.05), -100.0, 0.1);
    assert_near("after", at(0.55), 200.0 * 8_191.0 / 8_192.0, 0.1);
}

#[test]
fn the_modulation_wheel_and_pressure_add_vibrato_to_a_sounding_note() {
    // The vibrato of 0.25 Hz peaks after a second, at 50 cents times value / 128.
    let rig = Rig::sine(&[(FREQ_VIB_LFO, -6_037)]);
    for (first, then) in [
        (control(1, 0), control(1, 96)),
        (Event::ChannelPressure { value: 0 }, Event::ChannelPressure { value: 96 }),
    ] {
        let sound = with_change(&rig, first, then, 1.2);
        assert_near("before", cents_at(&sound.left, 0.4, SINE_HZ), 0.0, 0.5);
        assert_near("at the peak", cents_at(&sound.left, 1.0, SINE_HZ), 50.0 * 96.0 / 128.0, 1.5);
    }
}

#[test]
fn another_note_does_not_change_the_level_of_a_sounding_note() {
    let rig = Rig::level(&[(RELEASE_VOL_ENV, -12_000)]);
    let single_note = rig.play(&[(0.0, on(60, 50))], 0.5).left;
    let events = [(0.0, on(60, 50)), (0.1, on(72, 120)), (0.15, crate::rig::off(72))];
    let after_another = rig.play(&events, 0.5).left;
    assert_near("the level", db(after_another[frame(0.4)] / single_note[frame(0.4)]), 0.0, 0.001);
}

#[test]
fn a_note_silenced_by_a_controller_becomes_audible_again() {
    // The note has decayed to its sustain level of -40 dB and is then silent for two seconds.
    let rig = Rig::level(&[(DECAY_VOL_ENV, -2_400), (SUSTAIN_VOL_ENV, 400)]);
    for controller in [7, 11] {
        let events = [(0.0, on(60, 127)), (0.5, control(controller, 0)), (2.5, control(controller, 127))];
        let sound = rig.play(&events, 3.0);
        assert!(
            db(sound.left[frame(2.0)].max(1e-12) / sound.left[frame(2.9)]) < -95.0,
            "the note is not silent"
        );
        let full_level =
            Rig::level(&[]).play(&[(0.0, control(7, 127)), (0.0, on(60, 127))], 0.1).left[frame(0.05)];
        let volume_db = if controller == 7 { 0.0 } else { concave_db(100) };
        let measured_db = db(sound.left[frame(2.9)] / full_level);
        assert_near(&format!("controller {controller}"), measured_db, volume_db - 40.0, 0.05);
    }
}
