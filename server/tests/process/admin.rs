//! `songfoundry admin`, with and without a running service.

use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::database;
use crate::support::{Service, songfoundry};

const STRONG: &str = "tuba-lattice-overbid-9";
const SERVER: [(&str, &str); 2] =
    [("SF_ENVIRONMENT", "container"), ("SF_JWT_SECRET", "0123456789abcdef0123456789abcdef")];

fn admin(storage: &Path, args: &[&str], input: &str) -> Output {
    let mut command = songfoundry(storage);
    command.arg("admin").args(args).envs(SERVER);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("writes");
    child.wait_with_output().expect("ends")
}

#[track_caller]
fn done(storage: &Path, args: &[&str], input: &str) -> String {
    let output = admin(storage, args, input);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[track_caller]
fn refused(storage: &Path, args: &[&str], input: &str, expected: &str) {
    let output = admin(storage, args, input);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && printed.contains(expected), "{args:?}: {printed}");
}

/// The password in the output.
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
fn accounts_are_made_and_reset_while_the_service_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let service = Service::start(&storage, &SERVER);
    let password = printed_password(&done(&storage, &["create-user", "Ada", "--role", "admin"], ""));
    let answer = log_in(&service, "ada", &password, 200);
    assert_eq!(
        (&answer["user"]["role"], &answer["user"]["must_change_password"]),
        (&json!("admin"), &json!(true))
    );

    let printed = done(&storage, &["reset-password", "ada"], "");
    let second = printed_password(&printed);
    log_in(&service, "ada", &password, 401);
    log_in(&service, "ada", &second, 200);
    let header = format!("Bearer {}", answer["access_token"].as_str().expect("a token"));
    let headers = [("Authorization", header.as_str())];
    let ended = service.expect(401, "GET", "/api/v1/auth/me", &headers, &Value::Null);
    assert_eq!(ended["code"], "token_ended");

    done(&storage, &["create-user", "bob", "--password-stdin"], &format!("{STRONG}\n"));
    log_in(&service, "bob", STRONG, 200);
}

#[test]
fn the_first_account_may_be_made_before_the_first_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    done(&storage, &["create-user", "ada", "--role", "admin", "--password-stdin"], STRONG);
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(&storage).expect("is there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
    // No second administrator is created.
    let service = Service::start(&storage, &SERVER);
    assert!(service.greeting.is_empty(), "{:?}", service.greeting);
    let token = log_in(&service, "ada", STRONG, 200)["access_token"].clone();
    let header = format!("Bearer {}", token.as_str().expect("a token"));
    let headers = [("Authorization", header.as_str())];
    let body = json!({ "current_password": STRONG, "new_password": "vermilion-otter-413-quay" });
    let changed = service.expect(200, "POST", "/api/v1/auth/password", &headers, &body);
    let header = format!("Bearer {}", changed["access_token"].as_str().expect("a token"));
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
        done(&storage, &["create-user", name], "");
    }
    let table = done(&storage, &["list-users"], "");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1].starts_with("ada ") && lines[1].contains("must change password"), "{table}");
    let lines = done(&storage, &["list-users", "--json"], "");
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
    done(&storage, &["create-user", "ada", "--password-stdin"], STRONG);
    let service = Service::start(&storage, &SERVER);
    for _ in 0..5 {
        log_in(&service, "ada", "wrong", 401);
    }
    let table = done(&storage, &["list-throttled"], "");
    let line = table.lines().nth(1).expect("an entry");
    assert!(line.starts_with("ada ") && line.contains("127.0.0.1") && line.contains(" 5 "), "{table}");
    let entry: Value =
        serde_json::from_str(&done(&storage, &["list-throttled", "--json"], "")).expect("JSON");
    assert_eq!((&entry["username"], &entry["kind"]), (&json!("ada"), &json!("account_at_address")));

    refused(&storage, &["lift-throttling"], "", "--username");
    refused(&storage, &["lift-throttling", "--address", "school"], "", "school");
    let printed = done(&storage, &["lift-throttling", "--username", "bob"], "");
    assert!(printed.contains("Nothing was throttled"), "{printed}");
    let printed = done(&storage, &["lift-throttling", "--username", "Ada"], "");
    assert!(printed.contains("`ada`"), "{printed}");
    log_in(&service, "ada", STRONG, 200);
    assert_eq!(done(&storage, &["list-throttled", "--json"], ""), "");
}

#[test]
fn invalid_commands_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    done(&storage, &["create-user", "ada"], "");
    refused(&storage, &["create-user", "ada"], "", "An account `ada` already exists");
    refused(&storage, &["create-user", "a b"], "", "`a b` cannot be a user name");
    refused(&storage, &["create-user", "bob", "--password-stdin"], "password\n", "too easy to guess");
    refused(&storage, &["create-user", "bob", "--password-stdin"], "", "no password on standard input");
    refused(&storage, &["create-user", "bob", "--role", "owner"], "", "owner");
    refused(&storage, &["reset-password", "bob"], "", "There is no account `bob`");
    refused(&storage, &["demolish"], "", "demolish");
    assert_eq!(done(&storage, &["list-users", "--json"], "").lines().count(), 1);
}

#[test]
fn listing_accounts_creates_no_storage() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    // PostgreSQL has a database before any storage folder exists.
    if database::of(&storage).is_none() {
        refused(&storage, &["list-users"], "", "cannot open the database");
        refused(&storage, &["reset-password", "ada"], "", "cannot open the database");
        assert!(!storage.exists(), "a storage folder was created");
    }
}
