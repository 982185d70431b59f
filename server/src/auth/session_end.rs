//! Ends requests whose caller has lost access since they began.
//!
//! The caller of a request is checked when it begins. A render, a slow upload, a download or an
//! event stream can last long after that. Therefore the request ends soon after the caller has
//! logged out, the account was disabled, or the API key was deleted.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hyper::body::{Body as _, Frame, SizeHint};
use tokio::time::Instant;

use super::api_key_owner::{KEY_PREFIX, find_owner, invalid_key_error};
use super::store::users;
use super::tokens::Claims;
use super::user::{bearer_token, ended_token_error, find_account};
use crate::clock;
use crate::error::ApiError;
use crate::state::AppState;

/// Interval between checks of a caller's access. In tests, access is checked before every part of a
/// body, so that they need not wait.
const CHECK_EVERY: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_secs(5) };

/// Interval between checks of a caller who waits for an answer.
const CHECK_WAITING_EVERY: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 5_000 });

/// Ends of the paths of operations that themselves end the caller's access. Their answers are still
/// sent.
const ENDING_PATHS: [&str; 2] = ["/auth/password", "/auth/logout"];

/// Middleware that ends a request or the body of its answer after the caller has lost access. Such
/// a request gets 401, and its work ends as if the caller had disconnected.
pub(crate) async fn end_when_access_ends(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    if ENDING_PATHS.iter().any(|ending| path.ends_with(ending)) {
        return next.run(request).await;
    }
    let Some(credentials) = Credentials::from_headers(request.headers(), &state) else {
        return next.run(request).await;
    };
    let access = Access { state, credentials, has_ended: Arc::default() };
    let request = match request.body().is_end_stream() {
        true => request,
        false => request.map(|body| Body::new(CheckedBody::new(body, access.clone()))),
    };
    let response = tokio::select! {
        biased;
        response = next.run(request) => response,
        () = access.clone().end() => return access.to_api_error().await.into_response(),
    };
    if access.has_ended() {
        return access.to_api_error().await.into_response();
    }
    // An answer whose size is known is in memory, so it is sent at once.
    match response.body().size_hint().exact() {
        Some(_) => response,
        None => response.map(|body| Body::new(CheckedBody::new(body, access))),
    }
}

/// Returns once the caller of a stream has lost access, or the token has expired, because a stream
/// could last without limit. Never returns for a caller without credentials, whose access does not
/// end.
pub(crate) fn access_ended(headers: &HeaderMap, state: &AppState) -> impl Future<Output = ()> + Send + use<> {
    let credentials = Credentials::from_headers(headers, state);
    let state = state.clone();
    async move {
        match credentials {
            Some(credentials) => {
                let expiry = match &credentials {
                    Credentials::Token(claims) => {
                        let secs = claims.exp.saturating_sub(clock::now_unix_secs());
                        Some(Duration::from_secs(u64::try_from(secs).unwrap_or(0)))
                    }
                    Credentials::ApiKey(_) => None,
                };
                let expired = async move {
                    match expiry {
                        Some(expiry) => tokio::time::sleep(expiry).await,
                        None => std::future::pending().await,
                    }
                };
                let access = Access { state, credentials, has_ended: Arc::default() };
                tokio::select! {
                    () = access.end() => {}
                    () = expired => {}
                }
            }
            None => std::future::pending().await,
        }
    }
}

/// The token or API key of a request.
#[derive(Debug, Clone)]
enum Credentials {
    Token(Claims),
    ApiKey(String),
}

impl Credentials {
    /// Returns the credentials in the headers, if they may be valid.
    fn from_headers(headers: &HeaderMap, state: &AppState) -> Option<Self> {
        let text = bearer_token(headers).ok()?;
        if text.starts_with(KEY_PREFIX) {
            return Some(Self::ApiKey(text.to_owned()));
        }
        state.tokens.check(text).ok().map(Self::Token)
    }
}

/// The access of a caller, who had it when the request began.
#[derive(Debug, Clone)]
struct Access {
    state: AppState,
    credentials: Credentials,
    has_ended: Arc<AtomicBool>,
}

impl Access {
    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// Returns once the caller has lost access.
    async fn end(self) {
        while !self.has_ended() {
            tokio::time::sleep(CHECK_WAITING_EVERY).await;
            self.clone().check().await;
        }
    }

    /// Returns the error for a caller who has lost access.
    async fn to_api_error(&self) -> ApiError {
        match &self.credentials {
            Credentials::ApiKey(_) => invalid_key_error(),
            Credentials::Token(claims) => match users::find_by_id(&self.state.db, &claims.sub).await {
                Ok(Some(account)) if account.is_disabled => ApiError::account_disabled(),
                _ => ended_token_error(),
            },
        }
    }

    /// Checks the credentials. A token that has only expired since the request began stays valid
    /// for it, so that a long upload can end. While the database does not answer, nothing ends.
    async fn check(self) {
        let check_result = match &self.credentials {
            Credentials::Token(claims) => find_account(claims, &self.state).await,
            Credentials::ApiKey(api_key) => find_owner(&self.state, api_key).await,
        };
        let is_refused =
            check_result.is_err_and(|error: ApiError| error.status() == StatusCode::UNAUTHORIZED);
        self.has_ended.fetch_or(is_refused, Ordering::Relaxed);
    }
}

/// The caller has lost access.
#[derive(Debug, thiserror::Error)]
#[error("the caller has logged out, or the account or its API key has changed")]
struct AccessEnded;

/// A body that fails after its caller has lost access.
struct CheckedBody {
    body: Body,
    access: Access,
    next_check: Instant,
    running_check: Option<BoxFuture<'static, ()>>,
}

impl CheckedBody {
    fn new(body: Body, access: Access) -> Self {
        Self { body, access, next_check: Instant::now() + CHECK_EVERY, running_check: None }
    }
}

impl hyper::body::Body for CheckedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let checked_body = &mut *self;
        // The client may have paused for long before this frame, so the check comes first.
        if checked_body.running_check.is_none() && Instant::now() >= checked_body.next_check {
            checked_body.running_check = Some(checked_body.access.clone().check().boxed());
        }
        if let Some(check) = &mut checked_body.running_check {
            ready!(check.poll_unpin(context));
            checked_body.running_check = None;
            checked_body.next_check = Instant::now() + CHECK_EVERY;
        }
        if checked_body.access.has_ended() {
            return Poll::Ready(Some(Err(axum::Error::new(AccessEnded))));
        }
        Pin::new(&mut checked_body.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
