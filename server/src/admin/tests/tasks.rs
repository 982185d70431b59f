//! Tests of the tasks of all users.

use std::sync::mpsc;
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use super::{admin, get, id_of};
use crate::error::ApiError;
use crate::tasks::TaskContext;
use crate::tasks::tests::start;
use crate::test_app::TestApp;

const TASKS: &str = "/api/v1/admin/tasks";

/// Starts a task that does not end until it is cancelled, and waits until it has begun.
async fn start_endless(app: &TestApp, owner_id: &str) -> String {
    let (begin_sender, has_begun) = mpsc::channel();
    let work = move |task: &TaskContext| {
        begin_sender.send(()).expect("the test waits");
        while !task.is_cancelled() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(ApiError::Conflict { code: "cancelled", detail: "Stopped.".to_owned() })
    };
    let id = start(app, owner_id, work).await;
    has_begun.recv_timeout(Duration::from_secs(20)).expect("the task begins");
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn disabling_an_account_cancels_its_tasks() {
    let app = TestApp::start().await;
    app.token_of_new_user("ada").await;
    app.token_of_new_user("bob").await;
    let (ada, bob) = (id_of(&app, "ada").await, id_of(&app, "bob").await);
    let task_of_bob = start_endless(&app, &bob).await;
    let task_of_ada = start_endless(&app, &ada).await;
    let path = format!("/api/v1/admin/users/{ada}");
    admin(&app, Method::PATCH, &path, json!({ "disabled": true })).await.expect(200);
    let log = get(&app, "/api/v1/admin/audit?action=user_disabled").await;
    assert_eq!(log["items"][0]["detail"], "tasks cancelled: 1");

    admin(&app, Method::DELETE, &format!("{TASKS}/{task_of_bob}"), Value::Null).await.expect(200);
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(20)).await, "the task does not end");
    let cancelled_tasks = get(&app, &format!("{TASKS}?state=cancelled")).await;
    let ids: Vec<_> =
        cancelled_tasks["items"].as_array().expect("tasks").iter().map(|task| &task["id"]).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    assert!(ids.contains(&&json!(task_of_ada)));
}

#[tokio::test]
async fn a_request_that_waits_while_its_account_is_disabled_starts_no_task() {
    let app = TestApp::start().await;
    app.token_of_new_user("ada").await;
    let ada = id_of(&app, "ada").await;
    admin(&app, Method::PATCH, &format!("/api/v1/admin/users/{ada}"), json!({ "disabled": true }))
        .await
        .expect(200);
    let refusal = app.state.tasks.start(&ada, "stems", &json!({})).await;
    assert!(matches!(refusal, Err(ApiError::Unauthorized { code: "account_disabled", .. })), "{refusal:?}");
    assert_eq!(get(&app, TASKS).await["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_of_all_users_are_listed_and_cancelled() {
    let app = TestApp::start().await;
    app.token_of_new_user("ada").await;
    let owner = id_of(&app, "ada").await;
    let finished_task = start(&app, &owner, |_| Ok(json!(1))).await;
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(20)).await);
    let running_task = start_endless(&app, &owner).await;

    let listed_tasks = get(&app, TASKS).await;
    let items = listed_tasks["items"].as_array().expect("tasks");
    assert_eq!(items.len(), 2);
    assert_eq!((&items[0]["id"], &items[0]["owner"]), (&json!(running_task), &json!("ada")));
    assert_eq!((&items[0]["state"], &items[1]["state"]), (&json!("running"), &json!("succeeded")));
    assert_eq!(items[1]["owner_id"], json!(owner));
    let finished_tasks = get(&app, &format!("{TASKS}?state=succeeded")).await;
    assert_eq!(finished_tasks["items"].as_array().expect("tasks").len(), 1);
    let first = get(&app, &format!("{TASKS}?limit=1")).await;
    let cursor = first["next_cursor"].as_str().expect("more");
    assert_eq!(
        get(&app, &format!("{TASKS}?limit=1&cursor={cursor}")).await["items"][0]["id"],
        json!(finished_task)
    );

    let path = format!("{TASKS}/{running_task}");
    assert_eq!(admin(&app, Method::DELETE, &path, Value::Null).await.expect(200)["owner"], "ada");
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(20)).await, "the task does not end");
    assert_eq!(get(&app, &format!("{TASKS}?state=cancelled")).await["items"][0]["id"], json!(running_task));
    let log = get(&app, "/api/v1/admin/audit?action=task_cancelled").await;
    assert_eq!((&log["items"][0]["target"], &log["items"][0]["actor"]), (&json!("ada"), &json!("admin")));

    let nobody = admin(&app, Method::DELETE, &format!("{TASKS}/nobody"), Value::Null).await;
    nobody.problem(404, "not_found");
    let bad_answer = admin(&app, Method::GET, &format!("{TASKS}?state=asleep"), Value::Null).await;
    bad_answer.problem(400, "bad_query");
}
