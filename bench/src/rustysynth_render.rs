//! Renders a MIDI file to a WAV file with rustysynth, for comparison.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use rustysynth::{MidiFile, MidiFileSequencer, SoundFont, Synthesizer, SynthesizerSettings};

use crate::SongAndBank;
use crate::song::{POLYPHONY, RATE_HZ};

/// Frames between updates of events and controllers. This is the default of rustysynth and of
/// FluidSynth.
const BLOCK_FRAMES: usize = 64;
/// Seconds that are rendered after the end of the song.
const TAIL_SECS: f64 = 2.0;

/// Renders a MIDI file with rustysynth.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: SongAndBank,
    /// WAV file.
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let file = File::open(&args.input.bank).with_context(|| args.input.bank.display().to_string())?;
    let font = Arc::new(SoundFont::new(&mut BufReader::new(file))?);
    let file = File::open(&args.input.song).with_context(|| args.input.song.display().to_string())?;
    let song = Arc::new(MidiFile::new(&mut BufReader::new(file))?);
    let mut settings = SynthesizerSettings::new(RATE_HZ as i32);
    settings.block_size = BLOCK_FRAMES;
    settings.maximum_polyphony = usize::from(POLYPHONY);
    settings.enable_reverb_and_chorus = true;
    let mut sequencer = MidiFileSequencer::new(Synthesizer::new(&font, &settings)?);
    sequencer.play(&song, false);

    let spec = hound::WavSpec {
        channels: 2,
        sample_rate: RATE_HZ,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let mut wav = hound::WavWriter::create(&args.output, spec)?;
    let (mut left, mut right) = ([0.0; BLOCK_FRAMES], [0.0; BLOCK_FRAMES]);
    let blocks = ((song.get_length() + TAIL_SECS) * f64::from(RATE_HZ) / BLOCK_FRAMES as f64).ceil();
    for _ in 0..blocks as u64 {
        sequencer.render(&mut left, &mut right);
        for (&left, &right) in left.iter().zip(&right) {
            // `as` clips values beyond full scale.
            wav.write_sample((left * 32_767.0) as i16)?;
            wav.write_sample((right * 32_767.0) as i16)?;
        }
    }
    wav.finalize()?;
    Ok(())
}
