//! The sound of a track before its effects: notes, clips and external input.

pub(crate) mod clips;
pub(crate) mod external_input;
pub(crate) mod held_keys;
pub(crate) mod note_ends;
pub(crate) mod note_player;

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::channel::rack::EffectRack;
use crate::block::{ActiveOutputs, SILENT_BLOCK, TRACK_OUTPUTS, TrackBlock};
use clips::ClipPlayer;
use external_input::ExternalInput;
use note_player::{PlayerMode, TrackPlayer};

/// Maximum number of a track's replaced players that fade out at a time; beyond it, the oldest is
/// cut.
const FADING_MAX: usize = 8;

/// The source of a track's sound.
pub(crate) struct TrackSource {
    pub(crate) player: TrackPlayer,
    pub(crate) clips: ClipPlayer,
    pub(crate) input: ExternalInput,
    /// Players that an edit has replaced and that fade out.
    fading: Vec<TrackPlayer>,
    scratch: Box<TrackBlock>,
}

impl TrackSource {
    pub(crate) fn new(player: TrackPlayer, clips: ClipPlayer) -> Self {
        let (input, scratch) = (ExternalInput::new(), Box::new(SILENT_BLOCK));
        Self { player, clips, input, fading: Vec::new(), scratch }
    }

    /// Replaces the note player; notes of the old one fade out.
    pub(crate) fn set_player(&mut self, player: TrackPlayer) {
        let mut old = core::mem::replace(&mut self.player, player);
        old.fade_out();
        self.free_silent_players();
        if old.active_voices() > 0 {
            if self.fading.len() == FADING_MAX {
                self.fading.remove(0);
            }
            self.fading.push(old);
        }
        if self.input.is_enabled {
            self.player.cut_notes();
        }
    }

    /// Frees replaced players that are silent. [`Self::render`] must not free memory.
    pub(crate) fn free_silent_players(&mut self) {
        self.fading.retain(|player| player.active_voices() > 0);
    }

    /// Fades out: the session no longer has the track.
    pub(crate) fn fade_out(&mut self) {
        self.player.fade_out();
        self.clips.fade_out();
        self.input.is_enabled = false;
    }

    /// Cuts all sound and moves to a frame, by at most about `max_steps` steps of voices; returns
    /// the number of steps. See [`TrackPlayer::seek`].
    pub(crate) fn seek(&mut self, frame: u64, max_steps: u64) -> u64 {
        let steps = self.seek_notes(frame, max_steps);
        self.clips.seek(frame);
        self.cut_fading();
        steps
    }

    /// [`Self::seek`] for the notes alone.
    pub(crate) fn seek_notes(&mut self, frame: u64, max_steps: u64) -> u64 {
        if self.input.is_enabled {
            self.player.seek(frame, 0);
            self.player.cut_notes();
            return 0;
        }
        self.player.seek(frame, max_steps)
    }

    /// Cuts all sound.
    pub(crate) fn cut(&mut self) {
        self.player.cut_notes();
        self.clips.cut();
        self.cut_fading();
    }

    fn cut_fading(&mut self) {
        self.input.cut();
        self.fading.iter_mut().for_each(TrackPlayer::cut_notes);
    }

    /// Whether the source is silent while the session is stopped.
    pub(crate) fn is_silent(&self) -> bool {
        self.active_voices() == 0 && self.input.is_silent(false) && self.clips.is_silent()
    }

    pub(crate) fn active_voices(&self) -> usize {
        self.player.active_voices() + self.fading.iter().map(TrackPlayer::active_voices).sum::<usize>()
    }

    /// Renders the next frames, at most a block, and processes them by the track's effects, unless
    /// these run in the mix: then `rack` is `None`. Inactive outputs hold arbitrary values.
    pub(crate) fn render(
        &mut self,
        is_playing: bool,
        mut outputs: [&mut [f32]; TRACK_OUTPUTS],
        rack: Option<&mut EffectRack>,
    ) -> ActiveOutputs {
        let mut active = self.render_source(is_playing, outputs.each_mut().map(|output| &mut output[..]));
        if let Some(rack) = rack {
            rack.align_source(outputs.each_mut().map(|output| &mut output[..]), &mut active);
            rack.process(is_playing, outputs, &mut active, &[]);
        }
        active
    }

    fn render_source(&mut self, is_playing: bool, mut outputs: [&mut [f32]; TRACK_OUTPUTS]) -> ActiveOutputs {
        let frames = outputs[0].len();
        let mode = match (is_playing, self.input.is_enabled) {
            (false, _) => PlayerMode::Stopped,
            (true, false) => PlayerMode::Playing,
            (true, true) => PlayerMode::ControllersOnly,
        };
        let mut active = self.player.render(mode, outputs.each_mut().map(|output| &mut output[..]));
        for player in self.fading.iter_mut().filter(|player| player.active_voices() > 0) {
            let scratch = self.scratch.each_mut().map(|output| &mut output[..frames]);
            let fading = player.render(PlayerMode::Stopped, scratch);
            for output in (0..TRACK_OUTPUTS).filter(|output| fading[*output]) {
                add(&self.scratch[output], outputs[output], &mut active[output]);
            }
        }
        if !self.input.is_silent(is_playing) {
            for (output, active) in outputs.iter_mut().zip(&mut active) {
                activate(output, active);
            }
            self.input.add_to(is_playing, outputs.each_mut().map(|output| &mut output[..]));
        }
        if let Some(clips) = self.clips.render(is_playing, frames) {
            for (output, values) in clips.into_iter().enumerate() {
                add(values, outputs[output], &mut active[output]);
            }
        }
        active
    }
}

fn add(values: &[f32], output: &mut [f32], active: &mut bool) {
    activate(output, active);
    output.iter_mut().zip(values).for_each(|(output, value)| *output += value);
}

/// Fills an inactive output with silence, so that signal can be added to it.
fn activate(output: &mut [f32], active: &mut bool) {
    if !core::mem::replace(active, true) {
        output.fill(0.0);
    }
}
