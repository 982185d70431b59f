//! Effects in a row, some of which come or go while it sounds.

use alloc::vec::Vec;
use core::ops::Range;

use super::Slot;
use crate::effects::{Glide, LONGEST_FRAMES, MusicalTime};

/// What side-chains hear, by the place of the effect in a row, for the frames of a call.
#[derive(Clone, Copy)]
pub(super) struct Sides<'a> {
    pub(super) by_place: &'a [Option<[&'a [f32]; 2]>],
    pub(super) first_frame: usize,
    pub(super) frames: usize,
}

impl<'a> Sides<'a> {
    fn of(&self, place: usize) -> Option<[&'a [f32]; 2]> {
        let side = self.by_place.get(place).copied().flatten()?;
        Some(side.map(|values| &values[self.first_frame..][..self.frames]))
    }
}

/// Effects in a row.
#[derive(Default)]
pub(super) struct Row {
    pub(super) slots: Vec<Slot>,
    /// In the order of their places, without one in common.
    pub(super) runs: Vec<Run>,
}

impl Row {
    pub(super) fn of(slot: Slot) -> Self {
        Self { slots: [slot].into(), runs: Vec::new() }
    }

    /// Whether it changes nothing, and has not since it was reset.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty() && self.runs.iter().all(|run| run.was_reset)
    }

    /// Frames by which what comes out may lag, that of all that fades included.
    pub(super) fn latency_frames(&self) -> usize {
        let before = self.runs.iter().map(|run| run.before.latency_frames());
        self.slots.iter().map(Slot::latency_frames).chain(before).sum()
    }

    /// Goes on with another row behind it.
    pub(super) fn append(&mut self, other: Self) {
        let count = self.slots.len();
        self.slots.extend(other.slots);
        self.runs.extend(other.runs.into_iter().map(|run| {
            let new = run.new.start + count..run.new.end + count;
            run.moved_to(new)
        }));
    }

    /// Falls silent at a place of the clock; what comes has come, what goes has gone.
    pub(super) fn reset(&mut self, frame: u64) {
        self.runs.iter_mut().for_each(Run::reset);
        self.slots.iter_mut().for_each(|slot| slot.reset(frame));
    }

    pub(super) fn set_time(&mut self, time: MusicalTime) {
        self.slots.iter_mut().for_each(|slot| slot.set_time(time));
        self.runs.iter_mut().for_each(|run| run.before.set_time(time));
    }

    /// Lets go of effects that are heard no more.
    pub(super) fn let_go(&mut self) {
        self.runs.retain(|run| !run.has_ended());
        self.runs.iter_mut().for_each(|run| run.before.let_go());
    }

    /// Processes frames from a place of the clock on, at most [`LONGEST_FRAMES`] and across no
    /// multiple of it. `sides` is `None` for a row whose side-chains have gone.
    pub(super) fn process(&mut self, clock: u64, [left, right]: [&mut [f32]; 2], sides: Option<Sides<'_>>) {
        let mut done = 0;
        for run in self.runs.iter_mut().filter(|run| !run.has_ended()) {
            pass(&mut self.slots, done..run.new.start, clock, [&mut *left, &mut *right], sides);
            run.process(&mut self.slots, clock, [&mut *left, &mut *right], sides);
            done = run.new.end;
        }
        let rest = done..self.slots.len();
        pass(&mut self.slots, rest, clock, [left, right], sides);
    }
}

fn pass(
    slots: &mut [Slot],
    places: Range<usize>,
    clock: u64,
    [left, right]: [&mut [f32]; 2],
    sides: Option<Sides<'_>>,
) {
    for place in places {
        let audio = [&mut *left, &mut *right];
        match &sides {
            Some(sides) => slots[place].process(clock, audio, sides.of(place)),
            None => slots[place].process_without_key(clock, audio),
        }
    }
}

/// Effects in a row that take the place of others, either of which may be none: from what the
/// others make of what comes in, it fades to what they make of it.
pub(super) struct Run {
    /// Places of the new effects.
    pub(super) new: Range<usize>,
    /// What was there before.
    pub(super) before: Row,
    /// Share of what was there before, which takes so many frames to go.
    share: Glide,
    fade_frames: u32,
    /// Share of what comes in that the new effects hear, which have heard nothing before.
    hears: Glide,
    /// Frames until it fades: until what comes out of the new effects is of all that they hear.
    wait_frames: u32,
    was_reset: bool,
}

impl Run {
    /// One that begins to fade after so many frames.
    pub(super) fn new(new: Range<usize>, before: Row, wait_frames: u32, fade_frames: u32) -> Self {
        let (mut share, mut hears) = (Glide::new(1.0), Glide::new(0.0));
        share.set(0.0, fade_frames);
        hears.set(1.0, fade_frames);
        Self { new, before, share, fade_frames, hears, wait_frames, was_reset: false }
    }

    /// Goes on with its new effects at these places.
    pub(super) fn moved_to(self, new: Range<usize>) -> Self {
        Self { new, ..self }
    }

    /// Whether nothing of what is new has been heard yet.
    pub(super) fn is_unheard(&self) -> bool {
        self.share.left_frames() == self.fade_frames
    }

    /// Frames until nothing of what was there before is heard any more.
    pub(super) fn left_frames(&self) -> u32 {
        self.wait_frames.saturating_add(self.share.left_frames())
    }

    fn has_ended(&self) -> bool {
        self.share.is_at_rest()
    }

    fn reset(&mut self) {
        self.was_reset = true;
        self.share.jump();
        self.hears.jump();
        self.wait_frames = 0;
    }

    fn process(
        &mut self,
        slots: &mut [Slot],
        clock: u64,
        [left, right]: [&mut [f32]; 2],
        sides: Option<Sides<'_>>,
    ) {
        let frames = left.len();
        let mut before = [[0.0; LONGEST_FRAMES]; 2];
        for (before, values) in before.iter_mut().zip([&*left, &*right]) {
            before[..frames].copy_from_slice(values);
        }
        self.before.process(clock, before.each_mut().map(|values| &mut values[..frames]), None);
        if !self.new.is_empty() && !self.hears.is_at_rest() {
            for (left, right) in left.iter_mut().zip(&mut *right) {
                let share = self.hears.next() as f32;
                (*left, *right) = (*left * share, *right * share);
            }
        }
        pass(slots, self.new.clone(), clock, [&mut *left, &mut *right], sides);
        for frame in 0..frames {
            let share = if self.wait_frames > 0 { self.share.value() } else { self.share.next() } as f32;
            self.wait_frames = self.wait_frames.saturating_sub(1);
            for (values, before) in [&mut *left, &mut *right].into_iter().zip(&before) {
                values[frame] = values[frame] * (1.0 - share) + before[frame] * share;
            }
        }
    }
}
