//! Rate limits of requests, by account and by address.
//!
//! Several users, such as a class, may share an address, and one of them must not use up the limit
//! of all. So requests with a log-in token count for that log-in, not for the address. The page and
//! the log-in itself do not count; [`crate::auth::Throttle`] limits log-ins.
//!
//! Each account and address has a token bucket, which holds a minute's requests and refills
//! steadily. Each process has separate buckets. Local callers and health checks are not limited.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::client_address::network_of;
use crate::config::RequestLimits;
use crate::error::{ApiError, ApiResult};

/// Maximum number of buckets.
const BUCKETS_MAX: usize = 50_000;

/// Number of buckets to evict at the maximum. Evicting many at a time makes searches rare.
const BUCKETS_EVICTED: usize = BUCKETS_MAX / 8;

const SECS_PER_MINUTE: f64 = 60.0;

/// Paths of health and metrics, which monitoring polls.
const UNLIMITED_PATHS: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// Paths of log-in and registration, and of the page's first request.
const LOG_IN_PATHS: [&str; 4] =
    ["/api/v1/system/capabilities", "/api/v1/auth/login", "/api/v1/auth/local", "/api/v1/auth/register"];

/// Whether requests to a path count.
pub(crate) fn is_limited(path: &str) -> bool {
    !UNLIMITED_PATHS.contains(&path)
}

/// The buckets of this process.
#[derive(Debug)]
pub struct RateLimits {
    users: Buckets,
    addresses: Buckets,
}

impl RateLimits {
    /// Full buckets for everybody.
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
    /// 429 with the seconds to wait.
    pub(crate) fn admit_user(&self, user_id: &str) -> ApiResult<()> {
        let limit = "requests of your account per minute (SF_REQUESTS_PER_MINUTE_PER_USER)";
        self.users.take(user_id, Instant::now()).map_err(|wait| self.users.refusal(limit, wait))
    }

    /// Counts a request with a log-in token, even if its account no longer accepts it.
    ///
    /// # Errors
    /// 429 with the seconds to wait.
    pub(crate) fn admit_session(&self, session_id: &str) -> ApiResult<()> {
        self.admit_user(&format!("session {session_id}"))
    }

    /// Counts a request to `path` from an address.
    ///
    /// # Errors
    /// 429 with the seconds to wait.
    pub(crate) fn admit_address(&self, address: IpAddr, path: &str) -> ApiResult<()> {
        if !path.starts_with("/api/") || LOG_IN_PATHS.contains(&path) {
            return Ok(());
        }
        let limit = "requests from your address per minute (SF_REQUESTS_PER_MINUTE_PER_ADDRESS)";
        let outcome = self.addresses.take(&network_of(address), Instant::now());
        outcome.map_err(|wait| self.addresses.refusal(limit, wait))
    }
}

/// Buckets of one size.
#[derive(Debug)]
struct Buckets {
    /// Capacity of a bucket, and its refill per minute, in tokens; 0: no limit.
    per_minute: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    filled_at: Instant,
}

impl Buckets {
    fn new(per_minute: u64) -> Self {
        Self { per_minute: per_minute as f64, buckets: Mutex::default() }
    }

    /// Takes a token. If there is none, returns the time until the next one.
    fn take(&self, key: &str, now: Instant) -> Result<(), Duration> {
        if self.per_minute == 0.0 {
            return Ok(());
        }
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= BUCKETS_MAX && !buckets.contains_key(key) {
            self.evict(&mut buckets);
        }
        let full = Bucket { tokens: self.per_minute, filled_at: now };
        let bucket = buckets.entry(key.to_owned()).or_insert(full);
        *bucket = Bucket { tokens: self.tokens(*bucket, now), filled_at: now };
        if bucket.tokens < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.tokens) * SECS_PER_MINUTE / self.per_minute));
        }
        bucket.tokens -= 1.0;
        Ok(())
    }

    /// Removes the buckets that are full, or will be first: those with the fewest recent requests.
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

    /// Time when a bucket will be full if no token is taken.
    fn full_at(&self, bucket: Bucket) -> Instant {
        let missing = (self.per_minute - bucket.tokens).max(0.0);
        bucket.filled_at + Duration::from_secs_f64(missing * SECS_PER_MINUTE / self.per_minute)
    }

    fn tokens(&self, bucket: Bucket, now: Instant) -> f64 {
        let secs = now.saturating_duration_since(bucket.filled_at).as_secs_f64();
        (bucket.tokens + secs * self.per_minute / SECS_PER_MINUTE).min(self.per_minute)
    }

    fn refusal(&self, limit: &str, wait: Duration) -> ApiError {
        let retry_after_secs = wait.as_secs_f64().ceil().max(1.0) as u64;
        ApiError::TooManyRequests {
            detail: format!("The limit is {} {limit}; try again in {retry_after_secs} s.", self.per_minute),
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
            buckets.take("a", now).expect("a minute's worth at once");
        }
        assert_eq!(buckets.take("a", now), Err(Duration::from_secs(1)));
        buckets.take("b", now).expect("somebody else's");
        buckets.take("a", now + Duration::from_secs(1)).expect("a second later");
        buckets.take("a", now + Duration::from_secs(1)).expect_err("only one");
        let later = now + Duration::from_secs(3600);
        assert_eq!((0..).take_while(|_| buckets.take("a", later).is_ok()).count(), 60);
    }

    #[test]
    fn the_number_of_buckets_is_limited() {
        let (buckets, now) = (Buckets::new(60), Instant::now());
        for number in 0..2 * BUCKETS_MAX {
            buckets.take(&number.to_string(), now).expect("the first of each");
        }
        assert!(buckets.buckets.lock().unwrap().len() <= BUCKETS_MAX);
    }

    #[test]
    fn many_addresses_do_not_evict_an_empty_bucket() {
        let (buckets, now) = (Buckets::new(60), Instant::now());
        for _ in 0..60 {
            buckets.take("a", now).expect("a minute's worth");
        }
        buckets.take("a", now).expect_err("none is left");
        for number in 0..2 * BUCKETS_MAX {
            buckets.take(&number.to_string(), now).expect("the first of each");
        }
        buckets.take("a", now).expect_err("still none");
        assert!(buckets.buckets.lock().unwrap().len() > BUCKETS_MAX / 2, "most are kept");
    }

    #[test]
    fn old_buckets_are_evicted() {
        let (buckets, begun) = (Buckets::new(60), Instant::now());
        let at = |number: usize| begun + Duration::from_micros(number as u64);
        for number in 0..=BUCKETS_MAX {
            buckets.take(&number.to_string(), at(number)).expect("the first of each");
        }
        let kept = buckets.buckets.lock().unwrap();
        assert!(!kept.contains_key("0"), "the oldest is still there");
        for number in BUCKETS_MAX / 2..=BUCKETS_MAX {
            assert!(kept.contains_key(&number.to_string()), "{number} was evicted");
        }
    }

    #[tokio::test]
    async fn an_account_above_its_rate_limit_is_refused() {
        let app = TestApp::with(&[("SF_REQUESTS_PER_MINUTE_PER_USER", "3")]).await;
        let (ada, bob) = (app.token_of_new_user("ada").await, app.token_of_new_user("bob").await);
        let key = app.api_key(&ada).await;
        let ask = async |token: &str| app.remote(Method::GET, PATH).token(token).send().await;
        for _ in 0..2 {
            ask(&ada).await.expect(200);
        }
        // Creating the key was the third request. A key counts for its owner.
        let answer = ask(&key).await;
        assert!(answer.problem(429, "too_many_requests").contains("SF_REQUESTS_PER_MINUTE_PER_USER"));
        let wait: u64 = answer.header("retry-after").parse().expect("seconds");
        assert!((1..=20).contains(&wait), "{wait}");
        ask(&bob).await.expect(200);
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
        // The page, or the answer that it was not built.
        assert_ne!(app.remote(Method::GET, "/").send().await.status, 429);
    }

    #[tokio::test]
    async fn a_client_behind_a_proxy_has_a_limited_number_of_active_requests() {
        let settings = [("SF_TRUSTED_PROXIES", "192.0.2.77"), ("SF_CONNECTIONS_PER_ADDRESS", "2")];
        let app = TestApp::with(&settings).await;
        let ada = app.token_of_new_user("ada").await;
        let ask = |address: &str| app.remote(Method::GET, PATH).header("x-forwarded-for", address);
        let begin = |connection: &str| {
            let address = "198.51.100.7".parse().expect("an address");
            let client = Client { address, connection: connection.to_owned() };
            let request = app.state.active_requests.begin_for_address(&client).expect("free");
            // Its body has arrived, so it cannot be evicted.
            let _body = request.watch_body(axum::body::Body::empty());
            request
        };
        let active = [begin("a"), begin("b")];
        let refusal = ask("198.51.100.7").send().await;
        assert!(refusal.problem(503, "busy").contains("SF_CONNECTIONS_PER_ADDRESS"));
        ask("198.51.100.8").send().await.problem(401, "token_missing");
        ask("198.51.100.7").token(&ada).send().await.expect(200);
        drop(active);
        ask("198.51.100.7").send().await.problem(401, "token_missing");
    }

    #[tokio::test]
    async fn an_account_has_a_limited_number_of_active_requests() {
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
        let ask = async |token: &str| app.remote(Method::GET, PATH).token(token).send().await;
        while app.remote(Method::GET, "/api/nothing").send().await.status != 429 {}
        let mut answered = 0;
        while ask(&ada).await.status != 429 {
            answered += 1;
        }
        assert!(answered >= 49, "{answered}");
        ask(&bob).await.expect(200);
        let body = serde_json::json!({ "username": "bob", "password": "wrong" });
        let log_in = app.remote(Method::POST, "/api/v1/auth/login").json(&body);
        log_in.send().await.problem(401, "bad_credentials");
        // A token with a wrong signature counts for the address.
        assert_eq!(ask(&format!("{}x", &ada[..ada.len() - 1])).await.status, 429);
    }

    #[tokio::test]
    async fn many_addresses_do_not_reset_the_limit_of_another() {
        let app = TestApp::with(&[("SF_REQUESTS_PER_MINUTE_PER_ADDRESS", "60")]).await;
        let ask = async |address: &str| app.from(address, Method::GET, PATH).send().await.status;
        let asks_until_refused = async |address: &str| {
            let mut asks = 0;
            while ask(address).await != 429 {
                asks += 1;
                assert!(asks < 1_000, "nobody is refused");
            }
            asks
        };
        let begun = Instant::now();
        assert!(asks_until_refused("192.0.2.77").await >= 60);
        let crowd = &app.state.rate_limits.addresses;
        for number in 0..2 * BUCKETS_MAX {
            crowd.take(&number.to_string(), Instant::now()).expect("the first of each");
        }
        // An evicted bucket would be full. This one has gained a token a second.
        let again = asks_until_refused("192.0.2.77").await;
        assert!(again < 60 || begun.elapsed() > Duration::from_secs(60), "{again} requests more");
        assert_eq!(ask("192.0.2.78").await, 401);
    }
}
