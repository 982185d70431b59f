//! Splits lists into pages, with the query parameters `limit` and an opaque `cursor`.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::error::ApiError;

/// Default number of entries on a page.
const LIMIT_DEFAULT: u32 = 50;

/// Maximum number of entries on a page.
const LIMIT_MAX: u32 = 200;

/// The requested page of a list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Maximum number of entries on a page: 1 to 200, 50 by default.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page. Leave it out to get the first page.
    cursor: Option<String>,
}

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct Page<T> {
    /// The entries, newest first.
    pub items: Vec<T>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// Sort key of the last entry of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// Time of the entry, RFC 3339.
    pub time: String,
    /// Id of the entry, which orders entries with equal times.
    pub id: String,
}

impl PageQuery {
    /// Returns the maximum number of entries on the page.
    ///
    /// # Errors
    /// 400 `bad_query` if it is outside 1 to 200.
    pub fn limit(&self) -> Result<u32, ApiError> {
        match self.limit.unwrap_or(LIMIT_DEFAULT) {
            limit @ 1..=LIMIT_MAX => Ok(limit),
            limit => Err(ApiError::bad_request(
                "bad_query",
                format!("`limit` is {limit}; expected 1 to {LIMIT_MAX}"),
            )),
        }
    }

    /// Returns the sort key of the entry that the page follows; `None` for the first page.
    ///
    /// # Errors
    /// 400 `bad_cursor` if the cursor is not one that a list returned.
    pub fn position(&self) -> Result<Option<Position>, ApiError> {
        let Some(cursor) = &self.cursor else { return Ok(None) };
        let text = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        match text.as_deref().and_then(|text| text.split_once('|')) {
            Some((time, id)) => Ok(Some(Position { time: time.to_owned(), id: id.to_owned() })),
            None => Err(ApiError::bad_request(
                "bad_cursor",
                "`cursor` is invalid; pass the `next_cursor` of the previous page, or no cursor for the first page",
            )),
        }
    }
}

impl<T> Page<T> {
    /// Returns a page of a complete list. `id_of` returns the unique id of an entry.
    ///
    /// # Errors
    /// 400 `bad_query` for an invalid limit. 400 `bad_cursor` for an invalid cursor, or if the
    /// entry that the page follows is no longer in the list.
    pub fn of_whole(
        items: Vec<T>,
        query: &PageQuery,
        id_of: impl Fn(&T) -> String,
    ) -> Result<Self, ApiError> {
        let limit = query.limit()?;
        let bad_cursor_error = || {
            ApiError::bad_request(
                "bad_cursor",
                "the entry before this page was removed from the list; start again at the first page",
            )
        };
        let first = match query.position()? {
            None => 0,
            Some(Position { id, .. }) => {
                1 + items.iter().position(|item| id_of(item) == id).ok_or_else(bad_cursor_error)?
            }
        };
        let items = items.into_iter().skip(first).take(limit as usize + 1).collect();
        let position_of = |item: &T| Position { time: String::new(), id: id_of(item) };
        Ok(Self::from_overfetched(items, limit, position_of))
    }

    /// Makes a page of at most `limit` entries. `items` must have one more entry than that if
    /// another page follows.
    pub fn from_overfetched(mut items: Vec<T>, limit: u32, position_of: impl Fn(&T) -> Position) -> Self {
        let limit = limit as usize;
        let has_more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| has_more).map(position_of);
        let next_cursor =
            last.map(|Position { time, id }| BASE64_URL_SAFE_NO_PAD.encode(format!("{time}|{id}")));
        Self { items, next_cursor }
    }
}

/// Returns a LIKE pattern (with `ESCAPE '\'`) that matches lower-case names which contain `text`.
/// Wildcards in `text` are escaped.
#[must_use]
pub fn contains_pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for character in text.to_lowercase().chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_contains_the_sort_key_of_the_last_entry() {
        let position = |id: &&str| Position { time: "2026-01-01T00:00:00Z".to_owned(), id: (*id).to_owned() };
        let page = Page::from_overfetched(vec!["a", "b|c", "d"], 2, position);
        assert_eq!(page.items, ["a", "b|c"]);
        let query = PageQuery { limit: None, cursor: page.next_cursor };
        assert_eq!(query.position().unwrap(), Some(position(&"b|c")));
        assert_eq!(Page::from_overfetched(vec!["a", "b"], 2, position).next_cursor, None);
    }

    #[test]
    fn a_complete_list_is_paged_by_the_ids_of_its_entries() {
        let list = || vec!["a|b", "c", "d"];
        let page = |limit, cursor| {
            let query = PageQuery { limit: Some(limit), cursor };
            Page::of_whole(list(), &query, |name| (*name).to_owned())
        };
        let first = page(2, None).unwrap();
        assert_eq!(first.items, ["a|b", "c"]);
        let second = page(2, first.next_cursor).unwrap();
        assert_eq!((second.items, second.next_cursor), (vec!["d"], None));
        let page_after_removal = Page::from_overfetched(vec!["x", "y"], 1, |id| Position {
            time: String::new(),
            id: (*id).to_owned(),
        });
        assert!(page(2, page_after_removal.next_cursor).is_err());
        assert!(page(0, None).is_err());
    }

    #[test]
    fn invalid_cursors_and_limits_are_refused() {
        for cursor in ["", "!!", "AAAA", "_"] {
            let query = PageQuery { limit: None, cursor: Some(cursor.to_owned()) };
            assert!(query.position().is_err(), "{cursor:?}");
        }
        for limit in [0, 201, u32::MAX] {
            assert!(PageQuery { limit: Some(limit), cursor: None }.limit().is_err());
        }
    }

    #[test]
    fn a_like_pattern_escapes_wildcards() {
        assert_eq!(contains_pattern("50%_\\É"), "%50\\%\\_\\\\é%");
    }
}
