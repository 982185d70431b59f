//! Whole-system tests of Songfoundry.
//!
//! The tests stand in `tests/tests` (Rust) and `tests/browser` (Playwright). This library holds
//! what the Rust ones share: [`Service`], a running service of their own.

mod service;

pub use service::{Service, debug_binary};
