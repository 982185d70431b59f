//! Why a file cannot be imported.

use crate::error::ApiError;

/// Why a file cannot be imported.
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
    pub(super) fn bad(reason: impl Into<String>) -> Self {
        Self::Bad(reason.into())
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Bad(_) => Self::bad_request("bad_dawproject", refusal.to_string()),
            Refusal::TooLarge { subject, limit_bytes } => Self::TooLarge { subject, limit_bytes },
            Refusal::Cancelled => Self::Conflict {
                code: "cancelled",
                detail: "The client disconnected, so the file was not imported.".to_owned(),
            },
        }
    }
}
