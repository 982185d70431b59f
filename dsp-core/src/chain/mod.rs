//! Effects in a row, each of which can be bypassed without a click and without a change of latency.

mod change;
mod row;
mod slot;

pub use self::change::Wanted;
use self::row::{Row, Sides};
pub use self::slot::Slot;
pub(crate) use self::slot::make_fit;
use crate::dsp::declicker::Declicker;
use crate::effects::{Glide, LONGEST_FRAMES, LineSum, MusicalTime};

/// How long a parameter that somebody moves by hand takes to follow, in seconds.
const FOLLOW_SECS: f64 = 0.02;

/// How long a bypass takes, in seconds.
const BYPASS_SECS: f64 = 0.01;

/// Frames from a place of the clock to the next multiple of so many frames.
fn frames_to_place(clock: u64, frames: usize) -> usize {
    frames - (clock % frames as u64) as usize
}

/// Effects in a row.
///
/// It stands on the session's clock, so that what it computes depends on where the session is,
/// never on how many frames a call asks for.
pub struct Chain {
    sample_rate_hz: u32,
    clock: u64,
    row: Row,
    /// The last frame that came in; `None` where none has.
    last_input: Option<[f32; 2]>,
    declicker: Declicker,
    /// Share of the output that is heard; less than 1 behind a change of order, until what was on
    /// its way has passed.
    heard: Glide,
    wait_frames: usize,
    /// Whether what side-chains heard is not there any more.
    has_lost_keys: bool,
}

impl Chain {
    /// A chain without effects, at frame 0.
    pub fn new(sample_rate_hz: u32) -> Self {
        Self {
            sample_rate_hz,
            clock: 0,
            row: Row::default(),
            last_input: None,
            declicker: Declicker::new(sample_rate_hz),
            heard: Glide::new(1.0),
            wait_frames: 0,
            has_lost_keys: false,
        }
    }

    /// Puts an effect at the end.
    pub fn push(&mut self, mut slot: Slot) {
        slot.reset(self.clock);
        self.row.slots.push(slot);
    }

    /// Its effects, in the order in which they are heard.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.row.slots.iter()
    }

    fn slot(&mut self, place: usize) -> Option<&mut Slot> {
        self.row.slots.get_mut(place)
    }

    /// Whether it changes nothing, for it has no effects, and lets none fade.
    pub fn is_empty(&self) -> bool {
        self.row.is_empty()
    }

    /// Lets go of effects that are heard no more, unless that would leave it
    /// [empty](Self::is_empty) while it changes something.
    pub(crate) fn let_go(&mut self) {
        if self.heard.is_at_rest() && self.declicker.is_idle() {
            self.row.let_go();
        }
    }

    /// What side-chains hear is not there any more: silence from here on, where it was another
    /// sound than the effect's own.
    pub(crate) fn lose_keys(&mut self) {
        self.has_lost_keys = true;
    }

    /// Frames by which the output lags the input, bypassed effects included.
    pub fn latency_frames(&self) -> usize {
        self.slots().map(Slot::latency_frames).sum()
    }

    /// Frames by which the input of an effect lags that of the chain.
    pub fn latency_frames_before(&self, place: usize) -> usize {
        self.slots().take(place).map(Slot::latency_frames).sum()
    }

    /// Most frames for which it may be silent and sound again with nothing new coming in: the gaps
    /// of its effects, but for those that are bypassed, together.
    pub fn gap_frames(&self) -> usize {
        let heard = self.slots().filter(|slot| !slot.is_bypassed());
        heard.map(|slot| slot.effect.gap_frames()).sum()
    }

    /// Falls silent and stands at `frame` of the session.
    pub fn reset(&mut self, frame: u64) {
        self.clock = frame;
        self.last_input = None;
        self.declicker.reset();
        self.heard.jump();
        self.wait_frames = 0;
        self.row.reset(frame);
    }

    /// The music goes on in this time from the next frame.
    pub fn set_time(&mut self, time: MusicalTime) {
        self.row.set_time(time);
    }

    /// Whether an effect counts what a parameter adds up to: see [`Effect::counts`].
    pub(crate) fn counts(&self, slot: usize, parameter: usize) -> bool {
        self.slots().nth(slot).is_some_and(|slot| slot.effect.counts(parameter))
    }

    /// Says what the line that a parameter follows has added up to at a control place and at the
    /// next one, as sums over frames, or that it follows none: see [`Effect::follow`].
    pub(crate) fn follow(&mut self, slot: usize, parameter: usize, line: Option<(u64, [f64; 2])>) {
        let sample_rate_hz = f64::from(self.sample_rate_hz);
        if let Some(slot) = self.slot(slot) {
            let line =
                line.map(|(place, sums)| LineSum { place, value_secs: sums.map(|sum| sum / sample_rate_hz) });
            slot.effect.follow(parameter, line);
        }
    }

    /// Moves a parameter as an automation does: in so many frames. Nothing if there is no such
    /// effect or parameter.
    pub fn automate(&mut self, slot: usize, parameter: usize, value: f64, glide_frames: u32) {
        if let Some(slot) = self.slot(slot) {
            slot.set(parameter, value, glide_frames);
        }
    }

    /// Moves a parameter as a hand does: soon, and without a click.
    pub fn set(&mut self, slot: usize, parameter: usize, value: f64) {
        self.automate(slot, parameter, value, self.frames(FOLLOW_SECS));
    }

    /// As [`Self::set`], unless the parameter was set to this value last.
    pub(crate) fn set_if_other(&mut self, slot: usize, parameter: usize, value: f64) {
        let is_set = |slot: &Slot| {
            let described = slot.kind().parameters.get(parameter);
            described.is_none_or(|described| slot.values()[parameter] == described.clamp(value))
        };
        if !self.slots().nth(slot).is_none_or(is_set) {
            self.set(slot, parameter, value);
        }
    }

    /// Passes the signal around an effect from here on, or no longer, without a click.
    pub fn set_bypass(&mut self, slot: usize, bypass: bool) {
        let glide_frames = self.frames(BYPASS_SECS);
        if let Some(slot) = self.slot(slot) {
            slot.set_bypass(bypass, glide_frames);
        }
    }

    fn frames(&self, secs: f64) -> u32 {
        libm::round(secs * f64::from(self.sample_rate_hz)) as u32
    }

    /// How much an effect turns its input down now, in decibels, where it does such a thing.
    pub fn gain_reduction_db(&self, slot: usize) -> Option<f32> {
        self.slots().nth(slot)?.effect.gain_reduction_db()
    }

    /// The last frame that came in; `None` where none has.
    pub(crate) fn last_input(&self) -> Option<[f32; 2]> {
        self.last_input
    }

    /// Processes left and right in place, any number of frames. `sides` has an entry for each
    /// effect: what its side-chain hears, as long as `left`; effects behind its end have none.
    pub fn process(&mut self, left: &mut [f32], right: &mut [f32], sides: &[Option<[&[f32]; 2]>]) {
        let mut done = 0;
        while done < left.len() {
            let step = done..left.len().min(done + frames_to_place(self.clock, LONGEST_FRAMES));
            let (left, right) = (&mut left[step.clone()], &mut right[step.clone()]);
            make_fit([&mut *left, &mut *right]);
            self.last_input = left.last().zip(right.last()).map(|(left, right)| [*left, *right]);
            let sides = Sides { by_place: sides, first_frame: step.start, frames: step.len() };
            self.row.process(self.clock, [left, right], (!self.has_lost_keys).then_some(sides));
            self.clock = self.clock.wrapping_add(step.len() as u64);
            done = step.end;
        }
        if !self.heard.is_at_rest() {
            for (left, right) in left.iter_mut().zip(&mut *right) {
                let share = if self.wait_frames > 0 { self.heard.value() } else { self.heard.next() } as f32;
                self.wait_frames = self.wait_frames.saturating_sub(1);
                (*left, *right) = (*left * share, *right * share);
            }
        }
        self.declicker.process([left, right]);
    }
}
