//! Evaluates the modulators of a voice (sections 8.2 to 8.4 and 9.5).

use super::channel::Channel;
use super::curves::{concave, convex};
use super::generator_values::GeneratorValues;
use super::units::{higher, lower};
use crate::soundfont::{
    Controller, Curve, Destination, Generator, Modulator, Source, Transform, VELOCITY_TO_CUTOFF,
};

/// The properties of a note that modulators read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Note {
    /// The key that was pressed. Key pressure refers to it.
    pub(super) pressed_key: u8,
    /// The key that the zone plays. It differs if the zone has a fixed key.
    pub(super) key: u8,
    pub(super) velocity: u8,
}

/// The value of a controller and the number of its possible values.
struct ControllerValue {
    value: f32,
    value_count: f32,
}

impl ControllerValue {
    fn of_seven_bits(value: u8) -> Self {
        Self { value: f32::from(value), value_count: 128.0 }
    }

    /// Returns the value as a fraction of the maximum. `is_negative` reverses the direction.
    fn fraction(&self, is_negative: bool) -> f32 {
        let fraction = self.value / (self.value_count - 1.0);
        if is_negative { 1.0 - fraction } else { fraction }
    }

    /// Applies the linear curve.
    fn linear(&self, is_negative: bool, is_bipolar: bool) -> f32 {
        match (is_bipolar, is_negative) {
            (false, false) => self.value / self.value_count,
            (false, true) => (self.value_count - 1.0 - self.value) / self.value_count,
            (true, false) => 2.0 * self.value / self.value_count - 1.0,
            (true, true) => 1.0 - 2.0 * self.value / self.value_count,
        }
    }
}

/// Returns the value of a source, 0 to 1 or -1 to 1. [`output`] computes the values of links, which
/// are 1 here.
fn source_value(source: &Source, note: Note, channel: &Channel) -> f32 {
    let value = match source.controller {
        Controller::None | Controller::Link => return 1.0,
        Controller::NoteOnVelocity => ControllerValue::of_seven_bits(note.velocity),
        Controller::NoteOnKey => ControllerValue::of_seven_bits(note.key),
        Controller::PolyPressure => ControllerValue::of_seven_bits(channel.key_pressure(note.pressed_key)),
        Controller::ChannelPressure => ControllerValue::of_seven_bits(channel.pressure),
        Controller::PitchWheel => {
            ControllerValue { value: f32::from(channel.pitch_bend) + 8_192.0, value_count: 16_384.0 }
        }
        // The value is in semitones, out of 127. The default modulator of the pitch wheel has an
        // amount of 12,700 cents, and thus bends by exactly the bend range.
        Controller::PitchWheelSensitivity => {
            ControllerValue { value: channel.bend_range_cents() / 100.0, value_count: 127.0 }
        }
        Controller::Midi(number) => ControllerValue::of_seven_bits(channel.controller(number)),
    };
    curve_value(source, &value)
}

/// Applies the curve of a source (section 9.5).
fn curve_value(source: &Source, value: &ControllerValue) -> f32 {
    let Source { is_negative, is_bipolar, curve, .. } = *source;
    let apply = |curve: fn(f32) -> f32| {
        let fraction = value.fraction(is_negative);
        if !is_bipolar {
            return curve(fraction);
        }
        let signed_fraction = 2.0 * fraction - 1.0;
        if signed_fraction < 0.0 { -curve(-signed_fraction) } else { curve(signed_fraction) }
    };
    match curve {
        Curve::Linear => value.linear(is_negative, is_bipolar),
        Curve::Concave => apply(concave),
        Curve::Convex => apply(convex),
        Curve::Switch => match (value.value >= value.value_count / 2.0) != is_negative {
            true => 1.0,
            false if is_bipolar => -1.0,
            false => 0.0,
        },
    }
}

/// Returns the output of the modulator at an index of a zone's list.
fn output(list: &[Modulator], index: usize, note: Note, channel: &Channel) -> f32 {
    let modulator = &list[index];
    let source = match modulator.source.controller {
        // Section 8.2.1, source 127: the sum of the linked modulators acts like a controller of
        // seven bits.
        Controller::Link => {
            let link = Destination::Modulator(index as u16);
            let linked_indices = (0..list.len()).filter(|candidate| list[*candidate].destination == link);
            let sum: f32 = linked_indices.map(|index| output(list, index, note, channel)).sum();
            let value = ControllerValue { value: sum.clamp(0.0, 127.0), value_count: 128.0 };
            curve_value(&modulator.source, &value)
        }
        _ => source_value(&modulator.source, note, channel),
    };
    if source == 0.0 {
        return 0.0;
    }
    let product =
        f32::from(modulator.amount) * source * source_value(&modulator.amount_source, note, channel);
    match modulator.transform {
        Transform::Linear => product,
        Transform::Absolute => product.abs(),
    }
}

/// Adds the outputs of a zone's modulators to the generator values.
pub(super) fn add_outputs(list: &[Modulator], note: Note, channel: &Channel, values: &mut GeneratorValues) {
    for (index, modulator) in list.iter().enumerate() {
        if let Destination::Generator(generator) = modulator.destination {
            values[generator as usize] += output(list, index, note, channel);
        }
    }
}

/// Returns the sum of the outputs of a zone's modulators to one generator.
pub(super) fn sum_of_outputs(list: &[Modulator], generator: Generator, note: Note, channel: &Channel) -> f32 {
    let destination = Destination::Generator(generator);
    let modulators = list.iter().enumerate().filter(|(_, modulator)| modulator.destination == destination);
    modulators.map(|(index, _)| output(list, index, note, channel)).sum()
}

/// Returns the cutoff offset in cents of the default modulator of section 8.4.2. It is 0 if a
/// modulator of the instrument zone specifies how velocity changes the cutoff.
pub(super) fn velocity_cutoff_cents(list: &[Modulator], note: Note, channel: &Channel) -> f32 {
    if list.iter().any(Modulator::states_velocity_to_cutoff) {
        return 0.0;
    }
    output(&[VELOCITY_TO_CUTOFF], 0, note, channel)
}

/// Returns the minimum and the maximum that a zone's modulators can add to a generator. Key and
/// velocity are those of the note. All other controllers may have any value.
pub(super) fn bounds(list: &[Modulator], generator: Generator, note: Note, channel: &Channel) -> (f32, f32) {
    let is_fixed = |source: &Source| {
        matches!(source.controller, Controller::None | Controller::NoteOnVelocity | Controller::NoteOnKey)
    };
    let bounds_of = |index: usize, modulator: &Modulator| {
        let Modulator { source, amount_source, amount, transform, .. } = modulator;
        if is_fixed(source) && is_fixed(amount_source) {
            let value = output(list, index, note, channel);
            return (value, value);
        }
        let (amount, max) = (f32::from(*amount), f32::from(*amount).abs());
        match transform {
            Transform::Absolute => (0.0, max),
            Transform::Linear if source.is_bipolar || amount_source.is_bipolar => (-max, max),
            Transform::Linear => (lower(amount, 0.0), higher(amount, 0.0)),
        }
    };
    let destination = Destination::Generator(generator);
    let modulators = list.iter().enumerate().filter(|(_, modulator)| modulator.destination == destination);
    modulators.fold((0.0, 0.0), |(min, max), (index, modulator)| {
        let (low, high) = bounds_of(index, modulator);
        (min + low, max + high)
    })
}
