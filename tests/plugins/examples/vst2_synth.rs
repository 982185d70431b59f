//! A VST2 module with an instrument.
#![expect(unsafe_code, reason = "a module exports C functions")]

use std::ffi::c_void;

use songfoundry_test_plugins::vst2::{Effect, effect};

#[unsafe(no_mangle)]
extern "C" fn VSTPluginMain(_: *mut c_void) -> *mut Effect {
    effect(true, 0x5453_5932)
}
