//! Handler of `POST /plugins/renders/{render_id}/analyze`, which measures a finished render, to
//! compare it with a reference.

use axum::extract::State;
use tokio::runtime::Handle;

use super::render_files::{self, RenderKeys};
use crate::audio::{ReferenceAnswer, measure_content};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, Path};
use crate::permits::Caller;
use crate::state::AppState;

/// Measures the file of a finished render as `/audio/reference` measures a reference.
#[utoipa::path(post, path = "/plugins/renders/{render_id}/analyze", tag = "plugins",
    params(("render_id", description = "Id of the render")),
    responses((status = 200, body = ReferenceAnswer),
        (status = 404, description = "The caller has no such render", body = Problem,
            content_type = "application/problem+json"),
        (status = 415, description = "The service cannot read files of this format", body = Problem,
            content_type = "application/problem+json"),
        (status = 422, description = "`audio_damaged` or `audio_limit`", body = Problem,
            content_type = "application/problem+json"),
        (status = 507, description = "`storage_full`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn analyze(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(render_id): Path<String>,
) -> ApiResult<Json<ReferenceAnswer>> {
    let (runtime, permits) = (Handle::current(), state.audio.decoding.clone());
    let owner_id = user.id.clone();
    let work = move |caller: &Caller| {
        let missing = || ApiError::not_found("render", &render_id);
        let known_analysis =
            render_files::read_description(&state.blobs, &user.id, &render_id)?.ok_or_else(missing)?;
        let file = RenderKeys::new(&user.id, &render_id, known_analysis.format)?;
        let mut content = state.blobs.read_stored(&file.audio)?.ok_or_else(missing)?;
        let name = known_analysis.format.file_name(&known_analysis.title);
        measure_content(&state, &runtime, &name, &mut content, &mut |_| !caller.has_disconnected())
    };
    permits.run_for(&owner_id, 1, work).await.map(Json)
}
