//! Sizes of the chunks and groups in which voices are rendered.

/// Maximum number of frames that a voice renders at a time.
pub(super) const CHUNK_FRAMES: usize = 128;

/// The mono signal of a voice for at most [`CHUNK_FRAMES`] frames.
pub(super) type Chunk = [f32; CHUNK_FRAMES];

/// Number of voices in a group. The voices of a group are rendered and filtered together.
pub(super) const GROUP_VOICES: usize = 16;
