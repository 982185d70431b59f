//! Requests the web page through the real router.

use axum::http::Method;

use crate::test_app::TestApp;

async fn with_page() -> (tempfile::TempDir, TestApp) {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(dir.path().join("assets")).expect("a folder");
    std::fs::write(dir.path().join("index.html"), "<!doctype html><title>page</title>").expect("writes");
    std::fs::write(dir.path().join("assets/app.js"), "export {};\n".repeat(500)).expect("writes");
    std::fs::write(dir.path().join("assets/engine.wasm"), b"\0asm").expect("writes");
    let app = TestApp::with(&[("SF_WEB_DIR", &dir.path().to_string_lossy())]).await;
    (dir, app)
}

#[tokio::test]
async fn the_page_is_isolated_and_may_run_wasm() {
    let (_dir, app) = with_page().await;
    for path in ["/", "/index.html", "/assets/app.js", "/api/v1/system/capabilities", "/nowhere"] {
        let answer = app.remote(Method::GET, path).send().await;
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin", "{path}");
        assert_eq!(answer.header("cross-origin-embedder-policy"), "require-corp", "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        let policy = answer.header("content-security-policy");
        assert!(
            policy.contains("'wasm-unsafe-eval'") && policy.contains("worker-src 'self' blob:"),
            "{policy}"
        );
        assert!(!policy.contains("'unsafe-eval'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    }
    let answer = app.remote(Method::GET, "/").send().await;
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    assert!(String::from_utf8_lossy(&answer.bytes).contains("<title>page</title>"));
    assert_eq!(
        app.remote(Method::GET, "/assets/engine.wasm").send().await.header("content-type"),
        "application/wasm"
    );
}

#[tokio::test]
async fn urls_with_a_version_are_cached_as_immutable() {
    let (dir, app) = with_page().await;
    let versioned = app.remote(Method::GET, "/assets/app.js?v=1a2b").send().await;
    assert!(versioned.header("cache-control").contains("immutable"));
    for path in ["/", "/assets/app.js", "/assets/app.js?v=", "/assets/app.js?version=2"] {
        assert_eq!(app.remote(Method::GET, path).send().await.header("cache-control"), "no-cache", "{path}");
    }
    let etag = versioned.header("etag").to_owned();
    let conditional_answer =
        || app.remote(Method::GET, "/assets/app.js").header("if-none-match", &etag).send();
    let unchanged_answer = conditional_answer().await;
    assert_eq!((unchanged_answer.status.as_u16(), unchanged_answer.bytes.len()), (304, 0));
    std::fs::write(dir.path().join("assets/app.js"), "changed").expect("writes");
    assert_eq!(conditional_answer().await.status, 200);
}

#[tokio::test]
async fn scripts_are_compressed_if_the_client_accepts_it() {
    let (dir, app) = with_page().await;
    let plain_answer = app.remote(Method::GET, "/assets/app.js").send().await;
    let get = |accepted_encodings: &'static str| {
        app.remote(Method::GET, "/assets/app.js").header("accept-encoding", accepted_encodings).send()
    };
    let compressed_answer = get("gzip, br").await;
    assert_eq!(compressed_answer.header("content-encoding"), "gzip", "without a Brotli copy, gzip is used");
    assert!(compressed_answer.bytes.len() < plain_answer.bytes.len() / 4);

    std::fs::write(dir.path().join("assets/app.js.br"), "as made by the build").expect("writes");
    for (accepted_encodings, encoding) in
        [("gzip, br", "br"), ("br;q=0.5", "br"), ("gzip, br;q=0", "gzip"), ("gzip", "gzip"), ("x", "")]
    {
        let compressed_answer = get(accepted_encodings).await;
        assert_eq!(compressed_answer.header("content-encoding"), encoding, "{accepted_encodings}");
        assert_eq!(compressed_answer.bytes == b"as made by the build", encoding == "br");
        assert_eq!(compressed_answer.header("vary"), "accept-encoding");
    }
    // A compressed copy that is older than its file is ignored.
    let later_time = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    let file = std::fs::File::options().write(true).open(dir.path().join("assets/app.js")).expect("opens");
    file.set_modified(later_time).expect("sets the time");
    assert_eq!(get("gzip, br").await.header("content-encoding"), "gzip");
}

#[tokio::test]
async fn unknown_paths_are_answered_with_a_problem() {
    let (_dir, app) = with_page().await;
    for (method, path) in [
        (Method::GET, "/nowhere"),
        (Method::GET, "/assets/../../etc/passwd"),
        (Method::GET, "/%2e%2e/secret"),
        (Method::POST, "/"),
        (Method::GET, "/api"),
        (Method::GET, "/api/v1/nowhere"),
        (Method::GET, "/api/v2/projects"),
    ] {
        app.remote(method, path).send().await.problem(404, "no_such_path");
    }
    app.remote(Method::DELETE, "/api/v1/projects").send().await.problem(405, "method_not_allowed");
    app.remote(Method::POST, "/healthz").send().await.problem(405, "method_not_allowed");
    assert!(!app.remote(Method::PATCH, "/api/v1/projects/x").send().await.header("allow").is_empty());
}

#[tokio::test]
async fn a_missing_page_explains_how_to_build_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let app = TestApp::with(&[("SF_WEB_DIR", &dir.path().to_string_lossy())]).await;
    let answer = app.remote(Method::GET, "/").send().await;
    assert_eq!(answer.status, 404);
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    assert!(text.contains("npm run build") && text.contains("SF_WEB_DIR"), "{text}");
    app.remote(Method::GET, "/assets/app.js").send().await.problem(404, "no_such_path");
    app.remote(Method::GET, "/api/v1/system/capabilities").send().await.expect(200);
}
