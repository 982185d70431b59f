//! Handler of `POST /auth/register`, where users create their own accounts.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::login::TokenAnswer;
use super::names::clean_username;
use super::secrets;
use super::store::invites::{self, RegistrationOutcome};
use super::store::{Role, UserRow, users};
use crate::audit::{self, Action, Actor, Via};
use crate::client_address::Client;
use crate::config::Registration;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::Json;
use crate::state::AppState;

/// An account to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewAccount {
    /// Name to log in with: 2 to 64 letters from a to z, digits and `. _ - + @`, beginning with a
    /// letter or a digit; case does not matter.
    #[schema(pattern = r"^\s*[A-Za-z0-9._+@-]{2,64}\s*$")]
    username: String,
    /// Password. It must have a score of 3 or more, and at most 1024 bytes.
    password: String,
    /// Code of an invitation. It is required if registration needs an invitation. It sets the role
    /// of the account.
    invite: Option<String>,
}

/// Creates an account and logs in to it. The setting `SF_REGISTRATION` must allow it.
#[utoipa::path(post, path = "/auth/register", tag = "auth", security(()), request_body = NewAccount,
    responses((status = 201, body = TokenAnswer),
        (status = 403, description = "`registration_closed`, `invite_required` or `invite_invalid`",
            body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "`username_taken`", body = Problem,
            content_type = "application/problem+json"),
        (status = 429, description = "Too many registrations from this address", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn register(
    State(state): State<AppState>,
    client: Client,
    Json(request): Json<NewAccount>,
) -> ApiResult<(StatusCode, Json<TokenAnswer>)> {
    let code = request.invite.as_deref().map(str::trim).filter(|code| !code.is_empty());
    let code = code.map(secrets::sha256);
    require_open(state.config.accounts.registration, code.is_some())?;
    let address = client.address;
    let _connection_turn = state.throttle.connection_turn(&client).await?;
    let is_invited = match code.as_deref() {
        Some(code) => invites::is_open(&state.db, code).await?,
        None => false,
    };
    let _registration_turn = state.throttle.registration_turn(is_invited).await?;
    if !is_invited {
        // Throttling happens before the costly hash, and before the answer reveals whether a name
        // is taken.
        state.throttle.admit_registration(&state.db, address).await?;
        if code.is_some() {
            return Err(invalid_invite_error());
        }
    }
    let username = clean_username(&request.username)?;
    let hash = state.passwords.hash_for_registration(request.password, &username).await?;
    let user_row = create_account(&state, code.as_deref(), &username, &hash).await?;
    state.throttle.record_registration(&state.db, &user_row.id, address).await;
    let actor = Actor {
        user_id: Some(user_row.id.clone()),
        username: user_row.username.clone(),
        via: Via::Nobody,
        address: Some(address),
    };
    let detail = if code.is_some() { "by invitation" } else { "" };
    audit::record(&state.db, &actor, Action::AccountRegistered, &user_row.username, detail).await;
    Ok((StatusCode::CREATED, Json(TokenAnswer::for_user(&state, &user_row)?)))
}

fn require_open(registration: Registration, has_invite: bool) -> ApiResult<()> {
    match registration {
        Registration::Open => Ok(()),
        Registration::Invite if has_invite => Ok(()),
        Registration::Invite => Err(ApiError::Forbidden {
            code: "invite_required",
            detail: "Registration needs an invitation; ask an administrator for one.".to_owned(),
        }),
        Registration::Closed => Err(ApiError::Forbidden {
            code: "registration_closed",
            detail: "Registration is closed here (SF_REGISTRATION); ask an administrator for an account."
                .to_owned(),
        }),
    }
}

fn invalid_invite_error() -> ApiError {
    ApiError::Forbidden {
        code: "invite_invalid",
        detail: "This invitation is unknown, already used or expired; ask for another one.".to_owned(),
    }
}

async fn create_account(
    state: &AppState,
    code_sha256: Option<&str>,
    username: &str,
    password_hash: &str,
) -> ApiResult<UserRow> {
    let name_taken = || username_taken_error(username);
    let Some(code) = code_sha256 else {
        let insert_result =
            users::insert(&state.db, username, Role::User, Some(password_hash), false).await?;
        return insert_result.ok_or_else(name_taken);
    };
    match invites::register(&state.db, code, username, password_hash).await? {
        RegistrationOutcome::Done(user_row) => Ok(user_row),
        RegistrationOutcome::NotInvited => Err(invalid_invite_error()),
        RegistrationOutcome::NameTaken => Err(name_taken()),
    }
}

/// Returns the error 409 for a name that is taken.
pub(super) fn username_taken_error(username: &str) -> ApiError {
    ApiError::Conflict {
        code: "username_taken",
        detail: format!("An account `{username}` already exists; choose another name."),
    }
}
