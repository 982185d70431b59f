//! Slowing down those who guess.

use axum::http::Method;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{STRONG, add_user, log_in, token};
use crate::auth::store::{Role, users};
use crate::clock;
use crate::test_app::{Answer, TestApp};

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
    let answers = join_all((0..12).map(|_| log_in(&app, "ada", "wrong"))).await;
    let checked = answers.iter().filter(|answer| answer.status == 401).count();
    assert!((1..=6).contains(&checked), "{checked} of 12 guesses were checked");
}

async fn log_in_from(app: &TestApp, address: &str, username: &str, password: &str) -> Answer {
    let body = json!({ "username": username, "password": password });
    app.from(address, Method::POST, "/api/v1/auth/login").json(&body).send().await
}

#[tokio::test]
async fn who_guesses_from_elsewhere_does_not_lock_the_owner_out() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    let mut refused = 0;
    for _ in 0..10 {
        let answer = log_in_from(&app, "198.51.100.9", "ada", "wrong").await;
        refused += u32::from(answer.status == 429);
    }
    assert!(refused >= 3, "{refused} of 10 guesses were refused");
    log_in_from(&app, "203.0.113.5", "ada", STRONG).await.expect(200);
}

#[tokio::test]
async fn logging_in_often_is_no_guessing() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    // More than one address may fail within an hour.
    for _ in 0..55 {
        log_in(&app, "ada", STRONG).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_tries_many_accounts_only_slowly() {
    let app = TestApp::with(&[("SF_LOGIN_FAILED_ACCOUNTS_PER_ADDRESS", "3")]).await;
    fail_with_unknown_names(&app, SCHOOL, 3).await;
    let started = std::time::Instant::now();
    let names: Vec<String> = (0..6).map(|number| format!("user{number}")).collect();
    for answer in join_all(names.iter().map(|name| log_in_from(&app, SCHOOL, name, "wrong"))).await {
        answer.problem(401, "bad_credentials");
    }
    // Each was checked a quarter of a second after the one before.
    assert!(started.elapsed() >= std::time::Duration::from_millis(6 * 250), "{:?}", started.elapsed());
}

/// Somebody who goes on guessing at the address of a class, with names that nobody has.
#[tokio::test(flavor = "multi_thread")]
async fn a_class_logs_in_for_the_first_time_while_somebody_guesses_there() {
    let app = TestApp::with(&[("SF_LOGIN_FAILED_ACCOUNTS_PER_ADDRESS", "3")]).await;
    add_pupils(&app, 12).await;
    fail_with_unknown_names(&app, SCHOOL, 3).await;
    let guessing = async {
        for number in 0.. {
            log_in_from(&app, SCHOOL, &format!("guess{number}"), "wrong")
                .await
                .problem(401, "bad_credentials");
        }
    };
    let names: Vec<String> = (0..12).map(|number| format!("pupil{number}")).collect();
    let class = join_all(names.iter().map(|name| log_in_from(&app, SCHOOL, name, STRONG)));
    tokio::select! {
        () = guessing => unreachable!("the guesser never ends"),
        answers = class => answers.iter().for_each(|answer| drop(answer.expect(200))),
    }
    // Who is known there waits for nobody.
    log_in_from(&app, SCHOOL, "pupil3", STRONG).await.expect(200);
}

#[tokio::test]
async fn guessing_the_current_password_is_slowed_down_too() {
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

/// Makes accounts `pupil0`, `pupil1` and so on that share one password, and so one costly hash.
async fn add_pupils(app: &TestApp, count: usize) {
    let hash = app.state.passwords.hash(STRONG.to_owned()).await.expect("hashes");
    for number in 0..count {
        let name = format!("pupil{number}");
        let made = users::insert(&app.state.db, &name, Role::User, Some(&hash), false).await;
        made.expect("stores").expect("a free name");
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
async fn a_whole_school_logs_in_at_once() {
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
async fn a_pupil_who_mistypes_and_then_succeeds_is_no_failing_account() {
    let app = TestApp::with(&[("SF_LOGIN_FAILED_ACCOUNTS_PER_ADDRESS", "3")]).await;
    add_pupils(&app, 8).await;
    for number in 0..8 {
        let name = format!("pupil{number}");
        log_in_from(&app, SCHOOL, &name, "mistyped").await.problem(401, "bad_credentials");
        log_in_from(&app, SCHOOL, &name, STRONG).await.expect(200);
    }
}

#[tokio::test]
async fn failures_of_others_behind_an_address_do_not_hold_up_who_is_known_there() {
    let app = TestApp::with(&[("SF_LOGIN_FAILED_ACCOUNTS_PER_ADDRESS", "3")]).await;
    add_pupils(&app, 2).await;
    let known = token(&log_in_from(&app, SCHOOL, "pupil0", STRONG).await);
    fail_with_unknown_names(&app, SCHOOL, 3).await;
    // Somebody who never logged in from there waits in line; who is known there does not.
    let in_line = app.state.throttle.stand_in_line(SCHOOL).await;
    let mut stranger = Box::pin(log_in_from(&app, SCHOOL, "pupil1", STRONG));
    tokio::select! {
        biased;
        answer = &mut stranger => panic!("a stranger passed the others: {}", answer.status),
        answer = log_in_from(&app, SCHOOL, "pupil0", STRONG) => drop(answer.expect(200)),
    }
    // A session goes on, and may change its password.
    let body = json!({ "current_password": STRONG, "new_password": "vermilion-otter-413-quay" });
    let call = app.from(SCHOOL, Method::POST, "/api/v1/auth/password").token(&known).json(&body);
    call.send().await.expect(200);
    log_in_from(&app, "203.0.113.9", "pupil1", STRONG).await.expect(200);
    drop(in_line);
    stranger.await.expect(200);
}

#[tokio::test]
async fn who_guesses_behind_an_address_delays_the_account_that_is_known_there_by_seconds() {
    let app = TestApp::start().await;
    add_pupils(&app, 2).await;
    log_in_from(&app, SCHOOL, "pupil0", STRONG).await.expect(200);
    for name in ["pupil0", "pupil1"] {
        log_in_from(&app, SCHOOL, name, "guessed").await.problem(401, "bad_credentials");
    }
    // As if the guesser had gone on for an hour. Failures of the future count as those of the
    // moment in which the next password comes, however slow this test is.
    let many = "UPDATE login_failures SET failures = 40, last_failed_secs = $1";
    let tomorrow = clock::now_unix_secs() + 86_400;
    sqlx::query(many).bind(tomorrow).execute(&app.state.db).await.expect("counts");
    let wait_secs = async |name: &str| {
        let answer = log_in_from(&app, SCHOOL, name, STRONG).await;
        answer.problem(429, "too_many_requests");
        answer.header("retry-after").parse::<u64>().expect("seconds")
    };
    let (known, unknown) = (wait_secs("pupil0").await, wait_secs("pupil1").await);
    assert_eq!(known, 4);
    assert!((800..=900).contains(&unknown), "{unknown} s");
    let listed = throttled(&app).await;
    let of = |name: &str| {
        let is_it = |one: &&Value| one["username"] == name && one["kind"] == "account_at_address";
        listed.iter().find(is_it).expect("an entry")
    };
    assert!(of("pupil0")["retry_after_secs"].as_u64().is_some_and(|secs| secs <= 4), "{listed:?}");
    assert!(of("pupil1")["retry_after_secs"].as_u64().is_some_and(|secs| secs > 800), "{listed:?}");
}

#[tokio::test]
async fn guessing_one_password_from_many_addresses_is_slowed_but_not_for_the_owner() {
    let app = TestApp::with(&[("SF_LOGIN_FAILURES_PER_ACCOUNT", "10")]).await;
    add_user(&app.state, "ada", STRONG).await;
    let home = "203.0.113.5";
    let session = token(&log_in_from(&app, home, "ada", STRONG).await);
    let mut refusals = 0;
    for number in 0..30 {
        let guess = log_in_from(&app, &format!("198.51.100.{number}"), "ada", "wrong").await;
        refusals += usize::from(guess.status == 429);
    }
    assert!(refusals >= 15, "{refusals} of 30 guesses were refused");
    // The right password is refused as well from an address that the account was never used from.
    log_in_from(&app, "192.0.2.200", "ada", STRONG).await.problem(429, "too_many_requests");
    log_in_from(&app, home, "ada", STRONG).await.expect(200);
    let me = app.from("192.0.2.200", Method::GET, "/api/v1/auth/me").token(&session).send().await;
    me.expect(200);
    // Nobody can tell from refusals which names there are.
    for number in 0..30 {
        log_in_from(&app, &format!("198.51.100.{number}"), "nobody", "wrong").await;
    }
    log_in_from(&app, "192.0.2.201", "nobody", "wrong").await.problem(429, "too_many_requests");
}

#[tokio::test]
async fn guesses_from_many_addresses_at_once_do_not_slip_past_the_count() {
    let app = TestApp::with(&[("SF_LOGIN_FAILURES_PER_ACCOUNT", "10")]).await;
    add_user(&app.state, "ada", STRONG).await;
    let home = "203.0.113.5";
    log_in_from(&app, home, "ada", STRONG).await.expect(200);
    let addresses: Vec<String> = (0..100).map(|number| format!("198.51.100.{number}")).collect();
    for name in ["ada", "nobody"] {
        let guesses = addresses.iter().map(|address| log_in_from(&app, address, name, "wrong"));
        let answers = join_all(guesses).await;
        let checked = answers.iter().filter(|answer| answer.status == 401).count();
        // The waits after the tenth are 8 s, 16 s, 32 s and 60 s.
        assert!((10..=15).contains(&checked), "{checked} of 100 guesses of `{name}` were checked");
    }
    log_in_from(&app, home, "ada", STRONG).await.expect(200);
}

#[tokio::test]
async fn a_known_account_that_fails_holds_up_nobody_who_is_new_there() {
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
    // Nor do they prolong the wait after those who are not known there.
    fail_with_unknown_names(&app, SCHOOL, 3).await;
    let passed = "UPDATE login_failures SET last_failed_secs = last_failed_secs - 3000";
    sqlx::query(passed).execute(&app.state.db).await.expect("moves");
    log_in_from(&app, SCHOOL, "pupil0", "mistyped").await.problem(401, "bad_credentials");
    log_in_from(&app, SCHOOL, "pupil3", STRONG).await.expect(200);
}

#[tokio::test]
async fn a_guess_counts_even_if_the_guesser_hangs_up() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    for _ in 0..5 {
        let guess = log_in(&app, "ada", "wrong");
        // Polled once, so that the request is under way, and dropped.
        assert!(futures_util::FutureExt::now_or_never(guess).is_none(), "answered at once");
    }
    // The guesses that go on are ahead of this one.
    let mut answer = log_in(&app, "ada", "wrong").await;
    if answer.status == 401 {
        answer = log_in(&app, "ada", STRONG).await;
    }
    answer.problem(429, "too_many_requests");
}

#[tokio::test]
async fn a_clock_that_was_set_back_holds_nobody_up() {
    let app = TestApp::start().await;
    add_user(&app.state, "ada", STRONG).await;
    for _ in 0..5 {
        log_in(&app, "ada", "wrong").await.problem(401, "bad_credentials");
    }
    // As if the failures had been counted before the clock was set back by a day.
    let tomorrow = clock::now_unix_secs() + 86_400;
    let moved = "UPDATE login_failures SET last_failed_secs = $1";
    sqlx::query(moved).bind(tomorrow).execute(&app.state.db).await.expect("moves");
    let waiting = log_in(&app, "ada", STRONG).await;
    waiting.problem(429, "too_many_requests");
    let wait: i64 = waiting.header("retry-after").parse().expect("seconds");
    assert!((1..=4).contains(&wait), "{wait} s");
    // That time passes.
    let passed = "UPDATE login_failures SET last_failed_secs = last_failed_secs - $1";
    sqlx::query(passed).bind(wait).execute(&app.state.db).await.expect("moves");
    log_in(&app, "ada", STRONG).await.expect(200);
}

const THROTTLED: &str = "/api/v1/admin/throttled";

async fn throttled(app: &TestApp) -> Vec<Value> {
    let listed = app.local(Method::GET, THROTTLED).send().await.expect(200);
    listed["items"].as_array().expect("a list").clone()
}

#[tokio::test]
async fn an_administrator_sees_who_is_throttled_and_lifts_it() {
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
    let listed = throttled(&app).await;
    assert_eq!(listed.len(), 2, "{listed:?}");
    let of = |kind: &str| listed.iter().find(|one| one["kind"] == kind).expect("an entry");
    let (address, account) = (of("address"), of("account"));
    assert_eq!((&address["address"], &address["username"]), (&json!(SCHOOL), &Value::Null));
    assert_eq!((&account["address"], &account["username"]), (&Value::Null, &json!("pupil1")));
    assert_eq!((&address["failures"], &account["failures"]), (&json!(3), &json!(3)));
    for one in &listed {
        assert!(one["last_failed_at"].as_str().is_some_and(|at| at.ends_with('Z')), "{one}");
        assert!(one["retry_after_secs"].as_u64().is_some_and(|secs| secs <= 900), "{one}");
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
        log["items"].as_array().expect("entries").iter().map(|one| &one["target"]).collect();
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
    let listed = throttled(&app).await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(
        (&listed[0]["kind"], &listed[0]["username"], &listed[0]["address"], &listed[0]["failures"]),
        (&json!("account_at_address"), &json!("ada"), &json!("192.0.2.77"), &json!(5))
    );
    let other = app.local(Method::DELETE, &format!("{THROTTLED}?username=ada&address=192.0.2.78"));
    assert_eq!(other.send().await.expect(200)["lifted"], 0);
    let this = app.local(Method::DELETE, &format!("{THROTTLED}?username=ada&address=192.0.2.77"));
    assert_eq!(this.send().await.expect(200)["lifted"], 1);
    log_in(&app, "ada", STRONG).await.expect(200);
}
