//! Synthetic recordings, which are identical on every machine.

use std::collections::HashMap;

use dsp_core::session::{Audio, AudioSlot};
use schemas::session::{MediaResolver, ResolvedAudio};

/// A recording at the sample rate of a session.
pub(super) struct Sound {
    /// The service's id of the file.
    pub(super) file_id: &'static str,
    /// Sample rate of the file in hertz. Audio items count their frames at this rate.
    pub(super) file_rate_hz: u32,
    pub(super) left: Vec<f32>,
    /// Samples of the right channel; `None` for mono.
    pub(super) right: Option<Vec<f32>>,
    /// Whether browsers stream the recording instead of loading it as a whole.
    pub(super) is_streamed: bool,
}

/// All recordings of a project.
pub(super) struct Library {
    pub(super) sounds: Vec<Sound>,
    slots: HashMap<&'static str, usize>,
}

impl Library {
    /// Creates the recordings of the documents: drums, plucked strings, a voice, and the impulse
    /// response of a room.
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        let rate_hz = sample_rate_hz as usize;
        let sound = |file_id, file_rate_hz, left, right, is_streamed| Sound {
            file_id,
            file_rate_hz,
            left,
            right,
            is_streamed,
        };
        let sounds = vec![
            sound("drums", sample_rate_hz, drums(rate_hz), None, false),
            sound("strings", sample_rate_hz, strings(rate_hz, 1), Some(strings(rate_hz, 2)), true),
            // The file has another sample rate. The samples are at the rate of the session, as in
            // the service.
            sound("voice", 32_000, voice(rate_hz, 1.0), Some(voice(rate_hz, 1.007)), true),
            sound("taps", 22_050, drums(rate_hz), None, true),
            sound("room", sample_rate_hz, room(rate_hz, 3), Some(room(rate_hz, 4)), false),
        ];
        let slots = sounds.iter().enumerate().map(|(slot, sound)| (sound.file_id, slot)).collect();
        Self { sounds, slots }
    }

    /// Returns all recordings as a whole.
    pub(super) fn whole(&self) -> Vec<Option<AudioSlot>> {
        let whole_slots =
            |sound: &Sound| Some(AudioSlot::Whole(Audio::from_channels(&sound.left, sound.right.as_deref())));
        self.sounds.iter().map(whole_slots).collect()
    }

    /// Returns the recordings as in browsers, which stream those with `is_streamed`.
    pub(super) fn streamed(&self) -> Vec<Option<AudioSlot>> {
        let mut slots = self.whole();
        for (slot, sound) in slots.iter_mut().zip(&self.sounds).filter(|(_, sound)| sound.is_streamed) {
            *slot = Some(AudioSlot::Streamed { frames: sound.left.len() as u64 });
        }
        slots
    }
}

impl MediaResolver for &Library {
    fn bank_slot(&mut self, _soundfont_id: Option<&str>) -> Option<u32> {
        Some(0)
    }

    fn audio(&mut self, server_file_id: &str) -> Option<ResolvedAudio> {
        let slot = *self.slots.get(server_file_id)?;
        let Sound { left, file_rate_hz, .. } = &self.sounds[slot];
        Some(ResolvedAudio { slot: slot as u32, frames: left.len() as u64, file_rate_hz: *file_rate_hz })
    }
}

/// Returns a generator of values between -1 and 1, a 64-bit xorshift (G. Marsaglia, "Xorshift
/// RNGs", 2003).
fn noise(seed: u64) -> impl FnMut() -> f32 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / 8_388_608.0 - 1.0
    }
}

/// Returns 2.5 seconds of decaying noise bursts, four in a second. Every fifth burst is silent.
fn drums(rate_hz: usize) -> Vec<f32> {
    let mut next = noise(7);
    let hit_frames = rate_hz / 4;
    let decay = 1.0 - 24.0 / rate_hz as f32;
    let mut level = 0.0;
    let frames = 5 * rate_hz / 2;
    let value = |frame: usize| {
        if frame.is_multiple_of(hit_frames) {
            level = [0.8, 0.1, 0.5, 0.0, 0.3][frame / hit_frames % 5];
        }
        level *= decay;
        level * next()
    };
    (0..frames).map(value).collect()
}

/// Returns four seconds of plucked strings (K. Karplus and A. Strong, "Digital Synthesis of
/// Plucked-String and Drum Timbres", 1983).
fn strings(rate_hz: usize, seed: u64) -> Vec<f32> {
    let mut next = noise(seed);
    let note_frames = 2 * rate_hz / 5;
    let mut values = Vec::with_capacity(4 * rate_hz);
    let mut delay_line: Vec<f32> = Vec::new();
    for frame in 0..4 * rate_hz {
        if frame.is_multiple_of(note_frames) {
            let pitch_hz = [110, 164, 220, 146, 330, 277][frame / note_frames % 6];
            delay_line = (0..rate_hz / pitch_hz).map(|_| 0.5 * next()).collect();
        }
        let index = frame % note_frames % delay_line.len();
        let value = delay_line[index];
        delay_line[index] = 0.498 * (value + delay_line[(index + 1) % delay_line.len()]);
        values.push(value);
    }
    values
}

/// Returns five seconds of a tone with many overtones, which fades in and out every second.
fn voice(rate_hz: usize, detune: f32) -> Vec<f32> {
    let frames = 5 * rate_hz;
    let step = 196.0 * detune / rate_hz as f32;
    let mut phase = 0.0_f32;
    let value = |frame: usize| {
        phase += step;
        phase -= if phase >= 1.0 { 1.0 } else { 0.0 };
        let envelope_phase = (frame % rate_hz) as f32 / rate_hz as f32;
        // A saw wave and its octave.
        0.7 * envelope_phase
            * (1.0 - envelope_phase)
            * (4.0 * phase - 2.0 + if phase < 0.5 { 0.6 } else { -0.6 })
    };
    (0..frames).map(value).collect()
}

/// Returns the impulse response of a room: 0.6 s of decaying noise.
fn room(rate_hz: usize, seed: u64) -> Vec<f32> {
    let mut next = noise(seed);
    let decay = 1.0 - 9.0 / rate_hz as f32;
    let mut level = 0.05;
    let value = |_| {
        level *= decay;
        level * next()
    };
    (0..3 * rate_hz / 5).map(value).collect()
}
