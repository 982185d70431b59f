//! `GET /system/version`.

use serde::Serialize;
use utoipa::ToSchema;

use crate::extract::Json;
use crate::rendering::ENGINE_VERSION;

/// Versions of this installation.
#[derive(Debug, Serialize, ToSchema)]
pub struct Version {
    /// Version of the service.
    pub version: &'static str,
    /// Version of the API, as in the paths of its operations.
    pub api_version: &'static str,
    /// Version of the engine, as in receipts of renders.
    pub engine_version: &'static str,
    /// Schema version of stored project documents.
    pub schema_version: u64,
}

/// Returns the versions of this installation.
#[utoipa::path(get, path = "/system/version", tag = "system", security(()),
    responses((status = 200, body = Version)))]
pub(super) async fn version() -> Json<Version> {
    Json(Version {
        version: env!("CARGO_PKG_VERSION"),
        api_version: "v1",
        engine_version: ENGINE_VERSION,
        schema_version: schemas::SCHEMA_VERSION.into(),
    })
}
