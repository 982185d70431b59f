//! What controllers make of a voice's generators (sections 8.2 to 8.4 and 9.5).

use super::channel::Channel;
use super::curves::{concave, convex};
use super::units::{larger, smaller};
use crate::soundfont::{
    Controller, Curve, Destination, Generator, Modulator, Source, Transform, VELOCITY_TO_CUTOFF,
};

/// The values of all generators of a voice, by number, in the units of the file.
pub(super) type Values = [f32; Generator::COUNT];

/// What a modulator can know of the note that it acts on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Note {
    /// The key that was struck, which pressure is about.
    pub(super) struck_key: u8,
    /// The key that is sounded.
    pub(super) key: u8,
    pub(super) velocity: u8,
}

/// A controller's position: which of how many.
struct Position {
    value: f32,
    count: f32,
}

impl Position {
    fn of_seven_bits(value: u8) -> Self {
        Self { value: f32::from(value), count: 128.0 }
    }

    /// The share of the way to the last position, from the first or, `negative`, from the last.
    fn share(&self, negative: bool) -> f32 {
        let share = self.value / (self.count - 1.0);
        if negative { 1.0 - share } else { share }
    }

    fn linear(&self, negative: bool, bipolar: bool) -> f32 {
        match (bipolar, negative) {
            (false, false) => self.value / self.count,
            (false, true) => (self.count - 1.0 - self.value) / self.count,
            (true, false) => 2.0 * self.value / self.count - 1.0,
            (true, true) => 1.0 - 2.0 * self.value / self.count,
        }
    }
}

/// What a source says of a note, 0 to 1 or -1 to 1. Linked sources are not asked.
fn source_value(source: &Source, note: Note, channel: &Channel) -> f32 {
    let position = match source.controller {
        Controller::None | Controller::Link => return 1.0,
        Controller::NoteOnVelocity => Position::of_seven_bits(note.velocity),
        Controller::NoteOnKey => Position::of_seven_bits(note.key),
        Controller::PolyPressure => Position::of_seven_bits(channel.key_pressure(note.struck_key)),
        Controller::ChannelPressure => Position::of_seven_bits(channel.pressure),
        Controller::PitchWheel => Position { value: f32::from(channel.bend) + 8_192.0, count: 16_384.0 },
        // In semitones over 127, so that the wheel's 12,700 cents become its range exactly.
        Controller::PitchWheelSensitivity => {
            Position { value: channel.bend_range_cents() / 100.0, count: 127.0 }
        }
        Controller::Midi(number) => Position::of_seven_bits(channel.controller(number)),
    };
    curved(source, &position)
}

fn curved(source: &Source, position: &Position) -> f32 {
    let Source { negative, bipolar, curve, .. } = *source;
    let shaped = |curve: fn(f32) -> f32| {
        let share = position.share(negative);
        if !bipolar {
            return curve(share);
        }
        let turned = 2.0 * share - 1.0;
        if turned < 0.0 { -curve(-turned) } else { curve(turned) }
    };
    match curve {
        Curve::Linear => position.linear(negative, bipolar),
        Curve::Concave => shaped(concave),
        Curve::Convex => shaped(convex),
        Curve::Switch => match (position.value >= position.count / 2.0) != negative {
            true => 1.0,
            false if bipolar => -1.0,
            false => 0.0,
        },
    }
}

/// What one modulator of a list adds to its destination.
fn output(list: &[Modulator], number: usize, note: Note, channel: &Channel) -> f32 {
    let modulator = &list[number];
    let source = match modulator.source.controller {
        // Section 8.2.1: what is linked acts like a controller of seven bits.
        Controller::Link => {
            let here = Destination::Modulator(number as u16);
            let linked = (0..list.len()).filter(|other| list[*other].destination == here);
            let sum: f32 = linked.map(|other| output(list, other, note, channel)).sum();
            curved(&modulator.source, &Position { value: sum.clamp(0.0, 127.0), count: 128.0 })
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

/// Adds what a zone's modulators say to the values of the generators.
pub(super) fn add(list: &[Modulator], note: Note, channel: &Channel, values: &mut Values) {
    for (number, modulator) in list.iter().enumerate() {
        if let Destination::Generator(generator) = modulator.destination {
            values[generator as usize] += output(list, number, note, channel);
        }
    }
}

/// What a zone's modulators add to one generator.
pub(super) fn sum(list: &[Modulator], generator: Generator, note: Note, channel: &Channel) -> f32 {
    let here = Destination::Generator(generator);
    let added = list.iter().enumerate().filter(|(_, modulator)| modulator.destination == here);
    added.map(|(number, _)| output(list, number, note, channel)).sum()
}

/// Cents that the default modulator of section 8.4.2 adds to the cutoff of a note; 0 where the zone
/// of the instrument states how velocity moves it.
pub(super) fn velocity_cutoff_cents(list: &[Modulator], note: Note, channel: &Channel) -> f32 {
    if list.iter().any(Modulator::states_velocity_to_cutoff) {
        return 0.0;
    }
    output(&[VELOCITY_TO_CUTOFF], 0, note, channel)
}

/// The least and the most that a zone's modulators add to a generator whatever controllers do: what
/// key and velocity decide, and all that anything else may take away or give.
pub(super) fn reach(list: &[Modulator], generator: Generator, note: Note, channel: &Channel) -> (f32, f32) {
    let of_note = |source: &Source| {
        matches!(source.controller, Controller::None | Controller::NoteOnVelocity | Controller::NoteOnKey)
    };
    let reach = |number: usize, modulator: &Modulator| {
        let Modulator { source, amount_source, amount, transform, .. } = modulator;
        if of_note(source) && of_note(amount_source) {
            let value = output(list, number, note, channel);
            return (value, value);
        }
        let (amount, most) = (f32::from(*amount), f32::from(*amount).abs());
        match transform {
            Transform::Absolute => (0.0, most),
            Transform::Linear if source.bipolar || amount_source.bipolar => (-most, most),
            Transform::Linear => (smaller(amount, 0.0), larger(amount, 0.0)),
        }
    };
    let here = Destination::Generator(generator);
    let added = list.iter().enumerate().filter(|(_, modulator)| modulator.destination == here);
    added.fold((0.0, 0.0), |(least, most), (number, modulator)| {
        let (low, high) = reach(number, modulator);
        (least + low, most + high)
    })
}
