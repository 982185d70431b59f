//! How many connections are open: in all, and from each address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::client_address::network_of;
use crate::config::ConnectionLimits;

/// Shortest time between two log lines about refused connections.
const WARN_EVERY: Duration = Duration::from_secs(60);

/// Counts open connections.
#[derive(Debug, Clone)]
pub(super) struct OpenConnections {
    max: usize,
    max_per_address: usize,
    /// Proxies of many clients: only the total limits them.
    proxies: Arc<[IpAddr]>,
    counts: Arc<Mutex<Counts>>,
}

#[derive(Debug, Default)]
struct Counts {
    total: usize,
    by_network: HashMap<String, usize>,
    refused: u64,
    warned_at: Option<Instant>,
}

/// One open connection. Dropped, it no longer counts.
#[derive(Debug)]
pub(super) struct OpenConnection {
    counts: Arc<Mutex<Counts>>,
    /// `None`: a proxy's.
    network: Option<String>,
}

impl OpenConnections {
    pub(super) fn new(limits: &ConnectionLimits, proxies: &[IpAddr]) -> Self {
        let max = limits.max_by_open_files();
        if max < limits.max {
            tracing::info!(
                "at most {max} connections at a time, by the limit on open files (LimitNOFILE, ulimit -n)"
            );
        }
        Self { max, max_per_address: limits.max_per_address, proxies: proxies.into(), counts: Arc::default() }
    }

    /// Counts a connection from `peer`; `None` if there are too many. An address that has connections
    /// may have a quarter as many as are free in all, so that several addresses leave room for others.
    pub(super) fn admit(&self, peer: IpAddr) -> Option<OpenConnection> {
        let peer = peer.to_canonical();
        let network = (!self.proxies.contains(&peer)).then(|| network_of(peer));
        let mut counts = lock(&self.counts);
        let of_network = network.as_ref().and_then(|name| counts.by_network.get(name)).copied();
        if counts.total >= self.max {
            counts.refuse(
                peer,
                self.max,
                "connections in all (SF_CONNECTIONS_MAX, or the limit on open files)",
            );
            return None;
        }
        let of_network = of_network.unwrap_or(0);
        if of_network >= self.max_per_address || of_network > 0 && 4 * of_network >= self.max - counts.total {
            counts.refuse(peer, of_network, "connections of its address (SF_CONNECTIONS_PER_ADDRESS)");
            return None;
        }
        counts.total += 1;
        if let Some(name) = &network {
            *counts.by_network.entry(name.clone()).or_default() += 1;
        }
        Some(OpenConnection { counts: Arc::clone(&self.counts), network })
    }
}

impl Counts {
    fn refuse(&mut self, peer: IpAddr, max: usize, what: &str) {
        self.refused += 1;
        if self.warned_at.is_none_or(|at| at.elapsed() >= WARN_EVERY) {
            let refused = std::mem::take(&mut self.refused);
            tracing::warn!(%peer, refused, "refusing connections: there are {max} {what} already");
            self.warned_at = Some(Instant::now());
        }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut counts = lock(&self.counts);
        counts.total -= 1;
        if let Some(name) = self.network.take()
            && let Some(count) = counts.by_network.get_mut(&name)
        {
            *count -= 1;
            if *count == 0 {
                counts.by_network.remove(&name);
            }
        }
    }
}

fn lock(counts: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
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

    fn address(last: u8) -> IpAddr {
        [198, 51, 100, last].into()
    }

    #[test]
    fn each_address_and_all_together_are_limited() {
        let open = connections(100, 2);
        let first = open.admit(address(1)).expect("the first");
        let _second = open.admit(address(1)).expect("the second");
        assert!(open.admit(address(1)).is_none(), "two of one address");
        let _other = open.admit(address(2)).expect("another address");
        drop(first);
        open.admit(address(1)).expect("there is room again");
        let open = connections(5, 2);
        let _five: Vec<_> = (0..5).map(|last| open.admit(address(last)).expect("a new address")).collect();
        assert!(open.admit(address(5)).is_none(), "five in all");
    }

    #[test]
    fn addresses_with_many_connections_leave_room_for_others() {
        let open = connections(4_096, 512);
        let alone: Vec<_> = std::iter::from_fn(|| open.admit(address(0))).collect();
        assert_eq!(alone.len(), 512);
        drop(alone);
        let flood: Vec<_> =
            (0..20_000_u16).filter_map(|number| open.admit(address((number % 100) as u8))).collect();
        assert!(flood.len() < 4_000, "{}", flood.len());
        let _browsers: Vec<_> = (100..110)
            .flat_map(|last| (0..6).map(move |_| last))
            .map(|last| open.admit(address(last)).expect("six connections of a browser"))
            .collect();
    }

    #[test]
    fn a_customer_of_ipv6_is_one_address_and_a_proxy_is_many() {
        let open = connections(9, 1);
        let _one = open.admit("2001:db8::1".parse().unwrap()).expect("the first");
        assert!(open.admit("2001:db8::2".parse().unwrap()).is_none(), "the same /64");
        let proxied: Vec<_> = (0..8).map(|_| open.admit([192, 0, 2, 1].into())).collect();
        assert!(proxied.iter().all(Option::is_some), "the proxy is limited by the total only");
        assert!(open.admit([192, 0, 2, 1].into()).is_none());
        drop(proxied);
        assert_eq!(lock(&open.counts).total, 1);
        assert_eq!(lock(&open.counts).by_network.len(), 1);
    }
}
