//! Sections at rest by AVX2: two side by side in one vector, each two frames behind the one before it. The
//! same operations in the same order as [`step`], so the same bits.

use core::arch::x86_64::{
    __m256d, _mm_cvtsd_f64, _mm_setr_pd, _mm_unpackhi_pd, _mm256_add_pd, _mm256_castpd128_pd256,
    _mm256_castpd256_pd128, _mm256_extractf128_pd, _mm256_mul_pd, _mm256_permute2f128_pd, _mm256_setr_pd,
    _mm256_sub_pd,
};

use super::{Factors, Frame, State, step};

/// Two sections that follow each other, the later one in the lower half.
struct Pair {
    held_by: __m256d,
    drawn: __m256d,
    input: __m256d,
    band: __m256d,
    low_by: __m256d,
    held: __m256d,
    low: __m256d,
}

impl Pair {
    /// The pair whose first section is at a place; without a later one its half is of no meaning.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn at(first: usize, factors: &[Factors], states: &[State]) -> Self {
        let later = (first + 1).min(factors.len() - 1);
        let both = |of: fn(&Factors) -> f64| {
            let (later, first) = (of(&factors[later]), of(&factors[first]));
            _mm256_setr_pd(later, later, first, first)
        };
        Self {
            held_by: both(|factors| factors.held),
            drawn: both(|factors| factors.drawn),
            input: both(|factors| factors.input),
            band: both(|factors| factors.band),
            low_by: both(|factors| factors.low),
            held: joined(states[later][0], states[first][0]),
            low: joined(states[later][1], states[first][1]),
        }
    }

    /// See [`step`].
    #[target_feature(enable = "avx2")]
    #[inline]
    fn step(&mut self, frames: __m256d) -> __m256d {
        let band = _mm256_add_pd(self.held, _mm256_mul_pd(_mm256_sub_pd(frames, self.low), self.drawn));
        let output = _mm256_add_pd(_mm256_mul_pd(frames, self.input), _mm256_mul_pd(band, self.band));
        let output = _mm256_add_pd(output, _mm256_mul_pd(self.low, self.low_by));
        self.held = _mm256_sub_pd(_mm256_mul_pd(band, self.held_by), self.held);
        self.low = _mm256_add_pd(self.low, band);
        output
    }

    /// States of the first section and of the later one.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn states(&self) -> [State; 2] {
        [[upper(self.held), upper(self.low)], [lower(self.held), lower(self.low)]]
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn joined(lower: Frame, upper: Frame) -> __m256d {
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

/// The upper half of `behind` becomes the lower one, and the lower half of `ahead` the upper one: what came
/// out of each section goes into the next.
#[target_feature(enable = "avx2")]
#[inline]
fn moved_on(behind: __m256d, ahead: __m256d) -> __m256d {
    _mm256_permute2f128_pd::<0x21>(behind, ahead)
}

/// Frames by which a section of a pair is behind the one before it. With fewer, both would wait for what the earlier one
/// puts out, which takes longer than to go on from state to state.
const BEHIND: usize = 2;

/// Fewest frames that some sections can pass.
pub(super) const fn fewest_frames(sections: usize) -> usize {
    BEHIND * sections
}

/// Passes at least [`fewest_frames`] through one to four sections.
#[target_feature(enable = "avx2")]
pub(super) fn pass<const COUNT: usize>(
    factors: &[Factors; COUNT],
    states: &mut [State; COUNT],
    audio: &mut [Frame],
) {
    let ahead = |section: usize| BEHIND * (COUNT - 1).saturating_sub(section);
    // At first all sections but the last get ahead of those behind them.
    for (section, (factors, state)) in factors.iter().zip(&mut *states).enumerate() {
        let ahead = if COUNT == 1 { audio.len() } else { ahead(section) };
        audio[..ahead].iter_mut().for_each(|value| *value = step(factors, state, *value));
    }
    if COUNT == 1 {
        return;
    }
    let mut pairs = [0, COUNT.min(3) - 1].map(|first| Pair::at(first, factors, states));
    // What goes into the pairs, now and one frame later.
    let into =
        |first: usize, frame: usize| joined(audio[frame + ahead(first + 1)], audio[frame + ahead(first)]);
    let mut first = [into(0, 0), into(0, 1)];
    let mut second = [into(2, 0), into(2, 1)];
    let frames = audio.len();
    for frame in 0..frames - ahead(0) {
        let outputs = [pairs[0].step(first[0]), if COUNT > 2 { pairs[1].step(second[0]) } else { second[0] }];
        let next = audio.get(frame + BEHIND * COUNT).copied().unwrap_or(Frame::ZERO);
        let [left, right] = next.to_array();
        first = [first[1], moved_on(outputs[0], _mm256_castpd128_pd256(_mm_setr_pd(left, right)))];
        second = [second[1], moved_on(outputs[1], outputs[0])];
        audio[frame] = match COUNT {
            2 => lower(outputs[0]),
            3 => upper(outputs[1]),
            _ => lower(outputs[1]),
        };
    }
    // What is on its way from section to section, and then those behind follow.
    let on_the_way =
        [first.map(|pair| lower(pair)), second.map(|pair| upper(pair)), second.map(|pair| lower(pair))];
    for (section, [earlier, later]) in on_the_way.into_iter().take(COUNT - 1).enumerate() {
        let place = frames - BEHIND * (section + 1);
        (audio[place], audio[place + 1]) = (earlier, later);
    }
    for (pair, states) in pairs.iter().zip(states.chunks_mut(2)) {
        for (state, now) in states.iter_mut().zip(pair.states()) {
            *state = now;
        }
    }
    for (section, (factors, state)) in factors.iter().zip(&mut *states).enumerate() {
        audio[frames - BEHIND * section..].iter_mut().for_each(|value| *value = step(factors, state, *value));
    }
}
