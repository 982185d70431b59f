//! Handlers of `/ai_proxy`.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::answer;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, JsonObject};
use crate::large_answer::Recipient;
use crate::state::AppState;

/// Maximum length of the list of models, in bytes.
const MODELS_MAX_BYTES: u64 = 1024 * 1024;

/// Memory that the parsed form of a byte of JSON needs in the worst case, in bytes.
const PARSED_BYTES_PER_BYTE: u64 = 64;

/// The language models that users may use.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ModelList {
    /// Always `list`.
    object: &'static str,
    /// The models as the service describes them; each has an `id`.
    #[schema(value_type = Vec<Object>)]
    data: Vec<Value>,
}

/// Sends a request to a language model. Body and answer are those of OpenAI's `chat/completions`.
/// If `stream` is true, the answer is a stream of events. A failure during the stream is sent as an
/// event `error` with a problem.
#[utoipa::path(post, path = "/ai_proxy/v1/chat/completions", tag = "ai_proxy",
    request_body(content = Object, description = "The request as in OpenAI's `chat/completions`, with `model`, `messages` and other fields"),
    responses((status = 200, description = "The answer", body = Object),
        (status = 429, description = "The service gets too many requests", body = Problem,
            content_type = "application/problem+json"),
        (status = 501, description = "`ai_not_configured`", body = Problem,
            content_type = "application/problem+json"),
        (status = 502, description = "`ai_unreachable`, `ai_failed`, `ai_key_refused` or `ai_answer_too_large`",
            body = Problem, content_type = "application/problem+json"),
        (status = 504, description = "`ai_timeout`", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn chat_completions(
    State(state): State<AppState>,
    user: CurrentUser,
    headers: HeaderMap,
    JsonObject(body): JsonObject,
) -> ApiResult<Response> {
    let upstream = state.ai_proxy.upstream()?;
    let model = body.view().text("model").ok_or_else(|| {
        ApiError::bad_request(
            "model_missing",
            "The body has no string `model`; GET /ai_proxy/v1/models lists the models.",
        )
    })?;
    upstream.check_model(&model)?;
    // This removes duplicate `model` fields. Otherwise, the service might use a model other than
    // the checked one.
    let body = body.with_text("model", &model).into_string();
    let response = upstream.call("chat/completions", Some(body)).await?;
    answer::pass_on(&state, Recipient::new(&state, &user.id, &headers), response).await
}

/// Lists the language models that users may use.
#[utoipa::path(get, path = "/ai_proxy/v1/models", tag = "ai_proxy",
    responses((status = 200, body = ModelList),
        (status = 501, description = "`ai_not_configured`", body = Problem,
            content_type = "application/problem+json"),
        (status = 502, description = "As for `chat/completions`", body = Problem,
            content_type = "application/problem+json"),
        (status = 504, description = "`ai_timeout`", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn models(State(state): State<AppState>, user: CurrentUser) -> ApiResult<Json<ModelList>> {
    let upstream = state.ai_proxy.upstream()?;
    let response = upstream.call("models", None).await?;
    let mut reserved_bytes = upstream.reading.reservation(&user.id);
    let max_length = answer::MaxLength {
        bytes: upstream.answer_max_bytes.min(MODELS_MAX_BYTES),
        is_setting: upstream.answer_max_bytes < MODELS_MAX_BYTES,
    };
    let bytes = answer::read_all(response, upstream.silence_max, max_length, &mut reserved_bytes).await?;
    reserved_bytes.grow(PARSED_BYTES_PER_BYTE * bytes.len() as u64)?;
    let mut list: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let Some(Value::Array(mut model_entries)) = list.get_mut("data").map(Value::take) else {
        return Err(ApiError::BadGateway {
            code: "ai_failed",
            detail: "The language-model service did not send a list of models; expected an object with a list `data`."
                .to_owned(),
        });
    };
    model_entries.retain(|model| model["id"].as_str().is_some_and(|id| upstream.allows(id)));
    Ok(Json(ModelList { object: "list", data: model_entries }))
}
