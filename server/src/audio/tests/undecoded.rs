//! Uploads that are whole and cannot be decoded yet.

use std::sync::{Mutex, mpsc};

use axum::http::Method;
use serde_json::{Value, json};

use super::resumable::{UPLOADS, append, begin, parts, task, tus};
use super::{get, upload};
use crate::audio::resume;
use crate::audio::sounds::{silent_flac, sine_wav};
use crate::tasks::tests::start;
use crate::test_app::TestApp;

/// A task that runs until the sender is told.
pub(super) async fn busy_task(app: &TestApp) -> mpsc::Sender<()> {
    let owner = get(app, "/api/v1/auth/me").await.expect(200)["id"].as_str().expect("an id").to_owned();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let id = start(app, &owner, move |_| {
        // An error says that the test has ended.
        let _ = wait.lock().expect("not poisoned").recv();
        Ok(Value::Null)
    })
    .await;
    while get(app, &format!("/api/v1/tasks/{id}")).await.expect(200)["state"] != "running" {
        tokio::task::yield_now().await;
    }
    go
}

async fn status(app: &TestApp, path: &str) -> (Value, Value) {
    let status = get(app, path).await.expect(200);
    (status["state"].clone(), status["offset_bytes"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_whose_task_cannot_start_keeps_its_bytes() {
    let app = TestApp::with(&[("SF_TASKS_UNFINISHED_PER_USER", "1")]).await;
    let bytes = sine_wav(440.0, 48_000, 0.1);
    let go = busy_task(&app).await;
    let [kept, given_up] = [begin(&app, "a.wav", bytes.len()).await, begin(&app, "b.wav", bytes.len()).await];
    for path in [&kept, &given_up] {
        append(&app, path, 0, &bytes).await.problem(429, "too_many_requests");
        assert_eq!(status(&app, path).await, (json!("receiving"), json!(bytes.len())));
    }
    tus(&app, Method::DELETE, &given_up).send().await.expect(204);
    append(&app, &kept, bytes.len(), b"").await.problem(429, "too_many_requests");
    go.send(()).expect("waits");
    assert!(app.state.tasks.drained(std::time::Duration::from_secs(60)).await);
    let answer = append(&app, &kept, bytes.len(), b"").await;
    answer.expect(204);
    assert_eq!(task(&app, answer.header("songfoundry-task-id")).await["state"], "succeeded");
    assert_eq!((status(&app, &kept).await.0, parts(&app)), (json!("done"), 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_no_task_decodes_can_be_sent_on_or_deleted() {
    let app = TestApp::start().await;
    let bytes = sine_wav(440.0, 48_000, 0.1);
    let [sent_on, given_up] =
        [begin(&app, "a.wav", bytes.len()).await, begin(&app, "b.wav", bytes.len()).await];
    for path in [&sent_on, &given_up] {
        append(&app, path, 0, &bytes[..bytes.len() - 1]).await.expect(204);
        left_without_a_task(&app, path, &bytes).await;
    }
    tus(&app, Method::DELETE, &given_up).send().await.expect(204);
    let answer = append(&app, &sent_on, bytes.len(), b"").await;
    answer.expect(204);
    assert_eq!(task(&app, answer.header("songfoundry-task-id")).await["state"], "succeeded");
}

/// Makes of an upload one that is whole and has no task.
async fn left_without_a_task(app: &TestApp, path: &str, bytes: &[u8]) {
    let id = path.rsplit('/').next().expect("an id");
    let file = app.state.config.storage.dir.join(format!("blobs/audio-uploads/{id}.part"));
    std::fs::write(file, bytes).expect("writes");
    sqlx::query("UPDATE audio_uploads SET offset_bytes = length_bytes, state = 'decoding' WHERE id = $1")
        .bind(id)
        .execute(&app.state.db)
        .await
        .expect("updates");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_succeeds_although_uploads_cannot_be_decoded() {
    let app = TestApp::with(&[("SF_TASKS_UNFINISHED_PER_USER", "1")]).await;
    let bytes = sine_wav(440.0, 48_000, 0.1);
    let go = busy_task(&app).await;
    let mut paths = Vec::new();
    for name in ["a.wav", "b.wav"] {
        let path = begin(&app, name, bytes.len()).await;
        left_without_a_task(&app, &path, &bytes).await;
        paths.push(path);
    }
    // Long ago, so that their time is over.
    sqlx::query("UPDATE audio_uploads SET expires_secs = 1").execute(&app.state.db).await.expect("updates");
    resume(&app.state).await.expect("starts");
    let listed = get(&app, UPLOADS).await.expect(200);
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(2), "{listed}");
    go.send(()).expect("waits");
    assert!(app.state.tasks.drained(std::time::Duration::from_secs(60)).await);
    for path in &paths {
        assert_eq!(status(&app, path).await, (json!("receiving"), json!(bytes.len())));
        let answer = append(&app, path, bytes.len(), b"").await;
        answer.expect(204);
        assert_eq!(task(&app, answer.header("songfoundry-task-id")).await["state"], "succeeded");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_need_no_room_in_the_quota_of_projects() {
    let app = TestApp::with(&[("SF_PROJECTS_QUOTA_BYTES", "0")]).await;
    let bytes = sine_wav(440.0, 48_000, 0.1);
    for name in ["a.wav", "b.wav"] {
        let path = begin(&app, name, bytes.len()).await;
        let answer = append(&app, &path, 0, &bytes).await;
        answer.expect(204);
        assert_eq!(task(&app, answer.header("songfoundry-task-id")).await["state"], "succeeded");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_whose_decoding_takes_too_long_keeps_its_bytes() {
    let app = TestApp::with(&[("SF_AUDIO_DECODE_MAX_SECS", "1")]).await;
    // 4 GB when decoded.
    let bytes = silent_flac(15_000);
    let path = begin(&app, "a.flac", bytes.len()).await;
    let answer = append(&app, &path, 0, &bytes).await;
    let task = task(&app, answer.header("songfoundry-task-id")).await;
    assert_eq!((&task["error"]["status"], &task["error"]["code"]), (&json!(503), &json!("decode_timeout")));
    let detail = task["error"]["detail"].as_str().expect("a text");
    assert!(detail.contains("`a.flac`") && detail.contains("SF_AUDIO_DECODE_MAX_SECS"), "{detail}");
    assert_eq!((status(&app, &path).await, parts(&app)), ((json!("receiving"), json!(bytes.len())), 1));
    // One file of several: the others are stored.
    let sound = sine_wav(440.0, 48_000, 0.1);
    let answer = upload(&app, &[("a.flac", &bytes), ("b.wav", &sound)]).await.expect(201);
    assert_eq!(answer["refused"][0]["problem"]["code"], "decode_timeout", "{answer}");
    assert_eq!(answer["files"][0]["name"], "b.wav");
}
