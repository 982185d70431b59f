//! Measures the WebSocket of real-time effects: how many sessions are in time at once, and how long
//! a block spends in the service. The clients run on the same machine.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};
use tungstenite::Message;

use super::live_session::{PLUGIN, Session, plugin_id};
use super::service::Service;
use super::{Args, Goal, print_figure};

/// Frames of a block.
pub(super) const FRAMES: usize = 256;

/// Sample rate in hertz.
pub(super) const RATE_HZ: u32 = 48_000;

/// Number of threads with clients.
const CLIENT_THREADS: usize = 2;

/// Duration of each measurement in blocks: four seconds, after one that is not counted.
const BLOCKS: usize = 750;
const FIRST_BLOCKS: usize = 187;

/// The figures of several sessions.
#[derive(Debug, Default)]
struct Figures {
    /// Blocks that the service answered more than 5 ms after they arrived, and blocks that a plugin
    /// did not process in time.
    late: u64,
    plugin_late: u64,
    /// Blocks whose answer had not reached the client when the next block was due.
    client_late: u64,
    /// Median over the sessions of the median time in the service, and the longest of the times
    /// that 99 of 100 blocks do not exceed.
    p50_ms: f64,
    p99_ms: f64,
}

/// Prints all figures.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    println!();
    println!("Effects in real time: blocks of {FRAMES} frames at 48 kHz, with all clients on this machine.");
    let mut command = Command::new(&args.songfoundry);
    command.env("SF_BRIDGE", &args.bridge).env("SF_LIVE_PLUGINS_PER_USER", "16");
    let service = Service::start(&mut command, &folder.join("live-effects"))?;
    let names = ["equalizer", "compressor", "saturator", "chorus", "limiter"];
    let effects: Vec<_> = names.iter().map(|name| json!({ "id": name, "name": name })).collect();
    let built_in = json!({ "cmd": "chain", "sample_rate": RATE_HZ, "effects": effects });
    print("50 sessions of five effects", &measure(&service, &built_in, 50)?, Some(1.0));
    print("200 sessions of five effects", &measure(&service, &built_in, 200)?, None);
    let plugin = json!({ "cmd": "chain", "sample_rate": RATE_HZ, "effects": [
        { "id": "plugin", "type": "vst3", "plugin_id": plugin_id(&service)? } ] });
    print(&format!("16 sessions of {PLUGIN}"), &measure(&service, &plugin, 16)?, None);
    Ok(())
}

fn print(name: &str, figures: &Figures, p99_max_ms: Option<f64>) {
    let none = Some(Goal::AtMost(0.0));
    print_figure(&format!("{name}: answered after 5 ms"), figures.late as f64, "blocks", none);
    print_figure(&format!("{name}: plugin late"), figures.plugin_late as f64, "blocks", none);
    print_figure(&format!("{name}: not back in time"), figures.client_late as f64, "blocks", None);
    print_figure(&format!("{name}: time in the service, p50"), figures.p50_ms, "ms", None);
    let goal = p99_max_ms.map(Goal::AtMost);
    print_figure(&format!("{name}: time in the service, p99"), figures.p99_ms, "ms", goal);
}

/// Lets sessions send blocks in real time, each at another time within the block.
fn measure(service: &Service, chain: &Value, count: usize) -> anyhow::Result<Figures> {
    let clients = (0..CLIENT_THREADS).map(|_| {
        let sessions = (0..count / CLIENT_THREADS).map(|_| Session::open(&service.url, chain));
        sessions.collect::<anyhow::Result<Vec<_>>>()
    });
    let clients = clients.collect::<anyhow::Result<Vec<_>>>()?;
    let sent_blocks = clients.into_iter().map(|sessions| thread::spawn(move || send(sessions)));
    let sent_blocks: Vec<_> = sent_blocks.collect();
    let (mut figures, mut p50_ms) = (Figures::default(), Vec::new());
    for thread in sent_blocks {
        let counts = thread.join().map_err(|_| anyhow::anyhow!("a client panicked"))??;
        for (client_late, [stats_before, stats_after]) in counts {
            let difference = |name: &str| {
                let count = |stats: &Value| stats.pointer(name).and_then(Value::as_u64).unwrap_or(0);
                count(&stats_after) - count(&stats_before)
            };
            figures.client_late += client_late;
            figures.late += difference("/late_blocks");
            figures.plugin_late += difference("/plugins/0/late_blocks");
            p50_ms.push(stats_after["p50_ms"].as_f64().context("the statistics have no median")?);
            figures.p99_ms = figures.p99_ms.max(stats_after["p99_ms"].as_f64().unwrap_or(f64::INFINITY));
        }
    }
    p50_ms.sort_by(f64::total_cmp);
    figures.p50_ms = p50_ms[p50_ms.len() / 2];
    Ok(figures)
}

/// Returns a block of a sine.
pub(super) fn block() -> Message {
    let sample = |index: usize| 0.3 * (index as f32 * 0.05).sin();
    let bytes: Vec<u8> = (0..2 * FRAMES).flat_map(|index| sample(index).to_le_bytes()).collect();
    Message::binary(bytes)
}

/// Sends the blocks of the sessions of one thread. Returns their late blocks and statistics.
fn send(mut sessions: Vec<Session>) -> anyhow::Result<Vec<(u64, [Value; 2])>> {
    let block = block();
    let period = Duration::from_secs_f64(FRAMES as f64 / f64::from(RATE_HZ));
    let play = |sessions: &mut [Session], blocks: usize| -> anyhow::Result<()> {
        let (start, count) = (Instant::now(), sessions.len() as u32);
        for number in 0..blocks as u32 {
            for (index, session) in sessions.iter_mut().enumerate() {
                let due = start + period * number + period * index as u32 / count;
                thread::sleep(due.saturating_duration_since(Instant::now()));
                session.exchange(&block)?;
            }
        }
        // The last answers are received before other messages.
        thread::sleep(period);
        sessions.iter_mut().try_for_each(Session::receive)
    };
    play(&mut sessions, FIRST_BLOCKS)?;
    let stats_before = sessions.iter_mut().map(Session::stats).collect::<anyhow::Result<Vec<_>>>()?;
    sessions.iter_mut().for_each(|session| session.client_late = 0);
    play(&mut sessions, BLOCKS)?;
    let stats_after = sessions.iter_mut().map(Session::stats).collect::<anyhow::Result<Vec<_>>>()?;
    let late = sessions.iter().map(|session| session.client_late);
    Ok(late
        .zip(
            stats_before
                .into_iter()
                .zip(stats_after)
                .map(|(stats_before, stats_after)| [stats_before, stats_after]),
        )
        .collect())
}
