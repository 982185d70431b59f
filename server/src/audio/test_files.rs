//! Audio files for tests.

/// Compressed files from `scripts/make-audio-fixtures`: half a second of a tone of 1 kHz on the
/// left and of 500 Hz on the right.
pub(super) const MP3: &[u8] = include_bytes!("fixtures/tone.mp3");
pub(super) const OGG: &[u8] = include_bytes!("fixtures/tone.ogg");
/// The same audio in Ogg pages of 50 ms.
pub(super) const OGG_PAGES: &[u8] = include_bytes!("fixtures/pages.ogg");
pub(super) const M4A: &[u8] = include_bytes!("fixtures/tone.m4a");
pub(super) const ADTS: &[u8] = include_bytes!("fixtures/tone.aac");
pub(super) const FLAC: &[u8] = include_bytes!("fixtures/tone.flac");
pub(super) const ALAC: &[u8] = include_bytes!("fixtures/lossless.m4a");
pub(super) const OPUS: &[u8] = include_bytes!("fixtures/opus.ogg");

/// Returns a RIFF or IFF chunk.
pub(super) fn chunk(id: &[u8; 4], size: [u8; 4], body: &[u8]) -> Vec<u8> {
    let mut output = [&id[..], &size[..], body].concat();
    if body.len() % 2 == 1 {
        output.push(0);
    }
    output
}

/// Returns a chunk of a WAV file with its correct size.
pub(super) fn riff_chunk(id: &[u8; 4], body: &[u8]) -> Vec<u8> {
    chunk(id, (body.len() as u32).to_le_bytes(), body)
}

/// The format of the samples of a WAV file.
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

    /// Returns the body of the `fmt ` chunk.
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

/// Returns a WAV file of these chunks.
pub(super) fn riff(chunks: &[Vec<u8>]) -> Vec<u8> {
    riff_chunk(b"RIFF", &[&b"WAVE"[..], &chunks.concat()].concat())
}

/// Returns a WAV file of these sample bytes.
pub(super) fn wav(format: Format, data: &[u8]) -> Vec<u8> {
    riff(&[riff_chunk(b"fmt ", &format.body()), riff_chunk(b"data", data)])
}

/// Returns a float WAV file of these interleaved samples.
pub(super) fn float_wav(channels: u16, rate_hz: u32, samples: &[f32]) -> Vec<u8> {
    let data: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    wav(Format { channels, rate_hz, ..Format::FLOAT }, &data)
}

/// Returns a mono float WAV file of a sine with an amplitude of -6 dBFS.
pub(crate) fn sine_wav(frequency_hz: f64, rate_hz: u32, secs: f64) -> Vec<u8> {
    let step = std::f64::consts::TAU * frequency_hz / f64::from(rate_hz);
    let frames = (secs * f64::from(rate_hz)) as u32;
    let samples: Vec<f32> = (0..frames).map(|frame| (0.5 * (step * f64::from(frame)).sin()) as f32).collect();
    float_wav(1, rate_hz, &samples)
}

/// Returns an AIFF file. `rate` is the sample rate as an 80-bit extended float.
pub(super) fn aiff(channels: u16, frames: u32, bits: u16, rate: [u8; 10], data: &[u8]) -> Vec<u8> {
    let common = [&channels.to_be_bytes()[..], &frames.to_be_bytes(), &bits.to_be_bytes(), &rate].concat();
    let sound = [&[0; 8][..], data].concat();
    let size = |body: &[u8]| (body.len() as u32).to_be_bytes();
    let body = [&b"AIFF"[..], &chunk(b"COMM", size(&common), &common), &chunk(b"SSND", size(&sound), &sound)]
        .concat();
    chunk(b"FORM", size(&body), &body)
}

/// A sample rate of 48 kHz as an 80-bit extended float.
pub(super) const AIFF_48_KHZ: [u8; 10] = [0x40, 0x0E, 0xBB, 0x80, 0, 0, 0, 0, 0, 0];

/// Returns a FLAC file of digital silence, mono, at 48 kHz (RFC 9639). It has `blocks` blocks of
/// 65,535 samples, each of at most 16 bytes.
pub(crate) fn silent_flac(blocks: u32) -> Vec<u8> {
    const BLOCK: [u8; 2] = u16::MAX.to_be_bytes();
    let mut file = b"fLaC\x80\0\0\x22".to_vec();
    file.extend([BLOCK, BLOCK].concat());
    // The sizes of frames, the length and the MD5 are unknown; 48,000 Hz, one channel, 16 bits.
    file.extend([0, 0, 0, 0, 0, 0, 0x0b, 0xb8, 0x00, 0xf0, 0, 0, 0, 0]);
    file.extend([0; 16]);
    for number in 0..blocks {
        // The block size follows in the frame header; rate and sample size are those of the file.
        let mut frame = vec![0xff, 0xf8, 0x70, 0x00];
        let mut coded_size = [0; 4];
        let number = char::from_u32(number).expect("below 0xd800");
        frame.extend(number.encode_utf8(&mut coded_size).bytes());
        frame.extend((u16::MAX - 1).to_be_bytes());
        frame.push(crc(&frame, 8, 0x07) as u8);
        // A constant subframe of value 0.
        frame.extend([0, 0, 0]);
        frame.extend((crc(&frame, 16, 0x8005) as u16).to_be_bytes());
        file.extend(frame);
    }
    file
}

/// Computes a cyclic redundancy check of 8 or 16 bits, highest bit first, from an initial value of
/// 0.
fn crc(bytes: &[u8], bits: u32, polynomial: u32) -> u32 {
    let (highest, mask) = (1 << (bits - 1), u32::MAX >> (32 - bits));
    bytes.iter().fold(0, |crc, byte| {
        let start = crc ^ (u32::from(*byte) << (bits - 8));
        (0..8).fold(start, |crc, _| match crc & highest {
            0 => (crc << 1) & mask,
            _ => ((crc << 1) ^ polynomial) & mask,
        })
    })
}
