//! Handler of `PUT /audio/{id}/tags`.

use std::collections::HashSet;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::search_key::search_key;
use super::store::find;
use super::{AudioFile, store};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, FieldError};
use crate::extract::{Json, Path};
use crate::state::AppState;

/// Maximum number of tags of a file, and maximum length of a tag in characters.
const TAGS_MAX: usize = 50;
const TAG_MAX_CHARS: usize = 64;

/// A tag, used only in the description of the API.
#[derive(ToSchema)]
#[schema(value_type = String, min_length = 1, max_length = 64)]
#[expect(dead_code, reason = "only its description is used")]
struct Tag(String);

/// The tags of a file.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Tags {
    /// At most 50 tags of 1 to 64 characters. If tags differ only in case, only the first is
    /// stored.
    #[schema(max_items = 50, value_type = Vec<Tag>)]
    tags: Vec<String>,
}

/// Replaces the tags of an audio file.
#[utoipa::path(put, path = "/audio/{id}/tags", tag = "audio", request_body = Tags,
    params(("id", description = "Id of the file")),
    responses((status = 200, body = AudioFile)))]
pub(super) async fn set_tags(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    Json(body): Json<Tags>,
) -> ApiResult<Json<AudioFile>> {
    let tags = cleaned_tags(&body.tags)?;
    if !store::set_tags(&state.db, &user.id, &id, &tags).await? {
        return Err(ApiError::not_found("audio file", &id));
    }
    Ok(Json(find(&state, &user.id, &id).await?.file))
}

/// Returns the tags as they are stored: trimmed and without duplicates.
fn cleaned_tags(tags: &[String]) -> ApiResult<Vec<String>> {
    let mut errors = Vec::new();
    if tags.len() > TAGS_MAX {
        let detail = format!("there are {} tags; a file has at most {TAGS_MAX}", tags.len());
        errors.push(FieldError { pointer: "/tags".to_owned(), detail });
    }
    let (mut kept_tags, mut tag_keys) = (Vec::new(), HashSet::new());
    for (index, tag) in tags.iter().enumerate() {
        let tag = tag.trim();
        if let Some(detail) = fault(tag) {
            errors.push(FieldError { pointer: format!("/tags/{index}"), detail });
        } else if tag_keys.insert(search_key(tag)) {
            kept_tags.push(tag.to_owned());
        }
    }
    match errors.first() {
        None => Ok(kept_tags),
        Some(first) => {
            let detail = format!("`{}`: {}.", first.pointer, first.detail);
            Err(ApiError::Invalid { code: "bad_tags", detail, errors })
        }
    }
}

/// Describes why a tag is invalid. Returns `None` if it is valid.
fn fault(tag: &str) -> Option<String> {
    let chars = tag.chars().count();
    if chars == 0 {
        Some(format!("this tag is empty; a tag has 1 to {TAG_MAX_CHARS} characters"))
    } else if chars > TAG_MAX_CHARS {
        Some(format!("this tag has {chars} characters; a tag has at most {TAG_MAX_CHARS}"))
    } else if tag.chars().any(char::is_control) {
        Some("this tag contains a control character; remove it".to_owned())
    } else {
        None
    }
}
