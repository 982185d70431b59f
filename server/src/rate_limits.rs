//! Limits the rate of requests, by account and by address.
//!
//! Several users, such as a class, may share an address, and one of them must not use up the limit
//! of the others. Therefore a request with a log-in token counts for its log-in instead of its
//! address. Without a token, requests for the web page and for logging in do not count;
//! [`crate::auth::Throttle`] limits log-ins.
//!
//! Each account, each log-in and each address has a token bucket. The capacity of a bucket is the
//! number of requests allowed per minute, and it refills at this rate. Each process has separate
//! buckets. Local callers, health checks and requests for metrics are not limited.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::client_address::network_of;
use crate::config::RequestLimits;
use crate::error::{ApiError, ApiResult};

/// Maximum number of buckets of accounts and log-ins, and of buckets of addresses.
const BUCKETS_MAX: usize = 50_000;

/// Number of buckets that are evicted when the maximum is reached. Evicting many buckets together
/// makes the search for them rare.
const BUCKETS_EVICTED: usize = BUCKETS_MAX / 8;

const SECS_PER_MINUTE: f64 = 60.0;

/// Paths that monitoring polls: health and metrics.
const UNLIMITED_PATHS: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// Paths of log-in and registration, and of the web page's first request.
const LOG_IN_PATHS: [&str; 4] =
    ["/api/v1/system/capabilities", "/api/v1/auth/login", "/api/v1/auth/local", "/api/v1/auth/register"];

/// Whether requests to this path count toward the limits.
pub(crate) fn is_limited(path: &str) -> bool {
    !UNLIMITED_PATHS.contains(&path)
}

/// The rate limits of this process: a token bucket for each account, log-in and network address.
#[derive(Debug)]
pub struct RateLimits {
    users: Buckets,
    addresses: Buckets,
}

impl RateLimits {
    /// Makes the limits. All buckets are full at first.
    #[must_use]
    pub fn new(limits: RequestLimits) -> Self {
        Self {
            users: Buckets::new(limits.per_user_per_minute),
            addresses: Buckets::new(limits.per_address_per_minute),
        }
    }

    /// Counts a request of an account.
    ///
    /// # Errors
    /// 429 with the number of seconds to wait.
    pub(crate) fn admit_user(&self, user_id: &str) -> ApiResult<()> {
        let limit = "requests of your account per minute (SF_REQUESTS_PER_MINUTE_PER_USER)";
        self.users
            .take_token(user_id, Instant::now())
            .map_err(|wait| self.users.rate_limited_error(limit, wait))
    }

    /// Counts a request with a log-in token, even if the token is no longer valid.
    ///
    /// # Errors
    /// 429 with the number of seconds to wait.
    pub(crate) fn admit_session(&self, session_id: &str) -> ApiResult<()> {
        self.admit_user(&format!("session {session_id}"))
    }

    /// Counts a request to `path` from an address.
    ///
    /// # Errors
    /// 429 with the number of seconds to wait.
    pub(crate) fn admit_address(&self, address: IpAddr, path: &str) -> ApiResult<()> {
        if !path.starts_with("/api/") || LOG_IN_PATHS.contains(&path) {
            return Ok(());
        }
        let limit = "requests from your address per minute (SF_REQUESTS_PER_MINUTE_PER_ADDRESS)";
        let outcome = self.addresses.take_token(&network_of(address), Instant::now());
        outcome.map_err(|wait| self.addresses.rate_limited_error(limit, wait))
    }
}

/// Buckets that all have the same capacity.
#[derive(Debug)]
struct Buckets {
    /// Capacity of a bucket in tokens, which is also its refill per minute. 0 means no limit.
    per_minute: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    updated_at: Instant,
}

impl Buckets {
    fn new(per_minute: u64) -> Self {
        Self { per_minute: per_minute as f64, buckets: Mutex::default() }
    }

    /// Takes a token. If the bucket has none, returns the time until the next one.
    fn take_token(&self, bucket_key: &str, now: Instant) -> Result<(), Duration> {
        if self.per_minute == 0.0 {
            return Ok(());
        }
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= BUCKETS_MAX && !buckets.contains_key(bucket_key) {
            self.evict(&mut buckets);
        }
        let full_bucket = Bucket { tokens: self.per_minute, updated_at: now };
        let bucket = buckets.entry(bucket_key.to_owned()).or_insert(full_bucket);
        *bucket = Bucket { tokens: self.tokens(*bucket, now), updated_at: now };
        if bucket.tokens < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.tokens) * SECS_PER_MINUTE / self.per_minute));
        }
        bucket.tokens -= 1.0;
        Ok(())
    }

    /// Removes the buckets that are full or will be full soonest: those with the fewest recent
    /// requests.
    fn evict(&self, buckets: &mut HashMap<String, Bucket>) {
        let mut full_at: Vec<Instant> = buckets.values().map(|bucket| self.full_at(*bucket)).collect();
        let (_, last_evicted, _) = full_at.select_nth_unstable(BUCKETS_EVICTED - 1);
        let last_evicted = *last_evicted;
        let mut remaining = BUCKETS_EVICTED;
        buckets.retain(|_, bucket| {
            let is_evicted = remaining > 0 && self.full_at(*bucket) <= last_evicted;
            remaining -= usize::from(is_evicted);
            !is_evicted
        });
    }

    /// Returns the time when a bucket will be full if no more tokens are taken from it.
    fn full_at(&self, bucket: Bucket) -> Instant {
        let missing = (self.per_minute - bucket.tokens).max(0.0);
        bucket.updated_at + Duration::from_secs_f64(missing * SECS_PER_MINUTE / self.per_minute)
    }

    fn tokens(&self, bucket: Bucket, now: Instant) -> f64 {
        let secs = now.saturating_duration_since(bucket.updated_at).as_secs_f64();
        (bucket.tokens + secs * self.per_minute / SECS_PER_MINUTE).min(self.per_minute)
    }

    fn rate_limited_error(&self, limit: &str, wait: Duration) -> ApiError {
        let retry_after_secs = wait.as_secs_f64().ceil().max(1.0) as u64;
        ApiError::TooManyRequests {
            detail: format!(
                "The limit is {} {limit}; try again in {retry_after_secs} seconds.",
                self.per_minute
            ),
            retry_after_secs,
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Method;

    use super::*;
    use crate::client_address::Client;
    use crate::test_app::TestApp;

    const PATH: &str = "/api/v1/projects";

    #[test]
    fn a_bucket_refills_steadily() {
        let (buckets, now) = (Buckets::new(60), Instant::now());
        for _ in 0..60 {
            buckets
                .take_token("a", now)
                .expect("the bucket starts with a token for each request of a minute");
        }
        assert_eq!(buckets.take_token("a", now), Err(Duration::from_secs(1)));
        buckets.take_token("b", now).expect("another key has a separate bucket");
        buckets.take_token("a", now + Duration::from_secs(1)).expect("a token is added each second");
        buckets.take_token("a", now + Duration::from_secs(1)).expect_err("only one token was added");
        let later_time = now + Duration::from_secs(3600);
        assert_eq!((0..).take_while(|_| buckets.take_token("a", later_time).is_ok()).count(), 60);
    }

    #[test]
    fn the_number_of_buckets_is_limited() {
        let (buckets, now) = (Buckets::new(60), Instant::now());
        for number in 0..2 * BUCKETS_MAX {
            buckets.take_token(&number.to_string(), now).expect("the first token of each key");
        }
        assert!(buckets.buckets.lock().unwrap().len() <= BUCKETS_MAX);
    }

    #[test]
    fn many_addresses_do_not_evict_an_empty_bucket() {
        let (buckets, now) = (Buckets::new(60), Instant::now());
        for _ in 0..60 {
            buckets.take_token("a", now).expect("the bucket starts full");
        }
        buckets.take_token("a", now).expect_err("the bucket is empty");
        for number in 0..2 * BUCKETS_MAX {
            buckets.take_token(&number.to_string(), now).expect("the first token of each key");
        }
        buckets.take_token("a", now).expect_err("the empty bucket was not evicted");
        assert!(buckets.buckets.lock().unwrap().len() > BUCKETS_MAX / 2, "too many buckets were evicted");
    }

    #[test]
    fn the_oldest_buckets_are_evicted_first() {
        let (buckets, start) = (Buckets::new(60), Instant::now());
        let time_of = |number: usize| start + Duration::from_micros(number as u64);
        for number in 0..=BUCKETS_MAX {
            buckets.take_token(&number.to_string(), time_of(number)).expect("the first token of each key");
        }
        let remaining = buckets.buckets.lock().unwrap();
        assert!(!remaining.contains_key("0"), "the oldest bucket was not evicted");
        for number in BUCKETS_MAX / 2..=BUCKETS_MAX {
            assert!(remaining.contains_key(&number.to_string()), "{number} was evicted");
        }
    }

    #[tokio::test]
    async fn an_account_above_its_rate_limit_is_refused() {
        let app = TestApp::with(&[("SF_REQUESTS_PER_MINUTE_PER_USER", "3")]).await;
        let (ada, bob) = (app.token_of_new_user("ada").await, app.token_of_new_user("bob").await);
        let key = app.create_api_key(&ada).await;
        let request_list = async |token: &str| app.remote(Method::GET, PATH).token(token).send().await;
        for _ in 0..2 {
            request_list(&ada).await.expect(200);
        }
        // Creating the key was the third request. Requests with a key count for the key's owner.
        let answer = request_list(&key).await;
        assert!(answer.problem(429, "too_many_requests").contains("SF_REQUESTS_PER_MINUTE_PER_USER"));
        let wait: u64 = answer.header("retry-after").parse().expect("seconds");
        assert!((1..=20).contains(&wait), "{wait}");
        request_list(&bob).await.expect(200);
        let admin = app.admin_token().await;
        for _ in 0..10 {
            assert_eq!(app.remote(Method::GET, "/metrics").token(&admin).send().await.status, 200);
            app.local(Method::GET, PATH).send().await.expect(200);
        }
    }

    #[tokio::test]
    async fn an_address_above_its_rate_limit_is_refused() {
        let app = TestApp::with(&[("SF_REQUESTS_PER_MINUTE_PER_ADDRESS", "5")]).await;
        for _ in 0..5 {
            app.remote(Method::GET, PATH).send().await.problem(401, "token_missing");
        }
        let answer = app.remote(Method::GET, "/api/docs").send().await;
        assert!(answer.problem(429, "too_many_requests").contains("SF_REQUESTS_PER_MINUTE_PER_ADDRESS"));
        app.from("192.0.2.78", Method::GET, PATH).send().await.problem(401, "token_missing");
        for _ in 0..10 {
            app.remote(Method::GET, "/healthz").send().await.expect(200);
            app.local(Method::GET, PATH).send().await.expect(200);
        }
    }

    #[tokio::test]
    async fn a_flooded_address_can_still_log_in() {
        let settings = [("SF_REQUESTS_PER_MINUTE_PER_ADDRESS", "3"), ("SF_REGISTRATION", "open")];
        let app = TestApp::with(&settings).await;
        let junk = ["login", "register", "password-strength"].map(|path| format!("/api/v1/auth/{path}"));
        for path in junk.iter().cycle().take(30) {
            let call = app.remote(Method::POST, path).json(&serde_json::json!({ "username": 1 }));
            let status = call.send().await.status.as_u16();
            assert!([400, 422, 429].contains(&status), "{path}: {status}");
        }
        app.remote(Method::GET, PATH).send().await.problem(429, "too_many_requests");
        let ada = serde_json::json!({ "username": "ada", "password": "tuba-lattice-overbid-9" });
        for (path, status) in [("/api/v1/auth/register", 201), ("/api/v1/auth/login", 200)] {
            app.remote(Method::POST, path).json(&ada).send().await.expect(status);
        }
        app.remote(Method::POST, "/api/v1/auth/local").send().await.problem(403, "not_local");
        app.remote(Method::GET, "/api/v1/system/capabilities").send().await.expect(200);
        // The answer is the page, or 404 if it was not built.
        assert_ne!(app.remote(Method::GET, "/").send().await.status, 429);
    }

    #[tokio::test]
    async fn the_active_requests_of_a_client_behind_a_proxy_are_limited() {
        let settings = [("SF_TRUSTED_PROXIES", "192.0.2.77"), ("SF_CONNECTIONS_PER_ADDRESS", "2")];
        let app = TestApp::with(&settings).await;
        let ada = app.token_of_new_user("ada").await;
        let request_list = |address: &str| app.remote(Method::GET, PATH).header("x-forwarded-for", address);
        let begin = |connection: &str| {
            let address = "198.51.100.7".parse().expect("an address");
            let client = Client { address, connection: connection.to_owned() };
            let request = app.state.active_requests.begin_for_address(&client).expect("a free request slot");
            // The request's body has arrived completely, so the request cannot be evicted.
            let _body = request.watch_body(axum::body::Body::empty());
            request
        };
        let active = [begin("a"), begin("b")];
        let refusal = request_list("198.51.100.7").send().await;
        assert!(refusal.problem(503, "busy").contains("SF_CONNECTIONS_PER_ADDRESS"));
        request_list("198.51.100.8").send().await.problem(401, "token_missing");
        request_list("198.51.100.7").token(&ada).send().await.expect(200);
        drop(active);
        request_list("198.51.100.7").send().await.problem(401, "token_missing");
    }

    #[tokio::test]
    async fn the_active_requests_of_an_account_are_limited() {
        let app = TestApp::with(&[("SF_ACTIVE_REQUESTS_PER_ACCOUNT", "2")]).await;
        let (ada, bob) = (app.token_of_new_user("ada").await, app.token_of_new_user("bob").await);
        let id = app.state.tokens.check(&ada).expect("a valid token").sub;
        let begin = || app.state.active_requests.begin_for_account(&id).expect("below the limit");
        let active = [begin(), begin()];
        let refusal = app.remote(Method::GET, PATH).token(&ada).send().await;
        assert!(refusal.problem(503, "busy").contains("SF_ACTIVE_REQUESTS_PER_ACCOUNT"));
        app.remote(Method::GET, PATH).token(&bob).send().await.expect(200);
        drop(active);
        app.remote(Method::GET, PATH).token(&ada).send().await.expect(200);
    }

    #[tokio::test]
    async fn a_flooded_address_does_not_limit_logged_in_users() {
        let settings =
            [("SF_REQUESTS_PER_MINUTE_PER_ADDRESS", "3"), ("SF_REQUESTS_PER_MINUTE_PER_USER", "50")];
        let app = TestApp::with(&settings).await;
        let (ada, bob) = (app.token_of_new_user("ada").await, app.token_of_new_user("bob").await);
        let request_list = async |token: &str| app.remote(Method::GET, PATH).token(token).send().await;
        while app.remote(Method::GET, "/api/nothing").send().await.status != 429 {}
        let mut answered_requests = 0;
        while request_list(&ada).await.status != 429 {
            answered_requests += 1;
        }
        assert!(answered_requests >= 49, "{answered_requests}");
        request_list(&bob).await.expect(200);
        let body = serde_json::json!({ "username": "bob", "password": "wrong" });
        let log_in = app.remote(Method::POST, "/api/v1/auth/login").json(&body);
        log_in.send().await.problem(401, "bad_credentials");
        // A token with a wrong signature counts for the address instead of a log-in.
        assert_eq!(request_list(&format!("{}x", &ada[..ada.len() - 1])).await.status, 429);
    }

    #[tokio::test]
    async fn many_new_addresses_do_not_reset_the_limit_of_an_address() {
        let app = TestApp::with(&[("SF_REQUESTS_PER_MINUTE_PER_ADDRESS", "60")]).await;
        let request_list = async |address: &str| app.from(address, Method::GET, PATH).send().await.status;
        let count_until_refused = async |address: &str| {
            let mut count = 0;
            while request_list(address).await != 429 {
                count += 1;
                assert!(count < 1_000, "the address is never refused");
            }
            count
        };
        let started_at = Instant::now();
        assert!(count_until_refused("192.0.2.77").await >= 60);
        let buckets = &app.state.rate_limits.addresses;
        for number in 0..2 * BUCKETS_MAX {
            buckets.take_token(&number.to_string(), Instant::now()).expect("the first token of each key");
        }
        // If its bucket had been evicted, the address would now have a full one. Instead, the
        // bucket has only gained one token per second.
        let second_refusal = count_until_refused("192.0.2.77").await;
        assert!(
            second_refusal < 60 || started_at.elapsed() > Duration::from_secs(60),
            "{second_refusal} requests more"
        );
        assert_eq!(request_list("192.0.2.78").await, 401);
    }
}
