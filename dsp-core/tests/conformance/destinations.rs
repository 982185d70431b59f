//! Tests that a modulator's amount has the unit of its destination, for each kind of generator
//! (section 7.4: "in units of the destination").

use crate::generator::*;
use crate::measure::{assert_near, cents_at, db, frame, part, rms};
use crate::rig::{AT_ONCE, RATE_HZ, Rig, SINE_HZ, Sound, control, level, off, on, sine, tables};

/// A controller that no default modulator uses, and the source of its switch curve: 0 below a value
/// of 64, 1 from 64 on.
const CONTROLLER: u8 = 16;
const SWITCH: u16 = 0xc80 | CONTROLLER as u16;

/// Returns a rig with a modulator that adds `amount` to the generator `destination` while the
/// controller is on.
fn rig(frames: &[i16], generators: &[(u16, i16)], destination: u16, amount: i16) -> Rig {
    Rig::of(&tables(frames, generators, &[[SWITCH, destination, amount.cast_unsigned(), 0, 0]]))
}

/// Plays a note with the controller on and releases it after `release_secs`.
fn play_with_controller_on(rig: &Rig, release_secs: f64, secs: f64) -> Sound {
    rig.play(&[(0.0, control(CONTROLLER, 127)), (0.0, on(60, 127)), (release_secs, off(60))], secs)
}

/// Returns the left output of a voice without attenuation.
fn full_level() -> f64 {
    Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)]
}

/// Returns the level of the left output in decibels, relative to a voice without attenuation.
fn db_at(sound: &Sound, secs: f64) -> f64 {
    db(sound.left[frame(secs)] / full_level())
}

#[test]
fn the_modulator_does_nothing_while_the_controller_is_off() {
    let plain_sound = Rig::level(&[]).hold(60, 127, 0.2);
    let with_modulator = rig(&level(), &[], INITIAL_ATTENUATION, 300).hold(60, 127, 0.2);
    assert!(with_modulator.left == plain_sound.left);
}

#[test]
fn attenuations_are_in_centibels() {
    // The modulator adds 60 centibels to the initial attenuation, the sustain level and the depth
    // of the tremolo. The labels below are generator numbers (section 8.1.2).
    let sound = play_with_controller_on(&rig(&level(), &[], INITIAL_ATTENUATION, 60), 1.0, 0.2);
    assert_near("number 48", db_at(&sound, 0.1), -6.0, 0.02);
    let decay = [(DECAY_VOL_ENV, AT_ONCE), (SUSTAIN_VOL_ENV, 40)];
    let sound = play_with_controller_on(&rig(&level(), &decay, SUSTAIN_VOL_ENV, 60), 1.0, 0.2);
    assert_near("number 37", db_at(&sound, 0.1), -10.0, 0.02);
    // An LFO of 0.5 Hz peaks after half a second.
    let slow_zone = [(INITIAL_ATTENUATION, 500), (FREQ_MOD_LFO, -4_837)];
    let sound = play_with_controller_on(&rig(&level(), &slow_zone, MOD_LFO_TO_VOLUME, 60), 2.0, 0.6);
    assert_near("number 13", db_at(&sound, 0.5), -20.0 + 6.0, 0.1);
}

#[test]
fn times_are_in_timecents() {
    // The modulator doubles each time from half a second to a second.
    let check = |generators: &[(u16, i16)], destination: u16, at: (f64, f64), tolerance_db: f64| {
        let generators = [generators, &[(destination, -1_200)]].concat();
        let sound = play_with_controller_on(&rig(&level(), &generators, destination, 1_200), 1.5, 2.5);
        assert_near(&format!("number {destination}"), db_at(&sound, at.0), at.1, tolerance_db);
    };
    let silent_zone = [(SUSTAIN_VOL_ENV, 1_000)];
    check(&[], ATTACK_VOL_ENV, (0.5, -6.02), 0.1);
    check(&[], RELEASE_VOL_ENV, (2.0, -48.0), 0.3);
    check(&silent_zone, DECAY_VOL_ENV, (0.5, -48.0), 0.3);
    check(&[&silent_zone[..], &[(DECAY_VOL_ENV, 0)]].concat(), HOLD_VOL_ENV, (1.25, -24.0), 0.3);
    let delayed_sound = rig(&level(), &[(DELAY_VOL_ENV, -1_200)], DELAY_VOL_ENV, 1_200);
    let sound = play_with_controller_on(&delayed_sound, 2.0, 1.2).left;
    let first_frame = sound.iter().position(|value| *value != 0.0).expect("a sound");
    assert_near("number 33", first_frame as f64 / RATE_HZ, 1.0, 0.001);
}

#[test]
fn the_times_of_the_modulation_envelope_are_in_timecents() {
    let check = |generators: &[(u16, i16)], destination: u16, secs: f64, expected_cents: f64| {
        let swept = [
            (MOD_ENV_TO_PITCH, 1_200),
            (ATTACK_MOD_ENV, AT_ONCE),
            (SUSTAIN_MOD_ENV, 1_000),
            (RELEASE_VOL_ENV, 3_600),
        ];
        let generators = [&swept, generators, &[(destination, -1_200)]].concat();
        let sound = play_with_controller_on(&rig(&sine(), &generators, destination, 1_200), 1.5, 2.3);
        let measured_cents = cents_at(&sound.left, secs, SINE_HZ);
        assert_near(&format!("number {destination}"), measured_cents, expected_cents, 12.0);
    };
    // The modulator doubles each time from half a second to a second. The delay and the hold then
    // end after a second, and the attack, the decay and the release are half done after half a
    // second.
    let slow_decay = [(DECAY_MOD_ENV, 0)];
    check(&slow_decay, DELAY_MOD_ENV, 0.95, 0.0);
    check(&slow_decay, DELAY_MOD_ENV, 1.25, 900.0);
    check(&slow_decay, HOLD_MOD_ENV, 0.95, 1_200.0);
    check(&slow_decay, HOLD_MOD_ENV, 1.25, 900.0);
    check(&[], DECAY_MOD_ENV, 0.5, 600.0);
    check(&[(SUSTAIN_MOD_ENV, 0)], RELEASE_MOD_ENV, 2.0, 600.0);
    // Section 9.5.3: the convex curve at 0.5 is 1 + 40 / 96 log10(0.5).
    check(&[(DECAY_MOD_ENV, 6_000)], ATTACK_MOD_ENV, 0.5, 1_200.0 * (1.0 + 40.0 / 96.0 * libm::log10(0.5)));
}

#[test]
fn lfo_frequencies_are_in_cents() {
    // The modulator lowers 8.176 Hz by an octave to 4.088 Hz, or raises it by half an octave to
    // 11.562 Hz.
    for (amount, expected_hz) in [(-1_200, 4.088), (600, 11.562)] {
        let tremolo = [(INITIAL_ATTENUATION, 500), (MOD_LFO_TO_VOLUME, 60)];
        let sound = play_with_controller_on(&rig(&level(), &tremolo, FREQ_MOD_LFO, amount), 5.0, 4.0).left;
        let middle = sound[0] * 0.999;
        let rising_crossings: Vec<usize> =
            (1..sound.len()).filter(|&n| sound[n - 1] < middle && sound[n] >= middle).collect();
        let measured_hz = (rising_crossings.len() - 1) as f64 * RATE_HZ
            / (rising_crossings[rising_crossings.len() - 1] - rising_crossings[0]) as f64;
        assert_near("number 22", measured_hz, expected_hz, expected_hz * 0.005);
        // The vibrato is three octaves slower and peaks after a quarter of a period.
        let sound = play_with_controller_on(
            &rig(&sine(), &[(VIB_LFO_TO_PITCH, 600)], FREQ_VIB_LFO, amount - 3_600),
            5.0,
            2.0,
        );
        let peak_secs = 8.0 / (4.0 * expected_hz);
        assert_near("number 24", cents_at(&sound.left, peak_secs, SINE_HZ), 600.0, 25.0);
        assert_near("number 24", cents_at(&sound.left, 3.0 * peak_secs, SINE_HZ), -600.0, 25.0);
    }
}

#[test]
fn lfo_delays_are_in_timecents() {
    // The modulator doubles the delay from half a second to a second. A quarter of a second later,
    // the LFO of 0.5 Hz has reached 300 of its 600 cents.
    for (depth, rate, delay) in
        [(MOD_LFO_TO_PITCH, FREQ_MOD_LFO, DELAY_MOD_LFO), (VIB_LFO_TO_PITCH, FREQ_VIB_LFO, DELAY_VIB_LFO)]
    {
        let generators = [(depth, 600), (rate, -4_837), (delay, -1_200)];
        let sound = play_with_controller_on(&rig(&sine(), &generators, delay, 1_200), 5.0, 1.5);
        assert_near("during the delay", cents_at(&sound.left, 0.95, SINE_HZ), 0.0, 1.0);
        assert_near("after the delay", cents_at(&sound.left, 1.25, SINE_HZ), 300.0, 6.0);
    }
}

#[test]
fn the_cutoff_is_in_cents_and_the_resonance_in_centibels() {
    // The modulator lowers the cutoff from an octave above the sine to the sine, where the filter
    // attenuates by 3 dB.
    let level_of = |rig: &Rig, key: u8| {
        let events = [(0.0, control(CONTROLLER, 127)), (0.0, on(key, 127))];
        rms(part(&rig.play(&events, 0.5).left, 0.2, 0.5))
    };
    let open_level = |key: u8| level_of(&Rig::sine(&[]), key);
    let lowered_rig = rig(&sine(), &[(INITIAL_FILTER_FC, 8_251)], INITIAL_FILTER_FC, -1_200);
    assert_near("number 8", db(level_of(&lowered_rig, 60) / open_level(60)), -3.01, 0.1);
    // A resonance of 10 dB lowers the bass by 5 dB.
    let resonant = rig(&sine(), &[(INITIAL_FILTER_FC, 7_051)], INITIAL_FILTER_Q, 100);
    assert_near("number 9", db(level_of(&resonant, 24) / open_level(24)), -5.0, 0.2);
    // The LFO of 0.5 Hz at its peak and the envelope at its sustain lower the cutoff by an octave.
    let generators = [(INITIAL_FILTER_FC, 8_251), (FREQ_MOD_LFO, -4_837)];
    for destination in [MOD_LFO_TO_FILTER_FC, MOD_ENV_TO_FILTER_FC] {
        let rig = rig(&sine(), &generators, destination, -1_200);
        let at_peak = |rig: &Rig| rms(part(&play_with_controller_on(rig, 5.0, 0.6).left, 0.48, 0.52));
        let response_db = db(at_peak(&rig) / at_peak(&Rig::sine(&[])));
        assert_near(&format!("number {destination}"), response_db, -3.01, 0.2);
    }
}

#[test]
fn sends_and_pan_are_in_tenths_of_a_per_cent() {
    // Each send is compared with that of the generator with an amount of 400.
    let send = |sound: &Sound, destination: u16| match destination {
        REVERB_EFFECTS_SEND => sound.reverb[frame(0.09)],
        _ => sound.chorus[frame(0.09)],
    };
    for destination in [REVERB_EFFECTS_SEND, CHORUS_EFFECTS_SEND] {
        let send_with = |generators: &[(u16, i16)], amount: i16| {
            let rig = rig(&level(), generators, destination, amount);
            let sends = [(0.0, control(91, 0)), (0.0, control(93, 0))];
            let note = [(0.0, control(CONTROLLER, 127)), (0.0, on(60, 127))];
            send(&rig.play(&[sends, note].concat(), 0.1), destination)
        };
        let reference = send_with(&[(destination, 400)], 0);
        assert_near("100 and 300 tenths", db(send_with(&[(destination, 100)], 300) / reference), 0.0, 0.01);
        assert_near("200 tenths", db(send_with(&[], 200) / reference), -6.02, 0.01);
    }
    for (amount, angle_degrees) in [(-250_i16, 22.5), (125, 56.25), (500, 90.0)] {
        let sound = play_with_controller_on(&rig(&level(), &[], PAN, amount), 1.0, 0.1);
        let angle = libm::atan2(sound.right[frame(0.09)], sound.left[frame(0.09)]).to_degrees();
        assert_near(&format!("pan by {amount}"), angle, angle_degrees, 0.05);
    }
}
