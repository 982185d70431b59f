//! The factory of a VST3 module.

use std::ffi::{c_char, c_void};

use ::vst3::Steinberg::{
    FIDString, FUnknown, IPluginFactory, IPluginFactory2, IPluginFactory2Trait, IPluginFactory3,
    IPluginFactory3Trait, IPluginFactoryTrait, PClassInfo, PClassInfo2, PClassInfoW, PFactoryInfo,
    kInvalidArgument, kNoInterface, kNotImplemented, kResultOk, tresult,
};
use ::vst3::com_scrape_types::Guid;
use ::vst3::{Class, ComWrapper};

use crate::vst3_plugin;

/// A class of a module.
#[derive(Debug, Clone, Copy)]
pub struct Described {
    /// Value of each of the 16 bytes of the class id.
    pub id: u8,
    /// Name of the class.
    pub name: &'static str,
    /// Category of the class; `Audio Module Class` for plugins.
    pub category: &'static str,
    /// Sub-categories of the class, separated by vertical bars.
    pub sub_categories: &'static str,
}

struct Factory(&'static [Described]);

impl Class for Factory {
    type Interfaces = (IPluginFactory3, IPluginFactory2, IPluginFactory);
}

/// Returns a factory with these classes. Plugins whose sub-categories have `Instrument` are
/// synthesizers, and all other plugins are gains. Those whose sub-categories have `Tools` change
/// themselves with a timer, those with `Dynamics` have a side-chain, those with `Restoration` have
/// a latency of 4,096 frames, and those with the name of a [`crate::bus_lie::BusLie`] tell it.
/// Classes that are not plugins cannot be created.
#[must_use]
pub fn factory(classes: &'static [Described]) -> *mut c_void {
    let factory = ComWrapper::new(Factory(classes)).to_com_ptr::<IPluginFactory>();
    factory.map_or(std::ptr::null_mut(), |factory| factory.into_raw().cast())
}

fn put<T: From<u8> + Copy, const N: usize>(text: &str, field: &mut [T; N]) {
    *field = [T::from(0); N];
    for (unit, byte) in field.iter_mut().take(N - 1).zip(text.bytes()) {
        *unit = T::from(byte);
    }
}

fn put_narrow<const N: usize>(text: &str, field: &mut [c_char; N]) {
    let mut bytes = [0_u8; N];
    put(text, &mut bytes);
    *field = bytes.map(|byte| byte as c_char);
}

impl Factory {
    fn class(&self, index: i32) -> Option<&'static Described> {
        self.0.get(usize::try_from(index).ok()?)
    }
}

impl IPluginFactoryTrait for Factory {
    unsafe fn getFactoryInfo(&self, info: *mut PFactoryInfo) -> tresult {
        // SAFETY: the caller provides a buffer for the result.
        let info = unsafe { &mut *info };
        put_narrow("Songfoundry", &mut info.vendor);
        kResultOk
    }

    unsafe fn countClasses(&self) -> i32 {
        i32::try_from(self.0.len()).unwrap_or(i32::MAX)
    }

    unsafe fn getClassInfo(&self, index: i32, info: *mut PClassInfo) -> tresult {
        let Some(class) = self.class(index) else { return kInvalidArgument };
        // SAFETY: the caller provides a buffer for the result.
        let info = unsafe { &mut *info };
        info.cid = [class.id as c_char; 16];
        put_narrow(class.category, &mut info.category);
        put_narrow(class.name, &mut info.name);
        kResultOk
    }

    unsafe fn createInstance(&self, id: FIDString, iid: FIDString, object: *mut *mut c_void) -> tresult {
        // SAFETY: the caller passes the 16 bytes of a class id and of an interface id.
        let (id, iid) =
            unsafe { (id.cast::<[u8; 16]>().read_unaligned(), iid.cast::<Guid>().read_unaligned()) };
        let class = self.0.iter().find(|class| [class.id; 16] == id);
        match class.filter(|class| class.category == "Audio Module Class") {
            // SAFETY: the caller provides memory for the object.
            Some(class) => unsafe { vst3_plugin::create(class.sub_categories, &iid, object) },
            None => kNoInterface,
        }
    }
}

impl IPluginFactory2Trait for Factory {
    unsafe fn getClassInfo2(&self, index: i32, info: *mut PClassInfo2) -> tresult {
        let Some(class) = self.class(index) else { return kInvalidArgument };
        // SAFETY: the caller provides a buffer for the result.
        let info = unsafe { &mut *info };
        info.cid = [class.id as c_char; 16];
        put_narrow(class.category, &mut info.category);
        put_narrow(class.name, &mut info.name);
        put_narrow(class.sub_categories, &mut info.subCategories);
        put_narrow("Songfoundry", &mut info.vendor);
        put_narrow("1.2.3", &mut info.version);
        kResultOk
    }
}

impl IPluginFactory3Trait for Factory {
    unsafe fn getClassInfoUnicode(&self, index: i32, info: *mut PClassInfoW) -> tresult {
        let Some(class) = self.class(index) else { return kInvalidArgument };
        // A class without sub-categories is available only through the older interfaces.
        if class.sub_categories.is_empty() {
            return kNotImplemented;
        }
        // SAFETY: the caller provides a buffer for the result.
        let info = unsafe { &mut *info };
        info.cid = [class.id as c_char; 16];
        put_narrow(class.category, &mut info.category);
        put(class.name, &mut info.name);
        put_narrow(class.sub_categories, &mut info.subCategories);
        put("Songfoundry", &mut info.vendor);
        put("1.2.3", &mut info.version);
        kResultOk
    }

    unsafe fn setHostContext(&self, _: *mut FUnknown) -> tresult {
        kResultOk
    }
}

/// Defines the functions of a VST3 module. `begin` runs first and returns whether the module can be
/// used.
#[macro_export]
macro_rules! vst3_module {
    ($begin:expr, $classes:expr) => {
        #[unsafe(no_mangle)]
        extern "system" fn ModuleEntry(_: *mut std::ffi::c_void) -> bool {
            let begin: fn() -> bool = $begin;
            begin()
        }

        #[unsafe(no_mangle)]
        extern "system" fn ModuleExit() -> bool {
            true
        }

        #[unsafe(no_mangle)]
        extern "system" fn GetPluginFactory() -> *mut std::ffi::c_void {
            const CLASSES: &[$crate::vst3::Described] = $classes;
            $crate::vst3::factory(CLASSES)
        }
    };
}
