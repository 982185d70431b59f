//! Sound files for tests, made by code.

/// Coded files that `scripts/make-audio-fixtures` made: half a second of 1 kHz on the left, 500 Hz on the right.
pub(super) const MP3: &[u8] = include_bytes!("fixtures/tone.mp3");
pub(super) const OGG: &[u8] = include_bytes!("fixtures/tone.ogg");
/// The same on pages of a twentieth of a second.
pub(super) const OGG_PAGES: &[u8] = include_bytes!("fixtures/pages.ogg");
pub(super) const M4A: &[u8] = include_bytes!("fixtures/tone.m4a");
pub(super) const ADTS: &[u8] = include_bytes!("fixtures/tone.aac");
pub(super) const FLAC: &[u8] = include_bytes!("fixtures/tone.flac");
pub(super) const ALAC: &[u8] = include_bytes!("fixtures/lossless.m4a");
pub(super) const OPUS: &[u8] = include_bytes!("fixtures/opus.ogg");

/// A RIFF or IFF chunk.
pub(super) fn chunk(id: &[u8; 4], size: [u8; 4], body: &[u8]) -> Vec<u8> {
    let mut out = [&id[..], &size[..], body].concat();
    if body.len() % 2 == 1 {
        out.push(0);
    }
    out
}

/// A chunk of a WAV file with its true size.
pub(super) fn riff_chunk(id: &[u8; 4], body: &[u8]) -> Vec<u8> {
    chunk(id, (body.len() as u32).to_le_bytes(), body)
}

/// What a WAV file says of its samples.
#[derive(Clone, Copy)]
pub(super) struct Format {
    pub(super) tag: u16,
    pub(super) channels: u16,
    pub(super) rate_hz: u32,
    pub(super) bits: u16,
}

impl Format {
    pub(super) const PCM16: Self = Self { tag: 1, channels: 1, rate_hz: 48_000, bits: 16 };
    pub(super) const FLOAT: Self = Self { tag: 3, channels: 2, rate_hz: 48_000, bits: 32 };

    /// The body of the `fmt ` chunk.
    pub(super) fn body(self) -> Vec<u8> {
        let block = self.channels.wrapping_mul(self.bits / 8);
        let rate = self.rate_hz.wrapping_mul(u32::from(block));
        [
            &self.tag.to_le_bytes()[..],
            &self.channels.to_le_bytes(),
            &self.rate_hz.to_le_bytes(),
            &rate.to_le_bytes(),
            &block.to_le_bytes(),
            &self.bits.to_le_bytes(),
        ]
        .concat()
    }
}

/// A WAV file of these chunks.
pub(super) fn riff(chunks: &[Vec<u8>]) -> Vec<u8> {
    riff_chunk(b"RIFF", &[&b"WAVE"[..], &chunks.concat()].concat())
}

/// A WAV file of these sample bytes.
pub(super) fn wav(format: Format, data: &[u8]) -> Vec<u8> {
    riff(&[riff_chunk(b"fmt ", &format.body()), riff_chunk(b"data", data)])
}

/// A float WAV file with these interleaved samples.
pub(super) fn float_wav(channels: u16, rate_hz: u32, samples: &[f32]) -> Vec<u8> {
    let data: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    wav(Format { channels, rate_hz, ..Format::FLOAT }, &data)
}

/// A mono float WAV file of a sine of -6 dBFS.
pub(crate) fn sine_wav(frequency_hz: f64, rate_hz: u32, secs: f64) -> Vec<u8> {
    let step = std::f64::consts::TAU * frequency_hz / f64::from(rate_hz);
    let frames = (secs * f64::from(rate_hz)) as u32;
    let samples: Vec<f32> = (0..frames).map(|frame| (0.5 * (step * f64::from(frame)).sin()) as f32).collect();
    float_wav(1, rate_hz, &samples)
}

/// An AIFF file; the rate is ten bytes of an extended float.
pub(super) fn aiff(channels: u16, frames: u32, bits: u16, rate: [u8; 10], data: &[u8]) -> Vec<u8> {
    let common = [&channels.to_be_bytes()[..], &frames.to_be_bytes(), &bits.to_be_bytes(), &rate].concat();
    let sound = [&[0; 8][..], data].concat();
    let size = |body: &[u8]| (body.len() as u32).to_be_bytes();
    let body = [&b"AIFF"[..], &chunk(b"COMM", size(&common), &common), &chunk(b"SSND", size(&sound), &sound)]
        .concat();
    chunk(b"FORM", size(&body), &body)
}

/// 48 kHz as an extended float.
pub(super) const AIFF_48_KHZ: [u8; 10] = [0x40, 0x0E, 0xBB, 0x80, 0, 0, 0, 0, 0, 0];
