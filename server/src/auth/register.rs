//! `POST /auth/register`: making an account for oneself.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::login::TokenAnswer;
use super::names::clean_username;
use super::secrets;
use super::store::invites::{self, Registered};
use super::store::{Role, UserRow, users};
use crate::audit::{self, Action, Via, Who};
use crate::client_address::Client;
use crate::config::Registration;
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
use crate::extract::Json;
use crate::state::AppState;

/// An account to make.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewAccount {
    /// Name to log in with: 2 to 64 letters from a to z, digits and `. _ - + @`; case does not
    /// matter.
    #[schema(pattern = r"^\s*[A-Za-z0-9._+@-]{2,64}\s*$")]
    username: String,
    /// Password: a score of 3 or more, at most 1024 bytes.
    password: String,
    /// Code of an invitation. Needed where registration is by invitation; elsewhere it may give a
    /// role.
    invite: Option<String>,
}

/// Makes an account and logs in to it. Whether that is possible is the setting `SF_REGISTRATION`.
#[utoipa::path(post, path = "/auth/register", tag = "auth", security(()), request_body = NewAccount,
    responses((status = 201, body = TokenAnswer),
        (status = 403, description = "`registration_closed`, `invite_required` or `invite_invalid`",
            body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "`username_taken`", body = Problem,
            content_type = "application/problem+json"),
        (status = 429, description = "Too many registrations from this address", body = Problem,
            content_type = "application/problem+json"), CommonErrors))]
pub(super) async fn register(
    State(state): State<AppState>,
    client: Client,
    Json(wanted): Json<NewAccount>,
) -> ApiResult<(StatusCode, Json<TokenAnswer>)> {
    let code = wanted.invite.as_deref().map(str::trim).filter(|code| !code.is_empty());
    let code = code.map(secrets::sha256);
    require_open(state.config.accounts.registration, code.is_some())?;
    let address = client.address;
    let _of_connection = state.throttle.turn_of_connection(&client).await?;
    let is_invited = match code.as_deref() {
        Some(code) => invites::is_open(&state.db, code).await?,
        None => false,
    };
    let _turn = state.throttle.turn_to_register(is_invited).await?;
    if !is_invited {
        // All others are slowed down, before the costly hash and before anything is said about
        // names.
        state.throttle.admit_registration(&state.db, address).await?;
        if code.is_some() {
            return Err(invite_invalid());
        }
    }
    let username = clean_username(&wanted.username)?;
    let hash = state.passwords.hash_of_new(wanted.password, &username).await?;
    let row = make(&state, code.as_deref(), &username, &hash).await?;
    state.throttle.registered(&state.db, &row.id, address).await;
    let who = Who {
        user_id: Some(row.id.clone()),
        username: row.username.clone(),
        via: Via::Nobody,
        address: Some(address),
    };
    let detail = if code.is_some() { "by invitation" } else { "" };
    audit::record(&state.db, &who, Action::AccountRegistered, &row.username, detail).await;
    Ok((StatusCode::CREATED, Json(TokenAnswer::for_user(&state, &row)?)))
}

fn require_open(registration: Registration, invited: bool) -> ApiResult<()> {
    match registration {
        Registration::Open => Ok(()),
        Registration::Invite if invited => Ok(()),
        Registration::Invite => Err(ApiError::Forbidden {
            code: "invite_required",
            detail: "Accounts are made by invitation here; ask an administrator for one.".to_owned(),
        }),
        Registration::Closed => Err(ApiError::Forbidden {
            code: "registration_closed",
            detail: "Nobody can register here (SF_REGISTRATION); ask an administrator for an account."
                .to_owned(),
        }),
    }
}

fn invite_invalid() -> ApiError {
    ApiError::Forbidden {
        code: "invite_invalid",
        detail: "This invitation is not known, was used already, or has expired; ask for another one."
            .to_owned(),
    }
}

async fn make(
    state: &AppState,
    code_sha256: Option<&str>,
    username: &str,
    password_hash: &str,
) -> ApiResult<UserRow> {
    let taken = || username_taken(username);
    let Some(code) = code_sha256 else {
        let made = users::insert(&state.db, username, Role::User, Some(password_hash), false).await?;
        return made.ok_or_else(taken);
    };
    match invites::register(&state.db, code, username, password_hash).await? {
        Registered::Done(row) => Ok(row),
        Registered::NotInvited => Err(invite_invalid()),
        Registered::NameTaken => Err(taken()),
    }
}

/// 409 for a name that somebody has.
pub(super) fn username_taken(username: &str) -> ApiError {
    ApiError::Conflict {
        code: "username_taken",
        detail: format!("There is an account `{username}` already; choose another name."),
    }
}
