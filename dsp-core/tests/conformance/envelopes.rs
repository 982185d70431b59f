//! Tests of the volume envelope and the modulation envelope, which have six stages each (section
//! 9.1.7). A time is 2^(timecents / 1200) seconds.

use dsp_core::session::Event;

use crate::generator::*;
use crate::maker::Tables;
use crate::measure::{assert_near, cents_at, db, frame};
use crate::rig::{AT_ONCE, RATE_HZ, Rig, SINE_HZ, Sound, bend, control, level, off, on, steady, tables};

/// Returns the level of the left output at a time in decibels, relative to `full_level`.
fn db_at(sound: &Sound, full_level: f64, secs: f64) -> f64 {
    db(sound.left[frame(secs)] / full_level)
}

/// Returns the left output of a voice without attenuation.
fn full_level() -> f64 {
    Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)]
}

#[test]
fn the_volume_envelope_starts_after_its_delay() {
    // -1200 timecents are half a second.
    let sound = Rig::level(&[(DELAY_VOL_ENV, -1_200)]).hold(60, 127, 0.6);
    let first_frame = sound.left.iter().position(|value| *value != 0.0).expect("a sound");
    assert_near("the delay in seconds", first_frame as f64 / 48_000.0, 0.5, 0.001);
}

#[test]
fn the_volume_envelope_rises_linearly() {
    // 1200 timecents are two seconds.
    let sound = Rig::level(&[(ATTACK_VOL_ENV, 1_200)]).hold(60, 127, 2.2);
    for fraction in [0.1, 0.25, 0.5, 0.9] {
        assert_near(
            "the fraction of the full level",
            sound.left[frame(2.0 * fraction)] / full_level(),
            fraction,
            0.005,
        );
    }
    assert_near("the level after the attack", sound.left[frame(2.1)] / full_level(), 1.0, 1e-4);
}

#[test]
fn the_volume_envelope_holds_and_then_decays_by_96_db() {
    // The hold takes 0.25 s and the decay to silence 2 s. Section 8.1.2, number 36, states a decay
    // of 100 dB, but section 9.1.7 states 96 dB, which the engine follows.
    let rig = Rig::level(&[(HOLD_VOL_ENV, -2_400), (DECAY_VOL_ENV, 1_200), (SUSTAIN_VOL_ENV, 1_000)]);
    let sound = rig.hold(60, 127, 2.0);
    assert_near("during the hold", db_at(&sound, full_level(), 0.24), 0.0, 0.01);
    for secs in [0.25, 0.5, 1.0, 1.5] {
        assert_near(
            &format!("{secs} s of decay"),
            db_at(&sound, full_level(), 0.25 + secs),
            -48.0 * secs,
            0.3,
        );
    }
}

#[test]
fn the_volume_envelope_stays_at_its_sustain_level() {
    for sustain_cb in [0, 200, 600] {
        let rig = Rig::level(&[(DECAY_VOL_ENV, -2_400), (SUSTAIN_VOL_ENV, sustain_cb)]);
        let sound = rig.hold(60, 127, 2.0);
        for secs in [0.5, 1.9] {
            assert_near("sustain", db_at(&sound, full_level(), secs), -f64::from(sustain_cb) / 10.0, 0.02);
        }
    }
}

#[test]
fn the_volume_envelope_falls_by_96_db_in_its_release() {
    let rig = Rig::level(&[(RELEASE_VOL_ENV, 0)]);
    let sound = rig.play(&[(0.0, on(60, 127)), (0.5, off(60))], 1.6);
    for secs in [0.1, 0.25, 0.5, 0.9] {
        assert_near(
            &format!("{secs} s of release"),
            db_at(&sound, full_level(), 0.5 + secs),
            -96.0 * secs,
            0.3,
        );
    }
    assert_eq!(sound.left[frame(1.55)], 0.0);
}

#[test]
fn a_release_during_the_attack_starts_at_the_current_level() {
    let rig = Rig::level(&[(ATTACK_VOL_ENV, 0), (RELEASE_VOL_ENV, 0)]);
    let sound = rig.play(&[(0.0, on(60, 127)), (0.5, off(60))], 1.0);
    // The release starts at half the amplitude and falls by 96 dB a second.
    assert_near("at the release", db_at(&sound, full_level(), 0.5), -6.02, 0.1);
    assert_near("a quarter of a second later", db_at(&sound, full_level(), 0.75), -6.02 - 24.0, 0.3);
}

#[test]
fn the_volume_envelope_of_low_keys_holds_and_decays_longer() {
    // Section 8.1.2, numbers 39 and 40: the times grow by this many timecents for each key below
    // 60.
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
        assert_near(
            &format!("key {key} during the hold"),
            db_at(&sound, full_level(), hold_secs - 0.01),
            0.0,
            0.01,
        );
        let measured = db_at(&sound, full_level(), hold_secs + 0.3);
        assert_near(&format!("key {key} during the decay"), measured, -96.0 * 0.3 / decay_secs, 0.4);
    }
}

#[test]
fn the_generator_keynum_scales_the_envelope_instead_of_the_key() {
    let rig = Rig::level(&[
        (HOLD_VOL_ENV, -2_400),
        (KEYNUM_TO_VOL_ENV_HOLD, 100),
        (KEYNUM, 48),
        (DECAY_VOL_ENV, 0),
        (SUSTAIN_VOL_ENV, 1_000),
    ]);
    let sound = rig.hold(96, 127, 0.8);
    assert_near("during the hold", db_at(&sound, full_level(), 0.49), 0.0, 0.01);
    assert_near("during the decay", db_at(&sound, full_level(), 0.6), -9.6, 0.3);
}

#[test]
fn a_voice_ends_96_db_below_full_scale() {
    // Each voice plays a sample of full scale or of -30 dB. It falls in its release, or in its
    // decay while the key is down.
    let quiet_samples: Vec<i16> = level().iter().map(|value| value / 32).collect();
    let envelopes: [(&[(u16, i16)], f64); 2] =
        [(&[(RELEASE_VOL_ENV, 0)], 0.1), (&[(DECAY_VOL_ENV, 0), (SUSTAIN_VOL_ENV, 1_440)], 1.15)];
    for frames in [level(), quiet_samples] {
        for (envelope, release_secs) in envelopes {
            let rig = Rig::of(&tables(&frames, envelope, &[]));
            let sound = rig.play(&[(0.0, on(60, 127)), (release_secs, off(60))], 1.2);
            let last_frame = sound.left.iter().rposition(|value| *value != 0.0).expect("a sound");
            // The level is that of both channels together, because the pan divides the voice among
            // them. The default volume of 100 attenuates by 4.15 dB. The engine ignores this
            // attenuation, because a controller could remove it.
            let level_db = db(libm::hypot(sound.left[last_frame], sound.right[last_frame])) + 4.15;
            assert_near("the level of the last frame", level_db, -96.0, 0.3);
            assert_eq!(sound.active_voices, 0);
        }
    }
}

/// Returns a rig that plays a sine whose pitch the modulation envelope raises by up to an octave.
fn swept(generators: &[(u16, i16)]) -> Rig {
    let octave_up = [(MOD_ENV_TO_PITCH, 1_200), (ATTACK_MOD_ENV, AT_ONCE), (HOLD_MOD_ENV, AT_ONCE)];
    Rig::sine(&[&octave_up, generators].concat())
}

/// Returns how far the pitch has risen at a time, in octaves.
fn octaves_at(sound: &Sound, secs: f64) -> f64 {
    cents_at(&sound.left, secs, SINE_HZ) / 1_200.0
}

const TOLERANCE_OCTAVES: f64 = 0.006;

#[test]
fn the_modulation_envelope_starts_after_its_delay() {
    let sound = swept(&[(DELAY_MOD_ENV, -1_200)]).hold(60, 127, 0.8);
    assert_near("before", octaves_at(&sound, 0.48), 0.0, TOLERANCE_OCTAVES);
    assert_near("after", octaves_at(&sound, 0.52), 1.0, TOLERANCE_OCTAVES);
}

#[test]
fn the_modulation_envelope_rises_along_the_convex_curve() {
    // Section 9.1.7: the attack is convex. Section 9.5.3: this curve is 1 + 40 / 96
    // log10(fraction).
    let sound = swept(&[(ATTACK_MOD_ENV, 1_200)]).hold(60, 127, 2.2);
    for fraction in [0.1, 0.25, 0.5, 0.75] {
        let expected = 1.0 + 40.0 / 96.0 * libm::log10(fraction);
        assert_near(&format!("{fraction} of the attack"), octaves_at(&sound, 2.0 * fraction), expected, 0.01);
    }
    assert_near("after the attack", octaves_at(&sound, 2.1), 1.0, TOLERANCE_OCTAVES);
}

#[test]
fn the_modulation_envelope_holds_and_then_falls_linearly() {
    let rig = swept(&[(HOLD_MOD_ENV, -2_400), (DECAY_MOD_ENV, 1_200), (SUSTAIN_MOD_ENV, 1_000)]);
    let sound = rig.hold(60, 127, 2.4);
    assert_near("during the hold", octaves_at(&sound, 0.22), 1.0, TOLERANCE_OCTAVES);
    for fraction in [0.25, 0.5, 0.75] {
        assert_near(
            "during the decay",
            octaves_at(&sound, 0.25 + 2.0 * fraction),
            1.0 - fraction,
            TOLERANCE_OCTAVES,
        );
    }
    assert_near("after the decay", octaves_at(&sound, 2.35), 0.0, TOLERANCE_OCTAVES);
}

#[test]
fn the_modulation_envelope_stays_at_its_sustain_level() {
    // Section 8.1.2, number 29: the sustain level is in tenths of a per cent below the peak.
    let sound = swept(&[(DECAY_MOD_ENV, -1_200), (SUSTAIN_MOD_ENV, 300)]).hold(60, 127, 1.2);
    for secs in [0.4, 1.1] {
        assert_near("sustain", octaves_at(&sound, secs), 0.7, TOLERANCE_OCTAVES);
    }
}

#[test]
fn the_modulation_envelope_falls_linearly_in_its_release() {
    // The long release of the volume keeps the note audible while the pitch falls.
    let rig = swept(&[(RELEASE_MOD_ENV, 0), (RELEASE_VOL_ENV, 3_600)]);
    let sound = rig.play(&[(0.0, on(60, 127)), (0.5, off(60))], 1.8);
    for fraction in [0.25, 0.5, 0.75] {
        assert_near(
            "during the release",
            octaves_at(&sound, 0.5 + fraction),
            1.0 - fraction,
            TOLERANCE_OCTAVES,
        );
    }
    assert_near("after the release", octaves_at(&sound, 1.6), 0.0, TOLERANCE_OCTAVES);
}

#[test]
fn the_modulation_envelope_of_low_keys_holds_and_decays_longer() {
    // Section 8.1.2, numbers 31 and 32. A scale tuning of 0 gives all keys the same pitch, so only
    // the envelope changes the pitch.
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
        assert_near(
            &format!("key {key} during the hold"),
            octaves_at(&sound, hold_secs - 0.02),
            1.0,
            TOLERANCE_OCTAVES,
        );
        let measured = octaves_at(&sound, hold_secs + 0.2);
        assert_near(
            &format!("key {key} during the decay"),
            measured,
            1.0 - 0.2 / decay_secs,
            TOLERANCE_OCTAVES,
        );
    }
}

#[test]
fn a_note_whose_attenuation_a_controller_removes_plays_until_it_has_decayed() {
    // Controller 1 removes an attenuation of 57.6 dB. The note decays by 96 dB in four seconds.
    const CONTROLLER_1_TO_ATTENUATION: [u16; 5] =
        [0x0081, INITIAL_ATTENUATION, (-576_i16).cast_unsigned(), 0, 0];
    let generators = [(INITIAL_ATTENUATION, 1_440), (DECAY_VOL_ENV, 2_400), (SUSTAIN_VOL_ENV, 1_440)];
    let rig = Rig::of(&tables(&level(), &generators, &[CONTROLLER_1_TO_ATTENUATION]));
    let sound = rig.play(&[(0.0, control(1, 127)), (0.0, on(60, 127))], 5.0);
    let last_frame = sound.left.iter().rev().find(|value| **value != 0.0).expect("a sound").abs();
    assert!(db(last_frame) < -95.0, "the note ends at {} dBFS", db(last_frame));
}

#[test]
fn a_voice_with_a_silent_loop_plays_its_loud_start() {
    // The sample has full scale for two seconds, and then a nearly silent loop.
    let mut frames = vec![i16::MAX; 96_000];
    frames.extend([8; 2_000]);
    let mut tables = Tables::new();
    let sample = tables.add_sample(&frames, 96_100..97_900);
    let instrument = tables.add_instrument();
    // The note decays by 96 dB in four seconds.
    let zone = steady(&[(DECAY_VOL_ENV, 2_400), (SUSTAIN_VOL_ENV, 1_440)]);
    tables.add_instrument_zone((&zone, &[]), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    let sound = Rig::of(&tables).hold(60, 127, 2.5);
    for secs in [1.0, 1.5, 1.95] {
        assert_near(&format!("after {secs} s"), db_at(&sound, full_level(), secs), -24.0 * secs, 0.2);
    }
    assert_eq!(sound.active_voices, 0);
}

#[test]
fn an_unchanged_controller_value_does_not_change_a_note() {
    let rig = Rig::level(&[(DECAY_VOL_ENV, 0), (SUSTAIN_VOL_ENV, 300)]);
    let single_note = rig.play(&[(0.1, on(60, 127))], 0.5);
    // The expression and the pitch wheel have these values by default.
    for unchanged_event in [control(11, 127), bend(0)] {
        for events in
            [[(0.1, unchanged_event), (0.1, on(60, 127))], [(0.1, on(60, 127)), (0.1, unchanged_event)]]
        {
            assert!(rig.play(&events, 0.5).left == single_note.left, "{events:?}");
        }
    }
}

#[test]
fn a_note_ends_without_a_click_if_another_event_coincides_with_the_note_off() {
    // The shortest release takes a millisecond.
    let rig = Rig::level(&[(RELEASE_VOL_ENV, -12_000)]);
    let step = |events: &[(f64, Event)]| {
        let sound = rig.play(events, 0.6).left;
        sound[100..].windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max) / sound[100]
    };
    let single_note = step(&[(0.0, on(60, 127)), (0.503, off(60))]);
    for event in [bend(0), control(64, 0), control(11, 127)] {
        let summed_steps = step(&[(0.0, on(60, 127)), (0.503, off(60)), (0.503, event)]);
        assert!(
            summed_steps <= single_note + 0.001,
            "the step is {summed_steps:.3} with {event:?} and {single_note:.3} without"
        );
    }
    assert!(single_note < 0.1, "the step is {single_note:.3}");
}

#[test]
fn the_filter_opens_when_the_delay_of_the_modulation_envelope_ends() {
    // A sine of 3840 Hz is far above the cutoff until the envelope raises the cutoff by ten
    // octaves.
    for (delay, delay_secs) in [(-6_773, 0.02), (-7_658, 0.012), (-8_858, 0.006)] {
        let rig = Rig::sine(&[
            (INITIAL_FILTER_FC, 1_500),
            (MOD_ENV_TO_FILTER_FC, 12_000),
            (DELAY_MOD_ENV, delay),
            (ATTACK_MOD_ENV, AT_ONCE),
            (HOLD_MOD_ENV, 0),
        ]);
        let sound = rig.hold(96, 127, 0.2).left;
        let full_level = sound[9_000..].iter().fold(0.0_f64, |peak, value| peak.max(value.abs()));
        let opening_frame = sound.iter().position(|value| value.abs() > 0.1 * full_level).expect("opens");
        let secs = opening_frame as f64 / RATE_HZ;
        assert!(
            (0.95..1.05).contains(&(secs / delay_secs)),
            "the filter opens after {secs:.5} s, not {delay_secs} s"
        );
    }
}
