//! The trait of effects, the description of a kind of effect, and the data that the session passes
//! to effects.

use alloc::boxed::Box;

use super::parameter::Parameter;

/// Highest magnitude of an effect's input: 120 dB above full scale.
pub const MAX_INPUT_MAGNITUDE: f32 = 1e6;

/// Lowest magnitude of an effect's input other than 0: 400 dB below full scale.
pub const MIN_INPUT_MAGNITUDE: f32 = 1e-20;

/// A category of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Group {
    /// Level: compressors, gates, limiters.
    Dynamics,
    /// Spectrum and colour: equalizers, filters, distortion.
    Tone,
    /// Reverbs and delays.
    SpaceAndTime,
    /// Modulation: choruses, phasers, tremolos.
    Modulation,
    /// All other effects.
    Utility,
}

/// A kind of effect: its id, name, parameters and constructor.
#[derive(Debug)]
pub struct EffectKind {
    /// Id in projects, which never changes.
    pub id: &'static str,
    /// Name for users, in English.
    pub name: &'static str,
    /// The group in which the page offers the effect.
    pub group: Group,
    /// The parameters. Their indices are the arguments of [`Effect::set_parameter`].
    pub parameters: &'static [Parameter],
    /// Whether the effect has a side-chain input.
    pub has_side_chain: bool,
    /// Longest impulse response in seconds; `None` if the effect uses no impulse response.
    pub impulse_max_secs: Option<f64>,
    /// Constructor of the effect, which sets every parameter to its default.
    pub make: fn(&EffectConfig<'_>) -> Box<dyn Effect>,
    /// Upper limit of the bytes that one effect allocates, at a sample rate in hertz and with an
    /// impulse response of `impulse_frames` frames.
    pub memory_bytes: fn(sample_rate_hz: u32, impulse_frames: u64) -> u64,
}

impl EffectKind {
    /// Returns the index in [`Self::parameters`] of the parameter with the id `id`, or `None` if no
    /// parameter has it.
    pub fn parameter_index(&self, id: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.id == id)
    }

    /// Returns the length of the longest impulse response in frames, or 0 if the effect uses no
    /// impulse response.
    pub fn impulse_max_frames(&self, sample_rate_hz: u32) -> u64 {
        self.impulse_max_secs.map_or(0, |secs| libm::ceil(secs * f64::from(sample_rate_hz)) as u64)
    }
}

/// Settings from which an effect is constructed.
#[derive(Debug, Clone, Copy)]
pub struct EffectConfig<'a> {
    /// Sample rate in hertz, 8,000 to 192,000.
    pub sample_rate_hz: u32,
    /// Seed of the effect's random numbers.
    pub seed: u64,
    /// Left and right channel of the impulse response of a convolution at [`Self::sample_rate_hz`].
    /// The response has at most [`EffectKind::impulse_max_frames`] frames.
    pub impulse: Option<[&'a [f32]; 2]>,
}

/// A position in the music and the tempo there, for effects that synchronize to the tempo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MusicalTime {
    /// Tempo in quarter notes per minute from this position on.
    pub bpm: f64,
    /// Quarter notes from the start of the session to this position.
    pub beat: f64,
}

/// The integral of an automated parameter over time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurveIntegral {
    /// Frame of the control point at which the first integral ends.
    pub frame: u64,
    /// Integrals of the parameter from the session's first frame to [`Self::frame`] and to the next
    /// control point, in the parameter's unit times seconds.
    pub value_secs: [f64; 2],
}

/// A stereo effect.
///
/// The output does not depend on the number of frames per call. No method locks or panics, and only
/// [`Self::set_impulse`] allocates. The caller limits the input: each sample is 0 or has a
/// magnitude from [`MIN_INPUT_MAGNITUDE`] to [`MAX_INPUT_MAGNITUDE`]. Output and state are finite,
/// and decaying signals end in exact zeros before they become denormal.
pub trait Effect: Send {
    /// Clears all audio state, ends all ramps and moves to `frame` of the session's clock.
    /// Oscillators get the phase that they would have after playback from the session's start.
    fn reset(&mut self, frame: u64);

    /// Ramps a parameter within `ramp_frames` frames to a value in the parameter's unit. With 0
    /// frames, the value changes immediately. `parameter` is an index of
    /// [`EffectKind::parameters`]; an effect ignores any other index. The caller has clamped the
    /// value with [`Parameter::clamp`]. Choices and switches may take longer where a faster change
    /// would click.
    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32);

    /// Whether the effect needs the integral of a parameter while that parameter is automated. See
    /// [`Self::set_integral`].
    fn integrates(&self, _parameter: usize) -> bool {
        false
    }

    /// Sets the integral of an automated parameter for which [`Self::integrates`] is true; `None`
    /// if the parameter is not automated.
    ///
    /// The integral gives an oscillator the same phase wherever playback starts. While the session
    /// plays, the caller sets it at each control point. Before a reset and after a change of
    /// automation, the caller sets the integral of the last control point at or before the current
    /// frame.
    fn set_integral(&mut self, _parameter: usize, _integral: Option<CurveIntegral>) {}

    /// Replaces the impulse response of a convolution; see [`EffectConfig::impulse`]. Unlike all
    /// other methods, this one allocates memory, and the output may click.
    fn set_impulse(&mut self, _impulse: [&[f32]; 2]) {}

    /// Sets the musical time of the next frame. The caller calls this method after every reset and
    /// at each change of tempo.
    fn set_time(&mut self, _time: MusicalTime) {}

    /// Whether the effect computes nothing at control points until the next change of a parameter.
    /// A call of [`Self::process`] may then cross control points.
    fn needs_no_control_points(&self) -> bool {
        false
    }

    /// Processes the left and right channel in place. A call does not cross a control point unless
    /// [`Self::needs_no_control_points`] is true. No call crosses a multiple of 128 frames.
    /// `side_chain` is as long as `audio`.
    fn process(&mut self, audio: [&mut [f32]; 2], side_chain: Option<[&[f32]; 2]>);

    /// Advances by `frames` frames of silent input and silent side-chain if the output would be
    /// silent, too. Returns `true` then, and the state is the same as after [`Self::process`].
    /// Returns `false` and changes nothing if the output would not be silent.
    fn skip_silence(&mut self, _frames: usize) -> bool {
        false
    }

    /// Returns the latency of the output in frames, which never changes.
    fn latency_frames(&self) -> usize {
        0
    }

    /// Returns the longest silence, in frames, after which the output may become audible again
    /// without new input. It is the longest echo or a period of modulation. A render ends only
    /// after a silence of that length.
    fn longest_silence_frames(&self) -> usize {
        0
    }

    /// Returns the current gain reduction in decibels, 0 or more, or `None` if the effect does not
    /// measure one.
    fn gain_reduction_db(&self) -> Option<f32> {
        None
    }
}
