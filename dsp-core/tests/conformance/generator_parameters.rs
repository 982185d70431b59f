//! Tests of the NRPNs that change generators (section 9.6) and of the unit of their data.

use dsp_core::session::Event;

use crate::generator::*;
use crate::measure::{assert_near, cents_at, db, frame, part, rms};
use crate::rig::{AT_ONCE, RATE_HZ, Rig, SINE_HZ, Sound, control, level, off, on, sine, tables};

/// Selects a generator and enters its data, relative to the centre of the 14-bit range.
fn offset(generator: u16, data: i16) -> [Event; 4] {
    let bits = data + 8_192;
    let (high, low) = ((bits >> 7) as u8, (bits & 127) as u8);
    [control(99, 120), control(98, generator as u8), control(6, high), control(38, low)]
}

/// Enters data for a generator, then plays a note and releases it after `release_secs`.
fn play(rig: &Rig, generator: u16, data: i16, release_secs: f64, secs: f64) -> Sound {
    let mut events: Vec<_> = offset(generator, data).map(|event| (0.0, event)).to_vec();
    events.extend([(0.0, on(60, 127)), (release_secs, off(60))]);
    rig.play(&events, secs)
}

#[test]
fn a_unit_of_the_cutoff_is_two_cents() {
    // Data of -600 lower the cutoff by an octave to the sine, where the filter attenuates by 3 dB.
    let level = |sound: &Sound, from_secs: f64| rms(part(&sound.left, from_secs, from_secs + 0.2));
    let open_level = level(&Rig::sine(&[]).hold(60, 127, 0.5), 0.2);
    let octave_above = Rig::sine(&[(INITIAL_FILTER_FC, 8_251)]);
    let sound = play(&octave_above, INITIAL_FILTER_FC, -600, 1.0, 0.5);
    assert_near("data before the note", db(level(&sound, 0.2) / open_level), -3.01, 0.1);
    // A Butterworth filter attenuates by 0.26 dB an octave below its cutoff.
    let mut events = vec![(0.0, on(60, 127))];
    events.extend(offset(INITIAL_FILTER_FC, -600).map(|event| (0.5, event)));
    let sound = octave_above.play(&events, 1.0);
    assert_near("before data during the note", db(level(&sound, 0.25) / open_level), -0.26, 0.05);
    assert_near("after data during the note", db(level(&sound, 0.7) / open_level), -3.01, 0.1);
}

#[test]
fn a_unit_of_lfo_delays_is_two_timecents() {
    // Data of 600 double the delay from half a second to a second. A quarter of a second later, the
    // LFO of 0.5 Hz has reached 300 of its 600 cents.
    for (depth, rate, delay) in
        [(MOD_LFO_TO_PITCH, FREQ_MOD_LFO, DELAY_MOD_LFO), (VIB_LFO_TO_PITCH, FREQ_VIB_LFO, DELAY_VIB_LFO)]
    {
        let rig = Rig::sine(&[(depth, 600), (rate, -4_837), (delay, -1_200)]);
        let sound = play(&rig, delay, 600, 3.0, 1.5);
        assert_near("during the delay", cents_at(&sound.left, 0.95, SINE_HZ), 0.0, 1.0);
        assert_near("after the delay", cents_at(&sound.left, 1.25, SINE_HZ), 300.0, 6.0);
    }
}

#[test]
fn a_unit_of_lfo_frequencies_is_four_cents() {
    // The data lower 8.176 Hz by an octave to 4.088 Hz, or raise it by half an octave to 11.562 Hz.
    for (data, expected_hz) in [(-300_i16, 4.088), (150, 11.562)] {
        let rig = Rig::level(&[(INITIAL_ATTENUATION, 500), (MOD_LFO_TO_VOLUME, 60)]);
        let sound = play(&rig, FREQ_MOD_LFO, data, 5.0, 4.0).left;
        let middle = sound[0] * 0.999;
        let rising_crossings: Vec<usize> =
            (1..sound.len()).filter(|&n| sound[n - 1] < middle && sound[n] >= middle).collect();
        let measured_hz = (rising_crossings.len() - 1) as f64 * RATE_HZ
            / (rising_crossings[rising_crossings.len() - 1] - rising_crossings[0]) as f64;
        assert_near("number 22", measured_hz, expected_hz, expected_hz * 0.005);
        // The vibrato is three octaves slower and peaks after a quarter of a period.
        let rig = Rig::sine(&[(VIB_LFO_TO_PITCH, 600), (FREQ_VIB_LFO, -3_600)]);
        let sound = play(&rig, FREQ_VIB_LFO, data, 5.0, 2.0);
        let peak_secs = 8.0 / (4.0 * expected_hz);
        assert_near("number 24", cents_at(&sound.left, peak_secs, SINE_HZ), 600.0, 25.0);
        assert_near("number 24", cents_at(&sound.left, 3.0 * peak_secs, SINE_HZ), -600.0, 25.0);
    }
}

#[test]
fn a_unit_of_the_times_of_the_modulation_envelope_is_two_timecents() {
    // Data of 600 double each time from half a second to a second. The delay and the hold then end
    // after a second, and the attack, the decay and the release are half done after half a second.
    let check = |generators: &[(u16, i16)], generator: u16, secs: f64, expected_cents: f64| {
        let swept = [
            (MOD_ENV_TO_PITCH, 1_200),
            (ATTACK_MOD_ENV, AT_ONCE),
            (SUSTAIN_MOD_ENV, 1_000),
            (RELEASE_VOL_ENV, 3_600),
        ];
        let rig = Rig::sine(&[&swept, generators, &[(generator, -1_200)]].concat());
        let sound = play(&rig, generator, 600, 1.5, 2.3);
        let measured = cents_at(&sound.left, secs, SINE_HZ);
        assert_near(&format!("number {generator}"), measured, expected_cents, 12.0);
    };
    let slow_decay = [(DECAY_MOD_ENV, 0)];
    check(&slow_decay, DELAY_MOD_ENV, 0.95, 0.0);
    check(&slow_decay, DELAY_MOD_ENV, 1.25, 900.0);
    // Section 9.5.3: the convex curve at 0.5 is 1 + 40 / 96 log10(0.5).
    check(&[(DECAY_MOD_ENV, 6_000)], ATTACK_MOD_ENV, 0.5, 1_200.0 * (1.0 + 40.0 / 96.0 * libm::log10(0.5)));
    check(&slow_decay, HOLD_MOD_ENV, 0.95, 1_200.0);
    check(&slow_decay, HOLD_MOD_ENV, 1.25, 900.0);
    check(&[], DECAY_MOD_ENV, 0.5, 600.0);
    check(&[(SUSTAIN_MOD_ENV, 0)], RELEASE_MOD_ENV, 2.0, 600.0);
}

#[test]
fn a_unit_of_the_times_of_the_volume_envelope_is_two_timecents() {
    let full_level = Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)];
    let check = |generators: &[(u16, i16)], generator: u16, at: (f64, f64), tolerance_db: f64| {
        let rig = Rig::level(&[generators, &[(generator, -1_200)]].concat());
        let sound = play(&rig, generator, 600, 1.5, 2.5);
        let measured = db(sound.left[frame(at.0)] / full_level);
        assert_near(&format!("number {generator}"), measured, at.1, tolerance_db);
    };
    let silent_zone = [(SUSTAIN_VOL_ENV, 1_000)];
    check(&[], ATTACK_VOL_ENV, (0.5, -6.02), 0.1);
    check(&[], RELEASE_VOL_ENV, (2.0, -48.0), 0.3);
    check(&silent_zone, DECAY_VOL_ENV, (0.5, -48.0), 0.3);
    check(&[&silent_zone[..], &[(DECAY_VOL_ENV, 0)]].concat(), HOLD_VOL_ENV, (1.25, -24.0), 0.3);
    let sound = play(&Rig::level(&[(DELAY_VOL_ENV, -1_200)]), DELAY_VOL_ENV, 600, 2.0, 1.2);
    let first_frame = sound.left.iter().position(|value| *value != 0.0).expect("a sound");
    assert_near("number 33", first_frame as f64 / RATE_HZ, 1.0, 0.001);
}

#[test]
fn a_unit_of_attenuations_is_a_full_centibel() {
    // Of the attenuation in a zone, only two fifths count.
    let full_level = Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)];
    for data in [50, 100, 400] {
        let sound = play(&Rig::level(&[]), INITIAL_ATTENUATION, data, 1.0, 0.1);
        assert_near("number 48", db(sound.left[frame(0.05)] / full_level), -f64::from(data) / 10.0, 0.01);
    }
    let sound = play(&Rig::level(&[(DECAY_VOL_ENV, AT_ONCE)]), SUSTAIN_VOL_ENV, 120, 1.0, 0.1);
    assert_near("number 37", db(sound.left[frame(0.05)] / full_level), -12.0, 0.02);
}

#[test]
fn data_times_the_unit_add_to_the_amount_of_the_zone() {
    // Generator, amount in the zone, data, unit of the data.
    let cases: [(u16, i16, i16, i16); 19] = [
        (MOD_LFO_TO_PITCH, 30, 40, 2),
        (VIB_LFO_TO_PITCH, 30, -60, 2),
        (MOD_ENV_TO_PITCH, -100, 200, 2),
        (INITIAL_FILTER_FC, 9_000, -700, 2),
        (INITIAL_FILTER_Q, 60, 90, 1),
        (MOD_LFO_TO_FILTER_FC, 200, 300, 2),
        (MOD_ENV_TO_FILTER_FC, 1_200, -900, 2),
        (MOD_LFO_TO_VOLUME, 20, 33, 1),
        (CHORUS_EFFECTS_SEND, 100, 150, 1),
        (REVERB_EFFECTS_SEND, 100, -40, 1),
        (PAN, -100, 300, 1),
        (SUSTAIN_MOD_ENV, 100, 500, 1),
        (KEYNUM_TO_MOD_ENV_HOLD, 20, 50, 1),
        (KEYNUM_TO_MOD_ENV_DECAY, 20, -50, 1),
        (SUSTAIN_VOL_ENV, 100, -60, 1),
        (KEYNUM_TO_VOL_ENV_HOLD, 20, 70, 1),
        (KEYNUM_TO_VOL_ENV_DECAY, 20, 35, 1),
        (COARSE_TUNE, 2, -5, 1),
        (FINE_TUNE, 20, 45, 1),
    ];
    // These generators use all modulation sources, so that a change of any generator is audible.
    let modulated = [
        (INITIAL_FILTER_FC, 9_000),
        (MOD_LFO_TO_PITCH, 25),
        (MOD_ENV_TO_PITCH, 100),
        (MOD_ENV_TO_FILTER_FC, 1_200),
        (HOLD_MOD_ENV, -3_000),
        (DECAY_MOD_ENV, -1_200),
        (SUSTAIN_MOD_ENV, 900),
        (HOLD_VOL_ENV, -3_000),
        (DECAY_VOL_ENV, -1_200),
        (SUSTAIN_VOL_ENV, 200),
    ];
    let sound = |generator: u16, value: i16, data: i16| {
        let rig = Rig::of(&tables(&sine(), &[&modulated, &[(generator, value)][..]].concat(), &[]));
        let mut events: Vec<_> = offset(generator, data).map(|event| (0.0, event)).to_vec();
        events.push((0.0, on(48, 100)));
        let Sound { left, right, reverb, chorus, .. } = rig.play(&events, 0.6);
        [left, right, reverb, chorus].concat()
    };
    for (generator, value, data, unit) in cases {
        let by_data = sound(generator, value, data);
        let by_zone = sound(generator, value + data * unit, 0);
        let difference: Vec<f64> = by_data.iter().zip(&by_zone).map(|(data, zone)| data - zone).collect();
        let label = format!("number {generator}: relative difference");
        assert_near(&label, rms(&difference) / rms(&by_zone), 0.0, 1e-5);
        let without_data = sound(generator, value, 0);
        assert!(without_data != by_data, "a change of generator {generator} is not audible");
    }
}

#[test]
fn data_bytes_combine_to_fourteen_bits() {
    // A high byte of 64 and a low byte of 0 are the centre. The low byte adds single units.
    let full_level = Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)];
    let db_after = |events: &[Event]| {
        let mut timed: Vec<_> = events.iter().map(|event| (0.0, *event)).collect();
        timed.push((0.0, on(60, 127)));
        db(Rig::of(&tables(&level(), &[], &[])).play(&timed, 0.1).left[frame(0.05)] / full_level)
    };
    let select = [control(99, 120), control(98, INITIAL_ATTENUATION as u8)];
    let db_with = |data: &[Event]| db_after(&[&select, data].concat());
    assert_near("64 and 0", db_with(&[control(6, 64), control(38, 0)]), 0.0, 0.001);
    assert_near("64 and 60", db_with(&[control(6, 64), control(38, 60)]), -6.0, 0.01);
    assert_near("only the low byte", db_with(&[control(38, 60)]), -6.0, 0.01);
    assert_near("65 and 60", db_with(&[control(6, 65), control(38, 60)]), -18.8, 0.01);
    assert_near(
        "a second high byte replaces the first",
        db_with(&[control(6, 66), control(6, 64), control(38, 20)]),
        -2.0,
        0.01,
    );
}
