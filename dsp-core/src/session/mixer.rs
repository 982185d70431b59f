//! A whole session, played: the sum of its tracks and of the effects that they share, through
//! master gain and limiter.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::desk::Desk;
use super::leaving::LeavingPlayers;
use super::strip::{SILENT_BLOCK, Strip, TRACK_OUTPUTS, TrackBlock};
use super::track_player::Motion;
use super::{Event, Session, Track, TrackPlayer};
use crate::block::BLOCK_FRAMES;
use crate::soundfont::Bank;
use crate::synth::SynthError;

/// Why a session cannot be played.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MixerError {
    /// A track's synthesizer could not be made.
    #[error("track {track_id:?}: {source}")]
    Synth {
        /// Which track.
        track_id: String,
        /// Why.
        source: SynthError,
    },
    /// A session of another sample rate than the mixer's.
    #[error("the session is at {session_hz} Hz and the mixer runs at {mixer_hz} Hz")]
    SampleRate {
        /// Rate of the session.
        session_hz: u32,
        /// Rate that the mixer was made for.
        mixer_hz: u32,
    },
    /// Two tracks that go by the same id.
    #[error("the session has more than one track {track_id:?}; the id of a track must be its own")]
    DuplicateTrack {
        /// The id that they share.
        track_id: String,
    },
}

/// Where a track's fader and pan stand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrackMix {
    /// Linear gain of the fader.
    pub gain: f32,
    /// -1 is left, 0 the centre, 1 right.
    pub pan: f32,
    /// Whether the track is heard.
    pub audible: bool,
}

impl TrackMix {
    /// The settings that a track of a session comes with.
    pub fn of(track: &Track) -> Self {
        Self { gain: track.gain, pan: track.pan, audible: track.audible }
    }
}

/// Plays a session in real time or offline, with the same samples.
///
/// What it computes depends on the session, the banks and the events it is given, never on the
/// number of frames that a call asks for.
pub struct Mixer {
    sample_rate_hz: u32,
    /// One for each strip of the desk.
    pub(super) players: Vec<TrackPlayer>,
    pub(super) desk: Desk,
    leaving: LeavingPlayers,
    position: u64,
    playing: bool,
    scratch: Box<TrackBlock>,
}

impl Mixer {
    /// A mixer at frame 0 that stands still. `banks` are the session's slots; a track whose slot
    /// is empty is silent.
    ///
    /// # Errors
    ///
    /// [`MixerError::Synth`] for a sample rate or polyphony that cannot be played,
    /// [`MixerError::DuplicateTrack`] for tracks that share an id.
    pub fn new(session: &Session, banks: &[Option<Bank>]) -> Result<Self, MixerError> {
        let mut mixer = Self {
            sample_rate_hz: session.sample_rate_hz,
            players: Vec::new(),
            desk: Desk::new(session),
            leaving: LeavingPlayers::NONE,
            position: 0,
            playing: false,
            scratch: Box::new(SILENT_BLOCK),
        };
        mixer.set_session(session, banks)?;
        mixer.desk.master_gain.jump();
        Ok(mixer)
    }

    /// Goes on with an edited session from where it is: what the edit does not touch sounds on. The notes
    /// of a track that it removes, or gives another instrument, fade in a twentieth of a second.
    ///
    /// # Errors
    ///
    /// [`MixerError`]; the mixer then plays on as it was.
    pub fn set_session(&mut self, session: &Session, banks: &[Option<Bank>]) -> Result<(), MixerError> {
        if session.sample_rate_hz != self.sample_rate_hz {
            return Err(MixerError::SampleRate {
                session_hz: session.sample_rate_hz,
                mixer_hz: self.sample_rate_hz,
            });
        }
        // Everything that can fail comes before anything is changed.
        check_ids(&session.tracks)?;
        let mut fresh_players = Vec::new();
        for track in &session.tracks {
            let bank = bank_of(track, banks);
            let goes_on = self
                .track_place(&track.id)
                .is_some_and(|place| self.players[place].fits(track, bank, session));
            fresh_players.push(if goes_on { None } else { Some(self.new_player(session, track, bank)?) });
        }
        let strips = core::mem::take(&mut self.desk.strips);
        let mut old: Vec<_> = strips.into_iter().zip(core::mem::take(&mut self.players)).collect();
        self.leaving.retire();
        for (track, fresh_player) in session.tracks.iter().zip(fresh_players) {
            let place = old.iter().position(|(strip, _)| strip.id == track.id);
            let (strip, player) = match (place.map(|place| old.swap_remove(place)), fresh_player) {
                (Some((mut strip, mut player)), None) => {
                    player.replace_events(&track.events, self.playing);
                    strip.set_mix(&TrackMix::of(track));
                    (strip, player)
                }
                (Some((mut strip, old_player)), Some(mut player)) => {
                    self.leaving.push(strip.without_input(), old_player);
                    if strip.takes_input {
                        player.cut_notes();
                    }
                    strip.set_mix(&TrackMix::of(track));
                    (strip, player)
                }
                (None, Some(player)) => (Strip::new(track, self.sample_rate_hz), player),
                (None, None) => continue,
            };
            self.desk.strips.push(strip);
            self.players.push(player);
        }
        old.into_iter().for_each(|(strip, player)| self.leaving.push(strip, player));
        self.desk.set_session(session);
        Ok(())
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
            player.seek(self.position);
        }
        Ok(player)
    }

    /// Frames by which the output lags the session, because of the limiter's look-ahead.
    pub fn latency_frames(&self) -> usize {
        self.desk.latency_frames()
    }

    /// Frames from the start of the session to the next frame that enters the mix.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whether the session moves.
    pub fn is_playing(&self) -> bool {
        self.playing
    }

    /// Starts at the current position, from silence.
    pub fn play(&mut self) {
        self.playing = true;
        self.seek(self.position);
    }

    /// Stands still. Notes end with their release and ring on.
    pub fn stop(&mut self) {
        self.playing = false;
        self.release_all();
    }

    /// Moves to a frame. While playing, what rang on is cut, and the session goes on with the state
    /// that it would have there; standing still, what rings on may.
    pub fn seek(&mut self, frame: u64) {
        self.position = frame;
        if self.playing {
            for (player, strip) in self.players.iter_mut().zip(&self.desk.strips) {
                player.seek(frame);
                if strip.takes_input {
                    player.cut_notes();
                }
            }
            self.leaving.cut();
            self.desk.jump();
        }
    }

    /// Ends every note of every track with its release.
    pub fn release_all(&mut self) {
        self.players.iter_mut().for_each(TrackPlayer::release_all);
    }

    /// Voices that are computed now, of all tracks and of those that have gone and still fade.
    pub fn active_voices(&self) -> usize {
        self.players.iter().map(TrackPlayer::active_voices).sum::<usize>() + self.leaving.active_voices()
    }

    /// Place of a track in the session's order.
    pub fn track_place(&self, track_id: &str) -> Option<usize> {
        self.desk.strips.iter().position(|strip| strip.id == track_id)
    }

    /// An event from outside the session for one track; nothing if there is no such place.
    pub fn live(&mut self, track_place: usize, event: Event) {
        if let Some(player) = self.players.get_mut(track_place) {
            player.live(event);
        }
    }

    /// Moves a track's fader and pan; nothing if there is no such place.
    pub fn set_track_mix(&mut self, track_place: usize, mix: &TrackMix) {
        if let Some(strip) = self.desk.strips.get_mut(track_place) {
            strip.set_mix(mix);
        }
    }

    /// Moves the master fader to a linear gain.
    pub fn set_master_gain(&mut self, gain: f32) {
        self.desk.master_gain.set_target(gain);
    }

    /// Whether a track's sound comes from [`Self::track_input`] instead of its notes while the
    /// session plays; live notes sound all the same.
    pub fn set_takes_input(&mut self, track_place: usize, takes_input: bool) {
        let (Some(strip), Some(player)) =
            (self.desk.strips.get_mut(track_place), self.players.get_mut(track_place))
        else {
            return;
        };
        if strip.takes_input != takes_input && self.playing {
            player.seek(self.position);
            if takes_input {
                player.cut_notes();
            }
        }
        strip.takes_input = takes_input;
    }

    /// Where the next frames, at most a block, of a track that takes its sound from outside are
    /// put before each [`Self::process`] of as many frames: left, right, and what it sends to the
    /// reverb and to the chorus. `None` for any other track.
    pub fn track_input(&mut self, track_place: usize) -> Option<&mut [[f32; BLOCK_FRAMES]; TRACK_OUTPUTS]> {
        let strip = self.desk.strips.get_mut(track_place).filter(|strip| strip.takes_input)?;
        Some(&mut strip.input)
    }

    /// Renders the next frames; both slices have the same length. Where a track takes its sound
    /// from outside, a call asks for at most [`BLOCK_FRAMES`].
    pub fn process(&mut self, left: &mut [f32], right: &mut [f32]) {
        for (left, right) in left.chunks_mut(BLOCK_FRAMES).zip(right.chunks_mut(BLOCK_FRAMES)) {
            self.process_block(left, right);
        }
    }

    fn process_block(&mut self, left: &mut [f32], right: &mut [f32]) {
        let frames = left.len();
        self.desk.begin();
        for (place, player) in self.players.iter_mut().enumerate() {
            let motion = match (self.playing, self.desk.strips[place].takes_input) {
                (false, _) => Motion::StandsStill,
                (true, false) => Motion::Plays,
                (true, true) => Motion::PlaysElsewhere,
            };
            let sounds = player.render(motion, self.scratch.each_mut().map(|output| &mut output[..frames]));
            let own = sounds.then(|| self.scratch.each_ref().map(|output| &output[..frames]));
            self.desk.add(place, self.playing, own, frames);
        }
        self.leaving.add_to(&mut self.desk, frames, &mut self.scratch);
        self.desk.finish(left, right);
        if self.playing {
            self.position += frames as u64;
        }
    }

    /// Writes the highest magnitudes since the last call: left and right of each track after its
    /// fader, in the session's order, then of the master's output. Stops where `peaks` ends.
    pub fn take_peaks(&mut self, peaks: &mut [f32]) {
        for (place, peak) in peaks.iter_mut().zip(self.desk.take_peaks()) {
            *place = peak;
        }
    }

    /// How many tracks there are.
    pub fn track_count(&self) -> usize {
        self.players.len()
    }
}

fn check_ids(tracks: &[Track]) -> Result<(), MixerError> {
    let mut ids = BTreeSet::new();
    match tracks.iter().find(|track| !ids.insert(track.id.as_str())) {
        Some(track) => Err(MixerError::DuplicateTrack { track_id: track.id.clone() }),
        None => Ok(()),
    }
}

fn bank_of<'a>(track: &Track, banks: &'a [Option<Bank>]) -> Option<&'a Bank> {
    banks.get(track.instrument?.bank_slot as usize)?.as_ref()
}
