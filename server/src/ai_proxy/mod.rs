//! Language models: requests of users are passed to the one service that the administrator has
//! chosen.
//!
//! What passes: the JSON of a request, parsed and written anew, and the JSON or the event stream of
//! an answer. Headers of the request do not pass, nor those of the answer but for its kind. The
//! service's key is added here and seen nowhere else; redirects and proxies are not followed, so no
//! other address is ever asked.

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

/// The routes of this slice, relative to `/api/v1`.
pub fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let limit = BodyLimit::of(config.ai.question_max_bytes, "A request to a language model");
    let chat = OpenApiRouter::new().routes(routes!(verbs::chat_completions));
    OpenApiRouter::new().routes(routes!(verbs::models)).merge(with_body_limit(chat, limit))
}

#[cfg(test)]
mod tests;
