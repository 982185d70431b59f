//! The effect of a VST2 module.

use std::ffi::{c_char, c_void};

type Dispatcher = extern "C" fn(*mut Effect, i32, i32, isize, *mut c_void, f32) -> isize;

/// The fields of an effect that hosts read, in the order of VST 2.4.
#[repr(C)]
pub struct Effect {
    magic: i32,
    dispatcher: Dispatcher,
    process: Option<extern "C" fn()>,
    set_parameter: Option<extern "C" fn()>,
    get_parameter: Option<extern "C" fn()>,
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
    process_replacing: [Option<extern "C" fn()>; 2],
    future: [u8; 56],
}

const GET_CATEGORY: i32 = 35;
const CATEGORY_SHELL: isize = 10;
const NEXT_OF_SHELL: i32 = 70;
const GET_CURRENT_ID: i32 = 2;
const GET_EFFECT_NAME: i32 = 45;
const GET_VENDOR: i32 = 47;
const IS_SYNTH: i32 = 1 << 8;

extern "C" fn dispatch(
    effect: *mut Effect,
    opcode: i32,
    _: i32,
    _: isize,
    answer: *mut c_void,
    _: f32,
) -> isize {
    // SAFETY: the host calls this function with the effect that it got from the module.
    let is_synth = unsafe { (*effect).flags } & IS_SYNTH != 0;
    let text = match opcode {
        GET_EFFECT_NAME if is_synth => "Test Synth Two",
        GET_EFFECT_NAME => "Test Effect Two",
        GET_VENDOR => "Songfoundry",
        _ => return 0,
    };
    write(text, answer);
    1
}

fn write(text: &str, answer: *mut c_void) {
    for (index, byte) in text.bytes().chain([0]).enumerate() {
        // SAFETY: the host's buffer has at least 32 bytes.
        unsafe { answer.cast::<c_char>().add(index).write(byte as c_char) };
    }
}

/// The host's callback.
pub type Host = unsafe extern "C" fn(*mut Effect, i32, i32, isize, *mut c_void, f32) -> isize;

/// Creates the instrument or the effect of a shell module, as the host requests, or the shell
/// itself.
#[must_use]
pub fn shell(host: Host) -> *mut Effect {
    let null: *mut c_void = std::ptr::null_mut();
    // SAFETY: hosts answer this request even before an effect exists.
    match unsafe { host(null.cast(), GET_CURRENT_ID, 0, 0, null, 0.0) } {
        1 => effect(true, 1),
        2 => effect(false, 2),
        _ => create(dispatch_shell, false, 0),
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
    match opcode {
        GET_CATEGORY => CATEGORY_SHELL,
        NEXT_OF_SHELL => {
            // SAFETY: the host calls this function with the effect that it got from the module.
            let shell_index = unsafe { &mut (*effect).programs };
            *shell_index += 1;
            match *shell_index {
                1 => write("Shell Synth", answer),
                2 => write("Shell Effect", answer),
                _ => return 0,
            }
            *shell_index as isize
        }
        _ => 0,
    }
}

/// Creates an effect or an instrument, which is never freed.
#[must_use]
pub fn effect(is_synth: bool, unique_id: i32) -> *mut Effect {
    create(dispatch, is_synth, unique_id)
}

fn create(dispatcher: Dispatcher, is_synth: bool, unique_id: i32) -> *mut Effect {
    Box::into_raw(Box::new(Effect {
        magic: i32::from_be_bytes(*b"VstP"),
        dispatcher,
        process: None,
        set_parameter: None,
        get_parameter: None,
        programs: 0,
        parameters: 0,
        inputs: if is_synth { 0 } else { 2 },
        outputs: 2,
        flags: if is_synth { IS_SYNTH } else { 0 },
        reserved: [0; 2],
        initial_delay: 0,
        qualities: [0; 2],
        ratio: 1.0,
        object: std::ptr::null_mut(),
        user: std::ptr::null_mut(),
        unique_id,
        version: 1,
        process_replacing: [None; 2],
        future: [0; 56],
    }))
}
