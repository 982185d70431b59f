//! Commands for accounts.

use std::io::BufRead as _;

use anyhow::Context as _;
use serde_json::json;

use crate::audit::{self, Action, Actor};
use crate::auth::management::{self, AccountWithPassword};
use crate::auth::passwords::Passwords;
use crate::auth::{Role, UserRow};
use crate::cli::standard_output::print_line;
use crate::db::Db;
use crate::paging::Position;

/// Number of accounts that a query returns at a time.
const PAGE_SIZE: u32 = 200;

/// Role of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum RoleArg {
    /// Access only to the user's own data.
    User,
    /// Access to everything.
    Admin,
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::User => Self::User,
            RoleArg::Admin => Self::Admin,
        }
    }
}

/// Create an account. Its password must be changed at the first log-in.
#[derive(Debug, clap::Args)]
pub(super) struct CreateUser {
    /// Name to log in with: 2 to 64 letters from a to z, digits and . _ - + @
    username: String,
    /// Role of the account.
    #[arg(long, value_enum, default_value = "user")]
    role: RoleArg,
    /// Read the password from standard input instead of generating one.
    #[arg(long)]
    password_stdin: bool,
}

/// Set a new password for an account. Ends its sessions and deletes its API keys.
#[derive(Debug, clap::Args)]
pub(super) struct ResetPassword {
    /// Name of the account.
    username: String,
    /// Read the password from standard input instead of generating one.
    #[arg(long)]
    password_stdin: bool,
}

/// List all accounts.
#[derive(Debug, clap::Args)]
pub(super) struct ListUsers {
    /// Print JSON, one object per line.
    #[arg(long)]
    json: bool,
}

pub(super) async fn create(args: &CreateUser, db: &Db) -> anyhow::Result<()> {
    let password = read_password(args.password_stdin)?;
    let hasher = Passwords::new(1)?;
    let account =
        management::create_user(db, &hasher, None, &args.username, args.role.into(), password).await?;
    let detail = format!("role {}", account.user_row.role.as_str());
    audit::record(db, &Actor::command_line(), Action::UserCreated, &account.user_row.username, &detail).await;
    print_line(&format!(
        "Created the account `{}` (role {}).",
        account.user_row.username,
        account.user_row.role.as_str()
    ))?;
    print_password(&account)
}

pub(super) async fn reset_password(args: &ResetPassword, db: &Db) -> anyhow::Result<()> {
    let user_row = management::user_named(db, &args.username).await?;
    let password = read_password(args.password_stdin)?;
    let account = management::reset_password(db, &Passwords::new(1)?, None, &user_row.id, password).await?;
    audit::record(db, &Actor::command_line(), Action::PasswordReset, &account.user_row.username, "").await;
    print_line(&format!(
        "The account `{}` has a new password; its sessions have ended and its API keys are deleted.",
        account.user_row.username
    ))?;
    print_password(&account)
}

fn print_password(account: &AccountWithPassword) -> anyhow::Result<()> {
    match &account.generated_password {
        Some(password) => {
            print_line(&format!("Password: {password}"))?;
            print_line("The password must be changed at the first log-in, and is not shown again.")
        }
        None => print_line("The password must be changed at the first log-in."),
    }
}

pub(super) async fn list(args: &ListUsers, db: &Db) -> anyhow::Result<()> {
    let mut user_rows: Vec<UserRow> = Vec::new();
    loop {
        let last = user_rows
            .last()
            .map(|user_row| Position { time: user_row.created_at.clone(), id: user_row.id.clone() });
        let page = management::read_users(db, "", last.as_ref(), PAGE_SIZE).await?;
        let is_full_page = page.len() == PAGE_SIZE as usize;
        user_rows.extend(page);
        if !is_full_page {
            break;
        }
    }
    user_rows.sort_by(|a, b| a.username.cmp(&b.username));
    if !args.json {
        print_line(&format_columns("NAME", "ROLE", "STATE", "LAST LOG-IN"))?;
    }
    for user_row in &user_rows {
        let last = user_row.last_login_at.as_deref();
        print_line(&match args.json {
            true => json!({
                "id": user_row.id,
                "username": user_row.username,
                "role": user_row.role,
                "disabled": user_row.is_disabled,
                "must_change_password": user_row.must_change_password,
                "created_at": user_row.created_at,
                "last_login_at": last,
            })
            .to_string(),
            false => format_columns(
                &user_row.username,
                user_row.role.as_str(),
                state(user_row),
                last.unwrap_or("never"),
            ),
        })?;
    }
    Ok(())
}

fn state(user_row: &UserRow) -> &'static str {
    match (user_row.is_disabled, user_row.must_change_password, &user_row.password_hash) {
        (true, ..) => "disabled",
        (_, true, _) => "must change password",
        (.., None) => "no password",
        _ => "active",
    }
}

fn format_columns(name: &str, role: &str, state: &str, last: &str) -> String {
    format!("{name:<32} {role:<6} {state:<21} {last}")
}

/// Reads the password from the first line of standard input, if `reads_stdin` is set.
fn read_password(reads_stdin: bool) -> anyhow::Result<Option<String>> {
    if !reads_stdin {
        return Ok(None);
    }
    let mut text = String::new();
    std::io::stdin().lock().read_line(&mut text).context("cannot read the password from standard input")?;
    let password = text.trim_end_matches(['\r', '\n']);
    anyhow::ensure!(!password.is_empty(), "there is no password on standard input");
    Ok(Some(password.to_owned()))
}
