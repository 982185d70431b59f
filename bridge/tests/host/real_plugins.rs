//! The plugins of Debian packages, which must be installed or, where a package has only their
//! source, built.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use songfoundry_bridge_protocol::PluginKind;
use songfoundry_bridge_protocol::host::{Event, Opened, Parameter, ParameterValue, Request};

use crate::client::{Helper, difference, first_sound, note_off, note_on, parameter, peak, scan, silence};

/// The plugins of `zam-plugins`, which has each in both formats.
const ZAM: [&str; 17] = [
    "ZaMaximX2",
    "ZaMultiComp",
    "ZaMultiCompX2",
    "ZamAutoSat",
    "ZamComp",
    "ZamCompX2",
    "ZamDelay",
    "ZamDynamicEQ",
    "ZamEQ2",
    "ZamGEQ31",
    "ZamGate",
    "ZamGateX2",
    "ZamGrains",
    "ZamHeadX2",
    "ZamPhono",
    "ZamTube",
    "ZamVerb",
];

/// The effects of `dpf-plugins-vst`.
const DPF: [&str; 13] = [
    "3BandEQ-vst.so",
    "3BandSplitter-vst.so",
    "AmplitudeImposer-vst.so",
    "CycleShifter-vst.so",
    "MVerb-vst.so",
    "MaBitcrush-vst.so",
    "MaFreeverb-vst.so",
    "MaGigaverb-vst.so",
    "MaPitchshift-vst.so",
    "PingPongPan-vst.so",
    "ProM.vst/ProM.so",
    "SoulForce-vst.so",
    "glBars-vst.so",
];

/// The plugins of `dragonfly-reverb-vst`.
const DRAGONFLY: [&str; 4] =
    ["DragonflyEarlyReflections", "DragonflyHallReverb", "DragonflyPlateReverb", "DragonflyRoomReverb"];

/// Plugins that pass their input through, because they only measure or draw it. None of their
/// parameters changes the sound.
const ANALYSERS: [&str; 5] = ["glBars", "ProM", "spectrum-analyzer", "oscilloscope", "phase-detector"];

/// Effects that are silent at first: one multiplies its input with that of its side-chain, others
/// send a signal only during a measurement.
const SILENT_EFFECTS: [&str; 3] = ["AmplitudeImposer", "profiler", "latency-meter"];

/// Instruments that stay silent: samplers without samples, and plugins that put out notes.
const SILENT_INSTRUMENTS: [&str; 2] = ["sampler", "trigger-midi"];

/// Instruments that are audible with their default settings.
const INSTRUMENTS: [&str; 3] = ["Nekobi", "Kars", "amsynth"];

/// Plugins with an oscillator that a reset does not restart, so that the sound depends on all that
/// was processed before.
const UNSYNCHRONIZED_LFO: [&str; 1] = ["MaPitchshift"];

/// Number of frames of a signal.
const FRAMES: usize = 19_200;

/// Returns the path of a module, which the package must contain.
fn installed(path: String, package: &str) -> PathBuf {
    let path = PathBuf::from(path);
    assert!(path.exists(), "{} is missing: install the Debian package {package}", path.display());
    path
}

/// Returns the path of a VST3 plugin that `need_dpf_plugins` in `scripts/setup.bash` has built.
fn built(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the folder of all builds");
    let path = target.join(format!("dpf-plugins/{name}.vst3"));
    let command = "bash -c '. scripts/setup.bash; need_dpf_plugins'";
    assert!(path.exists(), "{} is missing: run {command}", path.display());
    path
}

/// Checks all plugins and then reports all failures.
fn check_all(modules: impl IntoIterator<Item = PathBuf>, check: impl Fn(&Path)) {
    let failed = |module: &PathBuf| catch_unwind(AssertUnwindSafe(|| check(module))).is_err();
    let failed: Vec<PathBuf> = modules.into_iter().filter(failed).collect();
    assert!(failed.is_empty(), "these plugins failed: {failed:?}");
}

/// Returns bursts of noise over a sine, which gates, compressors and delays change audibly. The
/// channels differ.
fn signal() -> [Vec<f32>; 2] {
    let mut random = 1_u32;
    let mut channel = |frequency_hz: f32| {
        let sample = |frame: usize| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let noise = (random >> 8) as f32 / 8_388_608.0 - 1.0;
            let sine = (frame as f32 * frequency_hz / 48_000.0 * std::f32::consts::TAU).sin();
            let burst = if frame % 4_800 < 1_200 { 0.4 } else { 0.02 };
            0.4 * sine + burst * noise
        };
        (0..FRAMES).map(sample).collect::<Vec<f32>>()
    };
    [channel(220.0), channel(330.0)]
}

/// Processes the signal or the notes from a reset on, with further events at the start.
fn run(helper: &mut Helper, opened_plugin: &Opened, first: Vec<Event>) -> [Vec<f32>; 2] {
    helper.reset();
    let (output, process_result) = if opened_plugin.kind == PluginKind::Instrument {
        let notes = [note_on(480, 57), note_on(2_400, 64), note_off(9_600, 57), note_off(12_000, 64)];
        helper.process(&silence(FRAMES), [first, notes.to_vec()].concat())
    } else {
        helper.process(&signal(), first)
    };
    assert_eq!(process_result.non_finite_samples, 0);
    output
}

/// Returns the second of two runs, because some plugins keep the state of their envelopes and ramps
/// when they are reset.
fn settled(helper: &mut Helper, opened_plugin: &Opened) -> [Vec<f32>; 2] {
    run(helper, opened_plugin, Vec::new());
    run(helper, opened_plugin, Vec::new())
}

/// Opens the plugin of a module, processes a sound, moves parameters until the sound changes, and
/// restores the state in a new process.
fn check(module: &Path) {
    let plugins = scan(&module.to_owned());
    assert_eq!(plugins.len(), 1, "{}", module.display());
    let (mut helper, opened_plugin) = Helper::open(module, &plugins[0].plugin_id);
    assert_eq!(opened_plugin.name, plugins[0].name);
    let is_one_of = |names: &[&str]| names.iter().any(|name| module.to_string_lossy().contains(name));
    let stays_silent = is_one_of(&SILENT_INSTRUMENTS);
    let kind = match stays_silent || is_one_of(&INSTRUMENTS) {
        true => PluginKind::Instrument,
        false => PluginKind::Effect,
    };
    assert_eq!((plugins[0].kind, opened_plugin.kind), (kind, kind), "{}", module.display());
    let initial = settled(&mut helper, &opened_plugin);
    let is_silent = peak(&initial) < 0.001;
    assert_eq!(
        is_silent,
        stays_silent || is_one_of(&SILENT_EFFECTS),
        "{}: peak {}",
        module.display(),
        peak(&initial)
    );
    // Plugins with an LFO or with noise differ a little each time.
    let second_output = run(&mut helper, &opened_plugin, Vec::new());
    let variation = difference(&initial, &second_output);
    let moved = move_parameter(&mut helper, &opened_plugin, &initial, &second_output);
    println!(
        "{:60} {:25} peak {:.3}, latency {}, {} parameters, {} programs, variation {variation:.5}, changed by {}",
        module.display(),
        opened_plugin.name,
        peak(&initial),
        opened_plugin.latency_frames,
        opened_plugin.parameters.len(),
        opened_plugin.programs.len(),
        moved.as_ref().map_or("none", |(parameter, _)| parameter.name.as_str()),
    );
    let is_unchanged = stays_silent || is_one_of(&ANALYSERS) || opened_plugin.parameters.is_empty();
    assert_eq!(moved.is_none(), is_unchanged, "{}: parameter that changes the sound", module.display());
    if let Some((parameter, value)) = &moved {
        helper.set_parameter(parameter.id, *value);
    }
    let state = helper.state();
    let values = helper.set_state(Request::SetState, &state);
    let sound = settled(&mut helper, &opened_plugin);
    assert!(helper.close().success(), "{}", module.display());
    let (mut helper, opened_plugin) = Helper::open(module, &plugins[0].plugin_id);
    let restored_state = helper.set_state(Request::SetState, &state);
    let is_near = |(left, right): (&ParameterValue, &ParameterValue)| {
        left.id == right.id && (left.value - right.value).abs() < 0.000_1
    };
    assert!(
        values.len() == restored_state.len() && values.iter().zip(&restored_state).all(is_near),
        "{restored_state:?}"
    );
    let restored_sound = settled(&mut helper, &opened_plugin);
    if is_one_of(&UNSYNCHRONIZED_LFO) {
        let change = level_difference(&sound, &restored_sound);
        assert!(change < 0.05, "{}: the level differs by {change}", module.display());
    } else if variation < 0.000_1 {
        let change = difference(&sound, &restored_sound);
        assert!(change < 0.001, "{}: the restored sound differs by {change}", module.display());
    }
}

/// Returns the largest difference of the levels in sections of 1,200 frames. It is small even if
/// both sounds are noise.
fn level_difference(left: &[Vec<f32>; 2], right: &[Vec<f32>; 2]) -> f32 {
    let level = |section: &[f32]| {
        (section.iter().map(|sample| sample * sample).sum::<f32>() / section.len() as f32).sqrt()
    };
    let levels = |sound: &[Vec<f32>; 2]| {
        sound.iter().flat_map(|channel| channel.chunks(1_200)).map(level).collect::<Vec<f32>>()
    };
    let levels = levels(left).into_iter().zip(levels(right));
    levels.map(|(left, right)| (left - right).abs()).fold(0.0, f32::max)
}

/// Moves one parameter after another until the sound changes, and returns the parameter with its
/// value.
fn move_parameter(
    helper: &mut Helper,
    opened_plugin: &Opened,
    initial: &[Vec<f32>; 2],
    second_output: &[Vec<f32>; 2],
) -> Option<(Parameter, f64)> {
    for moved in opened_plugin.parameters.iter().filter(|parameter| !parameter.is_bypass) {
        let value = if moved.value < 0.5 { 1.0 } else { 0.0 };
        let output = run(helper, opened_plugin, vec![parameter(0, moved.id, value)]);
        let is_changed = difference(initial, &output) > 0.01 + 4.0 * difference(initial, second_output)
            || level_difference(initial, &output) > 0.01 + 2.0 * level_difference(initial, second_output);
        if is_changed {
            return Some((moved.clone(), value));
        }
        helper.set_parameter(moved.id, moved.value);
    }
    None
}

fn open(module: &Path) -> (Helper, Opened) {
    Helper::open(module, &scan(&module.to_owned())[0].plugin_id)
}

#[test]
fn zam_plugins_in_vst3() {
    check_all(ZAM.map(|name| installed(format!("/usr/lib/vst3/{name}.vst3"), "zam-plugins")), check);
}

#[test]
fn zam_plugins_in_vst2() {
    check_all(ZAM.map(|name| installed(format!("/usr/lib/vst/{name}-vst.so"), "zam-plugins")), check);
}

#[test]
fn dpf_plugins() {
    check_all(DPF.map(|name| installed(format!("/usr/lib/vst/{name}"), "dpf-plugins-vst")), check);
}

#[test]
fn dragonfly_reverbs() {
    let path = |name| format!("/usr/lib/lxvst/{name}-vst.so");
    check_all(DRAGONFLY.map(|name| installed(path(name), "dragonfly-reverb-vst")), check);
}

#[test]
fn lsp_plugins() {
    let folder = installed("/usr/lib/vst/lsp-plugins".to_owned(), "lsp-plugins-vst");
    let entries = std::fs::read_dir(folder).expect("the folder can be listed");
    let files = entries.map(|entry| entry.expect("an entry").path());
    // All plugins share this library.
    let modules = files.filter(|path| !path.to_string_lossy().contains("lsp-plugins-vst2"));
    check_all(modules, check);
}

#[test]
fn vst3_plugins_of_dpf_are_scanned_with_their_kind() {
    for (name, kind, categories) in [
        ("Nekobi", PluginKind::Instrument, "Instrument"),
        ("Kars", PluginKind::Instrument, "Instrument"),
        ("MVerb", PluginKind::Effect, "Fx|Reverb"),
    ] {
        let plugins = scan(&built(name));
        assert_eq!(plugins.len(), 1, "{plugins:?}");
        let plugin = &plugins[0];
        let scanned = (plugin.name.as_str(), plugin.kind, plugin.categories.join("|"));
        assert_eq!(scanned, (name, kind, categories.to_owned()));
    }
}

#[test]
fn a_vst3_effect_of_dpf() {
    check_all([built("MVerb")], check);
}

fn amsynth() -> PathBuf {
    installed("/usr/lib/vst/amsynth_vst.so".to_owned(), "amsynth")
}

fn instruments() -> [PathBuf; 5] {
    let dpf = |name| installed(format!("/usr/lib/vst/{name}-vst.so"), "dpf-plugins-vst");
    [dpf("Nekobi"), dpf("Kars"), amsynth(), built("Nekobi"), built("Kars")]
}

#[test]
fn instruments_play_notes() {
    check_all(instruments(), check);
}

#[test]
fn the_first_sound_of_a_note_is_at_its_frame() {
    check_all(instruments(), |module| {
        let (mut helper, opened_plugin) = open(module);
        assert!(opened_plugin.accepts_notes && opened_plugin.kind == PluginKind::Instrument);
        let mut first_sound_of = |frame: u32| {
            helper.reset();
            let (output, _) = helper.process(&silence(9_600), vec![note_on(frame, 60)]);
            first_sound(&output, 0.000_01).expect("a sound")
        };
        let (first, second) = (first_sound_of(1_000), first_sound_of(1_333));
        println!("{}: notes at 1000 and 1333 sound from {first} and {second}", module.display());
        // The attack of a note may be silent for some frames.
        assert!((1_000..1_010).contains(&first) && (1_333..1_343).contains(&second));
    });
}

#[test]
fn latencies_are_those_of_the_plugins() {
    for (path, package, latency_frames) in [
        ("/usr/lib/vst3/ZaMaximX2.vst3", "zam-plugins", 480),
        ("/usr/lib/vst/ZaMaximX2-vst.so", "zam-plugins", 480),
        ("/usr/lib/vst/lsp-plugins/limiter-stereo.so", "lsp-plugins-vst", 240),
        ("/usr/lib/vst/lsp-plugins/loud-comp-stereo.so", "lsp-plugins-vst", 4_096),
    ] {
        let (mut helper, opened_plugin) = open(&installed(path.to_owned(), package));
        assert_eq!(opened_plugin.latency_frames, latency_frames, "{path}");
        let (_, process_result) = helper.process(&signal(), Vec::new());
        assert_eq!(process_result.latency_frames, latency_frames, "{path}");
    }
}

#[test]
fn programs_are_selected_by_their_index() {
    let (mut helper, opened_plugin) = open(&amsynth());
    println!("{:?} {:?}", opened_plugin.programs, opened_plugin.program);
    assert!(opened_plugin.programs.len() > 10 && opened_plugin.programs.iter().all(|name| !name.is_empty()));
    let initial = run(&mut helper, &opened_plugin, Vec::new());
    let values = helper.set_state(Request::SetProgram { index: 5 }, &[]);
    assert!(
        values.iter().zip(&opened_plugin.parameters).any(|(value, parameter)| value.value != parameter.value)
    );
    assert!(difference(&initial, &run(&mut helper, &opened_plugin, Vec::new())) > 0.01);
}

#[test]
fn effects_receive_their_side_chain() {
    // The first multiplies its input with its side-chain. The others are compressors, which use it
    // after the change of a parameter. The VST3 variants of `zam-plugins` have such a bus too, but
    // the framework of their version reads only the first bus.
    for (path, package, channels, switch) in [
        ("/usr/lib/vst/AmplitudeImposer-vst.so", "dpf-plugins-vst", 2, None),
        ("/usr/lib/vst/lsp-plugins/sc-compressor-stereo.so", "lsp-plugins-vst", 2, Some(("sct", 1.0))),
        ("/usr/lib/vst/lsp-plugins/sc-compressor-mono.so", "lsp-plugins-vst", 1, Some(("sct", 1.0))),
        ("/usr/lib/vst/ZamCompX2-vst.so", "zam-plugins", 1, Some(("Sidechain", 1.0))),
    ] {
        let (mut helper, opened_plugin) = open(&installed(path.to_owned(), package));
        let side_chains = opened_plugin.inputs.iter().filter(|bus| bus.is_side_chain);
        let channel_counts: Vec<u16> = side_chains.map(|bus| bus.channels).collect();
        assert_eq!((channel_counts, opened_plugin.has_side_chain()), (vec![channels], true), "{path}");
        if let Some((name, value)) = switch {
            let switch = opened_plugin.parameters.iter().find(|parameter| parameter.name == name);
            helper.set_parameter(switch.expect("a parameter").id, value);
        }
        let mut output = |side_chain: &[Vec<f32>]| {
            helper.reset();
            helper.process_with_side_chain(&signal(), side_chain, Vec::new()).0
        };
        let loud = signal().map(|channel| channel.iter().map(|sample| sample * 4.0).collect());
        // The levels of some effects ramp up while they process their first sound.
        output(&[]);
        let (without, second_output, with) = (output(&[]), output(&[]), output(&loud));
        println!("{path}: {} {}", difference(&without, &with), difference(&without, &second_output));
        assert!(difference(&without, &with) > 0.01, "{path}");
        assert!(difference(&without, &second_output) < 0.001, "{path}");
    }
}
