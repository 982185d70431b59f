use std::fs;
use std::io::Cursor;
use std::path::Path;

use dsp_core::render::{RenderThreads, SingleThread};
use serde_json::json;

use super::banks::{BankCache, BankLimits, open};
use super::mix::{MixFile, MixOptions, MixPass, MixReport, render, render_files};
use super::mix_file::WaitingFile;
use super::normalization::Target;
use super::selection::{Selection, TickRange};
use super::sources::{PreparedRender, RenderedTracks};
use super::threads::Threads;
use super::{BankProblem, RenderError};
use crate::encoding::audio_format::{AudioFormat, BitDepth};

use crate::encoding::quality::Quality;
use crate::storage::{BlobKey, Blobs, Sharing};

const BANK: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";
const OPTIONS: MixOptions = MixOptions {
    sample_rate_hz: 48_000,
    format: AudioFormat::Wav,
    bit_depth: BitDepth::Pcm16,
    quality: Quality::BitRate(320),
    tags: None,
    noise_shaping: false,
    normalization: None,
    selection: Selection { range: None, tracks: None },
    channel_check: false,
    tail_secs: 1.0,
};

fn song() -> schemas::Project {
    let document = include_str!("../../assets/demo-song.json");
    serde_json::from_str(document).expect("the demo song")
}

#[test]
fn the_demo_song_is_valid_and_long_enough() {
    let document: serde_json::Value =
        serde_json::from_str(include_str!("../../assets/demo-song.json")).unwrap();
    assert_eq!(schemas::validate::validate(&schemas::json::JsonText::of_value(&document)), Ok(()));
    let project = song();
    assert!(project.tracks.len() >= 4 && project.tempo_map.len() > 1 && !project.markers.is_empty());
    let session = schemas::session::build(&project, 48_000, |_| Some(0)).unwrap();
    assert!((60..=120).contains(&(session.length_frames / 48_000)), "{} frames", session.length_frames);
}

#[test]
fn the_demo_song_is_audible_and_every_render_of_it_is_identical() {
    let bank = open(Path::new(BANK)).expect("timgm6mb-soundfont is installed");
    let mut progress_values = Vec::new();
    let mut play = || {
        let mut file = Cursor::new(Vec::new());
        let mut observer = |progress| {
            progress_values.push(progress);
            true
        };
        let report = render(
            &song(),
            &OPTIONS,
            &mut |_: Option<&str>| Ok(Some(bank.clone())),
            &mut file,
            &mut observer,
        )
        .unwrap();
        (report, file.into_inner())
    };
    let (report, file) = play();
    assert_eq!(report.silent_tracks, Vec::<String>::new());
    assert_eq!(report.file.clipped_samples, 0);
    let lufs = report.file.measured.integrated_lufs.expect("the song is not silent");
    assert!((-24.0..-12.0).contains(&lufs), "{lufs} LUFS");
    assert!(report.file.measured.true_peak_dbtp.unwrap() < -1.0);
    assert!(report.file.measured.frames as f64 >= report.song_secs * 48_000.0);
    let (second_render, same_file) = play();
    assert_eq!(second_render, report);
    assert!(same_file == file);
    assert!(
        progress_values.is_sorted_by(|a, b| a < b || *b < 0.01)
            && progress_values.iter().all(|progress| *progress <= 1.0)
    );
}

#[test]
fn every_number_of_threads_gives_the_same_file() {
    let bank = open(Path::new(BANK)).expect("timgm6mb-soundfont is installed");
    let mut sources = |_: Option<&str>| Ok(Some(bank.clone()));
    let prepared =
        PreparedRender::open(&song(), &mut sources, RenderedTracks::Routed(&|_| true), &mut |_| true)
            .unwrap();
    let mut play = |threads: &dyn RenderThreads| {
        let mut destination = Cursor::new(Vec::new());
        let file = MixFile { options: OPTIONS, destination: &mut destination };
        let pass = MixPass { files: vec![WaitingFile::new(&song(), &prepared.session, 0, file).unwrap()] };
        let mut hash = String::new();
        let mut finished = |_, report: MixReport| hash = report.file.measured.pcm_sha256;
        pass.render(&prepared, &[], threads, &mut sources, &mut finished, &mut |_| true).unwrap();
        (hash, destination.into_inner())
    };
    let single_threaded = play(&SingleThread);
    for threads in [1, 3] {
        assert!(
            play(&Threads::new(threads).expect("the threads start")) == single_threaded,
            "{threads} threads"
        );
    }
}

#[test]
fn files_of_one_pass_equal_files_that_are_rendered_alone() {
    let bank = open(Path::new(BANK)).expect("timgm6mb-soundfont is installed");
    let mut sources = |_: Option<&str>| Ok(Some(bank.clone()));
    let range = |start_tick, end_tick| Some(TickRange { start_tick, end_tick });
    // Two ranges overlap, one begins at the end of another one, one is empty, and the last one is
    // after the end of the song.
    let ranges = [
        range(5_000, 20_000),
        None,
        range(9_999, 12_345),
        range(0, 5_000),
        range(20_000, 20_001),
        range(900_000, 901_000),
    ];
    let all_options = ranges.map(|range| MixOptions {
        selection: Selection { range, tracks: None },
        normalization: (range == ranges[2]).then_some(Target { lufs: -20.0, true_peak_db: -3.0 }),
        sample_rate_hz: if range == ranges[0] { 44_100 } else { 48_000 },
        ..OPTIONS
    });
    let mut destinations = [const { Vec::new() }; 6].map(Cursor::new);
    let files = all_options.iter().zip(&mut destinations);
    let files =
        files.map(|(options, destination)| MixFile { options: options.clone(), destination }).collect();
    let mut reports = [const { None }; 6];
    let mut finished = |index: usize, report| reports[index] = Some(report);
    let mut progress_values = Vec::new();
    let mut observer = |progress| {
        progress_values.push(progress);
        true
    };
    render_files(&song(), files, &mut sources, &mut finished, &mut observer).unwrap();
    assert!(progress_values.is_sorted() && progress_values.iter().all(|progress| *progress <= 1.0));
    for ((options, destination), report) in all_options.iter().zip(&destinations).zip(reports) {
        let mut single_render = Cursor::new(Vec::new());
        let expected = render(&song(), options, &mut sources, &mut single_render, &mut |_| true).unwrap();
        let report = report.expect("every file has a report");
        let range = options.selection.range;
        assert_eq!(report.file, expected.file, "{range:?}");
        assert_eq!(report.silent_tracks, expected.silent_tracks, "{range:?}");
        assert!(single_render.get_ref() == destination.get_ref(), "{range:?}");
    }
}

#[test]
fn a_render_ends_when_its_observer_cancels() {
    let bank = open(Path::new(BANK)).expect("timgm6mb-soundfont is installed");
    let mut calls = 0;
    let outcome = render(
        &song(),
        &OPTIONS,
        &mut |_: Option<&str>| Ok(Some(bank.clone())),
        Cursor::new(Vec::new()),
        &mut |_| {
            calls += 1;
            calls < 3
        },
    );
    assert!(matches!(outcome, Err(RenderError::Cancelled)), "{outcome:?}");
    assert_eq!(calls, 3);
}

#[test]
fn each_bank_of_a_track_with_notes_is_opened_once() {
    let track = |id: &str, bank: &str, notes: serde_json::Value| {
        json!({"id": id, "kind": "instrument",
               "synth_engine": {"type": "soundfont", "soundfont_id": bank, "bank": 0, "program": 0},
               "items": [{"type": "midi", "id": "i", "start_tick": 0, "length_ticks": 960, "notes": notes}]})
    };
    let note = json!([{"tick": 0, "length_ticks": 1, "pitch": 60, "velocity": 1}]);
    let project = json!({"schema_version": 1, "project_id": "p", "tracks": [
        track("1", "a", note.clone()), track("2", "b", json!([])), track("3", "a", note.clone()), track("4", "c", note)
    ]});
    let project = serde_json::from_value(project).unwrap();
    let mut opened_ids = Vec::new();
    let mut bank = |id: Option<&str>| {
        opened_ids.push(id.unwrap_or("default").to_owned());
        Ok(None)
    };
    let report = render(&project, &OPTIONS, &mut bank, Cursor::new(Vec::new()), &mut |_| true).unwrap();
    assert_eq!(opened_ids, ["a", "c"]);
    assert_eq!(report.silent_tracks, ["1", "3", "4"], "tracks without a bank are reported as silent");
}

/// Makes a cache for `total_bytes` of tables and decoded samples.
fn cache(total_bytes: u64) -> BankCache {
    BankCache::new(BankLimits { total_bytes, decoded_bytes: total_bytes })
}

#[test]
fn idle_banks_are_evicted_above_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    for name in ["a", "b", "c"] {
        fs::copy(BANK, path(name)).expect("timgm6mb-soundfont is installed");
    }
    let bank_bytes = open(&path("a")).unwrap().table_bytes();
    assert!(bank_bytes > 100_000, "the tables of a bank take {bank_bytes} bytes");
    let cache = cache(2 * bank_bytes + 1);
    let a = cache.open(&path("a")).unwrap();
    cache.open(&path("b")).unwrap();
    assert!(cache.open(&path("a")).unwrap().is_same(&a));
    assert_eq!(cache.bytes(), 2 * bank_bytes);
    let c = cache.open(&path("c")).unwrap();
    assert_eq!(cache.bytes(), 2 * bank_bytes, "b was evicted, because a is in use");
    assert!(cache.open(&path("a")).unwrap().is_same(&a) && cache.open(&path("c")).unwrap().is_same(&c));
    let problem = cache.open(&path("b")).expect_err("both cached banks are in use");
    assert!(matches!(problem, BankProblem::MemoryInUse { .. }), "{problem}");
    drop(a);
    let b = cache.open(&path("b")).expect("a is idle and can be evicted");
    assert_eq!(cache.bytes(), 2 * bank_bytes);
    drop((b, c));

    let c = cache.open(&path("c")).unwrap();
    let mut bytes = fs::read(BANK).unwrap();
    bytes.push(0);
    fs::write(path("c"), bytes).unwrap();
    assert!(!cache.open(&path("c")).unwrap().is_same(&c), "the changed file is opened again");
}

#[test]
fn uploaded_banks_in_use_leave_memory_for_other_users_and_for_the_installation() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(dir.path().join("blobs"), Sharing::Exclusive).unwrap();
    let bank_bytes = open(Path::new(BANK)).expect("timgm6mb-soundfont is installed").table_bytes();
    let cache = cache(8 * bank_bytes);
    let upload = |owner_id: &str, number: usize| {
        let key = BlobKey::new("soundfonts", &format!("{owner_id}{number}"), "sf2").unwrap();
        blobs.put(&key, &fs::read(BANK).unwrap()).unwrap();
        cache.open_stored(&blobs, &key, &owner_id.into())
    };
    // One user may use half of the memory.
    let mut in_use: Vec<_> = (0..4).map(|number| upload("ada", number).expect("opens")).collect();
    let problem = upload("ada", 4).expect_err("Ada's banks in use take half of the memory");
    assert!(matches!(problem, BankProblem::MemoryInUse { .. }), "{problem}");
    in_use.push(upload("bob", 0).expect("there is memory for another user"));
    upload("bob", 1).expect_err("Bob must leave memory for others");
    for name in ["a", "b"] {
        let path = dir.path().join(name);
        fs::copy(BANK, &path).unwrap();
        in_use.push(cache.open(&path).expect("a quarter of the memory is for the installation"));
    }
    in_use.clear();
    upload("bob", 1).expect("idle banks are evicted");
}

#[test]
fn a_bank_filled_by_other_presets_is_opened_again() {
    const SF3: &str = "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3";
    let (piano, strings) = ([(0, 0)], [(0, 48)]);
    let bank = open(Path::new(SF3)).expect("musescore-general-soundfont-small is installed");
    let largest_bytes = bank.prepared_bytes(&piano).max(bank.prepared_bytes(&strings));
    assert!(
        bank.prepared_bytes(&[piano[0], strings[0]]) > largest_bytes,
        "the limit must be too small for both presets"
    );
    let cache = BankCache::new(BankLimits { total_bytes: u64::MAX, decoded_bytes: largest_bytes });
    let prepare = |presets: &[(u16, u8)]| {
        let bank = cache.open(Path::new(SF3)).expect("opens");
        cache.prepare(&bank, "general", presets, &mut || true)
    };
    prepare(&piano).expect("the piano fits into the empty bank");
    let refusal = prepare(&strings).expect_err("the decoded piano fills the bank");
    let RenderError::Bank { reason: BankProblem::MemoryInUse { .. }, .. } = refusal else {
        panic!("{refusal}")
    };
    prepare(&strings).expect("the strings fit into the reopened bank");
    let refusal = prepare(&[piano[0], strings[0]]).expect_err("both presets together exceed the limit");
    let RenderError::Bank { reason: BankProblem::TooLarge { .. }, .. } = refusal else { panic!("{refusal}") };
}

#[test]
fn invalid_bank_files_are_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bank.sf2");
    assert!(matches!(open(&path), Err(BankProblem::Io(_))));
    fs::write(&path, b"hello").unwrap();
    let error = open(&path).unwrap_err().to_string();
    assert!(error.contains("not a SoundFont"), "{error}");
}
