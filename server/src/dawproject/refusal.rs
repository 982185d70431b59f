//! Reasons why a file cannot be imported.

/// Reason why a file cannot be imported.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// The file is not a DAWproject file, is damaged, or exceeds a limit. The text is the reason,
    /// without a full stop.
    #[error("The file is not a DAWproject file that can be read: {0}.")]
    Bad(String),
    /// An entry is larger than its limit.
    #[error("{subject} may have at most {limit_bytes} bytes")]
    TooLarge {
        /// Name of the entry, with its article.
        subject: &'static str,
        /// Its limit in bytes.
        limit_bytes: u64,
    },
    /// The caller disconnected.
    #[error("the caller disconnected")]
    Cancelled,
}

impl Refusal {
    /// Returns the refusal of a file for this reason.
    pub(super) fn from_reason(reason: impl Into<String>) -> Self {
        Self::Bad(reason.into())
    }
}
