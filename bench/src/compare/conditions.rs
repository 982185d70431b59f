//! The conditions of a note: its velocity, and the generator offsets that NRPNs set in each
//! synthesizer.

use super::notes::Note;

/// An offset of a generator by NRPN (SoundFont section 9.6), in the generator's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Offset {
    pub(crate) generator: u8,
    pub(crate) amount: i32,
}

impl Offset {
    /// Returns the controller messages that set this offset. The data MSB comes last, because
    /// FluidSynth applies the NRPN when it receives the MSB.
    pub(crate) fn controllers(self) -> [(u8, u8); 4] {
        /// The NRPN data value of a zero offset.
        const CENTRE: i32 = 8_192;
        let data = (CENTRE + self.amount / data_unit(self.generator)).clamp(0, 16_383);
        [(99, 120), (98, self.generator), (38, (data & 127) as u8), (6, (data >> 7) as u8)]
    }
}

/// Returns the number of generator units per step of NRPN data (section 9.6.2).
fn data_unit(generator: u8) -> i32 {
    match generator {
        5..=8 | 10 | 11 | 21 | 23 | 25..=28 | 30 | 33..=36 | 38 => 2,
        22 | 24 => 4,
        _ => 1,
    }
}

/// Conditions under which notes are played.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Conditions {
    pub(crate) velocity: u8,
    /// Generator offsets in our engine.
    pub(crate) our_offsets: Vec<Offset>,
    /// Generator offsets in FluidSynth.
    pub(crate) their_offsets: Vec<Offset>,
    /// Whether FluidSynth is tuned up by its smallest step, [`FINE_TUNING`].
    pub(crate) theirs_fine_tuned: bool,
}

/// Controllers that tune up by the smallest step of registered parameter 1, 1/82 cent.
pub(crate) const FINE_TUNING: [(u8, u8); 4] = [(101, 0), (100, 1), (38, 1), (6, 64)];

impl Conditions {
    /// Returns the additional controllers for our engine, and those for FluidSynth.
    pub(crate) fn controllers(&self) -> [Vec<(u8, u8)>; 2] {
        let generator_controllers =
            |offsets: &[Offset]| offsets.iter().flat_map(|offset| offset.controllers()).collect();
        let (our_offsets, mut their_offsets): (_, Vec<_>) =
            (generator_controllers(&self.our_offsets), generator_controllers(&self.their_offsets));
        if self.theirs_fine_tuned {
            their_offsets.extend(FINE_TUNING);
        }
        [our_offsets, their_offsets]
    }

    /// Returns conditions without offsets.
    pub(crate) fn without_offsets(velocity: u8) -> Self {
        Self { velocity, our_offsets: Vec::new(), their_offsets: Vec::new(), theirs_fine_tuned: false }
    }
}

/// A note and its conditions.
pub(crate) type Trial = (Conditions, Note);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_becomes_a_14_bit_value_around_the_centre() {
        let data = |generator, amount| {
            let [_, select, low, high] = Offset { generator, amount }.controllers();
            assert_eq!(select, (98, generator));
            i32::from(high.1) * 128 + i32::from(low.1) - 8_192
        };
        assert_eq!(data(9, -960), -960, "the unit of the resonance is 1 centibel");
        assert_eq!(data(8, -506), -253, "the unit of the cutoff is 2 cents");
        assert_eq!(data(21, 99_999), 8_191, "the value is limited to 14 bits");
    }
}
