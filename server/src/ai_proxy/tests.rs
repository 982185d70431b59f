//! Tests of the AI proxy through the real router, with a small test service behind a real socket.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::large_answer::Recipient;
use crate::test_app::{Answer, TestApp};

const CHAT: &str = "/api/v1/ai_proxy/v1/chat/completions";
const MODELS: &str = "/api/v1/ai_proxy/v1/models";
const KEY: &str = "sk-very-secret-0123456789";

/// Headers and bodies of the requests that the test service received.
type Received = Arc<Mutex<Vec<(HeaderMap, Value)>>>;

/// A test service. The name of the requested model selects its behaviour.
struct Upstream {
    url: String,
    received: Received,
}

impl Upstream {
    async fn start() -> Self {
        let received = Received::default();
        let router = Router::new()
            .route("/v1/chat/completions", post(chat))
            .route("/v1/models", get(models))
            .route("/slow/models", get(slow_models))
            .with_state(Arc::clone(&received));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, received }
    }

    async fn app(&self, settings: &[(&str, &str)]) -> TestApp {
        let defaults = [("SF_AI_UPSTREAM_URL", self.url.as_str()), ("SF_AI_UPSTREAM_KEY", KEY)];
        TestApp::with(&[&defaults[..], settings].concat()).await
    }

    fn count(&self) -> usize {
        self.received.lock().expect("not poisoned").len()
    }
}

async fn chat(State(received): State<Received>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
    let body: Value = serde_json::from_slice(&bytes).expect("JSON");
    received.lock().expect("not poisoned").push((parts.headers, body.clone()));
    let error = |status: u16, text: &str| {
        (StatusCode::from_u16(status).expect("a status"), json!({ "error": { "message": text } }).to_string())
            .into_response()
    };
    let events =
        |body: Body| ([(header::CONTENT_TYPE, "text/event-stream; charset=utf-8")], body).into_response();
    match body["model"].as_str().unwrap_or_default() {
        "echo" => {
            let cookie = (header::SET_COOKIE, "upstream=1");
            ([cookie], axum::Json(json!({ "choices": [{ "message": { "content": "hello" } }] })))
                .into_response()
        }
        "events" => {
            let pieces = ["data: {\"n\":1}\n\n", "data: {\"n\":2}\n\n", "data: [DONE]\n\n"];
            events(Body::from_stream(stream::iter(pieces.map(Ok::<_, std::io::Error>))))
        }
        "stalls" => {
            let first = stream::iter([Ok::<_, std::io::Error>("data: {\"n\":1}\n\n")]);
            events(Body::from_stream(first.chain(stream::pending())))
        }
        "silent" => std::future::pending().await,
        "huge" => axum::Json(json!({ "text": "x".repeat(200_000) })).into_response(),
        "large" => axum::Json(json!({ "text": "x".repeat(5_000) })).into_response(),
        "large-events" => events(Body::from_stream(stream::iter(
            (0..10).map(|number| Ok::<_, std::io::Error>(format!("data: {number}{}\n\n", "x".repeat(500)))),
        ))),
        "redirects" => Redirect::temporary("/v1/models").into_response(),
        "compressed" => ([(header::CONTENT_ENCODING, "gzip")], axum::Json(json!({}))).into_response(),
        "page" => ([(header::CONTENT_TYPE, "text/html")], "<p>log in").into_response(),
        "bad-key" => error(401, &format!("Incorrect API key provided: {KEY}")),
        "bad-request" => error(400, &format!("messages is empty, says {KEY}")),
        "busy" => {
            let mut busy = error(429, "slow down");
            busy.headers_mut().insert(header::RETRY_AFTER, "33".parse().expect("a header"));
            busy
        }
        _ => error(500, "boom"),
    }
}

async fn models(State(received): State<Received>, headers: HeaderMap) -> axum::Json<Value> {
    received.lock().expect("not poisoned").push((headers, Value::Null));
    axum::Json(json!({ "object": "list", "data": [{ "id": "echo" }, { "id": "events" }, { "id": "dear" }] }))
}

/// Sends a space every tenth of a second, without end.
async fn slow_models() -> Response {
    let spaces = stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        Some((Ok::<_, std::io::Error>(" "), ()))
    });
    ([(header::CONTENT_TYPE, "application/json")], Body::from_stream(spaces)).into_response()
}

async fn chat_with(app: &TestApp, model: &str) -> Answer {
    let body = json!({ "model": model, "messages": [{ "role": "user", "content": "hi" }], "stream": true });
    let call = app.local(Method::POST, CHAT).header("cookie", "session=1").header("x-pass-me-on", "no");
    call.json(&body).send().await
}

#[tokio::test]
async fn a_request_is_passed_on_with_the_services_key_and_without_the_callers_headers() {
    let upstream = Upstream::start().await;
    let app = upstream.app(&[]).await;
    let token = app.token_of_new_user("ada").await;
    let body = json!({ "model": "echo", "messages": [], "temperature": 0.5 });
    let answer = app.remote(Method::POST, CHAT).token(&token).json(&body).send().await;
    assert_eq!(answer.expect(200)["choices"][0]["message"]["content"], "hello");
    assert_eq!((answer.header("content-type"), answer.header("set-cookie")), ("application/json", ""));
    chat_with(&app, "echo").await.expect(200);
    let received = upstream.received.lock().expect("not poisoned");
    assert_eq!(received[0].1, body);
    for (headers, _) in received.iter() {
        assert_eq!(headers["authorization"], format!("Bearer {KEY}"));
        for name in ["cookie", "x-pass-me-on", "referer", "x-forwarded-for"] {
            assert!(!headers.contains_key(name), "{name}");
        }
    }
}

#[tokio::test]
async fn events_are_passed_on_unchanged() {
    let upstream = Upstream::start().await;
    let app = upstream.app(&[]).await;
    let answer = chat_with(&app, "events").await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "text/event-stream"));
    assert_eq!(answer.header("x-accel-buffering"), "no", "without it, nginx would buffer events");
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    assert_eq!(text, "data: {\"n\":1}\n\ndata: {\"n\":2}\n\ndata: [DONE]\n\n");
}

#[tokio::test]
async fn events_are_passed_on_immediately_and_a_timeout_ends_the_stream() {
    let upstream = Upstream::start().await;
    let app = upstream.app(&[("SF_AI_TIMEOUT_SECS", "1")]).await;
    let question = json!({ "model": "stalls" });
    let service = app.state.ai_proxy.upstream().expect("a service");
    let response = service.call("chat/completions", Some(question.to_string())).await.expect("an answer");
    let ada = Recipient::new(&app.state, "ada", &HeaderMap::new());
    let client_response = super::answer::pass_on(&app.state, ada, response).await.expect("passes");
    let (sender, mut pieces) = mpsc::channel(8);
    tokio::spawn(async move {
        let mut body = client_response.into_body().into_data_stream();
        while let Some(chunk) = body.next().await {
            sender.send(chunk.expect("bytes")).await.expect("the test receives");
        }
    });
    let before_timeout = Duration::from_millis(900);
    let first = tokio::time::timeout(before_timeout, pieces.recv()).await.expect("in time").expect("a piece");
    assert_eq!(first, "data: {\"n\":1}\n\n");
    let last_piece = tokio::time::timeout(Duration::from_secs(20), pieces.recv())
        .await
        .expect("in time")
        .expect("a piece");
    let text = String::from_utf8_lossy(&last_piece).into_owned();
    assert!(text.starts_with("\n\nevent: error\ndata: {") && text.contains("ai_timeout"), "{text}");
    assert_eq!(pieces.recv().await, None);
}

#[tokio::test]
async fn a_list_of_models_that_never_ends_is_an_error() {
    let upstream = Upstream::start().await;
    let url = upstream.url.replace("/v1", "/slow");
    let app = upstream.app(&[("SF_AI_UPSTREAM_URL", &url), ("SF_AI_TIMEOUT_SECS", "1")]).await;
    let detail = app.local(Method::GET, MODELS).send().await.problem(504, "ai_timeout");
    assert!(detail.contains("SF_AI_TIMEOUT_SECS"), "{detail}");
}

#[tokio::test]
async fn requests_without_a_configured_service_are_answered_501() {
    let app = TestApp::start().await;
    let detail = chat_with(&app, "echo").await.problem(501, "ai_not_configured");
    assert!(detail.contains("SF_AI_UPSTREAM_URL"), "{detail}");
    app.local(Method::GET, MODELS).send().await.problem(501, "ai_not_configured");
    let capabilities = app.remote(Method::GET, "/api/v1/system/capabilities").send().await.expect(200);
    assert_eq!(capabilities["ai"], false);
}

#[tokio::test]
async fn only_allowed_models_can_be_used() {
    let upstream = Upstream::start().await;
    let app = upstream.app(&[("SF_AI_MODELS", "echo, events")]).await;
    let detail = chat_with(&app, "dear").await.problem(400, "model_not_allowed");
    assert!(detail.contains("`dear`") && detail.contains("echo, events"), "{detail}");
    for body in ["{}", "{\"model\": 7}"] {
        let call = app.local(Method::POST, CHAT).raw("application/json", body);
        call.send().await.problem(400, "model_missing");
    }
    assert_eq!(upstream.count(), 0);
    // If a field occurs twice, only the value that was checked is sent to the service.
    let repeated_model = "{\"model\": \"dear\", \"messages\": [], \"model\": \"echo\"}";
    app.local(Method::POST, CHAT).raw("application/json", repeated_model).send().await.expect(200);
    assert_eq!(
        upstream.received.lock().expect("not poisoned")[0].1,
        json!({ "model": "echo", "messages": [] })
    );
    let list = app.local(Method::GET, MODELS).send().await.expect(200);
    assert_eq!(list, json!({ "object": "list", "data": [{ "id": "echo" }, { "id": "events" }] }));
}

#[tokio::test]
async fn failures_of_the_service_are_reported_without_the_key() {
    let upstream = Upstream::start().await;
    let settings = [("SF_AI_TIMEOUT_SECS", "1"), ("SF_AI_ANSWER_MAX_BYTES", "2000")];
    let app = upstream.app(&settings).await;
    for (model, status, code, quoted) in [
        ("breaks", 502, "ai_failed", "boom"),
        ("bad-key", 502, "ai_key_refused", "administrator"),
        ("redirects", 502, "ai_failed", "307"),
        ("page", 502, "ai_failed", "sent `text/html`"),
        ("compressed", 502, "ai_failed", "the encoding \"gzip\" (Content-Encoding)"),
        ("large", 502, "ai_answer_too_large", "2000"),
        ("silent", 504, "ai_timeout", "within 1 seconds (SF_AI_TIMEOUT_SECS)"),
        ("bad-request", 400, "ai_refused", "messages is empty, says (hidden)"),
        ("busy", 429, "too_many_requests", "slow down"),
    ] {
        let count_before = upstream.count();
        let answer = chat_with(&app, model).await;
        let detail = answer.problem(status, code);
        assert!(detail.contains(quoted) && !detail.contains(KEY), "{model}: {detail}");
        assert_eq!(
            upstream.count(),
            count_before + 1,
            "{model}: expected one request and no followed redirect"
        );
        if model == "busy" {
            assert_eq!(answer.header("retry-after"), "33");
        }
    }
    let answer = chat_with(&app, "large-events").await;
    assert_eq!(answer.status.as_u16(), 200);
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    assert!(text.contains("event: error\n") && text.contains("ai_answer_too_large"), "{text}");
    assert!(!format!("{:?}", app.state.ai_proxy).contains(KEY), "the log must not contain the key");

    let closed_address =
        TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address");
    let app = TestApp::with(&[("SF_AI_UPSTREAM_URL", &format!("http://{closed_address}"))]).await;
    chat_with(&app, "echo").await.problem(502, "ai_unreachable");
    app.local(Method::GET, MODELS).send().await.problem(502, "ai_unreachable");
}

#[tokio::test]
async fn memory_for_answers_that_are_being_read_is_limited() {
    let upstream = Upstream::start().await;
    let app = upstream.app(&[]).await;
    let reading = &app.state.ai_proxy.upstream().expect("a service").reading;
    let mut unread = reading.reservation("bob");
    unread.grow(256 * 1024 * 1024 - 100_000).expect("the memory is free");
    let detail = chat_with(&app, "huge").await.problem(503, "busy");
    assert!(detail.contains("memory for language-model responses"), "{detail}");
    chat_with(&app, "events").await.problem(503, "busy");
    drop(unread);
    let answer = chat_with(&app, "huge").await;
    assert_eq!(
        (answer.header("content-type"), answer.header("cache-control")),
        ("application/json", "no-store")
    );
    assert_eq!(answer.expect(200)["text"].as_str().map(str::len), Some(200_000));
    reading.reservation("bob").grow(256 * 1024 * 1024).expect("all memory is free again");
}

#[tokio::test]
async fn requests_have_a_size_limit_and_need_a_user() {
    let upstream = Upstream::start().await;
    let app = upstream.app(&[("SF_AI_QUESTION_MAX_BYTES", "1024")]).await;
    let large_request = json!({ "model": "echo", "messages": "x".repeat(2_000) });
    let detail = app.local(Method::POST, CHAT).json(&large_request).send().await.problem(413, "too_large");
    assert!(detail.contains("1024"), "{detail}");
    app.local(Method::POST, CHAT).raw("text/plain", "{}").send().await.problem(415, "unsupported_media_type");
    app.remote(Method::POST, CHAT).json(&json!({})).send().await.problem(401, "token_missing");
    app.remote(Method::GET, MODELS).send().await.problem(401, "token_missing");
    assert_eq!(upstream.count(), 0);
    for path in
        ["/api/v1/ai_proxy/v1/files", "/api/v1/ai_proxy/http://127.0.0.1/", "/api/v1/ai_proxy/v1/models/../x"]
    {
        app.local(Method::GET, path).send().await.problem(404, "no_such_path");
    }
}
