//! The expressions of a file that are MIDI controls in a project.

use std::borrow::Cow;

use super::element_tree::Node;

/// Value of a centred bend, which is half of its range.
pub(super) const BEND_CENTRE: f64 = 8192.0;

/// Returns a bend as a fraction of its range.
pub(super) fn fraction_of_bend(value: i16) -> f64 {
    (f64::from(value) + BEND_CENTRE) / (2.0 * BEND_CENTRE)
}

/// Returns the expression of a `Points` element; `None` if it has a parameter or is another
/// element.
pub(super) fn expression_of(points: Node<'_>) -> Option<Cow<'_, str>> {
    (points.name() == "Points").then(|| points.child("Target")?.attribute("expression")).flatten()
}

/// Whether points are MIDI controls.
pub(super) fn is_expression(points: Node<'_>) -> bool {
    expression_of(points).is_some_and(|expression| is_control(&expression))
}

/// Whether an expression is a MIDI control.
pub(super) fn is_control(expression: &str) -> bool {
    matches!(
        expression,
        "channelController" | "channelPressure" | "polyPressure" | "pitchBend" | "programChange"
    )
}
