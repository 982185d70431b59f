//! Checks that factory presets are valid, and that their effects keep a usable level.

use std::collections::BTreeSet;

use dsp_core::effects::{EFFECTS, EffectConfig, MusicalTime, effect_kind};
use dsp_core::mixer::{EffectChain, EffectSlot};

use super::*;
use crate::presets::content;

const RATE_HZ: u32 = 48_000;

/// Returns the input signal of a chain: noise and a tone, at about -18 dBFS.
fn test_signal(frames: usize) -> Vec<f32> {
    let mut seed = 1_u32;
    let tone = std::f64::consts::TAU * 220.0 / f64::from(RATE_HZ);
    (0..frames)
        .map(|frame| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let noise = f64::from(seed >> 8) / f64::from(1 << 23) - 1.0;
            (0.1 * noise + 0.15 * (tone * frame as f64).sin()) as f32
        })
        .collect()
}

fn rms_db(samples: &[f32]) -> f64 {
    let power: f64 =
        samples.iter().map(|sample| f64::from(*sample).powi(2)).sum::<f64>() / samples.len() as f64;
    10.0 * power.log10()
}

fn chain_of(preset: &StoredPreset) -> EffectChain {
    let mut chain = EffectChain::new(RATE_HZ);
    let config = EffectConfig { sample_rate_hz: RATE_HZ, seed: 1, impulse: None };
    let content = preset.content.view().to_value();
    for (index, effect) in content["effects"].as_array().expect("effects").iter().enumerate() {
        let kind = effect_kind(effect["name"].as_str().expect("a name")).expect("a kind");
        let mut slot = EffectSlot::new(&index.to_string(), kind, &config);
        for (id, value) in effect["params"].as_object().expect("parameters") {
            let parameter = kind.parameter_index(id).expect("a parameter");
            slot.set_parameter(parameter, value.as_f64().expect("a number"), 0);
        }
        chain.push(slot);
    }
    chain.reset(0);
    chain.set_time(MusicalTime { bpm: 120.0, beat: 0.0 });
    chain
}

#[test]
fn every_preset_is_a_valid_user_preset() {
    let ids: BTreeSet<&str> = PRESETS.iter().map(|preset| preset.summary.id.as_str()).collect();
    assert_eq!(ids.len(), PRESETS.len(), "an id occurs twice");
    assert!(PRESETS.len() >= 40, "{}", PRESETS.len());
    for preset in PRESETS.iter() {
        let content = preset.content.view().to_value();
        let checked_content = content::check_content(preset.summary.kind, &content);
        assert_eq!(checked_content.as_ref(), Ok(&content), "{}", preset.summary.id);
        assert!(preset.summary.description.ends_with('.'), "{}", preset.summary.id);
    }
}

#[test]
fn the_factory_presets_use_every_effect_of_the_engine() {
    let used = |id: &str| {
        PRESETS
            .iter()
            .flat_map(|preset| preset.content.view().list("effects"))
            .any(|effect| effect.text("name").as_deref() == Some(id))
    };
    for kind in EFFECTS {
        assert!(used(kind.id), "no factory preset uses {}", kind.id);
    }
}

#[test]
fn every_chain_changes_the_signal_and_keeps_a_usable_level() {
    let input = test_signal(2 * RATE_HZ as usize);
    // Only the second half is measured, after latencies and fade-ins.
    let measured_range = RATE_HZ as usize..input.len();
    let input_db = rms_db(&input[measured_range.clone()]);
    let mut unusable = Vec::new();
    for preset in PRESETS.iter().filter(|preset| preset.summary.kind != PresetKind::Export) {
        let mut chain = chain_of(preset);
        let right_input: Vec<f32> = input.iter().map(|sample| sample * 0.8).collect();
        let (mut left, mut right) = (input.clone(), right_input.clone());
        let side_chains = vec![None; chain.slots().len()];
        for (left, right) in left.chunks_mut(512).zip(right.chunks_mut(512)) {
            chain.process(left, right, &side_chains);
        }
        assert!(left.iter().chain(&right).all(|sample| sample.is_finite()), "{}", preset.summary.id);
        let changes_signal = left != input || right != right_input;
        assert!(changes_signal, "{} does not change the signal", preset.summary.id);
        let change_db = rms_db(&left[measured_range.clone()]) - input_db;
        let peak = left.iter().chain(&right).fold(0.0_f32, |peak, sample| peak.max(sample.abs()));
        if !(-15.0..=9.0).contains(&change_db) || peak > 1.5 {
            let id = &preset.summary.id;
            unusable.push(format!("{id} changes the level by {change_db:.1} dB and peaks at {peak:.2}"));
        }
    }
    assert_eq!(unusable, Vec::<String>::new());
}
