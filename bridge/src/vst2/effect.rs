//! The structure through which a host and a VST2 plugin call each other, and the plugin's side of
//! it.
#![expect(unsafe_code, reason = "VST2 modules have a C interface")]

use std::ffi::c_void;
use std::path::Path;

use songfoundry_bridge_protocol::{PluginKind, ScannedPlugin};

use super::callback::host_callback;
use crate::module::{FailureReason, Library, library_path};

/// Value of the first field of every effect.
const MAGIC: i32 = i32::from_be_bytes(*b"VstP");

/// Flag of an effect that has its own window.
pub(super) const HAS_EDITOR: i32 = 1;

/// Flag of an effect with the function `process_replacing`.
pub(super) const CAN_REPLACE: i32 = 1 << 4;

/// Flag of an effect that stores its state as a block of bytes.
pub(super) const HAS_CHUNKS: i32 = 1 << 5;

/// Flag of an effect that plays notes.
pub(super) const IS_SYNTH: i32 = 1 << 8;

/// Category of an effect that plays notes. Some instruments have this category without the flag.
const CATEGORY_SYNTH: isize = 2;

/// Category of a shell, which is a module that contains several plugins.
pub(super) const CATEGORY_SHELL: isize = 10;

/// Size of the buffer for a text from a plugin. VST 2.4 allows 64 bytes, and some plugins write
/// more.
const TEXT_BYTES: usize = 512;

/// Opcodes of the requests that this host sends to an effect.
#[repr(i32)]
#[derive(Clone, Copy)]
pub(super) enum Request {
    Open = 0,
    Close = 1,
    SetProgram = 2,
    Program = 3,
    ProgramName = 5,
    ParameterLabel = 6,
    ParameterDisplay = 7,
    ParameterName = 8,
    SetSampleRate = 10,
    SetBlockSize = 11,
    MainsChanged = 12,
    EditorRectangle = 13,
    OpenEditor = 14,
    CloseEditor = 15,
    EditorIdle = 19,
    GetChunk = 23,
    SetChunk = 24,
    ProcessEvents = 25,
    ProgramNameIndexed = 29,
    Category = 35,
    EffectName = 45,
    Vendor = 47,
    ProductName = 48,
    VendorVersion = 49,
    CanDo = 51,
    TailSize = 52,
    ParameterProperties = 56,
    BeginSetProgram = 67,
    EndSetProgram = 68,
    NextOfShell = 70,
    StartProcess = 71,
    StopProcess = 72,
}

pub(super) type Dispatcher = unsafe extern "C" fn(*mut Effect, i32, i32, isize, *mut c_void, f32) -> isize;
pub(super) type Callback = extern "C" fn(*mut Effect, i32, i32, isize, *mut c_void, f32) -> isize;
pub(super) type Main = unsafe extern "C" fn(Callback) -> *mut Effect;
pub(super) type ProcessReplacing = unsafe extern "C" fn(*mut Effect, *const *mut f32, *const *mut f32, i32);

/// The structure `AEffect` of VST 2.4, up to the last field that this host reads.
#[repr(C)]
pub(super) struct Effect {
    magic: i32,
    dispatcher: Option<Dispatcher>,
    process: *mut c_void,
    pub(super) set_parameter: Option<unsafe extern "C" fn(*mut Effect, i32, f32)>,
    pub(super) get_parameter: Option<unsafe extern "C" fn(*mut Effect, i32) -> f32>,
    pub(super) programs: i32,
    pub(super) parameters: i32,
    pub(super) inputs: i32,
    pub(super) outputs: i32,
    pub(super) flags: i32,
    reserved: [isize; 2],
    pub(super) initial_delay: i32,
    qualities: [i32; 2],
    ratio: f32,
    object: *mut c_void,
    user: *mut c_void,
    pub(super) unique_id: i32,
    pub(super) version: i32,
    pub(super) process_replacing: Option<ProcessReplacing>,
}

/// Loads a module and returns its main function. The module stays loaded.
pub(super) fn load_main(module: &Path) -> Result<Main, FailureReason> {
    let library = Library::load(&library_path(module)?)?;
    // SAFETY: VST 2.4 defines this type for these functions. Debian's builds export the older name.
    let function = unsafe { library.find_symbol("VSTPluginMain").or_else(|| library.find_symbol("main")) };
    function.ok_or_else(|| {
        "the module is not a VST2 module: it has no function `VSTPluginMain` or `main`".to_owned()
    })
}

/// An effect that a module created.
pub(super) struct Instance(*mut Effect);

impl Instance {
    /// Creates the effect of a module; a shell creates the plugin whose id the callback answers.
    pub(super) fn create(main: Main) -> Result<Self, FailureReason> {
        // SAFETY: the function belongs to the module, which stays loaded; the callback is static.
        let effect = unsafe { main(host_callback) };
        // SAFETY: the pointer is not null. An effect that starts with the magic number has the
        // layout of VST 2.4.
        match !effect.is_null() && unsafe { (*effect).magic } == MAGIC {
            true => Ok(Self(effect)),
            false => Err("the module's function `VSTPluginMain` or `main` returned no effect".to_owned()),
        }
    }

    /// Returns the effect for calls of its functions.
    pub(super) fn as_ptr(&self) -> *mut Effect {
        self.0
    }

    /// Reads a field of the effect, which the plugin may change at any time.
    pub(super) fn read<T>(&self, field: impl Fn(&Effect) -> T) -> T {
        // SAFETY: the effect lives until it is closed, and this value is then not used any more.
        field(unsafe { &*self.0 })
    }

    /// Sends a request without arguments.
    pub(super) fn request(&self, request: Request) -> isize {
        self.request_with(request, 0, 0, std::ptr::null_mut(), 0.0)
    }

    /// Sends a request. `data` must be null or what VST 2.4 defines for the request.
    pub(super) fn request_with(
        &self,
        request: Request,
        index: i32,
        value: isize,
        data: *mut c_void,
        option: f32,
    ) -> isize {
        // SAFETY: the effect is open. The files of this folder pass the data that VST 2.4 defines
        // for each request.
        unsafe {
            match (*self.0).dispatcher {
                Some(dispatcher) => dispatcher(self.0, request as i32, index, value, data, option),
                None => 0,
            }
        }
    }

    /// Sends a request for a text.
    pub(super) fn request_text(&self, request: Request) -> (isize, String) {
        self.request_text_of(request, 0, 0)
    }

    /// Sends a request for the text of an item.
    pub(super) fn request_text_of(&self, request: Request, index: i32, value: isize) -> (isize, String) {
        let mut bytes = [0_u8; TEXT_BYTES];
        let answer = self.request_with(request, index, value, bytes.as_mut_ptr().cast(), 0.0);
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(TEXT_BYTES);
        (answer, String::from_utf8_lossy(&bytes[..length]).trim().to_owned())
    }

    /// Returns the properties that the plugin states.
    pub(super) fn describe(&self, module: &Path) -> ScannedPlugin {
        let (flags, inputs, outputs, id) =
            self.read(|effect| (effect.flags, effect.inputs, effect.outputs, effect.unique_id));
        let stem = || module.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let names = [Request::EffectName, Request::ProductName].map(|name| self.request_text(name).1);
        let version = self.request(Request::VendorVersion);
        ScannedPlugin {
            plugin_id: plugin_id(id),
            name: names.into_iter().find(|name| !name.is_empty()).unwrap_or_else(stem),
            vendor: self.request_text(Request::Vendor).1,
            version: version_text(version),
            categories: Vec::new(),
            kind: kind(flags, self.request(Request::Category), inputs, outputs),
        }
    }
}

/// Returns the version of a plugin as text. VST2 leaves the meaning of the number to the vendor.
/// Most have a byte for each of major, minor and micro, or a decimal digit for each of four parts.
fn version_text(version: isize) -> String {
    match version {
        0 => String::new(),
        0x1_0000..=0xff_ffff => format!("{}.{}.{}", version >> 16, version >> 8 & 0xff, version & 0xff),
        1_000..=9_999 => {
            let digit = |unit: isize| version / unit % 10;
            format!("{}.{}.{}.{}", digit(1_000), digit(100), digit(10), digit(1))
        }
        _ => version.to_string(),
    }
}

/// Returns the kind of a plugin. The flag or the category marks an instrument; a plugin with audio
/// inputs and outputs that is not an instrument is an effect.
fn kind(flags: i32, category: isize, inputs: i32, outputs: i32) -> PluginKind {
    if flags & IS_SYNTH != 0 || category == CATEGORY_SYNTH {
        PluginKind::Instrument
    } else if inputs > 0 && outputs > 0 {
        PluginKind::Effect
    } else {
        PluginKind::Unclassified
    }
}

/// Formats the unique id of a plugin.
pub(super) fn plugin_id(unique_id: i32) -> String {
    format!("{:08X}", unique_id.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_parts() {
        let versions =
            [(0, ""), (3, "3"), (1_100, "1.1.0.0"), (0x04_01_00, "4.1.0"), (0x100_0000, "16777216")];
        for (version, text) in versions {
            assert_eq!(version_text(version), text);
        }
    }

    #[test]
    fn the_kind_follows_from_flags_and_channels() {
        assert_eq!(kind(IS_SYNTH, 0, 2, 2), PluginKind::Instrument);
        assert_eq!(kind(0, CATEGORY_SYNTH, 0, 2), PluginKind::Instrument);
        assert_eq!(kind(0, 1, 2, 2), PluginKind::Effect);
        assert_eq!(kind(0, 11, 0, 2), PluginKind::Unclassified);
        assert_eq!(plugin_id(i32::from_be_bytes(*b"ZaMC")), "5A614D43");
    }
}
