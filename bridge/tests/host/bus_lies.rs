//! Plugins that state false buses.

use songfoundry_bridge_protocol::host::{Answer, Bus, Opened, Process, Request};

use crate::client::{Helper, difference, open_request, scan, silence};
use crate::modules::install;

/// Latency of the VST3 effects of `tests/plugins`.
const LATENCY_FRAMES: usize = 64;

/// The output of an effect with false buses, for a click in the left channel.
#[derive(Debug, Clone, Copy)]
enum Sound {
    /// Silence.
    None,
    /// The click.
    Same,
    /// The mean of left and right on both sides.
    Mono,
}

/// Opens a plugin of a module. Returns the reason if it is refused.
fn open(module: &str, file: &str, name: &str) -> Result<(Helper, Opened), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let module = install(&folder, module, file);
    let plugins = scan(&module);
    let listed_plugin = plugins.iter().find(|plugin| plugin.name == name);
    let plugin_id = &listed_plugin.unwrap_or_else(|| panic!("{name} is not in {plugins:?}")).plugin_id;
    let mut helper = Helper::start();
    match helper.request(open_request(&module, plugin_id), &[]).0 {
        Answer::Opened(opened_plugin) => Ok((helper, *opened_plugin)),
        Answer::Refused { reason } => Err(reason),
        answer => panic!("{name}: {answer:?}"),
    }
}

/// Checks the channels of the main input and output of an open plugin, and its sound.
fn check((mut helper, opened_plugin): (Helper, Opened), name: &str, main_channels: [u16; 2], sound: Sound) {
    let main = |buses: &[Bus]| buses.iter().find(|bus| bus.is_main).map_or(0, |bus| bus.channels);
    assert_eq!([main(&opened_plugin.inputs), main(&opened_plugin.outputs)], main_channels, "{name}");
    let mut click = silence(1_000);
    click[0][700] = 0.5;
    let (output, process_result) = helper.process(&click, Vec::new());
    let mut expected = silence(1_000);
    let frame = 700 + process_result.latency_frames as usize;
    match sound {
        Sound::None => {}
        Sound::Same => expected[0][frame] = 0.5,
        Sound::Mono => expected.iter_mut().for_each(|channel| channel[frame] = 0.25),
    }
    assert_eq!(difference(&output, &expected), 0.0, "{name}");
    // The helper still answers.
    let request = Process { frames: 1, ..Process::default() };
    let answer = helper.request(Request::Process(request), &[]).0;
    assert!(matches!(answer, Answer::Processed(_)), "{name}: {answer:?}");
    assert!(helper.close().success(), "{name}");
}

#[test]
fn false_buses_of_vst3_plugins_do_no_harm() {
    for (name, main_channels, sound) in [
        ("Negative Count", [0, 0], Sound::None),
        ("No Buses", [0, 0], Sound::None),
        ("Unknown Bus", [0, 0], Sound::None),
        ("Negative Channels", [0, 0], Sound::None),
        ("Other Arrangement", [1, 1], Sound::Mono),
        ("More Channels", [2, 2], Sound::Same),
    ] {
        let opened_plugin =
            open("bus_lies", "Lies.vst3", name).unwrap_or_else(|reason| panic!("{name}: {reason}"));
        assert_eq!(opened_plugin.1.latency_frames as usize, LATENCY_FRAMES, "{name}");
        check(opened_plugin, name, main_channels, sound);
    }
}

#[test]
fn false_channels_of_vst2_plugins_do_no_harm() {
    for (name, main_channels, sound) in [
        ("Negative Channels", [0, 0], Sound::None),
        ("No Channels", [0, 0], Sound::None),
        ("More Channels", [2, 2], Sound::Same),
    ] {
        let opened_plugin =
            open("vst2_misbehaving", "Lies.so", name).unwrap_or_else(|reason| panic!("{name}: {reason}"));
        check(opened_plugin, name, main_channels, sound);
    }
}

#[test]
fn too_many_buses_and_channels_are_refused() {
    for (module, file, name, expected) in [
        ("bus_lies", "Lies.vst3", "Many Buses", "the plugin states 1000 buses; the maximum is 64"),
        (
            "bus_lies",
            "Lies.vst3",
            "Many Channels",
            "the plugin states 1000 input channels; the maximum is 128",
        ),
        (
            "vst2_misbehaving",
            "Lies.so",
            "Thousand Channels",
            "the plugin states 1000 output channels; the maximum is 128",
        ),
    ] {
        assert_eq!(open(module, file, name).err().as_deref(), Some(expected), "{name}");
    }
}
