//! Block size of the engine, and blocks of a track's four outputs.

/// Number of samples in a block: 256 interleaved stereo frames.
pub const BLOCK_VALUES: usize = 512;

/// Number of stereo frames in a block.
pub const BLOCK_FRAMES: usize = BLOCK_VALUES / 2;

/// Number of blocks that the tracks of an offline render process at a time. Meanwhile the mix
/// processes the same number of earlier blocks.
pub(crate) const RENDER_SPAN_BLOCKS: usize = 32;

/// Number of outputs of a track: left, right, reverb send and chorus send.
pub const TRACK_OUTPUTS: usize = 4;

/// Left and right channel of one block or less.
pub(crate) type StereoBlock = [[f32; BLOCK_FRAMES]; 2];

/// The outputs of a track for one block or less.
pub(crate) type TrackBlock = [[f32; BLOCK_FRAMES]; TRACK_OUTPUTS];

/// Whether each output of a track is active. An inactive output is silent, and its values must not
/// be read.
pub(crate) type ActiveOutputs = [bool; TRACK_OUTPUTS];

/// The outputs of a track for a number of frames; `None` for a silent output.
pub(crate) type TrackSignal<'a> = [Option<&'a [f32]>; TRACK_OUTPUTS];

/// Silence on all outputs.
pub(crate) static SILENT_BLOCK: TrackBlock = [[0.0; BLOCK_FRAMES]; TRACK_OUTPUTS];

/// Returns the first `frames` frames of the active outputs.
pub(crate) fn track_signal(
    block: &TrackBlock,
    active_outputs: ActiveOutputs,
    frames: usize,
) -> TrackSignal<'_> {
    core::array::from_fn(|output| active_outputs[output].then(|| &block[output][..frames]))
}
