//! Plays the clips of a track.

mod carry_over;
mod loop_start;
mod ring;
mod voice;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use crate::block::BLOCK_FRAMES;
use crate::dsp::declicker::Declicker;
use crate::mixer::LoopRegion;
use crate::session::{AudioSlot, Clip};
use carry_over::OldClips;
use loop_start::{LoopRing, LoopStart};
use ring::Ring;
use voice::Voice;

/// Number of frames ahead of the playhead for which a clip requests streamed audio: two thirds of a
/// second at 48 kHz. A clip starts to request audio this number of frames before its start.
const AHEAD_FRAMES: u64 = 32_768;

/// Number of played frames that remain available, for clips that a user moves to the right. This is
/// more than a sixteenth note at 100 quarter notes per minute and 48 kHz.
const BEHIND_FRAMES: u64 = 8_192;

/// A block of streamed audio that a clip needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedAudio {
    /// Index of the track; the number of tracks for the master.
    pub track: usize,
    /// Index of the clip in its track. The recorded outputs of effects follow the clips: their
    /// number is that of the clips plus the index of the effect.
    pub clip: usize,
    /// Audio slot of the source.
    pub audio_slot: u32,
    /// First frame of the block in the source.
    pub source_frame: u64,
    /// Length of the block in frames.
    pub frames: usize,
    /// Number of frames until the block is needed. A lower number is more urgent.
    pub ahead_frames: u64,
}

/// Streamed audio that did not arrive in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Underruns {
    /// Number of interruptions of the output by missing audio.
    pub events: u64,
    /// Number of missing frames, which are silent, summed over all clips.
    pub frames: u64,
}

impl Underruns {
    pub(crate) fn plus(self, rhs: Self) -> Self {
        Self { events: self.events + rhs.events, frames: self.frames + rhs.frames }
    }
}

/// Plays the clips of a track.
pub(crate) struct ClipPlayer {
    clips: Vec<Clip>,
    /// Voices of the audible clips, in the order of the clips' start frames.
    voices: Vec<Voice>,
    rings: Vec<Ring>,
    position_frames: u64,
    /// Indices, in ascending order, of the voices that are audible or start within
    /// [`AHEAD_FRAMES`].
    near_voices: Vec<usize>,
    /// Index of the first voice that is not yet in `near_voices`.
    next_voice: usize,
    sum: Box<[[f32; BLOCK_FRAMES]; 2]>,
    scratch: Box<[[f32; BLOCK_FRAMES]; 2]>,
    declicker: Declicker,
    underruns: Underruns,
    is_underrun: bool,
    /// The loop that the session plays, with the streamed audio at its start.
    loop_start: Option<LoopStart>,
}

impl ClipPlayer {
    pub(crate) fn new(sample_rate_hz: u32) -> Self {
        Self {
            clips: Vec::new(),
            voices: Vec::new(),
            rings: Vec::new(),
            position_frames: 0,
            near_voices: Vec::new(),
            next_voice: 0,
            sum: Box::new([[0.0; BLOCK_FRAMES]; 2]),
            scratch: Box::new([[0.0; BLOCK_FRAMES]; 2]),
            declicker: Declicker::new(sample_rate_hz),
            underruns: Underruns::default(),
            is_underrun: false,
            loop_start: None,
        }
    }

    /// Replaces the clips by edited clips. Streamed audio that has arrived remains available to all
    /// clips with the same source.
    pub(crate) fn set_clips(&mut self, clips: &[Clip], slots: &[Option<AudioSlot>]) {
        self.clips = clips.to_vec();
        self.set_audio(slots);
    }

    /// Replaces the audio in the slots. See [`Self::set_clips`].
    pub(crate) fn set_audio(&mut self, slots: &[Option<AudioSlot>]) {
        let voices = voices_of(&self.clips, slots);
        let is_unchanged = voices.len() == self.voices.len()
            && voices.iter().zip(&self.voices).all(|(new, old)| {
                let same_audio = match (&new.audio, &old.audio) {
                    (Some(new), Some(old)) => new == old,
                    (None, None) => new.region_frames == old.region_frames,
                    _ => false,
                };
                same_audio && (new.clip, new.clip_index) == (old.clip, old.clip_index)
            });
        if is_unchanged {
            return;
        }
        self.declicker.switch();
        let old = OldClips {
            voices: core::mem::replace(&mut self.voices, voices),
            rings: core::mem::take(&mut self.rings),
        };
        self.near_voices = Vec::with_capacity(self.voices.len());
        self.find_near_voices();
        self.rings
            .resize_with(max_simultaneous_rings(&self.voices), || Ring::new(AHEAD_FRAMES, BEHIND_FRAMES));
        self.assign_rings();
        for ring in &mut self.rings {
            let Some(voice) = ring.voice_index().and_then(|voice| self.voices.get(voice)) else { continue };
            old.carry_over(voice, ring, self.position_frames.saturating_sub(voice.clip.frame));
        }
        if let Some(loop_start) = &mut self.loop_start {
            loop_start.set_voices(&self.voices);
        }
    }

    /// Cuts all sound and moves to a frame.
    pub(crate) fn seek(&mut self, frame: u64) {
        self.stop(frame);
        self.cut();
    }

    /// Cuts a fade-out.
    pub(crate) fn cut(&mut self) {
        self.declicker.reset();
    }

    /// Stops at a frame, and requests the audio around it.
    pub(crate) fn stop(&mut self, frame: u64) {
        if let Some(loop_start) = &mut self.loop_start {
            loop_start.copy_all_back(&self.rings);
        }
        self.position_frames = frame;
        self.find_near_voices();
        let (rings, near_voices) = (&mut self.rings, &self.near_voices);
        rings
            .iter_mut()
            .filter(|ring| ring.voice_index().is_some_and(|voice| !near_voices.contains(&voice)))
            .for_each(Ring::free);
        self.assign_rings();
        self.rings.iter_mut().for_each(|ring| _ = ring.set_underrun(false));
        self.is_underrun = false;
    }

    /// Sets the loop that the session plays. For streamed audio, allocates buffers that keep the
    /// audio at the start of the loop.
    pub(crate) fn set_loop(&mut self, region: Option<LoopRegion>) {
        if region != self.loop_start.as_ref().map(LoopStart::region) {
            self.loop_start = region.map(|region| LoopStart::new(region, &self.voices));
        }
    }

    /// Returns the position: the frame of the session that is played next.
    pub(crate) fn position_frames(&self) -> u64 {
        self.position_frames
    }

    /// Moves from the end of the loop to its start. The step between both signals decays like that
    /// of an edit.
    pub(crate) fn jump_to_loop_start(&mut self) {
        let Some(start_frame) = self.loop_start.as_ref().map(|loop_start| loop_start.region().start_frame)
        else {
            return;
        };
        self.declicker.switch();
        self.stop(start_frame);
        if let Some(loop_start) = &mut self.loop_start {
            loop_start.move_audio_to(&mut self.rings);
        }
    }

    /// Whether the player is silent while the session is stopped.
    pub(crate) fn is_silent(&self) -> bool {
        self.declicker.is_idle()
    }

    /// Fades out the current signal. The next signal may be unrelated to it.
    pub(crate) fn fade_out(&mut self) {
        self.declicker.switch();
    }

    /// Returns the number of frames until the end of the last clip.
    pub(crate) fn remaining_frames(&self) -> u64 {
        let end = self.voices.iter().map(Voice::end).max().unwrap_or(0);
        end.saturating_sub(self.position_frames)
    }

    fn find_near_voices(&mut self) {
        self.near_voices.clear();
        self.next_voice =
            self.voices.partition_point(|voice| voice.first_frame_needing_audio() <= self.position_frames);
        let sounding_voices =
            (0..self.next_voice).filter(|&index| self.voices[index].end() > self.position_frames);
        self.near_voices.extend(sounding_voices);
    }

    /// Updates the near voices for the next frames.
    fn advance(&mut self, frames: usize) {
        if let Some(loop_start) = &mut self.loop_start {
            loop_start.copy_back(&self.rings, frames);
        }
        let end = self.position_frames.saturating_add(frames as u64);
        let voices_before = (self.next_voice, self.near_voices.len());
        while self.voices.get(self.next_voice).is_some_and(|voice| voice.first_frame_needing_audio() < end) {
            self.near_voices.push(self.next_voice);
            self.next_voice += 1;
        }
        let (voices, rings, position_frames) = (&self.voices, &mut self.rings, self.position_frames);
        self.near_voices.retain(|&index| {
            let is_over = voices[index].end() <= position_frames;
            if is_over {
                rings.iter_mut().filter(|ring| ring.voice_index() == Some(index)).for_each(Ring::free);
            }
            !is_over
        });
        if voices_before != (self.next_voice, self.near_voices.len()) {
            self.assign_rings();
        }
    }

    /// Assigns a ring to each near voice with streamed audio.
    fn assign_rings(&mut self) {
        for &index in &self.near_voices {
            let has_ring = || self.rings.iter().any(|ring| ring.voice_index() == Some(index));
            if self.voices[index].audio.is_none()
                && !has_ring()
                && let Some(ring) = self.rings.iter_mut().find(|ring| ring.voice_index().is_none())
            {
                ring.begin(index);
            }
        }
    }

    pub(crate) fn clip_count(&self) -> usize {
        self.clips.len()
    }

    /// Returns the blocks that the clips need, in no particular order. In a loop, these are blocks
    /// before its end, and blocks at its start.
    pub(crate) fn wanted(&self, track: usize) -> impl Iterator<Item = WantedAudio> {
        let end_frame = self
            .loop_start
            .as_ref()
            .map_or(u64::MAX, |loop_start| loop_start.region().end_frame_from(self.position_frames));
        let near = self.rings.iter().filter_map(move |ring| {
            let voice = self.voices.get(ring.voice_index()?)?;
            let read_frame = self.position_frames.saturating_sub(voice.clip.frame);
            voice.wanted(track, ring, read_frame, end_frame)
        });
        let at_loop_start = self
            .loop_start
            .iter()
            .flat_map(move |start| start.wanted(track, &self.voices, self.position_frames));
        near.chain(at_loop_start)
    }

    /// Stores streamed audio from `source_frame` on in the rings of all clips that need it. Frames
    /// that have already been played, or that would leave a gap, are ignored.
    pub(crate) fn fill(&mut self, audio_slot: u32, source_frame: u64, audio: [&[f32]; 2]) {
        for ring in &mut self.rings {
            let Some(voice) = ring.voice_index().and_then(|voice| self.voices.get(voice)) else { continue };
            if voice.clip.audio_slot == audio_slot {
                let read_frame = self.position_frames.saturating_sub(voice.clip.frame);
                voice.fill(ring, read_frame, source_frame, audio);
            }
        }
        if let Some(loop_start) = &mut self.loop_start {
            loop_start.fill(&self.voices, &self.rings, audio_slot, source_frame, audio);
        }
    }

    /// Returns the underruns since the last call.
    pub(crate) fn take_underruns(&mut self) -> Underruns {
        core::mem::take(&mut self.underruns)
    }

    /// Renders at most a block of frames. Returns `None` for silence.
    pub(crate) fn render(&mut self, is_playing: bool, frames: usize) -> Option<[&[f32]; 2]> {
        if self.voices.is_empty() && self.declicker.is_idle() {
            self.position_frames += if is_playing { frames as u64 } else { 0 };
            return None;
        }
        if is_playing {
            self.advance(frames);
        }
        let is_audible = is_playing
            && self
                .near_voices
                .iter()
                .any(|&index| self.voices[index].clip.frame < self.position_frames + frames as u64);
        if !is_audible && self.declicker.is_idle() {
            self.position_frames += if is_playing { frames as u64 } else { 0 };
            self.declicker.reset();
            return None;
        }
        self.sum.iter_mut().for_each(|sum| sum[..frames].fill(0.0));
        if is_playing {
            let (mut rendered_frames, mut missing_frames) = (0, 0);
            while rendered_frames < frames {
                let segment =
                    rendered_frames..rendered_frames + self.segment_frames(frames - rendered_frames);
                for near_index in 0..self.near_voices.len() {
                    missing_frames += self.add_voice(self.near_voices[near_index], segment.clone());
                }
                self.position_frames += segment.len() as u64;
                rendered_frames = segment.end;
                self.declicker.process(self.sum.each_mut().map(|sum| &mut sum[segment.clone()]));
            }
            self.underruns.frames += missing_frames;
            self.underruns.events += u64::from(missing_frames > 0 && !self.is_underrun);
            self.is_underrun = missing_frames > 0;
        } else {
            self.declicker.process(self.sum.each_mut().map(|sum| &mut sum[..frames]));
        }
        Some(self.sum.each_ref().map(|sum| &sum[..frames]))
    }

    /// Returns the number of frames, at most `max_frames`, until an underrun begins or ends. Starts
    /// the declicker if an underrun begins or ends at the position.
    fn segment_frames(&mut self, max_frames: usize) -> usize {
        let mut segment = max_frames as u64;
        for ring in &mut self.rings {
            let Some(voice) = ring.voice_index().and_then(|voice| self.voices.get(voice)) else { continue };
            match self.position_frames.checked_sub(voice.clip.frame) {
                None => segment = segment.min(voice.clip.frame - self.position_frames),
                Some(clip_frame) if clip_frame < voice.sounding_frames => {
                    let (is_available, frames) = ring.availability(clip_frame);
                    segment = segment.min(frames);
                    if ring.set_underrun(!is_available) {
                        self.declicker.switch();
                    }
                }
                Some(_) => {}
            }
        }
        segment as usize
    }

    /// Adds a voice to a segment of the sum that begins at the current position. Returns the number
    /// of missing frames.
    fn add_voice(&mut self, index: usize, segment: Range<usize>) -> u64 {
        let voice = &self.voices[index];
        let block = self.position_frames..self.position_frames + segment.len() as u64;
        let (start, end) = (voice.clip.frame.max(block.start), voice.end().min(block.end));
        if let Some(audio) = &voice.audio {
            if start < end {
                let range = segment.start + (start - block.start) as usize
                    ..segment.start + (end - block.start) as usize;
                let [left, right] = self.scratch.each_mut().map(|values| &mut values[..range.len()]);
                voice.read(audio, start - voice.clip.frame, [&mut *left, &mut *right]);
                let sums = self.sum.each_mut().map(|sum| &mut sum[range.clone()]);
                voice.add(start - voice.clip.frame, [left, right], sums);
            }
            return 0;
        }
        let mut missing_frames = 0;
        let mut frame = start;
        while frame < end {
            let clip_frame = frame - voice.clip.frame;
            let (_, to_end) = voice.source(clip_frame);
            let chunk_frames = (end - frame).min(to_end);
            let sum_start = segment.start + (frame - block.start) as usize;
            let [left, right] = self.scratch.each_mut().map(|values| &mut values[..chunk_frames as usize]);
            let ring = self.rings.iter_mut().find(|ring| ring.voice_index() == Some(index));
            missing_frames += match ring {
                Some(ring) => {
                    let missing_frames = ring.read(clip_frame, [&mut *left, &mut *right]);
                    voice.repeat(ring, clip_frame + chunk_frames);
                    missing_frames
                }
                None => chunk_frames,
            };
            let [sum_left, sum_right] =
                self.sum.each_mut().map(|sum| &mut sum[sum_start..sum_start + chunk_frames as usize]);
            voice.add(clip_frame, [left, right], [sum_left, sum_right]);
            frame += chunk_frames;
        }
        missing_frames
    }
}

/// Returns the voices of the audible clips, in the order of the clips' start frames.
fn voices_of(clips: &[Clip], slots: &[Option<AudioSlot>]) -> Vec<Voice> {
    let mut voices: Vec<Voice> =
        clips.iter().enumerate().filter_map(|(number, clip)| Voice::new(number, clip, slots)).collect();
    voices.sort_by_key(|voice| voice.clip.frame);
    voices
}

/// Returns the number of rings that a player of `clips` has, and the bytes of each ring.
pub(crate) fn rings_of(clips: &[Clip], slots: &[Option<AudioSlot>]) -> (usize, usize) {
    let ring_bytes = 2 * size_of::<f32>() * (AHEAD_FRAMES + BEHIND_FRAMES) as usize;
    // A loop has as many rings again, with the audio at its start.
    (2 * max_simultaneous_rings(&voices_of(clips, slots)), ring_bytes + size_of::<LoopRing>())
}

/// Returns the maximum number of voices that need a ring at the same time.
fn max_simultaneous_rings(voices: &[Voice]) -> usize {
    let streamed_voices = || voices.iter().filter(|voice| voice.audio.is_none());
    let mut ends: Vec<u64> = streamed_voices().map(Voice::end).collect();
    ends.sort_unstable();
    let mut ended_voices = 0;
    // The voices are sorted by the start of their clips.
    let simultaneous = streamed_voices().enumerate().map(|(begun_before, voice)| {
        while ends[ended_voices] <= voice.first_frame_needing_audio() {
            ended_voices += 1;
        }
        begun_before + 1 - ended_voices
    });
    simultaneous.max().unwrap_or(0)
}
