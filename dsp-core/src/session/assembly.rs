//! From one session to the next while it plays: what goes on, what is new, and what fades.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::clips::ClipPlayer;
use super::compensation::Lags;
use super::edge::{Destination, Edge, Tap};
use super::fader::Fader;
use super::insert::{Insert, InsertSettings};
use super::mixer::Slots;
use super::musical_time::Tempo;
use super::routing::{Graph, Route, SideRoute, order};
use super::source::Source;
use super::strip::{Key, SILENT_BLOCK, Strip};
use super::{Mixer, MixerError, Session, Track, TrackMix, TrackPlayer};
use crate::block::BLOCK_FRAMES;
use crate::soundfont::Bank;

/// Most tracks that fade at a time; the oldest is cut when there are more.
const LEAVING_MAX: usize = 128;

/// Most ways out of a strip that fade at a time; the oldest is cut when there are more.
const LEAVING_EDGES_MAX: usize = 64;

/// What a mixer was made of, on its way into what it will be made of.
struct Part {
    strip: Strip,
    source: Source,
    /// Where it was.
    old_place: Option<usize>,
}

impl Mixer {
    /// Goes on with an edited session from where it is: what the edit does not touch sounds on. The
    /// notes of a track that it removes, or gives another instrument, fade in a twentieth of a
    /// second. Effects of the same id and kind keep their state wherever they are in their track.
    ///
    /// # Errors
    ///
    /// [`MixerError`]; the mixer then plays on as it was.
    pub fn set_session<'a>(
        &mut self,
        session: &Session,
        slots: impl Into<Slots<'a>>,
    ) -> Result<(), MixerError> {
        let slots = slots.into();
        if session.sample_rate_hz != self.sample_rate_hz {
            return Err(MixerError::SampleRate {
                session_hz: session.sample_rate_hz,
                mixer_hz: self.sample_rate_hz,
            });
        }
        // Everything that can fail comes before anything is changed.
        let graph = Graph::of(session)?;
        let fresh_players = self.fresh_players(session, slots)?;
        let mut parts = self.take_parts(session, slots, fresh_players);
        let tempo = Tempo::new(&session.tempo, self.sample_rate_hz);
        let fed = still_fed(&parts);
        for (place, (track, part)) in session.tracks.iter().zip(&mut parts).enumerate() {
            // What fades into effects is heard through them to its end, and what waited for a
            // side-chain, or is still joined to what did, does so until then.
            let is_fed = part.old_place.is_some_and(|old| fed.contains(&old));
            let is_joined = part.strip.insert.is_some() && !part.strip.wait.is_idle();
            let waits = graph.waits(place) || is_fed || is_joined || !part.strip.keys.is_empty();
            self.set_insert(part, waits, session, track, slots, &tempo);
        }
        let master = InsertSettings {
            track_id: "",
            effects: &session.master_effects,
            bypass: false,
            lanes: &session.master_automation,
            ..self.insert_settings(session, slots, &tempo)
        };
        self.desk.master.insert.set(&master);
        self.desk.master.set(session);
        self.connect(session, &graph, parts);
        self.desk.open_ways();
        if !self.playing {
            self.stand();
        }
        Ok(())
    }

    /// A new player for each track that cannot go on with the one it has.
    fn fresh_players(
        &self,
        session: &Session,
        slots: Slots<'_>,
    ) -> Result<Vec<Option<TrackPlayer>>, MixerError> {
        let mut players = Vec::with_capacity(session.tracks.len());
        for track in &session.tracks {
            let bank = bank_of(track, slots.banks);
            let goes_on = self
                .track_place(&track.id)
                .is_some_and(|place| self.sources[place].player.fits(track, bank, session));
            players.push(if goes_on { None } else { Some(self.new_player(session, track, bank)?) });
        }
        Ok(players)
    }

    fn new_player(
        &self,
        session: &Session,
        track: &Track,
        bank: Option<&Bank>,
    ) -> Result<TrackPlayer, MixerError> {
        let mut player = TrackPlayer::new(session, track, bank)
            .map_err(|source| MixerError::Synth { track_id: track.id.clone(), source })?;
        if self.playing {
            // Notes that are held are struck: who chooses another sound wants to hear it.
            player.seek(self.position, 0);
        }
        Ok(player)
    }

    /// Takes the mixer apart: a part for each track of the session, then those that fade.
    fn take_parts(
        &mut self,
        session: &Session,
        slots: Slots<'_>,
        fresh_players: Vec<Option<TrackPlayer>>,
    ) -> Vec<Part> {
        let strips = core::mem::take(&mut self.desk.strips).into_iter();
        let sources = core::mem::take(&mut self.sources).into_iter();
        let mut old: Vec<Part> = (0..)
            .zip(strips.zip(sources))
            .map(|(place, (strip, source))| Part { strip, source, old_place: Some(place) })
            .collect();
        let mut parts = Vec::with_capacity(session.tracks.len() + old.len());
        for (track, fresh_player) in session.tracks.iter().zip(fresh_players) {
            let known = old.iter().position(|part| part.strip.id == track.id && !part.strip.leaves);
            let mut part = match (known.map(|place| old.remove(place)), fresh_player) {
                (Some(mut part), None) => {
                    part.source.player.replace_events(&track.events, self.playing);
                    part
                }
                (Some(mut part), Some(player)) => {
                    part.source.set_player(player);
                    part
                }
                (None, Some(player)) => self.new_part(track, player),
                (None, None) => continue,
            };
            part.source.retire();
            part.source.clips.set(&track.clips, slots.audio);
            part.strip.fader.set_lanes(&track.automation);
            part.strip.fader.set_mix(&TrackMix::of(track));
            parts.push(part);
        }
        let mut leaving: Vec<Part> = old.into_iter().filter_map(leave).collect();
        leaving.drain(..leaving.len().saturating_sub(LEAVING_MAX));
        parts.extend(leaving);
        parts
    }

    fn new_part(&self, track: &Track, player: TrackPlayer) -> Part {
        let mut source = Source::new(player, ClipPlayer::new(self.sample_rate_hz));
        source.clips.seek(self.position);
        let fader = Fader::new(&TrackMix::of(track), self.sample_rate_hz);
        Part { strip: Strip::new(&track.id, fader, self.sample_rate_hz), source, old_place: None }
    }

    fn insert_settings<'a>(
        &self,
        session: &'a Session,
        slots: Slots<'a>,
        tempo: &'a Tempo,
    ) -> InsertSettings<'a> {
        InsertSettings {
            track_id: "",
            effects: &[],
            bypass: false,
            lanes: &[],
            seed: session.seed,
            audio: slots.audio,
            tempo,
            sample_rate_hz: self.sample_rate_hz,
            clock: self.position,
        }
    }

    /// Gives a track its effects, where they belong: to its strip if they wait for other tracks.
    fn set_insert(
        &self,
        part: &mut Part,
        waits: bool,
        session: &Session,
        track: &Track,
        slots: Slots<'_>,
        tempo: &Tempo,
    ) {
        let of_source = part.source.insert.take();
        let goes_over = waits && part.strip.wait.is_idle();
        if let Some(last) = of_source.as_ref().filter(|_| goes_over).and_then(Insert::last_input) {
            // Its sound now waits before its effects, where it waited behind them.
            part.strip.wait.pass_by(last);
        }
        let known = of_source.or(part.strip.insert.take());
        let mut insert = known.unwrap_or_else(|| Insert::new(tempo, self.sample_rate_hz));
        insert.set(&InsertSettings {
            track_id: &track.id,
            effects: &track.effects,
            bypass: track.bypass,
            lanes: &track.automation,
            ..self.insert_settings(session, slots, tempo)
        });
        let home = if waits { &mut part.strip.insert } else { &mut part.source.insert };
        *home = Some(insert);
    }

    /// Puts the parts together: every way with the delay that it needs.
    fn connect(&mut self, session: &Session, graph: &Graph, mut parts: Vec<Part>) {
        let lags = Lags::of(graph, |track, before| {
            let insert = match track {
                Some(place) => parts[place].source.insert.as_ref().or(parts[place].strip.insert.as_ref()),
                None => Some(&self.desk.master.insert),
            };
            insert.map_or(0, |insert| {
                before.map_or_else(|| insert.latency_frames(), |effect| insert.latency_frames_before(effect))
            })
        });
        let count = session.tracks.len();
        let new_places: Vec<Option<usize>> = {
            let old_count = parts.iter().filter_map(|part| part.old_place).max().map_or(0, |last| last + 1);
            (0..old_count).map(|old| parts.iter().position(|part| part.old_place == Some(old))).collect()
        };
        for (place, part) in parts.iter_mut().enumerate() {
            part.move_edges(&new_places);
            let Some(track) = session.tracks.get(place) else { continue };
            part.set_edges(&graph.routes[place], |to| lags.delay_frames(place, to), self.sample_rate_hz);
            part.strip.edges.iter_mut().for_each(|edge| {
                edge.set_lanes(&track.automation);
                edge.set_lag(lags.outputs[place]);
            });
            part.strip.fader.set_lag(lags.outputs[place]);
            let (input, inserts) = (lags.inputs[place], [&mut part.source.insert, &mut part.strip.insert]);
            for insert in inserts.into_iter().flatten() {
                insert.set_lag(input);
                if part.old_place.is_none() {
                    // Nothing has been heard of it yet: its effects are in their places from the
                    // first frame on.
                    insert.reset(self.position);
                }
            }
            part.strip.wait.set(input);
            let insert = part.strip.insert.as_ref();
            let before = |effect| insert.map_or(0, |insert| insert.latency_frames_before(effect));
            let keys = core::mem::take(&mut part.strip.keys);
            part.strip.keys = new_keys(keys, &graph.sides[place], input, before, &lags);
        }
        let master = &mut self.desk.master;
        master.insert.set_lag(lags.master);
        master.fader.set_lag(lags.master + master.insert.latency_frames());
        let before = |effect| master.insert.latency_frames_before(effect);
        master.keys =
            new_keys(core::mem::take(&mut master.keys), &graph.master_sides, lags.master, before, &lags);
        self.strips_lag_frames = lags.master;
        self.track_count = count;
        self.desk.taps = (0..parts.len())
            .map(|place| graph.is_heard_by_side(place).then(|| Box::new([[0.0; BLOCK_FRAMES]; 2])))
            .collect();
        (self.desk.strips, self.sources) = parts.into_iter().map(|part| (part.strip, part.source)).unzip();
        self.desk.find_order();
        let strips = &self.desk.strips;
        let is_fed = |place: usize| {
            let leads = |edge: &Edge| edge.to == Destination::Strip(place);
            strips.iter().flat_map(|strip| &strip.edges).any(leads) || !strips[place].fed_declicker.is_idle()
        };
        self.desk.sums.strips =
            (0..strips.len()).map(|place| is_fed(place).then(|| Box::new(SILENT_BLOCK))).collect();
    }
}

impl Part {
    /// Lets the ways lead to where their strips are now; those whose strip has gone go, too.
    fn move_edges(&mut self, new_places: &[Option<usize>]) {
        self.strip.edges.retain_mut(|edge| {
            if let Destination::Strip(old) = edge.to {
                let Some(new) = new_places.get(old).copied().flatten() else { return false };
                edge.to = Destination::Strip(new);
            }
            !edge.has_gone()
        });
    }

    /// Goes on with these ways out: those that stay sound on, the others fade in and out.
    fn set_edges(
        &mut self,
        routes: &[Route],
        delay_frames: impl Fn(Destination) -> usize,
        sample_rate_hz: u32,
    ) {
        let mut old = core::mem::take(&mut self.strip.edges);
        let sounds = self.old_place.is_some();
        let mut edges = Vec::with_capacity(routes.len() + old.len());
        for route in routes {
            let delay_frames = delay_frames(route.to);
            let stays = |edge: &Edge| {
                (edge.tap, edge.to, edge.delay_frames()) == (route.tap, route.to, delay_frames)
                    && !edge.leaves()
            };
            let mut edge = match old.iter().position(stays) {
                Some(place) => old.remove(place),
                None => {
                    let mut edge = Edge::new(route.tap, route.to, route.level, delay_frames, sample_rate_hz);
                    if sounds {
                        edge.enter();
                    }
                    edge
                }
            };
            if route.tap != Tap::Output {
                edge.set_level(route.level);
            }
            edges.push(edge);
        }
        for edge in old.iter_mut().filter(|edge| !edge.leaves()) {
            let next = edges.iter().find(|next| next.tap == edge.tap);
            edge.leave(next.map_or(0, Edge::delay_frames));
        }
        old.drain(..old.len().saturating_sub(LEAVING_EDGES_MAX));
        edges.extend(old);
        self.strip.edges = edges;
    }
}

/// Where strips are, or were, to which something leads or fades, by their old places.
fn still_fed(parts: &[Part]) -> BTreeSet<usize> {
    let edges = parts.iter().flat_map(|part| &part.strip.edges).filter(|edge| !edge.has_gone());
    edges
        .filter_map(|edge| match edge.to {
            Destination::Strip(to) => Some(to),
            Destination::Master => None,
        })
        .collect()
}

/// The keys of these side-chains; those that stay keep what they hold.
fn new_keys(
    mut old: Vec<Key>,
    sides: &[SideRoute],
    input_lag: usize,
    latency_before: impl Fn(usize) -> usize,
    lags: &Lags,
) -> Vec<Key> {
    let key = |side: &SideRoute| {
        let lag = input_lag + latency_before(side.effect);
        let delay_frames = lag.saturating_sub(lags.outputs[side.from]);
        let stays =
            |key: &Key| (key.effect, key.from, key.delay_frames()) == (side.effect, side.from, delay_frames);
        match old.iter().position(stays) {
            Some(place) => old.swap_remove(place),
            None => Key::new(side.effect, side.from, delay_frames),
        }
    };
    sides.iter().map(key).collect()
}

/// Lets a track fade that the session no longer has; `None` once nothing of it is heard.
fn leave(mut part: Part) -> Option<Part> {
    let has_effects = part.source.insert.as_ref().is_some_and(|insert| !insert.is_empty());
    // The notes of a plain track fade by themselves; whatever else there is fades with its ways
    // out.
    let fades_with_ways = has_effects || part.strip.insert.is_some();
    if !part.strip.leaves {
        part.strip.leaves = true;
        part.source.fade_out();
        part.strip.keys.clear();
        part.strip.insert.iter_mut().for_each(Insert::lose_keys);
        if fades_with_ways {
            part.strip.edges.iter_mut().for_each(|edge| edge.leave(0));
        }
    }
    let edges = &part.strip.edges;
    let has_gone = edges.iter().all(Edge::has_gone)
        || !fades_with_ways && part.source.is_silent() && edges.iter().all(Edge::is_silent);
    (!has_gone).then_some(part)
}

fn bank_of<'a>(track: &Track, banks: &'a [Option<Bank>]) -> Option<&'a Bank> {
    banks.get(track.instrument?.bank_slot as usize)?.as_ref()
}

impl super::desk::Desk {
    /// Puts every strip behind all that it hears. A way that fades and leads back is cut; what it
    /// led to is joined.
    fn find_order(&mut self) {
        let strips = &self.strips;
        let ways = |leaving: bool| {
            strips.iter().enumerate().flat_map(move |(from, strip)| {
                let edges =
                    strip.edges.iter().filter(move |edge| edge.leaves() == leaving && !edge.has_gone());
                edges.filter_map(move |edge| match edge.to {
                    Destination::Strip(to) => Some((from, to)),
                    Destination::Master => None,
                })
            })
        };
        let listening = strips
            .iter()
            .enumerate()
            .flat_map(|(to, strip)| strip.keys.iter().map(move |key| (key.from, to)));
        let mut counted: BTreeSet<(usize, usize)> = ways(false).chain(listening).collect();
        let in_order = |ways: &BTreeSet<(usize, usize)>| {
            order(strips.len(), |from| ways.range((from, 0)..(from + 1, 0)).map(|(_, to)| *to).collect())
        };
        let settled = in_order(&counted).unwrap_or_else(|_| (0..strips.len()).collect());
        let fading: BTreeSet<(usize, usize)> = ways(true).collect();
        let mut cut = Vec::new();
        let mut best = in_order(&counted.union(&fading).copied().collect()).ok();
        if best.is_none() {
            for way in fading.difference(&counted.clone()) {
                counted.insert(*way);
                match in_order(&counted) {
                    Ok(order) => best = Some(order),
                    Err(_) => {
                        counted.remove(way);
                        cut.push(*way);
                    }
                }
            }
        }
        self.order = best.unwrap_or_else(|| settled.clone());
        self.settled_order = settled;
        for (from, to) in cut {
            self.strips[to].fed_declicker.switch();
            let edges = self.strips[from].edges.iter_mut();
            edges.filter(|edge| edge.leaves() && edge.to == Destination::Strip(to)).for_each(Edge::cut);
        }
    }
}
