//! Lists the plugins of a VST2 module with requests to the effect that the module creates.
//!
//! The layout of structures and the numbers below follow VST 2.4; no VST header is used.
#![expect(unsafe_code, reason = "VST2 modules have a C interface")]

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::path::Path;

use songfoundry_bridge_protocol::{PluginKind, ScannedPlugin};

use super::library::Library;
use super::{FailureReason, PLUGINS_MAX, binary};

/// Value of the first field of every effect.
const MAGIC: i32 = i32::from_be_bytes(*b"VstP");

/// Flag of an effect that plays notes.
const IS_SYNTH: i32 = 1 << 8;

/// Category of an effect that plays notes. Some instruments have this category without the flag.
const CATEGORY_SYNTH: isize = 2;

/// Category of a shell, which is a module that contains several plugins.
const CATEGORY_SHELL: isize = 10;

/// Size of the buffer for a text from a plugin. VST 2.4 allows 64 bytes, and some plugins write
/// more.
const TEXT_BYTES: usize = 512;

/// Opcodes of the requests that this host sends to an effect.
#[repr(i32)]
#[derive(Clone, Copy)]
enum Request {
    Category = 35,
    EffectName = 45,
    Vendor = 47,
    ProductName = 48,
    VendorVersion = 49,
    NextOfShell = 70,
}

type Callback = extern "C" fn(*mut Effect, i32, i32, isize, *mut c_void, f32) -> isize;
type Main = unsafe extern "C" fn(Callback) -> *mut Effect;

/// The structure `AEffect` of VST 2.4, up to the last field that this host reads.
#[repr(C)]
struct Effect {
    magic: i32,
    dispatcher: Option<unsafe extern "C" fn(*mut Effect, i32, i32, isize, *mut c_void, f32) -> isize>,
    process: *mut c_void,
    set_parameter: *mut c_void,
    get_parameter: *mut c_void,
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
}

thread_local! {
    /// Id of the plugin that a shell is to create next; 0 for the shell itself.
    static CURRENT_ID: Cell<i32> = const { Cell::new(0) };
}

/// Passes each plugin of a module to `list`. The outer result is an error if `list` fails; the
/// inner result is an error if the module cannot be used.
pub(super) fn scan(
    module: &Path,
    list: &mut dyn FnMut(ScannedPlugin) -> anyhow::Result<()>,
) -> anyhow::Result<Result<(), FailureReason>> {
    let loaded = binary::library_path(module).and_then(|path| Library::load(&path)).and_then(|library| {
        let main = main_of(&library)?;
        Ok((main, Instance::create(main)?))
    });
    let (main, first) = match loaded {
        Ok(loaded) => loaded,
        Err(reason) => return Ok(Err(reason)),
    };
    if first.request(Request::Category) != CATEGORY_SHELL {
        list(first.describe(module))?;
        return Ok(Ok(()));
    }
    for _ in 0..PLUGINS_MAX {
        let (id, name) = first.request_text(Request::NextOfShell);
        let Ok(id) = i32::try_from(id) else {
            return Ok(Err(format!(
                "the shell returned the plugin id {id}, which does not fit into 32 bits"
            )));
        };
        if id == 0 {
            break;
        }
        CURRENT_ID.set(id);
        if let Ok(instance) = Instance::create(main) {
            let mut plugin = instance.describe(module);
            plugin.plugin_id = plugin_id(id);
            if !name.is_empty() {
                plugin.name = name;
            }
            list(plugin)?;
        }
    }
    Ok(Ok(()))
}

fn main_of(library: &Library) -> Result<Main, FailureReason> {
    // SAFETY: VST 2.4 defines this type for these functions.
    let function = unsafe { library.find_symbol("VSTPluginMain").or_else(|| library.find_symbol("main")) };
    function.ok_or_else(|| {
        "the module is not a VST2 module: it has no function `VSTPluginMain` or `main`".to_owned()
    })
}

/// An effect that a module created. It is never closed, because the process ends after the scan.
struct Instance(*mut Effect);

impl Instance {
    fn create(main: Main) -> Result<Self, FailureReason> {
        // SAFETY: the function belongs to the module, which stays loaded; the callback is static.
        let effect = unsafe { main(host_callback) };
        // SAFETY: the pointer is not null. An effect that starts with the magic number has the
        // layout of VST 2.4.
        match !effect.is_null() && unsafe { (*effect).magic } == MAGIC {
            true => Ok(Self(effect)),
            false => Err("the module's function `VSTPluginMain` or `main` returned no effect".to_owned()),
        }
    }

    fn request(&self, request: Request) -> isize {
        self.dispatch(request, std::ptr::null_mut())
    }

    fn request_text(&self, request: Request) -> (isize, String) {
        let mut bytes = [0_u8; TEXT_BYTES];
        let answer = self.dispatch(request, bytes.as_mut_ptr().cast());
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(TEXT_BYTES);
        (answer, String::from_utf8_lossy(&bytes[..length]).trim().to_owned())
    }

    fn dispatch(&self, request: Request, data: *mut c_void) -> isize {
        // SAFETY: the effect is never closed. Of these requests, only those for a text use `data`,
        // and it then points to a buffer of `TEXT_BYTES` bytes.
        unsafe {
            match (*self.0).dispatcher {
                Some(dispatcher) => dispatcher(self.0, request as i32, 0, 0, data, 0.0),
                None => 0,
            }
        }
    }

    fn describe(&self, module: &Path) -> ScannedPlugin {
        // SAFETY: the effect is never closed.
        let (flags, inputs, outputs, id) =
            unsafe { ((*self.0).flags, (*self.0).inputs, (*self.0).outputs, (*self.0).unique_id) };
        let stem = || module.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let names = [Request::EffectName, Request::ProductName].map(|name| self.request_text(name).1);
        let version = self.request(Request::VendorVersion);
        ScannedPlugin {
            plugin_id: plugin_id(id),
            name: names.into_iter().find(|name| !name.is_empty()).unwrap_or_else(stem),
            vendor: self.request_text(Request::Vendor).1,
            version: if version == 0 { String::new() } else { version.to_string() },
            categories: Vec::new(),
            kind: kind(flags, self.request(Request::Category), inputs, outputs),
        }
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

fn plugin_id(unique_id: i32) -> String {
    format!("{:08X}", unique_id.cast_unsigned())
}

/// Answers requests from effects to this host.
extern "C" fn host_callback(
    _: *mut Effect,
    opcode: i32,
    _: i32,
    _: isize,
    data: *mut c_void,
    _: f32,
) -> isize {
    const VERSION: i32 = 1;
    const CURRENT: i32 = 2;
    const SAMPLE_RATE: i32 = 16;
    const BLOCK_SIZE: i32 = 17;
    const VENDOR: i32 = 32;
    const PRODUCT: i32 = 33;
    const CAN_DO: i32 = 37;
    const LANGUAGE: i32 = 38;
    match opcode {
        VERSION => 2400,
        CURRENT => CURRENT_ID.get() as isize,
        SAMPLE_RATE => 48_000,
        BLOCK_SIZE => 512,
        VENDOR | PRODUCT if !data.is_null() => {
            let text = c"Songfoundry".to_bytes_with_nul();
            // SAFETY: VST 2.4 requires a buffer of 64 bytes from the caller, and the text is
            // shorter.
            unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), data.cast(), text.len()) };
            1
        }
        CAN_DO if !data.is_null() => {
            // SAFETY: for this opcode, the caller passes the name of a feature that ends with a
            // zero.
            let feature = unsafe { std::ffi::CStr::from_ptr(data.cast::<c_char>()) };
            isize::from(feature.to_bytes() == b"shellCategory")
        }
        LANGUAGE => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_follows_from_flags_and_channels() {
        assert_eq!(kind(IS_SYNTH, 0, 2, 2), PluginKind::Instrument);
        assert_eq!(kind(0, CATEGORY_SYNTH, 0, 2), PluginKind::Instrument);
        assert_eq!(kind(0, 1, 2, 2), PluginKind::Effect);
        assert_eq!(kind(0, 11, 0, 2), PluginKind::Unclassified);
        assert_eq!(plugin_id(i32::from_be_bytes(*b"ZaMC")), "5A614D43");
    }
}
