//! Plays the recorded output of an effect that the engine cannot run itself.

use alloc::boxed::Box;

use crate::block::{BLOCK_FRAMES, StereoBlock};
use crate::mixer::LoopRegion;
use crate::mixer::track::clips::{ClipPlayer, Underruns, WantedAudio};
use crate::session::{AudioSlot, Clip};

/// The recorded output of an effect, aligned with the input of the effect.
pub(crate) struct Recording {
    /// Index of the effect in its chain.
    pub(crate) effect: usize,
    audio_slot: u32,
    player: ClipPlayer,
    /// Latency of the effect's input in frames of the rack's clock.
    latency_frames: usize,
    /// Frames of silence before the recording goes on, while the effects before this one fill their
    /// latency.
    silent_frames: usize,
    audio: Box<StereoBlock>,
    loop_region: Option<LoopRegion>,
}

impl Recording {
    /// Creates a player for the recording in an audio slot, at its start. The slots follow by
    /// [`Self::set_audio`].
    pub(crate) fn new(effect: usize, audio_slot: u32, sample_rate_hz: u32) -> Self {
        Self {
            effect,
            audio_slot,
            player: ClipPlayer::new(sample_rate_hz),
            latency_frames: 0,
            silent_frames: 0,
            audio: Box::new([[0.0; BLOCK_FRAMES]; 2]),
            loop_region: None,
        }
    }

    /// Sets the loop that the session plays, at the frame `clock` of the rack's clock. The
    /// recording jumps later than the clock, by the latency of the effect's input.
    pub(crate) fn set_loop(&mut self, region: Option<LoopRegion>, clock: u64) {
        if region == self.loop_region {
            return;
        }
        self.loop_region = region;
        self.player.set_loop(region);
        let input_frame = clock.saturating_sub(self.latency_frames as u64);
        if self.silent_frames == 0 && self.player.position_frames() != input_frame {
            self.move_to_input_frame(clock);
        }
    }

    /// Sets the slot of the recording, which then continues at the same position.
    pub(crate) fn set_slot(&mut self, audio_slot: u32) {
        self.audio_slot = audio_slot;
    }

    /// Reads the length of the recording from its slot.
    pub(crate) fn set_audio(&mut self, slots: &[Option<AudioSlot>]) {
        self.player.set_clips(&[clip_of(self.audio_slot, slots)], slots);
    }

    /// Moves to the frame `clock` of the rack's clock. Until the latency of the input has passed,
    /// the recording is silent, as the other signals are.
    pub(crate) fn reset(&mut self, clock: u64) {
        self.player.seek(clock);
        self.silent_frames = self.latency_frames;
    }

    /// Stops at a frame of the session, and requests the audio that follows.
    pub(crate) fn stop(&mut self, frame: u64) {
        self.player.stop(frame);
        self.silent_frames = self.latency_frames;
    }

    /// Sets the latency of the effect's input, at the frame `clock` of the rack's clock.
    pub(crate) fn set_latency(&mut self, frames: usize, clock: u64) {
        if frames != self.latency_frames {
            self.latency_frames = frames;
            self.move_to_input_frame(clock);
        }
    }

    /// Moves to the frame that the effect's input has at the frame `clock` of the rack's clock.
    pub(crate) fn move_to_input_frame(&mut self, clock: u64) {
        let latency_frames = self.latency_frames as u64;
        self.player.fade_out();
        self.player.stop(clock.saturating_sub(latency_frames));
        self.silent_frames = latency_frames.saturating_sub(clock) as usize;
    }

    /// Reads the next frames, at most a block.
    pub(crate) fn read(&mut self, frames: usize) {
        let silent_frames = self.silent_frames.min(frames);
        self.silent_frames -= silent_frames;
        self.audio.iter_mut().for_each(|values| values[..silent_frames].fill(0.0));
        let mut read_frames = silent_frames;
        while read_frames < frames {
            let frames_to_jump =
                self.loop_region.and_then(|region| region.frames_to_end(self.player.position_frames()));
            let chunk_frames =
                frames_to_jump.map_or(frames - read_frames, |to_jump| (frames - read_frames).min(to_jump));
            let recorded = self.player.render(true, chunk_frames);
            for (side, values) in self.audio.iter_mut().enumerate() {
                let values = &mut values[read_frames..read_frames + chunk_frames];
                match recorded {
                    Some(recorded) => values.copy_from_slice(recorded[side]),
                    None => values.fill(0.0),
                }
            }
            read_frames += chunk_frames;
            if frames_to_jump == Some(chunk_frames) {
                self.player.jump_to_loop_start();
            }
        }
    }

    /// Returns the frames of the last call of [`Self::read`].
    pub(crate) fn audio(&self) -> &StereoBlock {
        &self.audio
    }

    /// Returns the number of frames until the end of the recording.
    pub(crate) fn remaining_frames(&self) -> usize {
        self.player.remaining_frames() as usize + self.silent_frames
    }

    /// See [`crate::mixer::Mixer::wanted_audio`].
    pub(crate) fn wanted(&self, track: usize, clip: usize) -> impl Iterator<Item = WantedAudio> {
        let with_silence = move |wanted: WantedAudio| WantedAudio {
            clip,
            ahead_frames: wanted.ahead_frames + self.silent_frames as u64,
            ..wanted
        };
        self.player.wanted(track).map(with_silence)
    }

    /// See [`crate::mixer::Mixer::fill_audio`].
    pub(crate) fn fill(&mut self, audio_slot: u32, source_frame: u64, audio: [&[f32]; 2]) {
        self.player.fill(audio_slot, source_frame, audio);
    }

    pub(crate) fn take_underruns(&mut self) -> Underruns {
        self.player.take_underruns()
    }
}

/// Returns a clip that plays the whole recording from the start of the session on.
pub(crate) fn clip_of(audio_slot: u32, slots: &[Option<AudioSlot>]) -> Clip {
    let slot = slots.get(audio_slot as usize).and_then(Option::as_ref);
    Clip {
        frame: 0,
        offset_frames: 0,
        length_frames: slot.map_or(0, AudioSlot::frames),
        gain: 1.0,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: false,
        audio_slot,
    }
}
