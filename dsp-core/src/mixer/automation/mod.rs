//! Automation while a session plays: the curve of a lane, and the ramps that follow it.

pub(crate) mod curve;
pub(crate) mod reader;
pub(crate) mod smoothed_gain;

pub(crate) use curve::AutomationCurve;
pub(crate) use reader::AutomationReader;
pub(crate) use smoothed_gain::SmoothedGain;
