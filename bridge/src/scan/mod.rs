//! `songfoundry-bridge scan FILE`: lists the plugins in a module.
//!
//! Loads the module and asks for its list, without starting a plugin. A module may print, hang,
//! crash or end this process. The parent therefore reads only whole lines up to
//! [`ScanRecord::End`], with a timeout.

mod binary;
mod library;
mod output;
mod parent;
mod vst2;
mod vst3;

use std::path::Path;

use output::Output;
use songfoundry_bridge_protocol::{ScanRecord, ScannedPlugin};

/// Maximum number of listed plugins; the largest known modules have a few hundred.
const PLUGINS_MAX: u32 = 2_000;

/// Reason why a module cannot be used, as a sentence without capital and full stop.
type FailureReason = String;

/// Lists the plugins of the module `file` on standard output.
///
/// # Errors
/// If standard output cannot be written to. An invalid module is a record, not an error.
pub(crate) fn run(file: &Path) -> anyhow::Result<()> {
    parent::end_with_parent()?;
    without_core_dumps()?;
    let mut output = Output::take_over()?;
    let mut plugins = 0;
    let mut list = |plugin: ScannedPlugin| {
        plugins += 1;
        output.write(&ScanRecord::Plugin(plugin))
    };
    let outcome = match file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("vst3")) {
        true => vst3::scan(file, &mut list)?,
        false => vst2::scan(file, &mut list)?,
    };
    if let Err(reason) = outcome {
        output.write(&ScanRecord::Failed { reason })?;
    }
    output.write(&ScanRecord::End { plugins })?;
    // Exit handlers of libraries are skipped: they are not part of a scan, and some crash.
    library::end_at_once()
}

/// Disables core dumps of modules that crash.
fn without_core_dumps() -> anyhow::Result<()> {
    #[cfg(unix)]
    nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_CORE, 0, 0)?;
    Ok(())
}
