//! Completes the OpenAPI document that is generated from the handlers.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use utoipa::Modify;
use utoipa::openapi::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};

/// The extension of the document that describes which callers are allowed to call an operation.
pub(crate) const CALLERS_FIELD: &str = "x-who";

/// Adds the bearer token to the document as a security scheme.
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

/// Returns the complete document, as the service sends it.
pub(crate) fn complete(document: &OpenApi) -> Value {
    let mut document = with_project_schema(document);
    let request_schemas = schemas_of_requests(&document);
    if let Some(schemas) = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut) {
        for (name, schema) in schemas.iter_mut().filter(|(name, _)| !request_schemas.contains(*name)) {
            // Projects are sent by clients, which may leave out fields.
            if name != "Project" && !name.starts_with("Project.") {
                require_nullable(schema);
            }
        }
    }
    for_each_operation(&mut document, |path, method, operation| {
        operation.insert("operationId".to_owned(), operation_id(path, method).into());
        for parameter in operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten() {
            remove_null(&mut parameter["schema"]);
        }
        add_answers(path, operation);
        super::examples::add(operation);
        let callers = callers_of(operation);
        operation.entry(CALLERS_FIELD).or_insert_with(|| callers.into());
    });
    document
}

/// Calls `change` with the path, the method and the description of every operation.
fn for_each_operation(document: &mut Value, mut change: impl FnMut(&str, &str, &mut Map<String, Value>)) {
    for (path, methods) in document["paths"].as_object_mut().into_iter().flatten() {
        for (method, operation) in methods.as_object_mut().into_iter().flatten() {
            if let Some(operation) = operation.as_object_mut() {
                change(path, method, operation);
            }
        }
    }
}

/// Returns the unique name of an operation, such as `get_projects_id_raw` for `GET
/// /api/v1/projects/{id}/raw`.
fn operation_id(path: &str, method: &str) -> String {
    let path = path.trim_start_matches("/api/v1");
    let words =
        path.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    std::iter::once(method).chain(words).collect::<Vec<_>>().join("_")
}

/// Describes which callers are allowed to call an operation, from its roles (OpenAPI 3.1, Security
/// Requirement Object). `local` adds callers on this machine; `log_in` excludes API keys;
/// `before_password_change` means that the operation is allowed while the password must be changed.
fn callers_of(operation: &Map<String, Value>) -> String {
    if !is_for_users(operation) {
        return "everybody".to_owned();
    }
    let requirements = operation.get("security").and_then(Value::as_array).into_iter().flatten();
    let roles: Vec<&str> = requirements
        .filter_map(|requirement| requirement["bearer"].as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut callers = match (roles.contains(&"admin"), roles.contains(&"local")) {
        (true, true) => "administrators and callers on this machine",
        (true, false) => "administrators",
        (false, _) => "users",
    }
    .to_owned();
    if roles.contains(&"log_in") {
        callers.push_str(", not by an API key");
    }
    if roles.contains(&"before_password_change") {
        callers.push_str(", even before a required change of the password");
    }
    callers
}

/// Removes null from the type of a parameter. A client leaves a parameter out instead of sending
/// null.
fn remove_null(schema: &mut Value) {
    if let Some([kind, null]) = schema["type"].as_array().map(Vec::as_slice)
        && null == "null"
    {
        schema["type"] = kind.clone();
    }
}

/// Default descriptions of answers by status (RFC 9110, section 15).
const ANSWERS: &[(&str, &str)] = &[
    ("200", "Succeeded; the body contains the result."),
    ("201", "Created; the body describes the new resource."),
    ("202", "Started; the body names the task that continues the work."),
    ("206", "The requested range."),
    ("304", "Not changed since the answer with this entity tag."),
];

/// Whether an error applies to the operation with this path and description.
type Condition = fn(&str, &Map<String, Value>) -> bool;

/// Errors in addition to those that the handlers declare: condition, status and description.
const REFUSALS: &[(Condition, &str, &str)] = &[
    (has_input, "400", "The request is malformed."),
    (needs_login, "401", "The token is missing, invalid or expired."),
    (needs_login, "403", "The caller is not allowed to do this, or must change the password first."),
    (has_path_parameter, "404", "The resource does not exist, or belongs to another account."),
    (has_body, "408", "The body did not arrive completely, or took too long."),
    (has_body, "413", "The body exceeds its limit."),
    (has_body, "415", "The operation does not accept this media type."),
    (always, "429", "Too many requests; `Retry-After` says when to try again."),
    (always, "500", "An error of the service; its log has the details."),
    (
        always,
        "503",
        "The database or the storage is busy or does not answer; a retry in a moment may succeed.",
    ),
    (always, "507", "The storage is full."),
];

fn has_input(path: &str, operation: &Map<String, Value>) -> bool {
    has_path_parameter(path, operation) || has_body(path, operation) || operation.contains_key("parameters")
}

fn needs_login(_: &str, operation: &Map<String, Value>) -> bool {
    is_for_users(operation)
}

/// Whether an operation requires a token.
pub(crate) fn is_for_users(operation: &Map<String, Value>) -> bool {
    // An empty requirement makes the token optional. Without a list, the document's default
    // requires a token.
    operation
        .get("security")
        .and_then(Value::as_array)
        .is_none_or(|requirements| requirements.iter().all(|requirement| *requirement != json!({})))
}

fn has_path_parameter(path: &str, _: &Map<String, Value>) -> bool {
    path.contains('{')
}

fn has_body(_: &str, operation: &Map<String, Value>) -> bool {
    operation.contains_key("requestBody")
}

fn always(_: &str, _: &Map<String, Value>) -> bool {
    true
}

/// Adds common errors and default descriptions, and declares that the body of every error is a
/// problem.
fn add_answers(path: &str, operation: &mut Map<String, Value>) {
    let possible: Vec<_> = REFUSALS.iter().filter(|(condition, ..)| condition(path, operation)).collect();
    let Some(answers) = operation.get_mut("responses").and_then(Value::as_object_mut) else { return };
    for (_, status, description) in possible {
        answers.entry(*status).or_insert_with(|| json!({ "description": description }));
    }
    answers.sort_keys();
    for (status, description) in ANSWERS {
        if let Some(answer) = answers.get_mut(*status).and_then(Value::as_object_mut) {
            answer.entry("description").or_insert_with(|| (*description).into());
        }
    }
    for (_, answer) in answers.iter_mut().filter(|(status, _)| status.as_str() >= "400") {
        answer["content"] =
            json!({ "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } });
    }
}

/// Returns the names of the schemas in request bodies.
fn schemas_of_requests(document: &Value) -> BTreeSet<String> {
    let mut schema_names = BTreeSet::new();
    let methods = document["paths"].as_object().into_iter().flatten();
    for operation in methods.flat_map(|(_, methods)| methods.as_object().into_iter().flatten()) {
        collect_schemas(document, &operation.1["requestBody"], &mut schema_names);
    }
    schema_names
}

fn collect_schemas(document: &Value, value: &Value, schema_names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            let name = fields.get("$ref").and_then(Value::as_str).and_then(|text| text.rsplit('/').next());
            if let Some(name) = name
                && schema_names.insert(name.to_owned())
            {
                collect_schemas(document, &document["components"]["schemas"][name], schema_names);
            }
            fields.values().for_each(|value| collect_schemas(document, value, schema_names));
        }
        Value::Array(values) => {
            values.iter().for_each(|value| collect_schemas(document, value, schema_names));
        }
        _ => {}
    }
}

/// Marks every field that may be null as required, because answers never leave out fields.
fn require_nullable(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let nullable: Vec<Value> = fields
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .filter(|(_, property)| may_be_null(property))
                .map(|(name, _)| name.as_str().into())
                .collect();
            if !nullable.is_empty()
                && let Value::Array(required_names) =
                    fields.entry("required").or_insert_with(|| Value::Array(vec![]))
            {
                required_names.extend(nullable);
                let mut seen_names = BTreeSet::new();
                required_names.retain(|name| seen_names.insert(name.to_string()));
            }
            fields.values_mut().for_each(require_nullable);
        }
        Value::Array(values) => values.iter_mut().for_each(require_nullable),
        _ => {}
    }
}

fn may_be_null(schema: &Value) -> bool {
    let names_null =
        |kind: &Value| kind == "null" || kind.as_array().is_some_and(|types| types.contains(&"null".into()));
    match schema.get("type") {
        Some(kind) => names_null(kind),
        // A schema without a type allows any value.
        None => match schema.get("oneOf").and_then(Value::as_array) {
            Some(kinds) => kinds.iter().any(|kind| kind["type"] == "null"),
            None => schema.get("$ref").is_none() && schema.get("allOf").is_none(),
        },
    }
}

/// Returns the document with the project's JSON Schema in place of the placeholder. The schema's
/// definitions are named `Project.<name>`.
fn with_project_schema(document: &OpenApi) -> Value {
    let mut document = serde_json::to_value(document).unwrap_or_default();
    let mut project: Value = serde_json::from_str(schemas::PROJECT_SCHEMA).unwrap_or_default();
    point_at_components(&mut project);
    let Some(project_fields) = project.as_object_mut() else { return document };
    let definitions = project_fields.shift_remove("$defs");
    // A component is not a separate document, so it has no `$id` and `$schema`.
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

/// Changes references to `#/$defs/X` into references to `#/components/schemas/Project.X`.
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
            value => point_at_components(value),
        }
    }
}
