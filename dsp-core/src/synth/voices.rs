//! The places of a synthesizer's voices, in groups that are computed together.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::interpolation::{CHUNK_FRAMES, Chunk, Kernel};
use super::lockstep::{self, PAIR, PAIRS};
use super::playback::Scratch;
use super::ramp::{self, Offset};
use super::voice::{Surroundings, Voice};
use crate::session::{Sounding, TRACK_OUTPUTS};
use crate::soundfont::Bank;

/// Places of a group.
pub(super) const GROUP: usize = 16;

/// Places beyond the polyphony, for voices that are on their way out.
const SPARE_PLACES: usize = 4 * GROUP;

/// How long a voice is spared that has just begun, in seconds: what is struck now is missed most,
/// however soft.
const SPARED_SECS: f32 = 0.05;

const SILENT_CHUNK: Chunk = [0.0; CHUNK_FRAMES];

/// Bit of a sample's type: the left side of a stereo pair (section 7.10).
const LEFT_SAMPLE: u16 = 4;

/// Places whose voices are computed together.
struct Group {
    /// The first `count` of them are taken.
    voices: [Option<Voice>; GROUP],
    count: usize,
}

impl Group {
    const EMPTY: Self = Self { voices: [const { None }; GROUP], count: 0 };

    fn iter(&self) -> impl Iterator<Item = &Voice> {
        self.voices[..self.count].iter().flatten()
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut Voice> {
        self.voices[..self.count].iter_mut().flatten()
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn is_full(&self) -> bool {
        self.count == GROUP
    }

    /// Fills the chunks of its voices, each in the lane that the voice says, with the next frames.
    fn fill(
        &mut self,
        bank: &Bank,
        kernel: &Kernel,
        chunks: &mut [Chunk; GROUP],
        scratch: &mut Scratch,
        frames: usize,
    ) {
        let waves = bank.waves();
        // Chunks of voices that are filtered come first.
        let (mut filtered, mut open, mut moving) = (0, GROUP, [false; PAIRS]);
        for voice in self.iter_mut() {
            let is_open = voice.filter_is_open();
            voice.lane = if is_open { open - 1 } else { filtered };
            let out = &mut chunks[voice.lane][..frames];
            match waves.of(voice.sample).filter(|_| !voice.waits()) {
                Some(wave) => {
                    voice.playback.read(wave, kernel, scratch, out);
                    voice.playback.prefetch(wave);
                }
                None => out.fill(0.0),
            }
            if is_open {
                voice.filter.remember(out);
                open -= 1;
            } else {
                moving[filtered / PAIR] |= voice.filter_moves();
                filtered += 1;
            }
        }
        if filtered > 0 {
            let own = self.iter_mut().filter(|voice| !voice.filter_is_open()).map(|voice| &mut voice.filter);
            let mut filters = [const { None }; GROUP];
            own.zip(&mut filters).for_each(|(own, filter)| *filter = Some(own));
            lockstep::filter(&mut filters, chunks, filtered, moving, frames);
        }
    }

    /// Lets go of the voices that do not stay; the last ones take their places.
    fn retain(&mut self, mut stays: impl FnMut(&mut Voice) -> bool) {
        let mut place = 0;
        while place < self.count {
            if self.voices[place].as_mut().is_some_and(&mut stays) {
                place += 1;
            } else {
                self.count -= 1;
                self.voices.swap(place, self.count);
                self.voices[self.count] = None;
            }
        }
    }

    /// Takes a voice, in the place of the quietest if none is free.
    fn place(&mut self, voice: Voice) {
        let quietest = || {
            let places = self.iter().enumerate();
            places.min_by_key(|(_, voice)| loudness(voice)).map_or(0, |(place, _)| place)
        };
        let place = if self.is_full() { quietest() } else { self.count };
        self.count = self.count.max(place + 1);
        self.voices[place] = Some(voice);
    }
}

/// All voices of a synthesizer. The places are made once; voices come and go.
pub(super) struct Voices {
    groups: Vec<Group>,
    /// How many groups from the first on may have voices: looking at all of them takes long.
    used: usize,
    polyphony: usize,
    /// Frames since all voices were aimed.
    passed: u32,
    chunks: [Chunk; GROUP],
    scratch: Box<Scratch>,
}

impl Voices {
    pub(super) fn new(polyphony: usize) -> Self {
        let groups = (polyphony + SPARE_PLACES).div_ceil(GROUP);
        Self {
            groups: (0..groups).map(|_| Group::EMPTY).collect(),
            used: 0,
            polyphony,
            passed: 0,
            chunks: [SILENT_CHUNK; GROUP],
            scratch: Box::new(Scratch::NEW),
        }
    }

    /// Bytes of `polyphony` voices.
    pub(super) fn memory_bytes(polyphony: usize) -> u64 {
        let groups = (polyphony + SPARE_PLACES).div_ceil(GROUP);
        (groups * size_of::<Group>() + size_of::<Scratch>()) as u64
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Voice> {
        self.groups[..self.used].iter().flat_map(Group::iter)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Voice> {
        self.groups[..self.used].iter_mut().flat_map(Group::iter_mut)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Ends all voices without a fade.
    pub(super) fn clear(&mut self) {
        self.groups[..self.used].iter_mut().for_each(|group| group.retain(|_| false));
        self.used = 0;
    }

    /// Aims voices: `aim` gets each, and where it stands in the count of frames, which begins anew
    /// if `aims_all`; it says which voices stay. The others are let go.
    pub(super) fn aim(&mut self, aims_all: bool, mut aim: impl FnMut(&mut Voice, Offset) -> bool) {
        let offset = Offset { passed: self.passed, restarts: aims_all };
        if aims_all {
            self.passed = 0;
        }
        let groups = &mut self.groups[..self.used];
        groups.iter_mut().for_each(|group| group.retain(|voice| aim(voice, offset)));
        self.used = groups.iter().rposition(|group| !group.is_empty()).map_or(0, |last| last + 1);
    }

    /// Most voices that sound at a time.
    pub(super) fn polyphony(&self) -> usize {
        self.polyphony
    }

    /// Makes room for `count` voices: those that are missed least fade; what has not been heard yet
    /// goes at once. All voices must have caught up.
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
        for group in &mut self.groups[..self.used] {
            group.retain(|voice| !(voice.fading && voice.begins_at(clock)));
        }
    }

    /// Gives a voice a place: a free one, or that of the quietest of those that fade.
    pub(super) fn place(&mut self, voice: Voice) {
        let free = self.groups.iter().position(|group| !group.is_full());
        let number = free.unwrap_or_else(|| {
            let groups = self.groups.iter().enumerate();
            let quietest = groups.filter_map(|(number, group)| {
                group.iter().map(loudness).min().map(|quietest| (quietest, number))
            });
            quietest.min().map_or(0, |(_, number)| number)
        });
        self.used = self.used.max(number + 1);
        self.groups[number].place(voice);
    }

    /// Ties the stereo samples of one note: the left side sounds at the pitch of the right one
    /// (section 7.10).
    pub(super) fn tie_stereo(&mut self, serial: u64, around: Surroundings<'_>) {
        let samples = around.bank.samples();
        let is_left = |voice: &Voice| samples.get(voice.sample).is_some_and(|s| s.kind & LEFT_SAMPLE != 0);
        for number in 0..self.used {
            for place in 0..self.groups[number].count {
                let Some(left) = self.groups[number].voices[place].as_ref() else { continue };
                if left.serial != serial || !is_left(left) {
                    continue;
                }
                let link = usize::from(samples[left.sample].link);
                let is_right = |voice: &&Voice| voice.sample == link && voice.is_layer_of(left);
                let pitch = self.iter().find(is_right).map(Voice::pitch);
                if let (Some(pitch), Some(left)) = (pitch, &mut self.groups[number].voices[place]) {
                    left.set_pitch(pitch);
                    left.follow(around);
                }
            }
        }
    }

    /// Fills the outputs, which all have the same length, with the next frames of all voices, at
    /// most a chunk of them, and says which outputs it has filled; nothing is heard on the others.
    pub(super) fn render(
        &mut self,
        bank: &Bank,
        kernel: &Kernel,
        outputs: &mut [&mut [f32]; TRACK_OUTPUTS],
    ) -> Sounding {
        let frames = outputs[0].len();
        let mut written = [false; TRACK_OUTPUTS];
        for group in self.groups[..self.used].iter_mut().filter(|group| !group.is_empty()) {
            group.fill(bank, kernel, &mut self.chunks, &mut self.scratch, frames);
            ramp::add(&group.voices[..group.count], &self.chunks, self.passed, outputs, &mut written);
        }
        self.passed += frames as u32;
        written
    }

    /// Lets the next frames pass unheard, at most a chunk of them; filters remember them.
    pub(super) fn filter(&mut self, bank: &Bank, kernel: &Kernel, frames: usize) {
        for group in self.groups[..self.used].iter_mut().filter(|group| !group.is_empty()) {
            group.fill(bank, kernel, &mut self.chunks, &mut self.scratch, frames);
        }
        self.passed += frames as u32;
    }

    /// Lets voices rise from silence. They must be under way, or about to be aimed.
    pub(super) fn rise(&mut self, clock: u64, sample_rate_hz: f32) {
        let passed = self.passed;
        self.iter_mut().for_each(|voice| voice.rise(clock, passed, sample_rate_hz));
    }

    /// Lets the next frames pass unheard, as many as there are until voices are aimed; filters do
    /// not know of them.
    pub(super) fn skip(&mut self, bank: &Bank, frames: usize) {
        let waves = bank.waves();
        for voice in self.iter_mut() {
            if !voice.waits() && waves.of(voice.sample).is_some() {
                voice.playback.advance(frames);
            }
            if voice.filter_moves() {
                voice.filter.skip(frames as f32);
            }
        }
        self.passed += frames as u32;
    }
}

/// Order in which voices are missed least: released ones before held ones, quiet ones before loud
/// ones, old ones before new ones; the last of all are those that began less than so many frames
/// ago.
fn missed(voice: &Voice, clock: u64, spared_frames: u64) -> (bool, bool, i32, u64) {
    let is_spared = voice.age_frames(clock) < spared_frames;
    (is_spared, !voice.released, -(voice.attenuation_cb() as i32), voice.serial)
}

/// Order in which voices leave their places without a fade.
fn loudness(voice: &Voice) -> (bool, i32, u64) {
    (!voice.fading, -(voice.attenuation_cb() as i32), voice.serial)
}
