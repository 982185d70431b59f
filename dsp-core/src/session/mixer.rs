//! A whole session, played: the sum of its tracks and of the effects that they share, through
//! master gain and limiter.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::audio::AudioSlot;
use super::desk::Desk;
use super::musical_time::Tempo;
use super::routing::Graph;
use super::source::Source;
use super::strip::{SILENT_BLOCK, TrackBlock, own};
use super::{Session, Track};
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
    /// A track that hears itself.
    #[error("what track {track_id:?} feeds leads back to it")]
    RoutingLoop {
        /// Id of one of the tracks in the loop.
        track_id: String,
    },
    /// An output, a send or a side-chain that names a track which is not there.
    #[error("track {track_id:?} names track number {place}, which is not there")]
    NoSuchTrack {
        /// Id of the track that does so; empty for the master.
        track_id: String,
        /// The place that it names.
        place: usize,
    },
    /// A kind of effect that this engine does not have.
    #[error("there is no effect {kind:?}")]
    UnknownEffect {
        /// Id of the kind.
        kind: String,
    },
    /// More effects on one track than can be.
    #[error("track {track_id:?} has more than {max} effects", max = super::MAX_EFFECTS)]
    TooManyEffects {
        /// Id of the track; empty for the master.
        track_id: String,
    },
}

/// Where a track's fader, pan and switches stand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrackMix {
    /// Linear gain of the fader.
    pub gain: f32,
    /// -1 is left, 0 the centre, 1 right.
    pub pan: f32,
    /// Whether the track is silenced.
    pub mute: bool,
    /// Whether it is soloed.
    pub solo: bool,
}

impl TrackMix {
    /// The settings that a track of a session comes with.
    pub fn of(track: &Track) -> Self {
        Self { gain: track.gain, pan: track.pan, mute: track.mute, solo: track.solo }
    }
}

/// What a session's slots hold.
#[derive(Debug, Clone, Copy, Default)]
pub struct Slots<'a> {
    /// SoundFont banks; a track whose slot is empty plays no notes.
    pub banks: &'a [Option<Bank>],
    /// Recorded audio; a clip whose slot is empty is silent.
    pub audio: &'a [Option<AudioSlot>],
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

/// Latest frame at which a session can stand: beyond it nothing is counted any more.
const LAST_FRAME: u64 = 1 << 60;

/// About how many steps of voices may be taken where a session is sought, for its notes to be there
/// as if they had been played: some tens of milliseconds, which nobody hears while the sound breaks
/// off anyway.
const SOUGHT_STEPS: u64 = 600_000;

/// The same for one track.
pub(super) const SOUGHT_TRACK_STEPS: u64 = 240_000;

/// Plays a session in real time or offline, with the same samples.
///
/// What it computes depends on the session, the slots and the events it is given, never on the
/// number of frames that a call asks for.
pub struct Mixer {
    pub(super) sample_rate_hz: u32,
    /// One for each strip of the desk.
    pub(super) sources: Vec<Source>,
    pub(super) desk: Desk,
    /// How many of the strips are those of the session's tracks; the others fade.
    pub(super) track_count: usize,
    /// Frames by which the sum of the strips lags the session.
    pub(super) strips_lag_frames: usize,
    pub(super) position: u64,
    pub(super) playing: bool,
    scratch: Box<TrackBlock>,
}

impl Mixer {
    /// A mixer at frame 0 that stands still. `slots` are the session's: its banks alone, or a
    /// [`Slots`].
    ///
    /// # Errors
    ///
    /// [`MixerError`] for a session that cannot be played.
    pub fn new<'a>(session: &Session, slots: impl Into<Slots<'a>>) -> Result<Self, MixerError> {
        // Before anything is made that would have to know what to do with nonsense.
        Graph::of(session)?;
        let mut mixer = Self {
            sample_rate_hz: session.sample_rate_hz,
            sources: Vec::new(),
            desk: Desk::new(session, &Tempo::new(&session.tempo, session.sample_rate_hz)),
            track_count: 0,
            strips_lag_frames: 0,
            position: 0,
            playing: false,
            scratch: Box::new(SILENT_BLOCK),
        };
        mixer.set_session(session, slots)?;
        mixer.desk.jump(0);
        mixer.sources.iter_mut().for_each(|source| _ = source.seek(0, 0));
        Ok(mixer)
    }

    /// Frames by which the output lags the session: what its effects ask for, and the limiter's
    /// look-ahead.
    pub fn latency_frames(&self) -> usize {
        self.strips_lag_frames + self.desk.master.latency_frames()
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
        if self.playing {
            self.sources.iter_mut().for_each(|source| source.clips.break_off());
        }
        self.playing = false;
        self.release_all();
        self.stand();
    }

    /// Moves to a frame. While playing, what rang on is cut, and the session goes on with the state
    /// that it would have there; standing still, what rings on may.
    pub fn seek(&mut self, frame: u64) {
        self.position = frame.min(LAST_FRAME);
        if !self.playing {
            return self.stand();
        }
        let mut steps = SOUGHT_STEPS;
        let (tracks, fading) = self.sources.split_at_mut(self.track_count);
        for source in tracks {
            steps -= source.seek(self.position, steps.min(SOUGHT_TRACK_STEPS)).min(steps);
        }
        fading.iter_mut().for_each(|source| {
            source.player.cut_notes();
            source.cut();
        });
        self.desk.jump(self.position);
    }

    /// What is automated goes to where it is at the position.
    pub(super) fn stand(&mut self) {
        for source in &mut self.sources {
            source.clips.stand(self.position);
            source.insert.iter_mut().for_each(|insert| insert.stand(self.position));
        }
        self.desk.stand(self.position);
    }

    /// Ends every note of every track with its release.
    pub fn release_all(&mut self) {
        self.sources.iter_mut().for_each(|source| source.player.release_all());
    }

    /// Voices that are computed now, of all tracks and of those that have gone and still fade.
    pub fn active_voices(&self) -> usize {
        self.sources.iter().map(Source::active_voices).sum()
    }

    /// How many tracks there are, buses and groups included.
    pub fn track_count(&self) -> usize {
        self.track_count
    }

    /// Place of a track in the session's order.
    pub fn track_place(&self, track_id: &str) -> Option<usize> {
        self.desk.strips[..self.track_count].iter().position(|strip| strip.id == track_id)
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
        self.desk.begin(self.playing, frames);
        for turn in 0..self.desk.order.len() {
            let place = self.desk.order[turn];
            // What fades is out of the session's time.
            let playing = self.playing && place < self.track_count;
            let outputs = self.scratch.each_mut().map(|output| &mut output[..frames]);
            let sounding = self.sources[place].render(playing, outputs);
            self.desk.add(place, own(&self.scratch, sounding, frames));
        }
        self.desk.finish(left, right);
        if self.playing {
            self.position += frames as u64;
        }
    }
}
