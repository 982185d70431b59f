//! Tests that requests end after their caller has lost access.

use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::tasks::tests::start;
use crate::test_app::{Answer, TestApp};

const PROJECTS: &str = "/api/v1/projects";

/// Saves a project whose last part is sent only after `between` has ended.
async fn save_slowly(app: &TestApp, credentials: &str, between: impl Future<Output = ()>) -> Answer {
    let (parts, mut received) = mpsc::channel::<&str>(1);
    let body = stream::poll_fn(move |context| received.poll_recv(context)).map(Ok::<_, std::io::Error>);
    let call = app.remote(Method::POST, PROJECTS).token(credentials);
    let sending = async move {
        // A part waits until the service has read the part before it.
        parts.send("{\"schema_version\": 1, ").await.expect("a reader");
        parts.send("\"name\": \"slow\", ").await.expect("a reader");
        between.await;
        // If the service has interrupted the request, nobody reads the last part.
        let _ = parts.send("\"project_id\": \"slow\", \"tracks\": []}").await;
    };
    tokio::join!(call.raw("application/json", Body::from_stream(body)).send(), sending).0
}

async fn log_out(app: &TestApp, token: &str) {
    app.remote(Method::POST, "/api/v1/auth/logout").token(token).send().await.expect(204);
}

async fn projects(app: &TestApp, token: &str) -> Value {
    app.remote(Method::GET, PROJECTS).token(token).send().await.expect(200)["items"].clone()
}

#[tokio::test]
async fn a_slow_request_is_refused_after_its_caller_has_lost_access() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let other_token = app.token_of("ada").await;
    save_slowly(&app, &token, log_out(&app, &token)).await.problem(401, "token_ended");

    let key = app.create_api_key(&other_token).await;
    let delete_key = async {
        let keys =
            app.remote(Method::GET, "/api/v1/auth/api-keys").token(&other_token).send().await.expect(200);
        let path = format!("/api/v1/auth/api-keys/{}", keys["items"][0]["id"].as_str().expect("an id"));
        app.remote(Method::DELETE, &path).token(&other_token).send().await.expect(204);
    };
    save_slowly(&app, &key, delete_key).await.problem(401, "api_key_invalid");
    assert_eq!(projects(&app, &other_token).await, json!([]));

    save_slowly(&app, &other_token, async {}).await.expect(201);
    assert_eq!(projects(&app, &other_token).await[0]["project_id"], "slow");
}

#[tokio::test]
async fn a_waiting_render_ends_after_its_caller_has_logged_out() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let renders = &app.state.exports.renders;
    let all_permits = renders.take_all();
    let song =
        json!({ "project": { "schema_version": 1, "project_id": "song", "name": "Song", "tracks": [] } });
    let render = app.remote(Method::POST, "/api/v1/plugins/render").token(&token).json(&song).send();
    let logging_out = async {
        while renders.waiting_requests() == 0 {
            tokio::task::yield_now().await;
        }
        log_out(&app, &token).await;
    };
    let (refused, ()) = tokio::join!(render, logging_out);
    refused.problem(401, "token_ended");
    assert_eq!(renders.waiting_requests(), 0);
    drop(all_permits);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_stream_ends_after_its_caller_has_logged_out() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let me = app.remote(Method::GET, "/api/v1/auth/me").token(&token).send().await.expect(200);
    let (step, steps) = std::sync::mpsc::channel::<f64>();
    let steps = std::sync::Mutex::new(steps);
    let id = start(&app, me["id"].as_str().expect("an id"), move |task| {
        let steps = steps.lock().expect("one thread uses them");
        while let Ok(progress) = steps.recv() {
            task.report_progress(progress, "working");
        }
        Ok(Value::Null)
    })
    .await;
    let path = format!("/api/v1/tasks/{id}/events");
    let response = app.remote(Method::GET, &path).token(&token).response().await;
    let mut events = response.into_body().into_data_stream();
    events.next().await.expect("an event").expect("the caller has access");
    step.send(0.25).expect("the task runs");
    events.next().await.expect("an event").expect("the caller has access");
    log_out(&app, &token).await;
    step.send(0.5).expect("the task runs");
    // One more event may already have been sent.
    let last_events = events.take(3).collect::<Vec<_>>().await;
    let interruption = last_events.into_iter().find_map(Result::err);
    let message = interruption.expect("the stream is interrupted").to_string();
    assert!(message.contains("logged out"), "{message}");
    drop(step);
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(20)).await, "the task does not end");
}
