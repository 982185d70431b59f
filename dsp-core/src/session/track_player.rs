//! One track's notes, played.

use super::{Event, Instrument, Track, TrackEvent};
use crate::soundfont::Bank;
use crate::synth::{EVENT_GRID_FRAMES, SynthError, SynthProcessor};

/// Renders one track as its instrument sounds it, before fader, pan and mute.
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
            self.apply_due_events();
            let until_event = match self.events.get(self.next_event) {
                Some(event) => (event.frame - self.position) as usize,
                None => usize::MAX,
            };
            let end = done + until_event.min(left.len() - done);
            self.render(&mut left[done..end], &mut right[done..end]);
            self.position += (end - done) as u64;
            done = end;
        }
    }

    /// Renders frames in which the session stands still: live notes, and what rings on.
    pub fn process_stopped(&mut self, left: &mut [f32], right: &mut [f32]) {
        self.render(left, right);
    }

    /// Moves on by some frames without sounding the session's notes, because the sound of the
    /// track comes from elsewhere; live notes are rendered.
    pub(super) fn process_silenced(&mut self, left: &mut [f32], right: &mut [f32]) {
        self.position += left.len() as u64;
        self.next_event +=
            self.events[self.next_event..].partition_point(|event| event.frame < self.position);
        self.render(left, right);
    }

    fn apply_due_events(&mut self) {
        while let Some(&TrackEvent { frame, event }) = self.events.get(self.next_event) {
            if frame > self.position {
                break;
            }
            self.next_event += 1;
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
