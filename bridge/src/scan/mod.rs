//! `songfoundry-bridge scan FILE`: which plugins are in a module.
//!
//! The module is loaded and asked for its list; no plugin of it is started. It may print, hang,
//! crash or end this process: whoever started the scan believes nothing but whole lines up to
//! [`ScanRecord::End`], and has a clock.

mod binary;
mod library;
mod output;
mod parent;
mod vst2;
mod vst3;

use std::path::Path;

use output::Output;
use songfoundry_bridge_protocol::{ScanRecord, ScannedPlugin};

/// Most plugins of a module that are listed; the largest that are known hold a few hundred.
const PLUGINS_MAX: u32 = 2_000;

/// Why a module cannot be used, as the rest of a sentence.
type Refusal = String;

/// Lists the plugins of the module `file` on standard output.
///
/// # Errors
/// When standard output cannot be written to. What is wrong with the module is a record, not an
/// error.
pub(crate) fn run(file: &Path) -> anyhow::Result<()> {
    parent::end_with_it()?;
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
    // Without what libraries do at their end: it is no part of a scan, and some of them crash
    // there.
    library::end_at_once()
}

/// A module that crashes leaves no memory image behind.
fn without_core_dumps() -> anyhow::Result<()> {
    #[cfg(unix)]
    nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_CORE, 0, 0)?;
    Ok(())
}
