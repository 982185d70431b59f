//! `songfoundry-bridge scan FILE`: lists the plugins in a module.
//!
//! The helper loads the module and reads its list of plugins; it processes no audio. The code of a
//! module may print, hang, crash or end this process. The service therefore reads only whole lines
//! up to [`ScanRecord::End`], with a timeout.

mod binary;
mod library;
mod output;
mod parent;
mod vst2;
mod vst3;

use std::path::Path;

use output::Output;
use songfoundry_bridge_protocol::{ScanRecord, ScannedPlugin};

/// Maximum number of plugins that are listed for a module. The largest known modules have a few
/// hundred plugins.
const PLUGINS_MAX: u32 = 2_000;

/// Maximum memory of this process, in bytes. Loading a module takes far less.
#[cfg(unix)]
const MEMORY_MAX_BYTES: u64 = 1 << 30;

/// Reason why a module cannot be used, as a sentence without a capital and a full stop.
type FailureReason = String;

/// Lists the plugins of the module `file` on standard output.
///
/// # Errors
/// Returns an error if the process cannot be prepared for the scan, or if standard output cannot be
/// written to. An invalid module is not an error: it is reported as [`ScanRecord::Failed`].
pub(crate) fn run(file: &Path) -> anyhow::Result<()> {
    parent::end_with_parent()?;
    limit_resources()?;
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
    // This skips the exit handlers of libraries, because some of them crash.
    library::end_at_once()
}

/// Disables core dumps of this process, which a module may crash, and limits the memory of this
/// process to [`MEMORY_MAX_BYTES`]. Does nothing on systems other than Unix.
fn limit_resources() -> anyhow::Result<()> {
    #[cfg(unix)]
    {
        use nix::sys::resource::{Resource, setrlimit};
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        setrlimit(Resource::RLIMIT_DATA, MEMORY_MAX_BYTES, MEMORY_MAX_BYTES)?;
    }
    Ok(())
}
