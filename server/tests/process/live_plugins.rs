//! Plugins in the chains of real-time effects: modules of Debian's package zam-plugins, and modules
//! of `tests/plugins` that misbehave.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dsp_core::effects::{EffectConfig, MusicalTime, effect_kind};
use dsp_core::mixer::{EffectChain, EffectSlot, effect_seed};
use serde_json::{Value, json};
use songfoundry_bridge_protocol::PluginFormat;
use songfoundry_bridge_protocol::host::{Event, EventKind, ParameterValue, Process, Transport};
use songfoundry_server::config::{Config, Source};
use songfoundry_server::helper_processes::Helpers;
use songfoundry_server::plugin_hosts::{OpenOptions, PluginHost, PluginHosts, PluginRef};
use tungstenite::{Message, WebSocket};

use crate::live_effects::{next, open, send};
use crate::plugin_service::{PluginService, built, holds_within};

pub(crate) const RATE_HZ: u32 = 48_000;
pub(crate) const FRAMES: usize = 256;

/// A setting that lets blocks wait long enough for their plugins on a busy machine.
pub(crate) const LONG_BLOCK_LIMIT: &[(&str, &str)] = &[("SF_LIVE_PLUGIN_BLOCK_MAX_MS", "10000")];

/// Starts a service whose plugin folder contains plugins of the package zam-plugins and a module of
/// `tests/plugins`.
fn start(module: &str, zam: &[&str], settings: &[(&str, &str)]) -> PluginService {
    PluginService::start_with(settings, |service| {
        service.install(module, "module.so");
        for name in zam {
            let path = zam_path(name);
            assert!(path.exists(), "{} is missing: install the Debian package zam-plugins", path.display());
            let folder = service.folder.path().join("plugins");
            std::fs::copy(&path, folder.join(format!("{name}-vst.so"))).expect("copies");
        }
    })
}

fn zam_path(name: &str) -> PathBuf {
    PathBuf::from(format!("/usr/lib/vst/{name}-vst.so"))
}

/// Returns the id of an effect.
fn id_of(service: &PluginService, name: &str) -> String {
    let effects = service.service.expect(200, "GET", "/api/v1/plugins/effects", &[], &Value::Null);
    let list = effects["vst_effects"].as_array().expect("a list");
    let listed_plugin = list.iter().find(|plugin| plugin["name"] == name);
    let listed_plugin = listed_plugin.unwrap_or_else(|| panic!("{name} is not in {effects}"));
    listed_plugin["plugin_id"].as_str().expect("an id").to_owned()
}

/// A stream that sends a sine and keeps the answers.
pub(crate) struct Client {
    socket: WebSocket<TcpStream>,
    frame: usize,
    pub(crate) answers: Vec<Value>,
    pub(crate) output: [Vec<f32>; 2],
}

impl Client {
    pub(crate) fn open(service: &PluginService) -> Self {
        let socket = open(&service.service, "", &[]).expect("a local caller");
        Self { socket, frame: 0, answers: Vec::new(), output: [Vec::new(), Vec::new()] }
    }

    pub(crate) fn command(&mut self, command: &Value) {
        send(&mut self.socket, Message::text(command.to_string()));
    }

    /// Waits for the next answer that is one of `cmds`.
    pub(crate) fn wait_for(&mut self, cmds: &[&str]) -> Value {
        loop {
            let is_wanted = |answer: &Value| cmds.iter().any(|cmd| answer["cmd"] == *cmd);
            if let Some(index) = self.answers.iter().position(is_wanted) {
                return self.answers.remove(index);
            }
            self.read();
        }
    }

    /// Reads a message. Returns whether it is a block.
    fn read(&mut self) -> bool {
        match next(&mut self.socket) {
            Message::Text(text) => {
                self.answers.push(serde_json::from_str(&text).expect("JSON"));
                false
            }
            Message::Binary(bytes) => {
                for (index, sample) in bytes.as_chunks::<4>().0.iter().enumerate() {
                    self.output[index % 2].push(f32::from_le_bytes(*sample));
                }
                true
            }
            message => panic!("{message:?}"),
        }
    }

    /// Sends a block and waits for it. Returns its first frame.
    pub(crate) fn block(&mut self) -> usize {
        let input = signal(self.frame);
        let bytes: Vec<u8> = (0..FRAMES)
            .flat_map(|frame| input.each_ref().map(|side| side[frame]))
            .flat_map(f32::to_le_bytes)
            .collect();
        self.frame += FRAMES;
        send(&mut self.socket, Message::binary(bytes));
        while !self.read() {}
        self.output[0].len() - FRAMES
    }

    /// Sends blocks until one of the answers is one of `cmds`.
    pub(crate) fn blocks_until(&mut self, cmds: &[&str]) -> Value {
        loop {
            let is_wanted = |answer: &Value| cmds.iter().any(|cmd| answer["cmd"] == *cmd);
            if let Some(index) = self.answers.iter().position(is_wanted) {
                return self.answers.remove(index);
            }
            self.block();
        }
    }

    pub(crate) fn flush(&mut self) {
        self.command(&json!({ "cmd": "flush" }));
        self.wait_for(&["flush_done"]);
        self.frame = 0;
        self.output = [Vec::new(), Vec::new()];
    }

    /// Returns the statistics of the only plugin.
    pub(crate) fn plugin_stats(&mut self) -> Value {
        self.command(&json!({ "cmd": "stats" }));
        self.wait_for(&["stats"])["plugins"][0].clone()
    }
}

/// Returns a block of sines of 110 and 165 Hz, which have no steps above 0.01.
pub(crate) fn signal(start: usize) -> [Vec<f32>; 2] {
    [110.0, 165.0].map(|frequency_hz: f32| {
        let sample = |frame: usize| {
            let seconds = frame as f32 / RATE_HZ as f32;
            0.4 * (seconds * frequency_hz * std::f32::consts::TAU).sin()
        };
        (start..start + FRAMES).map(sample).collect()
    })
}

/// Returns the peak of a signal.
pub(crate) fn peak(signal: &[f32]) -> f32 {
    signal.iter().fold(0.0, |peak: f32, value| peak.max(value.abs()))
}

/// Asserts that a signal has no click.
fn assert_smooth(signal: &[f32], step: f32) {
    for (frame, pair) in signal.windows(2).enumerate() {
        assert!((pair[0] - pair[1]).abs() < step, "click at frame {frame}: {pair:?}");
    }
}

/// The effects of a reference chain.
enum Reference<'h> {
    BuiltIn(EffectChain),
    Plugin(Box<PluginHost<'h>>, Vec<Event>),
}

fn built_in(id: &str, name: &str) -> Reference<'static> {
    let config = EffectConfig { sample_rate_hz: RATE_HZ, seed: effect_seed(0, "", id), impulse: None };
    let mut chain = EffectChain::new(RATE_HZ);
    chain.push(EffectSlot::new(id, effect_kind(name).expect("an effect"), &config));
    chain.reset(0);
    chain.set_time(MusicalTime { bpm: 120.0, beat: 0.0 });
    Reference::BuiltIn(chain)
}

fn plugin<'h>(hosts: &'h PluginHosts, name: &str, plugin_id: &str) -> Reference<'h> {
    Reference::Plugin(Box::new(open_plugin(hosts, zam_path(name), plugin_id)), Vec::new())
}

/// Returns what hosts plugins without a service, whose files are in `folder`.
pub(crate) fn plugin_hosts(folder: &Path) -> PluginHosts {
    let helper = built().0.join("songfoundry-bridge");
    let settings = [("SF_STORAGE_DIR", folder.to_owned()), ("SF_BRIDGE", helper)];
    let source = Source::from_pairs(settings.map(|(name, path)| (name, path.display().to_string())));
    PluginHosts::new(&Config::load(&source).expect("valid settings"), &Helpers::default())
}

/// Opens a plugin that processes the same blocks as a stream, but not in real time.
pub(crate) fn open_plugin<'h>(hosts: &'h PluginHosts, module: PathBuf, plugin_id: &str) -> PluginHost<'h> {
    let plugin = PluginRef { module, format: PluginFormat::Vst2, plugin_id: plugin_id.to_owned() };
    let options = OpenOptions {
        sample_rate_hz: RATE_HZ,
        block_frames_max: FRAMES as u32,
        can_show_window: false,
        is_real_time: false,
        is_cancelled: &|| false,
    };
    PluginHost::open(hosts, &plugin, options).expect("opens")
}

impl Reference<'_> {
    fn process(&mut self, start: usize, audio: &mut [Vec<f32>; 2]) {
        match self {
            Self::BuiltIn(chain) => {
                let [left, right] = audio;
                chain.process(left, right, &[]);
            }
            Self::Plugin(host, events) => {
                let position_quarters = start as f64 / f64::from(RATE_HZ) * 2.0;
                let transport = Transport {
                    position_frames: start as i64,
                    position_quarters,
                    bar_start_quarters: (position_quarters / 4.0).floor() * 4.0,
                    ..Transport::default()
                };
                let process = Process {
                    frames: FRAMES as u32,
                    input_channels: 2,
                    output_channels: 2,
                    transport,
                    events: std::mem::take(events),
                    ..Process::default()
                };
                let output = host.process(process, audio.as_slice()).expect("processes");
                *audio = output.channels.try_into().expect("two channels");
            }
        }
    }
}

#[test]
fn a_chain_of_effects_and_plugins_equals_its_render() {
    let service = start("vst2_effect", &["ZamVerb", "ZaMaximX2"], LONG_BLOCK_LIMIT);
    let [verb, maxim] = ["ZamVerb", "ZaMaximX2"].map(|name| id_of(&service, name));
    let mut client = Client::open(&service);
    client.command(&json!({ "cmd": "chain", "sample_rate": RATE_HZ, "effects": [
        { "id": "eq", "name": "equalizer" },
        { "id": "verb", "type": "vst2", "plugin_id": verb, "params": { "0": 0.6 } },
        { "id": "lim", "name": "limiter" },
        { "id": "max", "type": "vst2", "plugin_id": maxim },
    ] }));
    let ready = [(); 2].map(|()| client.wait_for(&["plugin_ready"])["latency"].as_u64().expect("a number"));
    assert_eq!(ready.iter().max(), Some(&480));
    // The flush ends the crossfades that insert the plugins.
    client.flush();
    client.command(&json!({ "cmd": "REPORT_LATENCY" }));
    let latency = loop {
        // Earlier messages have the latency without both plugins.
        let latency = client.wait_for(&["latency"]);
        if latency["latencies"][3] == 480 {
            break latency;
        }
    };
    let blocks = 60;
    for block in 0..blocks {
        if block == 30 {
            for (effect, param, value) in [("verb", "0", 0.2), ("verb", "1", 0.9), ("max", "1", 0.4)] {
                client.command(
                    &json!({ "cmd": "SET_PARAM", "effect": effect, "param": param, "value": value }),
                );
            }
            client.command(
                &json!({ "cmd": "SET_PARAM", "effect": "lim", "param": "ceiling_dbtp", "value": -9 }),
            );
        }
        client.block();
    }
    let folder = tempfile::tempdir().expect("a folder");
    let hosts = plugin_hosts(folder.path());
    let mut chain = [
        built_in("eq", "equalizer"),
        plugin(&hosts, "ZamVerb", &verb),
        built_in("lim", "limiter"),
        plugin(&hosts, "ZaMaximX2", &maxim),
    ];
    let change = |id, value| Event { frame: 0, kind: EventKind::Parameter(ParameterValue { id, value }) };
    let ceiling = effect_kind("limiter").expect("an effect").parameter_index("ceiling_dbtp");
    if let Reference::Plugin(_, events) = &mut chain[1] {
        events.push(change(0, 0.6));
    }
    let mut expected = [Vec::new(), Vec::new()];
    for block in 0..blocks {
        if block == 30 {
            for reference in [1, 3] {
                if let Reference::Plugin(_, events) = &mut chain[reference] {
                    let changes = if reference == 1 { vec![(0, 0.2), (1, 0.9)] } else { vec![(1, 0.4)] };
                    events.extend(changes.into_iter().map(|(id, value)| change(id, value)));
                }
            }
            if let Reference::BuiltIn(limiter) = &mut chain[2] {
                limiter.set_parameter(0, ceiling.expect("a parameter"), -9.0);
            }
        }
        let mut audio = signal(block * FRAMES);
        chain.iter_mut().for_each(|effect| effect.process(block * FRAMES, &mut audio));
        expected.iter_mut().zip(audio).for_each(|(expected_channel, block)| expected_channel.extend(block));
    }
    for (side, (output, expected)) in client.output.iter().zip(&expected).enumerate() {
        let difference = output.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(difference < 1e-5, "side {side}: {difference}");
    }
    // The output starts after the latency, and the changes are audible.
    let total_frames = latency["total"].as_u64().expect("a number") as usize;
    assert!(peak(&client.output[0][..480]) < 1e-3 && peak(&client.output[0][total_frames + 440..]) > 0.05);
    let (output_before, output_after) = client.output[0].split_at(30 * FRAMES);
    assert!((peak(&output_before[20 * FRAMES..]) - peak(&output_after[20 * FRAMES..])).abs() > 0.01);
    assert_eq!(client.plugin_stats()["late_blocks"], 0);
}

/// Ends the process that hosts the plugin, by the id that the administrator sees.
pub(crate) fn kill_plugin(service: &PluginService) {
    let folder = service.folder.path().to_string_lossy().into_owned();
    let is_host = |pid: &str| {
        let read_proc_file = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let has = |bytes: Vec<u8>, text: &str| String::from_utf8_lossy(&bytes).contains(text);
        has(read_proc_file("cmdline"), "--socket") && has(read_proc_file("environ"), &folder)
    };
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let names = processes.filter_map(|entry| entry.file_name().into_string().ok());
    let pids: Vec<String> = names.filter(|name| is_host(name)).collect();
    assert_eq!(pids.len(), 1, "one process hosts the plugin");
    assert!(std::process::Command::new("kill").args(["-KILL", &pids[0]]).status().expect("runs").success());
}

#[test]
fn a_killed_plugin_returns_with_its_settings() {
    // A block that an ended process does not answer waits for 200 ms.
    let service = start("vst2_effect", &["ZaMaximX2"], &[("SF_LIVE_PLUGIN_BLOCK_MAX_MS", "200")]);
    let maxim = id_of(&service, "ZaMaximX2");
    let mut client = Client::open(&service);
    client.command(&json!([{ "id": "max", "type": "vst2", "plugin_id": maxim }]));
    client.wait_for(&["plugin_ready"]);
    // The state and a later value restore the settings. The default of the threshold is 0 dB.
    let parameters = service.service.expect(
        200,
        "POST",
        "/api/v1/plugins/parameters",
        &[],
        &json!({ "plugin_id": maxim }),
    );
    let index = |name: &str| {
        let list = parameters["parameters"].as_array().expect("a list");
        list.iter().find(|parameter| parameter["name"] == name).unwrap_or_else(|| panic!("{parameters}"))["id"]
            .to_string()
    };
    let (threshold, ceiling) = (index("Threshold"), index("Output Ceiling"));
    client.command(&json!({ "cmd": "SET_PARAM", "effect": "max", "param": ceiling, "value": 0.5 }));
    client.block();
    client.command(&json!({ "cmd": "state", "effect": "max" }));
    let state = client.wait_for(&["state"])["state"].as_str().expect("text").to_owned();
    assert!(state.len() > 8, "{state}");
    client.command(&json!({ "cmd": "SET_PARAM", "effect": "max", "param": threshold, "value": 0.3 }));
    (0..200).for_each(|_| _ = client.block());
    let level = |client: &Client| peak(&client.output[0][client.output[0].len() - 20 * FRAMES..]);
    let (output_before, start) = (level(&client), client.output[0].len() - FRAMES);
    assert!((output_before - 0.4).abs() > 0.02, "the plugin changes the level: {output_before}");
    kill_plugin(&service);
    let killed_at = Instant::now();
    let failure_blocks = client.blocks_until(&["plugin_failed"]);
    assert_eq!(
        (&failure_blocks["code"], &failure_blocks["restarting"]),
        (&json!("plugin_crashed"), &json!(true)),
        "{failure_blocks}"
    );
    client.block();
    let dry_samples = client.output[0].len();
    client.blocks_until(&["plugin_ready"]);
    let silence = killed_at.elapsed();
    (0..200).for_each(|_| _ = client.block());
    assert_smooth(&client.output[0][start..], 0.02);
    let signal = &client.output[0][dry_samples..dry_samples + 2 * FRAMES];
    assert!(peak(signal) > 0.3, "the input passes meanwhile");
    assert!((level(&client) - output_before).abs() < 1e-3, "{} instead of {output_before}", level(&client));
    let stats = client.plugin_stats();
    assert_eq!((&stats["restarts"], &stats["is_ready"]), (&json!(1), &json!(true)), "{stats}");
    assert!(silence < Duration::from_secs(10), "{silence:?}");
    println!("a killed plugin is back after {silence:?}");
}

#[test]
fn a_new_state_is_taken_over_without_a_restart() {
    let service = start("vst2_effect", &["ZaMaximX2"], LONG_BLOCK_LIMIT);
    let maxim = id_of(&service, "ZaMaximX2");
    let effect = json!({ "id": "max", "type": "vst2", "plugin_id": maxim });
    let request = json!({ "plugin_id": maxim });
    let parameters = service.service.expect(200, "POST", "/api/v1/plugins/parameters", &[], &request);
    let list = parameters["parameters"].as_array().expect("a list");
    let threshold = list.iter().find(|parameter| parameter["name"] == "Threshold").expect("a parameter");
    let (id, loud) = (threshold["id"].to_string(), threshold["value"].as_f64().expect("a number"));
    let mut client = Client::open(&service);
    client.command(&json!([effect]));
    client.wait_for(&["plugin_ready"]);
    client.flush();
    let level = |client: &mut Client| {
        (0..150).for_each(|_| _ = client.block());
        peak(&client.output[0][client.output[0].len() - 20 * FRAMES..])
    };
    let state = |client: &mut Client| {
        client.command(&json!({ "cmd": "state", "effect": "max" }));
        client.wait_for(&["state"])["state"].clone()
    };
    let set = |client: &mut Client, value: f64| {
        client.command(&json!({ "cmd": "SET_PARAM", "effect": "max", "param": id, "value": value }));
        client.block();
    };
    let (first, first_level) = (state(&mut client), level(&mut client));
    set(&mut client, 0.3);
    let (second, second_level) = (state(&mut client), level(&mut client));
    assert!((first_level - second_level).abs() > 0.02 && first != second, "{first_level} {second_level}");
    for (state, expected) in [(&first, first_level), (&second, second_level)] {
        let mut effect = effect.clone();
        effect["state"] = state.clone();
        client.command(&json!([effect]));
        let found = level(&mut client);
        assert!((found - expected).abs() < 1e-3, "{found} instead of {expected}");
    }
    // The values of a chain apply to its state.
    let mut with_value = effect;
    with_value["state"] = first;
    with_value["params"] = json!({ id.as_str(): 0.3 });
    client.command(&json!([with_value]));
    let found = level(&mut client);
    assert!((found - second_level).abs() < 1e-3, "{found} instead of {second_level}");
    set(&mut client, loud);
    assert!((level(&mut client) - first_level).abs() < 1e-3);
    // A state that is none is refused, and the plugin goes on.
    with_value["state"] = json!("AAAA");
    with_value["params"] = json!({});
    client.command(&json!([with_value]));
    assert_eq!(client.blocks_until(&["error"])["code"], "bad_state");
    assert!((level(&mut client) - first_level).abs() < 1e-3);
    let is_restart =
        |answer: &Value| ["plugin_ready", "plugin_failed"].iter().any(|cmd| answer["cmd"] == *cmd);
    assert!(!client.answers.iter().any(is_restart), "{:?}", client.answers);
    assert_eq!(client.plugin_stats()["restarts"], 0);
}

#[test]
fn faulty_plugins_are_told_and_leave_nothing() {
    // A short limit for blocks, because a hanging plugin uses it up.
    let service = start("vst2_misbehaving", &[], &[("SF_LIVE_PLUGIN_BLOCK_MAX_MS", "20")]);
    let ids = ["Hangs", "Crashes", "Exits", "Not a Number", "Slow"].map(|name| id_of(&service, name));
    // The threads of streams start with the first one.
    let mut idle = Client::open(&service);
    idle.block();
    // The pool may open further connections to the database. Each of 11 restarts has 4 descriptors.
    let descriptors = service.descriptors() + 8;
    let [hangs, crashes, exits, not_a_number, slow] = &ids;
    let mut codes = Vec::new();
    for id in [hangs, crashes, exits] {
        let mut client = Client::open(&service);
        client.command(&json!([{ "id": "bad", "type": "vst2", "plugin_id": id }]));
        client.wait_for(&["plugin_ready"]);
        // The first blocks let the plugin fade in.
        let first = client.blocks_until(&["plugin_failed"]);
        assert!(client.answers.iter().any(|answer| answer["cmd"] == "plugin_late"), "{:?}", client.answers);
        let (mut last_answer, mut failures) = (first.clone(), 1);
        // A hang needs half a second for each failure, so only crashes are repeated up to the
        // limit.
        while id != hangs && last_answer["restarting"] == true {
            last_answer = client.blocks_until(&["plugin_failed"]);
            failures += 1;
        }
        if id != hangs {
            let detail = last_answer["detail"].as_str().expect("text");
            assert!(failures == 6 && detail.contains("not started again after 5 failures"), "{last_answer}");
        }
        let start = client.block();
        assert!(client.output[0][start..].iter().all(|value| value.is_finite()));
        assert_smooth(&client.output[0], 0.02);
        codes.push(first["code"].as_str().expect("text").to_owned());
    }
    assert_eq!(codes, ["plugin_silent", "plugin_crashed", "plugin_ended"]);
    let mut client = Client::open(&service);
    client.command(&json!([{ "id": "nan", "type": "vst2", "plugin_id": not_a_number }]));
    client.wait_for(&["plugin_ready"]);
    let error = client.blocks_until(&["error"]);
    assert_eq!(error["code"], "plugin_not_a_number");
    (0..20).for_each(|_| _ = client.block());
    assert!(client.output.iter().flatten().all(|value| value.is_finite()));
    assert!(!client.answers.iter().any(|answer| answer["cmd"] == "error"), "{:?}", client.answers);
    // A plugin that needs longer than the duration of a block is replaced by the dry signal. The
    // client is informed once, and the plugin is not ended.
    client.answers.clear();
    client.command(&json!([{ "id": "slow", "type": "vst2", "plugin_id": slow }]));
    client.wait_for(&["plugin_ready"]);
    while client.blocks_until(&["plugin_late"])["effect"] != "slow" {}
    (0..100).for_each(|_| _ = client.block());
    let is_told = |answer: &&Value| answer["cmd"] == "plugin_late" && answer["effect"] == "slow";
    let told = client.answers.iter().filter(is_told).count();
    assert_eq!((told, client.plugin_stats()["restarts"].as_u64()), (0, Some(0)));
    // A module that crashes when it is loaded was replaced after its scan.
    service.install("crash", "module.so");
    client.command(&json!([{ "id": "new", "type": "vst2", "plugin_id": crashes }]));
    let failure_blocks = client.blocks_until(&["plugin_failed"]);
    assert_eq!(failure_blocks["restarting"], false, "{failure_blocks}");
    (0..8).for_each(|_| _ = client.block());
    let metrics = service.service.call("GET", "/metrics", &[], "").expect("an answer").body;
    for line in ["songfoundry_live_plugins 0", "songfoundry_live_plugin_restarts_total 11"] {
        assert!(metrics.contains(line), "{metrics}");
    }
    drop((client, idle));
    let is_clean = || service.processes() == 0 && service.descriptors() <= descriptors;
    let is_clean = holds_within(Duration::from_secs(30), is_clean);
    assert!(is_clean, "{} processes, {} descriptors", service.processes(), service.descriptors());
}

#[test]
fn the_number_of_plugins_is_limited_and_their_ids_are_checked() {
    let service = start("vst2_effect", &[], &[("SF_LIVE_PLUGINS_PER_USER", "1")]);
    let id = id_of(&service, "Test Effect Two");
    let effect = |name: &str| json!({ "id": name, "type": "vst2", "plugin_id": id });
    let mut client = Client::open(&service);
    client.command(&json!([effect("a"), effect("b"), { "type": "vst2" }, { "type": "x".repeat(100) }]));
    let errors = [(); 3].map(|()| client.wait_for(&["error"]));
    let codes = errors.each_ref().map(|error| error["code"].as_str().expect("text"));
    assert_eq!(codes, ["invalid_effect", "unsupported_effect", "too_many_plugins"]);
    let details = errors.each_ref().map(|error| error["detail"].as_str().expect("text"));
    assert!(
        details[2].contains("effect 1") && details[2].contains("SF_LIVE_PLUGINS_PER_USER"),
        "{details:?}"
    );
    assert!(details[1].contains(&format!("`{}...`", "x".repeat(64))), "{details:?}");
    client.wait_for(&["plugin_ready"]);
    // The effect `b` replaces the only plugin.
    client.command(&json!([effect("b")]));
    assert_eq!(client.wait_for(&["plugin_ready", "error"])["effect"], "b");
    for (command, code) in [
        (json!({ "cmd": "SET_PARAM", "effect": "b", "param": "nothing", "value": 1 }), "unknown_parameter"),
        (json!({ "cmd": "SET_PARAM", "effect": "b", "param": "0", "value": 2 }), "invalid_value"),
        (json!({ "cmd": "state", "effect": "x" }), "unknown_effect"),
    ] {
        client.command(&command);
        assert_eq!(client.wait_for(&["error"])["code"], code);
    }
    client.command(&json!([{ "type": "vst2", "plugin_id": "00000000" }]));
    let failure_blocks = client.wait_for(&["plugin_failed"]);
    assert!(
        failure_blocks["restarting"] == false && failure_blocks["code"] == "not_found",
        "{failure_blocks}"
    );
}
