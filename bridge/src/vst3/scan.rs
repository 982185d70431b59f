//! Lists the plugins that the factory of a VST3 module describes.
#![expect(unsafe_code, reason = "VST3 modules have a C interface")]

use std::path::Path;

use songfoundry_bridge_protocol::ScannedPlugin;
use vst3::Steinberg::IPluginFactoryTrait as _;

use super::factory::{AUDIO_CATEGORY, class, factory};
use crate::module::{FailureReason, PLUGINS_MAX, library_path};

/// Passes each plugin of a module to `list`. The outer result is an error if `list` fails; the
/// inner result is an error if the module cannot be used.
pub(crate) fn scan(
    module: &Path,
    list: &mut dyn FnMut(ScannedPlugin) -> anyhow::Result<()>,
) -> anyhow::Result<Result<(), FailureReason>> {
    let factory = match library_path(module).and_then(|path| factory(&path)) {
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
