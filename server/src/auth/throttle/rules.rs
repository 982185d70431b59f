//! Wait times after failures.

use crate::auth::store::failures::Failures;
use crate::error::ApiError;

/// Time without a failure after which the count of failures starts again, in seconds.
pub(super) const COUNT_RESET_SECS: i64 = 3600;

/// Wait times after failures. The first failures cause no wait. After that, the wait doubles with
/// each failure, up to the maximum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// Number of attempts without a wait. The failure with this number causes the first wait.
    pub free_attempts: i64,
    /// First wait, in seconds.
    pub first_wait_secs: i64,
    /// Maximum wait, in seconds.
    pub longest_wait_secs: i64,
    /// Start of the refusal's sentence, such as "Too many registrations from your address".
    pub description: &'static str,
    /// Name of the setting with the number of attempts without a wait.
    pub setting: &'static str,
}

impl Rule {
    /// Returns the wait after the `count`-th failure, in seconds.
    pub(super) fn wait_secs(&self, count: i64) -> i64 {
        match u32::try_from(count - self.free_attempts) {
            Ok(excess) => {
                self.first_wait_secs.saturating_mul(1 << excess.min(30)).min(self.longest_wait_secs)
            }
            Err(_) => 0,
        }
    }

    /// Returns the remaining wait at `now_secs`, in seconds; 0 if the wait is over.
    pub(super) fn remaining_secs(&self, failures: Failures, now_secs: i64) -> u64 {
        let elapsed_secs = (now_secs - failures.last_secs).max(0);
        u64::try_from(self.wait_secs(failures.count) - elapsed_secs).unwrap_or(0)
    }

    /// Refuses an attempt at `now_secs` during the wait after these failures.
    ///
    /// # Errors
    /// 429 with the seconds that remain, unless the wait is over.
    pub(super) fn check(&self, failures: Failures, now_secs: i64) -> Result<(), ApiError> {
        self.refuse_for(self.remaining_secs(failures, now_secs))
    }

    /// Refuses an attempt that must wait for `retry_after_secs`.
    ///
    /// # Errors
    /// 429 unless `retry_after_secs` is 0.
    pub(super) fn refuse_for(&self, retry_after_secs: u64) -> Result<(), ApiError> {
        if retry_after_secs == 0 {
            return Ok(());
        }
        let Self { free_attempts, description, setting, .. } = self;
        let detail = format!(
            "{description}; the limit is {free_attempts} ({setting}); try again in {retry_after_secs} s."
        );
        Err(ApiError::TooManyRequests { detail, retry_after_secs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule {
        free_attempts: 5,
        first_wait_secs: 1,
        longest_wait_secs: 900,
        description: "Too many",
        setting: "SF_LIMIT",
    };

    #[test]
    fn waits_double_up_to_the_longest() {
        let waits: Vec<i64> = (4..9).map(|count| RULE.wait_secs(count)).collect();
        assert_eq!(waits, [0, 1, 2, 4, 8]);
        assert_eq!(RULE.wait_secs(1_000_000), 900);
    }

    #[test]
    fn the_remaining_wait_decreases() {
        let failures = Failures { count: 8, last_secs: 100 };
        assert_eq!(RULE.remaining_secs(failures, 103), 5);
        assert_eq!(RULE.remaining_secs(failures, 108), 0);
        assert_eq!(RULE.remaining_secs(failures, 10_000), 0);
        assert_eq!(RULE.remaining_secs(failures, 0), 8);
    }
}
