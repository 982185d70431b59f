//! Where the tracks come together: their strips, and the master.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Session;
use super::edge::Destination;
use super::master::Master;
use super::musical_time::Tempo;
use super::strip::{Moment, Own, SILENT_BLOCK, StereoBlock, Strip, Sums, TrackBlock};
use crate::block::BLOCK_FRAMES;

pub(super) struct Desk {
    /// Those of the session's tracks, then those that fade.
    pub(super) strips: Vec<Strip>,
    /// Every strip behind all that it hears.
    pub(super) order: Vec<usize>,
    /// The same without what fades, which is the order of a session that was never edited: sums are
    /// rounded in it.
    pub(super) settled_order: Vec<usize>,
    pub(super) sums: Sums,
    /// What side-chains hear of each strip that they listen to: behind its effects, before its
    /// fader.
    pub(super) taps: Vec<Option<Box<StereoBlock>>>,
    pub(super) master: Master,
    /// Frames from the start of the session to the next one that is mixed, while it moves.
    clock: u64,
    moment: Moment,
    scratch: Box<[TrackBlock; 2]>,
}

impl Desk {
    pub(super) fn new(session: &Session, tempo: &Tempo) -> Self {
        Self {
            strips: Vec::new(),
            order: Vec::new(),
            settled_order: Vec::new(),
            sums: Sums::new(),
            taps: Vec::new(),
            master: Master::new(session, tempo),
            clock: 0,
            moment: Moment { clock: 0, moves: false, frames: 0 },
            scratch: Box::new([SILENT_BLOCK; 2]),
        }
    }

    /// The session goes on at a place of the clock: nothing rings on, and what moved is where it
    /// should be.
    pub(super) fn jump(&mut self, clock: u64) {
        self.clock = clock;
        self.order.copy_from_slice(&self.settled_order);
        self.strips.iter_mut().for_each(|strip| strip.jump(clock));
        self.master.jump(clock);
    }

    /// The session stands still at a frame: what is automated goes to where it is there.
    pub(super) fn stand(&mut self, frame: u64) {
        for strip in &mut self.strips {
            strip.fader.stand(frame);
            strip.edges.iter_mut().for_each(|edge| edge.stand(frame));
            strip.insert.iter_mut().for_each(|insert| insert.stand(frame));
        }
        self.master.stand(frame);
    }

    /// Opens and closes the ways of the mix as mute and solo ask.
    ///
    /// While anything is soloed, a way is open if something that is soloed is on the way to it, or
    /// behind it.
    pub(super) fn open_ways(&mut self) {
        let strips = &mut self.strips;
        let mut any_solo = false;
        for strip in strips.iter_mut() {
            let solo = strip.fader.mix().solo && !strip.leaves;
            (strip.hears_solo, strip.leads_to_solo) = (solo, solo);
            any_solo |= solo;
        }
        // What leads somewhere only as long as it fades decides nothing.
        for &place in &self.order {
            for edge in 0..strips[place].edges.len() {
                let Some(to) = strips[place].edges[edge].stays_to() else { continue };
                if let Destination::Strip(to) = to {
                    strips[to].hears_solo |= strips[place].hears_solo;
                }
            }
        }
        for &place in self.order.iter().rev() {
            for edge in 0..strips[place].edges.len() {
                let Some(to) = strips[place].edges[edge].stays_to() else { continue };
                let leads = match to {
                    Destination::Master => !any_solo || strips[place].hears_solo,
                    Destination::Strip(to) => {
                        strips[place].leads_to_solo |= strips[to].leads_to_solo;
                        !any_solo || strips[place].hears_solo || strips[to].leads_to_solo
                    }
                };
                let strip = &mut strips[place];
                let open = leads && !strip.fader.mix().mute;
                strip.edges[edge].open(open);
            }
        }
    }

    /// Begins a block of so many frames.
    pub(super) fn begin(&mut self, moves: bool, frames: usize) {
        debug_assert!(frames <= BLOCK_FRAMES, "a block at most");
        self.moment = Moment { clock: self.clock, moves, frames };
        self.sums.begin(frames);
    }

    /// Adds a strip to the block that has begun, each in its turn. `own` is what its source made.
    pub(super) fn add(&mut self, place: usize, own: Own<'_>) {
        let Self { strips, sums, taps, scratch, moment, .. } = self;
        strips[place].add_to(place, *moment, own, sums, taps, scratch);
    }

    /// Ends the block: what all share, and the master.
    pub(super) fn finish(&mut self, left: &mut [f32], right: &mut [f32]) {
        self.master.process(self.moment, &mut self.sums.master, &self.taps, [left, right]);
        if self.moment.moves {
            self.clock += self.moment.frames as u64;
        }
    }
}
