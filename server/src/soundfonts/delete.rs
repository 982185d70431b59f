//! `DELETE /plugins/soundfonts/{sf_id}`.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use tokio::runtime::Handle;

use super::{SoundFontSource, id_of_name, import};
use crate::audit::{self, Action};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult};
use crate::extract::Path;
use crate::reserve;
use crate::state::AppState;

/// Header that names the owner of the SoundFont which has the id after the deletion.
const SOUNDFONT_INSTEAD: HeaderName = HeaderName::from_static("x-soundfont-instead");

/// Deletes the caller's SoundFonts with this id, both SF2 and SF3. Answers 403 if only the system
/// has such a SoundFont. SoundFonts of other users count as missing.
#[utoipa::path(delete, path = "/plugins/soundfonts/{sf_id}", tag = "plugins",
    params(("sf_id", description = "Id of the SoundFont")),
    responses((status = 204, description = "Deleted", headers(
            ("X-Soundfont-Instead" = String, description = "`system` if a SoundFont of the system now has this id; otherwise absent")))))]
pub(crate) async fn delete(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(soundfont_id): Path<String>,
) -> ApiResult<(StatusCode, HeaderMap)> {
    let id = id_of_name(&soundfont_id);
    let deleting = || {
        let (state, runtime, owner_id, id) = (state.clone(), Handle::current(), user.id.clone(), id.clone());
        async move { tokio::task::spawn_blocking(move || import::delete(&state, &runtime, &owner_id, &id)).await? }
    };
    let was_deleted = reserve::retry_with_reserve(&state, deleting).await?;
    let remaining = state.soundfonts.catalogue.of_user(&user.id).await?;
    let is_in_system =
        remaining.find(&id).is_some_and(|soundfont| soundfont.summary.source == SoundFontSource::System);
    if !was_deleted {
        return Err(match is_in_system {
            true => ApiError::Forbidden {
                code: "system_soundfont",
                detail: format!(
                    "The SoundFont `{id}` is in a folder of the system; only the administrator of the machine can delete it."
                ),
            },
            false => ApiError::not_found("SoundFont", &soundfont_id),
        });
    }
    audit::record(&state.db, &user.who(), Action::SoundfontDeleted, &id, "").await;
    let replacement_header = is_in_system.then_some((SOUNDFONT_INSTEAD, HeaderValue::from_static("system")));
    Ok((StatusCode::NO_CONTENT, replacement_header.into_iter().collect()))
}
