//! Why decoding failed.

use super::super::error::BankError;
use super::super::skipped::Reason;

/// Why a stream was not decoded.
#[derive(Debug)]
pub(super) enum Failure {
    /// The stream cannot be decoded. The bank is played without it.
    Stream(Reason),
    /// No further streams of the bank are decoded.
    Bank(BankError),
}

impl From<Reason> for Failure {
    fn from(reason: Reason) -> Self {
        Self::Stream(reason)
    }
}
