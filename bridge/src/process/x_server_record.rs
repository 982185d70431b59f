//! The record of the X server that a helper has started. A killed X server leaves its lock and its
//! socket; the supervisor finds them by the record, and deletes them.

use std::fs;
use std::io;
use std::path::Path;

/// Name of the record in the folder for temporary files of the plugin.
const NAME: &str = "x-server";

/// Maximum size of the files that are read, in bytes. A plugin may have replaced the record.
const BYTES_MAX: u64 = 64;

/// Records in `folder` the X server with this number and process id.
pub(crate) fn write(folder: &Path, number: u16, pid: u32) -> io::Result<()> {
    fs::write(folder.join(NAME), format!("{number} {pid}"))
}

/// Deletes the lock and the socket of the X server that is recorded in `folder`, which has ended. Does
/// nothing if another X server has its number now.
pub(super) fn delete_left_files(folder: &Path) {
    delete_left_files_in(Path::new("/tmp"), folder);
}

fn delete_left_files_in(tmp: &Path, folder: &Path) {
    let Some((number, pid)) = read(&folder.join(NAME)).as_deref().and_then(parse) else { return };
    let lock = tmp.join(format!(".X{number}-lock"));
    let owner = read(&lock).and_then(|text| text.trim().parse::<u32>().ok());
    if owner == Some(pid) {
        // The lock is deleted last, because another X server may take the number then.
        let _ = fs::remove_file(tmp.join(format!(".X11-unix/X{number}")));
        let _ = fs::remove_file(lock);
    }
}

fn parse(record: &str) -> Option<(u16, u32)> {
    let (number, pid) = record.split_once(' ')?;
    Some((number.parse().ok()?, pid.parse().ok()?))
}

/// Returns the content of a small ordinary file.
fn read(path: &Path) -> Option<String> {
    let metadata = fs::symlink_metadata(path).ok()?;
    (metadata.is_file() && metadata.len() <= BYTES_MAX).then(|| fs::read_to_string(path).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_files_of_the_recorded_server_are_deleted() {
        for (record, is_deleted) in
            [("7 42", true), ("7 43", false), ("8 42", false), ("../7 42", false), ("", false)]
        {
            let folder = tempfile::tempdir().expect("a folder");
            let (lock, socket) = (folder.path().join(".X7-lock"), folder.path().join(".X11-unix/X7"));
            fs::write(&lock, "        42\n").expect("writes");
            fs::create_dir(folder.path().join(".X11-unix")).expect("a folder");
            fs::write(&socket, "").expect("writes");
            fs::write(folder.path().join(NAME), record).expect("writes");
            delete_left_files_in(folder.path(), folder.path());
            assert_eq!((lock.exists(), socket.exists()), (!is_deleted, !is_deleted), "{record}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), 7, 42).expect("writes");
        assert_eq!(read(&folder.path().join(NAME)).as_deref().and_then(parse), Some((7, 42)));
    }
}
