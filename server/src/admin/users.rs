//! Accounts: listing, creating, roles, disabling, quotas and new passwords.

use std::collections::HashMap;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::queries::UserQuery;
use crate::audit::{self, Action, Actor};
use crate::auth::management::{self, AccountWithPassword};
use crate::auth::{Admin, LoggedInAdmin, Role, UserRow};
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, Path, Query};
use crate::paging::{Page, PageQuery, Position};
use crate::state::AppState;
use crate::storage;

/// Largest quota in bytes, as for the setting `SF_AUDIO_QUOTA_BYTES`.
const QUOTA_MAX_BYTES: u64 = 1 << 50;

/// An account as administrators see it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Account {
    /// Id, a UUID.
    pub(super) id: String,
    /// Name to log in with.
    pub(super) username: String,
    /// Role of the user.
    role: Role,
    /// Whether the account is disabled.
    disabled: bool,
    /// Whether the user must change the password before any other operation.
    must_change_password: bool,
    /// Whether the account has a password; in `standalone`, the administrator has none at first.
    has_password: bool,
    /// When the account was created, RFC 3339.
    created_at: String,
    /// Time of the last log-in with the password, RFC 3339; null if never.
    last_login_at: Option<String>,
    /// Audio quota in bytes.
    audio_quota_bytes: u64,
    /// Whether the quota was set for this user; otherwise `SF_AUDIO_QUOTA_BYTES` applies.
    has_own_quota: bool,
}

/// Converts stored accounts for administrators.
struct Accounts {
    quotas: HashMap<String, u64>,
    default_quota_bytes: u64,
}

impl Accounts {
    async fn load(state: &AppState) -> ApiResult<Self> {
        let default_quota_bytes = state.config.limits.audio.quota_bytes;
        Ok(Self { quotas: storage::read_individual_quotas(&state.db).await?, default_quota_bytes })
    }

    fn account_of(&self, user_row: UserRow) -> Account {
        let user_quota_bytes = self.quotas.get(&user_row.id).copied();
        Account {
            id: user_row.id,
            username: user_row.username,
            role: user_row.role,
            disabled: user_row.is_disabled,
            must_change_password: user_row.must_change_password,
            has_password: user_row.password_hash.is_some(),
            created_at: user_row.created_at,
            last_login_at: user_row.last_login_at,
            audio_quota_bytes: user_quota_bytes.unwrap_or(self.default_quota_bytes),
            has_own_quota: user_quota_bytes.is_some(),
        }
    }
}

/// Lists accounts, the newest first.
#[utoipa::path(get, path = "/admin/users", tag = "admin", security(("bearer" = ["admin"])), params(PageQuery, UserQuery),
    responses((status = 200, body = Page<Account>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    _: Admin,
    Query(page): Query<PageQuery>,
    Query(query): Query<UserQuery>,
) -> ApiResult<Json<Page<Account>>> {
    let limit = page.limit()?;
    let search = query.search.as_deref().unwrap_or_default().trim();
    let user_rows = management::read_users(&state.db, search, page.position()?.as_ref(), limit + 1).await?;
    let accounts = Accounts::load(&state).await?;
    let page_items = user_rows.into_iter().map(|user_row| accounts.account_of(user_row)).collect();
    let position_of =
        |account: &Account| Position { time: account.created_at.clone(), id: account.id.clone() };
    Ok(Json(Page::from_overfetched(page_items, limit, position_of)))
}

/// Describes an account.
#[utoipa::path(get, path = "/admin/users/{id}", tag = "admin", security(("bearer" = ["admin"])), params(("id", description = "Id of the account")),
    responses((status = 200, body = Account)))]
pub(super) async fn read(
    State(state): State<AppState>,
    _: Admin,
    Path(id): Path<String>,
) -> ApiResult<Json<Account>> {
    let user_row = management::user(&state.db, &id).await?;
    Ok(Json(Accounts::load(&state).await?.account_of(user_row)))
}

/// An account to make.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewUser {
    /// Name to log in with: 2 to 64 letters from a to z, digits and `. _ - + @`, beginning with a
    /// letter or a digit; case does not matter.
    #[schema(pattern = r"^\s*[A-Za-z0-9._+@-]{2,64}\s*$")]
    username: String,
    /// Role of the user; `user` by default.
    #[serde(default = "default_role")]
    role: Role,
    /// First password, which must be changed at the first log-in; generated if left out.
    password: Option<String>,
}

fn default_role() -> Role {
    Role::User
}

/// An account with the password that the administrator gives to its owner.
#[derive(Serialize, ToSchema)]
pub(super) struct ProvidedUser {
    /// The new or changed account.
    user: Account,
    /// The generated password; null if one was sent. It is never shown again.
    password: Option<String>,
}

async fn to_provided_user(state: &AppState, account: AccountWithPassword) -> ApiResult<Json<ProvidedUser>> {
    let user = Accounts::load(state).await?.account_of(account.user_row);
    Ok(Json(ProvidedUser { user, password: account.generated_password }))
}

/// Creates an account. Its password must be changed at the first log-in.
#[utoipa::path(post, path = "/admin/users", tag = "admin", security(("bearer" = ["admin", "log_in"])), request_body = NewUser,
    responses((status = 201, body = ProvidedUser),
        (status = 409, description = "`username_taken`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn create(
    State(state): State<AppState>,
    LoggedInAdmin(admin): LoggedInAdmin,
    Json(new_user): Json<NewUser>,
) -> ApiResult<(StatusCode, Json<ProvidedUser>)> {
    let account = management::create_user(
        &state.db,
        &state.passwords,
        Some(&admin.acting()),
        &new_user.username,
        new_user.role,
        new_user.password,
    )
    .await?;
    let detail = format!("role {}", account.user_row.role.as_str());
    audit::record(&state.db, &admin.who(), Action::UserCreated, &account.user_row.username, &detail).await;
    Ok((StatusCode::CREATED, to_provided_user(&state, account).await?))
}

/// Changes of an account; missing fields stay unchanged.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UserChange {
    /// The new role.
    role: Option<Role>,
    /// Whether the account is disabled. Disabling ends its tokens and its work, suspends its API
    /// keys and cancels its tasks.
    disabled: Option<bool>,
    /// Quota of audio in bytes, 0 to 2^50; with null, `SF_AUDIO_QUOTA_BYTES` applies.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<u64>, maximum = 1_125_899_906_842_624_u64)]
    audio_quota_bytes: Option<Option<u64>>,
}

/// Reads a field that is present, so that null differs from a missing field.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Changes the role of an account, enables or disables it, or sets its quota.
#[utoipa::path(patch, path = "/admin/users/{id}", tag = "admin", security(("bearer" = ["admin", "log_in"])), request_body = UserChange,
    params(("id", description = "Id of the account")),
    responses((status = 200, body = Account),
        (status = 409, description = "`last_admin`: no administrator would be left", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn change(
    State(state): State<AppState>,
    LoggedInAdmin(admin): LoggedInAdmin,
    Path(id): Path<String>,
    Json(change): Json<UserChange>,
) -> ApiResult<Json<Account>> {
    if let Some(Some(bytes)) = change.audio_quota_bytes
        && bytes > QUOTA_MAX_BYTES
    {
        return Err(ApiError::bad_request(
            "bad_quota",
            format!("`audio_quota_bytes` is {bytes}; expected 0 to {QUOTA_MAX_BYTES}, or null."),
        ));
    }
    let (old_row, new_row) =
        management::change_user(&state.db, &admin.acting(), &id, change.role, change.disabled).await?;
    let cancelled_tasks = if new_row.is_disabled {
        state.end_work_of(&id);
        state.tasks.cancel_all_of(&id).await?
    } else {
        0
    };
    record_change(&state, &admin.who(), &old_row, &new_row, cancelled_tasks).await;
    if let Some(quota_bytes) = change.audio_quota_bytes {
        storage::set_quota(&state.db, &id, quota_bytes).await?;
        let detail = quota_bytes.map_or("the default".to_owned(), |bytes| format!("{bytes} bytes"));
        audit::record(&state.db, &admin.who(), Action::QuotaChanged, &new_row.username, &detail).await;
    }
    Ok(Json(Accounts::load(&state).await?.account_of(new_row)))
}

/// Records in the audit log that the role changed, and that the account was disabled or enabled.
/// `cancelled_tasks` is the number of tasks that were cancelled because the account was disabled.
async fn record_change(
    state: &AppState,
    actor: &Actor,
    old_row: &UserRow,
    new_row: &UserRow,
    cancelled_tasks: u64,
) {
    if old_row.role != new_row.role {
        let detail = format!("{} to {}", old_row.role.as_str(), new_row.role.as_str());
        audit::record(&state.db, actor, Action::RoleChanged, &new_row.username, &detail).await;
    }
    if old_row.is_disabled != new_row.is_disabled {
        let action = if new_row.is_disabled { Action::UserDisabled } else { Action::UserEnabled };
        let detail =
            if cancelled_tasks > 0 { format!("tasks cancelled: {cancelled_tasks}") } else { String::new() };
        audit::record(&state.db, actor, action, &new_row.username, &detail).await;
    }
}

/// Gives an account a generated password, which must be changed at the next log-in. Its tokens and
/// API keys end, and its unused invitations are deleted.
#[utoipa::path(post, path = "/admin/users/{id}/reset-password", tag = "admin", security(("bearer" = ["admin", "log_in"])),
    params(("id", description = "Id of the account")),
    responses((status = 200, body = ProvidedUser)))]
pub(super) async fn reset_password(
    State(state): State<AppState>,
    LoggedInAdmin(admin): LoggedInAdmin,
    Path(id): Path<String>,
) -> ApiResult<Json<ProvidedUser>> {
    let account =
        management::reset_password(&state.db, &state.passwords, Some(&admin.acting()), &id, None).await?;
    audit::record(&state.db, &admin.who(), Action::PasswordReset, &account.user_row.username, "").await;
    to_provided_user(&state, account).await
}
