//! Tests that password guessing is throttled.

use std::time::{Duration, Instant};

use axum::http::Method;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{STRONG, add_user, log_in, token};
use crate::auth::store::{Role, users};
use crate::auth::throttle::MIN_CHECK_TIME;
use crate::clock;
use crate::test_app::{Answer, TestApp};

#[tokio::test]
async fn repeated_failures_are_slowed_down_and_refused() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    for _ in 0..5 {
        log_in(&app, "ada", "wrong").await.problem(401, "bad_credentials");
    }
    for _ in 0..3 {
        let refused_answer = log_in(&app, "ada", "wrong").await;
        let detail = refused_answer.problem(429, "too_many_requests");
        assert!(detail.contains("password is wrong") && detail.contains("try again in"), "{detail}");
        assert!(refused_answer.header("retry-after").parse::<u64>().is_ok_and(|secs| secs >= 1));
    }
    // The correct password is accepted, and another account at the same address is not delayed.
    add_user(&app.state, "bob", STRONG).await;
    log_in(&app, "bob", STRONG).await.expect(200);
    log_in(&app, "ada", STRONG).await.expect(200);
    log_in(&app, "ada", "wrong").await.problem(401, "bad_credentials");
}

#[tokio::test]
async fn parallel_guesses_are_all_counted() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let started = Instant::now();
    let answers = join_all((0..12).map(|_| log_in(&app, "ada", "wrong"))).await;
    let not_slowed = answers.iter().filter(|answer| answer.status == 401).count();
    assert_eq!(not_slowed, 5, "the number of guesses that were not slowed down");
    assert!(started.elapsed() >= 7 * MIN_CHECK_TIME, "{:?}", started.elapsed());
}

async fn log_in_from(app: &TestApp, address: &str, username: &str, password: &str) -> Answer {
    let body = json!({ "username": username, "password": password });
    app.from(address, Method::POST, "/api/v1/auth/login").json(&body).send().await
}

#[tokio::test]
async fn guessing_from_elsewhere_does_not_lock_the_owner_out() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let mut refused_answer = 0;
    for _ in 0..10 {
        let answer = log_in_from(&app, "198.51.100.9", "ada", "wrong").await;
        refused_answer += u32::from(answer.status == 429);
    }
    assert!(refused_answer >= 3, "{refused_answer} of 10 guesses were refused");
    log_in_from(&app, "203.0.113.5", "ada", STRONG).await.expect(200);
}

#[tokio::test]
async fn frequent_log_ins_are_not_throttled() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    // Successful log-ins do not count towards the limit of five failures.
    for _ in 0..55 {
        log_in(&app, "ada", STRONG).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_for_many_accounts_from_one_address_are_slowed() {
    let app = TestApp::with(&[("SF_LOGIN_FAILED_ACCOUNTS_PER_ADDRESS", "3")]).await;
    fail_with_unknown_names(&app, SCHOOL, 3).await;
    let started = Instant::now();
    let names: Vec<String> = (0..6).map(|number| format!("user{number}")).collect();
    for answer in join_all(names.iter().map(|name| log_in_from(&app, SCHOOL, name, "wrong"))).await {
        answer.problem(429, "too_many_requests");
    }
    assert!(started.elapsed() >= 2 * MIN_CHECK_TIME, "{:?}", started.elapsed());
}

/// Logs in a class of twelve for the first time, while a guesser at the same address tries the
/// names that `name_of` returns.
async fn log_in_beside_a_guesser(name_of: impl Fn(usize) -> String) {
    let app = TestApp::with(&[
        ("SF_LOGIN_FAILED_ACCOUNTS_PER_ADDRESS", "3"),
        ("SF_LOGIN_FAILURES_PER_ACCOUNT", "10"),
    ])
    .await;
    add_pupils(&app, 12).await;
    let guess = async |number: usize| log_in_from(&app, SCHOOL, &name_of(number), "wrong").await.status;
    // The guesser continues until all applicable rules are in effect.
    for number in 0..100 {
        assert!([401, 429].contains(&guess(number).await.as_u16()));
    }
    let guessing = async {
        for number in 0.. {
            guess(number).await;
        }
    };
    let names: Vec<String> = (0..12).map(|number| format!("pupil{number}")).collect();
    let class = join_all(names.iter().map(|name| log_in_from(&app, SCHOOL, name, STRONG)));
    tokio::select! {
        () = guessing => unreachable!("the guesser never ends"),
        answers = class => answers.iter().for_each(|answer| drop(answer.expect(200))),
    }
    // An account that is known at the address can log in too.
    log_in_from(&app, SCHOOL, "pupil3", STRONG).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_class_logs_in_for_the_first_time_beside_a_guesser() {
    log_in_beside_a_guesser(|number| format!("guess{number}")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_class_logs_in_for_the_first_time_beside_a_guesser_with_its_names() {
    log_in_beside_a_guesser(|number| format!("pupil{}", number % 12)).await;
}

/// Sends many parallel guesses over one connection, like the streams of HTTP/2. Meanwhile the owner
/// of the account logs in over another connection.
async fn log_in_beside_guesses_by_one_connection(
    app: &TestApp,
    log_in_by: impl AsyncFn(u16, &'static str, &'static str) -> Answer,
) {
    const GUESSES: usize = 60;
    add_user(&app.state, "ada", STRONG).await;
    let guesses = join_all((0..GUESSES).map(|_| log_in_by(9, "ada", "wrong")));
    let mut guesses = std::pin::pin!(guesses);
    tokio::select! {
        biased;
        _ = &mut guesses => panic!("the log-in waited for all guesses"),
        answer = log_in_by(10, "ada", STRONG) => drop(answer.expect(200)),
    }
    guesses.await;
    // The log-in deleted the failures that were counted before it.
    let remaining = failures(app).await;
    assert!(
        remaining >= GUESSES as i64 - 10,
        "{remaining} of {GUESSES} guesses were checked after the log-in"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_has_one_queued_log_in() {
    let app = TestApp::start().await;
    let log_in_by = async |port: u16, username: &str, password: &str| {
        let body = json!({ "username": username, "password": password });
        let call = app.from(SCHOOL, Method::POST, "/api/v1/auth/login").json(&body);
        call.connection(port).send().await
    };
    log_in_beside_guesses_by_one_connection(&app, log_in_by).await;
}

/// A proxy may forward each stream of a client's connection over a separate connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_behind_a_proxy_has_one_queued_log_in() {
    let app = TestApp::with(&[("SF_TRUSTED_PROXIES", "192.0.2.1")]).await;
    let log_in_by = async |port: u16, username: &str, password: &str| {
        let body = json!({ "username": username, "password": password });
        let call = app.from("192.0.2.1", Method::POST, "/api/v1/auth/login").json(&body);
        call.header("x-forwarded-for", &format!("{SCHOOL}:{port}")).send().await
    };
    log_in_beside_guesses_by_one_connection(&app, log_in_by).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_account_logs_in_while_its_password_is_guessed() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    log_in_from(&app, SCHOOL, "ada", STRONG).await.expect(200);
    let guessing = async {
        loop {
            log_in_from(&app, SCHOOL, "ada", "wrong").await;
        }
    };
    let logging_in = async {
        for _ in 0..8 {
            log_in_from(&app, SCHOOL, "ada", STRONG).await.expect(200);
        }
    };
    tokio::select! {
        () = guessing => {}
        () = logging_in => {}
    }
}

#[tokio::test]
async fn guessing_the_current_password_is_slowed() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let token = token(&log_in(&app, "ada", STRONG).await);
    let body = json!({ "current_password": "wrong", "new_password": "vermilion-otter-413-quay" });
    let mut statuses = Vec::new();
    for _ in 0..8 {
        let answer = app.remote(Method::POST, "/api/v1/auth/password").token(&token).json(&body).send().await;
        statuses.push(answer.status.as_u16());
    }
    assert_eq!(statuses[..5], [403; 5]);
    assert!(statuses.contains(&429), "{statuses:?}");
}

/// Creates accounts `pupil0`, `pupil1` and so on, which share one costly password hash.
async fn add_pupils(app: &TestApp, count: usize) {
    let hash = app.state.passwords.hash(STRONG.to_owned()).await.expect("hashes");
    for number in 0..count {
        let name = format!("pupil{number}");
        let created_user = users::insert(&app.state.db, &name, Role::User, Some(&hash), false).await;
        created_user.expect("stores").expect("a free name");
    }
}

/// Fails to log in from `address` with `count` names that nobody has.
async fn fail_with_unknown_names(app: &TestApp, address: &str, count: usize) {
    for number in 0..count {
        let answer = log_in_from(app, address, &format!("nobody{number}"), "wrong").await;
        answer.problem(401, "bad_credentials");
    }
}

const SCHOOL: &str = "198.51.100.20";

#[tokio::test(flavor = "multi_thread")]
async fn all_pupils_of_a_school_can_log_in_at_the_same_time() {
    let app = TestApp::start().await;
    add_pupils(&app, 40).await;
    let names: Vec<String> = (0..120).map(|number| format!("pupil{}", number % 40)).collect();
    let answers = join_all(names.iter().map(|name| log_in_from(&app, SCHOOL, name, STRONG))).await;
    for answer in &answers {
        answer.expect(200);
    }
    assert_eq!(throttled(&app).await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_log_in_clears_the_failures_of_its_account() {
    let app = TestApp::with(&[("SF_LOGIN_FAILED_ACCOUNTS_PER_ADDRESS", "3")]).await;
    add_pupils(&app, 8).await;
    for number in 0..8 {
        let name = format!("pupil{number}");
        log_in_from(&app, SCHOOL, &name, "mistyped").await.problem(401, "bad_credentials");
        log_in_from(&app, SCHOOL, &name, STRONG).await.expect(200);
    }
}

#[tokio::test]
async fn failures_of_unknown_accounts_do_not_delay_known_ones() {
    let app = TestApp::with(&[("SF_LOGIN_FAILED_ACCOUNTS_PER_ADDRESS", "3")]).await;
    add_pupils(&app, 3).await;
    let known_token = token(&log_in_from(&app, SCHOOL, "pupil0", STRONG).await);
    fail_with_unknown_names(&app, SCHOOL, 3).await;
    // An account that is unknown at the address waits in the queue; a known one does not.
    let permits = app.state.throttle.fill_unknown_queue(SCHOOL).await;
    let mut unknown_log_in = Box::pin(log_in_from(&app, SCHOOL, "pupil1", STRONG));
    tokio::select! {
        biased;
        answer = &mut unknown_log_in => panic!("an unknown account overtook the queue: {}", answer.status),
        answer = log_in_from(&app, SCHOOL, "pupil0", STRONG) => drop(answer.expect(200)),
    }
    // A session stays valid, and its user can change the password.
    let body = json!({ "current_password": STRONG, "new_password": "vermilion-otter-413-quay" });
    let call = app.from(SCHOOL, Method::POST, "/api/v1/auth/password").token(&known_token).json(&body);
    call.send().await.expect(200);
    log_in_from(&app, "203.0.113.9", "pupil2", STRONG).await.expect(200);
    drop(permits);
    unknown_log_in.await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn flooding_an_address_does_not_block_an_account_elsewhere() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let permits = app.state.throttle.fill_unknown_queue("198.51.100.9").await;
    let mut flood = Box::pin(join_all((0..20).map(|_| log_in_from(&app, "198.51.100.9", "ada", "wrong"))));
    tokio::select! {
        biased;
        _ = &mut flood => panic!("the guesses did not wait"),
        answer = log_in_from(&app, SCHOOL, "ada", STRONG) => drop(answer.expect(200)),
    }
    drop(permits);
    assert!(flood.await.iter().all(|answer| [401, 429].contains(&answer.status.as_u16())));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_logs_in_for_the_first_time_beside_many_guessers() {
    let app = TestApp::with(&[("SF_LOGIN_FAILURES_PER_ACCOUNT", "10")]).await;
    add_user(&app.state, "ada", STRONG).await;
    let guesser = async |number: usize| {
        let elsewhere = format!("198.51.100.{number}");
        loop {
            let address = if number.is_multiple_of(2) { SCHOOL } else { &elsewhere };
            log_in_from(&app, address, "ada", "wrong").await;
        }
    };
    let first_log_in = async {
        // Waits until all applicable rules are in effect.
        while failures(&app).await < 60 {
            tokio::task::yield_now().await;
        }
        log_in_from(&app, SCHOOL, "ada", STRONG).await.expect(200);
    };
    tokio::select! {
        _ = join_all((100..130).map(guesser)) => unreachable!("the guessers never end"),
        () = first_log_in => {}
    }
}

#[tokio::test]
async fn distributed_guessing_is_slowed_but_the_owner_is_not() {
    let app = TestApp::with(&[("SF_LOGIN_FAILURES_PER_ACCOUNT", "10")]).await;
    add_user(&app.state, "ada", STRONG).await;
    let home = "203.0.113.5";
    let session = token(&log_in_from(&app, home, "ada", STRONG).await);
    let mut refusals = 0;
    for number in 0..30 {
        let guess = log_in_from(&app, &format!("198.51.100.{number}"), "ada", "wrong").await;
        refusals += usize::from(guess.status == 429);
    }
    assert_eq!(refusals, 20, "the number of refused guesses of 30");
    // The correct password is accepted even from an unknown address.
    log_in_from(&app, "192.0.2.200", "ada", STRONG).await.expect(200);
    log_in_from(&app, home, "ada", STRONG).await.expect(200);
    let me = app.from("192.0.2.200", Method::GET, "/api/v1/auth/me").token(&session).send().await;
    me.expect(200);
    // Refusals do not reveal which names exist.
    for number in 0..30 {
        log_in_from(&app, &format!("198.51.100.{number}"), "nobody", "wrong").await;
    }
    log_in_from(&app, "192.0.2.201", "nobody", "wrong").await.problem(429, "too_many_requests");
}

#[tokio::test]
async fn parallel_guesses_from_many_addresses_are_all_counted() {
    let app = TestApp::with(&[("SF_LOGIN_FAILURES_PER_ACCOUNT", "10")]).await;
    add_user(&app.state, "ada", STRONG).await;
    let home = "203.0.113.5";
    log_in_from(&app, home, "ada", STRONG).await.expect(200);
    let addresses: Vec<String> = (0..40).map(|number| format!("198.51.100.{number}")).collect();
    for name in ["ada", "nobody"] {
        let guesses = addresses.iter().map(|address| log_in_from(&app, address, name, "wrong"));
        let started = Instant::now();
        let answers = join_all(guesses).await;
        let not_slowed = answers.iter().filter(|answer| answer.status == 401).count();
        assert_eq!(not_slowed, 10, "the number of guesses for `{name}` that were not slowed down");
        assert!(started.elapsed() >= 30 * MIN_CHECK_TIME, "{:?}", started.elapsed());
    }
    log_in_from(&app, home, "ada", STRONG).await.expect(200);
}

#[tokio::test]
async fn failures_of_known_accounts_do_not_delay_unknown_ones() {
    let app = TestApp::with(&[("SF_LOGIN_FAILED_ACCOUNTS_PER_ADDRESS", "3")]).await;
    add_pupils(&app, 4).await;
    for name in ["pupil0", "pupil1"] {
        log_in_from(&app, SCHOOL, name, STRONG).await.expect(200);
    }
    fail_with_unknown_names(&app, SCHOOL, 2).await;
    for name in ["pupil0", "pupil1"] {
        log_in_from(&app, SCHOOL, name, "mistyped").await.problem(401, "bad_credentials");
    }
    log_in_from(&app, SCHOOL, "pupil2", STRONG).await.expect(200);
    assert_eq!(throttled(&app).await, [] as [Value; 0]);
    // Such failures do not prolong throttling by failures of unknown accounts either.
    fail_with_unknown_names(&app, SCHOOL, 3).await;
    let age_failures = "UPDATE login_failures SET last_failed_secs = last_failed_secs - 3000";
    sqlx::query(age_failures).execute(&app.state.db).await.expect("updates");
    log_in_from(&app, SCHOOL, "pupil0", "mistyped").await.problem(401, "bad_credentials");
    log_in_from(&app, SCHOOL, "pupil3", STRONG).await.expect(200);
}

async fn failures(app: &TestApp) -> i64 {
    let sql = "SELECT CAST(COALESCE(SUM(failures), 0) AS BIGINT) FROM login_failures";
    sqlx::query_scalar(sql).fetch_one(&app.state.db).await.expect("counts")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guess_counts_even_if_the_client_disconnects() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    // The client disconnects after different times, in some cases between the check and the answer.
    for disconnects_after_ms in (1..).flat_map(|ms| [ms; 3]) {
        let failures_before = failures(&app).await;
        let guess = log_in(&app, "ada", "wrong");
        if tokio::time::timeout(Duration::from_millis(disconnects_after_ms), guess).await.is_ok() {
            continue;
        }
        // This log-in is checked only after the running check.
        log_in(&app, "nobody", "wrong").await;
        if failures(&app).await > failures_before + 1 {
            return;
        }
        assert!(disconnects_after_ms < 2_000, "no guess of a disconnected client was counted");
    }
}

#[tokio::test]
async fn failures_expire_after_the_clock_was_set_back() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    for _ in 0..5 {
        log_in(&app, "ada", "wrong").await.problem(401, "bad_credentials");
    }
    // The failures have tomorrow's time, as if the clock had been set back by a day afterwards.
    let tomorrow = clock::now_unix_secs() + 86_400;
    let move_failures = "UPDATE login_failures SET last_failed_secs = $1";
    sqlx::query(move_failures).bind(tomorrow).execute(&app.state.db).await.expect("updates");
    log_in(&app, "ada", "wrong").await.problem(429, "too_many_requests");
    // The failures expire after an hour.
    let age_failures = "UPDATE login_failures SET last_failed_secs = last_failed_secs - 3601";
    sqlx::query(age_failures).execute(&app.state.db).await.expect("updates");
    log_in(&app, "ada", "wrong").await.problem(401, "bad_credentials");
}

const THROTTLED: &str = "/api/v1/admin/throttled";

async fn throttled(app: &TestApp) -> Vec<Value> {
    let throttled_entries = app.local(Method::GET, THROTTLED).send().await.expect(200);
    throttled_entries["items"].as_array().expect("a list").clone()
}

#[tokio::test]
async fn an_administrator_can_list_and_lift_throttling() {
    let app = TestApp::with(&[
        ("SF_LOGIN_FAILED_ACCOUNTS_PER_ADDRESS", "3"),
        ("SF_LOGIN_FAILURES_PER_ACCOUNT", "3"),
    ])
    .await;
    add_pupils(&app, 2).await;
    fail_with_unknown_names(&app, SCHOOL, 3).await;
    for address in ["192.0.2.1", "192.0.2.2", "192.0.2.3"] {
        log_in_from(&app, address, "pupil1", "wrong").await.problem(401, "bad_credentials");
    }
    let throttled_entries = throttled(&app).await;
    assert_eq!(throttled_entries.len(), 2, "{throttled_entries:?}");
    let entry_of =
        |kind: &str| throttled_entries.iter().find(|entry| entry["kind"] == kind).expect("an entry");
    let (address, account) = (entry_of("address"), entry_of("account"));
    assert_eq!((&address["address"], &address["username"]), (&json!(SCHOOL), &Value::Null));
    assert_eq!((&account["address"], &account["username"]), (&Value::Null, &json!("pupil1")));
    assert_eq!((&address["failures"], &account["failures"]), (&json!(3), &json!(3)));
    for entry in &throttled_entries {
        assert!(entry["last_failed_at"].as_str().is_some_and(|at| at.ends_with('Z')), "{entry}");
        assert!(entry["retry_after_secs"].as_u64().is_some_and(|secs| secs <= 900), "{entry}");
    }

    let lift = |query: &str| app.local(Method::DELETE, &format!("{THROTTLED}?{query}")).send();
    lift("").await.problem(400, "bad_query");
    lift("address=school").await.problem(400, "bad_query");
    assert_eq!(lift("username=nobody-here").await.expect(200)["lifted"], 0);
    assert_eq!(lift(&format!("address={SCHOOL}")).await.expect(200)["lifted"], 3);
    log_in_from(&app, SCHOOL, "pupil0", STRONG).await.expect(200);
    assert_eq!(lift("username=Pupil1").await.expect(200)["lifted"], 3);
    log_in_from(&app, "192.0.2.4", "pupil1", STRONG).await.expect(200);
    assert_eq!(throttled(&app).await, [] as [Value; 0]);

    let path = "/api/v1/admin/audit?action=throttling_lifted";
    let log = app.local(Method::GET, path).send().await.expect(200);
    let targets: Vec<&Value> =
        log["items"].as_array().expect("entries").iter().map(|entry| &entry["target"]).collect();
    assert_eq!(targets, [&json!("pupil1"), &json!(SCHOOL)]);
    let token = token(&log_in(&app, "pupil0", STRONG).await);
    let call = app.remote(Method::GET, THROTTLED).token(&token).send().await;
    call.problem(403, "admin_only");
}

#[tokio::test]
async fn one_account_at_one_address_is_listed_and_lifted() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    for _ in 0..5 {
        log_in(&app, "ada", "wrong").await.problem(401, "bad_credentials");
    }
    let throttled_entries = throttled(&app).await;
    assert_eq!(throttled_entries.len(), 1, "{throttled_entries:?}");
    assert_eq!(
        (
            &throttled_entries[0]["kind"],
            &throttled_entries[0]["username"],
            &throttled_entries[0]["address"],
            &throttled_entries[0]["failures"]
        ),
        (&json!("account_at_address"), &json!("ada"), &json!("192.0.2.77"), &json!(5))
    );
    let at_other_address = app.local(Method::DELETE, &format!("{THROTTLED}?username=ada&address=192.0.2.78"));
    assert_eq!(at_other_address.send().await.expect(200)["lifted"], 0);
    let at_this_address = app.local(Method::DELETE, &format!("{THROTTLED}?username=ada&address=192.0.2.77"));
    assert_eq!(at_this_address.send().await.expect(200)["lifted"], 1);
    log_in(&app, "ada", STRONG).await.expect(200);
}
