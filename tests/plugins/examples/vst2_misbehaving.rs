//! A VST2 module whose plugins misbehave while they process, a plugin for each fault.
#![expect(unsafe_code, reason = "a module exports C functions")]

use songfoundry_test_plugins::vst2::{Effect, Host, misbehaving_shell};

#[unsafe(no_mangle)]
extern "C" fn VSTPluginMain(host: Host) -> *mut Effect {
    misbehaving_shell(host)
}
