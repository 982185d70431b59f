//! Replaces the session of a mixer by an edited session while the mixer plays.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::channel::fader::Fader;
use super::channel::rack::{EffectRack, RackSettings};
use super::channel::route::Route;
use super::channel::side_chain::SideChain;
use super::channel::strip::ChannelStrip;
use super::graph::latency::Latencies;
use super::graph::{Destination, Routing, SideChainSettings};
use super::tempo::Tempo;
use super::track::TrackSource;
use super::track::clips::ClipPlayer;
use super::transition::{EditPlan, MixLayout, TrackLayout, TrackPlan, diff};
use super::{Mixer, MixerError, Slots, TrackMix, TrackPlayer};
use crate::block::{BLOCK_FRAMES, SILENT_BLOCK};
use crate::session::{Session, Track};
use crate::synth::SynthError;

/// Maximum number of removed tracks that fade out at the same time. Further removals cut the oldest
/// of them.
const REMOVED_TRACKS_MAX: usize = 128;

/// Maximum number of a strip's removed routes that fade out at the same time. Further removals cut
/// the oldest of them.
const REMOVED_ROUTES_MAX: usize = 64;

/// The parts of a track.
struct Channel {
    strip: ChannelStrip,
    source: TrackSource,
    rack: EffectRack,
    /// Index of the strip before the edit; `None` for a new track.
    old_index: Option<usize>,
}

impl Mixer {
    /// Replaces the session by an edited session.
    ///
    /// Unchanged tracks, effects and routes continue without interruption. If a track is removed or
    /// gets another instrument, its notes fade out in 50 ms. If the effects of a track change, the
    /// remaining effects keep their state. The track is then silent until the latency of its
    /// effects has passed, and fades in over 10 ms. Changed outputs and sends fade over 10 ms.
    ///
    /// # Errors
    ///
    /// [`MixerError`] if the session cannot be played. The mixer then continues with its current
    /// session.
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
        // Everything that can fail happens before the mixer is changed.
        let routing = Routing::from_session(session)?;
        let layout = MixLayout::from_session(session, &routing, slots);
        let plan = diff(&self.layout, &layout);
        let new_players = self.new_players(session, slots, &plan)?;
        self.layout = layout;
        self.apply(session, slots, &routing, &plan, new_players);
        self.routing = routing;
        self.update_loop();
        Ok(())
    }

    /// Creates a player for each track that does not keep its player.
    fn new_players(
        &self,
        session: &Session,
        slots: Slots<'_>,
        plan: &EditPlan,
    ) -> Result<Vec<Option<TrackPlayer>>, MixerError> {
        let new_player = |(track, plan): (&Track, &TrackPlan)| {
            if plan.keeps_player {
                return Ok(None);
            }
            let player = TrackPlayer::new(session, track, slots.bank_of(track.instrument));
            self.move_to_position(player, &track.id).map(Some)
        };
        session.tracks.iter().zip(&plan.tracks).map(new_player).collect()
    }

    /// Moves a new player to the mixer's position. Held notes start again, so the user hears the
    /// new sound immediately.
    fn move_to_position(
        &self,
        player: Result<TrackPlayer, SynthError>,
        track_id: &str,
    ) -> Result<TrackPlayer, MixerError> {
        let mut player = player.map_err(|source| MixerError::Synth { track_id: track_id.into(), source })?;
        if self.is_playing {
            player.seek(self.position_frames, 0);
        }
        Ok(player)
    }

    /// Replaces the banks and the audio in the slots of the session. A track whose bank changes
    /// gets a new player, as with [`Self::set_session`].
    ///
    /// # Errors
    ///
    /// [`MixerError::Synth`] if a synthesizer cannot be created. The mixer then continues with its
    /// current slots.
    pub fn set_slots<'a>(&mut self, slots: impl Into<Slots<'a>>) -> Result<(), MixerError> {
        let slots = slots.into();
        let mut changes = Vec::new();
        for (index, TrackLayout { id, player, .. }) in self.layout.tracks.iter().enumerate() {
            let bank = slots.bank_of(player.instrument);
            if bank != player.bank.as_ref() {
                let player = self.tracks[index].player.with_bank(player.instrument, bank);
                changes.push((index, bank.cloned(), self.move_to_position(player, id)?));
            }
        }
        for (index, bank, player) in changes {
            self.layout.tracks[index].player.bank = bank;
            self.tracks[index].set_player(player);
        }
        for source in &mut self.tracks[..self.track_count] {
            source.free_silent_players();
            source.clips.set_audio(slots.audio);
        }
        let racks = self.racks[..self.track_count].iter_mut();
        racks.chain([&mut self.graph.master.rack]).for_each(|rack| rack.set_audio(slots.audio));
        self.update_loop();
        Ok(())
    }

    fn apply(
        &mut self,
        session: &Session,
        slots: Slots<'_>,
        routing: &Routing,
        plan: &EditPlan,
        new_players: Vec<Option<TrackPlayer>>,
    ) {
        let tempo = Tempo::new(&session.tempo, self.sample_rate_hz);
        let mut channels = self.take_channels(session, plan, new_players, &tempo);
        for ((channel, track), plan) in channels.iter_mut().zip(&session.tracks).zip(&plan.tracks) {
            channel.source.free_silent_players();
            channel.source.clips.set_clips(&track.clips, slots.audio);
            channel.strip.fader.set_lanes(&track.automation);
            channel.strip.fader.set_mix(&TrackMix::from_track(track));
            let settings = RackSettings {
                track_id: &track.id,
                effects: &track.effects,
                is_bypassed: track.bypass,
                lanes: &track.automation,
                ..self.master_rack_settings(session, slots, &tempo)
            };
            channel.rack.apply(&settings, &plan.effects);
        }
        let settings = self.master_rack_settings(session, slots, &tempo);
        self.graph.master.rack.apply(&settings, &plan.master_effects);
        self.graph.master.set_session(session);
        self.connect(session, routing, plan, channels);
        self.graph.update_mute_and_solo(&self.racks);
        if !self.is_playing {
            self.stop_automation();
        }
    }

    fn master_rack_settings<'a>(
        &self,
        session: &'a Session,
        slots: Slots<'a>,
        tempo: &'a Tempo,
    ) -> RackSettings<'a> {
        RackSettings {
            track_id: "",
            effects: &session.master_effects,
            is_bypassed: false,
            lanes: &session.master_automation,
            seed: session.seed,
            audio: slots.audio,
            tempo,
            clock: self.position_frames,
        }
    }

    /// Returns the channels of the new session's tracks, then those of removed tracks that fade
    /// out.
    fn take_channels(
        &mut self,
        session: &Session,
        plan: &EditPlan,
        new_players: Vec<Option<TrackPlayer>>,
        tempo: &Tempo,
    ) -> Vec<Channel> {
        let strips = core::mem::take(&mut self.graph.strips).into_iter();
        let sources = core::mem::take(&mut self.tracks).into_iter();
        let racks = core::mem::take(&mut self.racks).into_iter();
        let old_parts = strips.zip(sources).zip(racks).enumerate();
        let mut old: Vec<Option<Channel>> = old_parts
            .map(|(index, ((strip, source), rack))| {
                Some(Channel { strip, source, rack, old_index: Some(index) })
            })
            .collect();
        let mut channels = Vec::with_capacity(session.tracks.len() + old.len());
        for ((track, plan), new_player) in session.tracks.iter().zip(&plan.tracks).zip(new_players) {
            let old_channel = plan.old_index.and_then(|index| old[index].take());
            channels.extend(match (old_channel, new_player) {
                (Some(mut channel), None) => {
                    channel.source.player.replace_events(&track.events, self.is_playing);
                    Some(channel)
                }
                (Some(mut channel), Some(player)) => {
                    channel.source.set_player(player);
                    Some(channel)
                }
                (None, Some(player)) => Some(self.new_channel(track, player, tempo)),
                (None, None) => None,
            });
        }
        let mut removed_channels: Vec<Channel> =
            old.into_iter().flatten().filter_map(Channel::remove).collect();
        removed_channels.drain(..removed_channels.len().saturating_sub(REMOVED_TRACKS_MAX));
        channels.extend(removed_channels);
        channels
    }

    fn new_channel(&self, track: &Track, player: TrackPlayer, tempo: &Tempo) -> Channel {
        let mut source = TrackSource::new(player, ClipPlayer::new(self.sample_rate_hz));
        source.clips.seek(self.position_frames);
        let fader = Fader::new(&TrackMix::from_track(track), self.sample_rate_hz);
        Channel {
            strip: ChannelStrip::new(&track.id, fader, self.sample_rate_hz),
            source,
            rack: EffectRack::new(tempo, self.sample_rate_hz),
            old_index: None,
        }
    }

    /// Connects the channels by routes and side-chains, and sets the delays that align their
    /// signals.
    fn connect(&mut self, session: &Session, routing: &Routing, plan: &EditPlan, mut channels: Vec<Channel>) {
        let latencies = latencies(routing, &self.graph.master.rack, |index| &channels[index].rack);
        let new_index_of = |old: usize| channels.iter().position(|channel| channel.old_index == Some(old));
        let old_count =
            channels.iter().filter_map(|channel| channel.old_index).max().map_or(0, |last| last + 1);
        let new_indices: Vec<Option<usize>> = (0..old_count).map(new_index_of).collect();
        for (index, channel) in channels.iter_mut().enumerate() {
            channel.move_routes(&new_indices);
            let Some(track) = session.tracks.get(index) else { continue };
            channel.set_routes(index, routing, &plan.tracks[index], &latencies, self.sample_rate_hz);
            channel.strip.routes.iter_mut().for_each(|route| route.set_lanes(&track.automation));
            align_channel(&mut channel.strip, &mut channel.rack, index, routing, &latencies);
            if channel.old_index.is_none() {
                // A new track is not yet audible, so its parameters may change without a ramp.
                channel.rack.reset(self.position_frames);
            }
        }
        self.align_master(routing, &latencies);
        self.track_count = session.tracks.len();
        let has_tap = |index: usize| index < session.tracks.len() && routing.feeds_side_chain(index);
        self.graph.buffers.taps = (0..channels.len())
            .map(|index| has_tap(index).then(|| Box::new([[0.0; BLOCK_FRAMES]; 2])))
            .collect();
        for channel in channels {
            self.graph.strips.push(channel.strip);
            self.tracks.push(channel.source);
            self.racks.push(channel.rack);
        }
        self.graph.update_order(&self.racks);
        self.allocate_inputs();
    }

    fn align_master(&mut self, routing: &Routing, latencies: &Latencies) {
        let master = &mut self.graph.master;
        master.rack.set_input_latency(latencies.master);
        master.fader.set_latency(latencies.master + master.rack.latency_frames());
        set_side_chains(&mut master.rack, &routing.master_side_chains, latencies.master, latencies);
        self.sum_latency_frames = latencies.master;
    }

    /// Aligns all signals anew after the latency of a rack has changed.
    pub(super) fn align(&mut self) {
        let routing = core::mem::take(&mut self.routing);
        let latencies = latencies(&routing, &self.graph.master.rack, |index| &self.racks[index]);
        let strips = self.graph.strips.iter_mut().zip(&mut self.racks).take(self.track_count);
        for (index, (strip, rack)) in strips.enumerate() {
            for (route, settings) in strip.routes.iter_mut().zip(&routing.routes[index]) {
                route.set_delay(latencies.route_delay(index, settings.destination));
            }
            align_channel(strip, rack, index, &routing, &latencies);
        }
        self.align_master(&routing, &latencies);
        self.routing = routing;
    }

    /// Allocates a sum for each strip that other strips feed. The effects of these strips then
    /// process the sum, in the mix.
    fn allocate_inputs(&mut self) {
        let strips = &self.graph.strips;
        let is_fed = |index: usize| {
            let feeds = |route: &Route| route.destination == Destination::Strip(index);
            strips.iter().flat_map(|strip| &strip.routes).any(feeds)
                || !strips[index].input_declicker.is_idle()
        };
        self.graph.buffers.sums.strips =
            (0..strips.len()).map(|index| is_fed(index).then(|| Box::new(SILENT_BLOCK))).collect();
        for (rack, input) in self.racks.iter_mut().zip(&self.graph.buffers.sums.strips) {
            rack.runs_in_mix = input.is_some() || !rack.side_chains.is_empty();
        }
    }
}

impl Channel {
    /// Updates the destinations of the old routes to the new indices of the strips. Removes routes
    /// that have ended and routes to strips that no longer exist.
    fn move_routes(&mut self, new_indices: &[Option<usize>]) {
        self.strip.routes.retain_mut(|route| {
            if let Destination::Strip(old) = route.destination {
                let Some(new) = new_indices.get(old).copied().flatten() else { return false };
                route.destination = Destination::Strip(new);
            }
            !route.has_ended()
        });
    }

    /// Sets the strip's routes to those of the session. Existing routes continue, new routes fade
    /// in and removed routes fade out.
    fn set_routes(
        &mut self,
        index: usize,
        routing: &Routing,
        plan: &TrackPlan,
        latencies: &Latencies,
        sample_rate_hz: u32,
    ) {
        let mut old = core::mem::take(&mut self.strip.routes);
        let mut routes = Vec::with_capacity(plan.routes.len() + old.len());
        for (settings, old_route) in routing.routes[index].iter().zip(&plan.routes) {
            let delay_frames = latencies.route_delay(index, settings.destination);
            let is_kept = |route: &Route| {
                old_route.is_some()
                    && (route.tap, route.destination) == (settings.tap, settings.destination)
                    && !route.is_removed()
            };
            if let Some(number) = old.iter().position(is_kept) {
                let mut route = old.remove(number);
                route.set_delay(delay_frames);
                route.set_level(settings.level);
                routes.push(route);
                continue;
            }
            let mut route =
                Route::new(settings.tap, settings.destination, settings.level, delay_frames, sample_rate_hz);
            if self.old_index.is_some() {
                route.fade_in();
            }
            routes.push(route);
        }
        old.iter_mut().for_each(Route::remove);
        old.drain(..old.len().saturating_sub(REMOVED_ROUTES_MAX));
        routes.extend(old);
        self.strip.routes = routes;
    }

    /// Starts to fade out a track that the session no longer has. Returns `None` if the track is no
    /// longer audible.
    fn remove(mut self) -> Option<Self> {
        // The notes of a track without effects fade out by themselves. A track with effects fades
        // out through its routes.
        let fades_by_routes = self.rack.has_effects() || self.rack.insert.is_some() || self.rack.runs_in_mix;
        if !self.strip.is_removed {
            self.strip.is_removed = true;
            self.source.fade_out();
            self.rack.side_chains.iter_mut().for_each(|side_chain| side_chain.source_index = None);
            if fades_by_routes {
                self.strip.routes.iter_mut().for_each(Route::remove);
            }
        }
        let routes = &self.strip.routes;
        let has_ended = routes.iter().all(Route::has_ended)
            || !fades_by_routes && self.source.is_silent() && routes.iter().all(Route::is_silent);
        (!has_ended).then_some(self)
    }
}

/// Computes the latencies of a session with routes and racks.
fn latencies<'a>(
    routing: &Routing,
    master: &'a EffectRack,
    rack_of: impl Fn(usize) -> &'a EffectRack,
) -> Latencies {
    Latencies::compute(routing, |track, effect| {
        let rack = track.map_or(master, &rack_of);
        effect.map_or_else(|| rack.latency_frames(), |effect| rack.latency_frames_before(effect))
    })
}

/// Passes the latencies to the parts of a track, except the delays of its routes.
fn align_channel(
    strip: &mut ChannelStrip,
    rack: &mut EffectRack,
    index: usize,
    routing: &Routing,
    latencies: &Latencies,
) {
    strip.routes.iter_mut().for_each(|route| route.set_latency(latencies.outputs[index]));
    strip.fader.set_latency(latencies.outputs[index]);
    rack.set_input_latency(latencies.inputs[index]);
    set_side_chains(rack, &routing.side_chains[index], latencies.inputs[index], latencies);
}

/// Sets a rack's side-chains from the session. Existing side-chains continue.
fn set_side_chains(
    rack: &mut EffectRack,
    settings: &[SideChainSettings],
    input_latency_frames: usize,
    latencies: &Latencies,
) {
    let mut old = core::mem::take(&mut rack.side_chains);
    for &SideChainSettings { effect, source_index } in settings {
        let latency_frames = input_latency_frames + rack.latency_frames_before(effect);
        let delay_frames = latency_frames.saturating_sub(latencies.outputs[source_index]);
        let is_same = |side_chain: &SideChain| {
            (side_chain.effect, side_chain.source_index, side_chain.delay_frames())
                == (effect, Some(source_index), delay_frames)
        };
        let same_side_chain = old.iter().position(is_same).map(|index| old.swap_remove(index));
        rack.side_chains
            .push(same_side_chain.unwrap_or_else(|| SideChain::new(effect, source_index, delay_frames)));
    }
}
