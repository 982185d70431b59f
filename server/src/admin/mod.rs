//! Administration of accounts, invitations, throttled log-ins, storage, tasks, scans and the audit
//! log.
//!
//! This slice has no tables; it calls the slices that own the data. Only administrators, including
//! the desktop's local caller, may call its operations. API keys cannot change accounts.

mod audit_log;
mod invites;
mod queries;
mod scans;
mod storage;
mod tasks;
mod throttled;
mod users;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(users::list, users::create))
        .routes(routes!(users::read, users::change))
        .routes(routes!(users::reset_password))
        .routes(routes!(invites::list, invites::create))
        .routes(routes!(invites::delete))
        .routes(routes!(storage::read))
        .routes(routes!(tasks::list))
        .routes(routes!(tasks::cancel))
        .routes(routes!(scans::read, scans::start))
        .routes(routes!(throttled::list, throttled::lift))
        .routes(routes!(audit_log::list))
}

#[cfg(test)]
mod tests;
