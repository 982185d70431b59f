//! The places of a synthesizer's voices, eight to an octet.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::interpolation::{CHUNK_FRAMES, Chunk, Kernel};
use super::lanes::LANES;
use super::lockstep;
use super::playback::Scratch;
use super::ramp::{self, Offset};
use super::voice::{Surroundings, Voice};
use crate::session::{Sounding, TRACK_OUTPUTS};
use crate::soundfont::Bank;

/// Places beyond the polyphony, for voices that are on their way out.
const SPARE_PLACES: usize = 8 * LANES;

/// How long a voice is spared that has just begun, in seconds: what is struck now is missed most, however soft.
const SPARED_SECS: f32 = 0.05;

const SILENT_CHUNK: Chunk = [0.0; CHUNK_FRAMES];

/// Bit of a sample's type: the left side of a stereo pair (section 7.10).
const LEFT_SAMPLE: u16 = 4;

/// Eight places, whose voices are computed together.
struct Octet {
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
    /// How many octets from the first on may have voices: looking at all of them takes long.
    used: usize,
    polyphony: usize,
    /// Frames since all voices were aimed.
    passed: u32,
    chunks: [Chunk; LANES],
    scratch: Box<Scratch>,
}

impl Voices {
    pub(super) fn new(polyphony: usize) -> Self {
        let octets = (polyphony + SPARE_PLACES).div_ceil(LANES);
        let empty = || Octet { voices: [const { None }; LANES], count: 0 };
        Self {
            octets: (0..octets).map(|_| empty()).collect(),
            used: 0,
            polyphony,
            passed: 0,
            chunks: [SILENT_CHUNK; LANES],
            scratch: Box::new(Scratch::NEW),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Voice> {
        let octets = self.octets[..self.used].iter().filter(|octet| !octet.is_empty());
        octets.flat_map(|octet| &octet.voices).flatten()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Voice> {
        let octets = self.octets[..self.used].iter_mut().filter(|octet| !octet.is_empty());
        octets.flat_map(|octet| &mut octet.voices).flatten()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Ends all voices without a fade.
    pub(super) fn clear(&mut self) {
        for octet in &mut self.octets[..self.used] {
            octet.voices = [const { None }; LANES];
            octet.count = 0;
        }
        self.used = 0;
    }

    /// Aims voices: `aim` gets each, and where it stands in the count of frames, which begins anew if `aims_all`; it
    /// says which voices stay. The others are let go.
    pub(super) fn aim(&mut self, aims_all: bool, mut aim: impl FnMut(&mut Voice, Offset) -> bool) {
        let offset = Offset { passed: self.passed, restarts: aims_all };
        if aims_all {
            self.passed = 0;
        }
        let octets = &mut self.octets[..self.used];
        for Octet { voices, count } in octets.iter_mut().filter(|octet| !octet.is_empty()) {
            for place in voices {
                let Some(voice) = place else { continue };
                if !aim(voice, offset) {
                    *place = None;
                    *count -= 1;
                }
            }
        }
        self.used = octets.iter().rposition(|octet| !octet.is_empty()).map_or(0, |last| last + 1);
    }

    /// Most voices that sound at a time.
    pub(super) fn polyphony(&self) -> usize {
        self.polyphony
    }

    /// Makes room for `count` voices: those that are missed least fade; what has not been heard yet goes at
    /// once. All voices must have caught up.
    pub(super) fn make_room(&mut self, count: usize, clock: u64, sample_rate_hz: f32) {
        let sounding = self.iter().filter(|voice| !voice.fading).count();
        let spared_frames = (SPARED_SECS * sample_rate_hz) as u64;
        for _ in 0..(sounding + count).saturating_sub(self.polyphony) {
            let sounding = self.iter_mut().filter(|voice| !voice.fading);
            let Some(voice) = sounding.min_by_key(|voice| missed(voice, clock, spared_frames)) else {
                return;
            };
            voice.fade(sample_rate_hz);
        }
        self.retain(|voice| !(voice.fading && voice.begins_at(clock)));
    }

    fn retain(&mut self, mut stays: impl FnMut(&Voice) -> bool) {
        for Octet { voices, count } in self.octets[..self.used].iter_mut().filter(|octet| !octet.is_empty()) {
            for place in voices {
                if place.as_ref().is_some_and(|voice| !stays(voice)) {
                    *place = None;
                    *count -= 1;
                }
            }
        }
    }

    /// Gives a voice a place: a free one, or that of the quietest of those that fade.
    pub(super) fn place(&mut self, voice: Voice) {
        let free = self.octets.iter().position(|octet| octet.count < LANES);
        let number = free.unwrap_or_else(|| {
            let octets = self.octets.iter().enumerate();
            let quietest = octets.filter_map(|(number, octet)| {
                octet.voices.iter().flatten().map(loudness).min().map(|loudness| (loudness, number))
            });
            quietest.min().map_or(0, |(_, number)| number)
        });
        self.used = self.used.max(number + 1);
        let Octet { voices, count } = &mut self.octets[number];
        let lane = voices.iter().position(Option::is_none).unwrap_or_else(|| {
            let lanes = voices.iter().enumerate();
            lanes.min_by_key(|(_, voice)| voice.as_ref().map(loudness)).map_or(0, |(lane, _)| lane)
        });
        if voices[lane].is_none() {
            *count += 1;
        }
        voices[lane] = Some(voice);
    }

    /// Ties the stereo samples of one note: the left side sounds at the pitch of the right one
    /// (section 7.10).
    pub(super) fn tie_stereo(&mut self, serial: u64, around: Surroundings<'_>) {
        let samples = around.bank.samples();
        let is_left = |voice: &Voice| samples.get(voice.sample).is_some_and(|s| s.kind & LEFT_SAMPLE != 0);
        for number in 0..self.used {
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

    /// Fills the outputs, which all have the same length, with the next frames of all voices, at most a
    /// chunk of them, and says which outputs it has filled; nothing is heard on the others.
    pub(super) fn render(
        &mut self,
        bank: &Bank,
        kernel: &Kernel,
        outputs: &mut [&mut [f32]; TRACK_OUTPUTS],
    ) -> Sounding {
        let waves = bank.waves();
        let frames = outputs[0].len();
        let mut written = [false; TRACK_OUTPUTS];
        for octet in self.octets[..self.used].iter_mut().filter(|octet| !octet.is_empty()) {
            // Chunks of voices that are filtered come first.
            let (mut filtered, mut open, mut moving) = (0, LANES, false);
            for voice in octet.voices.iter_mut().flatten() {
                let is_open = voice.filter_is_open();
                voice.lane = if is_open { open - 1 } else { filtered };
                let out = &mut self.chunks[voice.lane][..frames];
                match waves.of(voice.sample).filter(|_| !voice.waits()) {
                    Some(wave) => {
                        voice.playback.read(wave, kernel, &mut self.scratch, out);
                        voice.playback.prefetch(wave);
                    }
                    None => out.fill(0.0),
                }
                if is_open {
                    voice.filter.remember(out);
                    open -= 1;
                } else {
                    moving |= voice.filter_moves();
                    filtered += 1;
                }
            }
            if filtered > 0 {
                let voices = octet.voices.iter_mut().flatten();
                let mut own = voices.filter(|voice| !voice.filter_is_open()).map(|voice| &mut voice.filter);
                let mut filters = core::array::from_fn(|_| own.next());
                lockstep::filter(&mut filters, &mut self.chunks, filtered, moving, frames);
            }
            ramp::add(&octet.voices, &self.chunks, self.passed, outputs, &mut written);
        }
        self.passed += frames as u32;
        written
    }
}

/// Order in which voices are missed least: released ones before held ones, quiet ones before loud ones, old
/// ones before new ones; the last of all are those that began less than so many frames ago.
fn missed(voice: &Voice, clock: u64, spared_frames: u64) -> (bool, bool, i32, u64) {
    let is_spared = voice.age_frames(clock) < spared_frames;
    (is_spared, !voice.released, -(voice.attenuation_cb() as i32), voice.serial)
}

/// Order in which voices leave their places without a fade.
fn loudness(voice: &Voice) -> (bool, i32, u64) {
    (!voice.fading, -(voice.attenuation_cb() as i32), voice.serial)
}
