//! Commands that control the mixer without a new session.

use alloc::boxed::Box;

use super::channel::InsertBuffers;
use super::channel::rack::EffectRack;
use super::channel::recording::Recording;
use super::channel::route::Route;
use super::graph::MixBuffers;
use super::track::clips::{Underruns, WantedAudio};
use super::{Mixer, SEEK_TRACK_STEPS, TrackMix};
use crate::block::{BLOCK_FRAMES, TrackBlock};
use crate::session::Event;

/// The owner of a chain of effects: a track or the master.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectOwner {
    /// The track at an index.
    Track(usize),
    /// The master channel, to which all tracks are mixed.
    Master,
}

/// These methods ignore indices of tracks, sends, effects and parameters that do not exist.
impl Mixer {
    /// Returns the id of the track at an index, or `None` if there is no such track.
    pub fn track_id(&self, track: usize) -> Option<&str> {
        self.graph.strips[..self.track_count].get(track).map(|strip| &*strip.track_id)
    }

    /// Plays an event on a track, such as a key that a user presses.
    pub fn play_event(&mut self, track: usize, event: Event) {
        if let Some(source) = self.tracks[..self.track_count].get_mut(track) {
            source.player.play_event(event);
        }
    }

    /// Sets a track's fader, pan, mute and solo. Automated settings continue to follow their
    /// curves.
    pub fn set_track_mix(&mut self, track: usize, mix: &TrackMix) {
        if let Some(strip) = self.graph.strips[..self.track_count].get_mut(track) {
            strip.fader.set_mix(mix);
            if !self.is_playing {
                strip.fader.stop(self.position_frames);
            }
            self.graph.update_mute_and_solo(&self.racks);
        }
    }

    /// Whether mute and solo let any signal of a track through.
    pub fn lets_through(&self, track: usize) -> bool {
        let strip = self.graph.strips[..self.track_count].get(track);
        strip.is_some_and(|strip| strip.routes.iter().any(Route::lets_through))
    }

    /// Sets a send's level as a linear gain. An automated level continues to follow its curve.
    pub fn set_send_gain(&mut self, track: usize, send: usize, gain: f32) {
        if let Some(strip) = self.graph.strips[..self.track_count].get_mut(track) {
            let routes = strip.routes.iter_mut().filter(|route| route.is_send(send));
            routes.for_each(|route| route.set_level(gain));
        }
    }

    /// Sets the master fader to a linear gain. An automated fader continues to follow its curve.
    pub fn set_master_gain(&mut self, gain: f32) {
        self.graph.master.set_gain(gain);
        if !self.is_playing {
            self.graph.master.fader.stop(self.position_frames);
        }
    }

    /// Sets the latency in frames of effects outside the engine, which follow those of a track or
    /// of the master; `None` removes them. All other signals are delayed accordingly, with
    /// crossfades. Allocates memory.
    pub fn set_insert(&mut self, owner: EffectOwner, latency_frames: Option<usize>) {
        if let Some(rack) = self.rack_mut(owner) {
            rack.set_insert(latency_frames);
            self.align();
        }
    }

    /// Returns the buffers of effects outside the engine.
    pub fn insert(&mut self, owner: EffectOwner) -> Option<&mut InsertBuffers> {
        Some(&mut self.rack_mut(owner)?.insert.as_mut()?.buffers)
    }

    /// Sets a parameter of an effect to a value in its unit. An automated parameter continues to
    /// follow its curve.
    pub fn set_effect_parameter(&mut self, owner: EffectOwner, effect: usize, parameter: usize, value: f64) {
        if let Some(rack) = self.rack_mut(owner) {
            rack.set_parameter(effect, parameter, value);
        }
    }

    /// Sets whether an effect is bypassed.
    pub fn set_effect_bypass(&mut self, owner: EffectOwner, effect: usize, is_bypassed: bool) {
        if let Some(rack) = self.rack_mut(owner) {
            rack.set_effect_bypass(effect, is_bypassed);
        }
    }

    /// Sets whether all effects of a track or of the master are bypassed.
    pub fn set_bypass(&mut self, owner: EffectOwner, is_bypassed: bool) {
        if let Some(rack) = self.rack_mut(owner) {
            rack.set_bypass(is_bypassed);
        }
    }

    /// Returns the index of the effect with an id.
    pub fn effect_index(&self, owner: EffectOwner, id: &str) -> Option<usize> {
        self.rack(owner)?.effect_index(id)
    }

    /// Returns the index of the parameter with an id.
    pub fn parameter_index(&self, owner: EffectOwner, effect: usize, id: &str) -> Option<usize> {
        self.rack(owner)?.parameter_index(effect, id)
    }

    /// Returns the current gain reduction of an effect in decibels, or `None` if the effect does
    /// not measure one.
    pub fn gain_reduction_db(&self, owner: EffectOwner, effect: usize) -> Option<f32> {
        self.rack(owner)?.gain_reduction_db(effect)
    }

    fn rack(&self, owner: EffectOwner) -> Option<&EffectRack> {
        match owner {
            EffectOwner::Master => Some(&self.graph.master.rack),
            EffectOwner::Track(index) => self.racks[..self.track_count].get(index),
        }
    }

    fn rack_mut(&mut self, owner: EffectOwner) -> Option<&mut EffectRack> {
        match owner {
            EffectOwner::Master => Some(&mut self.graph.master.rack),
            EffectOwner::Track(index) => self.racks[..self.track_count].get_mut(index),
        }
    }

    /// Sets whether a track plays [`Self::track_input`] instead of its notes while the session
    /// plays. Notes of [`Self::play_event`] remain audible.
    pub fn set_input_enabled(&mut self, track: usize, is_enabled: bool) {
        let Some(source) = self.tracks[..self.track_count].get_mut(track) else { return };
        let has_changed = source.input.is_enabled != is_enabled;
        source.input.is_enabled = is_enabled;
        if has_changed && self.is_playing {
            source.seek_notes(self.position_frames, SEEK_TRACK_STEPS);
        }
    }

    /// Returns the buffer for the external input of a track: left, right, reverb send and chorus
    /// send. Before each call of [`Self::process`], the caller fills the buffer with as many frames
    /// as the call renders, at most a block. Returns `None` for a track without external input.
    pub fn track_input(&mut self, track: usize) -> Option<&mut TrackBlock> {
        let source = self.tracks[..self.track_count].get_mut(track)?;
        source.input.is_enabled.then_some(&mut *source.input.block)
    }

    /// Returns the blocks of streamed audio
    /// ([`AudioSlot::Streamed`](crate::session::AudioSlot::Streamed)) that clips will need, in no
    /// particular order. A block is listed until [`Self::fill_audio`] delivers it or playback has
    /// passed it.
    pub fn wanted_audio(&self) -> impl Iterator<Item = WantedAudio> {
        let tracks = self.tracks[..self.track_count].iter().zip(&self.racks).enumerate();
        let of_tracks = tracks.flat_map(|(index, (source, rack))| {
            let recordings = rack.wanted(index, source.clips.clip_count());
            source.clips.wanted(index).chain(recordings)
        });
        of_tracks.chain(self.graph.master.rack.wanted(self.track_count, 0))
    }

    /// Delivers streamed audio: the slot and the source frame of a [`WantedAudio`], then left and
    /// right. The audio may be shorter than [`WantedAudio::frames`]. All clips that need the audio
    /// receive it. Audio that no clip needs any longer is ignored.
    pub fn fill_audio(&mut self, audio_slot: u32, source_frame: u64, audio: [&[f32]; 2]) {
        for source in &mut self.tracks[..self.track_count] {
            source.clips.fill(audio_slot, source_frame, audio);
        }
        let racks = self.racks[..self.track_count].iter_mut().chain([&mut self.graph.master.rack]);
        let recordings = racks.flat_map(|rack| &mut rack.recordings);
        recordings.for_each(|recording| recording.fill(audio_slot, source_frame, audio));
    }

    /// Returns the underruns of streamed audio since the last call.
    pub fn take_underruns(&mut self) -> Underruns {
        let clips = self.tracks.iter_mut().map(|source| source.clips.take_underruns());
        let racks = self.racks.iter_mut().chain([&mut self.graph.master.rack]);
        let recordings = racks.flat_map(|rack| &mut rack.recordings).map(Recording::take_underruns);
        clips.chain(recordings).fold(Underruns::default(), Underruns::plus)
    }

    /// Makes the signal after the effects of a track, or of the master for `None`, available to
    /// [`Self::read_tap`] until the next edit of the session.
    pub(crate) fn tap(&mut self, track: Option<usize>) {
        if let Some(tap) = track.and_then(|index| self.graph.buffers.taps.get_mut(index)) {
            tap.get_or_insert_with(|| Box::new([[0.0; BLOCK_FRAMES]; 2]));
        }
    }

    /// Returns the latency of the tapped signal in frames.
    pub(crate) fn tap_latency_frames(&self, track: Option<usize>) -> usize {
        let owner = track.map_or(EffectOwner::Master, EffectOwner::Track);
        self.rack(owner).map_or(0, EffectRack::output_latency_frames)
    }

    /// Copies the last frames of a signal that [`Self::tap`] made available, at most a block.
    pub(crate) fn read_tap(&self, track: Option<usize>, sides: [&mut [f32]; 2]) {
        let MixBuffers { sums, taps, .. } = &self.graph.buffers;
        let tap = track.and_then(|index| taps.get(index)?.as_deref()).map(|tap| [&tap[0][..], &tap[1][..]]);
        // The effects of the master process the sum of the strips in place.
        let tap = tap.unwrap_or([&sums.master[0][..], &sums.master[1][..]]);
        for (side, values) in sides.into_iter().zip(tap) {
            side.copy_from_slice(&values[..side.len()]);
        }
    }

    /// Writes the sample peaks since the last call: left and right of each track after its fader,
    /// then of the master. Stops at the end of `peaks`.
    pub fn take_peaks(&mut self, peaks: &mut [f32]) {
        let meters = self.graph.strips[..self.track_count].iter_mut().map(|strip| &mut strip.meter);
        let meters = meters.chain([&mut self.graph.master.meter]);
        let values = meters.flat_map(|meter| meter.take_peaks());
        peaks.iter_mut().zip(values).for_each(|(peak, value)| *peak = value);
    }

    /// Writes the RMS levels since the last call, in the order of [`Self::take_peaks`]. A sine at
    /// full scale has 0.707.
    pub fn take_rms(&mut self, rms: &mut [f32]) {
        let meters = self.graph.strips[..self.track_count].iter_mut().map(|strip| &mut strip.meter);
        let meters = meters.chain([&mut self.graph.master.meter]);
        let values = meters.flat_map(|meter| meter.take_rms());
        rms.iter_mut().zip(values).for_each(|(rms, value)| *rms = value);
    }
}
