//! Different methods to render a session, and the samples of such a render.

use std::sync::Mutex;

use dsp_core::mixer::{Mixer, Slots};
use dsp_core::render::{OfflineRender, RenderThreads, TailConfig};
use dsp_core::session::Session;
use sha2::{Digest as _, Sha256};

use super::sounds::Sound;

/// Frames between two reports of the audio that the engine needs, as in browsers.
const REPORT_FRAMES: usize = 1_536;
/// Maximum length of a piece of audio that is delivered to the engine at a time, as in browsers.
const PIECE_FRAMES: usize = 16_384;

/// The samples of a render, left and right.
pub(super) struct Pcm {
    left: Vec<f32>,
    right: Vec<f32>,
}

impl Pcm {
    /// Returns the first `frames` frames.
    pub(super) fn start(&self, frames: usize) -> Self {
        Self { left: self.left[..frames].to_vec(), right: self.right[..frames].to_vec() }
    }

    /// Returns the largest difference in dBFS between the last `frames` frames of this render and
    /// as many frames of `other_render` from frame `from` on.
    pub(super) fn difference_db(&self, other_render: &Self, from: usize, frames: usize) -> f64 {
        let start = self.left.len() - frames;
        let sides = [(&self.left, &other_render.left), (&self.right, &other_render.right)];
        let pairs = sides.iter().flat_map(|(values, other_values)| {
            values[start..].iter().zip(&other_values[from..from + frames])
        });
        let largest =
            pairs.fold(0.0_f32, |largest, (value, other_value)| largest.max((value - other_value).abs()));
        20.0 * f64::from(largest.max(1e-10)).log10()
    }

    /// Returns the SHA-256 of all samples as little-endian floats, the left channel before the
    /// right one.
    pub(super) fn hash(&self) -> String {
        let bytes: Vec<u8> =
            self.left.iter().chain(&self.right).flat_map(|value| value.to_le_bytes()).collect();
        sha256(&bytes)
    }

    /// Returns the largest magnitude of a sample.
    pub(super) fn peak(&self) -> f32 {
        self.left.iter().chain(&self.right).fold(0.0, |peak, value| peak.max(value.abs()))
    }

    /// Describes the difference from another render: the first frame and the largest difference.
    pub(super) fn difference(&self, other_render: &Self) -> String {
        let sides = [(&self.left, &other_render.left), (&self.right, &other_render.right)];
        let first = sides.iter().filter_map(|(values, other_values)| {
            values
                .iter()
                .zip(*other_values)
                .position(|(value, other_value)| value.to_bits() != other_value.to_bits())
        });
        let largest = sides.iter().flat_map(|(values, other_values)| values.iter().zip(*other_values));
        let largest =
            largest.fold(0.0_f32, |largest, (value, other_value)| largest.max((value - other_value).abs()));
        format!("first at frame {:?}, at most by {largest:e}", first.min())
    }
}

/// Returns the SHA-256 in hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Renders with a mixer in calls of `call_frames`, as in playback, and removes the latency.
pub(super) fn render_in_calls(session: &Session, slots: Slots<'_>, call_frames: usize, frames: usize) -> Pcm {
    render_with_mixer(session, slots, call_frames, 0, frames, |_| false)
}

/// Renders like [`render_in_calls`], after a seek to the frame `seek_frame`.
pub(super) fn render_after_seek(
    session: &Session,
    slots: Slots<'_>,
    call_frames: usize,
    seek_frame: usize,
    frames: usize,
) -> Pcm {
    render_with_mixer(session, slots, call_frames, seek_frame, frames, |_| false)
}

/// Renders like [`render_in_calls`], with audio that is streamed as in browsers. Before playback,
/// audio is delivered until the mixer requests none. During playback, a piece for each clip is
/// delivered after each call.
pub(super) fn render_streamed(session: &Session, slots: Slots<'_>, sounds: &[Sound], frames: usize) -> Pcm {
    render_with_mixer(session, slots, REPORT_FRAMES, 0, frames, |mixer| {
        assert_eq!(mixer.take_underruns().events, 0, "audio was delivered too late");
        let requests: Vec<_> = mixer.wanted_audio().collect();
        for request in &requests {
            let Sound { left, right, .. } = &sounds[request.audio_slot as usize];
            let from = request.source_frame as usize;
            let block_range = from..from + request.frames.min(PIECE_FRAMES);
            let audio = [&left[block_range.clone()], &right.as_ref().unwrap_or(left)[block_range]];
            mixer.fill_audio(request.audio_slot, request.source_frame, audio);
        }
        !requests.is_empty()
    })
}

/// Renders with a mixer. `deliver` delivers the audio that the mixer requests, and returns whether
/// the mixer requested any.
fn render_with_mixer(
    session: &Session,
    slots: Slots<'_>,
    call_frames: usize,
    seek_frame: usize,
    frames: usize,
    mut deliver: impl FnMut(&mut Mixer) -> bool,
) -> Pcm {
    let mut mixer = Mixer::new(session, slots).expect("a mixer");
    mixer.seek(seek_frame as u64);
    while deliver(&mut mixer) {}
    mixer.play();
    let latency_frames = mixer.latency_frames();
    let (mut left, mut right) = (vec![0.0; latency_frames + frames], vec![0.0; latency_frames + frames]);
    for (left, right) in left.chunks_mut(call_frames).zip(right.chunks_mut(call_frames)) {
        mixer.process(left, right);
        deliver(&mut mixer);
    }
    Pcm { left: left.split_off(latency_frames), right: right.split_off(latency_frames) }
}

/// A number of render threads that share a list of jobs.
struct Threads(usize);

impl RenderThreads for Threads {
    fn run(&self, jobs: &mut [&mut (dyn FnMut() + Send)]) {
        let jobs = Mutex::new(jobs.iter_mut());
        let run_jobs = || {
            while let Some(job) = next(&jobs) {
                job();
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.0 {
                scope.spawn(run_jobs);
            }
            run_jobs();
        });
    }
}

/// Returns the next item of an iterator that several threads share. The lock is held only during
/// this call.
fn next<T>(shared_iterator: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    shared_iterator.lock().expect("no thread panicked").next()
}

/// Renders as an export does, with a number of threads.
pub(super) fn render_as_export(session: &Session, slots: Slots<'_>, threads: usize, frames: usize) -> Pcm {
    let render_threads = Threads(threads);
    let mut render = OfflineRender::new(session, slots, TailConfig { max_secs: 0.0 }).expect("renders");
    let (mut left, mut right) = (Vec::with_capacity(frames), Vec::with_capacity(frames));
    while let Some((block_left, block_right)) = render.next_block_on(&render_threads) {
        left.extend_from_slice(block_left);
        right.extend_from_slice(block_right);
        if left.len() >= frames {
            break;
        }
    }
    assert!(left.len() >= frames, "the session ends after {} frames", left.len());
    left.truncate(frames);
    right.truncate(frames);
    Pcm { left, right }
}
