//! The audit log. It records actions with their actor, time and client address.
//!
//! Other slices call [`record`] after an action has happened. Administrators read the entries
//! through `/admin/audit`. Entries are deleted after `SF_AUDIT_RETENTION_DAYS`.

mod store;

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
pub(crate) use store::{Filter, read_page};
use utoipa::ToSchema;

use crate::clock;
use crate::db::Db;
use crate::state::AppState;

/// Interval at which old entries are deleted.
const PRUNE_EVERY: Duration = Duration::from_secs(3600);

const SECS_PER_DAY: i64 = 86_400;

/// Maximum length of a target, in characters.
const TARGET_MAX_CHARS: usize = 200;

/// Method by which the actor was authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Via {
    /// The actor was on this machine and sent no token or API key.
    Local,
    /// The actor had a token from a log-in.
    Token,
    /// The actor had an API key.
    ApiKey,
    /// The actor had a shell on this machine.
    CommandLine,
    /// The actor was not authenticated.
    Nobody,
}

impl Via {
    /// Returns the name that the audit log stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Token => "token",
            Self::ApiKey => "api_key",
            Self::CommandLine => "command_line",
            Self::Nobody => "nobody",
        }
    }
}

/// The actor of an entry.
#[derive(Debug, Clone)]
pub struct Actor {
    /// Id of the account; `None` without a log-in.
    pub user_id: Option<String>,
    /// Name of the account, or a substitute such as `nobody`.
    pub username: String,
    /// Method by which the actor was authenticated.
    pub via: Via,
    /// The client's address; `None` on this machine's command line.
    pub address: Option<IpAddr>,
}

impl Actor {
    /// Returns the actor for actions on this machine's command line.
    #[must_use]
    pub fn command_line() -> Self {
        Self { user_id: None, username: "command line".to_owned(), via: Via::CommandLine, address: None }
    }
}

macro_rules! actions {
    ($($(#[$about:meta])* $name:ident = $text:literal,)*) => {
        /// The kind of an action in the audit log.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Action {
            $($(#[$about])* $name,)*
        }

        impl Action {
            /// Returns the name of the action in the database and in answers.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }

        #[cfg(test)]
        const ALL: &[Action] = &[$(Action::$name,)*];
    };
}

actions! {
    /// Somebody logged in.
    LogIn = "log_in",
    /// Somebody entered a wrong name or password.
    LogInFailed = "log_in_failed",
    /// Somebody logged out, which ended the tokens of one log-in.
    LogOut = "log_out",
    /// Somebody logged out everywhere, which ended all tokens of an account.
    LogOutEverywhere = "log_out_everywhere",
    /// Somebody changed their password.
    PasswordChanged = "password_changed",
    /// Somebody entered a wrong current password.
    PasswordChangeFailed = "password_change_failed",
    /// Somebody created an account for themselves.
    AccountRegistered = "account_registered",
    /// An API key was created.
    ApiKeyCreated = "api_key_created",
    /// Somebody made a link with which people without an account can download a render.
    RenderShared = "render_shared",
    /// An API key was deleted.
    ApiKeyDeleted = "api_key_deleted",
    /// An administrator created an account.
    UserCreated = "user_created",
    /// An account got another role.
    RoleChanged = "role_changed",
    /// An account was disabled.
    UserDisabled = "user_disabled",
    /// An account was enabled again.
    UserEnabled = "user_enabled",
    /// The quota of an account was changed.
    QuotaChanged = "quota_changed",
    /// An administrator reset the password of an account.
    PasswordReset = "password_reset",
    /// An administrator ended the throttling of log-ins for an account or an address.
    ThrottlingLifted = "throttling_lifted",
    /// An invitation was created.
    InviteCreated = "invite_created",
    /// An invitation was deleted.
    InviteDeleted = "invite_deleted",
    /// An administrator cancelled somebody's task.
    TaskCancelled = "task_cancelled",
    /// An administrator started a scan.
    ScanStarted = "scan_started",
    /// An administrator ended a helper process.
    HelperEnded = "helper_ended",
    /// A project was deleted.
    ProjectDeleted = "project_deleted",
    /// An audio file was deleted.
    AudioDeleted = "audio_deleted",
    /// A SoundFont was deleted.
    SoundfontDeleted = "soundfont_deleted",
    /// A folder of plugins was added to somebody's list.
    PluginDirAdded = "plugin_dir_added",
    /// A folder of plugins was removed from somebody's list.
    PluginDirRemoved = "plugin_dir_removed",
}

/// An entry of the log.
#[derive(Debug, Serialize, ToSchema)]
pub struct Entry {
    /// Id, a UUID.
    pub id: String,
    /// When the action happened, RFC 3339.
    pub at: String,
    /// Name of the action, such as `log_in_failed`.
    pub action: String,
    /// Id of the account that acted; null without a log-in.
    pub actor_id: Option<String>,
    /// Name of the account that acted, at the time of the action; `nobody` or `command line`
    /// without an account.
    pub actor: String,
    /// Authentication of the actor: `local`, `token`, `api_key`, `command_line` or `nobody`.
    #[schema(value_type = Via)]
    pub via: String,
    /// Address of the client; null on the command line.
    pub address: Option<String>,
    /// The target of the action, such as the name of an account, a project or a file.
    pub target: String,
    /// Details; may be empty.
    pub detail: String,
}

/// Adds an entry. The action has already happened, so a failure is only logged.
pub async fn record(db: &Db, actor: &Actor, action: Action, target: &str, detail: &str) {
    let entry = Entry {
        id: uuid::Uuid::new_v4().to_string(),
        at: clock::now_text(),
        action: action.as_str().to_owned(),
        actor_id: actor.user_id.clone(),
        actor: actor.username.clone(),
        via: actor.via.as_str().to_owned(),
        address: actor.address.map(|address| address.to_string()),
        target: target.chars().take(TARGET_MAX_CHARS).collect(),
        detail: detail.to_owned(),
    };
    if let Err(error) = store::insert(db, &entry).await {
        tracing::error!(%error, action = entry.action, actor = entry.actor, "cannot write the audit log");
    }
}

/// Deletes entries that are older than the configured retention, now and every hour until the
/// service stops.
pub async fn keep_to_retention(state: AppState) {
    loop {
        if let Err(error) = prune(&state.db, state.config.accounts.audit_retention_days).await {
            tracing::error!(%error, "cannot delete old entries of the audit log");
        }
        tokio::select! {
            () = state.stop.cancelled() => return,
            () = tokio::time::sleep(PRUNE_EVERY) => {}
        }
    }
}

async fn prune(db: &Db, retention_days: u64) -> Result<u64, sqlx::Error> {
    let days = i64::try_from(retention_days).unwrap_or(i64::MAX);
    store::delete_before(db, &clock::text_in(days.saturating_mul(SECS_PER_DAY).saturating_neg())).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_app::TestApp;

    #[test]
    fn actions_serialize_as_their_text() {
        for action in ALL {
            assert_eq!(serde_json::json!(action), action.as_str());
        }
    }

    #[tokio::test]
    async fn only_entries_older_than_the_retention_are_deleted() {
        let app = TestApp::start().await;
        let db = &app.state.db;
        for (id, days) in [("old", 31), ("newer", 29)] {
            let entry = Entry {
                id: id.to_owned(),
                at: clock::text_in(-days * SECS_PER_DAY),
                action: "log_in".to_owned(),
                actor_id: None,
                actor: "ada".to_owned(),
                via: "token".to_owned(),
                address: None,
                target: String::new(),
                detail: String::new(),
            };
            store::insert(db, &entry).await.expect("writes");
        }
        assert_eq!(prune(db, 30).await.expect("deletes"), 1);
        let remaining = read_page(db, &Filter::default(), None, 10).await.expect("reads");
        assert_eq!(remaining.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>(), ["newer"]);
    }
}
