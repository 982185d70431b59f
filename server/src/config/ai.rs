//! Settings of the language models that users may reach through the service.

use reqwest::Url;

use super::source::{Source, invalid};
use super::{ConfigError, Secret};

/// A service that speaks the API of OpenAI.
#[derive(Debug, Clone)]
pub struct AiUpstream {
    /// What the addresses of its operations begin with, a slash at its end.
    pub base: Url,
    /// Its key, if it wants one.
    pub key: Option<Secret>,
    /// Models that users may use; empty: all.
    pub models: Vec<String>,
    /// Longest silence of it in seconds.
    pub silence_max_secs: u64,
    /// Largest answer of it in bytes.
    pub answer_max_bytes: u64,
}

/// What users may ask of language models.
#[derive(Debug, Clone)]
pub struct AiConfig {
    /// Whom they ask; `None`: nobody.
    pub upstream: Option<AiUpstream>,
    /// Largest question in bytes.
    pub question_max_bytes: u64,
}

pub(super) fn load(source: &Source) -> Result<AiConfig, ConfigError> {
    let key = source.text("SF_AI_UPSTREAM_KEY").0.map(|text| Secret(text.to_owned()));
    let silence_max_secs = source.whole("SF_AI_TIMEOUT_SECS")?;
    let answer_max_bytes = source.whole("SF_AI_ANSWER_MAX_BYTES")?;
    let models: Vec<String> = source
        .text("SF_AI_MODELS")
        .0
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|model| !model.is_empty())
        .map(str::to_owned)
        .collect();
    let upstream = match source.text("SF_AI_UPSTREAM_URL").0 {
        Some(text) => Some(AiUpstream { base: base(text)?, key, models, silence_max_secs, answer_max_bytes }),
        None if key.is_some() => {
            return Err(ConfigError::Missing {
                key: "SF_AI_UPSTREAM_URL",
                reason: "SF_AI_UPSTREAM_KEY is, and the key is for that address",
            });
        }
        None => None,
    };
    Ok(AiConfig { upstream, question_max_bytes: source.whole("SF_AI_QUESTION_MAX_BYTES")? })
}

/// The address without anything that could hold a secret, so that it may be shown.
fn base(text: &str) -> Result<Url, ConfigError> {
    let expected = "an address such as https://api.openai.com/v1, without name, password, query or fragment";
    // It may hold a password, so it is not repeated.
    let refused = || invalid("SF_AI_UPSTREAM_URL", "(another kind of address)", expected.to_owned());
    let mut url = Url::parse(text).map_err(|_| refused())?;
    let plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !plain || !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(refused());
    }
    let path = format!("{}/", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}
