//! `songfoundry-bridge scan FILE`: lists the plugins in a module.
//!
//! The helper loads the module and reads its list of plugins; it processes no audio. The code of a
//! module may print, hang, crash or end this process. The service therefore reads only whole lines
//! up to [`ScanRecord::End`], with a timeout.

use std::path::Path;

use songfoundry_bridge_protocol::{PluginFormat, ScanRecord, ScannedPlugin};

use crate::process::limits::limit_resources;
use crate::process::output::Output;
use crate::process::{parent, signals};
use crate::{module, vst2, vst3};

/// Maximum memory of this process, in bytes. Loading a module takes far less.
const MEMORY_MAX_BYTES: u64 = 1 << 30;

/// Lists the plugins of the module `file` on standard output.
///
/// # Errors
/// Returns an error if the process cannot be prepared for the scan, or if standard output cannot be
/// written to. An invalid module is not an error: it is reported as [`ScanRecord::Failed`].
pub(crate) fn run(file: &Path) -> anyhow::Result<()> {
    signals::protect_ancestors();
    parent::end_with_parent()?;
    limit_resources(MEMORY_MAX_BYTES)?;
    let mut output = Output::take_over()?;
    let mut plugins = 0;
    let mut list = |plugin: ScannedPlugin| {
        plugins += 1;
        output.write(&ScanRecord::Plugin(plugin))
    };
    let outcome = match module::format(file) {
        PluginFormat::Vst3 => vst3::scan(file, &mut list)?,
        PluginFormat::Vst2 => vst2::scan(file, &mut list)?,
    };
    if let Err(reason) = outcome {
        output.write(&ScanRecord::Failed { reason })?;
    }
    output.write(&ScanRecord::End { plugins })?;
    // This skips the exit handlers of libraries, because some of them crash.
    module::end_at_once()
}
