//! Refuses query parameters that an operation does not have, as unknown fields of bodies are
//! refused.
//!
//! Which parameters an operation has stands in the API's description, so that the two cannot
//! disagree.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{FromRequestParts as _, MatchedPath, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;

use crate::auth::AnyUser;
use crate::docs::is_for_users;
use crate::error::ApiError;
use crate::state::AppState;

/// Longest part of a parameter's name that a refusal repeats, in characters.
const SHOWN_CHARS: usize = 50;

/// Names of query parameters by method, in lower case, and path.
#[derive(Debug, Clone)]
pub(crate) struct QueryNames(Arc<HashMap<(String, String), Operation>>);

/// What is known of an operation.
#[derive(Debug)]
struct Operation {
    /// Names of its query parameters.
    names: Vec<String>,
    /// Whether it is for users only.
    asks_who: bool,
}

impl QueryNames {
    /// The names in an OpenAPI document.
    pub(crate) fn of(document: &Value) -> Self {
        let mut all = HashMap::new();
        for (path, methods) in document["paths"].as_object().into_iter().flatten() {
            for (method, operation) in methods.as_object().into_iter().flatten() {
                let parameters = operation["parameters"].as_array().into_iter().flatten();
                let names =
                    parameters.filter(|one| one["in"] == "query").filter_map(|one| one["name"].as_str());
                let names = names.map(str::to_owned).collect();
                let known = Operation { names, asks_who: operation.as_object().is_some_and(is_for_users) };
                all.insert((method.clone(), path.clone()), known);
            }
        }
        Self(Arc::new(all))
    }

    /// The operation; `None` if it is not described. `HEAD` is as `GET`.
    fn find(&self, method: &str, path: &str) -> Option<&Operation> {
        let of = |method: &str| self.0.get(&(method.to_owned(), path.to_owned()));
        let method = method.to_ascii_lowercase();
        of(&method).or_else(|| (method == "head").then(|| of("get")).flatten())
    }

    /// The refusal of a request with an unknown parameter, and whether only users learn of it.
    fn refusal(&self, request: &Request) -> Option<(ApiError, bool)> {
        let path = request.extensions().get::<MatchedPath>()?;
        let Operation { names, asks_who } = self.find(request.method().as_str(), path.as_str())?;
        let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(request.uri());
        // A malformed query is refused by its extractor.
        let axum::extract::Query(pairs) = pairs.ok()?;
        let (unknown, _) = pairs.iter().find(|(name, _)| !names.contains(name))?;
        Some((refusal(unknown, names), *asks_who))
    }
}

fn refusal(name: &str, known: &[String]) -> ApiError {
    let name: String = name.chars().take(SHOWN_CHARS).collect();
    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let has = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let detail = format!("`{name}` is no query parameter of this operation; it has {has}.");
    ApiError::bad_request("unknown_parameter", detail)
}

/// Middleware of the API's routes: answers 400 `unknown_parameter`. Who is not logged in learns
/// that first: the names of an operation's parameters are for those who may use it.
pub(crate) async fn refuse_unknown(
    names: QueryNames,
    state: AppState,
    request: Request,
    next: Next,
) -> Response {
    let Some((refusal, asks_who)) = names.refusal(&request) else { return next.run(request).await };
    if asks_who {
        let (mut parts, _) = request.into_parts();
        if let Err(refusal) = AnyUser::from_request_parts(&mut parts, &state).await {
            return refusal.into_response();
        }
    }
    refusal.into_response()
}
