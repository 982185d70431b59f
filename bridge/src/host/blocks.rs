//! Checks a request to process audio and divides it into blocks.

use std::collections::HashSet;

use songfoundry_bridge_protocol::frame::BINARY_BYTES_MAX;
use songfoundry_bridge_protocol::host::{
    CHANNELS_MAX, EVENTS_MAX, Event, EventKind, ParameterValue, Process, TRANSPORT_CHANGES_MAX, Transport,
    TransportChange,
};

use crate::module::FailureReason;

/// Maximum number of events in a block. Plugins built with DPF drop events beyond 512.
const BLOCK_EVENTS_MAX: usize = 256;

/// Minimum mean length of the blocks that end at parameter changes, in frames. With shorter blocks,
/// a song with many changes would render too slowly.
const CHANGE_INTERVAL_FRAMES: u32 = 16;

/// Returns the minimum number of frames between two parameter changes that divide a request.
///
/// Plugins apply parameter changes only at the start of a block, or get them without their frames
/// (VST2). A block therefore ends before the next change, so that each change has its exact frame.
/// If a request has more than one change per [`CHANGE_INTERVAL_FRAMES`] frames, a block has at
/// least that length. VST3 plugins get the frames of the changes within a block. VST2 plugins get
/// these changes at the start of the block.
pub(super) fn change_interval(request: &Process) -> u32 {
    let is_change = |event: &&Event| matches!(event.kind, EventKind::Parameter(_));
    let changes = request.events.iter().filter(is_change).map(|event| event.frame);
    let (mut frames, mut last) = (0, None);
    for frame in changes {
        frames += u32::from(last != Some(frame));
        last = Some(frame);
    }
    if frames <= (request.frames / CHANGE_INTERVAL_FRAMES).max(1) { 1 } else { CHANGE_INTERVAL_FRAMES }
}

/// Returns the end of the block that starts at frame `start`. `events` are the events from `start`
/// on. The block ends before the first parameter change that is at least `change_interval` frames
/// after `start`.
pub(super) fn block_end(
    start: u32,
    frames: u32,
    block_frames_max: u32,
    change_interval: u32,
    events: &[Event],
) -> u32 {
    let end = frames.min(start.saturating_add(block_frames_max));
    let first_change = start.saturating_add(change_interval);
    let change = events
        .iter()
        .take_while(|event| event.frame < end)
        .find(|event| event.frame >= first_change && matches!(event.kind, EventKind::Parameter(_)))
        .map(|event| event.frame);
    // Events at the same frame cannot be divided.
    let excess = events.get(BLOCK_EVENTS_MAX).map(|event| event.frame).filter(|frame| *frame > start);
    [change, excess].into_iter().flatten().fold(end, u32::min)
}

/// Returns the transport at a frame of a request.
pub(super) fn transport_of(request: &Process, frame: u32, sample_rate_hz: f64) -> Transport {
    let changes = &request.transport_changes;
    let change_index = changes.partition_point(|change| change.frame <= frame).checked_sub(1);
    match change_index.map(|index| changes[index]) {
        Some(TransportChange { frame: start, transport }) => {
            transport_at(&transport, frame - start, sample_rate_hz)
        }
        None => transport_at(&request.transport, frame, sample_rate_hz),
    }
}

/// Returns the first frame after `frame` at which the transport of a request changes, or the end of
/// the request.
pub(super) fn next_transport_change(request: &Process, frame: u32) -> u32 {
    let changes = &request.transport_changes;
    let next = changes.partition_point(|change| change.frame <= frame);
    changes.get(next).map_or(request.frames, |change| change.frame)
}

/// Returns the transport a number of frames later.
fn transport_at(transport: &Transport, frame: u32, sample_rate_hz: f64) -> Transport {
    if !transport.is_playing {
        return *transport;
    }
    let quarters = f64::from(frame) / sample_rate_hz * transport.tempo_bpm / 60.0;
    let position_quarters = transport.position_quarters + quarters;
    let bar_quarters = f64::from(transport.numerator) * 4.0 / f64::from(transport.denominator);
    let bars = ((position_quarters - transport.bar_start_quarters) / bar_quarters).floor();
    Transport {
        position_frames: transport.position_frames.saturating_add(frame.into()),
        position_quarters,
        bar_start_quarters: transport.bar_start_quarters + bars * bar_quarters,
        ..*transport
    }
}

/// Checks a request, except for the length of its input.
pub(super) fn check(request: &Process, parameters: &HashSet<u32>) -> Result<(), FailureReason> {
    let input_channels = request.input_channels.saturating_add(request.side_chain_channels);
    let channels = input_channels.max(request.output_channels);
    if channels > CHANNELS_MAX {
        return Err(format!("the request has {channels} channels; the maximum is {CHANNELS_MAX}"));
    }
    let bytes = u64::from(request.frames) * u64::from(channels) * size_of::<f32>() as u64;
    if bytes > BINARY_BYTES_MAX as u64 {
        return Err(format!("the audio of the request has {bytes} bytes; the maximum is {BINARY_BYTES_MAX}"));
    }
    check_transport(&request.transport)?;
    let changes = &request.transport_changes;
    if changes.len() > TRANSPORT_CHANGES_MAX {
        return Err(format!(
            "the request has {} changes of the transport; the maximum is {TRANSPORT_CHANGES_MAX}",
            changes.len()
        ));
    }
    let mut last_frame = 0;
    for TransportChange { frame, transport } in changes {
        if *frame <= last_frame || *frame >= request.frames {
            return Err(format!(
                "the transport changes at frame {frame} after one at frame {last_frame} of {} frames; changes must be in \
                 ascending order",
                request.frames
            ));
        }
        check_transport(transport)?;
        last_frame = *frame;
    }
    if request.events.len() > EVENTS_MAX {
        return Err(format!("the request has {} events; the maximum is {EVENTS_MAX}", request.events.len()));
    }
    if let Some(pair) = request.events.windows(2).find(|pair| pair[0].frame > pair[1].frame) {
        return Err(format!(
            "an event at frame {} comes after one at frame {}; events must be in ascending order",
            pair[1].frame, pair[0].frame
        ));
    }
    for event in &request.events {
        if event.frame >= request.frames {
            return Err(format!(
                "an event is at frame {}, but the request has {} frames",
                event.frame, request.frames
            ));
        }
        check_event(&event.kind, parameters)?;
    }
    Ok(())
}

/// Range of the tempo in quarter notes per minute, the same as in songs.
const TEMPI_BPM: std::ops::RangeInclusive<f64> = 1.0..=100_000.0;

fn check_transport(transport: &Transport) -> Result<(), FailureReason> {
    let Transport { tempo_bpm, position_quarters, bar_start_quarters, numerator, denominator, .. } =
        *transport;
    let is_finite = position_quarters.is_finite() && bar_start_quarters.is_finite();
    if TEMPI_BPM.contains(&tempo_bpm) && is_finite && numerator > 0 && denominator > 0 {
        return Ok(());
    }
    Err(format!(
        "the transport of the request is invalid: the tempo {tempo_bpm} BPM must be 1 to 100000, the position \
         {position_quarters} and the bar start {bar_start_quarters} finite, and both numbers of the time signature \
         {numerator}/{denominator} at least 1"
    ))
}

/// Checks a value of a parameter.
pub(super) fn check_parameter(
    value: &ParameterValue,
    parameters: &HashSet<u32>,
) -> Result<(), FailureReason> {
    match (parameters.contains(&value.id), (0.0..=1.0).contains(&value.value)) {
        (false, _) => Err(format!("the plugin has no parameter with the id {}", value.id)),
        (_, false) => Err(format!("the value of parameter {} must be 0 to 1, not {}", value.id, value.value)),
        _ => Ok(()),
    }
}

fn check_event(kind: &EventKind, parameters: &HashSet<u32>) -> Result<(), FailureReason> {
    let is_valid = match *kind {
        EventKind::NoteOn { channel, key, velocity, .. }
        | EventKind::NoteOff { channel, key, velocity, .. } => {
            channel < 16 && key < 128 && (0.0..=1.0).contains(&velocity)
        }
        EventKind::KeyPressure { channel, key: data, value, .. }
        | EventKind::Controller { channel, controller: data, value } => {
            channel < 16 && data < 128 && value < 128
        }
        EventKind::ChannelPressure { channel, value }
        | EventKind::ProgramChange { channel, program: value } => channel < 16 && value < 128,
        EventKind::PitchBend { channel, value } => channel < 16 && value < 16_384,
        EventKind::NoteExpression { value, .. } => (0.0..=1.0).contains(&value),
        EventKind::Parameter(value) => return check_parameter(&value, parameters),
    };
    if is_valid {
        return Ok(());
    }
    Err(format!(
        "the event {kind:?} is out of range: channels are 0 to 15; keys, controllers, programs and values 0 to 127; \
         pitch bend 0 to 16383; velocities and expressions 0 to 1"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(frame: u32) -> Event {
        Event { frame, kind: EventKind::Parameter(ParameterValue { id: 7, value: 0.5 }) }
    }

    fn note(frame: u32) -> Event {
        Event { frame, kind: EventKind::NoteOn { note_id: 1, channel: 0, key: 60, velocity: 1.0 } }
    }

    #[test]
    fn blocks_end_before_parameter_changes() {
        assert_eq!(block_end(0, 1_000, 512, 1, &[]), 512);
        assert_eq!(block_end(512, 1_000, 512, 1, &[]), 1_000);
        assert_eq!(block_end(0, 1_000, 512, 1, &[parameter(0), note(5), parameter(100)]), 100);
        assert_eq!(block_end(100, 1_000, 512, 1, &[parameter(100), parameter(100), note(200)]), 612);
        assert_eq!(block_end(0, 1_000, 512, 1, &[parameter(600)]), 512);
        assert_eq!(block_end(u32::MAX - 5, u32::MAX, 512, 1, &[]), u32::MAX);
    }

    #[test]
    fn blocks_stay_long_enough_if_parameters_change_very_often() {
        let changes = |interval: usize| Process {
            frames: 8_192,
            events: (0..8_192).step_by(interval).flat_map(|frame| [parameter(frame); 2]).collect(),
            ..Process::default()
        };
        assert_eq!([16, 64].map(|interval| change_interval(&changes(interval))), [1; 2]);
        assert_eq!([1, 15].map(|interval| change_interval(&changes(interval))), [CHANGE_INTERVAL_FRAMES; 2]);
        assert_eq!(
            change_interval(&Process { frames: 3, events: vec![parameter(2)], ..Process::default() }),
            1
        );
        let dense = changes(15).events;
        assert_eq!(block_end(0, 8_192, 512, CHANGE_INTERVAL_FRAMES, &dense), 30);
        assert_eq!(block_end(0, 8_192, 512, 1, &dense), 15);
    }

    #[test]
    fn blocks_have_a_limited_number_of_events() {
        let events: Vec<Event> = (0..600).map(note).collect();
        assert_eq!(block_end(0, 1_000, 512, 1, &events), 256);
        assert_eq!(block_end(0, 1_000, 512, 1, &vec![note(0); 600]), 512);
    }

    #[test]
    fn the_transport_advances_while_the_song_plays() {
        let start = Transport { position_quarters: 3.0, position_frames: 72_000, ..Transport::default() };
        let later_transport = transport_at(&start, 48_000, 48_000.0);
        assert_eq!(
            (
                later_transport.position_frames,
                later_transport.position_quarters,
                later_transport.bar_start_quarters
            ),
            (120_000, 5.0, 4.0)
        );
        let stopped_transport = Transport { is_playing: false, ..start };
        assert_eq!(transport_at(&stopped_transport, 48_000, 48_000.0), stopped_transport);
    }

    #[test]
    fn the_transport_changes_within_a_request() {
        let later_transport = Transport { position_quarters: 2.0, tempo_bpm: 60.0, ..Transport::default() };
        let request = Process {
            frames: 96_000,
            transport_changes: vec![TransportChange { frame: 48_000, transport: later_transport }],
            ..Process::default()
        };
        let at = |frame| {
            let Transport { tempo_bpm, position_quarters, .. } = transport_of(&request, frame, 48_000.0);
            (tempo_bpm, position_quarters, next_transport_change(&request, frame))
        };
        assert_eq!(at(0), (120.0, 0.0, 48_000));
        assert_eq!(at(24_000), (120.0, 1.0, 48_000));
        assert_eq!(at(48_000), (60.0, 2.0, 96_000));
        assert_eq!(at(72_000), (60.0, 2.5, 96_000));
    }

    #[test]
    fn invalid_requests_are_refused() {
        let parameters = HashSet::from([7]);
        let check_refusal = |request: Process, expected: &str| {
            let reason = check(&request, &parameters).expect_err("refused");
            assert!(reason.contains(expected), "{reason}");
        };
        let with = |events| Process { frames: 64, events, ..Process::default() };
        assert_eq!(check(&with(vec![note(0), parameter(63)]), &parameters), Ok(()));
        check_refusal(with(vec![note(64)]), "at frame 64, but the request has 64 frames");
        check_refusal(with(vec![note(9), note(8)]), "at frame 8 comes after one at frame 9; events must be");
        let unknown_event = EventKind::Parameter(ParameterValue { id: 8, value: 0.5 });
        check_refusal(with(vec![Event { frame: 0, kind: unknown_event }]), "no parameter with the id 8");
        let outside = EventKind::Parameter(ParameterValue { id: 7, value: f64::NAN });
        check_refusal(with(vec![Event { frame: 0, kind: outside }]), "must be 0 to 1, not NaN");
        let bend = EventKind::PitchBend { channel: 0, value: 16_384 };
        check_refusal(with(vec![Event { frame: 0, kind: bend }]), "pitch bend 0 to 16383");
        check_refusal(
            Process { output_channels: 129, ..Process::default() },
            "129 channels; the maximum is 128",
        );
        check_refusal(
            Process { frames: u32::MAX, output_channels: 2, ..Process::default() },
            "bytes; the maximum is",
        );
        check_refusal(with(vec![note(0); EVENTS_MAX + 1]), "events; the maximum is");
        let changes = |frames: &[u32]| Process {
            frames: 64,
            transport_changes: frames
                .iter()
                .map(|frame| TransportChange { frame: *frame, transport: Transport::default() })
                .collect(),
            ..Process::default()
        };
        assert_eq!(check(&changes(&[1, 63]), &parameters), Ok(()));
        for frames in [&[0][..], &[64], &[5, 5], &[6, 5]] {
            check_refusal(changes(frames), "changes must be in ascending order");
        }
        check_refusal(changes(&[1; TRANSPORT_CHANGES_MAX + 1]), "changes of the transport; the maximum is");
        let transport = Transport { tempo_bpm: 0.0, ..Transport::default() };
        check_refusal(Process { transport, ..Process::default() }, "the tempo 0 BPM must be 1 to 100000");
    }
}
