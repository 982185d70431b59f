//! Systems other than Linux, where no plugins process in real time.

use songfoundry_bridge_protocol::live::{LiveAnswer, LiveAudio, LiveControl};
use tokio::time::Instant;

/// A type without values, because no plugin shares memory.
#[derive(Debug)]
pub struct LiveLink(std::convert::Infallible);

impl LiveLink {
    /// Is never called.
    pub fn post(&mut self, _: &LiveControl, _: &LiveAudio) {
        match self.0 {}
    }

    /// Is never called.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        match self.0 {}
    }

    /// Is never called.
    #[must_use]
    pub fn answered_number(&self) -> u32 {
        match self.0 {}
    }

    /// Is never called.
    pub async fn answer(&mut self, _: Instant, _: &mut LiveAudio) -> Option<LiveAnswer> {
        match self.0 {}
    }
}
