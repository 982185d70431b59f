//! Clips: parts of audio files on a track.

/// A part of an audio file, placed at a position in the session.
///
/// Overlapping clips are summed. Fades are linear in gain. If the fade-in and the fade-out of a
/// clip overlap, their gains are multiplied.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Clip {
    /// Position of the first frame, in frames from the start of the session.
    pub frame: u64,
    /// Offset of the first frame in the source, in frames.
    pub offset_frames: u64,
    /// Length in frames. If the clip is not looped, it is silent after the end of the source.
    pub length_frames: u64,
    /// Linear gain of the clip, without its fades.
    pub gain: f32,
    /// Length of the fade-in, in frames.
    pub fade_in_frames: u64,
    /// Length of the fade-out, in frames. It ends where the clip or its source ends.
    pub fade_out_frames: u64,
    /// Whether the source is repeated from `offset_frames` after it has ended.
    pub looped: bool,
    /// Index of the source in the audio slots of the session.
    pub audio_slot: u32,
}
