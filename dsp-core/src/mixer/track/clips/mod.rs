//! Plays the clips of a track.

mod carry_over;
mod ring;
mod voice;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use crate::block::BLOCK_FRAMES;
use crate::dsp::declicker::Declicker;
use crate::session::{AudioSlot, Clip};
use carry_over::OldClips;
use ring::Ring;
use voice::Voice;

/// A clip of streamed audio requests blocks this many frames ahead of the playhead, and before its
/// start. This is two thirds of a second at 48 kHz.
const AHEAD_FRAMES: u64 = 32_768;

/// Frames before the playhead that are kept, for clips that a user moves to the right. This is more
/// than a sixteenth note at 100 beats a minute and 48 kHz.
const BEHIND_FRAMES: u64 = 8_192;

/// A block of streamed audio that a clip needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedAudio {
    /// Index of the track.
    pub track: usize,
    /// Index of the clip in its track.
    pub clip: usize,
    /// Audio slot of the source.
    pub audio_slot: u32,
    /// First frame of the block in the source.
    pub source_frame: u64,
    /// Length of the block in frames.
    pub frames: usize,
    /// Frames that are available before the block is needed; fewer are more urgent.
    pub ahead_frames: u64,
}

/// Streamed audio that did not arrive in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Underruns {
    /// Number of interruptions.
    pub events: u64,
    /// Silent frames, summed over all clips.
    pub frames: u64,
}

impl Underruns {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { events: self.events + other.events, frames: self.frames + other.frames }
    }
}

/// Plays the clips of a track.
pub(crate) struct ClipPlayer {
    clips: Vec<Clip>,
    /// By ascending start of the clips.
    voices: Vec<Voice>,
    rings: Vec<Ring>,
    position: u64,
    /// Indices of the voices that sound or will sound soon, ascending.
    near: Vec<usize>,
    /// Index of the first voice that is further ahead.
    next: usize,
    sum: Box<[[f32; BLOCK_FRAMES]; 2]>,
    scratch: Box<[[f32; BLOCK_FRAMES]; 2]>,
    declicker: Declicker,
    underruns: Underruns,
    is_underrun: bool,
}

impl ClipPlayer {
    pub(crate) fn new(sample_rate_hz: u32) -> Self {
        Self {
            clips: Vec::new(),
            voices: Vec::new(),
            rings: Vec::new(),
            position: 0,
            near: Vec::new(),
            next: 0,
            sum: Box::new([[0.0; BLOCK_FRAMES]; 2]),
            scratch: Box::new([[0.0; BLOCK_FRAMES]; 2]),
            declicker: Declicker::new(sample_rate_hz),
            underruns: Underruns::default(),
            is_underrun: false,
        }
    }

    /// Continues with edited clips. Streamed audio that has arrived stays available to all clips of
    /// its source.
    pub(crate) fn set(&mut self, clips: &[Clip], slots: &[Option<AudioSlot>]) {
        self.clips = clips.to_vec();
        self.set_audio(slots);
    }

    /// Continues with other audio in the slots; see [`Self::set`].
    pub(crate) fn set_audio(&mut self, slots: &[Option<AudioSlot>]) {
        let voices = voices_of(&self.clips, slots);
        let same = voices.len() == self.voices.len()
            && voices.iter().zip(&self.voices).all(|(new, old)| {
                let same_audio = match (&new.audio, &old.audio) {
                    (Some(new), Some(old)) => new == old,
                    (None, None) => new.region_frames == old.region_frames,
                    _ => false,
                };
                same_audio && (new.clip, new.number) == (old.clip, old.number)
            });
        if same {
            return;
        }
        self.declicker.switch();
        let old = OldClips {
            voices: core::mem::replace(&mut self.voices, voices),
            rings: core::mem::take(&mut self.rings),
        };
        self.near = Vec::with_capacity(self.voices.len());
        self.find_near();
        self.rings.resize_with(max_simultaneous(&self.voices), || Ring::new(AHEAD_FRAMES, BEHIND_FRAMES));
        self.assign_rings();
        for ring in &mut self.rings {
            let Some(voice) = ring.voice().and_then(|voice| self.voices.get(voice)) else { continue };
            old.carry_over(voice, ring, self.position.saturating_sub(voice.clip.frame));
        }
    }

    /// Cuts all sound and moves to a frame.
    pub(crate) fn seek(&mut self, frame: u64) {
        self.stop(frame);
        self.cut();
    }

    /// Ends a fade-out without its remaining frames.
    pub(crate) fn cut(&mut self) {
        self.declicker.reset();
    }

    /// The session is stopped at a frame.
    pub(crate) fn stop(&mut self, frame: u64) {
        self.position = frame;
        self.find_near();
        let (rings, near) = (&mut self.rings, &self.near);
        rings
            .iter_mut()
            .filter(|ring| ring.voice().is_some_and(|voice| !near.contains(&voice)))
            .for_each(Ring::free);
        self.assign_rings();
        self.rings.iter_mut().for_each(|ring| _ = ring.set_underrun(false));
        self.is_underrun = false;
    }

    /// Whether the player is silent while the session is stopped.
    pub(crate) fn is_silent(&self) -> bool {
        self.declicker.is_idle()
    }

    /// Lets the current signal decay; what follows is unrelated to it.
    pub(crate) fn fade_out(&mut self) {
        self.declicker.switch();
    }

    fn find_near(&mut self) {
        self.near.clear();
        self.next = self.voices.partition_point(|voice| voice.near() <= self.position);
        let sounding = (0..self.next).filter(|&index| self.voices[index].end() > self.position);
        self.near.extend(sounding);
    }

    /// Updates the voices near the position.
    fn advance(&mut self, frames: usize) {
        let end = self.position.saturating_add(frames as u64);
        let before = (self.next, self.near.len());
        while self.voices.get(self.next).is_some_and(|voice| voice.near() < end) {
            self.near.push(self.next);
            self.next += 1;
        }
        let (voices, rings, position) = (&self.voices, &mut self.rings, self.position);
        self.near.retain(|&index| {
            let is_over = voices[index].end() <= position;
            if is_over {
                rings.iter_mut().filter(|ring| ring.voice() == Some(index)).for_each(Ring::free);
            }
            !is_over
        });
        if before != (self.next, self.near.len()) {
            self.assign_rings();
        }
    }

    /// Assigns a ring to each near voice of streamed audio.
    fn assign_rings(&mut self) {
        for &index in &self.near {
            let has_ring = || self.rings.iter().any(|ring| ring.voice() == Some(index));
            if self.voices[index].audio.is_none()
                && !has_ring()
                && let Some(ring) = self.rings.iter_mut().find(|ring| ring.voice().is_none())
            {
                ring.begin(index);
            }
        }
    }

    /// The blocks that the clips need, in no order.
    pub(crate) fn wanted(&self, track: usize) -> impl Iterator<Item = WantedAudio> {
        self.rings.iter().filter_map(move |ring| {
            let voice = self.voices.get(ring.voice()?)?;
            let read = self.position.saturating_sub(voice.clip.frame);
            let clip_frame = ring.missing_from(read);
            let free_frames = ring.free_frames(read);
            if clip_frame >= voice.sounding_frames || free_frames == 0 {
                return None;
            }
            let (source_frame, to_end) = voice.source(clip_frame);
            Some(WantedAudio {
                track,
                clip: voice.number,
                audio_slot: voice.clip.audio_slot,
                source_frame,
                frames: free_frames.min(usize::try_from(to_end).unwrap_or(free_frames)),
                ahead_frames: clip_frame - read,
            })
        })
    }

    /// Takes streamed audio, from a frame of its source on, for all clips that need it. Frames that
    /// have been played already, or that would leave a gap, are ignored.
    pub(crate) fn fill(&mut self, audio_slot: u32, source_frame: u64, audio: [&[f32]; 2]) {
        for ring in &mut self.rings {
            let Some(voice) = ring.voice().and_then(|voice| self.voices.get(voice)) else { continue };
            if voice.clip.audio_slot == audio_slot {
                let read = self.position.saturating_sub(voice.clip.frame);
                voice.fill(ring, read, source_frame, audio);
            }
        }
    }

    /// The underruns since the last call.
    pub(crate) fn take_underruns(&mut self) -> Underruns {
        core::mem::take(&mut self.underruns)
    }

    /// Renders the next frames, at most a block; `None` for silence.
    pub(crate) fn render(&mut self, playing: bool, frames: usize) -> Option<[&[f32]; 2]> {
        if self.voices.is_empty() && self.declicker.is_idle() {
            self.position += if playing { frames as u64 } else { 0 };
            return None;
        }
        if playing {
            self.advance(frames);
        }
        let is_audible = playing
            && self.near.iter().any(|&index| self.voices[index].clip.frame < self.position + frames as u64);
        if !is_audible && self.declicker.is_idle() {
            self.position += if playing { frames as u64 } else { 0 };
            self.declicker.reset();
            return None;
        }
        self.sum.iter_mut().for_each(|sum| sum[..frames].fill(0.0));
        if playing {
            let (mut done, mut missing) = (0, 0);
            while done < frames {
                let segment = done..done + self.segment_frames(frames - done);
                for number in 0..self.near.len() {
                    missing += self.add_voice(self.near[number], segment.clone());
                }
                self.position += segment.len() as u64;
                done = segment.end;
                self.declicker.process(self.sum.each_mut().map(|sum| &mut sum[segment.clone()]));
            }
            self.underruns.frames += missing;
            self.underruns.events += u64::from(missing > 0 && !self.is_underrun);
            self.is_underrun = missing > 0;
        } else {
            self.declicker.process(self.sum.each_mut().map(|sum| &mut sum[..frames]));
        }
        Some(self.sum.each_ref().map(|sum| &sum[..frames]))
    }

    /// The number of frames, at most `max_frames`, before an underrun begins or ends. Removes the
    /// click of an underrun that begins or ends at the position.
    fn segment_frames(&mut self, max_frames: usize) -> usize {
        let mut segment = max_frames as u64;
        for ring in &mut self.rings {
            let Some(voice) = ring.voice().and_then(|voice| self.voices.get(voice)) else { continue };
            match self.position.checked_sub(voice.clip.frame) {
                None => segment = segment.min(voice.clip.frame - self.position),
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

    /// Adds a voice to a segment of the sum that begins at the position. Returns the number of
    /// missing frames.
    fn add_voice(&mut self, index: usize, segment: Range<usize>) -> u64 {
        let voice = &self.voices[index];
        let block = self.position..self.position + segment.len() as u64;
        let (start, end) = (voice.clip.frame.max(block.start), voice.end().min(block.end));
        let mut missing = 0;
        let mut frame = start;
        while frame < end {
            let clip_frame = frame - voice.clip.frame;
            let (source_frame, to_end) = voice.source(clip_frame);
            let chunk_frames = (end - frame).min(to_end);
            let into = segment.start + (frame - block.start) as usize;
            let [left, right] = self.scratch.each_mut().map(|values| &mut values[..chunk_frames as usize]);
            match &voice.audio {
                Some(audio) => audio.read(source_frame, [&mut *left, &mut *right]),
                None => {
                    let ring = self.rings.iter_mut().find(|ring| ring.voice() == Some(index));
                    missing += match ring {
                        Some(ring) => {
                            let missing = ring.read(clip_frame, [&mut *left, &mut *right]);
                            voice.repeat(ring, clip_frame + chunk_frames);
                            missing
                        }
                        None => chunk_frames,
                    };
                }
            }
            let [sum_left, sum_right] =
                self.sum.each_mut().map(|sum| &mut sum[into..into + chunk_frames as usize]);
            voice.add(clip_frame, [left, right], [sum_left, sum_right]);
            frame += chunk_frames;
        }
        missing
    }
}

/// The voices of clips that are audible, by ascending start.
fn voices_of(clips: &[Clip], slots: &[Option<AudioSlot>]) -> Vec<Voice> {
    let mut voices: Vec<Voice> =
        clips.iter().enumerate().filter_map(|(number, clip)| Voice::new(number, clip, slots)).collect();
    voices.sort_by_key(|voice| voice.clip.frame);
    voices
}

/// Number of rings that a player of these clips has, and the bytes of each.
pub(crate) fn rings_of(clips: &[Clip], slots: &[Option<AudioSlot>]) -> (usize, usize) {
    let ring_bytes = 2 * size_of::<f32>() * (AHEAD_FRAMES + BEHIND_FRAMES) as usize;
    (max_simultaneous(&voices_of(clips, slots)), ring_bytes + size_of::<Ring>())
}

/// Maximum number of voices that need a ring at the same time.
fn max_simultaneous(voices: &[Voice]) -> usize {
    let streamed = || voices.iter().filter(|voice| voice.audio.is_none());
    let mut ends: Vec<u64> = streamed().map(Voice::end).collect();
    ends.sort_unstable();
    let mut ended = 0;
    // Voices are sorted by their start.
    let open = streamed().enumerate().map(|(begun, voice)| {
        while ends[ended] <= voice.near() {
            ended += 1;
        }
        begun + 1 - ended
    });
    open.max().unwrap_or(0)
}
