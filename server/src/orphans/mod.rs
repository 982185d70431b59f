//! Stored files that belong to nothing: what a crash, a cancelled task or a lost row left.
//!
//! They are not removed but moved to the quarantine (`storage/blobs/quarantine.rs`), each with a
//! line in the log. That happens once this database has needed none of them for
//! `SF_ORPHAN_AGE_SECS`: a database that is younger than the files, or another one, must not decide
//! at once. A file that a row needs returns by itself. A file is removed after `SF_QUARANTINE_DAYS`
//! in the quarantine. One process does all this at a time, by a lease in the database.

mod store;

use std::collections::HashSet;
use std::time::Duration;

use tokio::runtime::Handle;

use crate::auth::management;
use crate::clock;
use crate::db::{Db, take_lease};
use crate::error::ApiResult;
use crate::exports::render_files;
use crate::state::AppState;
use crate::storage::{Blobs, Expected, Orphan, Quarantined, Reason, lock_contents};
use crate::{audio, inventory, soundfonts};

/// Name of the lease.
const LEASE: &str = "orphans";

/// Every file that belongs to nothing, as the database stands, of those that were stored so long
/// ago. Blocks.
///
/// # Errors
/// When the database or the storage refuses.
pub(crate) fn find(
    database: &Db,
    runtime: &Handle,
    blobs: &Blobs,
    expected: &[Expected],
    age: Duration,
) -> ApiResult<Vec<Orphan>> {
    let waiting = runtime.block_on(audio::waiting(database))?;
    let mut orphans = blobs.orphans(audio::FILES, expected, age)?;
    orphans.extend(blobs.orphans(audio::WAITING, &waiting, age)?);
    orphans.extend(blobs.orphans(soundfonts::FILES, expected, age)?);
    orphans.extend(render_files::orphans(blobs, &owner_ids(database, runtime)?, age)?);
    if !blobs.is_remote() {
        orphans.extend(blobs.orphans(audio::PARTS, expected, age)?);
    }
    Ok(orphans)
}

fn owner_ids(database: &Db, runtime: &Handle) -> ApiResult<HashSet<String>> {
    let names = runtime.block_on(management::user_names(database))?;
    Ok(names.into_iter().map(|(id, _)| id).collect())
}

/// Collects orphans in the interval of the settings until the service stops.
pub(crate) async fn keep_collecting(state: AppState) {
    let every = Duration::from_secs(state.config.orphans.every_secs);
    let holder = uuid::Uuid::new_v4().simple().to_string();
    loop {
        tokio::select! {
            () = state.stop.cancelled() => return,
            () = tokio::time::sleep(every) => {}
        }
        // What stops one of them does not stop the other.
        let own = collect_parts_of_this_machine(&state, &state.blobs).await;
        let shared = collect_if_mine(&state, &holder, every, clock::now_unix_ms()).await;
        for error in [own, shared].into_iter().filter_map(Result::err) {
            tracing::error!("cannot set aside stored files that belong to nothing: {error:#}");
        }
    }
}

/// Collects, unless another process has done so within the interval.
async fn collect_if_mine(state: &AppState, holder: &str, every: Duration, now_ms: i64) -> ApiResult<()> {
    if take_lease(&state.db, LEASE, holder, every).await? {
        collect(state, Duration::from_secs(state.config.orphans.age_secs), now_ms).await?;
    }
    Ok(())
}

/// Sets aside every file that this database has not needed for `age`, brings back the needed ones,
/// and removes those whose time in the quarantine is over.
pub(crate) async fn collect(state: &AppState, age: Duration, now_ms: i64) -> ApiResult<()> {
    state.reserve.refill();
    audio::remove_expired(state).await?;
    audio::forget_deleted(state, now_ms).await?;
    let (state, runtime) = (state.clone(), Handle::current());
    let collecting = move || -> ApiResult<()> {
        state.blobs.sweep_abandoned()?;
        set_aside_unneeded(&state, &runtime, age, now_ms)?;
        keep_quarantine(&state, &runtime, &state.blobs, now_ms)
    };
    tokio::task::spawn_blocking(collecting).await?
}

fn set_aside_unneeded(state: &AppState, runtime: &Handle, age: Duration, now_ms: i64) -> ApiResult<()> {
    // Under the lock, a file that is being uploaded does not look like a leftover.
    let _contents = lock_contents(state, runtime)?;
    runtime.block_on(audio::forget_unowned(&state.db))?;
    let expected = runtime.block_on(inventory::expected(&state.db))?;
    let found = find(&state.db, runtime, &state.blobs, &expected, age)?;
    for orphan in due(&state.db, runtime, &found, age, now_ms)? {
        if is_set_aside(&state.blobs, orphan) {
            forget(&state.db, runtime, orphan)?;
            state.metrics.orphan_removed(orphan.key.folder(), orphan.size_bytes);
        }
    }
    Ok(())
}

/// Those of the files that this database has not needed for `age`. Notes since when it has not
/// needed the others. Blocks.
///
/// # Errors
/// When the database refuses.
pub(crate) fn due<'f>(
    database: &Db,
    runtime: &Handle,
    found: &'f [Orphan],
    age: Duration,
    now_ms: i64,
) -> ApiResult<Vec<&'f Orphan>> {
    let names: Vec<String> = found.iter().map(|one| one.key.file_name()).collect();
    let unneeded: Vec<store::Unneeded<'_>> = std::iter::zip(found, &names)
        .map(|(one, name)| store::Unneeded {
            folder: one.key.folder(),
            name,
            stored_ms: store::unix_ms(one.stored_at),
        })
        .collect();
    let due_ms = now_ms.saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX));
    let due = runtime.block_on(store::note(database, &unneeded, now_ms, due_ms))?;
    Ok(found.iter().filter(|orphan| due.contains(&file_of(orphan))).collect())
}

/// Forgets since when a file that was set aside was not needed: should it come back, its time
/// begins anew. Blocks.
///
/// # Errors
/// When the database refuses.
pub(crate) fn forget(database: &Db, runtime: &Handle, orphan: &Orphan) -> ApiResult<()> {
    Ok(runtime.block_on(store::forget(database, &file_of(orphan)))?)
}

/// Folder and name, as the database notes a file.
fn file_of(orphan: &Orphan) -> (String, String) {
    (orphan.key.folder().to_owned(), orphan.key.file_name())
}

/// Sets a file aside, and says whether that worked. A file that cannot be moved stays, with a line
/// in the log: S3 moves none above 5 GB, and no other file has to wait for that.
fn is_set_aside(blobs: &Blobs, orphan: &Orphan) -> bool {
    let outcome = set_aside(blobs, orphan);
    if let Err(error) = &outcome {
        let (file, bytes) = (orphan.key.path(), orphan.size_bytes);
        tracing::error!(file, bytes, "a stored file that nothing needs cannot be set aside: {error:#}");
    }
    outcome.is_ok()
}

/// Moves a file that nothing needs to the quarantine, with a line in the log. Files of forms whose
/// task is gone count as deleted: no row can need them again, and they give way to uploads.
pub(crate) fn set_aside(blobs: &Blobs, orphan: &Orphan) -> ApiResult<()> {
    let reason = if audio::WAITING.has(&orphan.key) { Reason::Deleted } else { Reason::Unneeded };
    if let Some(place) = blobs.set_aside(&orphan.key, reason)? {
        let (file, bytes) = (orphan.key.path(), orphan.size_bytes);
        tracing::warn!(file, bytes, place, "a stored file that no row of the database needs was set aside");
    }
    Ok(())
}

/// Uploads that began on this machine and that its database does not know lie here alone where
/// files are in object storage, so every process looks at its own. They are set aside once no
/// upload could go on with them, and this machine's quarantine is emptied as the other one is.
async fn collect_parts_of_this_machine(state: &AppState, blobs: &Blobs) -> ApiResult<()> {
    if !blobs.is_remote() {
        return Ok(());
    }
    let kept_secs = state.config.limits.audio.unfinished_upload_secs + state.config.orphans.age_secs;
    let expected = audio::expected(&state.db).await?;
    let (state, runtime, blobs) = (state.clone(), Handle::current(), blobs.local());
    let collecting = move || -> ApiResult<()> {
        for orphan in blobs.orphans(audio::PARTS, &expected, Duration::from_secs(kept_secs))? {
            is_set_aside(&blobs, &orphan);
        }
        keep_quarantine(&state, &runtime, &blobs, clock::now_unix_ms())
    };
    tokio::task::spawn_blocking(collecting).await?
}

/// Brings back from the quarantine what the database needs. For the start.
///
/// # Errors
/// When the database or the storage refuses.
pub(crate) async fn bring_back_needed(state: &AppState) -> ApiResult<()> {
    let (state, runtime) = (state.clone(), Handle::current());
    let bringing = move || {
        if state.blobs.is_remote() {
            needless(&state, &runtime, &state.blobs.local())?;
        }
        needless(&state, &runtime, &state.blobs).map(|_| ())
    };
    tokio::task::spawn_blocking(bringing).await?
}

/// Moves needed files back that are missing, and lists what stays in the quarantine of `blobs`:
/// nothing needs it, or the same file is stored again.
fn needless(state: &AppState, runtime: &Handle, blobs: &Blobs) -> ApiResult<Vec<Quarantined>> {
    let quarantined = blobs.quarantined()?;
    if quarantined.is_empty() {
        return Ok(quarantined);
    }
    let _contents = lock_contents(state, runtime)?;
    let names: HashSet<&str> = quarantined.iter().map(|one| one.name.as_str()).collect();
    for one in runtime.block_on(inventory::expected(&state.db))? {
        if names.contains(one.key.path().as_str()) {
            // Returns when it is missing.
            blobs.contains(&one.key)?;
        }
    }
    Ok(blobs.quarantined()?)
}

/// Removes what has been in the quarantine of `blobs` for long enough at `now_ms`, the time until
/// which deleted files were forgotten: no row may outlive its files.
fn keep_quarantine(state: &AppState, runtime: &Handle, blobs: &Blobs, now_ms: i64) -> ApiResult<()> {
    let orphans = &state.config.orphans;
    for one in needless(state, runtime, blobs)? {
        let kept_secs = match one.reason {
            Reason::Unneeded => orphans.quarantine_secs,
            Reason::Deleted => orphans.deleted_kept_secs,
        };
        if one.is_older(kept_secs, now_ms) {
            blobs.remove_quarantined(&one)?;
            tracing::warn!(
                file = one.name,
                bytes = one.size_bytes,
                since = one.since,
                "removed from the quarantine"
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

    /// Stores a file whose modification time is `age` ago.
    fn store(app: &TestApp, key: &BlobKey, age: Duration) {
        app.state.blobs.put(key, b"belongs to nothing").expect("stores");
        let file = File::options().write(true).open(app.state.blobs.path(key)).expect("opens");
        file.set_modified(SystemTime::now() - age).expect("sets");
    }

    fn is_there(app: &TestApp, key: &BlobKey) -> bool {
        app.state.blobs.path(key).is_file()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_belongs_to_nothing_goes_once_it_is_old() {
        let now_ms = clock::now_unix_ms();
        let app = TestApp::start().await;
        let sound = sine_wav(440.0, 48_000, 0.1);
        let call = with_form(app.local(Method::POST, UPLOAD), &[("kept.wav", &sound)]);
        let kept = call.send().await.expect(201)["files"][0].take();
        let (old, new) = (AGE * 2, AGE / 2);
        let audio = |id: &str| audio::FILES.key(&format!("{}.wav", id.repeat(64))).expect("fits");
        let render = |name: &str| render_files::FILES.key(name).expect("fits");
        let owner = management::user_names(&app.state.db).await.expect("reads")[0].0.clone();
        let (lonely, strangers) = (render(&format!("{owner}_a.wav")), render("nobody_b.wav"));
        let pair = [render(&format!("{owner}_c.wav")), render(&format!("{owner}_c.json"))];
        for (key, age) in [(&audio("a"), old), (&audio("b"), new), (&lonely, old), (&strangers, old)] {
            store(&app, key, age);
        }
        pair.iter().for_each(|key| store(&app, key, old));

        // However old the files are: the database has only begun to miss no row for them.
        collect(&app.state, AGE, now_ms).await.expect("collects");
        for key in [&audio("a"), &lonely, &strangers] {
            assert!(is_there(&app, key), "{key:?}");
        }
        let age_ms = i64::try_from(AGE.as_millis()).expect("fits");
        collect(&app.state, AGE, now_ms + age_ms - 1).await.expect("collects");
        assert!(is_there(&app, &audio("a")));
        collect(&app.state, AGE, now_ms + age_ms).await.expect("collects");
        let there = [&audio("a"), &audio("b"), &lonely, &strangers, &pair[0], &pair[1]]
            .map(|key| is_there(&app, key));
        assert_eq!(there, [false, true, false, false, true, true]);
        let path = format!("/api/v1/audio/{}/file", kept["id"].as_str().expect("an id"));
        assert_eq!(app.local(Method::GET, &path).send().await.status, 200);
        let aside: Vec<String> =
            app.state.blobs.quarantined().expect("lists").into_iter().map(|one| one.name).collect();
        let mut expected = [audio("a"), lonely, strangers].map(|key| key.path());
        expected.sort();
        assert_eq!(aside, expected, "set aside, not removed");
        let said = app.local(Method::GET, "/metrics").send().await;
        let said = String::from_utf8_lossy(&said.bytes).into_owned();
        assert!(said.contains("songfoundry_orphans_removed_total{kind=\"audio\"} 1"), "{said}");
        assert!(said.contains("songfoundry_orphans_removed_total{kind=\"renders\"} 2"), "{said}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_file_that_cannot_be_moved_keeps_no_other_from_being_set_aside() {
        let app = TestApp::start().await;
        let audio = audio::FILES.key(&format!("{}.wav", "a".repeat(64))).expect("fits");
        let render = render_files::FILES.key("nobody_b.wav").expect("fits");
        for key in [&audio, &render] {
            store(&app, key, AGE * 2);
        }
        // In these batches there is no room for audio: a file has the name of its folder.
        let quarantine = app.state.config.storage.dir.join("quarantine");
        let digits = |secs| {
            let text = clock::text_in(secs);
            text.chars().filter(char::is_ascii_digit).take(14).collect::<String>()
        };
        let batches: Vec<_> = (0..120).map(|secs| quarantine.join(digits(secs))).collect();
        for batch in &batches {
            std::fs::create_dir_all(batch).expect("makes");
            std::fs::write(batch.join("audio"), b"in the way").expect("writes");
        }
        let now_ms = clock::now_unix_ms();
        let due_ms = now_ms + i64::try_from(AGE.as_millis()).expect("fits");
        collect(&app.state, AGE, now_ms).await.expect("collects");
        collect(&app.state, AGE, due_ms).await.expect("collects");
        assert!(is_there(&app, &audio) && !is_there(&app, &render));
        for batch in &batches {
            std::fs::remove_file(batch.join("audio")).expect("removes");
        }
        // It has waited long enough: it need not wait again.
        collect(&app.state, AGE, due_ms + 1).await.expect("collects");
        assert!(!is_there(&app, &audio));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn parts_of_uploads_leave_the_quarantine_of_a_machine_with_object_storage() {
        let app = TestApp::start().await;
        let dir = tempfile::tempdir().expect("a folder");
        let opened =
            Blobs::open_remote(dir.path().join("blobs"), Remote::in_memory(), 1 << 20, Sharing::Exclusive);
        let blobs = opened.expect("opens");
        let local = blobs.local();
        let part = audio::PARTS.key(&format!("b1.{}", audio::PARTS.extensions[0])).expect("fits");
        local.put(&part, b"a part").expect("stores");
        assert!(local.set_aside(&part, Reason::Unneeded).expect("moves").is_some());
        collect_parts_of_this_machine(&app.state, &blobs).await.expect("collects");
        assert_eq!(local.quarantined().expect("lists").len(), 1, "its time is not over");
        // As if that had been years ago.
        let quarantine = dir.path().join("quarantine");
        let batch = std::fs::read_dir(&quarantine).expect("reads").next().expect("one").expect("reads");
        std::fs::rename(batch.path(), quarantine.join("20200101000000")).expect("renames");
        collect_parts_of_this_machine(&app.state, &blobs).await.expect("collects");
        assert_eq!(local.quarantined().expect("lists"), []);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_render_is_not_looked_for_in_the_quarantine() {
        let app = TestApp::start().await;
        let owner = management::user_names(&app.state.db).await.expect("reads")[0].0.clone();
        let files = ["wav", "json"].map(|extension| {
            let key = render_files::FILES.key(&format!("{owner}_r.{extension}")).expect("fits");
            let text = r#"{"title":"a","pcm_sha256":"0"}"#;
            app.state.blobs.put(&key, text.as_bytes()).expect("stores");
            key
        });
        let get = || app.local(Method::GET, "/api/v1/plugins/renders/r/file").send();
        assert_eq!(get().await.status, 200);
        for key in &files {
            app.state.blobs.set_aside(key, Reason::Unneeded).expect("moves");
        }
        get().await.problem(404, "not_found");
        assert_eq!(app.state.blobs.quarantined().expect("lists").len(), 2);
        for key in &files {
            assert!(app.state.blobs.return_from_quarantine(key).expect("moves"), "an operator can");
        }
        assert_eq!(get().await.status, 200);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn uploads_go_on_meanwhile() {
        let app = TestApp::start().await;
        let state = app.state.clone();
        let collecting = tokio::spawn(async move {
            loop {
                // However young: what is being brought is safe by its lock.
                collect(&state, Duration::ZERO, clock::now_unix_ms()).await.expect("collects");
            }
        });
        for number in 1..=6 {
            let sound = sine_wav(100.0 * f64::from(number), 48_000, 0.1);
            let call = with_form(app.local(Method::POST, UPLOAD), &[("a.wav", &sound)]);
            call.send().await.expect(201);
        }
        collecting.abort();
        // Ended by the abort, which is what was asked for.
        let _ = collecting.await;
        for one in audio::expected(&app.state.db).await.expect("reads") {
            assert!(is_there(&app, &one.key), "{:?}", one.key);
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn one_process_does_it() {
        let app = TestApp::with(&[("SF_ORPHAN_AGE_SECS", "60")]).await;
        let key = audio::FILES.key(&format!("{}.wav", "a".repeat(64))).expect("fits");
        store(&app, &key, AGE);
        assert!(take_lease(&app.state.db, LEASE, "another", AGE).await.expect("takes"));
        let now_ms = clock::now_unix_ms();
        collect_if_mine(&app.state, "this", AGE, now_ms).await.expect("asks");
        collect_if_mine(&app.state, "this", AGE, now_ms + 60_000).await.expect("asks");
        assert!(is_there(&app, &key), "it was another's turn");
        assert!(take_lease(&app.state.db, LEASE, "another", Duration::ZERO).await.expect("lets go"));
        collect_if_mine(&app.state, "this", AGE, now_ms).await.expect("collects");
        collect_if_mine(&app.state, "this", AGE, now_ms + 60_000).await.expect("collects");
        assert!(!is_there(&app, &key));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_file_that_was_set_aside_returns_when_a_row_needs_it() {
        let app = TestApp::start().await;
        let sound = sine_wav(440.0, 48_000, 0.1);
        let call = with_form(app.local(Method::POST, UPLOAD), &[("a.wav", &sound)]);
        let file = call.send().await.expect(201)["files"][0].take();
        for one in audio::expected(&app.state.db).await.expect("reads") {
            app.state.blobs.set_aside(&one.key, Reason::Unneeded).expect("moves");
        }
        let path = format!("/api/v1/audio/{}/file", file["id"].as_str().expect("an id"));
        let answer = app.local(Method::GET, &path).send().await;
        assert_eq!((answer.status.as_u16(), answer.bytes), (200, sound));
        // The others return at a start, before anybody asks.
        assert_eq!(app.state.blobs.quarantined().expect("lists").len(), 2);
        bring_back_needed(&app.state).await.expect("brings back");
        assert!(app.state.blobs.quarantined().expect("lists").is_empty());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_file_that_was_stored_again_counts_as_new() {
        let app = TestApp::start().await;
        let key = audio::FILES.key(&format!("{}.wav", "a".repeat(64))).expect("fits");
        let now_ms = clock::now_unix_ms();
        let one = |stored_ms| [store::Unneeded { folder: key.folder(), name: "a.wav", stored_ms }];
        let note = async |stored_ms, now_ms: i64| {
            let due = store::note(&app.state.db, &one(stored_ms), now_ms, now_ms - 1_000).await;
            due.expect("notes").len()
        };
        assert_eq!(note(now_ms - 5_000, now_ms).await, 0);
        assert_eq!(note(now_ms - 5_000, now_ms + 1_000).await, 1);
        // As a database does that was restored from before the file was stored again.
        assert_eq!(note(now_ms + 500, now_ms + 1_000).await, 0);
        assert_eq!(note(now_ms + 500, now_ms + 2_000).await, 1);
        // Needed in between: it begins anew.
        store::note(&app.state.db, &[], now_ms + 2_000, 0).await.expect("notes");
        assert_eq!(note(now_ms + 500, now_ms + 3_000).await, 0);
    }
}
