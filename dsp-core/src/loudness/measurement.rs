//! Measured loudness and peaks of a signal.

/// Measured loudness and peaks of a signal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loudness {
    /// Gated loudness of the whole signal in LUFS (EBU R 128); minus infinity for silence.
    pub integrated_lufs: f64,
    /// Loudness range in LU (EBU Tech 3342): 0 for a constant loudness.
    pub range_lu: f64,
    /// Highest momentary loudness in LUFS: the maximum over all windows of 400 ms. A shorter signal
    /// has one window of its length. Minus infinity for silence and for signals shorter than 10 ms.
    pub max_momentary_lufs: f64,
    /// Highest short-term loudness in LUFS: the maximum over all windows of 3 s. A shorter signal
    /// has one window of its length. Minus infinity for silence and for signals shorter than 10 ms.
    pub max_short_term_lufs: f64,
    /// Highest true peak of any channel in dBTP; minus infinity for silence.
    pub true_peak_dbtp: f64,
    /// Highest magnitude of any sample in dBFS; minus infinity for silence.
    pub sample_peak_dbfs: f64,
}
