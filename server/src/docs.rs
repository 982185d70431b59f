//! The API's description: `/api/v1/openapi.json`, and a page to browse it at `/api/docs`.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use utoipa::Modify;
use utoipa::openapi::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa_swagger_ui::{Config as SwaggerConfig, SwaggerUi};

use crate::state::AppState;

/// Adds the bearer token to the document.
pub(crate) struct BearerScheme;

impl Modify for BearerScheme {
    fn modify(&self, document: &mut OpenApi) {
        let scheme = SecurityScheme::Http(
            Http::builder()
                .scheme(HttpAuthScheme::Bearer)
                .bearer_format("JWT")
                .description(Some("A token from `/auth/login`, or an API key."))
                .build(),
        );
        document.components.get_or_insert_default().add_security_scheme("bearer", scheme);
    }
}

#[derive(Clone)]
struct Document {
    json: Arc<str>,
    etag: HeaderValue,
}

/// Serves `document` and the page that shows it.
pub(crate) fn routes(document: &OpenApi) -> Router<AppState> {
    let json: Arc<str> = with_project_schema(document).to_string().into();
    let etag = format!("\"{:x}\"", Sha256::digest(json.as_bytes()));
    let etag = HeaderValue::from_str(&etag).unwrap_or_else(|_| HeaderValue::from_static("\"\""));
    let ui = SwaggerUi::new("/api/docs").config(SwaggerConfig::from("/api/v1/openapi.json"));
    Router::new()
        .route("/api/v1/openapi.json", get(openapi).with_state(Document { json, etag }))
        .merge(Router::from(ui))
}

/// The document, with the project's JSON Schema in place of the stand-in, and the schema's
/// definitions beside it as `Project.<name>`.
fn with_project_schema(document: &OpenApi) -> Value {
    let mut document = serde_json::to_value(document).unwrap_or_default();
    let mut project: Value = serde_json::from_str(schemas::PROJECT_SCHEMA).unwrap_or_default();
    point_at_components(&mut project);
    let Some(project_fields) = project.as_object_mut() else { return document };
    let definitions = project_fields.shift_remove("$defs");
    // A component is no document of its own.
    project_fields.shift_remove("$id");
    project_fields.shift_remove("$schema");
    if let Some(components) = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut) {
        components.insert("Project".to_owned(), project);
        for (name, definition) in definitions.as_ref().and_then(Value::as_object).into_iter().flatten() {
            components.insert(format!("Project.{name}"), definition.clone());
        }
    }
    document
}

/// Turns references to `#/$defs/X` into references to `#/components/schemas/Project.X`.
fn point_at_components(value: &mut Value) {
    match value {
        Value::Object(fields) => point_fields_at_components(fields),
        Value::Array(values) => values.iter_mut().for_each(point_at_components),
        _ => {}
    }
}

fn point_fields_at_components(fields: &mut Map<String, Value>) {
    for (name, value) in fields.iter_mut() {
        match value {
            Value::String(text) if name == "$ref" => {
                if let Some(definition) = text.strip_prefix("#/$defs/") {
                    *text = format!("#/components/schemas/Project.{definition}");
                }
            }
            other => point_at_components(other),
        }
    }
}

async fn openapi(State(document): State<Document>, headers: HeaderMap) -> Response {
    let common = [
        (header::ETAG, document.etag.clone()),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
    ];
    if crate::etag::matches_none(&headers, document.etag.to_str().unwrap_or("")) {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    (common, document.json.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use axum::http::Method;
    use serde_json::Value;

    use crate::test_app::TestApp;

    fn references<'v>(value: &'v Value, found: &mut BTreeSet<&'v str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[tokio::test]
    async fn the_description_is_whole() {
        let app = TestApp::start().await;
        let answer = app.remote(Method::GET, "/api/v1/openapi.json").send().await;
        let document = answer.expect(200);
        assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")), "{document}");
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        assert!(found.contains("#/components/schemas/Project"), "{found:?}");
        for reference in &found {
            let target = reference.strip_prefix('#').expect("a reference into the document");
            assert!(document.pointer(target).is_some(), "{reference} leads nowhere");
        }
        for path in ["/api/v1/auth/login", "/api/v1/projects/{id}", "/api/v1/tasks/{id}/events"] {
            assert!(document["paths"].get(path).is_some(), "{path} is not described");
        }
        let etag = answer.header("etag").to_owned();
        let again =
            app.remote(Method::GET, "/api/v1/openapi.json").header("if-none-match", &etag).send().await;
        again.expect(304);
    }

    #[tokio::test]
    async fn it_can_be_browsed() {
        let app = TestApp::start().await;
        let page = app.remote(Method::GET, "/api/docs/").send().await;
        assert_eq!(page.status, 200);
        assert!(String::from_utf8_lossy(&page.bytes).contains("swagger-ui"));
        let script = app.remote(Method::GET, "/api/docs/swagger-initializer.js").send().await;
        assert!(String::from_utf8_lossy(&script.bytes).contains("/api/v1/openapi.json"));
    }
}
