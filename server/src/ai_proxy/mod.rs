//! A proxy between users and the language-model service that the administrator has chosen.
//!
//! The proxy parses the JSON of a request and serializes it again for the service. It passes on the
//! JSON or the event stream of the answer, and of its headers only the media type. It adds the
//! service's key, which is used nowhere else. It follows no redirects and uses no other proxies, so
//! it never calls another address.

mod answer;
mod refusal;
mod upstream;
mod verbs;

pub use upstream::AiProxy;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::extract::BodyLimit;
use crate::router::with_body_limit;
use crate::state::AppState;

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let limit = BodyLimit::of(config.ai.question_max_bytes, "A request to a language model");
    let chat = OpenApiRouter::new().routes(routes!(verbs::chat_completions));
    OpenApiRouter::new().routes(routes!(verbs::models)).merge(with_body_limit(chat, limit))
}

#[cfg(test)]
mod tests;
