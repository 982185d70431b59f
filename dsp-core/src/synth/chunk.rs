//! Sizes in which voices are computed.

/// Maximum number of frames that a voice computes at a time.
pub(super) const CHUNK_FRAMES: usize = 128;

/// The mono signal of a voice for at most [`CHUNK_FRAMES`] frames.
pub(super) type Chunk = [f32; CHUNK_FRAMES];

/// Number of voices in a group, which shares chunks and filters its voices together.
pub(super) const GROUP_VOICES: usize = 16;
