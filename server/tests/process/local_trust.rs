//! Access without a log-in, its announcement at the start, and the first log-in where nobody is
//! trusted.

use serde_json::{Value, json};

use crate::support::Service;

const CONTAINER: [(&str, &str); 2] =
    [("SF_ENVIRONMENT", "container"), ("SF_JWT_SECRET", "0123456789abcdef0123456789abcdef")];

#[test]
fn the_start_prints_who_is_trusted() {
    let started = |name: &str, settings: &[(&str, &str)]| {
        // With PostgreSQL, storages in the same folder share a database.
        let folder = tempfile::tempdir().expect("a folder");
        let mut service = Service::start(&folder.path().join(name), settings);
        // The signal ends the output, so a missing line is read as an empty one.
        service.signal("TERM");
        (service.greeting.clone(), service.next_line())
    };
    let (greeting, line) = started("desktop", &[]);
    assert!(greeting.is_empty(), "{greeting:?}");
    assert!(line.contains("administrator without a log-in") && line.contains("SF_TRUST_LOCAL=on"), "{line}");
    // The line warns of proxies that the service cannot distinguish from local callers.
    assert!(line.contains("HTTP/1.1") && line.contains("SF_TRUST_LOCAL=off"), "{line}");
    let (_, line) = started("server", &CONTAINER);
    assert!(line.contains("Everybody must log in") && line.contains("SF_TRUST_LOCAL=off"), "{line}");
    let trusting =
        [CONTAINER[0], CONTAINER[1], ("SF_TRUST_LOCAL", "on"), ("SF_TRUSTED_PROXIES", "192.0.2.9")];
    let (_, line) = started("trusting", &trusting);
    assert!(line.contains("loopback"), "{line}");
    let behind = [("SF_TRUST_LOCAL", "on"), ("SF_TRUSTED_PROXIES", "127.0.0.9")];
    let (greeting, line) = started("behind", &behind);
    assert!(line.contains("Everybody must log in") && line.contains("127.0.0.9"), "{line}");
    assert!(greeting.concat().contains("password"), "nobody could log in: {greeting:?}");
    let (_, line) = started("proxied", &behind[1..]);
    assert!(line.contains("Everybody must log in") && line.contains("SF_TRUST_LOCAL=off"), "{line}");
}

#[test]
fn the_administrator_of_a_desktop_storage_can_log_in_on_a_server() {
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
fn a_server_without_local_trust_has_an_administrator_password() {
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
    // The password is printed only once, and remains valid.
    let restarted_service = Service::start(&storage, &distrusting);
    assert!(restarted_service.greeting.is_empty(), "{:?}", restarted_service.greeting);
    restarted_service.expect(200, "POST", "/api/v1/auth/login", &[], &body);
}
