//! Log-in tokens: JWTs signed with HS256. They contain a version, so that older tokens can be
//! invalidated.

use std::io;
use std::path::Path;

use anyhow::Context as _;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::hs256;
use super::store::UserRow;
use crate::clock;
use crate::config::AccountsConfig;
use crate::error::ApiError;
use crate::storage::write_private_file;

/// Name of the key file in the storage folder.
const KEY_FILE: &str = "token-signing.key";

/// Claims of a token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Claims {
    /// Id of the user.
    pub sub: String,
    /// Role when the token was issued. The service uses the role in the database instead.
    pub role: String,
    /// Version of the user's tokens. Tokens with an older version are refused.
    pub ver: i64,
    /// Time of issue in seconds since 1970.
    pub iat: i64,
    /// Expiry time in seconds since 1970.
    pub exp: i64,
    /// Id of this token.
    pub jti: String,
    /// Id of the log-in. A renewed token has the same id as the token that it renews. If it is
    /// missing, `jti` is the id of the log-in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sid: Option<String>,
}

impl Claims {
    /// Returns the id of the log-in, which a log-out ends.
    #[must_use]
    pub fn session_id(&self) -> &str {
        self.sid.as_deref().unwrap_or(&self.jti)
    }
}

/// Issues and checks tokens.
pub struct Tokens {
    encoding: EncodingKey,
    decoding: DecodingKey,
    validation: Validation,
    lifetime_secs: u64,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").field("lifetime_secs", &self.lifetime_secs).finish_non_exhaustive()
    }
}

impl Tokens {
    /// Reads the signing key from the settings, or from the storage folder, where the first start
    /// creates it.
    ///
    /// # Errors
    /// If the key file cannot be read or written, or does not contain a key.
    pub fn open(config: &AccountsConfig, storage_dir: &Path) -> anyhow::Result<Self> {
        let signing_key = match &config.jwt_secret {
            Some(secret) => secret.reveal().as_bytes().to_vec(),
            None => stored_key(&storage_dir.join(KEY_FILE))?,
        };
        hs256::install();
        let mut validation = Validation::new(Algorithm::HS256);
        validation.algorithms = vec![Algorithm::HS256];
        validation.leeway = 0;
        validation.validate_aud = false;
        validation.set_required_spec_claims(&["exp", "sub"]);
        Ok(Self {
            encoding: EncodingKey::from_secret(&signing_key),
            decoding: DecodingKey::from_secret(&signing_key),
            validation,
            lifetime_secs: config.token_lifetime_secs,
        })
    }

    /// Returns the lifetime of a new token, in seconds.
    #[must_use]
    pub fn lifetime_secs(&self) -> u64 {
        self.lifetime_secs
    }

    /// Issues a token for `user`, either for the log-in `session_id` or for a new log-in.
    ///
    /// # Errors
    /// If signing fails.
    pub fn issue(&self, user: &UserRow, session_id: Option<&str>) -> Result<String, ApiError> {
        let iat = clock::now_unix_secs();
        let claims = Claims {
            sub: user.id.clone(),
            role: user.role.as_str().to_owned(),
            ver: user.token_version,
            iat,
            exp: iat.saturating_add_unsigned(self.lifetime_secs),
            jti: uuid::Uuid::new_v4().to_string(),
            sid: Some(session_id.map_or_else(|| uuid::Uuid::new_v4().to_string(), str::to_owned)),
        };
        self.sign(&claims)
    }

    /// Signs claims.
    pub(super) fn sign(&self, claims: &impl Serialize) -> Result<String, ApiError> {
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &self.encoding)
            .map_err(ApiError::internal)
    }

    /// Returns the claims of a token for this audience, if it is genuine and has not expired.
    pub(super) fn verify<T: DeserializeOwned>(&self, token: &str, audience: &str) -> Option<T> {
        let mut validation = self.validation.clone();
        validation.validate_aud = true;
        validation.set_audience(&[audience]);
        validation.set_required_spec_claims(&["exp", "sub", "aud"]);
        Some(jsonwebtoken::decode(token, &self.decoding, &validation).ok()?.claims)
    }

    /// Returns the claims of a token, if it is genuine and has not expired.
    ///
    /// # Errors
    /// 401 `token_expired` or `token_invalid`.
    pub fn check(&self, token: &str) -> Result<Claims, ApiError> {
        use jsonwebtoken::errors::ErrorKind;
        jsonwebtoken::decode::<Claims>(token, &self.decoding, &self.validation)
            .map(|token_data| token_data.claims)
            .map_err(|error| match error.kind() {
                ErrorKind::ExpiredSignature => ApiError::Unauthorized {
                    code: "token_expired",
                    detail: "The token has expired; log in again.".to_owned(),
                },
                _ => ApiError::Unauthorized {
                    code: "token_invalid",
                    detail: "The token is not valid; log in again.".to_owned(),
                },
            })
    }
}

fn stored_key(path: &Path) -> anyhow::Result<Vec<u8>> {
    match std::fs::read_to_string(path) {
        Ok(text) => {
            keep_private(path)?;
            let decoded_key = BASE64_URL_SAFE_NO_PAD.decode(text.trim());
            decoded_key.ok().filter(|decoded_key| decoded_key.len() >= 32).with_context(|| {
                format!(
                    "{} is not a signing key, which has at least 32 bytes in URL-safe base64; delete the file to get a \
                     new key (this ends all sessions)",
                    path.display()
                )
            })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut new_key = vec![0; 32];
            getrandom::fill(&mut new_key).map_err(|error| {
                anyhow::anyhow!("the operating system cannot provide random bytes: {error}")
            })?;
            write_private_file(path, BASE64_URL_SAFE_NO_PAD.encode(&new_key).as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
            Ok(new_key)
        }
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Removes other users' access to the key file.
fn keep_private(path: &Path) -> anyhow::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mut permissions = std::fs::metadata(path)?.permissions();
        if permissions.mode() & 0o077 != 0 {
            permissions.set_mode(0o600);
            std::fs::set_permissions(path, permissions)
                .with_context(|| format!("cannot restrict {} to its owner", path.display()))?;
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
