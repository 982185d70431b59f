//! Times the engine alone, without reading or writing files.

use dsp_core::mixer::{Mixer, Slots};
use dsp_core::session::Session;
use serde::{Deserialize, Serialize};

use crate::{SongAndBank, process, song};

/// Plays a song with the engine alone.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: SongAndBank,
    /// Frames per call.
    #[arg(long, default_value_t = 128)]
    call_frames: usize,
}

/// The measured speed of the engine.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct EngineSpeed {
    /// Seconds of processor time.
    pub(crate) cpu_secs: f64,
    /// Nanoseconds of processor time per voice and frame.
    pub(crate) voice_frame_ns: f64,
    /// Mean number of active voices.
    pub(crate) voices: f64,
    /// Seconds of rendered sound.
    pub(crate) sound_secs: f64,
}

/// Peak up to which a song counts as silent; 1 is full scale.
const SILENT_PEAK: f32 = 0.001;

/// Plays a session to its end in calls of `call_frames`.
pub(crate) fn play(session: &Session, slots: Slots<'_>, call_frames: usize) -> anyhow::Result<EngineSpeed> {
    let mut mixer = Mixer::new(session, slots)?;
    mixer.play();
    let (mut left, mut right) = (vec![0.0; call_frames], vec![0.0; call_frames]);
    let cpu_start = process::process_cpu_secs()?;
    let mut processed_frames = 0;
    let mut voice_frames = 0;
    let mut peak = 0.0_f32;
    while processed_frames < session.length_frames {
        mixer.process(&mut left, &mut right);
        peak = peak.max(left[0].abs());
        voice_frames += mixer.active_voice_count() * call_frames;
        processed_frames += call_frames as u64;
    }
    let cpu_secs = process::process_cpu_secs()? - cpu_start;
    let speed = EngineSpeed {
        cpu_secs,
        voice_frame_ns: cpu_secs * 1e9 / voice_frames as f64,
        voices: voice_frames as f64 / processed_frames as f64,
        sound_secs: processed_frames as f64 / f64::from(session.sample_rate_hz),
    };
    anyhow::ensure!(
        peak > SILENT_PEAK,
        "the song was silent: the measured peak is {peak}, expected more than {SILENT_PEAK}"
    );
    Ok(speed)
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let session = song::read_session(&args.input.song)?;
    let banks = [Some(song::open_prepared_bank(&session, &args.input.bank)?)];
    println!("{}", serde_json::to_string(&play(&session, Slots::from(&banks), args.call_frames)?)?);
    Ok(())
}
