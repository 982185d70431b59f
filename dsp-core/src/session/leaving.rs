//! Tracks on their way out: what sounded of a player that an edit has taken away ends without a
//! click.

use alloc::vec::Vec;

use super::TrackPlayer;
use super::desk::Desk;
use super::strip::{Strip, TRACK_OUTPUTS, TrackBlock};
use super::track_player::Motion;

/// Most players that fade at a time; the oldest is cut when there are more.
const LEAVING_MAX: usize = 32;

/// A player that fades, and the way into the mix that it had.
struct Leaving {
    strip: Strip,
    player: TrackPlayer,
}

impl Leaving {
    fn is_silent(&self) -> bool {
        self.player.active_voices() == 0 && self.strip.input_is_silent()
    }
}

/// The players that fade.
pub(super) struct LeavingPlayers(Vec<Leaving>);

impl LeavingPlayers {
    pub(super) const NONE: Self = Self(Vec::new());

    /// Lets go of those that have fallen silent. [`Self::add_to`] cannot: it must not free memory.
    pub(super) fn retire(&mut self) {
        self.0.retain(|leaving| !leaving.is_silent());
    }

    /// Takes a player that the session no longer has; its notes fade.
    pub(super) fn push(&mut self, mut strip: Strip, mut player: TrackPlayer) {
        strip.takes_input = false;
        player.fade_out();
        let leaving = Leaving { strip, player };
        if leaving.is_silent() {
            return;
        }
        if self.0.len() == LEAVING_MAX {
            self.0.remove(0);
        }
        self.0.push(leaving);
    }

    /// Cuts them all.
    pub(super) fn cut(&mut self) {
        for Leaving { strip, player } in &mut self.0 {
            player.cut_notes();
            strip.jump();
        }
    }

    pub(super) fn active_voices(&self) -> usize {
        self.0.iter().map(|leaving| leaving.player.active_voices()).sum()
    }

    /// Adds the next frames, at most a block of them, to the block that the desk has begun.
    pub(super) fn add_to(&mut self, desk: &mut Desk, frames: usize, scratch: &mut TrackBlock) {
        for leaving in self.0.iter_mut().filter(|leaving| !leaving.is_silent()) {
            let Leaving { strip, player } = leaving;
            let outputs: [&mut [f32]; TRACK_OUTPUTS] = scratch.each_mut().map(|output| &mut output[..frames]);
            let sounds = player.render(Motion::StandsStill, outputs);
            let own = sounds.then(|| scratch.each_ref().map(|output| &output[..frames]));
            desk.add_from(strip, false, own, frames);
        }
    }
}
