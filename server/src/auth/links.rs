//! Signed links to a render, with which people without an account can download it.

use serde::{Deserialize, Serialize};

use super::store::UserRow;
use super::store::users;
use super::tokens::Tokens;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// The audience of these tokens (RFC 7519, section 4.1.3). The service refuses them as log-in
/// tokens, because they lack the claims of a log-in.
const LINK_AUDIENCE: &str = "render";

/// Claims of a link.
#[derive(Debug, Serialize, Deserialize)]
struct LinkClaims {
    aud: String,
    /// Id of the owner of the render.
    sub: String,
    /// Version of the owner's tokens, so that a log-out everywhere also ends all links.
    ver: i64,
    /// Id of the render.
    render: String,
    /// Expiry time in seconds since 1970.
    exp: i64,
}

/// A render that a valid link names.
#[derive(Debug)]
pub(crate) struct LinkedRender {
    pub(crate) owner_id: String,
    pub(crate) render_id: String,
}

/// Returns the token of a link to a render of `owner`, which ends at `expires_at`, in seconds since
/// 1970.
///
/// # Errors
/// If signing fails.
pub(crate) fn issue_link(
    tokens: &Tokens,
    owner: &UserRow,
    render_id: &str,
    expires_at: i64,
) -> ApiResult<String> {
    tokens.sign(&LinkClaims {
        aud: LINK_AUDIENCE.to_owned(),
        sub: owner.id.clone(),
        ver: owner.token_version,
        render: render_id.to_owned(),
        exp: expires_at,
    })
}

/// Returns the render that a link names.
///
/// # Errors
/// 404 if the link is not genuine, has expired, or was revoked because its owner was disabled or has
/// logged out everywhere.
pub(crate) async fn linked_render(state: &AppState, token: &str) -> ApiResult<LinkedRender> {
    let link_ended_error = || ApiError::NotFound {
        code: "link_ended",
        detail: "The link is invalid, expired or revoked; ask its sender for a new one.".to_owned(),
    };
    let claims: LinkClaims = state.tokens.verify(token, LINK_AUDIENCE).ok_or_else(link_ended_error)?;
    let owner = users::find_by_id(&state.db, &claims.sub).await?;
    let is_valid = owner.is_some_and(|owner| !owner.is_disabled && owner.token_version == claims.ver);
    match is_valid {
        true => Ok(LinkedRender { owner_id: claims.sub, render_id: claims.render }),
        false => Err(link_ended_error()),
    }
}
