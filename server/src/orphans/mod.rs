//! Finds and quarantines orphans, which are stored files that no database row needs. They remain
//! after a crash, a cancelled task or the deletion of a row.
//!
//! An orphan is moved to the quarantine (`storage/blobs/quarantine.rs`) and logged after this
//! database has not needed it for `SF_ORPHAN_AGE_SECS`. The delay protects files while the service
//! uses a wrong or a restored database. A quarantined file that a row needs is restored
//! automatically; all others are deleted after `SF_QUARANTINE_DAYS`. A lease in the database makes
//! sure that only one process at a time collects orphans.

mod store;

use std::collections::HashSet;
use std::time::Duration;

use tokio::runtime::Handle;

use crate::auth::management;
use crate::clock;
use crate::db::{Db, take_lease};
use crate::error::ApiResult;
use crate::exports::{plugin_sound_files, render_files};
use crate::state::AppState;
use crate::storage::{Blobs, ExpectedFile, Orphan, QuarantineReason, QuarantinedFile, lock_contents};
use crate::{audio, inventory, soundfonts};

/// Name of the lease in the database.
const LEASE_NAME: &str = "orphans";

/// Returns all orphans that were stored at least `age` ago. Blocks.
///
/// # Errors
/// A query or the storage fails.
pub(crate) fn find(
    database: &Db,
    runtime: &Handle,
    blobs: &Blobs,
    expected_files: &[ExpectedFile],
    age: Duration,
) -> ApiResult<Vec<Orphan>> {
    let waiting_files = runtime.block_on(audio::list_expected_waiting_files(database))?;
    let mut orphans = blobs.find_orphans(audio::FILE_KIND, expected_files, age)?;
    orphans.extend(blobs.find_orphans(audio::WAITING_FILE_KIND, &waiting_files, age)?);
    orphans.extend(blobs.find_orphans(soundfonts::FILE_KIND, expected_files, age)?);
    let owner_ids = read_owner_ids(database, runtime)?;
    orphans.extend(render_files::orphans(blobs, &owner_ids, age)?);
    orphans.extend(plugin_sound_files::orphans(blobs, &owner_ids, age)?);
    if !blobs.is_remote() {
        orphans.extend(blobs.find_orphans(audio::PART_FILE_KIND, expected_files, age)?);
    }
    Ok(orphans)
}

fn read_owner_ids(database: &Db, runtime: &Handle) -> ApiResult<HashSet<String>> {
    let names = runtime.block_on(management::user_names(database))?;
    Ok(names.into_iter().map(|(id, _)| id).collect())
}

/// Collects orphans every `SF_ORPHANS_EVERY_SECS` until the service stops.
pub(crate) async fn keep_collecting(state: AppState) {
    let every = Duration::from_secs(state.config.orphans.every_secs);
    let holder = uuid::Uuid::new_v4().simple().to_string();
    loop {
        tokio::select! {
            () = state.stop.cancelled() => return,
            () = tokio::time::sleep(every) => {}
        }
        // If one of the two collections fails, the other still runs.
        let local_result = collect_local_parts(&state, &state.blobs).await;
        let collect_result = collect_with_lease(&state, &holder, every, clock::now_unix_ms()).await;
        for error in [local_result, collect_result].into_iter().filter_map(Result::err) {
            tracing::error!("cannot quarantine stored files that nothing refers to: {error:#}");
        }
    }
}

/// Collects orphans, unless another process collected them during the last `every`.
async fn collect_with_lease(state: &AppState, holder: &str, every: Duration, now_ms: i64) -> ApiResult<()> {
    if take_lease(&state.db, LEASE_NAME, holder, every).await? {
        collect(state, Duration::from_secs(state.config.orphans.age_secs), now_ms).await?;
    }
    Ok(())
}

/// Quarantines files that this database has not needed for `age`, restores files that it needs, and
/// deletes files whose time in the quarantine has ended.
pub(crate) async fn collect(state: &AppState, age: Duration, now_ms: i64) -> ApiResult<()> {
    state.reserve.refill();
    audio::remove_expired(state).await?;
    audio::remove_expired_deleted_files(state, now_ms).await?;
    let (state, runtime) = (state.clone(), Handle::current());
    let collecting = move || -> ApiResult<()> {
        state.blobs.sweep_abandoned()?;
        quarantine_unneeded(&state, &runtime, age, now_ms)?;
        expire_quarantine(&state, &runtime, &state.blobs, now_ms)
    };
    tokio::task::spawn_blocking(collecting).await?
}

fn quarantine_unneeded(state: &AppState, runtime: &Handle, age: Duration, now_ms: i64) -> ApiResult<()> {
    // The lock makes sure that no upload is running whose files could be taken for orphans.
    let _contents = lock_contents(state, runtime)?;
    runtime.block_on(audio::delete_unowned_contents(&state.db))?;
    let expected_files = runtime.block_on(inventory::list_expected_files(&state.db))?;
    let orphans = find(&state.db, runtime, &state.blobs, &expected_files, age)?;
    for orphan in record_and_find_due(&state.db, runtime, &orphans, age, now_ms)? {
        if try_quarantine(&state.blobs, orphan) {
            delete_record(&state.db, runtime, orphan)?;
            state.metrics.count_quarantined_orphan(orphan.key.folder(), orphan.size_bytes);
        }
    }
    Ok(())
}

/// Returns the orphans that this database has not needed for `age`. For the other orphans, records
/// the time since which they have not been needed. Blocks.
///
/// # Errors
/// A query fails.
pub(crate) fn record_and_find_due<'f>(
    database: &Db,
    runtime: &Handle,
    orphans: &'f [Orphan],
    age: Duration,
    now_ms: i64,
) -> ApiResult<Vec<&'f Orphan>> {
    let names: Vec<String> = orphans.iter().map(|orphan| orphan.key.file_name()).collect();
    let unneeded_files: Vec<store::UnneededFile<'_>> = std::iter::zip(orphans, &names)
        .map(|(orphan, name)| store::UnneededFile {
            folder: orphan.key.folder(),
            name,
            stored_ms: store::unix_ms(orphan.stored_at),
        })
        .collect();
    let due_ms = now_ms.saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX));
    let due_orphans = runtime.block_on(store::record_unneeded(database, &unneeded_files, now_ms, due_ms))?;
    Ok(orphans.iter().filter(|orphan| due_orphans.contains(&folder_and_name(orphan))).collect())
}

/// Deletes the record of an unneeded file after the file was quarantined. If the file is restored
/// later, its delay starts again. Blocks.
///
/// # Errors
/// The query fails.
pub(crate) fn delete_record(database: &Db, runtime: &Handle, orphan: &Orphan) -> ApiResult<()> {
    Ok(runtime.block_on(store::delete_record(database, &folder_and_name(orphan)))?)
}

/// Returns the folder and the name, which together identify a file in the database.
fn folder_and_name(orphan: &Orphan) -> (String, String) {
    (orphan.key.folder().to_owned(), orphan.key.file_name())
}

/// Quarantines a file. If it cannot be moved, logs an error and returns false, so that other files
/// are still moved. S3, for example, cannot move files above 5 GB.
fn try_quarantine(blobs: &Blobs, orphan: &Orphan) -> bool {
    let outcome = quarantine_orphan(blobs, orphan);
    if let Err(error) = &outcome {
        let (file, bytes) = (orphan.key.path(), orphan.size_bytes);
        tracing::error!(file, bytes, "cannot quarantine a stored file that nothing refers to: {error:#}");
    }
    outcome.is_ok()
}

/// Moves an orphan to the quarantine and logs it. Uploaded files whose import task is missing count
/// as deleted by a user. No row can need them again, so the service may delete them when the disk
/// is full.
pub(crate) fn quarantine_orphan(blobs: &Blobs, orphan: &Orphan) -> ApiResult<()> {
    let reason = if audio::WAITING_FILE_KIND.has(&orphan.key) {
        QuarantineReason::Deleted
    } else {
        QuarantineReason::Unneeded
    };
    if let Some(quarantined_as) = blobs.move_to_quarantine(&orphan.key, reason)? {
        let (file, bytes) = (orphan.key.path(), orphan.size_bytes);
        tracing::warn!(
            file,
            bytes,
            quarantined_as,
            "quarantined a stored file that no database row refers to"
        );
    }
    Ok(())
}

/// Quarantines parts of uploads that the database does not list and that no upload can continue.
/// With object storage, parts are on the machine that received them. Therefore each process checks
/// the parts and the quarantine of its own machine.
async fn collect_local_parts(state: &AppState, blobs: &Blobs) -> ApiResult<()> {
    if !blobs.is_remote() {
        return Ok(());
    }
    let kept_secs = state.config.limits.audio.unfinished_upload_secs + state.config.orphans.age_secs;
    let expected_files = audio::list_expected_files(&state.db).await?;
    let (state, runtime, blobs) = (state.clone(), Handle::current(), blobs.local());
    let collecting = move || -> ApiResult<()> {
        for orphan in
            blobs.find_orphans(audio::PART_FILE_KIND, &expected_files, Duration::from_secs(kept_secs))?
        {
            try_quarantine(&blobs, &orphan);
        }
        expire_quarantine(&state, &runtime, &blobs, clock::now_unix_ms())
    };
    tokio::task::spawn_blocking(collecting).await?
}

/// Restores needed files from the quarantine when the service starts.
///
/// # Errors
/// A query or the storage fails.
pub(crate) async fn restore_needed(state: &AppState) -> ApiResult<()> {
    let (state, runtime) = (state.clone(), Handle::current());
    let restoring = move || {
        if state.blobs.is_remote() {
            restore_needed_in(&state, &runtime, &state.blobs.local())?;
        }
        restore_needed_in(&state, &runtime, &state.blobs).map(|_| ())
    };
    tokio::task::spawn_blocking(restoring).await?
}

/// Restores needed files that are missing. Returns the files that stay in the quarantine of
/// `blobs`, either because no row needs them or because they were stored again.
fn restore_needed_in(state: &AppState, runtime: &Handle, blobs: &Blobs) -> ApiResult<Vec<QuarantinedFile>> {
    let quarantined_files = blobs.list_quarantined()?;
    if quarantined_files.is_empty() {
        return Ok(quarantined_files);
    }
    let _contents = lock_contents(state, runtime)?;
    let names: HashSet<&str> = quarantined_files.iter().map(|file| file.name.as_str()).collect();
    for file in runtime.block_on(inventory::list_expected_files(&state.db))? {
        if names.contains(file.blob_key.path().as_str()) {
            // This call restores the file if it is missing.
            blobs.contains(&file.blob_key)?;
        }
    }
    Ok(blobs.list_quarantined()?)
}

/// Deletes files whose time in the quarantine (`SF_QUARANTINE_DAYS`, `SF_DELETED_KEPT_SECS`) has
/// ended at `now_ms`. The caller must already have removed the rows of files that were deleted up
/// to that time. A row must not exist longer than its files.
fn expire_quarantine(state: &AppState, runtime: &Handle, blobs: &Blobs, now_ms: i64) -> ApiResult<()> {
    let orphans = &state.config.orphans;
    for file in restore_needed_in(state, runtime, blobs)? {
        let kept_secs = match file.reason {
            QuarantineReason::Unneeded => orphans.quarantine_secs,
            QuarantineReason::Deleted => orphans.deleted_kept_secs,
        };
        if file.is_older(kept_secs, now_ms) {
            blobs.remove_quarantined(&file)?;
            tracing::warn!(
                file = file.name,
                bytes = file.size_bytes,
                since = file.since,
                "deleted a file whose time in the quarantine was over"
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use axum::http::Method;

    use super::*;
    use crate::audio::test_files::sine_wav;
    use crate::audio::tests::{UPLOAD, with_form};
    use crate::storage::{BlobKey, Remote, Sharing};
    use crate::test_app::TestApp;

    const AGE: Duration = Duration::from_secs(3_600);

    /// Stores a file and sets its modification time to `age` before now.
    fn store(app: &TestApp, key: &BlobKey, age: Duration) {
        app.state.blobs.put(key, b"belongs to nothing").expect("stores");
        let file = File::options().write(true).open(app.state.blobs.path(key)).expect("opens");
        file.set_modified(SystemTime::now() - age).expect("sets the time");
    }

    fn is_stored(app: &TestApp, key: &BlobKey) -> bool {
        app.state.blobs.path(key).is_file()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_orphan_is_quarantined_once_it_is_old() {
        let now_ms = clock::now_unix_ms();
        let app = TestApp::start().await;
        let sound = sine_wav(440.0, 48_000, 0.1);
        let call = with_form(app.local(Method::POST, UPLOAD), &[("kept.wav", &sound)]);
        let uploaded_file = call.send().await.expect(201)["files"][0].take();
        let (old, new) = (AGE * 2, AGE / 2);
        let audio = |id: &str| audio::FILE_KIND.key(&format!("{}.wav", id.repeat(64))).expect("a valid key");
        let render = |name: &str| render_files::FILES.key(name).expect("a valid key");
        let owner = management::user_names(&app.state.db).await.expect("reads")[0].0.clone();
        let (unpaired, unowned) = (render(&format!("{owner}_a.wav")), render("nobody_b.wav"));
        let pair = [render(&format!("{owner}_c.wav")), render(&format!("{owner}_c.json"))];
        for (key, age) in [(&audio("a"), old), (&audio("b"), new), (&unpaired, old), (&unowned, old)] {
            store(&app, key, age);
        }
        pair.iter().for_each(|key| store(&app, key, old));

        // An old file stays until the database has not needed it for `AGE`.
        collect(&app.state, AGE, now_ms).await.expect("collects");
        for key in [&audio("a"), &unpaired, &unowned] {
            assert!(is_stored(&app, key), "{key:?}");
        }
        let age_ms = i64::try_from(AGE.as_millis()).expect("a number of milliseconds");
        collect(&app.state, AGE, now_ms + age_ms - 1).await.expect("collects");
        assert!(is_stored(&app, &audio("a")));
        collect(&app.state, AGE, now_ms + age_ms).await.expect("collects");
        let stored_files = [&audio("a"), &audio("b"), &unpaired, &unowned, &pair[0], &pair[1]]
            .map(|key| is_stored(&app, key));
        assert_eq!(stored_files, [false, true, false, false, true, true]);
        let path = format!("/api/v1/audio/{}/file", uploaded_file["id"].as_str().expect("an id"));
        assert_eq!(app.local(Method::GET, &path).send().await.status, 200);
        let quarantined: Vec<String> =
            app.state.blobs.list_quarantined().expect("lists").into_iter().map(|file| file.name).collect();
        let mut expected = [audio("a"), unpaired, unowned].map(|key| key.path());
        expected.sort();
        assert_eq!(quarantined, expected, "the files are quarantined instead of removed");
        let metrics = app.local(Method::GET, "/metrics").send().await;
        let metrics = String::from_utf8_lossy(&metrics.bytes).into_owned();
        assert!(metrics.contains("songfoundry_orphans_removed_total{kind=\"audio\"} 1"), "{metrics}");
        assert!(metrics.contains("songfoundry_orphans_removed_total{kind=\"renders\"} 2"), "{metrics}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_file_that_cannot_be_moved_does_not_block_others() {
        let app = TestApp::start().await;
        let audio = audio::FILE_KIND.key(&format!("{}.wav", "a".repeat(64))).expect("a valid key");
        let render = render_files::FILES.key("nobody_b.wav").expect("a valid key");
        for key in [&audio, &render] {
            store(&app, key, AGE * 2);
        }
        // Audio cannot be moved into these batches, because a file has the name of the audio
        // folder.
        let quarantine = app.state.config.storage.dir.join("quarantine");
        let batch_name = |secs| {
            let text = clock::text_in(secs);
            text.chars().filter(char::is_ascii_digit).take(14).collect::<String>()
        };
        let batches: Vec<_> = (0..120).map(|secs| quarantine.join(batch_name(secs))).collect();
        for batch in &batches {
            std::fs::create_dir_all(batch).expect("makes");
            std::fs::write(batch.join("audio"), b"in the way").expect("writes");
        }
        let now_ms = clock::now_unix_ms();
        let due_ms = now_ms + i64::try_from(AGE.as_millis()).expect("a number of milliseconds");
        collect(&app.state, AGE, now_ms).await.expect("collects");
        collect(&app.state, AGE, due_ms).await.expect("collects");
        assert!(is_stored(&app, &audio) && !is_stored(&app, &render));
        for batch in &batches {
            std::fs::remove_file(batch.join("audio")).expect("removes");
        }
        // The file is still due: it does not have to wait for `AGE` again.
        collect(&app.state, AGE, due_ms + 1).await.expect("collects");
        assert!(!is_stored(&app, &audio));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn parts_of_uploads_expire_in_the_local_quarantine_with_object_storage() {
        let app = TestApp::start().await;
        let dir = tempfile::tempdir().expect("a folder");
        let opened_file =
            Blobs::open_remote(dir.path().join("blobs"), Remote::in_memory(), 1 << 20, 0, Sharing::Exclusive);
        let blobs = opened_file.expect("opens");
        let local = blobs.local();
        let part = audio::PART_FILE_KIND
            .key(&format!("b1.{}", audio::PART_FILE_KIND.extensions[0]))
            .expect("a valid key");
        local.put(&part, b"a part").expect("stores");
        assert!(local.move_to_quarantine(&part, QuarantineReason::Unneeded).expect("moves").is_some());
        collect_local_parts(&app.state, &blobs).await.expect("collects");
        assert_eq!(
            local.list_quarantined().expect("lists").len(),
            1,
            "the part has not been in the quarantine long enough"
        );
        // Renames the batch as if it had been made years ago.
        let quarantine = dir.path().join("quarantine");
        let batch = std::fs::read_dir(&quarantine).expect("reads").next().expect("an entry").expect("reads");
        std::fs::rename(batch.path(), quarantine.join("20200101000000")).expect("renames");
        collect_local_parts(&app.state, &blobs).await.expect("collects");
        assert_eq!(local.list_quarantined().expect("lists"), []);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_request_for_a_render_does_not_search_the_quarantine() {
        let app = TestApp::start().await;
        let owner = management::user_names(&app.state.db).await.expect("reads")[0].0.clone();
        let files = ["wav", "json"].map(|extension| {
            let key = render_files::FILES.key(&format!("{owner}_r.{extension}")).expect("a valid key");
            let text = r#"{"title":"a","pcm_sha256":"0"}"#;
            app.state.blobs.put(&key, text.as_bytes()).expect("stores");
            key
        });
        let get = || app.local(Method::GET, "/api/v1/plugins/renders/r/file").send();
        assert_eq!(get().await.status, 200);
        for key in &files {
            app.state.blobs.move_to_quarantine(key, QuarantineReason::Unneeded).expect("moves");
        }
        get().await.problem(404, "not_found");
        assert_eq!(app.state.blobs.list_quarantined().expect("lists").len(), 2);
        for key in &files {
            assert!(
                app.state.blobs.return_from_quarantine(key).expect("moves"),
                "a file can be returned explicitly"
            );
        }
        assert_eq!(get().await.status, 200);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_collection_does_not_remove_files_of_running_uploads() {
        let app = TestApp::start().await;
        let state = app.state.clone();
        let collecting = tokio::spawn(async move {
            loop {
                // Even with an age of zero, the lock protects files of running uploads.
                collect(&state, Duration::ZERO, clock::now_unix_ms()).await.expect("collects");
            }
        });
        for number in 1..=6 {
            let sound = sine_wav(100.0 * f64::from(number), 48_000, 0.1);
            let call = with_form(app.local(Method::POST, UPLOAD), &[("a.wav", &sound)]);
            call.send().await.expect(201);
        }
        collecting.abort();
        // The aborted task returns an error, as expected.
        let _ = collecting.await;
        for file in audio::list_expected_files(&app.state.db).await.expect("reads") {
            assert!(is_stored(&app, &file.blob_key), "{:?}", file.blob_key);
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn only_the_holder_of_the_lease_collects() {
        let app = TestApp::with(&[("SF_ORPHAN_AGE_SECS", "60")]).await;
        let key = audio::FILE_KIND.key(&format!("{}.wav", "a".repeat(64))).expect("a valid key");
        store(&app, &key, AGE);
        assert!(take_lease(&app.state.db, LEASE_NAME, "another", AGE).await.expect("queries the database"));
        let now_ms = clock::now_unix_ms();
        collect_with_lease(&app.state, "this", AGE, now_ms).await.expect("collects");
        collect_with_lease(&app.state, "this", AGE, now_ms + 60_000).await.expect("collects");
        assert!(is_stored(&app, &key), "another process holds the lease");
        assert!(
            take_lease(&app.state.db, LEASE_NAME, "another", Duration::ZERO)
                .await
                .expect("queries the database")
        );
        collect_with_lease(&app.state, "this", AGE, now_ms).await.expect("collects");
        collect_with_lease(&app.state, "this", AGE, now_ms + 60_000).await.expect("collects");
        assert!(!is_stored(&app, &key));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_needed_file_returns_from_the_quarantine() {
        let app = TestApp::start().await;
        let sound = sine_wav(440.0, 48_000, 0.1);
        let call = with_form(app.local(Method::POST, UPLOAD), &[("a.wav", &sound)]);
        let file = call.send().await.expect(201)["files"][0].take();
        for expected in audio::list_expected_files(&app.state.db).await.expect("reads") {
            app.state
                .blobs
                .move_to_quarantine(&expected.blob_key, QuarantineReason::Unneeded)
                .expect("moves");
        }
        let path = format!("/api/v1/audio/{}/file", file["id"].as_str().expect("an id"));
        let answer = app.local(Method::GET, &path).send().await;
        assert_eq!((answer.status.as_u16(), answer.bytes), (200, sound));
        // Other needed files return when the service starts, before it accepts requests.
        assert_eq!(app.state.blobs.list_quarantined().expect("lists").len(), 2);
        restore_needed(&app.state).await.expect("restores");
        assert!(app.state.blobs.list_quarantined().expect("lists").is_empty());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_file_that_was_stored_again_counts_as_new() {
        let app = TestApp::start().await;
        let key = audio::FILE_KIND.key(&format!("{}.wav", "a".repeat(64))).expect("a valid key");
        let now_ms = clock::now_unix_ms();
        let unneeded = |stored_ms| [store::UnneededFile { folder: key.folder(), name: "a.wav", stored_ms }];
        let count_due = async |stored_ms, now_ms: i64| {
            let due =
                store::record_unneeded(&app.state.db, &unneeded(stored_ms), now_ms, now_ms - 1_000).await;
            due.expect("records").len()
        };
        assert_eq!(count_due(now_ms - 5_000, now_ms).await, 0);
        assert_eq!(count_due(now_ms - 5_000, now_ms + 1_000).await, 1);
        // The file was stored again after it was recorded, as after restoring a database.
        assert_eq!(count_due(now_ms + 500, now_ms + 1_000).await, 0);
        assert_eq!(count_due(now_ms + 500, now_ms + 2_000).await, 1);
        // The database needed the file in between, so its delay starts again.
        store::record_unneeded(&app.state.db, &[], now_ms + 2_000, 0).await.expect("records");
        assert_eq!(count_due(now_ms + 500, now_ms + 3_000).await, 0);
    }
}
