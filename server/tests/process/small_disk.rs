//! A disk of a few megabytes that only the service and the test see: a `tmpfs` in a separate mount
//! namespace. The disk disappears with the process that holds the namespace, however the test ends.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::songfoundry;

/// A mounted disk, which disappears when dropped.
pub(crate) struct SmallDisk {
    holder: Child,
    /// The folder of the disk, as the service sees it.
    pub(crate) folder: PathBuf,
    is_root: bool,
}

impl SmallDisk {
    /// Mounts a disk of `megabytes` over `folder`, which must exist.
    pub(crate) fn mount(folder: &Path, megabytes: u32) -> Self {
        let id = Command::new("id").arg("-u").output().expect("id runs").stdout;
        let is_root = String::from_utf8_lossy(&id).trim() == "0";
        let mut command = Command::new("unshare");
        // A user other than root gets a user namespace in which that user is root.
        command.args(if is_root { &["--mount"][..] } else { &["--map-root-user", "--mount"] });
        let script = format!(
            "mount -t tmpfs -o size={megabytes}m,mode=700 none '{}' && echo mounted && exec sleep 600",
            folder.display()
        );
        command.args(["sh", "-c", &script]).stdout(Stdio::piped());
        let mut holder = command.spawn().expect("unshare runs");
        let mut line = String::new();
        let output = holder.stdout.take().expect("piped");
        BufReader::new(output).read_line(&mut line).expect("reads");
        assert_eq!(
            line.trim(),
            "mounted",
            "cannot mount a disk: run this test as root, or allow user namespaces"
        );
        Self { holder, folder: folder.to_owned(), is_root }
    }

    /// Returns the command `songfoundry`, which runs in the namespace of the disk.
    pub(crate) fn songfoundry(&self, storage: &Path) -> Command {
        let program_command = songfoundry(storage);
        let mut command = Command::new("nsenter");
        command.arg(format!("--target={}", self.holder.id()));
        if !self.is_root {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.arg("--mount").arg("--").arg(program_command.get_program());
        for (key, value) in program_command.get_envs() {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        command
    }

    /// Returns the path through which this process reaches a file of the disk.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        root.join(self.folder.strip_prefix("/").expect("an absolute path")).join(name)
    }

    /// Fills the disk to the last byte.
    pub(crate) fn fill(&self) {
        let mut file = File::create(self.path("ballast")).expect("makes a file");
        let zeros = [0; 4096];
        while file.write_all(&zeros).is_ok() {}
    }

    /// Fills the disk again to the last byte, after a file was removed.
    pub(crate) fn fill_again(&self) {
        let mut file = File::options().append(true).open(self.path("ballast")).expect("opens");
        let zeros = [0; 4096];
        while file.write_all(&zeros).is_ok() {}
    }

    /// Frees `bytes` bytes of a full disk.
    pub(crate) fn free_up(&self, bytes: u64) {
        let file = File::options().write(true).open(self.path("ballast")).expect("opens");
        let size_bytes = file.metadata().expect("reads").len();
        file.set_len(size_bytes - bytes).expect("shortens");
    }

    /// Returns the number of free bytes of the disk.
    pub(crate) fn free_bytes(&self) -> u64 {
        let output = Command::new("stat")
            .args(["--file-system", "--format=%a %S"])
            .arg(self.path(""))
            .output()
            .expect("stat runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_whitespace().map(|number| number.parse::<u64>().expect("a number")).product()
    }

    /// Deletes the file that fills the disk.
    pub(crate) fn empty(&self) {
        fs::remove_file(self.path("ballast")).expect("removes");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The disk disappears with the last process of its namespace.
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
