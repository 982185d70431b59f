//! Values on their way to effects: nothing that is set is lost, late or hurried by another.

use dsp_core::chain::Chain;
use dsp_core::effects::{EFFECTS, EffectKind, MusicalTime, Parameter, Unit};

use crate::measure::{RATE_HZ, chain_of, constant, db, noise, peak, steepest, through};

fn place(chain: &Chain, parameter: &str) -> usize {
    let kind = chain.slots().next().expect("an effect").kind();
    kind.parameter_place(parameter).expect("a parameter")
}

/// Another value than the default, and one that is heard.
fn other_value(parameter: &Parameter) -> f64 {
    let below = f64::midpoint(parameter.min, parameter.default);
    let value = if parameter.default < f64::midpoint(parameter.min, parameter.max) {
        f64::midpoint(parameter.default, parameter.max)
    } else {
        below
    };
    parameter.clamp(value)
}

/// Whether oscillators stand elsewhere after it moved: where they stand is tested with sessions.
fn turns_oscillators(kind: &EffectKind, parameter: &Parameter) -> bool {
    let is_rate = parameter.unit == Unit::Hertz && parameter.max < 100.0;
    is_rate || (kind.id == "tremolo" && ["sync", "note"].contains(&parameter.id))
}

#[test]
fn what_is_set_at_once_while_it_plays_is_as_if_it_had_been_set_before() {
    const BEFORE: usize = 10_007;
    // Bands at work, so that frequencies and widths are heard.
    let at_work: &[(&str, f64)] = &[
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
        let at_work: Vec<_> =
            at_work.iter().copied().filter(|(id, _)| kind.parameter_place(id).is_some()).collect();
        for (number, parameter) in kind.parameters.iter().enumerate() {
            if turns_oscillators(kind, parameter) {
                continue;
            }
            let value = other_value(parameter);
            let [mut early, mut late] = [(); 2].map(|()| chain_of(kind.id, &at_work));
            early.automate(0, number, value, 0);
            early.reset(0);
            early.set_time(MusicalTime { bpm: 120.0, beat: 0.0 });
            let early = through(&mut early, &input);
            let part =
                |range: core::ops::Range<usize>| input.each_ref().map(|side| side[range.clone()].to_vec());
            through(&mut late, &part(0..BEFORE));
            late.automate(0, number, value, 0);
            let late = through(&mut late, &part(BEFORE..input[0].len()));
            // What was heard before has faded by then.
            let tail = 9 * RATE_HZ as usize;
            for side in 0..2 {
                let differences: Vec<f32> = early[side][tail..]
                    .iter()
                    .zip(&late[side][tail - BEFORE..])
                    .map(|(a, b)| a - b)
                    .collect();
                let off_db = db(peak(&differences));
                assert!(off_db < -90.0, "{} {} at {value}: {off_db:.1} dBFS off", kind.id, parameter.id);
            }
        }
    }
}

#[test]
fn gains_and_mixes_step_at_their_frame() {
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
        for at in [320, 321, 351] {
            let played = |values: [f64; 2]| {
                let mut chain = chain_of(kind, &[(parameter, values[0])]);
                let part = |range: core::ops::Range<usize>| {
                    input.each_ref().map(|side| side[range.clone()].to_vec())
                };
                let mut output = through(&mut chain, &part(0..at));
                chain.automate(0, place(&chain, parameter), values[1], 0);
                let later = through(&mut chain, &part(at..1_000));
                output.iter_mut().zip(later).for_each(|(output, later)| output.extend(later));
                output
            };
            let (before, stepped, after) = (played([from, from]), played([from, to]), played([to, to]));
            let first = (0..1_000).find(|frame| before[0][*frame] != stepped[0][*frame]);
            assert_eq!(first, Some(at), "{kind}: the first frame that is other");
            let last = (0..1_000).rfind(|frame| (after[0][*frame] - stepped[0][*frame]).abs() > 1e-4);
            assert!(
                last.is_none_or(|last| last < at),
                "{kind}: at its new value after frame {last:?} of {at}"
            );
        }
    }
}

#[test]
fn a_hand_on_one_parameter_takes_its_time_while_another_follows_a_lane() {
    for (kind, by_hand, value, by_lane, lane) in [
        ("utility", "invert_left", 1.0, "gain_db", [0.0, -1.0]),
        ("utility", "balance", 0.5, "gain_db", [0.0, -1.0]),
        ("saturator", "output_db", -6.0, "drive_db", [0.0, 1.0]),
    ] {
        let steps = [false, true].map(|has_lane| {
            let mut chain = chain_of(kind, &[("drive_db", 0.0)][..usize::from(kind == "saturator")]);
            let by_lane = place(&chain, by_lane);
            through(&mut chain, &constant(-12.0, 9_600));
            let hand = place(&chain, by_hand);
            chain.set(0, hand, value);
            let heard = (0..300).flat_map(|step| {
                if has_lane {
                    let way = f64::from(step + 1) / 3_000.0;
                    chain.automate(0, by_lane, lane[0] + (lane[1] - lane[0]) * way, 32);
                }
                through(&mut chain, &constant(-12.0, 32))[0].clone()
            });
            steepest(&heard.collect::<Vec<f32>>())
        });
        println!("{kind} {by_hand}: steepest step {:.6} alone, {:.6} beside a lane", steps[0], steps[1]);
        assert!(steps[1] < 1.5 * steps[0], "{kind} {by_hand}: {steps:?}");
    }
}
