//! Reads and writes the modulator records of a file (section 7.4).

use super::generator::Generator;
use super::modulator::{Controller, Curve, Destination, Modulator, Source, Transform};
use super::records::u16_at;
use super::skipped::BankIssueReason;

/// The destination of a modulator in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Generator(Generator),
    /// A modulator. The number is its index among the modulators of the same zone in the file.
    Link(u16),
}

/// Bit of sfModDestOper that marks a modulator as destination (section 7.4).
const LINK_BIT: u16 = 0x8000;

/// Reads a modulator record. If the target is a link, `destination` holds the index in the file,
/// not the index in the complete list.
pub(super) fn read(record: &[u8; 10]) -> Result<(Modulator, Target), BankIssueReason> {
    let [source, destination, amount, amount_source, transform] =
        [0, 2, 4, 6, 8].map(|offset| u16_at(record, offset));
    let target = match destination {
        link if link & LINK_BIT != 0 => Target::Link(link & !LINK_BIT),
        number => match Generator::from_number(number) {
            Some(generator) if generator.can_be_modulated() => Target::Generator(generator),
            _ => return Err(BankIssueReason::ModulatorDestination(number)),
        },
    };
    let transform = match transform {
        0 => Transform::Linear,
        2 => Transform::Absolute,
        unknown => return Err(BankIssueReason::ModulatorTransform(unknown)),
    };
    let amount_source = match Source::read(amount_source)? {
        // Only the main source can be a link (section 8.2.1, number 127).
        Source { controller: Controller::Link, .. } => {
            return Err(BankIssueReason::ModulatorSource(amount_source));
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
    /// Returns the record for a file. If the destination is a modulator, its number must be the
    /// index in the written zone.
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
        for (bytes, word) in record.as_chunks_mut::<2>().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        record
    }
}

impl Source {
    /// Returns the bits of sfModSrcOper or sfModAmtSrcOper.
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
        controller | u16::from(self.is_negative) << 8 | u16::from(self.is_bipolar) << 9 | curve << 10
    }

    /// Converts the bits of sfModSrcOper or sfModAmtSrcOper to a source.
    fn read(bits: u16) -> Result<Self, BankIssueReason> {
        let index = (bits & 0x7f) as u8;
        let is_midi = bits & 0x80 != 0;
        let controller = match (is_midi, index) {
            // Without a controller the value is 1, whatever the other bits are.
            (false, 0) => return Ok(Self::NONE),
            (false, 2) => Controller::NoteOnVelocity,
            (false, 3) => Controller::NoteOnKey,
            (false, 10) => Controller::PolyPressure,
            (false, 13) => Controller::ChannelPressure,
            (false, 14) => Controller::PitchWheel,
            (false, 16) => Controller::PitchWheelSensitivity,
            (false, 127) => Controller::Link,
            // Section 8.2.1: bank select, data entry, (N)RPN and channel modes cannot be sources.
            (true, 0 | 6 | 32 | 38 | 98..=101 | 120..) | (false, _) => {
                return Err(BankIssueReason::ModulatorSource(bits));
            }
            (true, _) => Controller::Midi(index),
        };
        let curve = match bits >> 10 {
            0 => Curve::Linear,
            1 => Curve::Concave,
            2 => Curve::Convex,
            3 => Curve::Switch,
            _ => return Err(BankIssueReason::ModulatorSource(bits)),
        };
        Ok(Self { controller, is_negative: bits & 0x100 != 0, is_bipolar: bits & 0x200 != 0, curve })
    }
}
