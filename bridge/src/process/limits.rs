//! Limits on the resources of this process, which runs the code of plugins.

/// Disables core dumps of this process, which a plugin may crash, and limits the memory of this
/// process. Does nothing on systems other than Unix.
pub(crate) fn limit_resources(memory_max_bytes: u64) -> anyhow::Result<()> {
    #[cfg(unix)]
    {
        use nix::sys::resource::{Resource, setrlimit};
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        setrlimit(Resource::RLIMIT_DATA, memory_max_bytes, memory_max_bytes)?;
    }
    #[cfg(not(unix))]
    let _ = memory_max_bytes;
    Ok(())
}
