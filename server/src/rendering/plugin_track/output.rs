//! Writes the output of a plugin to a WAV file, without its latency, until the tail is silent.

use std::io::{self, Seek, Write};

use dsp_core::render::MAX_TAIL_SECS;
use dsp_core::session::Session;
use dsp_core::wav::FloatWavWriter;

use super::CHANNELS;

/// Highest magnitude that counts as silence: -100 dBFS. Plugins may always produce softer noise.
pub const SILENT_MAGNITUDE: f32 = 1e-5;

/// Length of the silence that ends a tail, in seconds. It is longer than the gaps of most echoes.
const SILENCE_SECS: f64 = 0.5;

/// The file, and the number of its frames that are written.
pub(super) struct Output<W> {
    wav: FloatWavWriter<W>,
    /// Number of latency frames of the plugin's output that have not been dropped yet.
    latency_frames: u64,
    song_frames: u64,
    /// Length of the song with the maximum tail, in frames.
    max_frames: u64,
    /// [`SILENCE_SECS`] in frames.
    silence_frames: u64,
    written_frames: u64,
    /// Number of frames up to the last frame that was not silent.
    sound_end_frames: u64,
    interleaved: Vec<f32>,
}

impl<W: Write + Seek> Output<W> {
    pub(super) fn new(
        destination: W,
        session: &Session,
        tail_secs: f64,
        latency_frames: u32,
    ) -> io::Result<Self> {
        Ok(Self {
            wav: FloatWavWriter::new(destination, CHANNELS.into(), session.sample_rate_hz)?,
            latency_frames: latency_frames.into(),
            song_frames: session.length_frames,
            max_frames: max_frames(session, tail_secs),
            silence_frames: frames(session, SILENCE_SECS),
            written_frames: 0,
            sound_end_frames: 0,
            interleaved: Vec::new(),
        })
    }

    /// Whether the file is complete.
    pub(super) fn has_ended(&self) -> bool {
        let silence_start = self.sound_end_frames.max(self.song_frames);
        self.written_frames >= self.max_frames || self.written_frames >= silence_start + self.silence_frames
    }

    /// Writes output of the plugin, up to the end of the file.
    pub(super) fn write(&mut self, channels: &[Vec<f32>]) -> io::Result<()> {
        self.interleaved.clear();
        for frame in 0..channels.first().map_or(0, Vec::len) {
            if self.latency_frames > 0 {
                self.latency_frames -= 1;
                continue;
            }
            if self.has_ended() {
                break;
            }
            self.written_frames += 1;
            for channel in channels {
                if channel[frame].abs() > SILENT_MAGNITUDE {
                    self.sound_end_frames = self.written_frames;
                }
                self.interleaved.push(channel[frame]);
            }
        }
        self.wav.write(&self.interleaved)
    }

    pub(super) fn written_frames(&self) -> u64 {
        self.written_frames
    }

    pub(super) fn max_frames(&self) -> u64 {
        self.max_frames
    }

    /// Completes the file. Returns whether it is silent.
    pub(super) fn finish(self) -> io::Result<bool> {
        self.wav.finish()?;
        Ok(self.sound_end_frames == 0)
    }
}

/// Returns the maximum number of frames of a file with a tail of at most `tail_secs`.
pub(super) fn max_frames(session: &Session, tail_secs: f64) -> u64 {
    session.length_frames.saturating_add(frames(session, tail_secs.clamp(0.0, MAX_TAIL_SECS)))
}

fn frames(session: &Session, secs: f64) -> u64 {
    (secs * f64::from(session.sample_rate_hz)) as u64
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// Returns the length of the file for a song and output with sound up to `sound_end`. Checks
    /// that the length does not depend on the size of the parts in which the output arrives.
    fn length(song_frames: u64, tail_secs: f64, latency_frames: u32, sound_end: usize) -> u64 {
        let session = Session { sample_rate_hz: 1_000, length_frames: song_frames, ..Session::default() };
        let lengths = [1, 7, 512].map(|part| {
            let mut output =
                Output::new(Cursor::new(Vec::new()), &session, tail_secs, latency_frames).expect("writes");
            let mut position = 0;
            while !output.has_ended() {
                let value = |frame| if frame < sound_end { 0.5 } else { 1e-6 };
                let samples: Vec<f32> = (position..position + part).map(value).collect();
                output.write(&[samples.clone(), samples]).expect("writes");
                position += part;
            }
            assert_eq!(output.wav.frames(), output.written_frames());
            output.written_frames()
        });
        assert!(lengths.iter().all(|length| *length == lengths[0]), "{lengths:?}");
        lengths[0]
    }

    #[test]
    fn a_tail_ends_after_half_a_second_of_silence_or_at_its_limit() {
        assert_eq!(length(100, 5.0, 0, 50), 600, "silence counts from the end of the song");
        assert_eq!(length(100, 5.0, 0, 1_300), 1_800);
        assert_eq!(length(100, 5.0, 300, 1_600), 1_800, "the latency is removed");
        assert_eq!(length(100, 0.2, 0, 9_999), 300);
        assert_eq!(length(0, 0.0, 20, 9_999), 0);
    }
}
