//! Sends large answers from the disk, so that they need no memory.
//!
//! Clients may read answers slowly. So a large answer is written to an unnamed temporary file,
//! which the operating system removes when the connection ends. If the disk has no space besides
//! its reserve, large answers are sent from memory.
//!
//! Large answers with text are compressed before they are sent, on the thread of the request's
//! work, so that other requests are not delayed.

use std::fs::File;
use std::io::{self, ErrorKind, Seek as _, Write as _};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::{StreamExt as _, stream};

use crate::compression;
use crate::error::ApiResult;
use crate::fair_bytes::{FairBytes, ReservedBytes};
use crate::file_answer;
use crate::state::AppState;
use crate::storage::has_room;

/// Maximum length of an answer that is sent from memory, in bytes.
pub(crate) const IN_MEMORY_MAX_BYTES: usize = 64 * 1024;

/// Maximum total size of large answers on the disk, and in memory if the disk is full, in bytes.
const ON_DISK_MAX_BYTES: u64 = 2 * 1024 * 1024 * 1024;
const ON_FULL_DISK_MAX_BYTES: u64 = 128 * 1024 * 1024;

/// Maximum total size of renders and bundles on the disk while they are sent, in bytes.
const TEMPORARY_FILES_MAX_BYTES: u64 = 8 * 1024 * 1024 * 1024;

/// Size of the chunks of answers that are sent from memory, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// Budgets of bytes for large answers.
#[derive(Debug)]
pub(crate) struct LargeAnswers {
    on_disk: FairBytes,
    in_memory: FairBytes,
    /// Budget for files that are made for one answer: renders and bundles.
    temporary_files: FairBytes,
}

impl LargeAnswers {
    /// Reserves space for a file of `bytes` bytes that is made for one answer to `user_id`.
    ///
    /// # Errors
    /// 503 `busy` if too many such files are being sent.
    pub(crate) fn reserve_file(&self, user_id: &str, bytes: u64) -> ApiResult<ReservedBytes> {
        let mut reserved_bytes = self.temporary_files.reservation(user_id);
        reserved_bytes.grow(bytes)?;
        Ok(reserved_bytes)
    }
}

impl Default for LargeAnswers {
    fn default() -> Self {
        Self {
            on_disk: FairBytes::new("disk space for large responses", ON_DISK_MAX_BYTES),
            in_memory: FairBytes::new("memory for large responses", ON_FULL_DISK_MAX_BYTES),
            temporary_files: FairBytes::new(
                "disk space for audio and bundle downloads",
                TEMPORARY_FILES_MAX_BYTES,
            ),
        }
    }
}

/// The client that gets an answer.
#[derive(Debug)]
pub(crate) struct Recipient {
    state: AppState,
    user_id: String,
    accepts_gzip: bool,
}

impl Recipient {
    /// Returns the client that sent a request with these headers.
    pub(crate) fn new(state: &AppState, user_id: &str, request: &HeaderMap) -> Self {
        let accepts_gzip = compression::accepts("gzip", request);
        Self { state: state.clone(), user_id: user_id.to_owned(), accepts_gzip }
    }

    pub(crate) fn user_id(&self) -> &str {
        &self.user_id
    }

    /// Returns an answer with this JSON text. Blocks.
    ///
    /// # Errors
    /// Those of [`Self::answer`].
    pub(crate) fn answer_json(&self, json: impl Into<Bytes>) -> ApiResult<Response> {
        self.answer("application/json", json)
    }

    /// Returns an answer with these bytes. Blocks.
    ///
    /// # Errors
    /// 503 `busy` if too many large answers are being sent, or an error if the disk cannot be
    /// written.
    pub(crate) fn answer(&self, media_type: &'static str, bytes: impl Into<Bytes>) -> ApiResult<Response> {
        let bytes = bytes.into();
        let kind = (header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        if bytes.len() <= IN_MEMORY_MAX_BYTES {
            return Ok(([kind], bytes).into_response());
        }
        let is_compressed = self.accepts_gzip && compression::is_text(media_type);
        let answers = &self.state.large_answers;
        let on_disk = self.reserve(&answers.on_disk, bytes.len())?;
        match make_unnamed_file(&self.state, &bytes, is_compressed) {
            Ok((file, length_bytes)) => {
                let encoding = [
                    (header::CONTENT_ENCODING, HeaderValue::from_static("gzip")),
                    (header::VARY, HeaderValue::from_static("accept-encoding")),
                ];
                let fields = [kind, (header::CONTENT_LENGTH, HeaderValue::from(length_bytes))];
                let answer = (fields, file_answer::counted_body(file, length_bytes, on_disk));
                Ok(if is_compressed { (encoding, answer).into_response() } else { answer.into_response() })
            }
            // Even if the disk is full, users must be able to read a song and save it elsewhere.
            Err(error) if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
                let in_memory = self.reserve(&answers.in_memory, bytes.len())?;
                let content_length = (header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
                Ok(([kind, content_length], from_memory(bytes, in_memory)).into_response())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn reserve(&self, budget: &FairBytes, bytes: usize) -> ApiResult<ReservedBytes> {
        let mut reserved_bytes = budget.reservation(&self.user_id);
        reserved_bytes.grow(bytes as u64)?;
        Ok(reserved_bytes)
    }
}

/// Returns an answer to `user_id` with the audio in this unnamed file. Blocks.
///
/// # Errors
/// 503 `busy` if too many such files are being sent, or an error if the disk cannot be read.
pub(crate) fn sound(
    state: &AppState,
    user_id: &str,
    media_type: &'static str,
    mut file: File,
) -> ApiResult<Response> {
    let length_bytes = file.metadata()?.len();
    let reserved_bytes = state.large_answers.reserve_file(user_id, length_bytes)?;
    file.rewind()?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_LENGTH, HeaderValue::from(length_bytes)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, file_answer::counted_body(file, length_bytes, reserved_bytes)).into_response())
}

/// Writes these bytes to an unnamed file in the storage folder, compressed with gzip if
/// `is_compressed`. Returns the file and its length in bytes. If the disk has no space besides its
/// reserve, fails as on a full disk. No deleted files are purged to free space.
fn make_unnamed_file(state: &AppState, bytes: &[u8], is_compressed: bool) -> io::Result<(File, u64)> {
    let folder = &state.config.storage.dir;
    if !has_room(state, folder, bytes.len() as u64) {
        return Err(ErrorKind::StorageFull.into());
    }
    let mut file = tempfile::tempfile_in(folder)?;
    if is_compressed {
        let mut encoder = GzEncoder::new(file, Compression::fast());
        encoder.write_all(bytes)?;
        file = encoder.finish()?;
    } else {
        file.write_all(bytes)?;
    }
    let length_bytes = file.stream_position()?;
    file.rewind()?;
    Ok((file, length_bytes))
}

fn from_memory(bytes: Bytes, reserved_bytes: ReservedBytes) -> Body {
    let chunks = stream::unfold((bytes, reserved_bytes), |(mut remaining, reserved_bytes)| async move {
        let chunk = remaining.split_to(remaining.len().min(CHUNK_BYTES));
        // The chunk is copied, because a slice would keep the whole buffer in memory.
        let chunk = (!chunk.is_empty()).then(|| Bytes::copy_from_slice(&chunk))?;
        Some((Ok::<_, io::Error>(chunk), (remaining, reserved_bytes)))
    });
    // The compression layer polls the body again after its end.
    Body::from_stream(chunks.fuse())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use http_body_util::BodyExt as _;

    use super::*;
    use crate::error::ApiError;
    use crate::test_app::TestApp;

    #[tokio::test]
    async fn unread_sounds_do_not_fill_the_disk() {
        let app = TestApp::start().await;
        let send = |user_id: &str| {
            let file = tempfile::tempfile().expect("a file");
            // The file is sparse, so it takes no space on the disk.
            file.set_len(TEMPORARY_FILES_MAX_BYTES / 2 - 1).expect("sets");
            sound(&app.state, user_id, "audio/wav", file)
        };
        let first_answer = send("ada").expect("within the budget");
        assert_eq!(
            first_answer.headers()[header::CONTENT_LENGTH],
            (TEMPORARY_FILES_MAX_BYTES / 2 - 1).to_string()
        );
        let refusal = send("ada").expect_err("ada already uses half of the budget");
        assert!(matches!(refusal, ApiError::Busy { .. }), "{refusal}");
        drop(first_answer);
        send("ada").expect("the budget is free again");
    }

    #[tokio::test]
    async fn disk_and_memory_send_every_byte() {
        let app = TestApp::start().await;
        let bytes: Vec<u8> = (0..3 * CHUNK_BYTES + 7).map(|index| index as u8).collect();
        let budget = FairBytes::new("tests", 10);
        let names = || std::fs::read_dir(&app.state.config.storage.dir).expect("reads").count();
        let names_before = names();
        let (file, length) = make_unnamed_file(&app.state, &bytes, false).expect("writes");
        assert_eq!(names(), names_before, "the file has a name");
        for body in [
            file_answer::counted_body(file, length, budget.reservation("a")),
            from_memory(bytes.clone().into(), budget.reservation("a")),
        ] {
            let sent_bytes = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
            assert_eq!(sent_bytes, bytes);
        }
    }

    #[tokio::test]
    async fn large_text_is_compressed_before_it_is_sent() {
        let app = TestApp::start().await;
        let text = "Do re mi fa so la ti do. ".repeat(10_000);
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip, br"));
        let ada = Recipient::new(&app.state, "ada", &headers);
        let (fields, body) = ada.answer_json(text.clone()).expect("an answer").into_parts();
        assert_eq!(fields.headers[header::CONTENT_ENCODING], "gzip");
        assert_eq!(fields.headers[header::VARY], "accept-encoding");
        let sent_bytes = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
        assert_eq!(fields.headers[header::CONTENT_LENGTH], sent_bytes.len().to_string());
        let mut read_text = String::new();
        flate2::read::GzDecoder::new(&*sent_bytes).read_to_string(&mut read_text).expect("gzip");
        assert_eq!(read_text, text);

        let midi = ada.answer("audio/midi", text.clone()).expect("an answer");
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip;q=0"));
        let bob = Recipient::new(&app.state, "bob", &headers);
        let uncompressed = bob.answer_json(text.clone()).expect("an answer");
        for answer in [midi, uncompressed] {
            assert!(!answer.headers().contains_key(header::CONTENT_ENCODING));
            assert_eq!(answer.headers()[header::CONTENT_LENGTH], text.len().to_string());
        }
    }

    /// Returns the number of unnamed files in the storage folder that this process has open.
    #[cfg(target_os = "linux")]
    fn unnamed_files(app: &TestApp) -> usize {
        let folder = app.state.config.storage.dir.canonicalize().expect("the folder exists");
        let open_file = std::fs::read_dir("/proc/self/fd").expect("open files");
        let targets = open_file.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
        targets.filter(|to| to.starts_with(&folder) && to.to_string_lossy().ends_with(" (deleted)")).count()
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn large_answers_do_not_use_the_reserve_of_the_disk() {
        const PETABYTE: &str = "1125899906842624";
        for (reserve, expected) in [("0", 1), (PETABYTE, 0)] {
            let app = TestApp::with(&[("SF_DISK_RESERVE_BYTES", reserve)]).await;
            let bytes = vec![b'x'; 3 * CHUNK_BYTES];
            let ada = Recipient::new(&app.state, "ada", &HeaderMap::new());
            let unread = ada.answer("text/plain", bytes.clone()).expect("an answer");
            assert_eq!(unnamed_files(&app), expected, "with {reserve} bytes of reserve");
            let (mut body, mut sent_bytes) = (unread.into_body(), Vec::new());
            while let Some(frame) = body.frame().await {
                sent_bytes.extend_from_slice(&frame.expect("a frame").into_data().expect("bytes"));
            }
            assert_eq!(sent_bytes, bytes);
            assert!(body.frame().await.is_none(), "the body ends only once");
        }
    }
}
