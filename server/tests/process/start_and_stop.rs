//! How the program starts, refuses wrong settings, logs and ends.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use crate::support::{Service, songfoundry};
use serde_json::{Value, json};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn run(storage: &Path, args: &[&str], settings: &[(&str, &str)]) -> Output {
    songfoundry(storage).args(args).envs(settings.iter().copied()).output().expect("runs")
}

#[track_caller]
fn assert_start_is_refused(storage: &Path, settings: &[(&str, &str)], expected: &str) {
    let output = run(storage, &["serve"], settings);
    let printed_text = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && printed_text.contains(expected),
        "{:?}: {printed_text}",
        output.status
    );
}

#[test]
fn a_wrong_setting_stops_the_start_with_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    assert_start_is_refused(&storage, &[("SF_PORT", "x")], "SF_PORT is `x`");
    assert_start_is_refused(&storage, &[("SF_ENVIRONMENT", "container")], "SF_JWT_SECRET is not set");
    assert_start_is_refused(
        &storage,
        &[("SF_CONFIG", "/nowhere/songfoundry.toml")],
        "/nowhere/songfoundry.toml",
    );
    std::fs::write(folder.path().join("songfoundry.toml"), "log_format = \"xml\"").expect("writes");
    assert_start_is_refused(&storage, &[], "SF_LOG_FORMAT is `xml`");
    assert!(!storage.exists(), "created the storage folder before checking the settings");
    std::fs::write(folder.path().join("songfoundry.toml"), "").expect("writes");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("writes");
    assert_start_is_refused(&file, &[], "SF_STORAGE_DIR");
}

#[test]
fn only_the_variables_of_the_service_must_be_valid_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let invalid_utf8 = OsStr::from_bytes(b"caf\xe9");
    for command in ["config", "serve", "worker"] {
        let output = songfoundry(&storage).arg(command).env("SF_LOG", invalid_utf8).output().expect("runs");
        let printed_text = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && printed_text.contains("SF_LOG is not valid UTF-8"),
            "{command}: {printed_text}"
        );
        assert!(!printed_text.contains("panicked"), "{command}: {printed_text}");
    }
    let mut config_command = songfoundry(&storage);
    config_command.env("CITY", invalid_utf8).env(OsStr::from_bytes(b"CAF\xc9"), "open").arg("config");
    let output = config_command.output().expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_privileged_port_is_refused_with_the_reason() {
    use std::os::unix::fs::MetadataExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let program = env!("CARGO_BIN_EXE_songfoundry");
    let plain_start = songfoundry(&folder.path().join("storage"));
    // Root drops the right to use ports below 1024. Other users do not have this right.
    let mut command = match std::fs::metadata("/proc/self").expect("this process").uid() == 0 {
        true => {
            let mut setpriv = std::process::Command::new("setpriv");
            setpriv.args(["--bounding-set=-net_bind_service", "--inh-caps=-all", program, "serve"]);
            setpriv.current_dir(folder.path());
            for (key, value) in plain_start.get_envs() {
                match value {
                    Some(value) => setpriv.env(key, value),
                    None => setpriv.env_remove(key),
                };
            }
            setpriv
        }
        false => {
            let mut command = plain_start;
            command.arg("serve");
            command
        }
    };
    let first_unprivileged_port =
        std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start").expect("reads");
    assert!(
        first_unprivileged_port.trim().parse::<u16>().expect("a port") > 79,
        "every process may use port 79 here"
    );
    let output = command.env("SF_PORT", "79").output().expect("setpriv of util-linux runs");
    let printed_text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{printed_text}");
    assert!(
        printed_text.contains("127.0.0.1:79 (SF_HOST, SF_PORT)")
            && printed_text.contains("may not listen on ports below 1024"),
        "{printed_text}"
    );
}

#[test]
fn settings_with_missing_targets_are_reported_at_the_start() {
    use std::io::BufRead as _;
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = songfoundry(&folder.path().join("storage"));
    command
        .arg("serve")
        .env("SF_WEB_DIR", "/nowhere/page")
        .env("SF_SOUNDFONT_DIRS", "/nowhere/sounds")
        .env("SF_DEFAULT_SOUNDFONT", "No Such Bank")
        .stderr(Stdio::piped());
    let mut service = Service::spawn(&mut command);
    let mut expected = vec![
        "SF_WEB_DIR is `/nowhere/page`",
        "SF_SOUNDFONT_DIRS names `/nowhere/sounds`",
        "SF_DEFAULT_SOUNDFONT is `No Such Bank`",
    ];
    let lines = std::io::BufReader::new(service.take_stderr()).lines();
    let (sender, log) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    while !expected.is_empty() {
        let line = log.recv_timeout(Duration::from_secs(20));
        let line = line.unwrap_or_else(|_| panic!("not printed: {expected:?}"));
        expected.retain(|expected_text| !line.contains(expected_text));
    }
}

#[test]
fn a_worker_reports_soundfont_folders_that_it_cannot_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bank.sf2");
    std::fs::write(&file, "no folder").expect("writes");
    let dirs = format!("/nowhere/sounds:{}", file.display());
    let mut command = songfoundry(&folder.path().join("storage"));
    // The worker prints the report before it opens the database, which is unreachable.
    command
        .arg("worker")
        .env("SF_SOUNDFONT_DIRS", &dirs)
        .env("SF_DATABASE_URL", "postgres://x@127.0.0.1:1/x");
    let output = command.output().expect("runs");
    let printed_text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    for dir in ["/nowhere/sounds", file.to_str().expect("Unicode")] {
        assert!(printed_text.contains(&format!("SF_SOUNDFONT_DIRS names `{dir}`")), "{printed_text}");
    }
}

#[test]
fn a_storage_folder_can_be_used_by_only_one_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let first = Service::start(&storage, &[]);
    assert_start_is_refused(&storage, &[], "SF_STORAGE_DIR");
    let port = first.address.port().to_string();
    assert_start_is_refused(&folder.path().join("other"), &[("SF_PORT", &port)], "SF_PORT");
    first.expect(200, "GET", "/readyz", &[], &Value::Null);
}

#[test]
fn a_second_process_is_refused_after_the_lock_file_was_deleted() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let first = Service::start(&storage, &[]);
    std::fs::remove_file(storage.join("songfoundry.lock")).expect("removes");
    assert_start_is_refused(&storage, &[], "another Songfoundry process is using the storage folder");
    first.expect(200, "GET", "/readyz", &[], &Value::Null);
}

#[test]
fn a_second_service_with_another_folder_cannot_use_the_same_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = format!("sqlite:{}", folder.path().join("songs.db").display());
    let settings = [("SF_DATABASE_URL", database.as_str())];
    let first = Service::start(&folder.path().join("storage"), &settings);
    assert_start_is_refused(
        &folder.path().join("other"),
        &settings,
        "another Songfoundry process is using the database",
    );
    first.expect(200, "GET", "/readyz", &[], &Value::Null);
}

#[test]
fn the_signing_key_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    Service::start(&storage, &[]).kill();
    let key = storage.join("token-signing.key");
    let mode = |path: &Path| std::fs::metadata(path).expect("is there").permissions().mode() & 0o777;
    assert_eq!((mode(&key), mode(&storage)), (0o600, 0o700));
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).expect("changes");
    Service::start(&storage, &[]).kill();
    assert_eq!(mode(&key), 0o600);
}

#[test]
fn a_container_prints_its_first_password_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let settings = [("SF_ENVIRONMENT", "container"), ("SF_JWT_SECRET", SECRET)];
    let first = Service::start(&storage, &settings);
    let greeting = first.greeting.concat();
    let password = greeting.split('`').nth(3).expect("a password in the greeting").to_owned();
    let body = json!({ "username": "admin", "password": password });
    let answer = first.expect(200, "POST", "/api/v1/auth/login", &[], &body);
    assert_eq!(answer["user"]["must_change_password"], true);
    first.kill();
    let second = Service::start(&storage, &settings);
    assert!(second.greeting.is_empty(), "{:?}", second.greeting);
    second.expect(200, "POST", "/api/v1/auth/login", &[], &body);
}

#[test]
fn the_service_ends_in_time_with_connections_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[]);
    // One connection has sent nothing, and the other a partial request.
    let idle = TcpStream::connect(service.address).expect("connects");
    let mut partial = TcpStream::connect(service.address).expect("connects");
    write!(
        partial,
        "POST /api/v1/projects HTTP/1.1\r\nHost: {}\r\nContent-Length: 10\r\n\r\n{{",
        service.address
    )
    .expect("writes");
    std::thread::sleep(Duration::from_millis(100));
    let (status, took) = service.stop();
    assert!(status.success(), "{status}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    drop((idle, partial));
}

#[test]
fn logs_are_json_on_request_and_never_contain_a_token() {
    let (folder, empty) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let mut command = songfoundry(&folder.path().join("storage"));
    // The test counts one warning below. A missing SoundFont folder would cause another one.
    command.arg("serve").env("SF_LOG", "debug,sqlx=info").env("SF_LOG_FORMAT", "json").stderr(Stdio::piped());
    command.env("SF_SOUNDFONT_DIRS", empty.path());
    let mut service = Service::spawn(&mut command);
    let mut stderr = service.take_stderr();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).expect("text");
        text
    });
    service.expect(400, "GET", "/api/v1/tasks?token=hidden-in-the-query", &[], &Value::Null);
    let headers = [("Authorization", "Bearer hidden-in-the-header")];
    service.expect(401, "GET", "/api/v1/tasks", &headers, &Value::Null);
    let body = json!({ "username": "admin", "password": "hidden-in-the-body" });
    service.expect(401, "POST", "/api/v1/auth/login", &[], &body);
    let tail = service.expect(200, "GET", "/api/v1/system/log?limit=1000", &[], &Value::Null).to_string();
    assert!(tail.contains("failed log-in") && !tail.contains("hidden-in"), "{tail}");
    let warnings = service.expect(200, "GET", "/api/v1/system/log?level=warn", &[], &Value::Null);
    assert_eq!(warnings["lines"].as_array().map(Vec::len), Some(1), "{warnings}");
    service.stop();
    let text = reader.join().expect("reads");
    assert!(text.contains("/api/v1/tasks") && text.contains("failed log-in"), "{text}");
    assert!(!text.contains("hidden-in"), "{text}");
    for line in text.lines() {
        let entry: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        assert!(entry["level"].is_string() && entry["timestamp"].is_string(), "{line}");
    }
}

#[test]
fn the_command_line_explains_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    for (args, expected) in [
        (&["--help"][..], "songfoundry serve"),
        (&["serve", "--help"][..], "SF_STORAGE_DIR"),
        (&["worker", "--help"][..], "SF_DATABASE_URL"),
        (&["config", "--help"][..], "songfoundry.toml"),
        (&["--version"][..], env!("CARGO_PKG_VERSION")),
        (&["config"][..], "SF_PORT=0  [environment]"),
    ] {
        let output = run(&storage, args, &[]);
        let printed_text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && printed_text.contains(expected), "{args:?}: {printed_text}");
    }
    let output = run(&storage, &["config"], &[("SF_PORT", "x")]);
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("SF_PORT is `x`"));
    assert!(!run(&storage, &["sreve"], &[]).status.success());
}

#[test]
fn a_body_over_the_limit_gets_an_answer_instead_of_a_reset() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("storage"), &[("SF_PROJECT_MAX_BYTES", "100000")]);
    let body = json!({ "name": "x".repeat(30_000_000) });
    let problem = service.expect(413, "POST", "/api/v1/projects", &[], &body);
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("100000")), "{problem}");
    let problem = service.expect(413, "POST", "/api/v1/auth/login", &[], &body);
    assert_eq!(problem["code"], "too_large");
}

#[test]
fn a_worker_needs_a_database_that_it_can_share() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("x.db").display());
    let output = run(&folder.path().join("storage"), &["worker"], &[("SF_DATABASE_URL", &url)]);
    let printed_text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && printed_text.contains("SF_DATABASE_URL"), "{printed_text}");
}
