//! Convolution with a long response, without latency and with even work.
//!
//! The response is cut into parts that get longer towards its end (W. G. Gardner, "Efficient
//! Convolution without Input-Output Delay", JAES 43-3, 1995): its head is convolved frame by frame;
//! then follow parts of 64, 512 and 4,096 frames, multiplied as spectra (overlap-save, T. G.
//! Stockham 1966), the spectra of the past input kept. Parts of the longer kinds begin two lengths
//! into the response, so that their work can be spread over a whole length. Two real channels share
//! one complex transform.
//!
//! A part is first needed when as many blocks of input have come since the beginning, and its
//! spectrum is made only then: a response of any length can be taken on while the music plays, and
//! every bit is as if all had been there from the start.

use alloc::vec;
use alloc::vec::Vec;

use super::super::CONTROL_FRAMES;
use super::super::memory::values_bytes;
use super::waveform::Waveform;
use crate::dsp::fft::Fft;
use crate::simd::on_best_instructions;

/// Frames at the head of a response that are convolved directly.
const HEAD: usize = 64;

/// Frames that are convolved side by side.
const TOGETHER: usize = 16;

/// A kind of parts: their length, and where in the response they begin; they end where the next
/// kind begins.
struct Kind {
    length: usize,
    start: usize,
}

const KINDS: [Kind; 3] = [
    Kind { length: 64, start: 64 },
    Kind { length: 512, start: 1_024 },
    Kind { length: 4_096, start: 8_192 },
];

/// Where the parts of a kind end in a response of so many frames.
fn end_of(kind: usize, frames: usize) -> usize {
    KINDS.get(kind + 1).map_or(frames, |next| next.start.min(frames))
}

/// How many parts of a kind a response of so many frames has.
fn parts_of(kind: usize, frames: usize) -> usize {
    end_of(kind, frames).saturating_sub(KINDS[kind].start).div_ceil(KINDS[kind].length)
}

/// Bytes of the spectra and buffers for a response of `frames` frames.
pub(super) fn memory_bytes(frames: usize) -> u64 {
    // Response and past input of each part, then sum, input, output, and a transform with its
    // tables.
    let of_kind = |kind: usize| (8 * parts_of(kind, frames) + 4 + 4 + 2 + 4 + 8) * KINDS[kind].length;
    values_bytes((0..KINDS.len()).map(of_kind).sum())
}

/// Spectra of left and right, side by side: real and imaginary parts of left, then of right. The
/// first imaginary part is the (real) value at half the rate.
struct Spectra {
    length: usize,
    /// Those that are there, one after the other.
    values: Vec<f32>,
}

impl Spectra {
    /// Room for so many; as yet there are none.
    fn new(length: usize, most: usize) -> Self {
        Self { length, values: Vec::with_capacity(4 * length * most) }
    }

    /// How many there are.
    fn count(&self) -> usize {
        self.values.len() / (4 * self.length)
    }

    fn at(&self, place: usize) -> &[f32] {
        &self.values[4 * self.length * place..][..4 * self.length]
    }

    /// The one at a place, that of one that is there or the next.
    fn at_mut(&mut self, place: usize) -> &mut [f32] {
        let until = 4 * self.length * (place + 1);
        self.values.resize(self.values.len().max(until), 0.0);
        &mut self.values[4 * self.length * place..until]
    }
}

/// A transform of twice a part's length, and room for both channels as one complex signal.
struct Transform {
    fft: Fft,
    re: Vec<f32>,
    im: Vec<f32>,
}

impl Transform {
    fn new(length: usize) -> Self {
        Self { fft: Fft::new(2 * length), re: vec![0.0; 2 * length], im: vec![0.0; 2 * length] }
    }

    /// The spectra of left and right, from `re` and `im`.
    fn analyse(&mut self, spectra: &mut [f32]) {
        let size = self.re.len();
        self.fft.forward(&mut self.re, &mut self.im);
        let (re, im) = (&self.re, &self.im);
        let (left, right) = spectra.split_at_mut(size);
        let ((left_re, left_im), (right_re, right_im)) =
            (left.split_at_mut(size / 2), right.split_at_mut(size / 2));
        let low = re[1..size / 2].iter().zip(&im[1..size / 2]);
        let mirrored = re[size / 2 + 1..].iter().zip(&im[size / 2 + 1..]).rev();
        let left = left_re[1..].iter_mut().zip(&mut left_im[1..]);
        let right = right_re[1..].iter_mut().zip(&mut right_im[1..]);
        for (((re, im), (mirror_re, mirror_im)), ((left_re, left_im), (right_re, right_im))) in
            low.zip(mirrored).zip(left.zip(right))
        {
            *left_re = 0.5 * (re + mirror_re);
            *left_im = 0.5 * (im - mirror_im);
            *right_re = 0.5 * (im + mirror_im);
            *right_im = 0.5 * (mirror_re - re);
        }
        (left_re[0], left_im[0]) = (re[0], re[size / 2]);
        (right_re[0], right_im[0]) = (im[0], im[size / 2]);
    }

    /// Left and right in `re` and `im`, from their spectra.
    fn synthesise(&mut self, spectra: &[f32]) {
        let size = self.re.len();
        let scale = 1.0 / size as f32;
        let (left, right) = spectra.split_at(size);
        let ((left_re, left_im), (right_re, right_im)) = (left.split_at(size / 2), right.split_at(size / 2));
        let (re, im) = (&mut self.re, &mut self.im);
        let (low_re, high_re) = re.split_at_mut(size / 2);
        let (low_im, high_im) = im.split_at_mut(size / 2);
        let low = low_re[1..].iter_mut().zip(&mut low_im[1..]);
        let mirrored = high_re[1..].iter_mut().zip(&mut high_im[1..]).rev();
        let left = left_re[1..].iter().zip(&left_im[1..]);
        let right = right_re[1..].iter().zip(&right_im[1..]);
        for (((re, im), (mirror_re, mirror_im)), ((left_re, left_im), (right_re, right_im))) in
            low.zip(mirrored).zip(left.zip(right))
        {
            *re = scale * (left_re - right_im);
            *im = scale * (left_im + right_re);
            *mirror_re = scale * (left_re + right_im);
            *mirror_im = scale * (right_re - left_im);
        }
        (re[0], re[size / 2]) = (scale * left_re[0], scale * left_im[0]);
        (im[0], im[size / 2]) = (scale * right_re[0], scale * right_im[0]);
        self.fft.inverse(&mut self.re, &mut self.im);
    }
}

/// The work of one kind of parts.
struct Level {
    kind: usize,
    length: usize,
    transform: Transform,
    /// How many parts the response has.
    parts: usize,
    /// Spectra of the first of them.
    response: Spectra,
    /// Spectra of the last blocks of input, a ring; the newest is at `newest`.
    past: Spectra,
    newest: usize,
    /// How many blocks of input have come, as far as that matters.
    heard: usize,
    sum: Vec<f32>,
    /// The last block and the one that comes in, left and right.
    input: [Vec<f32>; 2],
    /// What goes out in this block, and what is ready for the next.
    output: [Vec<f32>; 2],
}

impl Level {
    fn new(kind: usize, most_frames: usize) -> Self {
        let length = KINDS[kind].length;
        let most = parts_of(kind, most_frames);
        Self {
            kind,
            length,
            transform: Transform::new(length),
            parts: 0,
            response: Spectra::new(length, most),
            past: Spectra::new(length, most),
            newest: 0,
            heard: 0,
            sum: vec![0.0; 4 * length],
            input: [vec![0.0; 2 * length], vec![0.0; 2 * length]],
            output: [vec![0.0; length], vec![0.0; length]],
        }
    }

    fn clear(&mut self) {
        let parts = [&mut self.sum, &mut self.transform.re, &mut self.transform.im];
        parts.into_iter().chain(&mut self.input).chain(&mut self.output).for_each(|values| values.fill(0.0));
        (self.newest, self.heard) = (0, 0);
    }

    /// Work for the frames up to the next control place, `frame` being one.
    fn work(&mut self, frame: u64, waveform: &mut Waveform) {
        if self.parts == 0 {
            return;
        }
        let steps = self.length / CONTROL_FRAMES;
        let step = (frame % self.length as u64) as usize / CONTROL_FRAMES;
        let is_immediate = KINDS[self.kind].start == self.length;
        if step == 0 {
            if !is_immediate {
                self.deliver();
            }
            self.take();
        }
        if is_immediate {
            if step == 0 {
                self.prepare(waveform);
                self.multiply(0..self.heard);
                self.transform.synthesise(&self.sum);
                self.deliver();
            }
        } else if step + 1 == steps {
            self.transform.synthesise(&self.sum);
        } else if step > 0 {
            // The newest part is multiplied last, so its spectrum can be made apart from the
            // blocks' transforms.
            if step >= steps / 2 {
                self.prepare(waveform);
            }
            let heard = self.heard;
            let until = |step: usize| heard * step / (steps - 2);
            self.multiply(until(step - 1)..until(step));
        }
    }

    /// The second half of what the transform holds is what goes out now.
    fn deliver(&mut self) {
        self.output[0].copy_from_slice(&self.transform.re[self.length..]);
        self.output[1].copy_from_slice(&self.transform.im[self.length..]);
    }

    /// A block of input is complete.
    fn take(&mut self) {
        self.newest = if self.heard == 0 { 0 } else { (self.newest + 1) % self.parts };
        self.heard = self.parts.min(self.heard + 1);
        self.transform.re.copy_from_slice(&self.input[0]);
        self.transform.im.copy_from_slice(&self.input[1]);
        self.transform.analyse(self.past.at_mut(self.newest));
        self.input.iter_mut().for_each(|input| input.copy_within(self.length.., 0));
        self.sum.fill(0.0);
    }

    /// Makes the spectra of those parts of the response that are needed: of one more after each
    /// block, at most.
    fn prepare(&mut self, waveform: &mut Waveform) {
        while self.response.count() < self.heard {
            let part = self.response.count();
            let from = KINDS[self.kind].start + part * self.length;
            let until = (from + self.length).min(end_of(self.kind, waveform.frames()));
            waveform.make(until);
            for (side, room) in [&mut self.transform.re, &mut self.transform.im].into_iter().enumerate() {
                room.fill(0.0);
                room[..until - from].copy_from_slice(&waveform.side(side)[from..until]);
            }
            self.transform.analyse(self.response.at_mut(part));
        }
    }

    /// Multiplies parts of the response with the blocks that came as long ago.
    fn multiply(&mut self, parts: core::ops::Range<usize>) {
        for part in parts {
            // The ring is full before its newest block stands in front of an older one.
            let place = if part <= self.newest { self.newest } else { self.newest + self.parts } - part;
            add_product(&mut self.sum, self.past.at(place), self.response.at(part));
        }
    }

    /// Takes in frames from `frame` on, and adds what goes out.
    fn pass(&mut self, frame: u64, input: [&[f32]; 2], output: [&mut [f32]; 2]) {
        if self.parts == 0 {
            return;
        }
        let place = (frame % self.length as u64) as usize;
        for (side, (input, output)) in input.into_iter().zip(output).enumerate() {
            self.input[side][self.length + place..][..input.len()].copy_from_slice(input);
            for (output, more) in output.iter_mut().zip(&self.output[side][place..]) {
                *output += more;
            }
        }
    }
}

/// Convolves left with left and right with right.
pub(super) struct Convolver {
    /// The beginning of the response.
    head: [[f32; HEAD]; 2],
    /// The last frames of left and right, oldest first, then those at work.
    recent: [[f32; HEAD + CONTROL_FRAMES]; 2],
    levels: [Level; KINDS.len()],
    /// For how long the input has been silent.
    silent_frames: usize,
}

impl Convolver {
    /// For responses of at most so many frames; as yet with none.
    pub(super) fn new(most_frames: usize) -> Self {
        Self {
            head: [[0.0; HEAD]; 2],
            recent: [[0.0; HEAD + CONTROL_FRAMES]; 2],
            levels: core::array::from_fn(|kind| Level::new(kind, most_frames)),
            silent_frames: usize::MAX,
        }
    }

    /// Has another response from here on, and has heard nothing yet.
    pub(super) fn begin(&mut self, waveform: &mut Waveform) {
        let frames = waveform.frames();
        waveform.make(HEAD.min(frames));
        for (side, head) in self.head.iter_mut().enumerate() {
            head.fill(0.0);
            head.iter_mut().zip(waveform.side(side)).for_each(|(place, value)| *place = *value);
        }
        for level in &mut self.levels {
            level.parts = parts_of(level.kind, frames);
            level.response.values.clear();
        }
        self.clear();
    }

    /// As if the input had always been silent.
    pub(super) fn clear(&mut self) {
        self.recent = [[0.0; HEAD + CONTROL_FRAMES]; 2];
        self.levels.iter_mut().for_each(Level::clear);
        self.silent_frames = usize::MAX;
    }

    /// Convolves frames in place; the first is `frame` of the session. `waveform` is what
    /// [`Self::begin`] was given.
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
            recent[HEAD..][..frames].copy_from_slice(input);
        }
        for ((output, recent), head) in
            [&mut *left, &mut *right].into_iter().zip(&self.recent).zip(&self.head)
        {
            convolve_head(head, recent, output);
        }
        let input = self.recent;
        let input = input.each_ref().map(|recent| &recent[HEAD..][..frames]);
        for level in &mut self.levels {
            level.pass(frame, input, [&mut *left, &mut *right]);
        }
        for recent in &mut self.recent {
            recent.copy_within(frames..frames + HEAD, 0);
        }
    }
}

/// Frames of silence after which nothing sounds or is kept any more: the response, the block in
/// which it ends, the one in which that is worked on, and the one in which it goes out.
fn frames_to_silence(waveform: &Waveform) -> usize {
    waveform.frames() + HEAD + 3 * KINDS[KINDS.len() - 1].length
}

on_best_instructions! {
    /// Adds the product of two pairs of spectra.
    fn add_product(sum: &mut [f32], a: &[f32], b: &[f32]) = add_product_here;
}

#[inline(always)]
fn add_product_here(sum: &mut [f32], a: &[f32], b: &[f32]) {
    let length = sum.len() / 4;
    let sides =
        sum.chunks_exact_mut(2 * length).zip(a.chunks_exact(2 * length)).zip(b.chunks_exact(2 * length));
    for ((sum, a), b) in sides {
        let (sum_re, sum_im) = sum.split_at_mut(length);
        let ((a_re, a_im), (b_re, b_im)) = (a.split_at(length), b.split_at(length));
        // The first bin is two real values.
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
    /// The head of a response with the frames behind [`HEAD`] and those before them.
    fn convolve_head(head: &[f32; HEAD], recent: &[f32; HEAD + CONTROL_FRAMES], output: &mut [f32]) =
        convolve_head_here;
}

#[inline(always)]
fn convolve_head_here(head: &[f32; HEAD], recent: &[f32; HEAD + CONTROL_FRAMES], output: &mut [f32]) {
    for (group, output) in output.chunks_mut(TOGETHER).enumerate() {
        let mut sums = [0.0; TOGETHER];
        for (tap, weight) in head.iter().enumerate() {
            let values = &recent[HEAD + TOGETHER * group - tap..][..TOGETHER];
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += weight * value;
            }
        }
        for (output, sum) in output.iter_mut().zip(sums) {
            *output = sum;
        }
    }
}
