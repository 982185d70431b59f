//! The host's side of VST2: answers requests from plugins.
#![expect(unsafe_code, reason = "VST2 modules have a C interface")]

use std::cell::UnsafeCell;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use songfoundry_bridge_protocol::host::{PARAMETERS_MAX, Transport};

use super::effect::Effect;
use crate::host::editor::ParameterEdit;
use crate::host::plugin::Format;

/// Names of the features of this host that plugins may ask for.
const FEATURES: [&[u8]; 8] = [
    b"sizeWindow",
    b"shellCategory",
    b"sendVstEvents",
    b"sendVstMidiEvent",
    b"sendVstTimeInfo",
    b"supplyIdle",
    b"offline",
    b"startStopProcess",
];

/// Maximum number of starts and ends of changes that are kept until the next [`take_gestures`].
const GESTURES_MAX: usize = 1_000;

/// Values of `audioMasterGetCurrentProcessLevel` for a host that processes in real time, and for
/// one that renders offline.
const PROCESS_LEVEL_REAL_TIME: isize = 2;
const PROCESS_LEVEL_OFFLINE: isize = 4;

/// The structure `VstTimeInfo` of VST 2.4.
#[repr(C)]
struct TimeInfo {
    position_frames: f64,
    sample_rate_hz: f64,
    nanoseconds: f64,
    position_quarters: f64,
    tempo_bpm: f64,
    bar_start_quarters: f64,
    cycle_quarters: [f64; 2],
    numerator: i32,
    denominator: i32,
    smpte: [i32; 2],
    samples_to_next_clock: i32,
    flags: i32,
}

/// The state of the host that plugins query. It is global, because the process hosts one plugin and
/// plugins query it before an effect exists.
struct Host {
    current_id: AtomicI32,
    sample_rate_hz: AtomicI32,
    block_frames_max: AtomicI32,
    is_real_time: AtomicBool,
    time_info: UnsafeCell<TimeInfo>,
    changed_parameters: Mutex<BTreeSet<u32>>,
    all_changed: AtomicBool,
    io_changed: AtomicBool,
    gestures: Mutex<Vec<ParameterEdit>>,
    /// Width in the upper and height in the lower half; 0 if no size was requested.
    size_request: AtomicU32,
}

// SAFETY: all fields except `time_info` are synchronized. `time_info` is written only while the
// plugin does not process, and plugins read it only while they process.
unsafe impl Sync for Host {}

static HOST: Host = Host {
    current_id: AtomicI32::new(0),
    sample_rate_hz: AtomicI32::new(48_000),
    block_frames_max: AtomicI32::new(512),
    is_real_time: AtomicBool::new(false),
    time_info: UnsafeCell::new(TimeInfo {
        position_frames: 0.0,
        sample_rate_hz: 48_000.0,
        nanoseconds: 0.0,
        position_quarters: 0.0,
        tempo_bpm: 120.0,
        bar_start_quarters: 0.0,
        cycle_quarters: [0.0; 2],
        numerator: 4,
        denominator: 4,
        smpte: [0; 2],
        samples_to_next_clock: 0,
        flags: 0,
    }),
    changed_parameters: Mutex::new(BTreeSet::new()),
    all_changed: AtomicBool::new(false),
    io_changed: AtomicBool::new(false),
    gestures: Mutex::new(Vec::new()),
    size_request: AtomicU32::new(0),
};

/// Sets the id of the plugin that a shell is to create next; 0 for the shell itself.
pub(super) fn set_current_id(id: i32) {
    HOST.current_id.store(id, Ordering::Relaxed);
}

/// Sets the sample rate, the block size and the mode that plugins may ask for.
pub(super) fn set_format(format: Format) {
    HOST.sample_rate_hz.store(format.sample_rate_hz.round() as i32, Ordering::Relaxed);
    HOST.block_frames_max.store(format.block_frames_max.cast_signed(), Ordering::Relaxed);
    HOST.is_real_time.store(format.is_real_time, Ordering::Relaxed);
}

/// Sets the position and tempo of the next block.
pub(super) fn set_transport(transport: &Transport, sample_rate_hz: f64) {
    const PLAYING: i32 = 1 << 1;
    const QUARTERS_VALID: i32 = 1 << 9;
    const TEMPO_VALID: i32 = 1 << 10;
    const BARS_VALID: i32 = 1 << 11;
    const TIME_SIGNATURE_VALID: i32 = 1 << 13;
    let playing = if transport.is_playing { PLAYING } else { 0 };
    // SAFETY: this host calls the function only while the plugin does not process.
    unsafe {
        *HOST.time_info.get() = TimeInfo {
            position_frames: transport.position_frames as f64,
            sample_rate_hz,
            nanoseconds: 0.0,
            position_quarters: transport.position_quarters,
            tempo_bpm: transport.tempo_bpm,
            bar_start_quarters: transport.bar_start_quarters,
            cycle_quarters: [0.0; 2],
            numerator: transport.numerator.into(),
            denominator: transport.denominator.into(),
            smpte: [0; 2],
            samples_to_next_clock: 0,
            flags: playing | QUARTERS_VALID | TEMPO_VALID | BARS_VALID | TIME_SIGNATURE_VALID,
        };
    }
}

/// Indices of the parameters that the plugin changed since the last call.
pub(super) enum ChangedParameters {
    /// The parameters with these indices changed.
    Some(BTreeSet<u32>),
    /// Any parameter may have changed.
    All,
}

/// Returns and clears the parameters that the plugin changed.
pub(super) fn take_changed_parameters() -> ChangedParameters {
    let changed_list =
        std::mem::take(&mut *HOST.changed_parameters.lock().unwrap_or_else(PoisonError::into_inner));
    match HOST.all_changed.swap(false, Ordering::Relaxed) {
        true => ChangedParameters::All,
        false => ChangedParameters::Some(changed_list),
    }
}

/// Returns and clears whether the plugin changed its channels or its latency.
pub(super) fn take_io_changed() -> bool {
    HOST.io_changed.swap(false, Ordering::Relaxed)
}

/// Returns and removes the starts and ends of changes that the user made in the window, in order.
pub(super) fn take_gestures() -> Vec<ParameterEdit> {
    std::mem::take(&mut *HOST.gestures.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns and clears the size in pixels that the effect last requested for its window.
pub(super) fn take_size_request() -> Option<(u32, u32)> {
    let size = HOST.size_request.swap(0, Ordering::Relaxed);
    (size != 0).then_some((size >> 16, size & 0xffff))
}

fn add_gesture(edit: impl FnOnce(u32) -> ParameterEdit, index: i32) {
    let mut gestures = HOST.gestures.lock().unwrap_or_else(PoisonError::into_inner);
    if let Ok(index) = u32::try_from(index)
        && gestures.len() < GESTURES_MAX
    {
        gestures.push(edit(index));
    }
}

/// Answers requests from effects to this host.
pub(super) extern "C" fn host_callback(
    _: *mut Effect,
    opcode: i32,
    index: i32,
    value: isize,
    data: *mut c_void,
    _: f32,
) -> isize {
    const AUTOMATE: i32 = 0;
    const VERSION: i32 = 1;
    const CURRENT: i32 = 2;
    const WANT_MIDI: i32 = 6;
    const TIME: i32 = 7;
    const IO_CHANGED: i32 = 13;
    const SIZE_WINDOW: i32 = 15;
    const SAMPLE_RATE: i32 = 16;
    const BLOCK_SIZE: i32 = 17;
    const PROCESS_LEVEL: i32 = 23;
    const VENDOR: i32 = 32;
    const PRODUCT: i32 = 33;
    const VENDOR_VERSION: i32 = 34;
    const CAN_DO: i32 = 37;
    const LANGUAGE: i32 = 38;
    const UPDATE_DISPLAY: i32 = 42;
    const BEGIN_EDIT: i32 = 43;
    const END_EDIT: i32 = 44;
    match opcode {
        AUTOMATE => {
            // Some plugins pass values that are not normalized, so the host reads the value later.
            if let Ok(index) = u32::try_from(index)
                && (index as usize) < PARAMETERS_MAX
            {
                HOST.changed_parameters.lock().unwrap_or_else(PoisonError::into_inner).insert(index);
            }
            1
        }
        VERSION => 2400,
        CURRENT => HOST.current_id.load(Ordering::Relaxed) as isize,
        WANT_MIDI => 1,
        BEGIN_EDIT => {
            add_gesture(ParameterEdit::Begin, index);
            1
        }
        END_EDIT => {
            add_gesture(ParameterEdit::End, index);
            1
        }
        SIZE_WINDOW => match (u16::try_from(index), u16::try_from(value)) {
            (Ok(width), Ok(height)) => {
                HOST.size_request.store(u32::from(width) << 16 | u32::from(height), Ordering::Relaxed);
                1
            }
            _ => 0,
        },
        TIME => HOST.time_info.get() as isize,
        IO_CHANGED => {
            HOST.io_changed.store(true, Ordering::Relaxed);
            1
        }
        SAMPLE_RATE => HOST.sample_rate_hz.load(Ordering::Relaxed) as isize,
        BLOCK_SIZE => HOST.block_frames_max.load(Ordering::Relaxed) as isize,
        PROCESS_LEVEL => match HOST.is_real_time.load(Ordering::Relaxed) {
            true => PROCESS_LEVEL_REAL_TIME,
            false => PROCESS_LEVEL_OFFLINE,
        },
        VENDOR | PRODUCT if !data.is_null() => {
            let text = c"Songfoundry".to_bytes_with_nul();
            // SAFETY: VST 2.4 requires a buffer of 64 bytes from the caller, and the text is
            // shorter.
            unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), data.cast(), text.len()) };
            1
        }
        VENDOR_VERSION => 1,
        CAN_DO if !data.is_null() => {
            // SAFETY: for this opcode, the caller passes the name of a feature that ends with a
            // zero.
            let feature = unsafe { CStr::from_ptr(data.cast::<c_char>()) };
            isize::from(FEATURES.contains(&feature.to_bytes()))
        }
        LANGUAGE => 1,
        UPDATE_DISPLAY => {
            HOST.all_changed.store(true, Ordering::Relaxed);
            1
        }
        _ => 0,
    }
}
