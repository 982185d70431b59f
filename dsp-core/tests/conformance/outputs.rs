//! Tests of attenuation, pan and sends.

use crate::generator::*;
use crate::measure::{assert_near, db, frame};
use crate::rig::{Rig, Sound, control, on};

const REVERB: u8 = 91;
const CHORUS: u8 = 93;
const PAN_CONTROLLER: u8 = 10;

/// Plays a note with the controllers of both sends at 0.
fn dry(generators: &[(u16, i16)]) -> Sound {
    let events = [(0.0, control(REVERB, 0)), (0.0, control(CHORUS, 0)), (0.0, on(60, 127))];
    Rig::level(generators).play(&events, 0.1)
}

fn at_end(output: &[f64]) -> f64 {
    output[frame(0.09)]
}

#[test]
fn two_fifths_of_the_attenuation_count() {
    // Section 8.1.2, number 48. On the sound cards for which banks were made, a decibel of
    // attenuation in the file has an effect of 0.4 dB. The engine follows these.
    let full_level = at_end(&dry(&[]).left);
    for attenuation_cb in [50, 100, 400, 1_000] {
        let level_db = db(at_end(&dry(&[(INITIAL_ATTENUATION, attenuation_cb)]).left) / full_level);
        assert_near(&format!("{attenuation_cb} cB"), level_db, -0.04 * f64::from(attenuation_cb), 0.01);
    }
}

#[test]
fn pan_has_constant_power() {
    // Section 8.1.2, number 17: the pan is in tenths of a per cent.
    let centred_output = dry(&[]);
    let power = |sound: &Sound| {
        let (left, right) = (at_end(&sound.left), at_end(&sound.right));
        left * left + right * right
    };
    for (pan, angle_degrees) in [(-500, 0.0), (-250, 22.5), (0, 45.0), (250, 67.5), (500, 90.0)] {
        let sound = dry(&[(PAN, pan)]);
        let angle = libm::atan2(at_end(&sound.right), at_end(&sound.left)).to_degrees();
        assert_near(&format!("pan {pan}"), angle, angle_degrees, 0.05);
        assert_near(
            "the power in decibels",
            10.0 * libm::log10(power(&sound) / power(&centred_output)),
            0.0,
            0.01,
        );
    }
}

#[test]
fn sends_are_tenths_of_a_per_cent_and_do_not_change_the_output() {
    // Section 8.1.2, numbers 15 and 16.
    type Output = fn(&Sound) -> f64;
    let cases: [(u16, Output, Output); 2] = [
        (REVERB_EFFECTS_SEND, |sound| at_end(&sound.reverb), |sound| at_end(&sound.chorus)),
        (CHORUS_EFFECTS_SEND, |sound| at_end(&sound.chorus), |sound| at_end(&sound.reverb)),
    ];
    for (generator, send, other_send) in cases {
        assert_eq!(send(&dry(&[])), 0.0);
        let [at_100, at_200, at_1000] = [100, 200, 1_000].map(|tenths| dry(&[(generator, tenths)]));
        assert_near("200 tenths against 100", db(send(&at_200) / send(&at_100)), 6.02, 0.01);
        assert_near("1000 tenths against 100", db(send(&at_1000) / send(&at_100)), 20.0, 0.01);
        assert_eq!(other_send(&at_1000), 0.0);
        assert_eq!(at_end(&at_1000.left), at_end(&dry(&[]).left));
        // 200 tenths, the full range of controllers 91 and 93 (section 8.4.8), send the whole
        // voice.
        let voice = libm::sqrt(2.0) * at_end(&at_200.left);
        assert_near("200 tenths against the voice", db(send(&at_200) / voice), 0.0, 0.01);
    }
}

#[test]
fn sends_do_not_depend_on_the_pan() {
    let send_at = |pan: i16| at_end(&dry(&[(PAN, pan), (REVERB_EFFECTS_SEND, 200)]).reverb);
    assert_near("left against right", db(send_at(-500) / send_at(500)), 0.0, 0.01);
}

#[test]
fn the_pan_of_the_zone_and_of_the_channel_add_up() {
    let events = [(0.0, control(PAN_CONTROLLER, 80)), (0.0, on(60, 127))];
    let sound = Rig::level(&[(PAN, -125)]).play(&events, 0.1);
    // Section 8.4.6: the controller adds 500 times (2 * 80 / 128 - 1), which is 125. With the
    // zone's -125, the sum is the centre.
    let angle = libm::atan2(at_end(&sound.right), at_end(&sound.left)).to_degrees();
    assert_near("the angle", angle, 45.0, 0.05);
}
