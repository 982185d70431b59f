//! Tests plugins through the real router, with the real helper and with plugin modules made for
//! tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};

use axum::http::Method;
use serde_json::{Value, json};

use crate::test_app::{Answer, TestApp};
use crate::test_studio::BANK;

/// Files that cargo built for these tests: the helper program, and the folder with the plugin
/// modules.
struct BuiltFiles {
    helper: PathBuf,
    modules: PathBuf,
}

fn built() -> &'static BuiltFiles {
    static BUILT: OnceLock<BuiltFiles> = OnceLock::new();
    BUILT.get_or_init(|| {
        let packages = ["--package", "songfoundry-bridge", "--package", "songfoundry-test-plugins"];
        let output = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--locked", "--bins", "--examples", "--message-format=json"])
            .args(packages)
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("text");
        let messages: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let file = |name: &str| {
            let artifact = messages
                .iter()
                .find(|message| message["target"]["name"] == name && !message["filenames"].is_null());
            let artifact = artifact.unwrap_or_else(|| panic!("cargo did not build {name}"));
            PathBuf::from(artifact["filenames"][0].as_str().expect("a path"))
        };
        let modules = file("instrument").parent().expect("a folder").to_owned();
        BuiltFiles { helper: file("songfoundry-bridge"), modules }
    })
}

/// Returns the path of the helper.
pub(super) fn helper() -> &'static Path {
    &built().helper
}

/// A service whose administrator has one plugin folder.
pub(crate) struct PluginService {
    pub(crate) app: TestApp,
    folder: tempfile::TempDir,
}

/// Settings of a server of an installation. Administrators may add temporary folders.
pub(super) fn container_settings() -> [(&'static str, &'static str); 4] {
    static ROOT: LazyLock<String> =
        LazyLock::new(|| std::env::temp_dir().canonicalize().expect("a path").to_string_lossy().into_owned());
    [
        ("SF_ENVIRONMENT", "container"),
        ("SF_JWT_SECRET", "0123456789abcdef0123456789abcdef"),
        ("SF_TRUST_LOCAL", "on"),
        ("SF_PLUGIN_ROOTS", ROOT.as_str()),
    ]
}

impl PluginService {
    pub(crate) async fn start() -> Self {
        Self::with(&[]).await
    }

    pub(crate) async fn with(settings: &[(&str, &str)]) -> Self {
        let helper = built().helper.to_string_lossy().into_owned();
        let mut all_settings = vec![("SF_BRIDGE", helper.as_str())];
        all_settings.extend(settings);
        let service =
            Self { app: TestApp::with(&all_settings).await, folder: tempfile::tempdir().expect("a folder") };
        let body = json!({ "path": service.dir() });
        service.app.local(Method::POST, "/api/v1/plugins/dirs").json(&body).send().await.expect(200);
        service
    }

    pub(super) fn dir(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("a path")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    /// Copies a module to `name` in the plugin folder: as a bundle if the name ends with `.vst3`,
    /// or else as a file.
    pub(super) fn install(&self, module: &str, name: &str) {
        let stem = Path::new(name).file_stem().expect("a name").to_string_lossy().into_owned();
        let target = match name.strip_suffix(".vst3") {
            Some(_) => self.path(name).join(format!("Contents/{}-linux/{stem}.so", std::env::consts::ARCH)),
            None => self.path(name),
        };
        fs::create_dir_all(target.parent().expect("a folder")).expect("makes");
        fs::copy(built().modules.join(format!("lib{module}.so")), target).expect("copies");
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.app.local(Method::GET, &format!("/api/v1/plugins{path}")).send().await
    }

    pub(super) async fn scan(&self) -> Value {
        self.app.local(Method::POST, "/api/v1/plugins/scan").send().await.expect(200)
    }

    /// Counts the stored scan results of modules.
    pub(super) async fn stored_results(&self) -> i64 {
        let count = sqlx::query_scalar("SELECT COUNT(*) FROM plugin_modules");
        count.fetch_one(&self.app.state.db).await.expect("a number")
    }

    async fn instruments(&self) -> Vec<String> {
        names(&self.get("/available").await.expect(200)["vst_instruments"])
    }

    async fn effects(&self) -> Vec<String> {
        names(&self.get("/effects").await.expect(200)["vst_effects"])
    }
}

fn names(list: &Value) -> Vec<String> {
    let name = |entry: &Value| entry["name"].as_str().expect("a name").to_owned();
    list.as_array().expect("a list").iter().map(name).collect()
}

#[tokio::test]
async fn instruments_and_effects_are_listed_separately() {
    let service = PluginService::start().await;
    service.install("mixed", "Mixed.vst3");
    service.install("instrument", "Synths/Test Synth.vst3");
    service.install("vst2_synth", "old/Synth Two.so");
    service.install("vst2_effect", "old/Effect Two.dll");
    let available_sounds = service.get("/available").await.expect(200);
    assert_eq!(names(&available_sounds["vst_instruments"]), ["Mixed Drums", "Test Synth", "Test Synth Two"]);
    let synth = &available_sounds["vst_instruments"][1];
    assert_eq!((&synth["plugin_id"], &synth["format"]), (&json!("11".repeat(16)), &json!("vst3")));
    assert_eq!((&synth["vendor"], &synth["version"]), (&json!("Songfoundry"), &json!("1.2.3")));
    assert_eq!(synth["categories"], json!(["Instrument", "Synth"]));
    assert_eq!(synth["path"], json!(service.path("Synths/Test Synth.vst3")));
    assert_eq!(available_sounds["vst_instruments"][2]["plugin_id"], "54535932");
    let effects = service.get("/effects").await.expect(200);
    assert_eq!(names(&effects["vst_effects"]), ["Mixed Echo", "Test Effect Two"]);
    assert_eq!(effects["vst_effects"][1]["format"], "vst2");
    assert_eq!(effects["cache"]["max_age_secs"], 300);
    assert!(effects["cache"]["scanned_at"].is_string());

    let scan = service.scan().await;
    assert_eq!(
        (&scan["vst_found"], &scan["instruments"], &scan["effects"]),
        (&json!(6), &json!(3), &json!(2))
    );
    assert_eq!(names(&scan["unclassified"]), ["Mixed Something"]);
    assert_eq!((&scan["ignored"], &scan["unreadable"]), (&json!([]), &json!([])));
    assert_eq!((&scan["truncated"], &scan["fx_cache_invalidated"]), (&json!(false), &json!(true)));
    let listed_scans = service.app.local(Method::GET, "/api/v1/admin/scans").send().await.expect(200);
    let plugins = &listed_scans["plugins"][0];
    assert_eq!((&plugins["instruments"], &plugins["effects"]), (&json!(3), &json!(2)));
    assert_eq!(plugins["problems"][0]["path"], json!(service.path("Mixed.vst3")));
}

#[tokio::test]
async fn an_api_key_gets_the_last_scan_but_never_starts_one() {
    let service = PluginService::start().await;
    service.install("mixed", "Mixed.vst3");
    let key = service.app.create_api_key(&service.app.admin_token().await).await;
    let by_key = |method, path: &str| service.app.remote(method, &format!("/api/v1{path}")).token(&key);
    let listed_scans = async || {
        let available_sounds = by_key(Method::GET, "/plugins/available").send().await.expect(200);
        let effects = by_key(Method::GET, "/plugins/effects").send().await.expect(200);
        (names(&available_sounds["vst_instruments"]), names(&effects["vst_effects"]))
    };
    assert_eq!(listed_scans().await, (vec![], vec![]));
    assert_eq!(service.stored_results().await, 0, "an API key ran a module");
    by_key(Method::POST, "/admin/scans").send().await.problem(403, "api_key_not_allowed");
    service.scan().await;
    let plugins = (vec!["Mixed Drums".to_owned()], vec!["Mixed Echo".to_owned()]);
    assert_eq!(listed_scans().await, plugins);
    // After a restart, the list is made from the stored results.
    let next_process = service.app.start_second_server().await;
    let get = |path: &str| next_process.remote(Method::GET, path).token(&key).send();
    let available_sounds = get("/api/v1/plugins/available").await.expect(200);
    let effects = get("/api/v1/plugins/effects").await.expect(200);
    assert_eq!((names(&available_sounds["vst_instruments"]), names(&effects["vst_effects"])), plugins);
}

#[tokio::test]
async fn plugin_folders_of_a_server_belong_to_the_installation() {
    let service = PluginService::with(&container_settings()).await;
    service.install("mixed", "Mixed.vst3");
    let token = service.app.token_of_new_user("ada").await;
    let key = service.app.create_api_key(&token).await;
    let listed_scans = async |app: &TestApp, token: &str| {
        let get = |path: &str| app.remote(Method::GET, &format!("/api/v1/plugins{path}")).token(token).send();
        let (available_sounds, effects) =
            (get("/available").await.expect(200), get("/effects").await.expect(200));
        (names(&available_sounds["vst_instruments"]), names(&effects["vst_effects"]))
    };
    let plugins = (vec!["Mixed Drums".to_owned()], vec!["Mixed Echo".to_owned()]);
    assert_eq!(listed_scans(&service.app, &token).await, (vec![], vec![]), "users do not scan");
    service.scan().await;
    assert_eq!(listed_scans(&service.app, &token).await, plugins);
    assert_eq!(listed_scans(&service.app, &key).await, plugins);
    for path in ["/api/v1/plugins/scan", "/api/v1/plugins/dirs"] {
        let call = service.app.remote(Method::POST, path).token(&token);
        call.json(&json!({ "path": service.dir() })).send().await.problem(403, "admin_only");
    }
    // The next process has no plugin helper. It needs none, because the scan results are stored.
    let next_process = service.app.start_second_server_with(&container_settings()).await;
    assert_eq!(listed_scans(&next_process, &token).await, plugins);
    let scans = next_process.local(Method::GET, "/api/v1/admin/scans").send().await.expect(200);
    assert_eq!(scans["plugins"][0]["user_id"], Value::Null);
    // Other administrators can remove the folder.
    let path = format!("/api/v1/plugins/dirs?path={}", service.dir().display());
    let removal_answer = service.app.local(Method::DELETE, &path).token(&token).send().await.expect(200);
    assert_eq!(removal_answer["plugin_dirs"], json!([]));
    assert_eq!(listed_scans(&service.app, &token).await, (vec![], vec![]));
}

/// Users may have the same folders, so a scan invalidates the lists of all users.
#[tokio::test]
async fn a_scan_discards_the_cached_effect_lists_of_all_users() {
    let service = PluginService::start().await;
    service.install("effect", "effect.vst3");
    let token = service.app.token_of_new_user("ada").await;
    let by_ada =
        |method, path: &str| service.app.local(method, &format!("/api/v1/plugins{path}")).token(&token);
    by_ada(Method::POST, "/dirs").json(&json!({ "path": service.dir() })).send().await.expect(200);
    let scanned_at =
        async || by_ada(Method::GET, "/effects").send().await.expect(200)["cache"]["scanned_at"].clone();
    assert_eq!(service.scan().await["fx_cache_invalidated"], false, "nothing was cached yet");
    let times_before = scanned_at().await;
    assert!(times_before.is_string(), "{times_before}");
    assert_eq!(scanned_at().await, times_before, "the list was not cached");
    assert_eq!(service.scan().await["fx_cache_invalidated"], true);
    assert_ne!(scanned_at().await, times_before);
    assert_eq!(
        names(&by_ada(Method::GET, "/effects").send().await.expect(200)["vst_effects"]),
        ["Test Effect"]
    );
}

#[tokio::test]
async fn a_vst2_module_with_the_name_of_a_vst3_effect_is_ignored() {
    let service = PluginService::start().await;
    service.install("effect", "vst3/Bundle Name v2.vst3");
    service.install("vst2_effect", "vst2/TestEffect-vst_x64.dll");
    service.install("vst2_synth", "vst2/bundle_name.so");
    // Instruments, and effects with other names, are not duplicates.
    service.install("instrument", "vst3/Test Synth.vst3");
    service.install("vst2_synth", "vst2/Test Synth.so");
    let scan = service.scan().await;
    let ignored_files: Vec<&str> = scan["ignored"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|remark| remark["path"].as_str())
        .collect();
    assert_eq!(
        ignored_files,
        [service.path("vst2/TestEffect-vst_x64.dll"), service.path("vst2/bundle_name.so")]
            .map(|path| path.to_string_lossy().into_owned())
    );
    assert_eq!(service.effects().await, ["Test Effect"]);
    assert_eq!(service.instruments().await, ["Test Synth", "Test Synth Two"]);
}

#[tokio::test]
async fn a_vst2_library_in_or_beside_a_vst3_module_is_ignored() {
    let service = PluginService::start().await;
    service.install("effect", "a/Fx.vst3");
    service.install("vst2_synth", "a/Synth.dll");
    fs::create_dir_all(service.path("Folder.vst3/data")).expect("makes");
    service.install("vst2_synth", "Folder.vst3/data/Synth.so");
    assert_eq!(service.instruments().await, Vec::<String>::new());
    let scan = service.scan().await;
    assert_eq!(scan["ignored"].as_array().expect("a list").len(), 2, "{scan}");
}

#[tokio::test]
async fn modules_that_hang_crash_or_exit_are_unclassified() {
    let service = PluginService::with(&[("SF_PLUGIN_SCAN_MAX_SECS", "4")]).await;
    for module in
        ["hang", "crash", "leave", "clinging", "no_display", "needs_activation", "loud", "instrument"]
    {
        service.install(module, &format!("{module}.vst3"));
    }
    fs::create_dir(service.path("old")).expect("makes");
    fs::write(service.path("old/text.so"), "no library").expect("writes");
    let started_at = Instant::now();
    let scan = service.scan().await;
    assert!(started_at.elapsed() < Duration::from_secs(20), "{:?}", started_at.elapsed());
    let reasons: Vec<(&str, &str)> = scan["unclassified"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|plugin| {
            (plugin["name"].as_str().expect("a name"), plugin["reason"].as_str().expect("a reason"))
        })
        .collect();
    let reason = |name: &str| {
        reasons
            .iter()
            .find(|(plugin_name, _)| *plugin_name == name)
            .unwrap_or_else(|| panic!("{name} is not in {reasons:?}"))
            .1
    };
    assert_eq!(reasons.len(), 7, "{reasons:?}");
    assert!(reason("hang").contains("within 4 seconds"), "{reasons:?}");
    assert!(reason("crash").contains("SIGSEGV"), "{reasons:?}");
    assert!(reason("clinging").contains("SIGABRT"), "{reasons:?}");
    assert!(reason("leave").contains("exit status: 0"), "{reasons:?}");
    assert!(reason("no_display").contains("seems to need a display"), "{reasons:?}");
    assert!(reason("needs_activation").contains("seems to need an activation or a licence"), "{reasons:?}");
    assert!(reason("needs_activation").contains("no valid license found"), "{reasons:?}");
    assert!(reason("text").contains("cannot be loaded"), "{reasons:?}");
    assert_eq!(
        (service.instruments().await, service.effects().await),
        (vec!["Test Synth".to_owned()], vec!["Loud Effect".to_owned()])
    );
    // No process of a helper or a module remains.
    let processes = service.app.local(Method::GET, "/api/v1/files/processes").send().await.expect(200);
    assert_eq!(processes["items"], json!([]));
    assert_eq!(processes_with(&service.dir()), 0, "processes of modules are killed");
}

/// Counts the processes that have this folder in their command line.
fn processes_with(folder: &Path) -> usize {
    let folder = folder.to_str().expect("text");
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let command_lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    command_lines.filter(|line| String::from_utf8_lossy(line).contains(folder)).count()
}

#[tokio::test]
async fn unchanged_modules_are_not_scanned_again() {
    let service = PluginService::start().await;
    service.install("effect", "Fx.vst3");
    assert_eq!(service.effects().await, ["Test Effect"]);
    // Replaces the module's library by one with another plugin, of the same size and time.
    let inside = service.path(&format!("Fx.vst3/Contents/{}-linux/Fx.so", std::env::consts::ARCH));
    let replace = |module: &str, size: u64, modified| {
        fs::copy(built().modules.join(format!("lib{module}.so")), &inside).expect("copies");
        let file = fs::File::options().write(true).open(&inside).expect("opens");
        file.set_len(size).expect("sets the size");
        file.set_modified(modified).expect("sets the time");
    };
    let metadata = fs::metadata(&inside).expect("metadata");
    let (size, modified) = (metadata.len(), metadata.modified().expect("a time"));
    replace("loud", size, modified);
    service.scan().await;
    assert_eq!(service.effects().await, ["Test Effect"], "size and time are unchanged");
    let file_size = fs::metadata(built().modules.join("libloud.so")).expect("metadata").len();
    replace("loud", file_size, modified + Duration::from_secs(2));
    assert_eq!(service.effects().await, ["Test Effect"], "the list is cached");
    service.scan().await;
    assert_eq!(service.effects().await, ["Loud Effect"]);
    fs::remove_dir_all(service.path("Fx.vst3")).expect("removes");
    service.scan().await;
    assert_eq!(service.effects().await, Vec::<String>::new());
}

#[tokio::test]
async fn scan_results_survive_a_restart() {
    let service = PluginService::start().await;
    service.install("effect", "effect.vst3");
    service.install("crash", "crash.vst3");
    service.scan().await;
    // The next process has no plugin helper. It needs none, because the scan results are stored.
    let next_process = service.app.start_second_server().await;
    let get = |path: &'static str| next_process.local(Method::GET, path).send();
    let effects = get("/api/v1/plugins/effects").await.expect(200);
    assert_eq!(names(&effects["vst_effects"]), ["Test Effect"]);
    let scans = get("/api/v1/admin/scans").await.expect(200);
    let problem = scans["plugins"][0]["problems"][0]["problem"].as_str().expect("a problem");
    assert!(problem.contains("SIGSEGV"), "{problem}");
    // The stored scan results of deleted modules are removed.
    fs::remove_dir_all(service.path("crash.vst3")).expect("removes");
    service.scan().await;
    assert_eq!(service.stored_results().await, 1);
}

#[tokio::test]
async fn an_explicit_scan_retries_failed_modules() {
    let service = PluginService::start().await;
    let path = service.path("Late.so");
    service.install("vst2_effect", "Late.so");
    let module = fs::read(&path).expect("reads");
    let modified = fs::metadata(&path).expect("metadata").modified().expect("a time");
    let write = |bytes: &[u8]| {
        fs::write(&path, bytes).expect("writes");
        fs::File::options()
            .write(true)
            .open(&path)
            .expect("opens")
            .set_modified(modified)
            .expect("sets the time");
    };
    write(&vec![0; module.len()]);
    assert_eq!(service.scan().await["unclassified"][0]["name"], "Late");
    write(&module);
    assert_eq!(
        (service.scan().await["effects"].as_u64(), service.effects().await),
        (Some(1), vec!["Test Effect Two".to_owned()])
    );
}

#[tokio::test]
async fn concurrent_callers_share_a_scan() {
    let service = PluginService::with(&[("SF_PLUGIN_SCAN_MAX_SECS", "4")]).await;
    service.install("hang", "hang.vst3");
    service.install("effect", "effect.vst3");
    let started_at = Instant::now();
    let (one, two, three) = tokio::join!(service.effects(), service.get("/effects"), service.instruments());
    assert_eq!((one, three), (vec!["Test Effect".to_owned()], Vec::new()));
    assert_eq!(names(&two.expect(200)["vst_effects"]), ["Test Effect"]);
    assert!(
        started_at.elapsed() < Duration::from_millis(7900),
        "each caller should only wait for one scan of the hanging module: {:?}",
        started_at.elapsed()
    );
    // If a caller disconnects, the scan continues for the other callers.
    let first = tokio::time::timeout(Duration::from_millis(300), service.scan()).await;
    assert!(first.is_err(), "the scan must wait for the hanging module");
    let started_at = Instant::now();
    assert_eq!(service.effects().await, ["Test Effect"]);
    assert!(
        started_at.elapsed() > Duration::from_secs(2),
        "the second caller should have waited for the running scan: {:?}",
        started_at.elapsed()
    );
}

#[tokio::test]
async fn a_user_can_end_a_scan_and_a_missing_helper_is_reported() {
    let service = PluginService::start().await;
    service.install("hang", "hang.vst3");
    let (scan, ()) = tokio::join!(service.scan(), async {
        let processes = loop {
            let listed_scans =
                service.app.local(Method::GET, "/api/v1/files/processes").send().await.expect(200);
            match listed_scans["items"].get(0) {
                Some(process) => break process.clone(),
                None => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        };
        assert_eq!(processes["kind"], "plugin scan");
        let path = format!("/api/v1/files/processes/{}", processes["id"]);
        service.app.local(Method::DELETE, &path).send().await.expect(202);
    });
    assert_eq!(scan["unclassified"][0]["reason"], "the plugin helper was ended by a user; scan again");
    let service = PluginService::with(&[("SF_BRIDGE", "/nonexistent/helper")]).await;
    service.install("effect", "effect.vst3");
    let scan = service.scan().await;
    let reason = scan["unclassified"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("/nonexistent/helper") && reason.contains("cannot be started"), "{reason}");
}

#[tokio::test]
async fn only_administrators_can_scan() {
    let service = PluginService::start().await;
    service.install("effect", "effect.vst3");
    let token = service.app.token_of_new_user("ada").await;
    let call = |method, path: &str| {
        service.app.remote(method, &format!("/api/v1/plugins{path}")).token(&token).send()
    };
    call(Method::POST, "/scan").await.problem(403, "admin_only");
    let effects = call(Method::GET, "/effects").await.expect(200);
    assert_eq!((&effects["vst_effects"], &effects["cache"]["scanned_at"]), (&json!([]), &Value::Null));
    assert_eq!(service.effects().await, ["Test Effect"]);
    // A former administrator keeps the list of folders, but its plugins are no longer run.
    let users = service.app.local(Method::GET, "/api/v1/admin/users").send().await.expect(200);
    let ada = users["items"]
        .as_array()
        .expect("users")
        .iter()
        .find(|user| user["username"] == "ada")
        .expect("an entry of Ada")["id"]
        .clone();
    let path = format!("/api/v1/admin/users/{}", ada.as_str().expect("an id"));
    let set_role = |role: &str| service.app.local(Method::PATCH, &path).json(&json!({ "role": role })).send();
    set_role("admin").await.expect(200);
    let log_in = json!({ "username": "ada", "password": "tuba-lattice-overbid-9" });
    let token = service.app.remote(Method::POST, "/api/v1/auth/login").json(&log_in).send().await.expect(200)
        ["access_token"]
        .clone();
    let token = token.as_str().expect("a token");
    let add = service
        .app
        .remote(Method::POST, "/api/v1/plugins/dirs")
        .token(token)
        .json(&json!({ "path": service.dir() }));
    add.send().await.expect(200);
    set_role("user").await.expect(200);
    let token = service.app.remote(Method::POST, "/api/v1/auth/login").json(&log_in).send().await.expect(200)
        ["access_token"]
        .clone();
    let token = token.as_str().expect("a token");
    let get =
        |path: &str| service.app.remote(Method::GET, &format!("/api/v1/plugins{path}")).token(token).send();
    assert_eq!(get("/dirs").await.expect(200)["plugin_dirs"], json!([service.dir()]));
    assert_eq!(get("/effects").await.expect(200)["vst_effects"], json!([]));
    assert_eq!(get("/available").await.expect(200)["vst_instruments"], json!([]));
}

#[tokio::test]
async fn a_scan_lists_soundfonts_and_their_folders() {
    let service = PluginService::start().await;
    fs::create_dir(service.path("banks")).expect("makes");
    fs::copy(BANK, service.path("banks/Small GM.sf2")).expect("copies");
    let scan = service.scan().await;
    let bank = &scan["soundfonts"][0];
    assert_eq!((&bank["soundfont_id"], &bank["usable"]), (&json!("smallgm"), &json!(true)));
    assert_eq!(
        (&bank["directory"], &bank["path"]),
        (&json!(service.dir()), &json!(service.path("banks/Small GM.sf2")))
    );
    assert_eq!((&scan["vst_found"], scan["soundfonts"].as_array().map(Vec::len)), (&json!(0), Some(1)));
    assert_eq!(service.get("/available").await.expect(200)["soundfonts"][0]["soundfont_id"], "smallgm");
}
