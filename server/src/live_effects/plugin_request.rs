//! A plugin that a chain requests.

use std::collections::BTreeMap;

use serde_json::Value;
use songfoundry_bridge_protocol::PluginFormat;

use super::message::Answer;
use crate::exports::setup_of;
use crate::rendering::plugin_track::StartState;

/// A plugin with its settings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RequestedPlugin {
    pub(super) format: PluginFormat,
    pub(super) plugin_id: String,
    pub(super) state: Option<Vec<u8>>,
    /// Normalized values by the ids or names of the parameters.
    pub(super) values: BTreeMap<String, f64>,
    pub(super) is_bypassed: bool,
}

impl RequestedPlugin {
    /// Reads the settings of a plugin as in a project.
    ///
    /// # Errors
    /// The answer if they are invalid. `index` is that of the effect.
    pub(super) fn read(
        index: usize,
        format: PluginFormat,
        plugin_id: Option<String>,
        state: Option<String>,
        params: BTreeMap<String, Value>,
        is_bypassed: bool,
    ) -> Result<Self, Answer> {
        let left_out =
            |detail: String| Answer::error("invalid_effect", format!("effect {index} is left out: {detail}"));
        let plugin_id = plugin_id.filter(|id| !id.is_empty());
        let plugin_id = plugin_id.ok_or_else(|| left_out("it has no `plugin_id`".to_owned()))?;
        let params = params.into_iter().collect();
        let setup = setup_of(state, None, params).map_err(|error| left_out(error.to_string()))?;
        let state = match setup.start {
            StartState::State(state) => Some(state),
            StartState::New | StartState::Preset(_) | StartState::Program(_) => None,
        };
        let values = setup.values.into_iter().collect();
        Ok(Self { format, plugin_id, state, values, is_bypassed })
    }
}
