//! Lists the plugins of a VST2 module with requests to the effect that the module creates.

use std::path::Path;

use songfoundry_bridge_protocol::ScannedPlugin;

use super::callback::set_current_id;
use super::effect::{CATEGORY_SHELL, Instance, Request, load_main, plugin_id};
use crate::module::{FailureReason, PLUGINS_MAX};

/// Passes each plugin of a module to `list`. The outer result is an error if `list` fails; the
/// inner result is an error if the module cannot be used. The effects are never closed, because
/// the process ends after the scan.
pub(crate) fn scan(
    module: &Path,
    list: &mut dyn FnMut(ScannedPlugin) -> anyhow::Result<()>,
) -> anyhow::Result<Result<(), FailureReason>> {
    let (main, first) = match load_main(module).and_then(|main| Ok((main, Instance::create(main)?))) {
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
        set_current_id(id);
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
