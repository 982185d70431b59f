//! A track in the mixer: fader, pan and meter, and the way in for sound from outside.

use alloc::string::String;

use super::{Track, TrackMix};
use crate::block::BLOCK_FRAMES;
use crate::gain;

/// What a track sounds like before its fader, for at most a block: left, right, and what it sends to
/// the reverb and to the chorus.
pub(super) type TrackBlock = [[f32; BLOCK_FRAMES]; TRACK_OUTPUTS];

/// Outputs of a track.
pub const TRACK_OUTPUTS: usize = 4;

/// Frames of silence on all outputs.
pub(super) const SILENT_BLOCK: TrackBlock = [[0.0; BLOCK_FRAMES]; TRACK_OUTPUTS];

/// A gain that glides to where it is set, one step a frame, so that moving a fader does not
/// click. At rest it is exactly its target.
#[derive(Debug, Clone, Copy)]
pub(super) struct GlidingGain {
    /// In double precision: the last steps of a glide vanish in an f32.
    current: f64,
    target: f64,
    per_frame: f64,
}

/// Time constant of a glide, in seconds.
const GLIDE_SECS: f64 = 0.005;

impl GlidingGain {
    /// A gain at rest; one that is no number is 0.
    pub(super) fn new(gain: f32, sample_rate_hz: u32) -> Self {
        let gain = if gain.is_finite() { gain } else { 0.0 };
        let per_frame = 1.0 - libm::exp(-1.0 / (GLIDE_SECS * f64::from(sample_rate_hz)));
        Self { current: f64::from(gain), target: f64::from(gain), per_frame }
    }

    /// Where it glides from here on; what is no number is passed over.
    pub(super) fn set_target(&mut self, gain: f32) {
        if gain.is_finite() {
            self.target = f64::from(gain);
        }
    }

    pub(super) fn jump(&mut self) {
        self.current = self.target;
    }

    fn next(&mut self) -> f32 {
        if self.current != self.target {
            let distance = self.target - self.current;
            self.current =
                if distance.abs() < 1e-6 { self.target } else { self.current + distance * self.per_frame };
        }
        self.current as f32
    }

    /// Passes values through the gain.
    pub(super) fn apply(&mut self, values: &mut [f32]) {
        let (gliding, resting) = values.split_at_mut(self.frames_to_rest(values.len()));
        for value in gliding {
            *value *= self.next();
        }
        let gain = self.target as f32;
        if gain != 1.0 {
            resting.iter_mut().for_each(|value| *value *= gain);
        }
    }

    /// Lets frames of silence pass.
    fn skip(&mut self, frames: usize) {
        for _ in 0..frames {
            if self.current == self.target {
                return;
            }
            self.next();
        }
    }

    /// All of `frames` while the gain moves, none at rest.
    fn frames_to_rest(&self, frames: usize) -> usize {
        if self.current == self.target { 0 } else { frames }
    }
}

/// What the tracks add up to: the mix itself, and what goes to the shared effects.
#[derive(Debug, Clone)]
pub(super) struct Buses {
    pub(super) left: [f32; BLOCK_FRAMES],
    pub(super) right: [f32; BLOCK_FRAMES],
    pub(super) reverb: [f32; BLOCK_FRAMES],
    pub(super) chorus: [f32; BLOCK_FRAMES],
}

impl Buses {
    pub(super) const SILENT: Self = Self {
        left: [0.0; BLOCK_FRAMES],
        right: [0.0; BLOCK_FRAMES],
        reverb: [0.0; BLOCK_FRAMES],
        chorus: [0.0; BLOCK_FRAMES],
    };
}

/// One track's way into the mix.
pub(super) struct Strip {
    pub(super) id: String,
    left_gain: GlidingGain,
    right_gain: GlidingGain,
    /// Of both sends: the fader without the pan.
    send_gain: GlidingGain,
    /// Whether [`Self::input`] holds the track's sound.
    pub(super) takes_input: bool,
    pub(super) input: TrackBlock,
    /// The last frame of the input, which fades when the input breaks off.
    last_input: [f32; TRACK_OUTPUTS],
    peaks: [f32; 2],
}

impl Strip {
    pub(super) fn new(track: &Track, sample_rate_hz: u32) -> Self {
        let gains = Gains::of(&TrackMix::of(track));
        Self {
            id: track.id.clone(),
            left_gain: GlidingGain::new(gains.left, sample_rate_hz),
            right_gain: GlidingGain::new(gains.right, sample_rate_hz),
            send_gain: GlidingGain::new(gains.send, sample_rate_hz),
            takes_input: false,
            input: SILENT_BLOCK,
            last_input: [0.0; TRACK_OUTPUTS],
            peaks: [0.0; 2],
        }
    }

    /// A second way into the mix, for what sounded up to now; the input stays with this one.
    pub(super) fn without_input(&self) -> Self {
        let Self { ref id, left_gain, right_gain, send_gain, .. } = *self;
        Self {
            id: id.clone(),
            left_gain,
            right_gain,
            send_gain,
            takes_input: false,
            input: SILENT_BLOCK,
            last_input: [0.0; TRACK_OUTPUTS],
            peaks: [0.0; 2],
        }
    }

    /// Whether no input is heard, or fades.
    pub(super) fn input_is_silent(&self) -> bool {
        !self.takes_input && self.last_input == [0.0; TRACK_OUTPUTS]
    }

    pub(super) fn set_mix(&mut self, mix: &TrackMix) {
        let gains = Gains::of(mix);
        self.left_gain.set_target(gains.left);
        self.right_gain.set_target(gains.right);
        self.send_gain.set_target(gains.send);
    }

    /// The session goes on somewhere else: what moved is where it should be.
    pub(super) fn jump(&mut self) {
        self.last_input = [0.0; TRACK_OUTPUTS];
        for gain in [&mut self.left_gain, &mut self.right_gain, &mut self.send_gain] {
            gain.jump();
        }
    }

    /// Adds the track's next frames, at most a block of them, to the buses. `own` is what its player
    /// made, or `None` for silence; `scratch` is used up.
    pub(super) fn add_to(
        &mut self,
        buses: &mut Buses,
        own: Option<[&[f32]; TRACK_OUTPUTS]>,
        playing: bool,
        frames: usize,
        scratch: &mut TrackBlock,
    ) {
        let has_input = self.takes_input && playing || self.last_input != [0.0; TRACK_OUTPUTS];
        if own.is_none() && !has_input {
            for gain in [&mut self.left_gain, &mut self.right_gain, &mut self.send_gain] {
                gain.skip(frames);
            }
            return;
        }
        if let (Some(own), false, true) = (own, has_input, self.is_at_rest()) {
            return self.add_at_rest(buses, own.map(|output| &output[..frames]));
        }
        for (output, place) in scratch.iter_mut().enumerate() {
            match own {
                Some(own) => place[..frames].copy_from_slice(&own[output][..frames]),
                None => place[..frames].fill(0.0),
            }
        }
        if has_input {
            self.add_input(playing, frames, scratch);
        }
        let [left, right, reverb, chorus] = scratch.each_mut().map(|output| &mut output[..frames]);
        self.left_gain.apply(left);
        self.right_gain.apply(right);
        let mut send_gain = self.send_gain;
        send_gain.apply(reverb);
        self.send_gain.apply(chorus);
        self.peaks = [self.peaks[0].max(peak(left)), self.peaks[1].max(peak(right))];
        add(&mut buses.left, left);
        add(&mut buses.right, right);
        add(&mut buses.reverb, reverb);
        add(&mut buses.chorus, chorus);
    }

    fn is_at_rest(&self) -> bool {
        [self.left_gain, self.right_gain, self.send_gain].iter().all(|gain| gain.current == gain.target)
    }

    /// What [`Self::add_to`] does while nothing moves and nothing comes from outside, without a copy.
    fn add_at_rest(&mut self, buses: &mut Buses, own: [&[f32]; TRACK_OUTPUTS]) {
        let [left, right, reverb, chorus] = own;
        let [left_gain, right_gain, send_gain] =
            [self.left_gain, self.right_gain, self.send_gain].map(|gain| gain.target as f32);
        // Rounding keeps order: the highest product is that of the highest value.
        self.peaks[0] = self.peaks[0].max(peak(left) * left_gain.abs());
        self.peaks[1] = self.peaks[1].max(peak(right) * right_gain.abs());
        add_scaled(&mut buses.left, left, left_gain);
        add_scaled(&mut buses.right, right, right_gain);
        add_scaled(&mut buses.reverb, reverb, send_gain);
        add_scaled(&mut buses.chorus, chorus, send_gain);
    }

    /// What is no number in the input counts as silence: it would never leave the effects again.
    fn add_input(&mut self, playing: bool, frames: usize, block: &mut TrackBlock) {
        let comes_in = self.takes_input && playing;
        for (output, values) in block.iter_mut().enumerate() {
            let last = &mut self.last_input[output];
            for (value, input) in values[..frames].iter_mut().zip(&self.input[output]) {
                *last = match comes_in {
                    true if input.is_finite() => *input,
                    true => 0.0,
                    false => faded(*last),
                };
                *value += *last;
            }
        }
    }

    /// Highest magnitudes after the fader since the last call.
    pub(super) fn take_peaks(&mut self) -> [f32; 2] {
        core::mem::take(&mut self.peaks)
    }
}

/// Highest magnitude of some values.
pub(super) fn peak(values: &[f32]) -> f32 {
    const WIDTH: usize = 8;
    let larger = |a: f32, b: f32| if b.abs() > a { b.abs() } else { a };
    let (wide, rest) = values.as_chunks::<WIDTH>();
    let mut peaks = [0.0; WIDTH];
    for values in wide {
        for lane in 0..WIDTH {
            peaks[lane] = larger(peaks[lane], values[lane]);
        }
    }
    peaks.iter().chain(rest).fold(0.0, |peak, value| larger(peak, *value))
}

fn add(bus: &mut [f32; BLOCK_FRAMES], values: &[f32]) {
    for (sum, value) in bus.iter_mut().zip(values) {
        *sum += value;
    }
}

fn add_scaled(bus: &mut [f32; BLOCK_FRAMES], values: &[f32], gain: f32) {
    for (sum, value) in bus.iter_mut().zip(values) {
        *sum += value * gain;
    }
}

/// One frame further in the fade of an input that broke off: down to a hundredth in 300 frames,
/// then silence, so that stopping does not click.
fn faded(value: f32) -> f32 {
    if value.abs() < 1e-6 { 0.0 } else { value * 0.985 }
}

/// The gains of a strip.
struct Gains {
    left: f32,
    right: f32,
    send: f32,
}

impl Gains {
    fn of(mix: &TrackMix) -> Self {
        if !mix.audible {
            return Self { left: 0.0, right: 0.0, send: 0.0 };
        }
        let (left, right) = gain::balance(f64::from(mix.pan));
        Self { left: mix.gain * left, right: mix.gain * right, send: mix.gain }
    }
}
