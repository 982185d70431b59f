//! Tests of channel mode messages (MIDI 1.0, controllers 120 to 127) while keys are down.

use dsp_core::session::Event;

use crate::generator::*;
use crate::maker::ModulatorRecord;
use crate::measure::{assert_near, cents, db, frame, pitch_hz};
use crate::rig::{Rig, SINE_HZ, Sound, bend, control, level, off, on, sine, tables};

const SUSTAIN: u8 = 64;
const SOSTENUTO: u8 = 66;
const ALL_SOUND_OFF: u8 = 120;
const RESET_ALL: u8 = 121;

/// All notes off, and the mode messages that include it: omni off, omni on, mono and poly.
const NOTES_OFF: [u8; 5] = [123, 124, 125, 126, 127];

/// Returns a rig whose notes fall by 12 dB a second in their release: 96 dB in eight seconds.
fn rig_with_long_release() -> Rig {
    Rig::level(&[(RELEASE_VOL_ENV, 3_600)])
}

/// Returns the level at a time in decibels, relative to one note of full velocity.
fn db_at(sound: &Sound, secs: f64) -> f64 {
    let full_level = Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)];
    db(sound.left[frame(secs)].max(1e-9) / full_level)
}

#[test]
fn all_notes_off_releases_notes_whose_keys_are_down() {
    for number in NOTES_OFF {
        let sound = rig_with_long_release().play(&[(0.0, on(60, 127)), (0.5, control(number, 0))], 2.0);
        let label = |when: &str| format!("controller {number}: {when}");
        assert_near(&label("before"), db_at(&sound, 0.49), 0.0, 0.01);
        assert_near(&label("half a second later"), db_at(&sound, 1.0), -6.0, 0.1);
        assert_near(&label("a second later"), db_at(&sound, 1.5), -12.0, 0.1);
    }
}

#[test]
fn a_pedal_holds_notes_after_all_notes_off() {
    // MIDI 1.0: all notes off acts like a note-off for each key, so a pedal continues to hold
    // notes.
    for number in NOTES_OFF {
        for pedal in [SUSTAIN, SOSTENUTO] {
            let events = [
                (0.0, on(60, 127)),
                (0.1, control(pedal, 127)),
                (0.5, control(number, 0)),
                (1.0, control(pedal, 0)),
            ];
            let sound = rig_with_long_release().play(&events, 2.0);
            let label = |when: &str| format!("controller {number}, pedal {pedal}: {when}");
            assert_near(&label("held by the pedal"), db_at(&sound, 0.99), 0.0, 0.01);
            assert_near(&label("half a second after the pedal is up"), db_at(&sound, 1.5), -6.0, 0.1);
        }
    }
}

#[test]
fn new_notes_sound_after_all_notes_off() {
    for number in [123, 124, 125, 127] {
        let events = [(0.0, on(60, 127)), (0.1, control(number, 0)), (0.9, on(62, 127)), (0.9, on(64, 127))];
        let sound = Rig::level(&[(RELEASE_VOL_ENV, -4_000)]).play(&events, 1.5);
        assert_near(&format!("two notes after controller {number}"), db_at(&sound, 1.4), 6.02, 0.01);
    }
}

#[test]
fn all_sound_off_fades_notes_by_96_db_in_50_ms_even_if_a_pedal_is_down() {
    for pedal in [None, Some(SUSTAIN), Some(SOSTENUTO)] {
        let mut events = vec![(0.0, on(60, 127))];
        events.extend(pedal.map(|pedal| (0.1, control(pedal, 127))));
        events.push((0.5, control(ALL_SOUND_OFF, 0)));
        let sound = rig_with_long_release().play(&events, 0.7);
        for (secs, expected_db) in [(0.01, -19.2), (0.02, -38.4), (0.03, -57.6)] {
            assert_near(&format!("{pedal:?}: after {secs} s"), db_at(&sound, 0.5 + secs), expected_db, 1.0);
        }
        assert!(sound.left[frame(0.56)..].iter().all(|value| *value == 0.0));
        assert_eq!(sound.active_voices, 0);
    }
}

#[test]
fn a_note_started_right_after_all_sound_off_sounds() {
    let events = [(0.0, on(60, 127)), (0.5, control(ALL_SOUND_OFF, 0)), (0.5, on(60, 127))];
    assert_near("the new note", db_at(&rig_with_long_release().play(&events, 0.7), 0.65), 0.0, 0.01);
}

#[test]
fn reset_all_controllers_releases_the_pedals_but_not_the_keys() {
    let short_release = Rig::level(&[(RELEASE_VOL_ENV, -4_000)]);
    for pedal in [SUSTAIN, SOSTENUTO] {
        let events = [
            (0.0, on(60, 127)),
            (0.0, on(67, 127)),
            (0.1, control(pedal, 127)),
            (0.2, off(60)),
            (0.5, control(RESET_ALL, 0)),
        ];
        let sound = short_release.play(&events, 1.0);
        assert_near("both notes", db_at(&sound, 0.49), 6.02, 0.01);
        assert_near("the note whose key is down", db_at(&sound, 0.9), 0.0, 0.01);
    }
}

#[test]
fn reset_all_controllers_resets_the_expression_but_not_the_volume_of_a_sounding_note() {
    // Expression at 64 attenuates by 11.9 dB; the reset sets it to 127.
    let events = [(0.0, control(11, 64)), (0.0, on(60, 127)), (0.5, control(RESET_ALL, 0))];
    let sound = rig_with_long_release().play(&events, 1.0);
    assert_near("before the reset", db_at(&sound, 0.49), 40.0 * libm::log10(64.0 / 127.0), 0.02);
    assert_near("after the reset", db_at(&sound, 0.9), 0.0, 0.01);
    // The volume stays at 64, which is 7.75 dB softer than the initial 100.
    let events = [(0.0, control(7, 64)), (0.0, on(60, 127)), (0.5, control(RESET_ALL, 0))];
    assert_near(
        "volume",
        db_at(&rig_with_long_release().play(&events, 1.0), 0.9),
        40.0 * libm::log10(64.0 / 100.0),
        0.02,
    );
}

#[test]
fn reset_all_controllers_resets_the_wheel_and_the_pressures() {
    // Modulators of the fine tuning raise the pitch by 100 cents times value / 128, where value is
    // the channel pressure or the key pressure.
    const BY_CHANNEL_PRESSURE: ModulatorRecord = [13, FINE_TUNE, 100, 0, 0];
    const BY_KEY_PRESSURE: ModulatorRecord = [10, FINE_TUNE, 100, 0, 0];
    let rig = Rig::of(&tables(&sine(), &[], &[BY_CHANNEL_PRESSURE, BY_KEY_PRESSURE]));
    let cases: [(Event, f64); 3] = [
        (bend(4_096), 100.0),
        (Event::ChannelPressure { value: 64 }, 50.0),
        (Event::KeyPressure { key: 60, value: 96 }, 75.0),
    ];
    // Channel pressure also adds vibrato by default; a modulator with an amount of 0 removes it.
    let no_vibrato = [[13, VIB_LFO_TO_PITCH, 0, 0, 0], BY_CHANNEL_PRESSURE, BY_KEY_PRESSURE];
    let no_vibrato = Rig::of(&tables(&sine(), &[], &no_vibrato));
    for (event, expected) in cases {
        let events = [(0.0, event), (0.0, on(60, 127)), (0.5, control(RESET_ALL, 0))];
        let rig = if matches!(event, Event::ChannelPressure { .. }) { &no_vibrato } else { &rig };
        let sound = rig.play(&events, 1.0);
        let at = |from_secs: f64| cents(pitch_hz(&sound.left, from_secs, from_secs + 0.4), SINE_HZ);
        assert_near(&format!("{event:?}: before"), at(0.05), expected, 0.2);
        assert_near(&format!("{event:?}: after"), at(0.55), 0.0, 0.2);
    }
}

#[test]
fn mode_messages_do_not_change_controllers() {
    let plain_rig = Rig::of(&tables(&level(), &[], &[]));
    for number in NOTES_OFF.into_iter().chain([ALL_SOUND_OFF]) {
        let events = [(0.0, control(11, 64)), (0.0, control(number, 0)), (0.0, on(60, 127))];
        let expected = 40.0 * libm::log10(64.0 / 127.0);
        let measured_db = db_at(&plain_rig.play(&events, 0.2), 0.1);
        assert_near(&format!("expression after {number}"), measured_db, expected, 0.02);
    }
}
