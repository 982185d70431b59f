//! The same session gives the same samples, to the bit, however it is rendered.
//!
//! [`songs`] are twenty MIDI files; [`projects`] are documents made by code, in which every kind of
//! effect, every way through the mixer, automation and recorded audio are at work. Of each the
//! SHA-256 of the samples must be one value, for
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
//! and of the start also for one frame a call: of songs with the whole bank and the baseline for
//! even places in the list and the reduced bank and the best instructions for odd ones, of projects
//! the other way round.
//!
//! Songs are also sought in their middle, with either kind of instructions: the rest has one value
//! too, and ten seconds later it is that of the whole song, to -60 dBFS.
//!
//! What a browser needs to do the same is left in `target/parity`:
//! `tests/browser/specs/parity.spec.ts` renders each of them there through WebAssembly, projects
//! from their documents, and compares its hashes with those of this test.

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

/// A new folder where the browser's part finds its sessions, beside the folder of the tests'
/// program.
fn new_folder(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let target = test.ancestors().nth(3).expect("the target folder");
    let folder = target.join("parity").join(name);
    // Only that test's files are in it.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), bytes).expect("writes");
}

/// The engine's instructions are chosen for the whole process: whoever does so holds this.
fn choice_of_instructions() -> MutexGuard<'static, ()> {
    static CHOICE: Mutex<()> = Mutex::new(());
    CHOICE.lock().unwrap_or_else(PoisonError::into_inner)
}
