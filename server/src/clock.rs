//! Times in the format of the database and of the API.

use std::time::SystemTime;

use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{OffsetDateTime, UtcOffset};

/// RFC 3339 in UTC with six fractional digits. All texts have the same length, so sorting the texts
/// sorts the times.
const FORMAT: &[BorrowedFormatItem<'static>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

/// Returns the current time as RFC 3339 text in UTC with microseconds.
#[must_use]
pub fn now_text() -> String {
    text(OffsetDateTime::now_utc())
}

/// Returns the time `secs` from now, or before now if negative, as RFC 3339 text.
#[must_use]
pub fn text_in(secs: i64) -> String {
    text(OffsetDateTime::now_utc().saturating_add(time::Duration::seconds(secs)))
}

/// Returns a time of the system's clock as RFC 3339 text.
#[must_use]
pub fn text_at(time: SystemTime) -> String {
    text(time.into())
}

/// Returns a Unix time in seconds as RFC 3339 text.
#[must_use]
pub fn text_of_unix_secs(unix_secs: i64) -> String {
    text(OffsetDateTime::from_unix_timestamp(unix_secs).unwrap_or(OffsetDateTime::UNIX_EPOCH))
}

/// Returns a Unix time in milliseconds as RFC 3339 text.
#[must_use]
pub fn text_of_unix_ms(unix_ms: i64) -> String {
    let time = OffsetDateTime::from_unix_timestamp_nanos(i128::from(unix_ms) * 1_000_000);
    text(time.unwrap_or(OffsetDateTime::UNIX_EPOCH))
}

/// Returns the current time in whole seconds since 1970.
#[must_use]
pub fn now_unix_secs() -> i64 {
    OffsetDateTime::now_utc().unix_timestamp()
}

/// Returns the current time in milliseconds since 1970.
#[must_use]
pub fn now_unix_ms() -> i64 {
    i64::try_from(OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX)
}

fn text(time: OffsetDateTime) -> String {
    time.to_offset(UtcOffset::UTC)
        .format(&FORMAT)
        .unwrap_or_else(|_| "1970-01-01T00:00:00.000000Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_sort_in_the_order_of_their_times() {
        let early_text = text(OffsetDateTime::from_unix_timestamp_nanos(1_000_000_000_000_001_000).unwrap());
        let late_text = text(OffsetDateTime::from_unix_timestamp_nanos(1_000_000_000_100_000_000).unwrap());
        assert_eq!(early_text, "2001-09-09T01:46:40.000001Z");
        assert!(early_text < late_text);
    }
}
