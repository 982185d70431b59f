//! The administrator's first password, whenever the deployment begins to need one.

use axum::http::Method;
use serde_json::json;

use super::{STRONG, add_user, log_in, me, token};
use crate::auth::store::{Role, users};
use crate::test_app::TestApp;

/// Starts again on the database of `app`, with these settings, and answers the password that was
/// printed.
async fn restarted(app: &TestApp, settings: &[(&str, &str)]) -> (TestApp, Option<String>) {
    let next = app.beside_with(settings).await;
    let printed = next.printed_password.clone();
    (next, printed)
}

const CONTAINER: [(&str, &str); 2] =
    [("SF_ENVIRONMENT", "container"), ("SF_JWT_SECRET", "0123456789abcdef0123456789abcdef")];

#[tokio::test]
async fn a_desktops_storage_gets_a_password_where_nobody_is_trusted() {
    for settings in [&[("SF_TRUST_LOCAL", "off")][..], &CONTAINER] {
        let desktop = TestApp::start().await;
        assert_eq!(desktop.printed_password, None);
        let (strict, printed) = restarted(&desktop, settings).await;
        let password = printed.expect("a password to get in with");
        let answer = log_in(&strict, "admin", &password).await;
        assert_eq!(answer.expect(200)["user"]["must_change_password"], true);
        me(&strict, &token(&answer)).await.expect(200);
        // It is printed once.
        let (_, again) = restarted(&desktop, settings).await;
        assert_eq!(again, None);
    }
}

#[tokio::test]
async fn a_first_start_without_local_trust_prints_a_password() {
    let app = TestApp::with(&[("SF_TRUST_LOCAL", "off")]).await;
    let password = app.printed_password.clone().expect("a password to get in with");
    log_in(&app, "admin", &password).await.expect(200);
}

#[tokio::test]
async fn an_administrator_who_can_log_in_is_enough() {
    let desktop = TestApp::start().await;
    add_user(&desktop.state, "ada", STRONG).await;
    let ada = users::by_username(&desktop.state.db, "ada").await.expect("reads").expect("ada");
    users::change(&desktop.state.db, &ada.id, Some(Role::Admin), None).await.expect("changes");
    let (strict, printed) = restarted(&desktop, &CONTAINER).await;
    assert_eq!(printed, None);
    log_in(&strict, "ada", STRONG).await.expect(200);
    // Switched off, she can not.
    users::change(&desktop.state.db, &ada.id, None, Some(true)).await.expect("changes");
    assert!(restarted(&desktop, &CONTAINER).await.1.is_some());
}

#[tokio::test]
async fn a_desktop_that_trusts_local_callers_keeps_an_administrator_without_password() {
    let desktop = TestApp::start().await;
    assert_eq!(restarted(&desktop, &[]).await.1, None);
    let body = desktop.local(Method::GET, "/api/v1/auth/me").send().await.expect(200);
    assert_eq!(body["has_password"], json!(false));
}
