//! Tasks through the real router: run, followed, cancelled, failed, left over.

use std::sync::mpsc;
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use super::Tasks;
use crate::error::ApiError;
use crate::test_app::TestApp;

const LIST: &str = "/api/v1/tasks";

async fn owner(app: &TestApp) -> String {
    let me = app.local(Method::GET, "/api/v1/auth/me").send().await.expect(200);
    me["id"].as_str().expect("an id").to_owned()
}

async fn read(app: &TestApp, id: &str) -> Value {
    app.local(Method::GET, &format!("{LIST}/{id}")).send().await.expect(200)
}

/// Waits for the end of a task and returns it as the database has it.
async fn ended(app: &TestApp, id: &str) -> Value {
    assert!(app.state.tasks.drained(Duration::from_secs(20)).await, "a task does not end");
    read(app, id).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_reports_and_succeeds() {
    let app = TestApp::start().await;
    let (go, wait) = mpsc::channel::<()>();
    let work = move |task: &super::TaskContext| {
        std::thread::sleep(Duration::from_millis(60));
        task.progress(0.5, "halfway");
        wait.recv().expect("go");
        Ok(json!({ "answer": 42 }))
    };
    let id = app.state.tasks.start(&owner(&app).await, "render", work).await.expect("starts");
    let running = loop {
        let task = read(&app, &id).await;
        if task["message"] == "halfway" {
            break task;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!(
        (&running["state"], &running["progress"], &running["kind"]),
        (&json!("running"), &json!(0.5), &json!("render"))
    );
    assert!(running["started_at"].is_string() && running["finished_at"].is_null());
    go.send(()).expect("waits");
    let task = ended(&app, &id).await;
    assert_eq!((&task["state"], &task["progress"]), (&json!("succeeded"), &json!(1.0)));
    assert_eq!((&task["result"], &task["error"]), (&json!({ "answer": 42 }), &Value::Null));
    assert!(task["finished_at"].is_string());
    // One that has ended stays as it is.
    let answer = app.local(Method::DELETE, &format!("{LIST}/{id}")).send().await;
    assert_eq!(answer.expect(200)["state"], "succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_a_problem_and_a_panic_harms_nobody() {
    let app = TestApp::start().await;
    let owner = owner(&app).await;
    let refuse =
        |_: &super::TaskContext| Err(ApiError::bad_request("no_notes", "There is nothing to render."));
    let id = app.state.tasks.start(&owner, "render", refuse).await.expect("starts");
    let task = ended(&app, &id).await;
    assert_eq!((&task["state"], &task["error"]["code"]), (&json!("failed"), &json!("no_notes")));
    // More panics than there are threads.
    for _ in 0..4 {
        let id = app.state.tasks.start(&owner, "render", |_| panic!("secret text")).await.expect("starts");
        let task = ended(&app, &id).await;
        assert_eq!((&task["state"], &task["error"]["code"]), (&json!("failed"), &json!("internal")));
        assert!(!task.to_string().contains("secret text"));
    }
    let id = app.state.tasks.start(&owner, "render", |_| Ok(json!(1))).await.expect("starts");
    assert_eq!(ended(&app, &id).await["state"], "succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn running_and_waiting_tasks_can_be_cancelled() {
    let app = TestApp::start().await;
    let owner = owner(&app).await;
    let mut ids = Vec::new();
    // Two threads run, the third waits.
    for _ in 0..3 {
        let work = |task: &super::TaskContext| {
            while !task.is_cancelled() {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(ApiError::internal(anyhow::anyhow!("stopped")))
        };
        ids.push(app.state.tasks.start(&owner, "render", work).await.expect("starts"));
    }
    for id in &ids {
        app.local(Method::DELETE, &format!("{LIST}/{id}")).send().await.expect(200);
    }
    for id in &ids {
        let task = ended(&app, id).await;
        assert_eq!((&task["state"], &task["error"]), (&json!("cancelled"), &Value::Null));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_follow_a_task_to_its_end() {
    let app = TestApp::start().await;
    let work = |task: &super::TaskContext| {
        for step in 1..=3 {
            std::thread::sleep(Duration::from_millis(60));
            task.progress(f64::from(step) / 4.0, "working");
        }
        Ok(json!("done"))
    };
    let id = app.state.tasks.start(&owner(&app).await, "render", work).await.expect("starts");
    let follow = || app.local(Method::GET, &format!("{LIST}/{id}/events")).send();
    let states = |answer: crate::test_app::Answer| -> Vec<Value> {
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), "text/event-stream");
        let text = String::from_utf8(answer.bytes).expect("text");
        assert!(text.contains("event: task\n"), "{text}");
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|line| serde_json::from_str(line).expect("a task")).collect()
    };
    // The answer ends by itself when the task does.
    let seen = states(follow().await);
    assert!(seen.len() >= 3, "{seen:?}");
    assert!(seen.iter().any(|task| task["state"] == "running"), "{seen:?}");
    assert_eq!(seen.last().map(|task| task["result"].clone()), Some(json!("done")));
    assert!(app.state.tasks.drained(Duration::from_secs(20)).await);
    let after = states(follow().await);
    assert_eq!((after.len(), &after[0]["state"]), (1, &json!("succeeded")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_is_paged_and_nobody_elses() {
    let app = TestApp::start().await;
    let owner = owner(&app).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(app.state.tasks.start(&owner, "render", |_| Ok(Value::Null)).await.expect("starts"));
    }
    assert!(app.state.tasks.drained(Duration::from_secs(20)).await);
    let first = app.local(Method::GET, &format!("{LIST}?limit=2")).send().await.expect(200);
    let cursor = first["next_cursor"].as_str().expect("more");
    let second = app.local(Method::GET, &format!("{LIST}?limit=2&cursor={cursor}")).send().await.expect(200);
    let seen: Vec<&str> = first["items"]
        .as_array()
        .unwrap()
        .iter()
        .chain(second["items"].as_array().unwrap())
        .filter_map(|task| task["id"].as_str())
        .collect();
    ids.reverse();
    assert_eq!(seen, ids);

    let token = app.token_of_new_user("ada").await;
    assert_eq!(app.remote(Method::GET, LIST).token(&token).send().await.expect(200)["items"], json!([]));
    for (method, tail) in [(Method::GET, ""), (Method::DELETE, ""), (Method::GET, "/events")] {
        let path = format!("{LIST}/{}{tail}", ids[0]);
        app.remote(method.clone(), &path).token(&token).send().await.problem(404, "not_found");
        app.remote(method, &path).send().await.problem(401, "token_missing");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_earlier_run_left_unfinished_has_failed() {
    let app = TestApp::start().await;
    let owner = owner(&app).await;
    for (id, state) in [("left-running", "running"), ("left-queued", "queued"), ("was-done", "succeeded")] {
        sqlx::query(
            "INSERT INTO tasks (id, owner_id, kind, state, created_at) VALUES ($1, $2, 'render', $3, 'x')",
        )
        .bind(id)
        .bind(&owner)
        .bind(state)
        .execute(&app.state.db)
        .await
        .expect("a row");
    }
    Tasks::open(app.state.db.clone(), 1).await.expect("opens as at a start");
    for id in ["left-running", "left-queued"] {
        let task = read(&app, id).await;
        assert_eq!((&task["state"], &task["error"]["code"]), (&json!("failed"), &json!("interrupted")));
        assert!(task["finished_at"].is_string());
    }
    assert_eq!(read(&app, "was-done").await["state"], "succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn followers_are_let_go_when_the_service_stops() {
    let app = TestApp::start().await;
    let work = |task: &super::TaskContext| {
        while !task.is_cancelled() {
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(Value::Null)
    };
    let id = app.state.tasks.start(&owner(&app).await, "render", work).await.expect("starts");
    let stop = app.state.stop.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stop.cancel();
    });
    let follow = app.local(Method::GET, &format!("{LIST}/{id}/events")).send();
    let answer = tokio::time::timeout(Duration::from_secs(10), follow).await.expect("the stream ends");
    assert_eq!(answer.status, 200);
    app.state.tasks.cancel_all();
    assert!(app.state.tasks.drained(Duration::from_secs(10)).await);
}
