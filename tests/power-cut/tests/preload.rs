//! Runs a program with the shared library, and checks that only synced data survives.

use std::fs;
use std::path::Path;
use std::process::Command;

use songfoundry_power_cut::{Disk, preload};

#[test]
fn only_data_that_a_program_synced_survives() {
    let folder = tempfile::tempdir().unwrap();
    let (songs, image) = (folder.path().join("songs"), folder.path().join("image"));
    fs::create_dir(&songs).unwrap();
    let disk = Disk::open(&image).unwrap();
    disk.sync_all(&songs).unwrap();
    // Cargo builds the library beside this program.
    let library = std::env::current_exe().unwrap().with_file_name("libsongfoundry_power_cut.so");
    assert!(library.exists(), "{}", library.display());
    let run_script = |script: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).current_dir(&songs).env("LD_PRELOAD", &library);
        shell.env(preload::FOLDER, &songs).env(preload::IMAGE, &image);
        assert!(shell.status().unwrap().success());
    };
    let restored = |name: &str| {
        let to = folder.path().join(name);
        disk.restore(&songs, &to).unwrap();
        move |file: &str| fs::read_to_string(Path::new(&to).join(file)).ok()
    };
    // `sync FILE` of coreutils calls `fsync`.
    run_script("echo one >a && echo two >b && sync a");
    let first = restored("first");
    assert_eq!((first("a"), first("b")), (None, None), "a name survives that was not synced");
    run_script("sync . && echo more >>a");
    let second = restored("second");
    assert_eq!((second("a").as_deref(), second("b").as_deref()), (Some("one\n"), Some("")));
}
