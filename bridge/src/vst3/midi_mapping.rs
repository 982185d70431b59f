//! Finds the parameters to which a plugin maps MIDI controllers.
#![expect(unsafe_code, reason = "VST3 objects have a C interface")]

use std::collections::HashMap;

use songfoundry_bridge_protocol::host::EventKind;
use vst3::ComPtr;
use vst3::Steinberg::Vst::ControllerNumbers_::{kAfterTouch, kCtrlProgramChange, kPitchBend};
use vst3::Steinberg::Vst::{IMidiMapping, IMidiMappingTrait as _, ParamID};
use vst3::Steinberg::kResultOk;

/// The parameters of MIDI controllers, by channel and VST3's number of the controller.
pub(super) struct MidiMapping {
    mapping: Option<ComPtr<IMidiMapping>>,
    known: HashMap<(u8, i16), Option<ParamID>>,
}

impl MidiMapping {
    /// Creates a mapping; without the interface, no controller is mapped.
    pub(super) fn new(mapping: Option<ComPtr<IMidiMapping>>) -> Self {
        Self { mapping, known: HashMap::new() }
    }

    /// Clears the known parameters, so that the plugin is queried again for each controller.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    /// Releases the plugin's interface.
    pub(super) fn release(&mut self) {
        self.mapping = None;
        self.known.clear();
    }

    /// Returns the parameter and the normalized value for a MIDI event that is not a note.
    pub(super) fn parameter_change(&mut self, kind: &EventKind) -> Option<(ParamID, f64)> {
        let (channel, number, value) = controller_value(kind)?;
        let mapping = self.mapping.as_ref()?;
        let find = || {
            let mut id = 0;
            // SAFETY: the interface was queried, and `id` lives as long as the call.
            let answer = unsafe { mapping.getMidiControllerAssignment(0, channel.into(), number, &mut id) };
            (answer == kResultOk).then_some(id)
        };
        let id = *self.known.entry((channel, number)).or_insert_with(find);
        Some((id?, value))
    }
}

/// Returns the channel, VST3's number of the controller, and the normalized value.
fn controller_value(kind: &EventKind) -> Option<(u8, i16, f64)> {
    Some(match *kind {
        EventKind::Controller { channel, controller, value } => {
            (channel, controller.into(), f64::from(value) / 127.0)
        }
        EventKind::ChannelPressure { channel, value } => {
            (channel, kAfterTouch as i16, f64::from(value) / 127.0)
        }
        EventKind::PitchBend { channel, value } => (channel, kPitchBend as i16, f64::from(value) / 16_383.0),
        EventKind::ProgramChange { channel, program } => {
            (channel, kCtrlProgramChange as i16, f64::from(program) / 127.0)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn midi_values_are_normalized() {
        let controller = EventKind::Controller { channel: 2, controller: 74, value: 127 };
        assert_eq!(controller_value(&controller), Some((2, 74, 1.0)));
        assert_eq!(
            controller_value(&EventKind::PitchBend { channel: 0, value: 16_383 }),
            Some((0, 129, 1.0))
        );
        let centre = controller_value(&EventKind::PitchBend { channel: 0, value: 8_192 }).expect("a value");
        assert!((centre.2 - 0.5).abs() < 0.000_1);
        assert_eq!(
            controller_value(&EventKind::ChannelPressure { channel: 1, value: 0 }),
            Some((1, 128, 0.0))
        );
        assert_eq!(
            controller_value(&EventKind::ProgramChange { channel: 1, program: 127 }),
            Some((1, 130, 1.0))
        );
        let note = EventKind::NoteOff { note_id: 0, channel: 0, key: 0, velocity: 0.0 };
        assert_eq!(controller_value(&note), None);
    }
}
