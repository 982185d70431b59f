//! Errors of decoding.

use super::super::error::BankError;
use super::super::skipped::BankIssueReason;

/// Why a stream was not decoded.
#[derive(Debug)]
pub(super) enum Failure {
    /// The stream cannot be decoded. The bank is played without its sample.
    Stream(BankIssueReason),
    /// The decoding of all streams was stopped. The remaining streams are not decoded.
    Bank(BankError),
}

impl From<BankIssueReason> for Failure {
    fn from(reason: BankIssueReason) -> Self {
        Self::Stream(reason)
    }
}
