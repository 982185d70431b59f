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
const KINDS: &[(Group, &[&str])] = &[(Group::Utility, &["utility"])];

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
    fn every_kind_is_in_one_group_and_no_group_has_others() {
        let mut grouped: alloc::vec::Vec<&str> = KINDS.iter().flat_map(|(_, ids)| *ids).copied().collect();
        let mut kinds: alloc::vec::Vec<&str> = EFFECTS.iter().map(|kind| kind.id).collect();
        grouped.sort_unstable();
        kinds.sort_unstable();
        assert_eq!(grouped, kinds);
    }
}
