//! The same session gives identical samples, however it is rendered.
//!
//! [`songs`] are twenty MIDI files; [`projects`] are generated documents with all kinds of effects,
//! all routes through the mixer, automation and recorded audio. The SHA-256 of the samples of each
//! must be the same for
//!
//! | of    | by             | bank            | instructions | threads | frames a call   |
//! |-------|----------------|-----------------|--------------|---------|-----------------|
//! | both  | `Mixer`        | whole           | best         | 1       | 512             |
//! | both  | `Mixer`        | whole           | baseline     | 1       | 128             |
//! | both  | `Mixer`        | reduced         | best         | 1       | 4096            |
//! | both  | `OfflineRender`| whole           | best         | 2       | the export's own |
//! | song  | `OfflineRender`| reduced         | baseline     | 2       | the export's own |
//! | project | `OfflineRender`| reduced       | baseline     | 1       | the export's own |
//! | project | `Mixer`, audio handed over | whole | best       | 1       | 1536            |
//!
//! The start is also rendered with one frame a call. Songs with an even index use the whole bank
//! and the baseline, others the reduced bank and the best instructions; projects use the reverse.
//!
//! Songs are also rendered from a seek to their middle, with both instruction sets and identical
//! results. Ten seconds later they match the whole song to -60 dBFS.
//!
//! Sessions for browsers are written to `target/parity`. `tests/browser/specs/parity.spec.ts`
//! renders each of them in WebAssembly, projects from their documents, and compares its hashes with
//! those of this test.

mod documents;
mod plan;
mod projects;
mod renders;
mod songs;
mod sounds;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Debian's package `timgm6mb-soundfont`.
const SMALL_BANK: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";

/// A new folder for the sessions of the browser test, beside the folder of the test program.
fn new_folder(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let target = test.ancestors().nth(3).expect("the target folder");
    let folder = target.join("parity").join(name);
    // Only files of the browser test are in it.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), bytes).expect("writes");
}

/// The instruction set is global in the process: a test that selects one holds this lock.
fn lock_instruction_set() -> MutexGuard<'static, ()> {
    static CHOICE: Mutex<()> = Mutex::new(());
    CHOICE.lock().unwrap_or_else(PoisonError::into_inner)
}
