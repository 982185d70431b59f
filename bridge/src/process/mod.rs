//! The processes of the helper.

#[cfg(unix)]
pub(crate) mod supervise;
