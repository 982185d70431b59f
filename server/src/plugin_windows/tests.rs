//! Tests windows of a real plugin, with the real helper and a real X server.

use axum::http::Method;
use serde_json::{Value, json};

use crate::plugins::tests::midi_render::{NEKOBI, service_with};

const OPEN: &str = "/api/v1/plugins/open-fx-gui";
const CLOSE: &str = "/api/v1/plugins/fx-gui/close";

/// Position of the knob of the cutoff in the window of Nekobi.
const CUTOFF_X: f64 = 208.0;
const CUTOFF_Y: f64 = 68.0;

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_sees_uses_and_closes_a_window() {
    let (service, ids) = service_with(&[NEKOBI]).await;
    let app = &service.app;
    let request = json!({"plugin_id": ids[0], "track_id": "t", "params": {"Cutoff": 0.25}});
    let opened = app.local(Method::POST, OPEN).json(&request).send().await.expect(200);
    assert_eq!((&opened["width"], &opened["height"]), (&json!(636), &json!(108)));
    assert_eq!(opened["already_running"], false);
    let url = opened["embed_url"].as_str().expect("a path").to_owned();
    let again = app.local(Method::POST, OPEN).json(&request).send().await.expect(200);
    assert_eq!((&again["already_running"], &again["embed_url"]), (&json!(true), &opened["embed_url"]));
    let helpers = || async { app.local(Method::GET, "/api/v1/files/processes").send().await.expect(200) };
    assert!(helpers().await.to_string().contains("plugin window"));

    let frame = app.local(Method::GET, &format!("{url}/frame")).send().await;
    assert_eq!((frame.status.as_u16(), frame.header("content-type")), (200, "image/jpeg"));
    assert!(frame.bytes.starts_with(&[0xff, 0xd8]));
    let state = || async { app.local(Method::GET, &format!("{url}/state")).send().await.expect(200) };
    let before = state().await;
    let parameters = json!({"values": [{"id": 2, "value": 0.75}]});
    app.local(Method::POST, &format!("{url}/parameters")).json(&parameters).send().await.expect(204);
    assert_ne!(state().await, before);
    let input = |x: f64| {
        let press = |down: bool| json!({"type": "button", "x": x, "y": CUTOFF_Y, "button": 0, "down": down});
        json!({"width": 636, "height": 108, "events": [press(true), press(false)]})
    };
    app.local(Method::POST, &format!("{url}/input")).json(&input(CUTOFF_X)).send().await.expect(204);
    let outside = app.local(Method::POST, &format!("{url}/input")).json(&input(640.0)).send().await;
    assert!(outside.problem(422, "bad_window_request").contains("outside"));

    // Others do not find the window.
    let token = app.token_of_new_user("eve").await;
    for (method, path, body) in [
        (Method::GET, format!("{url}/frame"), Value::Null),
        (Method::GET, format!("{url}/state"), Value::Null),
        (Method::POST, format!("{url}/input"), input(CUTOFF_X)),
        (Method::POST, format!("{url}/hide"), Value::Null),
        (Method::POST, CLOSE.to_owned(), json!({"window_id": opened["window_id"]})),
    ] {
        let call = || match &body {
            Value::Null => app.remote(method.clone(), &path),
            body => app.remote(method.clone(), &path).json(body),
        };
        call().token(&token).send().await.problem(404, "no_such_window");
        assert_eq!(call().send().await.status.as_u16(), 401, "{path}");
    }

    app.local(Method::POST, &format!("{url}/hide")).send().await.expect(204);
    app.local(Method::POST, &format!("{url}/show")).send().await.expect(204);
    let close = json!({"window_id": opened["window_id"]});
    app.local(Method::POST, CLOSE).json(&close).send().await.expect(204);
    let ended = app.local(Method::GET, &format!("{url}/ping")).send().await;
    assert!(ended.problem(404, "no_such_window").contains("was closed"));
    assert!(!helpers().await.to_string().contains("plugin window"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_without_a_client_is_closed_and_requests_without_sense_are_refused() {
    let (service, ids) = service_with(&[NEKOBI]).await;
    let app = &service.app;
    let open = |body: Value| app.local(Method::POST, OPEN).json(&body).send();
    open(json!({"plugin_id": "nothing"})).await.problem(404, "not_found");
    open(json!({"plugin_id": ids[0], "embed": false})).await.problem(422, "embed_required");
    open(json!({"plugin_id": ids[0], "effect_id": "e".repeat(201)})).await.problem(422, "bad_id");
    open(json!({"plugin_id": ids[0], "params": {"Nothing": 0.5}})).await.problem(422, "bad_plugin_parameter");
    let opened = open(json!({"plugin_id": ids[0]})).await.expect(200);
    let windows = &app.state.plugin_windows;
    windows.close_unused(std::time::Instant::now() + windows.idle_max());
    // Waits for the end of the window.
    let close = json!({"window_id": opened["window_id"]});
    let closed = app.local(Method::POST, CLOSE).json(&close).send().await;
    assert!([204, 404].contains(&closed.status.as_u16()));
    let url = opened["embed_url"].as_str().expect("a path");
    app.local(Method::GET, &format!("{url}/ping")).send().await.problem(404, "no_such_window");
}
