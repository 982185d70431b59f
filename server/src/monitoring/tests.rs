//! Tests of the values of the metrics, and of access to them.

use std::time::Duration;

use axum::http::Method;
use serde_json::json;

use crate::test_app::{Answer, TestApp};

fn text(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.bytes));
    assert!(answer.header("content-type").starts_with("application/openmetrics-text"));
    let text = String::from_utf8(answer.bytes.clone()).expect("text");
    assert!(text.ends_with("# EOF\n"));
    text
}

/// Returns the value of the metric whose line starts with `prefix`, which is its name with its
/// labels.
#[track_caller]
fn value(text: &str, prefix: &str) -> f64 {
    let number = text.lines().find_map(|line| line.strip_prefix(prefix)?.trim().parse().ok());
    number.unwrap_or_else(|| panic!("no line `{prefix}` in\n{text}"))
}

#[tokio::test]
async fn requests_are_counted_by_route() {
    let app = TestApp::start().await;
    let body = json!({ "name": "A secret song", "project_id": "secret-song", "tracks": [] });
    app.local(Method::POST, "/api/v1/projects").json(&body).send().await.expect(201);
    for _ in 0..3 {
        app.local(Method::GET, "/api/v1/projects/secret-song").send().await.expect(200);
    }
    app.local(Method::GET, "/api/v1/projects/secret-song?token=hidden").send().await.expect(400);
    app.local(Method::GET, "/api/v1/projects/none").send().await.problem(404, "not_found");
    app.local(Method::GET, "/nowhere/secret-path").send().await.expect(404);
    let text = text(&app.local(Method::GET, "/metrics").send().await);
    let metric = |method: &str, route: &str, status: u16| {
        format!(
            "songfoundry_http_requests_total{{method=\"{method}\",route=\"{route}\",status=\"{status}\"}} "
        )
    };
    assert_eq!(value(&text, &metric("GET", "/api/v1/projects/{id}", 200)), 3.0);
    assert_eq!(value(&text, &metric("GET", "/api/v1/projects/{id}", 404)), 1.0);
    assert_eq!(value(&text, &metric("GET", "/api/v1/projects/{id}", 400)), 1.0);
    assert_eq!(value(&text, &metric("POST", "/api/v1/projects", 201)), 1.0);
    assert_eq!(value(&text, &metric("GET", "(page)", 404)), 1.0);
    let count = "songfoundry_http_request_seconds_count{method=\"GET\",route=\"/api/v1/projects/{id}\"} ";
    assert_eq!(value(&text, count), 5.0);
    // Metrics contain no ids, paths or queries.
    assert!(!text.contains("secret") && !text.contains("hidden"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_and_renders_are_counted() {
    let app = TestApp::start().await;
    let item = json!({"type": "midi", "id": "m", "start_tick": 0, "length_ticks": 9_600, "notes": []});
    let track = json!({"id": "t", "name": "T", "kind": "instrument", "items": [item]});
    let body =
        json!({ "project": {"schema_version": 1, "project_id": "p", "tracks": [track]}, "tail_secs": 0.0 });
    app.local(Method::POST, "/api/v1/plugins/render").json(&body).send().await.expect(200);
    app.local(Method::POST, "/api/v1/plugins/render?async=true").json(&body).send().await.expect(202);
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(30)).await);
    let text = text(&app.local(Method::GET, "/metrics").send().await);
    assert_eq!(value(&text, "songfoundry_tasks_ended_total{kind=\"render\",state=\"succeeded\"} "), 1.0);
    assert_eq!(value(&text, "songfoundry_task_seconds_count{kind=\"render\"} "), 1.0);
    // Two renders of ten beats at 120 beats a minute, thus of 5 s each.
    assert_eq!(value(&text, "songfoundry_rendered_audio_seconds_total{kind=\"project\"} "), 10.0);
    assert!(value(&text, "songfoundry_render_seconds_total{kind=\"project\"} ") > 0.0);
    assert!(!text.contains("songfoundry_tasks{"), "no task waits or runs: {text}");
}

#[tokio::test]
async fn storage_and_connections_are_measured() {
    let app = TestApp::start().await;
    let text = text(&app.local(Method::GET, "/metrics").send().await);
    assert!(value(&text, "songfoundry_storage_bytes{kind=\"database\"} ") > 10_000.0);
    assert_eq!(value(&text, "songfoundry_storage_bytes{kind=\"audio\"} "), 0.0);
    assert!(value(&text, "songfoundry_disk_free_bytes ") > 0.0);
    assert_eq!(value(&text, "songfoundry_database_connections_max "), 8.0);
    let idle = value(&text, "songfoundry_database_connections{state=\"idle\"} ");
    let used_connections = value(&text, "songfoundry_database_connections{state=\"used\"} ");
    assert!((1.0..=8.0).contains(&(idle + used_connections)), "{idle} {used_connections}");
    assert!(value(&text, "songfoundry_start_time_seconds ") > 1.7e9);
    assert!(text.contains(concat!("songfoundry_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1")));
}

#[tokio::test]
async fn only_administrators_read_metrics_unless_they_are_open() {
    let app = TestApp::start().await;
    app.remote(Method::GET, "/metrics").send().await.problem(401, "token_missing");
    let ada = app.token_of_new_user("ada").await;
    app.remote(Method::GET, "/metrics").token(&ada).send().await.problem(403, "admin_only");
    let key = app.create_api_key(&app.admin_token().await).await;
    text(&app.remote(Method::GET, "/metrics").token(&key).send().await);

    let open_app = TestApp::with(&[("SF_METRICS", "open")]).await;
    text(&open_app.remote(Method::GET, "/metrics").send().await);
    let off = TestApp::with(&[("SF_METRICS", "off")]).await;
    off.local(Method::GET, "/metrics").send().await.problem(404, "metrics_off");
}
