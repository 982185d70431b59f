//! Positions of a sample, with the offsets from the generators of a zone.

use super::generator::Generator;
use super::generators::Generators;
use super::samples::Sample;

/// The generators with the fine and the coarse offset of start, end, loop start and loop end
/// (section 8.1.2, numbers 0 to 4, 12, 45 and 50).
pub(crate) const OFFSET_GENERATORS: [(Generator, Generator); 4] = [
    (Generator::StartAddrsOffset, Generator::StartAddrsCoarseOffset),
    (Generator::EndAddrsOffset, Generator::EndAddrsCoarseOffset),
    (Generator::StartloopAddrsOffset, Generator::StartloopAddrsCoarseOffset),
    (Generator::EndloopAddrsOffset, Generator::EndloopAddrsCoarseOffset),
];

/// Number of frames per unit of a coarse offset (section 8.1.2, number 4).
pub(crate) const COARSE_FRAMES: i64 = 32_768;

/// Returns start, end, loop start and loop end from the header of a sample, in frames.
pub(super) fn header_positions(sample: &Sample) -> [u32; 4] {
    [sample.start, sample.end, sample.loop_start, sample.loop_end]
}

/// Returns the offsets in frames that a zone adds to [`header_positions`].
pub(super) fn zone_offsets(generators: &Generators) -> [i64; 4] {
    OFFSET_GENERATORS.map(|(fine, coarse)| {
        i64::from(generators.get(fine)) + COARSE_FRAMES * i64::from(generators.get(coarse))
    })
}

/// Returns start, end, loop start and loop end of a sample with the offsets of a zone, clamped to a
/// wave of `wave_frames` frames.
pub(crate) fn offset_positions(sample: &Sample, generators: &Generators, wave_frames: i64) -> [i64; 4] {
    let (positions, offsets) = (header_positions(sample), zone_offsets(generators));
    core::array::from_fn(|index| (i64::from(positions[index]) + offsets[index]).clamp(0, wave_frames))
}

/// Returns the first frame and the exclusive end of the part of a wave that a zone can play. The
/// part includes the sample itself.
///
/// Modulators and NRPNs cannot move positions out of this part. A reduced bank holds only these
/// frames, and therefore sounds the same.
pub(crate) fn playable_range(sample: &Sample, positions: &[i64; 4]) -> [i64; 2] {
    let used_positions = if sample.is_loop_valid { &positions[..] } else { &positions[..2] };
    let bounds = used_positions.iter().copied().chain([sample.start.into(), sample.end.into()]);
    bounds.fold([i64::MAX, 0], |[start, end], position| [start.min(position), end.max(position)])
}
