//! Ways to render a session, and the samples they give.

use std::sync::Mutex;

use dsp_core::session::{Crew, Mixer, OfflineRender, Session, TailConfig};
use dsp_core::soundfont::Bank;
use sha2::{Digest as _, Sha256};

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

    /// SHA-256 of all samples of the left channel, then of the right, as little-endian floats.
    pub(super) fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for value in self.left.iter().chain(&self.right) {
            hash.update(value.to_le_bytes());
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The largest magnitude.
    pub(super) fn loudest(&self) -> f32 {
        self.left.iter().chain(&self.right).fold(0.0, |loudest, value| loudest.max(value.abs()))
    }

    /// Where another render first differs from this one, and by how much it ever does.
    pub(super) fn difference(&self, other: &Self) -> String {
        let sides = [(&self.left, &other.left), (&self.right, &other.right)];
        let first = sides.iter().filter_map(|(own, other)| {
            own.iter().zip(*other).position(|(own, other)| own.to_bits() != other.to_bits())
        });
        let largest = sides.iter().flat_map(|(own, other)| own.iter().zip(*other));
        let largest = largest.fold(0.0_f32, |largest, (own, other)| largest.max((own - other).abs()));
        format!("first at frame {:?}, at most by {largest:e}", first.min())
    }
}

/// By a mixer, called with a number of frames at a time, as playback does; without the frames by which it lags.
pub(super) fn by_calls(session: &Session, bank: &Bank, call_frames: usize, frames: usize) -> Pcm {
    let mut mixer = Mixer::new(session, &[Some(bank.clone())]).expect("a mixer");
    mixer.play();
    let lag = mixer.latency_frames();
    let (mut left, mut right) = (vec![0.0; lag + frames], vec![0.0; lag + frames]);
    for (left, right) in left.chunks_mut(call_frames).zip(right.chunks_mut(call_frames)) {
        mixer.process(left, right);
    }
    Pcm { left: left.split_off(lag), right: right.split_off(lag) }
}

/// A crew of so many threads, which share the jobs out among them as they come.
struct Threads(usize);

impl Crew for Threads {
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

/// The next of what several threads share; the lock is held no longer than that takes.
fn next<T>(shared: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    shared.lock().expect("no thread panicked").next()
}

/// As an export does, over a number of threads.
pub(super) fn by_export(session: &Session, bank: &Bank, threads: usize, frames: usize) -> Pcm {
    let crew = Threads(threads);
    let mut render =
        OfflineRender::new(session, &[Some(bank.clone())], TailConfig { max_secs: 0.0 }).expect("renders");
    let (mut left, mut right) = (Vec::with_capacity(frames), Vec::with_capacity(frames));
    while let Some((block_left, block_right)) = render.next_block_by(&crew) {
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
