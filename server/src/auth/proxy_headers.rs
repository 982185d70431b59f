//! Headers that proxies, load balancers and content delivery networks add to forwarded requests.
//!
//! Names are compared without `-` and `_`, because some proxies use underscores. Only the presence
//! of a header matters, not its value.

use axum::http::HeaderMap;

/// Parts of names. The sources are RFC 7239 (`Forwarded`), the unregistered headers
/// `X-Forwarded-*`, `Client-IP`, `X-Real-IP`, `X-ProxyUser-IP` and `WL-Proxy-Client-IP`, and the
/// headers listed by IIS, WebLogic, Rackspace and OWASP ZAP. `forward` also covers the common
/// misspellings `X-Forward-For` and `X-Forwarder-For`.
const NAME_PARTS: &[&str] = &[
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

/// Prefixes of names. The sources are the documentation of Akamai, AWS (ELB, CloudFront), Azure
/// (Front Door, Application Gateway), Cloudflare, Envoy, Fastly, Fly.io, Google (App Engine, load
/// balancers), ingress-nginx, Tailscale, Varnish and Vercel, and of the authentication proxies
/// Authelia (`Remote-User`), authentik, oauth2-proxy (`X-Auth-Request-*`) and Pomerium.
const NAME_PREFIXES: &[&str] = &[
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

/// Complete names. RFC 8470 defines `Early-Data`.
const WHOLE_NAMES: &[&str] = &["earlydata", "frontendhttps", "via", "xvia"];

/// Returns the name of the first header that only proxies add, or `None` if there is none.
pub(super) fn proxy_header(headers: &HeaderMap) -> Option<&str> {
    headers.keys().map(|name| name.as_str()).find(|name| is_proxy_header(name))
}

/// Whether only proxies add this header. `name` is in lower case, as in `HeaderName`.
fn is_proxy_header(name: &str) -> bool {
    let letters: String = name.chars().filter(|character| !matches!(character, '-' | '_')).collect();
    WHOLE_NAMES.contains(&letters.as_str())
        || NAME_PREFIXES.iter().any(|prefix| letters.starts_with(prefix))
        || NAME_PARTS.iter().any(|part| letters.contains(part))
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
