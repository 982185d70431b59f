//! Decides which callers are local. They act as the administrator without logging in.
//!
//! It would be unsafe to trust every connection from this machine. A web page in a browser on this
//! machine could take control of the service, through DNS rebinding or cross-site requests. So
//! could anybody behind a proxy on this machine. So all of these conditions must be met, and each
//! is checked independently:
//!
//! 1. `SF_TRUST_LOCAL` is on, which is the default in `standalone` without `SF_TRUSTED_PROXIES`;
//! 2. the address of the peer is a loopback address, or in `standalone` any address of this
//!    machine;
//! 3. `SF_TRUSTED_PROXIES` contains no address of this machine, because a proxy on this machine may
//!    connect from any of its addresses;
//! 4. the request is not HTTP/1.0, which proxies use and browsers do not;
//! 5. no header that proxies add is present, with any value ([`super::proxy_headers`]), and no
//!    `Connection: upgrade`, except in the handshake of a WebSocket;
//! 6. there is exactly one `Host`, and it is `localhost`, a loopback address or (in `standalone`)
//!    another address of this machine;
//! 7. `Origin`, if it is sent, equals the origin of this service exactly;
//! 8. `Sec-Fetch-Site`, if it is sent, is `same-origin` or `none`.
//!
//! A proxy on this machine can still meet all of these conditions: if it uses HTTP/1.1, adds no
//! header, and rewrites `Host` or forwards a forged one. So behind a proxy on the same machine, set
//! `SF_TRUST_LOCAL=off`, or put the proxy's address into `SF_TRUSTED_PROXIES`.

use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use axum::http::request::Parts;
use axum::http::{HeaderMap, Version, header};

use super::proxy_headers::proxy_header;
use crate::config::{Config, Environment};
use crate::listen::Https;

/// Time for which the list of this machine's addresses is cached.
const ADDRESS_CACHE_TIME: Duration = Duration::from_secs(10);

/// Reason why a caller is not local.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotLocal {
    /// `SF_TRUST_LOCAL` is off.
    #[error("local trust is switched off (SF_TRUST_LOCAL)")]
    SwitchedOff,
    /// The connection comes from another machine.
    #[error("the connection comes from another machine")]
    ForeignPeer,
    /// A trusted proxy runs on this machine, so any local connection may be a forwarded request.
    #[error("a proxy on this machine forwards requests of others (SF_TRUSTED_PROXIES)")]
    LocalProxy,
    /// The request uses a version of HTTP that browsers no longer send.
    #[error("the request uses HTTP/1.0, as some proxies do")]
    OldVersion,
    /// A proxy forwarded the request.
    #[error("the request carries the forwarding header `{0}`")]
    Forwarded(String),
    /// `Connection: upgrade`, which common WebSocket configurations of nginx and Apache send with
    /// every request.
    #[error("the request asks to upgrade the connection, as some proxies do (Connection: upgrade)")]
    Upgrade,
    /// `Host` is missing, repeated, does not name this machine, or differs from the request line.
    #[error("the Host header must occur exactly once and name `localhost` or an address of this machine")]
    ForeignHost,
    /// `Origin` is repeated, or is not the site of the `Host` header.
    #[error("the Origin header is repeated, or its scheme, host and port are not those of the request")]
    ForeignOrigin,
    /// The browser reports that another site caused the request.
    #[error("the browser says that another site caused the request (Sec-Fetch-Site)")]
    CrossSite,
}

/// Decides from the settings and the request which callers are local.
#[derive(Debug)]
pub struct LocalRule {
    is_trusted: bool,
    environment: Environment,
    trusted_proxies: Vec<IpAddr>,
    interface_cache: Mutex<Option<(Instant, Vec<IpAddr>)>>,
}

impl LocalRule {
    /// Creates the rule from the settings.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            is_trusted: config.accounts.trusts_local,
            environment: config.environment,
            trusted_proxies: config.network.trusted_proxies.clone(),
            interface_cache: Mutex::new(None),
        }
    }

    /// Describes which callers are trusted without a log-in. The operator sees the text when the
    /// service starts.
    #[must_use]
    pub fn describe(&self) -> String {
        if !self.is_trusted {
            return "Everybody must log in, even from this machine (SF_TRUST_LOCAL=off).".to_owned();
        }
        if let Some(proxy) = self.local_proxy() {
            return format!(
                "Everybody must log in, even from this machine: a proxy is configured at {proxy} (SF_TRUSTED_PROXIES)."
            );
        }
        let trust_origin = match self.environment {
            Environment::Standalone => "this machine's own addresses",
            Environment::Container => "loopback addresses",
        };
        format!(
            "Requests from {trust_origin} act as the administrator without a log-in (SF_TRUST_LOCAL=on). \
             This can include requests that a proxy on this machine forwards over HTTP/1.1 without a \
             forwarding header. Behind a proxy, set SF_TRUST_LOCAL=off."
        )
    }

    /// Whether the settings allow requests from this machine without a log-in.
    #[must_use]
    pub fn trusts_this_machine(&self) -> bool {
        self.is_trusted && self.local_proxy().is_none()
    }

    /// Returns an address of this machine from which a trusted proxy connects, if there is one.
    fn local_proxy(&self) -> Option<IpAddr> {
        self.trusted_proxies.iter().copied().find(|proxy| self.is_of_this_machine(*proxy))
    }

    /// Whether a request from `peer` is local.
    ///
    /// # Errors
    /// The first condition that does not hold.
    pub fn check(&self, peer: IpAddr, request: &Parts) -> Result<(), NotLocal> {
        if !self.is_trusted {
            return Err(NotLocal::SwitchedOff);
        }
        if !self.is_trusted_address(peer) {
            return Err(NotLocal::ForeignPeer);
        }
        if self.local_proxy().is_some() {
            return Err(NotLocal::LocalProxy);
        }
        if request.version < Version::HTTP_11 {
            return Err(NotLocal::OldVersion);
        }
        let headers = &request.headers;
        if let Some(name) = proxy_header(headers) {
            return Err(NotLocal::Forwarded(name.to_owned()));
        }
        if asks_for_upgrade(headers) {
            return Err(NotLocal::Upgrade);
        }
        let host = single_value(headers, header::HOST.as_str()).ok_or(NotLocal::ForeignHost)?;
        let host_is_local = host_name(host).is_some_and(|name| self.names_this_machine(name));
        // An absolute request line could name a different host than the header.
        let uri_agrees = request.uri.authority().is_none_or(|uri| uri.as_str().eq_ignore_ascii_case(host));
        if !host_is_local || !uri_agrees {
            return Err(NotLocal::ForeignHost);
        }
        let scheme = if request.extensions.get::<Https>().is_some() { "https" } else { "http" };
        if headers.contains_key(header::ORIGIN)
            && single_value(headers, header::ORIGIN.as_str()) != Some(format!("{scheme}://{host}").as_str())
        {
            return Err(NotLocal::ForeignOrigin);
        }
        if headers.contains_key("sec-fetch-site")
            && !matches!(single_value(headers, "sec-fetch-site"), Some("same-origin" | "none"))
        {
            return Err(NotLocal::CrossSite);
        }
        Ok(())
    }

    fn names_this_machine(&self, name: &str) -> bool {
        if name.eq_ignore_ascii_case("localhost") {
            return true;
        }
        let unbracketed_name =
            name.strip_prefix('[').and_then(|inner_name| inner_name.strip_suffix(']')).unwrap_or(name);
        unbracketed_name.parse::<IpAddr>().is_ok_and(|address| self.is_trusted_address(address))
    }

    /// Whether this deployment may trust `address`. In `container`, only loopback addresses are
    /// trusted.
    fn is_trusted_address(&self, address: IpAddr) -> bool {
        match self.environment {
            Environment::Standalone => self.is_of_this_machine(address),
            Environment::Container => address.to_canonical().is_loopback(),
        }
    }

    fn is_of_this_machine(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_loopback() || (!address.is_unspecified() && self.interface_addresses().contains(&address))
    }

    /// Returns the addresses of this machine. They can change, so they are cached for only
    /// [`ADDRESS_CACHE_TIME`].
    fn interface_addresses(&self) -> Vec<IpAddr> {
        let Ok(mut cache) = self.interface_cache.lock() else { return Vec::new() };
        if let Some((listed_at, addresses)) = cache.as_ref()
            && listed_at.elapsed() < ADDRESS_CACHE_TIME
        {
            return addresses.clone();
        }
        let addresses: Vec<IpAddr> = match if_addrs::get_if_addrs() {
            Ok(interfaces) => interfaces.iter().map(|interface| interface.ip().to_canonical()).collect(),
            Err(error) => {
                tracing::warn!(%error, "cannot list this machine's addresses");
                Vec::new()
            }
        };
        *cache = Some((Instant::now(), addresses.clone()));
        addresses
    }
}

/// Whether `Connection` contains `upgrade`. Only proxies send it, except in the handshake of a
/// WebSocket, from which [`super::of_handshake`] removes it.
fn asks_for_upgrade(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::CONNECTION).iter();
    values
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .any(|option| option.trim_ascii().eq_ignore_ascii_case(b"upgrade"))
}

/// Returns the value of a header that occurs exactly once, as text.
fn single_value<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Returns the name in `name`, `name:port`, `[v6]` or `[v6]:port`, or `None` if the text has
/// another form.
fn host_name(host: &str) -> Option<&str> {
    let (name, port) = if host.starts_with('[') {
        let end = host.find(']')?;
        (&host[..=end], &host[end + 1..])
    } else {
        let end = host.find(':').unwrap_or(host.len());
        (&host[..end], &host[end..])
    };
    let port_fits = match port.strip_prefix(':') {
        None => port.is_empty(),
        Some(digits) => digits.parse::<u16>().is_ok() && digits.bytes().all(|byte| byte.is_ascii_digit()),
    };
    (!name.is_empty() && port_fits).then_some(name)
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn rule(trust: bool, environment: Environment) -> LocalRule {
        LocalRule {
            is_trusted: trust,
            environment,
            trusted_proxies: Vec::new(),
            interface_cache: Mutex::new(None),
        }
    }

    fn check(environment: Environment, peer: &str, headers: &[(&str, &str)]) -> Result<(), NotLocal> {
        let mut request = Request::builder().uri("/api/v1/projects");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        rule(true, environment).check(peer.parse().expect("an address"), &parts)
    }

    #[track_caller]
    fn assert_local(peer: &str, headers: &[(&str, &str)]) {
        assert_eq!(check(Environment::Container, peer, headers), Ok(()), "{peer} {headers:?}");
    }

    #[track_caller]
    fn assert_not_local(peer: &str, headers: &[(&str, &str)], why: &NotLocal) {
        for environment in [Environment::Container, Environment::Standalone] {
            assert_eq!(check(environment, peer, headers).as_ref(), Err(why), "{peer} {headers:?}");
        }
    }

    const HOST: (&str, &str) = ("host", "127.0.0.1:8600");

    #[test]
    fn a_caller_at_any_loopback_address_is_local() {
        assert_local("127.0.0.1", &[HOST]);
        assert_local("127.8.9.1", &[("host", "localhost")]);
        assert_local("::1", &[("host", "[::1]:8600")]);
        assert_local("::ffff:127.0.0.1", &[("host", "LOCALHOST:1")]);
        assert_local(
            "127.0.0.1",
            &[HOST, ("origin", "http://127.0.0.1:8600"), ("sec-fetch-site", "same-origin")],
        );
        assert_local("127.0.0.1", &[HOST, ("sec-fetch-site", "none")]);
    }

    #[test]
    fn another_machine_is_not_local() {
        assert_not_local("192.0.2.7", &[HOST], &NotLocal::ForeignPeer);
        assert_not_local("2001:db8::1", &[HOST], &NotLocal::ForeignPeer);
        assert_not_local("0.0.0.0", &[HOST], &NotLocal::ForeignPeer);
    }

    #[test]
    fn interface_addresses_are_local_only_in_standalone() {
        let addresses =
            if_addrs::get_if_addrs().expect("interfaces").into_iter().map(|interface| interface.ip());
        for address in addresses.filter(|address| !address.is_loopback() && address.is_ipv4()) {
            let host = format!("{address}:8600");
            let headers = [("host", host.as_str())];
            assert_eq!(check(Environment::Standalone, &address.to_string(), &headers), Ok(()));
            assert_eq!(
                check(Environment::Container, &address.to_string(), &headers),
                Err(NotLocal::ForeignPeer)
            );
        }
    }

    #[test]
    fn a_request_with_a_proxy_header_is_not_local() {
        for name in
            ["forwarded", "x-forwarded-for", "x-forwarded-anything", "x-real-ip", "via", "cf-connecting-ip"]
        {
            for value in ["", "127.0.0.1"] {
                assert_not_local("127.0.0.1", &[HOST, (name, value)], &NotLocal::Forwarded(name.to_owned()));
            }
        }
    }

    #[test]
    fn a_foreign_host_is_refused() {
        for host in [
            "evil.example",
            "evil.example:8600",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "localhost:8600@evil.example",
            "127.0.0.1:8600:1",
            "127.0.0.1:",
            "127.0.0.1:+1",
            "0.0.0.0:8600",
            "[::]",
            "[::1",
            "",
        ] {
            assert_not_local("127.0.0.1", &[("host", host)], &NotLocal::ForeignHost);
        }
        assert_not_local("127.0.0.1", &[], &NotLocal::ForeignHost);
        assert_not_local("127.0.0.1", &[HOST, HOST], &NotLocal::ForeignHost);
    }

    #[test]
    fn an_absolute_request_line_must_agree_with_the_host() {
        let request = Request::builder().uri("http://evil.example/api").header("host", "127.0.0.1:8600");
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        let rule = rule(true, Environment::Standalone);
        assert_eq!(rule.check("127.0.0.1".parse().unwrap(), &parts), Err(NotLocal::ForeignHost));
    }

    #[test]
    fn a_foreign_origin_is_refused() {
        for origin in [
            "null",
            "",
            "http://evil.example",
            "https://127.0.0.1:8600",
            "http://127.0.0.1:8601",
            "http://127.0.0.1",
            "http://localhost:8600",
            "http://127.0.0.1:8600.evil.example",
            "http://127.0.0.1:8600/",
        ] {
            assert_not_local("127.0.0.1", &[HOST, ("origin", origin)], &NotLocal::ForeignOrigin);
        }
        let same_origin = ("origin", "http://127.0.0.1:8600");
        assert_not_local("127.0.0.1", &[HOST, same_origin, same_origin], &NotLocal::ForeignOrigin);
    }

    #[test]
    fn a_cross_site_request_is_refused() {
        for site in ["cross-site", "same-site", "", "SAME-ORIGIN, none"] {
            assert_not_local("127.0.0.1", &[HOST, ("sec-fetch-site", site)], &NotLocal::CrossSite);
        }
    }

    #[test]
    fn local_trust_can_be_switched_off() {
        let (parts, ()) = Request::builder().header("host", "localhost").body(()).unwrap().into_parts();
        let rule = rule(false, Environment::Standalone);
        assert_eq!(rule.check("127.0.0.1".parse().unwrap(), &parts), Err(NotLocal::SwitchedOff));
    }
}
