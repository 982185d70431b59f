//! Query parameters of this slice.

use serde::Deserialize;
use utoipa::IntoParams;

/// Whether the answer waits for the render.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct RenderQuery {
    /// If `true`, the answer is 202 with a task immediately. The task's result is the direct
    /// answer.
    #[serde(default, rename = "async")]
    #[param(rename = "async")]
    pub(super) asynchronous: bool,
}

/// Query parameters of the list of renders.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct RendersQuery {
    /// Only the renders of this project.
    pub(super) project_id: Option<String>,
}

/// Query parameters of a download through a link.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct LinkQuery {
    /// Token that the link contains.
    pub(super) token: String,
}
