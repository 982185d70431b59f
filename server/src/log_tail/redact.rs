//! Removes secrets from log lines. No code logs secrets; this is a second safeguard.

use std::borrow::Cow;
use std::io::{self, Write};

/// Replacement for a secret.
const HIDDEN: &str = "(hidden)";

/// Texts that precede a secret; the characters after them that may belong to it are hidden.
const BEFORE_A_SECRET: [&str; 6] = ["Bearer ", "bearer ", "bearer.", "token=", "password=", "secret="];

/// How secrets begin: API keys, and tokens (a JSON object in base64).
const BEGIN_OF_A_SECRET: [&str; 2] = ["sfk_", "eyJ"];

/// Minimum length of a hidden token, so that ordinary words are not hidden.
const SECRET_MIN_CHARS: usize = 12;

/// `text` without tokens, API keys, and passwords in addresses.
pub(super) fn redacted(text: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(text);
    for before in BEFORE_A_SECRET {
        replace(&mut out, before, |rest| (before.len(), secret_length(rest)));
    }
    for begin in BEGIN_OF_A_SECRET {
        replace(&mut out, begin, |rest| {
            let length = begin.len() + secret_length(rest);
            (0, if length >= SECRET_MIN_CHARS { length } else { 0 })
        });
    }
    replace(&mut out, "://", |rest| ("://".len(), credentials_length(rest)));
    out
}

/// Hides the secret after each occurrence of `mark`. `secret` gets the text after the mark and
/// returns the offset from the mark and the length of the secret.
fn replace(text: &mut Cow<'_, str>, mark: &str, secret: impl Fn(&str) -> (usize, usize)) {
    let mut from = 0;
    while let Some(found) = text[from..].find(mark) {
        let mark_index = from + found;
        let (offset, length) = secret(&text[mark_index + mark.len()..]);
        let begin = mark_index + offset;
        if length > 0 {
            text.to_mut().replace_range(begin..begin + length, HIDDEN);
            from = begin + HIDDEN.len();
        } else {
            from = mark_index + mark.len();
        }
    }
}

/// Length of a possible token at the start of `text`.
fn secret_length(text: &str) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/=%".contains(byte);
    text.bytes().take_while(|byte| is_part(byte)).count()
}

/// Length of the user and password that an address begins with, 0 if there are none.
fn credentials_length(text: &str) -> usize {
    let end = text.find(['/', '?', ' ', '"', '\n']).unwrap_or(text.len());
    text[..end].rfind('@').unwrap_or(0)
}

/// A writer that removes secrets from log lines. Each write is one line.
#[derive(Debug)]
pub(crate) struct Redacting<W>(pub(crate) W);

impl<W: Write> Write for Redacting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(redacted(&String::from_utf8_lossy(bytes)).as_bytes())?;
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
    fn secrets_are_hidden_and_the_rest_is_not() {
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
            assert_eq!(redacted(text), expected);
        }
        let mut out = Vec::new();
        Redacting(&mut out).write_all(b"token=x\n").expect("writes");
        assert_eq!(out, b"token=(hidden)\n");
    }
}
