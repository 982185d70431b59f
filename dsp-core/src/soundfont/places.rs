//! Where in its wave a zone plays a sample.

use super::generators::{Generator, Generators};
use super::samples::Sample;

/// The generators that move an end of a sample or of its loop: fine, coarse.
pub(crate) const OFFSETS: [(Generator, Generator); 4] = [
    (Generator::StartAddrsOffset, Generator::StartAddrsCoarseOffset),
    (Generator::EndAddrsOffset, Generator::EndAddrsCoarseOffset),
    (Generator::StartloopAddrsOffset, Generator::StartloopAddrsCoarseOffset),
    (Generator::EndloopAddrsOffset, Generator::EndloopAddrsCoarseOffset),
];

/// Frames of a coarse offset's unit (section 8.1.2, number 4).
pub(crate) const COARSE_FRAMES: i64 = 32_768;

/// The header's places that [`OFFSETS`] move.
pub(super) fn places(sample: &Sample) -> [u32; 4] {
    [sample.start, sample.end, sample.loop_start, sample.loop_end]
}

/// How far a zone moves them.
pub(super) fn offsets(generators: &Generators) -> [i64; 4] {
    OFFSETS.map(|(fine, coarse)| {
        i64::from(generators.get(fine)) + COARSE_FRAMES * i64::from(generators.get(coarse))
    })
}

/// The places of a sample as a zone moves them, in a wave of so many frames.
pub(crate) fn moved(sample: &Sample, generators: &Generators, wave_frames: i64) -> [i64; 4] {
    let (places, offsets) = (places(sample), offsets(generators));
    core::array::from_fn(|end| (i64::from(places[end]) + offsets[end]).clamp(0, wave_frames))
}

/// First frame and end of what a zone can play of a wave, the sample itself included. Modulators
/// and NRPNs move places within it, so that a smaller bank, which holds these frames alone, plays
/// the same.
pub(crate) fn reach(sample: &Sample, moved: &[i64; 4]) -> [i64; 2] {
    let used = if sample.loop_ok { &moved[..] } else { &moved[..2] };
    let all = used.iter().copied().chain([sample.start.into(), sample.end.into()]);
    all.fold([i64::MAX, 0], |[start, end], place| [start.min(place), end.max(place)])
}
