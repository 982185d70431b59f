//! Tests autosaves: one for each song of a user.

use super::*;

const TEMP: &str = "/api/v1/projects/temp";
const REVISION: &str = "/api/v1/projects/temp/revision";
const SONGS: &str = "/api/v1/projects/temp/songs";

async fn put(app: &TestApp, client_id: &str, project: Value) -> Answer {
    let body = json!({ "client_id": client_id, "project": project });
    app.local(Method::PUT, TEMP).json(&body).send().await
}

async fn get(app: &TestApp, path: &str) -> Answer {
    app.local(Method::GET, path).send().await
}

async fn discard(app: &TestApp, query: &str) {
    app.local(Method::DELETE, &format!("{TEMP}{query}")).send().await.expect(204);
}

/// Returns the ids of the songs that have autosaves, newest first.
async fn songs(app: &TestApp) -> Vec<String> {
    let list = get(app, SONGS).await.expect(200);
    let items = list["items"].as_array().expect("a list");
    items.iter().map(|item| item["project_id"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test]
async fn each_song_has_one_autosave() {
    let app = TestApp::start().await;
    let nothing = json!({ "updated_at": null, "client_id": null, "project_id": null });
    assert_eq!(get(&app, REVISION).await.expect(200), nothing);
    get(&app, TEMP).await.problem(404, "no_autosave");

    let first = put(&app, "window-1", project("one", "Draft")).await.expect(200);
    assert_eq!((&first["client_id"], &first["project_id"]), (&json!("window-1"), &json!("one")));
    assert_eq!(get(&app, REVISION).await.expect(200), first);
    let second = put(&app, "window-2", project("two", "Other draft")).await.expect(200);
    assert!(second["updated_at"].as_str() > first["updated_at"].as_str());

    // Without an id, the answer is about the autosave that was written last.
    assert_eq!(get(&app, REVISION).await.expect(200), second);
    assert_eq!(get(&app, TEMP).await.expect(200)["project"]["name"], "Other draft");
    assert_eq!(get(&app, &format!("{REVISION}?project_id=one")).await.expect(200), first);
    let autosave = get(&app, &format!("{TEMP}?project_id=one")).await.expect(200);
    assert_eq!(
        (&autosave["project"]["name"], &autosave["updated_at"]),
        (&json!("Draft"), &first["updated_at"])
    );
    assert_eq!(get(&app, &format!("{REVISION}?project_id=none")).await.expect(200), nothing);
    get(&app, &format!("{TEMP}?project_id=none")).await.problem(404, "no_autosave");

    let third = put(&app, "window-1", project("one", "Later draft")).await.expect(200);
    assert_eq!(songs(&app).await, ["one", "two"]);
    let list = get(&app, SONGS).await.expect(200);
    let item = &list["items"][0];
    assert_eq!((&item["name"], &item["updated_at"]), (&json!("Later draft"), &third["updated_at"]));
    assert!(item["size_bytes"].as_i64().is_some_and(|size| size > 50), "{item}");

    // A window discards only the autosave that it wrote, if it sends its id.
    discard(&app, "?project_id=one&client_id=window-2").await;
    assert_eq!(songs(&app).await, ["one", "two"]);
    discard(&app, "?project_id=two&client_id=window-2").await;
    assert_eq!(songs(&app).await, ["one"]);
    discard(&app, "?project_id=none").await;
    discard(&app, "").await;
    discard(&app, "").await;
    assert_eq!(songs(&app).await, [""; 0]);
}

#[tokio::test]
async fn an_autosave_may_be_invalid_but_must_have_a_usable_id() {
    let app = TestApp::start().await;
    // An invalid draft is stored too, because an invalid draft is better than none.
    let stored_autosave = put(&app, "w", json!({ "tracks": "not yet" })).await.expect(200);
    let id = stored_autosave["project_id"].as_str().expect("an id");
    assert!(id.starts_with("temp_legacy_"), "{id}");
    let autosave = get(&app, &format!("{TEMP}?project_id={id}")).await.expect(200);
    assert_eq!(autosave["project"]["tracks"], "not yet");
    put(&app, "w", json!({ "project_id": "a", "name": "a\0b", "tracks": [] })).await.expect(200);
    assert_eq!(get(&app, SONGS).await.expect(200)["items"][0]["name"], "ab");

    for id in [json!("a b"), json!("x".repeat(129)), json!(5)] {
        let detail = put(&app, "w", json!({ "project_id": id })).await.problem(400, "bad_project_id");
        assert!(detail.contains("128"), "{detail}");
    }
    for client_id in ["", &"x".repeat(200)] {
        put(&app, client_id, json!({})).await.problem(400, "bad_client_id");
    }
    let incomplete = app.local(Method::PUT, TEMP).json(&json!({ "client_id": "w" }));
    incomplete.send().await.problem(400, "unexpected_json");
    put(&app, "w", json!([])).await.problem(400, "invalid_project");
    get(&app, &format!("{TEMP}?project=a")).await.problem(400, "unknown_parameter");
}

#[tokio::test]
async fn the_twenty_first_autosave_replaces_the_oldest() {
    let app = TestApp::start().await;
    for number in 0..20 {
        put(&app, "w", project(&format!("s{number}"), "Draft")).await.expect(200);
    }
    put(&app, "w", project("s0", "Newer")).await.expect(200);
    put(&app, "w", project("s20", "Draft")).await.expect(200);
    let kept_songs = songs(&app).await;
    assert_eq!((kept_songs.len(), kept_songs[0].as_str(), kept_songs[1].as_str()), (20, "s20", "s0"));
    assert!(!kept_songs.contains(&"s1".to_owned()), "{kept_songs:?}");
}

#[tokio::test]
async fn the_autosave_is_deleted_with_its_project() {
    let app = TestApp::start().await;
    create(&app, &project("song", "One")).await.expect(201);
    put(&app, "w", project("song", "Draft")).await.expect(200);
    put(&app, "w", project("other", "Draft")).await.expect(200);
    app.local(Method::DELETE, &path("song")).send().await.expect(204);
    assert_eq!(songs(&app).await, ["other"]);
}

#[tokio::test]
async fn autosaves_of_an_earlier_version_get_the_ids_of_their_songs() {
    let app = TestApp::start().await;
    let ada = app.token_of_new_user("ada").await;
    let put_as_ada = app.remote(Method::PUT, TEMP).token(&ada);
    let body = json!({ "client_id": "w", "project": project("hers", "Evening") });
    put_as_ada.json(&body).send().await.expect(200);
    put(&app, "w", project("mine", "Draft")).await.expect(200);
    // The migration leaves the ids and names empty. The administrator's text cannot be read.
    for statement in [
        "UPDATE song_autosaves SET body = 'damaged' WHERE project_id = 'mine'",
        "UPDATE song_autosaves SET project_id = '', name = ''",
    ] {
        sqlx::query(statement).execute(&app.state.db).await.expect("updates");
    }
    crate::projects::identify_earlier_autosaves(&app.state).await.expect("identifies");
    let ada_songs = app.remote(Method::GET, SONGS).token(&ada).send().await.expect(200);
    assert_eq!(
        (&ada_songs["items"][0]["project_id"], &ada_songs["items"][0]["name"]),
        (&json!("hers"), &json!("Evening"))
    );
    assert_eq!(songs(&app).await, ["unidentified-autosave"]);
    assert_eq!(get(&app, &format!("{TEMP}/raw")).await.bytes, b"damaged");
}
