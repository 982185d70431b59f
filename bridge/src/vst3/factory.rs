//! Loads a VST3 module and reads its list of classes.
#![expect(unsafe_code, reason = "VST3 modules have a C interface")]

use std::ffi::c_void;
use std::path::Path;

use songfoundry_bridge_protocol::{PluginKind, ScannedPlugin};
use vst3::ComPtr;
use vst3::Steinberg::{
    IPluginFactory, IPluginFactory2, IPluginFactory2Trait as _, IPluginFactory3, IPluginFactory3Trait as _,
    IPluginFactoryTrait as _, PClassInfo, PClassInfo2, PClassInfoW, PFactoryInfo, TUID, kResultOk,
};

use super::text::{text, wide_text};
use crate::module::{FailureReason, Library};

/// The category of classes that are plugins. Classes of other categories are parts of plugins, such
/// as their controllers.
pub(super) const AUDIO_CATEGORY: &str = "Audio Module Class";

/// A class that the factory describes.
pub(super) struct Class {
    /// Id of the class.
    pub(super) id: TUID,
    /// Category of the class.
    pub(super) category: String,
    /// The plugin, if the class is one.
    pub(super) plugin: ScannedPlugin,
}

/// Loads and initializes a library and returns its plugin factory. The library stays loaded.
pub(super) fn factory(path: &Path) -> Result<ComPtr<IPluginFactory>, FailureReason> {
    let library = Library::load(path)?;
    initialize(&library)?;
    // SAFETY: the VST3 interface defines this type for this function.
    let get_factory = unsafe {
        library.find_symbol::<unsafe extern "system" fn() -> *mut IPluginFactory>("GetPluginFactory")
    }
    .ok_or("the module is not a VST3 module: it has no function `GetPluginFactory`")?;
    // SAFETY: the module is initialized. The returned pointer is null or owned by the caller.
    unsafe { ComPtr::from_raw(get_factory()) }
        .ok_or_else(|| "the function `GetPluginFactory` of the module returned no factory".to_owned())
}

/// Calls the initialization function that VST3 modules have on this operating system, if any.
fn initialize(library: &Library) -> Result<(), FailureReason> {
    let is_initialized = if cfg!(target_os = "linux") {
        // SAFETY: the VST3 interface defines this type for this function. The argument is the
        // handle of this library.
        unsafe {
            let entry = library.find_symbol::<unsafe extern "system" fn(*mut c_void) -> bool>("ModuleEntry");
            entry.ok_or("the module is not a VST3 module: it has no function `ModuleEntry`")?(
                library.handle(),
            )
        }
    } else if cfg!(windows) {
        // SAFETY: the VST3 interface defines this type for this function.
        unsafe {
            library.find_symbol::<unsafe extern "system" fn() -> bool>("InitDll").is_none_or(|entry| entry())
        }
    } else {
        true
    };
    match is_initialized {
        true => Ok(()),
        false => Err("the initialization function of the module returned false".to_owned()),
    }
}

/// Returns a class from the factory's newest interface that describes it.
pub(super) fn class(factory: &ComPtr<IPluginFactory>, index: i32) -> Option<Class> {
    class_of_factory3(factory, index)
        .or_else(|| class_of_factory2(factory, index))
        .or_else(|| class_of_factory1(factory, index))
}

fn class_of_factory3(factory: &ComPtr<IPluginFactory>, index: i32) -> Option<Class> {
    // SAFETY: numbers and arrays of numbers, for which all zeros are valid.
    let mut info: PClassInfoW = unsafe { std::mem::zeroed() };
    // SAFETY: the interface was queried, and `info` lives as long as the call.
    let answer = unsafe { factory.cast::<IPluginFactory3>()?.getClassInfoUnicode(index, &mut info) };
    let (cid, category, subcategories) = (info.cid, info.category, info.subCategories);
    let (name, vendor, version) = (info.name, info.vendor, info.version);
    (answer == kResultOk).then(|| {
        let labels =
            Labels { name: wide_text(&name), vendor: wide_text(&vendor), version: wide_text(&version) };
        new_class(&cid, &text(&category), &text(&subcategories), labels)
    })
}

fn class_of_factory2(factory: &ComPtr<IPluginFactory>, index: i32) -> Option<Class> {
    // SAFETY: numbers and arrays of numbers, for which all zeros are valid.
    let mut info: PClassInfo2 = unsafe { std::mem::zeroed() };
    // SAFETY: the interface was queried, and `info` lives as long as the call.
    let answer = unsafe { factory.cast::<IPluginFactory2>()?.getClassInfo2(index, &mut info) };
    let (cid, category, subcategories) = (info.cid, info.category, info.subCategories);
    let (name, vendor, version) = (info.name, info.vendor, info.version);
    (answer == kResultOk).then(|| {
        let labels = Labels { name: text(&name), vendor: text(&vendor), version: text(&version) };
        new_class(&cid, &text(&category), &text(&subcategories), labels)
    })
}

/// Returns a class without sub-categories, which the oldest interface lacks. Its kind is therefore
/// unclassified.
fn class_of_factory1(factory: &ComPtr<IPluginFactory>, index: i32) -> Option<Class> {
    // SAFETY: numbers and arrays of numbers, for which all zeros are valid.
    let mut info: PClassInfo = unsafe { std::mem::zeroed() };
    // SAFETY: `info` lives as long as the call.
    let answer = unsafe { factory.getClassInfo(index, &mut info) };
    let (cid, category, name) = (info.cid, info.category, info.name);
    (answer == kResultOk).then(|| {
        let labels = Labels { name: text(&name), vendor: vendor(factory), version: String::new() };
        new_class(&cid, &text(&category), "", labels)
    })
}

fn vendor(factory: &ComPtr<IPluginFactory>) -> String {
    // SAFETY: numbers and arrays of numbers, for which all zeros are valid.
    let mut info: PFactoryInfo = unsafe { std::mem::zeroed() };
    // SAFETY: `info` lives as long as the call.
    let answer = unsafe { factory.getFactoryInfo(&mut info) };
    let vendor = info.vendor;
    if answer == kResultOk { text(&vendor) } else { String::new() }
}

/// Texts of a class for people.
#[derive(Default)]
struct Labels {
    name: String,
    vendor: String,
    version: String,
}

fn new_class(cid: &TUID, category: &str, subcategories: &str, labels: Labels) -> Class {
    let Labels { name, vendor, version } = labels;
    let categories: Vec<String> =
        subcategories.split('|').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let plugin = ScannedPlugin {
        plugin_id: plugin_id(cid),
        name,
        vendor,
        version,
        kind: kind(&categories),
        categories,
    };
    Class { id: *cid, category: category.to_owned(), plugin }
}

/// Returns the kind of a plugin with these sub-categories. A plugin with both `Instrument` and `Fx`
/// is an instrument, because it plays notes.
fn kind(categories: &[String]) -> PluginKind {
    let has = |name: &str| categories.iter().any(|category| category == name);
    if has("Instrument") {
        PluginKind::Instrument
    } else if has("Fx") {
        PluginKind::Effect
    } else {
        PluginKind::Unclassified
    }
}

/// Formats a class id as 32 hexadecimal digits that are the same on every system. Windows stores
/// the first eight bytes in another order.
fn plugin_id(cid: &TUID) -> String {
    const UNCHANGED_ORDER: [usize; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    const WINDOWS: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    let order = if cfg!(windows) { WINDOWS } else { UNCHANGED_ORDER };
    order.iter().map(|index| format!("{:02X}", cid[*index].cast_unsigned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_follows_from_the_sub_categories() {
        let check = |text: &str, expected| {
            let class = new_class(&[0; 16], AUDIO_CATEGORY, text, Labels::default());
            assert_eq!(class.plugin.kind, expected, "{text}");
        };
        check("Instrument|Synth", PluginKind::Instrument);
        check("Fx|Instrument", PluginKind::Instrument);
        check("Fx", PluginKind::Effect);
        check(" Fx | Reverb |", PluginKind::Effect);
        check("Reverb", PluginKind::Unclassified);
        check("Fxx|Instruments", PluginKind::Unclassified);
        check("", PluginKind::Unclassified);
    }
}
