//! What is kept of the last seconds: means of parts of 10 ms.

/// Parts of a second.
pub(super) const PARTS_A_SECOND: u32 = 100;

/// Parts of the momentary loudness and of a gating block, 400 ms.
pub(super) const MOMENTARY_PARTS: usize = 40;

/// Parts of the short-term loudness, 3 s.
pub(super) const SHORT_TERM_PARTS: usize = 300;

/// Parts of RMS and correlation, 300 ms.
pub(super) const SIGNAL_PARTS: usize = 30;

/// Channels below this mean square, -100 dB, have no correlation.
const SILENT_SQUARE: f64 = 1e-10;

/// Means over some frames.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part {
    /// Of both channels' squares under K-weighting, added up.
    pub(super) loudness: f64,
    /// Of left and right.
    pub(super) squares: [f64; 2],
    /// Of left times right.
    pub(super) product: f64,
}

impl Part {
    /// Means of the frames of one part.
    pub(super) fn of(loudness: f64, left: &[f32], right: &[f32]) -> Self {
        let frames = left.len().max(1) as f64;
        let mean = |a: &[f32], b: &[f32]| f64::from(sum_of_products(a, b)) / frames;
        Self { loudness, squares: [mean(left, left), mean(right, right)], product: mean(left, right) }
    }

    /// 1 if left and right are the same but for a gain, 0 if they are unrelated or one is silent,
    /// -1 if they are opposed.
    pub(super) fn correlation(&self) -> f64 {
        let [left, right] = self.squares;
        if left < SILENT_SQUARE || right < SILENT_SQUARE {
            return 0.0;
        }
        (self.product / libm::sqrt(left * right)).clamp(-1.0, 1.0)
    }
}

fn sum_of_products(a: &[f32], b: &[f32]) -> f32 {
    const WIDTH: usize = 8;
    let ((a_wide, a_rest), (b_wide, b_rest)) = (a.as_chunks::<WIDTH>(), b.as_chunks::<WIDTH>());
    let mut sums = [0.0; WIDTH];
    for (a, b) in a_wide.iter().zip(b_wide) {
        for lane in 0..WIDTH {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// The last parts; before the first there is silence.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    parts: [Part; SHORT_TERM_PARTS],
    /// Place of the oldest, where the next one goes.
    next: usize,
}

impl Default for Parts {
    fn default() -> Self {
        Self { parts: [Part::default(); SHORT_TERM_PARTS], next: 0 }
    }
}

impl Parts {
    pub(super) fn push(&mut self, part: Part) {
        self.parts[self.next] = part;
        self.next = (self.next + 1) % SHORT_TERM_PARTS;
    }

    /// Means of the last parts, `count` of them. Added up anew each time: a running sum would keep
    /// the rounding of what was loud.
    pub(super) fn mean(&self, count: usize) -> Part {
        let newest = &self.parts[self.next.saturating_sub(count)..self.next];
        let oldest = &self.parts[SHORT_TERM_PARTS - (count - newest.len())..];
        let mut mean = Part::default();
        let share = 1.0 / count as f64;
        for part in oldest.iter().chain(newest) {
            mean.loudness += part.loudness * share;
            mean.product += part.product * share;
            for (mean, square) in mean.squares.iter_mut().zip(part.squares) {
                *mean += square * share;
            }
        }
        mean
    }
}
