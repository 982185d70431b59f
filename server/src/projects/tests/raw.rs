//! Tests downloads of the stored JSON of revisions and of the autosave, whether it can be read or
//! not.

use super::*;

/// A document that no version of the service can read.
const UNREADABLE: &str = "{\"schema_version\": 99, \"tracks\": [}";

async fn store_unreadable(app: &TestApp, statement: &'static str) {
    sqlx::query(statement).bind(UNREADABLE).execute(&app.state.db).await.expect("writes");
}

async fn get(app: &TestApp, path: &str) -> Answer {
    app.local(Method::GET, path).send().await
}

#[track_caller]
fn check_file(answer: &Answer, text: &str, file_name: &str) {
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.bytes));
    assert_eq!(String::from_utf8_lossy(&answer.bytes), text);
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("content-disposition"), format!("attachment; filename=\"{file_name}\""));
    assert_eq!(answer.header("cache-control"), "private, no-cache");
}

/// Returns the path that a problem's text contains, with the prefix `/api/v1`.
fn path_in_detail(detail: &str) -> String {
    let path = detail.split("GET ").nth(1).and_then(|tail| tail.split(' ').next()).expect("a path");
    format!("/api/v1{path}")
}

#[tokio::test]
async fn an_older_revision_can_be_downloaded_as_it_is_stored() {
    let app = TestApp::start().await;
    create(&app, &project("song", "One")).await.expect(201);
    save(&app, "song", 1, &project("song", "Two")).await.expect(200);
    save(&app, "song", 2, &project("song", "Three")).await.expect(200);
    let raw = |revision: &str| format!("{LIST}/song/revisions/{revision}/raw");
    let answer = get(&app, &raw("1")).await;
    check_file(&answer, &project("song", "One").to_string(), "song-1.json");
    assert_eq!(answer.header("etag"), "\"1\"");
    store_unreadable(&app, "UPDATE project_revisions SET body = $1 WHERE revision = 2").await;
    check_file(&get(&app, &raw("2")).await, UNREADABLE, "song-2.json");
    // If a restore cannot read the revision, its error has the path where that revision can be
    // downloaded.
    let restore = app.local(Method::POST, &format!("{LIST}/song/revisions/2/restore")).send().await;
    let path = path_in_detail(&restore.problem(422, "project_unreadable"));
    assert_eq!(path, raw("2"));
    check_file(&get(&app, &path).await, UNREADABLE, "song-2.json");
    get(&app, &raw("9")).await.problem(404, "not_found");
    get(&app, &raw("x")).await.problem(400, "bad_path");
    get(&app, &format!("{LIST}/none/revisions/1/raw")).await.problem(404, "not_found");
    let token = app.token_of_new_user("ada").await;
    app.remote(Method::GET, &raw("1")).token(&token).send().await.problem(404, "not_found");
    app.remote(Method::GET, &raw("1")).send().await.problem(401, "token_missing");
}

#[tokio::test]
async fn the_autosave_can_be_downloaded_as_it_is_stored() {
    let app = TestApp::start().await;
    let raw = format!("{LIST}/temp/raw");
    get(&app, &raw).await.problem(404, "no_autosave");
    let save = json!({ "client_id": "w", "project": project("song", "One") });
    app.local(Method::PUT, &format!("{LIST}/temp")).json(&save).send().await.expect(200);
    check_file(&get(&app, &raw).await, &project("song", "One").to_string(), "autosave.json");
    store_unreadable(&app, "UPDATE song_autosaves SET body = $1").await;
    let path = path_in_detail(&get(&app, &format!("{LIST}/temp")).await.problem(422, "project_unreadable"));
    assert_eq!(path, format!("{raw}?project_id=song"));
    check_file(&get(&app, &path).await, UNREADABLE, "autosave.json");
    app.remote(Method::GET, &raw).send().await.problem(401, "token_missing");
}

#[tokio::test]
async fn the_error_for_an_unreadable_project_has_the_path_of_its_download() {
    let app = TestApp::start().await;
    create(&app, &project("song", "One")).await.expect(201);
    store_unreadable(&app, "UPDATE project_revisions SET body = $1").await;
    for call in
        [app.local(Method::GET, &path("song")), app.local(Method::POST, &format!("{LIST}/song/duplicate"))]
    {
        let named_path = path_in_detail(&call.send().await.problem(422, "project_unreadable"));
        assert_eq!(get(&app, &named_path).await.bytes, UNREADABLE.as_bytes());
    }
}
