//! Where people look for an effect.

use super::EffectKind;

/// What effects are offered under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Group {
    /// Levels: compressors, gates, limiters.
    Dynamics,
    /// Spectrum and colour: equalizers, filters, distortion.
    Tone,
    /// Reverbs and delays.
    SpaceAndTime,
    /// What swings: choruses, phasers, tremolos.
    Modulation,
    /// Everything else.
    Utility,
}

/// The kinds of each group, by their ids.
const KINDS: &[(Group, &[&str])] = &[
    (Group::Dynamics, &["compressor", "gate", "limiter", "de_esser"]),
    (Group::Tone, &["equalizer", "filter", "saturator", "bit_crusher"]),
    (Group::SpaceAndTime, &["delay", "reverb", "convolution"]),
    (Group::Modulation, &["chorus", "flanger", "phaser", "tremolo"]),
    (Group::Utility, &["utility", "width"]),
];

impl EffectKind {
    /// What the effect is offered under.
    pub fn group(&self) -> Group {
        KINDS.iter().find(|(_, ids)| ids.contains(&self.id)).map_or(Group::Utility, |(group, _)| *group)
    }
}

#[cfg(test)]
mod tests {
    use super::KINDS;
    use crate::effects::EFFECTS;

    #[test]
    fn every_kind_is_in_one_group() {
        for kind in EFFECTS {
            let groups = KINDS.iter().filter(|(_, ids)| ids.contains(&kind.id)).count();
            assert_eq!(groups, 1, "{}", kind.id);
        }
    }
}
