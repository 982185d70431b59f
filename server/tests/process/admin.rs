//! `songfoundry admin`, with and without a running service.

use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::database;
use crate::support::{Service, songfoundry};

const STRONG_PASSWORD: &str = "tuba-lattice-overbid-9";
const SERVER_SETTINGS: [(&str, &str); 2] =
    [("SF_ENVIRONMENT", "container"), ("SF_JWT_SECRET", "0123456789abcdef0123456789abcdef")];

fn admin(storage: &Path, args: &[&str], input: &str) -> Output {
    let mut command = songfoundry(storage);
    command.arg("admin").args(args).envs(SERVER_SETTINGS);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("writes");
    child.wait_with_output().expect("ends")
}

#[track_caller]
fn run_admin(storage: &Path, args: &[&str], input: &str) -> String {
    let output = admin(storage, args, input);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[track_caller]
fn assert_refused(storage: &Path, args: &[&str], input: &str, expected: &str) {
    let output = admin(storage, args, input);
    let printed_text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && printed_text.contains(expected), "{args:?}: {printed_text}");
}

/// Returns the password in the output of a command.
#[track_caller]
fn printed_password(text: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix("Password: "));
    line.expect("a password").to_owned()
}

fn log_in(service: &Service, username: &str, password: &str, status: u16) -> Value {
    let body = json!({ "username": username, "password": password });
    service.expect(status, "POST", "/api/v1/auth/login", &[], &body)
}

#[test]
fn accounts_are_created_and_passwords_reset_while_the_service_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let service = Service::start(&storage, &SERVER_SETTINGS);
    let password = printed_password(&run_admin(&storage, &["create-user", "Ada", "--role", "admin"], ""));
    let answer = log_in(&service, "ada", &password, 200);
    assert_eq!(
        (&answer["user"]["role"], &answer["user"]["must_change_password"]),
        (&json!("admin"), &json!(true))
    );

    let printed_text = run_admin(&storage, &["reset-password", "ada"], "");
    let new_password = printed_password(&printed_text);
    log_in(&service, "ada", &password, 401);
    log_in(&service, "ada", &new_password, 200);
    let header = format!("Bearer {}", answer["access_token"].as_str().expect("a token"));
    let headers = [("Authorization", header.as_str())];
    let problem = service.expect(401, "GET", "/api/v1/auth/me", &headers, &Value::Null);
    assert_eq!(problem["code"], "token_ended");

    run_admin(&storage, &["create-user", "bob", "--password-stdin"], &format!("{STRONG_PASSWORD}\n"));
    log_in(&service, "bob", STRONG_PASSWORD, 200);
}

#[test]
fn the_first_account_may_be_created_before_the_first_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    run_admin(&storage, &["create-user", "ada", "--role", "admin", "--password-stdin"], STRONG_PASSWORD);
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(&storage).expect("is there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
    // The start creates no second administrator, and prints no password.
    let service = Service::start(&storage, &SERVER_SETTINGS);
    assert!(service.greeting.is_empty(), "{:?}", service.greeting);
    let token = log_in(&service, "ada", STRONG_PASSWORD, 200)["access_token"].clone();
    let header = format!("Bearer {}", token.as_str().expect("a token"));
    let headers = [("Authorization", header.as_str())];
    let body = json!({ "current_password": STRONG_PASSWORD, "new_password": "vermilion-otter-413-quay" });
    let password_answer = service.expect(200, "POST", "/api/v1/auth/password", &headers, &body);
    let header = format!("Bearer {}", password_answer["access_token"].as_str().expect("a token"));
    let headers = [("Authorization", header.as_str())];
    let path = "/api/v1/admin/audit?action=user_created";
    let log = service.expect(200, "GET", path, &headers, &Value::Null);
    assert_eq!(
        (&log["items"][0]["target"], &log["items"][0]["via"]),
        (&json!("ada"), &json!("command_line"))
    );
}

#[test]
fn accounts_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    for name in ["zoe", "ada"] {
        run_admin(&storage, &["create-user", name], "");
    }
    let table = run_admin(&storage, &["list-users"], "");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1].starts_with("ada ") && lines[1].contains("must change password"), "{table}");
    let lines = run_admin(&storage, &["list-users", "--json"], "");
    let names: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["username"].clone())
        .collect();
    assert_eq!(names, [json!("ada"), json!("zoe")]);
    assert!(!lines.contains("argon2"));
}

#[test]
fn a_throttled_account_is_listed_and_released() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    run_admin(&storage, &["create-user", "ada", "--password-stdin"], STRONG_PASSWORD);
    let service = Service::start(&storage, &SERVER_SETTINGS);
    for _ in 0..5 {
        log_in(&service, "ada", "wrong", 401);
    }
    let table = run_admin(&storage, &["list-throttled"], "");
    let line = table.lines().nth(1).expect("an entry");
    assert!(line.starts_with("ada ") && line.contains("127.0.0.1") && line.contains(" 5 "), "{table}");
    let entry: Value =
        serde_json::from_str(&run_admin(&storage, &["list-throttled", "--json"], "")).expect("JSON");
    assert_eq!((&entry["username"], &entry["kind"]), (&json!("ada"), &json!("account_at_address")));

    assert_refused(&storage, &["lift-throttling"], "", "--username");
    assert_refused(&storage, &["lift-throttling", "--address", "school"], "", "school");
    let printed_text = run_admin(&storage, &["lift-throttling", "--username", "bob"], "");
    assert!(printed_text.contains("Nothing was throttled"), "{printed_text}");
    let printed_text = run_admin(&storage, &["lift-throttling", "--username", "Ada"], "");
    assert!(printed_text.contains("`ada`"), "{printed_text}");
    log_in(&service, "ada", STRONG_PASSWORD, 200);
    assert_eq!(run_admin(&storage, &["list-throttled", "--json"], ""), "");
}

#[test]
fn invalid_commands_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    run_admin(&storage, &["create-user", "ada"], "");
    assert_refused(&storage, &["create-user", "ada"], "", "An account `ada` already exists");
    assert_refused(&storage, &["create-user", "a b"], "", "`a b` cannot be a user name");
    assert_refused(&storage, &["create-user", "bob", "--password-stdin"], "password\n", "too easy to guess");
    assert_refused(
        &storage,
        &["create-user", "bob", "--password-stdin"],
        "",
        "no password on standard input",
    );
    assert_refused(&storage, &["create-user", "bob", "--role", "owner"], "", "owner");
    assert_refused(&storage, &["reset-password", "bob"], "", "There is no account `bob`");
    assert_refused(&storage, &["demolish"], "", "demolish");
    assert_eq!(run_admin(&storage, &["list-users", "--json"], "").lines().count(), 1);
}

#[test]
fn listing_accounts_creates_no_storage() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    // With PostgreSQL, the database exists before the storage folder.
    if database::postgres_address(&storage).is_none() {
        assert_refused(&storage, &["list-users"], "", "cannot open the database");
        assert_refused(&storage, &["reset-password", "ada"], "", "cannot open the database");
        assert!(!storage.exists(), "a storage folder was created");
    }
}
