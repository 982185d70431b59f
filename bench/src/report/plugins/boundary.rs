//! Measures what the separate process of a plugin costs per block.

use std::path::Path;
use std::time::Instant;

use songfoundry_bridge_protocol::host::Process;
use songfoundry_server::plugin_hosts::{PluginHost, PluginHosts};

use super::super::{Goal, print_figure};
use super::{Args, BLOCK_FRAMES, REQUEST_FRAMES, hosted};
use crate::stats::median;

/// An effect of Debian's package `dpf-plugins-vst` that only multiplies its input, so that its own
/// time is short and does not depend on the sound.
const MODULE: &str = "/usr/lib/vst/PingPongPan-vst.so";

/// Number of requests before the measured ones, and that of the measured ones in each run.
const WARM_UP_REQUESTS: usize = 200;
const REQUESTS: usize = 2_000;

/// Goal for the cost of the process boundary per block in microseconds: about 1 % of the duration
/// of a block at 48 kHz, which is 10.7 ms.
const BLOCK_MICROS_MAX: f64 = 100.0;

/// Returns the sorted times of requests in microseconds. With 0 channels, the plugin processes
/// silence, and no samples pass through the socket.
fn request_micros(host: &mut PluginHost<'_>, frames: u32, channels: u16) -> anyhow::Result<Vec<f64>> {
    let input: Vec<Vec<f32>> = (0..channels).map(|_| vec![0.25; frames as usize]).collect();
    let mut times = Vec::with_capacity(REQUESTS);
    for number in 0..WARM_UP_REQUESTS + REQUESTS {
        let process =
            Process { frames, input_channels: channels, output_channels: channels, ..Process::default() };
        let start = Instant::now();
        let audio = host.process(process, &input)?;
        let micros = start.elapsed().as_secs_f64() * 1e6;
        anyhow::ensure!(audio.channels.len() == usize::from(channels), "the output has other channels");
        if number >= WARM_UP_REQUESTS {
            times.push(micros);
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// Prints the time of a round trip without that of the plugin.
///
/// The time of the plugin is measured in its process: the difference between requests of one and of
/// several blocks without samples, divided by the number of further blocks. It includes the
/// helper's own work for a block, which a host in the same process would also do.
pub(super) fn report(args: &Args, hosts: &PluginHosts) -> anyhow::Result<()> {
    let plugin = hosted::find(args, Path::new(MODULE))?;
    let mut host = hosted::open(hosts, &plugin)?;
    let request_blocks = f64::from(REQUEST_FRAMES / BLOCK_FRAMES);
    let mut figures = [const { Vec::new() }; 4];
    for _ in 0..args.runs {
        let mut micros = |frames, channels| request_micros(&mut host, frames, channels);
        let (one_micros, several) = (micros(BLOCK_FRAMES, 0)?, micros(REQUEST_FRAMES, 0)?);
        let (block, request) = (micros(BLOCK_FRAMES, 2)?, micros(REQUEST_FRAMES, 2)?);
        let middle = |times: &[f64]| times[times.len() / 2];
        let plugin_micros = (middle(&several) - middle(&one_micros)) / (request_blocks - 1.0);
        let render_run = [
            plugin_micros,
            middle(&block) - plugin_micros,
            block[block.len() * 99 / 100] - plugin_micros,
            middle(&request) / request_blocks - plugin_micros,
        ];
        figures.iter_mut().zip(render_run).for_each(|(figures, figure)| figures.push(figure));
    }
    let [plugin, median_micros, p99, request] = figures.map(|figures| median(figures).unwrap_or(f64::NAN));
    println!(
        "The separate process of a plugin, per block of {BLOCK_FRAMES} stereo frames in both directions. The time of \
         the plugin"
    );
    println!("is measured and not included.");
    print_figure("time of the plugin (PingPongPan)", plugin, "us", None);
    let goal = Some(Goal::AtMost(BLOCK_MICROS_MAX));
    print_figure("process boundary: requests of one block, median", median_micros, "us", goal);
    print_figure("process boundary: requests of one block, 99th percentile", p99, "us", None);
    let name = format!("process boundary: requests of {request_blocks} blocks (renders), median");
    print_figure(&name, request, "us", goal);
    Ok(())
}
