//! `/metrics`: numbers for Prometheus, in the OpenMetrics text format.
//!
//! Counters and histograms are this process's own, from its start; what stands in the database or
//! on the disk is looked up when it is asked for. Who may read is said by `SF_METRICS`. No number
//! names a user, a project or a file.

mod gauges;
mod numbers;

use axum::Router;
use axum::extract::{FromRequestParts as _, MatchedPath, Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::time::Instant;

pub use numbers::Metrics;
use numbers::RequestLabels;

use crate::auth::Admin;
use crate::config::MetricsAccess;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Kind of the text that Prometheus reads.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What stands for a path that no route took: files of the page, and what is not there.
const NO_ROUTE: &str = "(page)";

/// The route, outside the API's prefix.
pub(crate) fn routes() -> Router<AppState> {
    Router::new().route("/metrics", get(read))
}

async fn read(State(state): State<AppState>, request: Request) -> ApiResult<Response> {
    match state.config.metrics {
        MetricsAccess::Open => {}
        MetricsAccess::Off => {
            let detail = "Metrics are switched off here (SF_METRICS=off).".to_owned();
            return Err(ApiError::NotFound { code: "metrics_off", detail });
        }
        MetricsAccess::Guarded => {
            let (mut parts, _) = request.into_parts();
            Admin::from_request_parts(&mut parts, &state).await?;
        }
    }
    gauges::look(&state).await?;
    let text = state.metrics.text()?;
    Ok(([(header::CONTENT_TYPE, OPENMETRICS), (header::CACHE_CONTROL, "no-store")], text).into_response())
}

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

#[cfg(test)]
mod tests;
