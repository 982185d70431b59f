//! Partitioned convolution with a long response, without latency and with even load.
//!
//! The partitions get longer towards the end of the response (W. G. Gardner, "Efficient Convolution
//! without Input-Output Delay", JAES 43-3, 1995). The first frames of the response are convolved
//! directly. Partitions of 64, 512 and 4,096 frames follow, whose spectra are multiplied with those
//! of the input (overlap-save, T. G. Stockham, 1966). Partitions of 512 and 4,096 frames start two
//! partition lengths into the response. Their work can thus be spread over the time of one length.
//! Both real channels share one complex transform.
//!
//! The partition with the index `n` is first needed when `n + 1` blocks of input have been
//! received. Its spectrum is computed only then, so a response of any length can start during
//! playback. The output is bit-identical to that with all spectra computed in advance.

use alloc::vec;
use alloc::vec::Vec;

use super::waveform::Waveform;
use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::fft::Fft;
use crate::dsp::memory::values_bytes;
use crate::simd::on_best_instructions;

/// Frames at the start of a response that are convolved directly.
const HEAD_FRAMES: usize = 64;

/// Frames that are convolved together.
const GROUP_FRAMES: usize = 16;

/// A size of partitions: their length in frames, and the frame of the response at which the first
/// of them starts. The last of them ends where the partitions of the next size start.
struct PartitionSize {
    length: usize,
    start: usize,
}

const PARTITION_SIZES: [PartitionSize; 3] = [
    PartitionSize { length: 64, start: 64 },
    PartitionSize { length: 512, start: 1_024 },
    PartitionSize { length: 4_096, start: 8_192 },
];

/// Returns the frame at which the partitions of a size end, in a response of `frames` frames.
fn end_frame(size: usize, frames: usize) -> usize {
    PARTITION_SIZES.get(size + 1).map_or(frames, |next| next.start.min(frames))
}

/// Returns the number of partitions of a size in a response of `frames` frames.
fn partitions_of(size: usize, frames: usize) -> usize {
    end_frame(size, frames).saturating_sub(PARTITION_SIZES[size].start).div_ceil(PARTITION_SIZES[size].length)
}

/// Returns the size of the spectra and buffers for a response of `frames` frames in bytes.
pub(super) fn memory_bytes(frames: usize) -> u64 {
    // Each partition needs the spectra of its response and of its input: 8 values per frame. The
    // other terms are, in order: sum, input, output, and the transform's buffers and tables.
    let of_size =
        |size: usize| (8 * partitions_of(size, frames) + 4 + 4 + 2 + 4 + 8) * PARTITION_SIZES[size].length;
    values_bytes((0..PARTITION_SIZES.len()).map(of_size).sum())
}

/// Stereo spectra. Each has the real and the imaginary parts of left, then those of right. The
/// first imaginary part of a channel is the real value at half the sample rate.
struct Spectra {
    length: usize,
    /// The computed spectra, without gaps.
    values: Vec<f32>,
}

impl Spectra {
    /// Creates an empty list with capacity for `max_spectra` spectra.
    fn new(length: usize, max_spectra: usize) -> Self {
        Self { length, values: Vec::with_capacity(4 * length * max_spectra) }
    }

    /// Returns the number of computed spectra.
    fn count(&self) -> usize {
        self.values.len() / (4 * self.length)
    }

    fn spectrum(&self, index: usize) -> &[f32] {
        &self.values[4 * self.length * index..][..4 * self.length]
    }

    /// Returns the spectrum at an index, which is at most the number of spectra. If it equals that
    /// number, adds a spectrum of zeros.
    fn spectrum_mut(&mut self, index: usize) -> &mut [f32] {
        let end = 4 * self.length * (index + 1);
        self.values.resize(self.values.len().max(end), 0.0);
        &mut self.values[4 * self.length * index..end]
    }
}

/// A transform of twice a partition's length, with buffers for both channels as one complex signal.
struct Transform {
    fft: Fft,
    re: Vec<f32>,
    im: Vec<f32>,
}

impl Transform {
    fn new(length: usize) -> Self {
        Self { fft: Fft::new(2 * length), re: vec![0.0; 2 * length], im: vec![0.0; 2 * length] }
    }

    /// Computes the spectra of left and right from the samples of left in `re` and of right in
    /// `im`.
    fn analyse(&mut self, spectra: &mut [f32]) {
        let length = self.re.len();
        self.fft.forward(&mut self.re, &mut self.im);
        let (re, im) = (&self.re, &self.im);
        let (left, right) = spectra.split_at_mut(length);
        let ((left_re, left_im), (right_re, right_im)) =
            (left.split_at_mut(length / 2), right.split_at_mut(length / 2));
        let low = re[1..length / 2].iter().zip(&im[1..length / 2]);
        let mirrored_bins = re[length / 2 + 1..].iter().zip(&im[length / 2 + 1..]).rev();
        let left = left_re[1..].iter_mut().zip(&mut left_im[1..]);
        let right = right_re[1..].iter_mut().zip(&mut right_im[1..]);
        for (((re, im), (mirror_re, mirror_im)), ((left_re, left_im), (right_re, right_im))) in
            low.zip(mirrored_bins).zip(left.zip(right))
        {
            *left_re = 0.5 * (re + mirror_re);
            *left_im = 0.5 * (im - mirror_im);
            *right_re = 0.5 * (im + mirror_im);
            *right_im = 0.5 * (mirror_re - re);
        }
        (left_re[0], left_im[0]) = (re[0], re[length / 2]);
        (right_re[0], right_im[0]) = (im[0], im[length / 2]);
    }

    /// Computes the samples of left in `re` and of right in `im` from their spectra.
    fn synthesise(&mut self, spectra: &[f32]) {
        let length = self.re.len();
        let scale = 1.0 / length as f32;
        let (left, right) = spectra.split_at(length);
        let ((left_re, left_im), (right_re, right_im)) =
            (left.split_at(length / 2), right.split_at(length / 2));
        let (re, im) = (&mut self.re, &mut self.im);
        let (low_re, high_re) = re.split_at_mut(length / 2);
        let (low_im, high_im) = im.split_at_mut(length / 2);
        let low = low_re[1..].iter_mut().zip(&mut low_im[1..]);
        let mirrored_bins = high_re[1..].iter_mut().zip(&mut high_im[1..]).rev();
        let left = left_re[1..].iter().zip(&left_im[1..]);
        let right = right_re[1..].iter().zip(&right_im[1..]);
        for (((re, im), (mirror_re, mirror_im)), ((left_re, left_im), (right_re, right_im))) in
            low.zip(mirrored_bins).zip(left.zip(right))
        {
            *re = scale * (left_re - right_im);
            *im = scale * (left_im + right_re);
            *mirror_re = scale * (left_re + right_im);
            *mirror_im = scale * (right_re - left_im);
        }
        (re[0], re[length / 2]) = (scale * left_re[0], scale * left_im[0]);
        (im[0], im[length / 2]) = (scale * right_re[0], scale * right_im[0]);
        self.fft.inverse(&mut self.re, &mut self.im);
    }
}

/// The convolution with the partitions of one size.
struct PartitionLevel {
    size: usize,
    length: usize,
    transform: Transform,
    /// Number of partitions of the response.
    partition_count: usize,
    /// Spectra of the partitions of the response, as far as they are computed.
    response: Spectra,
    /// A ring of the spectra of the last blocks of input. The newest is at the index `newest`.
    past: Spectra,
    newest: usize,
    /// Number of received blocks, at most `partition_count`.
    received_blocks: usize,
    sum: Vec<f32>,
    /// The previous block of input and the current one, left and right.
    input: [Vec<f32>; 2],
    /// Output of the current block, left and right.
    output: [Vec<f32>; 2],
}

impl PartitionLevel {
    fn new(size: usize, max_frames: usize) -> Self {
        let length = PARTITION_SIZES[size].length;
        let max_spectra = partitions_of(size, max_frames);
        Self {
            size,
            length,
            transform: Transform::new(length),
            partition_count: 0,
            response: Spectra::new(length, max_spectra),
            past: Spectra::new(length, max_spectra),
            newest: 0,
            received_blocks: 0,
            sum: vec![0.0; 4 * length],
            input: [vec![0.0; 2 * length], vec![0.0; 2 * length]],
            output: [vec![0.0; length], vec![0.0; length]],
        }
    }

    fn clear(&mut self) {
        let parts = [&mut self.sum, &mut self.transform.re, &mut self.transform.im];
        parts.into_iter().chain(&mut self.input).chain(&mut self.output).for_each(|values| values.fill(0.0));
        (self.newest, self.received_blocks) = (0, 0);
    }

    /// Does the part of the level's work that is due at the control point `frame`.
    fn work(&mut self, frame: u64, waveform: &mut Waveform) {
        if self.partition_count == 0 {
            return;
        }
        let steps = self.length / CONTROL_FRAMES;
        let step = (frame % self.length as u64) as usize / CONTROL_FRAMES;
        let is_immediate = PARTITION_SIZES[self.size].start == self.length;
        if step == 0 {
            if !is_immediate {
                self.update_output();
            }
            self.analyse_input();
        }
        if is_immediate {
            if step == 0 {
                self.compute_spectra(waveform);
                self.multiply(0..self.received_blocks);
                self.transform.synthesise(&self.sum);
                self.update_output();
            }
        } else if step + 1 == steps {
            self.transform.synthesise(&self.sum);
        } else if step > 0 {
            // The newest partition is multiplied last. Its spectrum can thus be computed in a later
            // step than that of the block of input, which spreads the work.
            if step >= steps / 2 {
                self.compute_spectra(waveform);
            }
            let received_blocks = self.received_blocks;
            let end = |step: usize| received_blocks * step / (steps - 2);
            self.multiply(end(step - 1)..end(step));
        }
    }

    /// Copies the second half of the transform to the output. Overlap-save discards the first half.
    fn update_output(&mut self) {
        self.output[0].copy_from_slice(&self.transform.re[self.length..]);
        self.output[1].copy_from_slice(&self.transform.im[self.length..]);
    }

    /// Computes the spectrum of a complete block of input.
    fn analyse_input(&mut self) {
        self.newest = if self.received_blocks == 0 { 0 } else { (self.newest + 1) % self.partition_count };
        self.received_blocks = self.partition_count.min(self.received_blocks + 1);
        self.transform.re.copy_from_slice(&self.input[0]);
        self.transform.im.copy_from_slice(&self.input[1]);
        self.transform.analyse(self.past.spectrum_mut(self.newest));
        self.input.iter_mut().for_each(|input| input.copy_within(self.length.., 0));
        self.sum.fill(0.0);
    }

    /// Computes the spectra of the partitions that the received blocks need. That is at most one
    /// new spectrum per block.
    fn compute_spectra(&mut self, waveform: &mut Waveform) {
        while self.response.count() < self.received_blocks {
            let part = self.response.count();
            let start = PARTITION_SIZES[self.size].start + part * self.length;
            let end = (start + self.length).min(end_frame(self.size, waveform.frames()));
            waveform.compute(end);
            for (side, buffer) in [&mut self.transform.re, &mut self.transform.im].into_iter().enumerate() {
                buffer.fill(0.0);
                buffer[..end - start].copy_from_slice(&waveform.side(side)[start..end]);
            }
            self.transform.analyse(self.response.spectrum_mut(part));
        }
    }

    /// Multiplies the spectra of a range of partitions with those of the blocks of input that they
    /// delay, and adds the products to the sum.
    fn multiply(&mut self, parts: core::ops::Range<usize>) {
        for part in parts {
            // Only a full ring has blocks after `newest`. These are the oldest blocks.
            let index =
                if part <= self.newest { self.newest } else { self.newest + self.partition_count } - part;
            add_product(&mut self.sum, self.past.spectrum(index), self.response.spectrum(part));
        }
    }

    /// Stores input from the session's frame `frame` on, and adds the level's output to `output`.
    fn process(&mut self, frame: u64, input: [&[f32]; 2], output: [&mut [f32]; 2]) {
        if self.partition_count == 0 {
            return;
        }
        let index = (frame % self.length as u64) as usize;
        for (side, (input, output)) in input.into_iter().zip(output).enumerate() {
            self.input[side][self.length + index..][..input.len()].copy_from_slice(input);
            for (output, delayed) in output.iter_mut().zip(&self.output[side][index..]) {
                *output += delayed;
            }
        }
    }
}

/// Convolves left with left and right with right.
pub(super) struct Convolver {
    /// The first frames of the response, left and right.
    head: [[f32; HEAD_FRAMES]; 2],
    /// The previous frames of left and right, oldest first, then the current frames.
    recent: [[f32; HEAD_FRAMES + CONTROL_FRAMES]; 2],
    levels: [PartitionLevel; PARTITION_SIZES.len()],
    /// Number of silent frames of input since the last audible one. `usize::MAX` after a reset.
    silent_frames: usize,
}

impl Convolver {
    /// Creates a convolver for responses of at most `max_frames` frames, with an empty response.
    pub(super) fn new(max_frames: usize) -> Self {
        Self {
            head: [[0.0; HEAD_FRAMES]; 2],
            recent: [[0.0; HEAD_FRAMES + CONTROL_FRAMES]; 2],
            levels: core::array::from_fn(|size| PartitionLevel::new(size, max_frames)),
            silent_frames: usize::MAX,
        }
    }

    /// Sets the response and clears the state.
    pub(super) fn begin(&mut self, waveform: &mut Waveform) {
        let frames = waveform.frames();
        waveform.compute(HEAD_FRAMES.min(frames));
        for (side, head) in self.head.iter_mut().enumerate() {
            head.fill(0.0);
            head.iter_mut().zip(waveform.side(side)).for_each(|(tap, value)| *tap = *value);
        }
        for level in &mut self.levels {
            level.partition_count = partitions_of(level.size, frames);
            level.response.values.clear();
        }
        self.clear();
    }

    /// Clears the state, which is then that after a long silence.
    pub(super) fn clear(&mut self) {
        self.recent = [[0.0; HEAD_FRAMES + CONTROL_FRAMES]; 2];
        self.levels.iter_mut().for_each(PartitionLevel::clear);
        self.silent_frames = usize::MAX;
    }

    /// Convolves frames in place. The first of them is `frame` of the session. `waveform` must be
    /// the waveform that was passed to [`Self::begin`].
    pub(super) fn process(&mut self, frame: u64, waveform: &mut Waveform, [left, right]: [&mut [f32]; 2]) {
        if left.iter().chain(&*right).any(|value| *value != 0.0) {
            self.silent_frames = 0;
        } else if self.silent_frames >= frames_to_silence(waveform) {
            return;
        } else {
            self.silent_frames += left.len();
        }
        if frame.is_multiple_of(CONTROL_FRAMES as u64) {
            self.levels.iter_mut().for_each(|level| level.work(frame, waveform));
        }
        let frames = left.len();
        for (recent, input) in self.recent.iter_mut().zip([&*left, &*right]) {
            recent[HEAD_FRAMES..][..frames].copy_from_slice(input);
        }
        for ((output, recent), head) in
            [&mut *left, &mut *right].into_iter().zip(&self.recent).zip(&self.head)
        {
            convolve_head(head, recent, output);
        }
        let input = self.recent;
        let input = input.each_ref().map(|recent| &recent[HEAD_FRAMES..][..frames]);
        for level in &mut self.levels {
            level.process(frame, input, [&mut *left, &mut *right]);
        }
        for recent in &mut self.recent {
            recent.copy_within(frames..frames + HEAD_FRAMES, 0);
        }
    }
}

/// Returns the number of silent frames of input after which output and state are silent. These are
/// the frames of the response, of its directly convolved start, and of three blocks of the longest
/// partitions. The last input is in the first block, its spectra are multiplied during the second
/// block, and the result is output during the third block.
fn frames_to_silence(waveform: &Waveform) -> usize {
    waveform.frames() + HEAD_FRAMES + 3 * PARTITION_SIZES[PARTITION_SIZES.len() - 1].length
}

on_best_instructions! {
    /// Adds the product of two stereo spectra.
    fn add_product(sum: &mut [f32], a: &[f32], b: &[f32]) = add_product_inline;
}

#[inline(always)]
fn add_product_inline(sum: &mut [f32], a: &[f32], b: &[f32]) {
    let length = sum.len() / 4;
    let sides =
        sum.chunks_exact_mut(2 * length).zip(a.chunks_exact(2 * length)).zip(b.chunks_exact(2 * length));
    for ((sum, a), b) in sides {
        let (sum_re, sum_im) = sum.split_at_mut(length);
        let ((a_re, a_im), (b_re, b_im)) = (a.split_at(length), b.split_at(length));
        // The first bin contains two real values.
        let first = (sum_re[0] + a_re[0] * b_re[0], sum_im[0] + a_im[0] * b_im[0]);
        let parts = a_re.iter().zip(a_im).zip(b_re.iter().zip(b_im));
        for ((sum_re, sum_im), ((a_re, a_im), (b_re, b_im))) in
            sum_re.iter_mut().zip(sum_im.iter_mut()).zip(parts)
        {
            *sum_re += a_re * b_re - a_im * b_im;
            *sum_im += a_re * b_im + a_im * b_re;
        }
        (sum_re[0], sum_im[0]) = first;
    }
}

on_best_instructions! {
    /// Convolves the first frames of a response with `recent`. The output belongs to the frames of
    /// `recent` from [`HEAD_FRAMES`] on.
    fn convolve_head(
        head: &[f32; HEAD_FRAMES],
        recent: &[f32; HEAD_FRAMES + CONTROL_FRAMES],
        output: &mut [f32],
    ) = convolve_head_inline;
}

#[inline(always)]
fn convolve_head_inline(
    head: &[f32; HEAD_FRAMES],
    recent: &[f32; HEAD_FRAMES + CONTROL_FRAMES],
    output: &mut [f32],
) {
    for (group, output) in output.chunks_mut(GROUP_FRAMES).enumerate() {
        let mut sums = [0.0; GROUP_FRAMES];
        for (tap, weight) in head.iter().enumerate() {
            let values = &recent[HEAD_FRAMES + GROUP_FRAMES * group - tap..][..GROUP_FRAMES];
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += weight * value;
            }
        }
        for (output, sum) in output.iter_mut().zip(sums) {
            *output = sum;
        }
    }
}
