//! Tests hosting with a scripted helper, which answers in ways in which no real helper answers.

use std::fs;
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use songfoundry_bridge_protocol::frame::{read_frame, write_frame};
use songfoundry_bridge_protocol::host::{
    Answer, Opened, PROTOCOL_VERSION, Process, Processed, Request, Tail,
};
use songfoundry_bridge_protocol::{PluginFormat, PluginKind};

use super::*;
use crate::config::Source;
use crate::error::ApiError;

/// Name of the test that acts as the helper.
const HELPER_TEST: &str = "plugin_hosts::tests::scripted_helper";

/// Environment variable with the behaviour of the scripted helper.
const SCRIPT: &str = "SCRIPTED_HELPER";

/// Frames that the tests process.
const FRAMES: u32 = 16;

/// A host whose helper behaves as `script` says.
struct Scripted {
    folder: tempfile::TempDir,
    hosts: PluginHosts,
    helpers: Helpers,
}

impl Scripted {
    fn new(script: &str) -> Self {
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

    fn with_program(folder: tempfile::TempDir, program: &Path) -> Self {
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

    fn open(&self, is_cancelled: &dyn Fn() -> bool) -> Result<(), HostError> {
        let plugin = PluginRef {
            module: PathBuf::from("/plugins/Test.vst3"),
            format: PluginFormat::Vst3,
            plugin_id: "11".repeat(16),
        };
        let options = OpenOptions { sample_rate_hz: 48_000, block_frames_max: 512, is_cancelled };
        let mut host = PluginHost::open(&self.hosts, &plugin, options)?;
        assert_eq!(self.helpers.list().len(), 1);
        let process = Process { frames: FRAMES, output_channels: 2, ..Process::default() };
        let audio = host.process(process, &[])?;
        assert_eq!(audio.channels, vec![vec![0.5; FRAMES as usize]; 2]);
        assert_eq!(host.state()?, b"state");
        Ok(())
    }

    /// Whether no helper, no process and no folder of a plugin is left.
    fn is_clean(&self) -> bool {
        let folder = self.folder.path().to_string_lossy().into_owned();
        let processes = fs::read_dir("/proc").expect("processes").flatten();
        let environments = processes.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
        let left = environments.filter(|text| String::from_utf8_lossy(text).contains(&folder)).count();
        let homes = fs::read_dir(&self.hosts.homes).map_or(0, Iterator::count);
        (left, homes, self.helpers.list().len()) == (0, 0, 0)
    }
}

/// Acts as the helper if a test started this program as one.
#[test]
fn scripted_helper() {
    let Ok(script) = std::env::var(SCRIPT) else { return };
    let socket = std::io::stdin().as_fd().try_clone_to_owned().expect("a socket");
    let socket = UnixStream::from(socket);
    while let Ok(Some(frame)) = read_frame::<Request>(&socket) {
        let (answer, binary) = answer(&script, &frame.header, &socket);
        write_frame(&socket, &answer, &binary).expect("writes");
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

fn opened() -> Opened {
    Opened {
        name: "Scripted".to_owned(),
        vendor: String::new(),
        version: String::new(),
        kind: PluginKind::Instrument,
        inputs: Vec::new(),
        outputs: Vec::new(),
        latency_frames: 0,
        tail_frames: Tail::None,
        parameters: Vec::new(),
        programs: Vec::new(),
        program: None,
        has_editor: false,
        accepts_notes: true,
    }
}

/// Waits until a condition holds, for at most ten seconds.
fn eventually(condition: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

#[test]
fn a_plugin_is_opened_and_ended() {
    let scripted = Scripted::new("good");
    scripted.open(&|| false).expect("works");
    assert!(eventually(|| scripted.is_clean()));
}

#[test]
fn every_misbehaviour_is_an_error_in_words() {
    for (script, expected) in [
        ("old", "does not fit this version"),
        ("refuse", "cannot be used: no licence"),
        ("abort", "crashed (SIGABRT)"),
        ("exit", "ended its own process (exit status: 3)"),
        ("hang", "did not answer within 2 seconds (SF_PLUGIN_ANSWER_MAX_SECS)"),
        ("trickle", "did not answer within 2 seconds (SF_PLUGIN_ANSWER_MAX_SECS)"),
        ("close", "closed its socket and kept running"),
        ("long_header", "the header of a frame has 4294967295 bytes; the maximum is"),
        ("text", "the header of a frame is invalid"),
        ("few_samples", "64 bytes of audio for 2 x 16 samples"),
        ("not_a_number", "infinite or not a number"),
        ("other_answer", "does not answer the request"),
    ] {
        let scripted = Scripted::new(script);
        let started_at = Instant::now();
        let error = scripted.open(&|| false).expect_err("misbehaves").to_string();
        assert!(error.contains(expected), "{script}: {error}");
        assert!(started_at.elapsed() < Duration::from_secs(12), "{script}: {:?}", started_at.elapsed());
        assert!(eventually(|| scripted.is_clean()), "{script}");
    }
}

#[test]
fn a_cancelled_request_ends_the_plugin() {
    let scripted = Scripted::new("hang");
    let started_at = Instant::now();
    let is_cancelled = || started_at.elapsed() > Duration::from_millis(300);
    let error = scripted.open(&is_cancelled).expect_err("cancelled");
    assert!(matches!(error, HostError::Cancelled), "{error}");
    assert!(eventually(|| scripted.is_clean()));
}

#[test]
fn an_administrator_can_end_a_plugin() {
    let scripted = Scripted::new("hang");
    std::thread::scope(|scope| {
        let opening = scope.spawn(|| scripted.open(&|| false));
        assert!(eventually(|| !scripted.helpers.list().is_empty()));
        let helper = scripted.helpers.list().pop().expect("a helper");
        assert_eq!(helper.kind, "plugin");
        scripted.helpers.end(helper.id);
        let error = opening.join().expect("no panic").expect_err("ended");
        assert!(matches!(error, HostError::EndedByAdministrator), "{error}");
        assert!(matches!(ApiError::from(error), ApiError::Conflict { code: "cancelled", .. }));
    });
    assert!(eventually(|| scripted.is_clean()));
}

#[tokio::test]
async fn formats_come_from_the_helper() {
    let scripted = Scripted::new("good");
    assert_eq!(scripted.hosts.formats().await.expect("runs"), [PluginFormat::Vst3]);
    scripted.hosts.check_format(PluginFormat::Vst3).await.expect("hosted");
    let error = scripted.hosts.check_format(PluginFormat::Vst2).await.expect_err("not hosted");
    assert!(error.to_string().contains("cannot host VST2 plugins"), "{error}");
    let folder = tempfile::tempdir().expect("a folder");
    let missing = Scripted::with_program(folder, Path::new("/nonexistent/helper"));
    let error = ApiError::from(missing.hosts.formats().await.expect_err("missing"));
    assert!(error.to_string().contains("/nonexistent/helper"), "{error}");
    assert!(matches!(error, ApiError::NotImplemented { code: "plugin_host_unavailable", .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_waits_for_its_turn_unless_its_work_is_cancelled() {
    let scripted = std::sync::Arc::new(Scripted::new("good"));
    let runtime = Handle::current();
    let work = {
        let scripted = std::sync::Arc::clone(&scripted);
        move || {
            let other_user = || scripted.hosts.run(&runtime, "bob", &|| true, || ());
            scripted.hosts.run(&runtime, "ada", &|| false, other_user)
        }
    };
    let outcome = tokio::task::spawn_blocking(work).await.expect("no panic").expect("a turn");
    assert!(matches!(outcome, Err(HostError::Cancelled)), "{outcome:?}");
}
