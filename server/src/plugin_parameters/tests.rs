//! Tests `POST /plugins/parameters` and `POST /plugins/preset-file` with real plugins.

use axum::http::Method;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::plugins::tests::midi_render::{AMSYNTH, NEKOBI, service_with};
use crate::plugins::tests::vst::PluginService;
use crate::test_app::Answer;

const PATH: &str = "/api/v1/plugins/parameters";
const PRESET_FILE: &str = "/api/v1/plugins/preset-file";

/// A reverb of Debian's package zam-plugins, in both formats.
const ZAM_VERB: &str = "/usr/lib/vst/ZamVerb-vst.so";
const ZAM_VERB_VST3: &str = "/usr/lib/vst3/ZamVerb.vst3";

async fn send(service: &PluginService, body: &Value) -> Answer {
    service.app.local(Method::POST, PATH).json(body).send().await
}

/// Returns a parameter of a list by its name.
fn parameter<'l>(list: &'l Value, name: &str) -> &'l Value {
    let parameters = list["parameters"].as_array().expect("a list");
    parameters.iter().find(|parameter| parameter["name"] == name).unwrap_or_else(|| panic!("{name}: {list}"))
}

#[tokio::test]
async fn instruments_and_effects_list_their_parameters_with_texts() {
    let (service, ids) = service_with(&[NEKOBI, AMSYNTH, ZAM_VERB]).await;
    for (id, name, accepts_notes) in
        [(&ids[0], "Nekobi", true), (&ids[1], "amsynth", true), (&ids[2], "ZamVerb", false)]
    {
        let list = send(&service, &json!({"plugin_id": id})).await.expect(200);
        assert_eq!((&list["name"], &list["format"]), (&json!(name), &json!("vst2")));
        assert_eq!(list["accepts_notes"], accepts_notes, "{name}");
        assert_eq!((&list["plugin_id"], &list["state"]), (&json!(id), &Value::Null));
        let parameters = list["parameters"].as_array().expect("a list");
        assert!(parameters.len() >= 3, "{name}: {parameters:?}");
        for parameter in parameters {
            let value = |field: &str| parameter[field].as_f64().expect("a number");
            assert!(
                (0.0..=1.0).contains(&value("value")) && value("value") == value("default"),
                "{parameter}"
            );
            let texts = parameter["texts"].as_array().expect("a list");
            let steps = parameter["step_count"].as_u64().expect("a number") as usize;
            let expected = if (1..128).contains(&steps) { steps + 1 } else { 101 };
            assert_eq!(texts.len(), expected, "{parameter}");
        }
    }
}

#[tokio::test]
async fn vst3_plugins_list_ids_units_and_texts() {
    let (service, ids) = service_with(&[ZAM_VERB_VST3]).await;
    let list = send(&service, &json!({"plugin_id": ids[0]})).await.expect(200);
    assert_eq!((&list["name"], &list["format"]), (&json!("ZamVerb"), &json!("vst3")));
    let master = parameter(&list, "Master level");
    assert_eq!(master["unit"], "dB");
    assert_ne!(master["texts"][0], master["texts"][100]);
    let room = parameter(&list, "Room");
    assert_eq!((&room["is_automatable"], &master["is_automatable"]), (&json!(false), &json!(true)));
    // A parameter that cannot be automated can be set to a value.
    let params = json!({master["id"].to_string(): 0.25, room["id"].to_string(): 1.0});
    let changed_answer = send(&service, &json!({"plugin_id": ids[0], "params": params})).await.expect(200);
    let new_master = parameter(&changed_answer, "Master level");
    assert_eq!((&new_master["value"], &new_master["text"]), (&json!(0.25), &new_master["texts"][25]));
    let new_room = parameter(&changed_answer, "Room");
    let texts = new_room["texts"].as_array().expect("a list");
    assert_eq!((&new_room["value"], Some(&new_room["text"])), (&json!(1.0), texts.last()));
    assert_ne!(new_room["text"], room["text"]);
}

#[tokio::test]
async fn values_of_a_request_have_the_texts_of_the_plugin() {
    let (service, ids) = service_with(&[NEKOBI]).await;
    let list = send(&service, &json!({"plugin_id": ids[0]})).await.expect(200);
    let cutoff = parameter(&list, "Cutoff");
    let (id, texts) = (&cutoff["id"], &cutoff["texts"]);
    assert_eq!(cutoff["unit"], "%");
    assert_ne!(texts[37], texts[38]);
    let body = json!({"plugin_id": ids[0], "params": {"Cutoff": 0.37}, "values": [{"id": id, "value": 0.38}],
        "with_state": true});
    let changed_answer = send(&service, &body).await.expect(200);
    let cutoff = parameter(&changed_answer, "Cutoff");
    assert!((cutoff["value"].as_f64().expect("a number") - 0.37).abs() < 1e-6, "{cutoff}");
    assert_eq!(cutoff["text"], texts[37]);
    assert_eq!(changed_answer["value_texts"], json!([texts[38]]));
    // The state contains the values.
    let restored_answer = json!({"plugin_id": ids[0], "state": changed_answer["state"]});
    let restored_answer = send(&service, &restored_answer).await.expect(200);
    let restored_answer = parameter(&restored_answer, "Cutoff");
    assert!((restored_answer["value"].as_f64().expect("a number") - 0.37).abs() < 1e-6, "{restored_answer}");
}

#[tokio::test]
async fn programs_change_the_values_and_become_a_state() {
    let (service, ids) = service_with(&[AMSYNTH]).await;
    let first = send(&service, &json!({"plugin_id": ids[0]})).await.expect(200);
    let programs = first["programs"].as_array().expect("a list");
    assert!(programs.len() > 5 && programs[5].as_str().is_some_and(|name| !name.is_empty()), "{programs:?}");
    let body = json!({"plugin_id": ids[0], "preset": 5, "with_state": true});
    let selected_answer = send(&service, &body).await.expect(200);
    assert_eq!(selected_answer["program"], 5);
    // The plugin stores its values as text.
    let values = |list: &Value| -> Vec<i64> {
        let parameters = list["parameters"].as_array().expect("a list");
        let value = |parameter: &Value| parameter["value"].as_f64().expect("a number");
        parameters.iter().map(|parameter| (value(parameter) * 10_000.0).round() as i64).collect()
    };
    assert_ne!(values(&selected_answer), values(&first));
    let restored_answer =
        send(&service, &json!({"plugin_id": ids[0], "state": selected_answer["state"]})).await.expect(200);
    assert_eq!(values(&restored_answer), values(&selected_answer));
    assert_eq!(restored_answer["program"], Value::Null);
}

/// Saves settings of a plugin as a preset file, and loads the file into the plugin.
async fn check_preset_file(module: &str, file_name: &str, start: &[u8]) {
    let (service, ids) = service_with(&[module]).await;
    let save = async |body: &Value| service.app.local(Method::POST, PRESET_FILE).json(body).send().await;
    let id = &ids[0];
    let list = send(&service, &json!({"plugin_id": id})).await.expect(200);
    let parameters = list["parameters"].as_array().expect("a list");
    let continuous = |parameter: &&Value| parameter["step_count"] == 0 && parameter["is_automatable"] == true;
    let parameter_id = parameters.iter().find(continuous).expect("a continuous parameter")["id"].to_string();
    let params = json!({ parameter_id: 0.375 });
    let save_answer = save(&json!({"plugin_id": id, "params": params})).await;
    assert_eq!(
        save_answer.status.as_u16(),
        200,
        "{file_name}: {}",
        String::from_utf8_lossy(&save_answer.bytes)
    );
    assert!(save_answer.header("content-disposition").contains(file_name), "{file_name}");
    assert!(save_answer.bytes.starts_with(start), "{file_name}");
    let values = |list: &Value| -> Vec<i64> {
        let parameters = list["parameters"].as_array().expect("a list");
        let value = |parameter: &Value| parameter["value"].as_f64().expect("a number");
        parameters.iter().map(|parameter| (value(parameter) * 10_000.0).round() as i64).collect()
    };
    let expected = send(&service, &json!({"plugin_id": id, "params": params})).await.expect(200);
    let preset = BASE64_STANDARD.encode(&save_answer.bytes);
    let loaded_answer = send(&service, &json!({"plugin_id": id, "preset": preset})).await.expect(200);
    assert_eq!(values(&loaded_answer), values(&expected), "{file_name}");
    assert_ne!(values(&loaded_answer), values(&list), "{file_name}");
}

#[tokio::test]
async fn settings_become_a_preset_file_which_the_plugin_loads() {
    for (module, file_name, start) in [
        (NEKOBI, "Nekobi.fxp", b"CcnK"),
        (AMSYNTH, "amsynth.fxp", b"CcnK"),
        (ZAM_VERB_VST3, "ZamVerb.vstpreset", b"VST3"),
    ] {
        check_preset_file(module, file_name, start).await;
    }
}

#[tokio::test]
async fn invalid_requests_for_preset_files_are_refused() {
    let (service, ids) = service_with(&[NEKOBI]).await;
    let save = async |body: &Value| service.app.local(Method::POST, PRESET_FILE).json(body).send().await;
    save(&json!({"plugin_id": "none"})).await.problem(404, "not_found");
    save(&json!({"plugin_id": ids[0], "values": []})).await.problem(400, "unexpected_json");
    save(&json!({"plugin_id": ids[0], "params": {"Cut": 1}})).await.problem(422, "bad_plugin_parameter");
    let remote_answer =
        service.app.remote(Method::POST, PRESET_FILE).json(&json!({"plugin_id": ids[0]})).send().await;
    remote_answer.problem(401, "token_missing");
}

#[tokio::test]
async fn lists_are_cached_by_module_and_request() {
    let (service, ids) = service_with(&[NEKOBI]).await;
    let body = json!({"plugin_id": ids[0]});
    let first = send(&service, &body).await.expect(200);
    // Without a permit, no plugin can be started.
    let all_permits = service.app.state.plugin_hosts.take_all();
    assert_eq!(send(&service, &body).await.expect(200), first);
    drop(all_permits);
    let other_parameter =
        send(&service, &json!({"plugin_id": ids[0], "params": {"Volume": 0.1}})).await.expect(200);
    assert_ne!(other_parameter, first);
}

#[tokio::test]
async fn invalid_requests_and_missing_helpers_are_refused() {
    let (service, ids) = service_with(&[NEKOBI]).await;
    let check = async |more: Value, status: u16, code: &str, part: &str| {
        let mut body = json!({"plugin_id": ids[0]});
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let detail = send(&service, &body).await.problem(status, code);
        assert!(detail.contains(part), "{more}: {detail}");
    };
    check(json!({"plugin_id": "00".repeat(16)}), 404, "not_found", &"00".repeat(16)).await;
    check(json!({"bank": 3}), 400, "unexpected_json", "bank").await;
    check(json!({"state": BASE64_STANDARD.encode("no state")}), 422, "bad_state", "`state` cannot be used")
        .await;
    check(json!({"preset": -1}), 422, "bad_preset", "from 0").await;
    check(json!({"params": {"Cut": 0.5}}), 422, "bad_plugin_parameter", "`Cutoff` (").await;
    check(json!({"values": [{"id": 0, "value": 2}]}), 422, "bad_plugin_parameter", "`values/0`").await;
    check(json!({"values": [{"id": 999, "value": 1}]}), 422, "plugin_refused", "999").await;
    let body = json!({"plugin_id": ids[0]});
    service.app.remote(Method::POST, PATH).json(&body).send().await.problem(401, "token_missing");
    let token = service.app.token_of_new_user("ada").await;
    let ada = service.app.remote(Method::POST, PATH).token(&token).json(&body).send().await;
    ada.problem(404, "not_found");
    let service = PluginService::with(&[("SF_BRIDGE", "/nonexistent/helper")]).await;
    let detail = send(&service, &body).await.problem(501, "plugin_host_unavailable");
    assert!(detail.contains("/nonexistent/helper"), "{detail}");
}
