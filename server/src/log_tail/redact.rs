//! Removes secrets from log lines. No code should log secrets; this is a second safeguard.

use std::borrow::Cow;
use std::io::{self, Write};

/// Replacement for a secret.
const REDACTED_TEXT: &str = "(hidden)";

/// Texts that precede a secret. The characters after them that may belong to the secret are hidden.
const SECRET_MARKERS: [&str; 6] = ["Bearer ", "bearer ", "bearer.", "token=", "password=", "secret="];

/// First characters of secrets: API keys, and tokens (a JSON object in base64).
const SECRET_PREFIXES: [&str; 2] = ["sfk_", "eyJ"];

/// Minimum length of a secret that is recognized by its first characters, so that ordinary words
/// are not hidden.
const SECRET_MIN_CHARS: usize = 12;

/// Returns `text` without tokens, API keys, and passwords in addresses.
pub(super) fn redact(text: &str) -> Cow<'_, str> {
    let mut output = Cow::Borrowed(text);
    for secret_marker in SECRET_MARKERS {
        replace(&mut output, secret_marker, |tail| (secret_marker.len(), secret_length(tail)));
    }
    for prefix in SECRET_PREFIXES {
        replace(&mut output, prefix, |tail| {
            let prefix_bytes = prefix.len() + secret_length(tail);
            (0, if prefix_bytes >= SECRET_MIN_CHARS { prefix_bytes } else { 0 })
        });
    }
    replace(&mut output, "://", |tail| ("://".len(), credentials_length(tail)));
    output
}

/// Hides the secret at each occurrence of `marker`. The function `secret_range` gets the text after
/// the marker. It returns the offset of the secret from the start of the marker, and the secret's
/// length.
fn replace(text: &mut Cow<'_, str>, marker: &str, secret_range: impl Fn(&str) -> (usize, usize)) {
    let mut search_start = 0;
    while let Some(marker_offset) = text[search_start..].find(marker) {
        let marker_index = search_start + marker_offset;
        let (offset, length_bytes) = secret_range(&text[marker_index + marker.len()..]);
        let begin = marker_index + offset;
        if length_bytes > 0 {
            text.to_mut().replace_range(begin..begin + length_bytes, REDACTED_TEXT);
            search_start = begin + REDACTED_TEXT.len();
        } else {
            search_start = marker_index + marker.len();
        }
    }
}

/// Returns the length of a possible secret at the start of `text`.
fn secret_length(text: &str) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/=%".contains(byte);
    text.bytes().take_while(|byte| is_part(byte)).count()
}

/// Returns the length of the user and password at the start of an address, or 0 if there are none.
fn credentials_length(text: &str) -> usize {
    let end = text.find(['/', '?', ' ', '"', '\n']).unwrap_or(text.len());
    text[..end].rfind('@').unwrap_or(0)
}

/// A writer that removes secrets from log lines. Each write is one line.
#[derive(Debug)]
pub(crate) struct RedactingWriter<W>(pub(crate) W);

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(redact(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_secrets_are_hidden() {
        for (text, expected) in [
            ("nothing to hide", "nothing to hide"),
            ("GET /x?token=a.b-c&y=1", "GET /x?token=(hidden)&y=1"),
            ("\"Authorization: Bearer a.b.c\"", "\"Authorization: Bearer (hidden)\""),
            ("protocols bearer.abc, songfoundry.v1", "protocols bearer.(hidden), songfoundry.v1"),
            ("key sfk_0123456789abcdef used", "key (hidden) used"),
            ("eyJhbGciOiJIUzI1NiJ9.e30.x and eyJ", "(hidden) and eyJ"),
            ("token=a token=b", "token=(hidden) token=(hidden)"),
            ("postgres://ada:hun@ter2@db/songs", "postgres://(hidden)@db/songs"),
            ("http://127.0.0.1:8600/a@b", "http://127.0.0.1:8600/a@b"),
        ] {
            assert_eq!(redact(text), expected);
        }
        let mut output = Vec::new();
        RedactingWriter(&mut output).write_all(b"token=x\n").expect("writes");
        assert_eq!(output, b"token=(hidden)\n");
    }
}
