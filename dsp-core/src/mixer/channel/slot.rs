//! One effect of a chain, with its bypass, its call sizes and its input range.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::dsp::control::frames_to_multiple;
use crate::dsp::declicker::Declicker;
use crate::dsp::delay_line::DelayLine;
use crate::dsp::lanes::LANES;
use crate::dsp::smoothed_value::SmoothedValue;
use crate::effects::{
    CONTROL_FRAMES, Effect, EffectConfig, EffectKind, LONGEST_FRAMES, MusicalTime, clamp_to_range,
};
use crate::session::{Audio, AudioSlot};

/// Returns the impulse response of an effect. The result is `None` if the slot is empty, or if its
/// audio is streamed or too long for the effect.
pub(super) fn impulse_of<'a>(
    kind: &EffectKind,
    slot: Option<u32>,
    audio: &'a [Option<AudioSlot>],
    sample_rate_hz: u32,
) -> Option<&'a Audio> {
    match audio.get(slot? as usize)? {
        Some(AudioSlot::Whole(audio)) if audio.frames() <= kind.impulse_max_frames(sample_rate_hz) => {
            Some(audio)
        }
        _ => None,
    }
}

/// One effect of an [`EffectChain`](super::EffectChain).
pub struct EffectSlot {
    id: String,
    kind: &'static EffectKind,
    pub(super) effect: Box<dyn Effect>,
    /// The last target of each parameter.
    values: Vec<f64>,
    /// Index of the audio slot with the impulse response.
    pub(super) impulse_slot: Option<u32>,
    /// The current impulse response of the effect.
    pub(super) impulse: Option<Audio>,
    /// Gain of the effect's output: 0 while the effect is bypassed.
    wet: SmoothedValue,
    /// Delays of the dry input by the effect's latency, for the bypass.
    dry: [DelayLine; 2],
    /// Removes the click when the input begins to come from another effect.
    input_declicker: Declicker,
}

impl EffectSlot {
    /// Creates an effect with every parameter at its default. `id` is unique within the chain.
    pub fn new(id: &str, kind: &'static EffectKind, config: &EffectConfig<'_>) -> Self {
        let effect = (kind.make)(config);
        let latency_frames = effect.latency_frames();
        Self {
            id: id.into(),
            kind,
            effect,
            values: kind.parameters.iter().map(|parameter| parameter.default).collect(),
            impulse_slot: None,
            impulse: None,
            wet: SmoothedValue::new(1.0),
            dry: [DelayLine::new(latency_frames), DelayLine::new(latency_frames)],
            input_declicker: Declicker::new(config.sample_rate_hz),
        }
    }

    /// Returns the id of the effect within its chain.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the kind of effect.
    pub fn kind(&self) -> &'static EffectKind {
        self.kind
    }

    /// Returns the last target of each parameter, in the order of [`EffectKind::parameters`].
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Ramps a parameter within `ramp_frames` frames to a value, which is clamped to the
    /// parameter's range. Does nothing if the effect has no such parameter.
    pub fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(description) = self.kind.parameters.get(parameter) else {
            return;
        };
        let value = description.clamp(value);
        self.values[parameter] = value;
        self.effect.set_parameter(parameter, value, ramp_frames);
    }

    /// Sets the effect's impulse response from its slot. Returns whether the impulse response has
    /// changed.
    pub(super) fn set_audio(&mut self, audio: &[Option<AudioSlot>], sample_rate_hz: u32) -> bool {
        let impulse = impulse_of(self.kind, self.impulse_slot, audio, sample_rate_hz);
        let has_changed = impulse != self.impulse.as_ref();
        if has_changed {
            self.impulse = impulse.cloned();
            let [left, right] = self.impulse.as_ref().map(Audio::channels).unwrap_or_default();
            self.effect.set_impulse([&left, &right]);
        }
        has_changed
    }

    /// Marks that from the next frame on, the input comes from another effect.
    pub(super) fn switch_input(&mut self) {
        self.input_declicker.switch();
    }

    /// Sets the musical time of the next frame.
    pub(super) fn set_time(&mut self, time: MusicalTime) {
        self.effect.set_time(time);
    }

    /// Sets whether the effect is bypassed, with a crossfade of `fade_frames` frames.
    pub(super) fn set_bypass(&mut self, is_bypassed: bool, fade_frames: u32) {
        self.wet.set_target(if is_bypassed { 0.0 } else { 1.0 }, fade_frames);
    }

    pub(super) fn latency_frames(&self) -> usize {
        self.effect.latency_frames()
    }

    pub(super) fn is_bypassed(&self) -> bool {
        self.wet.is_steady_at(0.0)
    }

    pub(super) fn reset(&mut self, frame: u64) {
        self.effect.reset(frame);
        self.wet.finish();
        self.dry.iter_mut().for_each(DelayLine::clear);
        self.input_declicker.reset();
    }

    /// Processes at most [`LONGEST_FRAMES`] frames, which start at `clock`. They must not cross a
    /// multiple of [`LONGEST_FRAMES`].
    pub(super) fn process(
        &mut self,
        clock: u64,
        [left, right]: [&mut [f32]; 2],
        side_chain: Option<[&[f32]; 2]>,
    ) {
        self.input_declicker.process([&mut *left, &mut *right]);
        let frames = left.len();
        let is_wet = self.wet.is_steady_at(1.0);
        if is_wet && self.dry[0].frames() == 0 {
            return self.process_effect(clock, [left, right], side_chain, true);
        }
        let mut dry = [[0.0; LONGEST_FRAMES]; 2];
        for ((dry, delay), values) in dry.iter_mut().zip(&mut self.dry).zip([&*left, &*right]) {
            let dry = &mut dry[..frames];
            dry.copy_from_slice(values);
            delay.process(dry);
        }
        // A bypassed effect continues to process, so its output has no gap when the bypass ends.
        self.process_effect(clock, [&mut *left, &mut *right], side_chain, false);
        if is_wet {
            return;
        }
        for frame in 0..frames {
            let wet = self.wet.next() as f32;
            for (values, dry) in [&mut *left, &mut *right].into_iter().zip(&dry) {
                // At either end of the crossfade, the result is exactly one of both signals.
                values[frame] = values[frame] * wet + dry[frame] * (1.0 - wet);
            }
        }
    }

    /// Processes frames with the effect, in calls of a length that the effect supports. If
    /// `may_skip` is true, the effect may skip silence.
    fn process_effect(
        &mut self,
        mut clock: u64,
        [left, right]: [&mut [f32]; 2],
        side_chain: Option<[&[f32]; 2]>,
        may_skip: bool,
    ) {
        let mut processed_frames = 0;
        while processed_frames < left.len() {
            let longest = if self.effect.needs_no_control_points() { LONGEST_FRAMES } else { CONTROL_FRAMES };
            let chunk =
                processed_frames..left.len().min(processed_frames + frames_to_multiple(clock, longest));
            let side_chain = side_chain.map(|sides| sides.map(|values| &values[chunk.clone()]));
            let (left, right) = (&mut left[chunk.clone()], &mut right[chunk.clone()]);
            clock = clock.wrapping_add(chunk.len() as u64);
            processed_frames = chunk.end;
            let is_input_silent = may_skip
                && is_silence(left)
                && is_silence(right)
                && side_chain.is_none_or(|sides| sides.into_iter().all(is_silence));
            if !(is_input_silent && self.effect.skip_silence(left.len())) {
                self.effect.process([&mut *left, &mut *right], side_chain);
                clamp_to_range([left, right]);
            }
        }
    }
}

/// Whether all values are 0. The function compares eight values at a time.
fn is_silence(values: &[f32]) -> bool {
    let (eights, remainder) = values.as_chunks::<LANES>();
    let has_signal =
        |chunk: &[f32; LANES]| chunk.iter().fold(false, |has_sound, value| has_sound | (*value != 0.0));
    !eights.iter().any(has_signal) && remainder.iter().all(|value| *value == 0.0)
}
