//! Tests uploaded SoundFonts: access to them, their sound, refusals and deletion.

use axum::http::Method;
use serde_json::{Value, json};

use super::small_banks::{sf2, sf2_of_presets, sf2_with_a_bad_sample, sf2_without_presets, sf3};
use crate::audio::test_files::sine_wav;
use crate::audio::tests::{UPLOAD as AUDIO_UPLOAD, with_form};
use crate::clock;
use crate::orphans;
use crate::test_app::{Answer, TestApp};
use crate::test_studio::{Studio, float_samples, peak, song};

const UPLOAD: &str = "/api/v1/plugins/soundfonts/upload";
const CATALOG: &str = "/api/v1/plugins/soundfonts/catalog";

/// A user with a log-in token.
struct TestUser<'a> {
    app: &'a TestApp,
    token: String,
}

impl<'a> TestUser<'a> {
    async fn new(app: &'a TestApp, name: &str) -> Self {
        Self { app, token: app.token_of_new_user(name).await }
    }

    async fn admin(app: &'a TestApp) -> Self {
        Self { app, token: app.admin_token().await }
    }

    async fn upload(&self, name: &str, bytes: &[u8]) -> Answer {
        let call = self.app.remote(Method::POST, UPLOAD).token(&self.token);
        with_form(call, &[(name, bytes)]).send().await
    }

    async fn get(&self, path: &str) -> Answer {
        self.app.remote(Method::GET, path).token(&self.token).send().await
    }

    async fn delete(&self, id: &str) -> Answer {
        let path = format!("/api/v1/plugins/soundfonts/{id}");
        self.app.remote(Method::DELETE, &path).token(&self.token).send().await
    }

    async fn download(&self, id_and_query: &str) -> Answer {
        self.get(&format!("/api/v1/plugins/soundfonts/download/{id_and_query}")).await
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        self.app.remote(Method::POST, path).token(&self.token).json(body).send().await
    }

    /// Returns the catalogue's entry of an id.
    async fn entry(&self, id: &str) -> Option<Value> {
        let catalog = self.get(CATALOG).await.expect(200);
        let soundfonts = catalog["soundfonts"].as_array().expect("a list");
        let mut matching = soundfonts.iter().filter(|entry| entry["soundfont_id"] == id);
        let entry = matching.next().cloned();
        assert!(matching.next().is_none(), "the id is listed more than once");
        entry
    }

    /// Renders a note. Returns its samples, and the id of the bank that played it with the fallback
    /// flag.
    async fn note(&self, id: &str) -> (Vec<f32>, String) {
        let note = json!({"tick": 0, "length_ticks": 960, "pitch": 60, "velocity": 0.8});
        let body = json!({"notes": [note], "soundfont_id": id, "tail_secs": 0.1});
        let answer = self.post("/api/v1/plugins/soundfont-render", &body).await;
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.bytes));
        let used_bank =
            format!("{} {}", answer.header("x-soundfont-id"), answer.header("x-soundfont-fallback"));
        (float_samples(&answer.bytes), used_bank)
    }
}

/// Returns the names of the stored files of uploads.
fn stored_files(app: &TestApp) -> Vec<String> {
    let entries = app.state.blobs.entries("soundfonts").expect("lists");
    entries.iter().map(|entry| entry.file_name()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_sounds_identical_to_an_installed_file() {
    let studio = Studio::start().await;
    let ada = TestUser::new(&studio.app, "ada").await;
    for (format, bytes) in [("sf2", sf2(1_000)), ("sf3", sf3())] {
        let answer = ada.upload(&format!("My own {format}.{format}"), &bytes).await.expect(201);
        let id = format!("myown{format}");
        for (field, expected) in [
            ("soundfont_id", json!(id)),
            ("name", json!("Made for a test")),
            ("source", json!("upload")),
            ("format", json!(format)),
            ("size_bytes", json!(bytes.len())),
            ("usable", json!(true)),
            ("default", json!(false)),
            ("others", json!([])),
            ("presets", json!([{"bank": 0, "program": 0, "name": "Preset"}])),
        ] {
            assert_eq!(answer[field], expected, "{field}");
        }
        assert_eq!(answer["uploaded"]["content_hash"], answer["content_hash"]);
        assert_eq!(
            (&answer["uploaded"]["already_there"], &answer["uploaded"]["replaced"]),
            (&json!(false), &json!(false))
        );
        let mut listed_bank = ada.entry(&id).await.expect("is listed");
        listed_bank["uploaded"] = answer["uploaded"].clone();
        assert_eq!(listed_bank, answer);
        let available_sounds = ada.get("/api/v1/plugins/available").await.expect(200);
        let available_sounds = available_sounds["soundfonts"].as_array().expect("a list");
        assert!(
            available_sounds.iter().any(|entry| entry["soundfont_id"] == *id && entry["source"] == "upload")
        );

        let file = ada.download(&id).await;
        assert!(file.status == 200 && file.bytes == bytes, "the download differs from the uploaded file");
        assert_eq!((file.header("x-soundfont-id"), file.header("x-soundfont-fallback")), (&*id, "false"));
        let reduced = ada.download(&format!("{id}?presets=0:0")).await;
        assert_eq!((reduced.status.as_u16(), reduced.header("x-soundfont-fallback")), (200, "false"));

        // The same file is put into a folder, and so is the reduced file that browsers get.
        std::fs::write(studio.path(&format!("installed-{format}.{format}")), &bytes).expect("writes");
        std::fs::write(studio.path(&format!("reduced-{format}.sf2")), &reduced.bytes).expect("writes");
        studio.app.state.soundfonts.catalogue.rescan().await.expect("scans");
        let (sound, used_bank) = ada.note(&id).await;
        assert!(peak(&sound) > 0.01 && used_bank == format!("{id} false"), "{used_bank}");
        for other in ["installed", "reduced"] {
            assert!(sound == ada.note(&format!("{other}{format}")).await.0, "{other} {format}");
        }
        let hash = async |id: &str| {
            let mut project = song(0, 0, json!([]));
            project["tracks"][0]["synth_engine"]["soundfont_id"] = json!(id);
            let answer = ada.post("/api/v1/plugins/render", &json!({"project": project})).await.expect(200);
            assert_eq!(answer["receipt"]["settings"]["soundfonts"], json!([id]));
            assert_eq!(answer["receipt"]["silent_tracks"], json!([]));
            answer["receipt"]["pcm_sha256"].clone()
        };
        assert_eq!(hash(&id).await, hash(&format!("installed{format}")).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn users_cannot_access_uploads_of_other_users() {
    let studio = Studio::start().await;
    let (ada, bob) = (TestUser::new(&studio.app, "ada").await, TestUser::new(&studio.app, "bob").await);
    let admin = TestUser::admin(&studio.app).await;
    let catalog_before = bob.get(CATALOG).await;
    ada.upload("mine.sf2", &sf2(1_000)).await.expect(201);
    let ada_answer = ada.download("mine").await;
    let (hers_tag, sound) = (ada_answer.header("etag").to_owned(), ada.note("mine").await.0);
    for other in [&bob, &admin] {
        assert_eq!(other.entry("mine").await, None);
        let available_sounds = other.get("/api/v1/plugins/available").await.expect(200);
        assert!(!available_sounds.to_string().contains("\"mine\""), "{available_sounds}");
        let answer = other.download("mine").await;
        assert_eq!(
            (answer.header("x-soundfont-id"), answer.header("x-soundfont-fallback")),
            ("timgm6mb", "true")
        );
        let path = "/api/v1/plugins/soundfonts/download/mine";
        let call =
            studio.app.remote(Method::GET, path).token(&other.token).header("if-none-match", &hers_tag);
        assert_eq!(call.send().await.status, 200, "the entity tag of another user's file must not match");
        let (others_sound, used_bank) = other.note("mine").await;
        assert!(others_sound != sound && used_bank == "timgm6mb true", "{used_bank}");
        other.delete("mine").await.problem(404, "not_found");
    }
    assert_eq!(catalog_before.header("etag"), bob.get(CATALOG).await.header("etag"));
    assert_ne!(catalog_before.header("etag"), ada.get(CATALOG).await.header("etag"));

    // Two users may have different files with the same id. The same is true of reduced files.
    bob.upload("Mine.sf2", &sf2(300)).await.expect(201);
    assert!(bob.download("mine").await.bytes == sf2(300) && ada.download("mine").await.bytes == sf2(1_000));
    let reduced = "mine?presets=0:0";
    let (ada_answer, bob_answer) = (ada.download(reduced).await, bob.download(reduced).await);
    assert!(ada_answer.bytes != bob_answer.bytes && ada_answer.header("etag") != bob_answer.header("etag"));
    assert!(bob.note("mine").await.0 != sound && ada.note("mine").await.0 == sound);
    bob.delete("mine").await.expect(204);
    assert!(ada.note("mine").await.0 == sound, "deleting affects only the caller's file");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_uses_the_soundfonts_of_its_owner() {
    let studio = Studio::start().await;
    let (ada, bob) = (TestUser::new(&studio.app, "ada").await, TestUser::new(&studio.app, "bob").await);
    ada.upload("mine.sf2", &sf2(1_000)).await.expect(201);
    let mut project = song(0, 0, json!([]));
    project["tracks"][0]["synth_engine"]["soundfont_id"] = json!("mine");
    let result = async |caller: &TestUser<'_>, path: &str, body: &Value| {
        let started = caller.post(path, body).await.expect(202);
        assert!(studio.app.state.tasks.wait_until_drained(std::time::Duration::from_secs(60)).await);
        let task = format!("/api/v1/tasks/{}", started["task_id"].as_str().expect("an id"));
        let task = caller.get(&task).await.expect(200);
        assert_eq!(task["state"], "succeeded", "{task}");
        task["result"].clone()
    };
    let render = "/api/v1/plugins/render?async=true";
    let body = json!({"project": project});
    let used_bank =
        async |caller| result(caller, render, &body).await["receipt"]["settings"]["soundfonts"].clone();
    assert_eq!((used_bank(&ada).await, used_bank(&bob).await), (json!(["mine"]), json!(["timgm6mb"])));
    let direct_answer = ada.post("/api/v1/plugins/render", &body).await.expect(200);
    assert_eq!(
        result(&ada, render, &body).await["receipt"]["pcm_sha256"],
        direct_answer["receipt"]["pcm_sha256"]
    );
    for (path, fields) in [("mixdown", json!({})), ("stems", json!({})), ("freeze", json!({"track_id": "t"}))]
    {
        let mut body = body.clone();
        body.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
        let path = format!("/api/v1/multitrack/{path}");
        let (ada_answer, bob_answer) = (result(&ada, &path, &body).await, result(&bob, &path, &body).await);
        let loudness = |result: &Value| {
            let measured_fields = [&result["lufs"], &result["stems"][0]["lufs"], &result["file"]["sha256"]];
            measured_fields.map(Value::to_string).join(" ")
        };
        assert_ne!(loudness(&ada_answer), loudness(&bob_answer), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_comes_before_the_soundfont_of_the_system_and_lists_it() {
    let studio = Studio::start().await;
    let ada = TestUser::new(&studio.app, "ada").await;
    let system_sound = ada.note("timgm6mb").await.0;
    ada.upload("TimGM6mb.sf3", &sf3()).await.expect(201);
    let answer = ada.upload("TimGM6mb.sf2", &sf2(1_000)).await.expect(201);
    assert_eq!(
        (&answer["format"], &answer["source"], &answer["default"]),
        (&json!("sf2"), &json!("upload"), &json!(true))
    );
    let kinds = |entry: &Value| {
        let other_entries = entry["others"].as_array().expect("a list");
        let kind = |other: &Value| format!("{} {}", other["source"], other["format"]).replace('"', "");
        other_entries.iter().map(kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&answer), ["upload sf3", "system sf2"]);
    let second_upload = ada.upload("TimGM6mb.sf3", &sf3()).await.expect(201);
    assert_eq!(
        (&second_upload["format"], &second_upload["uploaded"]["format"]),
        (&json!("sf2"), &json!("sf3"))
    );
    assert_eq!(second_upload["uploaded"]["already_there"], true);
    let (sound, used_bank) = ada.note("timgm6mb").await;
    assert!(sound != system_sound && used_bank == "timgm6mb false", "{used_bank}");
    assert!(ada.note("gone").await.0 == sound, "the upload with the default's id is the default");

    // Both uploads are deleted, and the answer names the owner of the remaining SoundFont.
    let delete_answer = ada.delete("timgm6mb").await;
    assert_eq!((delete_answer.status.as_u16(), delete_answer.header("x-soundfont-instead")), (204, "system"));
    assert_eq!(stored_files(&studio.app), [""; 0]);
    assert!(ada.note("timgm6mb").await.0 == system_sound);
    ada.delete("timgm6mb").await.problem(403, "system_soundfont");
    ada.upload("other.sf2", &sf2(1_000)).await.expect(201);
    assert_eq!(ada.delete("other").await.header("x-soundfont-instead"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_system_soundfonts_the_first_upload_is_the_default() {
    let studio = Studio::without_soundfonts(&[]).await;
    let (ada, bob) = (TestUser::new(&studio.app, "ada").await, TestUser::new(&studio.app, "bob").await);
    ada.upload("b.sf2", &sf2(1_000)).await.expect(201);
    ada.upload("a.sf2", &sf2(500)).await.expect(201);
    assert_eq!(ada.entry("a").await.expect("is listed")["default"], true);
    assert_eq!(ada.note("gone").await.1, "a true");
    bob.download("a").await.problem(404, "no_soundfont");
    let note = json!({"notes": [], "soundfont_id": "a"});
    bob.post("/api/v1/plugins/soundfont-render", &note).await.problem(501, "soundfont_render_unavailable");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_upload_changes_nothing_and_a_different_file_replaces_the_first() {
    let studio = Studio::start().await;
    let (ada, bob) = (TestUser::new(&studio.app, "ada").await, TestUser::new(&studio.app, "bob").await);
    let flags = |answer: &Value| {
        [answer["uploaded"]["already_there"].clone(), answer["uploaded"]["replaced"].clone()]
    };
    ada.upload("mine.sf2", &sf2(1_000)).await.expect(201);
    let first = stored_files(&studio.app);
    let second_upload = ada.upload("MINE.sf2", &sf2(1_000)).await.expect(201);
    assert_eq!(
        (flags(&second_upload), stored_files(&studio.app)),
        ([json!(true), json!(false)], first.clone())
    );
    // Uploads with another id or by another user share one stored file.
    ada.upload("second.sf2", &sf2(1_000)).await.expect(201);
    bob.upload("his.sf2", &sf2(1_000)).await.expect(201);
    assert_eq!(stored_files(&studio.app), first);
    let other = ada.upload("mine.sf2", &sf2(300)).await.expect(201);
    assert_eq!((flags(&other), stored_files(&studio.app).len()), ([json!(false), json!(true)], 2));
    assert!(ada.download("mine").await.bytes == sf2(300) && bob.download("his").await.bytes == sf2(1_000));
    for (caller, id, expected) in [(&ada, "mine", 1), (&ada, "second", 1), (&bob, "his", 0)] {
        caller.delete(id).await.expect(204);
        assert_eq!(stored_files(&studio.app).len(), expected, "{id}");
    }
    // Uploading the same file again restores a lost file.
    ada.upload("mine.sf2", &sf2(700)).await.expect(201);
    let lost =
        studio.app.state.config.storage.dir.join("blobs/soundfonts").join(&stored_files(&studio.app)[0]);
    std::fs::remove_file(lost).expect("removes");
    ada.download("mine").await.problem(404, "not_found");
    ada.upload("mine.sf2", &sf2(700)).await.expect(201);
    assert!(ada.download("mine").await.bytes == sf2(700));
}

#[tokio::test(flavor = "multi_thread")]
async fn unplayable_files_are_refused_and_not_stored() {
    let app = TestApp::start().await;
    let ada = TestUser::new(&app, "ada").await;
    let sound = sine_wav(440.0, 48_000, 0.1);
    for bytes in [b"no SoundFont".as_slice(), b"", &sound] {
        let detail = ada.upload("a.sf2", bytes).await.problem(415, "unsupported_media_type");
        assert!(detail.starts_with("`a.sf2` cannot be used: not a SoundFont"), "{detail}");
    }
    let whole_bank = sf2(1_000);
    let detail =
        ada.upload("cut.sf2", &whole_bank[..whole_bank.len() - 100]).await.problem(422, "soundfont_damaged");
    assert!(detail.contains("cut short"), "{detail}");
    let empty = sf2_without_presets();
    let detail = ada.upload("empty.sf2", &empty).await.problem(422, "soundfont_damaged");
    assert!(detail.contains("`empty.sf2`"), "{detail}");
    let detail = ada.upload("???.sf2", &whole_bank).await.problem(422, "bad_soundfont_name");
    assert!(detail.contains("`???.sf2`"), "{detail}");
    let call = || app.remote(Method::POST, UPLOAD).token(&ada.token);
    with_form(call(), &[]).send().await.problem(400, "no_file");
    with_form(call(), &[("a.sf2", &whole_bank), ("b.sf2", &whole_bank)])
        .send()
        .await
        .problem(400, "too_many_files");
    call()
        .raw("application/octet-stream", whole_bank.clone())
        .send()
        .await
        .problem(415, "unsupported_media_type");
    with_form(app.remote(Method::POST, UPLOAD), &[("a.sf2", &whole_bank)])
        .send()
        .await
        .problem(401, "token_missing");
    app.remote(Method::DELETE, "/api/v1/plugins/soundfonts/a").send().await.problem(401, "token_missing");
    assert_eq!((stored_files(&app), ada.entry("a").await), (Vec::new(), None));
    // A bank with faulty parts is accepted, and the answer names these parts.
    let answer = ada.upload("gaps.sf2", &sf2_with_a_bad_sample()).await.expect(201);
    assert!(answer["uploaded"]["skipped"]["count"].as_u64().is_some_and(|count| count > 0), "{answer}");
    assert!(
        answer["skipped"]["reasons"][0].as_str().is_some_and(|reason| reason.contains("sample 1")),
        "{answer}"
    );
    // Requests from the machine itself need no token.
    with_form(app.local(Method::POST, UPLOAD), &[("local.sf2", &whole_bank)]).send().await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn size_disk_and_quota_errors_name_the_limit() {
    let bank = sf2(1_000);
    let size = bank.len();
    let app = TestApp::with(&[("SF_SOUNDFONT_UPLOAD_MAX_BYTES", "1024")]).await;
    let ada = TestUser::new(&app, "ada").await;
    let detail = ada.upload("a.sf2", &bank).await.problem(413, "too_large");
    assert!(detail.contains("A SoundFont") && detail.contains("1024 bytes"), "{detail}");
    assert_eq!(stored_files(&app), [""; 0]);

    let app = TestApp::with(&[("SF_DISK_RESERVE_BYTES", "1125899906842624")]).await;
    TestUser::new(&app, "ada").await.upload("a.sf2", &bank).await.problem(507, "storage_full");
    assert_eq!(stored_files(&app), [""; 0]);

    // The quota is enough for two and a half banks.
    let quota = (size * 5 / 2).to_string();
    let app = TestApp::with(&[("SF_AUDIO_QUOTA_BYTES", &quota)]).await;
    let (ada, bob) = (TestUser::new(&app, "ada").await, TestUser::new(&app, "bob").await);
    ada.upload("a.sf2", &sf2(1_000)).await.expect(201);
    ada.upload("b.sf2", &sf2(900)).await.expect(201);
    let detail = ada.upload("c.sf2", &sf2(800)).await.problem(507, "quota_exceeded");
    assert!(detail.contains(&quota) && detail.contains(&(2 * size).to_string()), "{detail}");
    assert_eq!(stored_files(&app).len(), 2);
    ada.upload("b.sf2", &sf2(800)).await.expect(201);
    ada.upload("b.sf2", &sf2(800)).await.expect(201);
    bob.upload("c.sf2", &sf2(800)).await.expect(201);
    // Audio counts towards the same quota.
    let sound = sine_wav(440.0, 48_000, 0.01);
    let audio = |caller: &TestUser<'_>| {
        let call = app.remote(Method::POST, AUDIO_UPLOAD).token(&caller.token);
        with_form(call, &[("a.wav", &sound)]).send()
    };
    audio(&ada).await.problem(507, "quota_exceeded");
    audio(&bob).await.expect(201);
    ada.delete("a").await.expect(204);
    ada.upload("c.sf2", &sf2(700)).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_files_of_a_deleted_account_are_collected_as_orphans() {
    let app = TestApp::start().await;
    let (ada, bob) = (TestUser::new(&app, "ada").await, TestUser::new(&app, "bob").await);
    ada.upload("both.sf2", &sf2(1_000)).await.expect(201);
    bob.upload("both.sf2", &sf2(1_000)).await.expect(201);
    ada.upload("hers.sf3", &sf3()).await.expect(201);
    let storage = app.local(Method::GET, "/api/v1/admin/storage").send().await.expect(200);
    let (sf2_bytes, sf3_bytes) = (sf2(1_000).len(), sf3().len());
    let usage_of = |name: &str| {
        storage["users"].as_array().expect("users").iter().find(|user| user["username"] == name).cloned()
    };
    let (ada_answer, bob_answer) =
        (usage_of("ada").expect("an entry of Ada"), usage_of("bob").expect("an entry of Bob"));
    assert_eq!(
        (&ada_answer["soundfonts"], &ada_answer["soundfont_bytes"]),
        (&json!(2), &json!(sf2_bytes + sf3_bytes))
    );
    assert_eq!((&bob_answer["soundfonts"], &bob_answer["total_bytes"]), (&json!(1), &json!(sf2_bytes)));
    assert_eq!(storage["soundfont_disk_bytes"], json!(sf2_bytes + sf3_bytes));
    let me = ada.get("/api/v1/auth/me").await.expect(200);
    sqlx::query("DELETE FROM users WHERE id = $1")
        .bind(me["id"].as_str().expect("an id"))
        .execute(&app.state.db)
        .await
        .expect("deletes");
    assert_eq!(stored_files(&app).len(), 2, "files stay until orphans are collected");
    orphans::collect(&app.state, std::time::Duration::ZERO, clock::now_unix_ms()).await.expect("collects");
    let remaining = stored_files(&app);
    assert_eq!(remaining.len(), 1);
    assert!(bob.download("both").await.bytes == sf2(1_000), "{remaining:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_names_the_files_that_are_not_played() {
    let app = TestApp::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let real_path = folder.path().canonicalize().expect("the file exists");
    for (name, bytes) in
        [("a/Twin.sf2", sf2(1_000)), ("b/twin.sf2", sf2(300)), ("twin.sf3", sf3()), ("z.sf2", sf2(9))]
    {
        std::fs::create_dir_all(real_path.join(name).parent().expect("a folder")).expect("makes");
        std::fs::write(real_path.join(name), bytes).expect("writes");
    }
    let body = json!({ "path": real_path });
    app.local(Method::POST, "/api/v1/plugins/dirs").json(&body).send().await.expect(200);
    let call = app.local(Method::POST, UPLOAD);
    with_form(call, &[("z.sf2", &sf2(1_000))]).send().await.expect(201);
    let scan = app.local(Method::POST, "/api/v1/plugins/scan").send().await.expect(200);
    let list = |value: &Value, field: &str| {
        let list = value.as_array().expect("a list").iter();
        list.map(|entry| entry[field].as_str().unwrap_or("-").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(list(&scan["soundfonts"], "soundfont_id"), ["twin", "z", "z"]);
    assert_eq!(list(&scan["soundfonts"], "source"), ["system", "system", "upload"]);
    assert_eq!(
        (&scan["soundfonts"][2]["path"], &scan["soundfonts"][2]["directory"]),
        (&Value::Null, &Value::Null)
    );
    let ignored_files: Vec<String> = list(&scan["ignored"], "path");
    let path = |name: &str| real_path.join(name).display().to_string();
    assert_eq!(ignored_files, [path("b/twin.sf2"), path("twin.sf3")]);
    let reasons = list(&scan["ignored"], "reason");
    assert!(reasons[0].contains("found earlier") && reasons[0].contains(&path("a/Twin.sf2")), "{reasons:?}");
    assert!(reasons[1].contains("precedence over an SF3"), "{reasons:?}");
    let scans = app.local(Method::GET, "/api/v1/admin/scans").send().await.expect(200);
    assert_eq!(list(&scans["soundfonts"]["problems"], "path"), ignored_files);
    let catalog = app.local(Method::GET, CATALOG).send().await.expect(200);
    let twin = &catalog["soundfonts"][0];
    assert_eq!(list(&twin["others"], "format"), ["sf2", "sf3"]);
    assert!(
        !twin.to_string().contains(&*real_path.to_string_lossy()),
        "the catalogue contains a path: {twin}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn simultaneous_uploads_store_one_file_while_orphans_are_collected() {
    let app = TestApp::start().await;
    let ada = TestUser::new(&app, "ada").await;
    let state = app.state.clone();
    let collecting = tokio::spawn(async move {
        loop {
            // Even with an age of zero, the lock protects files of running uploads.
            orphans::collect(&state, std::time::Duration::ZERO, clock::now_unix_ms())
                .await
                .expect("collects");
        }
    });
    let bytes = sf2(1_000);
    let answers = futures_util::future::join_all((0..6).map(|_| ada.upload("same.sf2", &bytes))).await;
    collecting.abort();
    // The aborted task returns an error, as expected.
    let _ = collecting.await;
    let already_stored =
        answers.iter().filter(|answer| answer.expect(201)["uploaded"]["already_there"] == true);
    assert_eq!((already_stored.count(), stored_files(&app).len()), (5, 1));
    assert!(ada.download("same").await.bytes == bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_file_is_removed_from_the_quarantine_even_if_it_was_uploaded_again() {
    let app = TestApp::start().await;
    let ada = TestUser::new(&app, "ada").await;
    let bytes = sf2(1_000);
    ada.upload("mine.sf2", &bytes).await.expect(201);
    ada.delete("mine").await.expect(204);
    ada.upload("mine.sf2", &bytes).await.expect(201);
    let quarantine = app.state.config.storage.dir.join("quarantine");
    let batches: Vec<_> = std::fs::read_dir(&quarantine).expect("reads").collect();
    assert_eq!(batches.len(), 1);
    // Renames the batch as if the file had been deleted years ago.
    let batch = batches[0].as_ref().expect("a batch").path();
    std::fs::rename(batch, quarantine.join("20200101000000-deleted")).expect("renames");
    let age = std::time::Duration::from_secs(3_600);
    orphans::collect(&app.state, age, clock::now_unix_ms()).await.expect("collects");
    assert_eq!(app.state.blobs.list_quarantined().expect("lists"), []);
    assert!(ada.download("mine").await.bytes == bytes);
}

#[tokio::test]
async fn a_soundfont_with_any_letter_in_its_name_can_be_found_and_deleted_by_its_id() {
    let studio = Studio::start().await;
    let caller = TestUser::new(&studio.app, "nermin").await;
    // The lower case of this letter is an i with a combining mark.
    let upload_answer = caller.upload("\u{130}nci.sf2", &sf2(900)).await.expect(201);
    let id = upload_answer["soundfont_id"].as_str().expect("an id").to_owned();
    assert_eq!(caller.entry(&id).await.expect("is listed")["source"], "upload");
    let in_path: String = id.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let downloaded_bank = caller.download(&in_path).await;
    assert_eq!(
        (downloaded_bank.status.as_u16(), downloaded_bank.header("x-soundfont-fallback")),
        (200, "false"),
        "{id}"
    );
    assert_eq!(caller.delete(&in_path).await.status, 204, "{id}");
    assert!(caller.entry(&id).await.is_none(), "{id}");
}

#[tokio::test]
async fn the_number_of_presets_is_limited_per_soundfont_and_per_user() {
    let studio = Studio::start().await;
    let caller = TestUser::new(&studio.app, "many").await;
    let upload_answer = caller.upload("a.sf2", &sf2_of_presets(40_000)).await.expect(201);
    assert_eq!(upload_answer["presets"].as_array().map(Vec::len), Some(1 << 15));
    let reasons = upload_answer["uploaded"]["skipped"]["reasons"].to_string();
    assert!(reasons.contains("it has 40001 records; only the first 32769 are read"), "{reasons}");
    caller.upload("b.sf2", &sf2_of_presets(40_001)).await.expect(201);
    let detail = caller.upload("c.sf2", &sf2(900)).await.problem(422, "too_many_presets");
    assert!(detail.contains("65537 presets") && detail.contains("65536"), "{detail}");
    assert_eq!(caller.delete("a").await.status, 204);
    caller.upload("c.sf2", &sf2(900)).await.expect(201);
}
