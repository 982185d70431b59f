//! What the modules for tests share: a VST3 factory and a VST2 effect that say of themselves what a
//! test wants to hear. Neither makes sound.
#![expect(unsafe_code, reason = "modules are libraries with an interface of C")]

pub mod vst2;
pub mod vst3;
