//! Finds the address of the client that sent a request, for throttling, rate limits and the audit
//! log.

use std::net::{IpAddr, SocketAddr};

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;

use crate::error::ApiError;
use crate::peer::connection_of;
use crate::state::AppState;

/// The client of a request: the peer of the connection, or the client that a trusted proxy names.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    /// Address of the client.
    pub address: IpAddr,
    /// Identifies the client's connection to the service, or to the proxy if the proxy reports the
    /// client's port. If it does not, all clients of a network share the proxy's connection.
    pub connection: String,
}

impl Client {
    /// Returns the client of a request on a connection with `peer`.
    pub(crate) fn from_peer(peer: SocketAddr, headers: &HeaderMap, trusted_proxies: &[IpAddr]) -> Self {
        let (address, port) = address_and_port(peer, headers, trusted_proxies);
        let connection = match port {
            Some(port) => SocketAddr::new(address, port).to_string(),
            None => format!("{} by {peer}", network_of(address)),
        };
        Self { address, connection }
    }
}

impl FromRequestParts<AppState> for Client {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let peer = connection_of(&parts.extensions)
            .ok_or_else(|| ApiError::internal(anyhow::anyhow!("no peer address")))?;
        Ok(Self::from_peer(peer, &parts.headers, &state.config.network.trusted_proxies))
    }
}

/// Returns the client's address for a request on a connection with `peer`.
pub(crate) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted_proxies: &[IpAddr]) -> IpAddr {
    address_and_port(SocketAddr::new(peer, 0), headers, trusted_proxies).0
}

fn address_and_port(
    peer: SocketAddr,
    headers: &HeaderMap,
    trusted_proxies: &[IpAddr],
) -> (IpAddr, Option<u16>) {
    let is_trusted = |address: &IpAddr| trusted_proxies.contains(address);
    let mut client = (peer.ip().to_canonical(), Some(peer.port()));
    if !is_trusted(&client.0) {
        return client;
    }
    let chain = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let hops: Vec<&str> = chain.flat_map(|value| value.split(',')).map(str::trim).collect();
    // The entries are read from the nearest hop outwards. Entries of hops beyond the first
    // untrusted one may be forged.
    for hop in hops.iter().rev() {
        let Some((address, port)) = parse(hop) else { break };
        client = (address.to_canonical(), port);
        if !is_trusted(&client.0) {
            break;
        }
    }
    client
}

/// Parses the address of a hop, and the port that some proxies add.
fn parse(hop: &str) -> Option<(IpAddr, Option<u16>)> {
    let unbracketed_hop =
        hop.strip_prefix('[').and_then(|inner_name| inner_name.strip_suffix(']')).unwrap_or(hop);
    if let Ok(address) = unbracketed_hop.parse() {
        return Some((address, None));
    }
    let socket: SocketAddr = hop.parse().ok()?;
    Some((socket.ip(), Some(socket.port())))
}

/// Returns an IPv4 address, or the /64 network of an IPv6 address, because a /64 belongs to one
/// customer.
pub(crate) fn network_of(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(peer: &str, forwarded: &[&str], trusted: &[&str], expected: &str) {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        let trusted: Vec<IpAddr> = trusted.iter().map(|address| address.parse().unwrap()).collect();
        let client = client_address(peer.parse().unwrap(), &headers, &trusted);
        assert_eq!(client, expected.parse::<IpAddr>().unwrap());
    }

    #[test]
    fn only_trusted_proxies_name_the_client() {
        check("192.0.2.1", &["10.9.9.9"], &[], "192.0.2.1");
        check("10.0.0.1", &["198.51.100.7"], &["10.0.0.1"], "198.51.100.7");
        check("10.0.0.1", &["1.1.1.1, 198.51.100.7", "10.0.0.2"], &["10.0.0.1", "10.0.0.2"], "198.51.100.7");
        check("10.0.0.1", &["nonsense"], &["10.0.0.1"], "10.0.0.1");
        // The gateway of Azure adds ports.
        check("10.0.0.1", &["198.51.100.7:4711"], &["10.0.0.1"], "198.51.100.7");
        check("10.0.0.1", &["1.1.1.1, [2001:db8::7]:4711"], &["10.0.0.1"], "2001:db8::7");
        check("10.0.0.1", &["[2001:db8::7]"], &["10.0.0.1"], "2001:db8::7");
        check("10.0.0.1", &[], &["10.0.0.1"], "10.0.0.1");
    }

    #[test]
    fn connections_differ_by_the_port_that_the_proxy_reports() {
        let connection = |peer: &str, forwarded: &str| {
            let mut headers = HeaderMap::new();
            headers.append("x-forwarded-for", forwarded.parse().unwrap());
            let proxies = ["10.0.0.1".parse().unwrap()];
            Client::from_peer(peer.parse().unwrap(), &headers, &proxies).connection
        };
        let (a, b) = ("10.0.0.1:50001", "10.0.0.1:50002");
        assert_eq!(connection(a, "198.51.100.7:4711"), connection(b, "198.51.100.7:4711"));
        assert_eq!(connection(a, "[2001:db8::7]:4711"), connection(b, "[2001:db8::7]:4711"));
        assert_ne!(connection(a, "198.51.100.7:4711"), connection(a, "198.51.100.7:4712"));
        assert_ne!(connection(a, "198.51.100.7"), connection(b, "198.51.100.7"));
        assert_ne!(connection(a, "198.51.100.7"), connection(a, "198.51.100.8"));
        // Without a proxy, the header is ignored.
        assert_eq!(connection("192.0.2.1:9", "1.1.1.1:1"), connection("192.0.2.1:9", "1.1.1.1:2"));
        assert_ne!(connection("192.0.2.1:9", "1.1.1.1:1"), connection("192.0.2.1:8", "1.1.1.1:1"));
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_treated_as_one() {
        let network = |text: &str| network_of(text.parse().unwrap());
        assert_eq!(network("2001:db8:1:2:3::4"), network("2001:db8:1:2:ffff::1"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_eq!(network("::ffff:192.0.2.1"), "192.0.2.1");
    }
}
