//! Tests of the media types of uploads, and of names of formats in upper and lower case.

use axum::http::Method;
use serde_json::json;

use crate::audio::test_files::sine_wav;
use crate::audio::tests::{UPLOAD, with_form};
use crate::test_app::TestApp;

#[tokio::test]
async fn an_upload_with_another_media_type_gets_415() {
    let app = TestApp::start().await;
    let with_kind = async |path: &str, kind: &str| {
        let answer = app.local(Method::POST, path).raw(kind, "what it is").send().await;
        answer.problem(415, "unsupported_media_type")
    };
    for path in [UPLOAD, "/api/v1/plugins/soundfonts/upload"] {
        for kind in ["text/plain", "application/json", "audio/wav", "multipart/mixed; boundary=b"] {
            let detail = with_kind(path, kind).await;
            assert!(detail.contains("`multipart/form-data`"), "{path}: {detail}");
        }
        let answer = app.local(Method::POST, path).send().await;
        assert!(answer.problem(415, "unsupported_media_type").contains("no Content-Type"), "{path}");
        // This form has no boundary.
        app.local(Method::POST, path).raw("Multipart/Form-Data", "b").send().await.problem(400, "bad_form");
    }
    for path in ["/api/v1/audio/reference", "/api/v1/multitrack/midi/import", "/api/v1/projects/import"] {
        for kind in ["text/plain", "image/png"] {
            with_kind(path, kind).await;
        }
    }
    let upload = app.local(Method::POST, "/api/v1/audio/uploads").header("tus-resumable", "1.0.0");
    let upload = upload.header("upload-length", "20").send().await;
    let part = |kind: &str| {
        let part = app.local(Method::PATCH, upload.header("location")).header("tus-resumable", "1.0.0");
        part.header("upload-offset", "0").raw(kind, "123456789")
    };
    part("audio/wav").send().await.problem(415, "unsupported_media_type");
    let offset_octets = "Application/Offset+Octet-Stream; x=1";
    let compressed_call = part(offset_octets).header("content-encoding", "gzip").send().await;
    assert!(compressed_call.problem(415, "unsupported_media_type").contains("`gzip`"));
    assert_eq!(part(offset_octets).send().await.status, 204);
}

#[tokio::test]
async fn saving_a_file_requires_a_binary_body() {
    let folder = tempfile::tempdir().expect("a folder");
    let documents = folder.path().join("Documents");
    let app = TestApp::with(&[("SF_DOCUMENTS_DIR", documents.to_str().expect("text"))]).await;
    let save = || app.local(Method::POST, "/api/v1/files/save?name=Song.wav");
    for kind in ["multipart/form-data; boundary=b", "application/x-www-form-urlencoded", "application/json"] {
        let detail = save().raw(kind, "a body").send().await.problem(415, "unsupported_media_type");
        assert!(detail.contains("`application/octet-stream`"), "{kind}: {detail}");
    }
    let compressed_call = save().raw("application/octet-stream", "a body").header("content-encoding", "gzip");
    compressed_call.send().await.problem(415, "unsupported_media_type");
    assert!(!documents.exists());
    for kind in ["Application/Octet-Stream", ""] {
        save().raw(kind, "a body").send().await.expect(201);
    }
    save()
        .raw("application/octet-stream", "a body")
        .header("content-encoding", "identity")
        .send()
        .await
        .expect(201);
}

#[tokio::test]
async fn uploads_with_a_content_encoding_get_415() {
    let app = TestApp::start().await;
    for (path, kind) in [
        (UPLOAD, "multipart/form-data; boundary=b"),
        ("/api/v1/plugins/soundfonts/upload", "multipart/form-data; boundary=b"),
        ("/api/v1/audio/reference", "multipart/form-data; boundary=b"),
        ("/api/v1/multitrack/midi/import", "multipart/form-data; boundary=b"),
        ("/api/v1/multitrack/midi/import", "audio/midi"),
        ("/api/v1/projects/import", "application/zip"),
        ("/api/v1/auth/login", "application/x-www-form-urlencoded"),
    ] {
        let call = app.local(Method::POST, path).raw(kind, "--b--").header("content-encoding", "gzip");
        let detail = call.send().await.problem(415, "unsupported_media_type");
        assert!(detail.contains("Content-Encoding"), "{path}: {detail}");
    }
}

#[tokio::test]
async fn formats_are_read_in_any_case() {
    let app = TestApp::start().await;
    let song = json!({ "schema_version": 1, "project_id": "song", "name": "One", "tracks": [] });
    app.local(Method::POST, "/api/v1/projects").json(&song).send().await.expect(201);
    let sound = sine_wav(440.0, 48_000, 0.1);
    let uploading = app.local(Method::POST, UPLOAD);
    let id = with_form(uploading, &[("a.wav", &sound)]).send().await.expect(201)["files"][0]["id"].clone();
    let id = id.as_str().expect("an id");
    let get = async |path: &str| app.local(Method::GET, &format!("/api/v1/audio/{id}/{path}")).send().await;
    assert_eq!(get("file?format=WAV32F").await.bytes, get("file?format=wav32f").await.bytes);
    assert_eq!(get("peaks?format=JSON").await.expect(200), get("peaks?format=json").await.expect(200));
    assert_eq!(get("peaks?format=Dat").await.status, 200);
    get("file?format=mp3").await.problem(400, "bad_query");
    let post = async |path: &str, body| app.local(Method::POST, path).json(&body).send().await;
    for bit_depth in ["PCM16", "Pcm24", "Float32"] {
        let render = json!({ "project_id": "song", "format": "WAV", "bit_depth": bit_depth, "tail_secs": 0 });
        let status = post("/api/v1/plugins/render", render).await.status.as_u16();
        assert!(matches!(status, 200 | 422), "{bit_depth}: {status}");
        let mix = json!({ "project_id": "song", "bit_depth": bit_depth });
        post("/api/v1/multitrack/mixdown", mix).await.expect(202);
    }
    let mix = json!({ "project_id": "song", "bit_depth": "PCM12" });
    post("/api/v1/multitrack/mixdown", mix).await.problem(400, "unexpected_json");
}
