//! Tests projects through the real router, with every status that the routes document.

use axum::body::{Body, Bytes};
use axum::http::Method;
use serde_json::{Value, json};

use super::REVISIONS_KEPT;
use crate::test_app::{Answer, TestApp};

mod autosaves;
mod raw;

const LIST: &str = "/api/v1/projects";

fn project(id: &str, name: &str) -> Value {
    json!({ "schema_version": 1, "project_id": id, "name": name, "tracks": [] })
}

fn path(id: &str) -> String {
    format!("{LIST}/{id}")
}

async fn create(app: &TestApp, project: &Value) -> Answer {
    app.local(Method::POST, LIST).json(project).send().await
}

async fn save(app: &TestApp, id: &str, revision: i64, project: &Value) -> Answer {
    let call = app.local(Method::PUT, &path(id)).header("if-match", &format!("\"{revision}\""));
    call.json(project).send().await
}

async fn read(app: &TestApp, id: &str) -> Answer {
    app.local(Method::GET, &path(id)).send().await
}

#[tokio::test]
async fn a_project_is_created_read_saved_and_deleted() {
    let app = TestApp::start().await;
    let mut song = project("song", "One");
    song["tracks"] =
        json!([{ "id": "t1", "name": "Bass", "kind": "instrument", "items": [], "x_unknown": [1, 2.5] }]);
    song["client"] = json!({ "zoom": 1.25 });

    let answer = create(&app, &song).await;
    let body = answer.expect(201);
    assert_eq!((body["project_id"].as_str(), body["revision"].as_i64()), (Some("song"), Some(1)));
    assert!(body["updated_at"].as_str().is_some_and(|time| time.ends_with('Z')), "{body}");
    assert_eq!(answer.header("etag"), "\"1\"");
    assert_eq!(answer.header("location"), "/api/v1/projects/song");

    let answer = read(&app, "song").await;
    assert_eq!(answer.expect(200), song, "unknown fields are kept");
    assert_eq!(answer.header("etag"), "\"1\"");
    let call = app.local(Method::GET, &path("song")).header("if-none-match", "\"1\"");
    call.send().await.expect(304);

    song["name"] = "Two".into();
    let answer = save(&app, "song", 1, &song).await;
    assert_eq!(answer.expect(200)["revision"], 2);
    assert_eq!(answer.header("etag"), "\"2\"");
    let call = app.local(Method::GET, &path("song")).header("if-none-match", "\"1\"");
    assert_eq!(call.send().await.expect(200)["name"], "Two");

    app.local(Method::DELETE, &path("song")).send().await.expect(204);
    read(&app, "song").await.problem(404, "not_found");
    app.local(Method::DELETE, &path("song")).send().await.problem(404, "not_found");
    app.local(Method::GET, &format!("{LIST}/song/revisions")).send().await.problem(404, "not_found");
    save(&app, "song", 2, &song).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_stale_save_overwrites_nothing() {
    let app = TestApp::start().await;
    create(&app, &project("song", "One")).await.expect(201);
    save(&app, "song", 1, &project("song", "Two")).await.expect(200);
    let detail = save(&app, "song", 1, &project("song", "Lost")).await.problem(412, "stale_revision");
    assert!(detail.contains("revision 1") && detail.contains("revision 2"), "{detail}");
    save(&app, "song", 9, &project("song", "Lost")).await.problem(412, "stale_revision");
    assert_eq!(read(&app, "song").await.expect(200)["name"], "Two");

    let call = app.local(Method::PUT, &path("song")).json(&project("song", "Lost"));
    call.send().await.problem(428, "if_match_required");
    for value in ["*", "2", "\"two\"", "\"2\", \"3\""] {
        let call = app.local(Method::PUT, &path("song")).header("if-match", value);
        call.json(&project("song", "Lost")).send().await.problem(400, "bad_if_match");
    }
    assert_eq!(read(&app, "song").await.expect(200)["name"], "Two");
}

#[tokio::test]
async fn exactly_one_of_several_simultaneous_saves_succeeds() {
    let app = TestApp::start().await;
    create(&app, &project("song", "One")).await.expect(201);
    let names: Vec<Value> = (0..8).map(|number| project("song", &format!("Take {number}"))).collect();
    let answers = futures_util::future::join_all(names.iter().map(|song| save(&app, "song", 1, song))).await;
    let successful: Vec<usize> = (0..8).filter(|number| answers[*number].status == 200).collect();
    assert_eq!(successful.len(), 1, "{answers:?}");
    for (number, answer) in answers.iter().enumerate().filter(|(number, _)| *number != successful[0]) {
        assert_eq!(answer.status, 412, "{number}: {answer:?}");
    }
    assert_eq!(read(&app, "song").await.expect(200)["name"], names[successful[0]]["name"]);
}

#[tokio::test]
async fn a_project_with_more_than_a_thousand_effects_is_refused() {
    let app = TestApp::start().await;
    let effect = |number: usize| json!({ "id": format!("e{number}"), "type": "builtin", "name": "delay" });
    let song = |buses: usize, delays: usize| {
        let effects: Vec<Value> = (0..delays).map(effect).collect();
        let bus = |number: usize| json!({ "id": format!("b{number}"), "kind": "bus", "effects": effects });
        let mut song = project("song", "Many effects");
        song["tracks"] = (0..buses).map(bus).collect();
        song
    };
    create(&app, &song(20, 50)).await.expect(201);
    let many_songs = song(400, 16);
    for answer in [create(&app, &many_songs).await, save(&app, "song", 1, &many_songs).await] {
        answer.problem(400, "invalid_project");
        let errors = &answer.json()["errors"];
        let detail = errors[0]["detail"].as_str().expect("a reason");
        assert!(detail.contains("6400 effects") && detail.contains("1000"), "{errors}");
    }
    assert_eq!(read(&app, "song").await.expect(200), song(20, 50));
}

#[tokio::test]
async fn an_invalid_project_is_refused_with_the_paths_of_its_errors() {
    let app = TestApp::start().await;
    let mut song = project("song", "One");
    song["tracks"] = json!([{ "id": "t1", "kind": "instrument", "pan": 7, "items": [] }]);
    let answer = create(&app, &song).await;
    answer.problem(400, "invalid_project");
    let errors = answer.json()["errors"].clone();
    let pointers: Vec<&str> =
        errors.as_array().expect("a list").iter().filter_map(|error| error["pointer"].as_str()).collect();
    assert!(pointers.contains(&"/tracks/0/pan"), "{errors}");

    create(&app, &project("song", "One")).await.expect(201);
    save(&app, "song", 1, &song).await.problem(400, "invalid_project");
    assert_eq!(read(&app, "song").await.header("etag"), "\"1\"");

    let newer_project = json!({ "schema_version": 99, "project_id": "later", "tracks": [] });
    let answer = create(&app, &newer_project).await;
    let detail = answer.problem(400, "invalid_project");
    assert!(detail.contains("99"), "{detail}");
    assert_eq!(answer.json()["errors"][0]["pointer"], "/schema_version");
    for value in [json!([]), json!("song"), json!(null), json!(5)] {
        create(&app, &value).await.problem(400, "invalid_project");
    }
}

#[tokio::test]
async fn an_empty_or_missing_file_id_is_recovered_from_the_url() {
    let app = TestApp::start().await;
    let item = |id: Value| {
        let url = "/api/v1/audio/f1/file";
        json!({ "type": "audio", "id": "i", "start_tick": 0, "audio_file_url": url, "serverFileId": id })
    };
    let tracks = json!([{ "id": "t", "kind": "audio", "items": [item(json!("")), item(json!(null))] }]);
    create(&app, &json!({ "project_id": "p", "tracks": tracks })).await.expect(201);
    let items = read(&app, "p").await.expect(200)["tracks"][0]["items"].clone();
    for item in items.as_array().expect("items") {
        assert_eq!(
            (&item["server_file_id"], &item["source"]["server_file_id"]),
            (&json!("f1"), &json!("f1"))
        );
    }
}

#[tokio::test]
async fn a_missing_project_id_is_added_and_an_id_that_differs_from_the_path_is_refused() {
    let app = TestApp::start().await;
    let answer = create(&app, &json!({ "tracks": [] })).await;
    let body = answer.expect(201);
    let id = body["project_id"].as_str().expect("an id").to_owned();
    assert!(id.starts_with("temp_legacy_") && id.len() > 20, "{id}");
    assert_eq!(read(&app, &id).await.expect(200)["project_id"], id.as_str());
    // A save without an id applies to the project that the path names.
    save(&app, &id, 1, &json!({ "tracks": [], "name": "Named" })).await.expect(200);
    assert_eq!(read(&app, &id).await.expect(200)["project_id"], id.as_str());
    save(&app, &id, 2, &json!({ "tracks": [], "project_id": "" })).await.expect(200);
    assert_eq!(read(&app, &id).await.expect(200)["project_id"], id.as_str());
    save(&app, &id, 3, &project("other", "x")).await.problem(400, "project_id_mismatch");
    create(&app, &project("temp", "x")).await.problem(400, "project_id_reserved");
    create(&app, &project("../x", "x")).await.problem(400, "invalid_project");
    create(&app, &project("song", "x")).await.expect(201);
    let detail = create(&app, &project("song", "y")).await.problem(409, "project_exists");
    assert!(detail.contains("song"), "{detail}");
}

#[tokio::test]
async fn invalid_and_oversized_bodies_are_refused_with_a_fitting_status() {
    let app = TestApp::with(&[("SF_PROJECT_MAX_BYTES", "4096")]).await;
    let post = |body: Body| app.local(Method::POST, LIST).raw("application/json", body).send();

    post(Body::from("{\"tracks\": [")).await.problem(400, "malformed_json");
    post(Body::empty()).await.problem(400, "malformed_json");
    post(Body::from(&b"{\"name\": \"\xff\xfe\"}"[..])).await.problem(400, "malformed_json");
    post(Body::from("{\"tracks\": [], \"tempo_map\": [{\"tick\": 0, \"bpm\": 1e999}]}"))
        .await
        .problem(400, "malformed_json");

    let large_document = format!("{{\"name\": \"{}\"}}", "x".repeat(5000));
    let detail = post(Body::from(large_document.clone())).await.problem(413, "too_large");
    assert!(detail.contains("4096"), "{detail}");
    // The first body has no `Content-Length`; the second has a wrong one.
    let pieces = futures_util::stream::iter(
        large_document.into_bytes().chunks(100).map(Bytes::copy_from_slice).collect::<Vec<_>>(),
    );
    let stream = Body::from_stream(futures_util::StreamExt::map(pieces, Ok::<_, std::io::Error>));
    post(stream).await.problem(413, "too_large");
    let call = app.local(Method::POST, LIST).header("content-length", "99999999999");
    call.raw("application/json", "{}").send().await.problem(413, "too_large");
    let broken_body = futures_util::stream::iter([Ok("{\"tracks\""), Err(std::io::Error::other("gone"))]);
    post(Body::from_stream(broken_body)).await.problem(408, "body_incomplete");
}

#[tokio::test]
async fn projects_must_be_sent_as_json() {
    let app = TestApp::start().await;
    let body = json!({"schema_version": 1, "tracks": []}).to_string();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""] {
        for (method, path) in [
            (Method::POST, LIST),
            (Method::POST, "/api/v1/projects/upgrade"),
            (Method::PUT, "/api/v1/projects/demo"),
            (Method::PUT, "/api/v1/projects/temp"),
        ] {
            let call = app.local(method, path).header("if-match", "\"1\"").raw(kind, body.clone());
            let detail = call.send().await.problem(415, "unsupported_media_type");
            assert!(detail.contains("`application/json`"), "{detail}");
        }
    }
    let call = app
        .local(Method::POST, LIST)
        .header("content-encoding", "gzip")
        .raw("application/json", body.clone());
    let detail = call.send().await.problem(415, "unsupported_media_type");
    assert!(detail.contains("`gzip`"), "{detail}");
    for kind in ["application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.song+json"] {
        app.local(Method::POST, LIST).raw(kind, body.clone()).send().await.expect(201);
    }
}

#[tokio::test]
async fn deep_nesting_is_refused_without_a_crash() {
    let app = TestApp::start().await;
    for depth in [200, 100_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let body = format!("{{\"tracks\": [], \"client\": {deep}}}");
        let temp = format!("{{\"client_id\": \"w\", \"project\": {body}}}");
        let call = app.local(Method::POST, LIST).raw("application/json", body.clone());
        call.send().await.problem(400, "malformed_json");
        let call = app.local(Method::POST, "/api/v1/projects/upgrade").raw("application/json", body);
        call.send().await.problem(400, "malformed_json");
        let call = app.local(Method::PUT, "/api/v1/projects/temp").raw("application/json", temp);
        call.send().await.problem(400, "malformed_json");
    }
    // Nesting within the limit passes, both when the project is saved and when it is read.
    let deep = format!(
        "{{\"tracks\": [], \"project_id\": \"deep\", \"client\": {}{}}}",
        "[".repeat(120),
        "]".repeat(120)
    );
    app.local(Method::POST, LIST).raw("application/json", deep).send().await.expect(201);
    let copy = app.local(Method::POST, &format!("{LIST}/deep/duplicate")).send().await;
    copy.expect(201);
    read(&app, "deep").await.expect(200);
}

#[tokio::test]
async fn projects_are_listed_in_pages() {
    let app = TestApp::start().await;
    for number in 0..5 {
        create(&app, &project(&format!("p{number}"), &format!("Song {number}"))).await.expect(201);
    }
    save(&app, "p1", 1, &project("p1", "Song 1 again")).await.expect(200);
    let mut project_ids = Vec::new();
    let mut query = "?limit=2".to_owned();
    loop {
        let page = app.local(Method::GET, &format!("{LIST}{query}")).send().await.expect(200);
        let items = page["items"].as_array().expect("a list").clone();
        assert!(items.len() <= 2);
        project_ids.extend(items.iter().map(|item| item["project_id"].as_str().expect("an id").to_owned()));
        match page["next_cursor"].as_str() {
            Some(cursor) => query = format!("?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(project_ids, ["p1", "p4", "p3", "p2", "p0"]);
    let all_projects = app.local(Method::GET, LIST).send().await.expect(200);
    let first = &all_projects["items"][0];
    assert_eq!((&first["name"], &first["revision"]), (&json!("Song 1 again"), &json!(2)));
    assert!(first["size_bytes"].as_i64().is_some_and(|size| size > 50) && first["updated_at"].is_string());
    for query in ["?limit=0", "?limit=1000", "?limit=x"] {
        app.local(Method::GET, &format!("{LIST}{query}")).send().await.problem(400, "bad_query");
    }
    app.local(Method::GET, &format!("{LIST}?cursor=!")).send().await.problem(400, "bad_cursor");
}

#[tokio::test]
async fn the_last_fifty_revisions_are_kept_and_can_be_restored() {
    let app = TestApp::start().await;
    create(&app, &project("song", "Take 1")).await.expect(201);
    let last_revision = i64::from(REVISIONS_KEPT) + 5;
    for revision in 1..last_revision {
        save(&app, "song", revision, &project("song", &format!("Take {}", revision + 1))).await.expect(200);
    }
    let revisions = app.local(Method::GET, &format!("{LIST}/song/revisions")).send().await.expect(200);
    let numbers: Vec<i64> = revisions["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|revision| revision["revision"].as_i64())
        .collect();
    assert_eq!(numbers.len(), REVISIONS_KEPT as usize);
    assert_eq!((numbers[0], numbers[49]), (last_revision, 6));

    let restore =
        |revision: i64| app.local(Method::POST, &format!("{LIST}/song/revisions/{revision}/restore"));
    restore(5).send().await.problem(404, "not_found");
    restore(7).header("if-match", "\"3\"").send().await.problem(412, "stale_revision");
    let answer = restore(7).header("if-match", &format!("\"{last_revision}\"")).send().await;
    assert_eq!(answer.expect(200)["revision"], last_revision + 1);
    assert_eq!(answer.header("etag"), format!("\"{}\"", last_revision + 1));
    assert_eq!(read(&app, "song").await.expect(200)["name"], "Take 7");
    restore(8).send().await.expect(200);
    let call = app.local(Method::POST, &format!("{LIST}/song/revisions/x/restore"));
    call.send().await.problem(400, "bad_path");
}

#[tokio::test]
async fn a_copy_is_an_independent_project() {
    let app = TestApp::start().await;
    create(&app, &project("song", &"n".repeat(500))).await.expect(201);
    let answer = app.local(Method::POST, &format!("{LIST}/song/duplicate")).send().await;
    let id = answer.expect(201)["project_id"].as_str().expect("an id").to_owned();
    assert_eq!(answer.header("location"), path(&id));
    let copy = read(&app, &id).await.expect(200);
    assert_eq!(copy["project_id"], id.as_str());
    assert!(
        copy["name"].as_str().is_some_and(|name| name.ends_with(" (copy)") && name.chars().count() == 500)
    );
    assert_eq!(read(&app, "song").await.expect(200)["project_id"], "song");
    app.local(Method::POST, &format!("{LIST}/none/duplicate")).send().await.problem(404, "not_found");
}

#[tokio::test]
async fn an_unreadable_document_can_still_be_downloaded() {
    let app = TestApp::start().await;
    create(&app, &project("song", "One")).await.expect(201);
    for stored in ["{\"schema_version\": 99, \"tracks\": []}", "{\"tracks\": [", "5"] {
        sqlx::query("UPDATE project_revisions SET body = $1")
            .bind(stored)
            .execute(&app.state.db)
            .await
            .unwrap();
        let detail = read(&app, "song").await.problem(422, "project_unreadable");
        assert!(detail.contains("/raw"), "{detail}");
        let raw = app.local(Method::GET, &format!("{LIST}/song/raw")).send().await;
        assert_eq!((raw.status.as_u16(), raw.bytes.as_slice()), (200, stored.as_bytes()));
        assert!(raw.header("content-disposition").contains("song.json"));
    }
    app.local(Method::GET, &format!("{LIST}/none/raw")).send().await.problem(404, "not_found");
}

#[tokio::test]
async fn documents_of_older_versions_are_upgraded() {
    let app = TestApp::start().await;
    let old = json!({ "tracks": [{ "id": "t", "kind": "instrument", "synth_engine": null,
        "items": [{ "type": "section", "name": "no id", "start_tick": 0, "length_ticks": 960 }] }] });
    let new = app.local(Method::POST, "/api/v1/projects/upgrade").json(&old).send().await.expect(200);
    assert_eq!(new["schema_version"], 1);
    assert!(new["project_id"].as_str().is_some_and(|id| id.starts_with("temp_legacy_")));
    assert!(new["tracks"][0].get("synth_engine").is_none());
    assert_eq!(new["tracks"][0]["items"], json!([]));
    let call = app.local(Method::POST, "/api/v1/projects/upgrade").json(&json!([1]));
    call.send().await.problem(400, "invalid_project");
}

#[tokio::test]
async fn users_cannot_access_projects_of_other_users() {
    let app = TestApp::start().await;
    create(&app, &project("song", "The administrator's")).await.expect(201);
    let body = json!({ "client_id": "w", "project": project("song", "Draft") });
    app.local(Method::PUT, "/api/v1/projects/temp").json(&body).send().await.expect(200);
    let token = app.token_of_new_user("ada").await;
    let as_ada = |method: Method, path: &str| app.remote(method, path).token(&token);

    assert_eq!(as_ada(Method::GET, LIST).send().await.expect(200)["items"], json!([]));
    let song = project("song", "Ada's");
    as_ada(Method::GET, &path("song")).send().await.problem(404, "not_found");
    as_ada(Method::PUT, &path("song"))
        .header("if-match", "\"1\"")
        .json(&song)
        .send()
        .await
        .problem(404, "not_found");
    as_ada(Method::DELETE, &path("song")).send().await.problem(404, "not_found");
    for (method, tail) in [
        (Method::GET, "raw"),
        (Method::GET, "revisions"),
        (Method::POST, "revisions/1/restore"),
        (Method::POST, "duplicate"),
    ] {
        as_ada(method, &format!("{LIST}/song/{tail}")).send().await.problem(404, "not_found");
    }
    as_ada(Method::GET, "/api/v1/projects/temp").send().await.problem(404, "no_autosave");
    assert_eq!(
        as_ada(Method::GET, "/api/v1/projects/temp/revision").send().await.expect(200)["client_id"],
        json!(null)
    );

    // Both users may use the same id. Deleting one of the two projects leaves the other.
    as_ada(Method::POST, LIST).json(&song).send().await.expect(201);
    as_ada(Method::DELETE, &path("song")).send().await.expect(204);
    assert_eq!(read(&app, "song").await.expect(200)["name"], "The administrator's");
}

#[tokio::test]
async fn every_route_needs_a_user() {
    let app = TestApp::start().await;
    for (method, path) in [
        (Method::GET, "/api/v1/projects"),
        (Method::POST, "/api/v1/projects"),
        (Method::GET, "/api/v1/projects/x"),
        (Method::PUT, "/api/v1/projects/x"),
        (Method::DELETE, "/api/v1/projects/x"),
        (Method::GET, "/api/v1/projects/x/raw"),
        (Method::GET, "/api/v1/projects/x/revisions"),
        (Method::POST, "/api/v1/projects/x/revisions/1/restore"),
        (Method::POST, "/api/v1/projects/x/duplicate"),
        (Method::POST, "/api/v1/projects/upgrade"),
        (Method::GET, "/api/v1/projects/temp"),
        (Method::PUT, "/api/v1/projects/temp"),
        (Method::DELETE, "/api/v1/projects/temp"),
        (Method::GET, "/api/v1/projects/temp/revision"),
        (Method::GET, "/api/v1/projects/temp/songs"),
    ] {
        app.remote(method, path).send().await.problem(401, "token_missing");
    }
}

#[tokio::test]
async fn the_demo_song_is_stored_only_once() {
    let app = TestApp::start().await;
    super::seed_demo(&app.state).await.expect("stores the demo");
    let demo = read(&app, "demo").await.expect(200);
    assert!(
        demo["tracks"].as_array().is_some_and(|tracks| !tracks.is_empty()),
        "the demo song has no tracks"
    );
    super::seed_demo(&app.state).await.expect("stores nothing");
    assert_eq!(read(&app, "demo").await.header("etag"), "\"1\"");
    app.local(Method::DELETE, &path("demo")).send().await.expect(204);
    super::seed_demo(&app.state).await.expect("stores nothing");
    read(&app, "demo").await.problem(404, "not_found");
}

#[tokio::test]
async fn a_save_on_a_full_disk_is_refused_with_507_and_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("small.db").display());
    let app = TestApp::with(&[("SF_DATABASE_URL", &url)]).await;
    create(&app, &project("song", "One")).await.expect(201);
    // No connection can enlarge the file, as on a full disk.
    let mut connections = Vec::new();
    for _ in 0..app.state.db.options().get_max_connections() {
        connections.push(app.state.db.acquire().await.expect("a connection"));
    }
    for connection in &mut connections {
        sqlx::query("PRAGMA max_page_count = 1").execute(&mut **connection).await.expect("a pragma");
    }
    drop(connections);
    let mut large_document = project("song", "Two");
    large_document["client"] = "x".repeat(500_000).into();
    save(&app, "song", 1, &large_document).await.problem(507, "storage_full");
    let mut changed_project = large_document.clone();
    changed_project["project_id"] = "other".into();
    create(&app, &changed_project).await.problem(507, "storage_full");
    let answer = read(&app, "song").await;
    assert_eq!((answer.expect(200)["name"].as_str(), answer.header("etag")), (Some("One"), "\"1\""));
    read(&app, "other").await.problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_see_saves_at_once_and_never_overwrite_each_other() {
    let first = TestApp::start().await;
    let second = first.start_second_server().await;
    create(&first, &project("song", "One")).await.expect(201);
    for revision in 1..=12 {
        let names = ["from the first", "from the second"].map(|name| project("song", name));
        let (first_answer, second_answer) = tokio::join!(
            save(&first, "song", revision, &names[0]),
            save(&second, "song", revision, &names[1])
        );
        let (successful, refused, winner, reader) = match first_answer.status.as_u16() {
            200 => (&first_answer, &second_answer, &names[0], &second),
            _ => (&second_answer, &first_answer, &names[1], &first),
        };
        assert_eq!(successful.expect(200)["revision"], revision + 1);
        refused.problem(412, "stale_revision");
        let answer = read(reader, "song").await;
        assert_eq!(answer.header("etag"), format!("\"{}\"", revision + 1));
        assert_eq!(answer.expect(200)["name"], winner["name"]);
    }
    let revisions = first.local(Method::GET, &format!("{}/revisions", path("song"))).send().await.expect(200);
    assert_eq!(revisions["items"].as_array().or(revisions.as_array()).map(Vec::len), Some(13), "{revisions}");
}

#[tokio::test]
async fn a_name_that_the_database_cannot_store_is_refused() {
    let app = TestApp::start().await;
    let answer = create(&app, &project("song", "a\0b")).await;
    match crate::db::kind(&app.state.db) {
        crate::db::DatabaseKind::Postgres => assert!(answer.problem(400, "bad_text").contains("U+0000")),
        crate::db::DatabaseKind::Sqlite => {
            answer.expect(201);
            assert_eq!(read(&app, "song").await.expect(200)["name"], "a\0b");
        }
    }
    create(&app, &project("other", "Other")).await.expect(201);
}

#[tokio::test]
async fn projects_beyond_the_quota_are_refused() {
    let app = TestApp::with(&[("SF_PROJECTS_QUOTA_BYTES", "5000")]).await;
    let song = |client: usize| json!({"schema_version": 1, "project_id": "song", "tracks": [], "client": "x".repeat(client)});
    app.local(Method::POST, "/api/v1/projects").json(&song(3_000)).send().await.expect(201);
    let path = "/api/v1/projects/song";
    let save = async |client: usize| {
        app.local(Method::PUT, path).header("if-match", "\"1\"").json(&song(client)).send().await
    };
    let detail = save(3_000).await.problem(507, "quota_exceeded");
    assert!(detail.contains("5000") && detail.contains("3"), "{detail}");
    assert_eq!(app.local(Method::GET, path).send().await.header("etag"), "\"1\"");
    save(1_000).await.expect(200);
    // Each user has a separate quota, and deleted projects do not count.
    let ada = app.token_of_new_user("ada").await;
    app.remote(Method::POST, "/api/v1/projects").token(&ada).json(&song(3_000)).send().await.expect(201);
    app.local(Method::DELETE, path).send().await.expect(204);
    app.local(Method::POST, "/api/v1/projects").json(&song(4_000)).send().await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn simultaneous_saves_cannot_exceed_the_quota_together() {
    let app = TestApp::with(&[("SF_PROJECTS_QUOTA_BYTES", "5000")]).await;
    let create = |number: usize| {
        let song = json!({"schema_version": 1, "project_id": format!("song-{number}"), "tracks": [], "client": "x".repeat(1_900)});
        app.local(Method::POST, "/api/v1/projects").json(&song).send()
    };
    let answers = futures_util::future::join_all((0..8).map(create)).await;
    let stored = answers.into_iter().filter(|answer| answer.status == 201).count();
    assert_eq!(stored, 2);
}

#[tokio::test]
async fn a_new_project_never_reuses_revisions_of_a_deleted_one() {
    let app = TestApp::start().await;
    create(&app, &project("song", "First")).await.expect(201);
    let path = "/api/v1/projects/song";
    let save = async |tag: &str, name: &str| {
        app.local(Method::PUT, path).header("if-match", tag).json(&project("song", name)).send().await
    };
    save("\"1\"", "Second").await.expect(200);
    app.local(Method::DELETE, path).send().await.expect(204);
    // The new project has the id of the deleted one.
    let again = create(&app, &project("song", "Another")).await;
    assert_eq!(again.header("etag"), "\"3\"");
    save("\"2\"", "Third").await.problem(412, "stale_revision");
    for tag in ["\"1\"", "\"2\""] {
        let answer = app.local(Method::GET, path).header("if-none-match", tag).send().await.expect(200);
        assert_eq!(answer["name"], "Another");
    }
    save("\"3\"", "Third").await.expect(200);
    // The answer varies with the user, so caches must not reuse it for another user.
    let answer = app.local(Method::GET, path).send().await;
    assert!(
        answer.header("vary").to_ascii_lowercase().contains("authorization"),
        "{}",
        answer.header("vary")
    );
}
