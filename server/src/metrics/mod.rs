//! Metrics of this process for `/metrics` (`monitoring/`). Their labels contain no users, projects
//! or files.

mod live;
mod numbers;

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;

pub(crate) use live::OpenLivePlugin;
pub use numbers::Metrics;
use numbers::RequestLabels;

use crate::state::AppState;

/// Label for paths without a route: files of the web page, and unknown paths.
const NO_ROUTE: &str = "(page)";

/// Middleware: counts requests by route and measures the time until the answer begins.
pub(crate) async fn observe(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let started_at = Instant::now();
    let method = match request.method().as_str() {
        known_method @ ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS") => {
            known_method.to_owned()
        }
        _ => "other".to_owned(),
    };
    let matched_path = request.extensions().get::<MatchedPath>();
    let route = matched_path.map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let response = next.run(request).await;
    let labels = RequestLabels { method, route, status: response.status().as_u16() };
    state.metrics.record_request(labels, started_at.elapsed());
    response
}
