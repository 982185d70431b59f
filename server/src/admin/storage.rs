//! Stored bytes of each user, and total sizes on the disk.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::{Admin, management};
use crate::error::ApiResult;
use crate::exports::{STEMS_FOLDER, plugin_sound_files, render_files};
use crate::extract::Json;
use crate::state::AppState;
use crate::storage::Blobs;
use crate::{audio, disk, projects, soundfonts, storage, tasks};

/// Numbers and sizes of a user's stored data.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct UserStorage {
    /// Id of the account.
    user_id: String,
    /// Name of the account.
    username: String,
    /// Number of audio files.
    audio_files: u64,
    /// Size of the audio files with decoded copies, peaks and unfinished uploads, in bytes. It
    /// counts toward `audio_quota_bytes`.
    audio_bytes: u64,
    /// Number of SoundFonts that the user uploaded; identical files count once.
    soundfonts: u64,
    /// Size of these SoundFonts in bytes. It also counts toward `audio_quota_bytes`.
    soundfont_bytes: u64,
    /// Quota for audio and SoundFonts together, in bytes.
    audio_quota_bytes: u64,
    /// Number of projects.
    projects: u64,
    /// Size of the kept revisions of projects and of the autosave, in bytes.
    project_bytes: u64,
    /// Size of the inputs and results of tasks, in bytes. It counts toward the quota of projects.
    task_bytes: u64,
    /// Size of finished exports, stems and sounds of plugins that are kept, in bytes.
    render_bytes: u64,
    /// Sum of all sizes above, in bytes.
    total_bytes: u64,
}

/// Stored data of all users, and sizes on the disk.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Storage {
    /// The users, the largest total first. Audio that several users have counts for each of them.
    users: Vec<UserStorage>,
    /// Size of all stored audio in bytes; identical files count once.
    audio_disk_bytes: u64,
    /// Size of all uploaded SoundFonts in bytes; identical files count once.
    soundfont_disk_bytes: u64,
    /// Size of all finished exports and stems in bytes.
    render_disk_bytes: u64,
    /// Free space of the disk in bytes; null if the system does not report it.
    free_bytes: Option<u64>,
}

/// Returns the storage that every user uses, in bytes, decoded copies included.
#[utoipa::path(get, path = "/admin/storage", tag = "admin", security(("bearer" = ["admin"])),
    responses((status = 200, body = Storage)))]
pub(super) async fn read(State(state): State<AppState>, _: Admin) -> ApiResult<Json<Storage>> {
    let audio_by_user = audio::read_usage_of_all(&state.db).await?;
    let soundfonts_by_user = soundfonts::read_usage_of_all(&state.db).await?;
    let quota_bytes_by_user = storage::read_individual_quotas(&state.db).await?;
    let projects_by_user = projects::read_usage_of_all(&state.db).await?;
    let task_bytes_by_user = tasks::read_stored_bytes_of_all(&state.db).await?;
    let blobs = state.blobs.clone();
    let (render_bytes_by_user, [audio_disk_bytes, soundfont_disk_bytes, render_disk_bytes]) =
        tokio::task::spawn_blocking(move || {
            let mut render_bytes_by_user = render_files::usage_of_all(&blobs, render_files::FOLDER)?;
            let mut render_bytes = measure_folder_bytes(&blobs, render_files::FOLDER)?;
            for folder in [STEMS_FOLDER, plugin_sound_files::FOLDER] {
                for (owner_id, bytes) in render_files::usage_of_all(&blobs, folder)? {
                    *render_bytes_by_user.entry(owner_id).or_default() += bytes;
                }
                render_bytes += measure_folder_bytes(&blobs, folder)?;
            }
            let [audio_bytes, soundfont_bytes] = [
                measure_folder_bytes(&blobs, audio::FOLDER)?,
                measure_folder_bytes(&blobs, soundfonts::FILE_KIND.folder)?,
            ];
            ApiResult::Ok((render_bytes_by_user, [audio_bytes, soundfont_bytes, render_bytes]))
        })
        .await??;
    let default_quota_bytes = state.config.limits.audio.quota_bytes;
    let names = management::user_names(&state.db).await?;
    let mut users: Vec<UserStorage> = names
        .into_iter()
        .map(|(user_id, username)| {
            let audio = audio_by_user.get(&user_id).copied().unwrap_or_default();
            let soundfonts = soundfonts_by_user.get(&user_id).copied().unwrap_or_default();
            let projects = projects_by_user.get(&user_id).copied().unwrap_or_default();
            let task_bytes = task_bytes_by_user.get(&user_id).copied().unwrap_or_default();
            let render_bytes = render_bytes_by_user.get(&user_id).copied().unwrap_or_default();
            UserStorage {
                audio_files: audio.files,
                audio_bytes: audio.bytes,
                soundfonts: soundfonts.files,
                soundfont_bytes: soundfonts.bytes,
                audio_quota_bytes: quota_bytes_by_user.get(&user_id).copied().unwrap_or(default_quota_bytes),
                projects: projects.projects,
                project_bytes: projects.bytes,
                task_bytes,
                render_bytes,
                total_bytes: audio.bytes + soundfonts.bytes + projects.bytes + task_bytes + render_bytes,
                user_id,
                username,
            }
        })
        .collect();
    // The sort is stable: users with equal totals stay in the order of their names.
    users.sort_by_key(|user| std::cmp::Reverse(user.total_bytes));
    let free_bytes = disk::free_bytes(&state.config.storage.dir)?;
    Ok(Json(Storage { users, audio_disk_bytes, soundfont_disk_bytes, render_disk_bytes, free_bytes }))
}

fn measure_folder_bytes(blobs: &Blobs, folder: &'static str) -> ApiResult<u64> {
    Ok(blobs.sizes(folder)?.iter().map(|(_, bytes)| bytes).sum())
}
