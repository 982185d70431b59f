//! Tests the limits on bodies that arrive before the caller is authenticated.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::http::Method;
use futures_util::{StreamExt as _, stream};

use super::{document_of, operations};
use crate::docs::document::CALLERS_FIELD;
use crate::test_app::{Call, TestApp};

/// Maximum body size of operations that everybody may call, in bytes.
const OPEN_BODY_MAX_BYTES: usize = 16 * 1024;

const CHUNK: &[u8] = &[b' '; 1024];
const CHUNKS: usize = 2048;

/// Returns a call with a body of 2 MiB, and a counter of the bytes that were read from it.
fn with_counted_body(call: Call<'_>) -> (Call<'_>, Arc<AtomicUsize>) {
    let read_bytes = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&read_bytes);
    let chunks = stream::iter(0..CHUNKS).map(move |_| {
        counter.fetch_add(CHUNK.len(), Ordering::Relaxed);
        Ok::<_, std::io::Error>(CHUNK)
    });
    (call.raw("application/json", Body::from_stream(chunks)), read_bytes)
}

fn path_of(template: &str) -> String {
    let parts = template.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn bodies_from_callers_without_a_log_in_are_not_read() {
    let app = TestApp::start().await;
    let document = document_of(&app).await;
    let mut checked_bodies = 0;
    for (path, method, operation) in operations(&document) {
        let who = operation[CALLERS_FIELD].as_str().expect("the permitted callers");
        if !operation["requestBody"].is_object() || who == "everybody" {
            continue;
        }
        for announced_length in ["2097152", "1099511627776"] {
            let method: Method = method.to_uppercase().parse().expect("a method");
            let (call, read_bytes) = with_counted_body(app.remote(method.clone(), &path_of(path)));
            let answer = call.header("content-length", announced_length).send().await;
            let about = format!("{method} {path}: {}", String::from_utf8_lossy(&answer.bytes));
            assert!(matches!(answer.status.as_u16(), 401 | 403), "{about}");
            assert_eq!(read_bytes.load(Ordering::Relaxed), 0, "{about}");
        }
        checked_bodies += 1;
    }
    assert!(checked_bodies > 30, "{checked_bodies}");
}

#[tokio::test]
async fn bodies_of_public_operations_are_small() {
    let app = TestApp::start().await;
    let document = document_of(&app).await;
    let mut checked_bodies = 0;
    for (path, method, operation) in operations(&document) {
        let who = operation[CALLERS_FIELD].as_str().expect("the permitted callers");
        if who != "everybody" && who != "local callers" {
            continue;
        }
        let method: Method = method.to_uppercase().parse().expect("a method");
        let (call, read_bytes) = with_counted_body(app.local(method.clone(), &path_of(path)));
        let answer = call.send().await;
        let about = format!("{method} {path}: {}", String::from_utf8_lossy(&answer.bytes));
        if operation["requestBody"].is_object() {
            assert_eq!(answer.status.as_u16(), 413, "{about}");
            checked_bodies += 1;
        }
        let read_bytes = read_bytes.load(Ordering::Relaxed);
        assert!(read_bytes <= OPEN_BODY_MAX_BYTES + CHUNK.len(), "{about}: {read_bytes} bytes");
    }
    assert!(checked_bodies >= 3, "{checked_bodies}");
}
