//! Settings of accounts, tokens, API keys and the audit log.

use super::source::{Source, invalid};
use super::{ConfigError, Environment, Secret};

/// Which people may register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Registration {
    /// Everybody.
    Open,
    /// People with an invitation from an administrator.
    Invite,
    /// Nobody. Administrators create accounts.
    Closed,
}

/// Numbers of failed log-ins and registrations within an hour until throttling begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoginLimits {
    /// Number of accounts with failed log-ins from one address.
    pub failed_accounts_per_address: i64,
    /// Maximum number of failed log-ins of one account from addresses that it never logged in from.
    pub failures_per_account: i64,
    /// Number of registrations from one address without an invitation.
    pub registrations_per_address: i64,
}

/// Settings of accounts, tokens, API keys and the audit log.
#[derive(Debug, Clone)]
pub struct AccountsConfig {
    /// Whether local callers act as the administrator.
    pub trusts_local: bool,
    /// Signing key of tokens. `None` uses the key in the storage folder.
    pub jwt_secret: Option<Secret>,
    /// Lifetime of a token in seconds.
    pub token_lifetime_secs: u64,
    /// Numbers of failed log-ins and registrations until throttling begins.
    pub login_limits: LoginLimits,
    /// Which people may register.
    pub registration: Registration,
    /// Maximum number of API keys of an account.
    pub api_keys_max: u64,
    /// Time for which entries of the audit log are kept, in days.
    pub audit_retention_days: u64,
}

pub(super) fn load(source: &Source, environment: Environment) -> Result<AccountsConfig, ConfigError> {
    let jwt_secret = source.text("SF_JWT_SECRET").0.map(|text| Secret(text.to_owned()));
    match &jwt_secret {
        None if environment == Environment::Container => {
            return Err(ConfigError::Missing {
                key: "SF_JWT_SECRET",
                reason: "in a container, set it to 32 or more random characters, the same on every node; it signs \
                         log-in tokens",
            });
        }
        Some(secret) if secret.reveal().len() < 32 => {
            return Err(invalid("SF_JWT_SECRET", "", "32 characters or more".to_owned()));
        }
        _ => {}
    }
    let count =
        |setting_name| source.integer(setting_name).map(|value| i64::try_from(value).unwrap_or(i64::MAX));
    Ok(AccountsConfig {
        trusts_local: match source.text("SF_TRUST_LOCAL").0 {
            Some(_) => source.switch("SF_TRUST_LOCAL")?,
            // Behind a proxy on this machine, remote visitors would count as local.
            None => environment == Environment::Standalone && source.text("SF_TRUSTED_PROXIES").0.is_none(),
        },
        jwt_secret,
        token_lifetime_secs: source.integer("SF_TOKEN_LIFETIME_SECS")?,
        login_limits: LoginLimits {
            failed_accounts_per_address: count("SF_LOGIN_FAILED_ACCOUNTS_PER_ADDRESS")?,
            failures_per_account: count("SF_LOGIN_FAILURES_PER_ACCOUNT")?,
            registrations_per_address: count("SF_REGISTRATIONS_PER_ADDRESS")?,
        },
        registration: match source.choice("SF_REGISTRATION")? {
            "open" => Registration::Open,
            "invite" => Registration::Invite,
            _ => Registration::Closed,
        },
        api_keys_max: source.integer("SF_API_KEYS_MAX")?,
        audit_retention_days: source.integer("SF_AUDIT_RETENTION_DAYS")?,
    })
}
