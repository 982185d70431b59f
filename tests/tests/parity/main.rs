//! The same session gives the same samples, to the bit, however it is rendered.
//!
//! Twenty MIDI songs, each with one of three banks (SF2 small and large, SF3) and one of the ways to
//! interpolate, in turn. Of the first [`SONG_SECS`] seconds of each, the SHA-256 must be one value for
//!
//! | bank    | instructions | threads | frames a call |
//! |---------|--------------|---------|---------------|
//! | whole   | best         | 1       | 512           |
//! | whole   | baseline     | 1       | 128           |
//! | reduced | best         | 1       | 4096          |
//! | reduced | baseline     | 2       | the export's own |
//! | whole   | best         | 2       | the export's own |
//!
//! and of the first [`START_SECS`] seconds also for one frame a call, with the whole bank and the baseline for
//! even places in the list and the reduced bank and the best instructions for odd ones.
//!
//! What a browser needs to do the same is left in `target/parity`: `tests/browser/specs/parity.spec.ts` renders
//! each song there through WebAssembly, and compares its hashes with those of this test.

mod plan;
mod renders;

use std::path::{Path, PathBuf};

use dsp_core::simd::{force_baseline, instructions};
use plan::{Case, cases};
use renders::{Pcm, by_calls, by_export};
use serde_json::json;

/// Seconds of each song that are compared.
const SONG_SECS: usize = 20;
/// Seconds that are compared where every call asks for one frame.
const START_SECS: usize = 3;
const RATE_HZ: u32 = 48_000;
const SONG_FRAMES: usize = SONG_SECS * RATE_HZ as usize;
const START_FRAMES: usize = START_SECS * RATE_HZ as usize;

/// Where the browser's part finds its sessions, beside the folder of the tests' program.
fn folder() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let target = test.ancestors().nth(3).expect("the target folder");
    target.join("parity")
}

fn check(place: usize, case: &Case, folder: &Path) -> serde_json::Value {
    let name = &case.name;
    let session = case.session();
    let whole = case.whole_bank(&session);
    let reduced_file = case.reduced_file(&whole, &session);
    let reduced = dsp_core::soundfont::Bank::from_vec(reduced_file.clone()).expect("a reduced bank");

    force_baseline(false);
    let expected = by_calls(&session, &whole, 512, SONG_FRAMES);
    assert!(expected.loudest() > 0.01, "{name} is silent");
    let (song_hash, start_hash) = (expected.hash(), expected.start(START_FRAMES).hash());

    let same = |what: &str, pcm: &Pcm| {
        assert_eq!(pcm.hash(), song_hash, "{name}: {what}: {}", expected.difference(pcm));
    };
    same("reduced bank, 4096 frames a call", &by_calls(&session, &reduced, 4096, SONG_FRAMES));
    same("two threads", &by_export(&session, &whole, 2, SONG_FRAMES));
    let odd = place % 2 == 1;
    let starts = |bank| by_calls(&session, bank, 1, START_FRAMES);
    let start = odd.then(|| starts(&reduced));

    force_baseline(true);
    same("baseline instructions, 128 frames a call", &by_calls(&session, &whole, 128, SONG_FRAMES));
    same("baseline instructions, reduced bank, two threads", &by_export(&session, &reduced, 2, SONG_FRAMES));
    let start = start.unwrap_or_else(|| starts(&whole));
    force_baseline(false);
    assert_eq!(start.hash(), start_hash, "{name}: one frame a call: {}", expected.difference(&start));

    println!("{name}: {} tracks, a bank of {} bytes, {song_hash}", session.tracks.len(), reduced_file.len());
    let (session_file, bank_file) = (format!("{place}.session"), format!("{place}.sf2"));
    std::fs::write(folder.join(&session_file), postcard::to_allocvec(&session).expect("a session"))
        .expect("writes");
    std::fs::write(folder.join(&bank_file), &reduced_file).expect("writes");
    json!({
        "name": name,
        "session": session_file,
        "trackIds": session.tracks.iter().map(|track| &track.id).collect::<Vec<_>>(),
        "reducedBank": bank_file,
        "wholeBank": case.whole_bank_for_browsers(),
        "songHash": song_hash,
        "startHash": start_hash,
    })
}

#[test]
fn one_hash_for_each_song() {
    let folder = folder();
    // Only this test's files are in it.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    println!("instructions: {}", instructions());
    force_baseline(true);
    assert_ne!(instructions(), "AVX2", "the switch works");
    let cases = cases();
    assert_eq!(cases.len(), 20);
    let cases: Vec<_> = cases.iter().enumerate().map(|(place, case)| check(place, case, &folder)).collect();
    let manifest = json!({
        "sampleRateHz": RATE_HZ,
        "songFrames": SONG_FRAMES,
        "startFrames": START_FRAMES,
        "cases": cases,
    });
    std::fs::write(folder.join("manifest.json"), manifest.to_string()).expect("writes");
}
