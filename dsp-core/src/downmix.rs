//! Downmix of more than two channels to stereo, after ITU-R BS.775.
//!
//! Left and right pass unchanged. The centre goes to both sides at -3 dB, and a surround channel to
//! the same side at -3 dB. A single rear channel goes to both sides at -6 dB (BS.775-3, table 2:
//! 3/2 and 3/1 to 2/0). The low-frequency channel is omitted, which section 3 of annex 7 of BS.775
//! allows. The recommendation does not define the rear pairs of 7.1 and height channels. They are
//! treated like the nearest defined position. The sum is not scaled down: float samples may exceed
//! full scale, and the mix has headroom and a limiter.

use alloc::vec::Vec;

/// The position of a channel's loudspeaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// Front left, or another front position on the left.
    Left,
    /// Front right, or another front position on the right.
    Right,
    /// Front centre.
    Center,
    /// Subwoofer, for low frequencies only.
    LowFrequency,
    /// Left surround: left side or left rear.
    SurroundLeft,
    /// Right surround: right side or right rear.
    SurroundRight,
    /// Rear centre, or above the listener.
    SurroundCenter,
}

/// Gain of -3 dB, as in table 2 of ITU-R BS.775-3.
const MINUS_3_DB: f32 = core::f32::consts::FRAC_1_SQRT_2;

impl Speaker {
    /// Returns the gains to left and right.
    fn gains(self) -> [f32; 2] {
        match self {
            Self::Left => [1.0, 0.0],
            Self::Right => [0.0, 1.0],
            Self::Center => [MINUS_3_DB, MINUS_3_DB],
            Self::LowFrequency => [0.0, 0.0],
            Self::SurroundLeft => [MINUS_3_DB, 0.0],
            Self::SurroundRight => [0.0, MINUS_3_DB],
            Self::SurroundCenter => [0.5, 0.5],
        }
    }

    /// Returns the assumed positions of `count` channels in a file that does not state positions.
    /// They have the order of `WAVEFORMATEXTENSIBLE` for the usual layout. Channels after the
    /// eighth count as low-frequency channels, which the downmix omits.
    pub fn default_layout(count: usize) -> Vec<Self> {
        use Speaker::{Center, Left, LowFrequency, Right, SurroundCenter, SurroundLeft, SurroundRight};
        let quad = [Left, Right, SurroundLeft, SurroundRight];
        let five = [Left, Right, Center, SurroundLeft, SurroundRight];
        let six = [Left, Right, Center, LowFrequency, SurroundLeft, SurroundRight];
        let seven = [Left, Right, Center, LowFrequency, SurroundCenter, SurroundLeft, SurroundRight];
        let eight_speakers =
            [Left, Right, Center, LowFrequency, SurroundLeft, SurroundRight, SurroundLeft, SurroundRight];
        match count {
            1 => [Center].into(),
            2 | 3 => five.iter().take(count).copied().collect(),
            4 => quad.into(),
            5 => five.into(),
            6 => six.into(),
            7 => seven.into(),
            _ => eight_speakers.iter().copied().chain(core::iter::repeat(LowFrequency)).take(count).collect(),
        }
    }
}

/// Mixes the channels of a file to one or two channels.
#[derive(Debug, Clone, PartialEq)]
pub struct Downmix {
    gains: Vec<[f32; 2]>,
}

impl Downmix {
    /// Creates a downmix of channels at the positions `speakers`, in the order of the file. One or
    /// two channels stay unchanged, whatever their positions are.
    pub fn new(speakers: &[Speaker]) -> Self {
        Self { gains: speakers.iter().map(|speaker| speaker.gains()).collect() }
    }

    /// Returns the number of output channels: 1 for mono, otherwise 2.
    pub fn channel_count(&self) -> usize {
        self.gains.len().min(2)
    }

    /// Mixes `frames`, which have one interleaved channel per speaker, and appends the result to
    /// `output`, with [`Self::channel_count`] interleaved channels. An incomplete last frame is
    /// dropped.
    pub fn mix(&self, frames: &[f32], output: &mut Vec<f32>) {
        if self.gains.len() <= 2 {
            let whole_len = frames.len() - frames.len() % self.gains.len().max(1);
            output.extend_from_slice(&frames[..whole_len]);
            return;
        }
        for frame in frames.chunks_exact(self.gains.len()) {
            let mut mixed = [0.0_f32; 2];
            for (value, gains) in frame.iter().zip(&self.gains) {
                mixed[0] += value * gains[0];
                mixed[1] += value * gains[1];
            }
            output.extend_from_slice(&mixed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed(count: usize, frame: &[f32]) -> Vec<f32> {
        let mut output = Vec::new();
        Downmix::new(&Speaker::default_layout(count)).mix(frame, &mut output);
        output
    }

    #[test]
    fn mono_and_stereo_stay_unchanged() {
        assert_eq!(mixed(1, &[0.1, 0.2]), [0.1, 0.2]);
        assert_eq!(mixed(2, &[0.1, 0.2, 0.3]), [0.1, 0.2]);
    }

    #[test]
    fn each_channel_of_5_1_gets_the_gains_of_bs_775() {
        for (channel, expected) in [
            [1.0, 0.0],
            [0.0, 1.0],
            [MINUS_3_DB, MINUS_3_DB],
            [0.0, 0.0],
            [MINUS_3_DB, 0.0],
            [0.0, MINUS_3_DB],
        ]
        .into_iter()
        .enumerate()
        {
            let mut frame = [0.0; 6];
            frame[channel] = 1.0;
            assert_eq!(mixed(6, &frame), expected, "channel {channel}");
        }
        assert_eq!(mixed(7, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]), [0.5, 0.5]);
    }

    #[test]
    fn every_usual_layout_has_the_requested_number_of_channels() {
        for count in 0..20 {
            assert_eq!(
                Speaker::default_layout(count).len(),
                if count == 0 { 0 } else { count },
                "layout of {count} channels"
            );
        }
        // In every layout, both sides get more than the front channel alone.
        for count in 3..=8 {
            let output = mixed(count, &alloc::vec![1.0; count]);
            assert!(output[0] > 1.0 && output[1] > 1.0, "{count} channels give {output:?}");
        }
    }
}
