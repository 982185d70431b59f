//! Answers that may be large: they hold no memory while they are sent.
//!
//! A client may read an answer as slowly as it likes, as long as it reads. So a large answer lies
//! in a nameless file on the disk meanwhile, which the system removes with the connection. The
//! reserve of the disk stays free for what is stored: then answers come from memory.

use std::fs::File;
use std::io::{self, ErrorKind, Seek as _, Write as _};

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};

use crate::error::ApiResult;
use crate::fair_bytes::{FairBytes, Share};
use crate::file_answer;
use crate::state::AppState;
use crate::storage::has_room;

/// Longest answer that is sent from memory, in bytes.
pub(crate) const IN_MEMORY_MAX_BYTES: usize = 64 * 1024;

/// Bytes of all large answers together that lie on the disk, and in memory where the disk is full.
const ON_DISK_MAX_BYTES: u64 = 2 * 1024 * 1024 * 1024;
const ON_FULL_DISK_MAX_BYTES: u64 = 128 * 1024 * 1024;

/// Bytes of all sounds and bundles together that lie on the disk while they are sent.
const PASSING_FILES_MAX_BYTES: u64 = 8 * 1024 * 1024 * 1024;

/// Bytes that are sent from memory at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// How many bytes of large answers there may be.
#[derive(Debug)]
pub(crate) struct LargeAnswers {
    on_disk: FairBytes,
    in_memory: FairBytes,
    /// Sounds and bundles, which are made for one answer.
    passing_files: FairBytes,
}

impl LargeAnswers {
    /// What a file of `bytes` bytes counts that is made for one answer to `user_id`.
    ///
    /// # Errors
    /// 503 `busy` where too many are being sent.
    pub(crate) fn passing_file(&self, user_id: &str, bytes: u64) -> ApiResult<Share> {
        let mut share = self.passing_files.share(user_id);
        share.grow(bytes)?;
        Ok(share)
    }
}

impl Default for LargeAnswers {
    fn default() -> Self {
        let what = "large answers";
        Self {
            on_disk: FairBytes::new(what, ON_DISK_MAX_BYTES),
            in_memory: FairBytes::new(what, ON_FULL_DISK_MAX_BYTES),
            passing_files: FairBytes::new("sounds and bundles", PASSING_FILES_MAX_BYTES),
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
    let body = match nameless_file(state, &bytes) {
        Ok(file) => file_answer::counted(file, length, on_disk),
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
    let share = state.large_answers.passing_file(user_id, length)?;
    file.rewind()?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_LENGTH, HeaderValue::from(length)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, file_answer::counted(file, length, share)).into_response())
}

/// A file in the storage folder with these bytes that has no name. Nothing is deleted for it: the
/// disk is full where the reserve begins.
fn nameless_file(state: &AppState, bytes: &[u8]) -> io::Result<File> {
    let folder = &state.config.storage.dir;
    if !has_room(state, folder, bytes.len() as u64) {
        return Err(ErrorKind::StorageFull.into());
    }
    let mut file = tempfile::tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

fn from_memory(bytes: Bytes, share: Share) -> Body {
    let pieces = stream::unfold((bytes, share), |(mut rest, share)| async move {
        let piece = rest.split_to(rest.len().min(PIECE_BYTES));
        // A copy, since a part of the whole keeps the whole in memory.
        let piece = (!piece.is_empty()).then(|| Bytes::copy_from_slice(&piece))?;
        Some((Ok::<_, io::Error>(piece), (rest, share)))
    });
    // Compression asks again after the end.
    Body::from_stream(pieces.fuse())
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;
    use crate::error::ApiError;
    use crate::test_app::TestApp;

    #[tokio::test]
    async fn sounds_that_nobody_reads_fill_no_disk() {
        let app = TestApp::start().await;
        let send = |user_id: &str| {
            let file = tempfile::tempfile().expect("a file");
            // Nothing of it is written.
            file.set_len(PASSING_FILES_MAX_BYTES / 2 - 1).expect("sets");
            sound(&app.state, user_id, "audio/wav", file)
        };
        let first = send("ada").expect("fits");
        assert_eq!(first.headers()[header::CONTENT_LENGTH], (PASSING_FILES_MAX_BYTES / 2 - 1).to_string());
        let refusal = send("ada").expect_err("she has half of all");
        assert!(matches!(refusal, ApiError::Busy { .. }), "{refusal}");
        drop(first);
        send("ada").expect("there is room again");
    }

    #[tokio::test]
    async fn both_ways_send_every_byte() {
        let app = TestApp::start().await;
        let bytes: Vec<u8> = (0..3 * PIECE_BYTES + 7).map(|at| at as u8).collect();
        let all = FairBytes::new("tests", 10);
        let names = || std::fs::read_dir(&app.state.config.storage.dir).expect("reads").count();
        let before = names();
        let file = nameless_file(&app.state, &bytes).expect("writes");
        assert_eq!(names(), before, "it has a name");
        let length = bytes.len() as u64;
        for body in [
            file_answer::counted(file, length, all.share("a")),
            from_memory(bytes.clone().into(), all.share("a")),
        ] {
            let sent = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
            assert_eq!(sent, bytes);
        }
    }

    /// Files in the storage folder that this process holds open and that have no name.
    #[cfg(target_os = "linux")]
    fn nameless_files(app: &TestApp) -> usize {
        let folder = app.state.config.storage.dir.canonicalize().expect("it is there");
        let open = std::fs::read_dir("/proc/self/fd").expect("one's own files");
        let targets = open.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
        targets.filter(|to| to.starts_with(&folder) && to.to_string_lossy().ends_with(" (deleted)")).count()
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn large_answers_leave_the_reserve_of_the_disk_alone() {
        const PETABYTE: &str = "1125899906842624";
        for (reserve, expected) in [("0", 1), (PETABYTE, 0)] {
            let app = TestApp::with(&[("SF_DISK_RESERVE_BYTES", reserve)]).await;
            let bytes = vec![b'x'; 3 * PIECE_BYTES];
            let unread = answer(&app.state, "ada", "text/plain", bytes.clone()).expect("an answer");
            assert_eq!(nameless_files(&app), expected, "with {reserve} bytes of reserve");
            let (mut body, mut sent) = (unread.into_body(), Vec::new());
            while let Some(frame) = body.frame().await {
                sent.extend_from_slice(&frame.expect("a frame").into_data().expect("bytes"));
            }
            assert_eq!(sent, bytes);
            assert!(body.frame().await.is_none(), "asked again after the end");
        }
    }
}
