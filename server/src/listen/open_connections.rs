//! Limits the number of open connections, in total and per address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::activity::Activity;
use crate::client_address::network_of;
use crate::config::ConnectionLimits;

/// Minimum interval between log lines about refused connections.
const WARN_EVERY: Duration = Duration::from_secs(60);

/// Counts open connections.
#[derive(Debug, Clone)]
pub(super) struct OpenConnections {
    max: usize,
    max_per_address: usize,
    /// Trusted proxies. They have many clients, so only the total limit applies to them.
    proxies: Arc<[IpAddr]>,
    counts: Arc<Mutex<Counts>>,
}

#[derive(Debug, Default)]
struct Counts {
    next_id: u64,
    total: usize,
    by_network: HashMap<String, HashMap<u64, CountedConnection>>,
    refused_connections: u64,
    warned_at: Option<Instant>,
}

/// A connection that counts for an address.
#[derive(Debug)]
struct CountedConnection {
    activity: Arc<Activity>,
    /// Cancelling this token ends the connection.
    eviction: CancellationToken,
}

/// Counts an open connection until it is dropped.
#[derive(Debug)]
pub(super) struct OpenConnection {
    counts: Arc<Mutex<Counts>>,
    id: u64,
    /// Address or IPv6 network; `None` for a trusted proxy.
    network: Option<String>,
    pub(super) activity: Arc<Activity>,
    /// Cancelled when a newer connection evicts this one.
    pub(super) eviction: CancellationToken,
}

impl OpenConnections {
    pub(super) fn new(limits: &ConnectionLimits, proxies: &[IpAddr]) -> Self {
        let max = limits.max_by_open_files();
        if max < limits.max {
            tracing::info!(
                "connections are limited to {max} by the limit on open files (LimitNOFILE, ulimit -n)"
            );
        }
        Self { max, max_per_address: limits.max_per_address, proxies: proxies.into(), counts: Arc::default() }
    }

    /// Counts a connection from `peer`. Returns `None` if there are too many. An address may have
    /// at most a quarter of the number of free connections, so that several addresses leave
    /// connections for others. If an address has reached its limit, the idle connection with the
    /// oldest activity is evicted.
    pub(super) fn admit(&self, peer: IpAddr) -> Option<OpenConnection> {
        let peer = peer.to_canonical();
        let network = (!self.proxies.contains(&peer)).then(|| network_of(peer));
        let mut counts = lock(&self.counts);
        if counts.total >= self.max {
            counts.refuse(
                peer,
                self.max,
                "connections in total (SF_CONNECTIONS_MAX, or the limit on open files)",
            );
            return None;
        }
        let connections = network.as_ref().and_then(|name| counts.by_network.get(name));
        let count = connections.map_or(0, HashMap::len);
        let is_full = count >= self.max_per_address || count > 0 && 4 * count >= self.max - counts.total;
        if is_full && !network.as_ref().is_some_and(|name| counts.evict(name)) {
            counts.refuse(
                peer,
                count,
                "connections from its address (SF_CONNECTIONS_PER_ADDRESS, or a quarter of the free ones)",
            );
            return None;
        }
        counts.total += 1;
        counts.next_id += 1;
        let (id, activity, eviction) = (counts.next_id, Activity::new(), CancellationToken::new());
        if let Some(name) = &network {
            let counted_connection =
                CountedConnection { activity: Arc::clone(&activity), eviction: eviction.clone() };
            counts.by_network.entry(name.clone()).or_default().insert(id, counted_connection);
        }
        Some(OpenConnection { counts: Arc::clone(&self.counts), id, network, activity, eviction })
    }
}

impl Counts {
    /// Evicts the idle connection of an address with the oldest activity. Returns false if none is
    /// idle.
    fn evict(&mut self, network: &str) -> bool {
        let connections = self.by_network.get(network).into_iter().flatten();
        let idle_connections =
            connections.filter(|(_, counted_connection)| counted_connection.activity.is_idle());
        let longest_idle = idle_connections
            .min_by_key(|(id, counted_connection)| (counted_connection.activity.last_active_at(), **id));
        let Some(id) = longest_idle.map(|(id, _)| *id) else { return false };
        if let Some(counted_connection) = self.remove(network, id) {
            counted_connection.eviction.cancel();
        }
        true
    }

    /// Removes a connection of an address from the counts.
    fn remove(&mut self, network: &str, id: u64) -> Option<CountedConnection> {
        let connections = self.by_network.get_mut(network)?;
        let counted_connection = connections.remove(&id)?;
        if connections.is_empty() {
            self.by_network.remove(network);
        }
        self.total -= 1;
        Some(counted_connection)
    }

    fn refuse(&mut self, peer: IpAddr, max: usize, kind: &str) {
        self.refused_connections += 1;
        if self.warned_at.is_none_or(|warned_at| warned_at.elapsed() >= WARN_EVERY) {
            let refused_connections = std::mem::take(&mut self.refused_connections);
            tracing::warn!(%peer, refused = refused_connections, "refusing connections: there are already {max} {kind}");
            self.warned_at = Some(Instant::now());
        }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut counts = lock(&self.counts);
        match &self.network {
            // An evicted connection has already been removed.
            Some(network) => _ = counts.remove(network, self.id),
            None => counts.total -= 1,
        }
    }
}

fn lock(counts: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use axum::extract::Request;

    use super::super::activity::Exchange;
    use super::*;

    fn connections(max: usize, max_per_address: usize) -> OpenConnections {
        let limits = ConnectionLimits {
            idle_max: Duration::from_secs(1),
            max,
            max_per_address,
            max_requests_per_account: 1,
        };
        OpenConnections::new(&limits, &[[192, 0, 2, 1].into()])
    }

    /// Returns a connection with an open request. It cannot be evicted.
    fn in_use(open: &OpenConnections, peer: IpAddr) -> Option<(OpenConnection, Exchange)> {
        let connection = open.admit(peer)?;
        let (_, exchange) = connection.activity.begin(Request::default());
        Some((connection, exchange))
    }

    fn address(last: u8) -> IpAddr {
        [198, 51, 100, last].into()
    }

    #[test]
    fn connections_are_limited_by_address_and_in_total() {
        let open = connections(100, 2);
        let first = in_use(&open, address(1)).expect("the first connection");
        let _second = in_use(&open, address(1)).expect("the second connection");
        assert!(open.admit(address(1)).is_none(), "an address may have two connections");
        let _other = open.admit(address(2)).expect("another address");
        drop(first);
        open.admit(address(1)).expect("the address is below its limit again");
        let open = connections(5, 2);
        let _five: Vec<_> = (0..5).map(|last| open.admit(address(last)).expect("a new address")).collect();
        assert!(open.admit(address(5)).is_none(), "there may be five connections in total");
    }

    #[test]
    fn the_idle_connection_with_the_oldest_activity_is_evicted() {
        let open = connections(100, 3);
        let (busy, _exchange) = in_use(&open, address(1)).expect("the first connection");
        let idle = open.admit(address(1)).expect("the second connection");
        let later_connection = open.admit(address(1)).expect("the third connection");
        let _fourth = open.admit(address(1)).expect("the second connection is evicted");
        assert!(
            !busy.eviction.is_cancelled()
                && idle.eviction.is_cancelled()
                && !later_connection.eviction.is_cancelled()
        );
        drop(idle);
        assert_eq!(lock(&open.counts).total, 3);
    }

    #[test]
    fn addresses_with_many_connections_leave_connections_for_others() {
        let open = connections(4_096, 512);
        let single_client: Vec<_> = std::iter::from_fn(|| in_use(&open, address(0))).collect();
        assert_eq!(single_client.len(), 512);
        drop(single_client);
        let flood: Vec<_> =
            (0..20_000_u16).filter_map(|number| in_use(&open, address((number % 100) as u8))).collect();
        assert!(flood.len() < 4_000, "{}", flood.len());
        let _browsers: Vec<_> = (100..110)
            .flat_map(|last| (0..6).map(move |_| last))
            .map(|last| open.admit(address(last)).expect("six connections of a browser"))
            .collect();
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address_and_a_proxy_has_no_limit() {
        let open = connections(9, 1);
        let _one = in_use(&open, "2001:db8::1".parse().unwrap()).expect("the first connection");
        assert!(open.admit("2001:db8::2".parse().unwrap()).is_none(), "both addresses are in the same /64");
        let proxied: Vec<_> = (0..8).map(|_| open.admit([192, 0, 2, 1].into())).collect();
        assert!(proxied.iter().all(Option::is_some), "only the total limit applies to the proxy");
        assert!(open.admit([192, 0, 2, 1].into()).is_none());
        drop(proxied);
        assert_eq!(lock(&open.counts).total, 1);
        assert_eq!(lock(&open.counts).by_network.len(), 1);
    }
}
