//! Tests tasks after the clock of the system was set back.

use super::*;

/// Time by which the clock is set back, in milliseconds.
const DAY_MS: i64 = 86_400_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_was_set_back_does_not_delay_tasks() {
    let app = TestApp::with(&[("SF_TASK_RETRY_SECS", "3600"), ("SF_TASK_LOST_AFTER_SECS", "3")]).await;
    let owner = owner(&app).await;
    let move_to_future = async |column: &'static str, id: &str| {
        let change = format!("UPDATE tasks SET {column} = $1 WHERE id = $2");
        let later_ms = crate::clock::now_unix_ms() + DAY_MS;
        let change = sqlx::query(sqlx::AssertSqlSafe(change)).bind(later_ms).bind(id);
        change.execute(&app.state.db).await.expect("a row");
    };
    let attempts = AtomicUsize::new(0);
    let retried = start(&app, &owner, move |_| match attempts.fetch_add(1, Ordering::Relaxed) {
        0 => Err(ApiError::internal(anyhow::anyhow!("the disk hiccups"))),
        _ => Ok(json!("at last")),
    })
    .await;
    let failures = async || -> i64 {
        let query = sqlx::query_scalar("SELECT failures FROM tasks WHERE id = $1").bind(&retried);
        query.fetch_one(&app.state.db).await.expect("a row")
    };
    while failures().await == 0 {
        tokio::task::yield_now().await;
    }
    move_to_future("due_ms", &retried).await;
    // The process of this task has ended, and the cancellation of the task was requested.
    insert(&app, &owner, "lost", "queued").await;
    move_to_future("alive_until_ms", "lost").await;
    sqlx::query("UPDATE tasks SET state = 'running', cancel_requested = 1 WHERE id = 'lost'")
        .execute(&app.state.db)
        .await
        .expect("a row");
    let task = wait_for_end(&app, &retried).await;
    assert_eq!((&task["state"], &task["result"]), (&json!("succeeded"), &json!("at last")));
    assert_eq!(read(&app, "lost").await["state"], "cancelled");
}
