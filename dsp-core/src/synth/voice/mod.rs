//! A voice plays one zone of an instrument for a note.
//!
//! | file | content |
//! |---|---|
//! | `state` | data, start and changes of controllers |
//! | `modulation_state` | envelopes, LFOs and portamento at a control point |
//! | `lifecycle` | release, fades, age and end |
//! | `control_points` | distance to the next control point |
//! | `targets` | pitch, gains and filter up to the next control point |

mod control_points;
mod lifecycle;
mod modulation_state;
mod state;
mod targets;

pub(super) use state::{SampleTuning, Voice, VoiceContext, VoiceStart, ZoneIndices};
