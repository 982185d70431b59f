//! Blocks of audio: the block size of the engine, and the four outputs of a track.

/// Samples in a block: 256 interleaved stereo frames.
pub const BLOCK_VALUES: usize = 512;

/// Stereo frames in a block.
pub const BLOCK_FRAMES: usize = BLOCK_VALUES / 2;

/// Blocks that the tracks of an offline render process at a time, while the mix processes as many.
pub(crate) const RENDER_SPAN_BLOCKS: usize = 8;

/// Outputs of a track: left, right, reverb send and chorus send.
pub const TRACK_OUTPUTS: usize = 4;

/// Left and right of at most a block.
pub(crate) type StereoBlock = [[f32; BLOCK_FRAMES]; 2];

/// The outputs of a track for at most a block.
pub(crate) type TrackBlock = [[f32; BLOCK_FRAMES]; TRACK_OUTPUTS];

/// Whether each output of a track may hold anything but silence. An output that does not may hold
/// arbitrary values.
pub(crate) type ActiveOutputs = [bool; TRACK_OUTPUTS];

/// The outputs of a track for some frames; `None` for silence.
pub(crate) type TrackSignal<'a> = [Option<&'a [f32]>; TRACK_OUTPUTS];

/// Silence on all outputs.
pub(crate) static SILENT_BLOCK: TrackBlock = [[0.0; BLOCK_FRAMES]; TRACK_OUTPUTS];

/// The first frames of the active outputs.
pub(crate) fn track_signal(block: &TrackBlock, active: ActiveOutputs, frames: usize) -> TrackSignal<'_> {
    core::array::from_fn(|output| active[output].then(|| &block[output][..frames]))
}
