//! The mixer, which plays and mixes a session.
//!
//! A [`Mixer`] plays each track's notes and clips through its effects and fader. It mixes the
//! tracks through buses and groups, and processes the sum with the master's effects, fader and
//! limiter. Delays align all signals of a sum. Automation and tempo changes get the same delay as
//! their signal.
//!
//! `track/` plays the source of a track, `channel/` processes the source's signal, `graph/` sums
//! the signals, and `automation/` changes parameters over time. `transition.rs` finds the
//! differences between an edited session and the current one, and `apply.rs` applies them.
//! `looping.rs` repeats a region.

mod apply;
mod automation;
mod channel;
mod commands;
mod graph;
mod loop_region;
mod looping;
mod master;
mod memory;
mod tempo;
mod track;
mod transition;

#[cfg(test)]
mod tests;

pub use channel::chain::MAX_EFFECTS;
pub(crate) use channel::rack::EffectRack;
pub use channel::{
    DryFallback, EffectChain, EffectSlot, InsertBuffers, InstrumentFallback, LIVE_BLOCK_FRAMES, LiveChain,
    LiveEffect, LivePass, LiveSource, SlotSource, effect_seed,
};
pub use commands::EffectOwner;
pub(crate) use graph::MixGraph;
pub use loop_region::{LoopRegion, MIN_LOOP_FRAMES};
pub use memory::{MemoryComponent, MemoryNeed};
pub(crate) use track::TrackSource;
pub use track::clips::{Underruns, WantedAudio};
pub use track::note_player::TrackPlayer;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::block::{BLOCK_FRAMES, SILENT_BLOCK, TrackBlock, track_signal};
use crate::limiter::Reduction;
use crate::session::{AudioSlot, Instrument, Session, Track};
use crate::soundfont::Bank;
use crate::synth::SynthError;
use graph::Routing;
use tempo::Tempo;
use transition::MixLayout;

/// The reason why a session cannot be played.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MixerError {
    /// A track's synthesizer could not be created.
    #[error("the synthesizer of track {track_id:?} cannot be created: {source}")]
    Synth {
        /// Id of the track.
        track_id: String,
        /// The error of the synthesizer.
        source: SynthError,
    },
    /// The session's sample rate differs from that of the mixer.
    #[error(
        "the session has a sample rate of {session_hz} Hz, but the mixer has {mixer_hz} Hz; both must be equal"
    )]
    SampleRate {
        /// Sample rate of the session in hertz.
        session_hz: u32,
        /// Sample rate of the mixer in hertz.
        mixer_hz: u32,
    },
    /// Two tracks have the same id.
    #[error("the session has more than one track with the id {track_id:?}; ids must be unique")]
    DuplicateTrack {
        /// The id that both tracks have.
        track_id: String,
    },
    /// A track feeds itself.
    #[error("track {track_id:?} feeds itself through its outputs, sends or side-chains")]
    RoutingLoop {
        /// Id of a track in the loop.
        track_id: String,
    },
    /// An output, a send or a side-chain refers to a track that does not exist.
    #[error(
        "{} refers to the track with index {index}, which does not exist; indices start at 0",
        owner_name(.track_id)
    )]
    NoSuchTrack {
        /// Id of the track with the reference; empty for the master.
        track_id: String,
        /// Index of the track that does not exist.
        index: usize,
    },
    /// The engine does not have this kind of effect.
    #[error("the engine has no kind of effect with the id {kind:?}")]
    UnknownEffect {
        /// The unknown id of the kind of effect.
        kind: String,
    },
    /// A track has more than [`MAX_EFFECTS`] effects.
    #[error("{} has more than {MAX_EFFECTS} effects", owner_name(.track_id))]
    TooManyEffects {
        /// Id of the track; empty for the master.
        track_id: String,
    },
}

/// Returns the name of a track, or of the master for an empty id, for error texts.
fn owner_name(track_id: &str) -> String {
    if track_id.is_empty() { "the master".into() } else { format!("track {track_id:?}") }
}

/// Fader, pan, mute and solo of a track.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrackMix {
    /// Linear gain of the fader.
    pub gain: f32,
    /// Pan: -1 is left, 0 the centre, 1 right.
    pub pan: f32,
    /// Whether the track is muted.
    pub is_muted: bool,
    /// Whether the track is soloed.
    pub is_soloed: bool,
}

impl TrackMix {
    /// Returns the settings of a track in a session.
    pub fn from_track(track: &Track) -> Self {
        Self { gain: track.gain, pan: track.pan, is_muted: track.mute, is_soloed: track.solo }
    }
}

/// The banks and audio that a session refers to by index.
#[derive(Debug, Clone, Copy, Default)]
pub struct Slots<'a> {
    /// SoundFont banks. A track without a bank plays no notes.
    pub banks: &'a [Option<Bank>],
    /// Audio of clips and impulse responses. A clip without audio is silent.
    pub audio: &'a [Option<AudioSlot>],
}

impl<'a> Slots<'a> {
    /// Returns the bank of an instrument.
    pub(crate) fn bank_of(self, instrument: Option<Instrument>) -> Option<&'a Bank> {
        self.banks.get(instrument?.bank_slot as usize)?.as_ref()
    }
}

impl<'a> From<&'a [Option<Bank>]> for Slots<'a> {
    fn from(banks: &'a [Option<Bank>]) -> Self {
        Self { banks, audio: &[] }
    }
}

impl<'a> From<&'a Vec<Option<Bank>>> for Slots<'a> {
    fn from(banks: &'a Vec<Option<Bank>>) -> Self {
        Self { banks, audio: &[] }
    }
}

impl<'a, const COUNT: usize> From<&'a [Option<Bank>; COUNT]> for Slots<'a> {
    fn from(banks: &'a [Option<Bank>; COUNT]) -> Self {
        Self { banks, audio: &[] }
    }
}

/// The last frame to which a session can seek.
const LAST_FRAME: u64 = 1 << 60;

/// Maximum number of voice steps that a seek computes to restore sounding notes of all tracks. This
/// takes some tens of milliseconds, which is not noticeable during a seek.
const SEEK_STEPS: u64 = 600_000;

/// Maximum number of voice steps that a seek computes for a single track.
const SEEK_TRACK_STEPS: u64 = 240_000;

/// Plays a session, with identical samples in real time and offline.
///
/// The output depends on the session, the slots and the events, never on the call size.
pub struct Mixer {
    sample_rate_hz: u32,
    /// The source of each strip of the graph.
    pub(crate) tracks: Vec<TrackSource>,
    /// The effects of each strip of the graph.
    pub(crate) racks: Vec<EffectRack>,
    pub(crate) graph: MixGraph,
    /// Number of tracks of the session. The strips after them belong to removed tracks that fade
    /// out.
    track_count: usize,
    /// Layout of the current session, with which an edited session is compared.
    layout: MixLayout,
    /// Routes of the current session.
    routing: Routing,
    /// Latency of the sum of the strips, in frames.
    sum_latency_frames: usize,
    position_frames: u64,
    is_playing: bool,
    loop_region: Option<LoopRegion>,
    /// The loop of the last jump since playback started or was moved.
    last_jump: Option<LoopRegion>,
    scratch: Box<TrackBlock>,
}

impl Mixer {
    /// Creates a stopped mixer at frame 0. `slots` is a [`Slots`], or a slice of banks for a
    /// session without audio.
    ///
    /// # Errors
    ///
    /// [`MixerError`] if the session cannot be played.
    pub fn new<'a>(session: &Session, slots: impl Into<Slots<'a>>) -> Result<Self, MixerError> {
        // This check rejects invalid sessions before the constructors below use them.
        let routing = Routing::from_session(session)?;
        let mut mixer = Self {
            sample_rate_hz: session.sample_rate_hz,
            tracks: Vec::new(),
            racks: Vec::new(),
            graph: MixGraph::new(session, &Tempo::new(&session.tempo, session.sample_rate_hz)),
            track_count: 0,
            layout: MixLayout::default(),
            routing,
            sum_latency_frames: 0,
            position_frames: 0,
            is_playing: false,
            loop_region: None,
            last_jump: None,
            scratch: Box::new(SILENT_BLOCK),
        };
        mixer.set_session(session, slots)?;
        mixer.graph.reset(0);
        mixer.tracks.iter_mut().for_each(|track| _ = track.seek(0, 0));
        mixer.racks.iter_mut().for_each(|rack| rack.reset(0));
        Ok(mixer)
    }

    /// Returns the latency of the output in frames: that of the effects plus the limiter's
    /// look-ahead.
    pub fn latency_frames(&self) -> usize {
        self.sum_latency_frames + self.graph.master.latency_frames()
    }

    /// Returns the position: the number of frames from the start of the session to the next frame
    /// that enters the mix.
    pub fn position_frames(&self) -> u64 {
        self.position_frames
    }

    /// Whether the session plays.
    pub fn is_playing(&self) -> bool {
        self.is_playing
    }

    /// Starts playback at the current position, with all audio state cleared.
    pub fn play(&mut self) {
        self.is_playing = true;
        self.seek(self.position_frames);
    }

    /// Stops playback and releases all notes. Their releases and the tails of effects remain
    /// audible.
    pub fn stop(&mut self) {
        if self.is_playing {
            self.tracks.iter_mut().for_each(|track| track.clips.fade_out());
        }
        self.is_playing = false;
        self.release_all();
        self.stop_automation();
    }

    /// Moves to a frame. While the session plays, tails are cut, and playback continues in the
    /// state that playing from the start would lead to. While the session is stopped, tails remain
    /// audible.
    pub fn seek(&mut self, frame: u64) {
        self.position_frames = frame.min(LAST_FRAME);
        self.last_jump = None;
        if !self.is_playing {
            return self.stop_automation();
        }
        let mut steps = SEEK_STEPS;
        let (tracks, removed_tracks) = self.tracks.split_at_mut(self.track_count);
        for track in tracks {
            steps -= track.seek(self.position_frames, steps.min(SEEK_TRACK_STEPS)).min(steps);
        }
        removed_tracks.iter_mut().for_each(TrackSource::cut);
        self.racks.iter_mut().for_each(|rack| rack.reset(self.position_frames));
        self.graph.reset(self.position_frames);
    }

    /// Stops automation. Automated parameters ramp to their values at the current position.
    fn stop_automation(&mut self) {
        self.tracks.iter_mut().for_each(|track| track.clips.stop(self.position_frames));
        self.racks.iter_mut().for_each(|rack| rack.stop(self.position_frames));
        self.graph.stop(self.position_frames);
    }

    /// Releases all notes of all tracks.
    pub fn release_all(&mut self) {
        self.tracks.iter_mut().for_each(|track| track.player.release_all());
    }

    /// Returns the number of active voices, including those of removed tracks.
    pub fn active_voice_count(&self) -> usize {
        self.tracks.iter().map(TrackSource::active_voice_count).sum()
    }

    /// Returns the number of tracks, including buses and groups.
    pub fn track_count(&self) -> usize {
        self.track_count
    }

    /// Returns the index of the track with an id.
    pub fn track_index(&self, track_id: &str) -> Option<usize> {
        self.graph.strips[..self.track_count].iter().position(|strip| strip.track_id == track_id)
    }

    /// Returns the gain reduction of the limiter since the last call, or since the last seek.
    pub(crate) fn take_limiter_reduction(&mut self) -> Reduction {
        self.graph.master.take_limiter_reduction()
    }

    /// Renders the next frames. Both slices have the same length. If a track has external input,
    /// that length is at most [`BLOCK_FRAMES`] and at most [`Self::frames_to_jump`].
    pub fn process(&mut self, left: &mut [f32], right: &mut [f32]) {
        let mut rendered_frames = 0;
        while rendered_frames < left.len() {
            let block_frames = BLOCK_FRAMES.min(self.frames_to_jump().unwrap_or(BLOCK_FRAMES));
            let block = rendered_frames..left.len().min(rendered_frames + block_frames);
            self.process_block(&mut left[block.clone()], &mut right[block.clone()]);
            rendered_frames = block.end;
        }
    }

    fn process_block(&mut self, left: &mut [f32], right: &mut [f32]) {
        let frames = left.len();
        self.graph.begin(self.is_playing, frames);
        for order_index in 0..self.graph.order.len() {
            let index = self.graph.order[order_index];
            // Removed tracks play no further events; they only fade out.
            let is_playing = self.is_playing && index < self.track_count;
            let rack = &mut self.racks[index];
            let outputs = self.scratch.each_mut().map(|output| &mut output[..frames]);
            let track_rack = (!rack.runs_in_mix).then_some(&mut *rack);
            let active_outputs = self.tracks[index].render(is_playing, outputs, track_rack);
            let signal = track_signal(&self.scratch, active_outputs, frames);
            self.graph.process_strip(index, signal, rack.runs_in_mix.then_some(rack));
        }
        self.graph.finish(left, right);
        if self.is_playing {
            self.advance(frames);
        }
    }
}
