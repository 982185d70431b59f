//! Whole-system tests of Songfoundry.
//!
//! The tests are in `tests/tests` (Rust) and `tests/browser` (Playwright). This library provides
//! [`Service`], a running service for a Rust test.

mod service;

pub use service::{Service, debug_binary};
