//! Tests of the audit log: its entries, and how they are listed.

use axum::http::Method;
use serde_json::{Value, json};

use super::{admin, get, id_of};
use crate::test_app::TestApp;

const AUDIT: &str = "/api/v1/admin/audit";
const STRONG: &str = "tuba-lattice-overbid-9";

/// Returns the actions of a page's entries, the oldest first.
fn actions(page: &Value) -> Vec<String> {
    let items = page["items"].as_array().expect("entries").iter().rev();
    items.map(|entry| entry["action"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn log_ins_are_recorded_with_account_time_and_address() {
    let app = TestApp::start().await;
    app.token_of_new_user("ada").await;
    let fail = |name: &'static str| {
        let body = json!({ "username": name, "password": "hunter2" });
        app.remote(Method::POST, "/api/v1/auth/login").json(&body).send()
    };
    fail("ada").await.problem(401, "bad_credentials");
    fail("my-secret-password").await.problem(401, "bad_credentials");
    let log = get(&app, AUDIT).await;
    assert_eq!(actions(&log), ["log_in", "log_in_failed", "log_in_failed"]);
    let entries = log["items"].as_array().expect("entries");
    assert_eq!(entries[2]["actor"], "ada");
    assert_eq!((&entries[2]["via"], &entries[2]["address"]), (&json!("token"), &json!("192.0.2.77")));
    assert!(entries[2]["at"].as_str().is_some_and(|at| at.ends_with('Z')));
    assert_eq!((&entries[1]["target"], &entries[1]["via"]), (&json!("ada"), &json!("nobody")));
    assert_eq!(entries[1]["actor_id"], Value::Null);
    // The target is hidden, because a user may have typed the password as the name.
    assert_eq!(entries[0]["target"], "an unknown name");
    assert!(!log.to_string().contains("secret") && !log.to_string().contains("hunter2"), "{log}");
}

#[tokio::test]
async fn the_address_is_read_from_a_trusted_proxys_header() {
    let app = TestApp::with(&[("SF_TRUSTED_PROXIES", "192.0.2.77"), ("SF_TRUST_LOCAL", "on")]).await;
    crate::auth::add_test_user(&app.state, "ada", STRONG).await;
    let body = json!({ "username": "ada", "password": STRONG });
    let call = app.remote(Method::POST, "/api/v1/auth/login").header("x-forwarded-for", "203.0.113.5");
    call.json(&body).send().await.expect(200);
    assert_eq!(get(&app, AUDIT).await["items"][0]["address"], "203.0.113.5");
}

#[tokio::test]
async fn every_change_of_an_account_is_recorded() {
    let app = TestApp::with(&[("SF_REGISTRATION", "open")]).await;
    let token = app.token_of_new_user("ada").await;
    let call = |method: Method, path: &str| app.remote(method, path).token(&token);
    let key =
        call(Method::POST, "/api/v1/auth/api-keys").json(&json!({ "name": "k" })).send().await.expect(201);
    let key_path = format!("/api/v1/auth/api-keys/{}", key["id"].as_str().expect("an id"));
    call(Method::DELETE, &key_path).send().await.expect(204);
    let wrong_body = json!({ "current_password": "wrong", "new_password": "vermilion-otter-413-quay" });
    call(Method::POST, "/api/v1/auth/password").json(&wrong_body).send().await.problem(403, "wrong_password");
    call(Method::POST, "/api/v1/auth/logout?everywhere=false").send().await.expect(204);
    let new = json!({ "username": "bob", "password": STRONG });
    app.remote(Method::POST, "/api/v1/auth/register").json(&new).send().await.expect(201);

    let user = format!("/api/v1/admin/users/{}", id_of(&app, "ada").await);
    for body in [
        json!({ "role": "admin" }),
        json!({ "role": "user", "disabled": true }),
        json!({ "disabled": false, "audio_quota_bytes": 7 }),
    ] {
        admin(&app, Method::PATCH, &user, body).await.expect(200);
    }
    admin(&app, Method::POST, &format!("{user}/reset-password"), Value::Null).await.expect(200);
    admin(&app, Method::POST, "/api/v1/admin/users", json!({ "username": "cyd" })).await.expect(201);
    let created_invite =
        admin(&app, Method::POST, "/api/v1/admin/invites", json!({ "note": "Dee" })).await.expect(201);
    let invite = format!("/api/v1/admin/invites/{}", created_invite["id"].as_str().expect("an id"));
    admin(&app, Method::DELETE, &invite, Value::Null).await.expect(204);

    let log = get(&app, AUDIT).await;
    let expected = [
        "log_in",
        "api_key_created",
        "api_key_deleted",
        "password_change_failed",
        "log_out",
        "account_registered",
        "role_changed",
        "role_changed",
        "user_disabled",
        "user_enabled",
        "quota_changed",
        "password_reset",
        "user_created",
        "invite_created",
        "invite_deleted",
    ];
    assert_eq!(actions(&log), expected);
    let entries = log["items"].as_array().expect("entries");
    let entry_with = |action: &str| entries.iter().find(|entry| entry["action"] == action).expect("an entry");
    assert_eq!(entry_with("role_changed")["detail"], "admin to user");
    assert_eq!(
        (&entry_with("quota_changed")["target"], &entry_with("quota_changed")["detail"]),
        (&json!("ada"), &json!("7 bytes"))
    );
    assert_eq!(
        (&entry_with("user_created")["actor"], &entry_with("user_created")["via"]),
        (&json!("admin"), &json!("local"))
    );
    let key = key["key"].as_str().expect("a key");
    assert!(!log.to_string().contains(key), "{log}");
}

#[tokio::test]
async fn deletions_are_recorded() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let key = app.create_api_key(&token).await;
    let project = json!({ "name": "Étude", "tracks": [] });
    let created_invite =
        app.remote(Method::POST, "/api/v1/projects").token(&token).json(&project).send().await.expect(201);
    let id = created_invite["project_id"].as_str().expect("an id");
    let path = format!("/api/v1/projects/{id}");
    app.remote(Method::DELETE, &path).token(&key).send().await.expect(204);
    let log = get(&app, &format!("{AUDIT}?action=project_deleted")).await;
    let entry = &log["items"][0];
    assert_eq!((&entry["actor"], &entry["via"]), (&json!("ada"), &json!("api_key")));
    assert_eq!((&entry["target"], &entry["detail"]), (&json!("Étude"), &json!(id)));
    // A failed deletion is not recorded.
    app.remote(Method::DELETE, &path).token(&token).send().await.problem(404, "not_found");
    assert_eq!(
        get(&app, &format!("{AUDIT}?action=project_deleted")).await["items"].as_array().unwrap().len(),
        1
    );
}

#[tokio::test]
async fn entries_are_listed_in_pages_and_by_action_and_user() {
    let app = TestApp::start().await;
    for name in ["ada", "bob", "cyd"] {
        app.token_of_new_user(name).await;
    }
    let first = get(&app, &format!("{AUDIT}?limit=2")).await;
    let cursor = first["next_cursor"].as_str().expect("more");
    let second = get(&app, &format!("{AUDIT}?limit=2&cursor={cursor}")).await;
    let actors = |page: &Value| -> Vec<String> {
        let items = page["items"].as_array().expect("entries").iter();
        items.map(|entry| entry["actor"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!([actors(&first), actors(&second)].concat(), ["cyd", "bob", "ada"]);
    assert_eq!(actors(&get(&app, &format!("{AUDIT}?user=BOB")).await), ["bob"]);
    let path = format!("/api/v1/admin/users/{}", id_of(&app, "bob").await);
    admin(&app, Method::PATCH, &path, json!({ "disabled": true })).await.expect(200);
    // Entries with the user as their target match too.
    assert_eq!(actions(&get(&app, &format!("{AUDIT}?user=bob")).await), ["log_in", "user_disabled"]);
    assert_eq!(actors(&get(&app, &format!("{AUDIT}?action=user_disabled")).await), ["admin"]);
    let answer = admin(&app, Method::GET, &format!("{AUDIT}?action=nonsense"), Value::Null).await;
    answer.problem(400, "bad_query");
}
