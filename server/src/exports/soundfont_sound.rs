//! Handler of `POST /plugins/soundfont-sounds`, which renders notes with a SoundFont and stores the
//! sound, so that a page can fetch the parts that it plays next.

use std::io;
use std::time::SystemTime;

use axum::extract::State;
use dsp_core::session::Session;
use dsp_core::wav::FLOAT_HEADER_BYTES;
use serde::Serialize;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::plugin_sound_files as files;
use super::soundfont_render::{NotesRender, SoundFontRenderRequest, check_enabled};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, JsonBytes, parse_long};
use crate::permits::Caller;
use crate::rendering::{ENGINE_VERSION, RenderError};
use crate::state::AppState;
use crate::storage::sha256_of_json;

/// A stored sound.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SoundFontSound {
    /// Id of the sound, for `GET /plugins/sounds/{sound_id}`.
    sound_id: String,
    /// Length in frames.
    frames: u64,
    /// Number of channels: 4 with `sends`, or else 2.
    channels: u32,
}

/// Everything that determines the sound of the notes.
#[derive(Serialize)]
struct SoundInputs<'i> {
    engine_version: &'static str,
    session: &'i Session,
    soundfont_id: &'i str,
    content_hash: Option<&'i str>,
    channels: u32,
    tail_secs: f64,
}

/// Renders notes with a SoundFont as `POST /plugins/soundfont-render` does, and stores the sound.
/// `GET /plugins/sounds/{sound_id}` sends it, also in parts. A sound that is stored already is not
/// rendered again. Sounds count against the quota of the sounds of plugins.
#[utoipa::path(post, path = "/plugins/soundfont-sounds", tag = "plugins", request_body = SoundFontRenderRequest,
    responses((status = 200, body = SoundFontSound),
        (status = 422, description = "`soundfont_unusable`, `too_long`, `too_much_memory` or `too_much_work`", body = Problem,
            content_type = "application/problem+json"),
        (status = 501, description = "`soundfont_render_unavailable`: disabled, or no SoundFont is installed",
            body = Problem, content_type = "application/problem+json")))]
pub(super) async fn render(
    State(state): State<AppState>,
    user: CurrentUser,
    JsonBytes(body): JsonBytes,
) -> ApiResult<Json<SoundFontSound>> {
    check_enabled(&state)?;
    let (runtime, permits, body_kib) =
        (Handle::current(), state.exports.renders.clone(), body.len() as u64 / 1024);
    let owner_id = user.id.clone();
    let work = move |caller: &Caller| -> ApiResult<SoundFontSound> {
        let started_at = SystemTime::now();
        // The body is parsed after the wait, so that waiting requests keep only their bodies in
        // memory.
        let request: SoundFontRenderRequest = parse_long(body)?;
        let render = request.prepare(&state, &runtime, &user.id)?;
        let sound_id = render.sound_id()?;
        let key = files::key(&user.id, &sound_id).map_err(ApiError::internal)?;
        let file = match files::find(&state.blobs, &key)? {
            Some(file) => file,
            None => {
                let mut writer = state.blobs.unnamed_writer(files::FOLDER)?;
                render.write_to(&state, &user.id, &mut writer, caller)?;
                let file = files::store(&state.blobs, &key, writer, &[])?;
                files::keep_newest(&state, &user.id, &key, started_at)?;
                file
            }
        };
        let channels = render.channels.count() as u32;
        let samples_bytes = file.metadata()?.len().saturating_sub(FLOAT_HEADER_BYTES);
        Ok(SoundFontSound { sound_id, frames: samples_bytes / u64::from(4 * channels), channels })
    };
    Ok(Json(permits.run_for(&owner_id, body_kib, work).await?))
}

impl NotesRender {
    /// Returns an id that changes with everything that determines the sound.
    fn sound_id(&self) -> ApiResult<String> {
        let session = schemas::session::build(&self.project, self.sample_rate_hz, |_| Some(0))
            .map_err(RenderError::from)?;
        let summary = &self.chosen.soundfont.summary;
        let inputs = SoundInputs {
            engine_version: ENGINE_VERSION,
            session: &session,
            soundfont_id: &summary.soundfont_id,
            content_hash: summary.content_hash.as_deref(),
            channels: self.channels.count() as u32,
            tail_secs: self.tail_secs,
        };
        Ok(sha256_of_json(&inputs).map_err(io::Error::other)?)
    }
}
