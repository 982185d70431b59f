//! From one row of effects to the next while it sounds.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::row::{Row, Run};
use super::{BYPASS_SECS, Chain, Slot};
use crate::effects::Glide;

/// An effect of a chain that changes.
pub enum Wanted {
    /// One that is in the chain already, by its place.
    Kept(usize),
    /// A new one.
    New(Box<Slot>),
}

/// A slot of the new row, with its place in the old one; new ones, and those that nobody has heard
/// yet, have none.
type Placed = (Option<usize>, Slot);

/// What becomes of the old row.
#[derive(Default)]
struct Rest {
    /// What goes, with its place; in that order.
    going: Vec<(usize, Row)>,
    /// Runs that go on as they are.
    runs: Vec<Run>,
    /// Places of slots that nobody has heard yet, in runs that do not go on.
    unheard: Vec<usize>,
    /// Whether something is cut.
    is_cut: bool,
}

impl Chain {
    /// Goes on with these effects in this order, without a click: the state of those that are kept
    /// sounds on. New ones hear what comes from silence on, and what they take the place of is
    /// heard until that has passed their latency. Others fade out where they were, behind what is
    /// new elsewhere. Where effects with latency change places, there is silence until what was on
    /// its way has passed. What is kept twice, or is not there, is passed over.
    pub fn change(&mut self, mut wanted: Vec<Wanted>) {
        let fade_frames = self.frames(BYPASS_SECS);
        self.row.let_go();
        let Row { slots, runs } = core::mem::take(&mut self.row);
        let mut kept: Vec<usize> = Vec::with_capacity(wanted.len());
        wanted.retain(|wanted| match wanted {
            Wanted::Kept(place) if *place >= slots.len() || kept.contains(place) => false,
            Wanted::Kept(place) => {
                kept.push(*place);
                true
            }
            Wanted::New(_) => true,
        });
        let mut slots: Vec<Option<Slot>> = slots.into_iter().map(Some).collect();
        let rest = what_goes(&mut slots, runs, &wanted, &kept);
        let mut placed: Vec<Placed> = Vec::with_capacity(wanted.len());
        for wanted in wanted {
            placed.extend(match wanted {
                Wanted::Kept(place) if rest.unheard.contains(&place) => {
                    slots[place].take().map(|slot| (None, slot))
                }
                Wanted::Kept(place) => slots[place].take().map(|slot| (Some(place), slot)),
                Wanted::New(slot) => Some((None, *slot)),
            });
        }
        placed.iter_mut().filter(|(place, _)| place.is_none()).for_each(|(_, slot)| slot.reset(self.clock));
        let broken_frames = join_broken(&mut placed, &rest);
        if let Some(latency_frames) = broken_frames {
            self.declicker.switch();
            if latency_frames > 0 {
                self.wait_frames = self.wait_frames.max(latency_frames);
                self.heard = Glide::new(0.0);
                self.heard.set(1.0, fade_frames);
            }
        }
        let runs = runs_of(&placed, rest, fade_frames);
        self.row = Row { slots: placed.into_iter().map(|(_, slot)| slot).collect(), runs };
    }
}

/// Takes what goes out of the old row.
fn what_goes(slots: &mut [Option<Slot>], runs: Vec<Run>, wanted: &[Wanted], kept: &[usize]) -> Rest {
    let mut rest = Rest::default();
    let is_kept = |place: usize| kept.contains(&place);
    // Kept ones that follow each other with nothing new between.
    let goes_on = |run: &Run| {
        let count = run.new.len();
        let are_same = |wanted: &[Wanted]| {
            wanted
                .iter()
                .zip(run.new.clone())
                .all(|(wanted, place)| matches!(wanted, Wanted::Kept(kept) if *kept == place))
        };
        count > 0 && wanted.windows(count).any(are_same)
    };
    for mut run in runs {
        if goes_on(&run) {
            rest.runs.push(run);
        } else if run.is_unheard() && !run.new.is_empty() {
            // What was there before is all that is heard of it.
            let new = run.new;
            rest.unheard.extend(new.clone().filter(|place| is_kept(*place)));
            new.clone().filter(|place| !is_kept(*place)).for_each(|place| slots[place] = None);
            rest.going.push((new.start, run.before));
        } else if run.new.clone().any(is_kept) {
            rest.is_cut = true;
        } else {
            let (place, new) = (run.new.start, slots[run.new.clone()].iter_mut().filter_map(Option::take));
            let new: Vec<Slot> = new.collect();
            run.new = 0..new.len();
            rest.going.push((place, Row { slots: new, runs: [run].into() }));
        }
    }
    for (place, slot) in slots.iter_mut().enumerate().filter(|(place, _)| !is_kept(*place)) {
        rest.going.extend(slot.take().map(|slot| (place, Row::of(slot))));
    }
    rest.going.sort_by_key(|(place, _)| *place);
    rest
}

/// What fades in a new row.
fn runs_of(placed: &[Placed], rest: Rest, fade_frames: u32) -> Vec<Run> {
    let mut going: BTreeMap<usize, Row> = BTreeMap::new();
    for (old, row) in rest.going {
        // Behind the last of those that were before it.
        let before = placed.iter().rposition(|(other, _)| other.is_some_and(|other| other < old));
        going.entry(before.map_or(0, |before| before + 1)).or_default().append(row);
    }
    let latency_frames = |slots: &[Placed]| {
        let frames = slots.iter().map(|(_, slot)| slot.latency_frames()).sum::<usize>();
        u32::try_from(frames).unwrap_or(u32::MAX)
    };
    let new_from = |place: usize| {
        let count = placed[place..].iter().take_while(|(place, _)| place.is_none()).count();
        &placed[place..][..count]
    };
    let wait_frames = |new: &[Placed]| latency_frames(new).saturating_add(fade_frames);
    // What goes stays until all that is new elsewhere is heard, and has passed the others.
    let news = (0..placed.len()).map(new_from).filter(|new| !new.is_empty());
    let heard_frames = news.map(|new| wait_frames(new).saturating_add(fade_frames));
    let heard_frames = heard_frames.chain(rest.runs.iter().map(Run::left_frames)).max();
    let leave_frames = heard_frames.map_or(0, |frames| frames.saturating_add(latency_frames(placed)));
    let mut runs = Vec::new();
    let mut going_on = rest.runs;
    let mut place = 0;
    loop {
        let new = new_from(place);
        let places = place..place + new.len();
        match going.remove(&place) {
            // What goes already goes on to do so.
            Some(before) if new.is_empty() && before.slots.is_empty() => {
                runs.extend(before.runs.into_iter().map(|run| run.moved_to(places.clone())));
            }
            Some(before) if new.is_empty() => {
                runs.push(Run::new(places.clone(), before, leave_frames, fade_frames));
            }
            before if !new.is_empty() => {
                let before = before.unwrap_or_default();
                runs.push(Run::new(places.clone(), before, wait_frames(new), fade_frames));
            }
            _ => {}
        }
        place = places.end;
        let Some((old, _)) = placed.get(place) else { return runs };
        let goes_on = going_on.iter().position(|run| Some(run.new.start) == *old);
        if let Some(run) = goes_on.map(|number| going_on.swap_remove(number)) {
            let new = place..place + run.new.len();
            place = new.end;
            runs.push(run.moved_to(new));
        } else {
            place += 1;
        }
    }
}

/// Joins what comes in where effects stay in another order. Says for how long there may come out
/// what went in before that, or before something was cut; `None` if all is where it was. Where that
/// is some time, nobody hears what comes out: then what goes in needs no join.
fn join_broken(slots: &mut [Placed], rest: &Rest) -> Option<usize> {
    let going = rest.going.iter().map(|(_, row)| row).chain(rest.runs.iter().map(|run| &run.before));
    let going_frames: usize = going.map(Row::latency_frames).sum();
    if rest.is_cut {
        return Some(going_frames + slots.iter().map(|(_, slot)| slot.latency_frames()).sum::<usize>());
    }
    let mut in_order: Vec<usize> = slots.iter().filter_map(|(place, _)| *place).collect();
    in_order.sort_unstable();
    let kept = slots.iter_mut().filter_map(|(place, slot)| Some(((*place)?, slot)));
    let moved = kept.zip(in_order).skip_while(|((place, _), expected)| place == expected);
    let mut moved: Vec<&mut Slot> = moved.map(|((_, slot), _)| slot).collect();
    let latency_frames = going_frames + moved.iter().map(|slot| slot.latency_frames()).sum::<usize>();
    if latency_frames == 0 {
        moved.iter_mut().for_each(|slot| slot.join_entry());
    }
    (!moved.is_empty()).then_some(latency_frames)
}
