//! The effects of VST2 modules: a gain, a synthesizer of sines, a gain that misbehaves, and a meter
//! like that of `vst3_plugin`. All have one parameter, the gain.

use std::ffi::{c_char, c_void};

use crate::dsp::{Gain, Sines, gain};
use crate::misbehaviour::Misbehaviour;

type Dispatcher = extern "C" fn(*mut Effect, i32, i32, isize, *mut c_void, f32) -> isize;
type Process = unsafe extern "C" fn(*mut Effect, *const *const f32, *const *mut f32, i32);

/// An effect, in the order of VST 2.4.
#[repr(C)]
pub struct Effect {
    magic: i32,
    dispatcher: Dispatcher,
    process: Option<extern "C" fn()>,
    set_parameter: Option<unsafe extern "C" fn(*mut Effect, i32, f32)>,
    get_parameter: Option<unsafe extern "C" fn(*mut Effect, i32) -> f32>,
    programs: i32,
    parameters: i32,
    inputs: i32,
    outputs: i32,
    flags: i32,
    reserved: [isize; 2],
    initial_delay: i32,
    qualities: [i32; 2],
    ratio: f32,
    object: *mut c_void,
    user: *mut c_void,
    unique_id: i32,
    version: i32,
    process_replacing: Option<Process>,
    process_double_replacing: Option<extern "C" fn()>,
    future: [u8; 56],
}

/// A note of a block: the frame, the key and the velocity, which is 0 for the end of the note.
type NoteChange = (i32, i32, f32);

struct Plugin {
    name: &'static str,
    misbehaviour: Option<Misbehaviour>,
    /// The host of a meter plugin, whose output is the bar that the host states.
    metered_host: Option<Host>,
    value: f32,
    sample_rate_hz: f64,
    gain: Gain,
    sines: Sines,
    changes: Vec<NoteChange>,
    /// Number of frames processed before this block.
    processed_frames: i64,
}

const SET_SAMPLE_RATE: i32 = 10;
const MAINS_CHANGED: i32 = 12;
const GET_PARAMETER_LABEL: i32 = 6;
const GET_PARAMETER_DISPLAY: i32 = 7;
const GET_PARAMETER_NAME: i32 = 8;
const PROCESS_EVENTS: i32 = 25;
const GET_CATEGORY: i32 = 35;
const GET_EFFECT_NAME: i32 = 45;
const GET_VENDOR: i32 = 47;
const NEXT_OF_SHELL: i32 = 70;
const GET_CURRENT_ID: i32 = 2;
const GET_TIME: i32 = 7;
const CATEGORY_SHELL: isize = 10;
const CAN_REPLACE: i32 = 1 << 4;
const IS_SYNTH: i32 = 1 << 8;
const PLUGIN_LATENCY_FRAMES: i32 = 32;

/// # Safety
/// `effect` must come from [`create`] with a plugin, and no other reference to the plugin may
/// exist.
unsafe fn plugin<'a>(effect: *mut Effect) -> &'a mut Plugin {
    // SAFETY: guaranteed by the caller.
    unsafe { &mut *(*effect).object.cast::<Plugin>() }
}

extern "C" fn dispatch(
    effect: *mut Effect,
    opcode: i32,
    _: i32,
    value: isize,
    data: *mut c_void,
    option: f32,
) -> isize {
    // SAFETY: the host calls this function with the effect that it got from the module.
    let plugin = unsafe { plugin(effect) };
    match opcode {
        GET_EFFECT_NAME => write(plugin.name, data),
        GET_VENDOR => write("Songfoundry", data),
        GET_PARAMETER_NAME => write("Gain", data),
        GET_PARAMETER_LABEL => write("x", data),
        GET_PARAMETER_DISPLAY => write(&format!("{:.2}", gain(plugin.value.into())), data),
        SET_SAMPLE_RATE => plugin.sample_rate_hz = option.into(),
        MAINS_CHANGED if value == 0 => plugin.sines.reset(),
        // SAFETY: the host passes the structure of VST 2.4.
        PROCESS_EVENTS => unsafe { receive(plugin, data.cast()) },
        _ => return 0,
    }
    1
}

/// # Safety
/// `events` must point to the structure `VstEvents` of VST 2.4.
unsafe fn receive(plugin: &mut Plugin, events: *const usize) {
    // SAFETY: the structure has a count, a reserved field, and as many pointers to events. A MIDI
    // event has six numbers of 32 bits before its message.
    unsafe {
        for index in 0..*events.cast::<i32>() {
            let event = *events.add(2 + index as usize) as *const i32;
            let frame = *event.add(2);
            let [status, key, velocity, _] = *event.add(6).cast::<[u8; 4]>();
            match status & 0xF0 {
                0x90 => plugin.changes.push((frame, key.into(), f32::from(velocity) / 127.0)),
                0x80 => plugin.changes.push((frame, key.into(), 0.0)),
                _ => {}
            }
        }
    }
}

unsafe extern "C" fn set_parameter(effect: *mut Effect, _: i32, value: f32) {
    // SAFETY: the host calls this function with the effect that it got from the module.
    unsafe { plugin(effect) }.value = value;
}

unsafe extern "C" fn get_parameter(effect: *mut Effect, _: i32) -> f32 {
    // SAFETY: the host calls this function with the effect that it got from the module.
    unsafe { plugin(effect) }.value
}

unsafe extern "C" fn process(
    effect: *mut Effect,
    inputs: *const *const f32,
    outputs: *const *mut f32,
    frames: i32,
) {
    // SAFETY: the host calls this function with the effect that it got from the module, and with
    // the channels that the effect states.
    unsafe {
        let plugin = plugin(effect);
        let has_input = (*effect).inputs == 2 && (*effect).flags & IS_SYNTH == 0;
        let mut is_triggered = !plugin.changes.is_empty();
        let is_loading = plugin.misbehaviour == Some(Misbehaviour::LateSound)
            && plugin.processed_frames < plugin.sample_rate_hz as i64;
        let channels = match plugin.misbehaviour {
            Some(Misbehaviour::MoreChannels) => 6,
            _ => (*effect).outputs.clamp(0, 2) as usize,
        };
        let level = gain(plugin.value.into());
        let bar = plugin.metered_host.map(|host| bar_samples(effect, host));
        for frame in 0..frames {
            for (_, key, velocity) in plugin.changes.extract_if(.., |change| change.0 <= frame) {
                match velocity {
                    _ if is_loading => {}
                    0.0 => plugin.sines.end(-1, key),
                    velocity => plugin.sines.start(key, key, velocity),
                }
            }
            let sine = plugin.sines.next(plugin.sample_rate_hz);
            for channel in 0..channels {
                let output = (*outputs.add(channel)).add(frame as usize);
                *output = if channel >= 2 {
                    1.0
                } else if let Some(bar) = bar {
                    bar[channel] * level
                } else if has_input {
                    let input = *(*inputs.add(channel)).add(frame as usize);
                    is_triggered |= input != 0.0;
                    plugin.gain.process(channel, input, level)
                } else {
                    sine * level
                };
                if plugin.misbehaviour == Some(Misbehaviour::NotANumber) && is_triggered {
                    *output = f32::NAN;
                }
            }
        }
        plugin.processed_frames += i64::from(frames);
        match plugin.misbehaviour {
            Some(Misbehaviour::LateLatency) => (*effect).initial_delay = PLUGIN_LATENCY_FRAMES,
            Some(misbehaviour) if is_triggered => misbehaviour.act(),
            _ => {}
        }
    }
}

/// Returns the output of a meter: left the start of the bar in quarter notes, and right the
/// numerator of the time signature plus 1/256 of the denominator.
fn bar_samples(effect: *mut Effect, host: Host) -> [f32; 2] {
    // SAFETY: hosts answer this request with a pointer to the structure `VstTimeInfo` of VST 2.4,
    // or with null. Eight numbers of 64 bits precede the time signature; the sixth is the bar's
    // start.
    unsafe {
        let time = host(effect, GET_TIME, 0, 0, std::ptr::null_mut(), 0.0) as *const f64;
        if time.is_null() {
            return [0.0; 2];
        }
        let [numerator, denominator] = *time.add(8).cast::<[i32; 2]>();
        [*time.add(5) as f32, numerator as f32 + denominator as f32 / 256.0]
    }
}

fn write(text: &str, answer: *mut c_void) {
    for (index, byte) in text.bytes().chain([0]).enumerate() {
        // SAFETY: the host's buffer has at least 32 bytes.
        unsafe { answer.cast::<c_char>().add(index).write(byte as c_char) };
    }
}

/// The host's callback (`audioMasterCallback` of VST 2.4).
pub type Host = unsafe extern "C" fn(*mut Effect, i32, i32, isize, *mut c_void, f32) -> isize;

fn requested_id(host: Host) -> i32 {
    let null: *mut c_void = std::ptr::null_mut();
    // SAFETY: hosts answer this request even before an effect exists.
    unsafe { host(null.cast(), GET_CURRENT_ID, 0, 0, null, 0.0) as i32 }
}

/// Creates the instrument or the effect of a shell module, as the host requests, or the shell
/// itself.
#[must_use]
pub fn shell(host: Host) -> *mut Effect {
    match requested_id(host) {
        1 => effect(true, 1),
        2 => effect(false, 2),
        _ => create(dispatch_shell, None, 0, 0),
    }
}

/// Creates the plugin with a fault that the host requests by its id, or the shell itself.
#[must_use]
pub fn misbehaving_shell(host: Host) -> *mut Effect {
    let id = requested_id(host);
    match Misbehaviour::ALL.into_iter().find(|(misbehaviour, _)| *misbehaviour as i32 == id) {
        Some((misbehaviour, name)) => {
            let effect = create(dispatch, Some(new_plugin(name, Some(misbehaviour))), 0, id);
            if let Some([inputs, outputs]) = misbehaviour.stated_channels() {
                // SAFETY: the effect is new.
                unsafe { ((*effect).inputs, (*effect).outputs) = (inputs, outputs) };
            }
            effect
        }
        None => create(dispatch_misbehaving_shell, None, 0, 0),
    }
}

extern "C" fn dispatch_shell(
    effect: *mut Effect,
    opcode: i32,
    _: i32,
    _: isize,
    answer: *mut c_void,
    _: f32,
) -> isize {
    list(effect, opcode, answer, &["Shell Synth", "Shell Effect"])
}

extern "C" fn dispatch_misbehaving_shell(
    effect: *mut Effect,
    opcode: i32,
    _: i32,
    _: isize,
    answer: *mut c_void,
    _: f32,
) -> isize {
    list(effect, opcode, answer, &Misbehaviour::ALL.map(|(_, name)| name))
}

/// Answers the requests that list the plugins of a shell. The ids are 1 and up.
fn list(effect: *mut Effect, opcode: i32, answer: *mut c_void, names: &[&str]) -> isize {
    match opcode {
        GET_CATEGORY => CATEGORY_SHELL,
        NEXT_OF_SHELL => {
            // SAFETY: the host calls this function with the effect that it got from the module.
            let shell_index = unsafe { &mut (*effect).programs };
            let Some(name) = names.get(*shell_index as usize) else { return 0 };
            *shell_index += 1;
            write(name, answer);
            *shell_index as isize
        }
        _ => 0,
    }
}

/// Creates an effect or an instrument, which is never freed.
#[must_use]
pub fn effect(is_synth: bool, unique_id: i32) -> *mut Effect {
    let name = if is_synth { "Test Synth Two" } else { "Test Effect Two" };
    create(dispatch, Some(new_plugin(name, None)), if is_synth { IS_SYNTH } else { 0 }, unique_id)
}

/// Creates a meter, which is never freed.
#[must_use]
pub fn meter(host: Host, unique_id: i32) -> *mut Effect {
    let plugin = Plugin { metered_host: Some(host), ..new_plugin("Test Meter Two", None) };
    create(dispatch, Some(plugin), 0, unique_id)
}

fn new_plugin(name: &'static str, misbehaviour: Option<Misbehaviour>) -> Plugin {
    let latency_frames = match misbehaviour {
        Some(Misbehaviour::LateLatency) => PLUGIN_LATENCY_FRAMES,
        _ => 0,
    };
    Plugin {
        name,
        misbehaviour,
        metered_host: None,
        value: 0.5,
        sample_rate_hz: 48_000.0,
        gain: Gain::new(latency_frames.cast_unsigned()),
        sines: Sines::default(),
        changes: Vec::new(),
        processed_frames: 0,
    }
}

fn create(dispatcher: Dispatcher, plugin: Option<Plugin>, flags: i32, unique_id: i32) -> *mut Effect {
    Box::into_raw(Box::new(Effect {
        magic: i32::from_be_bytes(*b"VstP"),
        dispatcher,
        process: None,
        set_parameter: Some(set_parameter),
        get_parameter: Some(get_parameter),
        programs: 0,
        parameters: i32::from(plugin.is_some()),
        inputs: if flags & IS_SYNTH == 0 { 2 } else { 0 },
        outputs: 2,
        flags: flags | CAN_REPLACE,
        reserved: [0; 2],
        initial_delay: 0,
        qualities: [0; 2],
        ratio: 1.0,
        object: plugin.map_or(std::ptr::null_mut(), |plugin| Box::into_raw(Box::new(plugin)).cast()),
        user: std::ptr::null_mut(),
        unique_id,
        version: 1,
        process_replacing: Some(process),
        process_double_replacing: None,
        future: [0; 56],
    }))
}
