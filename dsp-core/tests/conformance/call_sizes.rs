//! Tests that the output does not depend on how many frames a call renders.

use dsp_core::session::{Event, Interpolation};

use crate::generator::*;
use crate::maker::Tables;
use crate::rig::{LOOP, RATE_HZ, Rig, Sound, bend, control, off, on, sine, steady};

/// Odd numbers of frames, of which the last is longer than every control interval.
const CALL_FRAMES: [usize; 5] = [1, 3, 77, 333, 4_095];

/// Returns a bank whose preset plays a stereo sample with all modulation sources, and a second
/// layer whose sample ends.
fn modulated_bank() -> Tables {
    let mut tables = Tables::new();
    for (link, kind) in [(1, 4), (0, 2)] {
        let sample = tables.add_sample(&sine(), LOOP);
        let header = &mut tables.samples[usize::from(sample)];
        (header.link, header.kind) = (link, kind);
    }
    let moving = [
        (MOD_LFO_TO_PITCH, 50),
        (VIB_LFO_TO_PITCH, 30),
        (MOD_ENV_TO_PITCH, -300),
        (INITIAL_FILTER_FC, 8_000),
        (INITIAL_FILTER_Q, 120),
        (MOD_LFO_TO_FILTER_FC, 1_200),
        (MOD_ENV_TO_FILTER_FC, 2_400),
        (MOD_LFO_TO_VOLUME, 40),
        (CHORUS_EFFECTS_SEND, 300),
        (DELAY_MOD_LFO, -4_000),
        (FREQ_MOD_LFO, 0),
        (DELAY_VIB_LFO, -6_000),
        (ATTACK_MOD_ENV, -3_000),
        (DECAY_MOD_ENV, -2_000),
        (SUSTAIN_MOD_ENV, 400),
        (DELAY_VOL_ENV, -7_000),
        (ATTACK_VOL_ENV, -5_000),
        (DECAY_VOL_ENV, -2_000),
        (SUSTAIN_VOL_ENV, 150),
        (RELEASE_VOL_ENV, -3_000),
        (SAMPLE_MODES, 3),
    ];
    let instrument = tables.add_instrument();
    tables.add_instrument_zone((&steady(&[&[(PAN, -400)], &moving[..]].concat()), &[]), Some(0));
    tables.add_instrument_zone((&steady(&[&[(PAN, 400)], &moving[..]].concat()), &[]), Some(1));
    tables.add_instrument_zone((&[(COARSE_TUNE, -7), (EXCLUSIVE_CLASS, 1)], &[]), Some(0));
    tables.add_preset(0, 0);
    tables.add_preset_zone((&[], &[]), Some(instrument));
    tables
}

/// Returns more notes than the rig has voices, and events of every kind at odd frames. `bend_range`
/// is in semitones.
fn events(bend_range: u8) -> Vec<(f64, Event)> {
    let settings =
        [control(65, 127), control(5, 40), control(101, 0), control(100, 0), control(6, bend_range)];
    let mut events = settings.map(|event| (0.0, event)).to_vec();
    for number in 0..24_u8 {
        let secs = f64::from(number) * 2_111.0 / RATE_HZ;
        let later_secs = |frames: u32| secs + f64::from(frames) / RATE_HZ;
        events.push((secs, on(40 + number * 5 % 37, 60 + number * 2)));
        events.push((later_secs(7), bend(i16::from(number) * 300 - 3_000)));
        events.push((later_secs(500), control(1, number * 5)));
        events.push((later_secs(701), control(11, 127 - number)));
        events.push((later_secs(1_203), control(64, number % 3 * 60)));
        events.push((later_secs(1_950), off(40 + number * 5 % 37)));
    }
    events.sort_by(|first_event, second_event| first_event.0.total_cmp(&second_event.0));
    events
}

#[test]
fn the_output_does_not_depend_on_the_call_size() {
    let bits = |sound: &Sound| -> Vec<u64> {
        let outputs = [&sound.left, &sound.right, &sound.reverb, &sound.chorus];
        outputs.into_iter().flatten().map(|value| value.to_bits()).collect()
    };
    for interpolation in [Interpolation::Linear, Interpolation::FourPoint, Interpolation::Sinc] {
        // With the largest bend range, the loop repeats several times within a frame.
        for bend_range in [2, 127] {
            let play = |call_frames: &[usize]| {
                let rig = Rig::of(&modulated_bank()).with_polyphony(8).with_interpolation(interpolation);
                rig.with_call_frames(call_frames).play(&events(bend_range), 1.5)
            };
            let whole_sound = play(&[usize::MAX]);
            assert!(whole_sound.left.iter().any(|value| value.abs() > 0.05), "silent");
            for call_frames in CALL_FRAMES.map(|frames| vec![frames]).iter().chain([&CALL_FRAMES.to_vec()]) {
                let label = format!("{interpolation:?}, {bend_range} semitones, calls of {call_frames:?}");
                assert!(bits(&play(call_frames)) == bits(&whole_sound), "{label}");
            }
        }
    }
}
