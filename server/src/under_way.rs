//! How many requests without a log-in a visitor's address has under way by a proxy.
//!
//! The connections of a proxy count in the total only, so one visitor must not use up all of them.
//! A connection has a quarter as many requests under way at most as its address may still begin: so
//! connections that ask for much leave room for others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::client_address::{Client, network_of};
use crate::error::{ApiError, ApiResult};

/// The requests of this process.
#[derive(Debug, Clone)]
pub(crate) struct UnderWay(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    per_address: usize,
    addresses: Mutex<HashMap<String, Address>>,
}

#[derive(Debug, Default)]
struct Address {
    requests: usize,
    of_connections: HashMap<String, usize>,
}

/// A request under way. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Begun {
    requests: UnderWay,
    address: String,
    connection: String,
}

impl UnderWay {
    /// Nobody asks. An address has `per_address` requests under way at most.
    pub(crate) fn new(per_address: usize) -> Self {
        Self(Arc::new(Inner { per_address, addresses: Mutex::default() }))
    }

    /// Begins a request.
    ///
    /// # Errors
    /// 503 `busy` where too many are under way.
    pub(crate) fn begin(&self, client: &Client) -> ApiResult<Begun> {
        let (address, connection) = (network_of(client.address), client.connection.clone());
        let mut addresses = self.0.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        let of_address = addresses.entry(address.clone()).or_default();
        let left = self.0.per_address.saturating_sub(of_address.requests);
        let of_connection = of_address.of_connections.get(&connection).copied().unwrap_or_default();
        if 4 * of_connection >= left {
            return Err(busy());
        }
        of_address.requests += 1;
        of_address.of_connections.insert(connection.clone(), of_connection + 1);
        drop(addresses);
        Ok(Begun { requests: self.clone(), address, connection })
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let mut addresses = self.requests.0.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(of_address) = addresses.get_mut(&self.address) else { return };
        of_address.requests -= 1;
        if let Some(of_connection) = of_address.of_connections.get_mut(&self.connection) {
            *of_connection -= 1;
            if *of_connection == 0 {
                of_address.of_connections.remove(&self.connection);
            }
        }
        if of_address.requests == 0 {
            addresses.remove(&self.address);
        }
    }
}

fn busy() -> ApiError {
    ApiError::Busy {
        detail: "Too many requests from your address are under way (SF_CONNECTIONS_PER_ADDRESS); try again in a second."
            .to_owned(),
        retry_after_secs: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(address: &str, connection: usize) -> Client {
        Client { address: address.parse().unwrap(), connection: format!("{address} {connection}") }
    }

    #[test]
    fn an_address_has_so_many_requests_under_way() {
        let requests = UnderWay::new(8);
        let connections = (0..20).map(|number| client("192.0.2.1", number));
        let begun: Vec<Begun> = connections.filter_map(|one| requests.begin(&one).ok()).collect();
        assert_eq!(begun.len(), 8);
        let elsewhere = client("192.0.2.2", 0);
        requests.begin(&elsewhere).expect("another address has its own");
        drop(begun);
        assert!(requests.0.addresses.lock().unwrap().is_empty());
        requests.begin(&client("192.0.2.1", 0)).expect("all have ended");
    }

    #[test]
    fn connections_that_ask_for_much_leave_room_for_others() {
        let requests = UnderWay::new(512);
        let by = |connection| requests.begin(&client("192.0.2.1", connection));
        let alone: Vec<Begun> = std::iter::from_fn(|| by(0).ok()).collect();
        assert_eq!(alone.len(), 103);
        drop(alone);
        let _flood: Vec<Begun> = (0..64 * 100).filter_map(|number| by(number % 64).ok()).collect();
        let _class: Vec<Begun> = (64..88).map(|one| by(one).expect("room for a class")).collect();
    }
}
