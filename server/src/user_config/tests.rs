//! Tests of user settings through the real router.

use axum::http::Method;
use serde_json::{Value, json};

use crate::test_app::{Answer, TestApp};

const PATH: &str = "/api/v1/user_config";

async fn send(app: &TestApp, token: &str, method: Method, body: &Value) -> Answer {
    app.remote(method, PATH).token(token).json(body).send().await
}

async fn read(app: &TestApp, token: &str) -> Value {
    app.remote(Method::GET, PATH).token(token).send().await.expect(200)
}

#[tokio::test]
async fn settings_begin_with_defaults_and_changes_are_stored() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let fresh_settings = read(&app, &token).await;
    assert_eq!(fresh_settings["settings"]["instrument_sound"], "auto");
    assert_eq!(fresh_settings["settings"]["snap_ticks"], 240);
    assert_eq!((&fresh_settings["set"], &fresh_settings["updated_at"]), (&json!([]), &Value::Null));

    let changed_settings = json!({ "snap_ticks": 0, "metronome": true, "export_artist": "Ada L." });
    let answer = send(&app, &token, Method::PATCH, &changed_settings).await.expect(200);
    assert_eq!(answer, read(&app, &token).await);
    assert_eq!(answer["set"], json!(["export_artist", "metronome", "snap_ticks"]));
    assert!(answer["updated_at"].as_str().is_some_and(|time| time.ends_with('Z')), "{answer}");

    // Null resets a setting. Settings that the body omits do not change.
    let answer = send(&app, &token, Method::PATCH, &json!({ "metronome": null })).await.expect(200);
    assert_eq!(
        (&answer["settings"]["metronome"], &answer["settings"]["snap_ticks"]),
        (&json!(false), &json!(0))
    );

    // Settings that a replacement omits get their defaults.
    let answer = send(&app, &token, Method::PUT, &json!({ "theme": "dark" })).await.expect(200);
    assert_eq!((&answer["set"], &answer["settings"]["snap_ticks"]), (&json!(["theme"]), &json!(240)));

    let answer = app.remote(Method::DELETE, PATH).token(&token).send().await.expect(200);
    assert_eq!(answer, fresh_settings);
}

#[tokio::test]
async fn every_invalid_value_is_named_and_nothing_changes() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    send(&app, &token, Method::PATCH, &json!({ "snap_ticks": 480 })).await.expect(200);
    for method in [Method::PATCH, Method::PUT] {
        let body = json!({ "theme": "light", "no/such~one": 1, "snap_ticks": 1.5, "metronome_level_db": 99 });
        let answer = send(&app, &token, method, &body).await;
        let detail = answer.problem(400, "invalid_settings");
        assert!(detail.contains("3 errors"), "{detail}");
        let errors = answer.json()["errors"].clone();
        let pointers: Vec<&str> =
            errors.as_array().expect("a list").iter().filter_map(|error| error["pointer"].as_str()).collect();
        assert_eq!(pointers, ["/no~1such~0one", "/snap_ticks", "/metronome_level_db"]);
        assert!(errors[1]["detail"].as_str().is_some_and(|text| text.contains("0 to 15360")), "{errors}");
    }
    let answer = send(&app, &token, Method::PUT, &json!({ "theme": null })).await;
    answer.problem(400, "invalid_settings");
    send(&app, &token, Method::PATCH, &json!([1])).await.problem(400, "unexpected_json");
    let call = app.remote(Method::PUT, PATH).token(&token).raw("text/plain", "{}");
    call.send().await.problem(415, "unsupported_media_type");
    let current_settings = read(&app, &token).await;
    assert_eq!(
        (&current_settings["set"], &current_settings["settings"]["snap_ticks"]),
        (&json!(["snap_ticks"]), &json!(480))
    );
}

#[tokio::test]
async fn each_user_has_separate_settings() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.token_of_new_user("ada").await, app.token_of_new_user("bob").await);
    send(&app, &ada, Method::PATCH, &json!({ "theme": "dark" })).await.expect(200);
    assert_eq!(read(&app, &bob).await["settings"]["theme"], "system");
    app.remote(Method::DELETE, PATH).token(&bob).send().await.expect(200);
    assert_eq!(read(&app, &ada).await["settings"]["theme"], "dark");
    // The administrator of this machine has settings too, and needs no token to read them.
    assert_eq!(app.local(Method::GET, PATH).send().await.expect(200)["settings"]["theme"], "system");
    let key = app.create_api_key(&ada).await;
    assert_eq!(read(&app, &key).await["settings"]["theme"], "dark");
    for method in [Method::GET, Method::PUT, Method::PATCH, Method::DELETE] {
        app.remote(method, PATH).json(&json!({})).send().await.problem(401, "token_missing");
    }
    app.remote(Method::GET, &format!("{PATH}/settings")).send().await.problem(401, "token_missing");
}

#[tokio::test]
async fn the_list_describes_the_accepted_values() {
    let app = TestApp::start().await;
    let list = app.local(Method::GET, &format!("{PATH}/settings")).send().await.expect(200);
    let items = list["items"].as_array().expect("a list");
    let settings = app.local(Method::GET, PATH).send().await.expect(200)["settings"].clone();
    assert_eq!(items.len(), settings.as_object().expect("an object").len());
    for item in items {
        let key = item["key"].as_str().expect("a name");
        assert_eq!(item["default"], settings[key], "{key}");
    }
    let snap = items.iter().find(|item| item["key"] == "snap_ticks").expect("the list has this setting");
    assert_eq!((&snap["kind"], &snap["max"]), (&json!("whole"), &json!(15_360.0)));
}

#[tokio::test]
async fn values_that_an_older_version_stored_are_ignored() {
    let app = TestApp::start().await;
    app.local(Method::PATCH, PATH)
        .json(&json!({ "theme": "dark", "snap_ticks": 1 }))
        .send()
        .await
        .expect(200);
    for statement in [
        "UPDATE user_settings SET value = '\"sepia\"' WHERE key = 'theme'",
        "UPDATE user_settings SET key = 'gone' WHERE key = 'snap_ticks'",
    ] {
        sqlx::query(statement).execute(&app.state.db).await.expect("changes the stored setting");
    }
    let current_settings = app.local(Method::GET, PATH).send().await.expect(200);
    assert_eq!(
        (&current_settings["set"], &current_settings["settings"]["theme"]),
        (&json!([]), &json!("system"))
    );
}
