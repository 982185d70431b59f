//! WebAssembly surface over the engine.
