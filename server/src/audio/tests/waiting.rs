//! Tests of files in forms that wait for their task.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use axum::http::Method;
use serde_json::json;
use tokio::sync::oneshot;

use super::undecoded::busy_task;
use super::{UPLOAD, get, stored_names, uploaded, with_form};
use crate::audio::test_files::sine_wav;
use crate::db::DatabaseKind;
use crate::permits::processors;
use crate::state::KINDS;
use crate::storage::{BlobKey, QuarantineReason};
use crate::tasks::Tasks;
use crate::test_app::TestApp;
use crate::{clock, db, orphans};

/// Sends a form of two files while another task occupies the only worker. Returns the path of the
/// form's task.
async fn waiting_form(app: &TestApp) -> String {
    let path = format!("{UPLOAD}?async=true");
    let [one, other] = [sine_wav(440.0, 48_000, 0.1), sine_wav(550.0, 48_000, 0.1)];
    let call = with_form(app.local(Method::POST, &path), &[("a.wav", &one), ("b.wav", &other)]);
    let started = call.send().await.expect(202);
    assert_eq!(stored_names(app).len(), 2);
    format!("/api/v1/tasks/{}", started["task_id"].as_str().expect("an id"))
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_a_queued_upload_removes_its_files() {
    let app = TestApp::with(&[("SF_TASK_WORKERS", "1")]).await;
    let release = busy_task(&app).await;
    let task = waiting_form(&app).await;
    let cancel_answer = app.local(Method::DELETE, &task).send().await.expect(200);
    assert_eq!((&cancel_answer["state"], stored_names(&app)), (&json!("cancelled"), Vec::new()));
    release.send(()).expect("the task waits");
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(60)).await);
    assert_eq!(get(&app, &task).await.expect(200)["state"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_whose_attempts_were_all_interrupted_leaves_no_files() {
    let app = TestApp::with(&[("SF_TASK_WORKERS", "1"), ("SF_TASK_ATTEMPTS", "1")]).await;
    let _release = busy_task(&app).await;
    let task = waiting_form(&app).await;
    let change =
        "UPDATE tasks SET state = 'running', attempt = 1, alive_until_ms = 1 WHERE kind = 'audio-upload'";
    sqlx::query(change).execute(&app.state.db).await.expect("updates");
    let start_time = Instant::now();
    while !stored_names(&app).is_empty() {
        assert!(start_time.elapsed() < Duration::from_secs(20), "{:?}", stored_names(&app));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(get(&app, &task).await.expect(200)["error"]["code"], "interrupted");
}

/// With SQLite, the next start of the service continues the tasks of the previous run.
#[tokio::test(flavor = "multi_thread")]
async fn starting_the_service_continues_queued_uploads() {
    let app = TestApp::with(&[("SF_TASK_WORKERS", "1")]).await;
    if db::kind(&app.state.db) == DatabaseKind::Postgres {
        return;
    }
    let release = busy_task(&app).await;
    let task = waiting_form(&app).await;
    let config = &app.state.config;
    Tasks::open(app.state.db.clone(), &config.storage, config.tasks, app.state.document_quota, KINDS)
        .await
        .expect("opens as at a start");
    assert_eq!(get(&app, &task).await.expect(200)["state"], "queued");
    assert_eq!(stored_names(&app).len(), 2);
    release.send(()).expect("the task waits");
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(60)).await);
    let finished_task = get(&app, &task).await.expect(200);
    assert_eq!(finished_task["state"], "succeeded", "{finished_task}");
    assert_eq!(finished_task["result"]["files"].as_array().map(Vec::len), Some(2), "{finished_task}");
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_files_without_a_task_are_quarantined() {
    let app = TestApp::start().await;
    let key = BlobKey::new("audio", "5a5c5e3c-0000-4000-8000-000000000000", "waiting").expect("fits");
    app.state.blobs.put(&key, b"of a deleted task").expect("stores");
    let now_ms = clock::now_unix_ms() + 1;
    for _ in 0..2 {
        orphans::collect(&app.state, Duration::ZERO, now_ms).await.expect("collects");
    }
    let quarantined = app.state.blobs.list_quarantined().expect("lists");
    assert_eq!(
        quarantined.iter().map(|entry| (&*entry.name, entry.reason)).collect::<Vec<_>>(),
        [(&*key.path(), QuarantineReason::Deleted)]
    );
}

/// The work in this test takes the role of the decoding of long files, which takes minutes.
#[tokio::test(flavor = "multi_thread")]
async fn one_long_file_per_processor_does_not_delay_other_users() {
    let app = TestApp::start().await;
    let mut running_requests = Vec::new();
    for number in 0..processors() {
        let ((start_time, has_begun), (end, ending)) = (oneshot::channel(), mpsc::channel::<()>());
        let work = move |_: &_| {
            start_time.send(()).expect("the test waits");
            // Receiving fails, and the work ends, when the test drops the sender.
            let _ = ending.recv();
            Ok(())
        };
        let permits = Arc::clone(&app.state.audio.decoding);
        let user_id = format!("user {number}");
        tokio::spawn(async move { permits.run_for(&user_id, 1, work).await });
        has_begun.await.expect("the work runs");
        running_requests.push(end);
    }
    uploaded(&app, "short.wav", &sine_wav(440.0, 48_000, 0.1)).await;
}
