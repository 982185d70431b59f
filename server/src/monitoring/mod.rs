//! `/metrics`: metrics for Prometheus, in the OpenMetrics text format.
//!
//! Counters and histograms cover this process since its start. Gauges are measured for each answer,
//! but the sizes of the database and of stored files at most once a minute. `SF_METRICS` determines
//! which callers may read the metrics.

mod gauges;

use axum::Router;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

pub(crate) use gauges::LastMeasurement;

use crate::auth::Admin;
use crate::config::MetricsAccess;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Media type of the text for Prometheus.
const OPENMETRICS_MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Returns the route `/metrics`, which is outside the prefix `/api/v1`.
pub(crate) fn routes() -> Router<AppState> {
    Router::new().route("/metrics", get(read))
}

async fn read(State(state): State<AppState>, request: Request) -> ApiResult<Response> {
    match state.config.metrics {
        MetricsAccess::Open => {}
        MetricsAccess::Off => {
            let detail = "Metrics are switched off (SF_METRICS=off).".to_owned();
            return Err(ApiError::NotFound { code: "metrics_off", detail });
        }
        MetricsAccess::Guarded => {
            let (mut parts, _) = request.into_parts();
            Admin::from_request_parts(&mut parts, &state).await?;
        }
    }
    gauges::update(&state).await?;
    let text = state.metrics.render_text()?;
    Ok(([(header::CONTENT_TYPE, OPENMETRICS_MEDIA_TYPE), (header::CACHE_CONTROL, "no-store")], text)
        .into_response())
}

#[cfg(test)]
mod tests;
