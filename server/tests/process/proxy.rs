//! Behind nginx as it comes: it holds answers back unless they say that it must not.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Service;

const NGINX: &str = "/usr/sbin/nginx";
const STARTS_WITHIN: Duration = Duration::from_secs(30);

/// nginx before a service. Dropped, it ends.
struct Nginx {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Nginx {
    fn before(service: &Service) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let dir = folder.path().display();
        let config = format!(
            "daemon off; master_process off; pid {dir}/pid; error_log {dir}/error.log; events {{}}
            http {{ access_log off; client_body_temp_path {dir}/a; proxy_temp_path {dir}/b; fastcgi_temp_path {dir}/c;
            uwsgi_temp_path {dir}/d; scgi_temp_path {dir}/e;
            server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://{}; }} }} }}",
            service.address
        );
        std::fs::write(folder.path().join("nginx.conf"), config).expect("writes");
        let child = Command::new(NGINX)
            .args(["-e", "stderr", "-c"])
            .arg(folder.path().join("nginx.conf"))
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx runs (Debian's package nginx)");
        let this = Self { child, port, _folder: folder };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < STARTS_WITHIN, "nginx does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        this
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Already ended if it could not start.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_event_passes_nginx_before_its_stream_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    // Nobody works on tasks, so that the stream stays open after its first event.
    let service = Service::start(&folder.path().join("storage"), &[("SF_SERVE_TASKS", "off")]);
    let token = service.expect(200, "POST", "/api/v1/auth/local", &[], &Value::Null);
    let bearer = format!("Bearer {}", token["access_token"].as_str().expect("a token"));
    let song = json!({ "schema_version": 1, "project_id": "song", "name": "One", "tracks": [] });
    service.expect(201, "POST", "/api/v1/projects", &[], &song);
    let started =
        service.expect(202, "POST", "/api/v1/multitrack/mixdown", &[], &json!({ "project_id": "song" }));
    let nginx = Nginx::before(&service);
    let mut stream = TcpStream::connect(("127.0.0.1", nginx.port)).expect("connects");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("sets");
    let path = format!("/api/v1/tasks/{}/events", started["task_id"].as_str().expect("an id"));
    let request = format!("GET {path} HTTP/1.1\r\nHost: studio.example\r\nAuthorization: {bearer}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("writes");
    let mut lines = BufReader::new(stream).lines().map(|line| line.expect("the event, within 10 s"));
    assert_eq!(lines.next().expect("a status"), "HTTP/1.1 200 OK");
    assert!(lines.any(|line| line == "event: task"), "the stream ended without an event");
}
