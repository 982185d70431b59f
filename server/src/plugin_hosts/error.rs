//! Errors of hosted plugins, and their answers in the API.

use songfoundry_bridge_protocol::PluginFormat;

use crate::error::ApiError;
use crate::helper_processes::bridge::Exit;

/// Maximum length of a helper's text in an error, in characters.
const REASON_MAX_CHARS: usize = 500;

/// Reason why a hosted plugin gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The program that hosts plugins cannot be started.
    #[error("the plugin helper {program} cannot be used: {reason} (SF_BRIDGE)")]
    NotStarted {
        /// Path of the program.
        program: String,
        /// Reason, as a clause without a capital letter and a full stop.
        reason: String,
    },
    /// The program cannot host plugins of this format.
    #[error("the plugin helper of this installation cannot host {} plugins", format_name(*.0))]
    UnsupportedFormat(PluginFormat),
    /// The helper or the plugin refused a request.
    #[error("the plugin cannot be used: {reason}")]
    Refused {
        /// Reason, as a clause without a capital letter and a full stop.
        reason: String,
    },
    /// A signal ended the process of the plugin.
    #[error("the plugin crashed ({signal})")]
    Crashed {
        /// Name of the signal, such as `SIGSEGV`.
        signal: String,
    },
    /// The plugin ended its own process.
    #[error("the plugin ended its own process ({status})")]
    Ended {
        /// Exit status in words.
        status: String,
    },
    /// The plugin took too long.
    #[error("the plugin did not answer within {limit_secs} seconds (SF_PLUGIN_ANSWER_MAX_SECS)")]
    Late {
        /// The limit in seconds.
        limit_secs: u64,
    },
    /// The answer does not match the request.
    #[error("the plugin sent an invalid answer: {reason}")]
    InvalidAnswer {
        /// Reason, as a clause without a capital letter and a full stop.
        reason: String,
    },
    /// An administrator ended the process of the plugin.
    #[error("an administrator ended the process of the plugin")]
    EndedByAdministrator,
    /// The result is no longer needed.
    #[error("the work with the plugin was cancelled")]
    Cancelled,
    /// An operation of the operating system failed.
    #[error("the plugin cannot be hosted: {0}")]
    Io(#[from] std::io::Error),
}

impl HostError {
    /// Whether the process of the plugin died, so that a second attempt may succeed.
    #[must_use]
    pub fn is_death(&self) -> bool {
        matches!(self, Self::Crashed { .. } | Self::Ended { .. })
    }

    /// Returns the answer in the API. `text` describes the error, without a capital letter and a
    /// full stop.
    pub(crate) fn into_api_error(self, text: &str) -> ApiError {
        let detail = sentence(text);
        match self {
            Self::NotStarted { .. } | Self::UnsupportedFormat(_) => {
                ApiError::NotImplemented { code: "plugin_host_unavailable", detail }
            }
            Self::Refused { .. } => ApiError::Unprocessable { code: "plugin_refused", detail },
            Self::Crashed { .. } => ApiError::BadGateway { code: "plugin_crashed", detail },
            Self::Ended { .. } => ApiError::BadGateway { code: "plugin_ended", detail },
            Self::InvalidAnswer { .. } => ApiError::BadGateway { code: "plugin_answer_invalid", detail },
            Self::Late { .. } => ApiError::GatewayTimeout { code: "plugin_timeout", detail },
            Self::EndedByAdministrator | Self::Cancelled => ApiError::Conflict { code: "cancelled", detail },
            Self::Io(error) => error.into(),
        }
    }

    /// Returns the error of a process that closed its socket.
    pub(super) fn of_exit(exit: Option<Exit>) -> Self {
        match exit {
            Some(Exit::Signal(signal)) => Self::Crashed { signal },
            Some(Exit::Status(status)) => Self::Ended { status },
            None => Self::InvalidAnswer { reason: "it closed its socket and kept running".to_owned() },
        }
    }
}

/// Returns a helper's text for use in an error: without control characters, and with at most
/// [`REASON_MAX_CHARS`].
pub(super) fn printable(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(REASON_MAX_CHARS).collect()
}

/// Returns the displayed name of a plugin format.
fn format_name(format: PluginFormat) -> &'static str {
    match format {
        PluginFormat::Vst2 => "VST2",
        PluginFormat::Vst3 => "VST3",
    }
}

impl From<HostError> for ApiError {
    fn from(error: HostError) -> Self {
        let text = error.to_string();
        error.into_api_error(&text)
    }
}

/// Returns a reason with a capital letter and a full stop.
fn sentence(reason: &str) -> String {
    let mut letters = reason.chars();
    let first = letters.next().map(|character| character.to_uppercase().collect::<String>());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
