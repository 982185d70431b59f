//! Modulators: how controllers change generators (sections 7.4, 8.2 to 8.4).

use super::default_modulators_table::VELOCITY_TO_CUTOFF;
use super::generators::Generator;
use super::records::u16_at;
use super::skipped::Reason;

/// A controller's way to a generator: `amount`, times what `source` and `amount_source` say,
/// transformed, is added to the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Modulator {
    pub(crate) source: Source,
    pub(crate) amount_source: Source,
    pub(crate) destination: Destination,
    /// In units of the destination.
    pub(crate) amount: i16,
    pub(crate) transform: Transform,
}

impl Modulator {
    /// Whether another one has the same sources and transform.
    pub(super) fn acts_like(&self, other: &Self) -> bool {
        self.source == other.source
            && self.amount_source == other.amount_source
            && self.transform == other.transform
    }

    /// Whether it states how velocity moves the cutoff, so that the default of section 8.4.2 does
    /// not apply.
    pub(crate) fn states_velocity_to_cutoff(&self) -> bool {
        self.velocity_to_cutoff_form().is_some()
    }

    /// The version in whose form it states how velocity moves the cutoff (section 8.4.2).
    pub(super) fn velocity_to_cutoff_form(&self) -> Option<VelocityToCutoffForm> {
        const SWITCH_OF_2_01: Source = Source {
            controller: Controller::NoteOnVelocity,
            negative: true,
            bipolar: false,
            curve: Curve::Switch,
        };
        let of_2_04 = VELOCITY_TO_CUTOFF;
        let of_2_01 = Self { amount_source: SWITCH_OF_2_01, ..of_2_04 };
        match self {
            other if other.destination != of_2_04.destination => None,
            other if other.acts_like(&of_2_04) => Some(VelocityToCutoffForm::Of2_04),
            other if other.acts_like(&of_2_01) => Some(VelocityToCutoffForm::Of2_01),
            _ => None,
        }
    }
}

/// A version of the specification, by its default modulator from velocity to the cutoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VelocityToCutoffForm {
    /// Without an amount source.
    Of2_04,
    /// With a switch as its amount source: nothing from a velocity of 64 on.
    Of2_01,
}

/// A controller and the curve along which it acts (section 8.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) controller: Controller,
    /// Whether it goes from the greatest value to the least (the direction bit).
    pub(crate) negative: bool,
    /// Whether it goes from -1 to 1 rather than from 0 to 1 (the polarity bit).
    pub(crate) bipolar: bool,
    pub(crate) curve: Curve,
}

/// Where a source has its value from (section 8.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    /// None: the value is 1.
    None,
    NoteOnVelocity,
    NoteOnKey,
    PolyPressure,
    ChannelPressure,
    PitchWheel,
    PitchWheelSensitivity,
    /// The sum of the modulators that end in this one.
    Link,
    /// A MIDI controller.
    Midi(u8),
}

/// Shape of a source's curve (section 8.2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Curve {
    Linear,
    Concave,
    Convex,
    Switch,
}

/// What a modulator changes (section 7.4, sfModDestOper).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A generator. That of the pitch wheel (section 8.4.10), "Initial Pitch", is no generator
    /// of the file; it is [`Generator::FineTune`] here, whose range does not bound the sum.
    Generator(Generator),
    /// The modulator with this index in the list of the zone.
    Modulator(u16),
}

/// What happens to the product (section 8.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transform {
    Linear,
    Absolute,
}

/// Where a modulator of a file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Generator(Generator),
    /// A modulator, counted from the first that its own zone has in the file.
    Link(u16),
}

/// Bit of sfModDestOper that marks a link.
const LINK_BIT: u16 = 0x8000;

/// Reads a modulator of a file; its `destination` only means something if the target is a
/// generator.
pub(super) fn read(record: &[u8; 10]) -> Result<(Modulator, Target), Reason> {
    let [source, destination, amount, amount_source, transform] =
        [0, 2, 4, 6, 8].map(|offset| u16_at(record, offset));
    let target = match destination {
        link if link & LINK_BIT != 0 => Target::Link(link & !LINK_BIT),
        number => match Generator::from_number(number) {
            Some(generator) if generator.can_be_modulated() => Target::Generator(generator),
            _ => return Err(Reason::ModulatorDestination(number)),
        },
    };
    let transform = match transform {
        0 => Transform::Linear,
        2 => Transform::Absolute,
        unknown => return Err(Reason::ModulatorTransform(unknown)),
    };
    let amount_source = match Source::read(amount_source)? {
        // Links carry a modulator's main source only (section 8.2.1, number 127).
        Source { controller: Controller::Link, .. } => {
            return Err(Reason::ModulatorSource(amount_source));
        }
        source => source,
    };
    let destination = match target {
        Target::Generator(generator) => Destination::Generator(generator),
        Target::Link(index) => Destination::Modulator(index),
    };
    let source = Source::read(source)?;
    Ok((Modulator { source, amount_source, destination, amount: amount.cast_signed(), transform }, target))
}

impl Modulator {
    /// The record of a file; a link's destination is an index in its zone there.
    pub(super) fn record(&self) -> [u8; 10] {
        let destination = match self.destination {
            Destination::Generator(generator) => generator as u16,
            Destination::Modulator(index) => index | LINK_BIT,
        };
        let transform = match self.transform {
            Transform::Linear => 0,
            Transform::Absolute => 2,
        };
        let words = [
            self.source.bits(),
            destination,
            self.amount.cast_unsigned(),
            self.amount_source.bits(),
            transform,
        ];
        let mut record = [0; 10];
        for (place, word) in record.as_chunks_mut::<2>().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        record
    }
}

impl Source {
    /// sfModSrcOper or sfModAmtSrcOper of a file.
    fn bits(self) -> u16 {
        let controller = match self.controller {
            Controller::None => 0,
            Controller::NoteOnVelocity => 2,
            Controller::NoteOnKey => 3,
            Controller::PolyPressure => 10,
            Controller::ChannelPressure => 13,
            Controller::PitchWheel => 14,
            Controller::PitchWheelSensitivity => 16,
            Controller::Link => 127,
            Controller::Midi(number) => 0x80 | u16::from(number),
        };
        let curve = match self.curve {
            Curve::Linear => 0,
            Curve::Concave => 1,
            Curve::Convex => 2,
            Curve::Switch => 3,
        };
        controller | u16::from(self.negative) << 8 | u16::from(self.bipolar) << 9 | curve << 10
    }

    /// The value 1.
    pub(super) const NONE: Self =
        Self { controller: Controller::None, negative: false, bipolar: false, curve: Curve::Linear };

    /// Reads sfModSrcOper or sfModAmtSrcOper.
    fn read(bits: u16) -> Result<Self, Reason> {
        let index = (bits & 0x7f) as u8;
        let is_midi = bits & 0x80 != 0;
        let controller = match (is_midi, index) {
            // The value is 1 whatever the curve.
            (false, 0) => return Ok(Self::NONE),
            (false, 2) => Controller::NoteOnVelocity,
            (false, 3) => Controller::NoteOnKey,
            (false, 10) => Controller::PolyPressure,
            (false, 13) => Controller::ChannelPressure,
            (false, 14) => Controller::PitchWheel,
            (false, 16) => Controller::PitchWheelSensitivity,
            (false, 127) => Controller::Link,
            // Section 8.2.1: banks, data entry, (N)RPN and channel modes are no sources.
            (true, 0 | 6 | 32 | 38 | 98..=101 | 120..) | (false, _) => {
                return Err(Reason::ModulatorSource(bits));
            }
            (true, _) => Controller::Midi(index),
        };
        let curve = match bits >> 10 {
            0 => Curve::Linear,
            1 => Curve::Concave,
            2 => Curve::Convex,
            3 => Curve::Switch,
            _ => return Err(Reason::ModulatorSource(bits)),
        };
        Ok(Self { controller, negative: bits & 0x100 != 0, bipolar: bits & 0x200 != 0, curve })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modulator(words: [u16; 5]) -> Modulator {
        let mut record = [0; 10];
        for (bytes, word) in record.as_chunks_mut::<2>().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        read(&record).expect("a modulator").0
    }

    #[test]
    fn both_forms_of_velocity_to_cutoff_are_known_and_stay_two_modulators() {
        let (of_2_04, of_2_01) = ([0x0102, 8, 0, 0, 0], [0x0102, 8, 0, 0x0d02, 0]);
        assert!(modulator(of_2_04).states_velocity_to_cutoff());
        assert!(modulator(of_2_01).states_velocity_to_cutoff());
        assert!(!modulator(of_2_01).acts_like(&modulator(of_2_04)), "a zone may state both");
        let others = [
            ("another amount source", [0x0102, 8, 0, 0x0502, 0]),
            ("another curve", [0x0502, 8, 0, 0, 0]),
            ("the other direction", [0x0002, 8, 0, 0, 0]),
            ("another transform", [0x0102, 8, 0, 0, 2]),
            ("another destination", [0x0102, 11, 0, 0x0d02, 0]),
        ];
        for (what, words) in others {
            assert!(!modulator(words).states_velocity_to_cutoff(), "{what}");
        }
    }
}
