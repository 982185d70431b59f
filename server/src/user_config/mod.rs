//! Settings of each user, which apply wherever the user logs in.
//!
//! [`settings_table`] is the one list of them; checks, defaults and the description in the API are
//! made from it. Only changed settings are stored, so a new default reaches all users who did not
//! choose.

mod settings_table;
mod store;
mod value;
mod verbs;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

/// The routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(verbs::read, verbs::replace, verbs::change, verbs::reset))
        .routes(routes!(verbs::list_settings))
}

#[cfg(test)]
mod tests;
