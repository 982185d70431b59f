//! Plays the notes of a track.

use alloc::vec::Vec;
use core::ops::Range;

use super::held_keys::HeldKeys;
use super::loop_events::LoopEvents;
use super::note_ends::NoteEnds;
use crate::block::{ActiveOutputs, TRACK_OUTPUTS};
use crate::session::{Event, Instrument, Session, Track, TrackEvent};
use crate::soundfont::Bank;
use crate::synth::{SynthConfig, SynthError, SynthProcessor};

/// The events that a player plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlayerMode {
    /// No events, because the session is stopped. Live events and releases remain audible.
    Stopped,
    /// All events.
    Playing,
    /// All events except notes, because the track has an external input. Live events remain
    /// audible.
    ControllersOnly,
}

/// Assumed longest release of a note, in seconds.
const RELEASE_SECS: f32 = 5.0;

/// Time in seconds after which a filter that started from silence has the same state as one that
/// was never reset.
const FILTER_SETTLE_SECS: f32 = 0.4;

/// The notes that a seek plays silently to reach the state at its frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SeekNotes {
    /// Every note.
    All,
    /// The notes that are audible at the frame. Other notes only end the notes that they replace.
    Sounding,
}

/// Plays the notes of a track on its instrument. The outputs are before effects, fader, pan and
/// mute. They include the sends to the shared reverb and chorus.
///
/// The position advances only in [`Self::process`]. Live events play at any time.
pub struct TrackPlayer {
    synth: Option<SynthProcessor>,
    config: SynthConfig,
    events: Vec<TrackEvent>,
    note_ends: NoteEnds,
    /// Index of the next event to play.
    next_event: usize,
    position_frames: u64,
    /// Keys that the played events hold down.
    held_keys: HeldKeys,
    loop_events: Option<LoopEvents>,
}

/// Returns the events by ascending frame. Events of the same frame keep their order.
fn sorted(events: &[TrackEvent]) -> Vec<TrackEvent> {
    let mut events = events.to_vec();
    events.sort_by_key(|event| event.frame);
    events
}

impl TrackPlayer {
    /// Creates a player at frame 0. `bank` is the bank of the track's instrument. Without a bank,
    /// the track is silent.
    ///
    /// # Errors
    ///
    /// [`SynthError`] for a sample rate outside 16 to 192 kHz or a polyphony outside 8 to 256.
    pub fn new(session: &Session, track: &Track, bank: Option<&Bank>) -> Result<Self, SynthError> {
        Self::with_events(SynthConfig::from_session(session), track.instrument, bank, sorted(&track.events))
    }

    /// Creates a player of the same events at frame 0 with another bank. See [`Self::new`].
    pub(crate) fn with_bank(
        &self,
        instrument: Option<Instrument>,
        bank: Option<&Bank>,
    ) -> Result<Self, SynthError> {
        Self::with_events(self.config, instrument, bank, self.events.clone())
    }

    fn with_events(
        config: SynthConfig,
        instrument: Option<Instrument>,
        bank: Option<&Bank>,
        events: Vec<TrackEvent>,
    ) -> Result<Self, SynthError> {
        let synth = match (instrument, bank) {
            (Some(instrument), Some(bank)) => Some(SynthProcessor::new(bank, instrument, config)?),
            _ => None,
        };
        let mut player = Self {
            synth,
            config,
            note_ends: NoteEnds::from_events(&events),
            events,
            next_event: 0,
            position_frames: 0,
            held_keys: HeldKeys::NONE,
            loop_events: None,
        };
        player.seek(0, 0);
        Ok(player)
    }

    /// Replaces the events by edited events, at the current position.
    ///
    /// Program and controllers get the values of the new events up to this position, which replace
    /// those of live events. Notes that the new events do not hold at the position end, unless a
    /// pedal holds them. Notes that both the old and the new events hold continue to sound. Notes
    /// that only the new events hold do not start. While the session is stopped, the pedals stay
    /// up, and live notes thus end with their keys.
    pub(crate) fn replace_events(&mut self, events: &[TrackEvent], is_playing: bool) {
        if events == self.events {
            return;
        }
        self.events = sorted(events);
        self.note_ends = NoteEnds::from_events(&self.events);
        self.next_event = self.events.partition_point(|event| event.frame < self.position_frames);
        let loop_start = self.loop_events.take().map(|loop_events| loop_events.start_frame);
        self.set_loop(loop_start);
        let past = &self.events[..self.next_event];
        let new_keys = HeldKeys::after(past);
        let Some(synth) = &mut self.synth else { return };
        synth.restore(past.iter().map(|event| (event.event, false)));
        if !is_playing {
            synth.lift_pedals();
        }
        self.held_keys.retain_keys(&new_keys, |key| synth.apply(Event::NoteOff { key }));
    }

    /// Sets the start of the loop that the session plays.
    pub(crate) fn set_loop(&mut self, start_frame: Option<u64>) {
        if start_frame != self.loop_events.as_ref().map(|loop_events| loop_events.start_frame) {
            self.loop_events = start_frame.map(|start_frame| LoopEvents::new(&self.events, start_frame));
        }
    }

    /// Moves from the end of the loop to its start. Held notes end with their releases, as do notes
    /// that a pedal holds. Program and controllers get the values that they have at the start. With
    /// `starts_notes`, notes that are held there start again. Live notes continue.
    pub(crate) fn jump_to_loop_start(&mut self, starts_notes: bool) {
        let Some(loop_events) = &self.loop_events else { return };
        self.position_frames = loop_events.start_frame;
        self.next_event = loop_events.next_event;
        if let Some(synth) = &mut self.synth {
            synth.lift_pedals();
            self.held_keys.retain_keys(&HeldKeys::NONE, |key| synth.apply(Event::NoteOff { key }));
            let past = loop_events.past.iter();
            synth.restore(past.map(|(event, is_held)| (*event, starts_notes && *is_held)));
        }
        self.held_keys.clone_from(if starts_notes { &loop_events.held_keys } else { &HeldKeys::NONE });
    }

    /// Cuts all sound and moves to a frame. Notes, program, controllers and portamento get the
    /// state that playing from the start would lead to. The notes fade in. Returns the number of
    /// computed steps of voices ([`SynthProcessor::steps`]).
    ///
    /// To reach that state, the player first plays silently all notes from the first note that is
    /// still audible at the frame. If that takes more than a third of `max_steps`, the player plays
    /// only the notes that are audible at the frame. If that takes more than the remaining steps,
    /// the player starts the notes of the held keys at the frame. These notes start in their order,
    /// with their presets and without portamento.
    pub(crate) fn seek(&mut self, frame: u64, max_steps: u64) -> u64 {
        let end = self.events.partition_point(|event| event.frame < frame);
        let mut steps = 0;
        let first_audible = (0..end).find(|index| self.is_audible_at(*index, frame));
        if let Some(start) = first_audible.filter(|_| max_steps > 0) {
            let first_max_steps = max_steps / 3;
            for (notes, max_steps) in
                [(SeekNotes::All, first_max_steps), (SeekNotes::Sounding, max_steps - first_max_steps)]
            {
                let (is_done, computed_steps) = self.play_silently(start..end, frame, notes, max_steps);
                steps += computed_steps;
                if is_done {
                    return steps;
                }
            }
        }
        self.start_held_notes(end, frame);
        steps
    }

    /// Moves to a frame and to the event `next_event`, and starts the notes of the held keys.
    fn start_held_notes(&mut self, next_event: usize, frame: u64) {
        let past = &self.events[..next_event];
        self.position_frames = frame;
        self.next_event = next_event;
        self.held_keys = HeldKeys::after(past);
        let Some(synth) = &mut self.synth else { return };
        synth.reset(frame);
        let held_keys = &self.held_keys;
        let past = past.iter().enumerate();
        synth
            .restore(past.map(|(index, event)| (event.event, held_keys.is_held_note_on(index, event.event))));
    }

    /// Moves to a frame by playing events before it silently. Returns whether `max_steps` steps
    /// were enough, and the number of steps. If they were not enough, the player has not reached
    /// the frame.
    fn play_silently(
        &mut self,
        events: Range<usize>,
        frame: u64,
        notes: SeekNotes,
        max_steps: u64,
    ) -> (bool, u64) {
        self.start_held_notes(events.start, self.events[events.start].frame);
        for index in events {
            let TrackEvent { frame: due, event } = self.events[index];
            self.skip_to(due, frame, max_steps);
            self.next_event = index + 1;
            self.held_keys.apply(index, event);
            let is_played = notes == SeekNotes::All || self.is_audible_at(index, frame);
            let Some(synth) = &mut self.synth else { continue };
            if synth.steps() > max_steps {
                return (false, synth.steps());
            }
            synth.apply_event(event, is_played);
        }
        self.skip_to(frame, frame, max_steps);
        let Some(synth) = &mut self.synth else { return (true, 0) };
        synth.fade_in();
        (synth.steps() <= max_steps, synth.steps())
    }

    /// Advances silently to a frame at or before `seek_frame`, with at most `max_steps` steps.
    /// Filters are computed only shortly before `seek_frame`.
    fn skip_to(&mut self, frame: u64, seek_frame: u64, max_steps: u64) {
        let filters_from = seek_frame.saturating_sub(u64::from(self.config.frames(FILTER_SETTLE_SECS)));
        let unfiltered_frame = filters_from.clamp(self.position_frames, frame);
        if let Some(synth) = &mut self.synth {
            synth.skip(unfiltered_frame - self.position_frames, false, max_steps);
            synth.skip(frame - unfiltered_frame, true, max_steps);
        }
        self.position_frames = frame;
    }

    /// Whether the note of an event is still audible at a frame after the event: the note is held
    /// or was released shortly before.
    fn is_audible_at(&self, index: usize, frame: u64) -> bool {
        let release_frames = u64::from(self.config.frames(RELEASE_SECS));
        self.note_ends.get(index).is_some_and(|end| end.saturating_add(release_frames) > frame)
    }

    /// Releases all notes, including live notes.
    pub fn release_all(&mut self) {
        self.held_keys.release_all();
        if let Some(synth) = &mut self.synth {
            synth.release_all();
        }
    }

    /// Fades all notes out in 50 ms instead of their releases.
    pub(crate) fn fade_out(&mut self) {
        self.held_keys.release_all();
        if let Some(synth) = &mut self.synth {
            synth.fade_out_all();
        }
    }

    /// Cuts all notes without a fade.
    pub(crate) fn cut_notes(&mut self) {
        self.held_keys.release_all();
        if let Some(synth) = &mut self.synth {
            synth.cut_all();
        }
    }

    /// Returns the number of active voices.
    pub fn active_voice_count(&self) -> usize {
        self.synth.as_ref().map_or(0, SynthProcessor::active_voices)
    }

    /// Plays a live event, such as a key that a user presses, with the next frame.
    pub fn play_event(&mut self, event: Event) {
        if let Some(synth) = &mut self.synth {
            synth.apply(event);
        }
    }

    /// Renders the next frames of a track that plays without a mixer: left, right, reverb send and
    /// chorus send, all of the same length.
    pub fn process(&mut self, mut outputs: [&mut [f32]; TRACK_OUTPUTS]) {
        let active_outputs = self.render(PlayerMode::Playing, outputs.each_mut().map(|output| &mut **output));
        for (output, active) in outputs.into_iter().zip(active_outputs) {
            if !active {
                output.fill(0.0);
            }
        }
    }

    /// Renders the next frames. The values of inactive outputs are unspecified.
    pub(super) fn render(
        &mut self,
        mode: PlayerMode,
        mut outputs: [&mut [f32]; TRACK_OUTPUTS],
    ) -> ActiveOutputs {
        let frames = outputs[0].len();
        let (mut rendered_frames, mut active_outputs) = (0, [false; TRACK_OUTPUTS]);
        while rendered_frames < frames {
            let mut chunk_frames = frames - rendered_frames;
            if mode != PlayerMode::Stopped {
                self.apply_due_events(mode);
                if let Some(next) = self.events.get(self.next_event) {
                    chunk_frames = chunk_frames
                        .min(usize::try_from(next.frame - self.position_frames).unwrap_or(chunk_frames));
                }
                self.position_frames += chunk_frames as u64;
            }
            if let Some(synth) = &mut self.synth {
                let outputs = outputs.each_mut().map(|output| &mut output[..rendered_frames + chunk_frames]);
                synth.render(outputs, rendered_frames, &mut active_outputs);
            }
            rendered_frames += chunk_frames;
        }
        active_outputs
    }

    fn apply_due_events(&mut self, mode: PlayerMode) {
        while let Some(&TrackEvent { frame, event }) = self.events.get(self.next_event) {
            if frame > self.position_frames {
                break;
            }
            let index = self.next_event;
            self.next_event += 1;
            if mode == PlayerMode::ControllersOnly && is_note(event) {
                continue;
            }
            self.held_keys.apply(index, event);
            if let Some(synth) = &mut self.synth {
                synth.apply(event);
            }
        }
    }
}

fn is_note(event: Event) -> bool {
    matches!(event, Event::NoteOn { .. } | Event::NoteOff { .. })
}
