//! Tests of changing passwords, forced changes and password strength.

use axum::http::Method;
use serde_json::{Value, json};

use super::{STRONG, add_user, log_in, me, token};
use crate::auth::ensure_admin;
use crate::test_app::TestApp;

#[tokio::test]
async fn a_password_change_ends_older_tokens() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let old = token(&log_in(&app, "ada", STRONG).await);
    let change =
        |body: Value| app.remote(Method::POST, "/api/v1/auth/password").token(&old).json(&body).send();

    let weak = json!({ "current_password": STRONG, "new_password": "password" });
    let detail = change(weak).await.problem(400, "weak_password");
    assert!(detail.contains("easy to guess"), "{detail}");
    let long_password = json!({ "current_password": STRONG, "new_password": "x".repeat(2000) });
    change(long_password).await.problem(400, "password_too_long");
    let wrong_body = json!({ "current_password": "wrong", "new_password": "vermilion-otter-413-quay" });
    change(wrong_body).await.problem(403, "wrong_password");
    let missing = json!({ "new_password": "vermilion-otter-413-quay" });
    change(missing).await.problem(403, "wrong_password");

    let good = json!({ "current_password": STRONG, "new_password": "vermilion-otter-413-quay" });
    let new = token(&change(good).await);
    me(&app, &old).await.problem(401, "token_ended");
    me(&app, &new).await.expect(200);
    log_in(&app, "ada", STRONG).await.problem(401, "bad_credentials");
    log_in(&app, "ada", "vermilion-otter-413-quay").await.expect(200);
}

#[tokio::test]
async fn the_first_password_of_a_container_must_be_changed() {
    let app = TestApp::container().await;
    let printed = app.printed_password.clone().expect("the first start prints a password");
    let answer = log_in(&app, "admin", &printed).await;
    let body = answer.expect(200);
    assert_eq!(body["user"]["must_change_password"], true);
    let first = token(&answer);
    // Only the operations of the account are allowed.
    for (method, path) in [
        (Method::GET, "/api/v1/projects"),
        (Method::POST, "/api/v1/projects"),
        (Method::GET, "/api/v1/projects/temp/revision"),
        (Method::GET, "/api/v1/tasks"),
        (Method::POST, "/api/v1/auth/refresh"),
        (Method::GET, "/api/v1/auth/api-keys"),
    ] {
        let answer = app.remote(method, path).token(&first).send().await;
        answer.problem(403, "must_change_password");
    }
    me(&app, &first).await.expect(200);
    let body = json!({ "current_password": printed, "new_password": "vermilion-otter-413-quay" });
    let password_answer =
        app.remote(Method::POST, "/api/v1/auth/password").token(&first).json(&body).send().await;
    assert_eq!(password_answer.expect(200)["user"]["must_change_password"], false);
    let second = token(&password_answer);
    app.remote(Method::GET, "/api/v1/projects").token(&second).send().await.expect(200);
}

#[tokio::test]
async fn the_password_is_printed_on_the_first_start_only() {
    let app = TestApp::container().await;
    let mut printed = false;
    ensure_admin(&app.state, |_, _, _| printed = true).await.expect("the administrator exists");
    assert!(!printed);
    assert!(TestApp::start().await.printed_password.is_none());
}

#[tokio::test]
async fn password_strength_needs_no_log_in() {
    let app = TestApp::container().await;
    let score = |password: &str| {
        let body = json!({ "password": password });
        app.remote(Method::POST, "/api/v1/auth/password-strength").json(&body).send()
    };
    let weak = score("password1").await.expect(200);
    assert_eq!(weak["accepted"], false);
    assert!(weak["score"].as_u64().is_some_and(|score| score < 3));
    assert!(weak["suggestions"].is_array());
    assert_eq!(score(STRONG).await.expect(200)["accepted"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn strength_checks_do_not_delay_log_ins() {
    let app = TestApp::with(&[("SF_WORK_WAITING_MAX", "1")]).await;
    add_user(&app.state, "ada", STRONG).await;
    let body = json!({ "password": "aB3$x9".repeat(20) });
    let check_endlessly = || async {
        loop {
            app.local(Method::POST, "/api/v1/auth/password-strength").json(&body).send().await;
            // A refusal is immediate, so this yields to the other futures.
            tokio::task::yield_now().await;
        }
    };
    let strength_checks = futures_util::future::join_all((0..6).map(|_| check_endlessly()));
    let logging_in = async {
        for _ in 0..3 {
            log_in(&app, "ada", STRONG).await.expect(200);
        }
    };
    tokio::select! {
        _ = strength_checks => unreachable!("the strength checks never end"),
        () = logging_in => {}
    }
}

#[tokio::test]
async fn a_new_password_must_differ_from_the_current_one() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let token = token(&log_in(&app, "ada", STRONG).await);
    let body = json!({ "current_password": STRONG, "new_password": STRONG });
    let answer = app.remote(Method::POST, "/api/v1/auth/password").token(&token).json(&body).send().await;
    answer.problem(400, "same_password");
    app.remote(Method::POST, "/api/v1/auth/password").json(&body).send().await.problem(401, "token_missing");
}

#[tokio::test]
async fn the_administrator_of_a_desktop_can_set_a_first_password() {
    let app = TestApp::start().await;
    let answer_before = app.local(Method::GET, "/api/v1/auth/me").send().await.expect(200);
    assert_eq!(answer_before["has_password"], false);
    let body = json!({ "new_password": STRONG });
    let answer = app.local(Method::POST, "/api/v1/auth/password").json(&body).send().await;
    assert_eq!(answer.expect(200)["user"]["has_password"], true);
    log_in(&app, "admin", STRONG).await.expect(200);
    // A second change needs the current password, even from a local caller.
    let body = json!({ "new_password": "vermilion-otter-413-quay" });
    let answer = app.local(Method::POST, "/api/v1/auth/password").json(&body).send().await;
    answer.problem(403, "wrong_password");
}

#[tokio::test]
async fn a_body_with_an_unknown_field_is_refused() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let token = token(&log_in(&app, "ada", STRONG).await);
    let other_password = "correct horse battery staple 7";
    for (method, path, body) in [
        (
            Method::POST,
            "/api/v1/auth/password",
            json!({ "current_password": STRONG, "new_password": other_password, "x": 1 }),
        ),
        (Method::POST, "/api/v1/auth/password-strength", json!({ "password": other_password, "x": 1 })),
        (Method::PUT, "/api/v1/projects/temp", json!({ "client_id": "c", "project": {}, "x": 1 })),
    ] {
        let detail =
            app.remote(method, path).token(&token).json(&body).send().await.problem(400, "unexpected_json");
        assert!(detail.contains("`x`"), "{path}: {detail}");
    }
    log_in(&app, "ada", STRONG).await.expect(200);
}
