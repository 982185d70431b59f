//! Tests of the administrator's first password, which is set when a deployment needs one.

use axum::http::Method;
use serde_json::json;

use super::{STRONG, acting, add_user, log_in, me, token};
use crate::auth::store::{Role, users};
use crate::test_app::TestApp;

/// Restarts the service with these settings on the database of `app`. Returns the printed password.
async fn restart(app: &TestApp, settings: &[(&str, &str)]) -> (TestApp, Option<String>) {
    let next = app.start_second_server_with(settings).await;
    let printed_password = next.printed_password.clone();
    (next, printed_password)
}

const CONTAINER: [(&str, &str); 2] =
    [("SF_ENVIRONMENT", "container"), ("SF_JWT_SECRET", "0123456789abcdef0123456789abcdef")];

#[tokio::test]
async fn a_desktops_administrator_gets_a_password_when_local_trust_ends() {
    for settings in [&[("SF_TRUST_LOCAL", "off")][..], &CONTAINER] {
        let desktop = TestApp::start().await;
        assert_eq!(desktop.printed_password, None);
        let (strict, printed_password) = restart(&desktop, settings).await;
        let password = printed_password.expect("a printed password");
        let answer = log_in(&strict, "admin", &password).await;
        assert_eq!(answer.expect(200)["user"]["must_change_password"], true);
        me(&strict, &token(&answer)).await.expect(200);
        // The password is printed only once.
        let (_, second_password) = restart(&desktop, settings).await;
        assert_eq!(second_password, None);
    }
}

#[tokio::test]
async fn a_first_start_without_local_trust_prints_a_password() {
    let app = TestApp::with(&[("SF_TRUST_LOCAL", "off")]).await;
    let password = app.printed_password.clone().expect("a printed password");
    log_in(&app, "admin", &password).await.expect(200);
}

#[tokio::test]
async fn the_first_administrator_gets_another_name_if_a_user_has_it() {
    let app = TestApp::start().await;
    sqlx::query("UPDATE users SET role = 'user'").execute(&app.state.db).await.expect("changes the role");
    let (app, password) = restart(&app, &[("SF_TRUST_LOCAL", "off")]).await;
    log_in(&app, "administrator", &password.expect("is printed")).await.expect(200);
}

#[tokio::test]
async fn no_password_is_printed_if_an_administrator_can_log_in() {
    let desktop = TestApp::start().await;
    add_user(&desktop.state, "ada", STRONG).await;
    let ada = users::find_by_username(&desktop.state.db, "ada").await.expect("reads").expect("ada");
    let admin = users::find_by_username(&desktop.state.db, "admin").await.expect("reads").expect("admin");
    let admin = acting(&admin);
    users::update_user(&desktop.state.db, &admin, &ada.id, Some(Role::Admin), None).await.expect("changes");
    let (strict, printed_password) = restart(&desktop, &CONTAINER).await;
    assert_eq!(printed_password, None);
    log_in(&strict, "ada", STRONG).await.expect(200);
    // A disabled administrator cannot log in.
    users::update_user(&desktop.state.db, &admin, &ada.id, None, Some(true)).await.expect("changes");
    assert!(restart(&desktop, &CONTAINER).await.1.is_some());
}

#[tokio::test]
async fn local_trust_keeps_an_administrator_without_a_password() {
    let desktop = TestApp::start().await;
    assert_eq!(restart(&desktop, &[]).await.1, None);
    let body = desktop.local(Method::GET, "/api/v1/auth/me").send().await.expect(200);
    assert_eq!(body["has_password"], json!(false));
}
