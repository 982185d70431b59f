//! Lists the audit log.

use axum::extract::State;

use super::queries::AuditQuery;
use crate::audit::{self, Entry, Filter};
use crate::auth::Admin;
use crate::error::ApiResult;
use crate::extract::{Json, Query};
use crate::paging::{Page, PageQuery, Position};
use crate::state::AppState;

/// Lists the audit log, the newest entry first. Entries are kept for `SF_AUDIT_RETENTION_DAYS`.
#[utoipa::path(get, path = "/admin/audit", tag = "admin", security(("bearer" = ["admin"])), params(PageQuery, AuditQuery),
    responses((status = 200, body = Page<Entry>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    _: Admin,
    Query(page): Query<PageQuery>,
    Query(query): Query<AuditQuery>,
) -> ApiResult<Json<Page<Entry>>> {
    let limit = page.limit()?;
    let user = query.user.as_deref().map(|name| name.trim().to_lowercase());
    let filter = Filter { action: query.action, user: user.as_deref() };
    let entries = audit::read_page(&state.db, &filter, page.position()?.as_ref(), limit + 1).await?;
    let position = |entry: &Entry| Position { time: entry.at.clone(), id: entry.id.clone() };
    Ok(Json(Page::from_overfetched(entries, limit, position)))
}
