//! Shared code of the test modules: a VST3 factory and a VST2 effect with configurable
//! descriptions. Neither processes audio.
#![expect(unsafe_code, reason = "modules are libraries with a C interface")]

pub mod vst2;
pub mod vst3;
