//! A VST2 module with an effect that returns the bar that the host states.
#![expect(unsafe_code, reason = "a module exports C functions")]

use songfoundry_test_plugins::vst2::{Effect, Host, meter};

#[unsafe(no_mangle)]
extern "C" fn VSTPluginMain(host: Host) -> *mut Effect {
    meter(host, 0x544D_5432)
}
