//! Tests that all accounts of a server use the plugins that an administrator's scan has found.

use std::fs;
use std::path::Path;

use axum::http::Method;
use serde_json::{Value, json};

use super::midi_render::{NEKOBI, PATH, note};
use super::project_instruments::{difference, plugin_track, project};
use super::vst::{PluginService, container_settings};
use crate::test_studio::{float_samples, peak};

/// An effect of Debian's package zam-plugins.
const ZAM_DELAY: &str = "/usr/lib/vst/ZamDelay-vst.so";

#[tokio::test(flavor = "multi_thread")]
async fn users_and_api_keys_of_a_server_use_its_plugins_but_never_scan() {
    let service = PluginService::with(&container_settings()).await;
    for module in [NEKOBI, ZAM_DELAY] {
        let name = Path::new(module).file_name().expect("a name").to_str().expect("text");
        fs::copy(module, service.path(name)).expect("copies a module of dpf-plugins-vst or zam-plugins");
    }
    service.scan().await;
    let token = service.app.token_of_new_user("ada").await;
    let key = service.app.create_api_key(&token).await;
    let mut tracks = Vec::new();
    for caller in [&token, &key] {
        let call =
            |method, path: &str| service.app.remote(method, &format!("/api/v1/plugins{path}")).token(caller);
        for path in ["/scan", "/dirs"] {
            let refusal = call(Method::POST, path).json(&json!({ "path": service.dir() })).send().await;
            refusal.problem(403, "admin_only");
        }
        let instruments = call(Method::GET, "/available").send().await.expect(200)["vst_instruments"].clone();
        let effects = call(Method::GET, "/effects").send().await.expect(200)["vst_effects"].clone();
        assert_eq!((&instruments[0]["name"], &effects[0]["name"]), (&json!("Nekobi"), &json!("ZamDelay")));
        let nekobi = instruments[0]["plugin_id"].as_str().expect("an id");

        let body = json!({"plugin_id": nekobi, "notes": [note(0.0, 480.0)], "tail_secs": 0});
        let render_answer = service.app.remote(Method::POST, PATH).token(caller).json(&body).send().await;
        assert_eq!(render_answer.status, 200, "{}", String::from_utf8_lossy(&render_answer.bytes));
        assert!(peak(&float_samples(&render_answer.bytes)) > 0.01);

        let mix = async |effects: Value| {
            let mut track = plugin_track("bass", nekobi);
            track["effects"] = effects;
            let request = json!({"project": project(&[track]), "bit_depth": "float32", "tail_secs": 1});
            let render = call(Method::POST, "/render").json(&request).send().await.expect(200);
            assert_eq!(render["receipt"]["left_out"], json!([]));
            let address = render["audio_url"].as_str().expect("an address");
            float_samples(&service.app.remote(Method::GET, address).token(caller).send().await.bytes)
        };
        let dry_mix = mix(json!([])).await;
        let wet = mix(json!([{"id": "d", "type": "vst2", "plugin_id": effects[0]["plugin_id"]}])).await;
        assert!(peak(&dry_mix) > 0.01 && difference(&dry_mix, &wet) > 0.001);
        tracks.push(wet);
    }
    assert!(tracks[0] == tracks[1], "an API key gets the sound of its account");
}
