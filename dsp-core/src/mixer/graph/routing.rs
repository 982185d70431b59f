//! The routes between tracks, and the order in which the tracks are mixed.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use crate::effects::effect_kind;
use crate::mixer::{MAX_EFFECTS, MixerError};
use crate::session::{EffectSettings, SendSettings, Session, Track};

/// The point of a channel strip at which a route reads its signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tap {
    /// All four outputs after the fader.
    Output,
    /// Left and right after the fader, for the send at this index.
    PostFader(u32),
    /// Left and right before the fader, for the send at this index.
    PreFader(u32),
}

impl Tap {
    fn of_send(index: usize, send: &SendSettings) -> Self {
        let index = index as u32;
        if send.pre_fader { Self::PreFader(index) } else { Self::PostFader(index) }
    }
}

/// The sum to which a route adds its signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination {
    Master,
    /// The input of the channel strip at an index.
    Strip(usize),
}

/// An output or send of a track.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RouteSettings {
    pub(crate) tap: Tap,
    pub(crate) destination: Destination,
    /// Level of a send as a linear gain; 1 for an output.
    pub(crate) level: f32,
}

/// The side-chain input of an effect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SideChainSettings {
    /// Index of the effect in its track.
    pub(crate) effect: usize,
    /// Index of the track that feeds the side-chain.
    pub(crate) source_index: usize,
}

/// All routes of a session, checked for errors.
#[derive(Default)]
pub(crate) struct Routing {
    /// The routes of each track. The first route is the output.
    pub(crate) routes: Vec<Vec<RouteSettings>>,
    /// The side-chains of each track's effects.
    pub(crate) side_chains: Vec<Vec<SideChainSettings>>,
    /// The side-chains of the master's effects.
    pub(crate) master_side_chains: Vec<SideChainSettings>,
    /// Indices of the tracks. Each track comes after all tracks that feed it.
    pub(crate) order: Vec<usize>,
}

impl Routing {
    /// Collects and checks the routes and side-chains of a session.
    ///
    /// # Errors
    ///
    /// [`MixerError`] for duplicate ids, routing loops, unknown kinds of effect, too many effects,
    /// and indices of tracks that do not exist.
    pub(crate) fn from_session(session: &Session) -> Result<Self, MixerError> {
        let tracks = &session.tracks;
        check_ids(tracks)?;
        let mut routes = Vec::with_capacity(tracks.len());
        let mut side_chains = Vec::with_capacity(tracks.len());
        for track in tracks {
            routes.push(routes_of(track, tracks.len())?);
            side_chains.push(side_chains_of(&track.id, &track.effects, tracks.len())?);
        }
        let master_side_chains = side_chains_of("", &session.master_effects, tracks.len())?;
        let fed_by = |index: usize| {
            let by_routes = routes[index].iter().filter_map(|route| match route.destination {
                Destination::Strip(strip_index) => Some(strip_index),
                Destination::Master => None,
            });
            let by_side_chain = |destination_index: &usize| {
                side_chains[*destination_index].iter().any(|side_chain| side_chain.source_index == index)
            };
            by_routes.chain((0..tracks.len()).filter(by_side_chain)).collect::<Vec<_>>()
        };
        let order = topological_order(tracks.len(), fed_by)
            .map_err(|index| MixerError::RoutingLoop { track_id: tracks[index].id.clone() })?;
        Ok(Self { routes, side_chains, master_side_chains, order })
    }

    /// Whether a track feeds a side-chain.
    pub(crate) fn feeds_side_chain(&self, index: usize) -> bool {
        let mut side_chains = self.side_chains.iter().flatten().chain(&self.master_side_chains);
        side_chains.any(|side_chain| side_chain.source_index == index)
    }
}

fn check_ids(tracks: &[Track]) -> Result<(), MixerError> {
    let mut ids = BTreeSet::new();
    match tracks.iter().find(|track| !ids.insert(track.id.as_str())) {
        Some(track) => Err(MixerError::DuplicateTrack { track_id: track.id.clone() }),
        None => Ok(()),
    }
}

fn routes_of(track: &Track, track_count: usize) -> Result<Vec<RouteSettings>, MixerError> {
    let strip = |index: u32| {
        let index = index as usize;
        if index < track_count {
            return Ok(Destination::Strip(index));
        }
        Err(MixerError::NoSuchTrack { track_id: track.id.clone(), index })
    };
    let destination = track.output.map_or(Ok(Destination::Master), strip)?;
    let mut routes = vec![RouteSettings { tap: Tap::Output, destination, level: 1.0 }];
    for (index, send) in track.sends.iter().enumerate() {
        routes.push(RouteSettings {
            tap: Tap::of_send(index, send),
            destination: strip(send.to)?,
            level: send.gain,
        });
    }
    Ok(routes)
}

fn side_chains_of(
    track_id: &str,
    effects: &[EffectSettings],
    track_count: usize,
) -> Result<Vec<SideChainSettings>, MixerError> {
    if effects.len() > MAX_EFFECTS {
        return Err(MixerError::TooManyEffects { track_id: track_id.into() });
    }
    let mut side_chains = Vec::new();
    for (index, effect) in effects.iter().enumerate() {
        let Some(kind) = effect_kind(&effect.kind) else {
            return Err(MixerError::UnknownEffect { kind: effect.kind.clone() });
        };
        if let Some(source_index) = effect.side_chain.filter(|_| kind.has_side_chain) {
            let source_index = source_index as usize;
            if source_index >= track_count {
                return Err(MixerError::NoSuchTrack { track_id: track_id.into(), index: source_index });
            }
            side_chains.push(SideChainSettings { effect: index, source_index });
        }
    }
    Ok(side_chains)
}

/// Sorts nodes such that each comes after all nodes that feed it. Apart from that, the order is
/// ascending.
///
/// # Errors
///
/// The lowest node that is part of a loop.
pub(crate) fn topological_order(
    node_count: usize,
    fed_by: impl Fn(usize) -> Vec<usize>,
) -> Result<Vec<usize>, usize> {
    let successors: Vec<Vec<usize>> = (0..node_count).map(fed_by).collect();
    let mut unprocessed_inputs = vec![0_usize; node_count];
    successors.iter().flatten().for_each(|&successor| unprocessed_inputs[successor] += 1);
    let mut ready_nodes: BTreeSet<usize> =
        (0..node_count).filter(|&node| unprocessed_inputs[node] == 0).collect();
    let mut order = Vec::with_capacity(node_count);
    while let Some(node) = ready_nodes.pop_first() {
        order.push(node);
        for &successor in &successors[node] {
            unprocessed_inputs[successor] -= 1;
            if unprocessed_inputs[successor] == 0 {
                ready_nodes.insert(successor);
            }
        }
    }
    if order.len() == node_count { Ok(order) } else { Err(lowest_in_loop(&successors, &unprocessed_inputs)) }
}

fn lowest_in_loop(successors: &[Vec<usize>], unprocessed_inputs: &[usize]) -> usize {
    let leads_back = |start: usize| {
        let mut seen = vec![false; successors.len()];
        let mut next = successors[start].clone();
        while let Some(node) = next.pop() {
            if node == start {
                return true;
            }
            if !core::mem::replace(&mut seen[node], true) {
                next.extend(&successors[node]);
            }
        }
        false
    };
    let nodes_in_or_after_loops = (0..successors.len()).filter(|&node| unprocessed_inputs[node] > 0);
    nodes_in_or_after_loops.into_iter().find(|&node| leads_back(node)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(routes: &[(usize, usize)], expected: Result<&[usize], usize>) {
        let fed_by =
            |from: usize| routes.iter().filter(|route| route.0 == from).map(|route| route.1).collect();
        assert_eq!(
            topological_order(4, fed_by),
            expected.map(<[usize]>::to_vec),
            "order of the routes {routes:?}"
        );
    }

    #[test]
    fn each_track_comes_after_the_tracks_that_feed_it_and_other_tracks_stay_in_order() {
        check(&[], Ok(&[0, 1, 2, 3]));
        check(&[(3, 0), (2, 0)], Ok(&[1, 2, 3, 0]));
        check(&[(0, 2), (2, 1), (0, 2)], Ok(&[0, 2, 1, 3]));
    }

    #[test]
    fn a_loop_returns_its_lowest_node_as_error() {
        check(&[(0, 1), (1, 2), (2, 1), (2, 3)], Err(1));
        check(&[(3, 3)], Err(3));
    }
}
