//! Finds past events whose values later events replace.

use super::controllers;
use crate::session::Event;

/// The values that the last events of a channel set. The events are added from the last one back.
pub(crate) struct LaterValues {
    controllers: [bool; 128],
    key_pressures: [bool; 128],
    pressure: bool,
    pitch_bend: bool,
}

impl LaterValues {
    /// The values that no event sets.
    pub(crate) const NONE: Self =
        Self { controllers: [false; 128], key_pressures: [false; 128], pressure: false, pitch_bend: false };

    /// Adds the event before those that were added so far. Returns whether they replace its value.
    /// Without it, the synthesizer then restores the same state.
    pub(crate) fn replace(&mut self, event: Event) -> bool {
        let is_set = match event {
            Event::Controller { controller, .. } if !depends_on_order(controller & 127) => {
                &mut self.controllers[usize::from(controller & 127)]
            }
            Event::KeyPressure { key, .. } => &mut self.key_pressures[usize::from(key & 127)],
            Event::ChannelPressure { .. } => &mut self.pressure,
            Event::PitchBend { .. } => &mut self.pitch_bend,
            _ => return false,
        };
        core::mem::replace(is_set, true)
    }
}

/// Whether the effect of a controller depends on the events between it and its next value. These
/// are the controllers that select and change parameters, banks, notes and other controllers.
fn depends_on_order(controller: u8) -> bool {
    use controllers::*;
    matches!(
        controller,
        BANK_MSB
            | BANK_LSB
            | DATA_ENTRY_MSB
            | DATA_ENTRY_LSB
            | DATA_INCREMENT
            | DATA_DECREMENT
            | NRPN_LSB
            | NRPN_MSB
            | RPN_LSB
            | RPN_MSB
            | SOSTENUTO
            | PORTAMENTO_CONTROL
            | ALL_SOUND_OFF
            | RESET_ALL
            | ALL_NOTES_OFF..=POLY
    )
}
