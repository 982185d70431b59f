//! Lists the plugins that the factory of a VST3 module describes.
#![expect(unsafe_code, reason = "VST3 modules have a C interface")]

use std::ffi::{c_char, c_void};
use std::path::Path;

use songfoundry_bridge_protocol::{PluginKind, ScannedPlugin};
use vst3::ComPtr;
use vst3::Steinberg::{
    IPluginFactory, IPluginFactory2, IPluginFactory2Trait as _, IPluginFactory3, IPluginFactory3Trait as _,
    IPluginFactoryTrait as _, PClassInfo, PClassInfo2, PClassInfoW, PFactoryInfo, TUID, kResultOk,
};

use super::library::Library;
use super::{FailureReason, PLUGINS_MAX, binary};

/// The category of classes that are plugins. Classes of other categories are parts of plugins, such
/// as their controllers.
const AUDIO_CATEGORY: &str = "Audio Module Class";

/// A class that the factory describes.
struct Class {
    category: String,
    plugin: ScannedPlugin,
}

/// Passes each plugin of a module to `list`. The outer result is an error if `list` fails; the
/// inner result is an error if the module cannot be used.
pub(super) fn scan(
    module: &Path,
    list: &mut dyn FnMut(ScannedPlugin) -> anyhow::Result<()>,
) -> anyhow::Result<Result<(), FailureReason>> {
    let factory = match binary::library_path(module).and_then(|path| factory(&path)) {
        Ok(factory) => factory,
        Err(reason) => return Ok(Err(reason)),
    };
    // SAFETY: the factory belongs to the module, which stays loaded.
    let count = unsafe { factory.countClasses() };
    let mut remaining = PLUGINS_MAX;
    for index in 0..count {
        let Some(class) = class(&factory, index).filter(|class| class.category == AUDIO_CATEGORY) else {
            continue;
        };
        if remaining == 0 {
            return Ok(Err(format!(
                "the module contains more than {PLUGINS_MAX} plugins; only the first {PLUGINS_MAX} are listed"
            )));
        }
        remaining -= 1;
        list(class.plugin)?;
    }
    Ok(match remaining {
        PLUGINS_MAX => Err("the module contains no plugins".to_owned()),
        _ => Ok(()),
    })
}

/// Loads and initializes a library and returns its plugin factory. The library stays loaded.
fn factory(path: &Path) -> Result<ComPtr<IPluginFactory>, FailureReason> {
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
fn class(factory: &ComPtr<IPluginFactory>, index: i32) -> Option<Class> {
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
        let names = [wide_text(&name), wide_text(&vendor), wide_text(&version)];
        new_class(&cid, &text(&category), &text(&subcategories), names)
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
        let names = [text(&name), text(&vendor), text(&version)];
        new_class(&cid, &text(&category), &text(&subcategories), names)
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
    (answer == kResultOk)
        .then(|| new_class(&cid, &text(&category), "", [text(&name), vendor(factory), String::new()]))
}

fn vendor(factory: &ComPtr<IPluginFactory>) -> String {
    // SAFETY: numbers and arrays of numbers, for which all zeros are valid.
    let mut info: PFactoryInfo = unsafe { std::mem::zeroed() };
    // SAFETY: `info` lives as long as the call.
    let answer = unsafe { factory.getFactoryInfo(&mut info) };
    let vendor = info.vendor;
    if answer == kResultOk { text(&vendor) } else { String::new() }
}

fn new_class(cid: &TUID, category: &str, subcategories: &str, [name, vendor, version]: [String; 3]) -> Class {
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
    Class { category: category.to_owned(), plugin }
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
    const UNCHANGED: [usize; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    const WINDOWS: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    let order = if cfg!(windows) { WINDOWS } else { UNCHANGED };
    order.iter().map(|index| format!("{:02X}", cid[*index].cast_unsigned())).collect()
}

fn text(units: &[c_char]) -> String {
    let bytes: Vec<u8> =
        units.iter().map(|unit| unit.cast_unsigned()).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

fn wide_text(units: &[u16]) -> String {
    let length = units.iter().position(|unit| *unit == 0).unwrap_or(units.len());
    String::from_utf16_lossy(&units[..length]).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_follows_from_the_sub_categories() {
        let check = |text: &str, expected| {
            let class = new_class(&[0; 16], AUDIO_CATEGORY, text, Default::default());
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

    #[test]
    fn texts_end_at_the_first_zero_or_the_end_of_the_array() {
        assert_eq!(text(&[72, 105, 0, 33].map(|byte: u8| byte as c_char)), "Hi");
        assert_eq!(text(&[72; 4].map(|byte: u8| byte as c_char)), "HHHH");
        assert_eq!(wide_text(&[0xC4, 0x20, 0]), "Ä");
    }
}
