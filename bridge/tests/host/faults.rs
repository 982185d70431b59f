//! Plugins that misbehave while they process.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use songfoundry_bridge_protocol::frame::samples_to_bytes;
use songfoundry_bridge_protocol::host::{Answer, PROTOCOL_VERSION, Process, Request};

use crate::client::{Helper, difference, open_request, peak, scan, silence};
use crate::modules::install;

fn module(folder: &tempfile::TempDir) -> PathBuf {
    install(folder, "vst2_misbehaving", "Misbehaving.so")
}

fn id_of(module: &PathBuf, name: &str) -> String {
    let plugins = scan(module);
    let plugin = plugins.into_iter().find(|plugin| plugin.name == name);
    plugin.unwrap_or_else(|| panic!("no plugin {name}")).plugin_id
}

/// Opens the plugin and sends it a sound, which triggers its fault.
fn trigger(name: &str) -> (Helper, Option<(Answer, Vec<u8>)>) {
    let folder = tempfile::tempdir().expect("a folder");
    let module = module(&folder);
    let (mut helper, _) = Helper::open(&module, &id_of(&module, name));
    let (output, _) = helper.process(&silence(600), Vec::new());
    assert_eq!(peak(&output), 0.0);
    let request = Process { frames: 64, input_channels: 2, output_channels: 2, ..Process::default() };
    let binary = samples_to_bytes(&[[0.5; 64], [0.5; 64]]);
    let answer = helper.try_request(&Request::Process(request), &binary);
    let answer = answer.ok().flatten().map(|frame| (frame.header, frame.binary));
    (helper, answer)
}

#[test]
fn a_plugin_that_ends_the_helper_leaves_no_answer() {
    use std::os::unix::process::ExitStatusExt as _;
    for (name, signal) in
        [("Crashes", Some(Signal::SIGSEGV)), ("Aborts", Some(Signal::SIGABRT)), ("Exits", None)]
    {
        let (mut helper, answer) = trigger(name);
        assert_eq!(answer, None, "{name}");
        let status = helper.wait();
        assert_eq!(status.signal(), signal.map(|signal| signal as i32), "{name}");
        assert!(!status.core_dumped(), "{name}");
    }
}

#[test]
fn memory_is_limited() {
    let folder = tempfile::tempdir().expect("a folder");
    let module = module(&folder);
    let mut helper = Helper::start_with(&["--memory-max-bytes", "1000000000"]);
    helper.request(Request::Hello { protocol_version: PROTOCOL_VERSION }, &[]);
    helper.request(open_request(&module, &id_of(&module, "Leaks")), &[]);
    let request = Process { frames: 64, input_channels: 2, output_channels: 2, ..Process::default() };
    let binary = samples_to_bytes(&[[0.5; 64], [0.5; 64]]);
    let mut process = || helper.try_request(&Request::Process(request.clone()), &binary).ok().flatten();
    let answers = (0..10).take_while(|_| process().is_some()).count();
    assert!((1..=4).contains(&answers), "{answers} blocks of 256 MiB fit");
    assert!(!helper.wait().success());
}

#[test]
fn processes_that_a_plugin_starts_do_not_keep_the_helper() {
    for name in ["Forks", "Starts Daemon"] {
        let (helper, answer) = trigger(name);
        assert!(matches!(answer, Some((Answer::Processed(_), _))), "{name}: {answer:?}");
        let start = Instant::now();
        assert!(helper.close().success(), "{name}");
        assert!(start.elapsed() < Duration::from_secs(5), "{name}");
    }
}

#[test]
fn printed_text_does_not_reach_the_socket() {
    let (_helper, answer) = trigger("Prints");
    assert!(matches!(answer, Some((Answer::Processed(_), _))), "{answer:?}");
}

#[test]
fn samples_that_are_not_finite_become_silence() {
    let (_helper, answer) = trigger("Not a Number");
    let Some((Answer::Processed(process_result), output)) = answer else { panic!("{answer:?}") };
    assert_eq!(process_result.non_finite_samples, 128);
    assert!(output.iter().all(|byte| *byte == 0));
}

#[test]
fn a_latency_that_is_stated_late_is_known_when_the_plugin_is_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let module = module(&folder);
    let (mut helper, opened_plugin) = Helper::open(&module, &id_of(&module, "Late Latency"));
    assert_eq!(opened_plugin.latency_frames, 32);
    let mut impulse = silence(100);
    impulse[0][0] = 1.0;
    let (output, process_result) = helper.process(&impulse, Vec::new());
    let mut delayed_signal = silence(100);
    delayed_signal[0][32] = 1.0;
    assert_eq!((difference(&output, &delayed_signal), process_result.latency_frames), (0.0, 32));
}

#[test]
fn a_plugin_that_hangs_ends_with_its_process_group() {
    let folder = tempfile::tempdir().expect("a folder");
    let module = module(&folder);
    let (helper, _) = Helper::open(&module, &id_of(&module, "Hangs"));
    let request = Process { frames: 64, input_channels: 2, output_channels: 2, ..Process::default() };
    let binary = samples_to_bytes(&[[0.5; 64], [0.5; 64]]);
    assert!(helper.does_not_answer(&Request::Process(request), &binary, Duration::from_secs(1)));
    drop(helper);
}
