//! Tests of mono mode (MIDI 1.0, controllers 126 and 127). In this mode, a channel plays one key at
//! a time: the last pressed of the keys that are down.

use dsp_core::session::Event;

use crate::measure::{assert_near, cents_at};
use crate::rig::{Rig, SINE_HZ, Sound, control, off, on};

const MONO: Event = Event::Controller { controller: 126, value: 1 };
const POLY: Event = Event::Controller { controller: 127, value: 0 };

/// Plays events with a short release.
fn play(events: &[(f64, Event)]) -> Sound {
    Rig::sine(&[(crate::generator::RELEASE_VOL_ENV, -8_000)]).play(events, 1.0)
}

/// Asserts that a key is audible at a time.
fn assert_key(sound: &Sound, secs: f64, key: u8) {
    let expected = 100.0 * (f64::from(key) - 60.0);
    assert_near(&format!("key {key} at {secs} s"), cents_at(&sound.left, secs, SINE_HZ), expected, 1.0);
}

#[test]
fn when_a_key_is_released_an_earlier_key_that_is_still_down_sounds_again() {
    let sound = play(&[
        (0.0, MONO),
        (0.0, on(60, 100)),
        (0.2, on(67, 100)),
        (0.4, on(72, 100)),
        (0.6, off(72)),
        (0.8, off(67)),
    ]);
    for (secs, key) in [(0.15, 60), (0.35, 67), (0.55, 72), (0.75, 67), (0.95, 60)] {
        assert_key(&sound, secs, key);
    }
    assert_near("voices", sound.active_voices as f64, 1.0, 0.0);
}

#[test]
fn a_key_that_was_released_while_another_sounded_does_not_sound_again() {
    let sound = play(&[(0.0, MONO), (0.0, on(60, 100)), (0.2, on(67, 100)), (0.4, off(60)), (0.6, off(67))]);
    assert_key(&sound, 0.35, 67);
    assert_key(&sound, 0.55, 67);
    assert_near("voices", sound.active_voices as f64, 0.0, 0.0);
}

#[test]
fn leaving_mono_mode_releases_all_keys() {
    let sound = play(&[(0.0, MONO), (0.0, on(60, 100)), (0.2, on(67, 100)), (0.4, POLY), (0.6, off(67))]);
    assert_near("voices", sound.active_voices as f64, 0.0, 0.0);
    let sound =
        play(&[(0.0, MONO), (0.0, on(60, 100)), (0.2, control(123, 0)), (0.4, on(67, 100)), (0.6, off(67))]);
    assert_near("voices", sound.active_voices as f64, 0.0, 0.0);
}
