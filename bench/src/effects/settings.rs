//! Settings, typical of songs, at which every effect processes its input.

use anyhow::Context as _;
use dsp_core::effects::{EFFECTS, effect_kind};
use dsp_core::session::EffectSettings;

/// Non-default values of the effects whose defaults process little or nothing.
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

/// The ids of all effects.
pub(super) fn effect_ids() -> impl Iterator<Item = &'static str> {
    EFFECTS.iter().map(|kind| kind.id)
}

/// An effect with settings at which it processes its input.
///
/// # Errors
///
/// If the engine has no such kind, or the kind no such parameter.
pub(super) fn active_effect(kind: &str) -> anyhow::Result<EffectSettings> {
    let changed = ACTIVE_VALUES.iter().find(|(id, _)| *id == kind).map_or(&[][..], |(_, changed)| changed);
    effect_with(kind, changed)
}

/// An effect with these values; all others have their defaults.
///
/// # Errors
///
/// As [`active_effect`].
pub(super) fn effect_with(kind: &str, changed: &[(&str, f64)]) -> anyhow::Result<EffectSettings> {
    let described = effect_kind(kind).with_context(|| format!("the engine has no effect {kind:?}"))?;
    let mut values: Vec<f64> = described.parameters.iter().map(|parameter| parameter.default).collect();
    for (id, value) in changed {
        let parameter =
            described.parameter_index(id).with_context(|| format!("{kind} has no parameter {id:?}"))?;
        values[parameter] = *value;
    }
    Ok(EffectSettings {
        id: kind.into(),
        kind: kind.into(),
        values,
        bypass: false,
        side_chain: None,
        impulse: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsp_core::effects::EffectConfig;
    use dsp_core::mixer::{EffectChain, EffectSlot};

    /// The engine may skip an effect that changes nothing: the benchmark would measure too little.
    #[test]
    fn every_effect_of_the_engine_changes_the_sound() {
        let tone = |radians: f32| -> Vec<f32> {
            (0..48_000_u16).map(|frame| (f32::from(frame) * radians).sin() * 0.5).collect()
        };
        // Left: a low tone. Right: 7.6 kHz, which a de-esser reduces.
        let input = [tone(0.05), tone(1.0)];
        for kind in EFFECTS {
            let settings = active_effect(kind.id).unwrap();
            let config = EffectConfig { sample_rate_hz: 48_000, seed: 1, impulse: None };
            let mut slot = EffectSlot::new("effect", kind, &config);
            for (index, value) in settings.values.iter().enumerate() {
                slot.set(index, *value, 0);
            }
            let mut chain = EffectChain::new(48_000);
            chain.push(slot);
            let [mut left, mut right] = input.clone();
            chain.process(&mut left, &mut right, &[]);
            assert!([left, right] != input, "{} changes nothing", kind.id);
        }
    }
}
