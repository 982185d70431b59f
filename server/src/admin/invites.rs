//! Invitations to register.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::audit::{self, Action};
use crate::auth::management::{self, MadeInvite};
use crate::auth::{Admin, InviteRow, LoggedInAdmin, Role};
use crate::clock;
use crate::config::Registration;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, Path, Query};
use crate::paging::{Page, PageQuery, Position};
use crate::state::AppState;

/// Validity of an invitation in seconds: default, minimum and maximum.
const LIFETIME_DEFAULT_SECS: u32 = 7 * 86_400;
const LIFETIME_MIN_SECS: u32 = 60;
const LIFETIME_MAX_SECS: u32 = 90 * 86_400;

/// Maximum length of a note, in characters.
const NOTE_MAX_CHARS: usize = 200;

/// State of an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum InviteState {
    /// The invitation can be used.
    Open,
    /// The invitation was used.
    Used,
    /// The invitation has expired.
    Expired,
}

/// An invitation, without its code.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Invite {
    /// Id, a UUID.
    id: String,
    /// Whether the invitation can be used, was used or has expired.
    state: InviteState,
    /// Role of the created account.
    role: Role,
    /// A note for administrators; may be empty.
    note: String,
    /// Name of the administrator who created the invitation.
    created_by: String,
    /// When the invitation was created, RFC 3339.
    created_at: String,
    /// Expiry time, RFC 3339.
    expires_at: String,
    /// When the invitation was used, RFC 3339; null if it was not.
    used_at: Option<String>,
    /// Name of the account that was created with the invitation; null if it was not used.
    used_by: Option<String>,
}

impl From<InviteRow> for Invite {
    fn from(invite_row: InviteRow) -> Self {
        let state = match &invite_row.used_at {
            Some(_) => InviteState::Used,
            None if invite_row.expires_at <= clock::now_text() => InviteState::Expired,
            None => InviteState::Open,
        };
        let InviteRow { id, role, note, created_by, created_at, expires_at, used_at, used_by } = invite_row;
        Self { id, state, role, note, created_by, created_at, expires_at, used_at, used_by }
    }
}

/// Lists invitations, the newest first.
#[utoipa::path(get, path = "/admin/invites", tag = "admin", security(("bearer" = ["admin"])), params(PageQuery),
    responses((status = 200, body = Page<Invite>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    _: Admin,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<Invite>>> {
    let limit = page.limit()?;
    let invite_rows = management::read_invites(&state.db, page.position()?.as_ref(), limit + 1).await?;
    let page_items = invite_rows.into_iter().map(Invite::from).collect();
    let position_of = |invite: &Invite| Position { time: invite.created_at.clone(), id: invite.id.clone() };
    Ok(Json(Page::from_overfetched(page_items, limit, position_of)))
}

/// An invitation to make.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewInvite {
    /// Role of the new account; `user` by default.
    #[serde(default = "default_role")]
    role: Role,
    /// A note for administrators: at most 200 characters.
    #[serde(default)]
    #[schema(max_length = 200)]
    note: String,
    /// How long the invitation is valid, in seconds: 60 to 7776000 (90 days); 604800 (7 days) by
    /// default.
    #[serde(default = "default_lifetime_secs")]
    #[schema(minimum = 60, maximum = 7_776_000)]
    expires_in_secs: u32,
}

fn default_role() -> Role {
    Role::User
}

fn default_lifetime_secs() -> u32 {
    LIFETIME_DEFAULT_SECS
}

/// An invitation that was just made.
#[derive(Serialize, ToSchema)]
pub(super) struct NewInviteAnswer {
    /// The code for the invited person. It is never shown again.
    code: String,
    /// The page's path with the code, for registering. The code follows `#`. Browsers do not send
    /// that part, so no log contains the code.
    register_path: String,
    /// The stored invitation.
    #[serde(flatten)]
    invite: Invite,
}

/// Creates an invitation for one account.
#[utoipa::path(post, path = "/admin/invites", tag = "admin", security(("bearer" = ["admin", "log_in"])), request_body = NewInvite,
    responses((status = 201, body = NewInviteAnswer),
        (status = 409, description = "`registration_closed`: nobody can register", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn create(
    State(state): State<AppState>,
    LoggedInAdmin(admin): LoggedInAdmin,
    Json(new_invite): Json<NewInvite>,
) -> ApiResult<(StatusCode, Json<NewInviteAnswer>)> {
    if state.config.accounts.registration == Registration::Closed {
        return Err(ApiError::Conflict {
            code: "registration_closed",
            detail:
                "Registration is closed, even with an invitation; set SF_REGISTRATION to `invite` or `open` first."
                    .to_owned(),
        });
    }
    check_lifetime_and_note(&new_invite)?;
    let note = new_invite.note.trim();
    let MadeInvite { code, invite_row } = management::create_invite(
        &state.db,
        &admin.acting(),
        &admin.username,
        new_invite.role,
        note,
        new_invite.expires_in_secs,
    )
    .await?;
    let day = invite_row.expires_at.split('T').next().unwrap_or_default();
    let detail = format!("role {}, until {day}", invite_row.role.as_str());
    audit::record(&state.db, &admin.who(), Action::InviteCreated, note, &detail).await;
    let register_path = format!("/#invite={code}");
    Ok((StatusCode::CREATED, Json(NewInviteAnswer { code, register_path, invite: invite_row.into() })))
}

fn check_lifetime_and_note(new_invite: &NewInvite) -> ApiResult<()> {
    if !(LIFETIME_MIN_SECS..=LIFETIME_MAX_SECS).contains(&new_invite.expires_in_secs) {
        return Err(ApiError::bad_request(
            "bad_lifetime",
            format!(
                "`expires_in_secs` is {}; expected {LIFETIME_MIN_SECS} to {LIFETIME_MAX_SECS}.",
                new_invite.expires_in_secs
            ),
        ));
    }
    let chars = new_invite.note.chars().count();
    if chars > NOTE_MAX_CHARS || new_invite.note.chars().any(char::is_control) {
        return Err(ApiError::bad_request(
            "bad_note",
            format!(
                "`note` has {chars} characters; expected at most {NOTE_MAX_CHARS}, and no control characters."
            ),
        ));
    }
    Ok(())
}

/// Deletes an invitation. An account that was created with it stays.
#[utoipa::path(delete, path = "/admin/invites/{id}", tag = "admin", security(("bearer" = ["admin", "log_in"])),
    params(("id", description = "Id of the invitation")),
    responses((status = 204, description = "Deleted")))]
pub(super) async fn delete(
    State(state): State<AppState>,
    LoggedInAdmin(admin): LoggedInAdmin,
    Path(id): Path<String>,
) -> ApiResult<StatusCode> {
    management::delete_invite(&state.db, &id).await?;
    audit::record(&state.db, &admin.who(), Action::InviteDeleted, &id, "").await;
    Ok(StatusCode::NO_CONTENT)
}
