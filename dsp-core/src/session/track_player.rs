//! One track's notes, played.

use super::{Event, Instrument, Track, TrackEvent};
use crate::soundfont::Bank;
use crate::synth::{EVENT_GRID_FRAMES, SynthError, SynthProcessor};

/// How a track moves through the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Motion {
    /// It does not: only live notes, and what rings on, are rendered.
    StandsStill,
    /// Its notes sound.
    Plays,
    /// Its sound comes from elsewhere; its controllers take effect, and live notes sound.
    PlaysElsewhere,
}

/// How much of a track goes to the shared effects, as its controllers 91 and 93 say, 0 to 127.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EffectSends {
    pub(super) reverb: u8,
    pub(super) chorus: u8,
}

impl EffectSends {
    /// General MIDI Level 2, section 3.3: reverb 40, chorus 0.
    const DEFAULT: Self = Self { reverb: 40, chorus: 0 };

    fn note(&mut self, event: Event) {
        match event {
            Event::Controller { controller: 91, value } => self.reverb = value,
            Event::Controller { controller: 93, value } => self.chorus = value,
            _ => {}
        }
    }

    fn after(events: &[TrackEvent]) -> Self {
        let mut sends = Self::DEFAULT;
        events.iter().for_each(|event| sends.note(event.event));
        sends
    }
}

/// Renders one track as its instrument sounds it, before fader, pan and mute, and without the
/// reverb and chorus of the mix.
///
/// Its position moves only with [`Self::process`]; live notes sound whether it moves or not.
pub struct TrackPlayer {
    synth: Option<SynthProcessor>,
    instrument: Option<Instrument>,
    bank: Option<Bank>,
    events: Vec<TrackEvent>,
    /// First event that has not taken effect.
    next_event: usize,
    position: u64,
    sends: EffectSends,
    /// Velocities of the session's notes that sound now, 0 for none; live notes are not in here.
    sounding: [u8; 128],
}

impl TrackPlayer {
    /// A player at frame 0. `bank` is the one that the track's instrument names; without it the
    /// track is silent.
    ///
    /// # Errors
    ///
    /// [`SynthError`] for a sample rate outside 16 to 192 kHz or a polyphony outside 8 to 256.
    pub fn new(
        track: &Track,
        bank: Option<&Bank>,
        sample_rate_hz: u32,
        polyphony: u16,
    ) -> Result<Self, SynthError> {
        let synth = match (track.instrument, bank) {
            (Some(instrument), Some(bank)) => {
                Some(SynthProcessor::new(bank, instrument, sample_rate_hz, polyphony)?)
            }
            _ => None,
        };
        let mut player = Self {
            synth,
            instrument: track.instrument,
            bank: bank.cloned(),
            events: on_grid(&track.events),
            next_event: 0,
            position: 0,
            sends: EffectSends::DEFAULT,
            sounding: [0; 128],
        };
        player.seek(0);
        Ok(player)
    }

    /// Whether this player's synthesizer can go on with an edited version of its track.
    pub(super) fn fits(&self, track: &Track, bank: Option<&Bank>) -> bool {
        let same_bank = match (&self.bank, bank) {
            (Some(own), Some(bank)) => own.is_same(bank),
            (None, None) => true,
            _ => false,
        };
        same_bank && self.instrument == track.instrument
    }

    /// Goes on with other events from where it is. Notes that the new events do not hold at this
    /// place end, and the controllers become what they should be here; notes that sound on are
    /// not struck again.
    pub(super) fn replace_events(&mut self, events: &[TrackEvent]) {
        let events = on_grid(events);
        if events == self.events {
            return;
        }
        self.events = events;
        self.next_event = self.events.partition_point(|event| event.frame < self.position);
        self.sends = EffectSends::after(&self.events[..self.next_event]);
        let wanted = sounding_after(&self.events[..self.next_event]);
        let Some(synth) = &mut self.synth else { return };
        for key in 0..128_u8 {
            let place = usize::from(key);
            if self.sounding[place] != 0 && wanted[place] == 0 {
                synth.apply(Event::NoteOff { key });
                self.sounding[place] = 0;
            }
        }
        for event in &self.events[..self.next_event] {
            if !is_note(event.event) {
                synth.apply(event.event);
            }
        }
    }

    /// Moves to the grid place at or before `frame`, with the state that playing from the start
    /// would have there: program and controllers, and the notes that are held struck again.
    pub fn seek(&mut self, frame: u64) {
        self.position = frame - frame % EVENT_GRID_FRAMES;
        self.next_event = self.events.partition_point(|event| event.frame < self.position);
        // With those of this very place, so that a song's first controllers do not glide in.
        let up_to_here = self.events.partition_point(|event| event.frame <= self.position);
        self.sends = EffectSends::after(&self.events[..up_to_here]);
        self.sounding = sounding_after(&self.events[..self.next_event]);
        let Some(synth) = &mut self.synth else { return };
        synth.reset();
        for event in &self.events[..self.next_event] {
            if !is_note(event.event) {
                synth.apply(event.event);
            }
        }
        for (key, &velocity) in (0..).zip(&self.sounding) {
            if velocity != 0 {
                synth.apply(Event::NoteOn { key, velocity });
            }
        }
    }

    /// Ends every note, held or live, with its release.
    pub fn release_all(&mut self) {
        self.sounding = [0; 128];
        if let Some(synth) = &mut self.synth {
            synth.release_all();
        }
    }

    /// Cuts every note at once: the sound of the track comes from elsewhere from here on.
    pub(super) fn cut_notes(&mut self) {
        self.sounding = [0; 128];
        if let Some(synth) = &mut self.synth {
            synth.cut_all();
        }
    }

    /// How much of the track goes to the shared effects now.
    pub(super) fn sends(&self) -> EffectSends {
        self.sends
    }

    /// An event from outside the session, such as a key pressed now. It takes effect with the
    /// next frame.
    pub fn live(&mut self, event: Event) {
        if let Some(synth) = &mut self.synth {
            synth.apply(event);
        }
    }

    /// Renders the next frames of the session; both slices have the same length.
    pub fn process(&mut self, left: &mut [f32], right: &mut [f32]) {
        let mut done = 0;
        while done < left.len() {
            done += self.advance(Motion::Plays, &mut left[done..], &mut right[done..]);
        }
    }

    /// Renders the first of the next frames, those before the next event takes effect, and
    /// returns how many they are; at least one if any are asked for.
    pub(super) fn advance(&mut self, motion: Motion, left: &mut [f32], right: &mut [f32]) -> usize {
        if motion == Motion::StandsStill {
            self.render(left, right);
            return left.len();
        }
        self.apply_due_events(motion);
        let next_event = self.events.get(self.next_event);
        let until_event = next_event.map_or(usize::MAX, |event| (event.frame - self.position) as usize);
        let frames = until_event.min(left.len());
        self.render(&mut left[..frames], &mut right[..frames]);
        self.position += frames as u64;
        frames
    }

    fn apply_due_events(&mut self, motion: Motion) {
        while let Some(&TrackEvent { frame, event }) = self.events.get(self.next_event) {
            if frame > self.position {
                break;
            }
            self.next_event += 1;
            self.sends.note(event);
            if motion == Motion::PlaysElsewhere && is_note(event) {
                continue;
            }
            note_sounding(&mut self.sounding, event);
            if let Some(synth) = &mut self.synth {
                synth.apply(event);
            }
        }
    }

    fn render(&mut self, left: &mut [f32], right: &mut [f32]) {
        match &mut self.synth {
            Some(synth) => synth.render(left, right),
            None => {
                left.fill(0.0);
                right.fill(0.0);
            }
        }
    }
}

fn is_note(event: Event) -> bool {
    matches!(event, Event::NoteOn { .. } | Event::NoteOff { .. })
}

/// The events at the grid places at or before their frames, still in order.
fn on_grid(events: &[TrackEvent]) -> Vec<TrackEvent> {
    events
        .iter()
        .map(|event| TrackEvent { frame: event.frame - event.frame % EVENT_GRID_FRAMES, ..*event })
        .collect()
}

fn note_sounding(sounding: &mut [u8; 128], event: Event) {
    match event {
        Event::NoteOn { key, velocity } => sounding[usize::from(key & 127)] = velocity,
        Event::NoteOff { key } => sounding[usize::from(key & 127)] = 0,
        _ => {}
    }
}

fn sounding_after(events: &[TrackEvent]) -> [u8; 128] {
    let mut sounding = [0; 128];
    for event in events {
        note_sounding(&mut sounding, event.event);
    }
    sounding
}
