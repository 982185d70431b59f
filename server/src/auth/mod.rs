//! Accounts, tokens, API keys, and the rule that decides which callers are local.

mod account;
mod api_key_owner;
mod api_keys;
mod first_start;
mod handshake;
mod hs256;
mod links;
mod local;
mod login;
pub mod management;
mod names;
mod password_check;
pub mod passwords;
mod proxy_headers;
mod queries;
mod rate_limits;
mod register;
mod secrets;
mod session_end;
mod store;
mod throttle;
mod tokens;
mod user;

pub use first_start::{PasswordReason, admin_id, ensure_admin};
pub(crate) use handshake::{check_origin, of_handshake};
pub(crate) use links::{issue_link, linked_render};
pub use local::{LocalRule, NotLocal};
pub use login::TokenAnswer;
pub(crate) use rate_limits::limit_addresses;
pub(crate) use session_end::{access_ended, end_when_access_ends};
pub use store::invites::InviteRow;
pub use store::{ActingUser, Role, UserRow};
pub use throttle::{FailureSelection, Throttle, Throttled, ThrottledKind};
pub use tokens::{Claims, Tokens};
pub(crate) use user::claims_of;
pub use user::{
    Admin, AdminOrLocal, AnyUser, CurrentUser, LoggedIn, LoggedInAdmin, LoggedInAdminOrLocal, UserView,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::BodyLimit;
use crate::router::with_body_limit;
use crate::state::AppState;

/// Maximum size of a request body of this slice. It fits a name and two passwords of 1024 bytes,
/// even if JSON escapes each byte as six characters.
const BODY_MAX_BYTES: u64 = 16 * 1024;

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    with_body_limit(all_routes(), BodyLimit::of(BODY_MAX_BYTES, "The body of this request"))
}

fn all_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(login::local))
        .routes(routes!(login::login))
        .routes(routes!(login::refresh))
        .routes(routes!(login::logout))
        .routes(routes!(register::register))
        .routes(routes!(account::me))
        .routes(routes!(account::change_password))
        .routes(routes!(account::password_strength))
        .routes(routes!(api_keys::list, api_keys::create))
        .routes(routes!(api_keys::delete))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use tests::add_user as add_test_user;
