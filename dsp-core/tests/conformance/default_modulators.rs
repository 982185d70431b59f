//! Tests of the default modulators (section 8.4). `filter.rs` and `velocity_to_cutoff.rs` test the
//! one from velocity to filter cutoff.

use dsp_core::session::Event;

use crate::generator::*;
use crate::measure::{assert_near, cents_at, db, frame};
use crate::rig::{Rig, SINE_HZ, Sound, bend, control, on};

const MODULATION: u8 = 1;
const VOLUME: u8 = 7;
const PAN_CONTROLLER: u8 = 10;
const EXPRESSION: u8 = 11;
const REVERB: u8 = 91;
const CHORUS: u8 = 93;

/// Plays a note after setting a controller.
fn with_controller(rig: &Rig, controller: u8, value: u8) -> Sound {
    rig.play(&[(0.0, control(controller, value)), (0.0, on(60, 127))], 0.1)
}

fn left(sound: &Sound) -> f64 {
    sound.left[frame(0.09)]
}

/// Returns the gain of a controller value on the concave curve: an attenuation of 96 dB on this
/// curve is 40 dB a decade (section 9.5.3).
fn concave_db(value: u8) -> f64 {
    40.0 * libm::log10(f64::from(value) / 127.0)
}

#[test]
fn velocity_attenuates() {
    // Section 8.4.1.
    let rig = Rig::level(&[]);
    let full = left(&rig.hold(60, 127, 0.1));
    for velocity in [1, 10, 32, 64, 100, 126] {
        let measured_db = db(left(&rig.hold(60, velocity, 0.1)) / full);
        assert_near(&format!("velocity {velocity}"), measured_db, concave_db(velocity), 0.02);
    }
}

#[test]
fn volume_and_expression_attenuate() {
    // Sections 8.4.5 and 8.4.7.
    let rig = Rig::level(&[]);
    for controller in [VOLUME, EXPRESSION] {
        let full = left(&with_controller(&rig, controller, 127));
        for value in [1, 16, 64, 100] {
            let measured_db = db(left(&with_controller(&rig, controller, value)) / full);
            assert_near(&format!("controller {controller} at {value}"), measured_db, concave_db(value), 0.02);
        }
        assert!(db(left(&with_controller(&rig, controller, 0)).max(1e-12) / full) <= -95.9);
    }
}

#[test]
fn volume_starts_at_100_and_expression_at_127() {
    let rig = Rig::level(&[]);
    let untouched = left(&rig.hold(60, 127, 0.1));
    assert_near("volume", db(untouched / left(&with_controller(&rig, VOLUME, 127))), concave_db(100), 0.02);
    assert_near("expression", db(untouched / left(&with_controller(&rig, EXPRESSION, 127))), 0.0, 1e-6);
}

/// Returns the depth of the vibrato after an event in cents. The vibrato of 0.5 Hz peaks after half
/// a second.
fn vibrato_depth_cents(event: Event) -> f64 {
    let rig = Rig::sine(&[(FREQ_VIB_LFO, -4_837)]);
    let sound = rig.play(&[(0.0, event), (0.0, on(60, 127))], 1.0);
    cents_at(&sound.left, 0.5, SINE_HZ)
}

#[test]
fn pressure_and_the_modulation_wheel_add_vibrato() {
    // Sections 8.4.3 and 8.4.4: 50 cents times value / 128.
    for value in [0_u8, 64, 127] {
        let expected = 50.0 * f64::from(value) / 128.0;
        let tolerance = 1.5;
        assert_near("pressure", vibrato_depth_cents(Event::ChannelPressure { value }), expected, tolerance);
        assert_near(
            "the modulation wheel",
            vibrato_depth_cents(control(MODULATION, value)),
            expected,
            tolerance,
        );
    }
}

#[test]
fn pan_covers_the_stereo_field() {
    // Section 8.4.6: the controller adds 500 times (2 value / 128 - 1) tenths of a per cent.
    let rig = Rig::level(&[]);
    for (value, angle_degrees) in
        [(0, 0.0), (32, 22.5), (48, 33.75), (64, 45.0), (80, 56.25), (96, 67.5), (127, 89.297)]
    {
        let sound = with_controller(&rig, PAN_CONTROLLER, value);
        let angle = libm::atan2(sound.right[frame(0.09)], left(&sound)).to_degrees();
        assert_near(&format!("pan {value}"), angle, angle_degrees, 0.05);
    }
}

#[test]
fn controllers_91_and_93_set_the_sends() {
    // Sections 8.4.8 and 8.4.9: 200 tenths of a per cent times value / 128.
    type Output = fn(&Sound) -> f64;
    let cases: [(u8, u16, Output); 2] = [
        (REVERB, REVERB_EFFECTS_SEND, |sound| sound.reverb[frame(0.09)]),
        (CHORUS, CHORUS_EFFECTS_SEND, |sound| sound.chorus[frame(0.09)]),
    ];
    for (controller, generator, send) in cases {
        // A send of 100 tenths of a per cent by the generator alone.
        let reference = send(&with_controller(&Rig::level(&[(generator, 100)]), controller, 0));
        assert_near(
            "a controller value of 64 against 100 tenths of a per cent",
            db(send(&with_controller(&Rig::level(&[]), controller, 64)) / reference),
            0.0,
            0.01,
        );
        let full = db(send(&with_controller(&Rig::level(&[]), controller, 127)) / reference);
        assert_near(
            "a controller value of 127 against 100 tenths of a per cent",
            full,
            db(127.0 / 64.0),
            0.01,
        );
        assert_eq!(send(&with_controller(&Rig::level(&[]), controller, 0)), 0.0);
    }
}

#[test]
fn the_pitch_wheel_bends_by_two_semitones_by_default() {
    // Section 8.4.10. Registered parameter 0 can change the range.
    let rig = Rig::sine(&[]);
    for (value, expected) in [(-8_192, -200.0), (-4_096, -100.0), (0, 0.0), (4_096, 100.0), (8_191, 199.98)] {
        let sound = rig.play(&[(0.0, bend(value)), (0.0, on(60, 127))], 0.5);
        assert_near(&format!("the wheel at {value}"), cents_at(&sound.left, 0.3, SINE_HZ), expected, 0.3);
    }
}
