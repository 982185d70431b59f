//! The places of a synthesizer's voices, eight to a group.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::group::{self, Group};
use super::interpolation::{CHUNK_FRAMES, Chunk, Kernel};
use super::lanes::LANES;
use super::playback::Scratch;
use super::ramp::{self, Mix};
use super::voice::{Surroundings, Voice};
use crate::soundfont::Bank;

/// Places beyond the polyphony, for voices that are on their way out.
const SPARE_PLACES: usize = LANES;

const SILENT_CHUNK: Chunk = [0.0; CHUNK_FRAMES];

/// Bit of a sample's type: the left side of a stereo pair (section 7.10).
const LEFT_SAMPLE: u16 = 4;

/// Eight places and the part of their voices that runs in lockstep.
struct Octet {
    group: Group,
    voices: [Option<Voice>; LANES],
    count: usize,
}

impl Octet {
    fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// All voices of a synthesizer. The places are made once; voices come and go.
pub(super) struct Voices {
    octets: Vec<Octet>,
    polyphony: usize,
    chunks: [Chunk; LANES],
    scratch: Box<Scratch>,
}

impl Voices {
    pub(super) fn new(polyphony: usize) -> Self {
        let octets = (polyphony + SPARE_PLACES).div_ceil(LANES);
        let empty = || Octet { group: Group::new(), voices: [const { None }; LANES], count: 0 };
        Self {
            octets: (0..octets).map(|_| empty()).collect(),
            polyphony,
            chunks: [SILENT_CHUNK; LANES],
            scratch: Box::new(Scratch::NEW),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Voice> {
        self.octets.iter().filter(|octet| !octet.is_empty()).flat_map(|octet| &octet.voices).flatten()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Voice> {
        let octets = self.octets.iter_mut().filter(|octet| !octet.is_empty());
        octets.flat_map(|octet| &mut octet.voices).flatten()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.octets.iter().all(Octet::is_empty)
    }

    /// Ends all voices without a fade.
    pub(super) fn clear(&mut self) {
        for octet in &mut self.octets {
            if !octet.is_empty() {
                octet.group = Group::new();
                octet.voices = [const { None }; LANES];
                octet.count = 0;
            }
        }
    }

    /// Calls `visit` with every voice, and its group and lane.
    pub(super) fn for_each(&mut self, mut visit: impl FnMut(&mut Voice, &mut Group, usize)) {
        for Octet { group, voices, .. } in self.octets.iter_mut().filter(|octet| !octet.is_empty()) {
            for (lane, voice) in voices.iter_mut().enumerate() {
                if let Some(voice) = voice {
                    visit(voice, group, lane);
                }
            }
        }
    }

    /// Prepares all voices for being aimed: `stays` says which do, of each voice and of whether its filter
    /// is quiet; the others are let go. `forget` is whether it is time to forget silence.
    pub(super) fn prepare(&mut self, forget: bool, mut stays: impl FnMut(&mut Voice, bool) -> bool) {
        for Octet { group, voices, count } in self.octets.iter_mut().filter(|octet| !octet.is_empty()) {
            group.rest();
            if forget {
                group.forget_silence();
            }
            for (lane, place) in voices.iter_mut().enumerate() {
                let Some(voice) = place else { continue };
                if !stays(voice, group.is_quiet(lane)) {
                    *place = None;
                    *count -= 1;
                    group.silence_lane(lane);
                }
            }
        }
    }

    /// Makes room for `count` voices: those that are heard least fade, released ones before
    /// held ones. All voices must have caught up.
    pub(super) fn make_room(&mut self, count: usize, sample_rate_hz: f32) {
        let sounding = self.iter().filter(|voice| !voice.fading).count();
        for _ in 0..(sounding + count).saturating_sub(self.polyphony) {
            let Some(voice) = self.iter_mut().filter(|voice| !voice.fading).min_by_key(|voice| heard(voice))
            else {
                return;
            };
            voice.fade(sample_rate_hz);
        }
    }

    /// Gives a voice a place: a free one, or that of the voice that is heard least.
    pub(super) fn place(&mut self, voice: Voice) {
        let free = self.octets.iter().position(|octet| octet.count < LANES);
        let quietest = |octets: &[Octet]| {
            let places = octets.iter().enumerate().filter_map(|(number, octet)| {
                octet.voices.iter().flatten().map(heard).min().map(|heard| (heard, number))
            });
            places.min().map_or(0, |(_, number)| number)
        };
        let number = free.unwrap_or_else(|| quietest(&self.octets));
        let Octet { group, voices, count } = &mut self.octets[number];
        let lane = voices.iter().position(Option::is_none).unwrap_or_else(|| {
            let lanes = voices.iter().enumerate();
            lanes.min_by_key(|(_, voice)| voice.as_ref().map(heard)).map_or(0, |(lane, _)| lane)
        });
        if voices[lane].is_none() {
            *count += 1;
        }
        group.start_lane(lane, voice.coefficients());
        voices[lane] = Some(voice);
    }

    /// Ties the stereo samples of one note: the left side sounds at the pitch of the right one
    /// (section 7.10).
    pub(super) fn tie_stereo(&mut self, serial: u64, around: Surroundings<'_>) {
        let samples = around.bank.samples();
        let is_left = |voice: &Voice| samples.get(voice.sample).is_some_and(|s| s.kind & LEFT_SAMPLE != 0);
        for number in 0..self.octets.len() {
            for lane in 0..LANES {
                let Some(left) = self.octets[number].voices[lane].as_ref() else { continue };
                if left.serial != serial || !is_left(left) {
                    continue;
                }
                let link = usize::from(samples[left.sample].link);
                let is_right = |voice: &&Voice| voice.sample == link && voice.is_layer_of(left);
                let pitch = self.iter().find(is_right).map(Voice::pitch);
                if let (Some(pitch), Some(left)) = (pitch, &mut self.octets[number].voices[lane]) {
                    left.set_pitch(pitch);
                    left.follow(around);
                }
            }
        }
    }

    /// Adds the next frames of all voices, at most a chunk of them, to the mix.
    pub(super) fn add(&mut self, bank: &Bank, kernel: &Kernel, frames: usize, mix: &mut Mix) {
        let waves = bank.waves();
        for octet in self.octets.iter_mut().filter(|octet| !octet.is_empty()) {
            for (voice, chunk) in octet.voices.iter_mut().zip(&mut self.chunks) {
                let Some(voice) = voice else { continue };
                match waves.of(voice.sample).filter(|_| !voice.waits()) {
                    Some(wave) => {
                        let out = &mut chunk[..frames];
                        voice.playback.read(wave, kernel, &mut self.scratch, out);
                        voice.playback.prefetch(wave);
                    }
                    None => chunk[..frames].fill(0.0),
                }
            }
            let lanes = octet.voices.iter().rposition(Option::is_some).map_or(0, |lane| lane + 1);
            group::filter(&mut octet.group, &mut self.chunks, lanes, frames);
            for (voice, chunk) in octet.voices.iter_mut().zip(&self.chunks) {
                if let Some(voice) = voice {
                    ramp::add(&mut voice.ramps, chunk, frames, mix);
                }
            }
        }
    }
}

/// Order in which voices are missed least: fading ones, released ones, then quiet ones, then
/// old ones.
fn heard(voice: &Voice) -> (bool, bool, i32, u64) {
    (!voice.fading, !voice.released, -(voice.attenuation_cb() as i32), voice.serial)
}
