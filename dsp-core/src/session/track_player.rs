//! One track's notes, played.

use alloc::vec::Vec;

use super::held_keys::HeldKeys;
use super::strip::Sounding;
use super::{Event, Instrument, Session, TRACK_OUTPUTS, Track, TrackEvent};
use crate::soundfont::Bank;
use crate::synth::{SynthConfig, SynthError, SynthProcessor};

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

/// Renders one track as its instrument sounds it, before fader, pan and mute, and what it sends to the
/// reverb and the chorus of the mix.
///
/// Its position moves only with [`Self::process`]; live notes sound whether it moves or not.
pub struct TrackPlayer {
    synth: Option<SynthProcessor>,
    instrument: Option<Instrument>,
    bank: Option<Bank>,
    config: SynthConfig,
    events: Vec<TrackEvent>,
    /// First event that has not taken effect.
    next_event: usize,
    position: u64,
    /// Keys of the notes that have been struck and not let go.
    held: HeldKeys,
}

impl TrackPlayer {
    /// A player at frame 0. `bank` is the one that the track's instrument names; without it the
    /// track is silent.
    ///
    /// # Errors
    ///
    /// [`SynthError`] for a sample rate outside 16 to 192 kHz or a polyphony outside 8 to 256.
    pub fn new(session: &Session, track: &Track, bank: Option<&Bank>) -> Result<Self, SynthError> {
        let config = SynthConfig::of(session);
        let synth = match (track.instrument, bank) {
            (Some(instrument), Some(bank)) => Some(SynthProcessor::new(bank, instrument, config)?),
            _ => None,
        };
        let mut player = Self {
            synth,
            instrument: track.instrument,
            bank: bank.cloned(),
            config,
            events: track.events.clone(),
            next_event: 0,
            position: 0,
            held: HeldKeys::NONE,
        };
        player.seek(0);
        Ok(player)
    }

    /// Whether this player's synthesizer can go on with an edited version of its track.
    pub(super) fn fits(&self, track: &Track, bank: Option<&Bank>, session: &Session) -> bool {
        let same_bank = match (&self.bank, bank) {
            (Some(own), Some(bank)) => own.is_same(bank),
            (None, None) => true,
            _ => false,
        };
        same_bank && self.instrument == track.instrument && self.config == SynthConfig::of(session)
    }

    /// Goes on with other events from where it is, as it moves or stands still.
    ///
    /// Program and controllers become what the new events make of them up to here, whatever was played
    /// live. Notes that the new events do not hold here end unless a pedal holds them; notes that both
    /// hold sound on and are not struck again, and notes that only the new ones hold are not struck.
    /// Standing still, the pedals stay up, so that live notes end with their keys.
    pub(super) fn replace_events(&mut self, events: &[TrackEvent], moves: bool) {
        if events == self.events {
            return;
        }
        self.events = events.to_vec();
        self.next_event = self.events.partition_point(|event| event.frame < self.position);
        let past = &self.events[..self.next_event];
        let wanted = HeldKeys::after(past);
        let Some(synth) = &mut self.synth else { return };
        synth.restore(past.iter().map(|event| (event.event, false)));
        if !moves {
            synth.lift_pedals();
        }
        self.held.keep(&wanted, |key| synth.apply(Event::NoteOff { key }));
    }

    /// Moves to a frame: what sounded is cut, program, controllers and the key from which the next note
    /// may glide are what playing from the start would make them. The notes whose keys are down there are
    /// struck anew, in the order and by the presets in which they were played and without a glide; what
    /// only a pedal or a release would let sound there is not heard.
    pub fn seek(&mut self, frame: u64) {
        self.position = frame;
        self.next_event = self.events.partition_point(|event| event.frame < self.position);
        let past = &self.events[..self.next_event];
        self.held = HeldKeys::after(past);
        let Some(synth) = &mut self.synth else { return };
        synth.reset(frame);
        let held = &self.held;
        let past = past.iter().enumerate();
        synth.restore(past.map(|(place, event)| (event.event, held.is_struck_by(place, event.event))));
    }

    /// Ends every note, held or live, with its release.
    pub fn release_all(&mut self) {
        self.held.let_all_go();
        if let Some(synth) = &mut self.synth {
            synth.release_all();
        }
    }

    /// Ends every note without its release, as fast as it goes without a click.
    pub(super) fn fade_out(&mut self) {
        self.held.let_all_go();
        if let Some(synth) = &mut self.synth {
            synth.fade_all();
        }
    }

    /// Cuts every note at once: the sound of the track comes from elsewhere from here on.
    pub(super) fn cut_notes(&mut self) {
        self.held.let_all_go();
        if let Some(synth) = &mut self.synth {
            synth.cut_all();
        }
    }

    /// Voices that are computed now.
    pub fn active_voices(&self) -> usize {
        self.synth.as_ref().map_or(0, SynthProcessor::active_voices)
    }

    /// An event from outside the session, such as a key pressed now. It takes effect with the
    /// next frame.
    pub fn live(&mut self, event: Event) {
        if let Some(synth) = &mut self.synth {
            synth.apply(event);
        }
    }

    /// Renders the next frames of the session: left, right, and what goes to the reverb and to
    /// the chorus, all of the same length.
    pub fn process(&mut self, mut outputs: [&mut [f32]; TRACK_OUTPUTS]) {
        let sounding = self.render(Motion::Plays, outputs.each_mut().map(|output| &mut **output));
        for (output, sounds) in outputs.into_iter().zip(sounding) {
            if !sounds {
                output.fill(0.0);
            }
        }
    }

    /// Renders the next frames and says on which outputs there may be anything but silence; the others are
    /// not written.
    pub(super) fn render(&mut self, motion: Motion, mut outputs: [&mut [f32]; TRACK_OUTPUTS]) -> Sounding {
        let frames = outputs[0].len();
        let (mut done, mut sounding) = (0, [false; TRACK_OUTPUTS]);
        while done < frames {
            let mut part = frames - done;
            if motion != Motion::StandsStill {
                self.apply_due_events(motion);
                if let Some(next) = self.events.get(self.next_event) {
                    part = part.min(usize::try_from(next.frame - self.position).unwrap_or(part));
                }
                self.position += part as u64;
            }
            if let Some(synth) = &mut self.synth {
                let outputs = outputs.each_mut().map(|output| &mut output[..done + part]);
                synth.render(outputs, done, &mut sounding);
            }
            done += part;
        }
        sounding
    }

    fn apply_due_events(&mut self, motion: Motion) {
        while let Some(&TrackEvent { frame, event }) = self.events.get(self.next_event) {
            if frame > self.position {
                break;
            }
            let place = self.next_event;
            self.next_event += 1;
            if motion == Motion::PlaysElsewhere && is_note(event) {
                continue;
            }
            self.held.take(place, event);
            if let Some(synth) = &mut self.synth {
                synth.apply(event);
            }
        }
    }
}

fn is_note(event: Event) -> bool {
    matches!(event, Event::NoteOn { .. } | Event::NoteOff { .. })
}
