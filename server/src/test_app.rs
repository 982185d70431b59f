//! The whole service for tests, with a real router, a real database, and a temporary storage
//! folder.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode, Version, header};
use axum::response::Response;
use serde_json::Value;
use tower::ServiceExt as _;

use crate::config::{Config, Source};
use crate::state::AppState;
use crate::test_database::{TestDatabase, WriteLock};
use crate::{auth, router};

/// Password of the users that tests create.
const PASSWORD: &str = "tuba-lattice-overbid-9";

/// A running service without a socket.
pub(crate) struct TestApp {
    pub(crate) state: AppState,
    router: Router,
    /// Password that the first start announced; `None` if the database already had an
    /// administrator.
    pub(crate) printed_password: Option<String>,
    database: Arc<TestDatabase>,
    _storage: tempfile::TempDir,
}

/// An answer whose body was read completely.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl TestApp {
    /// Starts a desktop service with default settings.
    pub(crate) async fn start() -> Self {
        Self::with(&[]).await
    }

    /// Starts the service of a server deployment.
    pub(crate) async fn container() -> Self {
        Self::with(&[("SF_ENVIRONMENT", "container"), ("SF_JWT_SECRET", "0123456789abcdef0123456789abcdef")])
            .await
    }

    /// Starts a service with these settings and a new storage folder.
    pub(crate) async fn with(settings: &[(&str, &str)]) -> Self {
        Self::on(Arc::new(TestDatabase::make().await), settings).await
    }

    async fn on(database: Arc<TestDatabase>, settings: &[(&str, &str)]) -> Self {
        let storage = tempfile::tempdir().expect("a temporary folder");
        let dir = storage.path().join("storage").to_string_lossy().into_owned();
        // The machine's SoundFonts are not used, unless a test names a folder.
        let soundfont_dir = storage.path().join("soundfonts").to_string_lossy().into_owned();
        let pairs = [
            ("SF_STORAGE_DIR", dir.as_str()),
            ("SF_DATABASE_URL", database.url.as_str()),
            ("SF_TASK_WORKERS", "2"),
            ("SF_TASKS_RUNNING_PER_USER", "16"),
            ("SF_SOUNDFONT_DIRS", soundfont_dir.as_str()),
            // This program cancels dialogs immediately, so none opens while tests run.
            ("SF_DIALOG_BRIDGE", "/usr/bin/false"),
        ];
        let source = Source::from_pairs(pairs.into_iter().chain(settings.iter().copied()));
        let config = Config::load(&source).expect("valid settings");
        let state = AppState::open(config).await.expect("opens");
        tokio::spawn(state.tasks.clone().serve(state.config.tasks.serves_tasks, state.stop.clone()));
        let mut printed_password = None;
        auth::ensure_admin(&state, |_, _, password| printed_password = Some(password.to_owned()))
            .await
            .expect("an administrator");
        Self { router: router::build(state.clone()), state, printed_password, database, _storage: storage }
    }

    /// Starts another server on the same database, with default settings and a new storage folder.
    pub(crate) async fn start_second_server(&self) -> Self {
        Self::on(Arc::clone(&self.database), &[]).await
    }

    /// Like [`Self::start_second_server`], but the new server runs no tasks.
    pub(crate) async fn start_second_server_without_work(&self) -> Self {
        self.start_second_server_with(&[("SF_SERVE_TASKS", "off")]).await
    }

    /// Starts another server on the same database, with these settings.
    pub(crate) async fn start_second_server_with(&self, settings: &[(&str, &str)]) -> Self {
        Self::on(Arc::clone(&self.database), settings).await
    }

    /// Blocks writes to the database until the returned lock is released.
    pub(crate) async fn lock_database(&self) -> WriteLock {
        self.database.lock_writes().await
    }

    /// Creates a user and logs in as that user.
    pub(crate) async fn token_of_new_user(&self, username: &str) -> String {
        auth::add_test_user(&self.state, username, PASSWORD).await;
        self.token_of(username).await
    }

    /// Logs in as a user that a test has created.
    pub(crate) async fn token_of(&self, username: &str) -> String {
        let body = serde_json::json!({ "username": username, "password": PASSWORD });
        let answer = self.remote(Method::POST, "/api/v1/auth/login").json(&body).send().await;
        answer.expect(200)["access_token"].as_str().expect("a token").to_owned()
    }

    /// Creates an API key for the account of `token`.
    pub(crate) async fn create_api_key(&self, token: &str) -> String {
        let call = self.remote(Method::POST, "/api/v1/auth/api-keys").token(token);
        let answer = call.json(&serde_json::json!({ "name": "a script" })).send().await;
        answer.expect(201)["key"].as_str().expect("a key").to_owned()
    }

    /// Returns a log-in token of the first administrator.
    pub(crate) async fn admin_token(&self) -> String {
        let answer = self.local(Method::POST, "/api/v1/auth/local").send().await;
        answer.expect(200)["access_token"].as_str().expect("a token").to_owned()
    }

    /// Makes a request from a local caller: through loopback, with a local `Host`.
    pub(crate) fn local(&self, method: Method, path: &str) -> Call<'_> {
        self.from("127.0.0.1", method, path)
    }

    /// Makes a request from another machine.
    pub(crate) fn remote(&self, method: Method, path: &str) -> Call<'_> {
        self.from("192.0.2.77", method, path)
    }

    /// Makes a request from the address `peer`.
    pub(crate) fn from(&self, peer: &str, method: Method, path: &str) -> Call<'_> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "127.0.0.1:8600".parse().expect("a header"));
        Call {
            app: self,
            peer: SocketAddr::new(
                peer.parse().expect("an address"),
                NEXT_PORT.fetch_add(1, Ordering::Relaxed),
            ),
            method,
            path: path.to_owned(),
            headers,
            version: Version::HTTP_11,
            body: Body::empty(),
        }
    }
}

/// Next port for a connection. Each request has a connection with a new port.
static NEXT_PORT: AtomicU16 = AtomicU16::new(1);

/// A request that is being built.
pub(crate) struct Call<'a> {
    app: &'a TestApp,
    peer: SocketAddr,
    method: Method,
    path: String,
    headers: HeaderMap,
    version: Version,
    body: Body,
}

impl Call<'_> {
    /// Sets a header. Replaces an earlier header with the same name.
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.insert(name, value.parse().expect("a header"));
        self
    }

    /// Sends the request on the connection with this port. By default, each request has a new
    /// connection.
    pub(crate) fn connection(mut self, port: u16) -> Self {
        self.peer.set_port(port);
        self
    }

    /// Sends the request in this version of HTTP. The default is HTTP/1.1.
    pub(crate) fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn json(self, value: &Value) -> Self {
        self.raw("application/json", value.to_string())
    }

    pub(crate) fn raw(mut self, kind: &str, body: impl Into<Body>) -> Self {
        self.body = body.into();
        self.header("content-type", kind)
    }

    pub(crate) async fn send(self) -> Answer {
        let (parts, body) = self.response().await.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
        Answer { status: parts.status, headers: parts.headers, bytes: bytes.to_vec() }
    }

    /// Sends the request and returns the answer, whose body has not been read.
    pub(crate) async fn response(self) -> Response {
        let mut request = Request::new(self.body);
        *request.method_mut() = self.method;
        *request.uri_mut() = self.path.parse().expect("a path");
        *request.headers_mut() = self.headers;
        *request.version_mut() = self.version;
        request.extensions_mut().insert(ConnectInfo(self.peer));
        let Ok(response) = self.app.router.clone().oneshot(request).await;
        response
    }
}

impl Answer {
    /// Parses the body as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|error| {
            panic!("the body is not JSON ({error}): {:?}", String::from_utf8_lossy(&self.bytes))
        })
    }

    /// Returns a header as text; an empty text if it is missing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }

    /// Checks the status, and returns the body as JSON.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", String::from_utf8_lossy(&self.bytes));
        if self.bytes.is_empty() { Value::Null } else { self.json() }
    }

    /// Checks that the answer is a complete problem with this status and code. Returns its
    /// `detail`.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) -> String {
        let body = self.expect(status);
        assert_eq!(body["code"], code, "{body}");
        assert_eq!(body["status"], status, "{body}");
        assert_eq!(self.header("content-type"), "application/problem+json");
        assert!(body["type"].is_string() && body["title"].is_string(), "{body}");
        let detail = body["detail"].as_str().unwrap_or_default().to_owned();
        assert!(detail.len() > 10, "the detail is too short: {body}");
        detail
    }
}
