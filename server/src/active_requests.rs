//! Limits the active requests of an account, and of an address that has not logged in.
//!
//! The connections of a trusted proxy count only in the total, and each of its HTTP/2 connections
//! may carry many requests. Without these limits, one visitor could use up all connections. A
//! request is active until its answer has been sent, which includes event streams.
//!
//! An account or address may have at most a quarter of the requests that the service can still
//! accept. So several busy accounts and addresses together leave capacity for others.
//!
//! If a request of an account has waited too long for the database, the account is limited for 10
//! s. It may then have half as many active requests as there are connections to the database.
//! Otherwise, the requests of one account for a locked table could occupy all connections.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::CONTENT_LENGTH;
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use tokio_util::sync::CancellationToken;

use crate::client_address::{Client, network_of};
use crate::config::ConnectionLimits;
use crate::error::{ApiError, ApiResult, DATABASE_BUSY};

/// Time for which the limit on an account's active requests is lower after one of them has waited
/// too long for the database.
const DATABASE_BUSY_FOR: Duration = Duration::from_secs(10);

/// The active requests of this process.
#[derive(Debug, Clone)]
pub(crate) struct ActiveRequests(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Maximum number of active requests. It equals the limit on open connections, because most
    /// proxies use a connection for each request.
    max: usize,
    max_per_address: usize,
    max_per_account: usize,
    /// Maximum number of active requests of an account while the database is busy for it.
    max_while_database_busy: usize,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    next_id: u64,
    /// Active requests of all accounts and addresses.
    total: usize,
    accounts: HashMap<String, usize>,
    /// For each account whose request waited too long for the database: the time until which its
    /// limit is lower.
    database_busy_until: HashMap<String, Instant>,
    addresses: HashMap<String, AddressRequests>,
}

/// The active requests of an address.
#[derive(Debug, Default)]
struct AddressRequests {
    /// The requests by id. Ids ascend, so the oldest request is first.
    requests: BTreeMap<u64, AddressRequest>,
    by_connection: HashMap<String, usize>,
}

#[derive(Debug)]
struct AddressRequest {
    connection: String,
    /// Cancelling this token evicts the request. `None` once the request's body has arrived.
    eviction: Option<CancellationToken>,
}

/// Counts an active request until it is dropped.
#[derive(Debug)]
pub(crate) struct ActiveRequest {
    requests: ActiveRequests,
    sender: Sender,
    /// Cancelled when a newer request evicts this one.
    eviction: CancellationToken,
}

#[derive(Debug, Clone)]
enum Sender {
    Account(String),
    Address { address: String, id: u64 },
}

impl ActiveRequests {
    /// Starts without active requests, for a pool of `database_connections` connections.
    pub(crate) fn new(limits: &ConnectionLimits, database_connections: u32) -> Self {
        Self(Arc::new(Inner {
            max: limits.max_by_open_files(),
            max_per_address: limits.max_per_address,
            max_per_account: limits.max_requests_per_account,
            max_while_database_busy: (database_connections / 2).try_into().unwrap_or(usize::MAX),
            counts: Mutex::default(),
        }))
    }

    /// Begins a request of an account.
    ///
    /// # Errors
    /// 503 `busy` if the account has too many active requests; 503 `database_busy` if it has too
    /// many for a busy database.
    pub(crate) fn begin_for_account(&self, account_id: &str) -> ApiResult<ActiveRequest> {
        self.begin_for_account_at(account_id, Instant::now())
    }

    fn begin_for_account_at(&self, account_id: &str, now: Instant) -> ApiResult<ActiveRequest> {
        let mut counts = self.lock();
        let count = counts.accounts.get(account_id).copied().unwrap_or_default();
        if count >= self.0.max_per_account || self.exceeds_fair_count(&counts, count) {
            return Err(account_busy_error(self.0.max_per_account));
        }
        let is_database_busy =
            counts.database_busy_until.get(account_id).is_some_and(|busy_until| now < *busy_until);
        let max = self.0.max_while_database_busy;
        if is_database_busy && count >= max {
            let detail = format!(
                "The database is too busy for more than {max} requests of your account at the same time; try again in a moment."
            );
            return Err(ApiError::Unavailable { code: DATABASE_BUSY, detail });
        }
        counts.accounts.insert(account_id.to_owned(), count + 1);
        counts.total += 1;
        let sender = Sender::Account(account_id.to_owned());
        Ok(ActiveRequest { requests: self.clone(), sender, eviction: CancellationToken::new() })
    }

    /// Begins a request without a log-in. A connection may have at most a quarter of the requests
    /// that its address can still begin, which leaves capacity for other connections. If the
    /// address has reached its limit, its oldest request whose body has not arrived is evicted, so
    /// that slow senders do not block others.
    ///
    /// # Errors
    /// 503 `busy` if the address or the connection has too many active requests.
    pub(crate) fn begin_for_address(&self, client: &Client) -> ApiResult<ActiveRequest> {
        let (address, connection) = (network_of(client.address), client.connection.clone());
        let mut counts = self.lock();
        counts.next_id += 1;
        let id = counts.next_id;
        let count =
            counts.addresses.get(&address).map_or(0, |address_requests| address_requests.requests.len());
        let is_full = count >= self.0.max_per_address || self.exceeds_fair_count(&counts, count);
        let Counts { addresses, total, .. } = &mut *counts;
        let address_requests = addresses.entry(address.clone()).or_default();
        let connection_count = address_requests.by_connection.get(&connection).copied().unwrap_or_default();
        if is_full && !(connection_count == 0 && address_requests.evict(total)) {
            return Err(address_busy_error(self.0.max_per_address));
        }
        let available_requests = self.0.max_per_address.saturating_sub(address_requests.requests.len());
        if 4 * connection_count >= available_requests {
            return Err(address_busy_error(self.0.max_per_address));
        }
        *total += 1;
        let eviction = CancellationToken::new();
        let request = AddressRequest { connection: connection.clone(), eviction: Some(eviction.clone()) };
        address_requests.requests.insert(id, request);
        *address_requests.by_connection.entry(connection).or_default() += 1;
        let sender = Sender::Address { address, id };
        Ok(ActiveRequest { requests: self.clone(), sender, eviction })
    }

    /// Whether `count` is at least a quarter of the number of requests that can still begin.
    fn exceeds_fair_count(&self, counts: &Counts, count: usize) -> bool {
        count > 0 && 4 * count >= self.0.max.saturating_sub(counts.total)
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the body of a request has arrived.
    fn mark_received(&self, sender: &Sender) {
        let Sender::Address { address, id } = sender else { return };
        let mut counts = self.lock();
        let address_requests = counts.addresses.get_mut(address);
        if let Some(request) =
            address_requests.and_then(|address_requests| address_requests.requests.get_mut(id))
        {
            request.eviction = None;
        }
    }
}

impl AddressRequests {
    /// Evicts the oldest request whose body has not arrived. Returns false if there is none.
    fn evict(&mut self, total: &mut usize) -> bool {
        let mut unreceived_requests = self.requests.iter().filter(|(_, request)| request.eviction.is_some());
        let id = unreceived_requests.next().map(|(id, _)| *id);
        id.is_some_and(|id| {
            self.remove(id, total);
            true
        })
    }

    fn remove(&mut self, id: u64, total: &mut usize) {
        if let Some(AddressRequest { connection, eviction }) = self.requests.remove(&id) {
            *total -= 1;
            decrement(&mut self.by_connection, &connection);
            eviction.iter().for_each(CancellationToken::cancel);
        }
    }
}

impl ActiveRequest {
    /// Wraps the request's body so that its arrival is recorded.
    pub(crate) fn watch_body(&self, body: Body) -> Body {
        if body.is_end_stream() {
            self.requests.mark_received(&self.sender);
            return body;
        }
        Body::new(WatchedBody { body, requests: self.requests.clone(), sender: self.sender.clone() })
    }

    /// Records that this request waited too long for the database.
    pub(crate) fn record_busy_database(&self) {
        self.record_busy_database_at(Instant::now());
    }

    fn record_busy_database_at(&self, now: Instant) {
        let Sender::Account(account_id) = &self.sender else { return };
        let mut counts = self.requests.lock();
        counts.database_busy_until.retain(|_, busy_until| now < *busy_until);
        counts.database_busy_until.insert(account_id.clone(), now + DATABASE_BUSY_FOR);
    }

    /// Waits for the answer, or for the eviction of the request.
    ///
    /// # Errors
    /// 503 `busy` if the request was evicted.
    pub(crate) async fn run(&self, answer: impl Future<Output = Response>) -> ApiResult<Response> {
        tokio::select! {
            response = answer => Ok(response),
            () = self.eviction.cancelled() => Err(address_busy_error(self.requests.0.max_per_address)),
        }
    }

    /// Keeps the request active until its answer has been sent or its client has disconnected. An
    /// answer in memory counts in `held_answers.rs` instead, so its request ends at once.
    pub(crate) fn until_sent(self, response: Response) -> Response {
        // `held_answers.rs` counts the bytes of bodies in memory whose size is known. A wrapped
        // body would lose its size.
        if response.body().size_hint().exact().is_some() && !response.headers().contains_key(CONTENT_LENGTH) {
            return response;
        }
        response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _active = &self;
                frame
            }))
        })
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let mut counts = self.requests.lock();
        let Counts { accounts, addresses, total, .. } = &mut *counts;
        match &self.sender {
            Sender::Account(account_id) => {
                *total -= 1;
                decrement(accounts, account_id);
            }
            Sender::Address { address, id } => {
                let Some(address_requests) = addresses.get_mut(address) else { return };
                address_requests.remove(*id, total);
                if address_requests.requests.is_empty() {
                    addresses.remove(address);
                }
            }
        }
    }
}

/// The body of a request, which records its arrival.
struct WatchedBody {
    body: Body,
    requests: ActiveRequests,
    sender: Sender,
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() || self.body.is_end_stream() {
            self.requests.mark_received(&self.sender);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn decrement(counts: &mut HashMap<String, usize>, counter_key: &str) {
    if let Some(count) = counts.get_mut(counter_key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(counter_key);
        }
    }
}

fn account_busy_error(max: usize) -> ApiError {
    busy_error("account", max, "SF_ACTIVE_REQUESTS_PER_ACCOUNT")
}

fn address_busy_error(max: usize) -> ApiError {
    busy_error("address", max, "SF_CONNECTIONS_PER_ADDRESS")
}

fn busy_error(sender: &str, max: usize, setting: &str) -> ApiError {
    let detail = format!(
        "Your {sender} has too many active requests; the limit is {max} ({setting}), and lower while many other requests \
         are active. Try again in a second."
    );
    ApiError::Busy { detail, retry_after_secs: 1 }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn with_limits(max: usize, max_per_address: usize, max_per_account: usize) -> ActiveRequests {
        ActiveRequests::new(
            &ConnectionLimits {
                idle_max: Duration::from_secs(1),
                max,
                max_per_address,
                max_requests_per_account: max_per_account,
            },
            8,
        )
    }

    #[test]
    fn an_account_whose_requests_wait_for_the_database_gets_fewer_of_them_for_a_while() {
        let requests = limited(8, 64);
        let now = Instant::now();
        let begin = |account_id: &str, at: Instant| requests.begin_for_account_at(account_id, at);
        let mut active: Vec<_> = (0..6).map(|_| begin("ada", now).expect("below the limit")).collect();
        active[0].record_busy_database_at(now);
        let refusal = begin("ada", now).expect_err("the account has six active requests");
        assert_eq!(refusal.code(), DATABASE_BUSY);
        begin("bob", now).expect("another account has its own limit");
        active.truncate(3);
        let fourth = begin("ada", now).expect("the account has three active requests");
        begin("ada", now).expect_err("the account has four active requests");
        begin("ada", now + DATABASE_BUSY_FOR).expect("the lower limit has ended");
        drop((active, fourth));
    }

    fn limited(max_per_address: usize, max_per_account: usize) -> ActiveRequests {
        with_limits(4_096, max_per_address, max_per_account)
    }

    fn client(address: &str, connection: usize) -> Client {
        Client { address: address.parse().unwrap(), connection: format!("{address} {connection}") }
    }

    #[test]
    fn an_address_has_a_limited_number_of_active_requests() {
        let requests = limited(8, 1);
        let connections = (0..20).map(|number| client("192.0.2.1", number));
        let begin = |client: &Client| {
            let request = requests.begin_for_address(client).ok()?;
            let body = request.watch_body(Body::empty());
            body.is_end_stream().then_some(request)
        };
        let active: Vec<_> = connections.filter_map(|client| begin(&client)).collect();
        assert_eq!(active.len(), 8);
        let other_client = client("192.0.2.2", 0);
        requests.begin_for_address(&other_client).expect("another address has its own limit");
        drop(active);
        assert!(requests.lock().addresses.is_empty());
        requests.begin_for_address(&client("192.0.2.1", 0)).expect("the requests of this address have ended");
    }

    #[test]
    fn connections_with_many_requests_leave_capacity_for_others() {
        let requests = limited(512, 1);
        let begin = |connection| requests.begin_for_address(&client("192.0.2.1", connection));
        let single_account: Vec<_> = std::iter::from_fn(|| begin(0).ok()).collect();
        assert_eq!(single_account.len(), 103);
        drop(single_account);
        let _flood: Vec<_> = (0..64 * 100).filter_map(|number| begin(number % 64).ok()).collect();
        let _class: Vec<_> =
            (64..88).map(|number| begin(number).expect("the address has capacity left")).collect();
    }

    #[test]
    fn an_account_has_a_limited_number_of_active_requests_until_their_answers_are_sent() {
        let requests = limited(1, 2);
        let begin = || requests.begin_for_account("ada");
        let stream = || Body::from_stream(futures_util::stream::pending::<Result<&str, std::io::Error>>());
        let streams = [begin(), begin()]
            .map(|active| active.expect("below the limit").until_sent(Response::new(stream())));
        assert!(begin().is_err());
        requests.begin_for_account("bob").expect("another account has its own limit");
        drop(streams);
        let answer = begin().expect("the streams have ended").until_sent(Response::new(Body::from("whole")));
        assert_eq!(answer.body().size_hint().exact(), Some(5));
        assert!(requests.lock().accounts.is_empty());
    }

    #[test]
    fn many_accounts_and_addresses_leave_capacity_for_others() {
        let requests = with_limits(1_024, 128, 128);
        let by_account = |number: usize| requests.begin_for_account(&format!("account {number}"));
        let by_address = |number: usize| {
            let active = requests.begin_for_address(&client(&format!("192.0.2.{}", number % 25), number))?;
            active.requests.mark_received(&active.sender);
            Ok::<_, ApiError>(active)
        };
        let mut active: Vec<_> = (0..10_000).filter_map(|number| by_account(number % 10).ok()).collect();
        active.extend(
            (0..10_000).filter(|number| number % 25 < 20).filter_map(|number| by_address(number).ok()),
        );
        assert!(active.len() < 1_024, "{}", active.len());
        for _ in 0..2 {
            active.extend((20..24).map(|number| by_account(number).expect("there is capacity left")));
            active.extend((20..24).map(|number| by_address(number).expect("there is capacity left")));
        }
        drop(active);
        assert_eq!(requests.lock().total, 0);
        let single_account: Vec<_> = std::iter::from_fn(|| by_account(0).ok()).collect();
        assert_eq!(single_account.len(), 128);
    }

    #[tokio::test]
    async fn new_connections_evict_requests_without_a_body() {
        let requests = limited(8, 1);
        let begin = |connection| requests.begin_for_address(&client("192.0.2.1", connection));
        let slow_requests: Vec<_> =
            (0..8).map(|connection| begin(connection).expect("below the limit")).collect();
        let new_request = begin(8).expect("the oldest is evicted");
        let _body = new_request.watch_body(Body::empty());
        let answer = || async { Response::new(Body::empty()) };
        slow_requests[0].run(std::future::pending()).await.expect_err("it was evicted");
        slow_requests[1].run(answer()).await.expect("it is still active");
        let later_requests: Vec<_> = (9..30).map_while(|connection| begin(connection).ok()).collect();
        assert_eq!(later_requests.len(), 21, "each new request evicts the oldest");
        new_request.run(answer()).await.expect("a request whose body has arrived is not evicted");
        drop((slow_requests, later_requests, new_request));
        assert!(requests.lock().addresses.is_empty());
    }
}
