//! Refuses query parameters that an operation does not have, as unknown fields of bodies are
//! refused.
//!
//! Which parameters an operation has stands in the API's description, so that the two cannot
//! disagree.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;

use crate::error::{ApiError, ApiResult};

/// Longest part of a parameter's name that a refusal repeats, in characters.
const SHOWN_CHARS: usize = 50;

/// Names of query parameters by method, in lower case, and path.
#[derive(Debug, Clone)]
pub(crate) struct QueryNames(Arc<HashMap<(String, String), Vec<String>>>);

impl QueryNames {
    /// The names in an OpenAPI document.
    pub(crate) fn of(document: &Value) -> Self {
        let mut all = HashMap::new();
        for (path, methods) in document["paths"].as_object().into_iter().flatten() {
            for (method, operation) in methods.as_object().into_iter().flatten() {
                let parameters = operation["parameters"].as_array().into_iter().flatten();
                let names =
                    parameters.filter(|one| one["in"] == "query").filter_map(|one| one["name"].as_str());
                all.insert((method.clone(), path.clone()), names.map(str::to_owned).collect());
            }
        }
        Self(Arc::new(all))
    }

    /// Names of an operation's parameters; `None` if it is not described. `HEAD` has `GET`'s.
    fn find(&self, method: &str, path: &str) -> Option<&[String]> {
        let of = |method: &str| self.0.get(&(method.to_owned(), path.to_owned())).map(Vec::as_slice);
        let method = method.to_ascii_lowercase();
        of(&method).or_else(|| (method == "head").then(|| of("get")).flatten())
    }

    fn check(&self, request: &Request) -> ApiResult<()> {
        let Some(path) = request.extensions().get::<MatchedPath>() else { return Ok(()) };
        let Some(known) = self.find(request.method().as_str(), path.as_str()) else { return Ok(()) };
        let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(request.uri());
        // A malformed query is refused by its extractor.
        let Ok(axum::extract::Query(pairs)) = pairs else { return Ok(()) };
        match pairs.iter().find(|(name, _)| !known.contains(name)) {
            Some((name, _)) => Err(refusal(name, known)),
            None => Ok(()),
        }
    }
}

fn refusal(name: &str, known: &[String]) -> ApiError {
    let name: String = name.chars().take(SHOWN_CHARS).collect();
    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let has = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let detail = format!("`{name}` is no query parameter of this operation; it has {has}.");
    ApiError::bad_request("unknown_parameter", detail)
}

/// Middleware of the API's routes: answers 400 `unknown_parameter`.
pub(crate) async fn refuse_unknown(names: QueryNames, request: Request, next: Next) -> Response {
    match names.check(&request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}
