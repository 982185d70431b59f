//! Runs `songfoundry-bridge host` with test modules and with the plugins of Debian packages.
#![cfg(target_os = "linux")]

mod bus_lies;
mod client;
mod faults;
#[path = "../modules/mod.rs"]
mod modules;
mod own_plugins;
mod real_plugins;
mod requests;
mod windows;
