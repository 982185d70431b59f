//! How the output of a plugin enters the signal of its chain.

use dsp_core::mixer::{DryFallback, InstrumentFallback};

/// What a plugin does with the signal of its chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PluginRole {
    /// The output replaces the input.
    Effect,
    /// The plugin has no audio input. Its output is added to the signal.
    Instrument,
}

/// The signal that passes while blocks of the plugin are missing, and the crossfades to it.
pub(super) enum PluginMix {
    Effect(DryFallback),
    Instrument(InstrumentFallback),
}

impl PluginMix {
    pub(super) fn new(role: PluginRole, sample_rate_hz: u32, latency_frames: usize) -> Self {
        match role {
            PluginRole::Effect => Self::Effect(DryFallback::new(sample_rate_hz, latency_frames)),
            PluginRole::Instrument => {
                Self::Instrument(InstrumentFallback::new(sample_rate_hz, latency_frames))
            }
        }
    }

    pub(super) fn set_latency(&mut self, latency_frames: usize) {
        match self {
            Self::Effect(fallback) => fallback.set_latency(latency_frames),
            Self::Instrument(fallback) => fallback.set_latency(latency_frames),
        }
    }

    /// Makes a plugin that was started again audible after its latency.
    pub(super) fn restart(&mut self) {
        match self {
            Self::Effect(fallback) => fallback.restart(),
            Self::Instrument(fallback) => fallback.restart(),
        }
    }

    /// Clears the audio state.
    pub(super) fn clear(&mut self) {
        match self {
            Self::Effect(fallback) => fallback.clear(),
            Self::Instrument(fallback) => fallback.clear(),
        }
    }

    /// Processes a block in place. `output` is that of the plugin, or `None` if it is missing.
    pub(super) fn process(&mut self, left: &mut [f32], right: &mut [f32], output: Option<[&[f32]; 2]>) {
        match self {
            Self::Effect(fallback) => fallback.process(left, right, output),
            Self::Instrument(fallback) => fallback.process(left, right, output),
        }
    }
}
