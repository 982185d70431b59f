//! Tests of audio through the real router, with a real decoder process.

mod analysis;
mod deleted;
mod exports;
mod files;
mod peaks;
mod processing;
mod resumable;
mod undecoded;
mod uploads;
mod waiting;

use std::path::PathBuf;

use axum::http::Method;
use serde_json::Value;

use super::FOLDER;
use crate::test_app::{Answer, Call, TestApp};

pub(crate) const UPLOAD: &str = "/api/v1/audio/upload";
pub(super) const LIST: &str = "/api/v1/audio";

const BOUNDARY: &str = "-----------------------------9051914041544843365972754266";

/// Returns the body of a form with these files.
pub(super) fn form(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, bytes) in files {
        body.extend(
            format!(
                "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
                 Content-Type: application/octet-stream\r\n\r\n"
            )
            .bytes(),
        );
        body.extend_from_slice(bytes);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{BOUNDARY}--\r\n").bytes());
    body
}

/// Adds a form with these files to `call` as its body.
pub(crate) fn with_form<'a>(call: Call<'a>, files: &[(&str, &[u8])]) -> Call<'a> {
    call.raw(&format!("multipart/form-data; boundary={BOUNDARY}"), form(files))
}

/// Uploads files as the local administrator.
pub(super) async fn upload(app: &TestApp, files: &[(&str, &[u8])]) -> Answer {
    with_form(app.local(Method::POST, UPLOAD), files).send().await
}

/// Uploads one file, expects success, and returns its description.
pub(crate) async fn uploaded(app: &TestApp, name: &str, bytes: &[u8]) -> Value {
    upload(app, &[(name, bytes)]).await.expect(201)["files"][0].clone()
}

pub(super) async fn get(app: &TestApp, path: &str) -> Answer {
    app.local(Method::GET, path).send().await
}

/// Returns the sorted names of all files in the store's folder of audio files.
pub(super) fn stored_names(app: &TestApp) -> Vec<String> {
    let folder: PathBuf = app.state.config.storage.dir.join("blobs").join(FOLDER);
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
