//! Event streams behind nginx, which holds answers back unless they say that it must not.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::nginx::{Nginx, plain};
use crate::support::Service;

#[test]
fn an_event_passes_nginx_before_its_stream_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = folder.path().join("storage");
    // Nobody works on tasks, so that the stream stays open after its first event.
    let service = Service::start(&storage, &[("SF_SERVE_TASKS", "off")]);
    let token = service.expect(200, "POST", "/api/v1/auth/local", &[], &Value::Null);
    let bearer = format!("Bearer {}", token["access_token"].as_str().expect("a token"));
    let song = json!({ "schema_version": 1, "project_id": "song", "name": "One", "tracks": [] });
    service.expect(201, "POST", "/api/v1/projects", &[], &song);
    let started =
        service.expect(202, "POST", "/api/v1/multitrack/mixdown", &[], &json!({ "project_id": "song" }));
    let nginx = Nginx::start(&storage, &plain(&service, "proxy_http_version 1.1;"));
    let mut stream = TcpStream::connect(nginx.address).expect("connects");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("sets");
    let path = format!("/api/v1/tasks/{}/events", started["task_id"].as_str().expect("an id"));
    let request = format!("GET {path} HTTP/1.1\r\nHost: studio.example\r\nAuthorization: {bearer}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("writes");
    let mut lines = BufReader::new(stream).lines().map(|line| line.expect("the event, within 10 s"));
    assert_eq!(lines.next().expect("a status"), "HTTP/1.1 200 OK");
    assert!(lines.any(|line| line == "event: task"), "the stream ended without an event");
}
