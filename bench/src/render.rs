//! Renders a MIDI file to a 16-bit WAV file on one thread, like the other synthesizers. Unlike
//! `songfoundry render`, this command computes no receipt with loudness, true peak and hash.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use dsp_core::dither::NoiseShaping;
use dsp_core::render::{OfflineRender, TailConfig};
use dsp_core::wav::{SampleFormat, WavWriter};

use crate::{SongAndBank, song};

/// Renders a MIDI file with the engine.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: SongAndBank,
    /// WAV file.
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let session = song::read_session(&args.input.song)?;
    let banks = [Some(song::open_bank(&args.input.bank)?)];
    let mut render = OfflineRender::new(&session, &banks, TailConfig::default())?;
    let file = BufWriter::new(File::create(&args.output)?);
    let mut wav =
        WavWriter::new(file, session.sample_rate_hz, SampleFormat::Pcm16, NoiseShaping::Off, session.seed)?;
    while let Some((left, right)) = render.next_block() {
        wav.write(left, right)?;
    }
    wav.finish()?;
    Ok(())
}
