//! Levels as text.

/// Returns a level with its unit, or `silence`.
pub(super) fn level(value: Option<f64>, unit: &str) -> String {
    value.map_or("silence".to_owned(), |value| format!("{value:.1} {unit}"))
}
