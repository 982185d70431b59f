//! Where the tracks come together: their strips, the effects they share, master gain and limiter.

use alloc::vec::Vec;

use super::Session;
use super::strip::{Buses, GlidingGain, SILENT_BLOCK, Strip, TRACK_OUTPUTS, TrackBlock, peak};
use crate::block::BLOCK_FRAMES;
use crate::limiter::{LimiterConfig, LimiterProcessor};
use crate::synth::chorus::ChorusProcessor;
use crate::synth::reverb::ReverbProcessor;

pub(super) struct Desk {
    pub(super) strips: Vec<Strip>,
    pub(super) master_gain: GlidingGain,
    reverb: ReverbProcessor,
    chorus: ChorusProcessor,
    limiter: LimiterProcessor,
    buses: Buses,
    master_peaks: [f32; 2],
    scratch: TrackBlock,
}

impl Desk {
    pub(super) fn new(session: &Session) -> Self {
        Self {
            strips: Vec::new(),
            master_gain: GlidingGain::new(session.master_gain, session.sample_rate_hz),
            reverb: ReverbProcessor::new(session.reverb, session.sample_rate_hz),
            chorus: ChorusProcessor::new(session.chorus, session.sample_rate_hz),
            limiter: LimiterProcessor::new(LimiterConfig::mix(session.sample_rate_hz)),
            buses: Buses::SILENT,
            master_peaks: [0.0; 2],
            scratch: SILENT_BLOCK,
        }
    }

    /// Takes over what an edited session says of the whole mix.
    pub(super) fn set_session(&mut self, session: &Session) {
        self.master_gain.set_target(session.master_gain);
        self.reverb.set(session.reverb);
        self.chorus.set(session.chorus);
    }

    pub(super) fn latency_frames(&self) -> usize {
        self.limiter.latency_frames()
    }

    /// The session goes on somewhere else: nothing rings on, and what moved is where it should be.
    pub(super) fn jump(&mut self) {
        self.strips.iter_mut().for_each(Strip::jump);
        self.master_gain.jump();
        self.reverb.reset();
        self.chorus.reset();
        self.limiter.reset();
    }

    /// Begins a block.
    pub(super) fn begin(&mut self) {
        self.buses = Buses::SILENT;
    }

    /// Adds a track to the block that has begun.
    pub(super) fn add(
        &mut self,
        place: usize,
        playing: bool,
        own: Option<[&[f32]; TRACK_OUTPUTS]>,
        frames: usize,
    ) {
        debug_assert!(frames <= BLOCK_FRAMES, "a block at most");
        self.strips[place].add_to(&mut self.buses, own, playing, frames, &mut self.scratch);
    }

    /// Adds to the block that has begun what comes through a strip that is not the desk's own.
    pub(super) fn add_from(
        &mut self,
        strip: &mut Strip,
        playing: bool,
        own: Option<[&[f32]; TRACK_OUTPUTS]>,
        frames: usize,
    ) {
        strip.add_to(&mut self.buses, own, playing, frames, &mut self.scratch);
    }

    /// Ends the block: effects, master gain, limiter.
    pub(super) fn finish(&mut self, left: &mut [f32], right: &mut [f32]) {
        let frames = left.len();
        let Buses { left: mix_left, right: mix_right, reverb, chorus } = &mut self.buses;
        self.chorus.process(&chorus[..frames], &mut mix_left[..frames], &mut mix_right[..frames]);
        self.reverb.process(&reverb[..frames], &mut mix_left[..frames], &mut mix_right[..frames]);
        left.copy_from_slice(&mix_left[..frames]);
        right.copy_from_slice(&mix_right[..frames]);
        let mut gain = self.master_gain;
        gain.apply(left);
        self.master_gain.apply(right);
        self.limiter.process(left, right);
        self.master_peaks = [self.master_peaks[0].max(peak(left)), self.master_peaks[1].max(peak(right))];
    }

    /// Highest magnitudes since the last call: left and right of each track, then of the output.
    pub(super) fn take_peaks(&mut self) -> impl Iterator<Item = f32> {
        let master = core::mem::take(&mut self.master_peaks);
        self.strips.iter_mut().flat_map(Strip::take_peaks).chain(master)
    }
}
