//! Files that the command line creates as root belong to the owner of the storage folder.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;

use crate::audio::{upload, wav};
use crate::database;
use crate::support::{Service, songfoundry};

/// The id of a user that runs no service of the test: `nobody` on Debian.
const OTHER_USER_ID: u32 = 65_534;

#[track_caller]
fn run_admin(storage: &Path, args: &[&str]) {
    let output = songfoundry(storage).arg("admin").args(args).output().expect("runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Checks that all files and folders below `folder` belong to `owner`.
#[track_caller]
fn assert_belongs_to(owner: u32, folder: &Path) {
    for entry in fs::read_dir(folder).expect("reads") {
        let path = entry.expect("reads").path();
        assert_eq!(fs::metadata(&path).expect("is there").uid(), owner, "{}", path.display());
        if path.is_dir() {
            assert_belongs_to(owner, &path);
        }
    }
}

#[test]
fn files_created_as_root_belong_to_the_owner_of_the_folder() {
    let folders = [(); 4].map(|()| tempfile::tempdir().expect("a folder"));
    let test_user_id = fs::metadata(folders[0].path()).expect("is there").uid();
    // Only root can change owners. For another user, all files belong to that user.
    let owner = if test_user_id == 0 { OTHER_USER_ID } else { test_user_id };
    let [first, second, third] = [0, 1, 2].map(|index: usize| folders[index].path().join("storage"));
    for storage in [&first, &second, &third] {
        fs::create_dir_all(storage).expect("makes");
    }
    for storage in [&second, &third] {
        chown(storage, Some(owner), None).expect("changes the owner");
    }
    run_admin(&second, &["create-user", "ada"]);
    assert_belongs_to(owner, &second);

    let service = Service::start(&first, &[]);
    assert_eq!(upload(&service, "", &wav(4_800, 7)).expect("an answer").status, 201);
    assert!(service.stop().0.success());
    let backup = folders[3].path().join("backup");
    run_admin(&first, &["backup", backup.to_str().expect("Unicode")]);
    run_admin(&third, &["restore", backup.to_str().expect("Unicode")]);
    assert_belongs_to(owner, &third);
    assert!(database::postgres_address(&third).is_some() || third.join("songfoundry.db").is_file());

    // A check recreates a file and moves another one to the quarantine.
    let stored_files = |end: &str| {
        let files =
            fs::read_dir(third.join("blobs/audio")).expect("reads").map(|entry| entry.expect("reads"));
        files.map(|file| file.path()).find(|path| path.to_string_lossy().ends_with(end)).expect("a file")
    };
    fs::remove_file(stored_files(".peaks")).expect("removes");
    let unknown_file = third.join("blobs/audio").join(format!("{}.wav", "a".repeat(64)));
    fs::write(&unknown_file, "left over").expect("writes");
    run_admin(&third, &["check", "--repair", "--age-secs", "0"]);
    assert!(stored_files(".peaks").is_file() && !unknown_file.exists() && third.join("quarantine").is_dir());
    assert_belongs_to(owner, &third);
    run_admin(&third, &["quarantine", "restore", "--all"]);
    assert!(unknown_file.is_file());
    assert_belongs_to(owner, &third);
}

#[test]
fn a_refused_command_as_root_leaves_no_file_of_root() {
    let folder = tempfile::tempdir().expect("a folder");
    let test_user_id = fs::metadata(folder.path()).expect("is there").uid();
    let owner = if test_user_id == 0 { OTHER_USER_ID } else { test_user_id };
    let storage = folder.path().join("storage");
    fs::create_dir_all(&storage).expect("makes");
    chown(&storage, Some(owner), None).expect("changes the owner");
    // The database is created before the name is checked.
    let refusal = songfoundry(&storage).args(["admin", "create-user", "a b"]).output().expect("runs");
    assert!(!refusal.status.success());
    assert!(database::postgres_address(&storage).is_some() || storage.join("songfoundry.db").is_file());
    assert_belongs_to(owner, &storage);
}
