//! Tests that `docs/api.md` lists exactly the requests that need no log-in.

use std::collections::BTreeSet;

use axum::http::Method;

use super::{document_of, operations};
use crate::test_app::TestApp;

const API: &str = include_str!("../../../../docs/api.md");
const HEADING: &str = "## Without a log-in\n";

/// Requests that the API's description does not contain.
const UNDESCRIBED: [&str; 8] = [
    "GET /",
    "GET /healthz",
    "GET /readyz",
    "GET /metrics",
    "GET /api/v1/openapi.json",
    "GET /api/docs/",
    "GET /api/operations",
    "GET /assets/index.js",
];

/// Returns the code spans in the first column of the table in `docs/api.md`, such as `GET
/// /healthz`.
fn listed_requests() -> BTreeSet<String> {
    let section = API.split(HEADING).nth(1).expect("the section of the list");
    let section = section.split("\n## ").next().expect("a section");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let code_spans = rows.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    code_spans.filter(|text| text.contains(" /")).map(str::to_owned).collect()
}

#[tokio::test]
async fn the_documentation_lists_all_public_requests() {
    let app = TestApp::start().await;
    let document = document_of(&app).await;
    let mut open_paths = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        let method: Method = method.to_uppercase().parse().expect("a method");
        let kinds = operation["requestBody"]["content"].as_object();
        let call = app.remote(method.clone(), &path.replace(['{', '}'], ""));
        let call = match kinds.and_then(|kinds| kinds.keys().next()) {
            Some(kind) if kind.starts_with("multipart/") => {
                call.raw("multipart/form-data; boundary=b", "--b--\r\n")
            }
            Some(kind) => call.raw(kind, "{}"),
            None => call,
        };
        if call.send().await.status != 401 {
            open_paths.insert(format!("{method} {path}"));
        }
    }
    assert!(open_paths.len() > 8, "{open_paths:?}");
    for request in UNDESCRIBED {
        let (method, path) = request.split_once(' ').expect("a method and a path");
        let call = app.remote(method.parse().expect("a method"), path);
        if call.send().await.status != 401 {
            open_paths.insert(request.replace("/assets/index.js", "/assets/…"));
        }
    }
    assert_eq!(listed_requests(), open_paths, "the table in docs/api.md differs from what the router allows");
}

#[tokio::test]
async fn the_description_can_be_restricted_to_users() {
    let app = TestApp::with(&[("SF_API_DOCS", "users")]).await;
    let token = app.token_of_new_user("ada").await;
    for path in [
        "/api/v1/openapi.json",
        "/api/operations",
        "/api/docs",
        "/api/docs/",
        "/api/docs/swagger-initializer.js",
        "/api/docs/no-such-file",
    ] {
        app.remote(Method::GET, path).send().await.problem(401, "token_missing");
        let refusal = app.remote(Method::GET, path).token("nonsense").send().await;
        refusal.problem(401, "token_invalid");
        for call in [app.remote(Method::GET, path).token(&token), app.local(Method::GET, path)] {
            let status = call.send().await.status.as_u16();
            let expected = if path.ends_with("no-such-file") { 404 } else { 200 };
            assert!(status == expected || status == 303, "{path}: {status}");
        }
    }
}
