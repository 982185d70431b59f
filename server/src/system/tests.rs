//! Version, runtime and the log's end: what they say, and to whom.

use std::io::Write as _;

use axum::http::Method;

use crate::log_tail::LogTail;
use crate::test_app::TestApp;

#[tokio::test]
async fn anybody_may_know_the_version() {
    let app = TestApp::start().await;
    let said = app.remote(Method::GET, "/api/v1/system/version").send().await.expect(200);
    assert_eq!(said["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        (&said["api_version"], &said["schema_version"]),
        (&"v1".into(), &schemas::SCHEMA_VERSION.into())
    );
}

#[tokio::test]
async fn users_may_know_what_it_runs_on() {
    let app = TestApp::start().await;
    let path = "/api/v1/system/runtime";
    app.remote(Method::GET, path).send().await.problem(401, "token_missing");
    let ada = app.token_of_new_user("ada").await;
    let said = app.remote(Method::GET, path).token(&ada).send().await.expect(200);
    assert_eq!((&said["environment"], &said["blob_store"]), (&"standalone".into(), &"folder".into()));
    let expected = if said["database"] == "sqlite" { "threads" } else { "queue" };
    assert_eq!(said["tasks"], expected);
    assert_eq!(said["database_form"], crate::db::newest_form());
    assert!(said["uptime_secs"].as_u64().is_some_and(|secs| secs < 3600), "{said}");
    assert!(said["started_at"].as_str().is_some_and(|text| text.starts_with("20")), "{said}");
    // Nothing of where things are.
    assert!(!said.to_string().contains('/'), "{said}");
}

#[tokio::test]
async fn administrators_read_the_logs_end() {
    let app = TestApp::start().await;
    let path = "/api/v1/system/log";
    app.remote(Method::GET, path).send().await.problem(401, "token_missing");
    let ada = app.token_of_new_user("ada").await;
    app.remote(Method::GET, path).token(&ada).send().await.problem(403, "admin_only");
    let mut tail = LogTail::of_process();
    for level in ["INFO", "WARN", "ERROR"] {
        let line = format!("{{\"level\":\"{level}\",\"message\":\"of this very test, Bearer abc\"}}\n");
        tail.write_all(line.as_bytes()).expect("keeps");
    }
    let levels = async |query: &str| -> Vec<String> {
        let said = app.local(Method::GET, &format!("{path}{query}")).send().await.expect(200);
        let lines = said["lines"].as_array().expect("lines").iter();
        lines
            .filter(|line| line["message"] == "of this very test, Bearer (hidden)")
            .map(|line| line["level"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(levels("?limit=1000").await, ["INFO", "WARN", "ERROR"]);
    assert_eq!(levels("?limit=1000&level=warn").await, ["WARN", "ERROR"]);
    for wrong in ["?limit=0", "?limit=1001", "?level=loud"] {
        app.local(Method::GET, &format!("{path}{wrong}")).send().await.problem(400, "bad_query");
    }
}
