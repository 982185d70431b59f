//! Settings of each user. They are stored in the service, so they apply in every browser of the
//! user.
//!
//! [`settings_table`] lists all settings. The checks, the defaults and the API's description of
//! each setting use this table. Only changed settings are stored, so a new default applies to all
//! users who did not change the setting.

mod settings_table;
mod store;
mod value;
mod verbs;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(verbs::read, verbs::replace, verbs::change, verbs::reset))
        .routes(routes!(verbs::list_settings))
}

#[cfg(test)]
mod tests;
