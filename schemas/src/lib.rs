//! The format of Songfoundry projects, in files and in HTTP requests.
//!
//! `json/project.schema.json` is the definition of a project. This crate contains
//!
//! - [`json`]: documents as checked text, which needs much less memory than a tree of values;
//! - [`project`]: the Rust types of a project, which keep unknown fields;
//! - [`read`]: reads checked text into the types of [`project`];
//! - [`upgrade`]: upgrades documents of older versions;
//! - [`validate`]: validates a document against the schema and against rules that a JSON Schema
//!   cannot express;
//! - [`session`]: compiles a project for the engine.
//!
//! The TypeScript types in `typescript/project.ts` are generated from `json/project.schema.json`.

mod extra;
pub mod json;
pub mod limits;
mod number;
pub mod project;
pub mod read;
mod schema;
pub mod session;
pub mod upgrade;
pub mod validate;

pub use extra::Extra;
pub use project::Project;

/// The JSON Schema of a project, as text.
pub const PROJECT_SCHEMA: &str = include_str!("../json/project.schema.json");

/// Version of the project schema that this crate reads and writes.
pub const SCHEMA_VERSION: u32 = 1;

/// Ticks in a quarter note.
pub const TICKS_PER_QUARTER: u32 = 960;
