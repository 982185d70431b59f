//! Run-time choice of the instruction set for effects: see [`crate::simd`].

use alloc::boxed::Box;

use super::effect::{CurveIntegral, Effect, MusicalTime};

/// An effect whose [`Effect::process`] is compiled twice, for the target's baseline and for AVX2.
/// Only code that is inlined into `process` uses AVX2.
struct SimdDispatch<E>(E);

/// Wraps an effect such that it chooses its instruction set at run time. The effect's `process`
/// needs `#[inline(always)]`; without it, the compiler uses only the baseline.
pub(super) fn with_simd_dispatch<E: Effect + 'static>(effect: E) -> Box<dyn Effect> {
    Box::new(SimdDispatch(effect))
}

#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[target_feature(enable = "avx2")]
fn process_with_avx2<E: Effect>(effect: &mut E, audio: [&mut [f32]; 2], side_chain: Option<[&[f32]; 2]>) {
    effect.process(audio, side_chain);
}

impl<E: Effect> Effect for SimdDispatch<E> {
    fn reset(&mut self, frame: u64) {
        self.0.reset(frame);
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        self.0.set_parameter(parameter, value, ramp_frames);
    }

    fn integrates(&self, parameter: usize) -> bool {
        self.0.integrates(parameter)
    }

    fn set_integral(&mut self, parameter: usize, integral: Option<CurveIntegral>) {
        self.0.set_integral(parameter, integral);
    }

    fn set_impulse(&mut self, impulse: [&[f32]; 2]) {
        self.0.set_impulse(impulse);
    }

    fn set_time(&mut self, time: MusicalTime) {
        self.0.set_time(time);
    }

    fn needs_no_control_points(&self) -> bool {
        self.0.needs_no_control_points()
    }

    fn process(&mut self, audio: [&mut [f32]; 2], side_chain: Option<[&[f32]; 2]>) {
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        if crate::simd::has_avx2() {
            #[expect(unsafe_code, reason = "the only way to call code for a feature found at run time")]
            // SAFETY: `avx2` has confirmed that the CPU has AVX2, the only feature that the
            // function needs.
            return unsafe { process_with_avx2(&mut self.0, audio, side_chain) };
        }
        self.0.process(audio, side_chain);
    }

    fn skip_silence(&mut self, frames: usize) -> bool {
        self.0.skip_silence(frames)
    }

    fn latency_frames(&self) -> usize {
        self.0.latency_frames()
    }

    fn longest_silence_frames(&self) -> usize {
        self.0.longest_silence_frames()
    }

    fn gain_reduction_db(&self) -> Option<f32> {
        self.0.gain_reduction_db()
    }
}
