//! Which voices make room for others, and that nobody hears it happen.

use dsp_core::session::Event;

use crate::generator::{ATTACK_VOL_ENV, RELEASE_VOL_ENV};
use crate::maker::Tables;
use crate::measure::{assert_near, frame};
use crate::rig::{LOOP, Rig, level, off, on, steady, tables};

/// What one note of full velocity becomes at the left output.
fn one() -> f64 {
    Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.09)]
}

/// The largest step from frame to frame.
fn largest_step(signal: &[f64]) -> f64 {
    signal.array_windows().map(|[before, after]| (after - before).abs()).fold(0.0, f64::max)
}

/// The steady level with an attack of 4 ms, so that only a voice that is cut makes a step.
fn gentle() -> Rig {
    Rig::level(&[(ATTACK_VOL_ENV, -9_600), (RELEASE_VOL_ENV, 1_200)])
}

#[test]
fn voices_fade_when_they_make_room() {
    // A new note every millisecond, of which eight may sound: the others fade in 50 ms, 50 at a
    // time.
    let events: Vec<_> = (0..1_000).map(|n| (0.001 * f64::from(n), on((n % 100) as u8 + 20, 127))).collect();
    let sound = gentle().with_polyphony(8).play(&events, 1.0);
    // The attack takes 192 frames, and a fade begins with 96 dB in 2400 frames.
    let of_attack = one() / 187.0;
    let of_fade = one() * (1.0 - libm::exp2(-0.04 / 6.02));
    let step = largest_step(&sound.left);
    let most = 5.0 * of_attack + 8.0 * of_fade;
    assert!(step < most, "a step of {step}, at most {most}, where a voice is {}", one());
}

#[test]
fn a_soft_chord_takes_from_what_sounds_not_from_itself() {
    let mut events: Vec<_> = (0..8).map(|n| (0.0, on(40 + n, 127))).collect();
    events.extend((0..4).map(|n| (0.5 + 0.005 * f64::from(n), on(80 + n, 40))));
    let sound = Rig::level(&[]).with_polyphony(8).play(&events, 1.0);
    let soft = Rig::level(&[]).hold(60, 40, 0.1).left[frame(0.09)];
    let expected = 4.0 * one() + 4.0 * soft;
    assert_near("four loud and four soft ones", sound.left[frame(0.9)] / expected, 1.0, 1e-3);
}

#[test]
fn what_has_just_begun_is_spared_for_50_ms_only() {
    let mut events = vec![(0.0, on(60, 20))];
    events.extend((0..8).map(|n| (0.06, on(70 + n, 127))));
    let sound = Rig::level(&[]).with_polyphony(8).play(&events, 0.5);
    assert_near("eight loud ones", sound.left[frame(0.4)] / one(), 8.0, 1e-3);
}

#[test]
fn released_voices_go_before_held_ones_however_loud() {
    let mut events: Vec<(f64, Event)> = (0..4).map(|n| (0.0, on(40 + n, 127))).collect();
    events.extend((0..4).map(|n| (0.0, on(60 + n, 30))));
    events.extend((0..4).map(|n| (0.1, off(40 + n))));
    events.extend((0..4).map(|n| (0.2, on(80 + n, 30))));
    let sound = Rig::level(&[(RELEASE_VOL_ENV, 7_200)]).with_polyphony(8).play(&events, 0.5);
    let soft = Rig::level(&[]).hold(60, 30, 0.1).left[frame(0.09)];
    assert_near("eight soft ones", sound.left[frame(0.4)] / soft, 8.0, 1e-3);
}

#[test]
fn a_note_has_at_most_as_many_voices_as_may_sound() {
    let mut tables = Tables::new();
    let sample = tables.add_sample(&level(), LOOP);
    let instrument = tables.add_instrument();
    for _ in 0..32 {
        tables.add_instrument_zone((&steady(&[]), &[]), Some(sample));
    }
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    let sound = Rig::of(&tables).with_polyphony(8).hold(60, 127, 0.3);
    assert_near("zones", sound.left[frame(0.2)] / one(), 8.0, 1e-3);
    assert_near("voices", sound.active_voices as f64, 8.0, 0.0);
}

#[test]
fn what_is_struck_and_replaced_at_once_is_never_heard() {
    let rig = Rig::of(&tables(&level(), &[], &[])).with_polyphony(8);
    let events: Vec<_> = (0..100).map(|key| (0.0, on(key, 127))).collect();
    let sound = rig.play(&events, 0.3);
    let loudest = sound.left.iter().fold(0.0_f64, |most, value| most.max(*value));
    assert_near("the loudest moment", loudest / one(), 8.0, 1e-3);
}
