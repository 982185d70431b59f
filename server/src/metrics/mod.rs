//! Counts what this process does, for `/metrics` (`monitoring/`). No number names a user, a project
//! or a file.

mod numbers;

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;

pub use numbers::Metrics;
use numbers::RequestLabels;

use crate::state::AppState;

/// What stands for a path that no route took: files of the page, and what is not there.
const NO_ROUTE: &str = "(page)";

/// Middleware: counts requests by route, and how long it takes until an answer begins.
pub(crate) async fn observe(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let method = match request.method().as_str() {
        known @ ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS") => known.to_owned(),
        _ => "other".to_owned(),
    };
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let response = next.run(request).await;
    let labels = RequestLabels { method, route, status: response.status().as_u16() };
    state.metrics.request(labels, begun.elapsed());
    response
}
