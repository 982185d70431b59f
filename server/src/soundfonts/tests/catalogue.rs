use std::fs;

use axum::http::Method;
use serde_json::Value;

use crate::test_app::TestApp;
use crate::test_studio::{BANK, Studio};

fn ids(catalogue: &Value) -> Vec<&str> {
    catalogue["soundfonts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["soundfont_id"].as_str().unwrap())
        .collect()
}

fn entry<'a>(catalogue: &'a Value, id: &str) -> &'a Value {
    let list = catalogue["soundfonts"].as_array().unwrap();
    list.iter()
        .find(|entry| entry["soundfont_id"] == id)
        .unwrap_or_else(|| panic!("{id} is not in {:?}", ids(catalogue)))
}

#[tokio::test]
async fn banks_are_listed_with_their_presets() {
    let studio = Studio::start().await;
    studio.link(BANK.as_ref(), "default-GM.sf2");
    let catalogue = studio.catalogue().await;
    assert_eq!(ids(&catalogue), ["timgm6mb"], "a file with two links has one entry with the file's own name");
    let bank = entry(&catalogue, "timgm6mb");
    let size = fs::metadata(BANK).unwrap().len();
    assert_eq!((&bank["size_bytes"], &bank["format"]), (&size.into(), &"sf2".into()));
    assert_eq!((&bank["source"], &bank["usable"]), (&"system".into(), &true.into()));
    assert_eq!((&bank["default"], &bank["problem"]), (&true.into(), &Value::Null));
    assert_eq!(bank["content_hash"].as_str().unwrap().len(), 64);
    let presets = bank["presets"].as_array().unwrap();
    let banks = |bank: u64| presets.iter().filter(|preset| preset["bank"] == bank).count();
    assert!(banks(0) >= 120 && banks(128) >= 1, "{} melodic, {} drum kits", banks(0), banks(128));
    assert!(presets.iter().all(|preset| !preset["name"].as_str().unwrap().is_empty()));
    assert_eq!(catalogue["condensed"][0]["preset_count"], presets.len());
    assert!(catalogue["scanned_at"].as_str().unwrap().ends_with('Z'));

    let capabilities = studio.get("/system/capabilities").await.expect(200);
    assert_eq!(capabilities["default_soundfont_id"], "timgm6mb");
    assert_eq!(capabilities["soundfont_render"], true);

    let available_sounds = studio.get("/plugins/available").await.expect(200);
    assert_eq!(available_sounds["vst_instruments"], Value::Array(Vec::new()));
    assert_eq!(available_sounds["soundfonts"][0]["soundfont_id"], "timgm6mb");
    assert!(available_sounds["soundfonts"][0].get("presets").is_none());
}

#[tokio::test]
async fn the_tag_of_the_catalogue_changes_with_its_contents() {
    let studio = Studio::start().await;
    let first = studio.get("/plugins/soundfonts/catalog").await;
    let tag = first.header("etag").to_owned();
    let conditional_answer = |tag: String| {
        let call = studio.app.local(Method::GET, "/api/v1/plugins/soundfonts/catalog");
        call.header("if-none-match", &tag).send()
    };
    conditional_answer(tag.clone()).await.expect(304);
    fs::copy(BANK, studio.path("another.sf2")).unwrap();
    studio.app.state.soundfonts.catalogue.rescan().await.expect("scans");
    let second_answer = conditional_answer(tag).await;
    assert_eq!(ids(&second_answer.expect(200)), ["another", "timgm6mb"]);
}

#[tokio::test]
async fn only_new_and_changed_files_are_read() {
    let studio = Studio::without_soundfonts(&[]).await;
    let path = studio.path("bank.sf2");
    fs::write(&path, b"first").unwrap();
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let hash = |catalogue: &Value| entry(catalogue, "bank")["content_hash"].clone();
    let first = hash(&studio.catalogue().await);

    // Other content with the same size and modification time does not count as a change.
    fs::write(&path, b"other").unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    studio.app.state.soundfonts.catalogue.rescan().await.expect("scans");
    assert_eq!(hash(&studio.catalogue().await), first);

    fs::write(&path, b"longer").unwrap();
    studio.app.state.soundfonts.catalogue.rescan().await.expect("scans");
    assert_ne!(hash(&studio.catalogue().await), first);

    fs::remove_file(&path).unwrap();
    studio.app.state.soundfonts.catalogue.rescan().await.expect("scans");
    assert!(ids(&studio.catalogue().await).is_empty());
}

#[tokio::test]
async fn sf2_comes_before_sf3_and_broken_banks_are_listed_with_their_problem() {
    let studio = Studio::start().await;
    let sf3 = "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3";
    studio.link(sf3.as_ref(), "only-here.sf3");
    fs::copy(BANK, studio.path("Both Kinds.SF2")).unwrap();
    fs::write(studio.path("both-kinds.sf3"), b"RIFF").unwrap();
    fs::write(studio.path("broken.sf2"), &fs::read(BANK).unwrap()[..100_000]).unwrap();
    fs::write(studio.path("empty.sf2"), b"").unwrap();
    fs::write(studio.path("notes.txt"), b"no bank").unwrap();
    fs::create_dir(studio.path("folder.sf2")).unwrap();
    let catalogue = studio.catalogue().await;
    assert_eq!(ids(&catalogue), ["bothkinds", "broken", "empty", "musescoregenerallite", "timgm6mb"]);

    let both_formats = entry(&catalogue, "bothkinds");
    assert_eq!((&both_formats["format"], &both_formats["usable"]), (&"sf2".into(), &true.into()));
    let sf3 = entry(&catalogue, "musescoregenerallite");
    assert_eq!((&sf3["format"], &sf3["usable"]), (&"sf3".into(), &true.into()));
    assert!(sf3["presets"].as_array().unwrap().len() > 128, "{sf3}");
    for id in ["broken", "empty"] {
        let bank = entry(&catalogue, id);
        assert_eq!((&bank["usable"], &bank["default"]), (&false.into(), &false.into()));
        assert!(bank["problem"].as_str().unwrap().len() > 20, "{bank}");
    }
}

#[tokio::test]
async fn the_default_is_the_bank_of_the_settings_or_a_common_bank() {
    let studio = Studio::with(&[("SF_DEFAULT_SOUNDFONT", "My Own-Bank")]).await;
    fs::copy(BANK, studio.path("aaa.sf2")).unwrap();
    assert_eq!(
        entry(&studio.catalogue().await, "timgm6mb")["default"],
        true,
        "the bank of the settings is missing"
    );
    fs::copy(BANK, studio.path("myownbank.sf2")).unwrap();
    studio.app.state.soundfonts.catalogue.rescan().await.expect("scans");
    let catalogue = studio.catalogue().await;
    assert_eq!(entry(&catalogue, "myownbank")["default"], true);
    assert_eq!(entry(&catalogue, "timgm6mb")["default"], false);
    fs::remove_file(studio.path("myownbank.sf2")).unwrap();
    fs::remove_file(studio.path("TimGM6mb.sf2")).unwrap();
    studio.app.state.soundfonts.catalogue.rescan().await.expect("scans");
    assert_eq!(entry(&studio.catalogue().await, "aaa")["default"], true);
}

#[tokio::test]
async fn a_bank_is_sent_completely_or_as_a_range() {
    let studio = Studio::start().await;
    let bytes = fs::read(BANK).unwrap();
    let path = "/plugins/soundfonts/download/timgm6mb";
    let whole_list = studio.get(path).await;
    assert_eq!(whole_list.status, 200);
    assert!(whole_list.bytes == bytes);
    assert_eq!(whole_list.header("x-soundfont-id"), "timgm6mb");
    assert_eq!(whole_list.header("x-soundfont-fallback"), "false");
    assert_eq!(whole_list.header("accept-ranges"), "bytes");
    assert_eq!(whole_list.header("content-length"), bytes.len().to_string());
    let tag = whole_list.header("etag").to_owned();

    let get = |headers: &[(&'static str, String)]| {
        let mut call = studio.app.local(Method::GET, &format!("/api/v1{path}"));
        for (name, value) in headers {
            call = call.header(name, value);
        }
        call.send()
    };
    get(&[("if-none-match", tag.clone())]).await.expect(304);
    let part = get(&[("range", "bytes=1000-1999".into())]).await;
    assert_eq!(part.status, 206);
    assert!(part.bytes == bytes[1000..2000]);
    assert_eq!(part.header("content-range"), format!("bytes 1000-1999/{}", bytes.len()));
    let part = get(&[("range", "bytes=-4".into()), ("if-range", tag)]).await;
    assert!(part.status == 206 && part.bytes == bytes[bytes.len() - 4..]);
    let old = get(&[("range", "bytes=0-3".into()), ("if-range", "\"old\"".into())]).await;
    assert!(
        old.status == 200 && old.bytes == bytes,
        "a range of a changed file is answered with the whole file"
    );
    let outside = get(&[("range", format!("bytes={}-", bytes.len()))]).await;
    outside.problem(416, "range_not_satisfiable");
    assert_eq!(outside.header("content-range"), format!("bytes */{}", bytes.len()));

    let head = studio.app.local(Method::HEAD, &format!("/api/v1{path}")).send().await;
    assert_eq!((head.status.as_u16(), head.bytes.len()), (200, 0));
    assert_eq!(head.header("content-length"), bytes.len().to_string());
}

#[tokio::test]
async fn the_default_replaces_missing_and_broken_banks() {
    let studio = Studio::start().await;
    fs::write(studio.path("broken.sf2"), b"RIFF").unwrap();
    for id in ["nosuchbank", "broken", "..%2F..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "%00", "..."] {
        let answer = studio.get(&format!("/plugins/soundfonts/download/{id}")).await;
        assert_eq!(answer.status, 200, "{id}");
        assert_eq!(answer.header("x-soundfont-id"), "timgm6mb", "{id}");
        assert_eq!(answer.header("x-soundfont-fallback"), "true", "{id}");
        assert_eq!(answer.bytes.len() as u64, fs::metadata(BANK).unwrap().len(), "{id}");
    }
    let same_bank = studio.get("/plugins/soundfonts/download/Tim-GM_6mb").await;
    assert_eq!(
        same_bank.header("x-soundfont-fallback"),
        "false",
        "another spelling of the id must find the same bank"
    );
}

#[tokio::test]
async fn without_any_bank_a_download_is_404() {
    let studio = Studio::without_soundfonts(&[]).await;
    studio.get("/plugins/soundfonts/download/timgm6mb").await.problem(404, "no_soundfont");
    let capabilities = studio.get("/system/capabilities").await.expect(200);
    assert_eq!(capabilities["default_soundfont_id"], Value::Null);
    assert_eq!(capabilities["soundfont_render"], false);
}

#[tokio::test]
async fn a_bank_in_a_folder_belongs_to_the_system() {
    let storage = tempfile::tempdir().unwrap();
    let dir = storage.path().to_string_lossy().into_owned();
    let bank_dir = storage.path().join("soundfonts");
    fs::create_dir(&bank_dir).unwrap();
    fs::copy(BANK, bank_dir.join("mine.sf2")).unwrap();
    let folder = bank_dir.to_string_lossy().into_owned();
    let app = TestApp::with(&[("SF_STORAGE_DIR", &dir), ("SF_SOUNDFONT_DIRS", &folder)]).await;
    let delete = |id: &str| app.local(Method::DELETE, &format!("/api/v1/plugins/soundfonts/{id}")).send();
    delete("nosuchbank").await.problem(404, "not_found");
    delete("mine").await.problem(403, "system_soundfont");
    assert!(bank_dir.join("mine.sf2").is_file());
}

#[tokio::test]
async fn requests_without_a_token_are_refused() {
    let studio = Studio::start().await;
    for path in [
        "/plugins/soundfonts/catalog",
        "/plugins/soundfonts/download/timgm6mb",
        "/plugins/available",
        "/plugins/effects",
        "/plugins/renders/x/file",
    ] {
        let answer = studio.app.remote(Method::GET, &format!("/api/v1{path}")).send().await;
        answer.problem(401, "token_missing");
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    }
    for path in
        ["/plugins/soundfont-render", "/plugins/render", "/multitrack/midi/import", "/multitrack/midi/export"]
    {
        let call = studio.app.remote(Method::POST, &format!("/api/v1{path}"));
        call.json(&serde_json::json!({})).send().await.problem(401, "token_missing");
    }
}
