//! A whole session, played: the sum of its tracks and of the effects that they share, through
//! master gain and limiter.

use super::strip::{Buses, GlidingGain, Strip};
use super::{Event, Session, Track, TrackPlayer};
use crate::block::BLOCK_FRAMES;
use crate::limiter::{LimiterConfig, LimiterProcessor};
use crate::soundfont::Bank;
use crate::synth::SynthError;
use crate::synth::chorus::{ChorusConfig, ChorusProcessor};
use crate::synth::reverb::{ReverbConfig, ReverbProcessor};

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
    strips: Vec<Strip>,
    master_gain: GlidingGain,
    reverb: ReverbProcessor,
    chorus: ChorusProcessor,
    limiter: LimiterProcessor,
    position: u64,
    playing: bool,
    buses: Buses,
    master_peaks: [f32; 2],
    scratch_left: [f32; BLOCK_FRAMES],
    scratch_right: [f32; BLOCK_FRAMES],
}

impl Mixer {
    /// A mixer at frame 0 that stands still. `banks` are the session's slots; a track whose slot
    /// is empty is silent.
    ///
    /// # Errors
    ///
    /// [`MixerError::Synth`] for a sample rate or polyphony that cannot be played.
    pub fn new(session: &Session, banks: &[Option<Bank>]) -> Result<Self, MixerError> {
        let mut mixer = Self {
            sample_rate_hz: session.sample_rate_hz,
            strips: Vec::new(),
            master_gain: GlidingGain::new(session.master_gain, session.sample_rate_hz),
            reverb: ReverbProcessor::new(ReverbConfig::instruments(session.sample_rate_hz)),
            chorus: ChorusProcessor::new(ChorusConfig::instruments(session.sample_rate_hz)),
            limiter: LimiterProcessor::new(LimiterConfig::mix(session.sample_rate_hz)),
            buses: Buses::SILENT,
            position: 0,
            playing: false,
            master_peaks: [0.0; 2],
            scratch_left: [0.0; BLOCK_FRAMES],
            scratch_right: [0.0; BLOCK_FRAMES],
        };
        mixer.set_session(session, banks)?;
        mixer.master_gain.jump();
        Ok(mixer)
    }

    /// Goes on with an edited session from where it is: what the edit does not touch sounds on.
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
        let mut fresh_players = Vec::new();
        for track in &session.tracks {
            let bank = bank_of(track, banks);
            let goes_on =
                self.strips.iter().any(|strip| strip.id == track.id && strip.player.fits(track, bank));
            fresh_players.push(if goes_on { None } else { Some(self.new_player(session, track, bank)?) });
        }
        let mut old_strips = core::mem::take(&mut self.strips);
        for (track, fresh_player) in session.tracks.iter().zip(fresh_players) {
            let old = old_strips.iter().position(|strip| strip.id == track.id);
            let strip = match (old.map(|place| old_strips.swap_remove(place)), fresh_player) {
                (Some(mut strip), None) => {
                    strip.player.replace_events(&track.events);
                    strip.set_mix(&TrackMix::of(track));
                    strip
                }
                (Some(mut strip), Some(player)) => {
                    strip.player = player;
                    strip.set_mix(&TrackMix::of(track));
                    strip
                }
                (None, Some(player)) => Strip::new(track, player, self.sample_rate_hz),
                (None, None) => continue,
            };
            self.strips.push(strip);
        }
        self.master_gain.set_target(session.master_gain);
        Ok(())
    }

    fn new_player(
        &self,
        session: &Session,
        track: &Track,
        bank: Option<&Bank>,
    ) -> Result<TrackPlayer, MixerError> {
        let mut player = TrackPlayer::new(track, bank, self.sample_rate_hz, session.polyphony)
            .map_err(|source| MixerError::Synth { track_id: track.id.clone(), source })?;
        if self.playing {
            player.seek(self.position);
        }
        Ok(player)
    }

    /// Frames by which the output lags the session, because of the limiter's look-ahead.
    pub fn latency_frames(&self) -> usize {
        self.limiter.latency_frames()
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

    /// Moves to the grid place at or before `frame`. While playing, what rang on is cut, and the
    /// session goes on with the state that it would have there; standing still, what rings on may.
    pub fn seek(&mut self, frame: u64) {
        self.position = frame - frame % crate::synth::EVENT_GRID_FRAMES;
        if !self.playing {
            return;
        }
        for strip in &mut self.strips {
            strip.seek(self.position);
        }
        self.master_gain.jump();
        self.reverb.reset();
        self.chorus.reset();
        self.limiter.reset();
    }

    /// Ends every note of every track with its release.
    pub fn release_all(&mut self) {
        for strip in &mut self.strips {
            strip.player.release_all();
        }
    }

    /// Place of a track in the session's order.
    pub fn track_place(&self, track_id: &str) -> Option<usize> {
        self.strips.iter().position(|strip| strip.id == track_id)
    }

    /// An event from outside the session for one track; nothing if there is no such place.
    pub fn live(&mut self, track_place: usize, event: Event) {
        if let Some(strip) = self.strips.get_mut(track_place) {
            strip.live(event);
        }
    }

    /// Moves a track's fader and pan; nothing if there is no such place.
    pub fn set_track_mix(&mut self, track_place: usize, mix: &TrackMix) {
        if let Some(strip) = self.strips.get_mut(track_place) {
            strip.set_mix(mix);
        }
    }

    /// Moves the master fader to a linear gain.
    pub fn set_master_gain(&mut self, gain: f32) {
        self.master_gain.set_target(gain);
    }

    /// Whether a track's sound comes from [`Self::track_input`] instead of its notes while the
    /// session plays; live notes sound all the same.
    pub fn set_takes_input(&mut self, track_place: usize, takes_input: bool) {
        if let Some(strip) = self.strips.get_mut(track_place) {
            if strip.takes_input != takes_input && self.playing {
                strip.player.seek(self.position);
                if takes_input {
                    strip.player.cut_notes();
                }
            }
            strip.takes_input = takes_input;
        }
    }

    /// Where the next frames, at most a block, of a track that takes its sound from outside are
    /// put before each [`Self::process`] of as many frames. `None` for any other track.
    pub fn track_input(&mut self, track_place: usize) -> Option<(&mut [f32], &mut [f32])> {
        let strip = self.strips.get_mut(track_place).filter(|strip| strip.takes_input)?;
        Some((&mut strip.input_left, &mut strip.input_right))
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
        self.buses = Buses::SILENT;
        let (own_left, own_right) = (&mut self.scratch_left[..frames], &mut self.scratch_right[..frames]);
        for strip in &mut self.strips {
            strip.add_to(&mut self.buses, self.playing, own_left, own_right);
        }
        let Buses { left: mix_left, right: mix_right, reverb, chorus_left, chorus_right } = &mut self.buses;
        let chorus_send = (&chorus_left[..frames], &chorus_right[..frames]);
        self.chorus.process(chorus_send, &mut mix_left[..frames], &mut mix_right[..frames]);
        self.reverb.process(&reverb[..frames], &mut mix_left[..frames], &mut mix_right[..frames]);
        for frame in 0..frames {
            let gain = self.master_gain.next();
            left[frame] = mix_left[frame] * gain;
            right[frame] = mix_right[frame] * gain;
        }
        self.limiter.process(left, right);
        for frame in 0..frames {
            self.master_peaks[0] = self.master_peaks[0].max(left[frame].abs());
            self.master_peaks[1] = self.master_peaks[1].max(right[frame].abs());
        }
        if self.playing {
            self.position += frames as u64;
        }
    }

    /// Writes the highest magnitudes since the last call: left and right of each track after its
    /// fader, in the session's order, then of the master's output. Stops where `peaks` ends.
    pub fn take_peaks(&mut self, peaks: &mut [f32]) {
        let master = core::mem::take(&mut self.master_peaks);
        let tracks = self.strips.iter_mut().flat_map(Strip::take_peaks);
        for (place, peak) in peaks.iter_mut().zip(tracks.chain(master)) {
            *place = peak;
        }
    }

    /// How many tracks there are.
    pub fn track_count(&self) -> usize {
        self.strips.len()
    }
}

fn bank_of<'a>(track: &Track, banks: &'a [Option<Bank>]) -> Option<&'a Bank> {
    banks.get(track.instrument?.bank_slot as usize)?.as_ref()
}
