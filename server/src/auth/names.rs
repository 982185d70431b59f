//! Rules for account names.

use crate::error::ApiError;

/// Minimum and maximum length of a name, in characters.
const NAME_MIN_CHARS: usize = 2;
const NAME_MAX_CHARS: usize = 64;

/// Returns a name as it is stored: trimmed and in lower case.
///
/// # Errors
/// 400 `bad_username` unless the name has 2 to 64 of the letters a to z, digits and `. _ - + @`,
/// and begins with a letter or digit. Other alphabets are refused, because they have letters that
/// look alike.
pub(super) fn clean_username(name: &str) -> Result<String, ApiError> {
    let name = name.trim().to_lowercase();
    let has_allowed_characters =
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-+@".contains(&byte));
    let has_allowed_start = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if has_allowed_characters && has_allowed_start && (NAME_MIN_CHARS..=NAME_MAX_CHARS).contains(&name.len())
    {
        return Ok(name);
    }
    let shown_name: String = name.chars().take(NAME_MAX_CHARS).collect();
    Err(ApiError::bad_request(
        "bad_username",
        format!(
            "`{shown_name}` cannot be a user name: use {NAME_MIN_CHARS} to {NAME_MAX_CHARS} letters from a to z, \
             digits and . _ - + @, beginning with a letter or a digit."
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_names_are_restricted_and_stored_in_lower_case() {
        for (name, expected) in
            [(" Ada ", "ada"), ("a.b-c_d+e@f.example", "a.b-c_d+e@f.example"), ("7x", "7x")]
        {
            assert_eq!(clean_username(name).unwrap(), expected);
        }
        let long_name = "x".repeat(65);
        for name in ["", "a", "-ab", "a b", "ada\n1", "аda", "a/b", "a%b", "@ada", long_name.as_str()] {
            assert!(clean_username(name).is_err(), "{name:?}");
        }
        assert!(clean_username(&"x".repeat(64)).is_ok());
    }
}
