//! An effect, the description of its kind, and the data that it gets from the session.

use alloc::boxed::Box;

use super::parameter::Parameter;

/// Highest magnitude of an effect's input: 120 dB above full scale.
pub const LOUDEST: f32 = 1e6;

/// Lowest magnitude of an effect's input other than 0: 400 dB below full scale.
pub const FAINTEST: f32 = 1e-20;

/// A group of kinds of effects.
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

/// A kind of effect.
#[derive(Debug)]
pub struct EffectKind {
    /// Id in projects, which never changes.
    pub id: &'static str,
    /// Name for users, in English.
    pub name: &'static str,
    /// The group in which the page offers the effect.
    pub group: Group,
    /// The parameters, in the order of the indices that [`Effect::set`] takes.
    pub parameters: &'static [Parameter],
    /// Whether the effect has a side-chain input.
    pub has_side_chain: bool,
    /// Longest impulse response in seconds; `None` if the effect takes none.
    pub impulse_max_secs: Option<f64>,
    /// Makes an effect with every parameter at its default.
    pub make: fn(&EffectConfig<'_>) -> Box<dyn Effect>,
    /// Upper limit of the bytes that one effect allocates, at a sample rate in hertz and with an
    /// impulse response of `impulse_frames` frames.
    pub memory_bytes: fn(sample_rate_hz: u32, impulse_frames: u64) -> u64,
}

impl EffectKind {
    /// The index of a parameter in [`Self::parameters`]; `None` if there is no such parameter.
    pub fn parameter_index(&self, id: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.id == id)
    }

    /// Longest impulse response in frames; 0 if the effect takes none.
    pub fn impulse_max_frames(&self, sample_rate_hz: u32) -> u64 {
        self.impulse_max_secs.map_or(0, |secs| libm::ceil(secs * f64::from(sample_rate_hz)) as u64)
    }
}

/// Settings that an effect has from its construction on.
#[derive(Debug, Clone, Copy)]
pub struct EffectConfig<'a> {
    /// Sample rate in hertz, 8,000 to 192,000.
    pub sample_rate_hz: u32,
    /// Seed of the effect's random numbers.
    pub seed: u64,
    /// The impulse response of a convolution at [`Self::sample_rate_hz`], left and right, with at
    /// most [`EffectKind::impulse_max_frames`] frames.
    pub impulse: Option<[&'a [f32]; 2]>,
}

/// A position in the music and its tempo, for effects that synchronise to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MusicalTime {
    /// Tempo in quarter notes per minute from this position on.
    pub bpm: f64,
    /// Quarter notes from the start of the session to this position.
    pub beat: f64,
}

/// The integral of an automated parameter over time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurveSum {
    /// The control point to which the first sum belongs.
    pub frame: u64,
    /// Integrals of the parameter from the session's first frame to [`Self::frame`] and to the next
    /// control point, in the parameter's unit times seconds.
    pub value_secs: [f64; 2],
}

/// A stereo effect.
///
/// The output does not depend on the number of frames per call. No method allocates, locks or
/// panics. The chain keeps the input finite, at most [`LOUDEST`], and either 0 or at least
/// [`FAINTEST`]. Output and state are finite, and decaying signals end in exact zeros before they
/// become denormal.
pub trait Effect: Send {
    /// Clears all signal, ends all ramps and moves to `frame` of the session's clock. Oscillators
    /// get the phase that they would have reached by running from the session's start.
    fn reset(&mut self, frame: u64);

    /// Ramps a parameter to a value in its unit within `ramp_frames` frames; 0 sets it at once.
    /// `parameter` is an index of [`EffectKind::parameters`]; an effect ignores any other index.
    /// The caller has clamped the value with [`Parameter::clamp`]. Choices and switches may take
    /// longer where a faster change would click.
    fn set(&mut self, parameter: usize, value: f64, ramp_frames: u32);

    /// Whether the effect needs the integral of a parameter while that is automated: see
    /// [`Self::set_integral`].
    fn integrates(&self, _parameter: usize) -> bool {
        false
    }

    /// Sets the integral of an automated parameter for which [`Self::integrates`] is true; `None`
    /// if the parameter is not automated.
    ///
    /// The integral gives an oscillator the same phase wherever playback starts. While the session
    /// plays, the caller sets it at each control point. Before a reset and after a change of
    /// automation, it belongs to the last control point at or before the frame.
    fn set_integral(&mut self, _parameter: usize, _integral: Option<CurveSum>) {}

    /// Replaces the impulse response of a convolution; see [`EffectConfig::impulse`]. Unlike all
    /// other methods it allocates, and the output may step.
    fn set_impulse(&mut self, _impulse: [&[f32]; 2]) {}

    /// Sets the musical time of the next frame. The caller does so after every reset and at each
    /// change of tempo.
    fn set_time(&mut self, _time: MusicalTime) {}

    /// Whether the effect computes nothing at control points until the next change of a parameter.
    /// A call of [`Self::process`] may then cross control points.
    fn needs_no_control_points(&self) -> bool {
        false
    }

    /// Processes left and right in place. A call ends at the next control point at the latest, or
    /// at the next multiple of 128 frames while [`Self::needs_no_control_points`] is true.
    /// `sidechain` is as long as `audio`.
    fn process(&mut self, audio: [&mut [f32]; 2], sidechain: Option<[&[f32]; 2]>);

    /// Advances by `frames` frames of silent input and silent side-chain, if the output would be
    /// silent, too. The state is then the same as after [`Self::process`]. Returns `false` and
    /// changes nothing if the effect still sounds.
    fn skip_silence(&mut self, _frames: usize) -> bool {
        false
    }

    /// Latency of the output in frames. It never changes.
    fn latency_frames(&self) -> usize {
        0
    }

    /// Longest silence, in frames, after which the effect may sound again without new input: the
    /// longest echo, or a period of modulation. A render waits for that time before it ends.
    fn longest_silence_frames(&self) -> usize {
        0
    }

    /// The current gain reduction in decibels, 0 or more; `None` for effects that have none.
    fn gain_reduction_db(&self) -> Option<f32> {
        None
    }
}
