//! A voice: one zone of an instrument that plays a note.
//!
//! | file | content |
//! |---|---|
//! | `state` | the voice's data, its start, and changes of controllers |
//! | `modulation_state` | envelopes, LFOs and portamento at a control point |
//! | `lifecycle` | release, fade, age and end |
//! | `control_points` | the distance to the next control point |
//! | `targets` | pitch, gains and filter up to the next control point |

mod control_points;
mod lifecycle;
mod modulation_state;
mod state;
mod targets;

pub(super) use state::{SampleTuning, Voice, VoiceContext, VoiceStart, ZoneIndices};
