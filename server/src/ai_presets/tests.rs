//! Tests of prompt templates through the real router.

use axum::http::Method;
use serde_json::{Value, json};

use crate::test_app::{Answer, TestApp};

const PATH: &str = "/api/v1/ai_presets";

fn template(title: &str, keywords: &[&str]) -> Value {
    json!({ "title": title, "body": "Write {{bars}} bars in {{ key }}.", "keywords": keywords })
}

async fn create(app: &TestApp, token: &str, body: &Value) -> Answer {
    app.remote(Method::POST, PATH).token(token).json(body).send().await
}

async fn titles(app: &TestApp, token: &str, query: &str) -> Vec<String> {
    let list = app.remote(Method::GET, &format!("{PATH}{query}")).token(token).send().await.expect(200);
    let items = list["items"].as_array().expect("a list");
    items.iter().filter_map(|template| template["title"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn a_template_is_stored_read_replaced_and_deleted() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let answer = create(&app, &token, &template(" Chords ", &["Harmony", " jazz "])).await;
    let stored_template = answer.expect(201);
    assert_eq!((&stored_template["title"], &stored_template["favourite"]), (&json!("Chords"), &json!(false)));
    assert_eq!(stored_template["keywords"], json!(["Harmony", "jazz"]));
    assert_eq!(stored_template["variables"], json!(["bars", "key"]));
    let path = answer.header("location").to_owned();
    let send = |method: Method, path: String, body: Value| {
        app.remote(method, &path).token(&token).json(&body).send()
    };
    assert_eq!(send(Method::GET, path.clone(), json!({})).await.expect(200), stored_template);

    let liked =
        send(Method::PUT, format!("{path}/favourite"), json!({ "favourite": true })).await.expect(200);
    assert_eq!(liked["favourite"], true);
    let replace_answer =
        send(Method::PUT, path.clone(), json!({ "title": "Bass", "body": "Play." })).await.expect(200);
    assert_eq!((&replace_answer["variables"], &replace_answer["favourite"]), (&json!([]), &json!(false)));
    assert_eq!(
        (&replace_answer["id"], &replace_answer["created_at"]),
        (&stored_template["id"], &stored_template["created_at"])
    );
    assert_eq!(send(Method::GET, path.clone(), json!({})).await.expect(200), replace_answer);

    send(Method::DELETE, path.clone(), json!({})).await.expect(204);
    for (method, path, body) in [
        (Method::GET, path.clone(), json!({})),
        (Method::DELETE, path.clone(), json!({})),
        (Method::PUT, path.clone(), template("x", &[])),
        (Method::PUT, format!("{path}/favourite"), json!({ "favourite": true })),
        (Method::POST, format!("{path}/render"), json!({})),
    ] {
        send(method, path, body).await.problem(404, "not_found");
    }
}

#[tokio::test]
async fn an_invalid_template_is_refused_with_a_list_of_all_its_errors() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let invalid = json!({ "title": "a\nb", "body": " ", "keywords": ["x", "", "X"] });
    let answer = create(&app, &token, &invalid).await;
    answer.problem(400, "invalid_template");
    let errors = answer.json()["errors"].clone();
    let pointers: Vec<&str> =
        errors.as_array().expect("a list").iter().filter_map(|error| error["pointer"].as_str()).collect();
    assert_eq!(pointers, ["/title", "/body", "/keywords/1", "/keywords/2"]);
    let too_many_keywords: Vec<String> = (0..21).map(|number| number.to_string()).collect();
    let body = json!({ "title": "x", "body": "x".repeat(20_001), "keywords": too_many_keywords });
    let answer = create(&app, &token, &body).await;
    let detail = answer.problem(400, "invalid_template");
    assert!(detail.contains("20000") && detail.contains("20001"), "{detail}");
    assert_eq!(answer.json()["errors"][1]["pointer"], "/keywords");
    create(&app, &token, &json!({ "title": "x" })).await.problem(400, "unexpected_json");
    create(&app, &token, &json!({ "title": "x", "body": "y", "tags": [] }))
        .await
        .problem(400, "unexpected_json");
    assert_eq!(titles(&app, &token, "").await, [""; 0]);
}

#[tokio::test]
async fn the_total_size_of_the_templates_of_a_user_is_limited() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    // Each of these texts has 80,000 bytes.
    let long_template = json!({ "title": "Long", "body": "\u{1f3b5}".repeat(20_000) });
    let mut last_answer = String::new();
    for _ in 0..(4 << 20) / 80_000 {
        let answer = create(&app, &token, &long_template).await;
        answer.expect(201);
        last_answer = answer.header("location").to_owned();
    }
    let detail = create(&app, &token, &long_template).await.problem(409, "too_many_templates");
    assert!(detail.contains("4 MiB"), "{detail}");
    let answer = create(&app, &token, &json!({ "title": "Short", "body": "x" })).await;
    answer.expect(201);
    let replacing = app.remote(Method::PUT, answer.header("location")).token(&token).json(&long_template);
    replacing.send().await.problem(409, "too_many_templates");
    assert_eq!(titles(&app, &token, "?search=short").await, ["Short"]);
    app.remote(Method::DELETE, &last_answer).token(&token).send().await.expect(204);
    create(&app, &token, &long_template).await.expect(201);
    // Other users have their own templates.
    let bob_token = app.token_of_new_user("bob").await;
    create(&app, &bob_token, &long_template).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_wait_for_each_other_and_other_lists_do_not() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    create(&app, &token, &template("Chords", &[])).await.expect(201);
    let all_permits = app.state.searches.take_all();
    for path in [PATH, "/api/v1/presets?source=user", "/api/v1/audio"] {
        let separator = if path.contains('?') { '&' } else { '?' };
        let search = app.remote(Method::GET, &format!("{path}{separator}search=o")).token(&token).send();
        let other_lists = async {
            for _ in 0..5 {
                app.remote(Method::GET, path).token(&token).send().await.expect(200);
            }
        };
        tokio::select! {
            _ = search => panic!("{path}: the search does not wait"),
            () = other_lists => {}
        }
    }
    drop(all_permits);
    assert_eq!(titles(&app, &token, "?search=o").await, ["Chords"]);
}

#[tokio::test]
async fn search_texts_are_short() {
    let app = TestApp::start().await;
    let text = "ö".repeat(100);
    for path in [
        "/ai_presets?search=",
        "/ai_presets?keyword=",
        "/presets?search=",
        "/presets?category=",
        "/audio?search=",
        "/audio?tag=",
        "/admin/users?search=",
    ] {
        app.local(Method::GET, &format!("/api/v1{path}{text}")).send().await.expect(200);
        let answer = app.local(Method::GET, &format!("/api/v1{path}{text}z")).send().await;
        let detail = answer.problem(400, "bad_query");
        assert!(detail.contains("at most 100 characters") && detail.contains("101"), "{path}: {detail}");
    }
}

#[tokio::test]
async fn templates_are_found_by_keyword_and_text_and_listed_in_pages() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    for (title, keywords) in
        [("Chords", &["harmony", "Jazz"][..]), ("Drums", &["rhythm", "jazz-funk"]), ("Mix notes", &["100%"])]
    {
        create(&app, &token, &template(title, keywords)).await.expect(201);
    }
    assert_eq!(titles(&app, &token, "?keyword=JAZZ").await, ["Chords"]);
    assert_eq!(titles(&app, &token, "?search=jazz").await, ["Drums", "Chords"]);
    assert_eq!(titles(&app, &token, "?search=MIX").await, ["Mix notes"]);
    assert_eq!(titles(&app, &token, "?keyword=100%25").await, ["Mix notes"]);
    assert_eq!(titles(&app, &token, "?keyword=100_").await, [""; 0]);

    let list = app.remote(Method::GET, &format!("{PATH}?limit=2")).token(&token).send().await.expect(200);
    assert_eq!(list["items"].as_array().map(Vec::len), Some(2));
    let cursor = list["next_cursor"].as_str().expect("another page");
    assert_eq!(titles(&app, &token, &format!("?limit=2&cursor={cursor}")).await, ["Chords"]);

    let path = format!("{PATH}/{}/favourite", list["items"][0]["id"].as_str().expect("an id"));
    let call = app.remote(Method::PUT, &path).token(&token).json(&json!({ "favourite": true }));
    call.send().await.expect(200);
    assert_eq!(titles(&app, &token, "?favourite=true").await, ["Mix notes"]);
    assert_eq!(titles(&app, &token, "?favourite=false").await, ["Drums", "Chords"]);
    let call = app.remote(Method::GET, &format!("{PATH}?favourite=maybe")).token(&token);
    call.send().await.problem(400, "bad_query");
}

#[tokio::test]
async fn rendering_a_template_fills_in_its_variables() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let stored_template = create(&app, &token, &template("Chords", &[])).await.expect(201);
    let path = format!("{PATH}/{}/render", stored_template["id"].as_str().expect("an id"));
    let render = |variables: Value| {
        app.remote(Method::POST, &path).token(&token).json(&json!({ "variables": variables })).send()
    };
    let answer = render(json!({ "bars": "8", "key": "{{bars}}", "unused": "x" })).await.expect(200);
    assert_eq!(answer["text"], "Write 8 bars in {{bars}}.");
    let answer = render(json!({ "bars": "8" })).await;
    let detail = answer.problem(400, "missing_variables");
    assert!(detail.contains("key") && detail.contains("Chords") && !detail.contains("bars"), "{detail}");
    assert_eq!(answer.json()["errors"][0]["pointer"], "/variables/key");
    render(json!({ "bars": 8 })).await.problem(400, "unexpected_json");

    let wide = json!({ "title": "Wide", "body": "{{a}}".repeat(3_000) });
    let wide = create(&app, &token, &wide).await.expect(201);
    let call = app.remote(Method::POST, &format!("{PATH}/{}/render", wide["id"].as_str().expect("an id")));
    let call = call.token(&token).json(&json!({ "variables": { "a": "x".repeat(1_000) } }));
    assert!(call.send().await.problem(413, "too_large").contains("1048576"));
}

#[tokio::test]
async fn users_cannot_reach_the_templates_of_others() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.token_of_new_user("ada").await, app.token_of_new_user("bob").await);
    let stored_template = create(&app, &ada, &template("Hers", &["secret"])).await.expect(201);
    let path = format!("{PATH}/{}", stored_template["id"].as_str().expect("an id"));
    for token in [&bob, &app.admin_token().await] {
        assert_eq!(titles(&app, token, "").await, [""; 0]);
        assert_eq!(titles(&app, token, "?keyword=secret").await, [""; 0]);
        for (method, path, body) in [
            (Method::GET, path.clone(), json!({})),
            (Method::PUT, path.clone(), template("x", &[])),
            (Method::PUT, format!("{path}/favourite"), json!({ "favourite": true })),
            (Method::POST, format!("{path}/render"), json!({})),
            (Method::DELETE, path.clone(), json!({})),
        ] {
            app.remote(method, &path).token(token).json(&body).send().await.problem(404, "not_found");
        }
    }
    for (method, path) in [
        (Method::GET, PATH.to_owned()),
        (Method::POST, PATH.to_owned()),
        (Method::GET, path.clone()),
        (Method::PUT, path.clone()),
        (Method::DELETE, path.clone()),
        (Method::PUT, format!("{path}/favourite")),
        (Method::POST, format!("{path}/render")),
    ] {
        app.remote(method, &path).json(&template("x", &[])).send().await.problem(401, "token_missing");
    }
    assert_eq!(titles(&app, &ada, "").await, ["Hers"]);
}
