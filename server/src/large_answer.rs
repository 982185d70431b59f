//! Answers that may be large: they hold no memory while they are sent.
//!
//! A client may read an answer as slowly as it likes, as long as it reads. So a large answer lies
//! in a nameless file on the disk meanwhile, which the system removes with the connection.

use std::fs::File;
use std::io::{self, ErrorKind, Seek as _, Write as _};
use std::path::Path;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};

use crate::error::ApiResult;
use crate::fair_bytes::{FairBytes, Share};
use crate::file_answer;
use crate::state::AppState;

/// Longest answer that is sent from memory, in bytes.
const IN_MEMORY_MAX_BYTES: usize = 64 * 1024;

/// Bytes of all large answers together that lie on the disk, and in memory where the disk is full.
const ON_DISK_MAX_BYTES: u64 = 2 * 1024 * 1024 * 1024;
const ON_FULL_DISK_MAX_BYTES: u64 = 128 * 1024 * 1024;

/// Bytes of all sounds together that lie on the disk while they are sent.
const SOUNDS_MAX_BYTES: u64 = 8 * 1024 * 1024 * 1024;

/// Bytes that are sent from memory at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// How many bytes of large answers there may be.
#[derive(Debug)]
pub(crate) struct LargeAnswers {
    on_disk: FairBytes,
    in_memory: FairBytes,
    sounds: FairBytes,
}

impl Default for LargeAnswers {
    fn default() -> Self {
        let what = "large answers";
        Self {
            on_disk: FairBytes::new(what, ON_DISK_MAX_BYTES),
            in_memory: FairBytes::new(what, ON_FULL_DISK_MAX_BYTES),
            sounds: FairBytes::new("sounds", SOUNDS_MAX_BYTES),
        }
    }
}

/// An answer to `user_id` with these bytes. Blocks.
///
/// # Errors
/// 503 `busy` where too many large answers are being sent; when the disk cannot be written.
pub(crate) fn answer(
    state: &AppState,
    user_id: &str,
    media_type: &'static str,
    bytes: impl Into<Bytes>,
) -> ApiResult<Response> {
    let bytes = bytes.into();
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    if bytes.len() <= IN_MEMORY_MAX_BYTES {
        return Ok(([kind], bytes).into_response());
    }
    let length = bytes.len() as u64;
    let share = |all: &FairBytes| -> ApiResult<Share> {
        let mut share = all.share(user_id);
        share.grow(length)?;
        Ok(share)
    };
    let on_disk = share(&state.large_answers.on_disk)?;
    let body = match nameless_file(&state.config.storage.dir, &bytes) {
        Ok(file) => from_disk(file, length, on_disk),
        // A song can be read and saved elsewhere even then.
        Err(error) if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
            from_memory(bytes, share(&state.large_answers.in_memory)?)
        }
        Err(error) => return Err(error.into()),
    };
    Ok(([kind, (header::CONTENT_LENGTH, HeaderValue::from(length))], body).into_response())
}

/// An answer to `user_id` with the sound in this file, which has no name. Blocks.
///
/// # Errors
/// 503 `busy` where too many sounds are being sent; when the disk cannot be read.
pub(crate) fn sound(
    state: &AppState,
    user_id: &str,
    media_type: &'static str,
    mut file: File,
) -> ApiResult<Response> {
    let length = file.metadata()?.len();
    let mut share = state.large_answers.sounds.share(user_id);
    share.grow(length)?;
    file.rewind()?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_LENGTH, HeaderValue::from(length)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, from_disk(file, length, share)).into_response())
}

/// A file with these bytes that has no name.
fn nameless_file(folder: &Path, bytes: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

fn from_disk(file: File, length: u64, share: Share) -> Body {
    let pieces = file_answer::pieces(file, length).map(move |piece| {
        // Counted until the last piece was asked for, or the client has gone.
        let _counted = &share;
        piece
    });
    Body::from_stream(pieces)
}

fn from_memory(bytes: Bytes, share: Share) -> Body {
    Body::from_stream(stream::unfold((bytes, share), |(mut rest, share)| async move {
        let piece = rest.split_to(rest.len().min(PIECE_BYTES));
        // A copy, since a part of the whole keeps the whole in memory.
        let piece = (!piece.is_empty()).then(|| Bytes::copy_from_slice(&piece))?;
        Some((Ok::<_, io::Error>(piece), (rest, share)))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ApiError;
    use crate::test_app::TestApp;

    #[tokio::test]
    async fn sounds_that_nobody_reads_fill_no_disk() {
        let app = TestApp::start().await;
        let send = |user_id: &str| {
            let file = tempfile::tempfile().expect("a file");
            // Nothing of it is written.
            file.set_len(SOUNDS_MAX_BYTES / 2 - 1).expect("sets");
            sound(&app.state, user_id, "audio/wav", file)
        };
        let first = send("ada").expect("fits");
        assert_eq!(first.headers()[header::CONTENT_LENGTH], (SOUNDS_MAX_BYTES / 2 - 1).to_string());
        let refusal = send("ada").expect_err("she has half of all");
        assert!(matches!(refusal, ApiError::Busy { .. }), "{refusal}");
        drop(first);
        send("ada").expect("there is room again");
    }

    #[tokio::test]
    async fn both_ways_send_every_byte() {
        let folder = tempfile::tempdir().expect("a folder");
        let bytes: Vec<u8> = (0..3 * PIECE_BYTES + 7).map(|at| at as u8).collect();
        let all = FairBytes::new("tests", 10);
        let file = nameless_file(folder.path(), &bytes).expect("writes");
        assert_eq!(std::fs::read_dir(folder.path()).expect("reads").count(), 0, "it has a name");
        let length = bytes.len() as u64;
        for body in
            [from_disk(file, length, all.share("a")), from_memory(bytes.clone().into(), all.share("a"))]
        {
            let sent = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
            assert_eq!(sent, bytes);
        }
    }
}
