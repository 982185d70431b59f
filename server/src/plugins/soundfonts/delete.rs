//! `DELETE /plugins/soundfonts/{sf_id}`.

use axum::extract::State;
use axum::http::StatusCode;

use super::{SoundFontSource, id_of_name};
use crate::audit::{self, Action};
use crate::auth::{CurrentUser, Role};
use crate::error::{ApiError, ApiResult, CommonErrors};
use crate::extract::Path;
use crate::state::AppState;

/// Deletes a SoundFont from the service's own storage. One that is installed on the machine
/// is refused with 403.
#[utoipa::path(delete, path = "/plugins/soundfonts/{sf_id}", tag = "plugins",
    params(("sf_id", description = "Id of the SoundFont")),
    responses((status = 204, description = "It is gone"), CommonErrors))]
pub(crate) async fn delete(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(soundfont_id): Path<String>,
) -> ApiResult<StatusCode> {
    let snapshot = state.sound.catalogue.current().await?;
    let id = id_of_name(&soundfont_id);
    let found = snapshot.soundfonts.iter().find(|one| one.summary.soundfont_id == id);
    let soundfont = found.ok_or_else(|| ApiError::not_found("SoundFont", &soundfont_id))?;
    if soundfont.summary.source == SoundFontSource::System {
        return Err(ApiError::Forbidden {
            code: "system_soundfont",
            detail: format!(
                "The SoundFont `{id}` is installed on the machine and cannot be deleted from here."
            ),
        });
    }
    if user.role != Role::Admin {
        return Err(ApiError::Forbidden {
            code: "admin_only",
            detail: "Only the administrator may delete SoundFonts.".to_owned(),
        });
    }
    let path = soundfont.path.clone();
    tokio::task::spawn_blocking(move || std::fs::remove_file(path)).await??;
    audit::record(&state.db, &user.who(), Action::SoundfontDeleted, &id, "").await;
    state.sound.catalogue.rescan().await?;
    Ok(StatusCode::NO_CONTENT)
}
