//! Tests of tokens: validity, renewal and log-out.

use axum::http::Method;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::{STRONG, add_user, log_in, me, token};
use crate::clock;
use crate::test_app::TestApp;

/// Returns a token with this header and these claims, signed by `sign`.
fn forged(header: &Value, claims: &Value, sign: impl FnOnce(&str) -> String) -> String {
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(header), part(claims));
    let signature = sign(&message);
    format!("{message}.{signature}")
}

fn hs256(key: &[u8], message: &str) -> String {
    use hmac::Mac as _;
    let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(key).expect("HMAC accepts keys of any length");
    mac.update(message.as_bytes());
    BASE64_URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

#[tokio::test]
async fn only_genuine_current_tokens_are_accepted() {
    const KEY: &str = "0123456789abcdef0123456789abcdef";
    let app = TestApp::with(&[("SF_JWT_SECRET", KEY)]).await;
    let id = add_user(&app.state, "ada", STRONG).await;
    let now = clock::now_unix_secs();
    let header = json!({ "alg": "HS256", "typ": "JWT" });
    let claims = |exp: i64, ver: i64| json!({ "sub": id, "role": "user", "ver": ver, "iat": now, "exp": exp, "jti": "x" });
    let signed = |message: &str| hs256(KEY.as_bytes(), message);

    me(&app, &forged(&header, &claims(now + 60, 1), signed)).await.expect(200);

    let expired_token = forged(&header, &claims(now - 1, 1), signed);
    me(&app, &expired_token).await.problem(401, "token_expired");
    let old = forged(&header, &claims(now + 60, 0), signed);
    me(&app, &old).await.problem(401, "token_ended");
    let without_end = json!({ "sub": id, "role": "user", "ver": 1, "iat": now, "jti": "x" });
    let cases = [
        forged(&header, &without_end, signed),
        forged(&header, &claims(now + 60, 1), |message| hs256(b"another key of the same length!!", message)),
        forged(&header, &claims(now + 60, 1), |_| String::new()),
        forged(&json!({ "alg": "none" }), &claims(now + 60, 1), |_| String::new()),
        forged(&json!({ "alg": "None" }), &claims(now + 60, 1), signed),
        forged(&json!({ "alg": "HS512" }), &claims(now + 60, 1), signed),
        forged(&json!({ "alg": "RS256" }), &claims(now + 60, 1), signed),
        forged(&json!({ "typ": "JWT" }), &claims(now + 60, 1), signed),
        "nonsense".to_owned(),
        "a.b.c".to_owned(),
    ];
    for case in &cases {
        me(&app, case).await.problem(401, "token_invalid");
        // An invalid token is refused even from local callers, who need none.
        let local = app.local(Method::GET, "/api/v1/auth/me").token(case).send().await;
        local.problem(401, "token_invalid");
    }
    for value in ["Basic YTpi", "Bearer", "Bearer ", ""] {
        let call = app.remote(Method::GET, "/api/v1/auth/me").header("authorization", value);
        call.send().await.problem(401, "token_invalid");
    }
    let nobody =
        json!({ "sub": "nobody", "role": "admin", "ver": 1, "iat": now, "exp": now + 60, "jti": "x" });
    me(&app, &forged(&header, &nobody, signed)).await.problem(401, "token_ended");
}

#[tokio::test]
async fn the_role_is_read_from_the_database() {
    const KEY: &str = "0123456789abcdef0123456789abcdef";
    let app = TestApp::with(&[("SF_JWT_SECRET", KEY)]).await;
    let id = add_user(&app.state, "ada", STRONG).await;
    let now = clock::now_unix_secs();
    let claims = json!({ "sub": id, "role": "admin", "ver": 1, "iat": now, "exp": now + 60, "jti": "x" });
    let header = json!({ "alg": "HS256" });
    let token = forged(&header, &claims, |message| hs256(KEY.as_bytes(), message));
    assert_eq!(me(&app, &token).await.expect(200)["role"], "user");
}

#[tokio::test]
async fn tokens_are_renewed_and_ended() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let first = token(&log_in(&app, "ada", STRONG).await);
    let second = token(&app.remote(Method::POST, "/api/v1/auth/refresh").token(&first).send().await);
    assert_ne!(first, second);
    me(&app, &first).await.expect(200);
    app.remote(Method::POST, "/api/v1/auth/logout").token(&second).send().await.expect(204);
    for ended_token in [&first, &second] {
        me(&app, ended_token).await.problem(401, "token_ended");
    }
    app.remote(Method::POST, "/api/v1/auth/refresh").send().await.problem(401, "token_missing");
}

#[tokio::test]
async fn a_log_out_ends_only_its_log_in() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let first = token(&log_in(&app, "ada", STRONG).await);
    let renewed = token(&app.remote(Method::POST, "/api/v1/auth/refresh").token(&first).send().await);
    let second = token(&log_in(&app, "ada", STRONG).await);
    let log_out = |token: &str, query: &str| {
        app.remote(Method::POST, &format!("/api/v1/auth/logout?{query}")).token(token).send()
    };
    log_out(&first, "everywhere=perhaps").await.problem(400, "bad_query");
    log_out(&renewed, "everywhere=false").await.expect(204);
    // `first` is the token that `renewed` was renewed from, so both belong to the same log-in.
    for ended_token in [&first, &renewed] {
        me(&app, ended_token).await.problem(401, "token_ended");
    }
    log_out(&first, "everywhere=false").await.problem(401, "token_ended");
    me(&app, &second).await.expect(200);
    app.remote(Method::POST, "/api/v1/auth/logout").send().await.problem(401, "token_missing");
    // A local caller has no token to end, and still acts as the administrator.
    app.local(Method::POST, "/api/v1/auth/logout?everywhere=false").send().await.expect(204);
    app.local(Method::GET, "/api/v1/auth/me").send().await.expect(200);
}

#[tokio::test]
async fn a_log_out_can_end_all_log_ins() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let mut sessions = Vec::new();
    for _ in 0..3 {
        sessions.push(token(&log_in(&app, "ada", STRONG).await));
    }
    let log_out = |token: &str, query: &str| {
        app.remote(Method::POST, &format!("/api/v1/auth/logout{query}")).token(token).send()
    };
    log_out(&sessions[0], "").await.expect(204);
    me(&app, &sessions[0]).await.problem(401, "token_ended");
    me(&app, &sessions[1]).await.expect(200);
    log_out(&sessions[1], "?everywhere=true").await.expect(204);
    for ended_token in &sessions {
        me(&app, ended_token).await.problem(401, "token_ended");
    }
}
