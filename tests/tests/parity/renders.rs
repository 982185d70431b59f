//! Different methods to render a session, and their samples.

use std::sync::Mutex;

use dsp_core::mixer::{Mixer, Slots};
use dsp_core::render::{OfflineRender, RenderThreads, TailConfig};
use dsp_core::session::Session;
use sha2::{Digest as _, Sha256};

use super::sounds::Sound;

/// Frames between two reports of wanted audio to a browser, and the maximum length of a delivered
/// piece.
const REPORT_FRAMES: usize = 1_536;
const PIECE_FRAMES: usize = 16_384;

/// Samples of a render.
pub(super) struct Pcm {
    left: Vec<f32>,
    right: Vec<f32>,
}

impl Pcm {
    /// The first frames.
    pub(super) fn start(&self, frames: usize) -> Self {
        Self { left: self.left[..frames].to_vec(), right: self.right[..frames].to_vec() }
    }

    /// Difference in dBFS between the last frames of this render and those of the other from a
    /// frame on.
    pub(super) fn off_db(&self, other: &Self, from: usize, frames: usize) -> f64 {
        let start = self.left.len() - frames;
        let sides = [(&self.left, &other.left), (&self.right, &other.right)];
        let pairs =
            sides.iter().flat_map(|(this, other)| this[start..].iter().zip(&other[from..from + frames]));
        let off = pairs.fold(0.0_f32, |largest, (this, other)| largest.max((this - other).abs()));
        20.0 * f64::from(off.max(1e-10)).log10()
    }

    /// SHA-256 of all samples of the left channel, then of the right, as little-endian floats.
    pub(super) fn hash(&self) -> String {
        let bytes: Vec<u8> =
            self.left.iter().chain(&self.right).flat_map(|value| value.to_le_bytes()).collect();
        sha256(&bytes)
    }

    /// The largest magnitude.
    pub(super) fn loudest(&self) -> f32 {
        self.left.iter().chain(&self.right).fold(0.0, |loudest, value| loudest.max(value.abs()))
    }

    /// Index of the first difference from another render, and the largest difference.
    pub(super) fn difference(&self, other: &Self) -> String {
        let sides = [(&self.left, &other.left), (&self.right, &other.right)];
        let first = sides.iter().filter_map(|(this, other)| {
            this.iter().zip(*other).position(|(this, other)| this.to_bits() != other.to_bits())
        });
        let largest = sides.iter().flat_map(|(this, other)| this.iter().zip(*other));
        let largest = largest.fold(0.0_f32, |largest, (this, other)| largest.max((this - other).abs()));
        format!("first at frame {:?}, at most by {largest:e}", first.min())
    }
}

/// SHA-256 in hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Renders by a mixer in calls of `call_frames`, as in playback; removes the latency.
pub(super) fn by_calls(session: &Session, slots: Slots<'_>, call_frames: usize, frames: usize) -> Pcm {
    by_mixer(session, slots, call_frames, 0, frames, |_| false)
}

/// Like [`by_calls`], after a seek.
pub(super) fn by_seeking(
    session: &Session,
    slots: Slots<'_>,
    call_frames: usize,
    sought: usize,
    frames: usize,
) -> Pcm {
    by_mixer(session, slots, call_frames, sought, frames, |_| false)
}

/// Like [`by_calls`], with audio streamed as in browsers. While stopped, audio is delivered until
/// none is wanted, then a piece for each clip after each call.
pub(super) fn by_streaming(session: &Session, slots: Slots<'_>, sounds: &[Sound], frames: usize) -> Pcm {
    by_mixer(session, slots, REPORT_FRAMES, 0, frames, |mixer| {
        assert_eq!(mixer.take_underruns().events, 0, "audio came too late");
        let wanted: Vec<_> = mixer.wanted_audio().collect();
        for one in &wanted {
            let Sound { left, right, .. } = &sounds[one.audio_slot as usize];
            let from = one.source_frame as usize;
            let piece = from..from + one.frames.min(PIECE_FRAMES);
            let audio = [&left[piece.clone()], &right.as_ref().unwrap_or(left)[piece]];
            mixer.fill_audio(one.audio_slot, one.source_frame, audio);
        }
        !wanted.is_empty()
    })
}

/// `deliver` delivers wanted audio, and returns whether any was wanted.
fn by_mixer(
    session: &Session,
    slots: Slots<'_>,
    call_frames: usize,
    sought: usize,
    frames: usize,
    mut deliver: impl FnMut(&mut Mixer) -> bool,
) -> Pcm {
    let mut mixer = Mixer::new(session, slots).expect("a mixer");
    mixer.seek(sought as u64);
    while deliver(&mut mixer) {}
    mixer.play();
    let lag = mixer.latency_frames();
    let (mut left, mut right) = (vec![0.0; lag + frames], vec![0.0; lag + frames]);
    for (left, right) in left.chunks_mut(call_frames).zip(right.chunks_mut(call_frames)) {
        mixer.process(left, right);
        deliver(&mut mixer);
    }
    Pcm { left: left.split_off(lag), right: right.split_off(lag) }
}

/// Render threads that share a list of jobs.
struct Threads(usize);

impl RenderThreads for Threads {
    fn run(&self, jobs: &mut [&mut (dyn FnMut() + Send)]) {
        let jobs = Mutex::new(jobs.iter_mut());
        let work = || {
            while let Some(job) = next(&jobs) {
                job();
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.0 {
                scope.spawn(work);
            }
            work();
        });
    }
}

/// The next item of an iterator that several threads share; the lock is held only for this call.
fn next<T>(shared: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    shared.lock().expect("no thread panicked").next()
}

/// Renders like an export, with a number of threads.
pub(super) fn by_export(session: &Session, slots: Slots<'_>, threads: usize, frames: usize) -> Pcm {
    let render_threads = Threads(threads);
    let mut render = OfflineRender::new(session, slots, TailConfig { max_secs: 0.0 }).expect("renders");
    let (mut left, mut right) = (Vec::with_capacity(frames), Vec::with_capacity(frames));
    while let Some((block_left, block_right)) = render.next_block_by(&render_threads) {
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
