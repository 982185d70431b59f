//! A track in the mixer: its player, fader, pan and meter.

use super::{Event, Track, TrackMix, TrackPlayer};
use crate::block::BLOCK_FRAMES;
use crate::gain;

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
    pub(super) fn new(gain: f32, sample_rate_hz: u32) -> Self {
        let per_frame = 1.0 - libm::exp(-1.0 / (GLIDE_SECS * f64::from(sample_rate_hz)));
        Self { current: f64::from(gain), target: f64::from(gain), per_frame }
    }

    pub(super) fn set_target(&mut self, gain: f32) {
        self.target = f64::from(gain);
    }

    pub(super) fn jump(&mut self) {
        self.current = self.target;
    }

    pub(super) fn next(&mut self) -> f32 {
        if self.current != self.target {
            let distance = self.target - self.current;
            self.current =
                if distance.abs() < 1e-6 { self.target } else { self.current + distance * self.per_frame };
        }
        self.current as f32
    }
}

/// One track's way into the mix.
pub(super) struct Strip {
    pub(super) id: String,
    pub(super) player: TrackPlayer,
    left_gain: GlidingGain,
    right_gain: GlidingGain,
    /// Whether [`Self::input_left`] and [`Self::input_right`] hold the track's sound.
    pub(super) takes_input: bool,
    pub(super) input_left: [f32; BLOCK_FRAMES],
    pub(super) input_right: [f32; BLOCK_FRAMES],
    peaks: [f32; 2],
}

impl Strip {
    pub(super) fn new(track: &Track, player: TrackPlayer, sample_rate_hz: u32) -> Self {
        let (left, right) = gains(&TrackMix::of(track));
        Self {
            id: track.id.clone(),
            player,
            left_gain: GlidingGain::new(left, sample_rate_hz),
            right_gain: GlidingGain::new(right, sample_rate_hz),
            takes_input: false,
            input_left: [0.0; BLOCK_FRAMES],
            input_right: [0.0; BLOCK_FRAMES],
            peaks: [0.0; 2],
        }
    }

    pub(super) fn set_mix(&mut self, mix: &TrackMix) {
        let (left, right) = gains(mix);
        self.left_gain.set_target(left);
        self.right_gain.set_target(right);
    }

    pub(super) fn seek(&mut self, frame: u64) {
        self.player.seek(frame);
        self.left_gain.jump();
        self.right_gain.jump();
    }

    pub(super) fn live(&mut self, event: Event) {
        self.player.live(event);
    }

    /// Adds the track's next frames, at most a block of them, to the mix. `own_*` are scratch.
    pub(super) fn add_to(
        &mut self,
        playing: bool,
        (own_left, own_right): (&mut [f32], &mut [f32]),
        (mix_left, mix_right): (&mut [f32], &mut [f32]),
    ) {
        match (playing, self.takes_input) {
            (true, true) => {
                self.player.process_silenced(own_left, own_right);
                add(own_left, &self.input_left);
                add(own_right, &self.input_right);
            }
            (true, false) => self.player.process(own_left, own_right),
            (false, _) => self.player.process_stopped(own_left, own_right),
        }
        for frame in 0..own_left.len() {
            let left = own_left[frame] * self.left_gain.next();
            let right = own_right[frame] * self.right_gain.next();
            self.peaks = [self.peaks[0].max(left.abs()), self.peaks[1].max(right.abs())];
            mix_left[frame] += left;
            mix_right[frame] += right;
        }
    }

    /// Highest magnitudes after the fader since the last call.
    pub(super) fn take_peaks(&mut self) -> [f32; 2] {
        core::mem::take(&mut self.peaks)
    }
}

fn add(sum: &mut [f32], more: &[f32]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum += more;
    }
}

fn gains(mix: &TrackMix) -> (f32, f32) {
    if !mix.audible {
        return (0.0, 0.0);
    }
    let (left, right) = gain::balance(f64::from(mix.pan));
    (mix.gain * left, mix.gain * right)
}
