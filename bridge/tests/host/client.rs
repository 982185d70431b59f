//! A client of a hosting helper, which sends requests as the service does.
#![expect(unsafe_code, reason = "the child keeps its end of the socket when it starts the program")]

use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use songfoundry_bridge_protocol::frame::{
    Frame, FrameError, bytes_to_samples, read_frame, samples_to_bytes, write_frame,
};
use songfoundry_bridge_protocol::host::{
    Answer, Event, EventKind, Open, Opened, PROTOCOL_VERSION, ParameterValue, Process, Processed, Request,
    Transport,
};
use songfoundry_bridge_protocol::{PARENT_VARIABLE, ScanRecord, ScannedPlugin};

pub(crate) const SAMPLE_RATE_HZ: f64 = 48_000.0;

/// Maximum time of a request and of the end of a process.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A helper and the service's end of the socket.
pub(crate) struct Helper {
    child: Child,
    socket: UnixStream,
    _home: tempfile::TempDir,
    transport: Transport,
}

impl Helper {
    /// Starts a helper and sends the request `Hello`.
    pub(crate) fn start() -> Self {
        let mut helper = Self::start_with(&[]);
        let answer = helper.request(Request::Hello { protocol_version: PROTOCOL_VERSION }, &[]).0;
        assert!(matches!(answer, Answer::Hello { protocol_version: PROTOCOL_VERSION, .. }), "{answer:?}");
        helper
    }

    /// Starts a helper with further arguments.
    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        Self::start_command("host", arguments)
    }

    /// Starts a helper that can show a window, and opens a plugin.
    pub(crate) fn open_with_window(module: &Path, plugin_id: &str) -> (Self, Opened) {
        let mut helper = Self::start_command("gui", &[]);
        helper.request(Request::Hello { protocol_version: PROTOCOL_VERSION }, &[]);
        match helper.request(open_request(module, plugin_id), &[]).0 {
            Answer::Opened(opened) => (helper, *opened),
            answer => panic!("{} {plugin_id}: {answer:?}", module.display()),
        }
    }

    /// Returns the process group of the helper.
    pub(crate) fn group(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    fn start_command(name: &str, arguments: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let (socket, child_socket) = UnixStream::pair().expect("sockets");
        socket.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        let descriptor = child_socket.as_raw_fd();
        let mut command = Command::new(env!("CARGO_BIN_EXE_songfoundry-bridge"));
        command
            .args([name, "--socket", &descriptor.to_string()])
            .args(arguments)
            .env(PARENT_VARIABLE, std::process::id().to_string())
            .env("HOME", home.path())
            .env_remove("DISPLAY")
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        for folder in ["TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"] {
            command.env(folder, home.path());
        }
        // SAFETY: the closure only calls `fcntl`, which is permitted between `fork` and `exec`.
        unsafe {
            command
                .pre_exec(move || Ok(fcntl(&child_socket, FcntlArg::F_SETFD(FdFlag::empty())).map(|_| ())?));
        }
        let child = command.spawn().expect("the helper starts");
        Self { child, socket, _home: home, transport: Transport::default() }
    }

    /// Starts a helper and opens a plugin.
    pub(crate) fn open(module: &Path, plugin_id: &str) -> (Self, Opened) {
        let mut helper = Self::start();
        match helper.request(open_request(module, plugin_id), &[]).0 {
            Answer::Opened(opened) => (helper, *opened),
            answer => panic!("{} {plugin_id}: {answer:?}", module.display()),
        }
    }

    /// Sends a request and returns the answer with its binary part.
    pub(crate) fn request(&mut self, request: Request, binary: &[u8]) -> (Answer, Vec<u8>) {
        match self.try_request(&request, binary) {
            Ok(Some(Frame { header, binary })) => (header, binary),
            result => panic!("{request:?}: {result:?}; {:?}", self.child.try_wait()),
        }
    }

    /// Sends a request to a helper that may end.
    pub(crate) fn try_request(
        &mut self,
        request: &Request,
        binary: &[u8],
    ) -> Result<Option<Frame<Answer>>, FrameError> {
        write_frame(&self.socket, request, binary)?;
        read_frame(&self.socket)
    }

    /// Sends a request that must be refused, and returns the reason.
    pub(crate) fn refused(&mut self, request: Request, binary: &[u8]) -> String {
        match self.request(request.clone(), binary).0 {
            Answer::Refused { reason } => reason,
            answer => panic!("{request:?}: expected a refusal, got {answer:?}"),
        }
    }

    /// Processes stereo audio with events. The position advances with each call.
    pub(crate) fn process(
        &mut self,
        input: &[Vec<f32>; 2],
        events: Vec<Event>,
    ) -> ([Vec<f32>; 2], Processed) {
        self.process_with_side_chain(input, &[], events)
    }

    /// Like [`Self::process`], with channels for the side-chain.
    pub(crate) fn process_with_side_chain(
        &mut self,
        input: &[Vec<f32>; 2],
        side_chain: &[Vec<f32>],
        events: Vec<Event>,
    ) -> ([Vec<f32>; 2], Processed) {
        let frames = input[0].len() as u32;
        let is_silent = input.iter().flatten().all(|sample| *sample == 0.0);
        let request = Process {
            frames,
            input_channels: if is_silent { 0 } else { 2 },
            side_chain_channels: side_chain.len() as u16,
            output_channels: 2,
            transport: self.transport,
            events,
            ..Process::default()
        };
        self.transport.position_frames += i64::from(frames);
        self.transport.position_quarters += f64::from(frames) / SAMPLE_RATE_HZ * 2.0;
        let mut binary = if is_silent { Vec::new() } else { samples_to_bytes(input) };
        binary.extend(samples_to_bytes(side_chain));
        match self.request(Request::Process(request), &binary) {
            (Answer::Processed(processed), binary) => {
                let output = bytes_to_samples(&binary, 2, frames as usize).expect("two channels");
                (output.try_into().expect("two channels"), processed)
            }
            (answer, _) => panic!("{answer:?}"),
        }
    }

    /// Resets the plugin and the position.
    pub(crate) fn reset(&mut self) {
        assert_eq!(self.request(Request::Reset, &[]).0, Answer::Done);
        self.transport = Transport::default();
    }

    /// Changes a parameter in a short silent request.
    pub(crate) fn set_parameter(&mut self, id: u32, value: f64) {
        self.process(&silence(64), vec![parameter(0, id, value)]);
    }

    /// Returns the state.
    pub(crate) fn state(&mut self) -> Vec<u8> {
        match self.request(Request::GetState, &[]) {
            (Answer::State, state) => state,
            (answer, _) => panic!("{answer:?}"),
        }
    }

    /// Sends a request that sets the state, and returns the values of all parameters.
    pub(crate) fn set_state(&mut self, request: Request, binary: &[u8]) -> Vec<ParameterValue> {
        match self.request(request, binary).0 {
            Answer::StateSet { parameters } => parameters,
            answer => panic!("{answer:?}"),
        }
    }

    /// Closes the plugin and waits for the end of the helper.
    pub(crate) fn close(mut self) -> ExitStatus {
        assert_eq!(self.request(Request::Close, &[]).0, Answer::Done);
        self.wait()
    }

    /// Closes the socket and waits for the end of the helper.
    pub(crate) fn hang_up(mut self) -> ExitStatus {
        self.socket.shutdown(std::net::Shutdown::Both).expect("shuts down");
        self.wait()
    }

    /// Sends a request, and returns whether its answer is missing after a time.
    pub(crate) fn does_not_answer(&self, request: &Request, binary: &[u8], time: Duration) -> bool {
        write_frame(&self.socket, request, binary).expect("writes");
        self.socket.set_read_timeout(Some(time)).expect("a timeout");
        read_frame::<Answer>(&self.socket).is_err_and(|error| matches!(error, FrameError::Socket(_)))
    }

    /// Waits for the end of the helper.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("waits") {
                return status;
            }
            assert!(start.elapsed() < TIMEOUT, "the helper does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let group = Pid::from_raw(self.child.id().cast_signed());
        let _ = killpg(group, Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

/// Returns a request that opens a plugin.
pub(crate) fn open_request(module: &Path, plugin_id: &str) -> Request {
    Request::Open(Open {
        module: module.to_str().expect("text").to_owned(),
        plugin_id: plugin_id.to_owned(),
        sample_rate_hz: SAMPLE_RATE_HZ,
        block_frames_max: 512,
        is_real_time: false,
    })
}

/// Returns the plugins that a scan lists.
pub(crate) fn scan(module: &PathBuf) -> Vec<ScannedPlugin> {
    let output = Command::new(env!("CARGO_BIN_EXE_songfoundry-bridge"))
        .arg("scan")
        .arg(module)
        .output()
        .expect("runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let records = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let plugins = records.filter_map(|record| match record {
        ScanRecord::Plugin(plugin) => Some(plugin),
        _ => None,
    });
    plugins.collect()
}

/// Returns two silent channels.
pub(crate) fn silence(frames: usize) -> [Vec<f32>; 2] {
    [vec![0.0; frames], vec![0.0; frames]]
}

/// Returns a change of a parameter.
pub(crate) fn parameter(frame: u32, id: u32, value: f64) -> Event {
    Event { frame, kind: EventKind::Parameter(ParameterValue { id, value }) }
}

/// Returns the start of a note.
pub(crate) fn note_on(frame: u32, key: u8) -> Event {
    Event { frame, kind: EventKind::NoteOn { note_id: key.into(), channel: 0, key, velocity: 0.8 } }
}

/// Returns the end of a note.
pub(crate) fn note_off(frame: u32, key: u8) -> Event {
    Event { frame, kind: EventKind::NoteOff { note_id: key.into(), channel: 0, key, velocity: 0.5 } }
}

/// Returns the largest absolute difference of two sounds.
pub(crate) fn difference(left: &[Vec<f32>; 2], right: &[Vec<f32>; 2]) -> f32 {
    let pairs = left.iter().flatten().zip(right.iter().flatten());
    pairs.map(|(left, right)| (left - right).abs()).fold(0.0, f32::max)
}

/// Returns the largest absolute sample.
pub(crate) fn peak(sound: &[Vec<f32>; 2]) -> f32 {
    sound.iter().flatten().map(|sample| sample.abs()).fold(0.0, f32::max)
}

/// Returns the first frame with a sample above the level.
pub(crate) fn first_sound(sound: &[Vec<f32>; 2], level: f32) -> Option<usize> {
    let first = |channel: &Vec<f32>| channel.iter().position(|sample| sample.abs() > level);
    sound.iter().filter_map(first).min()
}
