//! One pass of a render over the song. Reports its progress, and ends it if it is cancelled or too
//! slow.

use std::time::{Duration, Instant};

use super::budget::Reservation;
use super::{Observer, RenderError, memory};

/// Number of blocks between two reports to the observer.
const REPORT_BLOCKS: u32 = 10;

/// Minimum duration of a pass before its speed is checked.
const SPEED_CHECK_AFTER: Duration = Duration::from_secs(10);

/// A pass ends early if its speed predicts a total duration of more than this many times the limit.
/// The factor is large because the speed varies within a song.
const OVERRUN_FACTOR: f64 = 4.0;

/// A running pass.
#[derive(Debug)]
pub(super) struct Pass {
    render_started_at: Instant,
    pass_started_at: Instant,
    max_duration: Option<Duration>,
    blocks: u32,
}

impl Pass {
    /// Starts a pass of the render that has this reservation.
    pub(super) fn begin(reservation: &Reservation) -> Self {
        Self {
            render_started_at: reservation.granted_at(),
            pass_started_at: Instant::now(),
            max_duration: reservation.max_duration(),
            blocks: 0,
        }
    }

    /// Counts a block. Returns whether the progress should be reported now.
    pub(super) fn is_due(&mut self) -> bool {
        self.blocks += 1;
        self.blocks.is_multiple_of(REPORT_BLOCKS)
    }

    /// Reports the progress, from `done_frames` of `all_frames`.
    ///
    /// # Errors
    /// [`RenderError::Cancelled`] if the observer cancels; [`RenderError::TooMuchWork`] if the
    /// render takes too long.
    pub(super) fn report(
        &self,
        done_frames: u64,
        all_frames: u64,
        observer: Observer<'_>,
    ) -> Result<(), RenderError> {
        memory::release_pages();
        let progress = done_frames as f64 / all_frames.max(1) as f64;
        if !observer(progress) {
            return Err(RenderError::Cancelled);
        }
        let Some(max_duration) = self.max_duration else { return Ok(()) };
        check(self.render_started_at.elapsed(), self.pass_started_at.elapsed(), progress, max_duration)
    }
}

fn check(
    render_time: Duration,
    pass_time: Duration,
    progress: f64,
    max_duration: Duration,
) -> Result<(), RenderError> {
    let expected_secs = pass_time.as_secs_f64() / progress.max(f64::MIN_POSITIVE);
    let checks_speed = pass_time >= SPEED_CHECK_AFTER.min(max_duration);
    if render_time <= max_duration
        && !(checks_speed && expected_secs > OVERRUN_FACTOR * max_duration.as_secs_f64())
    {
        return Ok(());
    }
    Err(RenderError::TooMuchWork {
        expected_secs: expected_secs.max(render_time.as_secs_f64()).ceil() as u64,
        limit_secs: max_duration.as_secs(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn expected_secs(render_secs: u32, pass_secs: u32, progress: f64) -> Option<u64> {
        match check(render_secs * SECOND, pass_secs * SECOND, progress, 100 * SECOND) {
            Ok(()) => None,
            Err(RenderError::TooMuchWork { expected_secs, limit_secs: 100 }) => Some(expected_secs),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_render_ends_at_its_time_limit_or_early_if_it_is_far_too_slow() {
        assert_eq!(expected_secs(5, 5, 0.000_1), None, "the speed is not checked yet");
        assert_eq!(
            expected_secs(10, 10, 0.03),
            None,
            "333 s are expected, but the remaining song may be faster"
        );
        assert_eq!(expected_secs(10, 10, 0.01), Some(1_000));
        assert_eq!(expected_secs(100, 90, 0.99), None);
        assert_eq!(expected_secs(101, 50, 0.5), Some(101), "all passes of a render count together");
    }
}
