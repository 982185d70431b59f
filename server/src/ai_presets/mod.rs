//! Prompt templates: texts for language models with variables and keywords.

mod queries;
mod store;
mod template;
mod template_body;
mod verbs;

use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::db::RowLimits;
use crate::state::AppState;

/// Limits on the templates of a user.
const ROW_LIMITS: RowLimits = RowLimits {
    table: "ai_presets",
    text_column: "body",
    code: "too_many_templates",
    noun: "templates",
    max_rows: 2_000,
    text_mib: 4,
};

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(verbs::list, verbs::create))
        .routes(routes!(verbs::read, verbs::replace, verbs::delete))
        .routes(routes!(verbs::set_favourite))
        .routes(routes!(verbs::render))
}

/// A prompt template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PromptTemplate {
    /// Id, a UUID.
    pub id: String,
    /// Title of the template.
    pub title: String,
    /// The text, with `{{name}}` at the positions of variables.
    pub body: String,
    /// Keywords for searches.
    pub keywords: Vec<String>,
    /// Whether the template is a favourite.
    pub favourite: bool,
    /// Names of the variables, in the order of their first use.
    pub variables: Vec<String>,
    /// When the template was stored, RFC 3339.
    pub created_at: String,
    /// When the template was last replaced, RFC 3339. Setting only `favourite` does not count.
    pub updated_at: String,
}

#[cfg(test)]
mod tests;
