//! Headers that proxies, load balancers and content delivery networks add to forwarded requests.
//!
//! Names are compared without `-` and `_`, because some proxies write underscores. Only the
//! presence of a header counts, not its value.

use axum::http::HeaderMap;

/// Parts of names. Sources: RFC 7239 (`Forwarded`) and its unregistered relatives `X-Forwarded-*`,
/// `Client-IP`, `X-Real-IP`, `X-ProxyUser-IP`, `WL-Proxy-Client-IP`; the headers listed by IIS,
/// WebLogic, Rackspace and OWASP ZAP. `forward` also covers the common misspellings
/// `X-Forward-For` and `X-Forwarder-For`.
const PARTS: &[&str] = &[
    "forward",
    "proxy",
    "clientip",
    "clientaddr",
    "connectingip",
    "originatingip",
    "realip",
    "remoteip",
    "remoteaddr",
    "userip",
];

/// Prefixes of names. Sources are the documentation of Akamai, AWS (ELB, CloudFront), Azure (Front
/// Door, Application Gateway), Cloudflare, Envoy, Fastly and Fly.io. Also that of Google (App
/// Engine, load balancers), ingress-nginx, Tailscale, Varnish and Vercel, and of authentication
/// proxies: Authelia (`Remote-User`), authentik, oauth2-proxy (`X-Auth-Request-*`) and Pomerium.
const PREFIXES: &[&str] = &[
    "akamai",
    "cdn",
    "cf",
    "fastly",
    "fly",
    "remoteuser",
    "tailscale",
    "xakamai",
    "xamz",
    "xappengine",
    "xarr",
    "xauthentik",
    "xauthrequest",
    "xazure",
    "xcloudtrace",
    "xenvoy",
    "xgfe",
    "xgoog",
    "xhost",
    "xoriginal",
    "xpomerium",
    "xport",
    "xrewrite",
    "xscheme",
    "xssl",
    "xurlscheme",
    "xvarnish",
    "xvercel",
];

/// Whole names.
const NAMES: &[&str] = &["frontendhttps", "via", "xvia"];

/// The name of the first header that only proxies add; `None` if there is none.
pub(super) fn proxy_header(headers: &HeaderMap) -> Option<&str> {
    headers.keys().map(|name| name.as_str()).find(|name| is_proxy_header(name))
}

/// `name` is in lower case, as `HeaderName` keeps it.
fn is_proxy_header(name: &str) -> bool {
    let letters: String = name.chars().filter(|letter| !matches!(letter, '-' | '_')).collect();
    NAMES.contains(&letters.as_str())
        || PREFIXES.iter().any(|prefix| letters.starts_with(prefix))
        || PARTS.iter().any(|part| letters.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_browsers_and_scripts_are_not_proxy_headers() {
        for name in [
            "accept",
            "accept-encoding",
            "accept-language",
            "access-control-request-headers",
            "access-control-request-private-network",
            "authorization",
            "cache-control",
            "connection",
            "content-length",
            "content-type",
            "cookie",
            "dnt",
            "expect",
            "host",
            "if-match",
            "if-none-match",
            "origin",
            "pragma",
            "priority",
            "range",
            "referer",
            "save-data",
            "sec-ch-ua-platform",
            "sec-fetch-site",
            "sec-gpc",
            "sec-websocket-protocol",
            "te",
            "traceparent",
            "tus-resumable",
            "upgrade",
            "upload-offset",
            "user-agent",
            "x-request-id",
            "x-requested-with",
        ] {
            assert!(!is_proxy_header(name), "{name}");
        }
    }
}
