//! A VST2 instrument.
#![expect(unsafe_code, reason = "a module shows functions of C")]

use std::ffi::c_void;

use songfoundry_test_plugins::vst2::{Effect, effect};

#[unsafe(no_mangle)]
extern "C" fn VSTPluginMain(_: *mut c_void) -> *mut Effect {
    effect(true, 0x5453_5932)
}
