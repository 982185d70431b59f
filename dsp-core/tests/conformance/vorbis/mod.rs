//! Tests of SF3 banks, whose samples may be Ogg Vorbis streams. The type of such a sample has the
//! flag 0x10. The start and end in its header are byte offsets in the sample data, and its loop is
//! relative to the first decoded frame.

mod bits;
mod encoder;

use crate::generator::*;
use crate::maker::Tables;
use crate::measure::{assert_near, cents, db, frame, pitch_hz, residue_db, rms};
use crate::rig::{LOOP, RATE_HZ, Rig, SINE_HZ, Sound, off, on, ramp, sine, steady};

/// Types of a sample (section 7.10), and the flag of a compressed sample.
const MONO: u16 = 1;
const RIGHT: u16 = 2;
const LEFT: u16 = 4;
const VORBIS: u16 = 0x10;

/// Returns the tables of an empty SF3 bank.
fn empty() -> Tables {
    Tables { version: (3, 0), ..Tables::new() }
}

/// Adds a compressed sample at an odd byte offset in the sample data and returns its index.
fn add_stream(tables: &mut Tables, frames: &[i16], loops: core::ops::Range<u32>) -> u16 {
    let sample = tables.add_sample(&[], loops.clone());
    tables.wave.push(0x55);
    let start = tables.wave.len() as u32;
    tables.wave.extend(encoder::stream(frames));
    let end = tables.wave.len() as u32;
    // The next PCM sample must begin at an even byte offset.
    tables.wave.resize(tables.wave.len().next_multiple_of(2), 0);
    let header = &mut tables.samples[usize::from(sample)];
    (header.start, header.end, header.kind) = (start, end, MONO | VORBIS);
    (header.loop_start, header.loop_end) = (loops.start, loops.end);
    sample
}

/// Adds a preset of bank 0 that plays one sample.
fn add_preset(tables: &mut Tables, program: u16, generators: &[(u16, i16)], sample: u16) {
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(generators), &[]), Some(sample));
    tables.add_preset(0, program);
    tables.add_preset_zone((&[], &[]), Some(instrument));
}

/// Returns a rig that plays a compressed sample. In the sample data, a PCM sample of full scale
/// precedes it.
fn compressed(frames: &[i16], generators: &[(u16, i16)]) -> Rig {
    let mut tables = empty();
    tables.add_sample(&[i16::MAX; 1_000], 0..0);
    let sample = add_stream(&mut tables, frames, LOOP);
    add_preset(&mut tables, 0, generators, sample);
    Rig::of(&tables)
}

/// Returns the frame of the ramp that plays at an output frame, with an error of up to two frames.
fn source_frame(sound: &Sound, output_frame: usize) -> f64 {
    let full_level = Rig::level(&[]).hold(60, 127, 0.1).left[frame(0.05)] / 32_767.0;
    2.0 * sound.left[output_frame] / full_level
}

const ONCE: i16 = 0;

#[test]
fn a_compressed_sample_plays_completely_one_frame_per_output_frame() {
    let sound = compressed(&ramp(), &[(SAMPLE_MODES, ONCE)]).hold(60, 127, 1.3);
    for position_frames in [10, 127, 128, 5_000, 30_001, 59_000] {
        assert_near(
            &format!("frame {position_frames}"),
            source_frame(&sound, position_frames),
            position_frames as f64,
            3.0,
        );
    }
    let last_frame = sound.left.iter().rposition(|value| *value != 0.0).expect("a sound");
    assert_near("the end in seconds", last_frame as f64 / RATE_HZ, 1.25, 0.0002);
}

#[test]
fn loop_addresses_are_relative_to_the_first_decoded_frame() {
    let sound = compressed(&ramp(), &[]).hold(60, 127, 0.1);
    let jump = (1..sound.left.len()).find(|&n| sound.left[n] < sound.left[n - 1] * 0.9).expect("a loop");
    assert_near("the last frame", source_frame(&sound, jump - 1), f64::from(LOOP.end - 1), 3.0);
    assert_near("the first frame", source_frame(&sound, jump), f64::from(LOOP.start), 3.0);
}

#[test]
fn address_offsets_of_a_zone_are_in_decoded_frames() {
    let cases = [
        (&[(START_ADDRS_OFFSET, 500)][..], 500.0),
        (&[(START_ADDRS_COARSE_OFFSET, 1)], 32_768.0),
        (&[(START_ADDRS_COARSE_OFFSET, 1), (START_ADDRS_OFFSET, -768)], 32_000.0),
    ];
    for (generators, first_frame) in cases {
        let generators = [&[(SAMPLE_MODES, ONCE)], generators].concat();
        let sound = compressed(&ramp(), &generators).hold(60, 127, 0.1);
        assert_near("the first frame", source_frame(&sound, 40) - 40.0, first_frame, 3.0);
    }
    let shorter = compressed(&ramp(), &[(SAMPLE_MODES, ONCE), (END_ADDRS_OFFSET, -12_000)]);
    let sound = shorter.hold(60, 127, 1.3);
    let last_frame = sound.left.iter().rposition(|value| *value != 0.0).expect("a sound");
    assert_near("the end in seconds", last_frame as f64 / RATE_HZ, 1.0, 0.0002);
    let sound = compressed(&ramp(), &[(STARTLOOP_ADDRS_OFFSET, 400), (ENDLOOP_ADDRS_OFFSET, 1_100)])
        .hold(60, 127, 0.1);
    let jump = (1..sound.left.len()).find(|&n| sound.left[n] < sound.left[n - 1] * 0.9).expect("a loop");
    assert_near("the loop's last frame", source_frame(&sound, jump - 1), 2_999.0, 3.0);
    assert_near("the loop's first frame", source_frame(&sound, jump), 500.0, 3.0);
}

#[test]
fn the_noise_of_a_compressed_loop_is_below_minus_85_db() {
    // The noise of a 16-bit sine with an amplitude of 16000 is 95 dB below the sine.
    for key in [48_u8, 60, 67] {
        let sound = compressed(&sine(), &[]).hold(key, 127, 2.0);
        let ratio = libm::exp2((f64::from(key) - 60.0) / 12.0);
        let late_part = &sound.left[frame(1.5)..frame(1.9)];
        let pitch = cents(pitch_hz(&sound.left, 1.5, 1.9), ratio * SINE_HZ);
        assert_near(&format!("key {key}: the pitch"), pitch, 0.0, 0.1);
        let noise_db = residue_db(late_part, ratio * std::f64::consts::TAU / 100.0);
        assert!(noise_db < -85.0, "key {key}: noise of {noise_db} dB relative to the sine");
    }
}

#[test]
fn a_bank_can_mix_compressed_and_pcm_samples() {
    // The bank has the same sine twice as PCM and twice compressed. Preset 0:4 plays PCM on the
    // left and a compressed sample on the right.
    let mut tables = empty();
    let first = add_stream(&mut tables, &sine(), LOOP);
    let second = tables.add_sample(&sine(), LOOP);
    let third = add_stream(&mut tables, &sine(), LOOP);
    let fourth = tables.add_sample(&sine(), LOOP);
    for (program, sample) in [first, second, third, fourth].into_iter().enumerate() {
        add_preset(&mut tables, program as u16, &[], sample);
    }
    let instrument = tables.add_instrument();
    for (sample, pan) in [(second, -500), (third, 500)] {
        tables.add_instrument_zone((&steady(&[(PAN, pan)]), &[]), Some(sample));
    }
    tables.add_preset(0, 4);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    let sound = |program: u8| Rig::of(&tables).with_preset(0, program).hold(64, 127, 1.0);
    let pcm = sound(1);
    for program in [0, 2, 3] {
        let played_sound = sound(program);
        let difference: Vec<f64> =
            pcm.left.iter().zip(&played_sound.left).map(|(pcm, played_sound)| pcm - played_sound).collect();
        let difference_db = db((rms(&difference) / rms(&pcm.left)).max(1e-9));
        assert!(difference_db < -85.0, "preset {program} differs from PCM by {difference_db} dB");
    }
    let mixed_sound = sound(4);
    let part = |side: &[f64]| rms(&side[frame(0.1)..frame(0.9)]);
    assert_near("left against right", db(part(&mixed_sound.left) / part(&mixed_sound.right)), 0.0, 0.001);
    assert_near("panned left against centred", db(part(&mixed_sound.left) / part(&pcm.left)), 3.01, 0.01);
}

#[test]
fn the_sample_header_delimits_each_stream() {
    // Three consecutive streams have tones of 480, 960 and 1440 Hz that last 20, 40 and 60 ms.
    let mut tables = empty();
    for number in 1..=3_u32 {
        let angle = |n: u32| f64::from(n * number) * std::f64::consts::TAU / 100.0;
        let frames: Vec<i16> =
            (0..960 * number).map(|n| libm::round(16_000.0 * libm::sin(angle(n))) as i16).collect();
        let sample = add_stream(&mut tables, &frames, 0..0);
        add_preset(&mut tables, number as u16 - 1, &[(SAMPLE_MODES, ONCE)], sample);
    }
    for number in 1..=3_u8 {
        let sound = Rig::of(&tables).with_preset(0, number - 1).hold(60, 127, 0.2);
        let secs = 0.02 * f64::from(number);
        let last_frame = sound.left.iter().rposition(|value| *value != 0.0).expect("a sound");
        assert_near(
            &format!("the end of stream {number} in seconds"),
            last_frame as f64 / RATE_HZ,
            secs,
            0.0002,
        );
        let pitch = cents(pitch_hz(&sound.left, 0.001, secs), f64::from(number) * SINE_HZ);
        assert_near(&format!("the pitch of stream {number} in cents"), pitch, 0.0, 0.5);
    }
}

#[test]
fn the_sample_header_and_its_link_tune_a_compressed_sample() {
    // The sample rate of the sample header applies instead of the stream's 48 kHz. The samples of a
    // compressed stereo pair have the pitch of the right sample, like those of any pair.
    let mut tables = empty();
    let sample = add_stream(&mut tables, &sine(), LOOP);
    add_preset(&mut tables, 0, &[], sample);
    let header = &mut tables.samples[usize::from(sample)];
    (header.rate_hz, header.root_key, header.correction_cents) = (24_000, 48, 20);
    let sound = Rig::of(&tables).hold(60, 127, 0.5);
    assert_near(
        "rate, root key and correction of the header",
        cents(pitch_hz(&sound.left, 0.05, 0.5), SINE_HZ),
        20.0,
        0.2,
    );

    let mut tables = empty();
    for (link, kind) in [(1, LEFT), (0, RIGHT)] {
        let sample = add_stream(&mut tables, &sine(), LOOP);
        let header = &mut tables.samples[usize::from(sample)];
        (header.link, header.kind) = (link, kind | VORBIS);
    }
    let instrument = tables.add_instrument();
    for (sample, pan, tune) in [(0, -500, 50), (1, 500, -30)] {
        tables.add_instrument_zone((&steady(&[(PAN, pan), (FINE_TUNE, tune)]), &[]), Some(sample));
    }
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    let sound = Rig::of(&tables).hold(60, 127, 0.5);
    for side in [&sound.left, &sound.right] {
        assert_near("the tuning of the right sample", cents(pitch_hz(side, 0.05, 0.5), SINE_HZ), -30.0, 0.2);
    }
}

#[test]
fn a_release_leaves_a_compressed_loop() {
    // The note is released after half a second. The frames after the current one then play to the
    // end.
    let rig = compressed(&ramp(), &[(SAMPLE_MODES, 3), (RELEASE_VOL_ENV, 3_600)]);
    let sound = rig.play(&[(0.0, on(60, 127)), (0.5, off(60))], 2.5);
    let at_release = 100 + (24_000 - 100) % 1_800;
    let last_frame = sound.left.iter().rposition(|value| *value != 0.0).expect("a sound");
    assert_near(
        "the end in seconds",
        last_frame as f64 / RATE_HZ,
        f64::from(24_000 + 60_000 - at_release) / RATE_HZ,
        0.001,
    );
}
