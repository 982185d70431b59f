//! Tests of API keys: creation, use, deletion and restrictions.

use axum::http::Method;
use serde_json::{Value, json};
use sqlx::Row as _;

use super::{STRONG, add_user, log_in, me, token};
use crate::test_app::{Answer, TestApp};

const KEYS: &str = "/api/v1/auth/api-keys";

async fn make(app: &TestApp, token: &str, name: &str) -> Answer {
    app.remote(Method::POST, KEYS).token(token).json(&json!({ "name": name })).send().await
}

async fn list(app: &TestApp, token: &str) -> Value {
    app.remote(Method::GET, KEYS).token(token).send().await.expect(200)
}

#[tokio::test]
async fn a_key_is_shown_once_and_acts_as_its_owner() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let created_key = make(&app, &token, " nightly export ").await.expect(201);
    let key = created_key["key"].as_str().expect("a key").to_owned();
    assert!(key.starts_with("sfk_") && key.len() == 47, "{key}");
    assert_eq!(created_key["name"], "nightly export");
    assert_eq!(created_key["hint"], key[..8]);
    assert_eq!(created_key["last_used_at"], Value::Null);

    assert_eq!(me(&app, &key).await.expect(200)["username"], "ada");
    app.remote(Method::GET, "/api/v1/projects").token(&key).send().await.expect(200);
    let listed_keys = list(&app, &token).await;
    assert_eq!(listed_keys["items"].as_array().expect("keys").len(), 1);
    assert!(listed_keys["items"][0]["last_used_at"].is_string(), "{listed_keys}");
    assert_eq!(listed_keys["items"][0]["id"], created_key["id"]);
    assert_eq!(listed_keys["most"], 20);
    assert!(!listed_keys.to_string().contains(&key), "{listed_keys}");

    // The database does not contain the key.
    let rows = sqlx::query("SELECT * FROM api_keys").fetch_all(&app.state.db).await.expect("reads");
    for column in 0..rows[0].len() {
        let stored_key: Option<String> = rows[0].try_get(column).expect("text");
        assert_ne!(stored_key.as_deref(), Some(key.as_str()));
    }
}

#[tokio::test]
async fn a_deleted_key_is_invalid() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let created_key = make(&app, &token, "one").await.expect(201);
    let (id, key) = (created_key["id"].as_str().unwrap(), created_key["key"].as_str().unwrap());
    let path = format!("{KEYS}/{id}");
    // For another user, the key does not exist.
    let bob_token = app.token_of_new_user("bob").await;
    app.remote(Method::DELETE, &path).token(&bob_token).send().await.problem(404, "not_found");
    assert_eq!(list(&app, &bob_token).await["items"], json!([]));
    app.remote(Method::DELETE, &path).send().await.problem(401, "token_missing");

    app.remote(Method::DELETE, &path).token(&token).send().await.expect(204);
    let answer = me(&app, key).await;
    answer.problem(401, "api_key_invalid");
    assert_eq!(answer.header("www-authenticate"), "Bearer");
    app.remote(Method::DELETE, &path).token(&token).send().await.problem(404, "not_found");
    me(&app, "sfk_").await.problem(401, "api_key_invalid");
    // A wrong key is refused even from a local caller.
    let call = app.local(Method::GET, "/api/v1/auth/me").token("sfk_nonsense");
    call.send().await.problem(401, "api_key_invalid");
}

#[tokio::test]
async fn a_key_cannot_manage_the_account() {
    let app = TestApp::start().await;
    let admin = app.admin_token().await;
    let key = app.create_api_key(&admin).await;
    let password = json!({ "new_password": "vermilion-otter-413-quay" });
    for (method, path, body) in [
        (Method::GET, KEYS, Value::Null),
        (Method::POST, KEYS, json!({ "name": "another" })),
        (Method::DELETE, "/api/v1/auth/api-keys/any", Value::Null),
        (Method::POST, "/api/v1/auth/password", password),
        (Method::POST, "/api/v1/auth/refresh", Value::Null),
        (Method::POST, "/api/v1/auth/logout", Value::Null),
    ] {
        let call = app.remote(method, path).token(&key);
        let call = if body.is_null() { call } else { call.json(&body) };
        let detail = call.send().await.problem(403, "api_key_not_allowed");
        assert!(detail.contains("API key"), "{path}: {detail}");
    }
}

#[tokio::test]
async fn names_and_number_of_keys_are_limited() {
    let app = TestApp::with(&[("SF_API_KEYS_MAX", "2")]).await;
    let token = app.token_of_new_user("ada").await;
    for name in ["", "  ", "a\nb", &"x".repeat(65)] {
        make(&app, &token, name).await.problem(400, "bad_name");
    }
    let call = app.remote(Method::POST, KEYS).token(&token).json(&json!({ "name": "x", "role": "admin" }));
    call.send().await.problem(400, "unexpected_json");
    app.remote(Method::POST, KEYS).json(&json!({ "name": "x" })).send().await.problem(401, "token_missing");
    // Concurrent requests must not exceed the limit.
    let created_key = futures_util::future::join_all((0..5).map(|_| make(&app, &token, "x"))).await;
    let (created_keys, refused_keys): (Vec<_>, Vec<_>) =
        created_key.iter().partition(|answer| answer.status == 201);
    assert_eq!((created_keys.len(), refused_keys.len()), (2, 3));
    for answer in refused_keys {
        let detail = answer.problem(409, "too_many_api_keys");
        assert!(detail.contains("at most 2"), "{detail}");
    }
    // Keys of other users do not count toward the limit.
    let bob_token = app.token_of_new_user("bob").await;
    make(&app, &bob_token, "x").await.expect(201);
}

#[tokio::test]
async fn keys_survive_a_password_change_but_not_a_reset() {
    let app = TestApp::start().await;
    let id = add_user(&app.state, "ada", STRONG).await;
    let first = token(&log_in(&app, "ada", STRONG).await);
    let key = app.create_api_key(&first).await;
    let body = json!({ "current_password": STRONG, "new_password": "vermilion-otter-413-quay" });
    app.remote(Method::POST, "/api/v1/auth/password").token(&first).json(&body).send().await.expect(200);
    me(&app, &key).await.expect(200);

    let path = format!("/api/v1/admin/users/{id}");
    app.local(Method::PATCH, &path).json(&json!({ "disabled": true })).send().await.expect(200);
    me(&app, &key).await.problem(401, "api_key_invalid");
    app.local(Method::PATCH, &path).json(&json!({ "disabled": false })).send().await.expect(200);
    me(&app, &key).await.expect(200);
    app.local(Method::POST, &format!("{path}/reset-password")).send().await.expect(200);
    me(&app, &key).await.problem(401, "api_key_invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_ins_and_keys_work_while_the_database_is_locked() {
    let app = TestApp::with(&[("SF_DATABASE_WAIT_MS", "1000")]).await;
    add_user(&app.state, "ada", STRONG).await;
    let first = token(&log_in(&app, "ada", STRONG).await);
    let key = app.create_api_key(&first).await;
    let lock = app.lock_database().await;
    let projects = || app.remote(Method::GET, "/api/v1/projects");
    projects().token(&key).send().await.expect(200);
    let second_token = token(&log_in(&app, "ada", STRONG).await);
    projects().token(&second_token).send().await.expect(200);
    lock.release().await;
}
