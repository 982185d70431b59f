//! Tests of administration through the real router.

mod access;
mod audit_log;
mod storage;
mod tasks;
mod users;

use axum::http::Method;
use serde_json::Value;

use crate::test_app::{Answer, TestApp};

/// Sends a request as the administrator of the desktop, who needs no token.
async fn admin(app: &TestApp, method: Method, path: &str, body: Value) -> Answer {
    let call = app.local(method, path);
    if body.is_null() { call.send().await } else { call.json(&body).send().await }
}

async fn get(app: &TestApp, path: &str) -> Value {
    admin(app, Method::GET, path, Value::Null).await.expect(200)
}

/// Returns the id of the account with this name.
async fn id_of(app: &TestApp, username: &str) -> String {
    let user_page = get(app, &format!("/api/v1/admin/users?search={username}")).await;
    let items = user_page["items"].as_array().expect("accounts");
    let account = items.iter().find(|account| account["username"] == username).expect("the account");
    account["id"].as_str().expect("an id").to_owned()
}
