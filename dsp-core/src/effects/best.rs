//! An effect compiled for the best instructions that the machine has: see [`crate::simd`].

use alloc::boxed::Box;

use super::{Effect, LineSum, MusicalTime};

/// An effect whose [`Effect::process`] is compiled twice, for the target's baseline and for AVX2.
/// It is worth as much as of it is inlined.
struct Best<E>(E);

/// Makes an effect choose its instructions. Its `process` should be `#[inline(always)]`, else it is
/// compiled for the baseline only.
pub(super) fn best<E: Effect + 'static>(effect: E) -> Box<dyn Effect> {
    Box::new(Best(effect))
}

#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[target_feature(enable = "avx2")]
fn process_with_avx2<E: Effect>(effect: &mut E, audio: [&mut [f32]; 2], side: Option<[&[f32]; 2]>) {
    effect.process(audio, side);
}

impl<E: Effect> Effect for Best<E> {
    fn reset(&mut self, frame: u64) {
        self.0.reset(frame);
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        self.0.set(parameter, value, glide_frames);
    }

    fn counts(&self, parameter: usize) -> bool {
        self.0.counts(parameter)
    }

    fn follow(&mut self, parameter: usize, line: Option<LineSum>) {
        self.0.follow(parameter, line);
    }

    fn set_time(&mut self, time: MusicalTime) {
        self.0.set_time(time);
    }

    fn is_still(&self) -> bool {
        self.0.is_still()
    }

    fn process(&mut self, audio: [&mut [f32]; 2], side: Option<[&[f32]; 2]>) {
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        if crate::simd::avx2() {
            #[expect(unsafe_code, reason = "the only way to call code for a feature found at run time")]
            // SAFETY: `avx2` has just found the one feature that the function needs.
            return unsafe { process_with_avx2(&mut self.0, audio, side) };
        }
        self.0.process(audio, side);
    }

    fn rest(&mut self, frames: usize) -> bool {
        self.0.rest(frames)
    }

    fn latency_frames(&self) -> usize {
        self.0.latency_frames()
    }

    fn gap_frames(&self) -> usize {
        self.0.gap_frames()
    }

    fn gain_reduction_db(&self) -> Option<f32> {
        self.0.gain_reduction_db()
    }
}
