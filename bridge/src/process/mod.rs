//! The helper's own process: its end, its limits and its standard output.

pub(crate) mod denormals;
pub(crate) mod limits;
pub(crate) mod output;
pub(crate) mod parent;
#[cfg(unix)]
pub(crate) mod supervise;
