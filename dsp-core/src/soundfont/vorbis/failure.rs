//! Errors of decoding.

use super::super::error::BankError;
use super::super::skipped::Reason;

/// Why a stream was not decoded.
#[derive(Debug)]
pub(super) enum Failure {
    /// The stream cannot be decoded. The bank is played without its sample.
    Stream(Reason),
    /// The decoding of all streams was stopped. The remaining streams are not decoded.
    Bank(BankError),
}

impl From<Reason> for Failure {
    fn from(reason: Reason) -> Self {
        Self::Stream(reason)
    }
}
