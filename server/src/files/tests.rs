//! Tests of helper processes and saved files through the real router.

use std::fs;
use std::path::PathBuf;

use axum::body::{Body, Bytes};
use axum::http::Method;
use futures_util::stream;
use serde_json::json;

use crate::test_app::{Answer, TestApp};

const PROCESSES: &str = "/api/v1/files/processes";

struct Desktop {
    app: TestApp,
    documents: PathBuf,
    _folder: tempfile::TempDir,
}

impl Desktop {
    async fn start(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let documents = folder.path().join("Documents/Songs");
        let text = documents.to_string_lossy().into_owned();
        let defaults = [("SF_DOCUMENTS_DIR", text.as_str())];
        Self { app: TestApp::with(&[&defaults[..], settings].concat()).await, documents, _folder: folder }
    }

    async fn save(&self, name: &str, body: impl Into<Body>) -> Answer {
        let call = self.app.local(Method::POST, &format!("/api/v1/files/save?name={name}"));
        call.raw("application/octet-stream", body).send().await
    }

    fn names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.documents) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

#[tokio::test]
async fn a_saved_file_never_overwrites_another() {
    let desktop = Desktop::start(&[]).await;
    let first = desktop.save("S%C3%B6ng.wav", "one").await.expect(201);
    assert_eq!((&first["name"], &first["size_bytes"]), (&json!("Söng.wav"), &json!(3)));
    assert_eq!(first["path"], json!(desktop.documents.join("Söng.wav")));
    let second = desktop.save("S%C3%B6ng.wav", "another").await.expect(201);
    assert_eq!(second["name"], "Söng (2).wav");
    assert_eq!(desktop.save("S%C3%B6ng.wav", "").await.expect(201)["name"], "Söng (3).wav");
    assert_eq!(desktop.names(), ["Söng (2).wav", "Söng (3).wav", "Söng.wav"]);
    let read_text = |name: &str| fs::read_to_string(desktop.documents.join(name)).expect("reads");
    assert_eq!((read_text("Söng.wav"), read_text("Söng (2).wav")), ("one".to_owned(), "another".to_owned()));

    let answers = futures_util::future::join_all((0..8).map(|_| desktop.save("Take.zip", "x"))).await;
    let mut names: Vec<String> = answers
        .iter()
        .map(|answer| answer.expect(201)["name"].as_str().expect("a name").to_owned())
        .collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 8, "{names:?}");
}

#[tokio::test]
async fn no_name_saves_a_file_outside_the_folder() {
    let desktop = Desktop::start(&[]).await;
    for name in ["..%2F..%2Fevil.txt", "%2Fetc%2Fpasswd", "..%5C..%5Cevil.txt", ".bashrc"] {
        let saved_file = desktop.save(name, "x").await.expect(201);
        let path = PathBuf::from(saved_file["path"].as_str().expect("a path"));
        assert_eq!(path.parent(), Some(desktop.documents.as_path()), "{name}");
    }
    // A link in the folder counts as an existing name.
    let outside = desktop.documents.parent().expect("a folder").join("outside.txt");
    std::os::unix::fs::symlink(&outside, desktop.documents.join("link.txt")).expect("links");
    assert_eq!(desktop.save("link.txt", "x").await.expect(201)["name"], "link (2).txt");
    assert!(!outside.exists());
    for name in ["", "..", "%20"] {
        desktop.save(name, "x").await.problem(400, "bad_name");
    }
    desktop.app.local(Method::POST, "/api/v1/files/save").send().await.problem(400, "bad_query");
}

#[tokio::test]
async fn an_incomplete_file_is_not_saved() {
    let desktop = Desktop::start(&[("SF_UPLOAD_MAX_BYTES", "2000")]).await;
    let detail = desktop.save("Large.wav", vec![0; 2_001]).await.problem(413, "too_large");
    assert!(detail.contains("2000"), "{detail}");
    let chunks = (0..30).map(|_| Ok::<_, std::io::Error>(Bytes::from(vec![0; 100])));
    desktop.save("Large.wav", Body::from_stream(stream::iter(chunks))).await.problem(413, "too_large");
    let broken_body = stream::iter([Ok(Bytes::from("half")), Err(std::io::Error::other("gone"))]);
    desktop.save("Half.wav", Body::from_stream(broken_body)).await.problem(408, "body_incomplete");
    assert_eq!(desktop.names(), [""; 0]);
}

#[tokio::test]
async fn a_server_has_no_documents_folder() {
    let app = TestApp::with(&[
        ("SF_ENVIRONMENT", "container"),
        ("SF_JWT_SECRET", "0123456789abcdef0123456789abcdef"),
        ("SF_DOCUMENTS_DIR", "/nowhere"),
        ("SF_TRUST_LOCAL", "on"),
    ])
    .await;
    let call = app.local(Method::POST, "/api/v1/files/save?name=x.wav").raw("audio/wav", "x");
    let detail = call.send().await.problem(501, "no_documents_folder");
    assert!(detail.contains("SF_DOCUMENTS_DIR"), "{detail}");
}

#[tokio::test]
async fn helpers_are_listed_and_ended() {
    let app = TestApp::start().await;
    let list = || app.local(Method::GET, PROCESSES).send();
    assert_eq!(list().await.expect(200)["items"], json!([]));
    let helper = app.state.helpers.register("decoder", 4_711);
    let listed_processes = list().await.expect(200);
    assert_eq!(
        (&listed_processes["items"][0]["pid"], &listed_processes["items"][0]["kind"]),
        (&json!(4_711), &json!("decoder"))
    );
    let path = format!("{PROCESSES}/{}", listed_processes["items"][0]["id"]);
    let end_answer = app.local(Method::DELETE, &path).send().await.expect(202);
    assert!(helper.is_to_end() && end_answer["ending"] == true, "{end_answer}");
    drop(helper);
    app.local(Method::DELETE, &path).send().await.problem(404, "not_found");
    app.local(Method::DELETE, &format!("{PROCESSES}/x")).send().await.problem(400, "bad_path");
    let log = app.local(Method::GET, "/api/v1/admin/audit?action=helper_ended").send().await.expect(200);
    assert_eq!(log["items"][0]["target"], "decoder 4711");
}

#[tokio::test]
async fn local_callers_can_end_helpers_and_api_keys_cannot() {
    let app = TestApp::start().await;
    let token = app.token_of_new_user("ada").await;
    let (users_key, admins_key) =
        (app.create_api_key(&token).await, app.create_api_key(&app.admin_token().await).await);
    let helper = app.state.helpers.register("decoder", 4_711);
    let listed_processes = app.local(Method::GET, PROCESSES).token(&token).send().await.expect(200);
    let path = format!("{PROCESSES}/{}", listed_processes["items"][0]["id"]);
    for key in [&users_key, &admins_key] {
        let call = app.local(Method::DELETE, &path).token(key);
        call.send().await.problem(403, "api_key_not_allowed");
    }
    assert!(!helper.is_to_end());
    app.local(Method::DELETE, &path).token(&token).send().await.expect(202);
    assert!(helper.is_to_end());
}

#[tokio::test]
async fn only_administrators_end_helpers_and_save_files() {
    let desktop = Desktop::start(&[]).await;
    let token = desktop.app.token_of_new_user("ada").await;
    let helper = desktop.app.state.helpers.register("decoder", 1);
    let path = format!("{PROCESSES}/{}", desktop.app.state.helpers.list()[0].id);
    for (method, path) in [
        (Method::GET, PROCESSES),
        (Method::DELETE, path.as_str()),
        (Method::POST, "/api/v1/files/save?name=x"),
    ] {
        let call = || desktop.app.remote(method.clone(), path).raw("application/octet-stream", "x");
        call().send().await.problem(401, "token_missing");
        call().token(&token).send().await.problem(403, "admin_only");
    }
    assert!(!helper.is_to_end());
    assert_eq!(desktop.names(), [""; 0]);
}
