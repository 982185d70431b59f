//! Tests `POST /plugins/midi-render` with real instruments.

use std::os::unix::fs::symlink;
use std::path::Path;

use axum::http::Method;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::vst::{PluginService, helper};
use crate::test_app::Answer;
use crate::test_studio::{float_samples, peak};

pub(super) const PATH: &str = "/api/v1/plugins/midi-render";

/// Instruments of Debian's packages dpf-plugins-vst and amsynth.
pub(crate) const NEKOBI: &str = "/usr/lib/vst/Nekobi-vst.so";
pub(crate) const AMSYNTH: &str = "/usr/lib/vst/amsynth_vst.so";

/// An effect of Debian's package zam-plugins.
const ZAM_COMP: &str = "/usr/lib/vst/ZamComp-vst.so";

pub(super) fn note(tick: f64, length: f64) -> Value {
    json!({"tick": tick, "length_ticks": length, "pitch": 48, "velocity": 0.8})
}

/// A service with these modules of the system, and the ids of their plugins.
pub(crate) async fn service_with(modules: &[&str]) -> (PluginService, Vec<String>) {
    let service = PluginService::start().await;
    for module in modules {
        let path = Path::new(module);
        assert!(path.exists(), "{module} is missing; install dpf-plugins-vst, amsynth and zam-plugins");
        symlink(path, service.path(path.file_name().expect("a name").to_str().expect("text")))
            .expect("makes a symbolic link");
    }
    let available_sounds = service.get("/available").await.expect(200);
    let effects = service.get("/effects").await.expect(200);
    let lists = [&available_sounds["vst_instruments"], &effects["vst_effects"]];
    let plugins = lists.iter().flat_map(|list| list.as_array().expect("a list"));
    let plugins: Vec<&Value> = plugins.collect();
    let id_of = |module: &&str| {
        let listed_plugin = plugins.iter().find(|plugin| plugin["path"] == json!(module));
        listed_plugin.unwrap_or_else(|| panic!("{module} is not in {plugins:?}"))["plugin_id"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    let ids = modules.iter().map(id_of).collect();
    (service, ids)
}

pub(super) async fn send(service: &PluginService, body: &Value) -> Answer {
    service.app.local(Method::POST, PATH).json(body).send().await
}

/// Renders a request. Returns the interleaved samples.
pub(super) async fn render(service: &PluginService, body: &Value) -> Vec<f32> {
    let answer = send(service, body).await;
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.bytes));
    assert_eq!(answer.header("content-type"), "audio/wav");
    assert_eq!(answer.header("x-plugin-warnings"), "");
    float_samples(&answer.bytes)
}

/// Returns the time of the first sound, in seconds at 48 kHz.
fn sound_start_secs(samples: &[f32]) -> f64 {
    let first = samples.iter().position(|value| value.abs() > 1e-3).expect("a sound");
    (first / 2) as f64 / 48_000.0
}

#[tokio::test]
async fn real_instruments_play_notes_at_their_times() {
    let (service, ids) = service_with(&[NEKOBI, AMSYNTH]).await;
    for id in ids {
        let body = json!({"plugin_id": id, "notes": [note(960.0, 480.0)]});
        let samples = render(&service, &body).await;
        let start = sound_start_secs(&samples);
        assert!((0.499..0.52).contains(&start), "{id}: the note begins at 0.5 seconds: {start}");
        assert!(peak(&samples) > 0.01 && peak(&samples) < 4.0, "{id}: {}", peak(&samples));
        let secs = samples.len() as f64 / 2.0 / 48_000.0;
        assert!((1.25..20.0).contains(&secs), "{id}: {secs}");
        // Half the tempo, and then times in seconds without a tempo.
        let slow_render = json!({"plugin_id": id, "notes": [note(960.0, 480.0)], "tempo_map": [{"tick": 0, "bpm": 60}], "tail_secs": 0});
        let slow_render = render(&service, &slow_render).await;
        assert_eq!(slow_render.len(), 2 * 72_000, "{id}");
        assert!((0.999..1.02).contains(&sound_start_secs(&slow_render)), "{id}");
        let in_seconds =
            json!({"plugin_id": id, "notes": [note(1.0, 0.5)], "time_base": "seconds", "tail_secs": 0});
        assert_eq!(render(&service, &in_seconds).await.len(), 2 * 72_000, "{id}");
        let rate =
            json!({"plugin_id": id, "notes": [note(0.0, 960.0)], "sample_rate_hz": 44100, "tail_secs": 0});
        assert_eq!(render(&service, &rate).await.len(), 2 * 22_050, "{id}");
    }
}

#[tokio::test]
async fn parameters_and_automation_change_the_sound() {
    let (service, ids) = service_with(&[NEKOBI]).await;
    let request = |extra_fields: Value| {
        let mut body = json!({"plugin_id": ids[0], "notes": [note(0.0, 1920.0)], "tail_secs": 0});
        body.as_object_mut().expect("an object").extend(extra_fields.as_object().expect("an object").clone());
        body
    };
    let dark = render(&service, &request(json!({"params": {"Cutoff": 0.0, "Volume": 0.8}}))).await;
    let bright_render = render(&service, &request(json!({"params": {"Cutoff": 1.0, "Volume": 0.8}}))).await;
    assert!(dark != bright_render, "the cutoff changes the sound");
    let points = json!([{"tick": 0, "value": 0.8}, {"secs": 0.5, "value": 0.8}, {"tick": 960, "value": 0}]);
    let fades = json!({"params": {"Cutoff": 1.0}, "automation": [{"param": "Volume", "points": points}]});
    let fading = render(&service, &request(fades)).await;
    let (first, second) = fading.split_at(fading.len() / 2);
    assert!(peak(first) > 0.01, "{}", peak(first));
    // The plugin smooths its volume.
    let end = &second[second.len() / 2..];
    assert!(peak(end) < peak(first) / 20.0, "{} and {}", peak(first), peak(end));
    let unknown_answer = send(&service, &request(json!({"params": {"Cut": 0.5}}))).await;
    let detail = unknown_answer.problem(422, "bad_plugin_parameter");
    assert!(detail.contains("`Cut`") && detail.contains("`Cutoff` ("), "{detail}");
}

#[tokio::test]
async fn presets_are_programs_or_files() {
    let (service, ids) = service_with(&[AMSYNTH]).await;
    let with = |preset: Value| json!({"plugin_id": ids[0], "notes": [note(0.0, 960.0)], "tail_secs": 0, "preset": preset});
    let first = render(&service, &with(json!(0))).await;
    let other_render = render(&service, &with(json!(5))).await;
    assert!(first != other_render, "another program sounds different");
    let detail = send(&service, &with(json!(1_000_000))).await.problem(422, "bad_preset");
    assert!(detail.contains("programs 0 to "), "{detail}");
    let text = BASE64_STANDARD.encode("no preset");
    let detail = send(&service, &with(json!(text))).await.problem(422, "bad_preset");
    assert!(detail.contains("`preset` cannot be used"), "{detail}");
    let state = json!({"plugin_id": ids[0], "notes": [], "state": text});
    let detail = send(&service, &state).await.problem(422, "bad_state");
    assert!(detail.contains("`state` cannot be used"), "{detail}");
}

#[tokio::test]
async fn invalid_requests_name_the_field_and_the_limit() {
    let (service, ids) = service_with(&[NEKOBI, ZAM_COMP]).await;
    let check = async |extra_fields: Value, status: u16, code: &str, part: &str| {
        let mut body = json!({"plugin_id": ids[0], "notes": [note(0.0, 1.0)]});
        body.as_object_mut().expect("an object").extend(extra_fields.as_object().expect("an object").clone());
        let detail = send(&service, &body).await.problem(status, code);
        assert!(detail.contains(part), "{extra_fields}: {detail}");
    };
    check(json!({"plugin_id": "00".repeat(16)}), 404, "not_found", &"00".repeat(16)).await;
    check(json!({"plugin_id": ids[1]}), 422, "not_an_instrument", "ZamComp").await;
    check(json!({"notes": [note(-1.0, 1.0)]}), 400, "invalid_notes", "/notes/0/tick").await;
    check(json!({"notes": [note(0.0, 1e9)]}), 422, "too_long", "86400 seconds").await;
    check(json!({"bank": 3}), 400, "unexpected_json", "bank").await;
    check(json!({"tail_secs": 61}), 400, "bad_tail", "60 seconds").await;
    check(json!({"sample_rate_hz": 8000}), 400, "unsupported_sample_rate", "44100").await;
    check(json!({"state": "!"}), 422, "bad_state", "`state` is not valid base64").await;
    check(json!({"state": ""}), 422, "bad_state", "`state` is empty").await;
    check(json!({"state": "AAAA", "preset": 1}), 422, "bad_preset", "leave one").await;
    check(json!({"preset": -1}), 422, "bad_preset", "from 0").await;
    check(json!({"params": {"Cutoff": 1.5}}), 422, "bad_plugin_parameter", "0 to 1").await;
    let automation = |curves: Value| json!({ "automation": curves });
    let points = |points: Value| automation(json!([{"param": "Cutoff", "points": points}]));
    check(automation(json!({})), 422, "bad_automation", "not a list").await;
    check(automation(json!([7])), 422, "bad_automation", "`automation/0` is not an object with").await;
    check(points(json!([{"value": 1}])), 422, "bad_automation", "either `tick` or `secs`").await;
    check(points(json!([{"tick": 0.5, "value": 1}])), 422, "bad_automation", "whole number").await;
    check(points(json!([{"secs": 1e9, "value": 1}])), 422, "bad_automation", "0 to 86400").await;
    check(points(json!([{"tick": 0, "value": 2}])), 422, "bad_automation", "automation/0/points/0").await;
    check(points(json!([{"tick": 0, "value": 1, "curve": 2}])), 422, "bad_automation", "-1 to 1").await;
    check(points(json!([{"tick": 0, "value": 1, "curve": "x"}])), 422, "bad_automation", "linear").await;
    let falling = points(json!([{"tick": 9, "value": 1}, {"tick": 8, "value": 1}]));
    check(falling, 422, "bad_automation", "1` is at tick 8, before the previous point at tick 9").await;
    let curve = json!({"param": "Cutoff", "points": []});
    check(automation(json!([curve, curve])), 422, "bad_automation", "`Cutoff`, which an earlier entry").await;
    let many_curves: Vec<Value> =
        (0..10_001).map(|id| json!({"param": id.to_string(), "points": []})).collect();
    check(automation(many_curves.into()), 422, "bad_automation", "at most 10000").await;
}

#[tokio::test]
async fn only_callers_who_may_use_the_plugin_can_render() {
    let (service, ids) = service_with(&[NEKOBI]).await;
    let body = json!({"plugin_id": ids[0], "notes": [note(0.0, 480.0)], "tail_secs": 0});
    service.app.remote(Method::POST, PATH).json(&body).send().await.problem(401, "token_missing");
    let token = service.app.token_of_new_user("ada").await;
    let ada = service.app.remote(Method::POST, PATH).token(&token).json(&body).send().await;
    ada.problem(404, "not_found");
    let key = service.app.create_api_key(&service.app.admin_token().await).await;
    let by_key = service.app.remote(Method::POST, PATH).token(&key).json(&body).send().await;
    assert_eq!(by_key.status, 200, "an API key may use plugins that a scan has found");
}

/// The wrapper of the helper ends the first host without an answer.
#[tokio::test]
async fn a_render_is_repeated_once_if_the_plugin_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let (wrapper, mark) = (folder.path().join("wrapper"), folder.path().join("mark"));
    let text = format!(
        "#!/bin/sh\n\
         if [ \"$2\" = host ] && [ ! -e '{mark}' ]; then touch '{mark}'; exit 3; fi\n\
         exec '{helper}' \"$@\"\n",
        mark = mark.display(),
        helper = helper().display()
    );
    std::fs::write(&wrapper, text).expect("writes");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&wrapper, executable).expect("sets permissions");
    let service = PluginService::with(&[("SF_BRIDGE", &wrapper.to_string_lossy())]).await;
    symlink(NEKOBI, service.path("Nekobi-vst.so")).expect("makes a symbolic link");
    let available_sounds = service.get("/available").await.expect(200);
    let id = &available_sounds["vst_instruments"][0]["plugin_id"];
    let samples =
        render(&service, &json!({"plugin_id": id, "notes": [note(0.0, 480.0)], "tail_secs": 0})).await;
    assert!(mark.exists() && peak(&samples) > 0.01, "{}", peak(&samples));
}

#[tokio::test]
async fn without_a_helper_the_answer_is_501() {
    let service = PluginService::with(&[("SF_BRIDGE", "/nonexistent/helper")]).await;
    let body = json!({"plugin_id": "00", "notes": []});
    let detail = send(&service, &body).await.problem(501, "plugin_host_unavailable");
    assert!(detail.contains("/nonexistent/helper") && detail.contains("SF_BRIDGE"), "{detail}");
    let capabilities = service.app.local(Method::GET, "/api/v1/system/capabilities").send().await.expect(200);
    assert_eq!(capabilities["plugin_formats"], json!([]));
    let service = PluginService::start().await;
    let capabilities = service.app.local(Method::GET, "/api/v1/system/capabilities").send().await.expect(200);
    assert_eq!(capabilities["plugin_formats"], json!(["vst2", "vst3"]));
}
