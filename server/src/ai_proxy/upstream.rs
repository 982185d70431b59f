//! The client of the language-model service.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Response, Url, redirect};

use super::refusal;
use crate::config::{AiUpstream, Secret};
use crate::error::{ApiError, ApiResult};
use crate::fair_bytes::FairBytes;

/// Maximum memory for answers that are being read, in bytes.
const READING_MAX_BYTES: u64 = 96 * 1024 * 1024;

/// The proxy to language models. `None` if the administrator has not set up a service.
#[derive(Debug)]
pub struct AiProxy(Option<Upstream>);

/// The language-model service.
#[derive(Debug)]
pub(super) struct Upstream {
    client: Client,
    base: Url,
    api_key: Option<Secret>,
    models: Vec<String>,
    /// Maximum time without data from the service, and maximum time for a whole list of models.
    pub(super) silence_max: Duration,
    pub(super) answer_max_bytes: u64,
    /// Memory for answers that are being read. It is shared fairly between users.
    pub(super) reading: FairBytes,
}

impl AiProxy {
    /// Creates a proxy to the service in the settings. It does not connect yet.
    ///
    /// # Errors
    /// If the system's certificates cannot be read.
    pub fn new(settings: Option<&AiUpstream>) -> reqwest::Result<Self> {
        settings.map(Upstream::new).transpose().map(Self)
    }

    /// Returns the service.
    ///
    /// # Errors
    /// 501 `ai_not_configured`.
    pub(super) fn upstream(&self) -> ApiResult<&Upstream> {
        self.0.as_ref().ok_or_else(|| ApiError::NotImplemented {
            code: "ai_not_configured",
            detail:
                "No language models are set up here; the administrator can set a service in SF_AI_UPSTREAM_URL."
                    .to_owned(),
        })
    }
}

impl Upstream {
    fn new(settings: &AiUpstream) -> reqwest::Result<Self> {
        // This fails if another part of the program has already installed a provider, which does no
        // harm.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let silence_max = Duration::from_secs(settings.silence_max_secs);
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .connect_timeout(refusal::CONNECT_WITHIN)
            .read_timeout(silence_max)
            .user_agent(concat!("songfoundry/", env!("CARGO_PKG_VERSION")))
            .build()?;
        let AiUpstream { base, api_key, models, answer_max_bytes, .. } = settings.clone();
        let reading = FairBytes::new("memory for language-model responses", READING_MAX_BYTES);
        Ok(Self { client, base, api_key, models, silence_max, answer_max_bytes, reading })
    }

    /// Whether users may use this model.
    pub(super) fn allows(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.iter().any(|allowed_model| allowed_model == model)
    }

    /// Returns an error 400 if users may not use this model.
    pub(super) fn check_model(&self, model: &str) -> ApiResult<()> {
        if self.allows(model) {
            return Ok(());
        }
        let model: String = model.chars().take(100).collect();
        let detail = format!(
            "The model `{model}` is not allowed here; allowed models (SF_AI_MODELS): {}.",
            self.models.join(", ")
        );
        Err(ApiError::bad_request("model_not_allowed", detail))
    }

    /// Calls an operation: POST with a body, or GET of a list. Returns a successful response whose
    /// body has not been read.
    ///
    /// # Errors
    /// Those of the module [`refusal`].
    pub(super) async fn call(&self, operation: &str, body: Option<String>) -> ApiResult<Response> {
        let url = self.base.join(operation).map_err(ApiError::internal)?;
        let mut request = match body {
            Some(body) => self.client.post(url).header(CONTENT_TYPE, "application/json").body(body),
            // Without this limit, the service could send a list so slowly that it never ends.
            None => self.client.get(url).timeout(self.silence_max),
        };
        request = request.header(ACCEPT, "application/json, text/event-stream");
        if let Some(api_key) = &self.api_key {
            request = request.bearer_auth(api_key.reveal());
        }
        let response =
            request.send().await.map_err(|error| refusal::no_answer_error(&error, self.silence_max))?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(refusal::refusal_error(response, self.api_key.as_ref()).await)
    }
}
