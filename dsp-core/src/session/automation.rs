//! Automation: parameters that change over time.

use alloc::vec::Vec;

/// A parameter of a track or of the master, and its automation curve.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AutomationLane {
    /// The automated parameter.
    pub target: AutomationTarget,
    /// The points of the curve, by ascending frame. Before the first point, the curve has the value
    /// of the first point. After the last point, it has the value of the last point. If two points
    /// are at the same frame, the value jumps to that of the second point.
    pub points: Vec<AutomationPoint>,
}

/// The parameter that a lane automates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AutomationTarget {
    /// The level of the fader in decibels. Curves are linear in decibels.
    Volume,
    /// The pan, from -1 (left) to 1 (right).
    Pan,
    /// The level of a send in decibels. The number is the index of the send in its track.
    Send(u32),
    /// A parameter of an effect, in the unit of the parameter.
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
    /// Position of the point, in frames from the start of the session.
    pub frame: u64,
    /// The value of the parameter at this point, in the unit of the target.
    pub value: f64,
    /// The shape of the segment from this point to the next point.
    pub curve: Curve,
}

/// The shape of a segment between two points.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Curve {
    /// A straight line.
    #[default]
    Linear,
    /// The value is constant until the next point, and jumps there to that point's value.
    Step,
    /// An arc with a curvature `c` from -1 to 1. After a fraction `x` of the segment's length, the
    /// value has made the fraction `x / (x + (1 - x) (1 + c) / (1 - c))` of its change. At half of
    /// the length, this fraction is `(1 - c) / 2`. The arc is the bias curve of C. Schlick, "Fast
    /// alternatives to Perlin's bias and gain functions", Graphics Gems IV, 1994. A curvature of 0
    /// is a straight line. With a positive curvature most of the change is late, and with 1 all of
    /// it is at the next point. With a negative curvature most of the change is early, and with -1
    /// all of it is at the start.
    Arc(f64),
}
