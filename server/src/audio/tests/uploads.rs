//! Tests of uploads: storage, refusals and quotas.

use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use futures_util::stream;
use serde_json::json;

use super::{LIST, UPLOAD, form, get, stored_names, upload, uploaded, with_form};
use crate::audio::test_files::{FLAC, M4A, MP3, OGG, sine_wav};
use crate::test_app::TestApp;

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_stored_with_its_samples_and_peaks() {
    let app = TestApp::start().await;
    let bytes = sine_wav(440.0, 44_100, 1.0);
    let file = uploaded(&app, "Ton  A.wav", &bytes).await;
    for (field, expected) in [
        ("name", json!("Ton  A.wav")),
        ("media_type", json!("audio/wav")),
        ("container", json!("wave")),
        ("size_bytes", json!(bytes.len())),
        ("sample_rate_hz", json!(44_100)),
        ("source_channels", json!(1)),
        ("channels", json!(1)),
        ("frames", json!(44_100)),
        ("duration_secs", json!(1.0)),
        ("already_there", json!(false)),
        ("warnings", json!([])),
        ("tags", json!([])),
    ] {
        assert_eq!(file[field], expected, "{field}");
    }
    let hash = file["sha256"].as_str().expect("a hash");
    let expected = [format!("{hash}.original"), format!("{hash}.peaks"), format!("{hash}.wav")];
    assert_eq!(stored_names(&app), expected);
    let folder = app.state.config.storage.dir.join("blobs/audio");
    let on_disk: u64 = expected.iter().map(|name| std::fs::metadata(folder.join(name)).unwrap().len()).sum();
    assert_eq!(file["stored_bytes"], on_disk);
    let path = format!("{LIST}/{}", file["id"].as_str().expect("an id"));
    let mut described_file = get(&app, &path).await.expect(200);
    described_file["already_there"] = json!(false);
    assert_eq!(described_file, file);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_form_uploads_files_of_several_formats() {
    let app = TestApp::start().await;
    let wave = sine_wav(440.0, 48_000, 0.1);
    let files: [(&str, &[u8]); 6] = [
        ("a.wav", &wave),
        ("b.mp3", MP3),
        ("c.ogg", OGG),
        ("d.txt", b"no sound at all"),
        ("e.flac", FLAC),
        ("f.m4a", M4A),
    ];
    let answer = upload(&app, &files).await.expect(201);
    let kinds: Vec<&str> =
        answer["files"].as_array().unwrap().iter().map(|file| file["media_type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["audio/wav", "audio/mpeg", "audio/ogg", "audio/flac", "audio/mp4"]);
    assert_eq!(answer["refused"][0]["name"], "d.txt");
    assert_eq!(answer["refused"][0]["problem"]["status"], 415);
    assert_eq!(stored_names(&app).len(), 15);
}

#[tokio::test(flavor = "multi_thread")]
async fn identical_content_is_stored_once_for_all_users() {
    let app = TestApp::start().await;
    let bytes = sine_wav(440.0, 48_000, 0.1);
    let first = uploaded(&app, "first.wav", &bytes).await;
    let second_upload = uploaded(&app, "second.wav", &bytes).await;
    assert_eq!((&second_upload["id"], &second_upload["name"]), (&first["id"], &json!("first.wav")));
    assert_eq!(second_upload["already_there"], true);
    let token = app.token_of_new_user("other").await;
    let call = app.remote(Method::POST, UPLOAD).token(&token);
    let user_file = with_form(call, &[("theirs.wav", &bytes)]).send().await.expect(201)["files"][0].clone();
    assert_eq!((&user_file["sha256"], &user_file["already_there"]), (&first["sha256"], &json!(false)));
    assert_ne!(user_file["id"], first["id"]);
    assert_eq!(stored_names(&app).len(), 3);
    // The stored audio stays while any user has a file with the same bytes.
    for (call, expected) in [
        (app.local(Method::DELETE, &format!("{LIST}/{}", first["id"].as_str().unwrap())), 3),
        (
            app.remote(Method::DELETE, &format!("{LIST}/{}", user_file["id"].as_str().unwrap()))
                .token(&token),
            0,
        ),
    ] {
        call.send().await.expect(204);
        assert_eq!(stored_names(&app).len(), expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_uploads_of_one_file_store_it_once() {
    let app = TestApp::start().await;
    let bytes = sine_wav(440.0, 48_000, 0.5);
    let files = [("same.wav", bytes.as_slice())];
    let calls = (0..6).map(|_| upload(&app, &files));
    let mut ids = Vec::new();
    for answer in futures_util::future::join_all(calls).await {
        ids.push(answer.expect(201)["files"][0]["id"].clone());
    }
    ids.dedup();
    assert_eq!((ids.len(), stored_names(&app).len()), (1, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_file_is_named_and_not_stored() {
    let app = TestApp::start().await;
    let detail =
        upload(&app, &[("notes.txt", b"no sound at all")]).await.problem(415, "unsupported_media_type");
    assert!(
        detail.starts_with("`notes.txt` cannot be used: it is not a supported kind of audio file"),
        "{detail}"
    );
    let cut = &sine_wav(440.0, 48_000, 0.1)[..40];
    let detail = upload(&app, &[("cut.wav", cut)]).await.problem(422, "audio_damaged");
    assert!(detail.starts_with("`cut.wav` cannot be used: it "), "{detail}");
    let detail =
        upload(&app, &[("fast.wav", &sine_wav(440.0, 384_000, 0.1))]).await.problem(422, "audio_limit");
    assert!(detail.contains("384000 Hz"), "{detail}");
    assert_eq!(stored_names(&app), [""; 0]);
    assert_eq!(get(&app, LIST).await.expect(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_name_the_exceeded_limit() {
    let wave = sine_wav(440.0, 48_000, 1.0);
    let app = TestApp::with(&[("SF_UPLOAD_MAX_BYTES", "100000")]).await;
    let detail = upload(&app, &[("a.wav", &wave)]).await.problem(413, "too_large");
    assert!(detail.contains("100000 bytes"), "{detail}");
    // The limit also applies without a Content-Length.
    let pieces: Vec<_> = form(&[("a.wav", &wave)])
        .chunks(1_000)
        .map(|chunk| Ok::<_, std::io::Error>(chunk.to_vec()))
        .collect();
    let call = app.local(Method::POST, UPLOAD);
    let kind = format!("multipart/form-data; boundary={}", super::BOUNDARY);
    call.raw(&kind, Body::from_stream(stream::iter(pieces))).send().await.problem(413, "too_large");
    assert_eq!(stored_names(&app), [""; 0]);

    let app = TestApp::with(&[("SF_AUDIO_MAX_SECS", "1")]).await;
    let detail =
        upload(&app, &[("long.wav", &sine_wav(440.0, 8_000, 1.5))]).await.problem(422, "audio_limit");
    assert!(detail.contains("longer than 1 seconds"), "{detail}");
    assert_eq!(stored_names(&app), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_quota_counts_bytes_on_disk() {
    let app = TestApp::with(&[("SF_AUDIO_QUOTA_BYTES", "500000")]).await;
    // The file has 192 KB, and its decoded copy has the same size.
    let first = uploaded(&app, "a.wav", &sine_wav(440.0, 48_000, 1.0)).await;
    assert!(first["stored_bytes"].as_u64().unwrap() > 384_000);
    // The file would fit into the quota, but its decoded copy would not.
    let second = sine_wav(550.0, 48_000, 0.5);
    let detail = upload(&app, &[("b.wav", &second)]).await.problem(507, "quota_exceeded");
    assert!(detail.contains("500000 bytes") && detail.contains("request needs at least"), "{detail}");
    // This file alone exceeds the quota.
    upload(&app, &[("c.wav", &sine_wav(660.0, 48_000, 2.0))]).await.problem(507, "quota_exceeded");
    assert_eq!(stored_names(&app).len(), 3);
    // Other users have separate quotas. Deleting a file frees quota.
    let token = app.token_of_new_user("other").await;
    with_form(app.remote(Method::POST, UPLOAD).token(&token), &[("b.wav", &second)]).send().await.expect(201);
    app.local(Method::DELETE, &format!("{LIST}/{}", first["id"].as_str().unwrap())).send().await.expect(204);
    uploaded(&app, "b.wav", &second).await;
    // Uploading a file again needs no further quota.
    uploaded(&app, "again.wav", &second).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quota_of_a_user_replaces_the_default() {
    let app = TestApp::with(&[("SF_AUDIO_QUOTA_BYTES", "1000000000")]).await;
    let me = get(&app, "/api/v1/auth/me").await.expect(200);
    let path = format!("/api/v1/admin/users/{}", me["id"].as_str().unwrap());
    let quota = |bytes: serde_json::Value| {
        app.local(Method::PATCH, &path).json(&serde_json::json!({ "audio_quota_bytes": bytes })).send()
    };
    let sound = sine_wav(440.0, 48_000, 0.5);
    quota(100_000.into()).await.expect(200);
    let detail = upload(&app, &[("a.wav", &sound)]).await.problem(507, "quota_exceeded");
    assert!(detail.contains("100000 bytes"), "{detail}");
    quota(serde_json::Value::Null).await.expect(200);
    uploaded(&app, "a.wav", &sound).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_an_upload() {
    let app = TestApp::with(&[("SF_DISK_RESERVE_BYTES", "1125899906842624")]).await;
    upload(&app, &[("a.wav", &sine_wav(440.0, 48_000, 0.1))]).await.problem(507, "storage_full");
    assert_eq!(stored_names(&app), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_upload_stores_nothing() {
    let app = TestApp::start().await;
    let whole_form = form(&[("a.wav", &sine_wav(440.0, 48_000, 1.0))]);
    let kind = format!("multipart/form-data; boundary={}", super::BOUNDARY);
    let broken_body = stream::iter([Ok(whole_form[..100_000].to_vec()), Err(std::io::Error::other("gone"))]);
    let call = app.local(Method::POST, UPLOAD);
    call.raw(&kind, Body::from_stream(broken_body)).send().await.problem(408, "body_incomplete");
    let call = app.local(Method::POST, UPLOAD);
    call.raw(&kind, whole_form[..100_000].to_vec()).send().await.problem(400, "bad_form");
    // The thread that writes the file removes it, and may still be running.
    let is_removed = async {
        while !stored_names(&app).is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), is_removed).await.expect("the file is removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_without_files_are_refused() {
    let app = TestApp::start().await;
    let post = || app.local(Method::POST, UPLOAD);
    upload(&app, &[]).await.problem(400, "no_file");
    let field = format!(
        "--{0}\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\ny\r\n--{0}--\r\n",
        super::BOUNDARY
    );
    let kind = format!("multipart/form-data; boundary={}", super::BOUNDARY);
    post().raw(&kind, field).send().await.problem(400, "no_file");
    post().raw("audio/wav", "RIFF").send().await.problem(415, "unsupported_media_type");
    let many_files: Vec<(&str, &[u8])> = vec![("a.wav", b"x"); 101];
    upload(&app, &many_files).await.problem(400, "too_many_files");
    assert_eq!(stored_names(&app), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_asynchronous_upload_is_decoded_by_a_task() {
    let app = TestApp::start().await;
    let path = format!("{UPLOAD}?async=true");
    let call = with_form(app.local(Method::POST, &path), &[("a.wav", &sine_wav(440.0, 48_000, 0.5))]);
    let started = call.send().await.expect(202);
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(60)).await);
    let task = format!("/api/v1/tasks/{}", started["task_id"].as_str().expect("an id"));
    let task = get(&app, &task).await.expect(200);
    assert_eq!((&task["state"], &task["kind"]), (&json!("succeeded"), &json!("audio-upload")), "{task}");
    let id = task["result"]["files"][0]["id"].as_str().expect("an id");
    get(&app, &format!("{LIST}/{id}")).await.expect(200);

    let call = with_form(app.local(Method::POST, &path), &[("a.txt", b"no sound at all")]);
    let started = call.send().await.expect(202);
    assert!(app.state.tasks.wait_until_drained(Duration::from_secs(60)).await);
    let task = format!("/api/v1/tasks/{}", started["task_id"].as_str().expect("an id"));
    let task = get(&app, &task).await.expect(200);
    assert_eq!((&task["state"], &task["error"]["status"]), (&json!("failed"), &json!(415)), "{task}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_needs_a_log_in() {
    let app = TestApp::start().await;
    let wave = sine_wav(440.0, 48_000, 0.1);
    with_form(app.remote(Method::POST, UPLOAD), &[("a.wav", &wave)])
        .send()
        .await
        .problem(401, "token_missing");
    assert_eq!(stored_names(&app), [""; 0]);
    let container = TestApp::container().await;
    with_form(container.remote(Method::POST, UPLOAD), &[("a.wav", &wave)])
        .send()
        .await
        .problem(401, "token_missing");
    let token = container.token_of_new_user("user").await;
    let call = container.remote(Method::POST, UPLOAD).token(&token);
    with_form(call, &[("a.wav", &wave)]).send().await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wav_file_with_a_wrong_data_size_is_read_to_its_end() {
    let app = TestApp::start().await;
    let mut bytes = sine_wav(440.0, 48_000, 0.1);
    let data = bytes.windows(4).position(|four| four == b"data").expect("samples");
    for wrong_size in [0x7FFF_FFFF_u32, 0xFFFF_FFF0] {
        bytes[data + 4..data + 8].copy_from_slice(&wrong_size.to_le_bytes());
        let file = uploaded(&app, "a.wav", &bytes).await;
        assert_eq!((&file["frames"], file["warnings"].as_array().map(Vec::len)), (&json!(4_800), Some(1)));
    }
}
