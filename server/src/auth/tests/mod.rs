//! Tests of accounts through the real router, with every status that the routes document.

mod acting;
mod api_keys;
mod first_start;
mod local_trust;
mod passwords;
mod registration;
mod session_end;
mod throttling;
mod tokens;

use axum::http::Method;
use serde_json::json;

use super::store::{ActingUser, Role, UserRow, users};
use crate::state::AppState;
use crate::test_app::{Answer, TestApp};

const STRONG: &str = "tuba-lattice-overbid-9";

/// Creates a user, for the tests of all slices.
pub(crate) async fn add_user(state: &AppState, username: &str, password: &str) -> String {
    let hash = state.passwords.hash(password.to_owned()).await.expect("hashes");
    let created_user =
        users::insert(&state.db, username, Role::User, Some(&hash), false).await.expect("stores");
    created_user.expect("a free name").id
}

/// Returns an account as the acting user of a change.
fn acting(user_row: &UserRow) -> ActingUser {
    ActingUser {
        id: user_row.id.clone(),
        role: user_row.role.as_str(),
        token_version: user_row.token_version,
    }
}

async fn log_in(app: &TestApp, username: &str, password: &str) -> Answer {
    let body = json!({ "username": username, "password": password });
    app.remote(Method::POST, "/api/v1/auth/login").json(&body).send().await
}

fn token(answer: &Answer) -> String {
    answer.expect(200)["access_token"].as_str().expect("a token").to_owned()
}

async fn me(app: &TestApp, token: &str) -> Answer {
    app.remote(Method::GET, "/api/v1/auth/me").token(token).send().await
}

#[tokio::test]
async fn a_local_caller_is_the_administrator_with_and_without_a_token() {
    let app = TestApp::start().await;
    let direct_answer = app.local(Method::GET, "/api/v1/auth/me").send().await.expect(200);
    assert_eq!(direct_answer["username"], "admin");
    assert_eq!(direct_answer["role"], "admin");
    assert_eq!(direct_answer["must_change_password"], false);
    let answer = app.local(Method::POST, "/api/v1/auth/local").send().await;
    let body = answer.expect(200);
    assert_eq!(body["token_type"], "bearer");
    assert_eq!(body["expires_in"], 43_200);
    assert_eq!(
        (&body["user"]["id"], &body["user"]["username"]),
        (&direct_answer["id"], &direct_answer["username"])
    );
    // The token is valid from anywhere, but does not make the caller local.
    let elsewhere = me(&app, &token(&answer)).await.expect(200);
    assert_eq!(elsewhere["id"], direct_answer["id"]);
    assert_eq!((&direct_answer["local"], &elsewhere["local"]), (&json!(true), &json!(false)));
}

#[tokio::test]
async fn remote_and_forwarded_callers_are_not_local() {
    let app = TestApp::start().await;
    let detail = app.remote(Method::POST, "/api/v1/auth/local").send().await.problem(403, "not_local");
    assert!(detail.contains("another machine"), "{detail}");
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("host", "evil.example"),
        ("x-forwarded-for", "127.0.0.1"),
        ("forwarded", "for=127.0.0.1"),
        ("x-real-ip", ""),
        ("via", "1.1 proxy"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let call = app.local(Method::POST, "/api/v1/auth/local").header(name, value);
        let detail = call.send().await.problem(403, "not_local");
        assert!(detail.contains("Only a program on this machine"), "{name}: {detail}");
        // A request for data with the same header gets no local trust either.
        let call = app.local(Method::GET, "/api/v1/projects").header(name, value);
        let answer = call.send().await;
        answer.problem(401, "token_missing");
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    }
    let same_origin = app.local(Method::POST, "/api/v1/auth/local").header("origin", "http://127.0.0.1:8600");
    same_origin.header("sec-fetch-site", "same-origin").send().await.expect(200);
}

#[tokio::test]
async fn local_trust_can_be_switched_off() {
    let app = TestApp::with(&[("SF_TRUST_LOCAL", "off")]).await;
    app.local(Method::POST, "/api/v1/auth/local").send().await.problem(403, "not_local");
    app.local(Method::GET, "/api/v1/auth/me").send().await.problem(401, "token_missing");
}

#[tokio::test]
async fn a_password_logs_in_as_json_and_as_a_form() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let answer = log_in(&app, " Ada ", STRONG).await;
    assert_eq!(answer.expect(200)["user"]["username"], "ada");
    assert_eq!(me(&app, &token(&answer)).await.expect(200)["role"], "user");
    let form = format!("grant_type=password&username=ada&password={STRONG}&scope=");
    let call = app.remote(Method::POST, "/api/v1/auth/login").raw("application/x-www-form-urlencoded", form);
    assert_eq!(call.send().await.expect(200)["user"]["username"], "ada");
    let call =
        app.remote(Method::POST, "/api/v1/auth/login").raw("application/x-www-form-urlencoded", "username=a");
    call.send().await.problem(400, "malformed_form");
    let call = app.remote(Method::POST, "/api/v1/auth/login").raw("text/plain", "ada");
    call.send().await.problem(415, "unsupported_media_type");
    let call = app.remote(Method::POST, "/api/v1/auth/login").raw("application/json", "{\"username\":");
    call.send().await.problem(400, "malformed_json");
    let call = app.remote(Method::POST, "/api/v1/auth/login").raw("application/json", "{\"username\": 5}");
    call.send().await.problem(400, "unexpected_json");
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_name_get_the_same_answer() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let wrong_log_in = log_in(&app, "ada", "not it").await;
    let unknown_log_in = log_in(&app, "bob", "not it").await;
    wrong_log_in.problem(401, "bad_credentials");
    assert_eq!(wrong_log_in.bytes, unknown_log_in.bytes);
    // The administrator of a desktop has no password, so an empty password does not log in either.
    log_in(&app, "admin", "").await.problem(401, "bad_credentials");
    log_in(&app, "ada", &"x".repeat(5000)).await.problem(401, "bad_credentials");
}
