//! Offline rendering of a whole session or of one track, until its sound ends.

mod length;
mod lookahead;
mod offline;
mod threads;
mod track;

pub use length::{MAX_TAIL_SECS, TailConfig};
pub use offline::OfflineRender;
pub use threads::{RenderThreads, SingleThread};
pub use track::TrackRender;
