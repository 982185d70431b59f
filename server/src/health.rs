//! Handlers of `/healthz` (whether the process is alive) and `/readyz` (whether the process can
//! answer requests).

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::db;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Returns the health routes. They are outside the API's prefix, and everybody may call them.
pub(crate) fn routes() -> Router<AppState> {
    Router::new().route("/healthz", get(healthz)).route("/readyz", get(readyz))
}

async fn healthz() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

async fn readyz(State(state): State<AppState>) -> ApiResult<Json<Value>> {
    if state.stop.is_cancelled() {
        return Err(ApiError::stopping());
    }
    if let Err(error) = db::ping(&state.db).await {
        tracing::error!(%error, "the database does not answer");
        return Err(ApiError::Unavailable {
            code: "database_unreachable",
            detail: "The database does not answer.".to_owned(),
        });
    }
    Ok(Json(json!({ "status": "ready" })))
}

#[cfg(test)]
mod tests {
    use axum::http::Method;

    use crate::test_app::TestApp;

    #[tokio::test]
    async fn an_alive_process_without_its_database_is_not_ready() {
        let app = TestApp::start().await;
        assert_eq!(app.remote(Method::GET, "/healthz").send().await.expect(200)["status"], "ok");
        assert_eq!(app.remote(Method::GET, "/readyz").send().await.expect(200)["status"], "ready");
        app.state.db.close().await;
        app.remote(Method::GET, "/readyz").send().await.problem(503, "database_unreachable");
        app.remote(Method::GET, "/healthz").send().await.expect(200);
        app.state.stop.cancel();
        app.remote(Method::GET, "/readyz").send().await.problem(503, "stopping");
    }
}
