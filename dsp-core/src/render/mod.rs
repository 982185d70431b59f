//! Offline rendering of a whole session, of one track or of the input of one effect, until its
//! sound ends.

mod effect_input;
mod length;
mod lookahead;
mod offline;
mod signal_flow;
mod threads;
mod track;

pub use effect_input::{EffectInput, EffectInputBlock, SessionBeforeEffect, session_before_effect};
pub use length::{MAX_TAIL_SECS, TailConfig};
pub use offline::OfflineRender;
pub use signal_flow::{tracks_feeding, tracks_in_solo, tracks_needed_by};
pub use threads::{RenderThreads, SingleThread};
pub use track::TrackRender;
