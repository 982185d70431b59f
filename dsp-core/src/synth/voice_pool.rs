//! The voices of a synthesizer, in groups of 16 that are rendered together.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::chunk::{CHUNK_FRAMES, Chunk, GROUP_VOICES};
use super::filter_bank::{self, QUAD_PAIR, QUAD_PAIRS};
use super::gain_ramps::RampClock;
use super::interpolation::Kernel;
use super::sample_reader::ReadBuffer;
use super::voice::{Voice, VoiceContext};
use super::voice_mix;
use crate::block::{ActiveOutputs, TRACK_OUTPUTS};
use crate::soundfont::Bank;

/// Number of slots in addition to the polyphony, for voices that fade out.
const SPARE_SLOTS: usize = 4 * GROUP_VOICES;

/// Time after its start in which a voice is stolen only if there are no older voices, in seconds.
/// The loss of a new note is the most audible, even of a soft one.
const PROTECTED_SECS: f32 = 0.05;

const SILENT_CHUNK: Chunk = [0.0; CHUNK_FRAMES];

/// Flag in the type of a sample that is the left channel of a stereo pair (section 7.10).
const LEFT_SAMPLE: u16 = 4;

/// Slots whose voices are rendered together.
struct VoiceGroup {
    /// The first `count` slots hold voices.
    slots: [Option<Voice>; GROUP_VOICES],
    count: usize,
}

impl VoiceGroup {
    const EMPTY: Self = Self { slots: [const { None }; GROUP_VOICES], count: 0 };

    fn iter(&self) -> impl Iterator<Item = &Voice> {
        self.slots[..self.count].iter().flatten()
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut Voice> {
        self.slots[..self.count].iter_mut().flatten()
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn is_full(&self) -> bool {
        self.count == GROUP_VOICES
    }

    /// Renders the next frames of each voice into a chunk. The voice stores the index of its chunk.
    fn render(
        &mut self,
        bank: &Bank,
        kernel: &Kernel,
        chunks: &mut [Chunk; GROUP_VOICES],
        buffer: &mut ReadBuffer,
        frames: usize,
    ) {
        let waves = bank.waves();
        // Voices whose filter is active use the first chunks. Voices with an open filter use the
        // last chunks.
        let (mut filtered_voices, mut open_from, mut ramping) = (0, GROUP_VOICES, [false; QUAD_PAIRS]);
        for voice in self.iter_mut() {
            let is_open = voice.is_filter_open();
            voice.chunk_index = if is_open { open_from - 1 } else { filtered_voices };
            let output = &mut chunks[voice.chunk_index][..frames];
            match waves.get(voice.sample).filter(|_| !voice.is_in_delay()) {
                Some(wave) => {
                    voice.reader.read(wave, kernel, buffer, output);
                    voice.reader.prefetch(wave);
                }
                None => output.fill(0.0),
            }
            if is_open {
                voice.filter.bypass(output);
                open_from -= 1;
            } else {
                ramping[filtered_voices / QUAD_PAIR] |= voice.is_filter_ramping();
                filtered_voices += 1;
            }
        }
        if filtered_voices > 0 {
            let voices = self.iter_mut().filter(|voice| !voice.is_filter_open());
            let mut filters = [const { None }; GROUP_VOICES];
            voices.zip(&mut filters).for_each(|(voice, filter)| *filter = Some(&mut voice.filter));
            filter_bank::filter(&mut filters, chunks, filtered_voices, ramping, frames);
        }
    }

    /// Removes the voices for which `predicate` returns false. The last voices move into their
    /// slots.
    fn retain(&mut self, mut predicate: impl FnMut(&mut Voice) -> bool) {
        let mut index = 0;
        while index < self.count {
            if self.slots[index].as_mut().is_some_and(&mut predicate) {
                index += 1;
            } else {
                self.count -= 1;
                self.slots.swap(index, self.count);
                self.slots[self.count] = None;
            }
        }
    }

    /// Inserts a voice. If all slots are in use, it replaces the quietest voice.
    fn insert(&mut self, voice: Voice) {
        let quietest = || {
            let voices = self.iter().enumerate();
            voices.min_by_key(|(_, voice)| replacement_order(voice)).map_or(0, |(index, _)| index)
        };
        let index = if self.is_full() { quietest() } else { self.count };
        self.count = self.count.max(index + 1);
        self.slots[index] = Some(voice);
    }
}

/// All voices of a synthesizer. The slots are allocated when the pool is created.
pub(super) struct VoicePool {
    groups: Vec<VoiceGroup>,
    /// Number of groups that may hold voices. They are the first ones in `groups`.
    used_groups: usize,
    polyphony: usize,
    /// Time of the ramp clock: number of frames since all voices last got new ramp targets
    /// together.
    elapsed_frames: u32,
    chunks: [Chunk; GROUP_VOICES],
    buffer: Box<ReadBuffer>,
}

impl VoicePool {
    pub(super) fn new(polyphony: usize) -> Self {
        let groups = (polyphony + SPARE_SLOTS).div_ceil(GROUP_VOICES);
        Self {
            groups: (0..groups).map(|_| VoiceGroup::EMPTY).collect(),
            used_groups: 0,
            polyphony,
            elapsed_frames: 0,
            chunks: [SILENT_CHUNK; GROUP_VOICES],
            buffer: Box::new(ReadBuffer::NEW),
        }
    }

    /// Returns the memory of a pool of `polyphony` voices in bytes.
    pub(super) fn memory_bytes(polyphony: usize) -> u64 {
        let groups = (polyphony + SPARE_SLOTS).div_ceil(GROUP_VOICES);
        (groups * size_of::<VoiceGroup>() + size_of::<ReadBuffer>()) as u64
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Voice> {
        self.groups[..self.used_groups].iter().flat_map(VoiceGroup::iter)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Voice> {
        self.groups[..self.used_groups].iter_mut().flat_map(VoiceGroup::iter_mut)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.used_groups == 0
    }

    /// Removes all voices without a fade-out.
    pub(super) fn clear(&mut self) {
        self.groups[..self.used_groups].iter_mut().for_each(|group| group.retain(|_| false));
        self.used_groups = 0;
    }

    /// Calls `update` with each voice and the ramp clock. Removes the voices for which `update`
    /// returns false. If `restarts_clock` is true, `update` must set new ramp targets for every
    /// voice.
    pub(super) fn update(
        &mut self,
        restarts_clock: bool,
        mut update: impl FnMut(&mut Voice, RampClock) -> bool,
    ) {
        let clock = RampClock { elapsed_frames: self.elapsed_frames, is_restarting: restarts_clock };
        if restarts_clock {
            self.elapsed_frames = 0;
        }
        let groups = &mut self.groups[..self.used_groups];
        groups.iter_mut().for_each(|group| group.retain(|voice| update(voice, clock)));
        self.used_groups = groups.iter().rposition(|group| !group.is_empty()).map_or(0, |last| last + 1);
    }

    /// Returns the maximum number of voices, not counting those that fade out.
    pub(super) fn polyphony(&self) -> usize {
        self.polyphony
    }

    /// Steals voices until `count` new voices can start. The least audible voices fade out. Stolen
    /// voices that would start at this frame are removed. [`Voice::advance_to`] must have been
    /// called for all voices and this clock.
    pub(super) fn steal_voices(&mut self, count: usize, clock: u64, sample_rate_hz: f32) {
        let active_count = self.iter().filter(|voice| !voice.is_fading).count();
        let protected_frames = (PROTECTED_SECS * sample_rate_hz) as u64;
        for _ in 0..(active_count + count).saturating_sub(self.polyphony) {
            let active_voices = self.iter_mut().filter(|voice| !voice.is_fading);
            let Some(voice) = active_voices.min_by_key(|voice| steal_order(voice, clock, protected_frames))
            else {
                return;
            };
            voice.fade_out(sample_rate_hz);
        }
        for group in &mut self.groups[..self.used_groups] {
            group.retain(|voice| !(voice.is_fading && voice.starts_at(clock)));
        }
    }

    /// Inserts a voice into a free slot, or replaces the quietest voice that fades out.
    pub(super) fn insert(&mut self, voice: Voice) {
        let free_group = self.groups.iter().position(|group| !group.is_full());
        let index = free_group.unwrap_or_else(|| {
            let groups = self.groups.iter().enumerate();
            let quietest = groups.filter_map(|(index, group)| {
                group.iter().map(replacement_order).min().map(|quietest| (quietest, index))
            });
            quietest.min().map_or(0, |(_, index)| index)
        });
        self.used_groups = self.used_groups.max(index + 1);
        self.groups[index].insert(voice);
    }

    /// Tunes the left channel of each stereo pair of a note like the right channel (section 7.10).
    pub(super) fn link_stereo_pairs(&mut self, note_id: u64, context: VoiceContext<'_>) {
        let samples = context.bank.samples();
        let is_left = |voice: &Voice| samples.get(voice.sample).is_some_and(|s| s.kind & LEFT_SAMPLE != 0);
        for group in 0..self.used_groups {
            for slot in 0..self.groups[group].count {
                let Some(left) = self.groups[group].slots[slot].as_ref() else { continue };
                if left.note_id != note_id || !is_left(left) {
                    continue;
                }
                let link = usize::from(samples[left.sample].link);
                let is_right = |voice: &&Voice| voice.sample == link && voice.is_same_layer(left);
                let tuning = self.iter().find(is_right).map(Voice::tuning);
                if let (Some(tuning), Some(left)) = (tuning, &mut self.groups[group].slots[slot]) {
                    left.set_tuning(tuning);
                    left.update_params(context);
                }
            }
        }
    }

    /// Renders the next frames of all voices, at most [`CHUNK_FRAMES`]. All outputs have the same
    /// length. Returns which outputs were written. Outputs that were not written are silent.
    pub(super) fn render(
        &mut self,
        bank: &Bank,
        kernel: &Kernel,
        outputs: &mut [&mut [f32]; TRACK_OUTPUTS],
    ) -> ActiveOutputs {
        let frames = outputs[0].len();
        let mut written_outputs = [false; TRACK_OUTPUTS];
        for group in self.groups[..self.used_groups].iter_mut().filter(|group| !group.is_empty()) {
            group.render(bank, kernel, &mut self.chunks, &mut self.buffer, frames);
            let voices = &group.slots[..group.count];
            voice_mix::mix_voices(voices, &self.chunks, self.elapsed_frames, outputs, &mut written_outputs);
        }
        self.elapsed_frames += frames as u32;
        written_outputs
    }

    /// Advances by at most [`CHUNK_FRAMES`] frames without output. The filters process the samples.
    pub(super) fn skip_with_filters(&mut self, bank: &Bank, kernel: &Kernel, frames: usize) {
        for group in self.groups[..self.used_groups].iter_mut().filter(|group| !group.is_empty()) {
            group.render(bank, kernel, &mut self.chunks, &mut self.buffer, frames);
        }
        self.elapsed_frames += frames as u32;
    }

    /// Advances without output, at most to the next control point. The filters do not process the
    /// samples.
    pub(super) fn skip(&mut self, bank: &Bank, frames: usize) {
        let waves = bank.waves();
        for voice in self.iter_mut() {
            if !voice.is_in_delay() && waves.get(voice.sample).is_some() {
                voice.reader.advance(frames);
            }
            if voice.is_filter_ramping() {
                voice.filter.skip(frames as f32);
            }
        }
        self.elapsed_frames += frames as u32;
    }

    /// Fades all voices in from silence.
    pub(super) fn fade_in(&mut self, clock: u64, sample_rate_hz: f32) {
        let elapsed_frames = self.elapsed_frames;
        self.iter_mut().for_each(|voice| voice.fade_in(clock, elapsed_frames, sample_rate_hz));
    }
}

/// Returns a sort key. Voices with lower keys are stolen first: released before held, quiet before
/// loud, old before new. Voices that started less than `protected_frames` ago are last.
fn steal_order(voice: &Voice, clock: u64, protected_frames: u64) -> (bool, bool, i32, u64) {
    let is_protected = voice.age_frames(clock) < protected_frames;
    (is_protected, !voice.is_released, -(voice.attenuation_cb() as i32), voice.note_id)
}

/// Returns a sort key. Voices with lower keys are replaced first, without a fade-out: those that
/// already fade out before others, quiet before loud, old before new.
fn replacement_order(voice: &Voice) -> (bool, i32, u64) {
    (!voice.is_fading, -(voice.attenuation_cb() as i32), voice.note_id)
}
