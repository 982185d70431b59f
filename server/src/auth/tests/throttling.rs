//! Slowing down those who guess.

use axum::http::Method;
use serde_json::json;

use super::{STRONG, add_user, log_in, token};
use crate::test_app::{Answer, TestApp};

#[tokio::test]
async fn repeated_failures_are_slowed_down_and_refused() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    for _ in 0..5 {
        log_in(&app, "ada", "wrong").await.problem(401, "bad_credentials");
    }
    // One more is counted, then waiting begins, for the right password too.
    let mut refused = log_in(&app, "ada", "wrong").await;
    if refused.status == 401 {
        refused = log_in(&app, "ada", STRONG).await;
    }
    refused.problem(429, "too_many_requests");
    assert!(refused.header("retry-after").parse::<u64>().expect("seconds") >= 1);
    // Another account from the same address is not held up.
    add_user(&app.state, "bob", STRONG).await;
    log_in(&app, "bob", STRONG).await.expect(200);
}

#[tokio::test]
async fn many_guesses_at_once_do_not_slip_past_the_count() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let answers = futures_util::future::join_all((0..12).map(|_| log_in(&app, "ada", "wrong"))).await;
    let checked = answers.iter().filter(|answer| answer.status == 401).count();
    assert!((1..=6).contains(&checked), "{checked} of 12 guesses were checked");
}

async fn log_in_from(app: &TestApp, address: &str, username: &str, password: &str) -> Answer {
    let body = json!({ "username": username, "password": password });
    app.from(address, Method::POST, "/api/v1/auth/login").json(&body).send().await
}

#[tokio::test]
async fn who_guesses_from_elsewhere_does_not_lock_the_owner_out() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let mut refused = 0;
    for _ in 0..10 {
        let answer = log_in_from(&app, "198.51.100.9", "ada", "wrong").await;
        refused += u32::from(answer.status == 429);
    }
    assert!(refused >= 3, "{refused} of 10 guesses were refused");
    log_in_from(&app, "203.0.113.5", "ada", STRONG).await.expect(200);
}

#[tokio::test]
async fn logging_in_often_is_no_guessing() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    // More than one address may fail within an hour.
    for _ in 0..55 {
        log_in(&app, "ada", STRONG).await.expect(200);
    }
}

#[tokio::test]
async fn one_address_cannot_try_many_accounts() {
    let app = TestApp::start().await;
    let mut refused = None;
    for number in 0..60 {
        let answer = log_in(&app, &format!("user{number}"), "wrong").await;
        if answer.status == 429 {
            refused = Some((number, answer));
            break;
        }
        answer.problem(401, "bad_credentials");
    }
    let (number, answer) = refused.expect("a refusal");
    assert!((50..=52).contains(&number), "refused at {number}");
    let detail = answer.problem(429, "too_many_requests");
    assert!(detail.contains("try again in"), "{detail}");
    assert!(answer.header("retry-after").parse::<u64>().is_ok_and(|secs| secs >= 1));
}

#[tokio::test]
async fn guessing_the_current_password_is_slowed_down_too() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let token = token(&log_in(&app, "ada", STRONG).await);
    let body = json!({ "current_password": "wrong", "new_password": "vermilion-otter-413-quay" });
    let mut statuses = Vec::new();
    for _ in 0..8 {
        let answer = app.remote(Method::POST, "/api/v1/auth/password").token(&token).json(&body).send().await;
        statuses.push(answer.status.as_u16());
    }
    assert_eq!(statuses[..5], [403; 5]);
    assert!(statuses.contains(&429), "{statuses:?}");
}
