//! Compares renders through plugins with those of pedalboard, which loads plugins into its own
//! process.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use songfoundry_bridge_protocol::host::{Event, EventKind, Process};
use songfoundry_server::plugin_hosts::{PluginHosts, PluginRef};

use super::super::{FLUIDR3, Goal, print_figure, song_path};
use super::{Args, BLOCK_FRAMES, REQUEST_FRAMES, hosted};
use crate::SongAndBank;
use crate::effects::{read_channels, write_recording};
use crate::process::path_text;
use crate::song::RATE_HZ;
use crate::stats::median;

/// Length of a render in seconds.
const RENDER_SECS: u32 = 60;

/// The song that the effect processes.
const SONG_NAME: &str = "tttheme2";

/// Notes of the instrument per second. Each note lasts half of the time to the next one.
const NOTES_PER_SEC: u32 = 2;

/// MIDI velocity of the notes.
const VELOCITY: u8 = 100;

/// Largest ratio of the levels of two renders of the same sound.
const LEVEL_RATIO_MAX: f64 = 1.1;

/// A finished render.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Rendered {
    /// Seconds from the first request to the output in memory.
    secs: f64,
    /// Root mean square of the output.
    rms: f64,
}

/// A plugin that pedalboard has loaded.
#[derive(Debug, Deserialize)]
struct Loaded {
    load_secs: f64,
}

/// A process of pedalboard with a plugin. It ends when its input closes.
struct Pedalboard {
    child: Child,
    output: BufReader<ChildStdout>,
    load_secs: f64,
}

impl Pedalboard {
    /// Starts the process and loads the plugin.
    fn start(args: &Args, module: &Path, task: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new(&args.python)
            .arg(args.python_scripts.join("pedalboard_plugin.py"))
            .args([module, task])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", args.python.display()))?;
        let output = BufReader::new(child.stdout.take().context("pedalboard has no output")?);
        let mut pedalboard = Self { child, output, load_secs: f64::NAN };
        pedalboard.load_secs = pedalboard.read::<Loaded>()?.load_secs;
        Ok(pedalboard)
    }

    /// Lets the process render once, and reads the result.
    fn render(&mut self) -> anyhow::Result<Rendered> {
        self.child.stdin.as_mut().context("pedalboard has no input")?.write_all(b"\n")?;
        self.read()
    }

    /// Reads the next line of JSON. Plugins print other lines.
    fn read<T: DeserializeOwned>(&mut self) -> anyhow::Result<T> {
        let mut line = String::new();
        while self.output.read_line(&mut line)? > 0 {
            if let Ok(value) = serde_json::from_str(&line) {
                return Ok(value);
            }
            line.clear();
        }
        bail!("pedalboard ended: {}", self.child.wait()?)
    }
}

impl Drop for Pedalboard {
    fn drop(&mut self) {
        // An error means that the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The input of a plugin: notes or audio.
enum Sound {
    /// Notes, of which an instrument makes one channel.
    Notes,
    /// Audio in two channels, for an effect.
    Audio([Vec<f32>; 2]),
}

/// A note of an instrument.
struct Note {
    start_frame: u32,
    end_frame: u32,
    key: u8,
}

fn notes() -> impl Iterator<Item = Note> {
    let interval = RATE_HZ / NOTES_PER_SEC;
    (0..RENDER_SECS * NOTES_PER_SEC).map(move |number| Note {
        start_frame: number * interval,
        end_frame: number * interval + interval / 2,
        key: 36 + (number % 24) as u8,
    })
}

/// Returns the starts and ends of all notes in ascending order.
fn note_events() -> Vec<Event> {
    let events = notes().flat_map(|Note { start_frame, end_frame, key }| {
        let note_id = i32::from(key);
        let velocity = f32::from(VELOCITY) / 127.0;
        let start = EventKind::NoteOn { note_id, channel: 0, key, velocity };
        let end = EventKind::NoteOff { note_id, channel: 0, key, velocity: 0.5 };
        [Event { frame: start_frame, kind: start }, Event { frame: end_frame, kind: end }]
    });
    events.collect()
}

/// Renders with the service's code, in requests and blocks of the same lengths as its renders, and
/// with as many requests at a time.
/// Returns also the seconds to start the process of the plugin and to load it.
fn render(hosts: &PluginHosts, plugin: &PluginRef, sound: &Sound) -> anyhow::Result<(Rendered, f64)> {
    let start = Instant::now();
    let mut host = hosted::open(hosts, plugin)?;
    let load_secs = start.elapsed().as_secs_f64();
    let events = match sound {
        Sound::Notes => note_events(),
        Sound::Audio(_) => Vec::new(),
    };
    let frames_total = RENDER_SECS * RATE_HZ;
    let start = Instant::now();
    let mut output: [Vec<f32>; 2] = Default::default();
    let mut events = events.as_slice();
    let mut position = 0;
    while output[0].len() < frames_total as usize {
        while host.can_send() && position < frames_total {
            let frames = REQUEST_FRAMES.min(frames_total - position);
            let (now, later_events) =
                events.split_at(events.partition_point(|event| event.frame < position + frames));
            events = later_events;
            let input: Vec<Vec<f32>> = match sound {
                Sound::Notes => Vec::new(),
                Sound::Audio(channels) => {
                    let range = position as usize..(position + frames) as usize;
                    channels.iter().map(|channel| channel[range.clone()].to_vec()).collect()
                }
            };
            let process = Process {
                frames,
                input_channels: input.len() as u16,
                output_channels: 2,
                events: now.iter().map(|event| Event { frame: event.frame - position, ..*event }).collect(),
                ..Process::default()
            };
            host.send(process, &input)?;
            position += frames;
        }
        let audio = host.receive()?;
        for (output, channel) in output.iter_mut().zip(&audio.channels) {
            output.extend_from_slice(channel);
        }
    }
    let secs = start.elapsed().as_secs_f64();
    let squares = output.iter().flatten().map(|sample| f64::from(*sample).powi(2));
    let rms = (squares.sum::<f64>() / (2.0 * f64::from(frames_total))).sqrt();
    Ok((Rendered { secs, rms }, load_secs))
}

/// Compares the renders of one plugin.
fn compare(
    args: &Args,
    hosts: &PluginHosts,
    module: &Path,
    sound: &Sound,
    task: &Path,
) -> anyhow::Result<()> {
    let plugin = hosted::find(args, module)?;
    let name = module.file_stem().and_then(|stem| stem.to_str()).context("the module has no name")?;
    eprint!("\r{name}: pedalboard loads it");
    let mut pedalboard = Pedalboard::start(args, module, task)?;
    let (mut our_render_secs, mut their_render_secs, mut our_load) = (Vec::new(), Vec::new(), Vec::new());
    // The programs run in turn, so that other load of the machine affects both equally.
    for run_number in 1..=args.runs {
        eprint!("\r{name}: run {run_number}               ");
        let (our_render, load_secs) = render(hosts, &plugin, sound)?;
        let their_render = pedalboard.render()?;
        // Some plugins start their LFOs and noise at random.
        let ratio = our_render.rms / their_render.rms;
        ensure!(
            our_render.rms > 0.001 && (1.0 / LEVEL_RATIO_MAX..=LEVEL_RATIO_MAX).contains(&ratio),
            "the renders of {name} differ: {our_render:?}, pedalboard {their_render:?}"
        );
        our_render_secs.push(our_render.secs);
        their_render_secs.push(their_render.secs);
        our_load.push(load_secs);
    }
    eprint!("\r{:60}\r", "");
    let [our_secs, their_secs, our_load] =
        [our_render_secs, their_render_secs, our_load].map(|secs| median(secs).unwrap_or(f64::NAN));
    let their_load = pedalboard.load_secs;
    print_figure(&format!("{name}: {RENDER_SECS} s"), f64::from(RENDER_SECS) / our_secs, "x real", None);
    print_figure(&format!("{name}: pedalboard"), f64::from(RENDER_SECS) / their_secs, "x real", None);
    print_figure("  speed to pedalboard", their_secs / our_secs, "x", Some(Goal::AtLeast(1.0)));
    print_figure("  time to load the plugin, and to start its process", our_load * 1e3, "ms", None);
    print_figure("  time to load the plugin: pedalboard", their_load * 1e3, "ms", None);
    Ok(())
}

/// Prints the speed of an instrument and of an effect.
pub(super) fn report(args: &Args, hosts: &PluginHosts, folder: &Path) -> anyhow::Result<()> {
    println!(
        "Renders of {RENDER_SECS} s through VST3 plugins at {RATE_HZ} Hz in blocks of {BLOCK_FRAMES} frames: time on the \
         clock, the"
    );
    println!(
        "process boundary included, loading the plugin not. pedalboard has the plugin in its own process."
    );
    let audio = folder.join("plugin-input.f32");
    let input = SongAndBank { song: song_path(SONG_NAME), bank: FLUIDR3.into() };
    write_recording(&input, RENDER_SECS.into(), &audio)?;
    let secs = |frame: u32| f64::from(frame) / f64::from(RATE_HZ);
    let notes: Vec<Value> = notes()
        .map(|Note { start_frame, end_frame, key }| {
            json!({ "start_secs": secs(start_frame), "end_secs": secs(end_frame), "key": key, "velocity": VELOCITY })
        })
        .collect();
    let task = folder.join("plugin-task.json");
    let text = json!({
        "sample_rate_hz": RATE_HZ, "block_frames": BLOCK_FRAMES, "secs": RENDER_SECS, "is_mono": true,
        "notes": notes, "audio": path_text(&audio)?
    });
    std::fs::write(&task, text.to_string())?;
    compare(args, hosts, &args.dpf_plugins.join("Nekobi.vst3"), &Sound::Notes, &task)?;
    let channels = read_channels(&audio)?;
    let effect = PathBuf::from("/usr/lib/vst3/ZamVerb.vst3");
    compare(args, hosts, &effect, &Sound::Audio(channels), &task)
}
