//! Secrets that the service generates and shows once: API keys and invitation codes.
//!
//! Secrets have 256 random bits, so a plain SHA-256 protects them as well as a slow hash would.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::error::ApiError;

/// Number of random bytes in a secret.
const SECRET_BYTES: usize = 32;

/// Returns a new secret that begins with `prefix`.
///
/// # Errors
/// If the operating system cannot provide random bytes.
pub(super) fn generate(prefix: &str) -> Result<String, ApiError> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| ApiError::internal(anyhow::anyhow!("{error}")))?;
    Ok(format!("{prefix}{}", BASE64_URL_SAFE_NO_PAD.encode(bytes)))
}

/// Returns the stored form of a secret: its SHA-256 in hexadecimal digits.
pub(super) fn sha256(secret: &str) -> String {
    format!("{:x}", Sha256::digest(secret.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_have_256_bits_and_differ() {
        let (first_secret, two) = (generate("sfk_").unwrap(), generate("sfk_").unwrap());
        assert_ne!(first_secret, two);
        assert!(first_secret.starts_with("sfk_") && first_secret.len() == 4 + 43, "{first_secret}");
    }

    #[test]
    fn sha256_matches_the_standard() {
        // FIPS 180-4's example for "abc".
        assert_eq!(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
