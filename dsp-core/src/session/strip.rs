//! A track in the mixer: its player, fader, pan and meter.

use super::track_player::Motion;
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

/// What the tracks add up to: the mix itself, and what goes to the shared effects.
#[derive(Debug, Clone)]
pub(super) struct Buses {
    pub(super) left: [f32; BLOCK_FRAMES],
    pub(super) right: [f32; BLOCK_FRAMES],
    pub(super) reverb: [f32; BLOCK_FRAMES],
    pub(super) chorus_left: [f32; BLOCK_FRAMES],
    pub(super) chorus_right: [f32; BLOCK_FRAMES],
}

impl Buses {
    pub(super) const SILENT: Self = Self {
        left: [0.0; BLOCK_FRAMES],
        right: [0.0; BLOCK_FRAMES],
        reverb: [0.0; BLOCK_FRAMES],
        chorus_left: [0.0; BLOCK_FRAMES],
        chorus_right: [0.0; BLOCK_FRAMES],
    };
}

/// One track's way into the mix.
pub(super) struct Strip {
    pub(super) id: String,
    pub(super) player: TrackPlayer,
    left_gain: GlidingGain,
    right_gain: GlidingGain,
    reverb_send: GlidingGain,
    chorus_send: GlidingGain,
    /// Whether [`Self::input_left`] and [`Self::input_right`] hold the track's sound.
    pub(super) takes_input: bool,
    pub(super) input_left: [f32; BLOCK_FRAMES],
    pub(super) input_right: [f32; BLOCK_FRAMES],
    /// The last frame of the input, which fades when the input breaks off.
    last_input: [f32; 2],
    peaks: [f32; 2],
}

impl Strip {
    pub(super) fn new(track: &Track, player: TrackPlayer, sample_rate_hz: u32) -> Self {
        let (left, right) = gains(&TrackMix::of(track));
        Self {
            id: track.id.clone(),
            left_gain: GlidingGain::new(left, sample_rate_hz),
            right_gain: GlidingGain::new(right, sample_rate_hz),
            reverb_send: GlidingGain::new(send_gain(player.sends().reverb), sample_rate_hz),
            chorus_send: GlidingGain::new(send_gain(player.sends().chorus), sample_rate_hz),
            takes_input: false,
            input_left: [0.0; BLOCK_FRAMES],
            input_right: [0.0; BLOCK_FRAMES],
            last_input: [0.0; 2],
            peaks: [0.0; 2],
            player,
        }
    }

    pub(super) fn set_mix(&mut self, mix: &TrackMix) {
        let (left, right) = gains(mix);
        self.left_gain.set_target(left);
        self.right_gain.set_target(right);
    }

    pub(super) fn seek(&mut self, frame: u64) {
        self.player.seek(frame);
        self.last_input = [0.0; 2];
        self.aim_sends();
        for gain in [&mut self.left_gain, &mut self.right_gain, &mut self.reverb_send, &mut self.chorus_send]
        {
            gain.jump();
        }
    }

    pub(super) fn live(&mut self, event: Event) {
        self.player.live(event);
    }

    /// Adds the track's next frames, at most a block of them, to the buses. `own_*` are scratch.
    pub(super) fn add_to(
        &mut self,
        buses: &mut Buses,
        playing: bool,
        own_left: &mut [f32],
        own_right: &mut [f32],
    ) {
        let motion = match (playing, self.takes_input) {
            (false, _) => Motion::StandsStill,
            (true, false) => Motion::Plays,
            (true, true) => Motion::PlaysElsewhere,
        };
        let mut done = 0;
        while done < own_left.len() {
            let frames = self.player.advance(motion, &mut own_left[done..], &mut own_right[done..]);
            self.aim_sends();
            for frame in done..done + frames {
                self.last_input = if motion == Motion::PlaysElsewhere {
                    [self.input_left[frame], self.input_right[frame]]
                } else {
                    self.last_input.map(faded)
                };
                own_left[frame] += self.last_input[0];
                own_right[frame] += self.last_input[1];
                self.add_frame(buses, frame, own_left[frame], own_right[frame]);
            }
            done += frames;
        }
    }

    fn add_frame(&mut self, buses: &mut Buses, frame: usize, left: f32, right: f32) {
        let left = left * self.left_gain.next();
        let right = right * self.right_gain.next();
        self.peaks = [self.peaks[0].max(left.abs()), self.peaks[1].max(right.abs())];
        buses.left[frame] += left;
        buses.right[frame] += right;
        buses.reverb[frame] += (left + right) * self.reverb_send.next();
        let chorus = self.chorus_send.next();
        buses.chorus_left[frame] += left * chorus;
        buses.chorus_right[frame] += right * chorus;
    }

    fn aim_sends(&mut self) {
        let sends = self.player.sends();
        self.reverb_send.set_target(send_gain(sends.reverb));
        self.chorus_send.set_target(send_gain(sends.chorus));
    }

    /// Highest magnitudes after the fader since the last call.
    pub(super) fn take_peaks(&mut self) -> [f32; 2] {
        core::mem::take(&mut self.peaks)
    }
}

/// One frame further in the fade of an input that broke off: down to a hundredth in 300 frames,
/// then silence, so that stopping does not click.
fn faded(value: f32) -> f32 {
    if value.abs() < 1e-6 { 0.0 } else { value * 0.985 }
}

/// The gain of a send for a controller's value, 0 to 127.
fn send_gain(value: u8) -> f32 {
    f32::from(value) / 127.0
}

fn gains(mix: &TrackMix) -> (f32, f32) {
    if !mix.audible {
        return (0.0, 0.0);
    }
    let (left, right) = gain::balance(f64::from(mix.pan));
    (mix.gain * left, mix.gain * right)
}
