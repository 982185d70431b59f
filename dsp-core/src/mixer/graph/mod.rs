//! The mix: the channel strips in the order of the signal flow, the sums of their signals, and the
//! master.

mod buffers;
pub(crate) mod latency;
pub(crate) mod order;
pub(crate) mod routing;
mod solo;
mod tail;

use alloc::boxed::Box;
use alloc::vec::Vec;

pub(crate) use buffers::{MixBuffers, ProcessContext, Sums};
pub(crate) use routing::{Destination, Routing, SideChainSettings, Tap};

use super::channel::rack::EffectRack;
use super::channel::route::Route;
use super::channel::strip::ChannelStrip;
use super::master::Master;
use super::tempo::Tempo;
use crate::block::{BLOCK_FRAMES, SILENT_BLOCK, TrackSignal};
use crate::session::Session;

/// Mixes the signals of the tracks.
pub(crate) struct MixGraph {
    /// The strips of the session's tracks, then those of removed tracks that fade out.
    pub(crate) strips: Vec<ChannelStrip>,
    /// Indices of the strips. Each strip comes after all strips that feed it.
    pub(crate) order: Vec<usize>,
    /// The order without removed routes, which a new mixer for the same session has. A reset
    /// restores it, because the order affects the rounding of sums.
    pub(crate) unedited_order: Vec<usize>,
    pub(crate) buffers: MixBuffers,
    pub(crate) master: Master,
    clock: u64,
    context: ProcessContext,
}

impl MixGraph {
    pub(crate) fn new(session: &Session, tempo: &Tempo) -> Self {
        let sums = Sums { master: Box::new(SILENT_BLOCK), strips: Vec::new() };
        Self {
            strips: Vec::new(),
            order: Vec::new(),
            unedited_order: Vec::new(),
            buffers: MixBuffers { sums, taps: Vec::new(), scratch: Box::new([SILENT_BLOCK; 2]) },
            master: Master::new(session, tempo),
            clock: 0,
            context: ProcessContext { clock: 0, is_playing: false, frames: 0 },
        }
    }

    /// Clears all audio state and resets to a frame of the clock.
    pub(crate) fn reset(&mut self, clock: u64) {
        self.clock = clock;
        self.order.copy_from_slice(&self.unedited_order);
        self.strips.iter_mut().for_each(|strip| strip.reset(clock));
        self.master.reset(clock);
    }

    /// Stops automation. Automated settings ramp to their values at `frame`.
    pub(crate) fn stop(&mut self, frame: u64) {
        for strip in &mut self.strips {
            strip.fader.stop(frame);
            strip.routes.iter_mut().for_each(|route| route.stop(frame));
        }
        self.master.stop(frame);
    }

    /// Moves automation and tempo to the start of a loop. All signals continue.
    pub(crate) fn jump(&mut self, clock: u64) {
        self.clock = clock;
        for strip in &mut self.strips {
            strip.fader.jump();
            strip.routes.iter_mut().for_each(Route::jump);
        }
        self.master.jump(clock);
    }

    /// Begins a block of `frames` frames, at most [`BLOCK_FRAMES`], and clears the sums.
    pub(crate) fn begin(&mut self, is_playing: bool, frames: usize) {
        debug_assert!(
            frames <= BLOCK_FRAMES,
            "a block has {frames} frames, but at most {BLOCK_FRAMES} are possible"
        );
        self.context = ProcessContext { clock: self.clock, is_playing, frames };
        self.buffers.sums.clear(frames);
    }

    /// Mixes a strip. The caller calls this for each strip in the order of [`Self::order`].
    /// `source` is the signal of the track's source. `rack` has the track's effects if they run in
    /// the mix.
    pub(crate) fn process_strip(
        &mut self,
        index: usize,
        source: TrackSignal<'_>,
        rack: Option<&mut EffectRack>,
    ) {
        self.strips[index].process(index, self.context, source, rack, &mut self.buffers);
    }

    /// Ends the block and writes the output of the master.
    pub(crate) fn finish(&mut self, left: &mut [f32], right: &mut [f32]) {
        self.master.process(self.context, &mut self.buffers, [left, right]);
        if self.context.is_playing {
            self.clock += self.context.frames as u64;
        }
    }
}
