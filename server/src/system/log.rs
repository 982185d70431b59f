//! `GET /system/log`: the last lines of the log of this process.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::queries::{Level, LogQuery};
use crate::auth::Admin;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Json, Query};
use crate::log_tail::LogTail;

/// Default number of lines in an answer.
const LIMIT_DEFAULT: usize = 200;

/// Maximum number of lines in an answer. The process keeps no more lines than this.
const LIMIT_MAX: usize = 1_000;

/// The last lines of the log.
#[derive(Debug, Serialize, ToSchema)]
pub struct LogLines {
    /// The lines, the newest last. Each has `timestamp`, `level`, `message` and other fields. The
    /// lines contain no tokens, keys or passwords.
    #[schema(value_type = Vec<Object>)]
    pub lines: Vec<Value>,
}

/// Reads the last lines of the log of this process. The process keeps at most 1000 lines in memory.
#[utoipa::path(get, path = "/system/log", tag = "system", security(("bearer" = ["admin"])), params(LogQuery),
    responses((status = 200, body = LogLines)))]
pub(super) async fn read(_: Admin, Query(query): Query<LogQuery>) -> ApiResult<Json<LogLines>> {
    let limit = query.limit.unwrap_or(LIMIT_DEFAULT);
    if !(1..=LIMIT_MAX).contains(&limit) {
        let detail = format!("`limit` is {limit}; expected 1 to {LIMIT_MAX}");
        return Err(ApiError::bad_request("bad_query", detail));
    }
    let min_level = query.level.unwrap_or(Level::Trace);
    let is_included = |log_line: &Value| level_of(log_line).is_none_or(|level| level >= min_level);
    Ok(Json(LogLines { lines: LogTail::of_process().newest(limit, is_included) }))
}

fn level_of(log_line: &Value) -> Option<Level> {
    let name = log_line["level"].as_str()?.to_ascii_lowercase();
    serde_json::from_value(name.into()).ok()
}
