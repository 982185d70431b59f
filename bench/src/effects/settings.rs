//! Effects with typical settings, at which every effect changes its input.

use anyhow::Context as _;
use dsp_core::effects::{EFFECTS, effect_kind};
use dsp_core::session::EffectSettings;

/// Values for the effects that change little or nothing at their defaults.
const ACTIVE_VALUES: &[(&str, &[(&str, f64)])] = &[
    ("utility", &[("gain_db", -2.0), ("balance", 0.2)]),
    ("compressor", &[("threshold_db", -30.0), ("ratio", 4.0), ("makeup_db", 4.0)]),
    ("gate", &[("threshold_db", -30.0)]),
    ("limiter", &[("input_gain_db", 9.0), ("ceiling_dbtp", -3.0)]),
    ("de_esser", &[("threshold_db", -40.0), ("frequency_hz", 6_000.0)]),
    (
        "equalizer",
        &[
            ("bell_1_gain_db", 3.0),
            ("bell_2_gain_db", -4.0),
            ("bell_3_gain_db", 2.0),
            ("bell_4_gain_db", 3.0),
        ],
    ),
    ("filter", &[("cutoff_hz", 1_200.0), ("resonance_db", 6.0), ("lfo_octaves", 1.0)]),
    ("saturator", &[("drive_db", 15.0)]),
    ("bit_crusher", &[("bits", 8.0), ("rate_hz", 11_025.0)]),
    ("width", &[("width", 1.4), ("mono_below_on", 1.0)]),
];

/// Returns the ids of all effects.
pub(super) fn effect_ids() -> impl Iterator<Item = &'static str> {
    EFFECTS.iter().map(|kind| kind.id)
}

/// Returns an effect with settings at which it changes its input.
///
/// # Errors
///
/// If the engine has no such effect, or if the effect has no such parameter.
pub(super) fn active_effect(kind: &str) -> anyhow::Result<EffectSettings> {
    let changed_values = ACTIVE_VALUES
        .iter()
        .find(|(id, _)| *id == kind)
        .map_or(&[][..], |(_, changed_values)| changed_values);
    effect_with(kind, changed_values)
}

/// Returns an effect with these values. All other parameters have their defaults.
///
/// # Errors
///
/// If the engine has no such effect, or if the effect has no such parameter.
pub(super) fn effect_with(kind: &str, changed_values: &[(&str, f64)]) -> anyhow::Result<EffectSettings> {
    let effect = effect_kind(kind).with_context(|| format!("the engine has no effect {kind:?}"))?;
    let mut values: Vec<f64> = effect.parameters.iter().map(|parameter| parameter.default).collect();
    for (id, value) in changed_values {
        let parameter =
            effect.parameter_index(id).with_context(|| format!("{kind} has no parameter {id:?}"))?;
        values[parameter] = *value;
    }
    Ok(EffectSettings {
        id: kind.into(),
        kind: kind.into(),
        values,
        bypass: false,
        side_chain: None,
        audio_slot: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsp_core::effects::EffectConfig;
    use dsp_core::mixer::{EffectChain, EffectSlot};

    /// The engine may skip an effect that changes nothing. The benchmark would then measure too
    /// little.
    #[test]
    fn every_effect_of_the_engine_changes_the_sound() {
        let tone = |radians: f32| -> Vec<f32> {
            (0..48_000_u16).map(|frame| (f32::from(frame) * radians).sin() * 0.5).collect()
        };
        // The left channel has a low tone. The right channel has 7.6 kHz, which a de-esser reduces.
        let input = [tone(0.05), tone(1.0)];
        for kind in EFFECTS {
            let settings = active_effect(kind.id).unwrap();
            let config = EffectConfig { sample_rate_hz: 48_000, seed: 1, impulse: None };
            let mut slot = EffectSlot::new("effect", kind, &config);
            for (index, value) in settings.values.iter().enumerate() {
                slot.set_parameter(index, *value, 0);
            }
            let mut chain = EffectChain::new(48_000);
            chain.push(slot);
            let [mut left, mut right] = input.clone();
            chain.process(&mut left, &mut right, &[]);
            assert!([left, right] != input, "{} changes nothing", kind.id);
        }
    }
}
