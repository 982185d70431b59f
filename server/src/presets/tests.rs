//! Tests presets through the real router.

use axum::http::Method;
use serde_json::{Value, json};

use crate::test_app::{Answer, TestApp};

const PATH: &str = "/api/v1/presets";

fn chain(name: &str) -> Value {
    let effect =
        json!({ "id": "e1", "type": "builtin", "name": "delay", "params": { "note": "1/8", "mix": 0.3 } });
    json!({ "kind": "effect_chain", "name": name, "category": "Echoes", "content": { "effects": [effect] } })
}

async fn create(app: &TestApp, token: &str, body: &Value) -> Answer {
    app.remote(Method::POST, PATH).token(token).json(body).send().await
}

async fn list(app: &TestApp, token: &str, query: &str) -> Value {
    app.remote(Method::GET, &format!("{PATH}{query}")).token(token).send().await.expect(200)
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().expect("a list").iter().filter_map(|preset| preset["name"].as_str()).collect()
}

#[tokio::test]
async fn a_preset_is_stored_read_replaced_and_deleted() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let answer = create(&app, &token, &chain(" My echo ")).await;
    let stored_preset = answer.expect(201);
    assert_eq!((&stored_preset["name"], &stored_preset["source"]), (&json!("My echo"), &json!("user")));
    assert_eq!(stored_preset["content"]["effects"][0].get("id"), None);
    let path = answer.header("location").to_owned();
    assert_eq!(path, format!("{PATH}/{}", stored_preset["id"].as_str().expect("an id")));
    let read_path = |path: String| app.remote(Method::GET, &path).token(&token).send();
    assert_eq!(read_path(path.clone()).await.expect(200), stored_preset);

    let engine = json!({ "type": "soundfont", "bank": 0, "program": 4 });
    let instrument = json!({ "kind": "instrument", "name": "Keys", "content": { "synth_engine": engine } });
    let replace_answer =
        app.remote(Method::PUT, &path).token(&token).json(&instrument).send().await.expect(200);
    assert_eq!((&replace_answer["kind"], &replace_answer["category"]), (&json!("instrument"), &json!("")));
    assert_eq!(
        (&replace_answer["created_at"], &replace_answer["id"]),
        (&stored_preset["created_at"], &stored_preset["id"])
    );
    assert_eq!(read_path(path.clone()).await.expect(200), replace_answer);

    app.remote(Method::DELETE, &path).token(&token).send().await.expect(204);
    app.remote(Method::DELETE, &path).token(&token).send().await.problem(404, "not_found");
    app.remote(Method::PUT, &path).token(&token).json(&instrument).send().await.problem(404, "not_found");
    read_path(path).await.problem(404, "not_found");
}

#[tokio::test]
async fn an_invalid_preset_is_refused_with_all_its_errors() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let mut wrong_chain = chain("");
    wrong_chain["category"] = "x".repeat(65).into();
    wrong_chain["content"]["effects"][0]["params"]["feedback"] = json!(1.5);
    let answer = create(&app, &token, &wrong_chain).await;
    let detail = answer.problem(400, "invalid_preset");
    assert!(detail.contains("/name") && detail.contains("1 to 200"), "{detail}");
    let errors = answer.json()["errors"].clone();
    let pointers: Vec<&str> =
        errors.as_array().expect("a list").iter().filter_map(|error| error["pointer"].as_str()).collect();
    assert_eq!(pointers, ["/name", "/category", "/content/effects/0/params/feedback"]);
    assert!(errors[2]["detail"].as_str().is_some_and(|text| text.contains("0 to 0.98")), "{errors}");

    let mut unknown_chain = chain("x");
    unknown_chain["colour"] = "red".into();
    create(&app, &token, &unknown_chain).await.problem(400, "unexpected_json");
    let mut kind = chain("x");
    kind["kind"] = "drum".into();
    create(&app, &token, &kind).await.problem(400, "unexpected_json");
    assert_eq!(list(&app, &token, "?source=user").await["items"], json!([]));
}

#[tokio::test]
async fn user_presets_are_listed_before_factory_presets() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    for name in ["First", "Second", "Third"] {
        create(&app, &token, &chain(name)).await.expect(201);
    }
    let all_presets = list(&app, &token, "?limit=200").await;
    let everything = names(&all_presets);
    assert_eq!(everything[..3], ["Third", "Second", "First"]);
    assert!(everything.len() >= 43 && all_presets["next_cursor"].is_null(), "{}", everything.len());
    assert!(all_presets["items"][0].get("content").is_none());

    let (mut seen_ids, mut query) = (Vec::new(), "?limit=2".to_owned());
    loop {
        let page = list(&app, &token, &query).await;
        seen_ids.extend(names(&page).iter().map(|name| (*name).to_owned()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        query = format!("?limit=2&cursor={cursor}");
    }
    assert_eq!(seen_ids, everything);
}

#[tokio::test]
async fn presets_can_be_searched_by_text_and_category() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    create(&app, &token, &chain("Vocal 50% wet")).await.expect(201);
    create(&app, &token, &chain("Plain")).await.expect(201);
    assert_eq!(names(&list(&app, &token, "?source=user&search=VOCAL").await), ["Vocal 50% wet"]);
    assert_eq!(names(&list(&app, &token, "?source=user&search=0%25").await), ["Vocal 50% wet"]);
    assert_eq!(names(&list(&app, &token, "?source=user&search=_").await), [""; 0]);
    assert_eq!(names(&list(&app, &token, "?source=user&category=echo").await), [""; 0]);
    assert_eq!(names(&list(&app, &token, "?category=ECHOES").await), ["Plain", "Vocal 50% wet"]);
    let vocal_chains = list(&app, &token, "?kind=effect_chain&search=vocal").await;
    assert!(names(&vocal_chains).starts_with(&["Vocal 50% wet", "Lead vocal"]), "{vocal_chains}");
    let instruments = list(&app, &token, "?kind=instrument&limit=200").await;
    assert!(instruments["items"].as_array().is_some_and(|items| items.len() > 10
        && items.iter().all(|preset| preset["kind"] == "instrument" && preset["source"] == "factory")));
    let call = app.remote(Method::GET, &format!("{PATH}?kind=drum")).token(&token);
    call.send().await.problem(400, "bad_query");
}

#[tokio::test]
async fn factory_presets_can_be_read_but_not_changed() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let path = format!("{PATH}/factory-lead-vocal");
    let preset = app.remote(Method::GET, &path).token(&token).send().await.expect(200);
    assert_eq!((&preset["source"], &preset["created_at"]), (&json!("factory"), &Value::Null));
    let detail = app.remote(Method::DELETE, &path).token(&token).send().await.problem(403, "factory_preset");
    assert!(detail.contains("Lead vocal"), "{detail}");
    let call = app.local(Method::PUT, &path).json(&chain("x"));
    call.send().await.problem(403, "factory_preset");
    for method in [Method::GET, Method::DELETE] {
        let call = app.remote(method, &format!("{PATH}/factory-none")).token(&token);
        call.send().await.problem(404, "not_found");
    }
    // A user can store a copy of a factory preset.
    let copy = json!({ "kind": preset["kind"], "name": "Mine", "content": preset["content"] });
    assert_eq!(create(&app, &token, &copy).await.expect(201)["content"], preset["content"]);
}

#[tokio::test]
async fn users_cannot_reach_presets_of_other_users() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.token_of_new_user("ada").await, app.token_of_new_user("bob").await);
    let stored_preset = create(&app, &ada, &chain("Hers")).await.expect(201);
    let path = format!("{PATH}/{}", stored_preset["id"].as_str().expect("an id"));
    for token in [&bob, &app.admin_token().await] {
        app.remote(Method::GET, &path).token(token).send().await.problem(404, "not_found");
        app.remote(Method::PUT, &path).token(token).json(&chain("x")).send().await.problem(404, "not_found");
        app.remote(Method::DELETE, &path).token(token).send().await.problem(404, "not_found");
        assert_eq!(list(&app, token, "?source=user").await["items"], json!([]));
    }
    for (method, path) in [
        (Method::GET, PATH),
        (Method::POST, PATH),
        (Method::GET, path.as_str()),
        (Method::PUT, path.as_str()),
        (Method::DELETE, path.as_str()),
    ] {
        app.remote(method, path).json(&chain("x")).send().await.problem(401, "token_missing");
    }
    assert_eq!(list(&app, &ada, "?source=user").await["items"][0]["name"], "Hers");
}
