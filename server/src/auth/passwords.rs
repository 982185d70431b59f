//! Hashes and verifies passwords, and scores their strength.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::permits::Permits;

/// Cost of a hash: 19 MiB of memory, two passes and one lane (OWASP's recommendation for argon2id).
const MEMORY_KIB: u32 = 19 * 1024;
const HASH_PASSES: u32 = 2;

/// Maximum number of hashes at the same time, for each kind of log-in and for registrations. Each
/// hash takes [`MEMORY_KIB`] of memory.
const PARALLEL_HASHES: u32 = 2;
const PARALLEL_REGISTRATIONS: u32 = 1;

/// Maximum number of strength checks at the same time, and of requests that wait for one. A check
/// takes milliseconds.
const PARALLEL_STRENGTH_CHECKS: u32 = 1;
const STRENGTH_CHECKS_WAITING_MAX: u64 = 32;

/// Maximum length of a password, in bytes.
pub const PASSWORD_MAX_BYTES: usize = 1024;

/// Maximum number of characters that are scored, because the time of zxcvbn grows faster than the
/// length of its input.
const SCORED_CHARS_MAX: usize = 100;

/// Lowest accepted score of zxcvbn.
pub const SCORE_ACCEPTED: u8 = 3;

/// Hashes and verifies passwords in blocking threads.
#[derive(Debug, Clone)]
pub struct Passwords {
    /// Permits for accounts that have logged in from the client's address before, and for logged-in
    /// users.
    known_accounts: Arc<Permits>,
    /// Permits for accounts that have never logged in from the client's address. They are separate,
    /// so that such attempts do not delay known accounts.
    unknown_accounts: Arc<Permits>,
    /// Permits for registrations. They are separate, so that registrations do not delay log-ins.
    registrations: Arc<Permits>,
    /// Permits for strength checks. They are separate, so that the checks do not delay log-ins.
    strength_checks: Arc<Permits>,
    /// Hash of a random password. It is verified if there is no account, so that both cases take
    /// the same time.
    decoy: Arc<str>,
}

impl Passwords {
    /// Computes the decoy hash. At most `waiting_max` requests wait for the permits of each kind,
    /// and at most 32 for strength checks.
    ///
    /// # Errors
    /// If hashing fails, which means that the parameters are wrong or that there are no random
    /// bytes.
    pub fn new(waiting_max: u64) -> anyhow::Result<Self> {
        let decoy = hash(&uuid::Uuid::new_v4().to_string())?;
        let permits = |work_name, running, waiting| Arc::new(Permits::counted(work_name, running, waiting));
        let strength_checks_waiting_max = waiting_max.min(STRENGTH_CHECKS_WAITING_MAX);
        Ok(Self {
            known_accounts: permits("password checks", PARALLEL_HASHES, waiting_max),
            unknown_accounts: permits("password checks", PARALLEL_HASHES, waiting_max),
            registrations: permits("registration", PARALLEL_REGISTRATIONS, waiting_max),
            strength_checks: permits(
                "password strength checks",
                PARALLEL_STRENGTH_CHECKS,
                strength_checks_waiting_max,
            ),
            decoy: decoy.into(),
        })
    }

    /// Hashes a password to a PHC string.
    ///
    /// # Errors
    /// 503 `busy` if too many requests wait.
    pub async fn hash(&self, password: String) -> Result<String, ApiError> {
        self.known_accounts.run(move |_| hash(&password).map_err(ApiError::internal)).await
    }

    /// Hashes the password of a new account.
    ///
    /// # Errors
    /// Those of [`require_strong`], and 503 `busy` if too many requests wait.
    pub async fn hash_for_registration(&self, password: String, username: &str) -> Result<String, ApiError> {
        let username = username.to_owned();
        let work = move |_: &_| {
            require_strong(&password, &username)?;
            hash(&password).map_err(ApiError::internal)
        };
        self.registrations.run(work).await
    }

    /// Whether `password` matches the hash `stored_hash`. Without a stored hash, returns false
    /// after the same time. `is_known` says whether the account has logged in from the client's
    /// address before, or the request has a token of the account.
    ///
    /// # Errors
    /// 503 `busy` if too many requests wait.
    pub async fn verify(
        &self,
        password: String,
        stored_hash: Option<&str>,
        is_known: bool,
    ) -> Result<bool, ApiError> {
        let has_password = stored_hash.is_some();
        let hash = stored_hash.unwrap_or(&self.decoy).to_owned();
        let permits = if is_known { &self.known_accounts } else { &self.unknown_accounts };
        let matches = permits.run(move |_| verify(&password, &hash).map_err(ApiError::internal)).await?;
        Ok(matches && has_password)
    }

    /// Calls [`strength`] in a blocking thread.
    ///
    /// # Errors
    /// 503 `busy` if too many requests wait.
    pub async fn strength(&self, password: String) -> Result<PasswordStrength, ApiError> {
        self.strength_checks.run(move |_| Ok(strength(&password, None))).await
    }

    /// Calls [`require_strong`] in a blocking thread.
    ///
    /// # Errors
    /// Those of [`require_strong`], and 503 `busy` if too many requests wait.
    pub async fn require_strong(&self, password: &str, username: &str) -> Result<(), ApiError> {
        let (password, username) = (password.to_owned(), username.to_owned());
        self.known_accounts.run(move |_| require_strong(&password, &username)).await
    }
}

fn make_argon2() -> anyhow::Result<Argon2<'static>> {
    let params =
        Params::new(MEMORY_KIB, HASH_PASSES, 1, None).map_err(|error| anyhow::anyhow!("argon2: {error}"))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn hash(password: &str) -> anyhow::Result<String> {
    let hash = make_argon2()?
        .hash_password(password.as_bytes())
        .map_err(|error| anyhow::anyhow!("cannot hash a password: {error}"))?;
    Ok(hash.to_string())
}

fn verify(password: &str, stored_hash: &str) -> anyhow::Result<bool> {
    let parsed_hash = PasswordHash::new(stored_hash)
        .map_err(|error| anyhow::anyhow!("a stored password hash is invalid: {error}"))?;
    Ok(make_argon2()?.verify_password(password.as_bytes(), &parsed_hash).is_ok())
}

/// Strength of a password.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PasswordStrength {
    /// Score from 0 (trivial to guess) to 4 (very hard to guess).
    pub score: u8,
    /// Reason why the password is weak; null if the password is not weak.
    pub warning: Option<String>,
    /// Advice for a stronger password.
    pub suggestions: Vec<String>,
    /// Whether the password is strong enough to be set.
    pub accepted: bool,
}

/// Scores the first 100 characters of a password. A password that contains `username` scores lower.
#[must_use]
pub fn strength(password: &str, username: Option<&str>) -> PasswordStrength {
    let scored_password: String = password.chars().take(SCORED_CHARS_MAX).collect();
    let known_words: Vec<&str> = username.into_iter().chain(["songfoundry"]).collect();
    let entropy = zxcvbn::zxcvbn(&scored_password, &known_words);
    let score = u8::from(entropy.score());
    let feedback = entropy.feedback();
    PasswordStrength {
        score,
        warning: feedback.and_then(zxcvbn::feedback::Feedback::warning).map(|warning| warning.to_string()),
        suggestions: feedback
            .map(|feedback| feedback.suggestions().iter().map(ToString::to_string).collect())
            .unwrap_or_default(),
        accepted: score >= SCORE_ACCEPTED,
    }
}

/// Refuses passwords that are too weak or too long.
///
/// # Errors
/// 400 `weak_password` or `password_too_long`, with advice.
pub fn require_strong(password: &str, username: &str) -> Result<(), ApiError> {
    if password.len() > PASSWORD_MAX_BYTES {
        return Err(ApiError::bad_request(
            "password_too_long",
            format!(
                "This password has {} bytes; a password may have at most {PASSWORD_MAX_BYTES}.",
                password.len()
            ),
        ));
    }
    let strength = strength(password, Some(username));
    if strength.accepted {
        return Ok(());
    }
    let mut detail = format!(
        "This password is too easy to guess (score {} of 4, {SCORE_ACCEPTED} is needed).",
        strength.score
    );
    for text in strength.warning.iter().chain(&strength.suggestions) {
        detail.push(' ');
        detail.push_str(text);
    }
    Err(ApiError::bad_request("weak_password", detail))
}

/// Generates a random password of 20 characters. Characters that look alike, such as `l` and `1`,
/// are not used.
///
/// # Errors
/// When the operating system cannot provide random bytes.
pub fn generate() -> anyhow::Result<String> {
    const PASSWORD_CHARS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut bytes = [0; 20];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("the operating system cannot provide random bytes: {error}"))?;
    Ok(bytes.iter().map(|byte| char::from(PASSWORD_CHARS[usize::from(byte % 32)])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_matches_only_its_own_hash() {
        let passwords = Passwords::new(9).expect("prepares");
        let stored = passwords.hash("correct horse".to_owned()).await.expect("hashes");
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert!(passwords.verify("correct horse".to_owned(), Some(&stored), true).await.unwrap());
        assert!(!passwords.verify("correct horsf".to_owned(), Some(&stored), false).await.unwrap());
        assert!(!passwords.verify("correct horse".to_owned(), None, true).await.unwrap());
    }

    #[test]
    fn scoring_a_long_password_is_quick() {
        assert!(!strength("password", None).accepted);
        assert!(strength("password", None).warning.is_some());
        assert!(strength("tuba-lattice-overbid-9", None).accepted);
        assert!(!strength("margarethe1", Some("margarethe")).accepted);
        let start_time = std::time::Instant::now();
        assert!(strength(&"aB3$".repeat(250_000), None).score <= 4);
        assert!(start_time.elapsed().as_secs() < 5);
    }

    #[test]
    fn generated_passwords_are_strong_and_differ() {
        let (first_password, two) = (generate().unwrap(), generate().unwrap());
        assert_ne!(first_password, two);
        assert!(require_strong(&first_password, "admin").is_ok());
    }
}
