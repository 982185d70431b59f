//! The differences between two sessions. They determine the parts of the mixer that continue after
//! an edit.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::Slots;
use super::graph::{Destination, Routing, Tap};
use crate::session::{EffectSettings, Instrument, Session, Track};
use crate::soundfont::Bank;
use crate::synth::SynthConfig;

/// The identities of the parts of a mix. Parts with the same identity keep their state.
#[derive(Clone, PartialEq, Default)]
pub(crate) struct MixLayout {
    pub(crate) tracks: Vec<TrackLayout>,
    pub(crate) master_effects: Vec<EffectLayout>,
}

#[derive(Clone, PartialEq)]
pub(crate) struct TrackLayout {
    pub(crate) id: String,
    pub(crate) player: PlayerLayout,
    pub(crate) effects: Vec<EffectLayout>,
    pub(crate) routes: Vec<RouteLayout>,
}

/// The identity of a note player: if no field changes, the player continues.
#[derive(Clone, PartialEq)]
pub(crate) struct PlayerLayout {
    pub(crate) instrument: Option<Instrument>,
    pub(crate) bank: Option<Bank>,
    pub(crate) config: SynthConfig,
}

#[derive(Clone, PartialEq)]
pub(crate) struct EffectLayout {
    pub(crate) id: String,
    pub(crate) kind: String,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) struct RouteLayout {
    pub(crate) tap: Tap,
    pub(crate) destination: Destination,
}

/// The changes that an edit makes to a mixer.
#[derive(Debug, PartialEq)]
pub(crate) struct EditPlan {
    /// The plans of the tracks of the new session.
    pub(crate) tracks: Vec<TrackPlan>,
    /// Indices, in the old session, of the tracks that the new session does not have.
    pub(crate) removed_indices: Vec<usize>,
    pub(crate) master_effects: EffectsPlan,
}

#[derive(Debug, PartialEq)]
pub(crate) struct TrackPlan {
    /// Index of the track in the old session; `None` for a new track.
    pub(crate) old_index: Option<usize>,
    pub(crate) keeps_player: bool,
    pub(crate) effects: EffectsPlan,
    /// For each route of the track, its index among the track's old routes; `None` for a new route.
    pub(crate) routes: Vec<Option<usize>>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct EffectsPlan {
    /// For each effect, its index among the old effects; `None` for a new effect.
    pub(crate) sources: Vec<Option<usize>>,
    /// Whether the effects or their order have changed.
    pub(crate) is_changed: bool,
}

/// Returns the plan that changes the mix `old` to the mix `new`.
pub(crate) fn diff(old: &MixLayout, new: &MixLayout) -> EditPlan {
    let old_index = |id: &str| old.tracks.iter().position(|track| track.id == id);
    let new_index = |id: &str| new.tracks.iter().position(|track| track.id == id);
    // Converts an old route to the track indices of the new session. The result is `None` if the
    // new session does not have the destination.
    let with_new_index = |route: &RouteLayout| {
        let destination = match route.destination {
            Destination::Master => Destination::Master,
            Destination::Strip(old_to) => Destination::Strip(new_index(&old.tracks.get(old_to)?.id)?),
        };
        Some(RouteLayout { destination, ..*route })
    };
    let track_plan = |track: &TrackLayout| {
        let Some(index) = old_index(&track.id) else {
            return TrackPlan {
                old_index: None,
                keeps_player: false,
                effects: effects_plan(&[], &track.effects),
                routes: vec![None; track.routes.len()],
            };
        };
        let old = &old.tracks[index];
        let old_routes: Vec<Option<RouteLayout>> = old.routes.iter().map(with_new_index).collect();
        TrackPlan {
            old_index: Some(index),
            keeps_player: old.player == track.player,
            effects: effects_plan(&old.effects, &track.effects),
            routes: match_parts(
                &old_routes,
                &track.routes.iter().map(|route| Some(*route)).collect::<Vec<_>>(),
            ),
        }
    };
    EditPlan {
        tracks: new.tracks.iter().map(track_plan).collect(),
        removed_indices: (0..old.tracks.len())
            .filter(|&index| new_index(&old.tracks[index].id).is_none())
            .collect(),
        master_effects: effects_plan(&old.master_effects, &new.master_effects),
    }
}

fn effects_plan(old: &[EffectLayout], new: &[EffectLayout]) -> EffectsPlan {
    EffectsPlan { sources: match_parts(old, new), is_changed: old != new }
}

/// Returns, for each new part, the index of an equal old part. No old part is used twice.
fn match_parts<Part: PartialEq>(old: &[Part], new: &[Part]) -> Vec<Option<usize>> {
    let mut is_used = vec![false; old.len()];
    let find = |part: &Part| {
        let index = (0..old.len()).find(|&index| !is_used[index] && old[index] == *part)?;
        is_used[index] = true;
        Some(index)
    };
    new.iter().map(find).collect()
}

impl MixLayout {
    pub(crate) fn from_session(session: &Session, routing: &Routing, slots: Slots<'_>) -> Self {
        let effects = |effects: &[EffectSettings]| {
            let layout =
                |effect: &EffectSettings| EffectLayout { id: effect.id.clone(), kind: effect.kind.clone() };
            effects.iter().map(layout).collect()
        };
        let config = SynthConfig::from_session(session);
        let track = |(index, track): (usize, &Track)| {
            let player = PlayerLayout {
                instrument: track.instrument,
                bank: slots.bank_of(track.instrument).cloned(),
                config,
            };
            let routes = routing.routes[index]
                .iter()
                .map(|route| RouteLayout { tap: route.tap, destination: route.destination });
            TrackLayout {
                id: track.id.clone(),
                player,
                effects: effects(&track.effects),
                routes: routes.collect(),
            }
        };
        Self {
            tracks: session.tracks.iter().enumerate().map(track).collect(),
            master_effects: effects(&session.master_effects),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(id: &str, kind: &str) -> EffectLayout {
        EffectLayout { id: id.into(), kind: kind.into() }
    }

    fn track(id: &str, destination: Destination) -> TrackLayout {
        let config = SynthConfig::from_session(&Session::default());
        TrackLayout {
            id: id.into(),
            player: PlayerLayout { instrument: None, bank: None, config },
            effects: vec![effect("a", "delay"), effect("b", "reverb")],
            routes: vec![RouteLayout { tap: Tap::Output, destination }],
        }
    }

    fn layout(tracks: Vec<TrackLayout>) -> MixLayout {
        MixLayout { tracks, master_effects: vec![effect("m", "limiter")] }
    }

    #[test]
    fn an_unchanged_layout_keeps_all_parts() {
        let layout = layout(vec![track("1", Destination::Strip(1)), track("2", Destination::Master)]);
        let plan = diff(&layout, &layout);
        assert!(plan.removed_indices.is_empty() && !plan.master_effects.is_changed);
        for (index, track) in plan.tracks.iter().enumerate() {
            assert!(track.keeps_player && !track.effects.is_changed);
            assert_eq!((track.old_index, &track.routes[..]), (Some(index), &[Some(0)][..]));
        }
    }

    #[test]
    fn moved_tracks_keep_their_routes_and_routes_to_removed_tracks_are_new() {
        let before = layout(vec![
            track("group", Destination::Master),
            track("removed", Destination::Master),
            track("1", Destination::Strip(0)),
            track("2", Destination::Strip(1)),
        ]);
        let after = layout(vec![
            track("2", Destination::Master),
            track("1", Destination::Strip(2)),
            track("group", Destination::Master),
        ]);
        let plan = diff(&before, &after);
        assert_eq!(plan.removed_indices, [1]);
        let old: Vec<_> = plan.tracks.iter().map(|track| (track.old_index, track.routes[0])).collect();
        assert_eq!(old, [(Some(3), None), (Some(2), Some(0)), (Some(0), Some(0))]);
    }

    #[test]
    fn effects_with_the_same_id_and_kind_are_matched_once() {
        let old = [effect("a", "delay"), effect("b", "reverb"), effect("c", "gate")];
        let check = |new: &[EffectLayout], sources: &[Option<usize>], is_changed: bool| {
            let plan = effects_plan(&old, new);
            assert_eq!((&plan.sources[..], plan.is_changed), (sources, is_changed));
        };
        check(&old, &[Some(0), Some(1), Some(2)], false);
        check(&[old[2].clone(), old[0].clone()], &[Some(2), Some(0)], true);
        check(&[effect("a", "chorus"), old[1].clone(), old[1].clone()], &[None, Some(1), None], true);
    }

    #[test]
    fn another_instrument_needs_a_new_player() {
        let before = layout(vec![track("1", Destination::Master)]);
        let mut after = before.clone();
        after.tracks[0].player.instrument = Some(Instrument { bank_slot: 0, bank: 0, program: 4 });
        assert!(!diff(&before, &after).tracks[0].keeps_player);
        assert_eq!(diff(&MixLayout::default(), &after).tracks[0].old_index, None);
    }
}
