//! Limits the length of songs.

use dsp_core::session::Session;

use super::RenderError;

/// Maximum length of a song without its tail, in seconds: a day.
const SONG_MAX_SECS: u64 = 24 * 60 * 60;

/// Refuses a song that is too long to be rendered.
///
/// # Errors
/// [`RenderError::TooLong`].
pub(crate) fn check_length(session: &Session) -> Result<(), RenderError> {
    check_secs(session.length_frames / u64::from(session.sample_rate_hz))
}

/// Refuses a part of a song that ends too late to be rendered. `song_secs` is its end in seconds.
///
/// # Errors
/// [`RenderError::TooLong`].
pub(super) fn check_secs(song_secs: u64) -> Result<(), RenderError> {
    match song_secs <= SONG_MAX_SECS {
        true => Ok(()),
        false => Err(RenderError::TooLong { song_secs, limit_secs: SONG_MAX_SECS }),
    }
}
