//! Recognizes the default modulator from velocity to filter cutoff (section 8.4.2).

use super::default_modulators_table::VELOCITY_TO_CUTOFF;
use super::modulator::{Controller, Curve, Modulator, Source};

/// The default velocity-to-cutoff modulator has a different form in each version of the
/// specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VelocityToCutoffForm {
    /// Version 2.04: without an amount source.
    Of2_04,
    /// Version 2.01: with a switch as amount source. Velocities from 64 upwards have no effect.
    Of2_01,
}

impl Modulator {
    /// Whether the modulator specifies how velocity changes the filter cutoff. The default
    /// modulator of section 8.4.2 then does not apply.
    pub(crate) fn states_velocity_to_cutoff(&self) -> bool {
        self.velocity_to_cutoff_form().is_some()
    }

    /// Returns the form of the default modulator of section 8.4.2 that this modulator has. `None`
    /// if it is another modulator.
    pub(super) fn velocity_to_cutoff_form(&self) -> Option<VelocityToCutoffForm> {
        const SWITCH_OF_2_01: Source = Source {
            controller: Controller::NoteOnVelocity,
            is_negative: true,
            is_bipolar: false,
            curve: Curve::Switch,
        };
        let of_2_04 = VELOCITY_TO_CUTOFF;
        let of_2_01 = Self { amount_source: SWITCH_OF_2_01, ..of_2_04 };
        match self {
            modulator if modulator.destination != of_2_04.destination => None,
            modulator if modulator.has_same_operators(&of_2_04) => Some(VelocityToCutoffForm::Of2_04),
            modulator if modulator.has_same_operators(&of_2_01) => Some(VelocityToCutoffForm::Of2_01),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soundfont::modulator_records::read;

    fn modulator(words: [u16; 5]) -> Modulator {
        let mut record = [0; 10];
        for (bytes, word) in record.as_chunks_mut::<2>().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        read(&record).expect("the record is a modulator").0
    }

    #[test]
    fn both_forms_of_velocity_to_cutoff_are_recognized_as_different_modulators() {
        let (of_2_04, of_2_01) = ([0x0102, 8, 0, 0, 0], [0x0102, 8, 0, 0x0d02, 0]);
        assert!(modulator(of_2_04).states_velocity_to_cutoff());
        assert!(modulator(of_2_01).states_velocity_to_cutoff());
        assert!(!modulator(of_2_01).has_same_operators(&modulator(of_2_04)), "a zone may have both forms");
        let other_modulators = [
            ("another amount source", [0x0102, 8, 0, 0x0502, 0]),
            ("another curve", [0x0502, 8, 0, 0, 0]),
            ("the other direction", [0x0002, 8, 0, 0, 0]),
            ("another transform", [0x0102, 8, 0, 0, 2]),
            ("another destination", [0x0102, 11, 0, 0x0d02, 0]),
        ];
        for (difference, words) in other_modulators {
            assert!(!modulator(words).states_velocity_to_cutoff(), "{difference}");
        }
    }
}
