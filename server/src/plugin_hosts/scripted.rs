//! A scripted helper for tests. It is a test program that acts as `songfoundry-bridge` and answers
//! as a script demands, even in ways in which no real helper answers.

use std::fs;
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use songfoundry_bridge_protocol::frame::{read_frame, samples_to_bytes, write_frame};
use songfoundry_bridge_protocol::host::{
    Answer, Bus, EventKind, Opened, PROTOCOL_VERSION, Process, Processed, Request, Tail,
};
use songfoundry_bridge_protocol::{PluginFormat, PluginKind};

use super::{HostError, OpenOptions, PluginHost, PluginHosts, PluginRef};
use crate::config::{Config, Source};
use crate::helper_processes::Helpers;

/// Name of the test that acts as the helper.
const HELPER_TEST: &str = "plugin_hosts::scripted::scripted_helper";

/// Environment variable that contains the name of the script.
const SCRIPT: &str = "SCRIPTED_HELPER";

/// Number of frames that the tests process at once.
const FRAMES: u32 = 16;

/// A host whose helper behaves as `script` demands.
pub(crate) struct Scripted {
    folder: tempfile::TempDir,
    pub(crate) hosts: PluginHosts,
    pub(super) helpers: Helpers,
}

/// Returns the plugin of the scripted helper.
pub(crate) fn plugin() -> PluginRef {
    PluginRef {
        module: PathBuf::from("/plugins/Test.vst3"),
        format: PluginFormat::Vst3,
        plugin_id: "11".repeat(16),
    }
}

impl Scripted {
    pub(crate) fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("helper");
        // Like the supervisor, a background process kills the process group when standard input is
        // closed. The test program gets the socket as its standard input, because it prints.
        let test_program = std::env::current_exe().expect("a path");
        let text = format!(
            "#!/bin/sh\n\
             if [ \"$1\" = capabilities ]; then\n\
             echo '{{\"version\":\"0\",\"formats\":[\"vst3\"],\"editor_windows\":false}}'; exit\n\
             fi\n\
             exec 3<&0\n\
             (cat <&3; kill -KILL -$$) >/dev/null 2>&1 </dev/null &\n\
             {SCRIPT}={script} exec '{}' --exact {HELPER_TEST} --nocapture <&1 3<&- >/dev/null\n",
            test_program.display()
        );
        fs::write(&program, text).expect("writes");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).expect("sets permissions");
        Self::with_program(folder, &program)
    }

    pub(super) fn with_program(folder: tempfile::TempDir, program: &Path) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let source = Source::from_pairs([
            ("SF_STORAGE_DIR", text(&folder.path().join("storage"))),
            ("SF_BRIDGE", text(program)),
            ("SF_PLUGIN_ANSWER_MAX_SECS", "2".to_owned()),
            ("SF_PLUGIN_HOSTS_MAX", "1".to_owned()),
        ]);
        let helpers = Helpers::default();
        let hosts = PluginHosts::new(&Config::load(&source).expect("valid settings"), &helpers);
        Self { folder, hosts, helpers }
    }

    /// Opens a plugin, processes audio, and requests the state.
    pub(super) fn open(&self, is_cancelled: &dyn Fn() -> bool) -> Result<(), HostError> {
        let options = OpenOptions {
            sample_rate_hz: 48_000,
            block_frames_max: 512,
            is_real_time: false,
            can_show_window: false,
            is_cancelled,
        };
        let mut host = PluginHost::open(&self.hosts, &plugin(), options)?;
        assert_eq!(self.helpers.list().len(), 1);
        let process = Process { frames: FRAMES, output_channels: 2, ..Process::default() };
        let audio = host.process(process, &[])?;
        assert_eq!(audio.channels, vec![vec![0.5; FRAMES as usize]; 2]);
        assert_eq!(host.state()?, b"state");
        Ok(())
    }

    /// Whether no helper, no process and no home folder of a plugin remains.
    pub(super) fn is_clean(&self) -> bool {
        let folder = self.folder.path().to_string_lossy().into_owned();
        let processes = fs::read_dir("/proc").expect("processes").flatten();
        let environments = processes.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
        let left = environments.filter(|text| String::from_utf8_lossy(text).contains(&folder)).count();
        let homes = fs::read_dir(&self.hosts.homes).map_or(0, Iterator::count);
        (left, homes, self.helpers.list().len()) == (0, 0, 0)
    }
}

/// Acts as the helper if another test started this program with [`SCRIPT`] set.
#[test]
fn scripted_helper() {
    let Ok(script) = std::env::var(SCRIPT) else { return };
    let socket = std::io::stdin().as_fd().try_clone_to_owned().expect("a socket");
    let socket = UnixStream::from(socket);
    let mut clicks = Clicks::default();
    let mut held = None;
    while let Ok(Some(frame)) = read_frame::<Request>(&socket) {
        let (answer, binary) = match (script.as_str(), &frame.header) {
            ("clicks" | "pairs" | "late" | "silent", Request::Process(process)) => {
                clicks.process(&script, process)
            }
            (script, request) => answer(script, request, &socket),
        };
        // While the song plays, each other request is answered only after the next request has
        // arrived.
        let is_playing = matches!(&frame.header, Request::Process(process) if process.transport.is_playing);
        if script == "pairs" && is_playing && held.is_none() {
            held = Some((answer, binary));
            continue;
        }
        for (answer, binary) in held.take().into_iter().chain([(answer, binary)]) {
            write_frame(&socket, &answer, &binary).expect("writes");
        }
    }
    std::process::exit(0);
}

/// Returns the answer of the scripted helper, or misbehaves.
fn answer(script: &str, request: &Request, mut socket: &UnixStream) -> (Answer, Vec<u8>) {
    use std::io::Write as _;
    let sleep = || std::thread::sleep(Duration::from_secs(600));
    let samples = |value: f32, count: u32| value.to_le_bytes().repeat(count as usize);
    match (script, request) {
        ("old", Request::Hello { .. }) => {
            (Answer::Hello { protocol_version: PROTOCOL_VERSION + 1, version: "9".to_owned() }, Vec::new())
        }
        (_, Request::Hello { protocol_version }) => {
            (Answer::Hello { protocol_version: *protocol_version, version: "0".to_owned() }, Vec::new())
        }
        ("refuse", Request::Open(_)) => (Answer::Refused { reason: "no licence".to_owned() }, Vec::new()),
        (_, Request::Open(_)) => (Answer::Opened(Box::new(opened())), Vec::new()),
        (script, Request::Process(_)) => {
            match script {
                "abort" => std::process::abort(),
                "exit" => std::process::exit(3),
                "hang" => sleep(),
                "trickle" => {
                    socket.write_all(&[0, 0, 1, 0, 0, 0, 0, 0]).expect("writes");
                    while socket.write_all(b" ").is_ok() {
                        std::thread::sleep(Duration::from_millis(20));
                    }
                }
                "close" => {
                    socket.shutdown(std::net::Shutdown::Both).expect("closes");
                    sleep();
                }
                "long_header" => socket.write_all(&[0xff; 8]).expect("writes"),
                "text" => socket.write_all(b"\x04\0\0\0\0\0\0\0{{{{").expect("writes"),
                _ => {}
            }
            let binary = match script {
                "few_samples" => samples(0.5, FRAMES),
                "not_a_number" => samples(f32::NAN, 2 * FRAMES),
                _ => samples(0.5, 2 * FRAMES),
            };
            let header = match script {
                "other_answer" => Answer::Done,
                _ => Answer::Processed(Processed::default()),
            };
            (header, binary)
        }
        (_, Request::GetState) => (Answer::State, b"state".to_vec()),
        _ => (Answer::Done, Vec::new()),
    }
}

pub(crate) fn opened() -> Opened {
    Opened {
        name: "Scripted".to_owned(),
        vendor: String::new(),
        version: String::new(),
        kind: PluginKind::Instrument,
        inputs: Vec::new(),
        outputs: vec![Bus { name: String::new(), channels: 2, is_main: true, is_side_chain: false }],
        latency_frames: 0,
        tail_frames: Tail::None,
        parameters: Vec::new(),
        programs: Vec::new(),
        program: None,
        has_editor: false,
        accepts_notes: true,
    }
}

/// An instrument that plays a click for each note. It reports its latency only after it has
/// processed audio.
#[derive(Default)]
struct Clicks {
    /// Positions of the clicks in the song.
    frames: Vec<i64>,
    /// Number of frames processed while the song was stopped.
    stopped_frames: u32,
}

/// Latency of [`Clicks`].
const CLICKS_LATENCY_FRAMES: u32 = 480;

impl Clicks {
    /// Processes audio. With the script `late`, clicks are audible after a second of silence; with
    /// `silent`, never.
    fn process(&mut self, script: &str, process: &Process) -> (Answer, Vec<u8>) {
        let start = process.transport.position_frames;
        if !process.transport.is_playing {
            self.stopped_frames += process.frames;
        }
        let is_audible = match script {
            "late" => self.stopped_frames >= 48_000,
            script => script != "silent",
        };
        for event in &process.events {
            if matches!(event.kind, EventKind::NoteOn { .. }) {
                self.frames.push(start + i64::from(event.frame + CLICKS_LATENCY_FRAMES));
            }
        }
        let value = |frame: u32| {
            let is_click = process.transport.is_playing && self.frames.contains(&(start + i64::from(frame)));
            if is_click && is_audible { 0.5 } else { 0.0_f32 }
        };
        let channel: Vec<f32> = (0..process.frames).map(value).collect();
        let processed = Processed { latency_frames: CLICKS_LATENCY_FRAMES, ..Processed::default() };
        (Answer::Processed(processed), samples_to_bytes(&[&channel, &channel]))
    }
}
