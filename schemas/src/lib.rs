//! The Songfoundry file and wire contract.
//!
//! `json/project.schema.json` is the one description of a project. This crate holds
//!
//! - [`json`]: documents as checked text, which takes no more memory than its bytes;
//! - [`project`]: the same model as Rust types, which keep every field they do not know;
//! - [`read`]: from the text to these types;
//! - [`upgrade`]: how documents of older versions become documents of this one;
//! - [`validate`]: the check of a document against the schema and
//!   against what a JSON Schema cannot say;
//! - [`session`]: a project in the engine's terms.
//!
//! The TypeScript types in `typescript/project.ts` are generated from the same file.

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
