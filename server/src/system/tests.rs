//! Tests the version, the runtime and the last lines of the log, and which callers may read them.

use std::io::Write as _;

use axum::http::Method;

use crate::log_tail::LogTail;
use crate::test_app::TestApp;

#[tokio::test]
async fn the_version_is_public() {
    let app = TestApp::start().await;
    let answer = app.remote(Method::GET, "/api/v1/system/version").send().await.expect(200);
    assert_eq!(answer["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        (&answer["api_version"], &answer["schema_version"]),
        (&"v1".into(), &schemas::SCHEMA_VERSION.into())
    );
}

#[tokio::test]
async fn only_users_can_read_the_runtime() {
    let app = TestApp::start().await;
    let path = "/api/v1/system/runtime";
    app.remote(Method::GET, path).send().await.problem(401, "token_missing");
    let ada = app.token_of_new_user("ada").await;
    let answer = app.remote(Method::GET, path).token(&ada).send().await.expect(200);
    assert_eq!((&answer["environment"], &answer["blob_store"]), (&"standalone".into(), &"folder".into()));
    let expected = if answer["database"] == "sqlite" { "threads" } else { "queue" };
    assert_eq!(answer["tasks"], expected);
    assert_eq!(answer["database_form"], crate::db::newest_schema_version());
    assert!(answer["uptime_secs"].as_u64().is_some_and(|secs| secs < 3600), "{answer}");
    assert!(answer["started_at"].as_str().is_some_and(|text| text.starts_with("20")), "{answer}");
    // The answer contains no paths.
    assert!(!answer.to_string().contains('/'), "{answer}");
}

#[tokio::test]
async fn only_administrators_can_read_the_log() {
    let app = TestApp::start().await;
    let path = "/api/v1/system/log";
    app.remote(Method::GET, path).send().await.problem(401, "token_missing");
    let ada = app.token_of_new_user("ada").await;
    app.remote(Method::GET, path).token(&ada).send().await.problem(403, "admin_only");
    let mut tail = LogTail::of_process();
    for level in ["INFO", "WARN", "ERROR"] {
        let line = format!("{{\"level\":\"{level}\",\"message\":\"of this very test, Bearer abc\"}}\n");
        tail.write_all(line.as_bytes()).expect("writes");
    }
    let levels = async |query: &str| -> Vec<String> {
        let answer = app.local(Method::GET, &format!("{path}{query}")).send().await.expect(200);
        let lines = answer["lines"].as_array().expect("lines").iter();
        lines
            .filter(|line| line["message"] == "of this very test, Bearer (hidden)")
            .map(|line| line["level"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(levels("?limit=1000").await, ["INFO", "WARN", "ERROR"]);
    assert_eq!(levels("?limit=1000&level=warn").await, ["WARN", "ERROR"]);
    for wrong_query in ["?limit=0", "?limit=1001", "?level=loud"] {
        app.local(Method::GET, &format!("{path}{wrong_query}")).send().await.problem(400, "bad_query");
    }
}
