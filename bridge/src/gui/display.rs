//! An X server without a screen (Xvfb), which only this process and its children use.
#![expect(unsafe_code, reason = "variables of the environment are set before other threads start")]

use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use songfoundry_bridge_protocol::window::{SCREEN_HEIGHT, SCREEN_WIDTH, X_SERVER};
use x11rb::rust_connection::{DefaultStream, RustConnection};

use crate::module::FailureReason;
use crate::process::x_server_socket;

/// How long the X server may take to start and to end.
const START_MAX: Duration = Duration::from_secs(20);
const END_MAX: Duration = Duration::from_secs(1);

/// Interval between checks whether the X server has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Name of the way in which clients prove that they may use the X server.
const COOKIE_NAME: &[u8] = b"MIT-MAGIC-COOKIE-1";

/// Size of a cookie.
const COOKIE_BYTES: usize = 16;

/// A running X server.
pub(super) struct Display {
    server: Child,
    number: u16,
    cookie: [u8; COOKIE_BYTES],
}

impl Display {
    /// Starts an X server, and sets the environment variables that its clients read. Must be called
    /// before this process starts threads.
    pub(super) fn start() -> Result<Self, FailureReason> {
        Self::try_start().map_err(|error| format!("the X server {X_SERVER} cannot be started: {error:#}"))
    }

    fn try_start() -> anyhow::Result<Self> {
        let mut cookie = [0; COOKIE_BYTES];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut cookie)?;
        let authority = write_authority(&std::env::temp_dir(), &cookie)?;
        let mut server = Command::new(X_SERVER)
            // Plugins of some toolkits crash without GLX, and without a depth of 24 bits.
            .args(["-screen", "0", &format!("{SCREEN_WIDTH}x{SCREEN_HEIGHT}x24"), "+extension", "GLX"])
            .args(["-nolisten", "tcp", "-noreset", "-displayfd", "1", "-auth"])
            .arg(&authority)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let number = read_number(&mut server).inspect_err(|_| {
            let _ = server.kill();
            let _ = server.wait();
        })?;
        // Without the record, a killed X server leaves its socket.
        let _ = x_server_socket::record(&std::env::temp_dir(), number);
        // SAFETY: this process has one thread.
        unsafe {
            std::env::set_var("DISPLAY", format!(":{number}"));
            std::env::set_var("XAUTHORITY", &authority);
        }
        Ok(Self { server, number, cookie })
    }

    /// Opens a connection to the X server.
    pub(super) fn connect(&self) -> anyhow::Result<RustConnection> {
        let path = x_server_socket::path(self.number);
        let stream = std::os::unix::net::UnixStream::connect(&path)
            .with_context(|| format!("cannot connect to {}", path.display()))?;
        let (stream, _) = DefaultStream::from_unix_stream(stream)?;
        Ok(RustConnection::connect_to_stream_with_auth_info(
            stream,
            0,
            COOKIE_NAME.to_vec(),
            self.cookie.to_vec(),
        )?)
    }

    /// Ends the X server, which then deletes its socket.
    pub(super) fn end(&mut self) {
        let _ = kill(Pid::from_raw(self.server.id().cast_signed()), Signal::SIGTERM);
        let deadline = Instant::now() + END_MAX;
        while matches!(self.server.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(POLL_INTERVAL);
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Reads the number of the display, which the server prints when it is ready.
fn read_number(server: &mut Child) -> anyhow::Result<u16> {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd as _;
    let mut output = server.stdout.take().context("it has no output")?;
    let deadline = Instant::now() + START_MAX;
    let mut text = Vec::new();
    while !text.ends_with(b"\n") {
        let timeout = PollTimeout::try_from(deadline.saturating_duration_since(Instant::now()))?;
        let ready = poll(&mut [PollFd::new(output.as_fd(), PollFlags::POLLIN)], timeout)?;
        anyhow::ensure!(ready > 0, "it did not start within {} seconds", START_MAX.as_secs());
        let mut bytes = [0; 16];
        let count = output.read(&mut bytes)?;
        anyhow::ensure!(count > 0 && text.len() < bytes.len(), "it ended without a display");
        text.extend_from_slice(&bytes[..count]);
    }
    Ok(std::str::from_utf8(&text)?.trim().parse()?)
}

/// Writes the file from which clients read the cookie. Source of its form: Xau library, "Xauth.h";
/// the family 65535 means any address.
fn write_authority(folder: &Path, cookie: &[u8]) -> anyhow::Result<PathBuf> {
    let path = folder.join("x-authority");
    let mut content = 65_535_u16.to_be_bytes().to_vec();
    for field in [b"".as_slice(), b"", COOKIE_NAME, cookie] {
        content.extend_from_slice(&(field.len() as u16).to_be_bytes());
        content.extend_from_slice(field);
    }
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&path)?;
    file.write_all(&content)?;
    Ok(path)
}
