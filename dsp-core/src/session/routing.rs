//! Which strip feeds which, and in which order they have to be mixed.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use super::edge::{Destination, Tap};
use super::{MAX_EFFECTS, MixerError, Session, Track};
use crate::effects::effect_kind;

/// A way from a track into a sum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    pub(super) tap: Tap,
    pub(super) to: Destination,
    /// Linear gain.
    pub(super) level: f32,
}

/// What the side-chain of an effect listens to.
#[derive(Debug, Clone, Copy)]
pub(super) struct SideRoute {
    /// Place of the effect among the track's.
    pub(super) effect: usize,
    /// Place of the track that it hears.
    pub(super) from: usize,
}

/// All ways between the tracks of a session, which has been looked through for what cannot be
/// played.
pub(super) struct Graph {
    /// Of each track; the output is the first.
    pub(super) routes: Vec<Vec<Route>>,
    /// Of each track.
    pub(super) sides: Vec<Vec<SideRoute>>,
    /// Of the master's effects.
    pub(super) master_sides: Vec<SideRoute>,
    /// Every track behind all that it hears.
    pub(super) order: Vec<usize>,
}

impl Graph {
    /// # Errors
    ///
    /// Tracks that share an id, lead back to themselves, or name what is not there.
    pub(super) fn of(session: &Session) -> Result<Self, MixerError> {
        let tracks = &session.tracks;
        check_ids(tracks)?;
        let mut routes = Vec::with_capacity(tracks.len());
        let mut sides = Vec::with_capacity(tracks.len());
        for track in tracks {
            routes.push(routes_of(track, tracks.len())?);
            sides.push(sides_of(&track.id, &track.effects, tracks.len())?);
        }
        let master_sides = sides_of("", &session.master_effects, tracks.len())?;
        let heard_by = |place: usize| {
            let fed = routes[place].iter().filter_map(|route| match route.to {
                Destination::Strip(to) => Some(to),
                Destination::Master => None,
            });
            let listens = |to: &usize| sides[*to].iter().any(|side| side.from == place);
            fed.chain((0..tracks.len()).filter(listens)).collect::<Vec<_>>()
        };
        let order = order(tracks.len(), heard_by)
            .map_err(|place| MixerError::RoutingLoop { track_id: tracks[place].id.clone() })?;
        Ok(Self { routes, sides, master_sides, order })
    }

    /// Whether a track has to wait for others: it is fed, or an effect of it listens.
    pub(super) fn waits(&self, place: usize) -> bool {
        let is_fed = |route: &Route| route.to == Destination::Strip(place);
        !self.sides[place].is_empty() || self.routes.iter().flatten().any(is_fed)
    }

    /// Whether a side-chain listens to a track.
    pub(super) fn is_heard_by_side(&self, place: usize) -> bool {
        self.sides.iter().flatten().chain(&self.master_sides).any(|side| side.from == place)
    }
}

fn check_ids(tracks: &[Track]) -> Result<(), MixerError> {
    let mut ids = BTreeSet::new();
    match tracks.iter().find(|track| !ids.insert(track.id.as_str())) {
        Some(track) => Err(MixerError::DuplicateTrack { track_id: track.id.clone() }),
        None => Ok(()),
    }
}

fn routes_of(track: &Track, count: usize) -> Result<Vec<Route>, MixerError> {
    let strip = |place: u32| {
        let place = place as usize;
        if place < count {
            return Ok(Destination::Strip(place));
        }
        Err(MixerError::NoSuchTrack { track_id: track.id.clone(), place })
    };
    let to = track.output.map_or(Ok(Destination::Master), strip)?;
    let mut routes = vec![Route { tap: Tap::Output, to, level: 1.0 }];
    for (place, send) in track.sends.iter().enumerate() {
        routes.push(Route { tap: Tap::of(place, send), to: strip(send.to)?, level: send.gain });
    }
    Ok(routes)
}

fn sides_of(
    track_id: &str,
    effects: &[super::EffectSettings],
    count: usize,
) -> Result<Vec<SideRoute>, MixerError> {
    if effects.len() > MAX_EFFECTS {
        return Err(MixerError::TooManyEffects { track_id: track_id.into() });
    }
    let mut sides = Vec::new();
    for (place, effect) in effects.iter().enumerate() {
        let Some(kind) = effect_kind(&effect.kind) else {
            return Err(MixerError::UnknownEffect { kind: effect.kind.clone() });
        };
        if let Some(from) = effect.side_chain.filter(|_| kind.has_side_chain) {
            let from = from as usize;
            if from >= count {
                return Err(MixerError::NoSuchTrack { track_id: track_id.into(), place: from });
            }
            sides.push(SideRoute { effect: place, from });
        }
    }
    Ok(sides)
}

/// Puts every node behind all that it hears; where that leaves a choice, in ascending order.
///
/// # Errors
///
/// The lowest node that hears itself, directly or not.
pub(super) fn order(count: usize, heard_by: impl Fn(usize) -> Vec<usize>) -> Result<Vec<usize>, usize> {
    let followers: Vec<Vec<usize>> = (0..count).map(heard_by).collect();
    let mut waits_for = vec![0_usize; count];
    followers.iter().flatten().for_each(|&follower| waits_for[follower] += 1);
    let mut ready: BTreeSet<usize> = (0..count).filter(|&node| waits_for[node] == 0).collect();
    let mut order = Vec::with_capacity(count);
    while let Some(node) = ready.pop_first() {
        order.push(node);
        for &follower in &followers[node] {
            waits_for[follower] -= 1;
            if waits_for[follower] == 0 {
                ready.insert(follower);
            }
        }
    }
    if order.len() == count { Ok(order) } else { Err(in_a_loop(&followers, &waits_for)) }
}

/// The lowest node from which a way leads back to it; there is one among those that wait.
fn in_a_loop(followers: &[Vec<usize>], waits_for: &[usize]) -> usize {
    let leads_back = |start: usize| {
        let mut seen = vec![false; followers.len()];
        let mut next = followers[start].clone();
        while let Some(node) = next.pop() {
            if node == start {
                return true;
            }
            if !core::mem::replace(&mut seen[node], true) {
                next.extend(&followers[node]);
            }
        }
        false
    };
    (0..followers.len()).filter(|&node| waits_for[node] > 0).find(|&node| leads_back(node)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(edges: &[(usize, usize)], expected: Result<&[usize], usize>) {
        let heard_by =
            |from: usize| edges.iter().filter(|edge| edge.0 == from).map(|edge| edge.1).collect::<Vec<_>>();
        assert_eq!(order(4, heard_by), expected.map(<[usize]>::to_vec), "{edges:?}");
    }

    #[test]
    fn who_hears_another_comes_later_and_nobody_else_moves() {
        check(&[], Ok(&[0, 1, 2, 3]));
        check(&[(3, 0), (2, 0)], Ok(&[1, 2, 3, 0]));
        check(&[(0, 2), (2, 1), (0, 2)], Ok(&[0, 2, 1, 3]));
    }

    #[test]
    fn a_loop_names_its_lowest_member() {
        check(&[(0, 1), (1, 2), (2, 1), (2, 3)], Err(1));
        check(&[(3, 3)], Err(3));
    }
}
