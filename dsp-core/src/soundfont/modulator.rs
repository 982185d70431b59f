//! Modulators, which change generators by controllers (sections 7.4 and 8.2 to 8.4).

use super::generator::Generator;

/// A modulator. It multiplies `amount` by the values of `source` and `amount_source`, applies
/// `transform` to the product, and adds the result to the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Modulator {
    pub(crate) source: Source,
    pub(crate) amount_source: Source,
    pub(crate) destination: Destination,
    /// Amount in the units of the destination.
    pub(crate) amount: i16,
    pub(crate) transform: Transform,
}

impl Modulator {
    /// Whether the two modulators have the same sources and the same transform.
    pub(super) fn has_same_operators(&self, modulator: &Self) -> bool {
        self.source == modulator.source
            && self.amount_source == modulator.amount_source
            && self.transform == modulator.transform
    }
}

/// A controller and its curve (section 8.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) controller: Controller,
    /// Whether the value falls when the controller rises (the direction bit).
    pub(crate) is_negative: bool,
    /// Whether the value ranges from -1 to 1 instead of 0 to 1 (the polarity bit).
    pub(crate) is_bipolar: bool,
    pub(crate) curve: Curve,
}

/// The controller of a source (section 8.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    /// No controller: the value is 1.
    None,
    NoteOnVelocity,
    NoteOnKey,
    PolyPressure,
    ChannelPressure,
    PitchWheel,
    PitchWheelSensitivity,
    /// The sum of the modulators that have this modulator as their destination.
    Link,
    /// The MIDI controller with this number.
    Midi(u8),
}

/// The curve of a source (section 8.2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Curve {
    Linear,
    Concave,
    Convex,
    Switch,
}

/// The destination of a modulator (section 7.4, sfModDestOper).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A generator. The "Initial Pitch" of section 8.4.10 has no generator in the file. It is
    /// [`Generator::FineTune`] here, and the range of that generator does not limit the sum.
    Generator(Generator),
    /// The modulator with this index in the zone's list.
    Modulator(u16),
}

/// The transform of the product of amount and sources (section 8.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transform {
    Linear,
    Absolute,
}

impl Source {
    /// A source without a controller, whose value is always 1.
    pub(super) const NONE: Self =
        Self { controller: Controller::None, is_negative: false, is_bipolar: false, curve: Curve::Linear };
}
