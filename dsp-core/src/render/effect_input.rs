//! Renders the input of one effect, for effects that run outside the engine.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::length::{RenderLength, TailConfig};
use super::signal_flow::{TracksAround, feeders, reached};
use crate::block::{BLOCK_FRAMES, StereoBlock};
use crate::dsp::delay_line::DelayLine;
use crate::effects::RECORDED_OUTPUT;
use crate::mixer::{EffectOwner, Mixer, MixerError, Slots};
use crate::session::{
    AutomationLane, AutomationTarget, ChorusSettings, EffectSettings, ReverbSettings, Session, Track,
};

/// Highest magnitude of an input that counts as silence: -120 dBFS.
const INPUT_SILENCE: f32 = 1e-6;

/// The part of a session that determines the inputs of an effect.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionBeforeEffect {
    /// The effects before the effect, and the tracks that feed the effect or its side-chain.
    pub session: Session,
    /// Index of the track in [`Self::session`] that feeds the side-chain.
    pub side_chain: Option<u32>,
}

/// Returns the part of a session that determines the inputs of an effect. If `owner` is a track
/// that does not exist, the result has no tracks.
///
/// A change of the remaining session changes neither the result nor the inputs. For an effect of
/// the master, all tracks are part of the result.
#[must_use]
pub fn session_before_effect(session: &Session, owner: EffectOwner, effect: usize) -> SessionBeforeEffect {
    let mut unsolved_session = Session { master_gain: 1.0, ..session.clone() };
    let is_track = |track: &u32| (*track as usize) < session.tracks.len();
    let side_chain_of = |effects: &[EffectSettings]| effects.get(effect)?.side_chain.filter(is_track);
    let EffectOwner::Track(owner) = owner else {
        let side_chain = side_chain_of(&unsolved_session.master_effects);
        unsolved_session.master_effects.truncate(effect);
        keep_effect_lanes(&mut unsolved_session.master_automation, effect);
        remove_recorded_side_chains(&mut unsolved_session);
        return SessionBeforeEffect { session: unsolved_session, side_chain };
    };
    remove_closed_routes(&mut unsolved_session);
    unsolved_session.master_effects.clear();
    unsolved_session.master_automation.clear();
    (unsolved_session.reverb, unsolved_session.chorus) =
        (ReverbSettings::default(), ChorusSettings::default());
    let Some(track) = unsolved_session.tracks.get_mut(owner) else {
        unsolved_session.tracks.clear();
        return SessionBeforeEffect { session: unsolved_session, side_chain: None };
    };
    let side_chain = side_chain_of(&track.effects);
    track.effects.truncate(effect);
    keep_effect_lanes(&mut track.automation, effect);
    remove_recorded_side_chains(&mut unsolved_session);
    let track = &mut unsolved_session.tracks[owner];
    (track.gain, track.pan, track.output) = (1.0, 0.0, None);
    track.sends.clear();
    let ends = [owner].into_iter().chain(side_chain.map(|source| source as usize));
    let is_kept = reached(&feeders(&unsolved_session.tracks), ends);
    keep_tracks(&mut unsolved_session.tracks, &is_kept);
    unsolved_session.tracks.iter_mut().for_each(remove_unused_fader);
    let side_chain = side_chain.and_then(|source| new_index(&is_kept, source));
    SessionBeforeEffect { session: unsolved_session, side_chain }
}

/// Removes the side-chains of recorded effects, because the recordings do not change with them.
fn remove_recorded_side_chains(session: &mut Session) {
    let effects = session.tracks.iter_mut().flat_map(|track| &mut track.effects);
    for effect in effects.chain(&mut session.master_effects) {
        effect.side_chain = effect.side_chain.filter(|_| effect.kind != RECORDED_OUTPUT.id);
    }
}

/// Resets volume and pan of a track whose routes to other tracks are all before the fader.
fn remove_unused_fader(track: &mut Track) {
    if track.output.is_none() && track.sends.iter().all(|send| send.pre_fader) {
        (track.gain, track.pan) = (1.0, 0.0);
        let of_fader = |target| matches!(target, AutomationTarget::Volume | AutomationTarget::Pan);
        track.automation.retain(|lane| !of_fader(lane.target));
    }
}

/// Removes the outputs and sends to tracks that mute or solo closes, and then all mutes and solos.
/// Outputs to the master are not removed.
fn remove_closed_routes(session: &mut Session) {
    let is_soloed: Vec<bool> = session.tracks.iter().map(|track| track.solo).collect();
    let has_solo = is_soloed.contains(&true);
    let TracksAround { is_fed, feeds } = TracksAround::new(session, &is_soloed);
    for (index, track) in session.tracks.iter_mut().enumerate() {
        let is_muted = track.mute;
        let is_open = |to: u32| {
            let feeds_solo = feeds.get(to as usize).copied().unwrap_or(false);
            !is_muted && (!has_solo || is_fed[index] || feeds_solo)
        };
        track.output = track.output.filter(|to| is_open(*to));
        let sends: Vec<Option<u32>> =
            track.sends.iter().map(|send| Some(send.to).filter(|to| is_open(*to))).collect();
        replace_sends(track, &sends);
        (track.mute, track.solo) = (false, false);
    }
}

/// Removes all lanes except those of the first `effects` effects.
fn keep_effect_lanes(lanes: &mut Vec<AutomationLane>, effects: usize) {
    lanes.retain(|lane| match lane.target {
        AutomationTarget::Effect { effect, .. } => (effect as usize) < effects,
        AutomationTarget::Volume | AutomationTarget::Pan | AutomationTarget::Send(_) => false,
    });
}

/// Returns the index of a track after the removal of others; `None` if it is removed itself.
fn new_index(is_kept: &[bool], old: u32) -> Option<u32> {
    let old = old as usize;
    let is_kept = is_kept.get(..=old)?;
    is_kept[old].then(|| is_kept[..old].iter().filter(|is_kept| **is_kept).count() as u32)
}

/// Removes tracks, and the outputs and sends to them.
fn keep_tracks(tracks: &mut Vec<Track>, is_kept: &[bool]) {
    let new_index = |old| new_index(is_kept, old);
    let mut index = 0;
    tracks.retain_mut(|track| {
        index += 1;
        track.output = track.output.and_then(new_index);
        for effect in &mut track.effects {
            effect.side_chain = effect.side_chain.and_then(new_index);
        }
        let sends: Vec<Option<u32>> = track.sends.iter().map(|send| new_index(send.to)).collect();
        replace_sends(track, &sends);
        is_kept[index - 1]
    });
}

/// Sets the destination of each send of a track. Removes the sends without a destination, and their
/// automation.
fn replace_sends(track: &mut Track, destinations: &[Option<u32>]) {
    let new_index = |old: u32| {
        let old = old as usize;
        destinations.get(old)?.map(|_| destinations[..old].iter().flatten().count() as u32)
    };
    track.automation.retain_mut(|lane| match &mut lane.target {
        AutomationTarget::Send(send) => new_index(*send).map(|new| *send = new).is_some(),
        AutomationTarget::Volume | AutomationTarget::Pan | AutomationTarget::Effect { .. } => true,
    });
    let mut destinations = destinations.iter();
    track.sends.retain_mut(|send| match destinations.next() {
        Some(Some(to)) => {
            send.to = *to;
            true
        }
        _ => false,
    });
}

/// A signal of the mix, delayed so that it has the latency of another one.
struct AlignedSignal {
    /// Index of the track after whose effects the signal is read; `None` for the master.
    track: Option<usize>,
    delays: [DelayLine; 2],
    audio: Box<StereoBlock>,
}

impl AlignedSignal {
    fn new(mixer: &mut Mixer, track: Option<usize>, latency_frames: usize) -> Self {
        mixer.tap(track);
        let delay_frames = latency_frames.saturating_sub(mixer.tap_latency_frames(track));
        let delay = DelayLine::new(delay_frames);
        Self { track, delays: [delay.clone(), delay], audio: Box::new([[0.0; BLOCK_FRAMES]; 2]) }
    }

    /// Reads the frames that the mixer processed last.
    fn read(&mut self, mixer: &Mixer, frames: usize) {
        let [left, right] = self.audio.each_mut().map(|values| &mut values[..frames]);
        mixer.read_tap(self.track, [&mut *left, &mut *right]);
        for (delay, values) in self.delays.iter_mut().zip([left, right]) {
            delay.process(values);
        }
    }

    fn frames(&self, frames: usize) -> [&[f32]; 2] {
        self.audio.each_ref().map(|values| &values[..frames])
    }
}

/// A block of the inputs of an effect.
#[derive(Debug, Clone, Copy)]
pub struct EffectInputBlock<'r> {
    /// Left and right of the input.
    pub input: [&'r [f32]; 2],
    /// Left and right of the side-chain; `None` for an effect without one.
    pub side_chain: Option<[&'r [f32]; 2]>,
}

/// Renders the inputs of an effect block by block, from the start of the session on. The first
/// frame is the first frame of the session: the latency of the effects before it is removed.
pub struct EffectInput {
    mixer: Mixer,
    input: AlignedSignal,
    side_chain: Option<AlignedSignal>,
    length: RenderLength,
    /// Number of frames to render and drop before the first frame that is returned.
    skipped_frames: usize,
    /// Left and right of the mix, which is not needed.
    mix: Box<StereoBlock>,
}

impl EffectInput {
    /// Creates a render of the inputs of the effect at an index.
    ///
    /// # Errors
    ///
    /// [`MixerError`] for a session that cannot be played, and for an `owner` that does not exist.
    pub fn new(
        session: &Session,
        slots: Slots<'_>,
        owner: EffectOwner,
        effect: usize,
        tail: TailConfig,
    ) -> Result<Self, MixerError> {
        let SessionBeforeEffect { session: unsolved_session, side_chain } =
            session_before_effect(session, owner, effect);
        let mut mixer = Mixer::new(&unsolved_session, slots)?;
        let track = match owner {
            EffectOwner::Master => None,
            EffectOwner::Track(index) => {
                let id = session.tracks.get(index).map(|track| &track.id);
                let track = id.and_then(|id| mixer.track_index(id));
                let missing = MixerError::NoSuchTrack { track_id: "".into(), index };
                Some(track.ok_or(missing)?)
            }
        };
        let side_chain = side_chain.map(|source| Some(source as usize));
        let taps = [track].into_iter().chain(side_chain);
        let skipped_frames = taps.map(|tap| mixer.tap_latency_frames(tap)).max().unwrap_or(0);
        let input = AlignedSignal::new(&mut mixer, track, skipped_frames);
        let side_chain = side_chain.map(|source| AlignedSignal::new(&mut mixer, source, skipped_frames));
        mixer.play();
        Ok(Self {
            input,
            side_chain,
            length: RenderLength::new(
                unsolved_session.length_frames,
                tail,
                INPUT_SILENCE,
                unsolved_session.sample_rate_hz,
            ),
            skipped_frames,
            mixer,
            mix: Box::new([[0.0; BLOCK_FRAMES]; 2]),
        })
    }

    /// Whether the blocks have a side-chain.
    #[must_use]
    pub fn has_side_chain(&self) -> bool {
        self.side_chain.is_some()
    }

    /// Renders the next block, at most `max_frames` frames. Returns `None` when the remaining
    /// inputs are silent.
    pub fn next_block(&mut self, max_frames: usize) -> Option<EffectInputBlock<'_>> {
        while self.skipped_frames > 0 {
            let frames = self.skipped_frames.min(BLOCK_FRAMES);
            self.process(frames);
            self.skipped_frames -= frames;
        }
        let frames = self.length.next_frames().min(max_frames);
        let may_sound = || self.length.may_sound_again(self.mixer.longest_silence_frames());
        if frames == 0 || !self.length.is_audible() && !may_sound() {
            return None;
        }
        self.process(frames);
        let input = self.input.frames(frames);
        let side_chain = self.side_chain.as_ref().map(|side_chain| side_chain.frames(frames));
        self.length.count_signals(frames, input.into_iter().chain(side_chain.into_iter().flatten()));
        Some(EffectInputBlock { input, side_chain })
    }

    fn process(&mut self, frames: usize) {
        let [left, right] = self.mix.each_mut().map(|values| &mut values[..frames]);
        self.mixer.process(left, right);
        for signal in [&mut self.input].into_iter().chain(&mut self.side_chain) {
            signal.read(&self.mixer, frames);
        }
    }
}
