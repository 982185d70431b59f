//! The summary that `songfoundry render` prints.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use crate::cli::levels::level;
use crate::encoding::audio_format::BitDepth;
use crate::rendering::normalization::NormalizationReport;
use crate::rendering::receipt::Receipt;

/// The summary of a finished file.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub(super) output: PathBuf,
    pub(super) duration_secs: f64,
    pub(super) sample_rate_hz: u32,
    pub(super) bit_depth: Option<BitDepth>,
    pub(super) lufs: Option<f64>,
    pub(super) true_peak_db: Option<f64>,
    pub(super) receipt: Receipt,
    pub(super) warnings: Vec<String>,
}

impl Summary {
    /// Prints the summary as JSON.
    pub(super) fn print_json(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", serde_json::to_string_pretty(self)?)
    }

    /// Prints the summary as text.
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let receipt = &self.receipt;
        writeln!(out, "{}", self.output.display())?;
        writeln!(out, "  duration     {:.3} s (song {:.3} s)", self.duration_secs, receipt.song_secs)?;
        writeln!(out, "  rate         {} Hz", self.sample_rate_hz)?;
        writeln!(out, "  loudness     {}", level(self.lufs, "LUFS"))?;
        writeln!(out, "  true peak    {}", level(self.true_peak_db, "dBTP"))?;
        writeln!(out, "  peak         {:.6}, {} samples clipped", receipt.peak, receipt.clipped_samples)?;
        let limiter = receipt.limiter;
        if limiter.largest_reduction_db > 0.0 {
            let (reduction_db, secs) = (limiter.largest_reduction_db, limiter.reduced_secs);
            writeln!(
                out,
                "  limiter      up to {reduction_db:.1} dB of gain reduction; more than 0.1 dB for {secs:.1} s"
            )?;
        }
        if let Some(NormalizationReport { gain_db, peak_reduction_db, target_lufs, .. }) =
            receipt.normalization
        {
            writeln!(
                out,
                "  normalized   to {target_lufs:.1} LUFS: gain {gain_db:+.1} dB, peaks limited by up to {peak_reduction_db:.1} dB"
            )?;
        }
        if !receipt.silent_tracks.is_empty() {
            writeln!(out, "  silent       {}", receipt.silent_tracks.join(", "))?;
        }
        for part in &receipt.left_out {
            writeln!(out, "  left out     {}: {}", part.pointer, part.reason)?;
        }
        writeln!(out, "  pcm sha256   {}", receipt.pcm_sha256)?;
        Ok(())
    }
}
