//! Tests that a project keeps the states of plugins that are not installed.

use axum::http::Method;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::midi_render::note;
use super::project_instruments::{mix, project};
use super::vst::PluginService;

const PROJECTS: &str = "/api/v1/projects";

/// Returns a song whose instrument and effects are not installed, with a state of each.
fn song() -> Value {
    let state = |seed: u32| {
        let bytes: Vec<u8> = (0..100_000_u32).map(|index| (index * 7 + index / 251 + seed) as u8).collect();
        BASE64_STANDARD.encode(bytes)
    };
    let effect = |id: &str, seed| json!({"id": id, "type": "vst2", "plugin_id": "0BADCAFE", "state": state(seed), "params": {"3": 0.25}});
    let mut song = project(&[json!({
        "id": "bass", "name": "bass", "kind": "instrument",
        "synth_engine": {"type": "vst3", "plugin_id": "ab".repeat(16), "state": state(1), "params": {"7": 0.5}},
        "items": [{"type": "midi", "id": "m", "start_tick": 0, "length_ticks": 960, "notes": [note(0.0, 480.0)]}],
        "effects": [effect("e", 2)],
    })]);
    song["project_id"] = "song".into();
    song["master"] = json!({"effects": [effect("m", 3)]});
    song
}

#[tokio::test(flavor = "multi_thread")]
async fn states_of_missing_plugins_stay_in_the_project() {
    let service = PluginService::start().await;
    let call = |method, path: &str| service.app.local(method, path);
    let read_project =
        async |id: &str| call(Method::GET, &format!("{PROJECTS}/{id}")).send().await.expect(200);
    let song = song();
    call(Method::POST, PROJECTS).json(&song).send().await.expect(201);
    let loaded_project = read_project("song").await;
    assert_eq!(loaded_project, song);
    let save =
        call(Method::PUT, &format!("{PROJECTS}/song")).header("if-match", "\"1\"").json(&loaded_project);
    save.send().await.expect(200);
    assert_eq!(read_project("song").await, song);

    // Exports leave the plugins out, and bundles contain their states.
    let (_, left_out) = mix(&service, &loaded_project).await;
    let pointers: Vec<&Value> =
        left_out.as_array().expect("a list").iter().map(|part| &part["pointer"]).collect();
    for pointer in ["/tracks/0/synth_engine", "/tracks/0/effects/0", "/master/effects/0"] {
        assert!(
            pointers.iter().any(|missing_pointer| *missing_pointer == pointer),
            "{pointer} is not in {left_out}"
        );
    }
    assert_eq!(read_project("song").await, song);
    let bundle = call(Method::GET, &format!("{PROJECTS}/song/bundle")).send().await.bytes;
    let import = call(Method::POST, &format!("{PROJECTS}/import")).raw("application/zip", bundle);
    let id = import.send().await.expect(201)["project_id"].as_str().expect("an id").to_owned();
    assert_ne!(id, "song");
    let mut copy = read_project(&id).await;
    copy["project_id"] = "song".into();
    assert_eq!(copy, song);
}
