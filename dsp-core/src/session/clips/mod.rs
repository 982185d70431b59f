//! Recorded audio on a track.

mod held;
mod ring;
mod voice;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use super::audio::AudioSlot;
use crate::block::BLOCK_FRAMES;
use crate::dsp::declicker::Declicker;
use held::Held;
use ring::Ring;
use voice::Voice;

/// How far ahead of its start a clip that is handed over piece by piece asks for audio, in frames,
/// and how much of it is kept: two thirds of a second at 48 kHz.
const AHEAD_FRAMES: u64 = 32_768;
/// How much of it that has been played is kept for a clip that is moved to later, in frames: more
/// than a sixteenth note at 100 beats a minute and 48 kHz.
const BEHIND_FRAMES: u64 = 8_192;

/// A stretch of recorded audio at a place of the session.
///
/// Clips that overlap sound together. Fades are straight lines of the gain; where they overlap,
/// they multiply.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Clip {
    /// Frames from the start of the session to its first.
    pub frame: u64,
    /// Where in the source it begins, in frames.
    pub offset_frames: u64,
    /// How long it is, in frames; what the source does not reach is silent unless it is looped.
    pub length_frames: u64,
    /// Linear gain.
    pub gain: f32,
    /// Length of the fade-in, in frames: from 0 at the first frame to 1 behind the last of these.
    pub fade_in_frames: u64,
    /// Length of the fade-out, in frames: from 1 to 0 behind the end of what sounds.
    pub fade_out_frames: u64,
    /// Whether the source starts over at `offset_frames` when it ends.
    pub looped: bool,
    /// Which of the audio slots that come with the session is its source.
    pub audio_slot: u32,
}

/// Audio that a clip will want, from somebody who hands it over piece by piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedAudio {
    /// Place of the track.
    pub track_place: usize,
    /// Place of the clip among the track's.
    pub clip: usize,
    /// Slot of the source.
    pub audio_slot: u32,
    /// Where the piece begins in the source, in frames.
    pub source_frame: u64,
    /// How many frames there is room for.
    pub frames: usize,
    /// How many frames are there that have not been played: the fewer, the more urgent.
    pub ahead_frames: u64,
}

/// Audio that was wanted and not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Underruns {
    /// How often playing ran dry.
    pub events: u64,
    /// Frames that were silent for it, of all clips together.
    pub frames: u64,
}

impl Underruns {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { events: self.events + other.events, frames: self.frames + other.frames }
    }
}

/// Plays the clips of a track.
pub(super) struct ClipPlayer {
    /// By ascending start.
    voices: Vec<Voice>,
    rings: Vec<Ring>,
    position: u64,
    /// Places of the voices that sound or soon will, ascending, and the first that is further
    /// ahead.
    near: Vec<usize>,
    next: usize,
    sum: Box<[[f32; BLOCK_FRAMES]; 2]>,
    piece: Box<[[f32; BLOCK_FRAMES]; 2]>,
    declicker: Declicker,
    underruns: Underruns,
    ran_dry: bool,
}

impl ClipPlayer {
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        Self {
            voices: Vec::new(),
            rings: Vec::new(),
            position: 0,
            near: Vec::new(),
            next: 0,
            sum: Box::new([[0.0; BLOCK_FRAMES]; 2]),
            piece: Box::new([[0.0; BLOCK_FRAMES]; 2]),
            declicker: Declicker::new(sample_rate_hz),
            underruns: Underruns::default(),
            ran_dry: false,
        }
    }

    /// Goes on with other clips from where it is. Audio that was handed over stays there for all
    /// clips that play it.
    pub(super) fn set(&mut self, clips: &[Clip], slots: &[Option<AudioSlot>]) {
        let voices = voices_of(clips, slots);
        let same = voices.len() == self.voices.len()
            && voices.iter().zip(&self.voices).all(|(new, old)| {
                let same_audio = match (&new.audio, &old.audio) {
                    (Some(new), Some(old)) => new.is_same(old),
                    (None, None) => new.region_frames == old.region_frames,
                    _ => false,
                };
                same_audio && (new.clip, new.number) == (old.clip, old.number)
            });
        if same {
            return;
        }
        self.declicker.switch();
        let held = Held {
            voices: core::mem::replace(&mut self.voices, voices),
            rings: core::mem::take(&mut self.rings),
        };
        self.near = Vec::with_capacity(self.voices.len());
        self.find_near();
        self.rings.resize_with(most_at_a_time(&self.voices), || Ring::new(AHEAD_FRAMES, BEHIND_FRAMES));
        self.hand_out_rings();
        for ring in &mut self.rings {
            let Some(voice) = ring.voice().and_then(|voice| self.voices.get(voice)) else { continue };
            held.hand_over(voice, ring, self.position.saturating_sub(voice.clip.frame));
        }
    }

    /// The session goes on at a frame.
    pub(super) fn seek(&mut self, frame: u64) {
        self.stand(frame);
        self.cut();
    }

    /// Cuts what falls away.
    pub(super) fn cut(&mut self) {
        self.declicker.reset();
    }

    /// The session stands still at a frame.
    pub(super) fn stand(&mut self, frame: u64) {
        self.position = frame;
        self.find_near();
        let (rings, near) = (&mut self.rings, &self.near);
        rings
            .iter_mut()
            .filter(|ring| ring.voice().is_some_and(|voice| !near.contains(&voice)))
            .for_each(Ring::free);
        self.hand_out_rings();
        self.rings.iter_mut().for_each(|ring| _ = ring.runs_dry(false));
        self.ran_dry = false;
    }

    /// Whether nothing sounds while the session stands still.
    pub(super) fn is_silent(&self) -> bool {
        self.declicker.is_idle()
    }

    /// The session stops, or what follows has nothing to do with what came last.
    pub(super) fn break_off(&mut self) {
        self.declicker.switch();
    }

    fn find_near(&mut self) {
        self.near.clear();
        self.next = self.voices.partition_point(|voice| voice.near() <= self.position);
        let sounding = (0..self.next).filter(|&place| self.voices[place].end() > self.position);
        self.near.extend(sounding);
    }

    /// Brings what is near up to the position.
    fn advance(&mut self, frames: usize) {
        let end = self.position.saturating_add(frames as u64);
        let before = (self.next, self.near.len());
        while self.voices.get(self.next).is_some_and(|voice| voice.near() < end) {
            self.near.push(self.next);
            self.next += 1;
        }
        let (voices, rings, position) = (&self.voices, &mut self.rings, self.position);
        self.near.retain(|&place| {
            let is_over = voices[place].end() <= position;
            if is_over {
                rings.iter_mut().filter(|ring| ring.voice() == Some(place)).for_each(Ring::free);
            }
            !is_over
        });
        if before != (self.next, self.near.len()) {
            self.hand_out_rings();
        }
    }

    /// Gives each clip that is near, and wants one, a ring.
    fn hand_out_rings(&mut self) {
        for &place in &self.near {
            let has_one = || self.rings.iter().any(|ring| ring.voice() == Some(place));
            if self.voices[place].audio.is_none()
                && !has_one()
                && let Some(ring) = self.rings.iter_mut().find(|ring| ring.voice().is_none())
            {
                ring.begin(place);
            }
        }
    }

    /// What the clips will want, in no order.
    pub(super) fn wanted(&self, track_place: usize) -> impl Iterator<Item = WantedAudio> {
        self.rings.iter().filter_map(move |ring| {
            let voice = self.voices.get(ring.voice()?)?;
            let read = self.position.saturating_sub(voice.clip.frame);
            let clip_frame = ring.missing_from(read);
            let room = ring.room(read);
            if clip_frame >= voice.sounding_frames || room == 0 {
                return None;
            }
            let (source_frame, to_end) = voice.source(clip_frame);
            Some(WantedAudio {
                track_place,
                clip: voice.number,
                audio_slot: voice.clip.audio_slot,
                source_frame,
                frames: room.min(usize::try_from(to_end).unwrap_or(room)),
                ahead_frames: clip_frame - read,
            })
        })
    }

    /// Takes audio of a source, from a frame of the source on, for all clips that want it there.
    /// What has been played already, or leaves a gap behind what is there, is passed over.
    pub(super) fn fill(&mut self, audio_slot: u32, source_frame: u64, audio: [&[f32]; 2]) {
        for ring in &mut self.rings {
            let Some(voice) = ring.voice().and_then(|voice| self.voices.get(voice)) else { continue };
            if voice.clip.audio_slot == audio_slot {
                let read = self.position.saturating_sub(voice.clip.frame);
                voice.fill(ring, read, source_frame, audio);
            }
        }
    }

    /// What was wanted and not there, since the last call.
    pub(super) fn take_underruns(&mut self) -> Underruns {
        core::mem::take(&mut self.underruns)
    }

    /// The next frames, at most a block of them, or `None` for silence.
    pub(super) fn render(&mut self, playing: bool, frames: usize) -> Option<[&[f32]; 2]> {
        if self.voices.is_empty() && self.declicker.is_idle() {
            self.position += if playing { frames as u64 } else { 0 };
            return None;
        }
        if playing {
            self.advance(frames);
        }
        let sounds = playing
            && self.near.iter().any(|&place| self.voices[place].clip.frame < self.position + frames as u64);
        if !sounds && self.declicker.is_idle() {
            self.position += if playing { frames as u64 } else { 0 };
            self.declicker.reset();
            return None;
        }
        self.sum.iter_mut().for_each(|sum| sum[..frames].fill(0.0));
        if playing {
            let (mut done, mut missing) = (0, 0);
            while done < frames {
                let stretch = done..done + self.even_frames(frames - done);
                for number in 0..self.near.len() {
                    missing += self.add_voice(self.near[number], stretch.clone());
                }
                self.position += stretch.len() as u64;
                done = stretch.end;
                self.declicker.process(self.sum.each_mut().map(|sum| &mut sum[stretch.clone()]));
            }
            self.underruns.frames += missing;
            self.underruns.events += u64::from(missing > 0 && !self.ran_dry);
            self.ran_dry = missing > 0;
        } else {
            self.declicker.process(self.sum.each_mut().map(|sum| &mut sum[..frames]));
        }
        Some(self.sum.each_ref().map(|sum| &sum[..frames]))
    }

    /// How many frames, `most` at most, come before a clip begins to miss what it should have been
    /// handed, or has it again. Where that is now, what follows is joined to what came.
    fn even_frames(&mut self, most: usize) -> usize {
        let mut even = most as u64;
        for ring in &mut self.rings {
            let Some(voice) = ring.voice().and_then(|voice| self.voices.get(voice)) else { continue };
            match self.position.checked_sub(voice.clip.frame) {
                None => even = even.min(voice.clip.frame - self.position),
                Some(clip_frame) if clip_frame < voice.sounding_frames => {
                    let (is_there, frames) = ring.is_there(clip_frame);
                    even = even.min(frames);
                    if ring.runs_dry(!is_there) {
                        self.declicker.switch();
                    }
                }
                Some(_) => {}
            }
        }
        even as usize
    }

    /// Adds one clip to a stretch of the sum that begins now; returns how many frames were not
    /// there.
    fn add_voice(&mut self, place: usize, stretch: Range<usize>) -> u64 {
        let voice = &self.voices[place];
        let block = self.position..self.position + stretch.len() as u64;
        let (start, end) = (voice.clip.frame.max(block.start), voice.end().min(block.end));
        let mut missing = 0;
        let mut frame = start;
        while frame < end {
            let clip_frame = frame - voice.clip.frame;
            let (source_frame, to_end) = voice.source(clip_frame);
            let part = (end - frame).min(to_end);
            let into = stretch.start + (frame - block.start) as usize;
            let [left, right] = self.piece.each_mut().map(|piece| &mut piece[..part as usize]);
            match &voice.audio {
                Some(audio) => audio.read(source_frame, [&mut *left, &mut *right]),
                None => {
                    let ring = self.rings.iter_mut().find(|ring| ring.voice() == Some(place));
                    missing += match ring {
                        Some(ring) => {
                            let missing = ring.read(clip_frame, [&mut *left, &mut *right]);
                            voice.repeat(ring, clip_frame + part);
                            missing
                        }
                        None => part,
                    };
                }
            }
            let [sum_left, sum_right] = self.sum.each_mut().map(|sum| &mut sum[into..into + part as usize]);
            voice.add(clip_frame, [left, right], [sum_left, sum_right]);
            frame += part;
        }
        missing
    }
}

/// The voices of clips that sound, by their start.
fn voices_of(clips: &[Clip], slots: &[Option<AudioSlot>]) -> Vec<Voice> {
    let mut voices: Vec<Voice> =
        clips.iter().enumerate().filter_map(|(number, clip)| Voice::new(number, clip, slots)).collect();
    voices.sort_by_key(|voice| voice.clip.frame);
    voices
}

/// How many rings a player of these clips has, and the bytes of each.
pub(super) fn rings_of(clips: &[Clip], slots: &[Option<AudioSlot>]) -> (usize, usize) {
    let ring_bytes = 2 * size_of::<f32>() * (AHEAD_FRAMES + BEHIND_FRAMES) as usize;
    (most_at_a_time(&voices_of(clips, slots)), ring_bytes + size_of::<Ring>())
}

/// Most voices that want a ring at a time.
fn most_at_a_time(voices: &[Voice]) -> usize {
    let streamed = || voices.iter().filter(|voice| voice.audio.is_none());
    let mut ends: Vec<u64> = streamed().map(Voice::end).collect();
    ends.sort_unstable();
    let mut ended = 0;
    // Voices ascend by their start.
    let open = streamed().enumerate().map(|(begun, voice)| {
        while ends[ended] <= voice.near() {
            ended += 1;
        }
        begun + 1 - ended
    });
    open.max().unwrap_or(0)
}
