//! Offline rendering of a whole session, of one track or of the input of one effect, until its
//! sound ends.

mod effect_input;
mod length;
mod lookahead;
mod offline;
mod threads;
mod track;

pub use effect_input::{
    BeforeEffect, EffectInput, EffectInputBlock, session_before_effect, tracks_feeding, tracks_in_solo,
};
pub use length::{MAX_TAIL_SECS, TailConfig};
pub use offline::OfflineRender;
pub use threads::{RenderThreads, SingleThread};
pub use track::TrackRender;
