//! Steady sections with AVX2 instructions. A vector contains the frames of two sections. Each
//! section is three frames behind the section before it. The operations and their order are those
//! of [`step`], so the results are bit-identical.

use core::arch::x86_64::{
    __m256d, _mm_cvtsd_f64, _mm_setr_pd, _mm_unpackhi_pd, _mm256_add_pd, _mm256_castpd128_pd256,
    _mm256_castpd256_pd128, _mm256_extractf128_pd, _mm256_mul_pd, _mm256_permute2f128_pd, _mm256_setr_pd,
    _mm256_sub_pd,
};

use super::factors::{Factors, State, step};
use crate::dsp::stereo_frames::Frame;

/// Two consecutive sections, the later one in the lower half of each vector.
struct Pair {
    feedback_1: __m256d,
    feedback_2: __m256d,
    feedforward: [__m256d; 3],
    state_1: __m256d,
    state_2: __m256d,
}

impl Pair {
    /// Creates the pair that starts with the section at the index `first`. Without a later section,
    /// the lower half is unused.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn new(first: usize, factors: &[Factors], states: &[State]) -> Self {
        let later_index = (first + 1).min(factors.len() - 1);
        let load_pair = |factor: fn(&Factors) -> f64| {
            let (later_index, first) = (factor(&factors[later_index]), factor(&factors[first]));
            _mm256_setr_pd(later_index, later_index, first, first)
        };
        Self {
            feedback_1: load_pair(|factors| factors.feedback_1),
            feedback_2: load_pair(|factors| factors.feedback_2),
            feedforward: [
                load_pair(|factors| factors.feedforward[0]),
                load_pair(|factors| factors.feedforward[1]),
                load_pair(|factors| factors.feedforward[2]),
            ],
            state_1: join(states[later_index][0], states[first][0]),
            state_2: join(states[later_index][1], states[first][1]),
        }
    }

    /// Processes one frame per section, as [`step`] does.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn step(&mut self, frames: __m256d) -> __m256d {
        let recursive = _mm256_sub_pd(frames, _mm256_mul_pd(self.state_2, self.feedback_2));
        let recursive = _mm256_sub_pd(recursive, _mm256_mul_pd(self.state_1, self.feedback_1));
        let [above, above_last, above_before] = self.feedforward;
        let from_states =
            _mm256_add_pd(_mm256_mul_pd(self.state_1, above_last), _mm256_mul_pd(self.state_2, above_before));
        (self.state_1, self.state_2) = (recursive, self.state_1);
        _mm256_add_pd(_mm256_mul_pd(recursive, above), from_states)
    }

    /// Returns the states of the first section and of the later section.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn states(&self) -> [State; 2] {
        [[upper(self.state_1), upper(self.state_2)], [lower(self.state_1), lower(self.state_2)]]
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn join(lower: Frame, upper: Frame) -> __m256d {
    let ([a, b], [c, d]) = (lower.to_array(), upper.to_array());
    _mm256_setr_pd(a, b, c, d)
}

#[target_feature(enable = "avx2")]
#[inline]
fn lower(values: __m256d) -> Frame {
    let half = _mm256_castpd256_pd128(values);
    Frame::new([_mm_cvtsd_f64(half), _mm_cvtsd_f64(_mm_unpackhi_pd(half, half))])
}

#[target_feature(enable = "avx2")]
#[inline]
fn upper(values: __m256d) -> Frame {
    let half = _mm256_extractf128_pd::<1>(values);
    Frame::new([_mm_cvtsd_f64(half), _mm_cvtsd_f64(_mm_unpackhi_pd(half, half))])
}

/// Combines the upper half of `behind` and the lower half of `ahead`, because the output of each
/// section is the input of the next section.
#[target_feature(enable = "avx2")]
#[inline]
fn shift(behind: __m256d, ahead: __m256d) -> __m256d {
    _mm256_permute2f128_pd::<0x21>(behind, ahead)
}

/// Number of frames by which a section is behind the section before it. With fewer frames, a
/// section would have to wait for the output of the section before it.
const STAGGER_FRAMES: usize = 3;

/// Returns the minimum number of frames that [`process_lockstep`] needs for a number of sections.
pub(super) const fn min_frames(sections: usize) -> usize {
    STAGGER_FRAMES * sections
}

/// Processes frames with one to four sections. `audio` has at least [`min_frames`] frames.
#[target_feature(enable = "avx2")]
pub(super) fn process_lockstep<const COUNT: usize>(
    factors: &[Factors; COUNT],
    states: &mut [State; COUNT],
    audio: &mut [Frame],
) {
    let ahead = |section: usize| STAGGER_FRAMES * (COUNT - 1).saturating_sub(section);
    // Before the loop, all sections but the last process the frames by which they are ahead of it.
    for (section, (factors, state)) in factors.iter().zip(&mut *states).enumerate() {
        let ahead = if COUNT == 1 { audio.len() } else { ahead(section) };
        audio[..ahead].iter_mut().for_each(|value| *value = step(factors, state, *value));
    }
    if COUNT == 1 {
        return;
    }
    let mut pairs = [0, COUNT.min(3) - 1].map(|first| Pair::new(first, factors, states));
    // Inputs of both pairs, for the current frame and for the next two frames.
    let inputs = |first: usize| {
        [0, 1, 2].map(|frame| join(audio[frame + ahead(first + 1)], audio[frame + ahead(first)]))
    };
    let (mut first, mut second) = (inputs(0), inputs(2));
    let frames = audio.len();
    for frame in 0..frames - ahead(0) {
        let outputs = [pairs[0].step(first[0]), if COUNT > 2 { pairs[1].step(second[0]) } else { second[0] }];
        let next = audio.get(frame + STAGGER_FRAMES * COUNT).copied().unwrap_or(Frame::ZERO);
        let [left, right] = next.to_array();
        let next = _mm256_castpd128_pd256(_mm_setr_pd(left, right));
        first = [first[1], first[2], shift(outputs[0], next)];
        second = [second[1], second[2], shift(outputs[1], outputs[0])];
        audio[frame] = match COUNT {
            2 => lower(outputs[0]),
            3 => upper(outputs[1]),
            _ => lower(outputs[1]),
        };
    }
    // After the loop, the frames between two sections are stored. The later sections then process
    // them.
    let in_flight =
        [first.map(|pair| lower(pair)), second.map(|pair| upper(pair)), second.map(|pair| lower(pair))];
    for (section, in_flight) in in_flight.into_iter().take(COUNT - 1).enumerate() {
        let index = frames - STAGGER_FRAMES * (section + 1);
        audio[index..index + STAGGER_FRAMES].copy_from_slice(&in_flight);
    }
    for (pair, states) in pairs.iter().zip(states.chunks_mut(2)) {
        for (state, final_state) in states.iter_mut().zip(pair.states()) {
            *state = final_state;
        }
    }
    for (section, (factors, state)) in factors.iter().zip(&mut *states).enumerate() {
        audio[frames - STAGGER_FRAMES * section..]
            .iter_mut()
            .for_each(|value| *value = step(factors, state, *value));
    }
}
