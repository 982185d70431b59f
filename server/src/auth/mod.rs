//! Accounts, tokens, and the rule of local trust.

mod account;
mod first_start;
mod hs256;
mod local;
mod login;
pub mod passwords;
mod store;
mod throttle;
mod tokens;
mod user;

pub use first_start::{admin_id, ensure_admin};
pub use local::{LocalRule, NotLocal};
pub use login::TokenAnswer;
pub use store::Role;
pub use tokens::{Claims, Tokens};
pub use user::{AnyUser, CurrentUser, UserView};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

/// The routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(login::local))
        .routes(routes!(login::login))
        .routes(routes!(login::refresh))
        .routes(routes!(login::logout))
        .routes(routes!(account::me))
        .routes(routes!(account::change_password))
        .routes(routes!(account::password_strength))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use tests::add_user as add_test_user;
