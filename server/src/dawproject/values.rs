//! Values of attributes.

use super::element_tree::Node;
use super::refusal::Refusal;

/// Id of the device that stands for the SoundFont preset of an exported track.
pub(super) const INSTRUMENT_ID: &str = "songfoundry.soundfont";

/// Maximum length of a name in characters, as in the project schema.
const NAME_MAX_CHARS: usize = 500;

/// Largest absolute value of a number in a file, such as a time in beats or seconds.
const NUMBER_MAX: f64 = 1e9;

/// Returns a number.
///
/// # Errors
/// The value is not a number from -1e9 to 1e9.
pub(super) fn number(node: Node<'_>, attribute: &str) -> Result<Option<f64>, Refusal> {
    let Some(text) = node.attribute(attribute) else { return Ok(None) };
    match text.trim().parse::<f64>() {
        Ok(value) if value.abs() <= NUMBER_MAX => Ok(Some(value)),
        _ => {
            let shown_text: String =
                text.chars().filter(|character| !character.is_control()).take(40).collect();
            Err(Refusal::from_reason(format!(
                "`{attribute}` of a `{}` is `{shown_text}`, but it must be a number from -{NUMBER_MAX} to {NUMBER_MAX}",
                node.name().chars().take(40).collect::<String>()
            )))
        }
    }
}

/// Returns a number that the element must have.
///
/// # Errors
/// The number is missing or too large.
pub(super) fn required_number(node: Node<'_>, attribute: &str) -> Result<f64, Refusal> {
    number(node, attribute)?
        .ok_or_else(|| Refusal::from_reason(format!("a `{}` has no `{attribute}`", node.name())))
}

/// Returns the `value` of a parameter or point, which may be infinite; `None` if it is missing or
/// not a number.
pub(super) fn value_of(node: Node<'_>) -> Option<f64> {
    node.attribute("value")?.trim().parse::<f64>().ok().filter(|value| !value.is_nan())
}

/// Returns a name for people, without control characters.
pub(super) fn name_of(node: Node<'_>) -> String {
    shown_name(&node.attribute("name").unwrap_or_default())
}

/// Returns a text as a name for people.
pub(super) fn shown_name(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(NAME_MAX_CHARS).collect()
}
