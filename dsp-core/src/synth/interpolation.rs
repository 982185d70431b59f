//! Reading between the values of a sample.
//!
//! A voice's stretch of a sample is first laid out in a [`Window`], loops unrolled; the kernels
//! here read from it at evenly spaced places. Places are counted in 2^-32 of a frame.

use alloc::vec::Vec;

use super::lanes::{LANES, Lanes};

/// Most frames that are computed at a time.
pub(super) const CHUNK_FRAMES: usize = 64;

/// Places in a window at which a kernel may start to read.
const WINDOW_STARTS: usize = 2_048;

/// Values before the place of a frame, and after it, that the longest kernel reads.
const MOST_TAPS: usize = SincTable::TAPS;

/// Most frames of a sample that a window lays out at a time, kernel taps not counted.
pub(super) const WINDOW_FRAMES: usize = WINDOW_STARTS - MOST_TAPS;

/// Values that a window holds at most.
pub(super) const WINDOW_VALUES: usize = WINDOW_STARTS + MOST_TAPS;

/// A stretch of a sample as floats.
pub(super) type Window = [f32; WINDOW_VALUES];

/// A window of silence.
pub(super) const SILENT_WINDOW: Window = [0.0; WINDOW_VALUES];

/// What a voice computes at a time, before its filter.
pub(super) type Chunk = [f32; CHUNK_FRAMES];

/// One whole frame, in the unit of places.
pub(super) const FRAME: u64 = 1 << 32;

/// How voices read between values.
#[derive(Debug, Clone)]
pub(super) enum Kernel {
    Linear,
    FourPoint,
    Sinc(SincTable),
}

impl Kernel {
    pub(super) fn new(interpolation: crate::session::Interpolation) -> Self {
        use crate::session::Interpolation;
        match interpolation {
            Interpolation::Linear => Self::Linear,
            Interpolation::FourPoint => Self::FourPoint,
            Interpolation::Sinc => Self::Sinc(SincTable::new()),
        }
    }

    /// Values that a window must hold before the one at a voice's place.
    pub(super) fn taps_before(&self) -> usize {
        match self {
            Self::Linear => 0,
            Self::FourPoint => 1,
            Self::Sinc(_) => SincTable::TAPS / 2 - 1,
        }
    }

    /// Values that a window must hold from the one at a voice's place on.
    pub(super) fn taps_from(&self) -> usize {
        match self {
            Self::Linear => 2,
            Self::FourPoint => 3,
            Self::Sinc(_) => SincTable::TAPS / 2 + 1,
        }
    }

    /// Fills `out` from a window whose first values are the taps before the voice's place.
    /// `fraction` is the place's part below a frame, `step` the distance of places.
    #[inline(always)]
    pub(super) fn read(&self, window: &Window, fraction: u32, step: u64, out: &mut [f32]) {
        match self {
            Self::Linear => by_eights::<Linear>(window, fraction, step, out),
            Self::FourPoint => by_eights::<FourPoint>(window, fraction, step, out),
            Self::Sinc(table) => table.read(window, fraction, step, out),
        }
    }
}

/// The `N` values of a window from a place on.
#[inline(always)]
fn taps<const N: usize>(window: &Window, place: u64) -> [f32; N] {
    // The mask changes nothing; it shows the compiler that no place lies outside.
    let index = (place >> 32) as usize & (WINDOW_STARTS - 1);
    let mut taps = [0.0; N];
    taps.copy_from_slice(&window[index..index + N]);
    taps
}

/// The parts below a frame, 0 to 1, of eight places of which the first is `place`.
#[inline(always)]
fn fractions(place: u64, lane_steps: &[u32; LANES]) -> Lanes {
    const UNIT: f32 = 1.0 / 16_777_216.0;
    let mut fractions = [0.0; LANES];
    for lane in 0..LANES {
        let fraction = (place as u32).wrapping_add(lane_steps[lane]);
        // 24 bits: exact as a float, and the conversion of a signed number is one instruction.
        fractions[lane] = ((fraction >> 8) as i32) as f32;
    }
    Lanes(fractions) * Lanes::all(UNIT)
}

/// Reads eight values from as many places.
trait Eight {
    fn read(window: &Window, place: u64, steps: &Steps) -> Lanes;
}

/// What every kernel needs of its step.
struct Steps {
    /// From a place to that of each lane, and to that of the next eight.
    to_lanes: [u64; LANES],
    eight: u64,
    /// The parts below a frame of the steps to each lane's place.
    of_lanes: [u32; LANES],
}

impl Steps {
    #[inline(always)]
    fn new(step: u64) -> Self {
        let mut to_lanes = [0; LANES];
        for (lane, to_lane) in to_lanes.iter_mut().enumerate() {
            *to_lane = step.wrapping_mul(lane as u64);
        }
        let mut of_lanes = [0; LANES];
        for lane in 0..LANES {
            of_lanes[lane] = to_lanes[lane] as u32;
        }
        // Without this the compiler computes the steps to all 64 places before it begins.
        let to_lanes = core::hint::black_box(to_lanes);
        Self { to_lanes, eight: step.wrapping_mul(LANES as u64), of_lanes }
    }
}

/// Fills `out` by eights.
#[inline(always)]
fn by_eights<K: Eight>(window: &Window, fraction: u32, step: u64, out: &mut [f32]) {
    let steps = Steps::new(step);
    let mut place = u64::from(fraction);
    let (eights, rest) = out.as_chunks_mut::<LANES>();
    for eight in eights {
        *eight = K::read(window, place, &steps).0;
        place = place.wrapping_add(steps.eight);
    }
    if !rest.is_empty() {
        let values = K::read(window, place, &steps).0;
        for (value, result) in rest.iter_mut().zip(values) {
            *value = result;
        }
    }
}

/// The columns of eight rows of taps.
#[inline(always)]
fn columns<const N: usize>(window: &Window, place: u64, steps: &Steps) -> [Lanes; N] {
    let mut rows = [[0.0; N]; LANES];
    for (lane, row) in rows.iter_mut().enumerate() {
        *row = taps(window, place.wrapping_add(steps.to_lanes[lane]));
    }
    let mut columns = [Lanes::ZERO; N];
    for (number, column) in columns.iter_mut().enumerate() {
        for lane in 0..LANES {
            column.0[lane] = rows[lane][number];
        }
    }
    columns
}

/// A straight line between two values.
struct Linear;

impl Eight for Linear {
    #[inline(always)]
    fn read(window: &Window, place: u64, steps: &Steps) -> Lanes {
        let [here, next] = columns(window, place, steps);
        here + (next - here) * fractions(place, &steps.of_lanes)
    }
}

/// The cubic through two values whose slopes there are those of their neighbours' chord
/// (Catmull and Rom, 1974), in Horner's form.
struct FourPoint;

impl Eight for FourPoint {
    #[inline(always)]
    fn read(window: &Window, place: u64, steps: &Steps) -> Lanes {
        cubic(columns(window, place, steps), fractions(place, &steps.of_lanes))
    }
}

/// The cubic through the middle two of four values, `t` of the way between them.
#[inline(always)]
fn cubic([before, here, next, after]: [Lanes; 4], t: Lanes) -> Lanes {
    let slope = (next - before) * Lanes::all(0.5);
    let cubic = (after - before) * Lanes::all(0.5) + (here - next) * Lanes::all(1.5);
    let square = (before - here) + slope - cubic;
    ((cubic * t + square) * t + slope) * t + here
}

/// A value of 16 bits as it stands in a file.
pub(super) type Pcm16 = [u8; 2];

/// Values of 16 bits that [`four_point_pcm16`] reads around a place: from one before it on.
pub(super) const FOUR: usize = 4;

/// As [`FourPoint`], straight from values of 16 bits, of which there are enough: `values` begins with
/// the one before the voice's place and ends with the second behind the last place. This is what
/// nearly all voices do nearly all the time.
#[inline(always)]
pub(super) fn four_point_pcm16(values: &[Pcm16], fraction: u32, step: u64, out: &mut [f32]) {
    let Some(last) = values.len().checked_sub(FOUR) else { return };
    let steps = Steps::new(step);
    let mut place = u64::from(fraction);
    let (eights, rest) = out.as_chunks_mut::<LANES>();
    for eight in eights {
        *eight = eight_of_pcm16(values, last, place, &steps).0;
        place = place.wrapping_add(steps.eight);
    }
    if !rest.is_empty() {
        let result = eight_of_pcm16(values, last, place, &steps).0;
        for (value, result) in rest.iter_mut().zip(result) {
            *value = result;
        }
    }
}

#[inline(always)]
fn eight_of_pcm16(values: &[Pcm16], last: usize, place: u64, steps: &Steps) -> Lanes {
    let mut rows = [0_u64; LANES];
    for (lane, row) in rows.iter_mut().enumerate() {
        let index = (place.wrapping_add(steps.to_lanes[lane]) >> 32) as usize;
        // Only places behind the last that is wanted are moved by this.
        let index = index.min(last);
        let mut four = [0; FOUR * 2];
        four.copy_from_slice(values[index..index + FOUR].as_flattened());
        *row = u64::from_le_bytes(four);
    }
    cubic(pcm16_columns(&rows), fractions(place, &steps.of_lanes)) * Lanes::all(UNIT_16)
}

/// One step of a value of 16 bits, full scale being 1.
pub(super) const UNIT_16: f32 = 1.0 / 32_768.0;

/// The four columns of eight rows of four signed values of 16 bits each.
#[inline(always)]
fn pcm16_columns(rows: &[u64; LANES]) -> [Lanes; FOUR] {
    let mut columns = [Lanes::ZERO; FOUR];
    for lane in 0..LANES {
        // Shifted within 32 bits, which all targets do for all lanes at once.
        let (low, high) = (rows[lane] as u32 as i32, (rows[lane] >> 32) as u32 as i32);
        columns[0].0[lane] = (low << 16 >> 16) as f32;
        columns[1].0[lane] = (low >> 16) as f32;
        columns[2].0[lane] = (high << 16 >> 16) as f32;
        columns[3].0[lane] = (high >> 16) as f32;
    }
    columns
}

/// Sixteen taps of a sinc under a Kaiser window, for places 1/512 of a frame apart, between
/// which the taps are interpolated; and the same with lower cut-offs, for samples that are
/// played faster than they were recorded and would alias.
#[derive(Debug, Clone)]
pub(super) struct SincTable {
    /// For each cut-off, for each place, the taps.
    rows: Vec<[f32; SincTable::TAPS]>,
}

impl SincTable {
    const TAPS: usize = 16;
    const PLACES: usize = 512;
    const PLACE_BITS: u32 = Self::PLACES.trailing_zeros();
    /// Cut-offs as shares of the sample's own Nyquist frequency, and the fastest step that each
    /// serves.
    const CUTOFFS: [(f64, f64); 4] = [(0.92, 1.1), (0.7, 1.5), (0.5, 2.1), (0.35, f64::INFINITY)];
    /// Of the Kaiser window: some 70 dB of stop band.
    const BETA: f64 = 7.0;

    fn new() -> Self {
        let mut rows = Vec::with_capacity(Self::CUTOFFS.len() * (Self::PLACES + 1));
        for (cutoff, _) in Self::CUTOFFS {
            for place in 0..=Self::PLACES {
                rows.push(Self::row(cutoff, place as f64 / Self::PLACES as f64));
            }
        }
        Self { rows }
    }

    fn row(cutoff: f64, fraction: f64) -> [f32; Self::TAPS] {
        let half = Self::TAPS as f64 / 2.0;
        let tap = |number: usize| {
            let distance = number as f64 - (half - 1.0) - fraction;
            let share = distance / half;
            if share * share >= 1.0 {
                return 0.0;
            }
            sinc(cutoff * distance) * bessel_i0(Self::BETA * libm::sqrt(1.0 - share * share))
        };
        let taps: [f64; Self::TAPS] = core::array::from_fn(tap);
        // A constant passes unchanged at every place.
        let sum: f64 = taps.iter().sum();
        taps.map(|tap| (tap / sum) as f32)
    }

    #[inline(always)]
    fn read(&self, window: &Window, fraction: u32, step: u64, out: &mut [f32]) {
        let ratio = step as f64 / FRAME as f64;
        let cutoff = Self::CUTOFFS.iter().position(|(_, fastest)| ratio <= *fastest).unwrap_or(0);
        let rows = &self.rows[cutoff * (Self::PLACES + 1)..][..=Self::PLACES];
        let mut place = u64::from(fraction);
        for value in out {
            let number = (place as u32 >> (32 - Self::PLACE_BITS)) as usize;
            let between =
                Lanes::all((((place as u32) << Self::PLACE_BITS >> 8) as i32) as f32 / 16_777_216.0);
            let taps: [f32; Self::TAPS] = taps(window, place);
            let (row, next) = (&rows[number], &rows[number + 1]);
            let mut sum = Lanes::ZERO;
            for half in [0, LANES] {
                let lanes =
                    |values: &[f32; Self::TAPS]| Lanes(core::array::from_fn(|lane| values[half + lane]));
                let (row, next) = (lanes(row), lanes(next));
                sum = sum + lanes(&taps) * (row + (next - row) * between);
            }
            *value = sum.sum();
            place = place.wrapping_add(step);
        }
    }
}

/// Eight of the taps, from `first` on.
#[inline(always)]
fn eight(taps: &[f32; SincTable::TAPS], first: usize) -> Lanes {
    let mut lanes = [0.0; LANES];
    lanes.copy_from_slice(&taps[first..first + LANES]);
    Lanes(lanes)
}

/// `sin(pi x) / (pi x)`.
fn sinc(x: f64) -> f64 {
    let angle = core::f64::consts::PI * x;
    if libm::fabs(angle) < 1e-9 { 1.0 } else { libm::sin(angle) / angle }
}

/// The modified Bessel function of the first kind and order zero, by its power series.
fn bessel_i0(x: f64) -> f64 {
    let quarter = x * x / 4.0;
    let (mut term, mut sum) = (1.0, 1.0);
    for order in 1..64 {
        term *= quarter / f64::from(order * order);
        sum += term;
    }
    sum
}
