//! Shared code of the test modules: a VST3 factory and VST2 effects. Their plugins are a gain and a
//! synthesizer of sines ([`dsp`]). Some of the VST2 plugins misbehave ([`misbehaviour`]), and some
//! of the VST3 plugins lie about their buses ([`bus_lie`]).
#![expect(unsafe_code, reason = "modules are libraries with a C interface")]

pub mod bus_lie;
pub mod dsp;
pub mod misbehaviour;
pub mod vst2;
pub mod vst3;
mod vst3_plugin;
