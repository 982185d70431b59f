//! Tests of voice stealing: which voices end for new voices, and that they end without clicks.

use dsp_core::session::Event;

use crate::generator::{ATTACK_VOL_ENV, RELEASE_VOL_ENV};
use crate::maker::Tables;
use crate::measure::{assert_near, frame};
use crate::rig::{LOOP, Rig, level, off, on, steady, tables};

/// Returns the left output of one note of full velocity.
fn one_note() -> f64 {
    Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.09)]
}

/// Returns the largest difference between consecutive frames.
fn largest_step(signal: &[f64]) -> f64 {
    signal.array_windows().map(|[previous, next]| (next - previous).abs()).fold(0.0, f64::max)
}

/// Returns a rig whose notes have an attack of 4 ms, so that only a cut voice causes a large step.
fn rig_with_slow_attack() -> Rig {
    Rig::level(&[(ATTACK_VOL_ENV, -9_600), (RELEASE_VOL_ENV, 1_200)])
}

#[test]
fn stolen_voices_fade() {
    // A note starts every millisecond, and the polyphony is eight. A stolen voice fades for 50 ms,
    // so about 50 voices fade at a time.
    let events: Vec<_> = (0..1_000).map(|n| (0.001 * f64::from(n), on((n % 100) as u8 + 20, 127))).collect();
    let sound = rig_with_slow_attack().with_polyphony(8).play(&events, 1.0);
    // The attack takes 192 frames. A fade falls by 96 dB in 2400 frames.
    let attack_step = one_note() / 187.0;
    let fade_step = one_note() * (1.0 - libm::exp2(-0.04 / 6.02));
    let step = largest_step(&sound.left);
    let max_step = 5.0 * attack_step + 8.0 * fade_step;
    assert!(step < max_step, "the step {step} exceeds {max_step}; a voice has a level of {}", one_note());
}

#[test]
fn a_soft_chord_steals_voices_of_earlier_notes_and_not_its_own() {
    let mut events: Vec<_> = (0..8).map(|n| (0.0, on(40 + n, 127))).collect();
    events.extend((0..4).map(|n| (0.5 + 0.005 * f64::from(n), on(80 + n, 40))));
    let sound = Rig::level(&[]).with_polyphony(8).play(&events, 1.0);
    let soft = Rig::level(&[]).hold(60, 40, 0.1).left[frame(0.09)];
    let expected = 4.0 * one_note() + 4.0 * soft;
    assert_near("four loud and four soft notes", sound.left[frame(0.9)] / expected, 1.0, 1e-3);
}

#[test]
fn voices_are_not_stolen_in_their_first_50_ms() {
    let mut events = vec![(0.0, on(60, 20))];
    events.extend((0..8).map(|n| (0.06, on(70 + n, 127))));
    let sound = Rig::level(&[]).with_polyphony(8).play(&events, 0.5);
    assert_near("eight loud notes", sound.left[frame(0.4)] / one_note(), 8.0, 1e-3);
}

#[test]
fn released_voices_are_stolen_before_voices_whose_keys_are_down() {
    let mut events: Vec<(f64, Event)> = (0..4).map(|n| (0.0, on(40 + n, 127))).collect();
    events.extend((0..4).map(|n| (0.0, on(60 + n, 30))));
    events.extend((0..4).map(|n| (0.1, off(40 + n))));
    events.extend((0..4).map(|n| (0.2, on(80 + n, 30))));
    let sound = Rig::level(&[(RELEASE_VOL_ENV, 7_200)]).with_polyphony(8).play(&events, 0.5);
    let soft = Rig::level(&[]).hold(60, 30, 0.1).left[frame(0.09)];
    assert_near("eight soft notes", sound.left[frame(0.4)] / soft, 8.0, 1e-3);
}

#[test]
fn a_note_with_many_zones_starts_at_most_as_many_voices_as_the_polyphony() {
    let mut tables = Tables::new();
    let sample = tables.add_sample(&level(), LOOP);
    let instrument = tables.add_instrument();
    for _ in 0..32 {
        tables.add_instrument_zone((&steady(&[]), &[]), Some(sample));
    }
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    let sound = Rig::of(&tables).with_polyphony(8).hold(60, 127, 0.3);
    assert_near("audible zones", sound.left[frame(0.2)] / one_note(), 8.0, 1e-3);
    assert_near("voices", sound.active_voices as f64, 8.0, 0.0);
}

#[test]
fn notes_stolen_in_their_first_frame_are_silent() {
    let rig = Rig::of(&tables(&level(), &[], &[])).with_polyphony(8);
    let events: Vec<_> = (0..100).map(|key| (0.0, on(key, 127))).collect();
    let sound = rig.play(&events, 0.3);
    let loudest = sound.left.iter().fold(0.0_f64, |peak, value| peak.max(*value));
    assert_near("the peak in notes", loudest / one_note(), 8.0, 1e-3);
}
