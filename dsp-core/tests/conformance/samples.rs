//! Tests of sample addresses, loops, 24-bit samples and stereo pairs.

use crate::generator::*;
use crate::maker::Tables;
use crate::measure::{assert_near, cents, db, frame, pitch_hz, residue_db};
use crate::rig::{LOOP, Rig, SINE_HZ, Sound, level, off, on, ramp, sine, steady, tables};

/// Sample modes (section 8.1.2, number 54).
const ONCE: i16 = 0;
const UNUSED: i16 = 2;
const UNTIL_RELEASE: i16 = 3;

/// Returns the left output of a sample value of full scale.
fn full_scale() -> f64 {
    Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)] * 32_768.0 / 32_767.0
}

/// Returns the frame of the ramp that plays at an output frame, with an error of up to two frames.
fn source_frame(sound: &Sound, output_frame: usize) -> f64 {
    sound.left[output_frame] / full_scale() * 32_768.0 * 2.0
}

#[test]
fn a_sample_plays_one_frame_per_output_frame_at_its_root_key() {
    let sound = Rig::ramp(&[(SAMPLE_MODES, ONCE)]).hold(60, 127, 1.3);
    for position_frames in [10, 100, 5_000, 30_001, 59_000] {
        assert_near(
            &format!("frame {position_frames}"),
            source_frame(&sound, position_frames),
            position_frames as f64,
            2.0,
        );
    }
    assert_eq!(sound.left[60_010], 0.0);
}

#[test]
fn fine_and_coarse_offsets_move_the_start() {
    // Section 8.1.2, numbers 0 and 4: the unit of the coarse offset is 32768 frames.
    for (generators, first_frame) in [
        (&[(START_ADDRS_OFFSET, 500)][..], 500.0),
        (&[(START_ADDRS_COARSE_OFFSET, 1)], 32_768.0),
        (&[(START_ADDRS_COARSE_OFFSET, 1), (START_ADDRS_OFFSET, -768)], 32_000.0),
    ] {
        let sound = Rig::ramp(&[&[(SAMPLE_MODES, ONCE)], generators].concat()).hold(60, 127, 0.1);
        assert_near("the first frame", source_frame(&sound, 40) - 40.0, first_frame, 2.0);
    }
}

#[test]
fn fine_and_coarse_offsets_move_the_end() {
    // Section 8.1.2, numbers 1 and 12.
    for (generators, end) in [
        (&[][..], 60_000.0),
        (&[(END_ADDRS_OFFSET, -2_000)], 58_000.0),
        (&[(END_ADDRS_COARSE_OFFSET, -1)], 27_232.0),
        (&[(END_ADDRS_COARSE_OFFSET, -1), (END_ADDRS_OFFSET, 768)], 28_000.0),
    ] {
        let sound = Rig::ramp(&[&[(SAMPLE_MODES, ONCE)], generators].concat()).hold(60, 127, 1.3);
        let last_frame = sound.left.iter().rposition(|value| *value != 0.0).expect("a sound");
        assert_near("the last frame", last_frame as f64, end, 3.0);
    }
}

/// Returns the last frame before the output jumps back to the start of the loop, and the next
/// frame.
fn loop_of(sound: &Sound) -> (f64, f64) {
    let jump = (1..sound.left.len()).find(|&n| sound.left[n] < sound.left[n - 1] * 0.99).expect("a loop");
    (source_frame(sound, jump - 1), source_frame(sound, jump))
}

#[test]
fn a_loop_jumps_from_its_end_to_its_start() {
    // Section 7.10: the frame at the end of the loop is equivalent to the frame at its start.
    let (last_frame, first) = loop_of(&Rig::ramp(&[]).hold(60, 127, 0.1));
    assert_near("the last frame", last_frame, 1_899.0, 2.0);
    assert_near("the first frame", first, 100.0, 2.0);
}

#[test]
fn fine_and_coarse_offsets_move_the_loop() {
    // Section 8.1.2, numbers 2, 3, 45 and 50.
    type Case<'a> = (&'a [(u16, i16)], (f64, f64));
    let cases: [Case<'_>; 4] = [
        (&[(STARTLOOP_ADDRS_OFFSET, 400)], (1_899.0, 500.0)),
        (&[(ENDLOOP_ADDRS_OFFSET, 101)], (2_000.0, 100.0)),
        (&[(ENDLOOP_ADDRS_COARSE_OFFSET, 1), (ENDLOOP_ADDRS_OFFSET, -67)], (34_600.0, 100.0)),
        (&[(STARTLOOP_ADDRS_COARSE_OFFSET, 1), (ENDLOOP_ADDRS_COARSE_OFFSET, 1)], (34_667.0, 32_868.0)),
    ];
    for (generators, (last_frame, first)) in cases {
        let measured_loop = loop_of(&Rig::ramp(generators).hold(60, 127, 1.0));
        assert_near(&format!("{generators:?}: the last frame"), measured_loop.0, last_frame, 2.0);
        assert_near(&format!("{generators:?}: the first frame"), measured_loop.1, first, 2.0);
    }
}

#[test]
fn sample_modes_control_the_loop() {
    // The sample of 60,000 frames lasts 1.25 s. The note is released after 0.5 s and has a release
    // of 8 s (3600 timecents).
    let play = |mode: i16| {
        let rig = Rig::ramp(&[(SAMPLE_MODES, mode), (RELEASE_VOL_ENV, 3_600)]);
        rig.play(&[(0.0, on(60, 127)), (0.5, off(60))], 2.5)
    };
    let loops_in_release = play(1);
    assert!(loops_in_release.left[frame(2.4)] != 0.0, "mode 1 stops looping after the release");
    for mode in [ONCE, UNUSED] {
        let once = play(mode);
        // This frame is before the release.
        assert_near("no loop", source_frame(&once, 20_000), 20_000.0, 2.0);
        assert_eq!(once.left[frame(1.3)], 0.0, "mode {mode} loops");
    }
    let until_release = play(UNTIL_RELEASE);
    assert!(source_frame(&until_release, 20_000) < 1_901.0, "mode 3 does not loop while the key is down");
    // The 24,000 frames before the release are 100 frames before the loop, 13 loops of 1,800 frames
    // and 500 frames of another loop.
    let at_release = 100 + (24_000 - 100) % 1_800;
    let end = 24_000 + 60_000 - at_release;
    let last_frame = until_release.left.iter().rposition(|value| *value != 0.0).expect("a sound");
    assert_near(
        "the end of the sample in seconds",
        last_frame as f64 / 48_000.0,
        end as f64 / 48_000.0,
        0.001,
    );
}

#[test]
fn a_loop_has_the_right_pitch_at_any_key() {
    let rig = Rig::sine(&[]);
    for key in [40, 60, 71, 96] {
        let sound = rig.hold(key, 127, 2.0);
        let expected = 100.0 * (f64::from(key) - 60.0);
        assert_near(&format!("key {key}"), cents(pitch_hz(&sound.left, 1.5, 2.0), SINE_HZ), expected, 0.2);
    }
}

#[test]
fn low_bytes_extend_samples_to_24_bits() {
    // Section 6.2: the sm24 chunk has eight more bits of each frame.
    let value = |high: i16, low: u8| {
        let mut tables = tables(&vec![high; 2_000], &[], &[]);
        tables.low = Some(vec![low; tables.wave.len() / 2]);
        Rig::of(&tables).hold(60, 127, 0.1).left[frame(0.05)] / full_scale()
    };
    for (high, low) in [(0, 128), (0, 1), (-1, 255), (256, 64)] {
        let expected = (f64::from(high) * 256.0 + f64::from(low)) / 8_388_608.0;
        assert_near(&format!("{high} and {low}"), value(high, low) / expected, 1.0, 1e-5);
    }
}

#[test]
fn low_bytes_are_used_from_version_2_04_on_and_only_if_complete() {
    // Section 6.2: low bytes of older versions and of incomplete chunks are ignored. The sample has
    // a value of 2 16-bit steps without low bytes and of 2.75 steps with low bytes.
    let value_in_steps = |version: (u16, u16), missing: usize| {
        let mut tables = Tables { version, ..tables(&[2; 2_000], &[], &[]) };
        tables.low = Some(vec![192; tables.wave.len() / 2 - missing]);
        Rig::of_damaged(&tables).hold(60, 127, 0.1).left[frame(0.05)] / full_scale() * 32_768.0
    };
    assert_near("version 2.04", value_in_steps((2, 4), 0), 2.75, 1e-4);
    assert_near("version 3.00", value_in_steps((3, 0), 0), 2.75, 1e-4);
    assert_near("version 2.01", value_in_steps((2, 1), 0), 2.0, 1e-4);
    assert_near("two missing bytes", value_in_steps((2, 4), 2), 2.0, 1e-4);
}

#[test]
fn low_bytes_lower_the_noise_of_a_loop_by_48_db() {
    // The sine has an amplitude of 19.53 16-bit steps. Rounding adds noise with a power of one
    // twelfth of a step squared.
    let amplitude = 19.53;
    let value = |n: u32| amplitude * libm::sin(f64::from(n) * std::f64::consts::TAU / 100.0);
    let rounded_values = |unit: f64| (0..2_000).map(move |n| libm::round(value(n) / unit) as i32);
    let coarse: Vec<i16> = rounded_values(1.0).map(|value| value as i16).collect();
    let fine: Vec<i32> = rounded_values(1.0 / 256.0).collect();
    let mut with_low = tables(&fine.iter().map(|value| (value >> 8) as i16).collect::<Vec<_>>(), &[], &[]);
    let mut low: Vec<u8> = fine.iter().map(|value| (value & 255) as u8).collect();
    low.resize(with_low.wave.len() / 2, 0);
    with_low.low = Some(low);
    let noise_db = |rig: &Rig, key: u8| {
        // Measures after many repetitions of the loop.
        let sound = rig.hold(key, 127, 2.0);
        let angle = libm::exp2((f64::from(key) - 60.0) / 12.0) * std::f64::consts::TAU / 100.0;
        residue_db(&sound.left[frame(1.0)..frame(1.9)], angle)
    };
    let rounding_noise_db = |step: f64| db(step / libm::sqrt(12.0) / (amplitude / libm::sqrt(2.0)));
    let (coarse, fine) = (Rig::of(&tables(&coarse, &[], &[])), Rig::of(&with_low));
    let (sixteen_db, twenty_four_db) = (noise_db(&coarse, 60), noise_db(&fine, 60));
    assert_near("16 bits", sixteen_db, rounding_noise_db(1.0), 1.5);
    assert_near("24 bits", twenty_four_db, rounding_noise_db(1.0 / 256.0), 1.5);
    assert_near("24 bits against 16", sixteen_db - twenty_four_db, 48.16, 2.0);
    // At another key, interpolation between frames averages some of the rounding noise.
    assert!(noise_db(&fine, 67) < twenty_four_db);
}

/// Plays a note with two zones, panned left and right, whose samples are linked. `kinds` are the
/// types of the samples.
fn stereo(left: &[(u16, i16)], right: &[(u16, i16)], kinds: (u16, u16)) -> Sound {
    let mut tables = Tables::new();
    for (link, kind) in [(1, kinds.0), (0, kinds.1)] {
        let sample = tables.add_sample(&sine(), LOOP);
        let header = &mut tables.samples[usize::from(sample)];
        (header.link, header.kind) = (link, kind);
    }
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(&[&[(PAN, -500)], left].concat()), &[]), Some(0));
    tables.add_instrument_zone((&steady(&[&[(PAN, 500)], right].concat()), &[]), Some(1));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    Rig::of(&tables).hold(60, 127, 0.5)
}

#[test]
fn a_stereo_pair_plays_at_the_pitch_of_its_right_sample() {
    // Section 7.10: "both samples are played entirely synchronously, with their pitch controlled by
    // the right sample's generators".
    const LEFT: u16 = 4;
    const RIGHT: u16 = 2;
    let pitch = |side: &[f64]| cents(pitch_hz(side, 0.05, 0.5), SINE_HZ);
    let linked_rig = stereo(&[(FINE_TUNE, 50)], &[(FINE_TUNE, -30)], (LEFT, RIGHT));
    assert_near("left of a pair", pitch(&linked_rig.left), -30.0, 0.2);
    assert_near("right of a pair", pitch(&linked_rig.right), -30.0, 0.2);
    // The levels of the two samples are independent.
    let balance = stereo(&[(INITIAL_ATTENUATION, 250)], &[], (LEFT, RIGHT));
    let at = |side: &[f64]| crate::measure::rms(&side[frame(0.1)..]);
    assert_near("the left level against the right", db(at(&balance.left) / at(&balance.right)), -10.0, 0.05);
    // The pitches of mono samples are independent.
    let mono = stereo(&[(FINE_TUNE, 50)], &[(FINE_TUNE, -30)], (1, 1));
    assert_near("left mono sample", pitch(&mono.left), 50.0, 0.2);
    assert_near("right mono sample", pitch(&mono.right), -30.0, 0.2);
}

#[test]
fn layers_of_a_stereo_pair_have_independent_tuning() {
    // Two zones of the preset play the same instrument with a stereo pair, the second zone an
    // octave higher.
    let mut tables = Tables::new();
    for (link, kind) in [(1, 4), (0, 2)] {
        let sample = tables.add_sample(&sine(), LOOP);
        let header = &mut tables.samples[usize::from(sample)];
        (header.link, header.kind) = (link, kind);
    }
    let instrument = tables.add_instrument();
    for (sample, pan) in [(0, -500), (1, 500)] {
        tables.add_instrument_zone((&steady(&[(PAN, pan)]), &[]), Some(sample));
    }
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    tables.add_preset_zone((&[(COARSE_TUNE, 12)], &[]), Some(instrument));
    let sound = Rig::of(&tables).hold(60, 127, 0.5);
    // Each channel is the same sum of two tones an octave apart.
    let [left, right] = [&sound.left, &sound.right].map(|side| crate::measure::rms(&side[frame(0.1)..]));
    assert_near("the left level against the right", db(left / right), 0.0, 0.01);
    let differences: Vec<f64> =
        sound.left.iter().zip(&sound.right).map(|(left, right)| left - right).collect();
    assert_near(
        "the relative difference of the channels",
        crate::measure::rms(&differences[frame(0.1)..]) / left,
        0.0,
        1e-3,
    );
}

#[test]
fn silence_follows_a_sample_without_zero_frames_after_it() {
    let mut tables = Tables::new();
    let first = tables.add_sample(&level()[..500], 0..0);
    tables.wave.truncate(2 * 500);
    // The next sample follows directly; section 6.1 requires 46 zero frames between samples.
    tables.add_sample(&ramp()[1_000..3_000], 0..0);
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(&[(SAMPLE_MODES, ONCE)]), &[]), Some(first));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    let sound = Rig::of(&tables).hold(60, 127, 0.1);
    assert!(sound.left[490] > 0.0);
    assert!(sound.left[505..].iter().all(|value| *value == 0.0), "the next sample is audible");
}
