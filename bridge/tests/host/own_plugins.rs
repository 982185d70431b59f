//! The plugins of `tests/plugins`, whose output is known sample by sample.

use std::path::PathBuf;

use songfoundry_bridge_protocol::PluginKind;
use songfoundry_bridge_protocol::frame::{bytes_to_samples, samples_to_bytes};
use songfoundry_bridge_protocol::host::{
    Answer, Bus, Event, EventKind, NoteExpression, Opened, ParameterValue, PresetFormat, Process, Request,
    Tail, Transport,
};

use crate::client::{Helper, difference, first_sound, note_off, note_on, parameter, peak, silence};
use crate::modules::install;

/// Latency of the gain of `tests/plugins`.
const LATENCY_FRAMES: usize = 64;

/// Parameter id of the gain.
const GAIN: u32 = 100;

struct Modules {
    _folder: tempfile::TempDir,
    gain: (PathBuf, String),
    side_chain: (PathBuf, String),
    synth: (PathBuf, String),
    vst2_gain: (PathBuf, String),
    vst2_synth: (PathBuf, String),
}

fn modules() -> Modules {
    let folder = tempfile::tempdir().expect("a folder");
    let vst3 =
        |module: &str, digits: &str| (install(&folder, module, &format!("{module}.vst3")), digits.repeat(16));
    let vst2 = |module: &str, id: &str| (install(&folder, module, &format!("{module}.so")), id.to_owned());
    Modules {
        gain: vst3("effect", "21"),
        side_chain: vst3("side_chain", "51"),
        synth: vst3("instrument", "11"),
        vst2_gain: vst2("vst2_effect", "54454632"),
        vst2_synth: vst2("vst2_synth", "54535932"),
        _folder: folder,
    }
}

fn open((module, id): &(PathBuf, String)) -> (Helper, Opened) {
    Helper::open(module, id)
}

/// Returns a ramp from which each frame can be recognized.
fn ramp(frames: usize) -> [Vec<f32>; 2] {
    let ramp = |offset: f32| (0..frames).map(|frame| offset + frame as f32 / 65_536.0).collect();
    [ramp(0.125), ramp(0.25)]
}

/// Returns the ramp with a delay and a gain at each frame of the output.
fn expected(frames: usize, delay: usize, gain: impl Fn(usize) -> f32) -> [Vec<f32>; 2] {
    let delayed = |channel: Vec<f32>| {
        let sample = |frame: usize| if frame < delay { 0.0 } else { channel[frame - delay] };
        (0..frames).map(|frame| sample(frame) * gain(frame)).collect()
    };
    ramp(frames).map(delayed)
}

#[test]
fn the_properties_of_a_plugin_are_stated() {
    let modules = modules();
    let stereo = vec![Bus { name: "Main".to_owned(), channels: 2, is_main: true, is_side_chain: false }];
    let (helper, gain) = open(&modules.gain);
    assert_eq!(
        (gain.name.as_str(), gain.vendor.as_str(), gain.version.as_str()),
        ("Test Effect", "Songfoundry", "1.2.3")
    );
    assert_eq!((gain.kind, &gain.inputs, &gain.outputs), (PluginKind::Effect, &stereo, &stereo));
    assert_eq!((gain.latency_frames, gain.tail_frames), (64, Tail::None));
    assert!(!gain.has_editor && !gain.accepts_notes && gain.programs.is_empty());
    // Hidden and read-only parameters are left out.
    assert_eq!(gain.parameters.len(), 1);
    let parameter = &gain.parameters[0];
    assert_eq!((parameter.id, parameter.name.as_str(), parameter.unit_label.as_str()), (GAIN, "Gain", "x"));
    assert_eq!((parameter.value, parameter.default_value, parameter.text.as_str()), (0.5, 0.5, "1.00"));
    assert!(helper.close().success());
    let (helper, synth) = open(&modules.synth);
    assert_eq!((synth.kind, synth.inputs.len(), synth.latency_frames), (PluginKind::Instrument, 0, 0));
    assert!(synth.accepts_notes);
    assert!(helper.close().success());
    let (helper, gain) = open(&modules.vst2_gain);
    assert_eq!(
        (gain.name.as_str(), gain.kind, gain.latency_frames),
        ("Test Effect Two", PluginKind::Effect, 0)
    );
    assert_eq!((gain.parameters.len(), gain.parameters[0].text.as_str()), (1, "1.00"));
    assert!(helper.close().success());
}

#[test]
fn parameters_change_at_their_frame() {
    let modules = modules();
    for (plugin, id, delay) in [(&modules.gain, GAIN, LATENCY_FRAMES), (&modules.vst2_gain, 0, 0)] {
        let (mut helper, _) = open(plugin);
        let events = vec![parameter(0, id, 1.0), parameter(777, id, 0.0), parameter(778, id, 0.25)];
        let (output, process_result) = helper.process(&ramp(2_000), events);
        let gain = |frame| match frame {
            0..777 => 2.0,
            777 => 0.0,
            _ => 0.5,
        };
        assert_eq!(difference(&output, &expected(2_000, delay, gain)), 0.0);
        // Changes by the service are not reported back to it.
        assert_eq!(process_result.parameter_changes, []);
        assert_eq!((process_result.latency_frames as usize, process_result.non_finite_samples), (delay, 0));
        // The value stays, and a reset ends the tail.
        helper.reset();
        let (output, _) = helper.process(&ramp(600), Vec::new());
        assert_eq!(difference(&output, &expected(600, delay, |_| 0.5)), 0.0);
    }
}

/// VST3 plugins get the frames of changes that do not divide a block; VST2 plugins get them at most
/// 15 frames early.
#[test]
fn very_many_changes_keep_blocks_of_a_minimum_length() {
    let modules = modules();
    for (plugin, id, delay, early) in
        [(&modules.gain, GAIN, LATENCY_FRAMES, 0), (&modules.vst2_gain, 0, 0, 15)]
    {
        let (mut helper, _) = open(plugin);
        // The value of a frame is that of the change at the frame: 0 to 1 in steps of 1/2048.
        let events = (0..2_048).map(|frame| parameter(frame, id, f64::from(frame) / 2_048.0));
        let (output, _) = helper.process(&ramp(2_048), events.collect());
        let gain = |frame: usize| match early {
            0 => frame,
            early => (frame / (early + 1) * (early + 1) + early).min(2_047),
        };
        let gain = |frame| gain(frame) as f32 / 1_024.0;
        assert_eq!(difference(&output, &expected(2_048, delay, gain)), 0.0);
    }
}

#[test]
fn notes_start_and_end_at_their_frame() {
    let modules = modules();
    for plugin in [&modules.synth, &modules.vst2_synth] {
        let (mut helper, _) = open(plugin);
        for start in [0, 1, 511, 512, 1_000] {
            let events = vec![note_on(start, 69), note_off(start + 700, 69)];
            let (output, _) = helper.process(&silence(3_000), events);
            assert_eq!(first_sound(&output, 0.0), Some(start as usize));
            let last_frame = output[0].iter().rposition(|sample| *sample != 0.0).expect("a sound");
            // The last sample of a sine may be near 0.
            assert!(
                (start as usize + 697..start as usize + 700).contains(&last_frame),
                "{start}: {last_frame}"
            );
            // 440 Hz cross 0 upwards 6.4 times in 700 frames.
            let crossings = output[0].windows(2).filter(|pair| pair[0] < 0.0 && pair[1] >= 0.0).count();
            assert!((6..=7).contains(&crossings), "{crossings}");
        }
    }
}

#[test]
fn the_output_does_not_depend_on_the_size_of_requests() {
    let modules = modules();
    for plugin in [&modules.synth, &modules.vst2_synth] {
        let (mut helper, _) = open(plugin);
        let (whole_output, _) = helper.process(&silence(3_000), vec![note_on(100, 60), note_on(1_500, 67)]);
        helper.reset();
        let mut parts = silence(0);
        for start in (0..3_000).step_by(250) {
            let notes = [note_on(100, 60), note_on(1_500, 67)].into_iter();
            let events = notes.filter(|note| (start..start + 250).contains(&note.frame));
            let events = events.map(|note| Event { frame: note.frame - start, ..note }).collect();
            let (output, _) = helper.process(&silence(250), events);
            parts.iter_mut().zip(output).for_each(|(part, channel)| part.extend(channel));
        }
        assert!(peak(&whole_output) > 0.1);
        assert_eq!(difference(&whole_output, &parts), 0.0);
    }
}

#[test]
fn midi_controllers_and_note_expressions_reach_vst3_plugins() {
    let (mut helper, _) = open(&modules().synth);
    let volume = Event { frame: 500, kind: EventKind::Controller { channel: 0, controller: 7, value: 0 } };
    let (output, _) = helper.process(&silence(1_000), vec![note_on(0, 69), volume]);
    assert!(output[0][..500].iter().any(|sample| *sample > 0.1));
    assert!(output[0][500..].iter().all(|sample| *sample == 0.0));
    helper.reset();
    helper.set_parameter(GAIN, 0.5);
    let expression = |expression, value| EventKind::NoteExpression { note_id: 69, expression, value };
    // An octave is 12 of 240 semitones. The plugin does not offer the other expression.
    let tuning = Event { frame: 0, kind: expression(NoteExpression::Tuning, 0.55) };
    let pan = Event { frame: 0, kind: expression(NoteExpression::Pan, 0.0) };
    let (tuned, _) = helper.process(&silence(1_000), vec![note_on(0, 69), tuning, pan]);
    helper.reset();
    let (octave, _) = helper.process(&silence(1_000), vec![note_on(0, 81)]);
    assert!(difference(&tuned, &octave) < 0.000_1);
    // Events that the plugin does not use are not errors.
    let other_plugins = [
        EventKind::PitchBend { channel: 0, value: 0 },
        EventKind::ChannelPressure { channel: 0, value: 1 },
        EventKind::KeyPressure { note_id: -1, channel: 0, key: 1, value: 1 },
        EventKind::ProgramChange { channel: 0, program: 1 },
    ];
    helper.process(&silence(64), other_plugins.map(|kind| Event { frame: 3, kind }).into());
}

#[test]
fn plugins_get_the_bar_and_the_time_signature() {
    let folder = tempfile::tempdir().expect("a folder");
    let vst3 = (install(&folder, "meter", "meter.vst3"), "61".repeat(16));
    let vst2 = (install(&folder, "vst2_meter", "vst2_meter.so"), "544D5432".to_owned());
    for plugin in [vst3, vst2] {
        let (mut helper, _) = open(&plugin);
        // 7/8 from the fourth quarter note on. The next bar starts 2,400 frames later. The plugin
        // gets it with the next block of 512 frames.
        let transport = Transport {
            position_frames: 177_600,
            position_quarters: 7.4,
            bar_start_quarters: 4.0,
            numerator: 7,
            denominator: 8,
            ..Transport::default()
        };
        let request = Process { frames: 20_000, output_channels: 2, transport, ..Process::default() };
        let (answer, binary) = helper.request(Request::Process(request), &[]);
        assert!(matches!(answer, Answer::Processed(_)), "{answer:?}");
        let output = bytes_to_samples(&binary, 2, 20_000).expect("two channels");
        assert!(output[0][..2_400].iter().all(|sample| *sample == 4.0));
        assert!(output[0][2_560..].iter().all(|sample| *sample == 7.5));
        assert!(output[1].iter().all(|sample| *sample == 7.0 + 8.0 / 256.0));
    }
}

#[test]
fn channels_are_converted_to_those_of_the_request() {
    let (mut helper, _) = open(&modules().vst2_gain);
    let [left, right] = ramp(100);
    let mut process = |channels: &[Vec<f32>], output_channels| {
        let input_channels = channels.len() as u16;
        let request = Process { frames: 100, input_channels, output_channels, ..Process::default() };
        match helper.request(Request::Process(request), &samples_to_bytes(channels)) {
            (Answer::Processed(_), binary) => {
                bytes_to_samples(&binary, output_channels.into(), 100).expect("the channels")
            }
            (answer, _) => panic!("{answer:?}"),
        }
    };
    assert_eq!(process(std::slice::from_ref(&left), 2), [left.clone(), left.clone()]);
    let mean: Vec<f32> = left.iter().zip(&right).map(|(left, right)| (left + right) * 0.5).collect();
    assert_eq!(process(&[left.clone(), right.clone()], 1), [mean]);
    let silent_block = vec![0.0; 100];
    assert_eq!(process(&[left.clone(), right.clone()], 3), [left.clone(), right.clone(), silent_block]);
    assert_eq!(process(&[left, right], 0), Vec::<Vec<f32>>::new());
}

#[test]
fn states_and_presets_are_restored_in_a_new_process() {
    let modules = modules();
    for (plugin, id, format) in
        [(&modules.gain, GAIN, PresetFormat::Vstpreset), (&modules.vst2_gain, 0, PresetFormat::Fxp)]
    {
        let (mut helper, _) = open(plugin);
        helper.set_parameter(id, 0.75);
        let state = helper.state();
        let (answer, preset) = helper.request(Request::SavePreset { format }, &[]);
        assert_eq!(answer, Answer::Preset);
        assert!(helper.close().success());
        for (request, bytes) in [(Request::SetState, &state), (Request::LoadPreset, &preset)] {
            let (mut helper, opened_plugin) = open(plugin);
            assert_eq!(opened_plugin.parameters[0].value, 0.5);
            assert_eq!(helper.set_state(request, bytes), [ParameterValue { id, value: 0.75 }]);
            let (output, _) = helper.process(&ramp(600), Vec::new());
            let delay = opened_plugin.latency_frames as usize;
            assert_eq!(difference(&output, &expected(600, delay, |_| 1.5)), 0.0);
        }
    }
}

#[test]
fn states_and_presets_of_other_plugins_are_refused() {
    let modules = modules();
    let (mut gain, _) = open(&modules.gain);
    let (mut vst2_gain, _) = open(&modules.vst2_gain);
    let (mut synth, _) = open(&modules.synth);
    let (mut vst2_synth, _) = open(&modules.vst2_synth);
    let state = gain.state();
    let reason = synth.refused(Request::SetState, &state);
    assert!(reason.starts_with("the state belongs to the plugin \"Test Effect\" (vst3 2121"), "{reason}");
    let reason = vst2_gain.refused(Request::SetState, &state);
    assert!(reason.ends_with("not to \"Test Effect Two\" (vst2 54454632)"), "{reason}");
    let reason = gain.refused(Request::SetState, b"no state");
    assert!(reason.starts_with("the state has an unknown format"), "{reason}");
    let preset = gain.request(Request::SavePreset { format: PresetFormat::Vstpreset }, &[]).1;
    let reason = synth.refused(Request::LoadPreset, &preset);
    assert!(reason.contains("not to \"Test Synth\""), "{reason}");
    let preset = vst2_gain.request(Request::SavePreset { format: PresetFormat::Fxb }, &[]).1;
    let reason = vst2_synth.refused(Request::LoadPreset, &preset);
    assert!(reason.contains("belongs to the plugin 54454632, not to \"Test Synth Two\""), "{reason}");
    let reason = gain.refused(Request::SavePreset { format: PresetFormat::Fxp }, &[]);
    assert!(reason.contains("use vstpreset"), "{reason}");
    // A refusal changes nothing.
    let (output, _) = gain.process(&ramp(600), Vec::new());
    assert_eq!(difference(&output, &expected(600, LATENCY_FRAMES, |_| 1.0)), 0.0);
}

#[test]
fn texts_do_not_change_parameters() {
    let modules = modules();
    for (plugin, id) in [(&modules.gain, GAIN), (&modules.vst2_gain, 0)] {
        let (mut helper, _) = open(plugin);
        let values = [0.0, 0.25, 1.0].map(|value| ParameterValue { id, value }).to_vec();
        let answer = helper.request(Request::ParameterTexts { values }, &[]).0;
        let texts = ["0.00", "0.50", "2.00"].map(str::to_owned).to_vec();
        assert_eq!(answer, Answer::ParameterTexts { texts });
        let state = helper.state();
        assert_eq!(helper.set_state(Request::SetState, &state), [ParameterValue { id, value: 0.5 }]);
    }
}

#[test]
fn timers_run_between_requests_and_changes_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let module = install(&folder, "timer", "Timer.vst3");
    let (mut helper, opened_plugin) = Helper::open(&module, &"51".repeat(16));
    assert_eq!((opened_plugin.latency_frames, opened_plugin.parameters[0].value), (64, 0.5));
    // The timer is due after 10 ms.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let (_, process_result) = helper.process(&silence(64), Vec::new());
    assert_eq!(process_result.parameter_changes, [ParameterValue { id: GAIN, value: 1.0 }]);
    assert_eq!(process_result.latency_frames, 128);
    // The processor has the new value from the next block on.
    helper.reset();
    let (output, process_result) = helper.process(&ramp(600), Vec::new());
    assert_eq!(difference(&output, &expected(600, 128, |_| 2.0)), 0.0);
    assert_eq!(process_result.parameter_changes, []);
    assert!(helper.close().success());
}

#[test]
fn a_mono_side_chain_gets_the_mean_of_its_channels() {
    let modules = modules();
    let (mut helper, opened_plugin) = open(&modules.side_chain);
    let bus = |name: &str, channels, is_main| Bus {
        name: name.to_owned(),
        channels,
        is_main,
        is_side_chain: !is_main,
    };
    assert_eq!(opened_plugin.inputs, [bus("Main", 2, true), bus("Side-chain", 1, false)]);
    // The effect adds the side-chain to both channels. In longer requests it has several blocks.
    for frames in [600, 20_000] {
        helper.reset();
        let [low, high] = ramp(frames);
        let (output, _) =
            helper.process_with_side_chain(&silence(frames), &[low.clone(), high.clone()], Vec::new());
        let sample = |frame: usize| match frame.checked_sub(LATENCY_FRAMES) {
            Some(frame) => (low[frame] + high[frame]) / 2.0,
            None => 0.0,
        };
        let mean: Vec<f32> = (0..frames).map(sample).collect();
        assert_eq!(difference(&output, &[mean.clone(), mean]), 0.0);
        // Without one, it is silent again.
        helper.reset();
        let (output, _) = helper.process(&ramp(frames), Vec::new());
        assert_eq!(difference(&output, &expected(frames, LATENCY_FRAMES, |_| 1.0)), 0.0);
    }
    // An effect without a side-chain ignores it.
    let (mut helper, opened_plugin) = open(&modules.gain);
    assert!(!opened_plugin.has_side_chain());
    let (output, _) = helper.process_with_side_chain(&ramp(600), &ramp(600), Vec::new());
    assert_eq!(difference(&output, &expected(600, LATENCY_FRAMES, |_| 1.0)), 0.0);
}
