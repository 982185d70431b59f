//! Tests of scans: their progress, their order, time limits of single modules, and the rules for
//! real modules in both formats.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use axum::http::Method;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, json};

use super::vst::{PluginService, container_settings, helper};
use crate::test_app::TestApp;

/// Folders of Debian's package zam-plugins.
const ZAM_VST3: &str = "/usr/lib/vst3";
const ZAM_VST2: &str = "/usr/lib/vst";

const SCAN: &str = "/api/v1/plugins/scan";

/// Returns the paths of a list of remarks or plugins, relative to the plugin folder.
fn paths(service: &PluginService, list: &Value) -> Vec<String> {
    let relative = |entry: &Value| {
        let path = Path::new(entry["path"].as_str().expect("a path"));
        path.strip_prefix(service.dir()).expect("a path in the folder").to_string_lossy().into_owned()
    };
    list.as_array().expect("a list").iter().map(relative).collect()
}

#[tokio::test]
async fn parallel_scans_have_results_in_a_stable_order() {
    let service = PluginService::with(&[("SF_PLUGIN_SCANS_MAX", "4")]).await;
    let names: Vec<String> = (0..12).map(|number| format!("{number:02}.vst3")).collect();
    for name in &names {
        service.install("effect", name);
    }
    // All modules contain the same plugin. That of the first module is used.
    let scan = service.scan().await;
    assert_eq!(paths(&service, &scan["ignored"]), names[1..]);
    let effects = service.get("/effects").await.expect(200);
    assert_eq!(paths(&service, &effects["vst_effects"]), names[..1]);
}

/// Each module waits for all others. If fewer modules were scanned at a time, the scan would exceed
/// the time limit.
#[tokio::test]
async fn several_modules_are_scanned_at_the_same_time() {
    let service = PluginService::with(&[("SF_PLUGIN_SCANS_MAX", "3")]).await;
    let pipes = service.path("pipes");
    fs::create_dir(&pipes).expect("makes");
    for name in ["meeting-1", "start-1", "meeting-2", "start-2"] {
        mkfifo(&pipes.join(name), Mode::S_IRWXU).expect("makes a pipe");
    }
    for number in 0..3 {
        service.install("meeting", &format!("meeting-{number}.vst3"));
    }
    let scan = service.scan().await;
    assert_eq!(scan["unclassified"], json!([]));
    assert_eq!(paths(&service, &scan["ignored"]), ["meeting-1.vst3", "meeting-2.vst3"], "the same plugin");
    assert_eq!(scan["effects"], 1);
}

#[tokio::test]
async fn a_scan_as_a_task_reports_its_progress() {
    let service = PluginService::with(&[("SF_PLUGIN_SCAN_MAX_SECS", "4")]).await;
    service.install("effect", "effect.vst3");
    service.install("hang", "hang.vst3");
    let started = service.app.local(Method::POST, &format!("{SCAN}?async=true")).send().await.expect(202);
    let path = format!("/api/v1/tasks/{}", started["task_id"].as_str().expect("an id"));
    let (mut messages, deadline) = (Vec::new(), Instant::now() + Duration::from_secs(60));
    let result = loop {
        let task = service.app.local(Method::GET, &path).send().await.expect(200);
        let message = task["message"].as_str().expect("text").to_owned();
        if messages.last() != Some(&message) {
            messages.push(message);
        }
        if task["state"] == "succeeded" {
            break task["result"].clone();
        }
        assert!(Instant::now() < deadline, "{task}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(messages.contains(&"1 of 2 modules, now hang.vst3".to_owned()), "{messages:?}");
    assert_eq!((&result["vst_found"], &result["effects"]), (&json!(2), &json!(1)));
}

#[tokio::test]
async fn one_module_can_have_a_longer_time_limit() {
    let service = PluginService::with(&[("SF_PLUGIN_SCAN_MAX_SECS", "1")]).await;
    service.install("hang", "hang.vst3");
    let path = service.path("hang.vst3").to_string_lossy().into_owned();
    let reason = |scan: &Value| scan["unclassified"][0]["reason"].as_str().expect("a reason").to_owned();
    let first = reason(&service.scan().await);
    assert!(first.contains("within 1 seconds"), "{first}");
    let post = |query: &str| service.app.local(Method::POST, &format!("{SCAN}?{query}"));
    let scan = post(&format!("module={path}&max_secs=2")).send().await.expect(200);
    assert!(reason(&scan).contains("within 2 seconds"), "{}", reason(&scan));
    // The limit is stored with the result of the module.
    let later_reason = reason(&service.scan().await);
    assert!(later_reason.contains("within 2 seconds"), "{later_reason}");
    for query in
        [format!("module={path}&max_secs=0"), format!("module={path}&max_secs=601"), "max_secs=5".to_owned()]
    {
        post(&query).send().await.problem(400, "bad_query");
    }
    post(&format!("module={path}.none&max_secs=5")).send().await.problem(404, "not_found");
}

/// Returns the names of the effects that a user of a server has, and the id of the plugin in the
/// module `effect` if a render can use it.
async fn effects_of(server: &TestApp, token: &str) -> (Vec<String>, Option<String>) {
    let effects = server.remote(Method::GET, "/api/v1/plugins/effects").token(token).send().await.expect(200);
    let names = effects["vst_effects"].as_array().expect("a list").iter().map(|effect| &effect["name"]);
    let names = names.map(|name| name.as_str().expect("a name").to_owned()).collect();
    let listed_plugin = server.state.plugins.find_scanned("ada", &"21".repeat(16)).await.expect("a list");
    (names, listed_plugin.map(|listed_plugin| listed_plugin.plugin.name))
}

/// The servers of an installation share a database, and a request can go to any of them.
#[tokio::test]
async fn a_scan_on_one_server_reaches_the_others() {
    let [environment, secret, trust, roots] = container_settings();
    let container = [environment, secret, trust, roots, ("SF_BRIDGE", helper().to_str().expect("text"))];
    let service = PluginService::with(&container).await;
    let (first_app, two) = (&service.app, &service.app.start_second_server_with(&container).await);
    let token = first_app.token_of_new_user("ada").await;
    let scan_on = async |server: &TestApp| {
        server.local(Method::POST, SCAN).send().await.expect(200);
    };
    let nothing = (Vec::new(), None);
    let with_effect = (vec!["Test Effect".to_owned()], Some("Test Effect".to_owned()));
    service.install("effect", "effect.vst3");
    for server in [first_app, two] {
        assert_eq!(effects_of(server, &token).await, nothing, "no administrator has scanned");
    }
    scan_on(first_app).await;
    for server in [first_app, two] {
        assert_eq!(effects_of(server, &token).await, with_effect);
    }
    service.install("loud", "loud.vst3");
    scan_on(two).await;
    for server in [first_app, two] {
        assert_eq!(effects_of(server, &token).await.0, ["Loud Effect", "Test Effect"]);
    }
    fs::remove_dir_all(service.path("loud.vst3")).expect("removes");
    scan_on(first_app).await;
    for server in [first_app, two] {
        assert_eq!(effects_of(server, &token).await, with_effect);
    }
    assert_eq!(service.stored_results().await, 1);

    // The other server has another version of the module on its disk: a longer file.
    let inside = service.path(&format!("effect.vst3/Contents/{}-linux/effect.so", std::env::consts::ARCH));
    let module = fs::read(&inside).expect("reads");
    let modified = fs::metadata(&inside).expect("metadata").modified().expect("a time");
    let set_disk = |bytes: &[u8]| {
        fs::write(&inside, bytes).expect("writes");
        let file = fs::File::options().write(true).open(&inside).expect("opens");
        file.set_modified(modified).expect("sets the time");
    };
    set_disk(&[module.as_slice(), b"longer"].concat());
    scan_on(two).await;
    assert_eq!(effects_of(two, &token).await, with_effect);
    set_disk(&module);
    assert_eq!(effects_of(first_app, &token).await, with_effect, "the results of both versions are stored");
    // A server without the module keeps the results of the others.
    fs::remove_dir_all(service.path("effect.vst3")).expect("removes");
    let three = first_app.start_second_server_with(&container).await;
    scan_on(&three).await;
    assert_eq!(service.stored_results().await, 2);
}

#[tokio::test]
async fn results_that_the_database_refused_are_stored_by_the_next_scan() {
    let service = PluginService::start().await;
    service.scan().await;
    let rename = async |from: &str, to: &str| {
        let query = format!("ALTER TABLE {from} RENAME TO {to}");
        sqlx::query(sqlx::AssertSqlSafe(query)).execute(&service.app.state.db).await.expect("renames");
    };
    service.install("effect", "effect.vst3");
    rename("plugin_modules", "hidden").await;
    service.app.local(Method::POST, SCAN).send().await.problem(500, "internal");
    rename("hidden", "plugin_modules").await;
    assert_eq!(service.stored_results().await, 0);
    assert_eq!(service.scan().await["effects"], 1);
    assert_eq!(service.stored_results().await, 1);
}

/// Copies a file or a folder with its content.
fn copy(from: &Path, to: &Path) {
    assert!(from.exists(), "{} is missing; install zam-plugins", from.display());
    if from.is_dir() {
        fs::create_dir_all(to).expect("makes");
        for entry in fs::read_dir(from).expect("reads").flatten() {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::create_dir_all(to.parent().expect("a folder")).expect("makes");
        fs::copy(from, to).expect("copies");
    }
}

/// Checks section 4 of the specification: a `.dll` in a bundle or beside a `.vst3`, and a VST2
/// module with the name of a VST3 effect, are not used.
#[tokio::test]
async fn real_effects_in_both_formats_are_listed_once() {
    let service = PluginService::start().await;
    let vst2 = |name: &str| Path::new(ZAM_VST2).join(name);
    for name in ["ZamComp.vst3", "ZamDelay.vst3"] {
        copy(&Path::new(ZAM_VST3).join(name), &service.path("vst3").join(name));
    }
    copy(&vst2("ZamVerb-vst.so"), &service.path("vst3/ZamComp.vst3/Contents/x86_64-win/ZamVerb.dll"));
    copy(&vst2("ZamVerb-vst.so"), &service.path("vst3/ZamVerb.dll"));
    copy(&vst2("ZamGate-vst.so"), &service.path("vst3/inner/ZamGate.dll"));
    for name in ["ZamComp-vst.so", "ZamDelay-vst.so", "ZamTube-vst.so"] {
        copy(&vst2(name), &service.path("vst2").join(name));
    }
    let scan = service.scan().await;
    let ignored_modules = ["vst3/ZamVerb.dll", "vst2/ZamComp-vst.so", "vst2/ZamDelay-vst.so"];
    assert_eq!(paths(&service, &scan["ignored"]), ignored_modules);
    assert_eq!((&scan["unclassified"], &scan["effects"]), (&json!([]), &json!(4)));
    let effects = service.get("/effects").await.expect(200);
    let used_modules =
        ["vst3/ZamComp.vst3", "vst3/ZamDelay.vst3", "vst3/inner/ZamGate.dll", "vst2/ZamTube-vst.so"];
    assert_eq!(paths(&service, &effects["vst_effects"]), used_modules);
    let formats = effects["vst_effects"].as_array().expect("a list").iter().map(|effect| &effect["format"]);
    assert_eq!(formats.collect::<Vec<_>>(), ["vst3", "vst3", "vst2", "vst2"]);
    let available_sounds = service.get("/available").await.expect(200);
    assert_eq!(available_sounds["vst_instruments"], json!([]));
}
