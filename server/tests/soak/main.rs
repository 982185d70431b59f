//! Acknowledged data is stored and intact, however often the service is killed or the power fails.
//! Faulty plugins leave nothing behind, however many are used.
//!
//! `scripts/soak` runs 1,000 kills and 100 power cuts while songs are saved and recordings
//! uploaded, and uses 1,000 faulty plugins. `SOAK_PERCENT` selects a percentage of these rounds. A
//! power cut is a kill after which the folder contains only synced data (`tests/power-cut`).

#[path = "../process/database.rs"]
#[expect(dead_code, reason = "the tests of single processes use the other items")]
mod database;
mod faulty_plugins;
mod ledger;
#[path = "../process/plugin_service.rs"]
#[expect(dead_code, reason = "the tests of single processes use the other items")]
mod plugin_service;
#[path = "../process/support.rs"]
#[expect(dead_code, reason = "the tests of single processes use the other items")]
mod support;
mod work;

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use ledger::Ledger;
use songfoundry_power_cut::{Disk, preload};
use support::{Service, songfoundry};

const KILLS: usize = 1_000;
const POWER_CUTS: usize = 100;
const PLUGIN_USES: usize = 1_000;

/// Returns the number of rounds that `SOAK_PERCENT` selects, at least one.
fn selected_rounds(rounds: usize) -> usize {
    let percent =
        std::env::var("SOAK_PERCENT").map_or(100, |text| text.parse().expect("SOAK_PERCENT is a number"));
    (rounds * percent / 100).max(1)
}

/// Returns the time from the first acknowledgements to the end of a round, which is different in
/// each round.
fn kill_delay(round: usize) -> Duration {
    Duration::from_micros((round as u64 * 7_919) % 60_000)
}

/// Whether there is another round. A busy machine may need more than `min_rounds` until a save and
/// an upload are acknowledged.
fn continues(rounds: usize, min_rounds: usize, ledger: &Ledger) -> bool {
    rounds < min_rounds || (!ledger.has_acknowledged() && rounds < 20 * min_rounds)
}

#[test]
fn kills_lose_no_acknowledged_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let (mut ledger, mut rounds) = (Ledger::default(), 0);
    while continues(rounds, selected_rounds(KILLS), &ledger) {
        let round = rounds;
        rounds += 1;
        let service = Service::start(&storage, &[]);
        ledger.check_newest(&service);
        work::work_until_kill(&service, &mut ledger, round, kill_delay(round));
        service.kill();
    }
    ledger.check_all(&Service::start(&storage, &[]));
    println!("{rounds} kills: {ledger}");
}

/// Starts a service on a simulated disk, which keeps only synced data.
fn start_on(disk: &Path, storage: &Path) -> Service {
    // Cargo builds the library beside this program.
    let library = std::env::current_exe().expect("a program").with_file_name("libsongfoundry_power_cut.so");
    assert!(library.exists(), "{} is missing", library.display());
    let mut command = songfoundry(storage);
    command.arg("serve").stderr(Stdio::null()).env("LD_PRELOAD", library);
    Service::spawn(command.env(preload::FOLDER, storage).env(preload::IMAGE, disk))
}

#[test]
fn power_cuts_lose_no_acknowledged_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |kind: &str, round: usize| folder.path().join(format!("{kind}-{round}"));
    std::fs::create_dir(path("storage", 0)).expect("a folder");
    let (mut ledger, mut rounds) = (Ledger::default(), 0);
    while continues(rounds, selected_rounds(POWER_CUTS), &ledger) {
        let round = rounds;
        rounds += 1;
        let (storage, image) = (path("storage", round), path("image", round));
        let disk = Disk::open(&image).expect("an image");
        disk.sync_all(&storage).expect("the initial sync");
        let service = start_on(&image, &storage);
        ledger.check_newest(&service);
        work::work_until_kill(&service, &mut ledger, round, kill_delay(round));
        service.kill();
        disk.restore(&storage, &path("storage", round + 1)).expect("restores");
        std::fs::remove_dir_all(&storage).expect("removes");
        std::fs::remove_dir_all(&image).expect("removes");
    }
    ledger.check_all(&Service::start(&path("storage", rounds), &[]));
    println!("{rounds} power cuts: {ledger}");
}

#[test]
fn faulty_plugins_leave_nothing_behind() {
    faulty_plugins::use_faulty_plugins(selected_rounds(PLUGIN_USES));
}
