//! The engine for the browser: a `wasm-bindgen` surface over `dsp-core`, without DSP of its own.
//!
//! The page and the audio thread each hold an instance of this module. The page [compiles] a
//! project into a session, a string of bytes; the audio thread [plays] sessions. Large or slow
//! work (reading JSON, turning ticks into frames) thus never happens on the audio thread.
//!
//! [compiles]: compile::compile_session
//! [plays]: engine::WasmEngine

pub mod compile;
mod control;
pub mod engine;
mod incoming_files;
mod memory;
pub mod messages;
