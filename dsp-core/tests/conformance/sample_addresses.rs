//! Tests of modulators and NRPNs that move sample addresses when a note starts (sections 8.2 and
//! 9.6).

use crate::generator::*;
use crate::measure::{assert_near, frame};
use crate::rig::{LOOP, Rig, Sound, control, level, on, ramp, tables};
use dsp_core::session::Event;

const ONCE: i16 = 0;

/// Returns the frame of the ramp that plays at an output frame, with an error of up to two frames.
fn source_frame(sound: &Sound, output_frame: usize, full_scale: f64) -> f64 {
    sound.left[output_frame] / full_scale * 32_768.0 * 2.0
}

fn full_scale() -> f64 {
    Rig::of(&tables(&level(), &[], &[])).hold(60, 127, 0.1).left[frame(0.05)] * 32_768.0 / 32_767.0
}

#[test]
fn a_controller_moves_the_start_of_a_note() {
    // General purpose controller 16 on a linear curve: a value of 64 adds half of the amount.
    const CONTROLLER: u16 = 0x80 | 16;
    for (generator, amount, first) in
        [(START_ADDRS_OFFSET, 2_000_u16, 1_000.0), (START_ADDRS_COARSE_OFFSET, 2, 32_768.0)]
    {
        let modulators = [[CONTROLLER, generator, amount, 0, 0]];
        let rig = Rig::of(&tables(&ramp(), &[(SAMPLE_MODES, ONCE)], &modulators));
        let sound = rig.play(&[(0.0, control(16, 64)), (0.0, on(60, 127))], 0.1);
        assert_near(
            &format!("by generator {generator}"),
            source_frame(&sound, 100, full_scale()),
            first + 100.0,
            2.0,
        );
        let sound = rig.play(&[(0.0, control(16, 0)), (0.0, on(60, 127))], 0.1);
        assert_near("with the controller at 0", source_frame(&sound, 100, full_scale()), 100.0, 2.0);
    }
}

#[test]
fn the_velocity_moves_the_start_of_a_note() {
    // Velocity (section 8.2.1, number 2) on a falling curve, so that soft notes skip the attack of
    // the sample.
    const SOFTNESS: u16 = 0x102;
    let modulators = [[SOFTNESS, START_ADDRS_OFFSET, 12_800, 0, 0]];
    let rig = Rig::of(&tables(&ramp(), &[(SAMPLE_MODES, ONCE), (INITIAL_FILTER_FC, 13_500)], &modulators));
    assert_near("at full velocity", source_frame(&rig.hold(60, 127, 0.1), 100, full_scale()), 100.0, 2.0);
    let soft = rig.hold(60, 27, 0.1);
    // The start moves by (127 - 27) / 128 of the amount. Velocity also changes the level, so the
    // reference is a note with the same velocity.
    let reference = Rig::of(&tables(&ramp(), &[(SAMPLE_MODES, ONCE)], &[])).hold(60, 27, 0.3);
    let same_value = (0..reference.left.len()).find(|&n| reference.left[n] >= soft.left[2_000]);
    assert_near("at velocity 27", same_value.expect("the same value") as f64, 12_000.0, 40.0);
}

/// Returns the events that change a generator by an NRPN (section 9.6.1: MSB 120, and the
/// generator's number as LSB). The centre of the data is 8192.
fn nrpn(generator: u16, amount: i32) -> [(f64, Event); 4] {
    let data = 8_192 + amount;
    let values = [(99, 120), (98, generator as u8), (6, (data >> 7) as u8), (38, (data & 127) as u8)];
    values.map(|(controller, value)| (0.0, control(controller, value)))
}

#[test]
fn an_nrpn_moves_the_start_of_a_note() {
    let events = [&nrpn(START_ADDRS_OFFSET, 700)[..], &[(0.0, on(60, 127))]].concat();
    let sound = Rig::of(&tables(&ramp(), &[(SAMPLE_MODES, ONCE)], &[])).play(&events, 0.1);
    assert_near("a start moved by 700 frames", source_frame(&sound, 100, full_scale()), 800.0, 2.0);
}

#[test]
fn an_end_address_cannot_be_moved_beyond_its_sample() {
    // In the sample data, the ramp follows the 2000 frames of the level. A reduced bank has no
    // ramp.
    let mut tables = tables(&level(), &[(SAMPLE_MODES, ONCE)], &[]);
    tables.add_sample(&ramp(), LOOP);
    let events = [&nrpn(END_ADDRS_OFFSET, 8_000)[..], &[(0.0, on(60, 127))]].concat();
    let rig = Rig::of(&tables);
    let sound = rig.play(&events, 0.2);
    assert_near("the last frame", last_audible_frame(&sound), 2_000.0, 3.0);
    assert_eq!(sound.left, rig.reduced().play(&events, 0.2).left);
}

/// Returns the last frame that is not silent.
fn last_audible_frame(sound: &Sound) -> f64 {
    sound.left.iter().rposition(|value| value.abs() > 1e-4).map_or(0.0, |frame| frame as f64)
}
