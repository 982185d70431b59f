//! Query parameters of this slice.

use serde::Deserialize;
use utoipa::IntoParams;

use crate::searches;

/// Filter of the list of templates.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct TemplateQuery {
    /// A keyword; upper and lower case count as equal.
    #[serde(default, deserialize_with = "searches::text")]
    #[param(max_length = 100)]
    pub(super) keyword: Option<String>,
    /// Part of the title, the text or a keyword; upper and lower case count as equal.
    #[serde(default, deserialize_with = "searches::text")]
    #[param(max_length = 100)]
    pub(super) search: Option<String>,
    /// `true`: favourites only; `false`: only templates that are not favourites.
    pub(super) favourite: Option<bool>,
}
