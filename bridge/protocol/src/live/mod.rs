//! Blocks that a plugin processes in real time, in memory that the service and the helper share.
//!
//! The service posts a block: it writes the input, the position, the changes of parameters and the
//! MIDI events, then the number of the block, and a byte on a socket. The helper processes the posted blocks in
//! order, writes each output and then the number of the block, and a byte on another socket. A byte
//! that does not fit is left out, because those before it wake the reader. The reader reads the
//! bytes before the number. When the service closes its ends, the helper processes no blocks any
//! more. Neither waits for the other in the memory, and neither trusts it: all values are read as
//! plain numbers, and counts are limited by their reader.

mod event;
mod memory;

pub use memory::LiveMemory;

use std::sync::atomic::{AtomicU32, Ordering};

use crate::host::{Event, ParameterValue, Transport};
use event::{EVENT_WORDS, read_event, write_event};

/// Number of frames of a block.
pub const LIVE_FRAMES: usize = 256;

/// Number of channels of a block.
pub const LIVE_CHANNELS: usize = 2;

/// Maximum number of blocks that wait for their answer.
pub const LIVE_BLOCKS: u32 = 8;

/// Maximum number of changes of parameters with one block.
pub const LIVE_CHANGES_MAX: usize = 64;

/// Maximum number of MIDI events in one block. Plugins built with DPF drop events beyond 512.
pub const LIVE_EVENTS_MAX: usize = 256;

// Indices of 32-bit words. Numbers of 64 bits have two words, the lower half first.
const POSTED: usize = 0;
const ANSWERED: usize = 1;
const FIRST_BLOCK: usize = 2;

// Indices within a block.
const TEMPO: usize = 0;
const FRAME: usize = 2;
const QUARTERS: usize = 4;
const BAR_START: usize = 6;
const CHANGE_COUNT: usize = 8;
const CHANGES: usize = 9;
const CHANGE_WORDS: usize = 3;
const EVENT_COUNT: usize = CHANGES + LIVE_CHANGES_MAX * CHANGE_WORDS;
const EVENTS: usize = EVENT_COUNT + 1;
const INPUT: usize = EVENTS + LIVE_EVENTS_MAX * EVENT_WORDS;
const OUTPUT: usize = INPUT + LIVE_CHANNELS * LIVE_FRAMES;
const LATENCY: usize = OUTPUT + LIVE_CHANNELS * LIVE_FRAMES;
const NON_FINITE: usize = LATENCY + 1;
const BLOCK_WORDS: usize = NON_FINITE + 1;

/// Number of bytes of the memory.
pub const LIVE_MEMORY_BYTES: usize = size_of::<u32>() * (FIRST_BLOCK + LIVE_BLOCKS as usize * BLOCK_WORDS);

/// The content of a block besides its audio.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveControl {
    /// Position of the first frame.
    pub transport: Transport,
    /// Values that parameters have from the first frame on.
    pub changes: Vec<ParameterValue>,
    /// MIDI events in ascending order of their frames, without ids of notes.
    pub events: Vec<Event>,
}

/// A block of left and right.
pub type LiveAudio = [[f32; LIVE_FRAMES]; LIVE_CHANNELS];

/// Properties of an answered block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LiveAnswer {
    /// Latency of the plugin after the block, in frames.
    pub latency_frames: u32,
    /// Number of output samples that were infinite or not a number. They are replaced by 0.
    pub non_finite_samples: u32,
}

impl LiveMemory {
    /// Writes block number `number` and then posts it. Blocks are numbered from 1 on, and at most
    /// [`LIVE_BLOCKS`] wait for an answer. Changes beyond [`LIVE_CHANGES_MAX`] and events beyond
    /// [`LIVE_EVENTS_MAX`] are left out.
    pub fn post(&self, number: u32, control: &LiveControl, input: &LiveAudio) {
        let block = self.block(number);
        let LiveControl { transport, changes, events } = control;
        write_64(block, TEMPO, transport.tempo_bpm.to_bits());
        write_64(block, FRAME, transport.position_frames.cast_unsigned());
        write_64(block, QUARTERS, transport.position_quarters.to_bits());
        write_64(block, BAR_START, transport.bar_start_quarters.to_bits());
        let changes = &changes[..changes.len().min(LIVE_CHANGES_MAX)];
        block[CHANGE_COUNT].store(changes.len() as u32, Ordering::Relaxed);
        for (index, change) in changes.iter().enumerate() {
            let start = CHANGES + index * CHANGE_WORDS;
            block[start].store(change.id, Ordering::Relaxed);
            write_64(block, start + 1, change.value.to_bits());
        }
        let mut count = 0;
        for event in events.iter().take(LIVE_EVENTS_MAX) {
            count += usize::from(write_event(&block[EVENTS + count * EVENT_WORDS..], event));
        }
        block[EVENT_COUNT].store(count as u32, Ordering::Relaxed);
        write_audio(&block[INPUT..OUTPUT], input);
        self.words()[POSTED].store(number, Ordering::Release);
    }

    /// Returns the number of the last posted block; 0 if there is none.
    #[must_use]
    pub fn posted(&self) -> u32 {
        self.words()[POSTED].load(Ordering::Acquire)
    }

    /// Reads a posted block. Replaces the content of `control` and `input`.
    pub fn read(&self, number: u32, control: &mut LiveControl, input: &mut LiveAudio) {
        let block = self.block(number);
        let count = (block[CHANGE_COUNT].load(Ordering::Relaxed) as usize).min(LIVE_CHANGES_MAX);
        control.changes.clear();
        control.changes.extend((0..count).map(|index| {
            let start = CHANGES + index * CHANGE_WORDS;
            let id = block[start].load(Ordering::Relaxed);
            ParameterValue { id, value: f64::from_bits(read_64(block, start + 1)) }
        }));
        let count = (block[EVENT_COUNT].load(Ordering::Relaxed) as usize).min(LIVE_EVENTS_MAX);
        control.events.clear();
        let event = |index| read_event(&block[EVENTS + index * EVENT_WORDS..]);
        control.events.extend((0..count).filter_map(event));
        read_audio(&block[INPUT..OUTPUT], input);
        control.transport = Transport {
            tempo_bpm: f64::from_bits(read_64(block, TEMPO)),
            position_frames: read_64(block, FRAME).cast_signed(),
            position_quarters: f64::from_bits(read_64(block, QUARTERS)),
            bar_start_quarters: f64::from_bits(read_64(block, BAR_START)),
            ..Transport::default()
        };
    }

    /// Writes the output of a block and then marks it as answered.
    pub fn answer(&self, number: u32, output: &LiveAudio, answer: LiveAnswer) {
        let block = self.block(number);
        write_audio(&block[OUTPUT..LATENCY], output);
        block[LATENCY].store(answer.latency_frames, Ordering::Relaxed);
        block[NON_FINITE].store(answer.non_finite_samples, Ordering::Relaxed);
        self.words()[ANSWERED].store(number, Ordering::Release);
    }

    /// Returns the number of the last answered block; 0 if there is none.
    #[must_use]
    pub fn answered(&self) -> u32 {
        self.words()[ANSWERED].load(Ordering::Acquire)
    }

    /// Reads the output of an answered block.
    pub fn read_answer(&self, number: u32, output: &mut LiveAudio) -> LiveAnswer {
        let block = self.block(number);
        read_audio(&block[OUTPUT..LATENCY], output);
        LiveAnswer {
            latency_frames: block[LATENCY].load(Ordering::Relaxed),
            non_finite_samples: block[NON_FINITE].load(Ordering::Relaxed),
        }
    }

    fn block(&self, number: u32) -> &[AtomicU32] {
        let start = FIRST_BLOCK + (number % LIVE_BLOCKS) as usize * BLOCK_WORDS;
        &self.words()[start..start + BLOCK_WORDS]
    }
}

fn write_64(words: &[AtomicU32], index: usize, value: u64) {
    words[index].store(value as u32, Ordering::Relaxed);
    words[index + 1].store((value >> 32) as u32, Ordering::Relaxed);
}

fn read_64(words: &[AtomicU32], index: usize) -> u64 {
    let half = |index: usize| u64::from(words[index].load(Ordering::Relaxed));
    half(index) | half(index + 1) << 32
}

fn write_audio(words: &[AtomicU32], audio: &LiveAudio) {
    for (word, sample) in words.iter().zip(audio.as_flattened()) {
        word.store(sample.to_bits(), Ordering::Relaxed);
    }
}

fn read_audio(words: &[AtomicU32], audio: &mut LiveAudio) {
    for (word, sample) in words.iter().zip(audio.as_flattened_mut()) {
        *sample = f32::from_bits(word.load(Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::EventKind;

    #[test]
    fn two_mappings_of_a_file_exchange_blocks() {
        let path = std::env::temp_dir().join(format!("songfoundry-live-{}", std::process::id()));
        let open_memory =
            || std::fs::File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open_memory().expect("a file");
        assert!(LiveMemory::map(&file).is_err(), "an empty file is too short");
        file.set_len(LIVE_MEMORY_BYTES as u64).expect("a length");
        let service = LiveMemory::map(&file).expect("maps");
        let helper = LiveMemory::map(&open_memory().expect("a file")).expect("maps");
        std::fs::remove_file(&path).expect("removes");
        let mut input = [[0.0; LIVE_FRAMES]; LIVE_CHANNELS];
        (input[0][0], input[1][LIVE_FRAMES - 1]) = (0.5, f32::MIN_POSITIVE);
        let kind = EventKind::Controller { channel: 1, controller: 7, value: 100 };
        let mut control = LiveControl {
            transport: Transport {
                tempo_bpm: 90.5,
                position_frames: -3,
                position_quarters: 7.25,
                bar_start_quarters: 4.0,
                ..Transport::default()
            },
            changes: vec![ParameterValue { id: 7, value: 0.1 }; LIVE_CHANGES_MAX + 1],
            events: vec![Event { frame: 255, kind }; LIVE_EVENTS_MAX + 1],
        };
        for number in 1..=2 * LIVE_BLOCKS {
            service.post(number, &control, &input);
            control.changes.truncate(LIVE_CHANGES_MAX);
            control.events.truncate(LIVE_EVENTS_MAX);
            assert_eq!((helper.posted(), service.answered()), (number, number - 1));
            let (mut read, mut read_input) = (LiveControl::default(), [[1.0; LIVE_FRAMES]; LIVE_CHANNELS]);
            helper.read(number, &mut read, &mut read_input);
            assert_eq!((&read, read_input), (&control, input));
            input[0][1] = number as f32;
            let answer = LiveAnswer { latency_frames: number, non_finite_samples: 2 };
            helper.answer(number, &input, answer);
            let mut output = [[0.0; LIVE_FRAMES]; LIVE_CHANNELS];
            assert_eq!(service.read_answer(number, &mut output), answer);
            assert_eq!((service.answered(), output), (number, input));
        }
    }
}
