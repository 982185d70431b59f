//! Tests how long tasks and their inputs are kept, and the quota towards which they count.

use super::*;

/// Returns the input of a task; `None` if it was deleted.
async fn input_of(app: &TestApp, id: &str) -> Option<String> {
    sqlx::query_scalar("SELECT input FROM task_inputs WHERE task_id = $1")
        .bind(id)
        .fetch_optional(&app.state.db)
        .await
        .expect("reads")
}

async fn insert_with_input(app: &TestApp, owner: &str, id: &str, state: &str) {
    insert(app, owner, id, state).await;
    for statement in [
        "UPDATE tasks SET attempt = 1, alive_until_ms = 1 WHERE id = $1",
        "INSERT INTO task_inputs (task_id, input) VALUES ($1, '{\"a\":\"project\"}')",
    ] {
        sqlx::query(statement).bind(id).execute(&app.state.db).await.expect("a row");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn finished_tasks_are_removed_after_the_number_of_days_in_the_settings() {
    let app = TestApp::start().await;
    let owner = owner(&app).await;
    let days = |days: i64| crate::clock::text_in(-days * 86_400);
    for (id, finished_at) in [("old", Some(days(31))), ("recent", Some(days(29))), ("waiting", None)] {
        insert(&app, &owner, id, if finished_at.is_some() { "succeeded" } else { "queued" }).await;
        sqlx::query("UPDATE tasks SET finished_at = $1, due_ms = $2 WHERE id = $3")
            .bind(finished_at)
            .bind(crate::clock::now_unix_ms() + 3_600_000)
            .bind(id)
            .execute(&app.state.db)
            .await
            .expect("a row");
    }
    // A process removes old tasks when it starts.
    let _other = app.start_second_server_without_work().await;
    let started_at = Instant::now();
    let ids = || async {
        let tasks = app.local(Method::GET, LIST).send().await.expect(200);
        let mut ids: Vec<String> = tasks["items"]
            .as_array()
            .expect("tasks")
            .iter()
            .map(|task| task["id"].as_str().expect("an id").to_owned())
            .collect();
        ids.sort();
        ids
    };
    while ids().await.iter().any(|id| id == "old") && started_at.elapsed() < Duration::from_secs(20) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(ids().await, ["recent", "waiting"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_input_of_a_task_is_deleted_once_it_cannot_run() {
    let app = TestApp::with(&[("SF_TASK_ATTEMPTS", "1")]).await;
    let owner = owner(&app).await;
    insert_with_input(&app, &owner, "waiting", "queued").await;
    sqlx::query("UPDATE tasks SET due_ms = $1 WHERE id = 'waiting'")
        .bind(crate::clock::now_unix_ms() + 3_600_000)
        .execute(&app.state.db)
        .await
        .expect("a row");
    app.local(Method::DELETE, &format!("{LIST}/waiting")).send().await.expect(200);
    assert_eq!(
        input_of(&app, "waiting").await,
        None,
        "the input of a task that was cancelled while it waited is deleted"
    );
    insert_with_input(&app, &owner, "lost", "running").await;
    insert_with_input(&app, &owner, "stopped", "running").await;
    app.local(Method::DELETE, &format!("{LIST}/stopped")).send().await.expect(200);
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(20)).await, "a task did not end in time");
    for (id, state) in [("lost", "failed"), ("stopped", "cancelled")] {
        assert_eq!((read(&app, id).await["state"].as_str(), input_of(&app, id).await), (Some(state), None));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_desktop_deletes_the_inputs_of_unfinished_tasks_when_it_starts() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("x.db").display());
    let app = TestApp::with(&[("SF_DATABASE_URL", &url)]).await;
    app.state.stop.cancel();
    let owner = owner(&app).await;
    insert_with_input(&app, &owner, "left", "queued").await;
    let config = &app.state.config;
    Tasks::open(app.state.db.clone(), &config.storage, config.tasks, app.state.document_quota, KINDS)
        .await
        .expect("the list of tasks opens");
    assert_eq!((&read(&app, "left").await["state"], input_of(&app, "left").await), (&json!("failed"), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn inputs_of_tasks_count_towards_the_quota_of_projects() {
    let app = TestApp::with(&[("SF_PROJECTS_QUOTA_BYTES", "100000")]).await;
    let owner = owner(&app).await;
    let song = |bytes: usize| json!({ "schema_version": 1, "project_id": "song", "tracks": [], "client": "x".repeat(bytes) });
    let mixdown = |bytes| {
        app.local(Method::POST, "/api/v1/multitrack/mixdown").json(&json!({ "project": song(bytes) }))
    };
    let detail = mixdown(100_000).send().await.problem(507, "quota_exceeded");
    assert!(detail.contains("100000 bytes"), "{detail}");
    // A running task keeps its input, which has 60 KB.
    let (finish, may_finish) = mpsc::channel::<()>();
    let may_finish = Mutex::new(may_finish);
    let name = format!("{} {}", uuid::Uuid::new_v4(), "x".repeat(60_000));
    let work = move |_: &TaskContext| {
        may_finish.lock().unwrap().recv().expect("the test lets the work finish");
        Ok(Value::Null)
    };
    WORK_BY_NAME.lock().unwrap().insert(name.clone(), Arc::new(work));
    let id = app.state.tasks.start(&owner, CLOSURE.name, &json!(name)).await.expect("starts");
    mixdown(50_000).send().await.problem(507, "quota_exceeded");
    let save = || app.local(Method::POST, "/api/v1/projects").json(&song(50_000)).send();
    save().await.problem(507, "quota_exceeded");
    let storage = app.local(Method::GET, "/api/v1/admin/storage").send().await.expect(200);
    assert!(storage["users"][0]["task_bytes"].as_u64() > Some(60_000), "{storage}");
    finish.send(()).expect("the work waits");
    wait_for_end(&app, &id).await;
    save().await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_result_of_a_removed_task_no_longer_counts_towards_the_quota() {
    let app = TestApp::start().await;
    let owner = owner(&app).await;
    let id = start(&app, &owner, |_| Ok(json!("x".repeat(50_000)))).await;
    wait_for_end(&app, &id).await;
    let task_bytes = || async {
        let storage = app.local(Method::GET, "/api/v1/admin/storage").send().await.expect(200);
        storage["users"][0]["task_bytes"].as_u64().expect("a number")
    };
    assert!(task_bytes().await > 50_000);
    let path = format!("{LIST}/{id}");
    let delete = |query: &str| app.local(Method::DELETE, &format!("{path}{query}")).send();
    let stranger = app.token_of_new_user("ada").await;
    let call = app.remote(Method::DELETE, &format!("{path}?remove=true")).token(&stranger);
    call.send().await.problem(404, "not_found");
    assert_eq!(delete("").await.expect(200)["state"], "succeeded");
    assert_eq!(
        read(&app, &id).await["state"],
        "succeeded",
        "a finished task stays unless its removal is requested"
    );
    let removal_answer = delete("?remove=true").await.expect(200);
    assert_eq!(removal_answer["result"].as_str().map(str::len), Some(50_000));
    app.local(Method::GET, &path).send().await.problem(404, "not_found");
    assert_eq!(task_bytes().await, 0);
    delete("?remove=true").await.problem(404, "not_found");

    let work = |task: &TaskContext| {
        while !task.is_cancelled() {
            std::thread::sleep(Duration::from_millis(2));
        }
        Err(ApiError::internal(anyhow::anyhow!("stopped")))
    };
    let id = start(&app, &owner, work).await;
    // The task is first cancelled, and then removed once it has ended.
    let started_at = Instant::now();
    while app.local(Method::DELETE, &format!("{LIST}/{id}?remove=true")).send().await.status != 404 {
        assert!(started_at.elapsed() < Duration::from_secs(20), "the task was not removed in time");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_does_not_write_the_input_of_a_task() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("x.db");
    let url = format!("sqlite:{}", database.display());
    let app = TestApp::with(&[("SF_DATABASE_URL", &url), ("SF_SERVE_TASKS", "off")]).await;
    stop_upkeep(&app);
    let (owner, db) = (owner(&app).await, &app.state.db);
    insert(&app, &owner, "large", "queued").await;
    sqlx::query("INSERT INTO task_inputs (task_id, input) VALUES ('large', $1)")
        .bind(format!("\"{}\"", "x".repeat(8_000_000)))
        .execute(db)
        .await
        .expect("a row");
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_all(db).await.expect("empties the log");
    let claim_result = store::claim(db, &Delivery::new("large".to_owned(), owner), 60_000).await;
    let store::ClaimedTask { task, attempt, .. } = claim_result.expect("queries").expect("is waiting");
    store::record_heartbeat(db, &task, attempt, 60_000)
        .await
        .expect("queries")
        .expect("the attempt has its task");
    let written_bytes = std::fs::metadata(database.with_extension("db-wal")).expect("a log").len();
    assert!((1..100_000).contains(&written_bytes), "{written_bytes} bytes were written");
}
