//! Twenty MIDI songs. Three banks (a small and a large SF2 bank, and an SF3 bank) and the
//! interpolations alternate.

use std::path::Path;

use dsp_core::mixer::Slots;
use dsp_core::simd::{force_baseline, instructions};
use dsp_core::soundfont::Bank;
use serde_json::{Value, json};

use super::plan::{Case, cases};
use super::renders::{Pcm, render_after_seek, render_as_export, render_in_calls};
use super::{lock_instruction_set, new_folder, write};

/// Seconds of each song that are compared.
const SONG_SECS: usize = 20;
/// Frame of the seek. It is not a multiple of the control interval, and is twelve seconds before
/// the end of the comparison.
const SOUGHT_FRAME: usize = 8 * RATE_HZ as usize + 39;
/// Frames after the seek until the render must match that of the whole song.
const SETTLING_FRAMES: usize = 10 * RATE_HZ as usize;
/// Maximum difference from the render of the whole song after [`SETTLING_FRAMES`], in dBFS.
const SETTLED_DIFFERENCE_MAX_DBFS: f64 = -60.0;
/// Length of the start that is also rendered with one frame a call, in seconds.
const START_SECS: usize = 3;
pub(super) const RATE_HZ: u32 = 48_000;
const SONG_FRAMES: usize = SONG_SECS * RATE_HZ as usize;
const START_FRAMES: usize = START_SECS * RATE_HZ as usize;

fn check(index: usize, case: &Case, folder: &Path) -> Value {
    let name = &case.name;
    let session = case.session();
    let whole_bank = case.whole_bank(&session);
    let reduced_file = case.reduced_file(&whole_bank, &session);
    let reduced_bank = Bank::from_vec(reduced_file.clone()).expect("a reduced bank");
    let (whole_slots, reduced_slots) = ([Some(whole_bank)], [Some(reduced_bank)]);
    let (whole_slots, reduced_slots) = (Slots::from(&whole_slots), Slots::from(&reduced_slots));

    force_baseline(false);
    let reference = render_in_calls(&session, whole_slots, 512, SONG_FRAMES);
    assert!(reference.peak() > 0.01, "{name} is silent");
    let (song_hash, start_hash) = (reference.hash(), reference.start(START_FRAMES).hash());

    let assert_same = |label: &str, pcm: &Pcm| {
        assert_eq!(pcm.hash(), song_hash, "{name}: {label}: {}", reference.difference(pcm));
    };
    assert_same(
        "reduced bank, 4096 frames a call",
        &render_in_calls(&session, reduced_slots, 4096, SONG_FRAMES),
    );
    assert_same("two threads", &render_as_export(&session, whole_slots, 2, SONG_FRAMES));
    let remaining_frames = SONG_FRAMES - SOUGHT_FRAME;
    let sought = render_after_seek(&session, reduced_slots, 512, SOUGHT_FRAME, remaining_frames);
    let sought_hash = sought.hash();
    let settled_frame = SOUGHT_FRAME + SETTLING_FRAMES;
    let difference_db = sought.difference_db(&reference, settled_frame, SONG_FRAMES - settled_frame);
    assert!(
        difference_db < SETTLED_DIFFERENCE_MAX_DBFS,
        "{name}: the difference is {difference_db:.1} dBFS ten seconds after the seek"
    );
    let is_odd = index % 2 == 1;
    let render_start = |slots| render_in_calls(&session, slots, 1, START_FRAMES);
    let start = is_odd.then(|| render_start(reduced_slots));

    force_baseline(true);
    assert_same(
        "baseline instructions, 128 frames a call",
        &render_in_calls(&session, whole_slots, 128, SONG_FRAMES),
    );
    assert_same(
        "baseline instructions, reduced bank, two threads",
        &render_as_export(&session, reduced_slots, 2, SONG_FRAMES),
    );
    let start = start.unwrap_or_else(|| render_start(whole_slots));
    let sought_with_baseline = render_after_seek(&session, whole_slots, 128, SOUGHT_FRAME, remaining_frames);
    force_baseline(false);
    assert_eq!(start.hash(), start_hash, "{name}: one frame a call: {}", reference.difference(&start));

    assert_eq!(
        sought_with_baseline.hash(),
        sought_hash,
        "{name}: seek with baseline instructions: {}",
        sought.difference(&sought_with_baseline)
    );

    println!(
        "{name}: {} tracks, a bank of {} bytes, {song_hash}; a difference of {difference_db:.1} dBFS ten seconds after the seek",
        session.tracks.len(),
        reduced_file.len()
    );
    let (session_file, bank_file) = (format!("{index}.session"), format!("{index}.sf2"));
    write(folder, &session_file, postcard::to_allocvec(&session).expect("a session"));
    write(folder, &bank_file, &reduced_file);
    json!({
        "name": name,
        "session": session_file,
        "reducedBank": bank_file,
        "wholeBank": case.whole_bank_for_browsers(),
        "songHash": song_hash,
        "startHash": start_hash,
        "soughtHash": sought_hash,
    })
}

#[test]
fn all_renders_of_a_song_have_the_same_hash() {
    let _instruction_set_lock = lock_instruction_set();
    let folder = new_folder("songs");
    println!("instructions: {}", instructions());
    force_baseline(true);
    assert_ne!(instructions(), "AVX2", "the instruction set cannot be selected");
    let cases = cases();
    assert_eq!(cases.len(), 20);
    let cases: Vec<_> = cases.iter().enumerate().map(|(index, case)| check(index, case, &folder)).collect();
    let manifest = json!({
        "sampleRateHz": RATE_HZ,
        "songFrames": SONG_FRAMES,
        "startFrames": START_FRAMES,
        "soughtFrame": SOUGHT_FRAME,
        "cases": cases,
    });
    write(&folder, "manifest.json", manifest.to_string());
}
