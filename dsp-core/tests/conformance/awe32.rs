//! Tests of the NRPNs of the Sound Blaster AWE32 (MSB 127, LSB 0 to 26). The comments below call
//! the LSB the number, and give its unit of data.

use dsp_core::session::Event;

use crate::generator::*;
use crate::measure::{assert_near, cents_at, db, part, rms};
use crate::rig::{LOOP, RATE_HZ, Rig, SINE_HZ, Sound, control, level, off, on, sine, steady, tables};

const DELAY_LFO_1: u8 = 0;
const RATE_LFO_1: u8 = 1;
const RATE_LFO_2: u8 = 3;
const PITCH: u8 = 16;
const LFO_1_TO_PITCH: u8 = 17;
const CUTOFF: u8 = 21;
const RESONANCE: u8 = 22;
const CHORUS: u8 = 25;
const REVERB: u8 = 26;

/// Selects a number and enters `data`, which is relative to 8192, the centre of the 14-bit range.
fn awe32(number: u8, data: i16) -> [Event; 4] {
    let bits = data + 8_192;
    [control(99, 127), control(98, number), control(6, (bits >> 7) as u8), control(38, (bits & 127) as u8)]
}

fn at(secs: f64, events: &[Event]) -> Vec<(f64, Event)> {
    events.iter().map(|event| (secs, *event)).collect()
}

/// Plays these events and then a note that is released after a second.
fn play(rig: &Rig, events: &[Event], secs: f64) -> Sound {
    let mut timed = at(0.0, events);
    timed.extend([(0.0, on(60, 127)), (1.0, off(60))]);
    rig.play(&timed, secs)
}

fn outputs(sound: Sound) -> Vec<f64> {
    [sound.left, sound.right, sound.reverb, sound.chorus].concat()
}

/// Returns the RMS of the difference of two signals, divided by the RMS of `reference`.
fn relative_difference(signal: &[f64], reference: &[f64]) -> f64 {
    let difference: Vec<f64> =
        signal.iter().zip(reference).map(|(value, reference)| value - reference).collect();
    rms(&difference) / rms(reference)
}

/// Generators of a zone in which every generator that a number can replace is audible.
const ALL_MODULATED: [(u16, i16); 24] = [
    (DELAY_MOD_LFO, -3_000),
    (FREQ_MOD_LFO, -1_200),
    (DELAY_VIB_LFO, -4_000),
    (FREQ_VIB_LFO, -2_400),
    (DELAY_MOD_ENV, -5_000),
    (ATTACK_MOD_ENV, -3_000),
    (HOLD_MOD_ENV, -4_000),
    (DECAY_MOD_ENV, -2_400),
    (SUSTAIN_MOD_ENV, 400),
    (RELEASE_MOD_ENV, -1_200),
    (DELAY_VOL_ENV, -6_000),
    (ATTACK_VOL_ENV, -5_000),
    (HOLD_VOL_ENV, -4_000),
    (DECAY_VOL_ENV, -1_200),
    (SUSTAIN_VOL_ENV, 200),
    (RELEASE_VOL_ENV, -1_200),
    (MOD_LFO_TO_PITCH, 50),
    (VIB_LFO_TO_PITCH, 70),
    (MOD_ENV_TO_PITCH, 120),
    (MOD_LFO_TO_VOLUME, 20),
    (INITIAL_FILTER_FC, 7_500),
    (INITIAL_FILTER_Q, 60),
    (MOD_LFO_TO_FILTER_FC, 300),
    (MOD_ENV_TO_FILTER_FC, 600),
];

/// Number, data, generator, and the amount of this generator in a zone that has the same effect.
const EQUIVALENTS: [(u8, i16, u16, i16); 34] = [
    // One unit is 4 ms.
    (0, 125, DELAY_MOD_LFO, -1_200),
    (2, 125, DELAY_VIB_LFO, -1_200),
    (4, 125, DELAY_MOD_ENV, -1_200),
    (10, 125, DELAY_VOL_ENV, -1_200),
    (7, 250, DECAY_MOD_ENV, 0),
    (9, 250, RELEASE_MOD_ENV, 0),
    (13, 250, DECAY_VOL_ENV, 0),
    (15, 250, RELEASE_VOL_ENV, 0),
    // The shortest time that a generator can have.
    (0, 0, DELAY_MOD_LFO, -12_000),
    (15, -1, RELEASE_VOL_ENV, -12_000),
    // One unit is 1 ms.
    (5, 500, ATTACK_MOD_ENV, -1_200),
    (6, 500, HOLD_MOD_ENV, -1_200),
    (11, 500, ATTACK_VOL_ENV, -1_200),
    (12, 500, HOLD_VOL_ENV, -1_200),
    // One unit is 0.75 % or 0.75 dB.
    (8, 40, SUSTAIN_MOD_ENV, 300),
    (14, 40, SUSTAIN_VOL_ENV, 300),
    // One unit is 9.375 cents, with at most 127 units.
    (17, 16, MOD_LFO_TO_PITCH, 150),
    (17, -32, MOD_LFO_TO_PITCH, -300),
    (18, 32, VIB_LFO_TO_PITCH, 300),
    (18, -64, VIB_LFO_TO_PITCH, -600),
    (19, 32, MOD_ENV_TO_PITCH, 300),
    (19, -16, MOD_ENV_TO_PITCH, -150),
    // One unit is 0.1875 dB.
    (20, 16, MOD_LFO_TO_VOLUME, 30),
    (20, 64, MOD_LFO_TO_VOLUME, 120),
    // One unit is 0.15625 dB.
    (22, 32, INITIAL_FILTER_Q, 50),
    (22, 96, INITIAL_FILTER_Q, 150),
    // One unit is 56.25 cents. The LFO's data are limited to -64 to 63.
    (23, 16, MOD_LFO_TO_FILTER_FC, 900),
    (23, -500, MOD_LFO_TO_FILTER_FC, -3_600),
    (24, 32, MOD_ENV_TO_FILTER_FC, 1_800),
    (24, -96, MOD_ENV_TO_FILTER_FC, -5_400),
    // 256 units are 200 tenths of a per cent.
    (25, 64, CHORUS_EFFECTS_SEND, 50),
    (25, 192, CHORUS_EFFECTS_SEND, 150),
    (26, 64, REVERB_EFFECTS_SEND, 50),
    (26, 192, REVERB_EFFECTS_SEND, 150),
];

#[test]
fn a_number_replaces_the_generator_of_the_zone() {
    let sends = [(REVERB_EFFECTS_SEND, 30), (CHORUS_EFFECTS_SEND, 20)];
    let base = [&ALL_MODULATED[..], &sends].concat();
    let sound = |more_generators: &[(u16, i16)], events: &[Event]| {
        let rig = Rig::of(&tables(&sine(), &[&base[..], more_generators].concat(), &[]));
        outputs(play(&rig, events, 2.0))
    };
    let untouched = sound(&[], &[]);
    for (number, data, generator, amount) in EQUIVALENTS {
        let by_data = sound(&[], &awe32(number, data));
        let by_zone = sound(&[(generator, amount)], &[]);
        let label = format!("number {number} with data {data}");
        assert_near(&label, relative_difference(&by_data, &by_zone), 0.0, 1e-5);
        assert!(by_data != untouched, "{label} is not audible");
    }
}

#[test]
fn a_number_replaces_the_generator_of_the_preset() {
    let mut tables = crate::maker::Tables::new();
    let sample = tables.add_sample(&level(), LOOP);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(&[(REVERB_EFFECTS_SEND, 30)]), &[]), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[(REVERB_EFFECTS_SEND, 70)], &[]), Some(instrument));
    let rig = Rig::of(&tables);
    let sent = |data: Option<i16>| {
        let mut events = vec![control(91, 0)];
        events.extend(data.iter().flat_map(|&data| awe32(REVERB, data)));
        rms(part(&play(&rig, &events, 0.5).reverb, 0.1, 0.5))
    };
    // The two zones add up to 100 tenths of a per cent, which equal 128 of 256 units.
    assert_near("128 units", db(sent(Some(128)) / sent(None)), 0.0, 0.001);
    assert_near("64 units", db(sent(Some(64)) / sent(None)), -6.02, 0.01);
    assert_near("255 units, the maximum", db(sent(Some(255)) / sent(None)), db(255.0 / 128.0), 0.01);
    assert_near("1000 units, beyond the maximum", db(sent(Some(1_000)) / sent(Some(255))), 0.0, 1e-9);
    assert_near("0 units", sent(Some(0)), 0.0, 0.0);
}

#[test]
fn controllers_add_to_a_send() {
    // Section 8.4.9: controller 93 at 64 adds 100 tenths of a per cent, as many as 128 units.
    let sent = |events: &[Event]| rms(part(&play(&Rig::level(&[]), events, 0.5).chorus, 0.1, 0.5));
    let summed_sends = sent(&[&awe32(CHORUS, 128)[..], &[control(93, 64)]].concat());
    assert_near("controller and number together", db(summed_sends / sent(&[control(93, 64)])), 6.02, 0.01);
}

/// Low byte of the data and cutoff in hertz. S. Christian Collins measured these on an Audigy 2
/// ("Filter NRPN Test").
const CUTOFFS_HZ: [(u8, f64); 11] = [
    (0, 100.0),
    (13, 157.0),
    (25, 237.0),
    (38, 371.0),
    (51, 581.0),
    (64, 910.0),
    (76, 1_377.0),
    (89, 2_156.0),
    (102, 3_376.0),
    (114, 5_108.0),
    (127, 8_000.0),
];

/// Returns a rig that plays the sine at another frequency, with more generators in its zone.
fn tuned(hz: f64, more_generators: &[(u16, i16)]) -> Rig {
    let cents = 1_200.0 * libm::log2(hz / SINE_HZ);
    let semitones = libm::floor(cents / 100.0);
    let tuning =
        [(COARSE_TUNE, semitones as i16), (FINE_TUNE, libm::round(cents - 100.0 * semitones) as i16)];
    Rig::sine(&[&tuning, more_generators].concat())
}

#[test]
fn the_low_data_byte_sets_the_cutoff_from_100_hz_to_8_khz() {
    let select = [control(99, 127), control(98, CUTOFF)];
    for (value, hz) in CUTOFFS_HZ {
        let level = |rig: &Rig, events: &[Event]| rms(part(&play(rig, events, 0.6).left, 0.2, 0.6));
        let open_level = level(&tuned(hz, &[]), &[]);
        let check = |label: &str, zone_cents: i16, data: &[Event]| {
            let rig = tuned(hz, &[(INITIAL_FILTER_FC, zone_cents)]);
            let events = [&select[..], data].concat();
            let label = format!("{value}, {label}");
            assert_near(&label, db(level(&rig, &events) / open_level), -3.01, 0.15);
        };
        check("an open filter in the zone", 13_500, &[control(6, 64), control(38, value)]);
        check("a closed filter in the zone", 1_500, &[control(6, 64), control(38, value)]);
        check("only the low byte", 13_500, &[control(38, value)]);
        check("another high byte", 9_000, &[control(6, 24), control(38, value)]);
    }
}

#[test]
fn the_resonance_reaches_19_84_db() {
    // The resonance lowers the bass by half its decibels (section 8.1.2, number 9). The sine at
    // 480 Hz is far below the cutoff at 8 kHz.
    let bass_db = |value: u8| {
        let events = [awe32(CUTOFF, 127), awe32(RESONANCE, i16::from(value))].concat();
        let level = |events: &[Event]| rms(part(&play(&Rig::sine(&[]), events, 0.6).left, 0.2, 0.6));
        db(level(&events) / level(&[]))
    };
    for (value, resonance_db) in [(0, 0.0), (13, 2.03), (64, 10.0), (89, 13.91), (127, 19.84)] {
        assert_near(&format!("{value}"), bass_db(value), -resonance_db / 2.0, 0.06);
    }
    // The number of the cutoff does not change the resonance of the zone.
    let rig = Rig::sine(&[(INITIAL_FILTER_Q, 100)]);
    let level = |rig: &Rig, events: &[Event]| rms(part(&play(rig, events, 0.6).left, 0.2, 0.6));
    let change = level(&rig, &awe32(CUTOFF, 127)) / level(&Rig::sine(&[]), &awe32(CUTOFF, 127));
    assert_near("the bass with the zone's resonance", db(change), -5.0, 0.06);
}

#[test]
fn lfo_rates_are_0_084_hz_a_unit() {
    for value in [25_i16, 100] {
        let expected_hz = 0.084 * f64::from(value);
        let rig = Rig::level(&[(INITIAL_ATTENUATION, 500), (MOD_LFO_TO_VOLUME, 60)]);
        let mut events = at(0.0, &awe32(RATE_LFO_1, value));
        events.push((0.0, on(60, 127)));
        let sound = rig.play(&events, 4.0).left;
        let middle = sound[0] * 0.999;
        let rising_crossings: Vec<usize> =
            (1..sound.len()).filter(|&n| sound[n - 1] < middle && sound[n] >= middle).collect();
        let measured_hz = (rising_crossings.len() - 1) as f64 * RATE_HZ
            / (rising_crossings[rising_crossings.len() - 1] - rising_crossings[0]) as f64;
        assert_near("the rate of LFO 1", measured_hz, expected_hz, 0.005 * expected_hz);
    }
    // A vibrato peaks after a quarter of a period; data 10 set a rate of 0.84 Hz.
    let mut events = at(0.0, &awe32(RATE_LFO_2, 10));
    events.push((0.0, on(60, 127)));
    let sound = Rig::sine(&[(VIB_LFO_TO_PITCH, 600)]).play(&events, 1.2);
    assert_near("the peak of LFO 2", cents_at(&sound.left, 0.25 / 0.84, SINE_HZ), 600.0, 25.0);
    assert_near("the trough of LFO 2", cents_at(&sound.left, 0.75 / 0.84, SINE_HZ), -600.0, 25.0);
    // An LFO with a rate of 0 Hz does not change the pitch.
    let stopped_lfo = play(&Rig::sine(&[(VIB_LFO_TO_PITCH, 600)]), &awe32(RATE_LFO_2, 0), 1.0);
    assert_near("LFO 2 at 0 Hz", cents_at(&stopped_lfo.left, 0.8, SINE_HZ), 0.0, 3.0);
}

#[test]
fn the_number_of_the_pitch_has_a_unit_of_one_cent() {
    for data in [700_i16, -1_200, 33] {
        let sound = play(&Rig::sine(&[(FINE_TUNE, 20)]), &awe32(PITCH, data), 0.5);
        assert_near(&format!("{data}"), cents_at(&sound.left, 0.3, SINE_HZ), f64::from(data) + 20.0, 1.0);
    }
}

#[test]
fn realtime_numbers_change_sounding_notes_and_all_numbers_change_the_next_note() {
    /// The numbers that the AWE32 Developers' Information Pack calls realtime.
    const REALTIME: [u8; 9] = [1, 3, 16, 17, 18, 20, 21, 22, 23];
    let rig = Rig::sine(&ALL_MODULATED);
    let untouched = outputs(play(&rig, &[], 0.9));
    for number in 0..=26 {
        let mut events = vec![(0.0, on(60, 127))];
        events.extend(at(0.5, &awe32(number, 60)));
        let changed_outputs = outputs(rig.play(&events, 0.9));
        assert_eq!(changed_outputs != untouched, REALTIME.contains(&number), "number {number}");
        let two_notes = |events_between: &[(f64, Event)]| {
            let mut events = vec![(0.0, on(60, 127)), (0.3, off(60))];
            events.extend(events_between);
            events.extend([(0.4, on(60, 127)), (1.0, off(60))]);
            outputs(rig.play(&events, 1.6))
        };
        let changed_outputs = two_notes(&at(0.35, &awe32(number, 60)));
        assert!(changed_outputs != two_notes(&[]), "number {number} does not change the next note");
    }
}

#[test]
fn selecting_a_number_clears_the_low_byte_of_the_data() {
    let rig = Rig::sine(&[(DELAY_MOD_LFO, -12_000), (FREQ_MOD_LFO, 0), (MOD_LFO_TO_PITCH, 200)]);
    let sound = |delay: &[Event]| {
        // The data of the cutoff leave 127 in the low byte.
        let events = [&awe32(CUTOFF, 127)[..], delay].concat();
        outputs(play(&rig, &events, 1.2))
    };
    // Data of 128 have a high byte of 65 and a low byte of 0.
    let delayed_sound = sound(&awe32(DELAY_LFO_1, 128));
    let by_msb_alone = [control(99, 127), control(98, DELAY_LFO_1), control(6, 65)];
    assert!(sound(&by_msb_alone) == delayed_sound, "the NRPN's MSB and LSB do not clear the low byte");
    assert!(sound(&by_msb_alone[1..]) == delayed_sound, "the NRPN's LSB does not clear the low byte");
    let reversed = [control(98, DELAY_LFO_1), control(99, 127), control(6, 65)];
    assert!(sound(&reversed) == delayed_sound, "the LSB before the MSB does not clear the low byte");
    assert!(sound(&awe32(DELAY_LFO_1, 255)) != delayed_sound);
}

#[test]
fn unknown_numbers_are_ignored() {
    let rig = Rig::sine(&ALL_MODULATED);
    let untouched = outputs(play(&rig, &[], 1.2));
    let are_ignored = |events: &[Event]| outputs(play(&rig, events, 1.2)) == untouched;
    assert!(are_ignored(&awe32(27, 60)) && are_ignored(&awe32(127, 60)), "LSB 27 or 127 has an effect");
    let [msb, lsb, high, low] = awe32(LFO_1_TO_PITCH, 100);
    assert!(are_ignored(&[control(99, 126), lsb, high, low]), "MSB 126 has an effect");
    let null_rpn = [msb, lsb, control(101, 127), control(100, 127), high, low];
    assert!(are_ignored(&null_rpn), "data after the null RPN have an effect");
    assert!(!are_ignored(&[lsb, msb, high, low]), "the LSB before the MSB has no effect");
    assert!(!are_ignored(&awe32(DELAY_LFO_1, 60)), "a known number has no effect");
}
