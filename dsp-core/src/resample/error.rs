//! Limits and errors of sample-rate conversion.

/// Lowest supported rate in hertz.
pub const MIN_RATE_HZ: u32 = 8_000;

/// Highest supported rate in hertz.
pub const MAX_RATE_HZ: u32 = 192_000;

/// Maximum number of filter phases between two frames. The usual rates need far fewer: 1280 from
/// 11.025 to 192 kHz.
pub const MAX_PHASES: usize = 1 << 15;

/// Why a rate cannot be converted to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResampleError {
    /// A rate outside [`MIN_RATE_HZ`]..=[`MAX_RATE_HZ`].
    #[error("{rate_hz} Hz cannot be resampled: rates from {MIN_RATE_HZ} to {MAX_RATE_HZ} Hz can")]
    Rate {
        /// The unsupported rate in hertz.
        rate_hz: u32,
    },
    /// Two rates whose ratio, in lowest terms, needs a filter of too many phases.
    #[error(
        "{input_rate_hz} Hz to {output_rate_hz} Hz needs a filter of {phases} phases; the limit is {MAX_PHASES}"
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
