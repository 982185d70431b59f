//! Generators as NRPNs (section 9.6): the unit of their data.

use dsp_core::session::Event;

use crate::generator::*;
use crate::measure::{assert_near, cents_at, db, frame, part, rms};
use crate::rig::{AT_ONCE, RATE_HZ, Rig, SINE_HZ, Sound, control, level, off, on, sine, tables};

/// Selects a generator and enters its data; 0 is no change.
fn offset(generator: u16, data: i16) -> [Event; 4] {
    let bits = data + 8_192;
    let (high, low) = ((bits >> 7) as u8, (bits & 127) as u8);
    [control(99, 120), control(98, generator as u8), control(6, high), control(38, low)]
}

/// A note after these parameters, released after a time.
fn play(rig: &Rig, generator: u16, data: i16, release_secs: f64, secs: f64) -> Sound {
    let mut events: Vec<_> = offset(generator, data).map(|event| (0.0, event)).to_vec();
    events.extend([(0.0, on(60, 127)), (release_secs, off(60))]);
    rig.play(&events, secs)
}

#[test]
fn the_cutoff_changes_by_two_cents() {
    // 7051 cents are the frequency of the sine, where the loss is 3 dB.
    let level = |sound: &Sound, from_secs: f64| rms(part(&sound.left, from_secs, from_secs + 0.2));
    let open = level(&Rig::sine(&[]).hold(60, 127, 0.5), 0.2);
    let octave_above = Rig::sine(&[(INITIAL_FILTER_FC, 8_251)]);
    let before = play(&octave_above, INITIAL_FILTER_FC, -600, 1.0, 0.5);
    assert_near("before the note", db(level(&before, 0.2) / open), -3.01, 0.1);
    // A Butterworth filter loses 0.26 dB an octave below its cutoff.
    let mut events = vec![(0.0, on(60, 127))];
    events.extend(offset(INITIAL_FILTER_FC, -600).map(|event| (0.5, event)));
    let while_it_sounds = octave_above.play(&events, 1.0);
    assert_near("until then", db(level(&while_it_sounds, 0.25) / open), -0.26, 0.05);
    assert_near("while it sounds", db(level(&while_it_sounds, 0.7) / open), -3.01, 0.1);
}

#[test]
fn lfo_delays_change_by_two_timecents() {
    // Half a second, doubled; 0.5 Hz passes 300 cents a quarter of a second later.
    for (depth, rate, delay) in
        [(MOD_LFO_TO_PITCH, FREQ_MOD_LFO, DELAY_MOD_LFO), (VIB_LFO_TO_PITCH, FREQ_VIB_LFO, DELAY_VIB_LFO)]
    {
        let rig = Rig::sine(&[(depth, 600), (rate, -4_837), (delay, -1_200)]);
        let sound = play(&rig, delay, 600, 3.0, 1.5);
        assert_near("while it waits", cents_at(&sound.left, 0.95, SINE_HZ), 0.0, 1.0);
        assert_near("then", cents_at(&sound.left, 1.25, SINE_HZ), 300.0, 6.0);
    }
}

#[test]
fn lfo_frequencies_change_by_four_cents() {
    // 8.176 Hz, an octave down and half an octave up.
    for (data, expected_hz) in [(-300_i16, 4.088), (150, 11.562)] {
        let rig = Rig::level(&[(INITIAL_ATTENUATION, 500), (MOD_LFO_TO_VOLUME, 60)]);
        let sound = play(&rig, FREQ_MOD_LFO, data, 5.0, 4.0).left;
        let middle = sound[0] * 0.999;
        let ups: Vec<usize> =
            (1..sound.len()).filter(|&n| sound[n - 1] < middle && sound[n] >= middle).collect();
        let turns_hz = (ups.len() - 1) as f64 * RATE_HZ / (ups[ups.len() - 1] - ups[0]) as f64;
        assert_near("number 22", turns_hz, expected_hz, expected_hz * 0.005);
        // Three octaves lower; the peak comes after a quarter of a period.
        let rig = Rig::sine(&[(VIB_LFO_TO_PITCH, 600), (FREQ_VIB_LFO, -3_600)]);
        let sound = play(&rig, FREQ_VIB_LFO, data, 5.0, 2.0);
        let top_secs = 8.0 / (4.0 * expected_hz);
        assert_near("number 24", cents_at(&sound.left, top_secs, SINE_HZ), 600.0, 25.0);
        assert_near("number 24", cents_at(&sound.left, 3.0 * top_secs, SINE_HZ), -600.0, 25.0);
    }
}

#[test]
fn times_of_the_modulation_envelope_change_by_two_timecents() {
    // Half a second, doubled: then the delay and the hold end, and the attack and the falls are
    // half done.
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
    let long = [(DECAY_MOD_ENV, 0)];
    check(&long, DELAY_MOD_ENV, 0.95, 0.0);
    check(&long, DELAY_MOD_ENV, 1.25, 900.0);
    // 9.5.3: the convex curve at a half is 1 + 40 / 96 log10(0.5).
    check(&[(DECAY_MOD_ENV, 6_000)], ATTACK_MOD_ENV, 0.5, 1_200.0 * (1.0 + 40.0 / 96.0 * libm::log10(0.5)));
    check(&long, HOLD_MOD_ENV, 0.95, 1_200.0);
    check(&long, HOLD_MOD_ENV, 1.25, 900.0);
    check(&[], DECAY_MOD_ENV, 0.5, 600.0);
    check(&[(SUSTAIN_MOD_ENV, 0)], RELEASE_MOD_ENV, 2.0, 600.0);
}

#[test]
fn times_of_the_volume_envelope_change_by_two_timecents() {
    let full = Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)];
    let check = |generators: &[(u16, i16)], generator: u16, at: (f64, f64), tolerance_db: f64| {
        let rig = Rig::level(&[generators, &[(generator, -1_200)]].concat());
        let sound = play(&rig, generator, 600, 1.5, 2.5);
        let measured = db(sound.left[frame(at.0)] / full);
        assert_near(&format!("number {generator}"), measured, at.1, tolerance_db);
    };
    let silent = [(SUSTAIN_VOL_ENV, 1_000)];
    check(&[], ATTACK_VOL_ENV, (0.5, -6.02), 0.1);
    check(&[], RELEASE_VOL_ENV, (2.0, -48.0), 0.3);
    check(&silent, DECAY_VOL_ENV, (0.5, -48.0), 0.3);
    check(&[&silent[..], &[(DECAY_VOL_ENV, 0)]].concat(), HOLD_VOL_ENV, (1.25, -24.0), 0.3);
    let sound = play(&Rig::level(&[(DELAY_VOL_ENV, -1_200)]), DELAY_VOL_ENV, 600, 2.0, 1.2);
    let first = sound.left.iter().position(|value| *value != 0.0).expect("a sound");
    assert_near("number 33", first as f64 / RATE_HZ, 1.0, 0.001);
}

#[test]
fn attenuations_count_in_full() {
    // In a zone two fifths count.
    let full = Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)];
    for data in [50, 100, 400] {
        let sound = play(&Rig::level(&[]), INITIAL_ATTENUATION, data, 1.0, 0.1);
        assert_near("number 48", db(sound.left[frame(0.05)] / full), -f64::from(data) / 10.0, 0.01);
    }
    let sound = play(&Rig::level(&[(DECAY_VOL_ENV, AT_ONCE)]), SUSTAIN_VOL_ENV, 120, 1.0, 0.1);
    assert_near("number 37", db(sound.left[frame(0.05)] / full), -12.0, 0.02);
}

#[test]
fn data_equals_a_generator_of_the_zone() {
    // Generator, value of the zone, data, unit of the data.
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
    // Uses all modulation sources, so that each number is audible.
    let moving = [
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
        let rig = Rig::of(&tables(&sine(), &[&moving, &[(generator, value)][..]].concat(), &[]));
        let mut events: Vec<_> = offset(generator, data).map(|event| (0.0, event)).to_vec();
        events.push((0.0, on(48, 100)));
        let Sound { left, right, reverb, chorus, .. } = rig.play(&events, 0.6);
        [left, right, reverb, chorus].concat()
    };
    for (generator, value, data, unit) in cases {
        let by_data = sound(generator, value, data);
        let by_zone = sound(generator, value + data * unit, 0);
        let difference: Vec<f64> = by_data.iter().zip(&by_zone).map(|(one, other)| one - other).collect();
        let label = format!("number {generator}: relative difference");
        assert_near(&label, rms(&difference) / rms(&by_zone), 0.0, 1e-5);
        let nothing = sound(generator, value, 0);
        assert!(nothing != by_data, "number {generator} is not audible");
    }
}

#[test]
fn data_bytes_combine_to_fourteen_bits() {
    // The centre is 64 and 0; the least significant byte changes the value by its units.
    let full = Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)];
    let db_after = |events: &[Event]| {
        let mut timed: Vec<_> = events.iter().map(|event| (0.0, *event)).collect();
        timed.push((0.0, on(60, 127)));
        db(Rig::of(&tables(&level(), &[], &[])).play(&timed, 0.1).left[frame(0.05)] / full)
    };
    let select = [control(99, 120), control(98, INITIAL_ATTENUATION as u8)];
    let with = |data: &[Event]| db_after(&[&select, data].concat());
    assert_near("64 and 0", with(&[control(6, 64), control(38, 0)]), 0.0, 0.001);
    assert_near("64 and 60", with(&[control(6, 64), control(38, 60)]), -6.0, 0.01);
    assert_near("the low byte alone", with(&[control(38, 60)]), -6.0, 0.01);
    assert_near("65 and 60", with(&[control(6, 65), control(38, 60)]), -18.8, 0.01);
    assert_near("data replaces data", with(&[control(6, 66), control(6, 64), control(38, 20)]), -2.0, 0.01);
}
