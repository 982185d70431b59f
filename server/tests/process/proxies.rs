//! The service behind a real nginx on the same machine.

use std::net::SocketAddr;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::nginx::{Nginx, plain};
use crate::support::{Service, request, songfoundry};

const OPERATIONS: &str = include_str!("../../../docs/operations.md");

const CONTAINER: [(&str, &str); 2] =
    [("SF_ENVIRONMENT", "container"), ("SF_JWT_SECRET", "0123456789abcdef0123456789abcdef")];
const TRUST_LOCAL: (&str, &str) = ("SF_TRUST_LOCAL", "on");

/// Checks that requests through nginx have no access without a log-in.
#[track_caller]
fn assert_is_a_visitor(nginx: &Nginx, headers: &[(&str, &str)]) {
    for (method, path, status) in [
        ("GET", "/api/v1/auth/me", 401),
        ("GET", "/api/v1/admin/users", 401),
        ("POST", "/api/v1/auth/local", 403),
        ("GET", "/metrics", 401),
    ] {
        let answer = nginx.request(method, path, headers);
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.body);
    }
    assert_eq!(nginx.request("GET", "/healthz", headers).status, 200);
}

#[test]
fn visitors_through_a_plain_proxy_are_not_administrators() {
    let folder = tempfile::tempdir().expect("a folder");
    let start = |name: &str, settings: &[(&str, &str)]| {
        let storage = folder.path().join(name);
        let service = Service::start(&storage, settings);
        let nginx = Nginx::start(&storage, &plain(&service, ""));
        (service, nginx)
    };
    let (_service, nginx) = start("container", &CONTAINER);
    assert_is_a_visitor(&nginx, &[]);
    let proxies = ("SF_TRUSTED_PROXIES", "127.0.0.1");
    let (_service, nginx) = start("named", &[CONTAINER[0], CONTAINER[1], proxies]);
    assert_is_a_visitor(&nginx, &[]);
    let (_service, nginx) = start("trusting", &[CONTAINER[0], CONTAINER[1], proxies, TRUST_LOCAL]);
    assert_is_a_visitor(&nginx, &[]);
    // Since version 1.29.7, nginx uses HTTP/1.1. It rewrites `Host` and adds no proxy header.
    let newer_service = |name: &str, settings: &[(&str, &str)]| {
        let storage = folder.path().join(name);
        let service = Service::start(&storage, settings);
        let nginx = Nginx::start(&storage, &plain(&service, "proxy_http_version 1.1;"));
        (service, nginx)
    };
    let (_service, nginx) = newer_service("newer", &[proxies]);
    assert_is_a_visitor(&nginx, &[]);
    // The proxy connects from 127.0.0.1, which is not the address in the setting.
    let (_service, nginx) = newer_service("other-address", &[("SF_TRUSTED_PROXIES", "::1"), TRUST_LOCAL]);
    assert_is_a_visitor(&nginx, &[]);
    let (_service, nginx) = newer_service("distrusting", &[("SF_TRUST_LOCAL", "off")]);
    assert_is_a_visitor(&nginx, &[]);
    // HTTP/1.0 is sufficient evidence of a proxy where local callers are trusted.
    let storage = folder.path().join("desktop");
    let service = Service::start(&storage, &[]);
    let nginx = Nginx::start(&storage, &plain(&service, "proxy_http_version 1.0;"));
    assert_is_a_visitor(&nginx, &[]);
    service.expect(200, "GET", "/api/v1/auth/me", &[], &Value::Null);
}

#[test]
fn a_plain_proxy_passes_on_the_headers_of_a_proxy_in_front_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let service = Service::start(&storage, &[TRUST_LOCAL]);
    let nginx = Nginx::start(&storage, &plain(&service, "proxy_http_version 1.1;"));
    for name in ["Client-IP", "X-Client-IP", "CF-Connecting-IP", "x-forwarded-for", "True-Client-IP"] {
        assert_is_a_visitor(&nginx, &[(name, "198.51.100.7")]);
    }
}

/// Returns the nginx block of `docs/operations.md`, without a certificate and with other addresses.
fn documented(service: &Service) -> String {
    let block = OPERATIONS.split("```nginx\n").nth(1).and_then(|text| text.split("```").next());
    let block = block.expect("a block for nginx");
    let lines = block.lines().filter(|line| !line.trim_start().starts_with("ssl_certificate"));
    let block = lines.collect::<Vec<_>>().join("\n");
    for documented_line in ["listen 443 ssl;", "http://127.0.0.1:8600"] {
        assert!(block.contains(documented_line), "`{documented_line}` is not in {block}");
    }
    block
        .replace("listen 443 ssl;", "listen LISTEN;")
        .replace("http://127.0.0.1:8600", &format!("http://{}", service.address))
}

/// Sends a request from the address 127.0.0.9, which represents another machine.
fn request_from_another_address(address: SocketAddr, head_and_body: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.bind(SocketAddr::from(([127, 0, 0, 9], 0))).expect("binds");
        let mut stream = socket.connect(address).await.expect("connects");
        stream.write_all(head_and_body.as_bytes()).await.expect("writes");
        let mut text = String::new();
        stream.read_to_string(&mut text).await.expect("an answer");
        text
    })
}

#[test]
fn the_documented_proxy_passes_client_addresses_to_log_and_audit() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let mut command = songfoundry(&storage);
    let settings = [CONTAINER[0], CONTAINER[1], ("SF_TRUSTED_PROXIES", "127.0.0.1")];
    command.arg("serve").envs(settings).env("SF_LOG", "debug,sqlx=info").env("SF_LOG_FORMAT", "json");
    let mut service = Service::spawn(command.stderr(Stdio::piped()));
    let mut stderr = service.take_stderr();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut stderr, &mut text).expect("text");
        text
    });
    let nginx = Nginx::start(&storage, &documented(&service));
    assert_is_a_visitor(&nginx, &[]);

    let password = service.greeting.concat().split('`').nth(3).expect("a password").to_owned();
    let credentials = json!({ "username": "admin", "password": password }).to_string();
    let answer = request_from_another_address(
        nginx.address,
        &format!(
            "POST /api/v1/auth/login HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{credentials}",
            nginx.address,
            credentials.len()
        ),
    );
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let body = json!({ "current_password": password, "new_password": "vermilion-otter-413-quay" });
    let token = answer.split("\"access_token\":\"").nth(1).and_then(|text| text.split('"').next());
    let bearer = format!("Bearer {}", token.expect("a token"));
    let headers = [("Authorization", bearer.as_str())];
    let password_answer = service.expect(200, "POST", "/api/v1/auth/password", &headers, &body);
    let bearer = format!("Bearer {}", password_answer["access_token"].as_str().expect("a token"));
    let headers = [("Authorization", bearer.as_str())];
    let log = service.expect(200, "GET", "/api/v1/admin/audit?action=log_in", &headers, &Value::Null);
    assert_eq!(log["items"][0]["address"], "127.0.0.9");
    service.stop();
    let lines = reader.join().expect("reads");
    let log_in_lines =
        lines.lines().filter(|line| line.contains("/api/v1/auth/login") && line.contains("answered"));
    let spans: Vec<Value> = log_in_lines.map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(spans.len(), 1, "{spans:?}");
    assert_eq!(spans[0]["span"]["client"], "127.0.0.9", "{}", spans[0]);
}

#[test]
fn a_proxy_passes_on_the_answer_to_a_request_whose_body_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    let service = Service::start(&storage, &CONTAINER);
    let nginx = Nginx::start(&storage, &documented(&service));
    let body = vec![b'x'; 8_000_000];
    for (method, path, kind, status) in [
        ("POST", "/api/v1/projects", "application/json", 401),
        ("POST", "/api/v1/audio/upload", "multipart/form-data; boundary=edge", 401),
        ("POST", "/api/v1/auth/login", "text/plain", 415),
        ("POST", "/api/v1/nothing", "application/json", 404),
        ("PUT", "/api/v1/auth/me", "application/json", 405),
    ] {
        // nginx may pass on the answer by chance, so one request does not prove that it always
        // does.
        for _ in 0..4 {
            let answer = request(nginx.address, method, path, &[("content-type", kind)], &body);
            let answer = answer.expect("a connection").expect("an answer");
            assert_eq!(answer.status, status, "{method} {path}: {}", answer.body);
        }
    }
}
