//! All methods to render a session give identical samples.
//!
//! [`songs`] are twenty MIDI files. [`projects`] are generated documents with all kinds of effects,
//! all routes through the mixer, automation and recorded audio. The SHA-256 of the samples of a
//! song or project must be the same for all of these renders:
//!
//! | of    | by             | bank            | instructions | threads | frames a call   |
//! |-------|----------------|-----------------|--------------|---------|-----------------|
//! | both  | `Mixer`        | whole           | best         | 1       | 512             |
//! | both  | `Mixer`        | whole           | baseline     | 1       | 128             |
//! | both  | `Mixer`        | reduced         | best         | 1       | 4096            |
//! | both  | `OfflineRender`| whole           | best         | 2       | the export's own |
//! | song  | `OfflineRender`| reduced         | baseline     | 2       | the export's own |
//! | project | `OfflineRender`| reduced       | baseline     | 1       | the export's own |
//! | project | `Mixer`, streamed audio | whole | best       | 1       | 1536            |
//!
//! The start is also rendered with one frame a call. For this, songs with an even index use the
//! whole bank and baseline instructions. Songs with an odd index use the reduced bank and the best
//! instructions. Projects use the reverse.
//!
//! Songs are also rendered from a seek to their middle. The results of both instruction sets must
//! be identical. Ten seconds after the seek, they must match the whole song to -60 dBFS.
//!
//! The test writes sessions and documents for browsers to `target/parity`.
//! `tests/browser/specs/parity.spec.ts` renders them in WebAssembly, and compares the hashes with
//! those of this test.

mod documents;
mod plan;
mod projects;
mod renders;
mod songs;
mod sounds;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The bank of Debian's package `timgm6mb-soundfont`.
const SMALL_BANK: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";

/// Creates an empty folder in `target/parity` for the files of the browser test.
fn new_folder(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let target = test.ancestors().nth(3).expect("the target folder");
    let folder = target.join("parity").join(name);
    // The folder contains only files for the browser test.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), bytes).expect("writes");
}

/// Locks the choice of the instruction set, which is global in the process. A test must hold the
/// lock while it selects instruction sets.
fn lock_instruction_set() -> MutexGuard<'static, ()> {
    static INSTRUCTION_SET_LOCK: Mutex<()> = Mutex::new(());
    INSTRUCTION_SET_LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}
