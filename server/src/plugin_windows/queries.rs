//! Query parameters of windows.

use serde::Deserialize;
use utoipa::IntoParams;

/// How pictures are sent.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct FrameQuery {
    /// `1` for a stream of pictures: each one that differs from the last is a part of
    /// `multipart/x-mixed-replace`.
    #[serde(default)]
    #[param(minimum = 0, maximum = 1)]
    pub(super) stream: u8,
}
