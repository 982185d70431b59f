//! Paths of earlier versions, which loaded plugins into the service's own process. Each only
//! answers with the path that replaces it.

use crate::error::{ApiError, ApiResult, Problem};

fn removed(path: &str, replacement: &str) -> ApiError {
    ApiError::NotFound {
        code: "legacy_render_path",
        detail: format!(
            "The service no longer loads plugins into its process (SF_RENDER_ENGINE=bridge), so {path} was removed; \
             use {replacement}."
        ),
    }
}

/// Always answers 404: use `/plugins/midi-render` instead.
#[utoipa::path(method(get, post), path = "/plugins/vst-render", tag = "plugins", security(()),
    responses((status = 404, description = "`legacy_render_path`", body = Problem,
        content_type = "application/problem+json")))]
pub(super) async fn vst_render() -> ApiResult<()> {
    Err(removed("/plugins/vst-render", "POST /api/v1/plugins/midi-render"))
}

/// Always answers 404: use the WebSocket `/plugins/ws/fx-realtime` instead.
#[utoipa::path(method(get, post), path = "/plugins/vst-fx-process", tag = "plugins", security(()),
    responses((status = 404, description = "`legacy_render_path`", body = Problem,
        content_type = "application/problem+json")))]
pub(super) async fn vst_fx_process() -> ApiResult<()> {
    Err(removed("/plugins/vst-fx-process", "the WebSocket /api/v1/plugins/ws/fx-realtime"))
}
