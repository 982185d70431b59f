//! Measures the processor time of effects. One command writes sessions as files, for native code
//! and for WebAssembly. Another command plays them natively.

mod blocks;
mod sessions;
mod settings;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use dsp_core::mixer::Slots;
use dsp_core::session::{Audio, AudioSlot, Session};
use dsp_core::soundfont::Bank;
use schemas::session::presets_used;

use crate::{SongAndBank, engine, song};

pub(crate) use blocks::{BLOCK_FRAMES, BlocksArgs, FrameTimes, PASSES, blocks};
pub(crate) use sessions::EFFECT_TRACKS;

/// Name of the session without effects.
pub(crate) const PLAIN: &str = "plain";
/// Name of the session of a song with effects on every track.
pub(crate) const SONG: &str = "song";
/// Frames per call, which are a render quantum of Web Audio.
const CALL_FRAMES: usize = 128;

const BANK: &str = "bank.sf2";
/// File of the recording: interleaved stereo floats, little-endian.
const AUDIO: &str = "audio.f32";
const LENGTHS: &str = "lengths.json";

/// Seconds of processor time per second of sound, by name of the session.
pub(crate) type Loads = BTreeMap<String, f64>;

/// Returns the ids of the effects. Each effect has a session with its id as name.
pub(crate) fn effect_ids() -> impl Iterator<Item = &'static str> {
    settings::effect_ids()
}

/// Writes the sessions with effects, the bank and the audio that they play, and their lengths.
#[derive(Debug, clap::Args)]
pub(crate) struct WriteArgs {
    #[command(flatten)]
    input: SongAndBank,
    /// Folder for the files.
    folder: PathBuf,
}

/// Plays sessions that `effects-write` has written. Prints the processor time per second of sound
/// of each as JSON.
#[derive(Debug, clap::Args)]
pub(crate) struct SpeedArgs {
    /// Folder of the files.
    folder: PathBuf,
    /// Names of the sessions.
    #[arg(required = true)]
    names: Vec<String>,
}

fn session_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).with_extension("session")
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub(crate) fn write(args: &WriteArgs) -> anyhow::Result<()> {
    fs::create_dir_all(&args.folder).with_context(|| format!("cannot create {}", args.folder.display()))?;
    let song_session = song::read_session(&args.input.song)?;
    let bank = song::open_prepared_bank(&song_session, &args.input.bank)?;
    fs::write(
        args.folder.join(AUDIO),
        bytes(&sessions::render_recording(&song_session, &bank, sessions::RECORDED_SECS)?),
    )?;
    fs::write(args.folder.join(BANK), bank.write_reduced(&presets_used(&song_session, 0))?)?;
    let mut lengths = BTreeMap::new();
    for (name, session) in sessions::all(&args.input.song)? {
        fs::write(session_path(&args.folder, name), postcard::to_allocvec(&session)?)?;
        lengths.insert(name, session.length_frames);
    }
    fs::write(args.folder.join(LENGTHS), serde_json::to_vec(&lengths)?)?;
    println!("{}", serde_json::to_string(&lengths)?);
    Ok(())
}

/// Writes a recording of `secs` seconds as interleaved stereo floats.
pub(crate) fn write_recording(input: &SongAndBank, secs: u64, path: &Path) -> anyhow::Result<()> {
    let session = song::read_session(&input.song)?;
    let bank = song::open_prepared_bank(&session, &input.bank)?;
    let recording = sessions::render_recording(&session, &bank, secs)?;
    let values = 2 * secs as usize * song::RATE_HZ as usize;
    let recording = recording.get(..values).context("the song is shorter than the recording")?;
    Ok(fs::write(path, bytes(recording))?)
}

/// Reads the channels of a recording.
pub(crate) fn read_channels(path: &Path) -> anyhow::Result<[Vec<f32>; 2]> {
    let bytes = read(path)?;
    let channel = |offset| {
        let frames = bytes.as_chunks::<8>().0.iter();
        let sample = |frame: &[u8; 8]| {
            f32::from_le_bytes([frame[offset], frame[offset + 1], frame[offset + 2], frame[offset + 3]])
        };
        frames.map(sample).collect()
    };
    Ok([channel(0), channel(4)])
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| path.display().to_string())
}

fn read_recording(folder: &Path) -> anyhow::Result<Audio> {
    let bytes = read(&folder.join(AUDIO))?;
    let data = 0..bytes.len();
    Ok(Audio::from_shared(Arc::new(bytes), data, 2)?)
}

pub(crate) fn speed(args: &SpeedArgs) -> anyhow::Result<()> {
    let banks = [Some(Bank::from_vec(read(&args.folder.join(BANK))?)?)];
    let audio = [Some(AudioSlot::Whole(read_recording(&args.folder)?))];
    let mut loads = Loads::new();
    for name in &args.names {
        let session: Session = postcard::from_bytes(&read(&session_path(&args.folder, name))?)?;
        let speed = engine::play(&session, Slots { banks: &banks, audio: &audio }, CALL_FRAMES)?;
        loads.insert(name.clone(), speed.cpu_secs / speed.sound_secs);
    }
    println!("{}", serde_json::to_string(&loads)?);
    Ok(())
}
