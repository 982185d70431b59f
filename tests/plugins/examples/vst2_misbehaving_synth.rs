//! The VST2 module of `vst2_misbehaving.rs`, whose plugins are instruments.
#![expect(unsafe_code, reason = "a module exports C functions")]

use songfoundry_test_plugins::vst2::{Effect, Host, misbehaving_shell};

/// Index of the field `flags` among the 32-bit words of an effect (VST 2.4): after the magic number
/// with padding, four functions and four counts.
const FLAGS_INDEX: usize = 14;

const IS_SYNTH: i32 = 1 << 8;

#[unsafe(no_mangle)]
extern "C" fn VSTPluginMain(host: Host) -> *mut Effect {
    let effect = misbehaving_shell(host);
    if !effect.is_null() {
        // SAFETY: the effect has the fields of VST 2.4, and nobody else uses it yet.
        unsafe { *effect.cast::<i32>().add(FLAGS_INDEX) |= IS_SYNTH };
    }
    effect
}
