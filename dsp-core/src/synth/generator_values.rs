//! The values of all generators of a voice.

use crate::soundfont::{Generator, Generators};

/// The values of all generators in the units of the file (section 8.1.3). The index is the number
/// of the generator.
pub(super) type GeneratorValues = [f32; Generator::COUNT];

/// Returns the sums of the generators of an instrument zone and of a preset zone, before modulation
/// (section 9.4).
pub(super) fn summed(instrument: &Generators, preset: &Generators) -> GeneratorValues {
    let mut sums = [0.0; Generator::COUNT];
    for ((sum, value), offset) in sums.iter_mut().zip(instrument.values()).zip(preset.values()) {
        *sum = f32::from(*value) + f32::from(*offset);
    }
    sums
}
