//! Tests of deleted files: saved songs restore them, and they are purged after their retention.

use std::sync::Arc;

use axum::http::Method;
use serde_json::json;

use super::files::{path_of, song_with};
use super::{get, stored_names, uploaded};
use crate::audio::test_files::sine_wav;
use crate::orphans;
use crate::storage::lock_contents;
use crate::test_app::TestApp;

const TEMP: &str = "/api/v1/projects/temp";

#[tokio::test(flavor = "multi_thread")]
async fn an_autosave_during_a_deletion_keeps_the_file() {
    let app = Arc::new(TestApp::start().await);
    let file = uploaded(&app, "a.wav", &sine_wav(440.0, 48_000, 0.1)).await;
    let (id, path) = (file["id"].as_str().expect("an id").to_owned(), path_of(&file));
    let draft = |id: &str| json!({ "client_id": "window", "project": song_with(id) });
    app.local(Method::PUT, TEMP).json(&draft("another")).send().await.expect(200);
    let (state, runtime) = (app.state.clone(), tokio::runtime::Handle::current());
    let (locked, is_locked) = tokio::sync::oneshot::channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let holder = tokio::task::spawn_blocking(move || {
        let _contents = lock_contents(&state, &runtime).expect("locks");
        locked.send(()).expect("the test waits");
        released.recv().expect("the test sends");
    });
    is_locked.await.expect("the lock is held");
    let deleting = {
        let (app, path) = (Arc::clone(&app), path.clone());
        tokio::spawn(async move { app.local(Method::DELETE, &path).send().await })
    };
    // These requests give the deletion time to search the autosave and to wait for the lock.
    for _ in 0..200 {
        get(&app, "/api/v1/auth/me").await.expect(200);
    }
    app.local(Method::PUT, TEMP).json(&draft(&id)).send().await.expect(200);
    release.send(()).expect("the lock's holder waits");
    holder.await.expect("the lock is released");
    let detail = deleting.await.expect("the deletion ends").problem(409, "audio_in_use");
    assert!(detail.contains("the autosave"), "{detail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn saving_a_song_restores_only_the_deleted_files_that_it_refers_to() {
    let app = TestApp::start().await;
    let mut paths = Vec::new();
    let mut ids = Vec::new();
    for number in 1..=4_u32 {
        let file = uploaded(&app, "a.wav", &sine_wav(100.0 * f64::from(number), 48_000, 0.1)).await;
        app.local(Method::DELETE, &path_of(&file)).send().await.expect(204);
        paths.push(path_of(&file));
        ids.push(file["id"].as_str().expect("an id").to_owned());
    }
    let mut song = song_with(&ids[0]);
    song["tracks"][0]["items"][0]["audio_file_url"] = json!(format!("/api/v1/audio/{}/file", ids[1]));
    // An id is also found in the middle of a text, and after a letter that is not ASCII.
    song["client"] = json!(format!("größe{}-{}é", ids[2], &ids[3][1..]));
    let draft = json!({ "client_id": "window", "project": song });
    app.local(Method::PUT, TEMP).json(&draft).send().await.expect(200);
    for (path, status) in paths.iter().zip([200, 200, 200, 404]) {
        assert_eq!(get(&app, path).await.status, status, "{path}");
    }
    assert_eq!(stored_names(&app).len(), 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_file_is_removed_together_with_its_row() {
    let app = TestApp::with(&[("SF_DELETED_KEPT_SECS", "60")]).await;
    let file = uploaded(&app, "a.wav", &sine_wav(440.0, 48_000, 0.1)).await;
    app.local(Method::DELETE, &path_of(&file)).send().await.expect(204);
    // Sets the time of the deletion to the end of the first second of 2020.
    let deleted_ms = 1_577_836_800_900;
    sqlx::query("UPDATE audio_deleted_files SET deleted_ms = $1")
        .bind(deleted_ms)
        .execute(&app.state.db)
        .await
        .expect("updates");
    let quarantine = app.state.config.storage.dir.join("quarantine");
    for batch in std::fs::read_dir(&quarantine).expect("reads") {
        let (from, to) =
            (batch.expect("reads").path().join("audio"), quarantine.join("20200101000000-deleted/audio"));
        std::fs::create_dir_all(&to).expect("makes");
        for entry in std::fs::read_dir(from).expect("reads") {
            let entry = entry.expect("reads");
            std::fs::rename(entry.path(), to.join(entry.file_name())).expect("moves");
        }
    }
    let quarantined = || app.state.blobs.list_quarantined().expect("lists").len();
    assert_eq!(quarantined(), 3);
    let age = std::time::Duration::from_secs(3_600);
    for (now_ms, expected) in [(deleted_ms + 59_999, 3), (deleted_ms + 60_000, 0)] {
        orphans::collect(&app.state, age, now_ms).await.expect("collects");
        let rows: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM audio_deleted_files")
            .fetch_one(&app.state.db)
            .await
            .expect("counts");
        assert_eq!((quarantined(), rows), (expected, i64::from(expected > 0)), "at {now_ms}");
    }
}
