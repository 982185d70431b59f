//! HTTPS: invalid configurations, served answers, and replacement of the certificate.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use rcgen::{CertificateParams, KeyPair};
use reqwest::{Certificate, Client, Response, Version};
use serde_json::Value;

use crate::heavy_work::status_field as status_kib;
use crate::slow_clients::upload_large_sound;
use crate::support::{Service, songfoundry, wait_until_closed};

/// A folder with a certificate for 127.0.0.1 and a storage folder.
struct Installation {
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

impl Installation {
    fn new() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let installation =
            Self { folder: tempfile::tempdir().expect("a folder"), runtime: runtime.expect("a runtime") };
        installation.make_certificate();
        installation
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn make_certificate(&self) {
        let key = KeyPair::generate().expect("a key");
        let params =
            CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).expect("names");
        let certificate = params.self_signed(&key).expect("signs");
        fs::write(self.path("key.pem"), key.serialize_pem()).expect("writes");
        fs::write(self.path("cert.pem"), certificate.pem()).expect("writes");
    }

    fn settings(&self) -> [(&'static str, String); 2] {
        [("SF_TLS_CERT", "cert.pem"), ("SF_TLS_KEY", "key.pem")]
            .map(|(key, name)| (key, self.path(name).to_string_lossy().into_owned()))
    }

    fn start(&self, additional: &[(&str, &str)]) -> Service {
        let files = self.settings();
        let mut settings: Vec<(&str, &str)> = files.iter().map(|(key, path)| (*key, path.as_str())).collect();
        settings.extend(additional);
        Service::start(&self.path("storage"), &settings)
    }

    /// Returns a client that trusts only the current certificate.
    fn client(&self) -> Client {
        let pem = fs::read(self.path("cert.pem")).expect("reads");
        let certificate = Certificate::from_pem(&pem).expect("a certificate");
        Client::builder().tls_certs_only([certificate]).build().expect("a client")
    }

    fn get(&self, client: &Client, service: &Service, path: &str) -> reqwest::Result<Response> {
        let url = format!("https://127.0.0.1:{}{path}", service.address.port());
        self.runtime.block_on(
            client.get(url).header("Origin", format!("https://127.0.0.1:{}", service.address.port())).send(),
        )
    }
}

#[test]
fn a_browser_gets_http2_and_a_secure_page() {
    let installation = Installation::new();
    let service = installation.start(&[]);
    let answer =
        installation.get(&installation.client(), &service, "/api/v1/system/capabilities").expect("an answer");
    assert_eq!((answer.status().as_u16(), answer.version()), (200, Version::HTTP_2));
    for (name, part) in [
        ("strict-transport-security", "max-age="),
        ("content-security-policy", "frame-ancestors 'none'"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-embedder-policy", "require-corp"),
    ] {
        let value = answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("");
        assert!(value.contains(part), "{name}: {value}");
    }
    let capabilities: Value =
        serde_json::from_slice(&installation.runtime.block_on(answer.bytes()).expect("a body"))
            .expect("JSON");
    assert_eq!(capabilities["secure"], true);
    // Local trust applies to HTTPS from the same origin.
    let projects = installation.get(&installation.client(), &service, "/api/v1/projects").expect("an answer");
    assert_eq!(projects.status(), 200);

    let http1_client =
        Client::builder().http1_only().tls_danger_accept_invalid_certs(true).build().expect("a client");
    let answer = installation.get(&http1_client, &service, "/healthz").expect("an answer");
    assert_eq!((answer.status().as_u16(), answer.version()), (200, Version::HTTP_11));
}

#[test]
fn a_stalled_http2_download_is_closed() {
    let installation = Installation::new();
    let plain_service = Service::start(&installation.path("storage"), &[]);
    let url = upload_large_sound(&plain_service);
    plain_service.stop();
    let service = installation.start(&[("SF_CONNECTION_IDLE_SECS", "1")]);
    let client = installation.client();
    let answer = installation.get(&client, &service, &url).expect("an answer");
    assert_eq!((answer.status().as_u16(), answer.version()), (200, Version::HTTP_2));
    // The client does not read the answer, so HTTP/2 flow control stops it. The service has no
    // other connection.
    wait_until_closed(&service, client_port_to(service.address.port()));
    drop((answer, client));
}

#[test]
fn unread_http2_answers_share_the_memory_of_the_openapi_document() {
    const CONNECTIONS: usize = 16;
    const ANSWERS: usize = 60;
    let installation = Installation::new();
    let service = installation.start(&[]);
    let path = "/api/v1/openapi.json";
    installation.get(&installation.client(), &service, path).expect("an answer");
    let before_kib = status_kib(service.id(), "VmRSS:");
    let mut unread = Vec::new();
    for _ in 0..CONNECTIONS {
        let client = installation.client();
        for _ in 0..ANSWERS {
            let answer = installation.get(&client, &service, path).expect("an answer");
            assert_eq!((answer.status().as_u16(), answer.version()), (200, Version::HTTP_2));
            unread.push((client.clone(), answer));
        }
    }
    let used_kib = status_kib(service.id(), "VmHWM:") - before_kib;
    assert!(
        used_kib < 128 * 1024,
        "{used_kib} KiB of memory for {} answers; the limit is 128 MiB",
        unread.len()
    );
}

#[test]
fn log_ins_whose_bodies_do_not_arrive_by_http2_occupy_little_memory() {
    const CONNECTIONS: usize = 20;
    const REQUESTS: usize = 60;
    let installation = Installation::new();
    let service = installation.start(&[("SF_TRUST_LOCAL", "off"), ("SF_CONNECTIONS_PER_ADDRESS", "64")]);
    installation.get(&installation.client(), &service, "/readyz").expect("an answer");
    let before_kib = status_kib(service.id(), "VmRSS:");
    let url = format!("https://127.0.0.1:{}/api/v1/auth/login", service.address.port());
    let (sender, mut answers) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..CONNECTIONS {
        let client = installation.client();
        // Opens the connection. Otherwise each of several concurrent requests would open one.
        installation.get(&client, &service, "/healthz").expect("an answer");
        for _ in 0..REQUESTS {
            let start = stream::once(async { Ok::<_, std::io::Error>(vec![b' '; 15_990]) });
            let body = reqwest::Body::wrap_stream(start.chain(stream::pending()));
            let request = client.post(&url).header("content-type", "application/json").body(body).send();
            let sender = sender.clone();
            installation.runtime.spawn(async move {
                let status = request.await.map(|answer| answer.status().as_u16());
                // The test may have ended, because it does not wait for all answers.
                let _ = sender.send(status);
            });
        }
    }
    // One address may have 64 unfinished log-ins. All others are refused or replaced by newer ones.
    for _ in 0..CONNECTIONS * REQUESTS - 64 {
        let status = installation.runtime.block_on(answers.recv()).expect("a request").expect("an answer");
        assert_eq!(status, 503);
    }
    let used_kib = status_kib(service.id(), "VmHWM:") - before_kib;
    assert!(used_kib < 32 * 1024, "{used_kib} KiB of memory; the limit is 32 MiB");
}

/// Returns the client's port of the only connection to `port` (proc(5), `/proc/net/tcp`).
fn client_port_to(port: u16) -> u16 {
    let connections = fs::read_to_string("/proc/net/tcp").expect("the system's list of connections");
    let to = format!(":{port:04X}");
    let connection = connections.lines().skip(1).find_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (from, is_to_port) = (fields.next()?, fields.next()?.ends_with(&to));
        is_to_port.then(|| from.rsplit(':').next()).flatten()
    });
    u16::from_str_radix(connection.expect("a connection"), 16).expect("a port")
}

#[test]
fn unencrypted_requests_are_redirected() {
    let installation = Installation::new();
    let service = installation.start(&[]);
    let mut stream = TcpStream::connect(service.address).expect("connects");
    stream.write_all(b"GET /?v=1 HTTP/1.1\r\nHost: studio.example:8600\r\n\r\n").expect("writes");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("reads");
    assert!(answer.starts_with("HTTP/1.1 308 "), "{answer}");
    assert!(answer.contains("location: https://studio.example:8600/?v=1\r\n"), "{answer}");
}

#[test]
fn a_certificate_is_replaced_while_it_serves() {
    let installation = Installation::new();
    let service = installation.start(&[]);
    installation.get(&installation.client(), &service, "/healthz").expect("trusted");
    // The service reads the new certificate after a signal, or when it next checks the files.
    for has_signal in [true, false] {
        installation.make_certificate();
        let client = installation.client();
        if has_signal {
            installation.get(&client, &service, "/healthz").expect_err("the old certificate is still used");
            service.signal("HUP");
        }
        let start_time = Instant::now();
        while installation.get(&client, &service, "/healthz").is_err() {
            assert!(start_time.elapsed() < Duration::from_secs(15), "the new certificate is not used");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    // A key that does not belong to the certificate changes nothing.
    let client = installation.client();
    fs::write(installation.path("key.pem"), "nothing").expect("writes");
    service.signal("HUP");
    std::thread::sleep(Duration::from_millis(300));
    installation.get(&client, &service, "/healthz").expect("the old certificate is still used");
}

#[test]
fn the_service_ends_in_time_with_encrypted_connections_open() {
    let installation = Installation::new();
    let service = installation.start(&[]);
    let client = installation.client();
    installation.get(&client, &service, "/healthz").expect("an answer");
    // A connection without a TLS handshake.
    let without_handshake = TcpStream::connect(service.address).expect("connects");
    let (status, took) = service.stop();
    assert!(status.success() && took < Duration::from_secs(4), "{status} {took:?}");
    drop((client, without_handshake));
}

#[track_caller]
fn assert_start_is_refused(storage: &Path, settings: &[(&str, String)], expected: &str) {
    let mut command = songfoundry(storage);
    command.arg("serve").envs(settings.iter().map(|(key, value)| (*key, value.as_str())));
    let output = command.output().expect("runs");
    let printed_text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && printed_text.contains(expected), "{printed_text}");
}

#[test]
fn a_wrong_certificate_stops_the_start_with_a_reason() {
    let installation = Installation::new();
    let settings = installation.settings();
    let storage = installation.path("storage");
    let key = fs::read(installation.path("key.pem")).expect("reads");
    installation.make_certificate();
    fs::write(installation.path("key.pem"), key).expect("writes");
    assert_start_is_refused(&storage, &settings, "does not belong to the certificate");
    fs::remove_file(installation.path("cert.pem")).expect("removes");
    assert_start_is_refused(&storage, &settings, "cert.pem (SF_TLS_CERT)");
    assert_start_is_refused(&storage, &settings[..1], "SF_TLS_KEY is not set");
    assert!(!storage.exists(), "created the storage folder before the certificate was checked");
}
