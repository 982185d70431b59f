//! Query parameters of `/presets`.

use serde::Deserialize;
use utoipa::IntoParams;

use super::{PresetKind, PresetSource};
use crate::searches;

/// Filter of the list of presets.
#[derive(Debug, Default, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PresetQuery {
    /// `instrument`, `effect_chain` or `export`; all by default.
    #[param(inline)]
    pub(super) kind: Option<PresetKind>,
    /// `factory` or `user`; both by default.
    #[param(inline)]
    pub(super) source: Option<PresetSource>,
    /// Text in the name, the category or the description, in upper or lower case.
    #[serde(default, deserialize_with = "searches::text")]
    #[param(max_length = 100)]
    pub(super) search: Option<String>,
    /// The whole category, in upper or lower case.
    #[serde(default, deserialize_with = "searches::text")]
    #[param(max_length = 100)]
    pub(super) category: Option<String>,
}

impl PresetQuery {
    /// Returns the search text in lower case; `None` if it is empty.
    pub(super) fn search_key(&self) -> Option<String> {
        lower(self.search.as_deref())
    }

    /// Returns the category in lower case; `None` if it is empty.
    pub(super) fn category_key(&self) -> Option<String> {
        lower(self.category.as_deref())
    }

    /// Whether the list includes presets of this source.
    pub(super) fn includes(&self, source: PresetSource) -> bool {
        self.source.is_none_or(|selected_source| selected_source == source)
    }
}

fn lower(text: Option<&str>) -> Option<String> {
    text.map(|text| text.trim().to_lowercase()).filter(|text| !text.is_empty())
}
