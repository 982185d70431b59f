//! Where a request comes from, for throttling, rates and the audit log.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;

/// The client's address: the peer's, or what the proxies named in the settings say it is.
pub(crate) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted_proxies: &[IpAddr]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted_proxies.contains(&address.to_canonical());
    if !is_trusted(&peer) {
        return peer;
    }
    let chain = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let hops: Vec<&str> = chain.flat_map(|value| value.split(',')).map(str::trim).collect();
    let mut client = peer;
    // From the nearest hop outwards; what lies beyond the first untrusted one is hearsay.
    for hop in hops.iter().rev() {
        let Some(address) = address_of(hop) else { break };
        client = address.to_canonical();
        if !is_trusted(&client) {
            break;
        }
    }
    client
}

/// The address of a hop, without the port that some proxies add.
fn address_of(hop: &str) -> Option<IpAddr> {
    let bare = hop.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(hop);
    bare.parse().ok().or_else(|| Some(hop.parse::<SocketAddr>().ok()?.ip()))
}

/// The address, or for IPv6 the /64 that one customer owns.
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
        let trusted: Vec<IpAddr> = trusted.iter().map(|one| one.parse().unwrap()).collect();
        let client = client_address(peer.parse().unwrap(), &headers, &trusted);
        assert_eq!(client, expected.parse::<IpAddr>().unwrap());
    }

    #[test]
    fn only_trusted_proxies_name_the_client() {
        check("192.0.2.1", &["10.9.9.9"], &[], "192.0.2.1");
        check("10.0.0.1", &["198.51.100.7"], &["10.0.0.1"], "198.51.100.7");
        check("10.0.0.1", &["1.1.1.1, 198.51.100.7", "10.0.0.2"], &["10.0.0.1", "10.0.0.2"], "198.51.100.7");
        check("10.0.0.1", &["nonsense"], &["10.0.0.1"], "10.0.0.1");
        // As Azure's gateway sends them.
        check("10.0.0.1", &["198.51.100.7:4711"], &["10.0.0.1"], "198.51.100.7");
        check("10.0.0.1", &["1.1.1.1, [2001:db8::7]:4711"], &["10.0.0.1"], "2001:db8::7");
        check("10.0.0.1", &["[2001:db8::7]"], &["10.0.0.1"], "2001:db8::7");
        check("10.0.0.1", &[], &["10.0.0.1"], "10.0.0.1");
    }

    #[test]
    fn neighbours_in_one_ipv6_network_share_a_count() {
        let of = |text: &str| network_of(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), "192.0.2.1");
    }
}
