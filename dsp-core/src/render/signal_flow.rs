//! The tracks that feed others, by their outputs, sends and side-chains.

use alloc::vec::Vec;

use crate::session::{EffectSettings, Session, Track};

/// Returns, for each track, whether it is the track at the index `fed` or feeds that track
/// directly, through other tracks or through side-chains.
#[must_use]
pub fn tracks_feeding(tracks: &[Track], fed: usize) -> Vec<bool> {
    reached(&feeders(tracks), [fed])
}

/// Returns, for each track, whether solo may let it through. Without a soloed track, all are let
/// through.
#[must_use]
pub fn tracks_in_solo(session: &Session) -> Vec<bool> {
    let is_soloed: Vec<bool> = session.tracks.iter().map(|track| track.solo).collect();
    if is_soloed.contains(&true) {
        tracks_needed_by(session, &is_soloed)
    } else {
        alloc::vec![true; is_soloed.len()]
    }
}

/// Returns, for each track, whether it is needed if only the tracks marked in `playing` play. A
/// needed track is marked, or is fed by a marked track, or feeds a marked track. So is a track that
/// feeds the side-chain of a needed track or of the master. Mute and solo do not matter.
#[must_use]
pub fn tracks_needed_by(session: &Session, playing: &[bool]) -> Vec<bool> {
    let TracksAround { is_fed, feeds } = TracksAround::new(session, playing);
    is_fed.into_iter().zip(feeds).map(|(is_fed, feeds)| is_fed || feeds).collect()
}

/// The tracks before and after marked tracks in the signal flow.
pub(super) struct TracksAround {
    /// Whether a track is marked, or fed by a marked track through outputs and sends.
    pub(super) is_fed: Vec<bool>,
    /// Whether a track is marked, or feeds a marked track or the side-chain of a track that is fed
    /// or of the master.
    pub(super) feeds: Vec<bool>,
}

impl TracksAround {
    pub(super) fn new(session: &Session, is_marked: &[bool]) -> Self {
        let tracks = &session.tracks;
        let marked = || (0..tracks.len()).filter(|&index| is_marked.get(index) == Some(&true));
        let mut fed_tracks = alloc::vec![Vec::new(); tracks.len()];
        for (fed, feeders) in feeders_by_routes(tracks).into_iter().enumerate() {
            feeders.into_iter().for_each(|feeder| fed_tracks[feeder].push(fed));
        }
        let is_fed = reached(&fed_tracks, marked());
        let of_fed = tracks.iter().zip(&is_fed).filter(|(_, is_fed)| **is_fed);
        let listeners = of_fed.flat_map(|(track, _)| &track.effects).chain(&session.master_effects);
        let feeds = reached(&feeders(tracks), marked().chain(side_chain_sources(listeners)));
        Self { is_fed, feeds }
    }
}

fn side_chain_sources<'e>(effects: impl Iterator<Item = &'e EffectSettings>) -> impl Iterator<Item = usize> {
    effects.filter_map(|effect| effect.side_chain).map(|source| source as usize)
}

/// Returns the indices of the tracks that feed each track directly or by side-chains.
pub(super) fn feeders(tracks: &[Track]) -> Vec<Vec<usize>> {
    let mut feeders = feeders_by_routes(tracks);
    for (feeders, track) in feeders.iter_mut().zip(tracks) {
        let sources = side_chain_sources(track.effects.iter());
        feeders.extend(sources.filter(|source| *source < tracks.len()));
    }
    feeders
}

/// Returns the indices of the tracks whose outputs or sends feed each track.
fn feeders_by_routes(tracks: &[Track]) -> Vec<Vec<usize>> {
    let mut feeders = alloc::vec![Vec::new(); tracks.len()];
    for (index, track) in tracks.iter().enumerate() {
        let fed = track.output.into_iter().chain(track.sends.iter().map(|send| send.to));
        for fed in fed {
            if let Some(feeders) = feeders.get_mut(fed as usize) {
                feeders.push(index);
            }
        }
    }
    feeders
}

/// Returns, for each track, whether it is one of `starts` or can be reached from one of them.
/// `next_tracks` has the tracks that follow each track.
pub(super) fn reached(next_tracks: &[Vec<usize>], starts: impl IntoIterator<Item = usize>) -> Vec<bool> {
    let mut is_reached = alloc::vec![false; next_tracks.len()];
    let mut unvisited: Vec<usize> = starts.into_iter().filter(|start| *start < next_tracks.len()).collect();
    while let Some(track) = unvisited.pop() {
        if !core::mem::replace(&mut is_reached[track], true) {
            unvisited.extend(&next_tracks[track]);
        }
    }
    is_reached
}
