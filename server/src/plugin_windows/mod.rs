//! Shows the own windows of plugins in the page.
//!
//! A window is a process of the plugin helper (`songfoundry-bridge gui`), which draws on an X
//! server of its own. `process.rs` opens and ends it on a thread, and `open_windows.rs` limits and
//! finds windows. The helper serves the picture on the loopback interface; `connection.rs` sends
//! requests to it, `forward.rs` and `live.rs` pass on those of the owner.
//!
//! The process of the service that opened a window shows it. `owner_process.rs` passes requests for
//! windows of other processes on.

mod close;
mod command;
mod connection;
mod forward;
mod live;
mod open;
mod open_windows;
mod owner_process;
mod plugin_state;
mod process;
mod queries;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::extract::BodyLimit;
use crate::router::with_body_limit;
use crate::state::AppState;
pub use open_windows::PluginWindows;
pub(crate) use owner_process::pass_to_owner;

/// Path of the windows, relative to the service.
const WINDOWS_PATH: &str = "/api/v1/plugins/fx-gui";

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let limit = BodyLimit::of(config.limits.project_max_bytes, "The state of a plugin");
    OpenApiRouter::new()
        .routes(routes!(close::close))
        .routes(routes!(forward::read_frame))
        .routes(routes!(forward::send_input))
        .routes(routes!(forward::set_parameters))
        .routes(routes!(forward::ping))
        .routes(routes!(forward::hide))
        .routes(routes!(forward::show))
        .routes(routes!(live::connect))
        .routes(routes!(plugin_state::read))
        .merge(with_body_limit(OpenApiRouter::new().routes(routes!(open::open)), limit))
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
