//! Query parameters of this slice.

use serde::Deserialize;
use utoipa::IntoParams;

use super::{PresetKind, PresetSource};

/// Which presets a list shows.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PresetQuery {
    /// `instrument` or `effect_chain`; both by default.
    #[param(inline)]
    pub(super) kind: Option<PresetKind>,
    /// `factory` or `user`; both by default.
    #[param(inline)]
    pub(super) source: Option<PresetSource>,
    /// Part of the name, the category or the description, in any case.
    pub(super) search: Option<String>,
    /// The category, in any case.
    pub(super) category: Option<String>,
}

impl PresetQuery {
    /// The search text in lower case, if there is one.
    pub(super) fn search_key(&self) -> Option<String> {
        lower(self.search.as_deref())
    }

    /// The category in lower case, if there is one.
    pub(super) fn category_key(&self) -> Option<String> {
        lower(self.category.as_deref())
    }

    /// Whether the list includes presets of this source.
    pub(super) fn includes(&self, source: PresetSource) -> bool {
        self.source.is_none_or(|selected| selected == source)
    }
}

fn lower(text: Option<&str>) -> Option<String> {
    text.map(|text| text.trim().to_lowercase()).filter(|text| !text.is_empty())
}
