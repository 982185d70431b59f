//! What can be done to a session while it plays.

use super::clips::{Underruns, WantedAudio};
use super::edge::Edge;
use super::insert::Insert;
use super::mixer::SOUGHT_TRACK_STEPS;
use super::strip::TrackBlock;
use super::{Event, Mixer, TrackMix};

/// Whose effects are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectOwner {
    /// Those of the track at a place.
    Track(usize),
    /// Those of the whole mix.
    Master,
}

impl Mixer {
    /// An event from outside the session for one track; nothing if there is no such place.
    pub fn live(&mut self, track_place: usize, event: Event) {
        if let Some(source) = self.sources[..self.track_count].get_mut(track_place) {
            source.player.live(event);
        }
    }

    /// Moves a track's fader, pan and switches; nothing if there is no such place. What is
    /// automated follows its line.
    pub fn set_track_mix(&mut self, track_place: usize, mix: &TrackMix) {
        if let Some(strip) = self.desk.strips[..self.track_count].get_mut(track_place) {
            strip.fader.set_mix(mix);
            if !self.playing {
                strip.fader.stand(self.position);
            }
            self.desk.open_ways();
        }
    }

    /// Whether mute and solo let anything of a track through.
    pub fn lets_through(&self, track_place: usize) -> bool {
        let strip = self.desk.strips[..self.track_count].get(track_place);
        strip.is_some_and(|strip| strip.edges.iter().any(Edge::lets_through))
    }

    /// Moves a send to a linear gain; nothing if there is no such place. An automated one follows
    /// its line.
    pub fn set_send_gain(&mut self, track_place: usize, send: usize, gain: f32) {
        if let Some(strip) = self.desk.strips[..self.track_count].get_mut(track_place) {
            strip.edges.iter_mut().filter(|edge| edge.is_send(send)).for_each(|edge| edge.set_level(gain));
        }
    }

    /// Moves the master fader to a linear gain; an automated one follows its line.
    pub fn set_master_gain(&mut self, gain: f32) {
        self.desk.master.set_gain(gain);
        if !self.playing {
            self.desk.master.fader.stand(self.position);
        }
    }

    /// Moves a parameter of an effect, by its places, to a value in its unit; nothing if there is
    /// no such thing. An automated one follows its line.
    pub fn set_effect_parameter(&mut self, owner: EffectOwner, effect: usize, parameter: usize, value: f64) {
        if let Some(insert) = self.insert_mut(owner) {
            insert.set_parameter(effect, parameter, value);
        }
    }

    /// Passes the sound around one effect, or no longer.
    pub fn set_effect_bypass(&mut self, owner: EffectOwner, effect: usize, bypass: bool) {
        if let Some(insert) = self.insert_mut(owner) {
            insert.set_effect_bypass(effect, bypass);
        }
    }

    /// Passes the sound around all effects of a track or of the master, or no longer.
    pub fn set_bypass(&mut self, owner: EffectOwner, bypass: bool) {
        if let Some(insert) = self.insert_mut(owner) {
            insert.set_bypass(bypass);
        }
    }

    /// Place of an effect by its id.
    pub fn effect_place(&self, owner: EffectOwner, id: &str) -> Option<usize> {
        self.insert(owner)?.effect_place(id)
    }

    /// How much an effect turns its input down now, in decibels, where it does such a thing.
    pub fn gain_reduction_db(&self, owner: EffectOwner, effect: usize) -> Option<f32> {
        self.insert(owner)?.gain_reduction_db(effect)
    }

    fn insert(&self, owner: EffectOwner) -> Option<&Insert> {
        match owner {
            EffectOwner::Master => Some(&self.desk.master.insert),
            EffectOwner::Track(place) => {
                let source = self.sources[..self.track_count].get(place)?;
                source.insert.as_ref().or(self.desk.strips[place].insert.as_ref())
            }
        }
    }

    fn insert_mut(&mut self, owner: EffectOwner) -> Option<&mut Insert> {
        match owner {
            EffectOwner::Master => Some(&mut self.desk.master.insert),
            EffectOwner::Track(place) => {
                let source = self.sources[..self.track_count].get_mut(place)?;
                source.insert.as_mut().or(self.desk.strips[place].insert.as_mut())
            }
        }
    }

    /// Whether a track's sound comes from [`Self::track_input`] instead of its notes while the
    /// session plays; live notes sound all the same.
    pub fn set_takes_input(&mut self, track_place: usize, takes_input: bool) {
        let Some(source) = self.sources[..self.track_count].get_mut(track_place) else { return };
        let changes = source.input.is_taken != takes_input;
        source.input.is_taken = takes_input;
        if changes && self.playing {
            source.seek_notes(self.position, SOUGHT_TRACK_STEPS);
        }
    }

    /// Where the next frames, at most a block, of a track that takes its sound from outside are
    /// put before each [`Self::process`] of as many frames: left, right, and what it sends to the
    /// reverb and to the chorus. `None` for any other track.
    pub fn track_input(&mut self, track_place: usize) -> Option<&mut TrackBlock> {
        let source = self.sources[..self.track_count].get_mut(track_place)?;
        source.input.is_taken.then_some(&mut *source.input.block)
    }

    /// What clips will want of audio that is handed over piece by piece
    /// ([`AudioSlot::Streamed`](super::AudioSlot::Streamed)), in no order. The same is wanted until
    /// [`Self::fill_audio`] brings it, or it comes too late.
    pub fn wanted_audio(&self) -> impl Iterator<Item = WantedAudio> {
        self.sources[..self.track_count]
            .iter()
            .enumerate()
            .flat_map(|(place, source)| source.clips.wanted(place))
    }

    /// Hands over audio that was wanted: slot and frame of the source as they stood in the
    /// [`WantedAudio`]; left and right. May be less than was wanted. All clips that want it now
    /// take it, whoever asked: an edit since then has changed the clips, not the source. What
    /// nobody wants any more is passed over.
    pub fn fill_audio(&mut self, audio_slot: u32, source_frame: u64, audio: [&[f32]; 2]) {
        for source in &mut self.sources[..self.track_count] {
            source.clips.fill(audio_slot, source_frame, audio);
        }
    }

    /// Audio that was wanted and not there in time, since the last call.
    pub fn take_underruns(&mut self) -> Underruns {
        let underruns = self.sources.iter_mut().map(|source| source.clips.take_underruns());
        underruns.fold(Underruns::default(), Underruns::plus)
    }

    /// Writes the highest magnitudes since the last call: left and right of each track after its
    /// fader, in the session's order, then of the master's output. Stops where `peaks` ends.
    pub fn take_peaks(&mut self, peaks: &mut [f32]) {
        let meters = self.desk.strips[..self.track_count].iter_mut().map(|strip| &mut strip.meter);
        let all = meters.chain([&mut self.desk.master.meter]).flat_map(|meter| meter.take_peaks());
        peaks.iter_mut().zip(all).for_each(|(place, peak)| *place = peak);
    }

    /// Writes the roots of the mean squares since the last call, in the order of
    /// [`Self::take_peaks`]. A sine at full scale has 0.707.
    pub fn take_rms(&mut self, rms: &mut [f32]) {
        let meters = self.desk.strips[..self.track_count].iter_mut().map(|strip| &mut strip.meter);
        let all = meters.chain([&mut self.desk.master.meter]).flat_map(|meter| meter.take_rms());
        rms.iter_mut().zip(all).for_each(|(place, value)| *place = value);
    }
}
