//! The two envelopes (section 9.1.7): six stages each. Times are 2^(timecents / 1200) seconds.

use dsp_core::session::Event;

use crate::generator::*;
use crate::maker::Tables;
use crate::measure::{assert_near, cents_at, db, frame};
use crate::rig::{AT_ONCE, RATE_HZ, Rig, SINE_HZ, Sound, bend, control, level, off, on, steady, tables};

/// Level of the left output at a time relative to full, in decibels.
fn db_at(sound: &Sound, full: f64, secs: f64) -> f64 {
    db(sound.left[frame(secs)] / full)
}

/// Output of a voice without attenuation.
fn full() -> f64 {
    Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)]
}

#[test]
fn the_volume_starts_after_its_delay() {
    // -1200 timecents: half a second.
    let sound = Rig::level(&[(DELAY_VOL_ENV, -1_200)]).hold(60, 127, 0.6);
    let first = sound.left.iter().position(|value| *value != 0.0).expect("a sound");
    assert_near("the delay in seconds", first as f64 / 48_000.0, 0.5, 0.001);
}

#[test]
fn the_volume_rises_linearly() {
    // 1200 timecents: two seconds.
    let sound = Rig::level(&[(ATTACK_VOL_ENV, 1_200)]).hold(60, 127, 2.2);
    for fraction in [0.1, 0.25, 0.5, 0.9] {
        assert_near("the fraction of full", sound.left[frame(2.0 * fraction)] / full(), fraction, 0.005);
    }
    assert_near("the end of the attack", sound.left[frame(2.1)] / full(), 1.0, 1e-4);
}

#[test]
fn the_volume_holds_and_then_decays_by_96_db() {
    // Hold 0.25 s; decay 2 s to silence (8.1.2, number 36: a fall of 100 dB, taken as the 96 dB of
    // section 9.1.7).
    let rig = Rig::level(&[(HOLD_VOL_ENV, -2_400), (DECAY_VOL_ENV, 1_200), (SUSTAIN_VOL_ENV, 1_000)]);
    let sound = rig.hold(60, 127, 2.0);
    assert_near("held", db_at(&sound, full(), 0.24), 0.0, 0.01);
    for secs in [0.25, 0.5, 1.0, 1.5] {
        assert_near(&format!("{secs} s of decay"), db_at(&sound, full(), 0.25 + secs), -48.0 * secs, 0.3);
    }
}

#[test]
fn the_volume_stays_at_its_sustain_level() {
    for sustain_cb in [0, 200, 600] {
        let rig = Rig::level(&[(DECAY_VOL_ENV, -2_400), (SUSTAIN_VOL_ENV, sustain_cb)]);
        let sound = rig.hold(60, 127, 2.0);
        for secs in [0.5, 1.9] {
            assert_near("sustain", db_at(&sound, full(), secs), -f64::from(sustain_cb) / 10.0, 0.02);
        }
    }
}

#[test]
fn the_volume_falls_by_96_db_in_its_release() {
    let rig = Rig::level(&[(RELEASE_VOL_ENV, 0)]);
    let sound = rig.play(&[(0.0, on(60, 127)), (0.5, off(60))], 1.6);
    for secs in [0.1, 0.25, 0.5, 0.9] {
        assert_near(&format!("{secs} s of release"), db_at(&sound, full(), 0.5 + secs), -96.0 * secs, 0.3);
    }
    assert_eq!(sound.left[frame(1.55)], 0.0);
}

#[test]
fn a_release_starts_at_the_level_of_the_attack() {
    let rig = Rig::level(&[(ATTACK_VOL_ENV, 0), (RELEASE_VOL_ENV, 0)]);
    let sound = rig.play(&[(0.0, on(60, 127)), (0.5, off(60))], 1.0);
    // Half the amplitude, and from there 96 dB a second.
    assert_near("at once", db_at(&sound, full(), 0.5), -6.02, 0.1);
    assert_near("later", db_at(&sound, full(), 0.75), -6.02 - 24.0, 0.3);
}

#[test]
fn low_keys_hold_and_decay_longer() {
    // 8.1.2, numbers 39 and 40: timecents for each key below 60.
    let rig = Rig::level(&[
        (HOLD_VOL_ENV, -2_400),
        (KEYNUM_TO_VOL_ENV_HOLD, 100),
        (DECAY_VOL_ENV, 0),
        (KEYNUM_TO_VOL_ENV_DECAY, 50),
        (SUSTAIN_VOL_ENV, 1_000),
    ]);
    for (key, hold_secs, decay_secs) in
        [(60, 0.25, 1.0), (48, 0.5, core::f64::consts::SQRT_2), (72, 0.125, core::f64::consts::FRAC_1_SQRT_2)]
    {
        let sound = rig.hold(key, 127, 1.0);
        assert_near(&format!("key {key} held"), db_at(&sound, full(), hold_secs - 0.01), 0.0, 0.01);
        let measured = db_at(&sound, full(), hold_secs + 0.3);
        assert_near(&format!("key {key} decaying"), measured, -96.0 * 0.3 / decay_secs, 0.4);
    }
}

#[test]
fn a_fixed_key_scales_the_envelope() {
    let rig = Rig::level(&[
        (HOLD_VOL_ENV, -2_400),
        (KEYNUM_TO_VOL_ENV_HOLD, 100),
        (KEYNUM, 48),
        (DECAY_VOL_ENV, 0),
        (SUSTAIN_VOL_ENV, 1_000),
    ]);
    let sound = rig.hold(96, 127, 0.8);
    assert_near("held", db_at(&sound, full(), 0.49), 0.0, 0.01);
    assert_near("decaying", db_at(&sound, full(), 0.6), -9.6, 0.3);
}

#[test]
fn a_voice_ends_96_db_below_full_scale() {
    // A voice of full scale, one of -30 dB, and one that decays without a release.
    let quiet: Vec<i16> = level().iter().map(|value| value / 32).collect();
    let falls: [(&[(u16, i16)], f64); 2] =
        [(&[(RELEASE_VOL_ENV, 0)], 0.1), (&[(DECAY_VOL_ENV, 0), (SUSTAIN_VOL_ENV, 1_440)], 1.15)];
    for frames in [level(), quiet] {
        for (fall, release_secs) in falls {
            let rig = Rig::of(&tables(&frames, fall, &[]));
            let sound = rig.play(&[(0.0, on(60, 127)), (release_secs, off(60))], 1.2);
            let last = sound.left.iter().rposition(|value| *value != 0.0).expect("a sound");
            // Both sides together, as the pan divides them. The 4.15 dB of volume 100 do not count,
            // as its controller could remove them.
            let level_db = db(libm::hypot(sound.left[last], sound.right[last])) + 4.15;
            assert_near("the level of the last frame", level_db, -96.0, 0.3);
            assert_eq!(sound.active_voices, 0);
        }
    }
}

/// A sine whose pitch the modulation envelope raises by an octave.
fn swept(generators: &[(u16, i16)]) -> Rig {
    let decay = [(MOD_ENV_TO_PITCH, 1_200), (ATTACK_MOD_ENV, AT_ONCE), (HOLD_MOD_ENV, AT_ONCE)];
    Rig::sine(&[&decay, generators].concat())
}

/// Rise of the pitch at a time, in octaves.
fn octaves_at(sound: &Sound, secs: f64) -> f64 {
    cents_at(&sound.left, secs, SINE_HZ) / 1_200.0
}

const TOLERANCE_OCTAVES: f64 = 0.006;

#[test]
fn the_modulation_starts_after_its_delay() {
    let sound = swept(&[(DELAY_MOD_ENV, -1_200)]).hold(60, 127, 0.8);
    assert_near("before", octaves_at(&sound, 0.48), 0.0, TOLERANCE_OCTAVES);
    assert_near("after", octaves_at(&sound, 0.52), 1.0, TOLERANCE_OCTAVES);
}

#[test]
fn the_modulation_rises_along_the_convex_curve() {
    // 9.1.7: the attack is convex. Section 9.5.3: 1 + 40 / 96 log10 of the fraction.
    let sound = swept(&[(ATTACK_MOD_ENV, 1_200)]).hold(60, 127, 2.2);
    for fraction in [0.1, 0.25, 0.5, 0.75] {
        let expected = 1.0 + 40.0 / 96.0 * libm::log10(fraction);
        assert_near(&format!("{fraction} of the attack"), octaves_at(&sound, 2.0 * fraction), expected, 0.01);
    }
    assert_near("its end", octaves_at(&sound, 2.1), 1.0, TOLERANCE_OCTAVES);
}

#[test]
fn the_modulation_holds_and_then_falls_linearly() {
    let rig = swept(&[(HOLD_MOD_ENV, -2_400), (DECAY_MOD_ENV, 1_200), (SUSTAIN_MOD_ENV, 1_000)]);
    let sound = rig.hold(60, 127, 2.4);
    assert_near("held", octaves_at(&sound, 0.22), 1.0, TOLERANCE_OCTAVES);
    for fraction in [0.25, 0.5, 0.75] {
        assert_near("decaying", octaves_at(&sound, 0.25 + 2.0 * fraction), 1.0 - fraction, TOLERANCE_OCTAVES);
    }
    assert_near("its end", octaves_at(&sound, 2.35), 0.0, TOLERANCE_OCTAVES);
}

#[test]
fn the_modulation_stays_at_its_sustain_level() {
    // 8.1.2, number 29: tenths of a per cent below full.
    let sound = swept(&[(DECAY_MOD_ENV, -1_200), (SUSTAIN_MOD_ENV, 300)]).hold(60, 127, 1.2);
    for secs in [0.4, 1.1] {
        assert_near("sustain", octaves_at(&sound, secs), 0.7, TOLERANCE_OCTAVES);
    }
}

#[test]
fn the_modulation_falls_linearly_in_its_release() {
    // The volume stays constant while the pitch falls.
    let rig = swept(&[(RELEASE_MOD_ENV, 0), (RELEASE_VOL_ENV, 3_600)]);
    let sound = rig.play(&[(0.0, on(60, 127)), (0.5, off(60))], 1.8);
    for fraction in [0.25, 0.5, 0.75] {
        assert_near("releasing", octaves_at(&sound, 0.5 + fraction), 1.0 - fraction, TOLERANCE_OCTAVES);
    }
    assert_near("its end", octaves_at(&sound, 1.6), 0.0, TOLERANCE_OCTAVES);
}

#[test]
fn low_keys_hold_and_decay_the_modulation_longer() {
    // 8.1.2, numbers 31 and 32. All keys have one pitch, so that only the sweep changes it.
    let rig = swept(&[
        (SCALE_TUNING, 0),
        (HOLD_MOD_ENV, -2_400),
        (KEYNUM_TO_MOD_ENV_HOLD, 100),
        (DECAY_MOD_ENV, 0),
        (KEYNUM_TO_MOD_ENV_DECAY, 100),
        (SUSTAIN_MOD_ENV, 1_000),
    ]);
    for (key, hold_secs, decay_secs) in [(60, 0.25, 1.0), (48, 0.5, 2.0), (72, 0.125, 0.5)] {
        let sound = rig.hold(key, 127, 1.2);
        assert_near(&format!("key {key} held"), octaves_at(&sound, hold_secs - 0.02), 1.0, TOLERANCE_OCTAVES);
        let measured = octaves_at(&sound, hold_secs + 0.2);
        assert_near(&format!("key {key} decaying"), measured, 1.0 - 0.2 / decay_secs, TOLERANCE_OCTAVES);
    }
}

#[test]
fn a_note_raised_by_a_controller_is_played_to_its_end() {
    // An attenuation of 57.6 dB that controller 1 removes, and a decay of 96 dB in four seconds.
    const MODULATION_LIFTS: [u16; 5] = [0x0081, INITIAL_ATTENUATION, (-576_i16).cast_unsigned(), 0, 0];
    let generators = [(INITIAL_ATTENUATION, 1_440), (DECAY_VOL_ENV, 2_400), (SUSTAIN_VOL_ENV, 1_440)];
    let rig = Rig::of(&tables(&level(), &generators, &[MODULATION_LIFTS]));
    let sound = rig.play(&[(0.0, control(1, 127)), (0.0, on(60, 127))], 5.0);
    let last = sound.left.iter().rev().find(|value| **value != 0.0).expect("a sound").abs();
    assert!(db(last) < -95.0, "cut at {} dBFS", db(last));
}

#[test]
fn a_voice_with_a_silent_loop_plays_its_loud_start() {
    // Two seconds of full scale before a nearly silent loop.
    let mut frames = vec![i16::MAX; 96_000];
    frames.extend([8; 2_000]);
    let mut tables = Tables::new();
    let sample = tables.add_sample(&frames, 96_100..97_900);
    let instrument = tables.add_instrument();
    // Decays by 96 dB in four seconds.
    let zone = steady(&[(DECAY_VOL_ENV, 2_400), (SUSTAIN_VOL_ENV, 1_440)]);
    tables.add_instrument_zone((&zone, &[]), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    let sound = Rig::of(&tables).hold(60, 127, 2.5);
    for secs in [1.0, 1.5, 1.95] {
        assert_near(&format!("after {secs} s"), db_at(&sound, full(), secs), -24.0 * secs, 0.2);
    }
    assert_eq!(sound.active_voices, 0);
}

#[test]
fn an_unchanged_controller_value_does_not_change_a_note() {
    let rig = Rig::level(&[(DECAY_VOL_ENV, 0), (SUSTAIN_VOL_ENV, 300)]);
    let alone = rig.play(&[(0.1, on(60, 127))], 0.5);
    // The values that the controllers already have.
    for with in [control(11, 127), bend(0)] {
        for events in [[(0.1, with), (0.1, on(60, 127))], [(0.1, on(60, 127)), (0.1, with)]] {
            assert!(rig.play(&events, 0.5).left == alone.left, "{events:?}");
        }
    }
}

#[test]
fn a_note_ends_without_a_step_whatever_events_coincide() {
    // The shortest release, a millisecond.
    let rig = Rig::level(&[(RELEASE_VOL_ENV, -12_000)]);
    let step = |events: &[(f64, Event)]| {
        let sound = rig.play(events, 0.6).left;
        sound[100..].windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max) / sound[100]
    };
    let alone = step(&[(0.0, on(60, 127)), (0.503, off(60))]);
    for with in [bend(0), control(64, 0), control(11, 127)] {
        let both = step(&[(0.0, on(60, 127)), (0.503, off(60)), (0.503, with)]);
        assert!(both <= alone + 0.001, "a step of {both:.3} beside {with:?}, of {alone:.3} without");
    }
    assert!(alone < 0.1, "a step of {alone:.3}");
}

#[test]
fn the_filter_opens_when_the_delay_of_its_envelope_is_over() {
    // A sine of 3840 Hz far above the cutoff, until the envelope raises the cutoff by ten octaves.
    for (delay, delay_secs) in [(-6_773, 0.02), (-7_658, 0.012), (-8_858, 0.006)] {
        let rig = Rig::sine(&[
            (INITIAL_FILTER_FC, 1_500),
            (MOD_ENV_TO_FILTER_FC, 12_000),
            (DELAY_MOD_ENV, delay),
            (ATTACK_MOD_ENV, AT_ONCE),
            (HOLD_MOD_ENV, 0),
        ]);
        let sound = rig.hold(96, 127, 0.2).left;
        let full = sound[9_000..].iter().fold(0.0_f64, |peak, value| peak.max(value.abs()));
        let first = sound.iter().position(|value| value.abs() > 0.1 * full).expect("opens");
        let secs = first as f64 / RATE_HZ;
        assert!((0.95..1.05).contains(&(secs / delay_secs)), "opens after {secs:.5} s, not {delay_secs}");
    }
}
