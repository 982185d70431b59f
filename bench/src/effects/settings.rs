//! Settings at which every kind of effect has work to do, chosen as for a song.

use anyhow::Context as _;
use dsp_core::effects::effect_kind;
use dsp_core::session::EffectSettings;

/// Kinds, and what of them is not at its default.
const WORKING: [(&str, &[(&str, f64)]); 17] = [
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
    ("convolution", &[]),
    ("delay", &[]),
    ("reverb", &[]),
    ("chorus", &[]),
    ("flanger", &[]),
    ("phaser", &[]),
    ("tremolo", &[]),
];

/// Every kind, in the order of the table above.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    WORKING.iter().map(|(kind, _)| *kind)
}

/// An effect of a kind, at work.
///
/// # Errors
///
/// If the engine has no such kind, or the kind no such parameter.
pub(super) fn working(kind: &str) -> anyhow::Result<EffectSettings> {
    let (_, changed) = WORKING.iter().find(|(id, _)| *id == kind).context("settings of the effect")?;
    with(kind, changed)
}

/// An effect of a kind with these values, all others at their defaults.
///
/// # Errors
///
/// As those of [`working`].
pub(super) fn with(kind: &str, changed: &[(&str, f64)]) -> anyhow::Result<EffectSettings> {
    let described = effect_kind(kind).with_context(|| format!("no effect {kind:?}"))?;
    let mut values: Vec<f64> = described.parameters.iter().map(|parameter| parameter.default).collect();
    for (id, value) in changed {
        let parameter = described.parameter_index(id).with_context(|| format!("{kind} has no {id:?}"))?;
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
    use dsp_core::effects::EFFECTS;

    #[test]
    fn every_effect_of_the_engine_has_settings() {
        for kind in EFFECTS {
            working(kind.id).unwrap();
        }
        assert_eq!(kinds().count(), EFFECTS.len());
    }
}
