//! Tests hosting with the scripted helper.

use std::path::Path;
use std::time::{Duration, Instant};

use songfoundry_bridge_protocol::PluginFormat;

use super::scripted::Scripted;
use super::*;
use crate::error::ApiError;

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
fn every_misbehaviour_gives_an_error_that_describes_it() {
    for (script, expected) in [
        ("old", "it uses protocol version 6; this service uses 5"),
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
        ("other_answer", "its type does not match the request"),
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
async fn the_helper_lists_its_formats() {
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
async fn a_plugin_waits_for_a_permit_unless_its_work_is_cancelled() {
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
