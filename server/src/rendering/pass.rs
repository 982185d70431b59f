//! One pass over a song: how far it is, whether it is still wanted, and whether it takes too long.

use std::time::{Duration, Instant};

use super::budget::Reservation;
use super::{Observer, RenderError, memory};

/// Blocks between two reports to the observer.
const REPORT_BLOCKS: u32 = 10;

/// A pass is judged by its speed once it has run for so long.
const JUDGED_AFTER: Duration = Duration::from_secs(10);

/// By how many times a pass must exceed the limit, judged by its speed, to be ended early: speed
/// varies within a song.
const EXCESS: f64 = 4.0;

/// A pass under way.
#[derive(Debug)]
pub(super) struct Pass {
    render_begun: Instant,
    begun: Instant,
    longest: Option<Duration>,
    blocks: u32,
}

impl Pass {
    /// A pass that begins now, of a render with this reservation.
    pub(super) fn begin(reservation: &Reservation) -> Self {
        Self {
            render_begun: reservation.begun(),
            begun: Instant::now(),
            longest: reservation.longest(),
            blocks: 0,
        }
    }

    /// Counts a block, and says whether it is time for a report.
    pub(super) fn is_due(&mut self) -> bool {
        self.blocks += 1;
        self.blocks.is_multiple_of(REPORT_BLOCKS)
    }

    /// Reports the share that is done.
    ///
    /// # Errors
    /// [`RenderError::Cancelled`] if the observer does not want to go on;
    /// [`RenderError::TooMuchWork`].
    pub(super) fn report(
        &self,
        done_frames: u64,
        all_frames: u64,
        observer: Observer<'_>,
    ) -> Result<(), RenderError> {
        memory::give_back();
        let share = done_frames as f64 / all_frames.max(1) as f64;
        if !observer(share) {
            return Err(RenderError::Cancelled);
        }
        let Some(longest) = self.longest else { return Ok(()) };
        check(self.render_begun.elapsed(), self.begun.elapsed(), share, longest)
    }
}

fn check(
    render_took: Duration,
    pass_took: Duration,
    share: f64,
    longest: Duration,
) -> Result<(), RenderError> {
    let expected_secs = pass_took.as_secs_f64() / share.max(f64::MIN_POSITIVE);
    let is_judged = pass_took >= JUDGED_AFTER.min(longest);
    if render_took <= longest && !(is_judged && expected_secs > EXCESS * longest.as_secs_f64()) {
        return Ok(());
    }
    Err(RenderError::TooMuchWork {
        expected_secs: expected_secs.max(render_took.as_secs_f64()).ceil() as u64,
        limit_secs: longest.as_secs(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn expected_secs(render_secs: u32, pass_secs: u32, share: f64) -> Option<u64> {
        match check(render_secs * SECOND, pass_secs * SECOND, share, 100 * SECOND) {
            Ok(()) => None,
            Err(RenderError::TooMuchWork { expected_secs, limit_secs: 100 }) => Some(expected_secs),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_render_ends_at_its_limit_or_when_it_is_far_too_slow() {
        assert_eq!(expected_secs(5, 5, 0.000_1), None, "not judged yet");
        assert_eq!(expected_secs(10, 10, 0.03), None, "333 s: the rest may be quicker");
        assert_eq!(expected_secs(10, 10, 0.01), Some(1_000));
        assert_eq!(expected_secs(100, 90, 0.99), None);
        assert_eq!(expected_secs(101, 50, 0.5), Some(101), "several passes count together");
    }
}
