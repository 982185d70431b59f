//! Tests that lists are paged, and that unchanged answers are not sent again.

use axum::http::Method;
use serde_json::{Value, json};

use crate::test_app::{Answer, TestApp};

async fn get(app: &TestApp, path: &str) -> Answer {
    app.local(Method::GET, path).send().await
}

/// Returns the entries of `field` in all pages of `path`, read in pages of two.
async fn paged(app: &TestApp, path: &str, field: &str) -> Vec<Value> {
    let mut listed_fields = Vec::new();
    let mut address = format!("{path}?limit=2");
    loop {
        let page = get(app, &address).await.expect(200);
        let entries = page[field].as_array().expect("entries");
        assert!((1..=2).contains(&entries.len()), "{address}: {page}");
        listed_fields.extend(entries.iter().cloned());
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        address = format!("{path}?limit=2&cursor={cursor}");
    }
    let mut list = get(app, path).await.expect(200);
    for entry in listed_fields.iter_mut().chain(list[field].as_array_mut().expect("entries")) {
        // Other programs change the free space of the disk, so it is not compared.
        if let Some(entry) = entry.as_object_mut() {
            entry.shift_remove("free_bytes");
        }
    }
    assert_eq!(&json!(listed_fields), &list[field], "{path}");
    assert_eq!(list["next_cursor"], Value::Null, "{path}");
    get(app, &format!("{path}?limit=0")).await.problem(400, "bad_query");
    get(app, &format!("{path}?cursor=nonsense")).await.problem(400, "bad_cursor");
    listed_fields
}

#[tokio::test]
async fn every_list_is_paged() {
    let folder = tempfile::tempdir().expect("a folder");
    let dirs = ["one", "two", "three"].map(|name| folder.path().join(name));
    for dir in &dirs {
        std::fs::create_dir(dir).expect("makes");
    }
    let media_dirs = std::env::join_paths(&dirs).expect("paths").into_string().expect("text");
    let app = TestApp::with(&[("SF_MEDIA_DIRS", &media_dirs)]).await;
    let song = json!({ "schema_version": 1, "project_id": "song", "name": "One", "tracks": [] });
    app.local(Method::POST, "/api/v1/projects").json(&song).send().await.expect(201);
    for number in 1..3 {
        let revision = format!("\"{number}\"");
        let saving = app.local(Method::PUT, "/api/v1/projects/song").header("if-match", &revision);
        saving.json(&song).send().await.expect(200);
        let key = json!({ "name": format!("key {number}") });
        app.local(Method::POST, "/api/v1/auth/api-keys").json(&key).send().await.expect(201);
    }
    app.local(Method::POST, "/api/v1/auth/api-keys")
        .json(&json!({ "name": "last" }))
        .send()
        .await
        .expect(201);
    for dir in &dirs {
        let body = json!({ "path": dir });
        app.local(Method::POST, "/api/v1/plugins/dirs").json(&body).send().await.expect(200);
    }
    let revisions = paged(&app, "/api/v1/projects/song/revisions", "items").await;
    assert_eq!(
        revisions.iter().map(|entry| entry["revision"].as_i64()).collect::<Vec<_>>(),
        [Some(3), Some(2), Some(1)]
    );
    assert_eq!(paged(&app, "/api/v1/auth/api-keys", "items").await.len(), 3);
    assert_eq!(paged(&app, "/api/v1/plugins/dirs", "plugin_dirs").await.len(), 3);
    assert_eq!(paged(&app, "/api/v1/media/drives", "items").await.len(), 3);
}

#[tokio::test]
async fn unchanged_answers_get_304() {
    let app = TestApp::start().await;
    let mut song = json!({ "schema_version": 1, "project_id": "song", "name": "One", "tracks": [] });
    app.local(Method::POST, "/api/v1/projects").json(&song).send().await.expect(201);
    let conditional_answer = async |path: &str, etag: &str| {
        app.local(Method::GET, path).header("if-none-match", etag).send().await
    };
    for path in [
        "/api/v1/plugins/available",
        "/api/v1/plugins/effects",
        "/api/v1/projects/song/raw",
        "/api/v1/projects/song/revisions/1/raw",
    ] {
        let answer = get(&app, path).await;
        answer.expect(200);
        let etag = answer.header("etag").to_owned();
        assert!(etag.starts_with('"'), "{path}: {etag:?}");
        let unchanged_answer = conditional_answer(path, &etag).await;
        assert_eq!((unchanged_answer.status.as_u16(), unchanged_answer.bytes.len()), (304, 0), "{path}");
        assert_eq!(unchanged_answer.header("etag"), etag, "{path}");
        assert_eq!(conditional_answer(path, "\"other\"").await.status, 200, "{path}");
    }
    song["name"] = "Two".into();
    let saving = app.local(Method::PUT, "/api/v1/projects/song").header("if-match", "\"1\"");
    saving.json(&song).send().await.expect(200);
    assert_eq!(conditional_answer("/api/v1/projects/song/raw", "\"1\"").await.expect(200)["name"], "Two");
    conditional_answer("/api/v1/projects/none/raw", "\"1\"").await.problem(404, "not_found");
}
