//! Adds the sound of an instrument in another process to the signal of its chain.

use super::dry_fallback::DryFallback;
use crate::dsp::delay_line::DelayLine;

/// Adds the output of an instrument to the signal of its chain, which is delayed by the
/// instrument's latency. The sound of a missing block is silence: it starts and ends without a
/// click.
pub struct InstrumentFallback {
    input: [DelayLine; 2],
    /// Replaces missing sound by its input, which is silence.
    sound: DryFallback,
    fade_frames: u32,
}

impl InstrumentFallback {
    /// Creates the fallback of an instrument with a latency in frames, at a sample rate in hertz.
    pub fn new(sample_rate_hz: u32, latency_frames: usize) -> Self {
        let sound = DryFallback::new(sample_rate_hz, latency_frames);
        let fade_frames = sound.fade_frames();
        Self { input: [DelayLine::new(latency_frames), DelayLine::new(latency_frames)], sound, fade_frames }
    }

    /// Changes the latency of the instrument, with a crossfade of the delayed signal. Allocates
    /// memory.
    pub fn set_latency(&mut self, latency_frames: usize) {
        self.input.iter_mut().for_each(|delay| delay.set_frames(latency_frames, self.fade_frames));
        self.sound.set_latency(latency_frames);
    }

    /// Replaces the instrument by a new one, which becomes audible when it has processed as many
    /// frames as its latency.
    pub fn restart(&mut self) {
        self.sound.restart();
    }

    /// Clears the audio state. The next output is audible at once.
    pub fn clear(&mut self) {
        self.input.iter_mut().for_each(DelayLine::clear);
        self.sound.clear();
    }

    /// Delays the signal in `left` and `right`, and adds the output of the instrument for the same
    /// frames, of which there are at least 1 and at most [`super::LIVE_BLOCK_FRAMES`]. Adds
    /// silence if `output` is `None`.
    pub fn process(&mut self, left: &mut [f32], right: &mut [f32], output: Option<[&[f32]; 2]>) {
        let mut sound = [[0.0; super::LIVE_BLOCK_FRAMES]; 2];
        let [sound_left, sound_right] = sound.each_mut().map(|side| &mut side[..left.len()]);
        self.sound.process(sound_left, sound_right, output);
        for ((delay, values), sound) in self.input.iter_mut().zip([left, right]).zip(&sound) {
            delay.process(values);
            values.iter_mut().zip(sound).for_each(|(value, sound)| *value += sound);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    const FRAMES: usize = 256;

    /// Sends blocks of a constant 1 to an instrument whose output is 2. Returns the left channel.
    fn constant(fallback: &mut InstrumentFallback, answered: &[bool]) -> Vec<f32> {
        let (output, mut signal) = (vec![2.0; FRAMES], Vec::new());
        for is_answered in answered {
            let (mut left, mut right) = (vec![1.0; FRAMES], vec![1.0; FRAMES]);
            fallback.process(&mut left, &mut right, is_answered.then_some([&output, &output]));
            assert_eq!(left, right);
            signal.extend(left);
        }
        signal
    }

    #[test]
    fn the_sound_is_added_to_the_delayed_signal_and_ends_without_a_click() {
        let mut fallback = InstrumentFallback::new(48_000, 300);
        let sound = constant(&mut fallback, &[true; 2]);
        assert!(sound[..300].iter().all(|value| *value == 2.0));
        assert!(sound[300..].iter().all(|value| *value == 3.0));
        let missing = constant(&mut fallback, &[true, false, false, false, true, true, true, true]);
        for (frame, pair) in missing.windows(2).enumerate() {
            assert!((pair[0] - pair[1]).abs() < 0.01, "click at frame {frame}: {pair:?}");
        }
        assert_eq!((missing[3 * FRAMES], missing.last()), (1.0, Some(&3.0)));
    }

    #[test]
    fn a_clear_ends_the_delayed_signal() {
        let mut fallback = InstrumentFallback::new(48_000, 300);
        constant(&mut fallback, &[true, false]);
        fallback.clear();
        assert_eq!(constant(&mut fallback, &[true])[..FRAMES], [2.0; FRAMES]);
        fallback.set_latency(0);
        assert_eq!(constant(&mut fallback, &[true; 6]).last(), Some(&3.0));
    }
}
