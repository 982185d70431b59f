//! Templates in the bodies of requests.

use std::collections::BTreeSet;

use serde::Deserialize;
use utoipa::ToSchema;

use crate::error::{ApiError, ApiResult, FieldError};

/// Maximum lengths of texts, in characters.
const TITLE_MAX_CHARS: usize = 200;
const BODY_MAX_CHARS: usize = 20_000;
const KEYWORD_MAX_CHARS: usize = 64;

/// Maximum number of keywords of a template.
const KEYWORDS_MAX: usize = 20;

/// A template to store.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TemplateBody {
    /// The title: 1 to 200 characters.
    pub(super) title: String,
    /// The text: 1 to 20000 characters, with `{{name}}` at the positions of variables.
    pub(super) body: String,
    /// Keywords for searches: at most 20, each with 1 to 64 characters, which must differ not only
    /// in case. The default is an empty list.
    #[serde(default)]
    pub(super) keywords: Vec<String>,
    /// Whether the template is a favourite; false by default.
    #[serde(default)]
    pub(super) favourite: bool,
}

impl TemplateBody {
    /// Trims the title and the keywords, and checks the template.
    ///
    /// # Errors
    /// 400 `invalid_template` with all invalid values.
    pub(super) fn into_validated(mut self) -> ApiResult<Self> {
        let mut errors = Vec::new();
        let mut fault = |pointer: String, detail: String| errors.push(FieldError { pointer, detail });
        self.title = self.title.trim().to_owned();
        if !is_printable(&self.title, TITLE_MAX_CHARS) {
            fault("/title".to_owned(), unprintable_text(&self.title, TITLE_MAX_CHARS));
        }
        let chars = self.body.chars().count();
        if self.body.trim().is_empty() || chars > BODY_MAX_CHARS {
            let detail =
                format!("expected 1 to {BODY_MAX_CHARS} characters, not only spaces; the text has {chars}");
            fault("/body".to_owned(), detail);
        }
        if self.keywords.len() > KEYWORDS_MAX {
            let detail =
                format!("expected at most {KEYWORDS_MAX} keywords; there are {}", self.keywords.len());
            fault("/keywords".to_owned(), detail);
        }
        let mut seen_names = BTreeSet::new();
        for (index, keyword) in self.keywords.iter_mut().enumerate() {
            *keyword = keyword.trim().to_owned();
            if !is_printable(keyword, KEYWORD_MAX_CHARS) {
                fault(format!("/keywords/{index}"), unprintable_text(keyword, KEYWORD_MAX_CHARS));
            } else if !seen_names.insert(keyword.to_lowercase()) {
                fault(format!("/keywords/{index}"), format!("`{keyword}` occurs twice"));
            }
        }
        let Some(first_error) = errors.first() else { return Ok(self) };
        let detail = format!(
            "The template is not valid. The first error is at {}: {}",
            first_error.pointer, first_error.detail
        );
        Err(ApiError::Invalid { code: "invalid_template", detail, errors })
    }
}

/// Returns the error text for a text that is not [`is_printable`].
fn unprintable_text(text: &str, max_chars: usize) -> String {
    let chars = text.chars().count();
    format!("expected 1 to {max_chars} printable characters; the text has {chars} characters")
}

fn is_printable(text: &str, max_chars: usize) -> bool {
    (1..=max_chars).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}
