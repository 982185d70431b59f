//! Tests tasks through the real router: how they run, are followed and cancelled, fail and are
//! interrupted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, mpsc};
use std::time::{Duration, Instant};

use axum::http::Method;
use http_body_util::BodyExt as _;
use schemas::json::JsonText;
use serde_json::{Value, json};

use super::delivery::Delivery;
use super::{TaskContext, TaskKind, Tasks, store};
use crate::db::DatabaseKind as Database;
use crate::error::{ApiError, ApiResult};
use crate::state::KINDS;
use crate::test_app::TestApp;

mod locked;
mod retention;
mod set_back;

type Work = Arc<dyn Fn(&TaskContext) -> ApiResult<Value> + Send + Sync>;

/// Work of the test tasks. The key is the input of the task.
static WORK_BY_NAME: LazyLock<Mutex<HashMap<String, Work>>> = LazyLock::new(Mutex::default);

/// A kind of task whose work is a closure of the test.
pub(crate) const CLOSURE: TaskKind = TaskKind {
    name: "closure",
    run: |_, task, input| {
        let work = Arc::clone(&WORK_BY_NAME.lock().unwrap()[input.as_str().expect("a name")]);
        work(task).map(|result| JsonText::of_value(&result))
    },
    discard: None,
};

/// Starts a task that does `work` in each of its attempts.
pub(crate) async fn start(
    app: &TestApp,
    owner_id: &str,
    work: impl Fn(&TaskContext) -> ApiResult<Value> + Send + Sync + 'static,
) -> String {
    try_start(app, owner_id, work).await.expect("starts")
}

async fn try_start(
    app: &TestApp,
    owner_id: &str,
    work: impl Fn(&TaskContext) -> ApiResult<Value> + Send + Sync + 'static,
) -> ApiResult<String> {
    let name = uuid::Uuid::new_v4().to_string();
    WORK_BY_NAME.lock().unwrap().insert(name.clone(), Arc::new(work));
    app.state.tasks.start(owner_id, CLOSURE.name, &json!(name)).await
}

const LIST: &str = "/api/v1/tasks";

async fn owner(app: &TestApp) -> String {
    let me = app.local(Method::GET, "/api/v1/auth/me").send().await.expect(200);
    me["id"].as_str().expect("an id").to_owned()
}

async fn read(app: &TestApp, id: &str) -> Value {
    app.local(Method::GET, &format!("{LIST}/{id}")).send().await.expect(200)
}

/// Waits until a task has ended, and returns it as the database has it.
async fn wait_for_end(app: &TestApp, id: &str) -> Value {
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(20)).await, "a task does not end");
    read(app, id).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_reports_its_progress_and_succeeds() {
    let app = TestApp::start().await;
    let (finish, may_finish) = mpsc::channel::<()>();
    let may_finish = Mutex::new(may_finish);
    let work = move |task: &TaskContext| {
        std::thread::sleep(Duration::from_millis(60));
        task.report_progress(0.5, "halfway");
        may_finish.lock().unwrap().recv().expect("the test lets the work finish");
        Ok(json!({ "answer": 42 }))
    };
    let id = start(&app, &owner(&app).await, work).await;
    let running_task = loop {
        let task = read(&app, &id).await;
        if task["message"] == "halfway" {
            break task;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!(
        (&running_task["state"], &running_task["progress"], &running_task["kind"]),
        (&json!("running"), &json!(0.5), &json!("closure"))
    );
    assert!(running_task["started_at"].is_string() && running_task["finished_at"].is_null());
    finish.send(()).expect("the work waits");
    let task = wait_for_end(&app, &id).await;
    assert_eq!((&task["state"], &task["progress"]), (&json!("succeeded"), &json!(1.0)));
    assert_eq!((&task["result"], &task["error"]), (&json!({ "answer": 42 }), &Value::Null));
    assert!(task["finished_at"].is_string());
    // Cancelling a task that has ended does not change it.
    let answer = app.local(Method::DELETE, &format!("{LIST}/{id}")).send().await;
    assert_eq!(answer.expect(200)["state"], "succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_or_a_panic_only_fails_the_task_in_which_it_happens() {
    let app = TestApp::with(&[("SF_TASK_ATTEMPTS", "1")]).await;
    let owner = owner(&app).await;
    let refuse = |_: &TaskContext| Err(ApiError::bad_request("no_notes", "There is nothing to render."));
    let id = start(&app, &owner, refuse).await;
    let task = wait_for_end(&app, &id).await;
    assert_eq!((&task["state"], &task["error"]["code"]), (&json!("failed"), &json!("no_notes")));
    // There are more panics than threads, so a thread that ended with its panic would be missed.
    for _ in 0..4 {
        let id = start(&app, &owner, |_| panic!("secret text")).await;
        let task = wait_for_end(&app, &id).await;
        assert_eq!((&task["state"], &task["error"]["code"]), (&json!("failed"), &json!("internal")));
        assert!(!task.to_string().contains("secret text"));
    }
    let id = start(&app, &owner, |_| Ok(json!(1))).await;
    assert_eq!(wait_for_end(&app, &id).await["state"], "succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn running_and_waiting_tasks_can_be_cancelled() {
    let app = TestApp::start().await;
    let owner = owner(&app).await;
    let mut ids = Vec::new();
    // Two of the tasks run, the third waits for a thread.
    for _ in 0..3 {
        let work = |task: &TaskContext| {
            while !task.is_cancelled() {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(ApiError::internal(anyhow::anyhow!("stopped")))
        };
        ids.push(start(&app, &owner, work).await);
    }
    for id in &ids {
        app.local(Method::DELETE, &format!("{LIST}/{id}")).send().await.expect(200);
    }
    for id in &ids {
        let task = wait_for_end(&app, id).await;
        assert_eq!((&task["state"], &task["error"]), (&json!("cancelled"), &Value::Null));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_stream_follows_a_task_until_it_ends() {
    let app = TestApp::start().await;
    let work = |task: &TaskContext| {
        for step in 1..=3 {
            std::thread::sleep(Duration::from_millis(400));
            task.report_progress(f64::from(step) / 4.0, "working");
        }
        Ok(json!("done"))
    };
    let id = start(&app, &owner(&app).await, work).await;
    let follow = || app.local(Method::GET, &format!("{LIST}/{id}/events")).send();
    let states = |answer: crate::test_app::Answer| -> Vec<Value> {
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), "text/event-stream");
        assert_eq!(answer.header("x-accel-buffering"), "no");
        let text = String::from_utf8(answer.bytes).expect("text");
        assert!(text.contains("event: task\n"), "{text}");
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|line| serde_json::from_str(line).expect("a task")).collect()
    };
    // The stream ends by itself when the task has ended.
    let states_seen = states(follow().await);
    assert!(states_seen.len() >= 3, "{states_seen:?}");
    assert!(states_seen.iter().any(|task| task["state"] == "running"), "{states_seen:?}");
    assert_eq!(states_seen.last().map(|task| task["result"].clone()), Some(json!("done")));
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(20)).await);
    let states_after = states(follow().await);
    assert_eq!((states_after.len(), &states_after[0]["state"]), (1, &json!("succeeded")));
}

#[tokio::test(flavor = "multi_thread")]
async fn all_event_streams_of_a_task_share_its_database_queries() {
    let app = TestApp::start().await;
    let followed = || app.state.tasks.0.followed_tasks.count();
    let (finish, finished) = mpsc::channel::<()>();
    let finished = Mutex::new(finished);
    let work = move |_: &TaskContext| {
        finished.lock().unwrap().recv().expect("the test says when");
        Ok(json!("done"))
    };
    let id = start(&app, &owner(&app).await, work).await;
    let follow = || app.local(Method::GET, &format!("{LIST}/{id}/events")).send();
    let streams = futures_util::future::join_all((0..20).map(|_| follow()));
    let end = async {
        while followed() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // One client disconnects before the task ends.
        tokio::time::timeout(Duration::from_millis(50), follow()).await.expect_err("it has not ended");
        assert_eq!(followed(), 1);
        finish.send(()).expect("the task waits");
    };
    let (answers, ()) = tokio::join!(streams, end);
    for answer in answers {
        let text = String::from_utf8(answer.bytes).expect("text");
        let last_event = text.lines().rfind(|line| line.starts_with("data: ")).expect("a task");
        assert!(last_event.contains("\"state\":\"succeeded\""), "{text}");
    }
    while followed() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // If the only client of a stream disconnects, the task is no longer followed.
    let id = start(&app, &owner(&app).await, |task| {
        while !task.is_cancelled() {
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(Value::Null)
    })
    .await;
    let follow = app.local(Method::GET, &format!("{LIST}/{id}/events")).send();
    tokio::time::timeout(Duration::from_millis(50), follow).await.expect_err("it has not ended");
    while followed() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    app.local(Method::DELETE, &format!("{LIST}/{id}")).send().await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_has_pages_and_only_tasks_of_the_caller() {
    let app = TestApp::start().await;
    let owner = owner(&app).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(start(&app, &owner, |_| Ok(Value::Null)).await);
    }
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(20)).await);
    let first = app.local(Method::GET, &format!("{LIST}?limit=2")).send().await.expect(200);
    let cursor = first["next_cursor"].as_str().expect("a cursor for another page");
    let second = app.local(Method::GET, &format!("{LIST}?limit=2&cursor={cursor}")).send().await.expect(200);
    let listed_ids: Vec<&str> = first["items"]
        .as_array()
        .unwrap()
        .iter()
        .chain(second["items"].as_array().unwrap())
        .filter_map(|task| task["id"].as_str())
        .collect();
    ids.reverse();
    assert_eq!(listed_ids, ids);

    let token = app.token_of_new_user("ada").await;
    assert_eq!(app.remote(Method::GET, LIST).token(&token).send().await.expect(200)["items"], json!([]));
    for (method, tail) in [(Method::GET, ""), (Method::DELETE, ""), (Method::GET, "/events")] {
        let path = format!("{LIST}/{}{tail}", ids[0]);
        app.remote(method.clone(), &path).token(&token).send().await.problem(404, "not_found");
        app.remote(method, &path).send().await.problem(401, "token_missing");
    }
}

/// With SQLite, no other process could continue these tasks.
#[tokio::test(flavor = "multi_thread")]
async fn a_desktop_marks_tasks_of_an_earlier_process_as_failed_when_it_starts() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("x.db").display());
    let app = TestApp::with(&[("SF_DATABASE_URL", &url)]).await;
    stop_upkeep(&app);
    let owner = owner(&app).await;
    for (id, state) in [("left-running", "running"), ("left-queued", "queued"), ("was-done", "succeeded")] {
        insert(&app, &owner, id, state).await;
    }
    let config = &app.state.config;
    Tasks::open(app.state.db.clone(), &config.storage, config.tasks, app.state.document_quota, KINDS)
        .await
        .expect("the list of tasks opens");
    for id in ["left-running", "left-queued"] {
        let task = read(&app, id).await;
        assert_eq!((&task["state"], &task["error"]["code"]), (&json!("failed"), &json!("interrupted")));
        assert!(task["finished_at"].is_string());
    }
    assert_eq!(read(&app, "was-done").await["state"], "succeeded");
}

/// Stops the upkeep, so only the test claims and loses attempts.
fn stop_upkeep(app: &TestApp) {
    app.state.stop.cancel();
}

async fn insert(app: &TestApp, owner: &str, id: &str, state: &str) {
    sqlx::query(
        "INSERT INTO tasks (id, owner_id, kind, state, created_at) VALUES ($1, $2, 'closure', $3, 'x')",
    )
    .bind(id)
    .bind(owner)
    .bind(state)
    .execute(&app.state.db)
    .await
    .expect("a row");
}

#[tokio::test(flavor = "multi_thread")]
async fn event_streams_end_when_the_service_stops() {
    let app = TestApp::start().await;
    let work = |task: &TaskContext| {
        while !task.is_cancelled() {
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(Value::Null)
    };
    let id = start(&app, &owner(&app).await, work).await;
    let stop = app.state.stop.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stop.cancel();
    });
    let follow = app.local(Method::GET, &format!("{LIST}/{id}/events")).send();
    let answer = tokio::time::timeout(Duration::from_secs(10), follow).await.expect("the stream ends");
    assert_eq!(answer.status, 200);
    app.state.tasks.stop_all();
    assert!(app.state.tasks.wait_until_stopped(Duration::from_secs(10)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_internal_error_is_retried_with_growing_backoff() {
    let app = TestApp::with(&[("SF_TASK_RETRY_SECS", "1")]).await;
    let owner = owner(&app).await;
    let times = Arc::new(Mutex::new(Vec::new()));
    let seen_times = Arc::clone(&times);
    let id = start(&app, &owner, move |_| {
        let mut seen_times = seen_times.lock().unwrap();
        seen_times.push(Instant::now());
        match seen_times.len() {
            3 => Ok(json!("at last")),
            _ => Err(ApiError::internal(anyhow::anyhow!("the disk hiccups"))),
        }
    })
    .await;
    let task = wait_for_end(&app, &id).await;
    assert_eq!((&task["state"], &task["result"]), (&json!("succeeded"), &json!("at last")));
    let times = times.lock().unwrap().clone();
    assert!(times[1] - times[0] >= Duration::from_millis(950), "{times:?}");
    assert!(times[2] - times[1] >= Duration::from_millis(1_950), "{times:?}");

    // An error that the request itself causes is not retried.
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let id = start(&app, &owner, move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Err(ApiError::bad_request("no_notes", "There is nothing to render."))
    })
    .await;
    assert_eq!(wait_for_end(&app, &id).await["state"], "failed");
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_task_is_retried_more_often() {
    let app = TestApp::with(&[("SF_TASK_RETRY_SECS", "1"), ("SF_TASK_ATTEMPTS", "1")]).await;
    let owner = owner(&app).await;
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let id = start(&app, &owner, move |_| match counted.fetch_add(1, Ordering::Relaxed) {
        0 => Err(ApiError::Busy { detail: "The memory is in use.".to_owned(), retry_after_secs: 5 }),
        _ => Ok(json!("at last")),
    })
    .await;
    assert_eq!(wait_for_end(&app, &id).await["result"], "at last");
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

/// Returns work that reports its start and lasts until the returned sender is dropped.
fn blocking_work(
    started: &mpsc::Sender<()>,
) -> (mpsc::Sender<()>, impl Fn(&TaskContext) -> ApiResult<Value> + use<>) {
    let (release, released) = mpsc::channel::<()>();
    let (started, released) = (started.clone(), Mutex::new(released));
    let work = move |_: &TaskContext| {
        started.send(()).expect("the test waits");
        let _ = released.lock().unwrap().recv();
        Ok(Value::Null)
    };
    (release, work)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tasks_of_a_user_are_limited_and_do_not_make_other_users_wait() {
    let limits =
        [("SF_TASKS_UNFINISHED_PER_USER", "4"), ("SF_TASK_WORKERS", "2"), ("SF_TASKS_RUNNING_PER_USER", "2")];
    let app = TestApp::with(&limits).await;
    let ada = owner(&app).await;
    let (sender, started) = mpsc::channel();
    let (mut releases, mut ids) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        let (release, work) = blocking_work(&sender);
        releases.push(release);
        ids.push(start(&app, &ada, work).await);
    }
    let refusal = try_start(&app, &ada, |_| Ok(Value::Null)).await.expect_err("the user has too many tasks");
    assert!(refusal.status() == 429 && refusal.to_string().contains("4 of your tasks"), "{refusal}");
    let wait_for_start = || started.recv_timeout(Duration::from_secs(30)).expect("a task begins");
    wait_for_start();
    wait_for_start();

    // Ada has as many running tasks as she may have. Bob has no running task, so his task can run.
    let token = app.token_of_new_user("bob").await;
    let bob = app.remote(Method::GET, "/api/v1/auth/me").token(&token).send().await.expect(200)["id"].clone();
    let bob = bob.as_str().expect("an id");
    let id = start(&app, bob, |_| Ok(Value::Null)).await;
    let bob_succeeds = async {
        while app.state.tasks.find(bob, &id).await.expect("a task").state != super::TaskState::Succeeded {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), bob_succeeds).await.expect("Bob's task has a thread");
    assert!(started.try_recv().is_err(), "a third task of Ada is running");
    releases.clear();
    wait_for_start();
    wait_for_start();
    for id in ids {
        assert_eq!(wait_for_end(&app, &id).await["state"], "succeeded");
    }
    start(&app, &ada, |_| Ok(Value::Null)).await;
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(20)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_that_arrives_twice_is_repeated_once() {
    let app = TestApp::with(&[("SF_SERVE_TASKS", "off")]).await;
    stop_upkeep(&app);
    let (owner, db) = (owner(&app).await, &app.state.db);
    insert(&app, &owner, "t", "queued").await;
    let first = Delivery::new("t".to_owned(), owner);
    let next = async |delivery: &Delivery| store::take_next_offer(db, delivery).await.expect("asks");
    assert_eq!(next(&first).await, Some(1));
    assert_eq!(next(&first).await, None);
    let second = Delivery { offer: 1, ..first.clone() };
    // An overdue task gets another offer, which replaces the one before.
    sqlx::query("UPDATE tasks SET due_ms = 0").execute(db).await.expect("updates");
    let overdue_deliveries = store::reset_and_list_overdue(db, 60_000).await.expect("asks");
    assert_eq!(overdue_deliveries.iter().map(|delivery| delivery.offer).collect::<Vec<_>>(), [2]);
    assert_eq!(next(&second).await, None);
    // Any offer may claim the task, but a running task is not offered.
    let claimed_task = store::claim(db, &first, 60_000).await.expect("asks").expect("the task");
    assert_eq!(claimed_task.offer, 2);
    assert_eq!(next(&overdue_deliveries[0]).await, None);
}

/// An attempt without heartbeats loses its task. A result that it returns later is ignored.
#[tokio::test(flavor = "multi_thread")]
async fn only_the_attempt_that_owns_a_task_can_end_it() {
    let app = TestApp::with(&[("SF_SERVE_TASKS", "off")]).await;
    stop_upkeep(&app);
    let (owner, db) = (owner(&app).await, &app.state.db);
    insert(&app, &owner, "t", "queued").await;
    let delivery = Delivery::new("t".to_owned(), owner.clone());
    let claim = async |lease_ms| store::claim(db, &delivery, lease_ms).await.expect("queries the database");
    let first = claim(-1).await.expect("the task can be claimed");
    assert!(claim(60_000).await.is_none(), "two attempts at the same time");
    let lost = store::read_lost_attempts(db).await.expect("reads");
    assert_eq!(lost.iter().map(|lost| lost.delivery.task_id.as_str()).collect::<Vec<_>>(), ["t"]);
    assert!(store::requeue_lost(db, &[], "t", first.attempt).await.expect("queries the database").is_waiting);
    assert!(
        !store::requeue_lost(db, &[], "t", first.attempt).await.expect("queries the database").is_waiting,
        "the task was requeued twice"
    );
    assert!(store::read_lost_attempts(db).await.expect("reads").is_empty());
    let second = claim(60_000).await.expect("the task can be claimed again");
    assert_eq!((first.attempt, second.attempt, second.failures), (1, 2, 1));

    let outcome = |result: &str| {
        let mut task = second.task.clone();
        task.state = super::TaskState::Succeeded;
        task.result = Some(JsonText::of_value(&json!(result)));
        task
    };
    assert!(
        store::record_heartbeat(db, &first.task, first.attempt, 60_000)
            .await
            .expect("queries the database")
            .is_none()
    );
    assert!(!store::has_lease(db, "t", first.attempt).await.expect("queries the database"));
    assert!(
        !store::requeue(db, &[], "t", first.attempt, 0, true).await.expect("queries the database").is_waiting
    );
    assert!(!store::finish(db, &outcome("first"), first.attempt).await.expect("queries the database"));
    assert!(store::finish(db, &outcome("second"), second.attempt).await.expect("queries the database"));
    assert!(!store::finish(db, &outcome("again"), second.attempt).await.expect("queries the database"));
    assert_eq!(read(&app, "t").await["result"], "second");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_fails_if_its_process_ends_in_every_attempt() {
    let app = TestApp::with(&[("SF_SERVE_TASKS", "off")]).await;
    stop_upkeep(&app);
    let (owner, db) = (owner(&app).await, &app.state.db);
    for id in ["t", "cancelled"] {
        insert(&app, &owner, id, "queued").await;
    }
    let delivery = |id: &str| Delivery::new(id.to_owned(), owner.clone());
    for attempt in 1..=3 {
        let claimed_task = store::claim(db, &delivery("t"), -1)
            .await
            .expect("queries the database")
            .expect("the task can be claimed");
        assert_eq!(claimed_task.attempt, attempt);
        app.state.tasks.requeue_lost().await.expect("requeues the lost tasks");
        assert_eq!(read(&app, "t").await["state"] == "failed", attempt == 3);
    }
    let task = read(&app, "t").await;
    assert_eq!((&task["state"], &task["error"]["code"]), (&json!("failed"), &json!("interrupted")));

    store::claim(db, &delivery("cancelled"), -1)
        .await
        .expect("queries the database")
        .expect("the task can be claimed");
    app.local(Method::DELETE, &format!("{LIST}/cancelled")).send().await.expect(200);
    app.state.tasks.requeue_lost().await.expect("requeues the lost tasks");
    assert_eq!(read(&app, "cancelled").await["state"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_server_can_follow_and_cancel_a_task() {
    let app = TestApp::start().await;
    let second = app.start_second_server_without_work().await;
    let owner = owner(&app).await;
    let work = |task: &TaskContext| {
        while !task.is_cancelled() {
            task.report_progress(0.25, "far away");
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(ApiError::internal(anyhow::anyhow!("stopped")))
    };
    let id = start(&app, &owner, work).await;
    let followed = second.local(Method::GET, &format!("{LIST}/{id}/events")).response();
    let follow_and_cancel = async {
        let (mut body, mut text) = (followed.await.into_body(), String::new());
        let mut was_cancelled = false;
        while let Some(frame) = body.frame().await {
            let data = frame.expect("reads").into_data().unwrap_or_default();
            text.push_str(std::str::from_utf8(&data).expect("text"));
            if !was_cancelled && text.contains("far away") {
                second.local(Method::DELETE, &format!("{LIST}/{id}")).send().await.expect(200);
                was_cancelled = true;
            }
        }
        text
    };
    let text = tokio::time::timeout(Duration::from_secs(20), follow_and_cancel).await.expect("ends");
    assert!(text.contains("far away") && text.contains("\"state\":\"cancelled\""), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_a_server_requeues_its_tasks_and_stopping_a_desktop_cancels_them() {
    let app = TestApp::start().await;
    let owner = owner(&app).await;
    let work = |task: &TaskContext| {
        while !task.is_cancelled() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(ApiError::internal(anyhow::anyhow!("stopped")))
    };
    let id = start(&app, &owner, work).await;
    while read(&app, &id).await["state"] != "running" {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    app.state.stop.cancel();
    app.state.tasks.stop_all();
    assert!(app.state.tasks.wait_until_stopped(Duration::from_secs(10)).await);
    let expected = match crate::db::kind(&app.state.db) {
        Database::Postgres => "queued",
        Database::Sqlite => "cancelled",
    };
    assert_eq!(read(&app, &id).await["state"], expected);
}
