//! Tests of edge cases of loops (sections 7.10 and 8.1.2, numbers 2, 3, 45, 50 and 54).

use dsp_core::session::Interpolation;

use crate::generator::*;
use crate::maker::Tables;
use crate::measure::{assert_near, cents, db, frame, pitch_hz, residue_db, rms};
use crate::rig::{Rig, SINE_HZ, Sound, off, on, ramp, sine, steady};

/// Sample modes: the sample loops always, or until the note is released.
const ALWAYS: i16 = 1;
const UNTIL_RELEASE: i16 = 3;

/// Returns a rig with one sample, whose header states this loop.
fn looped(frames: &[i16], start: u32, end: u32, generators: &[(u16, i16)]) -> Rig {
    let mut tables = Tables::new();
    let sample = tables.add_sample(frames, 0..0);
    (tables.samples[0].loop_start, tables.samples[0].loop_end) = (start, end);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(generators), &[]), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    Rig::of_damaged(&tables)
}

/// Returns the frame of the ramp that plays at a time, with an error of up to two frames.
fn source_frame(sound: &Sound, secs: f64) -> f64 {
    let full_level = Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)] / 32_767.0;
    2.0 * sound.left[frame(secs)] / full_level
}

/// Returns the time of the last frame that is not silent, in seconds.
fn end_secs(sound: &Sound) -> f64 {
    let last_frame = sound.left.iter().rposition(|value| *value != 0.0).expect("a sound");
    frame_secs(last_frame)
}

fn frame_secs(frame: usize) -> f64 {
    frame as f64 / crate::rig::RATE_HZ
}

#[test]
fn a_loop_of_one_frame_stays_at_its_level() {
    // The output stays at the value of frame 20000, at any pitch.
    for (key, mode) in [(60, ALWAYS), (60, UNTIL_RELEASE), (48, ALWAYS), (72, ALWAYS), (91, ALWAYS)] {
        let rig = looped(&ramp(), 20_000, 20_001, &[(SAMPLE_MODES, mode)]);
        let sound = rig.hold(key, 127, 2.0);
        for secs in [1.0, 1.5, 1.99] {
            assert_near(&format!("key {key}, {secs} s"), source_frame(&sound, secs), 20_000.0, 2.0);
        }
        assert_eq!(sound.active_voices, 1);
    }
}

#[test]
fn a_release_leaves_a_loop_of_one_frame() {
    // At the release, 40,000 frames of the sample remain, which take 0.833 s. The release of the
    // volume takes eight seconds.
    let rig = looped(&ramp(), 20_000, 20_001, &[(SAMPLE_MODES, UNTIL_RELEASE), (RELEASE_VOL_ENV, 3_600)]);
    let sound = rig.play(&[(0.0, on(60, 127)), (1.0, off(60))], 2.5);
    assert_near("the end in seconds", end_secs(&sound), 1.0 + frame_secs(40_000), 0.001);
    assert_eq!(sound.active_voices, 0);
}

#[test]
fn a_loop_of_a_few_frames_has_the_right_pitch() {
    // Loops of two, three and eight frames have 24, 16 and 6 kHz at the root key. Key 24 is three
    // octaves lower.
    for frames in [2_u32, 3, 8] {
        let wave: Vec<i16> = (0..2_000_u32)
            .map(|n| {
                let angle = std::f64::consts::TAU * f64::from(n) / f64::from(frames);
                libm::round(16_000.0 * libm::cos(angle)) as i16
            })
            .collect();
        let sound = looped(&wave, 240, 240 + frames, &[]).hold(24, 127, 1.0);
        let measured_cents = cents(pitch_hz(&sound.left, 0.5, 1.0), 6_000.0 / f64::from(frames));
        assert_near(&format!("a loop of {frames} frames"), measured_cents, 0.0, 0.2);
    }
}

/// Returns the RMS of the sine, played once at its root key.
fn once_rms() -> f64 {
    rms(&looped(&sine(), 0, 0, &[]).hold(60, 127, 0.1).left[200..1_800])
}

#[test]
fn invalid_loops_play_once() {
    // The loops are inverted, empty or beyond the end. The 2,000 frames of the sample play once, at
    // the right pitch and level.
    for (start, end) in [(1_900, 100), (500, 500), (0, 0), (100, 2_500), (1_999, 1_999), (5_000, 4_000)] {
        let sound = looped(&sine(), start, end, &[]).hold(60, 127, 0.5);
        let label = format!("a loop from {start} to {end}");
        assert_near(&label, end_secs(&sound), frame_secs(2_000), 0.0005);
        assert_near(&label, cents(pitch_hz(&sound.left, 0.002, 0.04), SINE_HZ), 0.0, 0.2);
        assert_near(&label, db(rms(&sound.left[200..1_800]) / once_rms()), 0.0, 0.01);
        assert_eq!(sound.active_voices, 0);
    }
}

#[test]
fn loops_inverted_by_a_zone_play_once() {
    // The header's loop from 100 to 1900 is valid, but the zone's offsets make it inverted or
    // empty.
    for offsets in [
        [(STARTLOOP_ADDRS_OFFSET, 1_850), (ENDLOOP_ADDRS_OFFSET, -1_850)],
        [(STARTLOOP_ADDRS_OFFSET, 1_800), (ENDLOOP_ADDRS_OFFSET, 0)],
        [(STARTLOOP_ADDRS_COARSE_OFFSET, 1), (ENDLOOP_ADDRS_COARSE_OFFSET, -1)],
    ] {
        let sound = looped(&sine(), 100, 1_900, &offsets).hold(60, 127, 0.5);
        assert_near(&format!("{offsets:?}"), end_secs(&sound), frame_secs(2_000), 0.0005);
        assert_near("the level", db(rms(&sound.left[200..1_800]) / once_rms()), 0.0, 0.01);
    }
}

#[test]
fn a_loop_may_cover_the_start_or_the_end_of_its_sample() {
    // The loop has whole periods of a sine, so the output is a sine however often the loop repeats.
    for (start, end) in [(100, 2_000), (0, 2_000), (0, 1_900), (1_900, 2_000)] {
        for key in [48_u8, 60, 67, 84] {
            let sound = looped(&sine(), start, end, &[]).hold(key, 127, 2.0);
            let ratio = libm::exp2((f64::from(key) - 60.0) / 12.0);
            let label = format!("a loop from {start} to {end} at key {key}");
            let late_part = &sound.left[frame(1.5)..frame(1.9)];
            assert_near(&label, cents(pitch_hz(&sound.left, 1.5, 1.9), ratio * SINE_HZ), 0.0, 0.1);
            assert_near(&label, db(rms(late_part) / once_rms()), 0.0, 0.05);
            let angle = ratio * std::f64::consts::TAU / 100.0;
            assert!(
                residue_db(late_part, angle) < -85.0,
                "{label}: a residue of {} dB",
                residue_db(late_part, angle)
            );
        }
    }
}

#[test]
fn a_loop_has_no_seam_for_any_interpolation() {
    // A seam in the loop would add to the residue after the sine is subtracted. The error of linear
    // interpolation is a residue of -68 dB.
    for (interpolation, max_residue_db) in
        [(Interpolation::Linear, -65.0), (Interpolation::FourPoint, -85.0), (Interpolation::Sinc, -80.0)]
    {
        for (start, end) in [(100, 2_000), (0, 2_000), (700, 800)] {
            let rig = looped(&sine(), start, end, &[]).with_interpolation(interpolation);
            let sound = rig.hold(63, 127, 2.0);
            let angle = libm::exp2(3.0 / 12.0) * std::f64::consts::TAU / 100.0;
            let measured_db = residue_db(&sound.left[frame(0.5)..frame(1.9)], angle);
            assert!(
                measured_db < max_residue_db,
                "{interpolation:?}, loop from {start} to {end}: a residue of {measured_db} dB"
            );
        }
    }
}

#[test]
fn a_note_that_starts_inside_the_loop_loops_and_one_that_starts_after_it_plays_once() {
    // The loop covers frames 10000 to 20000 of the ramp.
    let from = |start: i16| {
        let offsets = [(START_ADDRS_OFFSET, start)];
        looped(&ramp(), 10_000, 20_000, &offsets).hold(60, 127, 1.5)
    };
    for (start, secs, expected) in [
        (15_000, 0.1, 19_800.0),
        (15_000, 0.2, 10_000.0 + 4_600.0),
        (5_000, 0.3, 5_000.0 + 14_400.0),
        (5_000, 0.4, 10_000.0 + 4_200.0),
        (19_999, 0.1, 10_000.0 + 4_799.0),
    ] {
        assert_near(&format!("from {start}, {secs} s"), source_frame(&from(start), secs), expected, 2.0);
    }
    let after_loop = from(20_001);
    assert_near("the end, from 20001", end_secs(&after_loop), frame_secs(60_000 - 20_001), 0.001);
    assert_near("from 20001, 0.1 s", source_frame(&after_loop, 0.1), 20_001.0 + 4_800.0, 2.0);
}

#[test]
fn a_note_released_before_its_loop_plays_to_the_end_of_the_sample() {
    // The note is released at frame 4800, before the loop. Its release takes eight seconds.
    let rig = looped(&ramp(), 20_000, 30_000, &[(SAMPLE_MODES, UNTIL_RELEASE), (RELEASE_VOL_ENV, 3_600)]);
    let sound = rig.play(&[(0.0, on(60, 127)), (0.1, off(60))], 2.0);
    assert_near("the end in seconds", end_secs(&sound), 1.25, 0.001);
}

#[test]
fn a_loop_at_the_end_of_a_sample_does_not_use_the_next_sample() {
    // Sample data of full scale follows directly.
    let mut tables = Tables::new();
    let sample = tables.add_sample(&sine(), 100..2_000);
    tables.wave.truncate(2 * 2_000);
    tables.wave.extend([0xff, 0x7f].repeat(500));
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(&[]), &[]), Some(sample));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    let sound = Rig::of(&tables).hold(67, 127, 1.0);
    let part = &sound.left[frame(0.2)..frame(0.9)];
    let angle = libm::exp2(7.0 / 12.0) * std::f64::consts::TAU / 100.0;
    assert!(residue_db(part, angle) < -85.0, "a residue of {} dB", residue_db(part, angle));
}
