//! The program as a process, with a minimal HTTP client.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::database;

/// A running service, which is killed when dropped.
pub(crate) struct Service {
    child: Child,
    /// The address that the service printed.
    pub(crate) address: SocketAddr,
    /// The lines that the service printed before its address.
    pub(crate) greeting: Vec<String>,
    /// Stays open so that the service can write further output.
    stdout: BufReader<ChildStdout>,
}

/// Returns the command `songfoundry` with settings for a test and no others.
pub(crate) fn songfoundry(storage: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_songfoundry"));
    for (key, _) in std::env::vars().filter(|(key, _)| key.starts_with("SF_")) {
        command.env_remove(key);
    }
    command
        .env("SF_STORAGE_DIR", storage)
        .env("SF_PORT", "0")
        .env("SF_SOUNDFONT_DIRS", storage.join("soundfonts"));
    if let Some(url) = database::postgres_address(storage) {
        command.env("SF_DATABASE_URL", url);
    }
    // The working directory of the test may contain a settings file.
    command.current_dir(storage.parent().expect("a folder above"));
    command
}

impl Service {
    /// Starts the service on a free port and waits until it prints its address.
    pub(crate) fn start(storage: &Path, settings: &[(&str, &str)]) -> Self {
        Self::spawn(songfoundry(storage).arg("serve").envs(settings.iter().copied()).stderr(Stdio::null()))
    }

    /// Starts `command` and waits until it prints its address.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let (address, greeting) = read_greeting(&mut stdout);
        if let Some(address) = address {
            Self { child, address, greeting, stdout }
        } else {
            panic!("the service ended before it printed its address: {:?} {greeting:?}", child.wait());
        }
    }

    /// Reads the next line that the service prints after its address.
    pub(crate) fn next_line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("reads");
        line.trim_end().to_owned()
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let kill_status =
            Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(kill_status.expect("kill runs").success());
    }

    /// Sends SIGKILL while other threads still use the service.
    pub(crate) fn signal_kill(&self) {
        self.signal("KILL");
    }

    /// Sends SIGKILL, which allows no cleanup, and waits until the service has ended.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("kills");
        self.child.wait().expect("ends");
    }

    /// Sends SIGTERM and waits until the service has ended. Returns the exit status and the
    /// duration.
    pub(crate) fn stop(mut self) -> (ExitStatus, Duration) {
        let start_time = Instant::now();
        self.signal("TERM");
        while start_time.elapsed() < Duration::from_secs(20) {
            if let Some(status) = self.child.try_wait().expect("waits") {
                return (status, start_time.elapsed());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the service does not end within 20 s after SIGTERM");
    }

    /// Returns the standard error of the service, which must be piped.
    pub(crate) fn take_stderr(&mut self) -> impl std::io::Read + use<> {
        self.child.stderr.take().expect("piped")
    }

    /// Sends a request; `None` if the service ended before the answer was complete.
    pub(crate) fn call(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Option<Answer> {
        self.send(method, path, headers, body.as_bytes())
    }

    /// Sends a request like [`Self::call`], with any bytes as the body. The content type is JSON
    /// unless the headers contain another one.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Option<Answer> {
        request(self.address, method, path, headers, body).ok().flatten()
    }

    /// Sends a request that must be answered with `status`, and returns the JSON body.
    #[track_caller]
    pub(crate) fn expect(
        &self,
        status: u16,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Value {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.call(method, path, headers, &text).expect("an answer");
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.body);
        if answer.body.is_empty() { Value::Null } else { serde_json::from_str(&answer.body).expect("JSON") }
    }
}

/// Reads up to the line with the address. Returns the address and the lines before that line.
fn read_greeting(stdout: &mut impl BufRead) -> (Option<SocketAddr>, Vec<String>) {
    let mut greeting = Vec::new();
    loop {
        let mut line = String::new();
        if stdout.read_line(&mut line).expect("reads") == 0 {
            return (None, greeting);
        }
        let address = line.trim().strip_prefix("Songfoundry is at ").and_then(|url| url.split_once("://"));
        if let Some((_, address)) = address {
            return (Some(address.parse().expect("an address")), greeting);
        }
        greeting.push(line);
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // In most tests the service has already ended, and this fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An HTTP answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Status line and headers.
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Returns a multipart form with one file and the boundary `b`.
pub(crate) fn form(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut body =
        format!("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n")
            .into_bytes();
    body.extend_from_slice(bytes);
    body.extend(b"\r\n--b--\r\n");
    body
}

/// Sends a request to an address; `None` if the server ended before the answer was complete.
pub(crate) fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> std::io::Result<Option<Answer>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    let has_content_type = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if !body.is_empty() && !has_content_type {
        head.push_str("Content-Type: application/json\r\n");
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    stream.write_all(body)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let text = String::from_utf8_lossy(&answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return Ok(None) };
    let field = |name: &str| {
        let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with(name))?;
        line.split_once(':').map(|(_, value)| value.trim().to_owned())
    };
    let length = field("content-length:").and_then(|text| text.parse::<usize>().ok());
    if length.is_some_and(|length| body.len() < length) {
        return Ok(None);
    }
    let status = head.split(' ').nth(1).and_then(|text| text.parse().ok()).expect("a status");
    Ok(Some(Answer { status, head: head.to_owned(), body: body.to_owned() }))
}

/// Reads a number in KiB from the process's status: `VmHWM` is the peak memory, `VmRSS` the current
/// memory.
pub(crate) fn status_kib(service: &Service, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", service.id())).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("the system counts it");
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Waits until the service has closed its end of the connection from `client_port`, which the
/// client leaves open.
#[track_caller]
pub(crate) fn wait_until_closed(service: &Service, client_port: u16) {
    const ENDS_WITHIN: Duration = Duration::from_secs(20);
    let start_time = Instant::now();
    while is_established(service.address.port(), client_port) {
        assert!(start_time.elapsed() < ENDS_WITHIN, "the connection stays open");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether the system lists the connection on `port` from `client_port` as established (proc(5),
/// `/proc/net/tcp`).
fn is_established(port: u16, client_port: u16) -> bool {
    const ESTABLISHED: &str = "01";
    let connections = std::fs::read_to_string("/proc/net/tcp").expect("the system's list of connections");
    connections.lines().skip(1).any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let ports = [port, client_port].map(|port| format!(":{port:04X}"));
        let is_between = ports.iter().all(|port| fields.next().is_some_and(|end| end.ends_with(port)));
        is_between && fields.next() == Some(ESTABLISHED)
    })
}
