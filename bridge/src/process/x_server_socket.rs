//! The socket of the X server that a helper has started. A killed X server does not delete its
//! socket. The supervisor finds the socket by the record that the helper wrote, and deletes it.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Folder of the sockets of X servers.
const SOCKETS: &str = "/tmp/.X11-unix";

/// Name of the record in the folder for temporary files of the plugin.
const RECORD: &str = "x-server";

/// Maximum size of the record in bytes. A plugin may have replaced it.
const RECORD_BYTES_MAX: u64 = 64;

/// Returns the path of the socket of an X server.
pub(crate) fn path(number: u16) -> PathBuf {
    Path::new(SOCKETS).join(format!("X{number}"))
}

/// Records in `folder` the X server with this number, which runs.
pub(crate) fn record(folder: &Path, number: u16) -> io::Result<()> {
    record_in(Path::new(SOCKETS), folder, number)
}

/// Deletes the socket of the X server that is recorded in `folder`, which has ended. Does nothing
/// if another X server has its number now.
pub(super) fn delete_left_socket(folder: &Path) {
    delete_left_socket_in(Path::new(SOCKETS), folder);
}

fn record_in(sockets: &Path, folder: &Path, number: u16) -> io::Result<()> {
    let inode = fs::symlink_metadata(sockets.join(format!("X{number}")))?.ino();
    fs::write(folder.join(RECORD), format!("{number} {inode}"))
}

fn delete_left_socket_in(sockets: &Path, folder: &Path) {
    let Some((number, inode)) = read(&folder.join(RECORD)) else { return };
    let socket = sockets.join(format!("X{number}"));
    let is_recorded = fs::symlink_metadata(&socket)
        .is_ok_and(|metadata| metadata.file_type().is_socket() && metadata.ino() == inode);
    // Nobody listens on the socket of an X server that has ended.
    let has_ended =
        || UnixStream::connect(&socket).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused);
    if is_recorded && has_ended() {
        let _ = fs::remove_file(socket);
    }
}

/// Returns the number of the X server and the inode of its socket.
fn read(record: &Path) -> Option<(u16, u64)> {
    let metadata = fs::symlink_metadata(record).ok()?;
    if !metadata.is_file() || metadata.len() > RECORD_BYTES_MAX {
        return None;
    }
    let text = fs::read_to_string(record).ok()?;
    let (number, inode) = text.split_once(' ')?;
    Some((number.parse().ok()?, inode.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_the_recorded_socket_without_a_server_is_deleted() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let socket = folder.join("X7");
        let server = UnixListener::bind(&socket).expect("binds");
        record_in(folder, folder, 7).expect("writes");
        delete_left_socket_in(folder, folder);
        assert!(socket.exists(), "the server runs");
        drop(server);
        let record = fs::read_to_string(folder.join(RECORD)).expect("reads");
        for wrong_record in ["", "7 1", "../7 1", &record.replacen('7', "8", 1)] {
            fs::write(folder.join(RECORD), wrong_record).expect("writes");
            delete_left_socket_in(folder, folder);
            assert!(socket.exists(), "{wrong_record}");
        }
        fs::write(folder.join(RECORD), record).expect("writes");
        delete_left_socket_in(folder, folder);
        assert!(!socket.exists());
    }
}
