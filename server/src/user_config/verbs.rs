//! HTTP handlers of `/user_config`.

use axum::extract::State;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::settings_table::{USER_SETTINGS, UserSetting, user_setting};
use super::store::{self, Change};
use super::value::Kind;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, FieldError, pointer_part};
use crate::extract::Json;
use crate::plural::counted;
use crate::state::AppState;

/// Maximum number of errors in one answer.
const ERRORS_MAX: usize = 100;

/// A user's settings.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct UserConfig {
    /// The value of every setting by name: the user's value, or the default if the user set none.
    #[schema(value_type = Object)]
    settings: Map<String, Value>,
    /// Names of the settings that the user has set.
    set: Vec<&'static str>,
    /// Time of the last change of a setting that is still set, RFC 3339; null if no setting is set.
    updated_at: Option<String>,
}

/// Accepted values of a setting.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SettingDescription {
    /// Name of the setting.
    key: &'static str,
    /// `choice` (one of `choices`), `switch`, `whole` (a whole number), `number`, or `text` (may be
    /// null).
    kind: &'static str,
    /// Accepted values of a `choice`; empty for other kinds.
    choices: &'static [&'static str],
    /// Minimum of a number; null for other kinds.
    min: Option<f64>,
    /// Maximum of a number; null for other kinds.
    max: Option<f64>,
    /// Maximum number of characters of a text; null for other kinds.
    max_chars: Option<usize>,
    /// Default value.
    default: Value,
    /// Description of the setting in one sentence.
    about: &'static str,
}

impl SettingDescription {
    fn from_setting(setting: &'static UserSetting) -> Self {
        let (choices, min, max, max_chars): (&[&str], _, _, _) = match setting.kind {
            Kind::Choice(words) => (words, None, None, None),
            Kind::Switch => (&[], None, None, None),
            Kind::Whole { min, max } => (&[], Some(min as f64), Some(max as f64), None),
            Kind::Number { min, max } => (&[], Some(min), Some(max), None),
            Kind::OptionalText { max_chars } => (&[], None, None, Some(max_chars)),
        };
        let UserSetting { name, kind, default, description } = setting;
        Self {
            key: name,
            kind: kind.name(),
            choices,
            min,
            max,
            max_chars,
            default: default.to_json(),
            about: description,
        }
    }
}

/// A list of all settings.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SettingList {
    /// One entry for each setting.
    items: Vec<SettingDescription>,
}

/// Lists all settings, with their accepted values and defaults.
#[utoipa::path(get, path = "/user_config/settings", tag = "user_config",
    responses((status = 200, body = SettingList)))]
pub(super) async fn list_settings(_: CurrentUser) -> Json<SettingList> {
    Json(SettingList { items: USER_SETTINGS.iter().map(SettingDescription::from_setting).collect() })
}

/// Reads the caller's settings.
#[utoipa::path(get, path = "/user_config", tag = "user_config",
    responses((status = 200, body = UserConfig)))]
pub(super) async fn read(State(state): State<AppState>, user: CurrentUser) -> ApiResult<Json<UserConfig>> {
    load_user_config(&state, &user.id).await
}

/// Replaces the caller's settings: settings that the body omits get their defaults.
#[utoipa::path(put, path = "/user_config", tag = "user_config",
    request_body(content = Object, description = "Values by the names of settings"),
    responses((status = 200, body = UserConfig)))]
pub(super) async fn replace(
    State(state): State<AppState>,
    user: CurrentUser,
    Json(body): Json<Map<String, Value>>,
) -> ApiResult<Json<UserConfig>> {
    store::update_settings(&state.db, &user.id, &checked_changes(&body, NullEffect::IsAValue)?, true).await?;
    load_user_config(&state, &user.id).await
}

/// Changes some of the caller's settings; null resets a setting to its default. Applies all changes
/// or none.
#[utoipa::path(patch, path = "/user_config", tag = "user_config",
    request_body(content = Object, description = "Values by the names of settings"),
    responses((status = 200, body = UserConfig)))]
pub(super) async fn change(
    State(state): State<AppState>,
    user: CurrentUser,
    Json(body): Json<Map<String, Value>>,
) -> ApiResult<Json<UserConfig>> {
    store::update_settings(&state.db, &user.id, &checked_changes(&body, NullEffect::Resets)?, false).await?;
    load_user_config(&state, &user.id).await
}

/// Resets all of the caller's settings to their defaults.
#[utoipa::path(delete, path = "/user_config", tag = "user_config",
    responses((status = 200, body = UserConfig)))]
pub(super) async fn reset(State(state): State<AppState>, user: CurrentUser) -> ApiResult<Json<UserConfig>> {
    store::update_settings(&state.db, &user.id, &[], true).await?;
    load_user_config(&state, &user.id).await
}

/// The effect of null in a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NullEffect {
    IsAValue,
    Resets,
}

/// Returns the changes in a body, or all invalid values as an error.
fn checked_changes(body: &Map<String, Value>, null_effect: NullEffect) -> ApiResult<Vec<Change<'_>>> {
    let mut changes = Vec::with_capacity(body.len());
    let mut errors = Vec::new();
    for (setting_name, value) in body {
        let resets = null_effect == NullEffect::Resets && value.is_null();
        let error = match user_setting(setting_name) {
            None => Some("there is no such setting; GET /user_config/settings lists all settings".to_owned()),
            Some(_) if resets => None,
            Some(setting) => setting.kind.check(value).err(),
        };
        match error {
            Some(detail) => {
                errors.push(FieldError { pointer: format!("/{}", pointer_part(setting_name)), detail });
            }
            None => changes.push((setting_name.as_str(), (!resets).then(|| value.to_string()))),
        }
    }
    let Some(first_error) = errors.first() else { return Ok(changes) };
    let detail = format!(
        "The settings have {}. The first error is at {}: {}",
        counted(errors.len(), "error"),
        first_error.pointer,
        first_error.detail
    );
    errors.truncate(ERRORS_MAX);
    Err(ApiError::Invalid { code: "invalid_settings", detail, errors })
}

async fn load_user_config(state: &AppState, owner_id: &str) -> ApiResult<Json<UserConfig>> {
    let mut settings: Map<String, Value> =
        USER_SETTINGS.iter().map(|setting| (setting.name.to_owned(), setting.default.to_json())).collect();
    let (mut set, mut updated_at) = (Vec::new(), None::<String>);
    for stored_setting in store::read_settings(&state.db, owner_id).await? {
        // Ignores stored values that this version does not accept.
        let Some(setting) = user_setting(&stored_setting.name) else { continue };
        let Ok(value) = serde_json::from_str(&stored_setting.value_json) else { continue };
        if setting.kind.check(&value).is_err() {
            continue;
        }
        settings.insert(stored_setting.name, value);
        set.push(setting.name);
        updated_at = updated_at.max(Some(stored_setting.updated_at));
    }
    Ok(Json(UserConfig { settings, set, updated_at }))
}
