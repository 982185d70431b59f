//! Tests of parameter changes: each takes effect at its frame, whatever else changes at the same
//! time.

use dsp_core::effects::{EFFECTS, EffectKind, MusicalTime, Parameter, Unit};
use dsp_core::mixer::EffectChain;

use crate::measure::{RATE_HZ, chain_of, constant, db, largest_step, noise, peak, process};

fn index(chain: &EffectChain, parameter: &str) -> usize {
    let kind = chain.slots().first().expect("an effect").kind();
    kind.parameter_index(parameter).expect("a parameter")
}

/// Returns a value that differs audibly from the default.
fn audible_value(parameter: &Parameter) -> f64 {
    let below = f64::midpoint(parameter.min, parameter.default);
    let value = if parameter.default < f64::midpoint(parameter.min, parameter.max) {
        f64::midpoint(parameter.default, parameter.max)
    } else {
        below
    };
    parameter.clamp(value)
}

/// Whether a parameter changes the phase of LFOs. `tests/engine` tests these parameters.
fn changes_lfo_phase(kind: &EffectKind, parameter: &Parameter) -> bool {
    let is_rate = parameter.unit == Unit::Hertz && parameter.max < 100.0;
    is_rate || (kind.id == "tremolo" && ["sync", "note"].contains(&parameter.id))
}

#[test]
fn a_value_set_during_playback_has_the_same_effect_as_one_set_before() {
    const CHANGE_FRAME: usize = 10_007;
    // These settings activate bands and an LFO, so that changes of all their parameters are
    // audible.
    let active: &[(&str, f64)] = &[
        ("low_cut_on", 1.0),
        ("low_shelf_gain_db", 6.0),
        ("bell_1_gain_db", 6.0),
        ("bell_2_gain_db", -6.0),
        ("bell_3_gain_db", 6.0),
        ("bell_4_gain_db", -6.0),
        ("high_shelf_gain_db", 6.0),
        ("high_cut_on", 1.0),
        ("mono_below_on", 1.0),
        ("lfo_octaves", 0.5),
    ];
    let input = noise(0.1, 10 * RATE_HZ as usize);
    for kind in EFFECTS {
        let active: Vec<_> =
            active.iter().copied().filter(|(id, _)| kind.parameter_index(id).is_some()).collect();
        for (number, parameter) in kind.parameters.iter().enumerate() {
            if changes_lfo_phase(kind, parameter) {
                continue;
            }
            let value = audible_value(parameter);
            let [mut early_output, mut late_output] = [(); 2].map(|()| chain_of(kind.id, &active));
            early_output.automate(0, number, value, 0);
            early_output.reset(0);
            early_output.set_time(MusicalTime { bpm: 120.0, beat: 0.0 });
            let early_output = process(&mut early_output, &input);
            let part =
                |range: core::ops::Range<usize>| input.each_ref().map(|side| side[range.clone()].to_vec());
            process(&mut late_output, &part(0..CHANGE_FRAME));
            late_output.automate(0, number, value, 0);
            let late_output = process(&mut late_output, &part(CHANGE_FRAME..input[0].len()));
            // The comparison starts when the response to input before the change has decayed.
            let tail = 9 * RATE_HZ as usize;
            for side in 0..2 {
                let differences: Vec<f32> = early_output[side][tail..]
                    .iter()
                    .zip(&late_output[side][tail - CHANGE_FRAME..])
                    .map(|(a, b)| a - b)
                    .collect();
                let difference_db = db(peak(&differences));
                assert!(
                    difference_db < -90.0,
                    "{} {} at {value}: a difference of {difference_db:.1} dBFS",
                    kind.id,
                    parameter.id
                );
            }
        }
    }
}

#[test]
fn gains_and_mixes_set_without_a_ramp_change_at_exactly_their_frame() {
    for (kind, parameter, from, to) in [
        ("delay", "mix", 0.0, 1.0),
        ("reverb", "mix", 0.0, 1.0),
        ("chorus", "mix", 0.0, 1.0),
        ("flanger", "mix", 0.0, 1.0),
        ("phaser", "mix", 0.0, 1.0),
        ("tremolo", "depth", 0.0, 1.0),
        ("filter", "mix", 0.0, 1.0),
        ("bit_crusher", "mix", 0.0, 1.0),
        ("utility", "gain_db", 0.0, -12.0),
        ("compressor", "makeup_db", 0.0, -12.0),
    ] {
        let input = noise(0.1, 1_000);
        for change_frame in [320, 321, 351] {
            let output_with = |values: [f64; 2]| {
                let mut chain = chain_of(kind, &[(parameter, values[0])]);
                let part = |range: core::ops::Range<usize>| {
                    input.each_ref().map(|side| side[range.clone()].to_vec())
                };
                let mut output = process(&mut chain, &part(0..change_frame));
                chain.automate(0, index(&chain, parameter), values[1], 0);
                let later_output = process(&mut chain, &part(change_frame..1_000));
                output
                    .iter_mut()
                    .zip(later_output)
                    .for_each(|(output, later_output)| output.extend(later_output));
                output
            };
            let (value_before, stepped, value_after) =
                (output_with([from, from]), output_with([from, to]), output_with([to, to]));
            let first = (0..1_000).find(|frame| value_before[0][*frame] != stepped[0][*frame]);
            assert_eq!(first, Some(change_frame), "{kind}: the first changed frame");
            let last = (0..1_000).rfind(|frame| (value_after[0][*frame] - stepped[0][*frame]).abs() > 1e-4);
            assert!(
                last.is_none_or(|last| last < change_frame),
                "{kind}: frame {last:?} does not have the new value set at frame {change_frame}"
            );
        }
    }
}

#[test]
fn a_manual_ramp_is_independent_of_automation() {
    for (kind, manual_id, value, automated_id, range) in [
        ("utility", "invert_left", 1.0, "gain_db", [0.0, -1.0]),
        ("utility", "balance", 0.5, "gain_db", [0.0, -1.0]),
        ("saturator", "output_db", -6.0, "drive_db", [0.0, 1.0]),
    ] {
        let steps = [false, true].map(|is_automated| {
            let mut chain = chain_of(kind, &[("drive_db", 0.0)][..usize::from(kind == "saturator")]);
            let automated_index = index(&chain, automated_id);
            process(&mut chain, &constant(-12.0, 9_600));
            let manual = index(&chain, manual_id);
            chain.set_parameter(0, manual, value);
            let output = (0..300).flat_map(|step| {
                if is_automated {
                    let fraction = f64::from(step + 1) / 3_000.0;
                    chain.automate(0, automated_index, range[0] + (range[1] - range[0]) * fraction, 32);
                }
                process(&mut chain, &constant(-12.0, 32))[0].clone()
            });
            largest_step(&output.collect::<Vec<f32>>())
        });
        println!("{kind} {manual_id}: largest step {:.6} without, {:.6} with automation", steps[0], steps[1]);
        assert!(steps[1] < 1.5 * steps[0], "{kind} {manual_id}: {steps:?}");
    }
}
