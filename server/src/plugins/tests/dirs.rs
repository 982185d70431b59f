//! Tests the list of a user's plugin folders.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use axum::http::Method;
use serde_json::{Value, json};

use crate::test_app::{Answer, TestApp};

const PATH: &str = "/api/v1/plugins/dirs";

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let real_path = folder.path().canonicalize().expect("a path");
    (folder, real_path)
}

async fn add(app: &TestApp, path: &str) -> Answer {
    app.local(Method::POST, PATH).json(&json!({ "path": path })).send().await
}

async fn add_folder(app: &TestApp, path: &Path) -> Answer {
    add(app, path.to_str().expect("text")).await
}

async fn remove(app: &TestApp, path: &Path) -> Answer {
    let encoded_path: String = path.to_string_lossy().bytes().map(|byte| format!("%{byte:02X}")).collect();
    app.local(Method::DELETE, &format!("{PATH}?path={encoded_path}")).send().await
}

async fn listed(app: &TestApp) -> Value {
    app.local(Method::GET, PATH).send().await.expect(200)["plugin_dirs"].clone()
}

#[tokio::test]
async fn folders_can_be_added_once_and_removed() {
    let app = TestApp::start().await;
    let (_folder, real_path) = folder();
    let (first_dir, two) = (real_path.join("one"), real_path.join("zwei mit Ü"));
    fs::create_dir(&two).expect("makes");
    fs::create_dir(&first_dir).expect("makes");
    symlink(&first_dir, real_path.join("link")).expect("makes a symbolic link");
    assert_eq!(listed(&app).await, json!([]));
    assert_eq!(add_folder(&app, &two).await.expect(200)["plugin_dirs"], json!([two]));
    assert_eq!(
        add_folder(&app, &real_path.join("link")).await.expect(200)["plugin_dirs"],
        json!([two, first_dir])
    );
    add_folder(&app, &first_dir).await.expect(200);
    assert_eq!(
        listed(&app).await,
        json!([two, first_dir]),
        "links are resolved, and no folder is listed twice"
    );
    // A folder that was deleted from the disk can be removed from the list.
    fs::remove_dir(&two).expect("removes");
    assert_eq!(remove(&app, &two).await.expect(200)["plugin_dirs"], json!([first_dir]));
    let detail = remove(&app, &two).await.problem(404, "not_found");
    assert!(detail.contains("zwei mit Ü"), "{detail}");
    let audit = app.local(Method::GET, "/api/v1/admin/audit?limit=10").send().await.expect(200);
    let actions: Vec<&str> = audit["items"]
        .as_array()
        .expect("entries")
        .iter()
        .filter_map(|entry| entry["action"].as_str())
        .collect();
    assert_eq!(actions.iter().filter(|action| **action == "plugin_dir_removed").count(), 1, "{actions:?}");
}

#[tokio::test]
async fn usual_folders_are_suggested_until_they_are_added() {
    let (_folder, real_path) = folder();
    let (first_dir, two) = (real_path.join("one"), real_path.join("two"));
    for dir in [&first_dir.join("inside"), &two] {
        fs::create_dir_all(dir).expect("makes");
    }
    symlink(&first_dir, real_path.join("link")).expect("makes a symbolic link");
    fs::write(real_path.join("file"), "text").expect("writes");
    let names = ["none", "file", "link", "one", "two", "one/inside"];
    let dirs = std::env::join_paths(names.map(|name| real_path.join(name))).expect("a list");
    let dirs = dirs.to_str().expect("text");
    let app = TestApp::with(&[("SF_PLUGIN_SUGGESTED_DIRS", dirs)]).await;
    let suggested = async || app.local(Method::GET, PATH).send().await.expect(200)["suggested"].clone();
    assert_eq!(suggested().await, json!([first_dir, two]));
    assert_eq!(listed(&app).await, json!([]), "suggested folders are not scanned");
    assert_eq!(add_folder(&app, &first_dir).await.expect(200)["suggested"], json!([two]));
    assert_eq!(remove(&app, &first_dir).await.expect(200)["suggested"], json!([first_dir, two]));
    // Callers who may not add folders get no suggestions.
    let token = app.token_of_new_user("ada").await;
    let by_ada = app.remote(Method::GET, PATH).token(&token).send().await.expect(200);
    assert_eq!(by_ada["suggested"], json!([]));
    let container = [
        ("SF_ENVIRONMENT", "container"),
        ("SF_JWT_SECRET", "0123456789abcdef0123456789abcdef"),
        ("SF_TRUST_LOCAL", "on"),
        ("SF_PLUGIN_ROOTS", two.to_str().expect("text")),
        ("SF_PLUGIN_SUGGESTED_DIRS", dirs),
    ];
    let server = TestApp::with(&container).await;
    let answer = server.local(Method::GET, PATH).send().await.expect(200);
    assert_eq!(answer["suggested"], json!([two]), "only folders below the roots");
}

#[tokio::test]
async fn invalid_folders_are_refused_with_the_reason() {
    let app = TestApp::start().await;
    let (_folder, real_path) = folder();
    fs::write(real_path.join("file"), "text").expect("writes");
    let path_text = |name: &str| real_path.join(name).to_str().expect("text").to_owned();
    for path in [
        "plugins",
        "",
        "./plugins",
        &path_text("../x"),
        &path_text("nul\0"),
        &format!("/{}", "x".repeat(5000)),
    ] {
        add(&app, path).await.problem(400, "not_a_whole_path");
    }
    let detail = add(&app, &path_text("none")).await.problem(404, "not_found");
    assert!(detail.contains("none"), "{detail}");
    add(&app, &path_text("file")).await.problem(400, "not_a_folder");
    add(&app, &path_text("file/x")).await.problem(400, "not_a_folder");
    let locked_folder = real_path.join("locked");
    fs::create_dir(&locked_folder).expect("makes");
    fs::set_permissions(&locked_folder, fs::Permissions::from_mode(0o000)).expect("removes the permissions");
    // Root can read every folder, so the folder is accepted if the tests run as root.
    match fs::read_dir(&locked_folder) {
        Ok(_) => assert_eq!(
            add_folder(&app, &locked_folder).await.expect(200)["plugin_dirs"],
            json!([locked_folder])
        ),
        Err(_) => drop(add_folder(&app, &locked_folder).await.problem(403, "not_readable")),
    }
    fs::set_permissions(&locked_folder, fs::Permissions::from_mode(0o700)).expect("restores the permissions");
    remove(&app, &locked_folder).await;
    for body in [json!({}), json!({ "path": 1 }), json!({ "path": "/", "more": 1 })] {
        let answer = app.local(Method::POST, PATH).json(&body).send().await;
        assert_eq!(answer.status, 400, "{body}");
    }
    assert_eq!(listed(&app).await, json!([]));
}

#[tokio::test]
async fn the_storage_folder_cannot_be_added() {
    let app = TestApp::start().await;
    let (_folder, real_path) = folder();
    let storage = &app.state.config.storage.dir;
    fs::create_dir_all(storage.join("soundfonts")).expect("makes");
    symlink(storage, real_path.join("way-in")).expect("makes a symbolic link");
    for path in [
        storage.clone(),
        storage.join("soundfonts"),
        real_path.join("way-in"),
        real_path.join("way-in/blobs"),
    ] {
        add_folder(&app, &path).await.problem(403, "inside_storage");
    }
}

#[tokio::test]
async fn a_server_only_accepts_folders_below_its_roots() {
    let (_folder, real_path) = folder();
    let (root, other_folder) = (real_path.join("root"), real_path.join("other"));
    fs::create_dir_all(root.join("vst")).expect("makes");
    fs::create_dir(&other_folder).expect("makes");
    symlink(&other_folder, root.join("way-out")).expect("makes a symbolic link");
    symlink(root.join("vst"), real_path.join("way-in")).expect("makes a symbolic link");
    let container = [
        ("SF_ENVIRONMENT", "container"),
        ("SF_JWT_SECRET", "0123456789abcdef0123456789abcdef"),
        ("SF_TRUST_LOCAL", "on"),
    ];
    let without_roots = TestApp::with(&container).await;
    let detail = add_folder(&without_roots, &root).await.problem(403, "outside_plugin_roots");
    assert!(detail.contains("SF_PLUGIN_ROOTS"), "{detail}");
    let roots = root.to_string_lossy();
    let app = TestApp::with(&[container[0], container[1], container[2], ("SF_PLUGIN_ROOTS", &roots)]).await;
    for path in [
        &other_folder,
        &root.join("way-out"),
        &real_path,
        &other_folder.join("none"),
        &real_path.join("root-2"),
    ] {
        let detail = add_folder(&app, path).await.problem(403, "outside_plugin_roots");
        assert!(detail.contains(&*roots), "{detail}");
    }
    add_folder(&app, &root.join("none")).await.problem(404, "not_found");
    for path in [root.join("vst"), root.clone(), real_path.join("way-in")] {
        add_folder(&app, &path).await.expect(200);
    }
    assert_eq!(listed(&app).await, json!([root.join("vst"), root]));
}

#[tokio::test]
async fn remote_users_must_be_administrators_to_change_their_list() {
    let app = TestApp::start().await;
    let (_folder, real_path) = folder();
    let token = app.token_of_new_user("ada").await;
    let body = json!({ "path": real_path });
    let call = |method| app.remote(method, PATH).token(&token);
    call(Method::POST).json(&body).send().await.problem(403, "admin_only");
    app.remote(Method::DELETE, &format!("{PATH}?path=/x"))
        .token(&token)
        .send()
        .await
        .problem(403, "admin_only");
    app.remote(Method::GET, PATH).send().await.problem(401, "token_missing");
    add_folder(&app, &real_path).await.expect(200);
    assert_eq!(call(Method::GET).send().await.expect(200)["plugin_dirs"], json!([]));
}

/// A local caller can run any program on this machine anyway. Their account therefore need not be
/// an administrator.
#[tokio::test]
async fn a_local_user_can_change_their_list_but_an_api_key_cannot() {
    let app = TestApp::start().await;
    let (_folder, real_path) = folder();
    let token = app.token_of_new_user("ada").await;
    let body = json!({ "path": real_path });
    let post = || app.local(Method::POST, PATH).json(&body);
    let (users_key, admins_key) =
        (app.create_api_key(&token).await, app.create_api_key(&app.admin_token().await).await);
    for key in [&users_key, &admins_key] {
        for call in [post(), app.local(Method::POST, "/api/v1/plugins/scan")] {
            call.token(key).send().await.problem(403, "api_key_not_allowed");
        }
        let call = app.local(Method::DELETE, &format!("{PATH}?path=/x"));
        call.token(key).send().await.problem(403, "api_key_not_allowed");
    }
    assert_eq!(post().token(&token).send().await.expect(200)["plugin_dirs"], json!([real_path]));
    assert_eq!(listed(&app).await, json!([]), "the folder is in the list of the token's account only");
    app.local(Method::POST, "/api/v1/plugins/scan").token(&token).send().await.expect(200);
    let remote_answer = app.remote(Method::POST, "/api/v1/plugins/scan").token(&token).send().await;
    remote_answer.problem(403, "admin_only");
    let path = format!("{PATH}?path={}", real_path.display());
    let removal_answer = app.local(Method::DELETE, &path).token(&token).send().await;
    assert_eq!(removal_answer.expect(200)["plugin_dirs"], json!([]));
}

#[tokio::test]
async fn a_user_has_at_most_32_folders() {
    let app = TestApp::start().await;
    let (_folder, real_path) = folder();
    for number in 0..33 {
        let path = real_path.join(format!("{number:02}"));
        fs::create_dir(&path).expect("makes");
        let answer = add_folder(&app, &path).await;
        if number < 32 {
            answer.expect(200);
        } else {
            let detail = answer.problem(422, "too_many_dirs");
            assert!(detail.contains("32"), "{detail}");
        }
    }
    add_folder(&app, &real_path.join("07")).await.expect(200);
    assert_eq!(listed(&app).await.as_array().expect("a list").len(), 32);
}

#[tokio::test]
async fn soundfonts_in_the_list_are_in_the_catalogue() {
    let app = TestApp::start().await;
    let (_folder, real_path) = folder();
    fs::create_dir_all(real_path.join("Synths/banks")).expect("makes");
    fs::copy(crate::test_studio::BANK, real_path.join("Synths/banks/Of a Plugin.sf2")).expect("copies");
    let catalogue = "/api/v1/plugins/soundfonts/catalog";
    let catalog_before = app.local(Method::GET, catalogue).send().await.expect(200);
    assert_eq!(catalog_before["soundfonts"], json!([]));
    add_folder(&app, &real_path).await.expect(200);
    app.state.soundfonts.catalogue.rescan().await.expect("scans");
    let catalog_after = app.local(Method::GET, catalogue).send().await.expect(200);
    let bank = &catalog_after["soundfonts"][0];
    assert_eq!((&bank["soundfont_id"], &bank["source"]), (&json!("ofaplugin"), &json!("system")));
    let file = app.local(Method::GET, "/api/v1/plugins/soundfonts/download/ofaplugin").send().await;
    assert_eq!((file.status.as_u16(), file.header("x-soundfont-fallback")), (200, "false"));
    remove(&app, &real_path).await.expect(200);
    app.state.soundfonts.catalogue.rescan().await.expect("scans");
    assert_eq!(app.local(Method::GET, catalogue).send().await.expect(200)["soundfonts"], json!([]));
}
