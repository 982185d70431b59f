//! Calls every operation as every kind of caller, and compares the answers with the description.

use std::collections::HashMap;

use axum::http::Method;
use serde_json::{Value, json};

use super::{document_of, operations};
use crate::audio::tests::{UPLOAD, with_form};
use crate::docs::document::CALLERS_FIELD;
use crate::test_app::{Answer, Call, TestApp};

/// Kinds of callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caller {
    /// On another machine, without credentials.
    Nobody,
    /// The user who owns the resources in the paths.
    Owner,
    /// An API key of that user.
    OwnersKey,
    /// Another user.
    Stranger,
    /// A user who must change the password before any other operation.
    Unsettled,
    /// An administrator on another machine.
    Admin,
    /// An API key of an administrator.
    AdminsKey,
    /// On this machine, without credentials.
    Local,
}

/// The callers in the order of their calls. The owners are the last ones, because they delete the
/// resources.
const CALLERS: [Caller; 8] = [
    Caller::Nobody,
    Caller::Stranger,
    Caller::Unsettled,
    Caller::AdminsKey,
    Caller::Admin,
    Caller::Local,
    Caller::OwnersKey,
    Caller::Owner,
];

/// An operation as the API's description declares it.
struct Operation {
    method: Method,
    path: String,
    who: String,
    /// Media type of the request body, if the operation has a body.
    body: Option<String>,
    statuses: Vec<u16>,
}

impl Operation {
    fn of(path: &str, method: &str, described: &Value) -> Self {
        let bodies = described["requestBody"]["content"].as_object();
        Self {
            method: method.to_uppercase().parse().expect("a method"),
            path: path.to_owned(),
            who: described[CALLERS_FIELD].as_str().expect("the permitted callers").to_owned(),
            body: bodies.and_then(|kinds| kinds.keys().next().cloned()),
            statuses: described["responses"]
                .as_object()
                .expect("answers")
                .keys()
                .map(|key| key.parse().expect("a status"))
                .collect(),
        }
    }

    /// Returns the status and code that `caller` gets according to the description, or `None` if
    /// the caller is admitted.
    fn refusal(&self, caller: Caller) -> Option<(u16, &'static str)> {
        use Caller::{Admin, AdminsKey, Local, Nobody, Owner, OwnersKey, Stranger, Unsettled};
        let says = |words: &str| self.who.contains(words);
        match caller {
            _ if says("local callers") => (caller != Local).then_some((403, "not_local")),
            _ if says("everybody") => None,
            Nobody => Some((401, "token_missing")),
            Unsettled if !says("even before") => Some((403, "must_change_password")),
            Owner | OwnersKey | Stranger | Unsettled if says("administrators") => Some((403, "admin_only")),
            OwnersKey | AdminsKey if says("not by an API key") => Some((403, "api_key_not_allowed")),
            Owner | OwnersKey | Stranger | Unsettled | Admin | AdminsKey | Local => None,
        }
    }

    /// Whether the operation ends the caller's log-in, so that it must be called last.
    fn ends_the_log_in(&self) -> bool {
        self.path.ends_with("/auth/logout")
    }
}

/// Ids of a user's resources, by the prefixes of their paths.
pub(super) struct Resources(HashMap<&'static str, String>);

impl Resources {
    pub(super) async fn create(app: &TestApp, token: &str) -> Self {
        let post = |path: &str| app.remote(Method::POST, path).token(token);
        let project = json!({ "schema_version": 1, "project_id": "song", "tracks": [] });
        post("/api/v1/projects").json(&project).send().await.expect(201);
        let sound = crate::audio::test_files::sine_wav(440.0, 48_000, 0.1);
        let uploading = post(&format!("{UPLOAD}?async=true"));
        let task = with_form(uploading, &[("a.wav", &sound)]).send().await.expect(202);
        let audio = with_form(post(UPLOAD), &[("a.wav", &sound)]).send().await.expect(201);
        let upload =
            post("/api/v1/audio/uploads").header("tus-resumable", "1.0.0").header("upload-length", "9");
        let upload = upload.send().await;
        let upload = upload.header("location").rsplit('/').next().expect("an id").to_owned();
        let key =
            post("/api/v1/auth/api-keys").json(&json!({ "name": "to be deleted" })).send().await.expect(201);
        let text = |value: &Value| value.as_str().expect("an id").to_owned();
        Self(HashMap::from([
            ("/api/v1/projects/", "song".to_owned()),
            ("/api/v1/audio/uploads/", upload),
            ("/api/v1/audio/", text(&audio["files"][0]["id"])),
            ("/api/v1/tasks/", text(&task["task_id"])),
            ("/api/v1/auth/api-keys/", text(&key["id"])),
        ]))
    }

    /// Returns the path with an id for each parameter, and whether the path refers to one of these
    /// resources.
    pub(super) fn path(&self, template: &str) -> (String, bool) {
        let Some((before, remainder)) = template.split_once('{') else {
            return (template.to_owned(), false);
        };
        let id = self.0.get(before);
        let path_end = remainder.split_once('}').expect("a parameter").1.replace("{n}", "1");
        assert!(!path_end.contains('{'), "{template} has a parameter that this test does not know");
        (format!("{before}{}{path_end}", id.map_or("nobodys-id", String::as_str)), id.is_some())
    }
}

fn call<'a>(
    app: &'a TestApp,
    tokens: &HashMap<&str, String>,
    caller: Caller,
    operation: &Operation,
    path: &str,
) -> Call<'a> {
    let remote = || app.remote(operation.method.clone(), path);
    let call = match caller {
        Caller::Nobody => remote(),
        Caller::Local => app.local(operation.method.clone(), path),
        _ => remote().token(&tokens[format!("{caller:?}").as_str()]),
    };
    match operation.body.as_deref() {
        // The body is invalid, which has no effect here, because access is checked first.
        Some("multipart/form-data") => call.raw("multipart/form-data; boundary=b", "--b--\r\n"),
        Some(kind) => call.raw(kind, "{}"),
        None => call,
    }
}

fn check(operation: &Operation, caller: Caller, answer: &Answer, is_resource: bool) {
    let status = answer.status.as_u16();
    let body = String::from_utf8_lossy(&answer.bytes);
    let about = format!("{} {} by {caller:?}: {status} {body}", operation.method, operation.path);
    assert!(operation.statuses.contains(&status), "not described: {about}");
    let code =
        serde_json::from_slice::<Value>(&answer.bytes).map_or(Value::Null, |body| body["code"].clone());
    if let Some((expected, expected_code)) = operation.refusal(caller) {
        assert_eq!(status, expected, "{about}");
        assert!(operation.method == Method::HEAD || code == expected_code, "{about}");
        return;
    }
    // A wrong name or password at a log-in has a separate code.
    assert!(status != 401 || code == "wrong_credentials", "{about}");
    let authorization_codes = ["admin_only", "api_key_not_allowed", "must_change_password", "not_local"];
    assert!(!authorization_codes.iter().any(|refused_code| code == *refused_code), "{about}");
    // Only its owner can use the resources of an account.
    if is_resource && !matches!(caller, Caller::Owner | Caller::OwnersKey) {
        assert!((400..500).contains(&status), "{about}");
    }
}

#[tokio::test]
async fn every_operation_admits_exactly_the_described_callers() {
    let app = TestApp::start().await;
    let owner = app.token_of_new_user("ada").await;
    let admin = app.admin_token().await;
    let created_resource =
        app.remote(Method::POST, "/api/v1/admin/users").token(&admin).json(&json!({ "username": "new" }));
    let password = created_resource.send().await.expect(201)["password"].clone();
    let log_in = app.remote(Method::POST, "/api/v1/auth/login");
    let unsettled = log_in.json(&json!({ "username": "new", "password": password })).send().await.expect(200);
    let tokens = HashMap::from([
        ("OwnersKey", app.create_api_key(&owner).await),
        ("AdminsKey", app.create_api_key(&admin).await),
        ("Stranger", app.token_of_new_user("grace").await),
        ("Unsettled", unsettled["access_token"].as_str().expect("a token").to_owned()),
        ("Owner", owner.clone()),
        ("Admin", admin),
    ]);
    let resources = Resources::create(&app, &owner).await;

    let document = document_of(&app).await;
    let mut all_operations: Vec<Operation> = operations(&document)
        .map(|(path, method, described)| Operation::of(path, method, described))
        .collect();
    assert!(all_operations.len() > 70, "{}", all_operations.len());
    // Operations that delete or log out are called last.
    all_operations.sort_by_key(|operation| (operation.ends_the_log_in(), operation.method == Method::DELETE));
    for caller in CALLERS {
        for operation in &all_operations {
            let (path, is_resource) = resources.path(&operation.path);
            let answer = call(&app, &tokens, caller, operation, &path).send().await;
            check(operation, caller, &answer, is_resource);
        }
    }
}

#[tokio::test]
async fn only_the_owner_can_read_a_resource() {
    let app = TestApp::start().await;
    let (owner, stranger) = (app.token_of_new_user("ada").await, app.token_of_new_user("grace").await);
    let resources = Resources::create(&app, &owner).await;
    let document = document_of(&app).await;
    let mut read_count = 0;
    for (path, method, _) in
        operations(&document).filter(|(_, method, _)| *method == "get" || *method == "delete")
    {
        let (path, is_resource) = resources.path(path);
        if !is_resource || path.ends_with("/events") {
            continue;
        }
        let method: Method = method.to_uppercase().parse().expect("a method");
        let send =
            |token| app.remote(method.clone(), &path).header("tus-resumable", "1.0.0").token(token).send();
        assert_eq!(send(&stranger).await.status.as_u16(), 404, "{method} {path}");
        if method == Method::GET {
            assert_eq!(send(&owner).await.status.as_u16(), 200, "{method} {path}");
            read_count += 1;
        }
    }
    assert!(read_count >= 8, "{read_count}");
}
