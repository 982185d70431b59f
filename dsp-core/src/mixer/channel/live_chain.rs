//! A chain of effects that process a signal in real time, and that change without a gap.

use alloc::string::String;
use alloc::vec::Vec;

use crate::dsp::delay_line::DelayLine;
use crate::dsp::smoothed_value::SmoothedValue;

/// Crossfade time when an effect is added, removed or bypassed, in seconds.
const FADE_SECS: f64 = 0.01;

/// Maximum number of frames of one block of a [`LiveChain`].
pub const LIVE_BLOCK_FRAMES: usize = 256;

/// An effect of a [`LiveChain`]: one of the engine, or a plugin.
pub trait LiveEffect {
    /// Returns the delay of the output in frames. It may change with each block.
    fn latency_frames(&self) -> usize;

    /// Clears all audio state and moves to `frame` of the session.
    fn reset(&mut self, frame: u64);
}

/// An effect of a changed chain: see [`LiveChain::change`].
pub enum LiveSource<E> {
    /// The existing effect with this id, which keeps its state unless it has to move.
    Kept(String),
    /// A new effect. An existing effect with its id leaves the chain.
    New(String, E),
}

/// A chain of effects in series, which processes blocks while it changes.
///
/// A new effect processes its input for the length of its latency, then fades in by a crossfade. A
/// removed effect fades out by a crossfade. An effect that moves first fades out, then fades in.
/// The signal has no gap during these changes.
pub struct LiveChain<E> {
    slots: Vec<Slot<E>>,
    /// Ids of the effects in their order when all changes have ended.
    order: Vec<String>,
    fade_frames: u32,
    frame: u64,
}

struct Slot<E> {
    /// Empty if another effect has taken over the id.
    id: String,
    effect: E,
    /// Frames until the latency of a new effect has passed.
    warm_up_frames: usize,
    /// Gain of the slot; the remainder is its input without a delay. The target is 0 for an effect
    /// that fades out.
    presence: SmoothedValue,
    /// Gain of the effect within the slot; the remainder is its input with the effect's delay.
    wet: SmoothedValue,
    /// Delays of the input by the effect's latency.
    dry: [DelayLine; 2],
}

impl<E: LiveEffect> Slot<E> {
    /// Creates the slot of an effect that is not audible yet.
    fn new(id: String, effect: E) -> Self {
        let latency_frames = effect.latency_frames();
        Self {
            id,
            effect,
            warm_up_frames: latency_frames,
            presence: SmoothedValue::new(0.0),
            wet: SmoothedValue::new(1.0),
            dry: [DelayLine::new(latency_frames), DelayLine::new(latency_frames)],
        }
    }

    fn is_fading_out(&self) -> bool {
        self.warm_up_frames == 0 && self.presence.target() == 0.0
    }

    fn has_faded_out(&self) -> bool {
        self.warm_up_frames == 0 && self.presence.is_steady_at(0.0)
    }

    fn fade_out(&mut self, fade_frames: u32) {
        self.warm_up_frames = 0;
        self.presence.set_target(0.0, fade_frames);
    }

    /// Moves to `frame` of the session. Crossfades end.
    fn reset(&mut self, frame: u64) {
        self.effect.reset(frame);
        self.dry.iter_mut().for_each(DelayLine::clear);
        if self.warm_up_frames > 0 {
            self.warm_up_frames = 0;
            self.presence.set_target(1.0, 0);
        }
        self.presence.finish();
        self.wet.finish();
    }

    /// Keeps the input of a block, as far as it is audible beside the output of the effect.
    fn keep_input(&mut self, pass: &mut LivePass, [left, right]: [&[f32]; 2], fade_frames: u32) {
        let latency_frames = self.effect.latency_frames();
        for ((delay, dry), values) in self.dry.iter_mut().zip(&mut pass.dry).zip([left, right]) {
            delay.set_frames(latency_frames, fade_frames);
            if !(self.wet.is_steady_at(1.0) && delay.is_idle()) {
                dry[..values.len()].copy_from_slice(values);
                delay.process(&mut dry[..values.len()]);
            }
        }
        if !(self.warm_up_frames == 0 && self.presence.is_steady_at(1.0)) {
            for (input, values) in pass.input.iter_mut().zip([left, right]) {
                input[..values.len()].copy_from_slice(values);
            }
        }
    }

    /// Crossfades the output of the effect with the input of [`Self::keep_input`]. A bypassed
    /// effect continues to process, so its output has no gap when the bypass ends.
    fn finish(&mut self, pass: &LivePass, [left, right]: [&mut [f32]; 2], fade_frames: u32) {
        if !self.wet.is_steady_at(1.0) {
            for frame in 0..left.len() {
                crossfade(self.wet.next() as f32, frame, [left, right], &pass.dry);
            }
        }
        if self.warm_up_frames == 0 && self.presence.is_steady_at(1.0) {
            return;
        }
        for frame in 0..left.len() {
            if self.warm_up_frames > 0 {
                self.warm_up_frames -= 1;
                if self.warm_up_frames == 0 {
                    self.presence.set_target(1.0, fade_frames);
                }
            }
            crossfade(self.presence.next() as f32, frame, [left, right], &pass.input);
        }
    }
}

/// The state of a block while the effects of a chain process it one after the other.
pub struct LivePass {
    /// Number of effects that have received the block.
    started: usize,
    /// Input of the current effect.
    input: [[f32; LIVE_BLOCK_FRAMES]; 2],
    /// Input of the current effect with its latency.
    dry: [[f32; LIVE_BLOCK_FRAMES]; 2],
}

/// Mixes `gain` of a frame with `1 - gain` of the same frame of `others`. With a gain of 0 or 1,
/// the result is exactly one of both values.
fn crossfade(gain: f32, frame: usize, values: [&mut [f32]; 2], others: &[[f32; LIVE_BLOCK_FRAMES]; 2]) {
    for (values, others) in values.into_iter().zip(others) {
        values[frame] = values[frame] * gain + others[frame] * (1.0 - gain);
    }
}

impl<E: LiveEffect> LiveChain<E> {
    /// Creates a chain without effects for a sample rate in hertz, at frame 0.
    pub fn new(sample_rate_hz: u32) -> Self {
        let fade_frames = libm::round(FADE_SECS * f64::from(sample_rate_hz)) as u32;
        Self { slots: Vec::new(), order: Vec::new(), fade_frames, frame: 0 }
    }

    /// Changes the effects to those of `sources`, in their order. Ids occur once and are not empty.
    /// A kept id that has no effect reserves a position for an effect that [`Self::add`] adds
    /// later. Effects that are still fading out are removed at once, so that the chain never has
    /// more than the old and the new effects.
    pub fn change(&mut self, sources: Vec<LiveSource<E>>) {
        self.slots.iter_mut().filter(|slot| slot.is_fading_out()).for_each(|slot| slot.presence.finish());
        self.settle();
        let mut new_effects = Vec::new();
        self.order.clear();
        for source in sources {
            match source {
                LiveSource::Kept(id) => self.order.push(id),
                LiveSource::New(id, effect) => {
                    if let Some(slot) = self.slots.iter_mut().find(|slot| slot.id == id) {
                        slot.id.clear();
                    }
                    self.order.push(id.clone());
                    new_effects.push((id, effect));
                }
            }
        }
        // An effect keeps its index if it comes after the earlier effects that keep theirs.
        let mut last_index = None;
        for slot in &mut self.slots {
            let order_index = self.order.iter().position(|id| *id == slot.id);
            if order_index.is_none() || order_index <= last_index {
                slot.fade_out(self.fade_frames);
            } else if !slot.is_fading_out() {
                last_index = order_index;
            }
        }
        for (id, effect) in new_effects {
            self.insert(id, effect);
        }
    }

    /// Adds the effect of an id of the last [`Self::change`] that had none. An effect that has left
    /// the chain meanwhile is returned.
    pub fn add(&mut self, id: &str, effect: E) -> Option<E> {
        let is_expected = self.order.iter().any(|known| known == id);
        if !is_expected || self.slots.iter().any(|slot| slot.id == id) {
            return Some(effect);
        }
        self.insert(id.into(), effect);
        None
    }

    /// Lets the next [`Self::change`] remove the effect with this id even if the id is kept, so
    /// that [`Self::add`] may add another one.
    pub fn release(&mut self, id: &str) {
        if let Some(slot) = self.slots.iter_mut().find(|slot| slot.id == id) {
            slot.id.clear();
        }
    }

    /// Returns all effects that process audio, including those that are fading out.
    pub fn effects_mut(&mut self) -> impl Iterator<Item = &mut E> {
        self.slots.iter_mut().map(|slot| &mut slot.effect)
    }

    /// Returns the effects of the chain with their ids, without those that are fading out.
    pub fn into_effects(self) -> Vec<(String, E)> {
        let Self { slots, order, .. } = self;
        let kept = slots.into_iter().filter(|slot| order.contains(&slot.id));
        kept.map(|slot| (slot.id, slot.effect)).collect()
    }

    /// Inserts an effect, which is not audible yet, after the effects that precede it in the order.
    fn insert(&mut self, id: String, mut effect: E) {
        effect.reset(self.frame);
        let order_index = self.order.iter().position(|other| *other == id);
        let precedes = |slot: &Slot<E>| {
            !slot.is_fading_out() && self.order.iter().position(|other| *other == slot.id) < order_index
        };
        let index = self.slots.iter().rposition(precedes).map_or(0, |index| index + 1);
        let mut slot = Slot::new(id, effect);
        if slot.warm_up_frames == 0 {
            slot.presence.set_target(1.0, self.fade_frames);
        }
        self.slots.insert(index, slot);
    }

    /// Removes the effects that are no longer audible. Inserts moved effects at their new index.
    /// Returns the removed effects, because their memory must not be freed while a block is due.
    fn settle(&mut self) -> Vec<E> {
        let mut removed = Vec::new();
        while let Some(index) = self.slots.iter().position(Slot::has_faded_out) {
            let Slot { id, effect, wet, .. } = self.slots.remove(index);
            if self.order.contains(&id) {
                self.insert(id.clone(), effect);
                if let Some(slot) = self.slots.iter_mut().find(|slot| slot.id == id) {
                    slot.wet = wet;
                }
            } else {
                removed.push(effect);
            }
        }
        removed
    }

    /// Returns the effect with this id, unless it is being removed from the chain.
    pub fn effect_mut(&mut self, id: &str) -> Option<&mut E> {
        self.order.iter().any(|known| known == id).then_some(())?;
        self.slots.iter_mut().find(|slot| slot.id == id).map(|slot| &mut slot.effect)
    }

    /// Sets whether an effect is bypassed, with a crossfade. A bypassed effect passes its input
    /// with its latency. Returns whether the chain has the effect.
    pub fn set_bypass(&mut self, id: &str, is_bypassed: bool) -> bool {
        let Some(slot) = self.slots.iter_mut().find(|slot| slot.id == id) else { return false };
        slot.wet.set_if_new(if is_bypassed { 0.0 } else { 1.0 }, self.fade_frames);
        true
    }

    /// Returns the latency of each effect in frames, in their order. An effect that is not audible
    /// yet, or is fading out, has none.
    pub fn latencies_frames(&self) -> Vec<usize> {
        let latency = |id: &String| {
            let slot = self.slots.iter().find(|slot| slot.id == *id)?;
            (slot.presence.target() > 0.0).then(|| slot.effect.latency_frames())
        };
        self.order.iter().map(|id| latency(id).unwrap_or(0)).collect()
    }

    /// Returns the latency in frames of an effect and of those that follow it: 0 without the effect.
    pub fn latency_from_frames(&self, id: &str) -> usize {
        let index = self.order.iter().position(|known| known == id).unwrap_or(self.order.len());
        self.latencies_frames()[index..].iter().sum()
    }

    /// Whether an effect is fading out.
    pub fn is_changing(&self) -> bool {
        self.slots.iter().any(Slot::is_fading_out)
    }

    /// Returns the frame of the session to which the next block belongs.
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// Clears all audio state and moves to `frame` of the session. All changes end.
    pub fn reset(&mut self, frame: u64) {
        self.frame = frame;
        for slot in &mut self.slots {
            slot.presence.finish();
        }
        self.settle();
        self.slots.iter_mut().for_each(|slot| slot.reset(frame));
    }

    /// Starts a block. Also returns the effects that were removed since the last block, because
    /// their memory must not be freed while a block is due.
    pub fn start_block(&mut self) -> (LivePass, Vec<E>) {
        let silence = [[0.0; LIVE_BLOCK_FRAMES]; 2];
        (LivePass { started: 0, input: silence, dry: silence }, self.settle())
    }

    /// Returns the next effect of a block, which must then process `left` and `right` in place: at
    /// most [`LIVE_BLOCK_FRAMES`] frames, the same ones in each call. Returns `None` when `left`
    /// and `right` are the output of the chain.
    pub fn next_effect(
        &mut self,
        pass: &mut LivePass,
        left: &mut [f32],
        right: &mut [f32],
    ) -> Option<&mut E> {
        let index = pass.started;
        if let Some(finished) = index.checked_sub(1).and_then(|last| self.slots.get_mut(last)) {
            finished.finish(pass, [&mut *left, &mut *right], self.fade_frames);
        }
        let Some(slot) = self.slots.get_mut(index) else {
            self.frame = self.frame.wrapping_add(left.len() as u64);
            return None;
        };
        pass.started += 1;
        slot.keep_input(pass, [left, right], self.fade_frames);
        Some(&mut slot.effect)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;
    use alloc::vec;

    use super::*;

    /// Multiplies its input by a gain and delays it.
    struct Gain {
        gain: f32,
        delays: [DelayLine; 2],
    }

    impl LiveEffect for Gain {
        fn latency_frames(&self) -> usize {
            self.delays[0].frames()
        }

        fn reset(&mut self, _frame: u64) {
            self.delays.iter_mut().for_each(DelayLine::clear);
        }
    }

    impl Gain {
        fn process(&mut self, left: &mut [f32], right: &mut [f32]) {
            for (delay, values) in self.delays.iter_mut().zip([left, right]) {
                delay.process(values);
                values.iter_mut().for_each(|value| *value *= self.gain);
            }
        }
    }

    fn gain(gain: f32, latency_frames: usize) -> Gain {
        Gain { gain, delays: [DelayLine::new(latency_frames), DelayLine::new(latency_frames)] }
    }

    fn new(id: &str, effect: Gain) -> LiveSource<Gain> {
        LiveSource::New(id.to_string(), effect)
    }

    fn kept(id: &str) -> LiveSource<Gain> {
        LiveSource::Kept(id.to_string())
    }

    /// Processes blocks of a constant 1 and returns the output of the left channel.
    fn constant(chain: &mut LiveChain<Gain>, blocks: usize) -> Vec<f32> {
        let mut output = Vec::new();
        for _ in 0..blocks {
            let (mut left, mut right) = (vec![1.0; LIVE_BLOCK_FRAMES], vec![1.0; LIVE_BLOCK_FRAMES]);
            let (mut pass, _) = chain.start_block();
            while let Some(effect) = chain.next_effect(&mut pass, &mut left, &mut right) {
                effect.process(&mut left, &mut right);
            }
            assert_eq!(left, right);
            output.extend(left);
        }
        output
    }

    /// Asserts that a signal has neither a click nor a gap: successive frames differ by at most
    /// `step`, and each is at least `lowest`.
    fn assert_smooth(signal: &[f32], step: f32, lowest: f32) {
        for (frame, pair) in signal.windows(2).enumerate() {
            assert!((pair[0] - pair[1]).abs() <= step, "click at frame {frame}: {pair:?}");
            assert!(pair[1] >= lowest, "gap at frame {frame}: {pair:?}");
        }
    }

    #[test]
    fn effects_are_added_moved_bypassed_and_removed_without_a_gap() {
        let mut chain = LiveChain::new(48_000);
        assert_eq!(constant(&mut chain, 1), vec![1.0; LIVE_BLOCK_FRAMES]);
        chain.change(vec![new("a", gain(0.5, 300)), new("b", gain(4.0, 0))]);
        let added = constant(&mut chain, 6);
        assert_smooth(&added, 0.01, 1.0);
        assert_eq!((chain.latencies_frames(), added.last()), (vec![300, 0], Some(&2.0)));
        chain.change(vec![kept("b"), kept("a")]);
        let moved = constant(&mut chain, 8);
        assert_smooth(&moved, 0.01, 0.49);
        assert_eq!((chain.latencies_frames(), moved.last()), (vec![0, 300], Some(&2.0)));
        assert!(chain.set_bypass("a", true) && !chain.set_bypass("gone", true));
        let bypassed = constant(&mut chain, 4);
        assert_smooth(&bypassed, 0.01, 1.99);
        assert_eq!(bypassed.last(), Some(&4.0));
        chain.change(vec![kept("a")]);
        assert!(chain.effect_mut("b").is_none() && chain.effect_mut("a").is_some());
        let removed = constant(&mut chain, 4);
        assert_smooth(&removed, 0.01, 0.99);
        assert_eq!((chain.latencies_frames(), removed.last()), (vec![300], Some(&1.0)));
    }

    #[test]
    fn an_effect_moves_and_returns_while_it_fades_out() {
        let mut chain = LiveChain::new(48_000);
        chain.change(vec![new("a", gain(0.5, 0)), new("b", gain(3.0, 0))]);
        constant(&mut chain, 3);
        chain.change(vec![kept("b"), kept("a")]);
        constant(&mut chain, 1);
        assert!(chain.is_changing());
        chain.change(vec![kept("a"), kept("b")]);
        assert_eq!(constant(&mut chain, 6).last(), Some(&1.5));
        assert!(!chain.is_changing());
    }

    #[test]
    fn a_new_effect_replaces_the_one_with_its_id() {
        let mut chain = LiveChain::new(48_000);
        chain.change(vec![new("a", gain(0.5, 0))]);
        constant(&mut chain, 3);
        chain.change(vec![new("a", gain(3.0, 0))]);
        let output = constant(&mut chain, 4);
        assert_smooth(&output, 0.01, 0.5);
        assert_eq!((output.last(), chain.slots.len()), (Some(&3.0), 1));
    }

    #[test]
    fn an_effect_is_added_late_and_changes_its_latency() {
        let mut chain = LiveChain::new(48_000);
        chain.change(vec![new("a", gain(0.5, 0)), kept("late"), new("c", gain(1.0, 0))]);
        assert_eq!(constant(&mut chain, 3).last(), Some(&0.5));
        assert_eq!(chain.latencies_frames(), [0, 0, 0]);
        assert!(chain.add("late", gain(4.0, 100)).is_none());
        let added = constant(&mut chain, 4);
        assert_smooth(&added, 0.01, 0.5);
        assert_eq!((added.last(), chain.latencies_frames()), (Some(&2.0), vec![0, 100, 0]));
        assert_eq!(chain.add("late", gain(1.0, 7)).expect("there is one").latency_frames(), 7);
        assert!(chain.add("unknown", gain(1.0, 7)).is_some());
        chain.release("c");
        chain.change(vec![kept("a"), kept("late"), kept("c")]);
        assert!(chain.add("c", gain(1.0, 0)).is_none());
        assert_smooth(&constant(&mut chain, 4), 0.01, 1.9);
        // The effect itself changes its delay; its bypass then passes the input with this delay.
        chain.effect_mut("late").expect("an effect").delays = [0, 1].map(|_| DelayLine::new(300));
        constant(&mut chain, 6);
        chain.set_bypass("late", true);
        assert_eq!((constant(&mut chain, 4).last(), chain.latencies_frames()[1]), (Some(&0.5), 300));
        let ids: Vec<_> = chain.into_effects().into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["a", "late", "c"]);
    }

    #[test]
    fn changes_without_blocks_do_not_collect_effects() {
        let mut chain = LiveChain::new(48_000);
        for change in 0..1_000 {
            chain.change(vec![new("a", gain(change as f32, change % 2))]);
            constant(&mut chain, usize::from(change == 0) * 3);
        }
        assert!(chain.slots.len() <= 2, "{} effects", chain.slots.len());
    }

    #[test]
    fn a_reset_ends_all_changes() {
        let mut chain = LiveChain::new(48_000);
        chain.change(vec![new("a", gain(0.5, 300)), new("b", gain(0.5, 0))]);
        constant(&mut chain, 5);
        chain.change(vec![kept("b"), new("c", gain(3.0, 10))]);
        chain.reset(0);
        assert_eq!(chain.latencies_frames(), [0, 10]);
        let output = constant(&mut chain, 1);
        assert_eq!((output[9], output[10]), (0.0, 1.5));
    }
}
