//! Stored files that belong to nothing, removed now and then: what a crash, a cancelled task or a deleted file left.
//!
//! One process does it at a time, by a lease in the database. A file must have been stored for a while, so that none is
//! taken away that somebody is just bringing (`SF_ORPHAN_AGE_SECS`).

use std::collections::HashSet;
use std::time::Duration;

use tokio::runtime::Handle;

use crate::audio;
use crate::auth::management;
use crate::blobs::{Blobs, Expected, Orphan};
use crate::db::{Db, take_lease};
use crate::error::ApiResult;
use crate::plugins::{renders, soundfonts};
use crate::state::AppState;

/// Name of the lease.
const LEASE: &str = "orphans";

/// Every file that belongs to nothing, as the database stands. Blocks.
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
    let mut orphans = blobs.orphans(audio::FILES, expected, age)?;
    orphans.extend(blobs.orphans(soundfonts::FILES, expected, age)?);
    orphans.extend(renders::orphans(blobs, &owner_ids(database, runtime)?, age)?);
    Ok(orphans)
}

fn owner_ids(database: &Db, runtime: &Handle) -> ApiResult<HashSet<String>> {
    let names = runtime.block_on(management::user_names(database))?;
    Ok(names.into_iter().map(|(id, _)| id).collect())
}

/// Removes orphans in the interval of the settings until the service stops.
pub(crate) async fn keep_collecting(state: AppState) {
    let every = Duration::from_secs(state.config.orphans.every_secs);
    let holder = uuid::Uuid::new_v4().simple().to_string();
    loop {
        tokio::select! {
            () = state.stop.cancelled() => return,
            () = tokio::time::sleep(every) => {}
        }
        if let Err(error) = collect_if_mine(&state, &holder, every).await {
            tracing::error!("cannot remove stored files that belong to nothing: {error:#}");
        }
    }
}

/// Collects, unless another process has done so within the interval.
async fn collect_if_mine(state: &AppState, holder: &str, every: Duration) -> ApiResult<()> {
    if take_lease(&state.db, LEASE, holder, every).await? {
        collect(state, Duration::from_secs(state.config.orphans.age_secs)).await?;
    }
    Ok(())
}

/// Removes every orphan that is so old.
pub(crate) async fn collect(state: &AppState, age: Duration) -> ApiResult<()> {
    audio::remove_expired(state).await?;
    let (work_state, runtime) = (state.clone(), Handle::current());
    let removing = move || -> ApiResult<Vec<Orphan>> {
        let state = work_state;
        state.blobs.sweep_abandoned()?;
        let mut removed = audio::remove_orphans(&state, &runtime, age)?;
        removed.extend(soundfonts::remove_orphans(&state, &runtime, age)?);
        let renders = renders::orphans(&state.blobs, &owner_ids(&state.db, &runtime)?, age)?;
        for orphan in &renders {
            state.blobs.remove(&orphan.key)?;
        }
        removed.extend(renders);
        Ok(removed)
    };
    let removed = tokio::task::spawn_blocking(removing).await??;
    for orphan in &removed {
        state.metrics.orphan_removed(orphan.key.folder(), orphan.size_bytes);
    }
    if !removed.is_empty() {
        let bytes: u64 = removed.iter().map(|orphan| orphan.size_bytes).sum();
        tracing::info!(files = removed.len(), bytes, "removed stored files that belonged to nothing");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use axum::http::Method;

    use super::*;
    use crate::audio::sounds::sine_wav;
    use crate::audio::tests::{UPLOAD, with_form};
    use crate::blobs::BlobKey;
    use crate::test_app::TestApp;

    const AGE: Duration = Duration::from_secs(3_600);

    /// Stores a file that was there for so long.
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
        let app = TestApp::start().await;
        let sound = sine_wav(440.0, 48_000, 0.1);
        let call = with_form(app.local(Method::POST, UPLOAD), &[("kept.wav", &sound)]);
        let kept = call.send().await.expect(201)["files"][0].take();
        let (old, new) = (AGE * 2, AGE / 2);
        let audio = |id: &str| audio::FILES.key(&format!("{}.wav", id.repeat(64))).expect("fits");
        let render = |name: &str| renders::FILES.key(name).expect("fits");
        let owner = management::user_names(&app.state.db).await.expect("reads")[0].0.clone();
        let (lonely, strangers) = (render(&format!("{owner}_a.wav")), render("nobody_b.wav"));
        let pair = [render(&format!("{owner}_c.wav")), render(&format!("{owner}_c.json"))];
        for (key, age) in [(&audio("a"), old), (&audio("b"), new), (&lonely, old), (&strangers, old)] {
            store(&app, key, age);
        }
        pair.iter().for_each(|key| store(&app, key, old));

        collect(&app.state, AGE).await.expect("collects");
        let there = [&audio("a"), &audio("b"), &lonely, &strangers, &pair[0], &pair[1]]
            .map(|key| is_there(&app, key));
        assert_eq!(there, [false, true, false, false, true, true]);
        let path = format!("/api/v1/audio/{}/file", kept["id"].as_str().expect("an id"));
        assert_eq!(app.local(Method::GET, &path).send().await.status, 200);
        let said = app.local(Method::GET, "/metrics").send().await;
        let said = String::from_utf8_lossy(&said.bytes).into_owned();
        assert!(said.contains("songfoundry_orphans_removed_total{kind=\"audio\"} 1"), "{said}");
        assert!(said.contains("songfoundry_orphans_removed_total{kind=\"renders\"} 2"), "{said}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn uploads_go_on_meanwhile() {
        let app = TestApp::start().await;
        let state = app.state.clone();
        let collecting = tokio::spawn(async move {
            loop {
                // However young: what is being brought is safe by its lock.
                collect(&state, Duration::ZERO).await.expect("collects");
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
        collect_if_mine(&app.state, "this", AGE).await.expect("asks");
        assert!(is_there(&app, &key), "it was another's turn");
        assert!(take_lease(&app.state.db, LEASE, "another", Duration::ZERO).await.expect("lets go"));
        collect_if_mine(&app.state, "this", AGE).await.expect("collects");
        assert!(!is_there(&app, &key));
    }
}
