//! One track's notes, played.

use alloc::vec::Vec;
use core::ops::Range;

use super::held_keys::HeldKeys;
use super::note_ends::NoteEnds;
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

/// For how long a note that has been let go is taken to sound on, in seconds.
const RINGING_SECS: f32 = 5.0;

/// How long filters are given to forget that they have not been given what came before, in seconds.
const FILTERED_SECS: f32 = 0.4;

/// What a player that is sought plays unheard on its way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Approach {
    /// Every note.
    Whole,
    /// The notes that sound where it leads; the others only end those that they end.
    Sounding,
}

/// Renders one track as its instrument sounds it, before fader, pan and mute, and what it sends to
/// the reverb and the chorus of the mix.
///
/// Its position moves only with [`Self::process`]; live notes sound whether it moves or not.
pub struct TrackPlayer {
    synth: Option<SynthProcessor>,
    instrument: Option<Instrument>,
    bank: Option<Bank>,
    config: SynthConfig,
    events: Vec<TrackEvent>,
    note_ends: NoteEnds,
    /// First event that has not taken effect.
    next_event: usize,
    position: u64,
    /// Keys of the notes that have been struck and not let go.
    held: HeldKeys,
}

/// The events by ascending frame; those of one frame stay as they were.
fn in_order(events: &[TrackEvent]) -> Vec<TrackEvent> {
    let mut events = events.to_vec();
    events.sort_by_key(|event| event.frame);
    events
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
        let events = in_order(&track.events);
        let mut player = Self {
            synth,
            instrument: track.instrument,
            bank: bank.cloned(),
            config,
            note_ends: NoteEnds::of(&events),
            events,
            next_event: 0,
            position: 0,
            held: HeldKeys::NONE,
        };
        player.seek(0, 0);
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
    /// Program and controllers become what the new events make of them up to here, whatever was
    /// played live. Notes that the new events do not hold here end unless a pedal holds them; notes
    /// that both hold sound on and are not struck again, and notes that only the new ones hold are
    /// not struck. Standing still, the pedals stay up, so that live notes end with their keys.
    pub(super) fn replace_events(&mut self, events: &[TrackEvent], moves: bool) {
        if events == self.events {
            return;
        }
        self.events = in_order(events);
        self.note_ends = NoteEnds::of(&self.events);
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

    /// Moves to a frame: what sounded is cut, and what sounds is what playing from the start would
    /// make it, faded in, as are program, controllers and the key from which the next note may
    /// glide. Returns how many steps of voices that took ([`SynthProcessor::steps`]).
    ///
    /// For that the notes that are held there, or have been let go not long before, are played
    /// unheard from where they were struck, with all that is played meanwhile; without what is over
    /// by then, if that takes more than a third of `most_steps`. If that takes more than the rest,
    /// the notes of keys that are down are struck here, in their order, without a glide and by the
    /// presets that they were played by.
    pub(super) fn seek(&mut self, frame: u64, most_steps: u64) -> u64 {
        let end = self.events.partition_point(|event| event.frame < frame);
        let mut steps = 0;
        let sounding = (0..end).find(|place| self.sounds_at(*place, frame));
        if let Some(start) = sounding.filter(|_| most_steps > 0) {
            let first = most_steps / 3;
            for (approach, most_steps) in [(Approach::Whole, first), (Approach::Sounding, most_steps - first)]
            {
                let (arrives, taken) = self.come(start..end, frame, approach, most_steps);
                steps += taken;
                if arrives {
                    return steps;
                }
            }
        }
        self.stand(end, frame);
        steps
    }

    /// Stands at a frame before an event; those before it have been played. The notes of keys that
    /// are down are struck.
    fn stand(&mut self, place: usize, frame: u64) {
        let past = &self.events[..place];
        self.position = frame;
        self.next_event = place;
        self.held = HeldKeys::after(past);
        let Some(synth) = &mut self.synth else { return };
        synth.reset(frame);
        let held = &self.held;
        let past = past.iter().enumerate();
        synth.restore(past.map(|(place, event)| (event.event, held.is_struck_by(place, event.event))));
    }

    /// Comes to a frame by playing some events before it unheard. Says whether that has taken no
    /// more than so many steps, and how many; if not, it has not arrived.
    fn come(&mut self, events: Range<usize>, frame: u64, approach: Approach, most_steps: u64) -> (bool, u64) {
        self.stand(events.start, self.events[events.start].frame);
        for place in events {
            let TrackEvent { frame: due, event } = self.events[place];
            self.skip_to(due, frame, most_steps);
            self.next_event = place + 1;
            self.held.take(place, event);
            let is_heard = approach == Approach::Whole || self.sounds_at(place, frame);
            let Some(synth) = &mut self.synth else { continue };
            if synth.steps() > most_steps {
                return (false, synth.steps());
            }
            synth.take(event, is_heard);
        }
        self.skip_to(frame, frame, most_steps);
        let Some(synth) = &mut self.synth else { return (true, 0) };
        synth.rise();
        (synth.steps() <= most_steps, synth.steps())
    }

    /// Lets the time to a frame pass unheard, on the way to where the player is sought, unless that
    /// takes too long.
    fn skip_to(&mut self, frame: u64, sought: u64, most_steps: u64) {
        let filters_from = sought.saturating_sub(u64::from(self.config.frames(FILTERED_SECS)));
        let unfiltered = filters_from.clamp(self.position, frame);
        if let Some(synth) = &mut self.synth {
            synth.skip(unfiltered - self.position, false, most_steps);
            synth.skip(frame - unfiltered, true, most_steps);
        }
        self.position = frame;
    }

    /// Whether the note of an event before a frame is held there, or was let go not long before.
    fn sounds_at(&self, place: usize, frame: u64) -> bool {
        let ringing = u64::from(self.config.frames(RINGING_SECS));
        self.note_ends.get(place).is_some_and(|end| end.saturating_add(ringing) > frame)
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

    /// Renders the next frames and says on which outputs there may be anything but silence; the
    /// others are not written.
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
