//! Measures plugins: how long a scan takes, and how much the separate process costs, also beside
//! pedalboard, which loads plugins into its own process.

mod boundary;
mod hosted;
mod render;
mod scan;

use std::path::Path;

use super::Args;

/// Maximum number of frames that a plugin processes at once, as in renders of the service.
const BLOCK_FRAMES: u32 = 512;

/// Frames of a request to the process of a plugin, as in renders of the service.
const REQUEST_FRAMES: u32 = 8_192;

/// Prints all figures of plugins.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    println!();
    scan::report(args, folder)?;
    println!();
    let storage = folder.join("plugin-hosts");
    let hosts = hosted::hosts(args, &storage)?;
    boundary::report(args, &hosts)?;
    println!();
    render::report(args, &hosts, folder)
}
