//! Tests exports of projects whose tracks have plugin instruments.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use super::midi_render::{NEKOBI, note, render as render_notes, service_with};
use super::vst::PluginService;
use crate::test_studio::{float_samples, peak};

/// Largest allowed difference between a plugin and its frozen sound: -120 dBFS.
pub(super) const NULL_PEAK: f32 = 1e-6;

/// Returns a track with notes and a plugin instrument.
pub(super) fn plugin_track(id: &str, plugin_id: &str) -> Value {
    json!({
        "id": id, "name": id, "kind": "instrument",
        "synth_engine": {"type": "vst2", "plugin_id": plugin_id},
        "items": [{"type": "midi", "id": format!("m-{id}"), "start_tick": 960, "length_ticks": 960,
            "notes": [note(0.0, 480.0)]}],
    })
}

pub(super) fn project(tracks: &[Value]) -> Value {
    json!({"schema_version": 1, "project_id": "p", "name": "Plugins", "sample_rate_hz": 48000,
        "tempo_map": [{"tick": 0, "bpm": 120}], "tracks": tracks})
}

pub(super) async fn post(service: &PluginService, path: &str, body: &Value, status: u16) -> Value {
    service.app.local(Method::POST, &format!("/api/v1{path}")).json(body).send().await.expect(status)
}

pub(super) async fn samples(service: &PluginService, address: &Value) -> Vec<f32> {
    let address = address.as_str().expect("an address");
    float_samples(&service.app.local(Method::GET, address).send().await.bytes)
}

/// Renders the mix. Returns its samples and the parts that were left out.
pub(super) async fn mix(service: &PluginService, project: &Value) -> (Vec<f32>, Value) {
    let request = json!({"project": project, "bit_depth": "float32", "tail_secs": 1});
    let answer = post(service, "/plugins/render", &request, 200).await;
    (samples(service, &answer["audio_url"]).await, answer["receipt"]["left_out"].clone())
}

/// Freezes a track. Returns the result of the task.
pub(super) async fn freeze(service: &PluginService, project: &Value, track_id: &str) -> Value {
    let request = json!({"project": project, "track_id": track_id});
    let started = post(service, "/multitrack/freeze", &request, 202).await;
    assert!(service.app.state.tasks.wait_until_drained(Duration::from_secs(120)).await);
    let path = format!("/api/v1/tasks/{}", started["task_id"].as_str().expect("an id"));
    let task = service.app.local(Method::GET, &path).send().await.expect(200);
    assert_eq!(task["state"], "succeeded", "{task}");
    task["result"].clone()
}

pub(super) fn difference(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).fold(0.0, |largest_difference, (a, b)| (a - b).abs().max(largest_difference))
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_play_plugin_instruments() {
    let (service, ids) = service_with(&[NEKOBI]).await;
    let song = project(&[plugin_track("bass", &ids[0]), plugin_track("lost", "00000000")]);
    let (song_mix, left_out) = mix(&service, &song).await;
    assert_eq!(left_out[0]["pointer"], "/tracks/1/synth_engine");
    assert!(left_out[0]["reason"].as_str().is_some_and(|reason| reason.contains("00000000")), "{left_out}");
    assert_eq!(left_out.as_array().map(Vec::len), Some(1));
    let start =
        song_mix.iter().position(|value| value.abs() > 1e-3).expect("a sound") as f64 / 2.0 / 48_000.0;
    assert!((0.499..0.52).contains(&start), "the note begins at 0.5 seconds: {start}");
    assert!((0.05..0.7).contains(&peak(&song_mix)), "{}", peak(&song_mix));

    let freeze_result = freeze(&service, &song, "bass").await;
    assert_eq!(freeze_result["left_out"], json!([]), "the other track is not needed");
    let mut changed_song = song.clone();
    changed_song["tracks"][0] = freeze_result["track"].clone();
    let (mix_after, _) = mix(&service, &changed_song).await;
    let residual = difference(&song_mix, &mix_after);
    assert!(residual < NULL_PEAK, "{residual}");

    // The track has the samples that `POST /plugins/midi-render` returns.
    let request = json!({"plugin_id": ids[0], "notes": [note(960.0, 480.0)]});
    let single_render = render_notes(&service, &request).await;
    let file = format!("/api/v1/audio/{}/file", freeze_result["file"]["id"].as_str().expect("an id"));
    let residual = difference(&samples(&service, &file.into()).await, &single_render);
    assert!(residual < NULL_PEAK, "{residual}");
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_set_and_automate_parameters_as_midi_renders_do() {
    let (service, ids) = service_with(&[NEKOBI]).await;
    let list = post(&service, "/plugins/parameters", &json!({"plugin_id": ids[0]}), 200).await;
    let parameters = list["parameters"].as_array().expect("a list");
    let id_of = |name: &str| {
        let listed_parameter = parameters.iter().find(|parameter| parameter["name"] == name);
        listed_parameter.unwrap_or_else(|| panic!("{name}: {list}"))["id"].to_string()
    };
    let (cutoff, volume) = (id_of("Cutoff"), id_of("Volume"));
    let points = json!([
        {"tick": 960, "value": 0.2, "curve": 0.7},
        {"tick": 1200, "value": 0.9, "curve": "step"},
        {"tick": 1440, "value": 0.1}
    ]);
    let mut bass = plugin_track("bass", &ids[0]);
    bass["synth_engine"]["params"] = json!({&volume: 0.8});
    bass["automation"] = json!([{"target": format!("instrument/{cutoff}"), "points": points}]);
    let song = project(std::slice::from_ref(&bass));
    let freeze_result = freeze(&service, &song, "bass").await;
    assert_eq!(freeze_result["left_out"], json!([]));
    let request = json!({"plugin_id": ids[0], "notes": [note(960.0, 480.0)], "params": {&volume: 0.8},
        "automation": [{"param": cutoff, "points": points}]});
    let single_render = render_notes(&service, &request).await;
    let file = format!("/api/v1/audio/{}/file", freeze_result["file"]["id"].as_str().expect("an id"));
    let residual = difference(&samples(&service, &file.into()).await, &single_render);
    assert!(residual < NULL_PEAK, "{residual}");
    let plain_render =
        render_notes(&service, &json!({"plugin_id": ids[0], "notes": [note(960.0, 480.0)]})).await;
    assert!(difference(&plain_render, &single_render) > 0.01, "the values change the sound");

    let (song_mix, left_out) = mix(&service, &song).await;
    assert_eq!(left_out, json!([]));
    assert!(peak(&song_mix) > 0.01);
    bass["synth_engine"]["params"] = json!({"999": 0.8});
    let render = post(&service, "/plugins/render", &json!({"project": project(&[bass])}), 200).await;
    let warning = render["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("Nekobi has no parameter 999"), "{warning}");
}

#[tokio::test(flavor = "multi_thread")]
async fn muted_tracks_start_no_plugin_and_crashes_fail_the_export() {
    let (service, ids) = service_with(&[NEKOBI]).await;
    let mut bass = plugin_track("bass", &ids[0]);
    bass["synth_engine"]["state"] = "bm90IGEgc3RhdGU=".into();
    let request = |bass: &Value| json!({"project": project(std::slice::from_ref(bass))});
    let path = "/api/v1/plugins/render";
    let refusal = service.app.local(Method::POST, path).json(&request(&bass)).send().await;
    let detail = refusal.problem(422, "bad_state");
    assert!(detail.contains("state"), "{detail}");
    bass["mute"] = true.into();
    service.app.local(Method::POST, path).json(&request(&bass)).send().await.expect(200);
}
