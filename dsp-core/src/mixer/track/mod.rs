//! The source of a track's sound before its effects: notes, clips and external input.

pub(crate) mod clips;
pub(crate) mod external_input;
pub(crate) mod held_keys;
mod loop_events;
pub(crate) mod note_ends;
pub(crate) mod note_player;

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::LoopRegion;
use super::channel::rack::EffectRack;
use crate::block::{ActiveOutputs, SILENT_BLOCK, TRACK_OUTPUTS, TrackBlock};
use clips::ClipPlayer;
use external_input::ExternalInput;
use note_player::{PlayerMode, TrackPlayer};

/// Maximum number of a track's replaced players that fade out at the same time. A further
/// replacement cuts the oldest of them.
const FADING_PLAYERS_MAX: usize = 8;

/// The source of a track's sound.
pub(crate) struct TrackSource {
    pub(crate) player: TrackPlayer,
    pub(crate) clips: ClipPlayer,
    pub(crate) input: ExternalInput,
    /// Players that an edit has replaced, while they fade out.
    fading_players: Vec<TrackPlayer>,
    scratch: Box<TrackBlock>,
}

impl TrackSource {
    pub(crate) fn new(player: TrackPlayer, clips: ClipPlayer) -> Self {
        let (input, scratch) = (ExternalInput::new(), Box::new(SILENT_BLOCK));
        Self { player, clips, input, fading_players: Vec::new(), scratch }
    }

    /// Replaces the note player. Notes of the old player fade out.
    pub(crate) fn set_player(&mut self, player: TrackPlayer) {
        let mut old = core::mem::replace(&mut self.player, player);
        old.fade_out();
        self.free_silent_players();
        if old.active_voice_count() > 0 {
            if self.fading_players.len() == FADING_PLAYERS_MAX {
                self.fading_players.remove(0);
            }
            self.fading_players.push(old);
        }
        if self.input.is_enabled {
            self.player.cut_notes();
        }
    }

    /// Frees replaced players that are silent. [`Self::render`] must not free memory.
    pub(crate) fn free_silent_players(&mut self) {
        self.fading_players.retain(|player| player.active_voice_count() > 0);
    }

    /// Fades out the source of a track that the session no longer has.
    pub(crate) fn fade_out(&mut self) {
        self.player.fade_out();
        self.clips.fade_out();
        self.input.is_enabled = false;
    }

    /// Cuts all sound and moves to a frame. Computes at most about `max_steps` steps of voices, and
    /// returns their number. See [`TrackPlayer::seek`].
    pub(crate) fn seek(&mut self, frame: u64, max_steps: u64) -> u64 {
        let steps = self.seek_notes(frame, max_steps);
        self.clips.seek(frame);
        self.cut_input_and_fading_players();
        steps
    }

    /// Like [`Self::seek`], but only for the notes.
    pub(crate) fn seek_notes(&mut self, frame: u64, max_steps: u64) -> u64 {
        if self.input.is_enabled {
            self.player.seek(frame, 0);
            self.player.cut_notes();
            return 0;
        }
        self.player.seek(frame, max_steps)
    }

    /// Sets the loop that the session plays. Allocates memory.
    pub(crate) fn set_loop(&mut self, region: Option<LoopRegion>) {
        self.player.set_loop(region.map(|region| region.start_frame));
        self.clips.set_loop(region);
    }

    /// Moves from the end of the loop to its start.
    pub(crate) fn jump_to_loop_start(&mut self) {
        self.player.jump_to_loop_start(!self.input.is_enabled);
        self.clips.jump_to_loop_start();
        self.input.jump();
    }

    /// Cuts all sound.
    pub(crate) fn cut(&mut self) {
        self.player.cut_notes();
        self.clips.cut();
        self.cut_input_and_fading_players();
    }

    fn cut_input_and_fading_players(&mut self) {
        self.input.cut();
        self.fading_players.iter_mut().for_each(TrackPlayer::cut_notes);
    }

    /// Whether the source is silent while the session is stopped.
    pub(crate) fn is_silent(&self) -> bool {
        self.active_voice_count() == 0 && self.input.is_silent(false) && self.clips.is_silent()
    }

    pub(crate) fn active_voice_count(&self) -> usize {
        self.player.active_voice_count()
            + self.fading_players.iter().map(TrackPlayer::active_voice_count).sum::<usize>()
    }

    /// Renders at most a block of frames, and processes them with the track's effects. `rack` is
    /// `None` if the effects run in the mix. The values of inactive outputs are unspecified.
    pub(crate) fn render(
        &mut self,
        is_playing: bool,
        mut outputs: [&mut [f32]; TRACK_OUTPUTS],
        rack: Option<&mut EffectRack>,
    ) -> ActiveOutputs {
        let mut active_outputs =
            self.render_source(is_playing, outputs.each_mut().map(|output| &mut output[..]));
        if let Some(rack) = rack {
            rack.align_source(outputs.each_mut().map(|output| &mut output[..]), &mut active_outputs);
            rack.process(is_playing, outputs, &mut active_outputs, &[]);
        }
        active_outputs
    }

    fn render_source(&mut self, is_playing: bool, mut outputs: [&mut [f32]; TRACK_OUTPUTS]) -> ActiveOutputs {
        let frames = outputs[0].len();
        let mode = match (is_playing, self.input.is_enabled) {
            (false, _) => PlayerMode::Stopped,
            (true, false) => PlayerMode::Playing,
            (true, true) => PlayerMode::ControllersOnly,
        };
        let mut active_outputs = self.player.render(mode, outputs.each_mut().map(|output| &mut output[..]));
        for player in self.fading_players.iter_mut().filter(|player| player.active_voice_count() > 0) {
            let scratch = self.scratch.each_mut().map(|output| &mut output[..frames]);
            let player_active = player.render(PlayerMode::Stopped, scratch);
            for output in (0..TRACK_OUTPUTS).filter(|output| player_active[*output]) {
                add(&self.scratch[output], outputs[output], &mut active_outputs[output]);
            }
        }
        if !self.input.is_silent(is_playing) {
            for (output, active) in outputs.iter_mut().zip(&mut active_outputs) {
                activate(output, active);
            }
            self.input.add_to(is_playing, outputs.each_mut().map(|output| &mut output[..]));
        }
        if let Some(clips) = self.clips.render(is_playing, frames) {
            for (output, values) in clips.into_iter().enumerate() {
                add(values, outputs[output], &mut active_outputs[output]);
            }
        }
        active_outputs
    }
}

fn add(values: &[f32], output: &mut [f32], is_active: &mut bool) {
    activate(output, is_active);
    output.iter_mut().zip(values).for_each(|(output, value)| *output += value);
}

/// Makes an output active. An inactive output is filled with silence first.
fn activate(output: &mut [f32], is_active: &mut bool) {
    if !core::mem::replace(is_active, true) {
        output.fill(0.0);
    }
}
