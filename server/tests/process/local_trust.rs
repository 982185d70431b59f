//! Who gets in without a log-in, as the program says at its start, and how to get in where nobody
//! does.

use serde_json::{Value, json};

use crate::support::Service;

const CONTAINER: [(&str, &str); 2] =
    [("SF_ENVIRONMENT", "container"), ("SF_JWT_SECRET", "0123456789abcdef0123456789abcdef")];

#[test]
fn the_start_says_who_is_trusted() {
    let said = |name: &str, settings: &[(&str, &str)]| {
        // With PostgreSQL, what lies in one folder has one database.
        let folder = tempfile::tempdir().expect("a folder");
        let mut service = Service::start(&folder.path().join(name), settings);
        // So that a line that never comes is an empty one.
        service.signal("TERM");
        (service.greeting.clone(), service.next_line())
    };
    let (greeting, line) = said("desktop", &[]);
    assert!(greeting.is_empty(), "{greeting:?}");
    assert!(line.contains("administrator without a log-in") && line.contains("SF_TRUST_LOCAL=on"), "{line}");
    // Such a proxy cannot be told from a local caller.
    assert!(line.contains("HTTP/1.1") && line.contains("SF_TRUST_LOCAL=off"), "{line}");
    let (_, line) = said("server", &CONTAINER);
    assert!(line.contains("Everybody must log in") && line.contains("SF_TRUST_LOCAL=off"), "{line}");
    let trusting =
        [CONTAINER[0], CONTAINER[1], ("SF_TRUST_LOCAL", "on"), ("SF_TRUSTED_PROXIES", "192.0.2.9")];
    let (_, line) = said("trusting", &trusting);
    assert!(line.contains("loopback"), "{line}");
    let behind = [("SF_TRUST_LOCAL", "on"), ("SF_TRUSTED_PROXIES", "127.0.0.9")];
    let (greeting, line) = said("behind", &behind);
    assert!(line.contains("Everybody must log in") && line.contains("127.0.0.9"), "{line}");
    assert!(greeting.concat().contains("password"), "nobody could log in: {greeting:?}");
    let (_, line) = said("proxied", &behind[1..]);
    assert!(line.contains("Everybody must log in") && line.contains("SF_TRUST_LOCAL=off"), "{line}");
}

#[test]
fn a_desktops_storage_lets_its_administrator_in_on_a_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    Service::start(&storage, &[]).kill();
    let server = Service::start(&storage, &CONTAINER);
    let greeting = server.greeting.concat();
    let password = greeting.split('`').nth(3).unwrap_or_else(|| panic!("no password in {greeting:?}"));
    let body = json!({ "username": "admin", "password": password });
    let answer = server.expect(200, "POST", "/api/v1/auth/login", &[], &body);
    assert_eq!(answer["user"]["must_change_password"], true);
    server.expect(401, "GET", "/api/v1/projects", &[], &Value::Null);
}

#[test]
fn a_server_without_local_trust_lets_its_administrator_in_by_a_password() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let distrusting = [("SF_TRUST_LOCAL", "off")];
    Service::start(&storage, &[]).kill();
    let server = Service::start(&storage, &distrusting);
    server.expect(401, "GET", "/api/v1/auth/me", &[], &Value::Null);
    server.expect(403, "POST", "/api/v1/auth/local", &[], &Value::Null);
    let greeting = server.greeting.concat();
    let password = greeting.split('`').nth(3).unwrap_or_else(|| panic!("no password in {greeting:?}"));
    let body = json!({ "username": "admin", "password": password });
    server.expect(200, "POST", "/api/v1/auth/login", &[], &body);
    server.kill();
    // It is shown once, and stays.
    let again = Service::start(&storage, &distrusting);
    assert!(again.greeting.is_empty(), "{:?}", again.greeting);
    again.expect(200, "POST", "/api/v1/auth/login", &[], &body);
}
