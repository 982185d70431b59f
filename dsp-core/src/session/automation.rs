//! Automation: values that change over time.

use alloc::vec::Vec;

/// A parameter of a track or of the master, and the curve that moves it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AutomationLane {
    /// The parameter.
    pub target: AutomationTarget,
    /// The points of the curve, by ascending frame. Before the first point the curve has the value
    /// of the first, after the last that of the last. Of two points at one frame, the second holds
    /// from that frame on.
    pub points: Vec<AutomationPoint>,
}

/// The parameter that a lane moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AutomationTarget {
    /// The fader, in decibels; curves are linear in decibels.
    Volume,
    /// The pan, -1 to 1.
    Pan,
    /// The level of a send in decibels, by the index of the send in its track.
    Send(u32),
    /// A parameter of an effect, in its own unit.
    Effect {
        /// Index of the effect in its track.
        effect: u32,
        /// Index of the parameter in the table of the effect's kind.
        parameter: u32,
    },
}

/// A point of an automation curve.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AutomationPoint {
    /// Frames from the start of the session.
    pub frame: u64,
    /// The value from this frame on.
    pub value: f64,
    /// The shape of the segment from this point to the next.
    pub curve: Curve,
}

/// The shape of a segment between two points.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Curve {
    /// A straight line.
    #[default]
    Linear,
    /// The value stays, and jumps at the next point.
    Step,
    /// An arc by its curvature `c`, -1 to 1. At the fraction `x` of the segment's time the value
    /// has covered the fraction `x / (x + (1 - x) (1 + c) / (1 - c))` of its change (the bias curve
    /// of C. Schlick, "Fast alternatives to Perlin's bias and gain functions", Graphics Gems IV,
    /// 1994); at half of the time that is `(1 - c) / 2`. 0 is straight. A positive curvature
    /// changes the value late, 1 only at the next point; a negative one early, -1 at once.
    Arc(f64),
}
