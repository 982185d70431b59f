//! `GET /media/files`.

use std::fs;
use std::path::{Path, PathBuf};

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::queries::FilesQuery;
use super::roots::{MediaRoots, unreadable_path_error};
use crate::auth::Admin;
use crate::clock;
use crate::error::ApiResult;
use crate::extract::{Json, Query};
use crate::paging::{Page, PageQuery, Position};
use crate::permits::Caller;
use crate::state::AppState;

/// Extensions of audio files, in lower case.
pub(super) const EXTENSIONS: &[&str] =
    &["wav", "wave", "aiff", "aif", "aifc", "flac", "mp3", "ogg", "oga", "m4a", "aac"];

/// An audio file on the service's machine.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MediaFile {
    /// Absolute path of the file.
    path: String,
    /// Name of the file.
    name: String,
    /// Size of the file in bytes.
    size_bytes: u64,
    /// Time of the last change, RFC 3339; null if the system does not report it.
    modified_at: Option<String>,
    /// Container format, such as `wave`; this and the following fields are null if the content is
    /// not supported.
    container: Option<String>,
    /// Codec of the samples.
    codec: Option<String>,
    /// Sample rate in hertz.
    sample_rate_hz: Option<u32>,
    /// Number of channels.
    channels: Option<u32>,
    /// Length in seconds, from the header; null also if the header does not contain it.
    duration_secs: Option<f64>,
}

/// Lists the audio files of a folder by name, with properties from their headers. Only
/// administrators may do this.
#[utoipa::path(get, path = "/media/files", tag = "media", security(("bearer" = ["admin"])), params(PageQuery, FilesQuery),
    responses((status = 200, body = Page<MediaFile>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    Admin(user): Admin,
    Query(page): Query<PageQuery>,
    Query(FilesQuery { path }): Query<FilesQuery>,
) -> ApiResult<Json<Page<MediaFile>>> {
    let (limit, page_position) = (page.limit()?, page.position()?);
    let permits = state.audio.decoding.clone();
    let work = move |caller: &Caller| {
        let roots = MediaRoots::new(&state.config.folders.media_dirs);
        let real_path = roots.resolve(&path)?;
        let mut files =
            list_audio_files(&roots, &real_path).map_err(|error| unreadable_path_error(&path, &error))?;
        if let Some(page_position) = page_position {
            files.retain(|file| sort_key(&file.name) > sort_key(&page_position.id));
        }
        files.truncate(limit as usize + 1);
        let position = |file: &MediaFile| Position { time: String::new(), id: file.name.clone() };
        let mut page = Page::from_overfetched(files, limit, position);
        add_header_info(&state, &mut page.items, caller)?;
        Ok(page)
    };
    Ok(Json(permits.run_for(&user.id, 1, work).await?))
}

/// Returns a key that sorts names without regard to case. Names that differ only in case get
/// different keys.
fn sort_key(name: &str) -> (String, &str) {
    (name.to_lowercase(), name)
}

/// Returns the audio files of a folder, sorted by name.
fn list_audio_files(roots: &MediaRoots, dir: &Path) -> std::io::Result<Vec<MediaFile>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)?.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| is_audio(name)) else { continue };
        let Some((path, metadata)) = roots.entry(&entry) else { continue };
        if let Some(path) = path.to_str().filter(|_| metadata.is_file()) {
            files.push(MediaFile {
                path: path.to_owned(),
                name: name.to_owned(),
                size_bytes: metadata.len(),
                modified_at: metadata.modified().ok().map(clock::text_at),
                container: None,
                codec: None,
                sample_rate_hz: None,
                channels: None,
                duration_secs: None,
            });
        }
    }
    files.sort_by(|a, b| sort_key(&a.name).cmp(&sort_key(&b.name)));
    Ok(files)
}

/// Whether a file name has an audio extension and does not start with a dot.
pub(super) fn is_audio(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    !name.starts_with('.') && extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}

/// Adds the properties from the headers of the files. Stops if the caller disconnects.
fn add_header_info(state: &AppState, files: &mut [MediaFile], caller: &Caller) -> ApiResult<()> {
    let paths: Vec<PathBuf> = files.iter().map(|file| PathBuf::from(&file.path)).collect();
    for (file, header) in
        files.iter_mut().zip(state.audio.inspect(&paths, &mut || !caller.has_disconnected())?)
    {
        let Some(header) = header else { continue };
        let rate_hz = f64::from(header.sample_rate_hz.max(1));
        file.duration_secs = header.frames.map(|frames| frames as f64 / rate_hz);
        file.container = Some(header.container);
        file.codec = Some(header.codec);
        (file.sample_rate_hz, file.channels) = (Some(header.sample_rate_hz), Some(header.channels));
    }
    Ok(())
}
