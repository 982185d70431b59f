//! Clips: recorded audio on a track.

/// A part of an audio file at a position of the session.
///
/// Clips that overlap are summed. Fades are linear in gain; where two fades overlap, their gains
/// multiply.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Clip {
    /// Position of the first frame, in frames from the start of the session.
    pub frame: u64,
    /// Offset of the first frame in the source, in frames.
    pub offset_frames: u64,
    /// Length in frames. Frames after the end of the source are silent unless the clip is looped.
    pub length_frames: u64,
    /// Linear gain.
    pub gain: f32,
    /// Length of the fade-in, in frames.
    pub fade_in_frames: u64,
    /// Length of the fade-out, in frames; it ends where the clip's audio ends.
    pub fade_out_frames: u64,
    /// Whether the source starts again at `offset_frames` when it ends.
    pub looped: bool,
    /// Index of the source in the audio slots of the session.
    pub audio_slot: u32,
}
