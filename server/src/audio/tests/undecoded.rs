//! Tests of complete uploads that cannot be decoded yet.

use std::sync::{Arc, Mutex, mpsc};

use axum::http::Method;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::resumable::{OCTETS, UPLOADS, append, begin, count_stored_parts, task, tus};
use super::{UPLOAD, get, upload, with_form};
use crate::audio::resume;
use crate::audio::test_files::{silent_flac, sine_wav};
use crate::permits::processors;
use crate::tasks::tests::start;
use crate::test_app::TestApp;

/// Starts a task that runs until the returned sender is used or dropped.
pub(super) async fn busy_task(app: &TestApp) -> mpsc::Sender<()> {
    let owner = get(app, "/api/v1/auth/me").await.expect(200)["id"].as_str().expect("an id").to_owned();
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let id = start(app, &owner, move |_| {
        // Receiving fails if the test has ended.
        let _ = released.lock().expect("not poisoned").recv();
        Ok(Value::Null)
    })
    .await;
    while get(app, &format!("/api/v1/tasks/{id}")).await.expect(200)["state"] != "running" {
        tokio::task::yield_now().await;
    }
    release
}

async fn status(app: &TestApp, path: &str) -> (Value, Value) {
    let status = get(app, path).await.expect(200);
    (status["state"].clone(), status["offset_bytes"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_whose_task_cannot_start_keeps_its_bytes() {
    let app = TestApp::with(&[("SF_TASKS_UNFINISHED_PER_USER", "1")]).await;
    let bytes = sine_wav(440.0, 48_000, 0.1);
    let release = busy_task(&app).await;
    let [kept, deleted] = [begin(&app, "a.wav", bytes.len()).await, begin(&app, "b.wav", bytes.len()).await];
    for path in [&kept, &deleted] {
        append(&app, path, 0, &bytes).await.problem(429, "too_many_requests");
        assert_eq!(status(&app, path).await, (json!("receiving"), json!(bytes.len())));
    }
    tus(&app, Method::DELETE, &deleted).send().await.expect(204);
    append(&app, &kept, bytes.len(), b"").await.problem(429, "too_many_requests");
    release.send(()).expect("the task waits");
    assert!(app.state.tasks.wait_until_drained(std::time::Duration::from_secs(60)).await);
    let answer = append(&app, &kept, bytes.len(), b"").await;
    answer.expect(204);
    assert_eq!(task(&app, answer.header("songfoundry-task-id")).await["state"], "succeeded");
    assert_eq!((status(&app, &kept).await.0, count_stored_parts(&app)), (json!("done"), 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_without_a_task_can_be_retried_or_deleted() {
    let app = TestApp::start().await;
    let bytes = sine_wav(440.0, 48_000, 0.1);
    let [retried, deleted] =
        [begin(&app, "a.wav", bytes.len()).await, begin(&app, "b.wav", bytes.len()).await];
    for path in [&retried, &deleted] {
        append(&app, path, 0, &bytes[..bytes.len() - 1]).await.expect(204);
        complete_without_a_task(&app, path, &bytes).await;
    }
    tus(&app, Method::DELETE, &deleted).send().await.expect(204);
    let answer = append(&app, &retried, bytes.len(), b"").await;
    answer.expect(204);
    assert_eq!(task(&app, answer.header("songfoundry-task-id")).await["state"], "succeeded");
}

/// Completes an upload without starting the task that decodes it.
async fn complete_without_a_task(app: &TestApp, path: &str, bytes: &[u8]) {
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
async fn the_service_starts_even_if_uploads_cannot_be_decoded() {
    let app = TestApp::with(&[("SF_TASKS_UNFINISHED_PER_USER", "1")]).await;
    let bytes = sine_wav(440.0, 48_000, 0.1);
    let release = busy_task(&app).await;
    let mut paths = Vec::new();
    for name in ["a.wav", "b.wav"] {
        let path = begin(&app, name, bytes.len()).await;
        complete_without_a_task(&app, &path, &bytes).await;
        paths.push(path);
    }
    // The uploads expired long ago.
    sqlx::query("UPDATE audio_uploads SET expires_secs = 1").execute(&app.state.db).await.expect("updates");
    resume(&app.state).await.expect("starts");
    let listed_uploads = get(&app, UPLOADS).await.expect(200);
    assert_eq!(listed_uploads["items"].as_array().map(Vec::len), Some(2), "{listed_uploads}");
    release.send(()).expect("the task waits");
    assert!(app.state.tasks.wait_until_drained(std::time::Duration::from_secs(60)).await);
    for path in &paths {
        assert_eq!(status(&app, path).await, (json!("receiving"), json!(bytes.len())));
        let answer = append(&app, path, bytes.len(), b"").await;
        answer.expect(204);
        assert_eq!(task(&app, answer.header("songfoundry-task-id")).await["state"], "succeeded");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_do_not_need_the_quota_of_projects() {
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
async fn disabling_an_account_keeps_the_upload_being_decoded() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let call = |token: &str, method: Method, path: &str| {
        app.remote(method, path).token(token).header("tus-resumable", "1.0.0")
    };
    // The file is 4 GB long when decoded.
    let bytes = silent_flac(15_000);
    let length = bytes.len().to_string();
    let begun_upload = call(&token, Method::POST, UPLOADS).header("upload-length", &length).send().await;
    let path = begun_upload.header("location").to_owned();
    let upload_answer = call(&token, Method::PATCH, &path).header("upload-offset", "0");
    let upload_answer = upload_answer.raw(OCTETS, bytes).send().await;
    let task = format!("/api/v1/tasks/{}", upload_answer.header("songfoundry-task-id"));
    while call(&token, Method::GET, &task).send().await.expect(200)["state"] != "running" {
        tokio::task::yield_now().await;
    }
    let me = call(&token, Method::GET, "/api/v1/auth/me").send().await.expect(200);
    let account = format!("/api/v1/admin/users/{}", me["id"].as_str().expect("an id"));
    let admin = app.admin_token().await;
    let set_disabled = async |is_disabled: bool| {
        call(&admin, Method::PATCH, &account)
            .json(&json!({ "disabled": is_disabled }))
            .send()
            .await
            .expect(200)
    };
    set_disabled(true).await;
    assert!(app.state.tasks.wait_until_drained(std::time::Duration::from_secs(60)).await);
    set_disabled(false).await;
    let token = app.token_of("ada").await;
    let upload = call(&token, Method::GET, &path).send().await.expect(200);
    assert_eq!((&upload["state"], upload["offset_bytes"].to_string()), (&json!("receiving"), length));
    call(&token, Method::DELETE, &path).send().await.expect(204);
    assert_eq!(count_stored_parts(&app), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_whose_decoding_takes_too_long_keeps_its_bytes() {
    let app = TestApp::with(&[("SF_AUDIO_DECODE_MAX_SECS", "1")]).await;
    // The file is 4 GB long when decoded.
    let bytes = silent_flac(15_000);
    let path = begin(&app, "a.flac", bytes.len()).await;
    let answer = append(&app, &path, 0, &bytes).await;
    let task = task(&app, answer.header("songfoundry-task-id")).await;
    assert_eq!((&task["error"]["status"], &task["error"]["code"]), (&json!(503), &json!("decode_timeout")));
    let detail = task["error"]["detail"].as_str().expect("a text");
    assert!(detail.contains("`a.flac`") && detail.contains("SF_AUDIO_DECODE_MAX_SECS"), "{detail}");
    assert_eq!(
        (status(&app, &path).await, count_stored_parts(&app)),
        ((json!("receiving"), json!(bytes.len())), 1)
    );
    // In a form, the files that can be decoded are stored.
    let sound = sine_wav(440.0, 48_000, 0.1);
    let answer = upload(&app, &[("a.flac", &bytes), ("b.wav", &sound)]).await.expect(201);
    assert_eq!(answer["refused"][0]["problem"]["code"], "decode_timeout", "{answer}");
    assert_eq!(answer["files"][0]["name"], "b.wav");
}

/// Waits for the only decoder of the service, and pauses it until it gets SIGCONT.
async fn paused_decoder(app: &TestApp) -> Pid {
    loop {
        if let Some(decoder) = app.state.helpers.list().first() {
            let id = Pid::from_raw(i32::try_from(decoder.pid).expect("a number"));
            kill(id, Signal::SIGSTOP).expect("the decoder runs");
            return id;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_waits_for_a_locked_database_and_keeps_its_bytes() {
    let app = TestApp::with(&[("SF_DATABASE_WAIT_MS", "1000"), ("SF_TASK_RETRY_SECS", "1")]).await;
    let bytes = silent_flac(300);
    let path = begin(&app, "a.flac", bytes.len()).await;
    let answer = append(&app, &path, 0, &bytes).await;
    answer.expect(204);
    let decoder = paused_decoder(&app).await;
    let lock = app.lock_database().await;
    kill(decoder, Signal::SIGCONT).expect("the decoder is paused");
    let task_path = format!("/api/v1/tasks/{}", answer.header("songfoundry-task-id"));
    while get(&app, &task_path).await.expect(200)["message"] != "Waiting for the database" {
        tokio::task::yield_now().await;
    }
    assert_eq!((status(&app, &path).await.0, count_stored_parts(&app)), (json!("decoding"), 1));
    lock.release().await;
    let task = task(&app, answer.header("songfoundry-task-id")).await;
    assert_eq!(task["state"], "succeeded", "{task}");
    assert_eq!((status(&app, &path).await.0, count_stored_parts(&app)), (json!("done"), 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_database_fails_all_files_of_a_form() {
    let app = TestApp::with(&[("SF_DATABASE_WAIT_MS", "1000")]).await;
    let [one, other] = [440.0, 550.0].map(|hz| sine_wav(hz, 48_000, 0.1));
    let files: [(&str, &[u8]); 2] = [("a.wav", &one), ("b.wav", &other)];
    let lock = app.lock_database().await;
    upload(&app, &files).await.problem(503, "database_busy");
    lock.release().await;
    let answer = upload(&app, &files).await.expect(201);
    assert_eq!((answer["files"].as_array().map(Vec::len), &answer["refused"]), (Some(2), &json!([])));
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_files_of_one_user_do_not_delay_other_users() {
    if processors() == 1 {
        // With one processor, only one file of a user is decoded at a time.
        return;
    }
    let app = Arc::new(TestApp::start().await);
    let [ada, bob] = [app.token_of_new_user("ada").await, app.token_of_new_user("bob").await];
    // The file is 4 GB long when decoded.
    let slow = silent_flac(15_000);
    let sending: Vec<_> = (0..processors())
        .map(|_| {
            let (app, ada, slow) = (Arc::clone(&app), ada.clone(), slow.clone());
            tokio::spawn(async move {
                with_form(app.remote(Method::POST, UPLOAD).token(&ada), &[("a.flac", &slow)]).send().await
            })
        })
        .collect();
    let decoders = || app.state.helpers.list().len();
    let permits_per_user = processors() as usize - 1;
    while decoders() < permits_per_user {
        tokio::task::yield_now().await;
    }
    let quick = sine_wav(440.0, 48_000, 0.1);
    let call = with_form(app.remote(Method::POST, UPLOAD).token(&bob), &[("b.wav", &quick)]);
    call.send().await.expect(201);
    assert!(sending.iter().all(|one| !one.is_finished()), "the quick file waited for a slow file");
    assert_eq!(decoders(), permits_per_user);
    sending.iter().for_each(tokio::task::JoinHandle::abort);
}
