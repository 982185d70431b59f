//! A VST2 module with an instrument and an effect.
#![expect(unsafe_code, reason = "a module exports C functions")]

use songfoundry_test_plugins::vst2::{Effect, Host, shell};

#[unsafe(no_mangle)]
extern "C" fn VSTPluginMain(host: Host) -> *mut Effect {
    shell(host)
}
