//! The service of Songfoundry: the API under `/api/v1`, the page, storage and background tasks.
//!
//! `ARCHITECTURE.md` maps the whole project; [`router`] explains how to add a slice. No slice reads
//! another slice's tables, no handler computes samples, and no plugin is loaded into this process.

mod active_requests;
pub mod admin;
pub mod ai_presets;
pub mod ai_proxy;
mod allocator;
mod any_case;
pub mod audio;
pub mod audit;
pub mod auth;
pub(crate) mod backup;
mod body_kind;
mod body_pace;
mod bounded_read;
mod bundles;
pub mod cli;
mod client_address;
pub mod clock;
mod compression;
pub mod config;
mod cors;
mod dawproject;
pub mod db;
mod disk;
mod docs;
mod encoding;
pub mod error;
pub mod etag;
mod event_stream;
pub mod exports;
pub mod extract;
mod fair_bytes;
mod file_answer;
mod file_stem;
pub mod files;
mod form;
mod health;
mod held_answers;
mod held_body;
pub mod helper_processes;
mod installation;
mod inventory;
mod large_answer;
pub(crate) mod listen;
pub mod live_effects;
pub(crate) mod log_tail;
mod low_priority;
pub mod media;
pub mod metrics;
mod monitoring;
pub mod multitrack;
mod orphans;
mod page;
pub mod paging;
pub mod panics;
mod peer;
pub(crate) mod permits;
pub mod plugin_hosts;
pub mod plugin_parameters;

pub mod plugin_windows;
pub mod plugins;
mod plural;
pub mod presets;
mod project_archives;
pub mod projects;
mod query_names;
pub mod rate_limits;
mod raw_json;
pub mod rendering;
mod request_log;
mod reserve;
pub mod router;
mod searches;
pub mod serve;
pub mod soundfonts;
mod start_checks;
pub mod state;
pub mod storage;
mod storage_lock;
pub mod system;
pub mod tasks;
mod turns;
pub mod user_config;

#[cfg(test)]
pub(crate) mod test_app;
#[cfg(test)]
pub(crate) mod test_database;
#[cfg(test)]
pub(crate) mod test_studio;
