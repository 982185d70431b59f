//! The engine for the browser: `wasm-bindgen` bindings of `dsp-core` that do no DSP themselves.
//!
//! The page and the audio thread each have an instance of this module. The page [compiles] a
//! project into the bytes of a session, and the audio thread [plays] the session. Slow work, such
//! as reading projects or converting ticks to frames, thus never happens on the audio thread.
//!
//! [compiles]: compile::compile_session
//! [plays]: engine::WasmEngine

pub mod compile;
mod control;
pub mod engine;
mod incoming_files;
mod live_notes;
mod memory;
pub mod messages;
pub mod project_compiler;
