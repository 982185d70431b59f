//! Offline rendering: runs a mixer, or a single track, from the first frame to the end of the
//! sound.

mod length;
mod lookahead;
mod offline;
mod threads;
mod track;

pub use length::{MAX_TAIL_SECS, TailConfig};
pub use offline::OfflineRender;
pub use threads::{RenderThreads, SingleThread};
pub use track::TrackRender;
