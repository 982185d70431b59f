//! Tests that unknown query parameters are refused by every operation.

use axum::http::Method;

use super::{document_of, operations};
use crate::test_app::TestApp;

#[tokio::test]
async fn only_users_are_told_the_names_of_parameters() {
    let app = TestApp::start().await;
    for path in ["/api/v1/admin/users?x=1", "/api/v1/projects?x=1"] {
        app.remote(Method::GET, path).send().await.problem(401, "token_missing");
        app.remote(Method::GET, path).token("nonsense").send().await.problem(401, "token_invalid");
        let token = app.admin_token().await;
        app.remote(Method::GET, path).token(&token).send().await.problem(400, "unknown_parameter");
    }
    let open_path = "/api/v1/auth/password-strength?x=1";
    app.remote(Method::POST, open_path).send().await.problem(400, "unknown_parameter");
}

#[tokio::test]
async fn an_unknown_query_parameter_is_refused_by_name() {
    let app = TestApp::start().await;
    let document = document_of(&app).await;
    for (path, method, operation) in operations(&document) {
        let parts = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
        let address = format!("{}?no_such=1", parts.collect::<Vec<_>>().join("/"));
        let method: Method = method.to_uppercase().parse().expect("a method");
        let answer = app.local(method.clone(), &address).send().await;
        assert_eq!(answer.status.as_u16(), 400, "{method} {address}");
        if method == Method::HEAD {
            continue;
        }
        let detail = answer.problem(400, "unknown_parameter");
        assert!(detail.contains("`no_such`"), "{detail}");
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().expect("a name");
            assert_eq!(
                detail.contains(&format!("`{name}`")),
                parameter["in"] == "query",
                "{method} {path}: {detail}"
            );
        }
    }
}

#[tokio::test]
async fn known_parameters_are_accepted_and_undescribed_paths_not_checked() {
    let app = TestApp::start().await;
    for address in ["/api/v1/projects?limit=2", "/api/v1/openapi.json?v=1", "/healthz?v=1"] {
        app.local(Method::GET, address).send().await.expect(200);
    }
    app.local(Method::HEAD, "/api/v1/projects?limit=2").send().await.expect(200);
    let answer = app.local(Method::GET, "/api/v1/projects?limit=2&Limit=3").send().await;
    assert!(answer.problem(400, "unknown_parameter").ends_with("it has `limit`, `cursor`."));
}
