//! The one block size of the engine.

/// Values in a block: 256 stereo frames, interleaved.
pub const BLOCK_VALUES: usize = 512;

/// Stereo frames in a block.
pub const BLOCK_FRAMES: usize = BLOCK_VALUES / 2;
