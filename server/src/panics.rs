//! Reads the messages of panics.

use std::any::Any;

/// Returns the message of a caught panic.
#[must_use]
pub fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
}
