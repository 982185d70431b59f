//! Settings of the language models that users may use through the service.

use reqwest::Url;

use super::source::{Source, invalid_address};
use super::{ConfigError, Secret};

/// A service with the API of OpenAI.
#[derive(Debug, Clone)]
pub struct AiUpstream {
    /// Base address of the service's operations. It ends with a slash.
    pub base: Url,
    /// API key of the service, if it needs one.
    pub api_key: Option<Secret>,
    /// Models that users may use. Empty allows all models.
    pub models: Vec<String>,
    /// Maximum time without data from the service, in seconds.
    pub silence_max_secs: u64,
    /// Maximum size of an answer, in bytes.
    pub answer_max_bytes: u64,
}

/// Limits on the use of language models.
#[derive(Debug, Clone)]
pub struct AiConfig {
    /// The service, or `None` if there are no language models.
    pub upstream: Option<AiUpstream>,
    /// Maximum size of a request to a language model, in bytes.
    pub question_max_bytes: u64,
}

pub(super) fn load(source: &Source) -> Result<AiConfig, ConfigError> {
    let api_key = source.text("SF_AI_UPSTREAM_KEY").0.map(|text| Secret(text.to_owned()));
    let silence_max_secs = source.integer("SF_AI_TIMEOUT_SECS")?;
    let answer_max_bytes = source.integer("SF_AI_ANSWER_MAX_BYTES")?;
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
        Some(text) => {
            Some(AiUpstream { base: parse_base(text)?, api_key, models, silence_max_secs, answer_max_bytes })
        }
        None if api_key.is_some() => {
            return Err(ConfigError::Missing {
                key: "SF_AI_UPSTREAM_URL",
                reason: "SF_AI_UPSTREAM_KEY is set, which is the key for that address; set the address, or remove the key",
            });
        }
        None => None,
    };
    Ok(AiConfig { upstream, question_max_bytes: source.integer("SF_AI_QUESTION_MAX_BYTES")? })
}

/// Parses the address. Refuses parts that could contain a secret, because the address may be shown
/// to users.
fn parse_base(text: &str) -> Result<Url, ConfigError> {
    let expected =
        "an address such as https://api.openai.com/v1, without user name, password, query or fragment";
    let invalid_url = || invalid_address("SF_AI_UPSTREAM_URL", expected);
    let mut url = Url::parse(text).map_err(|_| invalid_url())?;
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !is_plain || !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(invalid_url());
    }
    let path = format!("{}/", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}
