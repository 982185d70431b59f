//! Tests the folder dialog through the real router. Tests of the dialogs themselves are in
//! `pick_dir/picker_tests.rs`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use axum::http::Method;
use serde_json::{Value, json};

use crate::test_app::TestApp;

const PATH: &str = "/api/v1/plugins/pick-dir";

#[tokio::test]
async fn a_local_caller_chooses_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let bridge = folder.path().join("shell");
    // The script fails if it gets settings of the service in its environment.
    fs::write(&bridge, "#!/bin/sh\n[ -z \"$(env | grep ^SF_)\" ] && echo /usr\n").expect("writes");
    fs::set_permissions(&bridge, fs::Permissions::from_mode(0o700)).expect("makes the file executable");
    let app = TestApp::with(&[("SF_DIALOG_BRIDGE", &bridge.to_string_lossy())]).await;
    let answer = app.local(Method::POST, PATH).send().await.expect(200);
    assert_eq!(answer, json!({ "path": "/usr", "cancelled": false }));
    fs::write(&bridge, "#!/bin/sh\nexit 1\n").expect("writes");
    let answer = app.local(Method::POST, PATH).send().await.expect(200);
    assert_eq!(answer, json!({ "path": Value::Null, "cancelled": true }));
}

#[tokio::test]
async fn remote_callers_cannot_open_a_dialog() {
    let app = TestApp::start().await;
    app.remote(Method::POST, PATH).send().await.problem(403, "not_local");
    let token = app.admin_token().await;
    app.remote(Method::POST, PATH).token(&token).send().await.problem(403, "not_local");
    for (header, value) in [
        ("origin", "https://evil.example"),
        ("host", "evil.example"),
        ("x-forwarded-for", "127.0.0.1"),
        ("sec-fetch-site", "cross-site"),
    ] {
        app.local(Method::POST, PATH).header(header, value).send().await.problem(403, "not_local");
    }
    let without_local_trust = TestApp::with(&[("SF_TRUST_LOCAL", "off")]).await;
    without_local_trust.local(Method::POST, PATH).send().await.problem(403, "not_local");
}
