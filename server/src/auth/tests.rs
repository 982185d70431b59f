//! Accounts through the real router: every status that the routes document.

use axum::http::Method;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::store::{self, Role};
use crate::clock;
use crate::state::AppState;
use crate::test_app::{Answer, TestApp};

const STRONG: &str = "tuba-lattice-overbid-9";

/// Makes a user; for the tests of every slice.
pub(crate) async fn add_user(state: &AppState, username: &str, password: &str) -> String {
    let hash = state.passwords.hash(password.to_owned()).await.expect("hashes");
    store::insert(&state.db, username, Role::User, Some(&hash), false).await.expect("a new user")
}

async fn log_in(app: &TestApp, username: &str, password: &str) -> Answer {
    let body = json!({ "username": username, "password": password });
    app.remote(Method::POST, "/api/v1/auth/login").json(&body).send().await
}

fn token(answer: &Answer) -> String {
    answer.expect(200)["access_token"].as_str().expect("a token").to_owned()
}

async fn me(app: &TestApp, token: &str) -> Answer {
    app.remote(Method::GET, "/api/v1/auth/me").token(token).send().await
}

/// A token made by hand: any header, any claims, signed by `sign`.
fn forged(header: &Value, claims: &Value, sign: impl FnOnce(&str) -> String) -> String {
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(header), part(claims));
    let signature = sign(&message);
    format!("{message}.{signature}")
}

fn hs256(key: &[u8], message: &str) -> String {
    use hmac::Mac as _;
    let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(key).expect("any key will do");
    mac.update(message.as_bytes());
    BASE64_URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

#[tokio::test]
async fn a_local_caller_is_the_administrator_with_and_without_a_token() {
    let app = TestApp::start().await;
    let direct = app.local(Method::GET, "/api/v1/auth/me").send().await.expect(200);
    assert_eq!(direct["username"], "admin");
    assert_eq!(direct["role"], "admin");
    assert_eq!(direct["must_change_password"], false);
    let answer = app.local(Method::POST, "/api/v1/auth/local").send().await;
    let body = answer.expect(200);
    assert_eq!(body["token_type"], "bearer");
    assert_eq!(body["expires_in"], 43_200);
    assert_eq!(body["user"], direct);
    // The token is good from anywhere.
    assert_eq!(me(&app, &token(&answer)).await.expect(200), direct);
}

#[tokio::test]
async fn nobody_else_is_local() {
    let app = TestApp::start().await;
    let detail = app.remote(Method::POST, "/api/v1/auth/local").send().await.problem(403, "not_local");
    assert!(detail.contains("another machine"), "{detail}");
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("host", "evil.example"),
        ("x-forwarded-for", "127.0.0.1"),
        ("forwarded", "for=127.0.0.1"),
        ("x-real-ip", ""),
        ("via", "1.1 proxy"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let call = app.local(Method::POST, "/api/v1/auth/local").header(name, value);
        let detail = call.send().await.problem(403, "not_local");
        assert!(detail.contains("Only a program on this machine"), "{name}: {detail}");
        // The same request without a token is nobody's.
        let call = app.local(Method::GET, "/api/v1/projects").header(name, value);
        let answer = call.send().await;
        answer.problem(401, "token_missing");
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    }
    let own = app.local(Method::POST, "/api/v1/auth/local").header("origin", "http://127.0.0.1:8600");
    own.header("sec-fetch-site", "same-origin").send().await.expect(200);
}

#[tokio::test]
async fn local_trust_can_be_switched_off() {
    let app = TestApp::with(&[("SF_TRUST_LOCAL", "off")]).await;
    app.local(Method::POST, "/api/v1/auth/local").send().await.problem(403, "not_local");
    app.local(Method::GET, "/api/v1/auth/me").send().await.problem(401, "token_missing");
}

#[tokio::test]
async fn a_password_logs_in_as_json_and_as_a_form() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let answer = log_in(&app, " Ada ", STRONG).await;
    assert_eq!(answer.expect(200)["user"]["username"], "ada");
    assert_eq!(me(&app, &token(&answer)).await.expect(200)["role"], "user");
    let form = format!("grant_type=password&username=ada&password={STRONG}&scope=");
    let call = app.remote(Method::POST, "/api/v1/auth/login").raw("application/x-www-form-urlencoded", form);
    assert_eq!(call.send().await.expect(200)["user"]["username"], "ada");
    let call =
        app.remote(Method::POST, "/api/v1/auth/login").raw("application/x-www-form-urlencoded", "username=a");
    call.send().await.problem(400, "malformed_form");
    let call = app.remote(Method::POST, "/api/v1/auth/login").raw("text/plain", "ada");
    call.send().await.problem(415, "unsupported_media_type");
    let call = app.remote(Method::POST, "/api/v1/auth/login").raw("application/json", "{\"username\":");
    call.send().await.problem(400, "malformed_json");
    let call = app.remote(Method::POST, "/api/v1/auth/login").raw("application/json", "{\"username\": 5}");
    call.send().await.problem(400, "unexpected_json");
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_name_read_alike() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let wrong = log_in(&app, "ada", "not it").await;
    let unknown = log_in(&app, "bob", "not it").await;
    wrong.problem(401, "bad_credentials");
    assert_eq!(wrong.bytes, unknown.bytes);
    // The desktop's administrator has no password: nothing logs in, the empty one included.
    log_in(&app, "admin", "").await.problem(401, "bad_credentials");
    log_in(&app, "ada", &"x".repeat(5000)).await.problem(401, "bad_credentials");
}

#[tokio::test]
async fn repeated_failures_are_slowed_down_and_refused() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    for _ in 0..5 {
        log_in(&app, "ada", "wrong").await.problem(401, "bad_credentials");
    }
    // One more is counted, then waiting begins, for the right password too.
    let mut refused = log_in(&app, "ada", "wrong").await;
    if refused.status == 401 {
        refused = log_in(&app, "ada", STRONG).await;
    }
    refused.problem(429, "too_many_requests");
    assert!(refused.header("retry-after").parse::<u64>().expect("seconds") >= 1);
    // Another account from the same address is not held up.
    add_user(&app.state, "bob", STRONG).await;
    log_in(&app, "bob", STRONG).await.expect(200);
}

#[tokio::test]
async fn many_guesses_at_once_do_not_slip_past_the_count() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let answers = futures_util::future::join_all((0..12).map(|_| log_in(&app, "ada", "wrong"))).await;
    let checked = answers.iter().filter(|answer| answer.status == 401).count();
    assert!((1..=6).contains(&checked), "{checked} of 12 guesses were checked");
}

#[tokio::test]
async fn only_a_genuine_current_token_counts() {
    const KEY: &str = "0123456789abcdef0123456789abcdef";
    let app = TestApp::with(&[("SF_JWT_SECRET", KEY)]).await;
    let id = add_user(&app.state, "ada", STRONG).await;
    let now = clock::now_unix_secs();
    let header = json!({ "alg": "HS256", "typ": "JWT" });
    let claims = |exp: i64, ver: i64| json!({ "sub": id, "role": "user", "ver": ver, "iat": now, "exp": exp, "jti": "x" });
    let signed = |message: &str| hs256(KEY.as_bytes(), message);

    me(&app, &forged(&header, &claims(now + 60, 1), signed)).await.expect(200);

    let expired = forged(&header, &claims(now - 1, 1), signed);
    me(&app, &expired).await.problem(401, "token_expired");
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
        // A bad token is refused even where none would be needed.
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
async fn the_role_is_the_databases_not_the_tokens() {
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
async fn a_change_of_password_ends_older_tokens() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let old = token(&log_in(&app, "ada", STRONG).await);
    let change =
        |body: Value| app.remote(Method::POST, "/api/v1/auth/password").token(&old).json(&body).send();

    let weak = json!({ "current_password": STRONG, "new_password": "password" });
    let detail = change(weak).await.problem(400, "weak_password");
    assert!(detail.contains("easy to guess"), "{detail}");
    let long = json!({ "current_password": STRONG, "new_password": "x".repeat(2000) });
    change(long).await.problem(400, "password_too_long");
    let wrong = json!({ "current_password": "wrong", "new_password": "vermilion-otter-413-quay" });
    change(wrong).await.problem(403, "wrong_password");
    let missing = json!({ "new_password": "vermilion-otter-413-quay" });
    change(missing).await.problem(403, "wrong_password");

    let good = json!({ "current_password": STRONG, "new_password": "vermilion-otter-413-quay" });
    let new = token(&change(good).await);
    me(&app, &old).await.problem(401, "token_ended");
    me(&app, &new).await.expect(200);
    log_in(&app, "ada", STRONG).await.problem(401, "bad_credentials");
    log_in(&app, "ada", "vermilion-otter-413-quay").await.expect(200);
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
    for ended in [&first, &second] {
        me(&app, ended).await.problem(401, "token_ended");
    }
    app.remote(Method::POST, "/api/v1/auth/refresh").send().await.problem(401, "token_missing");
}

#[tokio::test]
async fn a_container_begins_with_a_password_that_must_be_changed() {
    let app = TestApp::container().await;
    let printed = app.printed_password.clone().expect("the first start prints a password");
    let answer = log_in(&app, "admin", &printed).await;
    let body = answer.expect(200);
    assert_eq!(body["user"]["must_change_password"], true);
    let first = token(&answer);
    // Nothing but the account's own routes.
    for (method, path) in [
        (Method::GET, "/api/v1/projects"),
        (Method::POST, "/api/v1/projects"),
        (Method::GET, "/api/v1/projects/temp/revision"),
        (Method::GET, "/api/v1/tasks"),
    ] {
        let answer = app.remote(method, path).token(&first).send().await;
        answer.problem(403, "password_change_required");
    }
    me(&app, &first).await.expect(200);
    let body = json!({ "current_password": printed, "new_password": "vermilion-otter-413-quay" });
    let changed = app.remote(Method::POST, "/api/v1/auth/password").token(&first).json(&body).send().await;
    assert_eq!(changed.expect(200)["user"]["must_change_password"], false);
    let second = token(&changed);
    app.remote(Method::GET, "/api/v1/projects").token(&second).send().await.expect(200);
}

#[tokio::test]
async fn the_password_is_printed_on_the_first_start_only() {
    let app = TestApp::container().await;
    let mut printed = false;
    super::ensure_admin(&app.state, |_, _| printed = true).await.expect("nothing to do");
    assert!(!printed);
    assert!(TestApp::start().await.printed_password.is_none());
}

#[tokio::test]
async fn anybody_may_ask_how_strong_a_password_is() {
    let app = TestApp::container().await;
    let ask = |password: &str| {
        let body = json!({ "password": password });
        app.remote(Method::POST, "/api/v1/auth/password-strength").json(&body).send()
    };
    let weak = ask("password1").await.expect(200);
    assert_eq!(weak["accepted"], false);
    assert!(weak["score"].as_u64().is_some_and(|score| score < 3));
    assert!(weak["suggestions"].is_array());
    assert_eq!(ask(STRONG).await.expect(200)["accepted"], true);
}
