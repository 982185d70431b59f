//! Makes complete gestures from the changes that a plugin reports: each has a start, values and an
//! end. Many plugins report values without a start and an end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use songfoundry_bridge_protocol::host::ParameterValue;
use songfoundry_bridge_protocol::window::WindowEvent;

use crate::host::editor::ParameterEdit;

/// How long after the last value a gesture ends whose end the plugin does not report, once no
/// button is pressed.
const PAUSE: Duration = Duration::from_millis(300);

/// The gestures that have not ended.
#[derive(Default)]
pub(super) struct Gestures {
    open: BTreeMap<u32, Gesture>,
}

struct Gesture {
    /// Whether the plugin reported the start, so that it will report the end.
    is_reported: bool,
    last_change: Instant,
}

impl Gestures {
    /// Returns the events for new changes. Must be called again and again, because gestures also
    /// end by time.
    pub(super) fn events(
        &mut self,
        edits: &[ParameterEdit],
        is_button_pressed: bool,
        now: Instant,
    ) -> Vec<WindowEvent> {
        let mut events = Vec::new();
        for edit in edits {
            match *edit {
                ParameterEdit::Begin(id) => {
                    if self.open.insert(id, Gesture { is_reported: true, last_change: now }).is_none() {
                        events.push(WindowEvent::BeginEdit { id });
                    }
                }
                ParameterEdit::Perform(ParameterValue { id, value }) => {
                    let gesture = self.open.entry(id).or_insert_with(|| {
                        events.push(WindowEvent::BeginEdit { id });
                        Gesture { is_reported: false, last_change: now }
                    });
                    gesture.last_change = now;
                    events.push(WindowEvent::Edit { id, value });
                }
                ParameterEdit::End(id) => {
                    if self.open.remove(&id).is_some() {
                        events.push(WindowEvent::EndEdit { id });
                    }
                }
            }
        }
        self.open.retain(|id, gesture| {
            let has_ended = !gesture.is_reported && !is_button_pressed && now >= gesture.last_change + PAUSE;
            if has_ended {
                events.push(WindowEvent::EndEdit { id: *id });
            }
            !has_ended
        });
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(id: u32) -> ParameterEdit {
        ParameterEdit::Perform(ParameterValue { id, value: 0.5 })
    }

    #[test]
    fn reported_gestures_are_passed_on_once() {
        let (mut gestures, now) = (Gestures::default(), Instant::now());
        let edits = [ParameterEdit::Begin(1), ParameterEdit::Begin(1), value(1), ParameterEdit::End(1)];
        let expected = [
            WindowEvent::BeginEdit { id: 1 },
            WindowEvent::Edit { id: 1, value: 0.5 },
            WindowEvent::EndEdit { id: 1 },
        ];
        assert_eq!(gestures.events(&edits, true, now), expected);
        assert_eq!(gestures.events(&[ParameterEdit::End(1)], true, now), []);
        gestures.events(&[ParameterEdit::Begin(2)], false, now);
        assert_eq!(gestures.events(&[], false, now + PAUSE * 10), [], "the plugin reports the end");
    }

    #[test]
    fn values_alone_become_a_gesture_that_ends_after_the_button() {
        let (mut gestures, now) = (Gestures::default(), Instant::now());
        let started = gestures.events(&[value(3), value(3)], true, now);
        let edit = WindowEvent::Edit { id: 3, value: 0.5 };
        assert_eq!(started, [WindowEvent::BeginEdit { id: 3 }, edit, edit]);
        assert_eq!(gestures.events(&[], true, now + PAUSE * 10), [], "the button is pressed");
        assert_eq!(gestures.events(&[value(3)], false, now + PAUSE * 10), [edit]);
        assert_eq!(gestures.events(&[], false, now + PAUSE * 11 - Duration::from_millis(1)), []);
        assert_eq!(gestures.events(&[], false, now + PAUSE * 11), [WindowEvent::EndEdit { id: 3 }]);
    }
}
