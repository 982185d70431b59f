//! An effect that the engine cannot run itself, such as a plugin: its output is recorded.
//!
//! The mixer plays the recording and passes it as the side-chain. Without it, the effect passes its
//! input, so that a plugin whose output is not available sounds like a bypassed one.

use alloc::boxed::Box;

use super::effect::{Effect, EffectConfig, EffectKind, Group};
use crate::dsp::declicker::Declicker;

/// The kind of effect whose output is recorded. The page does not offer it.
pub static RECORDED_OUTPUT: EffectKind = EffectKind {
    id: "recorded_output",
    name: "Recorded output",
    group: Group::Utility,
    parameters: &[],
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config: &EffectConfig<'_>| {
        Box::new(RecordedOutput { was_recorded: None, declicker: Declicker::new(config.sample_rate_hz) })
    },
    memory_bytes: |_, _| size_of::<RecordedOutput>() as u64,
};

struct RecordedOutput {
    /// Whether the last output was the recording; `None` after a reset.
    was_recorded: Option<bool>,
    /// Removes the click between input and recording.
    declicker: Declicker,
}

impl Effect for RecordedOutput {
    fn reset(&mut self, _frame: u64) {
        self.was_recorded = None;
        self.declicker.reset();
    }

    fn set_parameter(&mut self, _parameter: usize, _value: f64, _ramp_frames: u32) {}

    fn needs_no_control_points(&self) -> bool {
        true
    }

    fn process(&mut self, [left, right]: [&mut [f32]; 2], recording: Option<[&[f32]; 2]>) {
        let is_recorded = recording.is_some();
        if self.was_recorded.replace(is_recorded).is_some_and(|was_recorded| was_recorded != is_recorded) {
            self.declicker.switch();
        }
        if let Some([recorded_left, recorded_right]) = recording {
            left.copy_from_slice(recorded_left);
            right.copy_from_slice(recorded_right);
        }
        self.declicker.process([left, right]);
    }
}
