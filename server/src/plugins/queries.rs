//! Query parameters of this slice.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use super::modules::ModuleRequest;
use crate::config::PLUGIN_SCAN_MAX_SECS_MAX;
use crate::error::ApiError;

/// Modules that a scan runs again, and whether the answer waits for the scan.
#[derive(Debug, Clone, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ScanQuery {
    /// If `true`, the answer is 202 with a task immediately. The task's result is the direct
    /// answer. Its message names the module that is being scanned.
    #[serde(default, rename = "async")]
    #[param(rename = "async")]
    pub(super) asynchronous: bool,
    /// Path of one module, as in `unclassified`, that is scanned again even if it has not changed.
    /// Other modules whose last scan failed are then not tried again.
    module: Option<String>,
    /// Maximum time for scanning `module`, in seconds: 1 to 600. Later scans of this module have
    /// the same limit. By default its last limit, or else `SF_PLUGIN_SCAN_MAX_SECS`.
    #[param(minimum = 1, maximum = 600)]
    max_secs: Option<u64>,
}

impl ScanQuery {
    /// Returns the module that is scanned again.
    ///
    /// # Errors
    /// 400 `bad_query` if `max_secs` is outside its range, or if there is no `module` for it.
    pub(super) fn module_request(&self) -> Result<Option<ModuleRequest>, ApiError> {
        match (&self.module, self.max_secs) {
            (_, Some(secs)) if !(1..=PLUGIN_SCAN_MAX_SECS_MAX).contains(&secs) => Err(ApiError::bad_request(
                "bad_query",
                format!("`max_secs` is {secs}; expected 1 to {PLUGIN_SCAN_MAX_SECS_MAX}"),
            )),
            (None, Some(_)) => Err(ApiError::bad_request(
                "bad_query",
                "`max_secs` is the limit of one module; name it with `module`",
            )),
            (None, None) => Ok(None),
            (Some(path), max_secs) => Ok(Some(ModuleRequest { path: PathBuf::from(path), max_secs })),
        }
    }
}
