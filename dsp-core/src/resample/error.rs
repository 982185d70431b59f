//! Limits and errors of sample-rate conversion.

/// Lowest supported sample rate in hertz.
pub const MIN_RATE_HZ: u32 = 8_000;

/// Highest supported sample rate in hertz.
pub const MAX_RATE_HZ: u32 = 192_000;

/// Maximum number of phases of the polyphase filter. Common rates need far fewer: 11.025 to 192 kHz
/// needs 1280.
pub const MAX_PHASES: usize = 1 << 15;

/// The reason why a sample rate cannot be converted to another sample rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResampleError {
    /// A sample rate is outside [`MIN_RATE_HZ`]..=[`MAX_RATE_HZ`].
    #[error(
        "a sample rate of {rate_hz} Hz cannot be converted; {MIN_RATE_HZ} to {MAX_RATE_HZ} Hz are supported"
    )]
    Rate {
        /// The unsupported rate in hertz.
        rate_hz: u32,
    },
    /// The ratio of the rates, in lowest terms, needs a filter with too many phases.
    #[error(
        "{input_rate_hz} to {output_rate_hz} Hz would need {phases} filter phases; the limit is {MAX_PHASES}"
    )]
    Ratio {
        /// Rate of the input, in hertz.
        input_rate_hz: u32,
        /// Rate of the output, in hertz.
        output_rate_hz: u32,
        /// Number of phases of the filter.
        phases: usize,
    },
}
