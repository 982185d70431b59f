//! The in-process plugin paths of earlier versions: here only to say what took their place.

use crate::error::{ApiError, ApiResult, Problem};

fn gone(path: &str, replacement: &str) -> ApiError {
    ApiError::NotFound {
        code: "legacy_render_path",
        detail: format!(
            "Plugins are not loaded into the service any more (SF_RENDER_ENGINE=bridge), so {path} is not here; \
             use {replacement}."
        ),
    }
}

/// Always 404: `/plugins/midi-render` took its place.
#[utoipa::path(method(get, post), path = "/plugins/vst-render", tag = "plugins", security(()),
    responses((status = 404, description = "`legacy_render_path`", body = Problem,
        content_type = "application/problem+json")))]
pub(super) async fn vst_render() -> ApiResult<()> {
    Err(gone("/plugins/vst-render", "POST /api/v1/plugins/midi-render"))
}

/// Always 404: the WebSocket `/plugins/ws/fx-realtime` took its place.
#[utoipa::path(method(get, post), path = "/plugins/vst-fx-process", tag = "plugins", security(()),
    responses((status = 404, description = "`legacy_render_path`", body = Problem,
        content_type = "application/problem+json")))]
pub(super) async fn vst_fx_process() -> ApiResult<()> {
    Err(gone("/plugins/vst-fx-process", "the WebSocket /api/v1/plugins/ws/fx-realtime"))
}
