//! Streams a file or a range of it as an answer (RFC 9110, section 14).

use std::fs::File;
use std::io::{Seek as _, SeekFrom};

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;
use tokio::io::{AsyncReadExt as _, Take};
use tokio_util::io::ReaderStream;

use crate::error::{ApiError, ApiResult};
use crate::etag;
use crate::fair_bytes::ReservedBytes;

/// Number of bytes that are read from the file at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// A file to send as an answer.
#[derive(Debug)]
pub(crate) struct FileAnswer {
    pub(crate) file: File,
    /// Entity tag, including its quotes.
    pub(crate) etag: String,
    pub(crate) media_type: &'static str,
    /// Name under which a browser saves the file; `None` if the browser shows or plays it.
    pub(crate) save_as: Option<String>,
}

impl FileAnswer {
    /// Returns the answer to a request with these headers: 200, 206, 304 or 416.
    pub(crate) fn respond(self, request: &HeaderMap) -> ApiResult<Response> {
        self.respond_with(request, |file, length_bytes| Body::from_stream(chunks(file, length_bytes)))
    }

    /// Like [`Self::respond`], but keeps `reserved_bytes` until the answer has been sent.
    pub(crate) fn respond_counted(
        self,
        request: &HeaderMap,
        reserved_bytes: ReservedBytes,
    ) -> ApiResult<Response> {
        self.respond_with(request, |file, length_bytes| counted_body(file, length_bytes, reserved_bytes))
    }

    fn respond_with(
        mut self,
        request: &HeaderMap,
        body: impl FnOnce(File, u64) -> Body,
    ) -> ApiResult<Response> {
        let size_bytes = self.file.metadata()?.len();
        let mut headers = HeaderMap::new();
        headers.insert(header::ETAG, to_header_value(&self.etag)?);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        if etag::matches_if_none_match(request, &self.etag) {
            return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        if let Some(name) = &self.save_as {
            headers.insert(header::CONTENT_DISPOSITION, to_header_value(&attachment(name))?);
        }
        let range =
            if may_be_partial(request, &self.etag) { requested_range(request, size_bytes)? } else { None };
        let (status, start, length_bytes) = match range {
            Some((start, end)) => {
                headers.insert(
                    header::CONTENT_RANGE,
                    to_header_value(&format!("bytes {start}-{end}/{size_bytes}"))?,
                );
                (StatusCode::PARTIAL_CONTENT, start, end - start + 1)
            }
            None => (StatusCode::OK, 0, size_bytes),
        };
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length_bytes));
        self.file.seek(SeekFrom::Start(start))?;
        Ok((status, headers, body(self.file, length_bytes)).into_response())
    }
}

/// Returns a body with the next `length_bytes` bytes of a file. It keeps `reserved_bytes` until it
/// has been sent.
pub(crate) fn counted_body(file: File, length_bytes: u64, reserved_bytes: ReservedBytes) -> Body {
    let chunks = chunks(file, length_bytes).map(move |chunk| {
        // The bytes count until the body has been sent or the client has disconnected.
        let _reserved = &reserved_bytes;
        chunk
    });
    Body::from_stream(chunks)
}

/// Returns the next `length_bytes` bytes of a file in chunks.
fn chunks(file: File, length_bytes: u64) -> ReaderStream<Take<tokio::fs::File>> {
    ReaderStream::with_capacity(tokio::fs::File::from_std(file).take(length_bytes), CHUNK_BYTES)
}

fn to_header_value(text: &str) -> ApiResult<HeaderValue> {
    HeaderValue::from_str(text).map_err(ApiError::internal)
}

/// Whether a range may be sent. `If-Range` requires the whole file if its tag has changed.
fn may_be_partial(request: &HeaderMap, etag: &str) -> bool {
    request.get(header::IF_RANGE).is_none_or(|tag| tag.as_bytes() == etag.as_bytes())
}

/// Returns the indices of the first and last byte of the requested range. Returns `None` if there
/// is not exactly one well-formed range, or if the unit is not bytes; then the answer is the whole
/// file.
fn requested_range(request: &HeaderMap, size_bytes: u64) -> ApiResult<Option<(u64, u64)>> {
    let text = request.get(header::RANGE).and_then(|value| value.to_str().ok());
    let Some((first, last)) = text
        .and_then(|text| text.trim().strip_prefix("bytes="))
        .filter(|ranges| !ranges.contains(','))
        .and_then(|range| range.split_once('-'))
    else {
        return Ok(None);
    };
    let (first, last) = (first.trim(), last.trim());
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().unwrap_or(u64::MAX));
    let (Some(first_byte), Some(last_byte)) = (number(first), number(last)) else { return Ok(None) };
    let (start, end) = match (first.is_empty(), last.is_empty()) {
        (true, true) => return Ok(None),
        (true, false) => (size_bytes.saturating_sub(last_byte), size_bytes.saturating_sub(1)),
        (false, true) => (first_byte, size_bytes.saturating_sub(1)),
        (false, false) if last_byte < first_byte => return Ok(None),
        (false, false) => (first_byte, last_byte.min(size_bytes.saturating_sub(1))),
    };
    let is_outside = size_bytes == 0 || start >= size_bytes || (first.is_empty() && last_byte == 0);
    if is_outside { Err(ApiError::RangeNotSatisfiable { size_bytes }) } else { Ok(Some((start, end))) }
}

/// Returns a `Content-Disposition` (RFC 6266) with the name in UTF-8, and in ASCII for old clients.
pub(crate) fn attachment(name: &str) -> String {
    let ascii_name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || " .-_()".contains(c) { c } else { '_' })
        .collect();
    let mut encoded_name = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b".-_".contains(&byte) {
            encoded_name.push(char::from(byte));
        } else {
            encoded_name.push_str(&format!("%{byte:02X}"));
        }
    }
    format!("attachment; filename=\"{ascii_name}\"; filename*=UTF-8''{encoded_name}")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::fair_bytes::FairBytes;

    #[track_caller]
    fn check(range: &str, size_bytes: u64, expected: Option<(u64, u64)>) {
        let headers = HeaderMap::from_iter([(header::RANGE, range.parse().unwrap())]);
        assert_eq!(requested_range(&headers, size_bytes).expect("a valid range"), expected, "{range}");
    }

    #[test]
    fn one_range_of_bytes_is_parsed() {
        check("bytes=0-0", 10, Some((0, 0)));
        check("bytes=2-5", 10, Some((2, 5)));
        check("bytes=2-", 10, Some((2, 9)));
        check("bytes=-3", 10, Some((7, 9)));
        check("bytes=-30", 10, Some((0, 9)));
        check("bytes=5-18446744073709551616", 10, Some((5, 9)));
    }

    #[test]
    fn other_ranges_mean_the_whole_file() {
        for range in
            ["bytes=0-1,3-4", "bytes=5-2", "bytes=-", "bytes=a-b", "bytes", "lines=1-2", "bytes=+1-2"]
        {
            check(range, 10, None);
        }
    }

    #[test]
    fn a_range_outside_the_file_is_refused() {
        for (range, size_bytes) in
            [("bytes=10-", 10), ("bytes=99-100", 10), ("bytes=-0", 10), ("bytes=0-", 0)]
        {
            let headers = HeaderMap::from_iter([(header::RANGE, range.parse().unwrap())]);
            let error = requested_range(&headers, size_bytes).unwrap_err();
            assert_eq!(error.status(), StatusCode::RANGE_NOT_SATISFIABLE, "{range}");
        }
    }

    #[tokio::test]
    async fn the_bytes_of_a_file_are_reserved_until_its_answer_has_been_sent() {
        let budget = FairBytes::new("tests", 10);
        let answer = || {
            let mut file = tempfile::tempfile().expect("a file");
            file.write_all(b"123456").expect("writes");
            FileAnswer { file, etag: "\"a\"".to_owned(), media_type: "text/plain", save_as: None }
        };
        let counted = |request: &HeaderMap| {
            let mut reservation = budget.reservation("ada");
            reservation.grow(6)?;
            answer().respond_counted(request, reservation)
        };
        let range = HeaderMap::from_iter([(header::RANGE, "bytes=1-2".parse().expect("a value"))]);
        let first = counted(&range).expect("within the budget");
        assert!(counted(&range).is_err(), "the whole file is reserved while it is sent");
        let sent_bytes = axum::body::to_bytes(first.into_body(), usize::MAX).await.expect("a body");
        assert_eq!(sent_bytes, "23");
        drop(counted(&HeaderMap::new()).expect("the bytes are free again"));
        let tag = HeaderMap::from_iter([(header::IF_NONE_MATCH, "\"a\"".parse().expect("a value"))]);
        let _unchanged = counted(&tag).expect("the bytes are free again");
        counted(&HeaderMap::new()).expect("an answer without a body reserves nothing");
    }

    #[test]
    fn any_name_gives_a_valid_header() {
        let name = "Ünï \"x\"\r\n/../é.wav";
        let text = attachment(name);
        assert!(HeaderValue::from_str(&text).is_ok(), "{text}");
        assert_eq!(text.matches('"').count(), 2, "{text}");
        assert!(text.ends_with("filename*=UTF-8''%C3%9Cn%C3%AF%20%22x%22%0D%0A%2F..%2F%C3%A9.wav"), "{text}");
    }
}
