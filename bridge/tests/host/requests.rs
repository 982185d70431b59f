//! Requests that a helper refuses, and the end of the connection.

use std::path::Path;

use songfoundry_bridge_protocol::host::{Open, PROTOCOL_VERSION, Process, Request};

use crate::client::{Helper, open_request, scan};
use crate::modules::install;

#[test]
fn requests_in_the_wrong_order_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let module = install(&folder, "vst2_effect", "Effect.so");
    let open_request_of_module = || open_request(&module, "54454632");
    let mut helper = Helper::start_with(&[]);
    assert_eq!(helper.refused(open_request_of_module(), &[]), "the first request must be `hello`");
    let reason = helper.refused(Request::Hello { protocol_version: PROTOCOL_VERSION + 1 }, &[]);
    let version = PROTOCOL_VERSION + 1;
    assert!(reason.starts_with(&format!("the service uses version {version} of the protocol")), "{reason}");
    helper.request(Request::Hello { protocol_version: PROTOCOL_VERSION }, &[]);
    assert_eq!(helper.refused(Request::GetState, &[]), "no plugin is open");
    helper.request(open_request_of_module(), &[]);
    assert_eq!(helper.refused(open_request_of_module(), &[]), "a plugin is open already");
    assert!(helper.refused(Request::SetProgram { index: 0 }, &[]).contains("no program 0"));
    let input_of_wrong_length = Process { frames: 10, input_channels: 2, ..Process::default() };
    let reason = helper.refused(Request::Process(input_of_wrong_length), &[0; 79]);
    assert_eq!(reason, "the input has 79 bytes, which are not 2 channels of 10 samples");
    assert!(helper.close().success());
}

#[test]
fn invalid_plugins_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let vst3 = install(&folder, "effect", "Effect.vst3");
    let vst2 = install(&folder, "vst2_effect", "Effect.so");
    let mut helper = Helper::start();
    let mut check = |module: &Path, id: &str, expected: &str| {
        let reason = helper.refused(open_request(module, id), &[]);
        assert!(reason.contains(expected), "{reason}");
    };
    check(&folder.path().join("None.so"), "00000001", "the library cannot be loaded");
    check(&vst3, "ABC", "the module contains no plugin with the id ABC");
    check(&vst2, "12345678", "the module contains the plugin 54454632, but not 12345678");
    check(&vst2, "no number", "must have 8 hexadecimal digits");
    let Request::Open(open_request_of_module) = open_request(&vst2, "54454632") else {
        unreachable!("opens")
    };
    let reason =
        helper.refused(Request::Open(Open { sample_rate_hz: 0.0, ..open_request_of_module.clone() }), &[]);
    assert!(reason.contains("sample rate"), "{reason}");
    let reason = helper.refused(Request::Open(Open { block_frames_max: 0, ..open_request_of_module }), &[]);
    assert!(reason.contains("block size"), "{reason}");
}

#[test]
fn the_helper_ends_when_the_socket_is_closed() {
    let folder = tempfile::tempdir().expect("a folder");
    let module = install(&folder, "instrument", "Synth.vst3");
    let plugins = scan(&module);
    let (helper, _) = Helper::open(&module, &plugins[0].plugin_id);
    assert!(helper.hang_up().success());
}
