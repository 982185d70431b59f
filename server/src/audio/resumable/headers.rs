//! Reads the header fields of the tus protocol.

use axum::http::{HeaderMap, HeaderName};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use super::{TUS_RESUMABLE, TUS_VERSION};
use crate::body_kind;
use crate::error::{ApiError, ApiResult};
use crate::storage::clean_name;

pub(super) const UPLOAD_OFFSET: HeaderName = HeaderName::from_static("upload-offset");
pub(super) const UPLOAD_LENGTH: HeaderName = HeaderName::from_static("upload-length");
pub(super) const UPLOAD_DEFER_LENGTH: HeaderName = HeaderName::from_static("upload-defer-length");
pub(super) const UPLOAD_METADATA: HeaderName = HeaderName::from_static("upload-metadata");
pub(super) const UPLOAD_EXPIRES: HeaderName = HeaderName::from_static("upload-expires");
pub(super) const UPLOAD_CHECKSUM: HeaderName = HeaderName::from_static("upload-checksum");

/// Supported checksum algorithms, as sent in `Tus-Checksum-Algorithm`.
pub(super) const CHECKSUM_ALGORITHMS: &str = "sha1,sha256";

/// Maximum length of `Upload-Metadata`, in bytes.
const METADATA_MAX_BYTES: usize = 4_096;

/// Returns an error 412 unless the request names version 1.0.0 of the protocol.
pub(super) fn require_version(headers: &HeaderMap) -> ApiResult<()> {
    if headers.get(TUS_RESUMABLE) == Some(&TUS_VERSION) {
        return Ok(());
    }
    Err(ApiError::PreconditionFailed {
        code: "tus_version",
        detail: "Resumable uploads use tus 1.0.0: send `Tus-Resumable: 1.0.0`.".to_owned(),
    })
}

fn bad_header_error(detail: impl Into<String>) -> ApiError {
    ApiError::bad_request("bad_upload_header", detail)
}

/// Reads a header that contains a whole number. Returns `None` if the header is missing.
pub(super) fn parse_number(headers: &HeaderMap, name: &HeaderName) -> ApiResult<Option<u64>> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    let digits = value.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    match digits.and_then(|text| text.parse().ok()) {
        Some(number) => Ok(Some(number)),
        None => Err(bad_header_error(format!("{name} is {value:?}; expected a whole number of bytes."))),
    }
}

/// Reads a required header that contains a whole number.
pub(super) fn required_number(headers: &HeaderMap, name: &HeaderName) -> ApiResult<u64> {
    parse_number(headers, name)?.ok_or_else(|| bad_header_error(format!("{name} is missing.")))
}

/// Returns the announced length of a new upload in bytes; `None` if the client defers it.
pub(super) fn parse_length(headers: &HeaderMap) -> ApiResult<Option<u64>> {
    let length_bytes = parse_number(headers, &UPLOAD_LENGTH)?;
    let Some(value) = headers.get(&UPLOAD_DEFER_LENGTH) else {
        return required_number(headers, &UPLOAD_LENGTH).map(Some);
    };
    if value != "1" {
        return Err(bad_header_error(format!("{UPLOAD_DEFER_LENGTH} is {value:?}; expected 1.")));
    }
    if length_bytes.is_some() {
        return Err(bad_header_error(format!(
            "send either {UPLOAD_LENGTH} or {UPLOAD_DEFER_LENGTH}, not both."
        )));
    }
    Ok(None)
}

/// Returns the file name in `Upload-Metadata`, and the header's unchanged value.
pub(super) fn parse_metadata(headers: &HeaderMap) -> ApiResult<(String, String)> {
    let text = match headers.get(UPLOAD_METADATA) {
        Some(value) => value.to_str().map_err(|_| {
            bad_header_error(
                "upload-metadata contains a character that is not ASCII; encode the values as base64.",
            )
        })?,
        None => "",
    };
    if text.len() > METADATA_MAX_BYTES {
        return Err(bad_header_error(format!(
            "upload-metadata has {} bytes; expected at most {METADATA_MAX_BYTES}.",
            text.len()
        )));
    }
    let mut name = String::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (field_name, value) = pair.split_once(' ').unwrap_or((pair, ""));
        let value = BASE64_STANDARD.decode(value.trim());
        let value = value.map_err(|_| {
            bad_header_error(format!("the value of `{field_name}` in upload-metadata is not base64."))
        })?;
        if field_name == "filename" || (field_name == "name" && name.is_empty()) {
            name = String::from_utf8_lossy(&value).into_owned();
        }
    }
    Ok((clean_name(&name), text.to_owned()))
}

/// Returns an error 415 unless the media type is that of the bytes of an upload.
pub(super) fn require_offset_octets(headers: &HeaderMap) -> ApiResult<()> {
    body_kind::require(headers, &["application/offset+octet-stream"])
}

/// The expected checksum of a request body.
#[derive(Debug)]
pub(super) struct Checksum {
    hash: Hash,
    expected_digest: Vec<u8>,
}

#[derive(Debug)]
enum Hash {
    Sha1(Sha1),
    Sha256(Sha256),
}

impl Checksum {
    /// Returns the checksum in the request's headers, if there is one.
    pub(super) fn from_headers(headers: &HeaderMap) -> ApiResult<Option<Self>> {
        let Some(value) = headers.get(UPLOAD_CHECKSUM) else { return Ok(None) };
        let (name, text) = value.to_str().ok().and_then(|text| text.split_once(' ')).unwrap_or_default();
        let hash = match name {
            "sha1" => Hash::Sha1(Sha1::new()),
            "sha256" => Hash::Sha256(Sha256::new()),
            _ => {
                return Err(bad_header_error(format!(
                    "upload-checksum is {value:?}; expected an algorithm ({CHECKSUM_ALGORITHMS}), a space, and the checksum in base64."
                )));
            }
        };
        let expected_digest = BASE64_STANDARD.decode(text.trim());
        let expected_digest = expected_digest
            .map_err(|_| bad_header_error("the checksum in upload-checksum is not base64."))?;
        Ok(Some(Self { hash, expected_digest }))
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match &mut self.hash {
            Hash::Sha1(hash) => hash.update(bytes),
            Hash::Sha256(hash) => hash.update(bytes),
        }
    }

    /// Whether the received bytes have the expected checksum.
    pub(super) fn matches(self) -> bool {
        match self.hash {
            Hash::Sha1(hash) => hash.finalize()[..] == self.expected_digest,
            Hash::Sha256(hash) => hash.finalize()[..] == self.expected_digest,
        }
    }
}
