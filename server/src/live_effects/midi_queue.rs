//! The MIDI events that a plugin gets with its next blocks.

use std::collections::VecDeque;

use songfoundry_bridge_protocol::host::{Event, EventKind};
use songfoundry_bridge_protocol::live::{LIVE_EVENTS_MAX, LIVE_FRAMES};

/// Maximum number of events that wait.
pub(super) const QUEUE_MAX: usize = 1_024;

/// Number of MIDI channels.
const CHANNELS: u8 = 16;

/// Number of keys, a bit each.
const KEYS: u8 = 128;

/// Controllers that end a release: the pedals and then all notes.
const RELEASE_CONTROLLERS: [u8; 3] = [64, 66, ALL_NOTES_OFF];
const ALL_NOTES_OFF: u8 = 123;

/// The waiting events, and the notes that sound.
#[derive(Debug, Default)]
pub(super) struct MidiQueue {
    /// Events with the frames at which they are due, in ascending order.
    events: VecDeque<(u64, EventKind)>,
    /// Events that end all notes. They precede all others.
    release: VecDeque<EventKind>,
    /// The keys that are down on each channel, a bit each.
    held: [u128; CHANNELS as usize],
    /// The channels that have played since their last release, a bit each.
    used: u16,
}

impl MidiQueue {
    /// Adds events at offsets from `frame`, the first frame of the next block.
    ///
    /// # Errors
    /// The number of events that would wait, if that exceeds [`QUEUE_MAX`]. All waiting events are
    /// then left out, and all notes end, because one of the events could be the end of a note.
    pub(super) fn push(&mut self, frame: u64, events: &[(u32, EventKind)]) -> Result<(), usize> {
        let count = self.len() + events.len();
        if count > QUEUE_MAX {
            self.release_all();
            return Err(count);
        }
        for (offset, kind) in events {
            let due = frame.saturating_add((*offset).into());
            let index = self.events.partition_point(|(other, _)| *other <= due);
            self.events.insert(index, (due, *kind));
        }
        Ok(())
    }

    /// Returns the number of waiting events.
    pub(super) fn len(&self) -> usize {
        self.events.len() + self.release.len()
    }

    /// Returns the frames from `frame`, the first one of the next block, to the event that is due
    /// last. A block has at most [`LIVE_EVENTS_MAX`] events.
    pub(super) fn wait_frames(&self, frame: u64) -> u64 {
        let due = self.events.back().map_or(0, |(due, _)| due.saturating_sub(frame));
        let full_blocks = self.len().saturating_sub(1) / LIVE_EVENTS_MAX;
        due.max((full_blocks * LIVE_FRAMES) as u64)
    }

    /// Takes the events of the block that starts at `frame`.
    pub(super) fn take(&mut self, frame: u64) -> Vec<Event> {
        let count = LIVE_EVENTS_MAX.min(self.release.len());
        let mut events: Vec<_> = self.release.drain(..count).map(|kind| Event { frame: 0, kind }).collect();
        for event in &events {
            self.note(event.kind);
            if let EventKind::Controller { channel, controller: ALL_NOTES_OFF, .. } = event.kind {
                self.used &= !(1 << channel);
            }
        }
        let end = frame.saturating_add(LIVE_FRAMES as u64);
        while events.len() < LIVE_EVENTS_MAX
            && let Some((due, kind)) = self.events.pop_front_if(|(due, _)| *due < end)
        {
            self.note(kind);
            // An event that did not fit into an earlier block is late.
            events.push(Event { frame: due.saturating_sub(frame) as u32, kind });
        }
        events
    }

    /// Drops all waiting events, and ends all notes with the next blocks.
    pub(super) fn release_all(&mut self) {
        self.events.clear();
        self.release.clear();
        for channel in (0..CHANNELS).filter(|channel| self.used >> channel & 1 == 1) {
            let held = self.held[usize::from(channel)];
            let keys = (0..KEYS).filter(|key| held >> key & 1 == 1);
            let ends = keys.map(|key| EventKind::NoteOff { note_id: -1, channel, key, velocity: 0.0 });
            self.release.extend(ends);
            let controllers = RELEASE_CONTROLLERS.map(|controller| (channel, controller));
            let kind = |(channel, controller)| EventKind::Controller { channel, controller, value: 0 };
            self.release.extend(controllers.map(kind));
        }
    }

    /// Notes an event that the plugin gets.
    fn note(&mut self, kind: EventKind) {
        match kind {
            EventKind::NoteOn { channel, key, .. } => {
                self.held[usize::from(channel)] |= 1 << key;
                self.used |= 1 << channel;
            }
            EventKind::NoteOff { channel, key, .. } => self.held[usize::from(channel)] &= !(1 << key),
            EventKind::Controller { channel, .. } => self.used |= 1 << channel,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(channel: u8, key: u8) -> EventKind {
        EventKind::NoteOn { note_id: -1, channel, key, velocity: 1.0 }
    }

    fn off(channel: u8, key: u8) -> EventKind {
        EventKind::NoteOff { note_id: -1, channel, key, velocity: 0.0 }
    }

    fn frames(events: &[Event]) -> Vec<u32> {
        events.iter().map(|event| event.frame).collect()
    }

    #[test]
    fn events_come_in_their_blocks_in_the_order_of_their_frames() {
        let mut queue = MidiQueue::default();
        queue
            .push(512, &[(300, on(0, 60)), (0, on(0, 61)), (300, on(0, 62)), (255, on(0, 63))])
            .expect("room");
        assert_eq!((queue.len(), queue.wait_frames(512)), (4, 300));
        let first = queue.take(512);
        assert_eq!((frames(&first), first[0].kind), (vec![0, 255], on(0, 61)));
        let second = queue.take(768);
        assert_eq!((frames(&second), second[0].kind), (vec![44, 44], on(0, 60)));
        assert_eq!((queue.take(1_024), queue.wait_frames(1_024)), (Vec::new(), 0));
    }

    #[test]
    fn a_block_has_a_limited_number_of_events() {
        let mut queue = MidiQueue::default();
        queue.push(0, &vec![(255, on(0, 60)); LIVE_EVENTS_MAX + 1]).expect("room");
        assert_eq!(queue.wait_frames(0), 256);
        assert_eq!((queue.take(0).len(), frames(&queue.take(256))), (LIVE_EVENTS_MAX, vec![0]));
    }

    #[test]
    fn a_release_ends_the_notes_and_pedals_that_the_plugin_got() {
        let mut queue = MidiQueue::default();
        queue.release_all();
        assert_eq!(queue.take(0), []);
        let pedal = EventKind::Controller { channel: 2, controller: 64, value: 127 };
        queue
            .push(0, &[(0, on(0, 60)), (0, on(2, 61)), (0, pedal), (1, off(2, 61)), (999, on(3, 1))])
            .expect("room");
        queue.take(0);
        // A second release before the block loses nothing.
        queue.release_all();
        queue.release_all();
        queue.push(256, &[(0, on(0, 72))]).expect("room");
        let kinds: Vec<_> = queue.take(256).iter().map(|event| event.kind).collect();
        let end = |channel, controller| EventKind::Controller { channel, controller, value: 0 };
        let expected =
            [off(0, 60), end(0, 64), end(0, 66), end(0, 123), end(2, 64), end(2, 66), end(2, 123), on(0, 72)];
        assert_eq!(kinds, expected);
        // Only the channel that has played since is released again.
        queue.release_all();
        assert_eq!(queue.take(512).len(), 4);
        queue.release_all();
        assert_eq!(queue.take(768), []);
    }

    #[test]
    fn a_full_queue_ends_all_notes() {
        let mut queue = MidiQueue::default();
        queue.push(0, &[(0, on(0, 60))]).expect("room");
        queue.take(0);
        queue.push(256, &vec![(9, on(0, 61)); QUEUE_MAX]).expect("room");
        assert_eq!(queue.push(256, &[(9, off(0, 60))]), Err(QUEUE_MAX + 1));
        let events = queue.take(256);
        assert_eq!((events.len(), events[0].kind, queue.len()), (4, off(0, 60), 0));
        // Every key of every channel can be down, and all of them end.
        let all =
            (0..16).flat_map(|channel| (0..128).map(move |key| (0, on(channel, key)))).collect::<Vec<_>>();
        for part in all.chunks(LIVE_EVENTS_MAX) {
            queue.push(0, part).expect("room");
            queue.take(0);
        }
        queue.release_all();
        let mut ends = 0;
        while queue.len() > 0 {
            ends +=
                queue.take(0).iter().filter(|event| matches!(event.kind, EventKind::NoteOff { .. })).count();
        }
        assert_eq!((ends, queue.held), (16 * 128, [0; 16]));
    }
}
