//! Tests which callers may use the administrators' operations.

use axum::http::Method;
use serde_json::{Value, json};

use super::{admin, id_of};
use crate::test_app::TestApp;

/// Returns every operation of `/admin`, with a valid body. The last value says whether API keys are
/// refused.
fn operations() -> Vec<(Method, &'static str, Value, bool)> {
    vec![
        (Method::GET, "/api/v1/admin/users", Value::Null, false),
        (Method::GET, "/api/v1/admin/users/any", Value::Null, false),
        (Method::POST, "/api/v1/admin/users", json!({ "username": "eve" }), true),
        (Method::PATCH, "/api/v1/admin/users/any", json!({ "role": "admin" }), true),
        (Method::POST, "/api/v1/admin/users/any/reset-password", Value::Null, true),
        (Method::GET, "/api/v1/admin/invites", Value::Null, false),
        (Method::POST, "/api/v1/admin/invites", json!({}), true),
        (Method::DELETE, "/api/v1/admin/invites/any", Value::Null, true),
        (Method::GET, "/api/v1/admin/storage", Value::Null, false),
        (Method::GET, "/api/v1/admin/tasks", Value::Null, false),
        (Method::DELETE, "/api/v1/admin/tasks/any", Value::Null, false),
        (Method::GET, "/api/v1/admin/scans", Value::Null, false),
        (Method::POST, "/api/v1/admin/scans", Value::Null, true),
        (Method::GET, "/api/v1/admin/throttled", Value::Null, false),
        (Method::DELETE, "/api/v1/admin/throttled?username=nobody", Value::Null, true),
        (Method::GET, "/api/v1/admin/audit", Value::Null, false),
    ]
}

#[tokio::test]
async fn users_without_the_admin_role_are_refused() {
    let app = TestApp::with(&[("SF_REGISTRATION", "invite")]).await;
    let user = app.token_of_new_user("ada").await;
    let key = app.create_api_key(&user).await;
    for (method, path, body, _) in operations() {
        let call = |token: Option<&str>| {
            let call = app.remote(method.clone(), path);
            let call = if let Some(token) = token { call.token(token) } else { call };
            if body.is_null() { call } else { call.json(&body) }
        };
        call(None).send().await.problem(401, "token_missing");
        for credential in [&user, &key] {
            let detail = call(Some(credential)).send().await.problem(403, "admin_only");
            assert!(detail.contains("`ada`"), "{method} {path}: {detail}");
        }
    }
    let listed_users = admin(&app, Method::GET, "/api/v1/admin/users", Value::Null).await.expect(200);
    assert!(!listed_users.to_string().contains("eve"), "{listed_users}");
}

#[tokio::test]
async fn administrators_and_local_callers_are_admitted() {
    let app = TestApp::with(&[("SF_REGISTRATION", "invite")]).await;
    let token = app.admin_token().await;
    for (method, path, body, _) in operations() {
        for call in [app.remote(method.clone(), path).token(&token), app.local(method.clone(), path)] {
            let call = if body.is_null() { call } else { call.json(&body) };
            let status = call.send().await.status.as_u16();
            // `eve` already exists for the second and later callers (409). No account, invitation
            // or task has the id `any`.
            let expected: &[u16] = if path.contains("any") { &[404] } else { &[200, 201, 409] };
            assert!(expected.contains(&status), "{method} {path}: {status}");
        }
    }
}

#[tokio::test]
async fn an_administrators_api_key_may_read_but_not_change_accounts() {
    let app = TestApp::with(&[("SF_REGISTRATION", "invite")]).await;
    let key = app.create_api_key(&app.admin_token().await).await;
    for (method, path, body, refused_status) in operations() {
        let call = app.remote(method.clone(), path).token(&key);
        let call = if body.is_null() { call } else { call.json(&body) };
        let answer = call.send().await;
        if refused_status {
            answer.problem(403, "api_key_not_allowed");
        } else {
            assert!([200, 404].contains(&answer.status.as_u16()), "{method} {path}: {}", answer.status);
        }
    }
}

#[tokio::test]
async fn an_administrator_who_must_change_the_password_is_refused() {
    let app = TestApp::container().await;
    let password = app.printed_password.clone().expect("a password");
    let body = json!({ "username": "admin", "password": password });
    let answer = app.remote(Method::POST, "/api/v1/auth/login").json(&body).send().await.expect(200);
    let token = answer["access_token"].as_str().expect("a token");
    for (method, path, body, _) in operations() {
        let call = app.remote(method, path).token(token);
        let call = if body.is_null() { call } else { call.json(&body) };
        call.send().await.problem(403, "must_change_password");
    }
}

#[tokio::test]
async fn a_changed_role_applies_to_the_next_request() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let path = format!("/api/v1/admin/users/{}", id_of(&app, "ada").await);
    let list = || app.remote(Method::GET, "/api/v1/admin/users").token(&token).send();
    list().await.problem(403, "admin_only");
    admin(&app, Method::PATCH, &path, json!({ "role": "admin" })).await.expect(200);
    list().await.expect(200);
    admin(&app, Method::PATCH, &path, json!({ "role": "user" })).await.expect(200);
    list().await.problem(403, "admin_only");
}
