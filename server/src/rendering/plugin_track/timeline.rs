//! Divides the song into requests to the plugin, with events, tempo and position.

use std::ops::Range;

use dsp_core::session::{Event, Session, TempoChange, TrackEvent};
use dsp_core::tempo::DEFAULT_BPM;
use songfoundry_bridge_protocol::host::{
    Event as PluginEvent, EventKind, Process, Transport, TransportChange,
};

use super::CHANNELS;
use super::automation::{CurveReader, ramp_step_frames};
use super::time_signatures::TimeSignatureChange;
use crate::rendering::RenderError;

/// Maximum number of notes and controls of a request.
const EVENTS_MAX: usize = 5_000;

/// Maximum number of parameter changes of a request, unless the request has a single frame. An
/// event may become two, so the sum of this and twice [`EVENTS_MAX`] is at most
/// [`songfoundry_bridge_protocol::host::EVENTS_MAX`].
const CHANGES_MAX: usize = 10_000;

/// MIDI channel of all events.
const CHANNEL: u8 = 0;

/// Number of the MIDI controller that selects a bank (MIDI 1.0, "Bank select").
const BANK_SELECT: u8 = 0;

/// Value of the centred pitch wheel in requests to plugins.
const BEND_CENTRE: i32 = 8_192;

/// Highest MIDI value.
const MIDI_MAX: u8 = 127;

/// The song, and the position up to which the plugin has received it.
pub(super) struct Timeline<'s> {
    sample_rate_hz: u32,
    tempo: &'s [TempoChange],
    time_signatures: &'s [TimeSignatureChange],
    /// The remaining events.
    events: &'s [TrackEvent],
    curves: Vec<CurveReader<'s>>,
    /// Interval of the changes of all ramps, in frames.
    ramp_step_frames: u64,
}

impl<'s> Timeline<'s> {
    /// Returns the timeline of the first track. Without time signatures, it is 4/4.
    pub(super) fn new(
        session: &'s Session,
        time_signatures: &'s [TimeSignatureChange],
        curves: Vec<CurveReader<'s>>,
    ) -> Self {
        Self {
            sample_rate_hz: session.sample_rate_hz,
            tempo: &session.tempo,
            time_signatures,
            events: session.tracks.first().map_or(&[], |track| &track.events),
            ramp_step_frames: ramp_step_frames(&curves),
            curves,
        }
    }

    /// Returns the next request, which starts at the frame `start` and has at most `frames_max`
    /// frames.
    ///
    /// # Errors
    /// [`RenderError::PluginSetup`] if a frame has too many events.
    pub(super) fn next(&mut self, start: u64, frames_max: u32) -> Result<Process, RenderError> {
        let mut end = start + self.frames_of_changes(start, frames_max);
        let count = self.events.partition_point(|event| event.frame < end);
        let count = if count > EVENTS_MAX {
            // The request ends before the frame of the first event that does not fit.
            end = self.events[EVENTS_MAX].frame;
            self.events.partition_point(|event| event.frame < end)
        } else {
            count
        };
        if end <= start {
            return Err(RenderError::PluginSetup {
                code: "too_many_events",
                detail: format!(
                    "At {:.3} seconds, more notes and controls begin or end at the same time than the maximum of \
                     {EVENTS_MAX}.",
                    start as f64 / f64::from(self.sample_rate_hz)
                ),
            });
        }
        let frames = (end - start) as u32;
        let mut events = Vec::new();
        for curve in &mut self.curves {
            curve.changes(&(start..end), self.ramp_step_frames, &mut events);
        }
        let (now, later_events) = self.events.split_at(count);
        self.events = later_events;
        for event in now {
            let frame = event.frame.saturating_sub(start) as u32;
            events.extend(kinds(event.event).map(|kind| PluginEvent { frame, kind }));
        }
        // The sort is stable: automation precedes notes at the same frame.
        events.sort_by_key(|event| event.frame);
        Ok(Process {
            frames,
            output_channels: CHANNELS,
            transport: self.transport(start),
            transport_changes: self.transport_changes(start..end),
            events,
            ..Process::default()
        })
    }

    /// Returns a number of frames from `start` on, at most `frames_max`, that have at most
    /// [`CHANGES_MAX`] changes of parameters, or 1 frame. A parameter has one change at a frame.
    fn frames_of_changes(&self, start: u64, frames_max: u32) -> u64 {
        let mut frames = u64::from(frames_max);
        let changes_max = |frames: u64| -> usize {
            let range = start..start + frames;
            self.curves.iter().map(|curve| curve.changes_max(&range, self.ramp_step_frames)).sum()
        };
        while frames > 1 && changes_max(frames) > CHANGES_MAX {
            frames /= 2;
        }
        frames
    }

    /// Returns the changes of the tempo and the time signature after the first frame of a range.
    fn transport_changes(&self, frames: Range<u64>) -> Vec<TransportChange> {
        let tempo = self.tempo.iter().map(|change| change.frame);
        let signatures = self.time_signatures.iter().map(|change| change.frame);
        let is_within = |frame: &u64| frames.contains(frame) && *frame > frames.start;
        let mut changes: Vec<u64> = tempo.chain(signatures).filter(is_within).collect();
        changes.sort_unstable();
        changes.dedup();
        let change = |frame| TransportChange {
            frame: (frame - frames.start) as u32,
            transport: self.transport(frame),
        };
        changes.into_iter().map(change).collect()
    }

    fn transport(&self, start: u64) -> Transport {
        let tempo_index = self.tempo.partition_point(|change| change.frame <= start);
        let signature_index = self.time_signatures.partition_point(|change| change.frame <= start);
        let initial_change = TempoChange { frame: 0, bpm: DEFAULT_BPM, beat: 0.0 };
        let tempo = tempo_index.checked_sub(1).map_or(initial_change, |index| self.tempo[index]);
        let secs = (start - tempo.frame) as f64 / f64::from(self.sample_rate_hz);
        let index = signature_index.checked_sub(1);
        let signature = index.map_or(TimeSignatureChange::DEFAULT, |index| self.time_signatures[index]);
        // The frame of a time signature is rounded, and may be slightly before its position.
        let position_quarters = (tempo.beat + secs * tempo.bpm / 60.0).max(signature.quarters);
        Transport {
            tempo_bpm: tempo.bpm,
            position_frames: i64::try_from(start).unwrap_or(i64::MAX),
            position_quarters,
            bar_start_quarters: signature.bar_start_quarters(position_quarters),
            numerator: signature.numerator,
            denominator: signature.denominator,
            ..Transport::default()
        }
    }
}

/// Returns the plugin's events for an event of the engine: one, or two for a preset.
fn kinds(event: Event) -> impl Iterator<Item = EventKind> {
    const NO_NOTE_ID: i32 = -1;
    let channel = CHANNEL;
    let program_change = |program| EventKind::ProgramChange { channel, program };
    let (initial_change, second) = match event {
        Event::NoteOn { key, velocity } => {
            let velocity = f32::from(velocity) / f32::from(MIDI_MAX);
            (EventKind::NoteOn { note_id: NO_NOTE_ID, channel, key, velocity }, None)
        }
        Event::NoteOff { key } => {
            (EventKind::NoteOff { note_id: NO_NOTE_ID, channel, key, velocity: 0.0 }, None)
        }
        Event::Controller { controller, value } => {
            (EventKind::Controller { channel, controller, value }, None)
        }
        Event::PitchBend { value } => {
            let value = (i32::from(value) + BEND_CENTRE).clamp(0, 2 * BEND_CENTRE - 1) as u16;
            (EventKind::PitchBend { channel, value }, None)
        }
        Event::ChannelPressure { value } => (EventKind::ChannelPressure { channel, value }, None),
        Event::KeyPressure { key, value } => {
            (EventKind::KeyPressure { note_id: NO_NOTE_ID, channel, key, value }, None)
        }
        Event::Preset { bank, program } => {
            let value = bank.min(MIDI_MAX.into()) as u8;
            let bank = EventKind::Controller { channel, controller: BANK_SELECT, value };
            (bank, Some(program_change(program)))
        }
        Event::Program { program } => (program_change(program), None),
    };
    std::iter::once(initial_change).chain(second)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use dsp_core::session::{AutomationPoint, Curve, Track};

    use super::*;

    fn session(events: &[(u64, Event)], tempo: Vec<TempoChange>) -> Session {
        let events = events.iter().map(|&(frame, event)| TrackEvent { frame, event }).collect();
        Session { tempo, tracks: vec![Track { events, ..Track::default() }], ..Session::default() }
    }

    /// Returns the frames, tempos, positions and bar starts of the transport in a request.
    fn transports(request: &Process) -> Vec<(u32, f64, f64, f64)> {
        let initial_change = TransportChange { frame: 0, transport: request.transport };
        let all = [initial_change].into_iter().chain(request.transport_changes.iter().copied());
        all.map(|TransportChange { frame, transport }| {
            (frame, transport.tempo_bpm, transport.position_quarters, transport.bar_start_quarters)
        })
        .collect()
    }

    #[test]
    fn the_tempo_changes_within_a_request() {
        let change = |frame, bpm, beat| TempoChange { frame, bpm, beat };
        let session = session(&[], vec![change(0, 60.0, 0.0), change(24_000, 120.0, 0.5)]);
        let mut timeline = Timeline::new(&session, &[], Vec::new());
        let mut at = |start| transports(&timeline.next(start, 20_000).expect("a request"));
        assert_eq!(at(0), [(0, 60.0, 0.0, 0.0)]);
        assert_eq!(at(20_000), [(0, 60.0, 20_000.0 / 48_000.0, 0.0), (4_000, 120.0, 0.5, 0.0)]);
        assert_eq!(at(24_000), [(0, 120.0, 0.5, 0.0)]);
        assert_eq!(at(24_000 + 4 * 24_000), [(0, 120.0, 4.5, 4.0)]);
    }

    #[test]
    fn the_time_signature_changes_within_a_request() {
        let session = session(&[], Vec::new());
        let change = |frame, quarters, numerator, denominator| TimeSignatureChange {
            frame,
            quarters,
            numerator,
            denominator,
        };
        // The second one is at 4.00001 quarter notes, so its frame is rounded down.
        let time_signatures = [change(0, 0.0, 4, 4), change(96_000, 4.000_01, 7, 8)];
        let mut timeline = Timeline::new(&session, &time_signatures, Vec::new());
        let request = timeline.next(90_000, 20_000).expect("a request");
        assert_eq!((request.frames, request.transport.numerator), (20_000, 4));
        let change = request.transport_changes[0];
        assert_eq!((change.frame, change.transport.numerator, change.transport.denominator), (6_000, 7, 8));
        assert_eq!(change.transport.bar_start_quarters, 4.000_01);
        let request = timeline.next(96_000 + 84_001, 20_000).expect("a request");
        assert_eq!((request.transport.bar_start_quarters, request.transport_changes.len()), (7.500_01, 0));
    }

    #[test]
    fn events_keep_their_frames_and_automation_precedes_notes() {
        let on = Event::NoteOn { key: 60, velocity: 127 };
        let events = [(0, on), (70, Event::NoteOff { key: 60 }), (128, Event::PitchBend { value: -8_192 })];
        let session = session(&events, Vec::new());
        let point = |(frame, value)| AutomationPoint { frame, value, curve: Curve::Linear };
        let points = [(0, 0.0), (128, 1.0)].map(point);
        let mut timeline = Timeline::new(&session, &[], vec![CurveReader::new(3, &points)]);
        let request = timeline.next(0, 100).expect("a request");
        let frames: Vec<_> = request.events.iter().map(|event| event.frame).collect();
        assert_eq!(frames, [0, 0, 64, 70]);
        assert!(matches!(request.events[0].kind, EventKind::Parameter(_)), "{:?}", request.events);
        assert!(
            matches!(request.events[1].kind, EventKind::NoteOn { key: 60, velocity: 1.0, .. }),
            "{:?}",
            request.events
        );
        let request = timeline.next(100, 100).expect("a request");
        assert_eq!(
            request.events[1],
            PluginEvent { frame: 28, kind: EventKind::PitchBend { channel: 0, value: 0 } }
        );
    }

    #[test]
    fn many_changes_need_several_requests() {
        let session = session(&[], Vec::new());
        // 1,000 parameters that each change at all of 200 frames, and 100 ramps.
        let point = |frame: u64| AutomationPoint {
            frame: 1_000 + frame,
            value: (frame % 2) as f64,
            curve: Curve::Step,
        };
        let dense: Vec<_> = (0..200).map(point).collect();
        let ramp = [(0, 0.0), (8_192, 1.0)];
        let ramp = ramp.map(|(frame, value)| AutomationPoint { frame, value, curve: Curve::Linear });
        let dense_curves = (0..1_000).map(|id| CurveReader::new(id, &dense));
        let ramp_curves = (1_000..1_100).map(|id| CurveReader::new(id, &ramp));
        let mut timeline = Timeline::new(&session, &[], dense_curves.chain(ramp_curves).collect());
        let (mut start, mut changes) = (0, HashMap::<u64, usize>::new());
        while start < 8_192 {
            let request = timeline.next(start, 8_192 - start as u32).expect("a request");
            assert!(request.events.len() <= CHANGES_MAX, "{} events", request.events.len());
            for event in &request.events {
                *changes.entry(start + u64::from(event.frame)).or_default() += 1;
            }
            start += u64::from(request.frames);
        }
        // Ramps change every 128 frames. The points have their exact frames.
        let of_ramps = |frame: u64| if frame.is_multiple_of(128) { 100 } else { 0 };
        for frame in 0..8_192 {
            let of_points = match frame {
                0 | 1_001..1_200 => 1_000,
                _ => 0,
            };
            let count = changes.get(&frame).copied().unwrap_or_default();
            assert_eq!(count, of_points + of_ramps(frame), "frame {frame}");
        }
    }

    #[test]
    fn many_events_need_several_requests() {
        let on = Event::NoteOn { key: 60, velocity: 1 };
        let dense: Vec<_> = (0..12_000).map(|index| (index / 4, on)).collect();
        let dense = session(&dense, Vec::new());
        let mut timeline = Timeline::new(&dense, &[], Vec::new());
        let (mut start, mut events) = (0, 0);
        while start < 8_192 {
            let request = timeline.next(start, 8_192).expect("a request");
            assert!(request.events.len() <= EVENTS_MAX);
            events += request.events.len();
            start += u64::from(request.frames);
        }
        assert_eq!(events, 12_000);
        let at_once = session(&vec![(9, on); EVENTS_MAX + 1], Vec::new());
        let mut timeline = Timeline::new(&at_once, &[], Vec::new());
        let request = timeline.next(0, 100).expect("a request");
        assert_eq!((request.frames, request.events.len()), (9, 0));
        assert!(matches!(
            timeline.next(9, 100),
            Err(RenderError::PluginSetup { code: "too_many_events", .. })
        ));
    }
}
