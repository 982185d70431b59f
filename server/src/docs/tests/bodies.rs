//! How much of a body is read before the service knows who sends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::http::Method;
use futures_util::{StreamExt as _, stream};

use super::{document_of, operations};
use crate::docs::document::WHO;
use crate::test_app::{Call, TestApp};

/// Most bytes that anybody's body may have where nobody needs to log in.
const OPEN_BODY_MAX_BYTES: usize = 16 * 1024;

const PIECE: &[u8] = &[b' '; 1024];
const PIECES: usize = 2048;

/// A call with a body of 2 MiB, and how many bytes of it are read.
fn with_counted_body(call: Call<'_>) -> (Call<'_>, Arc<AtomicUsize>) {
    let read_bytes = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&read_bytes);
    let pieces = stream::iter(0..PIECES).map(move |_| {
        counter.fetch_add(PIECE.len(), Ordering::Relaxed);
        Ok::<_, std::io::Error>(PIECE)
    });
    (call.raw("application/json", Body::from_stream(pieces)), read_bytes)
}

fn path_of(template: &str) -> String {
    let parts = template.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn no_body_is_read_of_who_must_log_in_and_has_not() {
    let app = TestApp::start().await;
    let document = document_of(&app).await;
    let mut asked = 0;
    for (path, method, operation) in operations(&document) {
        let who = operation[WHO].as_str().expect("who may");
        if !operation["requestBody"].is_object() || who == "everybody" {
            continue;
        }
        for announced in ["2097152", "1099511627776"] {
            let method: Method = method.to_uppercase().parse().expect("a method");
            let (call, read_bytes) = with_counted_body(app.remote(method.clone(), &path_of(path)));
            let answer = call.header("content-length", announced).send().await;
            let about = format!("{method} {path}: {}", String::from_utf8_lossy(&answer.bytes));
            assert!(matches!(answer.status.as_u16(), 401 | 403), "{about}");
            assert_eq!(read_bytes.load(Ordering::Relaxed), 0, "{about}");
        }
        asked += 1;
    }
    assert!(asked > 30, "{asked}");
}

#[tokio::test]
async fn little_is_read_where_nobody_needs_to_log_in() {
    let app = TestApp::start().await;
    let document = document_of(&app).await;
    let mut asked = 0;
    for (path, method, operation) in operations(&document) {
        let who = operation[WHO].as_str().expect("who may");
        if who != "everybody" && who != "local callers" {
            continue;
        }
        let method: Method = method.to_uppercase().parse().expect("a method");
        let (call, read_bytes) = with_counted_body(app.local(method.clone(), &path_of(path)));
        let answer = call.send().await;
        let about = format!("{method} {path}: {}", String::from_utf8_lossy(&answer.bytes));
        if operation["requestBody"].is_object() {
            assert_eq!(answer.status.as_u16(), 413, "{about}");
            asked += 1;
        }
        let read_bytes = read_bytes.load(Ordering::Relaxed);
        assert!(read_bytes <= OPEN_BODY_MAX_BYTES + PIECE.len(), "{about}: {read_bytes} bytes");
    }
    assert!(asked >= 3, "{asked}");
}
