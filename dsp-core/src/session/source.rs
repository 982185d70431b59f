//! What sounds on a track before its fader: notes, clips, sound from outside, and its effects.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::clips::ClipPlayer;
use super::input::Input;
use super::insert::Insert;
use super::strip::{SILENT_BLOCK, TrackBlock};
use super::track_player::Motion;
use super::{Sounding, TRACK_OUTPUTS, TrackPlayer};

/// Most players of one track that fade at a time; the oldest is cut when there are more.
const FADING_MAX: usize = 8;

/// A track's own sound.
pub(super) struct Source {
    pub(super) player: TrackPlayer,
    pub(super) clips: ClipPlayer,
    pub(super) input: Input,
    /// Its effects, unless they wait for what comes from other tracks: then they are the strip's.
    pub(super) insert: Option<Insert>,
    /// Players that an edit has replaced and that still sound.
    fading: Vec<TrackPlayer>,
    scratch: Box<TrackBlock>,
}

impl Source {
    pub(super) fn new(player: TrackPlayer, clips: ClipPlayer) -> Self {
        let (input, fading, scratch) = (Input::new(), Vec::new(), Box::new(SILENT_BLOCK));
        Self { player, clips, input, insert: None, fading, scratch }
    }

    /// Plays on with another player; what sounds of the old one fades.
    pub(super) fn set_player(&mut self, player: TrackPlayer) {
        let mut old = core::mem::replace(&mut self.player, player);
        old.fade_out();
        self.retire();
        if old.active_voices() > 0 {
            if self.fading.len() == FADING_MAX {
                self.fading.remove(0);
            }
            self.fading.push(old);
        }
        if self.input.is_taken {
            self.player.cut_notes();
        }
    }

    /// Lets go of players that have fallen silent. [`Self::render`] cannot: it must not free
    /// memory.
    pub(super) fn retire(&mut self) {
        self.fading.retain(|player| player.active_voices() > 0);
    }

    /// The session no longer has the track: it fades.
    pub(super) fn fade_out(&mut self) {
        self.player.fade_out();
        self.clips.break_off();
        self.input.is_taken = false;
    }

    /// Cuts what fades and stands at a frame. That may take, and returns, so many steps: see
    /// [`TrackPlayer::seek`].
    pub(super) fn seek(&mut self, frame: u64, most_steps: u64) -> u64 {
        let steps = self.seek_notes(frame, most_steps);
        self.clips.seek(frame);
        self.cut();
        if let Some(insert) = &mut self.insert {
            insert.reset(frame);
        }
        steps
    }

    /// As [`Self::seek`], for its notes alone.
    pub(super) fn seek_notes(&mut self, frame: u64, most_steps: u64) -> u64 {
        if self.input.is_taken {
            self.player.seek(frame, 0);
            self.player.cut_notes();
            return 0;
        }
        self.player.seek(frame, most_steps)
    }

    /// Cuts what fades.
    pub(super) fn cut(&mut self) {
        self.input.cut();
        self.clips.cut();
        self.fading.iter_mut().for_each(TrackPlayer::cut_notes);
    }

    /// Whether nothing sounds but what effects let ring on.
    pub(super) fn is_silent(&self) -> bool {
        self.active_voices() == 0 && self.input.is_silent(false) && self.clips.is_silent()
    }

    pub(super) fn active_voices(&self) -> usize {
        self.player.active_voices() + self.fading.iter().map(TrackPlayer::active_voices).sum::<usize>()
    }

    /// Renders the next frames, at most a block of them, and says on which outputs there may be
    /// anything but silence; the others hold anything.
    pub(super) fn render(&mut self, playing: bool, mut outputs: [&mut [f32]; TRACK_OUTPUTS]) -> Sounding {
        let frames = outputs[0].len();
        let motion = match (playing, self.input.is_taken) {
            (false, _) => Motion::StandsStill,
            (true, false) => Motion::Plays,
            (true, true) => Motion::PlaysElsewhere,
        };
        let mut sounding = self.player.render(motion, outputs.each_mut().map(|output| &mut output[..]));
        for player in self.fading.iter_mut().filter(|player| player.active_voices() > 0) {
            let fading = player
                .render(Motion::StandsStill, self.scratch.each_mut().map(|output| &mut output[..frames]));
            for output in (0..TRACK_OUTPUTS).filter(|output| fading[*output]) {
                add(&self.scratch[output], outputs[output], &mut sounding[output]);
            }
        }
        if !self.input.is_silent(playing) {
            begin_all(&mut outputs, &mut sounding);
            self.input.add_to(playing, outputs.each_mut().map(|output| &mut output[..]));
        }
        if let Some(clips) = self.clips.render(playing, frames) {
            for (output, values) in clips.into_iter().enumerate() {
                add(values, outputs[output], &mut sounding[output]);
            }
        }
        if let Some(insert) = &mut self.insert {
            let [left, right, reverb, chorus] = outputs;
            let [left_sounds, right_sounds, sends_sound @ ..] = &mut sounding;
            if !insert.is_empty() {
                begin(left, left_sounds);
                begin(right, right_sounds);
                insert.process(playing, [left, right], &[]);
            }
            insert.delay_sends([reverb, chorus], sends_sound);
        }
        sounding
    }
}

/// Adds values to an output that holds anything while it does not sound.
fn add(values: &[f32], output: &mut [f32], sounds: &mut bool) {
    begin(output, sounds);
    output.iter_mut().zip(values).for_each(|(output, value)| *output += value);
}

/// Prepares an output for what is added to it.
fn begin(output: &mut [f32], sounds: &mut bool) {
    if !*sounds {
        output.fill(0.0);
        *sounds = true;
    }
}

fn begin_all(outputs: &mut [&mut [f32]; TRACK_OUTPUTS], sounding: &mut Sounding) {
    for (output, sounds) in outputs.iter_mut().zip(sounding) {
        begin(output, sounds);
    }
}
