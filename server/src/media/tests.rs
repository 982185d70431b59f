//! Tests browsing of folders and imports through the real router.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use axum::http::Method;
use futures_util::future::{Either, select};
use serde_json::{Value, json};

use crate::audio::test_files::sine_wav;
use crate::test_app::{Answer, TestApp};

/// A service and a temporary folder with two subfolders, of which only `music` is a media folder.
struct MediaApp {
    app: TestApp,
    music: PathBuf,
    private: PathBuf,
    _folder: tempfile::TempDir,
}

impl MediaApp {
    async fn start() -> Self {
        Self::with(&[]).await
    }

    async fn with(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let real_path = folder.path().canonicalize().expect("a path");
        let (music, private) = (real_path.join("music"), real_path.join("private"));
        for dir in
            [music.join("Drums/Kicks/Deep"), music.join("bass"), music.join(".hidden"), private.join("Inner")]
        {
            fs::create_dir_all(dir).expect("makes");
        }
        fs::write(music.join("One.WAV"), sine_wav(440.0, 48_000, 0.25)).expect("writes");
        fs::write(music.join("two.wav"), sine_wav(220.0, 44_100, 0.5)).expect("writes");
        fs::write(music.join("broken.flac"), "nothing").expect("writes");
        fs::write(music.join("notes.txt"), "text").expect("writes");
        fs::write(music.join(".secret.wav"), sine_wav(1.0, 48_000, 0.1)).expect("writes");
        fs::write(private.join("mine.wav"), sine_wav(110.0, 48_000, 0.25)).expect("writes");
        symlink(private.join("mine.wav"), music.join("link.wav")).expect("makes a symbolic link");
        symlink(&private, music.join("way-out")).expect("makes a symbolic link");
        symlink(music.join("Drums"), music.join("also-drums")).expect("makes a symbolic link");
        let dirs = music.to_string_lossy().into_owned();
        let app = TestApp::with(&[&[("SF_MEDIA_DIRS", dirs.as_str())], settings].concat()).await;
        Self { app, music, private, _folder: folder }
    }

    async fn get(&self, route: &str, path: &Path, more_query: &str) -> Answer {
        let path: String = path.to_string_lossy().bytes().map(|byte| format!("%{byte:02X}")).collect();
        self.app.local(Method::GET, &format!("/api/v1/media/{route}?path={path}{more_query}")).send().await
    }

    async fn import(&self, paths: &[PathBuf]) -> Answer {
        let body = json!({ "paths": paths });
        self.app.local(Method::POST, "/api/v1/media/import").json(&body).send().await
    }
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().filter_map(|entry| entry["name"].as_str()).collect()
}

#[tokio::test]
async fn the_folder_tree_has_the_requested_depth() {
    let media = MediaApp::start().await;
    let drives = media.app.local(Method::GET, "/api/v1/media/drives").send().await.expect(200);
    let drive = &drives["items"][0];
    assert_eq!((&drive["path"], &drive["available"]), (&json!(media.music), &json!(true)));
    assert!(drive["free_bytes"].as_u64() <= drive["total_bytes"].as_u64() && drive["name"] == "music");

    let tree = media.get("tree", &media.music, "").await.expect(200);
    assert_eq!(names(&tree["folders"]), ["also-drums", "bass", "Drums"]);
    assert_eq!((&tree["truncated"], &tree["folders"][2]["folders"]), (&json!(false), &Value::Null));
    // A link inside the folders resolves to its target.
    assert_eq!(tree["folders"][0]["path"], json!(media.music.join("Drums")));
    let tree = media.get("tree", &media.music, "&depth=2").await.expect(200);
    assert_eq!(names(&tree["folders"][2]["folders"]), ["Kicks"]);
    assert_eq!(tree["folders"][2]["folders"][0]["folders"], Value::Null);
    let tree = media.get("tree", &media.music.join("Drums"), "&depth=5").await.expect(200);
    assert_eq!(names(&tree["folders"][0]["folders"]), ["Deep"]);
    symlink(&media.music, media.music.join("bass/up")).expect("makes a symbolic link");
    let tree = media.get("tree", &media.music, "&depth=5").await.expect(200);
    let link = &tree["folders"][1]["folders"][0];
    assert_eq!((&link["path"], &link["folders"]), (&json!(media.music), &Value::Null));
    for depth in ["0", "6", "x"] {
        media.get("tree", &media.music, &format!("&depth={depth}")).await.problem(400, "bad_query");
    }
    media.get("tree", &media.music.join("One.WAV"), "").await.problem(400, "not_a_folder");
}

#[tokio::test]
async fn audio_files_are_listed_with_their_header_properties() {
    let media = MediaApp::start().await;
    let files_answer = media.get("files", &media.music, "").await.expect(200);
    assert_eq!(names(&files_answer["items"]), ["broken.flac", "One.WAV", "two.wav"]);
    let (broken, one, two) =
        (&files_answer["items"][0], &files_answer["items"][1], &files_answer["items"][2]);
    assert_eq!((&broken["container"], &broken["duration_secs"]), (&Value::Null, &Value::Null));
    assert_eq!(broken["size_bytes"], 7);
    assert_eq!((&one["container"], &one["duration_secs"]), (&json!("wave"), &json!(0.25)));
    assert_eq!((&two["sample_rate_hz"], &two["channels"]), (&json!(44_100), &json!(1)));
    let modified_at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_600_000_000_500);
    let file = File::options().write(true).open(media.music.join("One.WAV")).expect("opens");
    file.set_modified(modified_at).expect("sets the time");
    let files_answer = media.get("files", &media.music, "").await.expect(200);
    assert_eq!(files_answer["items"][1]["modified_at"], "2020-09-13T12:26:40.500000Z");

    let first = media.get("files", &media.music, "&limit=2").await.expect(200);
    assert_eq!(names(&first["items"]), ["broken.flac", "One.WAV"]);
    let cursor = first["next_cursor"].as_str().expect("a cursor for another page");
    let second = media.get("files", &media.music, &format!("&limit=2&cursor={cursor}")).await.expect(200);
    assert_eq!((names(&second["items"]), &second["next_cursor"]), (vec!["two.wav"], &Value::Null));
    assert_eq!(media.get("files", &media.music.join("bass"), "").await.expect(200)["items"], json!([]));
}

#[tokio::test]
async fn paths_outside_the_media_folders_are_refused() {
    let media = MediaApp::start().await;
    let music = &media.music;
    for path in [
        media.private.clone(),
        media.private.join("none"),
        music.join("../private"),
        music.join("Drums/../../private"),
        music.join("way-out"),
        music.join("way-out/Inner"),
        music.parent().expect("a folder").to_owned(),
        PathBuf::from(format!("{}-other", music.display())),
        PathBuf::from("/"),
        PathBuf::from("/etc"),
        PathBuf::from("music"),
        PathBuf::from(""),
        PathBuf::from("./"),
    ] {
        for route in ["tree", "files"] {
            media.get(route, &path, "").await.problem(403, "outside_media_dirs");
        }
        media.import(&[path.join("mine.wav")]).await.problem(403, "outside_media_dirs");
    }
    media.import(&[music.join("link.wav")]).await.problem(403, "outside_media_dirs");
    media.get("tree", &music.join("none"), "").await.problem(404, "not_found");
    media.get("files", &music.join("One.WAV/x"), "").await.problem(404, "not_found");
    let listed_files = media.app.local(Method::GET, "/api/v1/audio").send().await.expect(200);
    assert_eq!(listed_files["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_imported_by_their_paths() {
    let media = MediaApp::start().await;
    let [one, two, broken] = ["One.WAV", "two.wav", "broken.flac"].map(|name| media.music.join(name));
    let answer =
        media.import(&[one.clone(), broken.clone(), media.private.join("mine.wav")]).await.expect(201);
    assert_eq!((&answer["files"][0]["path"], &answer["files"][0]["known"]), (&json!(one), &json!(false)));
    assert_eq!(answer["files"][0]["file"]["name"], "One.WAV");
    let codes: Vec<&str> = answer["refused"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|file| file["problem"]["code"].as_str())
        .collect();
    assert_eq!(codes, ["unsupported_media_type", "outside_media_dirs"]);
    let id = answer["files"][0]["file"]["id"].as_str().expect("an id");
    let file = media.app.local(Method::GET, &format!("/api/v1/audio/{id}/file")).send().await;
    assert_eq!(file.bytes, fs::read(&one).expect("reads"));
    assert!(one.exists(), "the file was moved instead of copied");

    let second_import = media.import(&[one, two]).await.expect(201);
    assert_eq!(
        (&second_import["files"][0]["known"], &second_import["files"][1]["known"]),
        (&json!(true), &json!(false))
    );
    media.import(&[broken]).await.problem(415, "unsupported_media_type");
    media.import(&[media.music.join("notes.txt")]).await.problem(400, "not_an_audio_file");
    media.import(&[media.music.join("Drums")]).await.problem(400, "not_an_audio_file");
    media.import(&[media.music.join("none.wav")]).await.problem(404, "not_found");
    media.import(&[]).await.problem(400, "bad_paths");
}

#[tokio::test]
async fn only_administrators_can_browse_media() {
    let media = MediaApp::start().await;
    let token = media.app.token_of_new_user("ada").await;
    let admin = media.app.admin_token().await;
    for (method, path) in [
        (Method::GET, "drives"),
        (Method::GET, "tree?path=/"),
        (Method::GET, "files?path=/"),
        (Method::POST, "import"),
    ] {
        let call = || {
            media
                .app
                .remote(method.clone(), &format!("/api/v1/media/{path}"))
                .json(&json!({ "paths": ["/x.wav"] }))
        };
        call().send().await.problem(401, "token_missing");
        call().token(&token).send().await.problem(403, "admin_only");
        assert_ne!(call().token(&admin).send().await.json()["code"], "admin_only");
    }
    // Without media folders, every path is outside them.
    let app = TestApp::with(&[
        ("SF_ENVIRONMENT", "container"),
        ("SF_JWT_SECRET", "0123456789abcdef0123456789abcdef"),
        ("SF_TRUST_LOCAL", "on"),
    ])
    .await;
    let drives = app.local(Method::GET, "/api/v1/media/drives").send().await.expect(200);
    assert_eq!(drives["items"], json!([]));
    let call = app.local(Method::GET, "/api/v1/media/tree?path=/").send().await;
    call.problem(403, "outside_media_dirs");
}

#[tokio::test]
async fn reading_file_headers_needs_a_decoding_permit() {
    let media = MediaApp::with(&[("SF_WORK_WAITING_MAX", "1")]).await;
    let permits = media.app.state.audio.decoding.take_all();
    let [one, other] = [(); 2].map(|()| Box::pin(media.get("files", &media.music, "")));
    let (refused_request, waiting) = match select(one, other).await {
        Either::Left((refused_request, waiting)) | Either::Right((refused_request, waiting)) => {
            (refused_request, waiting)
        }
    };
    refused_request.problem(503, "busy");
    drop(permits);
    waiting.await.expect(200);
}
