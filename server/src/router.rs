//! Assembles all routes of the service.
//!
//! # How to add a slice
//!
//! A slice is a folder with a `mod.rs`. Its function `routes(...)` returns an [`OpenApiRouter`]
//! with paths relative to `/api/v1` (`#[utoipa::path(get, path = "/plugins/available", ...)]`). To
//! add a slice, declare it in `lib.rs` and merge its routes in [`api`].
//!
//! - Handlers take `State<AppState>`, [`crate::auth::CurrentUser`] (which answers 401 and 403; only
//!   public operations leave it out), and the extractors of [`crate::extract`] instead of axum's.
//!   They return [`crate::error::ApiResult`].
//! - Operations for administrators take [`crate::auth::Admin`]. Operations that API keys must not
//!   call take [`crate::auth::LoggedIn`]. The API description lists the required roles:
//!   `security(("bearer" = ["admin", "log_in"]))`. A test calls every operation in every role.
//! - Deletions and changes of accounts call [`crate::audit::record`].
//! - A body may have at most 1 MiB, unless [`with_body_limit`] raises the limit of the route.
//! - State that outlives a request is a field of [`crate::state::Services`].
//! - Long work goes to [`crate::tasks::Tasks::start`]. Files are accessed through
//!   [`crate::storage::Blobs`], from `tokio::task::spawn_blocking` or from a task.
//! - Tests send requests through `crate::test_app::TestApp`.

use std::any::Any;
use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::{self, Next};
use axum::response::IntoResponse as _;
use axum::{Extension, Router};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::config::Config;
use crate::docs::BearerScheme;
use crate::error::{ApiError, Problem};
use crate::extract::{BodyLimit, body_limit};
use crate::query_names::{QueryNames, refuse_unknown};
use crate::state::AppState;
use crate::{
    admin, ai_presets, ai_proxy, audio, auth, body_pace, bundles, compression, cors, dawproject, docs,
    exports, files, health, held_answers, live_effects, media, metrics, monitoring, multitrack, page, panics,
    plugin_parameters, plugin_windows, plugins, presets, projects, request_log, soundfonts, system, tasks,
    user_config,
};

/// Head of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(
    info(title = "Songfoundry", description = "A self-hosted music workstation."),
    components(schemas(Problem)),
    modifiers(&BearerScheme),
    security(("bearer" = []))
)]
struct ApiDocument;

/// Returns the routes of the API together with its description.
pub fn api(config: &Config) -> OpenApiRouter<AppState> {
    let slices = OpenApiRouter::new()
        .merge(admin::routes())
        .merge(ai_presets::routes())
        .merge(ai_proxy::routes(config))
        .merge(audio::routes(config))
        .merge(auth::routes())
        .merge(bundles::routes(config))
        .merge(dawproject::routes(config))
        .merge(exports::routes(config))
        .merge(files::routes(config))
        .merge(live_effects::routes())
        .merge(media::routes())
        .merge(multitrack::routes(config))
        .merge(plugin_parameters::routes(config))
        .merge(plugin_windows::routes(config))
        .merge(plugins::routes())
        .merge(presets::routes())
        .merge(projects::routes(config))
        .merge(soundfonts::routes(config))
        .merge(system::routes())
        .merge(tasks::routes())
        .merge(user_config::routes());
    OpenApiRouter::with_openapi(ApiDocument::openapi()).nest("/api/v1", slices)
}

/// Builds the router of the whole service: API, documentation, health, metrics and web page.
pub fn build(state: AppState) -> Router {
    let (api, document) = api(&state.config).split_for_parts();
    let document = docs::complete(&document);
    // Answers depend on the caller, so caches must not share them between callers.
    let vary = HeaderValue::from_static("authorization");
    let names = QueryNames::from_document(&document);
    let names_state = state.clone();
    let refuse_names = move |request, next| refuse_unknown(names.clone(), names_state.clone(), request, next);
    let api = api
        .layer(middleware::from_fn_with_state(state.clone(), plugin_windows::pass_to_owner))
        .layer(middleware::from_fn(refuse_names))
        .layer(middleware::from_fn_with_state(state.clone(), held_answers::limit))
        .layer(middleware::from_fn_with_state(state.clone(), auth::end_when_access_ends))
        .layer(SetResponseHeaderLayer::appending(header::VARY, vary));
    let routes =
        api.merge(docs::make_routes(&document, &state)).merge(health::routes()).merge(monitoring::routes());
    add_middleware(routes.fallback(page::fallback), state)
}

/// Builds the router of a worker: health and metrics.
pub fn of_worker(state: AppState) -> Router {
    add_middleware(health::routes().merge(monitoring::routes()).fallback(not_on_worker_error), state)
}

async fn not_on_worker_error() -> ApiError {
    let detail = "This is a worker: it only answers /healthz, /readyz and /metrics.".to_owned();
    ApiError::NotFound { code: "not_found", detail }
}

/// Returns the API description (OpenAPI 3.1) that `/api/v1/openapi.json` serves.
#[must_use]
pub fn document(config: &Config) -> serde_json::Value {
    docs::complete(&api(config).split_for_parts().1)
}

/// Adds the middleware of all routes: unknown methods, pace of bodies, compression, panics, rate
/// limits, CORS, security headers, metrics and the log.
fn add_middleware(routes: Router<AppState>, state: AppState) -> Router {
    let origins: Arc<[String]> = state.config.network.cors_origins.as_slice().into();
    let pace = state.config.network.bodies;
    routes
        .method_not_allowed_fallback(method_not_allowed_error)
        .with_state(state.clone())
        .layer(middleware::from_fn(move |request, next| body_pace::limit_pace(pace, request, next)))
        .layer(Extension(state.body_memory.clone()))
        .layer(compression::layer())
        .layer(middleware::from_fn_with_state(compression::Encoders::default(), compression::limit))
        .layer(CatchPanicLayer::custom(|panic: Box<dyn Any + Send>| {
            let text = panics::message(&*panic);
            ApiError::internal(anyhow::anyhow!("a handler panicked: {text}")).into_response()
        }))
        .layer(middleware::from_fn_with_state(state.clone(), auth::limit_addresses))
        .layer(middleware::from_fn_with_state(origins, cors::allow_origins))
        .layer(middleware::from_fn(page::security_headers))
        .layer(middleware::from_fn_with_state(state.clone(), metrics::observe))
        .layer(middleware::from_fn_with_state(state, request_log::log))
}

/// Sets the limit on the bodies of all routes of `router`.
pub fn with_body_limit(router: OpenApiRouter<AppState>, limit: BodyLimit) -> OpenApiRouter<AppState> {
    router
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn(move |request: Request, next: Next| body_limit(limit, request, next)))
}

async fn method_not_allowed_error(method: Method) -> ApiError {
    ApiError::MethodNotAllowed { method: method.to_string() }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::body::Body;
    use axum::extract::ConnectInfo;
    use axum::routing::get;
    use tower::ServiceExt as _;

    use super::*;
    use crate::test_app::TestApp;

    async fn faulty() -> &'static str {
        panic!("text for the log only")
    }

    #[tokio::test]
    async fn a_panic_is_answered_with_a_problem_that_hides_its_text() {
        let app = TestApp::start().await;
        let router = add_middleware(Router::new().route("/faulty", get(faulty)), app.state.clone());
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = "/faulty?token=secret".parse().expect("a path");
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1))));
        let Ok(response) = router.oneshot(request).await;
        assert_eq!(response.status(), 500);
        assert_eq!(response.headers()["content-type"], "application/problem+json");
        assert!(response.headers().contains_key("content-security-policy"));
        let bytes = axum::body::to_bytes(response.into_body(), 10_000).await.expect("a body");
        assert!(!String::from_utf8_lossy(&bytes).contains("text for the log only"));
    }
}
