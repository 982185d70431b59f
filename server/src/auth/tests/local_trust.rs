//! Tests of local trust behind proxies and in each kind of deployment.

use axum::http::{Method, Version};

use crate::test_app::TestApp;

const LOCAL: &str = "/api/v1/auth/local";
const ME: &str = "/api/v1/auth/me";

const CONTAINER: [(&str, &str); 2] =
    [("SF_ENVIRONMENT", "container"), ("SF_JWT_SECRET", "0123456789abcdef0123456789abcdef")];

/// Checks that a loopback caller without a token is refused, with `about` in the error.
async fn expect_refused(app: &TestApp, about: &str) -> String {
    app.local(Method::GET, ME).send().await.problem(401, "token_missing");
    let detail = app.local(Method::POST, LOCAL).send().await.problem(403, "not_local");
    assert!(detail.contains(about), "{detail}");
    detail
}

#[tokio::test]
async fn a_container_trusts_local_callers_only_by_a_setting() {
    let app = TestApp::container().await;
    expect_refused(&app, "SF_TRUST_LOCAL").await;
    let trusting = TestApp::with(&[CONTAINER[0], CONTAINER[1], ("SF_TRUST_LOCAL", "on")]).await;
    trusting.local(Method::GET, ME).send().await.expect(200);
}

#[tokio::test]
async fn a_trusted_proxy_is_never_local() {
    for proxies in ["127.0.0.1", "10.0.0.1, ::ffff:127.0.0.1", "::1", "127.0.0.9"] {
        let app = TestApp::with(&[("SF_TRUSTED_PROXIES", proxies), ("SF_TRUST_LOCAL", "on")]).await;
        expect_refused(&app, "SF_TRUSTED_PROXIES").await;
        // A proxy on this machine may connect from any of this machine's addresses.
        for peer in ["::ffff:127.0.0.1", "127.0.0.2", "::1"] {
            app.from(peer, Method::GET, ME).send().await.problem(401, "token_missing");
        }
    }
    let elsewhere = TestApp::with(&[("SF_TRUSTED_PROXIES", "192.0.2.7"), ("SF_TRUST_LOCAL", "on")]).await;
    elsewhere.local(Method::GET, ME).send().await.expect(200);
}

#[tokio::test]
async fn a_configured_proxy_disables_local_trust_by_default() {
    for proxies in ["127.0.0.1", "192.0.2.7"] {
        let app = TestApp::with(&[("SF_TRUSTED_PROXIES", proxies)]).await;
        expect_refused(&app, "SF_TRUST_LOCAL").await;
    }
}

#[tokio::test]
async fn http_1_0_is_never_local() {
    let app = TestApp::start().await;
    for version in [Version::HTTP_09, Version::HTTP_10] {
        let call = app.local(Method::POST, LOCAL).version(version);
        let detail = call.send().await.problem(403, "not_local");
        assert!(detail.contains("HTTP/1.0"), "{detail}");
        let call = app.local(Method::GET, ME).version(version);
        call.send().await.problem(401, "token_missing");
    }
    for version in [Version::HTTP_11, Version::HTTP_2] {
        app.local(Method::GET, ME).version(version).send().await.expect(200);
    }
}

/// Headers that proxies and content delivery networks add to forwarded requests.
const PROXY_HEADERS: [&str; 53] = [
    "Forwarded",
    "X-Forwarded",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "X-Forwarded-Server",
    "X_Forwarded_For",
    "x_forwarded_for",
    "Forwarded-For",
    "X-Real-IP",
    "X_REAL_IP",
    "Via",
    "Client-IP",
    "CLIENT_IP",
    "X-Client-IP",
    "X_Client_IP",
    "X-Cluster-Client-IP",
    "True-Client-IP",
    "True_Client_IP",
    "CF-Connecting-IP",
    "CF-Connecting-IPv6",
    "CF-IPCountry",
    "CF_Connecting_IP",
    "CF-Ray",
    "CF-Visitor",
    "CDN-Loop",
    "Fly-Client-IP",
    "Fly-Forwarded-Port",
    "Fastly-Client-IP",
    "Fastly-SSL",
    "X-Original-URL",
    "X-Original-Host",
    "X-Original-Forwarded-For",
    "X-ProxyUser-IP",
    "X-Envoy-External-Address",
    "X-Envoy-Peer-Metadata-Id",
    "X-Azure-ClientIP",
    "X-Azure-SocketIP",
    "X-Appengine-User-IP",
    "X-Amzn-Trace-Id",
    "X-Amz-Cf-Id",
    "X-Varnish",
    "Proxy-Client-IP",
    "WL-Proxy-Client-IP",
    "X-Forward-For",
    "X-Forwarder-For",
    "X-Url-Scheme",
    "Remote-User",
    "X-Auth-Request-Email",
    "X-Authentik-Username",
    "X-Pomerium-Jwt-Assertion",
    "X-SSL-Client-Cert",
    "Early-Data",
];

#[tokio::test]
async fn a_proxy_header_disables_local_trust() {
    let app = TestApp::start().await;
    for name in PROXY_HEADERS {
        for value in ["", "127.0.0.1"] {
            let call = app.local(Method::GET, ME).header(name, value);
            let answer = call.send().await;
            assert_eq!(answer.status, 401, "{name}: {value:?} is trusted as local");
        }
    }
    // Browsers and scripts send these headers without a proxy.
    for name in ["User-Agent", "Accept", "Referer", "DNT", "Upgrade-Insecure-Requests", "X-Requested-With"] {
        app.local(Method::GET, ME).header(name, "x").send().await.expect(200);
    }
}

#[tokio::test]
async fn an_upgrade_request_is_not_local() {
    let app = TestApp::start().await;
    for value in ["upgrade", "Upgrade", "keep-alive, Upgrade", "Upgrade, HTTP2-Settings"] {
        app.local(Method::GET, ME).header("connection", value).send().await.problem(401, "token_missing");
    }
    app.local(Method::GET, ME).header("connection", "keep-alive").send().await.expect(200);
}
