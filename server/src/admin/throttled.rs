//! Accounts and addresses that are throttled after failed log-ins.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::queries::LiftQuery;
use crate::audit::{self, Action};
use crate::auth::{Admin, FailureSelection, LoggedInAdmin, Throttled};
use crate::error::ApiResult;
use crate::extract::{Json, Query};
use crate::paging::{Page, PageQuery, Position};
use crate::state::AppState;

/// Lists accounts and addresses whose log-ins are throttled, and addresses whose registrations are.
/// The latest failures and registrations come first.
#[utoipa::path(get, path = "/admin/throttled", tag = "admin", security(("bearer" = ["admin"])), params(PageQuery),
    responses((status = 200, body = Page<Throttled>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    _: Admin,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<Throttled>>> {
    let limit = page.limit()?;
    let position_of =
        |entry: &Throttled| Position { time: entry.last_failed_at.clone(), id: entry.id.clone() };
    let position = page.position()?;
    let follows = |entry: &Throttled| {
        let (failed_at, id) = (&entry.last_failed_at, &entry.id);
        position.as_ref().is_none_or(|position| {
            *failed_at < position.time || (*failed_at == position.time && *id > position.id)
        })
    };
    let entries = state.throttle.read_overview(&state.db).await?;
    let page_items = entries.into_iter().filter(follows).take(limit as usize + 1).collect();
    Ok(Json(Page::from_overfetched(page_items, limit, position_of)))
}

/// The number of deleted counters.
#[derive(Serialize, ToSchema)]
pub(super) struct Lifted {
    /// Number of deleted counters: one for the failed log-ins of each account at each address, and
    /// one for the registrations from an address.
    lifted: u64,
}

/// Deletes the failed log-ins of an account, of an address, or of an account at an address, which
/// ends their throttling. For an address alone, also deletes its registrations.
#[utoipa::path(delete, path = "/admin/throttled", tag = "admin", security(("bearer" = ["admin", "log_in"])),
    params(LiftQuery), responses((status = 200, body = Lifted)))]
pub(super) async fn lift(
    State(state): State<AppState>,
    LoggedInAdmin(admin): LoggedInAdmin,
    Query(query): Query<LiftQuery>,
) -> ApiResult<Json<Lifted>> {
    let lift = FailureSelection::new(query.username.as_deref(), query.address.as_deref())?;
    let lifted_count = lift.apply(&state.db).await?;
    if lifted_count > 0 {
        audit::record(&state.db, &admin.who(), Action::ThrottlingLifted, lift.target(), &lift.detail()).await;
    }
    Ok(Json(Lifted { lifted: lifted_count }))
}
