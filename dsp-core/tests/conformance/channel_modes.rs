//! Channel mode messages (MIDI 1.0, controllers 120 to 127) while notes are held.

use dsp_core::session::Event;

use crate::generator::*;
use crate::maker::ModulatorRecord;
use crate::measure::{assert_near, cents, db, frame, pitch_hz};
use crate::rig::{Rig, SINE_HZ, Sound, bend, control, level, off, on, sine, tables};

const SUSTAIN: u8 = 64;
const SOSTENUTO: u8 = 66;
const ALL_SOUND_OFF: u8 = 120;
const RESET_ALL: u8 = 121;

/// All notes off, and the modes that imply it: omni off, omni on, mono, poly.
const NOTES_OFF: [u8; 5] = [123, 124, 125, 126, 127];

/// Notes with a release of eight seconds for 96 dB: 12 dB a second.
fn long() -> Rig {
    Rig::level(&[(RELEASE_VOL_ENV, 3_600)])
}

/// Level relative to one full note, in decibels.
fn db_at(sound: &Sound, secs: f64) -> f64 {
    let full = Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)];
    db(sound.left[frame(secs)].max(1e-9) / full)
}

#[test]
fn held_notes_are_released() {
    for number in NOTES_OFF {
        let sound = long().play(&[(0.0, on(60, 127)), (0.5, control(number, 0))], 2.0);
        let label = |when: &str| format!("controller {number}: {when}");
        assert_near(&label("before"), db_at(&sound, 0.49), 0.0, 0.01);
        assert_near(&label("half a second later"), db_at(&sound, 1.0), -6.0, 0.1);
        assert_near(&label("a second later"), db_at(&sound, 1.5), -12.0, 0.1);
    }
}

#[test]
fn pedals_hold_the_notes_that_they_release() {
    // MIDI 1.0: all notes off acts as note-offs, so the pedal still holds the notes.
    for number in NOTES_OFF {
        for pedal in [SUSTAIN, SOSTENUTO] {
            let events = [
                (0.0, on(60, 127)),
                (0.1, control(pedal, 127)),
                (0.5, control(number, 0)),
                (1.0, control(pedal, 0)),
            ];
            let sound = long().play(&events, 2.0);
            let label = |when: &str| format!("controller {number}, pedal {pedal}: {when}");
            assert_near(&label("held"), db_at(&sound, 0.99), 0.0, 0.01);
            assert_near(&label("let go"), db_at(&sound, 1.5), -6.0, 0.1);
        }
    }
}

#[test]
fn notes_sound_again_after_all_notes_off() {
    for number in [123, 124, 125, 127] {
        let events = [(0.0, on(60, 127)), (0.1, control(number, 0)), (0.9, on(62, 127)), (0.9, on(64, 127))];
        let sound = Rig::level(&[(RELEASE_VOL_ENV, -4_000)]).play(&events, 1.5);
        assert_near(&format!("two notes after controller {number}"), db_at(&sound, 1.4), 6.02, 0.01);
    }
}

#[test]
fn all_sound_off_fades_by_96_db_in_50_ms_despite_pedals() {
    for pedal in [None, Some(SUSTAIN), Some(SOSTENUTO)] {
        let mut events = vec![(0.0, on(60, 127))];
        events.extend(pedal.map(|pedal| (0.1, control(pedal, 127))));
        events.push((0.5, control(ALL_SOUND_OFF, 0)));
        let sound = long().play(&events, 0.7);
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
    assert_near("the new note", db_at(&long().play(&events, 0.7), 0.65), 0.0, 0.01);
}

#[test]
fn reset_all_controllers_keeps_held_keys_and_releases_the_pedals() {
    let short = Rig::level(&[(RELEASE_VOL_ENV, -4_000)]);
    for pedal in [SUSTAIN, SOSTENUTO] {
        let events = [
            (0.0, on(60, 127)),
            (0.0, on(67, 127)),
            (0.1, control(pedal, 127)),
            (0.2, off(60)),
            (0.5, control(RESET_ALL, 0)),
        ];
        let sound = short.play(&events, 1.0);
        assert_near("both", db_at(&sound, 0.49), 6.02, 0.01);
        assert_near("the one whose key is down", db_at(&sound, 0.9), 0.0, 0.01);
    }
}

#[test]
fn a_held_note_follows_reset_all_controllers() {
    // Expression at 64 attenuates by 11.9 dB; the reset makes it full.
    let events = [(0.0, control(11, 64)), (0.0, on(60, 127)), (0.5, control(RESET_ALL, 0))];
    let sound = long().play(&events, 1.0);
    assert_near("before", db_at(&sound, 0.49), 40.0 * libm::log10(64.0 / 127.0), 0.02);
    assert_near("after", db_at(&sound, 0.9), 0.0, 0.01);
    // Volume is kept: 100 against 64 is 7.75 dB.
    let events = [(0.0, control(7, 64)), (0.0, on(60, 127)), (0.5, control(RESET_ALL, 0))];
    assert_near("volume", db_at(&long().play(&events, 1.0), 0.9), 40.0 * libm::log10(64.0 / 100.0), 0.02);
}

#[test]
fn reset_all_controllers_resets_the_wheel_and_the_pressures() {
    // Each raises the pitch by 100 cents at full scale; the pressures by modulators of the tuning,
    // times value / 128.
    const BY_CHANNEL: ModulatorRecord = [13, FINE_TUNE, 100, 0, 0];
    const BY_KEY: ModulatorRecord = [10, FINE_TUNE, 100, 0, 0];
    let rig = Rig::of(&tables(&sine(), &[], &[BY_CHANNEL, BY_KEY]));
    let cases: [(Event, f64); 3] = [
        (bend(4_096), 100.0),
        (Event::ChannelPressure { value: 64 }, 50.0),
        (Event::KeyPressure { key: 60, value: 96 }, 75.0),
    ];
    // The default modulator of pressure would add vibrato; an amount of 0 replaces it.
    let still = [[13, VIB_LFO_TO_PITCH, 0, 0, 0], BY_CHANNEL, BY_KEY];
    let still = Rig::of(&tables(&sine(), &[], &still));
    for (event, expected) in cases {
        let events = [(0.0, event), (0.0, on(60, 127)), (0.5, control(RESET_ALL, 0))];
        let rig = if matches!(event, Event::ChannelPressure { .. }) { &still } else { &rig };
        let sound = rig.play(&events, 1.0);
        let at = |from_secs: f64| cents(pitch_hz(&sound.left, from_secs, from_secs + 0.4), SINE_HZ);
        assert_near(&format!("{event:?}: before"), at(0.05), expected, 0.2);
        assert_near(&format!("{event:?}: after"), at(0.55), 0.0, 0.2);
    }
}

#[test]
fn mode_messages_do_not_change_controllers() {
    let plain = Rig::of(&tables(&level(), &[], &[]));
    for number in NOTES_OFF.into_iter().chain([ALL_SOUND_OFF]) {
        let events = [(0.0, control(11, 64)), (0.0, control(number, 0)), (0.0, on(60, 127))];
        let expected = 40.0 * libm::log10(64.0 / 127.0);
        let measured = db_at(&plain.play(&events, 0.2), 0.1);
        assert_near(&format!("expression after {number}"), measured, expected, 0.02);
    }
}
