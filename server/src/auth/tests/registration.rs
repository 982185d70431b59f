//! Tests of registration: open, by invitation, or closed.

use axum::http::Method;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{STRONG, add_user, log_in, me, token};
use crate::test_app::{Answer, TestApp};

const REGISTER: &str = "/api/v1/auth/register";
const INVITES: &str = "/api/v1/admin/invites";

async fn register(app: &TestApp, username: &str, password: &str, invite: Option<&str>) -> Answer {
    let body = json!({ "username": username, "password": password, "invite": invite });
    app.remote(Method::POST, REGISTER).json(&body).send().await
}

async fn invite(app: &TestApp, body: Value) -> String {
    let created_invite = app.local(Method::POST, INVITES).json(&body).send().await.expect(201);
    created_invite["code"].as_str().expect("a code").to_owned()
}

async fn start_with_invitations() -> TestApp {
    TestApp::with(&[("SF_REGISTRATION", "invite")]).await
}

#[tokio::test]
async fn registration_is_closed_by_default() {
    let app = TestApp::start().await;
    let detail = register(&app, "ada", STRONG, None).await.problem(403, "registration_closed");
    assert!(detail.contains("SF_REGISTRATION"), "{detail}");
    register(&app, "ada", STRONG, Some("sfi_any")).await.problem(403, "registration_closed");
    // An invitation that nobody could use is refused.
    app.local(Method::POST, INVITES).json(&json!({})).send().await.problem(409, "registration_closed");
    let answer = app.remote(Method::GET, "/api/v1/system/capabilities").send().await;
    assert_eq!(answer.expect(200)["registration"], "closed");
}

#[tokio::test]
async fn open_registration_creates_accounts_with_the_role_user() {
    let app = TestApp::with(&[("SF_REGISTRATION", "open")]).await;
    let answer = register(&app, " Ada ", STRONG, None).await;
    let user = &answer.expect(201)["user"];
    assert_eq!((&user["username"], &user["role"]), (&json!("ada"), &json!("user")));
    assert_eq!(user["must_change_password"], false);
    let created_invite = answer.json()["access_token"].as_str().expect("a token").to_owned();
    me(&app, &created_invite).await.expect(200);
    app.remote(Method::GET, "/api/v1/projects").token(&created_invite).send().await.expect(200);
    log_in(&app, "ada", STRONG).await.expect(200);

    register(&app, "ADA", STRONG, None).await.problem(409, "username_taken");
    register(&app, "admin", STRONG, None).await.problem(409, "username_taken");
    let detail = register(&app, "a b", STRONG, None).await.problem(400, "bad_username");
    assert!(detail.contains("`a b`"), "{detail}");
    register(&app, "bob", "password", None).await.problem(400, "weak_password");
    register(&app, "bob", &"x".repeat(1025), None).await.problem(400, "password_too_long");
    register(&app, "bob", STRONG, Some("sfi_nonsense")).await.problem(403, "invite_invalid");
    let extra_body = json!({ "username": "bob", "password": STRONG, "role": "admin" });
    app.remote(Method::POST, REGISTER).json(&extra_body).send().await.problem(400, "unexpected_json");
}

#[tokio::test]
async fn an_invitation_creates_one_account_with_its_role() {
    let app = start_with_invitations().await;
    register(&app, "ada", STRONG, None).await.problem(403, "invite_required");
    register(&app, "ada", STRONG, Some(" ")).await.problem(403, "invite_required");
    let code = invite(&app, json!({ "role": "admin", "note": "for Ada" })).await;
    // Failed attempts leave the invitation valid.
    register(&app, "admin", STRONG, Some(&code)).await.problem(409, "username_taken");
    register(&app, "ada", "password", Some(&code)).await.problem(400, "weak_password");
    let answer = register(&app, "ada", STRONG, Some(&format!(" {code} "))).await;
    assert_eq!(answer.expect(201)["user"]["role"], "admin");
    register(&app, "bob", STRONG, Some(&code)).await.problem(403, "invite_invalid");
    let listed_invites = app.local(Method::GET, INVITES).send().await.expect(200);
    assert_eq!(listed_invites["items"][0]["state"], "used");
    assert_eq!(listed_invites["items"][0]["used_by"], "ada");
    assert!(!listed_invites.to_string().contains(&code));
}

#[tokio::test]
async fn concurrent_registrations_use_an_invitation_once() {
    let app = start_with_invitations().await;
    let code = invite(&app, json!({})).await;
    let names = ["ada", "bob", "cyd", "dee"];
    let registering = names.map(|name| register(&app, name, STRONG, Some(&code)));
    let answers = join_all(registering).await;
    let created_invite = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(created_invite, 1);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.problem(403, "invite_invalid");
    }
}

#[tokio::test]
async fn many_users_register_by_invitation_from_one_address() {
    let app = start_with_invitations().await;
    for number in 0..13 {
        let code = invite(&app, json!({})).await;
        register(&app, &format!("user{number}"), STRONG, Some(&code)).await.expect(201);
    }
}

#[tokio::test]
async fn guessing_invitations_is_slowed_down() {
    let app = TestApp::with(&[("SF_REGISTRATION", "invite"), ("SF_REGISTRATIONS_PER_ADDRESS", "10")]).await;
    let mut statuses = Vec::new();
    for number in 0..13 {
        let answer = register(&app, "ada", STRONG, Some(&format!("sfi_{number}"))).await;
        statuses.push(answer.status.as_u16());
    }
    assert_eq!(statuses[..10], [403; 10]);
    assert!(statuses.contains(&429), "{statuses:?}");
}

#[tokio::test]
async fn an_expired_or_deleted_invitation_is_invalid() {
    let app = start_with_invitations().await;
    let code = invite(&app, json!({})).await;
    let expired_time = crate::clock::text_in(-1);
    sqlx::query("UPDATE invites SET expires_at = $1")
        .bind(expired_time)
        .execute(&app.state.db)
        .await
        .expect("ages");
    register(&app, "ada", STRONG, Some(&code)).await.problem(403, "invite_invalid");
    let listed_invites = app.local(Method::GET, INVITES).send().await.expect(200);
    assert_eq!(listed_invites["items"][0]["state"], "expired");

    let code = invite(&app, json!({})).await;
    let listed_invites = app.local(Method::GET, INVITES).send().await.expect(200);
    let path = format!("{INVITES}/{}", listed_invites["items"][0]["id"].as_str().expect("an id"));
    app.local(Method::DELETE, &path).send().await.expect(204);
    register(&app, "ada", STRONG, Some(&code)).await.problem(403, "invite_invalid");
}

#[tokio::test]
async fn invitations_end_with_the_rights_of_the_administrator_who_created_them() {
    let app = start_with_invitations().await;
    let change = |id: &str, body: Value| {
        app.local(Method::PATCH, &format!("/api/v1/admin/users/{id}")).json(&body).send()
    };
    for (name, administrator_change) in
        [("ada", "demoted"), ("bob", "disabled"), ("eve", "reset"), ("zoe", "still an administrator")]
    {
        let token = app.token_of_new_user(name).await;
        let id = me(&app, &token).await.expect(200)["id"].as_str().expect("an id").to_owned();
        change(&id, json!({ "role": "admin" })).await.expect(200);
        let request = app.remote(Method::POST, INVITES).token(&token).json(&json!({ "role": "admin" }));
        let created_invite = request.send().await.expect(201);
        match administrator_change {
            "demoted" => drop(change(&id, json!({ "role": "user" })).await.expect(200)),
            "disabled" => drop(change(&id, json!({ "disabled": true })).await.expect(200)),
            "reset" => {
                let path = format!("/api/v1/admin/users/{id}/reset-password");
                app.local(Method::POST, &path).json(&json!({})).send().await.expect(200);
            }
            _ => {}
        }
        let answer = register(&app, &format!("{name}-2"), STRONG, created_invite["code"].as_str()).await;
        match administrator_change {
            "still an administrator" => drop(answer.expect(201)),
            _ => drop(answer.problem(403, "invite_invalid")),
        }
    }
}

#[tokio::test]
async fn many_users_register_without_invitations_from_one_address() {
    let app = TestApp::with(&[("SF_REGISTRATION", "open")]).await;
    for number in 0..30 {
        register(&app, &format!("pupil{number}"), STRONG, None).await.expect(201);
    }
}

/// Registers forty accounts at the same time, each from its own address.
async fn register_forty_accounts(app: &TestApp) {
    let register = async |number: usize| {
        let body = json!({ "username": format!("new{number}"), "password": STRONG });
        app.from(&format!("198.51.100.{number}"), Method::POST, REGISTER)
            .json(&body)
            .send()
            .await
            .expect(201);
    };
    join_all((0..40).map(register)).await;
}

#[tokio::test]
async fn registrations_do_not_delay_log_ins() {
    let app = TestApp::with(&[("SF_REGISTRATION", "open")]).await;
    add_user(&app.state, "ada", STRONG).await;
    tokio::select! {
        biased;
        () = register_forty_accounts(&app) => panic!("the log-in waited for the registrations"),
        answer = log_in(&app, "ada", STRONG) => drop(answer.expect(200)),
    }
}

#[tokio::test]
async fn registrations_by_invitation_do_not_wait_for_others() {
    let app = TestApp::with(&[("SF_REGISTRATION", "open")]).await;
    let code = invite(&app, json!({})).await;
    tokio::select! {
        biased;
        () = register_forty_accounts(&app) => panic!("the invited registration waited for the others"),
        answer = register(&app, "ada", STRONG, Some(&code)) => drop(answer.expect(201)),
    }
}

/// The requests of one connection are parallel, like the streams of HTTP/2.
#[tokio::test]
async fn registrations_by_one_connection_do_not_delay_other_connections() {
    let app = TestApp::with(&[("SF_REGISTRATION", "open")]).await;
    let account = |name: &str| json!({ "username": name, "password": STRONG });
    let accounts: Vec<Value> = (0..40).map(|number| account(&format!("new{number}"))).collect();
    let by_one_connection = join_all(
        accounts
            .iter()
            .map(|body| app.from("198.51.100.7", Method::POST, REGISTER).connection(9).json(body).send()),
    );
    let mut by_one_connection = std::pin::pin!(by_one_connection);
    let ada = account("ada");
    tokio::select! {
        biased;
        _ = &mut by_one_connection => panic!("the registration waited for those of another connection"),
        answer = app.from("198.51.100.8", Method::POST, REGISTER).json(&ada).send() => drop(answer.expect(201)),
    }
}

#[tokio::test]
async fn a_registered_account_is_known_at_its_address() {
    let settings = [("SF_REGISTRATION", "open"), ("SF_LOGIN_FAILED_ACCOUNTS_PER_ADDRESS", "1")];
    let app = TestApp::with(&settings).await;
    register(&app, "ada", STRONG, None).await.expect(201);
    log_in(&app, "nobody", "wrong").await.problem(401, "bad_credentials");
    let _permits = app.state.throttle.fill_unknown_queue("192.0.2.77").await;
    log_in(&app, "ada", STRONG).await.expect(200);
}

#[tokio::test]
async fn an_administrator_can_list_and_lift_throttled_registrations() {
    let settings = [("SF_REGISTRATION", "open"), ("SF_REGISTRATIONS_PER_ADDRESS", "3")];
    let app = TestApp::with(&settings).await;
    for _ in 0..3 {
        register(&app, "ada", "weak", None).await.problem(400, "weak_password");
    }
    let waiting = register(&app, "ada", STRONG, None).await;
    waiting.problem(429, "too_many_requests");
    assert!(waiting.header("retry-after").parse::<u64>().is_ok_and(|secs| (1..=8).contains(&secs)));
    let throttled = "/api/v1/admin/throttled";
    let listed_invites = app.local(Method::GET, throttled).send().await.expect(200);
    let entry = &listed_invites["items"][0];
    assert_eq!(
        (&entry["kind"], &entry["failures"]),
        (&json!("registrations"), &json!(3)),
        "{listed_invites}"
    );
    assert_eq!((&entry["address"], &entry["username"]), (&json!("192.0.2.77"), &Value::Null));
    let lift = |address: &str| app.local(Method::DELETE, &format!("{throttled}?address={address}")).send();
    assert_eq!(lift("192.0.2.78").await.expect(200)["lifted"], 0);
    assert_eq!(lift("192.0.2.77").await.expect(200)["lifted"], 1);
    register(&app, "ada", STRONG, None).await.expect(201);
    let listed_invites = app.local(Method::GET, throttled).send().await.expect(200);
    assert_eq!(listed_invites["items"], json!([]));
}

#[tokio::test]
async fn mass_registration_is_slowed_down() {
    let settings = [("SF_REGISTRATION", "open"), ("SF_REGISTRATIONS_PER_ADDRESS", "10")];
    let app = TestApp::with(&settings).await;
    let mut statuses = Vec::new();
    for number in 0..13 {
        let answer = register(&app, &format!("user{number}"), "weak", None).await;
        if answer.status == 429 {
            assert!(answer.header("retry-after").parse::<u64>().is_ok_and(|secs| (1..=8).contains(&secs)));
            let detail = answer.problem(429, "too_many_requests");
            assert!(detail.contains("registrations"), "{detail}");
        }
        statuses.push(answer.status.as_u16());
    }
    assert_eq!(statuses[..10], [400; 10]);
    assert!(statuses.contains(&429), "{statuses:?}");
    // Registrations from other addresses do not wait.
    let body = json!({ "username": "ada", "password": STRONG });
    let call = app.from("203.0.113.5", Method::POST, REGISTER).json(&body);
    assert_token_is_valid(&app, &call.send().await).await;
}

async fn assert_token_is_valid(app: &TestApp, answer: &Answer) {
    answer.expect(201);
    let created_invite = answer.json()["access_token"].as_str().expect("a token").to_owned();
    me(app, &created_invite).await.expect(200);
    assert!(!token(&log_in(app, "ada", STRONG).await).is_empty());
}
