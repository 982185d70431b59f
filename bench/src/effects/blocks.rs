//! Measures the processor time of single effects without the mixer, in the way that
//! `bench/python/pedalboard_effects.py` measures those of pedalboard.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::PathBuf;

use anyhow::ensure;
use dsp_core::effects::{EffectConfig, effect_kind};
use dsp_core::mixer::{EffectChain, EffectSlot};

use super::settings::active_effect;
use super::{PLAIN, read_channels};
use crate::process::process_cpu_secs;
use crate::song::RATE_HZ;

/// Frames per call.
pub(crate) const BLOCK_FRAMES: usize = 512;

/// Number of times that an effect processes the recording.
pub(crate) const PASSES: usize = 3;

/// Nanoseconds of processor time per stereo frame, by id of the effect.
pub(crate) type FrameTimes = BTreeMap<String, f64>;

/// Processes a recording with each of some effects. Prints the nanoseconds of processor time per
/// frame as JSON.
#[derive(Debug, clap::Args)]
pub(crate) struct BlocksArgs {
    /// The recording: interleaved stereo floats.
    audio: PathBuf,
    /// Ids of the effects; `plain` for a chain without effects.
    #[arg(required = true)]
    kinds: Vec<String>,
}

pub(crate) fn blocks(args: &BlocksArgs) -> anyhow::Result<()> {
    let input = read_channels(&args.audio)?;
    let mut frame_times = FrameTimes::new();
    for kind in &args.kinds {
        frame_times.insert(kind.clone(), frame_ns(kind, &input)?);
    }
    println!("{}", serde_json::to_string(&frame_times)?);
    Ok(())
}

/// Processes the recording and returns the nanoseconds per frame. They include copies of the input
/// to the output, which is then processed in place.
fn frame_ns(kind: &str, input: &[Vec<f32>; 2]) -> anyhow::Result<f64> {
    let mut chain = EffectChain::new(RATE_HZ);
    if kind != PLAIN {
        let settings = active_effect(kind)?;
        let config = EffectConfig { sample_rate_hz: RATE_HZ, seed: 1, impulse: None };
        let Some(kind) = effect_kind(kind) else { anyhow::bail!("the engine has no effect {kind:?}") };
        let mut slot = EffectSlot::new("effect", kind, &config);
        for (index, value) in settings.values.iter().enumerate() {
            slot.set_parameter(index, *value, 0);
        }
        chain.push(slot);
    }
    let [left_in, right_in] = input;
    // A copy, so that no page of the output is allocated during the measurement.
    let [mut left_out, mut right_out] = black_box(input.clone());
    let start_secs = process_cpu_secs()?;
    for _ in 0..PASSES {
        for start in (0..left_in.len()).step_by(BLOCK_FRAMES) {
            let block = start..left_in.len().min(start + BLOCK_FRAMES);
            let (left, right) = (&mut left_out[block.clone()], &mut right_out[block.clone()]);
            left.copy_from_slice(&left_in[block.clone()]);
            right.copy_from_slice(&right_in[block]);
            chain.process(left, right, &[]);
        }
    }
    let secs = process_cpu_secs()? - start_secs;
    let is_changed = black_box([&left_out, &right_out]) != [left_in, right_in];
    ensure!(is_changed == (kind != PLAIN), "the effect {kind} does not change the recording");
    Ok(secs * 1e9 / (PASSES * left_in.len()) as f64)
}
