//! Refuses unknown query parameters, just as the body extractors refuse unknown fields.
//!
//! The names of the parameters are read from the API description, so the two always agree.

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

/// Maximum length in characters of a parameter's name in an error text.
const SHOWN_CHARS: usize = 50;

/// Operations by method, in lower case, and path template.
#[derive(Debug, Clone)]
pub(crate) struct QueryNames(Arc<HashMap<(String, String), Operation>>);

/// The properties of an operation that this check needs.
#[derive(Debug)]
struct Operation {
    /// Names of the operation's query parameters.
    names: Vec<String>,
    /// Whether the operation requires a log-in.
    needs_login: bool,
}

impl QueryNames {
    /// Reads the operations from an OpenAPI document.
    pub(crate) fn from_document(document: &Value) -> Self {
        let mut operations = HashMap::new();
        for (path, methods) in document["paths"].as_object().into_iter().flatten() {
            for (method, operation) in methods.as_object().into_iter().flatten() {
                let parameters = operation["parameters"].as_array().into_iter().flatten();
                let names = parameters
                    .filter(|entry| entry["in"] == "query")
                    .filter_map(|entry| entry["name"].as_str());
                let names = names.map(str::to_owned).collect();
                let needs_login = operation.as_object().is_some_and(is_for_users);
                operations.insert((method.clone(), path.clone()), Operation { names, needs_login });
            }
        }
        Self(Arc::new(operations))
    }

    /// Returns an operation; `None` if the API description does not contain it. `HEAD` has the
    /// parameters of `GET`.
    fn find(&self, method: &str, path: &str) -> Option<&Operation> {
        let get = |method: &str| self.0.get(&(method.to_owned(), path.to_owned()));
        let method = method.to_ascii_lowercase();
        get(&method).or_else(|| (method == "head").then(|| get("get")).flatten())
    }

    /// Returns the error for a request with an unknown parameter, and whether the operation
    /// requires a log-in.
    fn refusal(&self, request: &Request) -> Option<(ApiError, bool)> {
        let path = request.extensions().get::<MatchedPath>()?;
        let Operation { names, needs_login } = self.find(request.method().as_str(), path.as_str())?;
        let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(request.uri());
        // A malformed query is refused later, by the extractor of the query.
        let axum::extract::Query(pairs) = pairs.ok()?;
        let (unknown, _) = pairs.iter().find(|(name, _)| !names.contains(name))?;
        Some((unknown_parameter_error(unknown, names), *needs_login))
    }
}

fn unknown_parameter_error(name: &str, parameters: &[String]) -> ApiError {
    let name: String = name.chars().take(SHOWN_CHARS).collect();
    let quoted_names: Vec<String> = parameters.iter().map(|name| format!("`{name}`")).collect();
    let parameter_list = if quoted_names.is_empty() {
        "it has none".to_owned()
    } else {
        format!("it has {}", quoted_names.join(", "))
    };
    let detail = format!("`{name}` is not a query parameter of this operation; {parameter_list}.");
    ApiError::bad_request("unknown_parameter", detail)
}

/// Middleware of the API's routes. Answers 400 `unknown_parameter` to an unknown parameter. If the
/// operation requires a log-in, callers without one get 401 instead, because the error text
/// contains the names of the parameters.
pub(crate) async fn refuse_unknown(
    names: QueryNames,
    state: AppState,
    request: Request,
    next: Next,
) -> Response {
    let Some((refusal, needs_login)) = names.refusal(&request) else { return next.run(request).await };
    if needs_login {
        let (mut parts, _) = request.into_parts();
        if let Err(refusal) = AnyUser::from_request_parts(&mut parts, &state).await {
            return refusal.into_response();
        }
    }
    refusal.into_response()
}
