//! Refuses options that this version does not know.

use serde_json::Value;

use crate::error::{ApiError, ApiResult};

/// Refuses options that this version does not know, unless their values switch them off.
///
/// # Errors
/// 400 `unsupported_option` with the first such option.
pub(super) fn refuse_unknown<'a>(
    mut options: impl Iterator<Item = (&'a String, &'a Value)>,
) -> ApiResult<()> {
    match options.find(|(_, value)| !is_off(value)) {
        None => Ok(()),
        Some((name, _)) => Err(ApiError::bad_request(
            "unsupported_option",
            format!("This version of Songfoundry cannot apply the option `{name}`; leave it out."),
        )),
    }
}

/// Whether a value switches an option off.
fn is_off(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Object(fields) => fields.values().all(is_off),
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}
