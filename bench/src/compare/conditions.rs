//! What notes are played with: a velocity, and what NRPNs add to generators in each synthesizer.

use super::notes::Note;

/// What an NRPN adds to a generator (SoundFont section 9.6): its number and the amount in its own
/// unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Offset {
    pub(crate) generator: u8,
    pub(crate) amount: i32,
}

impl Offset {
    /// The controllers that tell it, in order. FluidSynth takes the data with their upper part,
    /// which so comes last.
    pub(crate) fn controllers(self) -> [(u8, u8); 4] {
        /// An NRPN's data that changes nothing.
        const CENTRE: i32 = 8_192;
        let data = (CENTRE + self.amount / data_unit(self.generator)).clamp(0, 16_383);
        [(99, 120), (98, self.generator), (38, (data & 127) as u8), (6, (data >> 7) as u8)]
    }
}

/// What one step of an NRPN's data is worth (section 9.6.2).
fn data_unit(generator: u8) -> i32 {
    match generator {
        5..=8 | 10 | 11 | 21 | 23 | 25..=28 | 30 | 33..=36 | 38 => 2,
        22 | 24 => 4,
        _ => 1,
    }
}

/// What notes are played with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Conditions {
    pub(crate) velocity: u8,
    /// Offsets in our engine.
    pub(crate) ours: Vec<Offset>,
    /// Offsets in FluidSynth.
    pub(crate) theirs: Vec<Offset>,
    /// Whether FluidSynth is tuned up by the least step there is, [`NUDGE`].
    pub(crate) theirs_nudged: bool,
}

/// Controllers that tune up by the least step of the registered parameter 1, an 82nd of a cent.
pub(crate) const NUDGE: [(u8, u8); 4] = [(101, 0), (100, 1), (38, 1), (6, 64)];

impl Conditions {
    /// Controllers that both are told after the usual ones: ours, then FluidSynth's.
    pub(crate) fn controllers(&self) -> [Vec<(u8, u8)>; 2] {
        let of = |offsets: &[Offset]| offsets.iter().flat_map(|offset| offset.controllers()).collect();
        let (ours, mut theirs): (_, Vec<_>) = (of(&self.ours), of(&self.theirs));
        if self.theirs_nudged {
            theirs.extend(NUDGE);
        }
        [ours, theirs]
    }

    /// Notes of a velocity, with nothing added.
    pub(crate) fn plain(velocity: u8) -> Self {
        Self { velocity, ours: Vec::new(), theirs: Vec::new(), theirs_nudged: false }
    }
}

/// A note in certain conditions.
pub(crate) type Trial = (Conditions, Note);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_centred_and_split() {
        let data = |generator, amount| {
            let [_, select, low, high] = Offset { generator, amount }.controllers();
            assert_eq!(select, (98, generator));
            i32::from(high.1) * 128 + i32::from(low.1) - 8_192
        };
        assert_eq!(data(9, -960), -960, "the resonance counts single centibels");
        assert_eq!(data(8, -506), -253, "the cut-off counts pairs of cents");
        assert_eq!(data(21, 99_999), 8_191, "no further than 14 bits");
    }
}
