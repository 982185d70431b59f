//! Tests of accounts: listing, creating, roles, disabling, new passwords and quotas.

use axum::http::Method;
use serde_json::{Value, json};

use super::{admin, get, id_of};
use crate::test_app::{Answer, TestApp};
use crate::test_studio::Studio;

const USERS: &str = "/api/v1/admin/users";
const STRONG: &str = "tuba-lattice-overbid-9";

async fn log_in(app: &TestApp, username: &str, password: &str) -> Answer {
    let body = json!({ "username": username, "password": password });
    app.remote(Method::POST, "/api/v1/auth/login").json(&body).send().await
}

async fn change(app: &TestApp, id: &str, body: Value) -> Answer {
    admin(app, Method::PATCH, &format!("{USERS}/{id}"), body).await
}

#[tokio::test]
async fn an_account_begins_with_a_generated_password_that_must_be_changed() {
    let app = TestApp::start().await;
    let created_user = admin(&app, Method::POST, USERS, json!({ "username": " Ada " })).await.expect(201);
    assert_eq!(created_user["user"]["username"], "ada");
    assert_eq!(created_user["user"]["role"], "user");
    assert_eq!(created_user["user"]["must_change_password"], true);
    assert_eq!(created_user["user"]["last_login_at"], Value::Null);
    let password = created_user["password"].as_str().expect("a password");
    let token = log_in(&app, "ada", password).await.expect(200)["access_token"].clone();
    let token = token.as_str().expect("a token");
    app.remote(Method::GET, "/api/v1/projects")
        .token(token)
        .send()
        .await
        .problem(403, "must_change_password");
    let body = json!({ "current_password": password, "new_password": STRONG });
    let call = app.remote(Method::POST, "/api/v1/auth/password").token(token);
    call.json(&body).send().await.expect(200);
    let listed_users = get(&app, &format!("{USERS}?search=AD")).await;
    let ada =
        listed_users["items"].as_array().unwrap().iter().find(|user| user["username"] == "ada").expect("ada");
    assert_eq!(ada["must_change_password"], false);
    assert!(ada["last_login_at"].is_string(), "{ada}");
    assert!(!listed_users.to_string().contains("argon2"), "{listed_users}");
}

#[tokio::test]
async fn an_account_may_be_created_with_a_chosen_password_and_role() {
    let app = TestApp::start().await;
    let body = json!({ "username": "ada", "role": "admin", "password": STRONG });
    let created_user = admin(&app, Method::POST, USERS, body).await.expect(201);
    assert_eq!(created_user["password"], Value::Null);
    assert_eq!(created_user["user"]["role"], "admin");
    assert_eq!(log_in(&app, "ada", STRONG).await.expect(200)["user"]["must_change_password"], true);
}

#[tokio::test]
async fn invalid_accounts_are_refused() {
    let app = TestApp::start().await;
    let make = |body: Value| admin(&app, Method::POST, USERS, body);
    make(json!({ "username": "admin" })).await.problem(409, "username_taken");
    make(json!({ "username": "a b" })).await.problem(400, "bad_username");
    make(json!({ "username": "ada", "password": "password" })).await.problem(400, "weak_password");
    make(json!({ "username": "ada", "role": "owner" })).await.problem(400, "unexpected_json");
    make(json!({ "username": "ada", "quota": 1 })).await.problem(400, "unexpected_json");
    make(json!({})).await.problem(400, "unexpected_json");
    // A derived deserializer would also accept a list of the fields' values.
    make(json!(["ada", "admin", null])).await.problem(400, "unexpected_json");
    assert_eq!(get(&app, USERS).await["items"].as_array().expect("accounts").len(), 1);
}

#[tokio::test]
async fn accounts_are_listed_in_pages() {
    let app = TestApp::start().await;
    for name in ["ada", "bob", "cyd"] {
        crate::auth::add_test_user(&app.state, name, STRONG).await;
    }
    let first = get(&app, &format!("{USERS}?limit=2")).await;
    let cursor = first["next_cursor"].as_str().expect("more");
    let second = get(&app, &format!("{USERS}?limit=2&cursor={cursor}")).await;
    let names = |page: &Value| -> Vec<String> {
        let items = page["items"].as_array().expect("accounts").iter();
        items.map(|user| user["username"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!([names(&first), names(&second)].concat(), ["cyd", "bob", "ada", "admin"]);
    assert_eq!(second["next_cursor"], Value::Null);
    assert_eq!(names(&get(&app, &format!("{USERS}?search=B")).await), ["bob"]);
    assert_eq!(names(&get(&app, &format!("{USERS}?search=%25")).await), Vec::<String>::new());
    admin(&app, Method::GET, &format!("{USERS}?limit=0"), Value::Null).await.problem(400, "bad_query");
}

#[tokio::test]
async fn disabling_an_account_invalidates_its_tokens_immediately() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let id = id_of(&app, "ada").await;
    assert_eq!(change(&app, &id, json!({ "disabled": true })).await.expect(200)["disabled"], true);
    let me = || app.remote(Method::GET, "/api/v1/auth/me").token(&token).send();
    me().await.problem(401, "token_ended");
    log_in(&app, "ada", STRONG).await.problem(401, "bad_credentials");
    assert_eq!(change(&app, &id, json!({ "disabled": false })).await.expect(200)["disabled"], false);
    // Enabling the account does not revive the token.
    me().await.problem(401, "token_ended");
    log_in(&app, "ada", STRONG).await.expect(200);
    assert_eq!(get(&app, &format!("{USERS}/{id}")).await["username"], "ada");
}

#[tokio::test]
async fn disabling_an_account_ends_the_work_of_its_requests() {
    let studio = Studio::with(&[]).await;
    let app = &studio.app;
    let token = app.token_of_new_user("ada").await;
    let id = id_of(app, "ada").await;
    let permits = app.state.exports.renders.take_all();
    let note = json!({"tick": 0, "length_ticks": 480, "pitch": 60, "velocity": 0.8});
    let request = json!({"notes": [note], "tail_secs": 0.5});
    let call = app.remote(Method::POST, "/api/v1/plugins/soundfont-render").token(&token).json(&request);
    let disabling = async {
        while app.state.exports.renders.waiting_requests() == 0 {
            tokio::task::yield_now().await;
        }
        change(app, &id, json!({ "disabled": true })).await.expect(200);
        drop(permits);
    };
    let (answer, ()) = tokio::join!(call.send(), disabling);
    answer.problem(401, "account_disabled");
}

#[tokio::test]
async fn the_last_administrator_cannot_be_disabled_or_lose_the_role() {
    let app = TestApp::start().await;
    let first = id_of(&app, "admin").await;
    for body in [json!({ "role": "user" }), json!({ "disabled": true })] {
        let detail = change(&app, &first, body).await.problem(409, "last_admin");
        assert!(detail.contains("last administrator"), "{detail}");
    }
    app.token_of_new_user("ada").await;
    let second = id_of(&app, "ada").await;
    change(&app, &second, json!({ "role": "admin" })).await.expect(200);
    change(&app, &first, json!({ "disabled": true })).await.expect(200);
    // A disabled administrator does not count.
    change(&app, &second, json!({ "role": "user" })).await.problem(409, "last_admin");
    change(&app, &first, json!({ "disabled": false })).await.expect(200);
    change(&app, &second, json!({ "role": "user" })).await.expect(200);
}

#[tokio::test]
async fn concurrent_changes_cannot_remove_both_administrators() {
    let app = TestApp::start().await;
    app.token_of_new_user("ada").await;
    let (first, second) = (id_of(&app, "admin").await, id_of(&app, "ada").await);
    change(&app, &second, json!({ "role": "admin" })).await.expect(200);
    let demotion = json!({ "role": "user" });
    // A token is used, because the local caller is one of the two administrators.
    let token = app.admin_token().await;
    let call =
        |id: &str| app.remote(Method::PATCH, &format!("{USERS}/{id}")).token(&token).json(&demotion).send();
    let (first, second) = tokio::join!(call(&first), call(&second));
    let mut statuses = [first.status.as_u16(), second.status.as_u16()];
    statuses.sort_unstable();
    // The second request is 403 if the first has already removed its caller's role.
    assert!(matches!(statuses, [200, 403 | 409]), "{statuses:?}");
}

#[tokio::test]
async fn a_password_reset_invalidates_tokens_and_the_old_password() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let path = format!("{USERS}/{}/reset-password", id_of(&app, "ada").await);
    let created_user = admin(&app, Method::POST, &path, Value::Null).await.expect(200);
    assert_eq!(created_user["user"]["must_change_password"], true);
    let password = created_user["password"].as_str().expect("a password");
    app.remote(Method::GET, "/api/v1/auth/me").token(&token).send().await.problem(401, "token_ended");
    log_in(&app, "ada", STRONG).await.problem(401, "bad_credentials");
    assert_eq!(log_in(&app, "ada", password).await.expect(200)["user"]["must_change_password"], true);
    let nobody = format!("{USERS}/nobody/reset-password");
    admin(&app, Method::POST, &nobody, Value::Null).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_user_has_an_individual_quota_or_that_of_the_settings() {
    let app = TestApp::with(&[("SF_AUDIO_QUOTA_BYTES", "1000")]).await;
    app.token_of_new_user("ada").await;
    let id = id_of(&app, "ada").await;
    let read_user = || get(&app, "/api/v1/admin/users?search=ada");
    let quota = |page: &Value| {
        (page["items"][0]["audio_quota_bytes"].clone(), page["items"][0]["has_own_quota"].clone())
    };
    assert_eq!(quota(&read_user().await), (json!(1000), json!(false)));
    change(&app, &id, json!({ "audio_quota_bytes": 5000 })).await.expect(200);
    assert_eq!(quota(&read_user().await), (json!(5000), json!(true)));
    // A missing field changes nothing.
    change(&app, &id, json!({ "disabled": false })).await.expect(200);
    assert_eq!(quota(&read_user().await), (json!(5000), json!(true)));
    change(&app, &id, json!({ "audio_quota_bytes": null })).await.expect(200);
    assert_eq!(quota(&read_user().await), (json!(1000), json!(false)));
    let too_much = json!({ "audio_quota_bytes": (1_u64 << 50) + 1 });
    let detail = change(&app, &id, too_much).await.problem(400, "bad_quota");
    assert!(detail.contains("1125899906842624"), "{detail}");
    change(&app, &id, json!({ "audio_quota_bytes": -1 })).await.problem(400, "unexpected_json");
    change(&app, "nobody", json!({ "audio_quota_bytes": 5 })).await.problem(404, "not_found");
}
