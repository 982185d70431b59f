//! Tests of rules that apply to all effects.

use std::sync::LazyLock;

use assert_no_alloc::assert_no_alloc;
use dsp_core::effects::{
    CONTROL_FRAMES, EFFECTS, Effect, EffectConfig, EffectKind, MAX_INPUT_MAGNITUDE, MusicalTime, Scale,
    effect_kind,
};
use dsp_core::mixer::{EffectChain, EffectSlot};
use dsp_core::simd::force_baseline;

use crate::measure::{RATE_HZ, Stereo, noise, peak, process_with_side_chain, sine};

const SECOND: usize = RATE_HZ as usize;

const TIME: MusicalTime = MusicalTime { bpm: 97.0, beat: 0.0 };

/// The impulse response for the convolution: 0.3 s of decaying noise.
static RESPONSE: LazyLock<Stereo> = LazyLock::new(|| {
    let frames = 3 * SECOND / 10;
    noise(0.5, frames).map(|side| {
        let decay = |frame: usize| 10.0_f32.powf(-3.0 * frame as f32 / frames as f32);
        side.iter().enumerate().map(|(frame, value)| value * decay(frame)).collect()
    })
});

fn config(sample_rate_hz: u32) -> EffectConfig<'static> {
    EffectConfig { sample_rate_hz, seed: 1, impulse: Some(RESPONSE.each_ref().map(|side| &side[..])) }
}

/// The parameter values of a test. `Lowest` does not change the mix, so that the effect is audible.
#[derive(Clone, Copy, Debug)]
enum Setting {
    Defaults,
    Lowest,
    Highest,
    Middle,
}

const SETTINGS: [Setting; 4] = [Setting::Defaults, Setting::Lowest, Setting::Highest, Setting::Middle];

impl Setting {
    fn values(self, kind: &'static EffectKind) -> impl Iterator<Item = (usize, f64)> {
        kind.parameters.iter().enumerate().map(move |(index, parameter)| {
            let value = match self {
                Self::Defaults => parameter.default,
                Self::Lowest if parameter.id == "mix" => parameter.default,
                Self::Lowest => parameter.min,
                Self::Highest => parameter.max,
                Self::Middle if parameter.scale == Scale::Logarithmic => {
                    (parameter.min * parameter.max).sqrt()
                }
                Self::Middle => f64::midpoint(parameter.min, parameter.max),
            };
            (index, value)
        })
    }
}

fn chain(kind: &'static EffectKind, setting: Setting) -> EffectChain {
    chain_at(RATE_HZ, kind, setting)
}

fn chain_at(sample_rate_hz: u32, kind: &'static EffectKind, setting: Setting) -> EffectChain {
    let mut slot = EffectSlot::new("effect", kind, &config(sample_rate_hz));
    setting.values(kind).for_each(|(index, value)| slot.set_parameter(index, value, 0));
    let mut chain = EffectChain::new(sample_rate_hz);
    chain.push(slot);
    chain.set_time(TIME);
    chain
}

/// An effect without a chain. A chain would replace NaN and infinity.
struct BareEffect {
    effect: Box<dyn Effect>,
    kind: &'static EffectKind,
}

impl BareEffect {
    fn new(kind: &'static EffectKind, setting: Setting) -> Self {
        let mut effect = (kind.make)(&config(RATE_HZ));
        setting.values(kind).for_each(|(index, value)| effect.set_parameter(index, value, 0));
        effect.reset(0);
        effect.set_time(TIME);
        Self { effect, kind }
    }

    /// Processes audio, which is also the side-chain. With `has_changes`, two parameters change at
    /// the start of each tenth of the audio.
    fn play(&mut self, input: &Stereo, has_changes: bool) -> Stereo {
        let [mut left, mut right] = input.clone();
        let calls = left.len() / CONTROL_FRAMES;
        for call in 0..calls {
            if has_changes && call.is_multiple_of(calls / 10) {
                let number = call / (calls / 10);
                for index in [number, number + 5].map(|number| number % self.kind.parameters.len()) {
                    let parameter = &self.kind.parameters[index];
                    let value = if number.is_multiple_of(2) { parameter.min } else { parameter.max };
                    self.effect.set_parameter(index, value, 480);
                }
            }
            let part = call * CONTROL_FRAMES..(call + 1) * CONTROL_FRAMES;
            let side = input.each_ref().map(|side| &side[part.clone()]);
            self.effect.process([&mut left[part.clone()], &mut right[part]], Some(side));
        }
        [left, right]
    }
}

/// Processes audio in calls of these numbers of frames, while parameters, bypass and tempo change.
fn play(chain: &mut EffectChain, kind: &EffectKind, input: &Stereo, call_frames: &[usize]) -> Stereo {
    let frames = input[0].len();
    let [mut left, mut right] = input.clone();
    let side_chain = [input[1].clone(), input[0].clone()];
    let mut calls = call_frames.iter().cycle();
    let mut start = 0;
    // The changes are at the same frames for all call sizes.
    let mut changes = (1..9).map(|number| (number, number * frames / 9));
    let mut next = changes.next();
    while start < frames {
        if let Some((number, change_frame)) = next
            && change_frame == start
        {
            let index = number % kind.parameters.len();
            let parameter = &kind.parameters[index];
            let value = if number % 2 == 0 { parameter.min } else { parameter.max };
            assert_no_alloc(|| {
                chain.set_parameter(0, index, value);
                chain.set_bypass(0, number % 3 == 1);
                chain.set_time(MusicalTime { bpm: 97.0 + number as f64, ..TIME });
            });
            next = changes.next();
        }
        let end = next.map_or(frames, |(_, change_frame)| change_frame);
        let part = start..end.min(start + calls.next().copied().unwrap_or(1));
        let side_chain = [&side_chain[0][part.clone()], &side_chain[1][part.clone()]];
        assert_no_alloc(|| {
            chain.process(&mut left[part.clone()], &mut right[part.clone()], &[Some(side_chain)]);
        });
        start = part.end;
    }
    [left, right]
}

/// Processes audio in one call, without changes of parameters.
fn process_unchanged(chain: &mut EffectChain, input: &Stereo) -> Stereo {
    process_with_side_chain(chain, input, &[input[1].clone(), input[0].clone()])
}

fn bits(audio: &Stereo) -> Vec<u32> {
    audio.iter().flatten().map(|value| value.to_bits()).collect()
}

#[test]
fn the_output_does_not_depend_on_the_call_size() {
    let input = noise(0.5, SECOND / 2);
    for kind in EFFECTS {
        for setting in SETTINGS {
            let whole_output = play(&mut chain(kind, setting), kind, &input, &[usize::MAX / 2]);
            for calls in [&[1][..], &[128], &[512], &[3, 31, 1, 77, 256]] {
                let pieces = play(&mut chain(kind, setting), kind, &input, calls);
                assert!(
                    bits(&whole_output) == bits(&pieces),
                    "{} at {setting:?} in calls of {calls:?}",
                    kind.id
                );
            }
        }
    }
}

#[test]
fn the_output_does_not_depend_on_the_instruction_set() {
    let input = noise(0.5, SECOND / 2);
    for kind in EFFECTS {
        for setting in SETTINGS {
            force_baseline(true);
            let baseline = play(&mut chain(kind, setting), kind, &input, &[512]);
            force_baseline(false);
            let avx2 = play(&mut chain(kind, setting), kind, &input, &[512]);
            assert!(bits(&baseline) == bits(&avx2), "{} at {setting:?}", kind.id);
        }
    }
}

#[test]
fn skipping_silence_does_not_change_the_output() {
    // The input has bursts with silence between them. The longest silence is long enough for all
    // effects to fall silent.
    let mut input = noise(0.5, 4 * SECOND);
    for side in &mut input {
        for (frame, value) in side.iter_mut().enumerate() {
            let is_burst =
                [0..9_000, 60_011..61_000, 170_003..171_000].iter().any(|burst| burst.contains(&frame));
            *value = if is_burst { *value } else { 0.0 };
        }
    }
    // A nearly silent side-chain keeps effects from skipping silence.
    let nearly_silent = input.each_ref().map(|side| -> Vec<f32> {
        side.iter().map(|value| if *value == 0.0 { 1e-19 } else { *value }).collect()
    });
    for kind in EFFECTS {
        for setting in SETTINGS {
            let play = |side: &Stereo| {
                let mut chain = chain(kind, setting);
                let [mut left, mut right] = input.clone();
                let (mut start, mut calls) = (0, [32, 7, 100, 256].into_iter().cycle());
                while start < left.len() {
                    let part = start..left.len().min(start + calls.next().unwrap_or(1));
                    let side_chain = [&side[0][part.clone()], &side[1][part.clone()]];
                    chain.process(&mut left[part.clone()], &mut right[part.clone()], &[Some(side_chain)]);
                    // LFOs and ramps continue while an effect skips silence.
                    if start < 150_000 && part.end >= 150_000 {
                        (0..kind.parameters.len()).for_each(|index| {
                            let parameter = &kind.parameters[index];
                            chain.set_parameter(0, index, f64::midpoint(parameter.min, parameter.default));
                        });
                    }
                    start = part.end;
                }
                [left, right]
            };
            assert!(bits(&play(&input)) == bits(&play(&nearly_silent)), "{} at {setting:?}", kind.id);
        }
    }
}

#[test]
fn a_reset_effect_equals_a_new_effect() {
    // The input is longer than any echo, so state that survives the reset would be audible.
    let first_noise = noise(0.9, 4 * SECOND);
    let (second_noise, short_noise) = (noise(0.5, 4 * SECOND), noise(0.5, SECOND / 4));
    for kind in EFFECTS {
        for (setting, frame) in SETTINGS.into_iter().zip([0, 12_345, 0, 12_345]) {
            let fresh = |frame| {
                let mut chain = chain(kind, setting);
                chain.reset(frame);
                chain.set_time(MusicalTime { beat: 3.25, ..TIME });
                chain
            };
            let mut used_effect = fresh(7);
            process_unchanged(&mut used_effect, &first_noise);
            // These changes leave all parameters ramping back to their values.
            let values: Vec<(usize, f64)> = setting.values(kind).collect();
            for (index, value) in &values {
                used_effect.set_parameter(0, *index, kind.parameters[*index].max);
                used_effect.set_parameter(0, *index, *value);
            }
            used_effect.set_bypass(0, true);
            process_unchanged(&mut used_effect, &noise(0.5, 100));
            used_effect.set_bypass(0, false);
            process_unchanged(&mut used_effect, &noise(0.5, 100));
            assert_no_alloc(|| used_effect.reset(frame));
            used_effect.set_time(MusicalTime { beat: 3.25, ..TIME });
            let mut new = fresh(frame);
            let [output, expected] = [&mut used_effect, &mut new].map(|chain| {
                [process_unchanged(chain, &second_noise), play(chain, kind, &short_noise, &[512])]
            });
            for (output, expected) in output.iter().zip(&expected) {
                assert!(bits(output) == bits(expected), "{} at {setting:?}", kind.id);
            }
        }
    }
}

#[test]
fn output_is_finite_for_any_input() {
    for kind in EFFECTS {
        for setting in SETTINGS {
            let mut chain = chain(kind, setting);
            for (number, peak) in [1.0, MAX_INPUT_MAGNITUDE, f32::MAX, 1.0].into_iter().enumerate() {
                let mut input = noise(peak, SECOND / 8);
                if number == 2 {
                    input[0][100] = f32::NAN;
                    input[1][200] = f32::INFINITY;
                    input[0][300] = f32::NEG_INFINITY;
                    input[1][400] = f32::from_bits(1);
                }
                let output = play(&mut chain, kind, &input, &[100]);
                assert!(output.iter().flatten().all(|value| value.is_finite()), "{} at {setting:?}", kind.id);
            }
        }
    }
}

#[test]
fn the_loudest_input_leaves_a_finite_state() {
    let tone = sine(997.0, 0.25, 2 * SECOND);
    for kind in EFFECTS {
        for setting in SETTINGS {
            let mut used_effect = BareEffect::new(kind, setting);
            let mut outputs = Vec::new();
            for peak in [MAX_INPUT_MAGNITUDE, 1.0, MAX_INPUT_MAGNITUDE] {
                outputs.push(used_effect.play(&noise(peak, SECOND / 2), true));
            }
            outputs.push(used_effect.play(&tone, false));
            let is_finite = |audio: &Stereo| audio.iter().flatten().all(|value| value.is_finite());
            assert!(outputs.iter().all(is_finite), "{} at {setting:?}", kind.id);
        }
    }
}

#[test]
fn every_sample_rate_is_stable() {
    // The input is so quiet that no gain reaches the limit unless the effect is unstable.
    let input = noise(1e-9, SECOND / 4);
    for kind in EFFECTS {
        for setting in SETTINGS {
            for sample_rate_hz in [8_000, 44_100, 192_000] {
                let output = play(&mut chain_at(sample_rate_hz, kind, setting), kind, &input, &[512]);
                let loudest = output.iter().map(|values| peak(values)).fold(0.0, f64::max);
                assert!(
                    loudest < f64::from(MAX_INPUT_MAGNITUDE),
                    "{} at {setting:?}, {sample_rate_hz} Hz: a peak of {loudest}",
                    kind.id
                );
            }
        }
    }
}

#[test]
fn the_output_falls_silent_within_20_s_after_the_input() {
    for kind in EFFECTS {
        let mut chain = chain(kind, Setting::Defaults);
        let [left, right] = &mut noise(0.5, SECOND);
        chain.process(left, right, &[]);
        let mut second_noise = [vec![0.0; 20 * SECOND], vec![0.0; 20 * SECOND]];
        let [left, right] = &mut second_noise;
        chain.process(left, right, &[]);
        let end = second_noise.each_ref().map(|values| peak(&values[19 * SECOND..]));
        println!("{}: {end:?} after 19 s of silence", kind.id);
        assert!(end.iter().all(|peak| *peak < 1e-6), "{} is still audible at {end:?}", kind.id);
    }
}

#[test]
fn decaying_output_is_never_subnormal() {
    // An oscillating signal may have a few subnormal values at its zero crossings.
    const MAX_SUBNORMAL_VALUES: usize = 4;
    let silence = [vec![0.0; 10 * SECOND], vec![0.0; 10 * SECOND]];
    for kind in EFFECTS {
        for setting in SETTINGS {
            let mut bare = BareEffect::new(kind, setting);
            bare.play(&noise(0.5, SECOND), false);
            let second_noise = bare.play(&silence, false);
            let subnormal_count = second_noise.iter().flatten().filter(|value| value.is_subnormal()).count();
            println!("{} at {setting:?}: {subnormal_count} subnormal values", kind.id);
            assert!(subnormal_count <= MAX_SUBNORMAL_VALUES, "{} at {setting:?}", kind.id);
        }
    }
}

#[test]
fn silence_before_an_echo_is_not_longer_than_declared() {
    // A render that has fallen silent continues for a tenth of a second more than effects declare.
    const EXTRA_FRAMES: usize = SECOND / 10;
    const SILENCE: f32 = 1e-4;
    for kind in EFFECTS {
        for setting in SETTINGS {
            let mut chain = chain(kind, setting);
            let [left, right] = &mut noise(0.5, SECOND / 20);
            chain.process(left, right, &[]);
            let mut second_noise = [vec![0.0; 12 * SECOND], vec![0.0; 12 * SECOND]];
            let [left, right] = &mut second_noise;
            chain.process(left, right, &[]);
            let longest_silence_frames = chain.longest_silence_frames();
            let is_audible = |frame: &usize| second_noise.iter().any(|values| values[*frame].abs() > SILENCE);
            let (mut last, mut longest) = (0, 0);
            for frame in (0..12 * SECOND).filter(is_audible) {
                (longest, last) = (longest.max(frame - last), frame);
            }
            println!(
                "{} at {setting:?}: {longest} frames of silence, {longest_silence_frames} declared",
                kind.id
            );
            assert!(longest <= longest_silence_frames + EXTRA_FRAMES, "{} at {setting:?}", kind.id);
        }
    }
}

#[test]
fn a_bypass_delays_the_input_by_the_latency() {
    let input = noise(0.5, SECOND / 2);
    for kind in EFFECTS {
        let mut chain = chain(kind, Setting::Highest);
        chain.set_bypass(0, true);
        chain.reset(0);
        let latency_frames = chain.latency_frames();
        let [mut left, mut right] = input.clone();
        chain.process(&mut left, &mut right, &[]);
        let frames = left.len();
        assert!(left[latency_frames..] == input[0][..frames - latency_frames], "{}", kind.id);
        assert!(right[latency_frames..] == input[1][..frames - latency_frames], "{}", kind.id);
    }
}

#[test]
fn a_bypass_does_not_click() {
    // A crossfade adds at most its own slope to the slope of the tone.
    let tone = sine(100.0, 0.25, SECOND);
    let kind = effect_kind("utility").unwrap();
    let mut chain = chain(kind, Setting::Defaults);
    chain.set_parameter(0, kind.parameter_index("gain_db").unwrap(), -12.0);
    let [mut left, mut right] = tone;
    for (number, (left, right)) in left.chunks_mut(4_321).zip(right.chunks_mut(4_321)).enumerate() {
        chain.set_bypass(0, number % 2 == 0);
        chain.process(left, right, &[]);
    }
    let tone_step = 0.25 * std::f64::consts::TAU * 100.0 / f64::from(RATE_HZ);
    let fade_step = 0.25 / (0.01 * f64::from(RATE_HZ));
    for pair in left.windows(2) {
        let step = f64::from((pair[1] - pair[0]).abs());
        assert!(step < tone_step + fade_step, "a step of {step}, larger than those of tone and fade");
    }
}

#[test]
fn parameter_tables_are_consistent() {
    for (index, kind) in EFFECTS.iter().enumerate() {
        assert!(
            EFFECTS[..index].iter().all(|earlier_entry| earlier_entry.id != kind.id),
            "{} occurs twice",
            kind.id
        );
        for (index, parameter) in kind.parameters.iter().enumerate() {
            let label = format!("{}/{}", kind.id, parameter.id);
            assert!(
                kind.parameters[..index].iter().all(|earlier_entry| earlier_entry.id != parameter.id),
                "{label} occurs twice"
            );
            assert!(
                parameter.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
                "{label}"
            );
            assert!(parameter.min < parameter.max, "{label}");
            assert_eq!(parameter.clamp(parameter.default), parameter.default, "{label}");
            assert!(parameter.scale != Scale::Logarithmic || parameter.min > 0.0, "{label}");
            assert_eq!(parameter.clamp(f64::NAN), parameter.default, "{label}");
            assert_eq!(parameter.clamp(f64::INFINITY), parameter.max, "{label}");
        }
    }
}
