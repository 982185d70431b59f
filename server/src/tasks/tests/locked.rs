//! Tests tasks while another connection locks the database against writes.

use super::*;

/// Short timeouts, so that a locked database is noticed soon. They are long enough for a busy
/// machine.
const SHORT_WAITS: [(&str, &str); 2] = [("SF_DATABASE_WAIT_MS", "1000"), ("SF_TASK_RETRY_SECS", "1")];

/// Maximum wait for a task or a process in these tests.
const LIMIT: Duration = Duration::from_secs(90);

async fn state_of(app: &TestApp, id: &str) -> Value {
    read(app, id).await["state"].clone()
}

async fn wait_until_running(app: &TestApp, id: &str) {
    while state_of(app, id).await != "running" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_task_is_stored_once_the_database_is_unlocked() {
    let app = TestApp::with(&SHORT_WAITS).await;
    let owner = owner(&app).await;
    let (finish, may_finish) = mpsc::channel::<()>();
    let may_finish = Arc::new(Mutex::new(may_finish));
    let first_may_finish = Arc::clone(&may_finish);
    let successful_task = start(&app, &owner, move |_| {
        first_may_finish.lock().unwrap().recv().expect("the test lets the work finish");
        Ok(json!("done"))
    })
    .await;
    let attempts = AtomicUsize::new(0);
    let retried_task = start(&app, &owner, move |_| match attempts.fetch_add(1, Ordering::Relaxed) {
        0 => {
            may_finish.lock().unwrap().recv().expect("the test lets the work finish");
            Err(ApiError::internal(anyhow::anyhow!("the disk hiccups")))
        }
        _ => Ok(json!("at last")),
    })
    .await;
    for id in [&successful_task, &retried_task] {
        wait_until_running(&app, id).await;
    }
    let lock = app.lock_database().await;
    finish.send(()).expect("the work waits");
    finish.send(()).expect("the work waits");
    let started_at = Instant::now();
    for id in [&successful_task, &retried_task] {
        // An attempt that gave up storing its end would no longer be in the list of running ones.
        while read(&app, id).await["message"] != "Waiting for the database"
            && !app.state.tasks.wait_until_stopped(Duration::ZERO).await
        {
            assert!(started_at.elapsed() < LIMIT, "{}", read(&app, id).await);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    lock.release().await;
    for (id, result) in [(&successful_task, "done"), (&retried_task, "at last")] {
        let task = wait_for_end(&app, id).await;
        assert_eq!((&task["state"], &task["result"]), (&json!("succeeded"), &json!(result)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_that_cannot_be_stored_is_refused_and_changes_nothing() {
    let app = TestApp::with(&SHORT_WAITS).await;
    let work = |task: &TaskContext| {
        while !task.is_cancelled() {
            std::thread::sleep(Duration::from_millis(2));
        }
        Err(ApiError::internal(anyhow::anyhow!("stopped")))
    };
    let id = start(&app, &owner(&app).await, work).await;
    wait_until_running(&app, &id).await;
    let path = format!("{LIST}/{id}");
    let lock = app.lock_database().await;
    let project = json!({ "schema_version": 1, "project_id": "song", "tracks": [] });
    let calls = [
        app.local(Method::DELETE, &path),
        app.local(Method::POST, "/api/v1/projects").json(&project),
        app.local(Method::PUT, "/api/v1/projects/temp")
            .json(&json!({ "client_id": "w", "project": project })),
        app.local(Method::POST, "/api/v1/multitrack/mixdown").json(&json!({ "project": project })),
    ];
    for call in calls {
        let answer = call.send().await;
        answer.problem(503, "database_busy");
        let retry_after: u64 = answer.header("retry-after").parse().expect("a number of seconds");
        assert!((1..=60).contains(&retry_after), "{retry_after}");
    }
    assert_eq!(state_of(&app, &id).await, "running", "a refused cancellation must not stop the work");
    lock.release().await;
    app.local(Method::DELETE, &path).send().await.expect(200);
    assert_eq!(wait_for_end(&app, &id).await["state"], "cancelled");
}

/// No process has an attempt at these running tasks. This happens if the end of an attempt could
/// not be stored.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_with_a_lost_attempt_is_retried_or_cancelled_without_a_restart() {
    let app = TestApp::with(&SHORT_WAITS).await;
    let owner = owner(&app).await;
    let name = uuid::Uuid::new_v4().to_string();
    WORK_BY_NAME.lock().unwrap().insert(name.clone(), Arc::new(|_| Ok(json!("retried"))));
    for id in ["lost", "cancelled"] {
        let mut transaction = app.state.db.begin().await.expect("begins");
        sqlx::query(
            "INSERT INTO tasks (id, owner_id, kind, state, created_at, attempt, alive_until_ms, cancel_requested) \
             VALUES ($1, $2, 'closure', 'running', 'x', 1, 1, $3)",
        )
        .bind(id)
        .bind(&owner)
        .bind(i64::from(id == "cancelled"))
        .execute(&mut *transaction)
        .await
        .expect("a row");
        sqlx::query("INSERT INTO task_inputs (task_id, input) VALUES ($1, $2)")
            .bind(id)
            .bind(json!(name).to_string())
            .execute(&mut *transaction)
            .await
            .expect("a row");
        transaction.commit().await.expect("commits");
    }
    assert_eq!(wait_for_end(&app, "lost").await["result"], "retried");
    assert_eq!(wait_for_end(&app, "cancelled").await["state"], "cancelled");
}
