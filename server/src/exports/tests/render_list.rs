//! Tests of the list of renders.

use axum::http::Method;
use serde_json::{Value, json};

use super::super::render_files::FOLDER;
use crate::audio::test_files::sine_wav;
use crate::audio::tests::uploaded;
use crate::auth::{issue_link, management};
use crate::clock;
use crate::test_studio::{Studio, song};

/// Returns the ids of the listed renders.
async fn listed(studio: &Studio, query: &str) -> Vec<Value> {
    let list = studio.get(&format!("/plugins/renders{query}")).await.expect(200);
    list["items"].as_array().expect("a list").iter().map(|item| item["render_id"].clone()).collect()
}

#[tokio::test]
async fn renders_are_listed_with_their_receipts() {
    let studio = Studio::start().await;
    let body = json!({ "project": song(0, 4, json!([])), "tail_secs": 0, "metadata": { "title": "First" } });
    let first = studio.post("/plugins/render", &body).await.expect(200);
    let mut other = song(0, 4, json!([]));
    other["project_id"] = "other".into();
    let body = json!({ "project": other, "tail_secs": 0, "format": "flac" });
    let second = studio.post("/plugins/render", &body).await.expect(200);
    let file = uploaded(&studio.app, "tone.wav", &sine_wav(1_000.0, 44_100, 1.0)).await;
    let body = json!({ "file_id": file["id"], "format": "mp3" });
    let third = studio.post("/audio/export", &body).await.expect(200);

    let list = studio.get("/plugins/renders").await.expect(200);
    let items = list["items"].as_array().expect("a list");
    for (item, (answer, title, project)) in items.iter().zip([
        (&third, "tone", Value::Null),
        (&second, "S\u{f6}ng", "other".into()),
        (&first, "First", "song".into()),
    ]) {
        for field in
            ["render_id", "audio_url", "format", "bit_depth", "duration_secs", "lufs", "true_peak_db"]
        {
            assert_eq!(item[field], answer[field], "{field}");
        }
        assert_eq!((&item["title"], &item["project_id"]), (&title.into(), &project));
        let file = studio.app.local(Method::GET, item["audio_url"].as_str().expect("a path")).send().await;
        assert_eq!(item["size_bytes"], file.bytes.len());
        assert!(item["created_at"].as_str().expect("a time").starts_with("20"));
        let path = format!("/plugins/renders/{}", item["render_id"].as_str().expect("an id"));
        let mut of_file = answer.clone();
        of_file.as_object_mut().expect("an object").remove("more_files");
        assert_eq!(studio.get(&path).await.expect(200), of_file);
    }
    assert_eq!(items.len(), 3);
    assert_eq!(listed(&studio, "?project_id=song").await, [first["render_id"].clone()]);
    assert!(listed(&studio, "?project_id=none").await.is_empty());

    // Other users do not see these renders.
    let ada = studio.app.token_of_new_user("ada").await;
    let path = format!("/api/v1/plugins/renders/{}", first["render_id"].as_str().expect("an id"));
    studio.app.remote(Method::GET, &path).token(&ada).send().await.problem(404, "not_found");
    let list = studio.app.remote(Method::GET, "/api/v1/plugins/renders").token(&ada).send().await.expect(200);
    assert_eq!(list, json!({ "items": [] }));

    // A damaged description does not hide the others.
    let damaged_id = second["render_id"].as_str().expect("an id");
    let folder = studio.app.state.config.storage.dir.join("blobs").join(FOLDER);
    let files = std::fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file").path());
    let is_damaged =
        |path: &std::path::PathBuf| path.to_string_lossy().ends_with(&format!("{damaged_id}.json"));
    std::fs::write(files.into_iter().find(is_damaged).expect("a description"), "{").expect("writes");
    assert_eq!(listed(&studio, "").await, [third["render_id"].clone(), first["render_id"].clone()]);
    studio.app.local(Method::DELETE, &path).send().await.expect(204);
    assert_eq!(listed(&studio, "").await, [third["render_id"].clone()]);
    studio.app.local(Method::GET, &path).send().await.problem(404, "not_found");
}

#[tokio::test]
async fn a_link_leads_to_a_render_until_it_ends() {
    let studio = Studio::start().await;
    let app = &studio.app;
    let ada = app.token_of_new_user("ada").await;
    let render = async || {
        let body = json!({ "project": song(0, 4, json!([])), "tail_secs": 0 });
        let call = app.remote(Method::POST, "/api/v1/plugins/render").token(&ada).json(&body);
        call.send().await.expect(200)
    };
    let link = async |render: &Value, body: Value| {
        let path = format!("/api/v1/plugins/renders/{}/link", render["render_id"].as_str().expect("an id"));
        app.remote(Method::POST, &path).token(&ada).json(&body).send().await
    };
    let get = async |url: &str| app.remote(Method::GET, url).send().await;
    let render_answer = render().await;
    let created_link = link(&render_answer, json!({ "expires_secs": 3_600.0 })).await.expect(201);
    let url = created_link["url"].as_str().expect("a path");
    let shared_file = get(url).await;
    assert_eq!(shared_file.status, 200);
    assert!(shared_file.header("content-disposition").contains("attachment"));
    let owner_download = app
        .remote(Method::GET, render_answer["audio_url"].as_str().expect("a path"))
        .token(&ada)
        .send()
        .await;
    assert_eq!(shared_file.bytes, owner_download.bytes);

    // The token of a session or a changed token opens no link, and the token of a link starts no
    // session.
    let token = url.split_once('=').expect("a token").1;
    app.remote(Method::GET, "/api/v1/projects").token(token).send().await.problem(401, "token_invalid");
    for other in [&*ada, "", &token[1..]] {
        get(&format!("/api/v1/shared/render?token={other}")).await.problem(404, "link_ended");
    }
    let owner = management::user_named(&app.state.db, "ada").await.expect("an account");
    let id = render_answer["render_id"].as_str().expect("an id");
    let expired_link = issue_link(&app.state.tokens, &owner, id, clock::now_unix_secs() - 1).expect("signs");
    get(&format!("/api/v1/shared/render?token={expired_link}")).await.problem(404, "link_ended");
    for secs in [0.0, 59.0, 60.5, 7_776_001.0] {
        link(&render_answer, json!({ "expires_secs": secs })).await.problem(400, "bad_expiry");
    }
    link(&render_answer, json!({ "days": 1 })).await.problem(400, "unexpected_json");
    link(&json!({ "render_id": "none" }), json!({})).await.problem(404, "not_found");
    let bob = app.token_of_new_user("bob").await;
    let path =
        format!("/api/v1/plugins/renders/{}/link", render_answer["render_id"].as_str().expect("an id"));
    app.remote(Method::POST, &path).token(&bob).json(&json!({})).send().await.problem(404, "not_found");

    // A deletion of the render ends its links, and a log-out everywhere ends all links of the user.
    let second_render = render().await;
    let link_of_second_render = link(&second_render, json!({})).await.expect(201);
    let link_of_second_render = link_of_second_render["url"].as_str().expect("a path");
    let path = format!("/api/v1/plugins/renders/{}", render_answer["render_id"].as_str().expect("an id"));
    app.remote(Method::DELETE, &path).token(&ada).send().await.expect(204);
    get(url).await.problem(404, "not_found");
    assert_eq!(get(link_of_second_render).await.status, 200);
    app.remote(Method::POST, "/api/v1/auth/logout?everywhere=true").token(&ada).send().await.expect(204);
    get(link_of_second_render).await.problem(404, "link_ended");
}

#[tokio::test]
async fn a_render_is_measured_like_a_reference() {
    let studio = Studio::start().await;
    let file = uploaded(&studio.app, "tone.wav", &sine_wav(1_000.0, 44_100, 1.0)).await;
    let reference = studio.post("/audio/reference", &json!({ "audio_id": file["id"] })).await.expect(200);
    for format in ["flac", "mp3"] {
        let body = json!({ "file_id": file["id"], "format": format });
        let render = studio.post("/audio/export", &body).await.expect(200);
        let path = format!("/plugins/renders/{}/analyze", render["render_id"].as_str().expect("an id"));
        let analysis_answer = studio.post(&path, &json!({})).await.expect(200);
        assert_eq!(analysis_answer["name"], format!("tone.{format}"));
        // The noise of the dither raises the centroid a little.
        for (field, tolerance) in
            [("lufs", 0.01), ("loudness_range_lu", 0.01), ("spectral_centroid_hz", 50.0)]
        {
            let [found, expected] =
                [&analysis_answer, &reference].map(|answer| answer[field].as_f64().expect("a number"));
            assert!((found - expected).abs() < tolerance, "{field} of {format}: {found}, {expected}");
        }
        let [bands, expected_bands] = [&analysis_answer, &reference]
            .map(|answer| answer["third_octaves"].as_array().expect("bands").len());
        assert_eq!(bands, expected_bands);
        let ada = studio.app.token_of_new_user(&format!("ada-{format}")).await;
        let path = format!("/api/v1{path}");
        studio.app.remote(Method::POST, &path).token(&ada).send().await.problem(404, "not_found");
    }
    let body = json!({ "file_id": file["id"], "format": "opus" });
    let opus = studio.post("/audio/export", &body).await.expect(200);
    let path = format!("/plugins/renders/{}/analyze", opus["render_id"].as_str().expect("an id"));
    studio.post(&path, &json!({})).await.problem(415, "unsupported_media_type");
}

#[tokio::test]
async fn a_render_with_a_damaged_description_can_be_deleted() {
    let studio = Studio::start().await;
    let body = json!({ "project": song(0, 4, json!([])), "tail_secs": 0, "format": "flac" });
    let render = studio.post("/plugins/render", &body).await.expect(200);
    let path = format!("/plugins/renders/{}", render["render_id"].as_str().expect("an id"));
    let folder = studio.app.state.config.storage.dir.join("blobs").join(FOLDER);
    let files = || std::fs::read_dir(&folder).expect("a folder").map(|file| file.expect("a file").path());
    let description =
        files().find(|path| path.extension().is_some_and(|ext| ext == "json")).expect("a description");
    for text in ["", "null", "{\"title\": 5}"] {
        std::fs::write(&description, text).expect("writes");
        studio.get(&path).await.problem(422, "render_damaged");
        studio.get(&format!("{path}/file")).await.problem(422, "render_damaged");
        assert!(listed(&studio, "").await.is_empty());
    }
    studio.app.local(Method::DELETE, &format!("/api/v1{path}")).send().await.expect(204);
    assert_eq!(files().count(), 0);
}
