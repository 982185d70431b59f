//! State, parameters and automation with which a plugin plays.

use songfoundry_bridge_protocol::host::{Event, EventKind, Opened, Parameter, ParameterValue};

use super::automation::{AutomationCurve, CurveReader};
use crate::plugin_hosts::{HostError, PluginHost};
use crate::rendering::RenderError;

/// Number of parameter names that an error lists.
const LISTED_NAMES: usize = 10;

/// How a plugin is set up before it plays.
#[derive(Debug, Default)]
pub struct PluginSetup {
    /// The state that is loaded first.
    pub start: StartState,
    /// Ids or names of parameters, and their normalized values. They are set by ascending id.
    pub values: Vec<(String, f64)>,
    /// Automation.
    pub curves: Vec<AutomationCurve>,
}

/// The state that a plugin loads first.
#[derive(Debug, Default)]
pub enum StartState {
    /// That of a new plugin.
    #[default]
    New,
    /// A state that the plugin has saved.
    State(Vec<u8>),
    /// The content of a preset file.
    Preset(Vec<u8>),
    /// A program of the plugin, by its index.
    Program(u32),
}

impl PluginSetup {
    /// Loads the state. Returns the changes of the parameters.
    pub(super) fn apply(&self, host: &mut PluginHost<'_>) -> Result<Vec<Event>, RenderError> {
        self.load_start(host)?;
        self.value_changes(host.opened())
    }

    /// Loads the state. Returns the values of all parameters; nothing for the state of a new
    /// plugin.
    pub(crate) fn load_start(&self, host: &mut PluginHost<'_>) -> Result<Vec<ParameterValue>, RenderError> {
        match &self.start {
            StartState::New => Ok(Vec::new()),
            StartState::State(state) => {
                host.set_state(state).map_err(|error| refused("bad_state", "state", error))
            }
            StartState::Preset(preset) => {
                host.load_preset(preset).map_err(|error| refused("bad_preset", "preset", error))
            }
            StartState::Program(index) => {
                let programs = host.opened().programs.len();
                if *index as usize >= programs {
                    let detail = match programs {
                        0 => format!("`preset` is the program {index}, but the plugin has no programs."),
                        _ => format!(
                            "`preset` is the program {index}; the plugin has the programs 0 to {}.",
                            programs - 1
                        ),
                    };
                    return Err(RenderError::PluginSetup { code: "bad_preset", detail });
                }
                host.set_program(*index).map_err(|error| refused("bad_preset", "preset", error))
            }
        }
    }

    /// Returns the changes of an open plugin's parameters, by ascending id. The order matters: a
    /// parameter may change others.
    pub(crate) fn value_changes(&self, opened: &Opened) -> Result<Vec<Event>, RenderError> {
        let change = |(name, value): &(String, f64)| {
            let id = parameter_id(&opened.parameters, name, "params")?;
            Ok(ParameterValue { id, value: *value })
        };
        let changes: Result<Vec<_>, RenderError> = self.values.iter().map(change).collect();
        let mut changes = changes?;
        changes.sort_by_key(|change| change.id);
        let event = |change| Event { frame: 0, kind: EventKind::Parameter(change) };
        Ok(changes.into_iter().map(event).collect())
    }

    /// Returns the automation of the parameters of an open plugin.
    pub(super) fn curves(&self, opened: &Opened) -> Result<Vec<CurveReader<'_>>, RenderError> {
        let reader =
            |curve: &'_ AutomationCurve| parameter_id(&opened.parameters, &curve.parameter, "automation");
        let mut readers = Vec::with_capacity(self.curves.len());
        for curve in &self.curves {
            readers.push(CurveReader::new(reader(curve)?, &curve.points));
        }
        Ok(readers)
    }
}

/// Returns the error for a plugin that receives no notes.
pub(super) fn no_instrument() -> RenderError {
    RenderError::PluginSetup {
        code: "not_an_instrument",
        detail: "The plugin receives no notes; name an instrument of GET /plugins/available.".to_owned(),
    }
}

/// Returns the error for a plugin that has no audio input.
pub(super) fn no_effect() -> RenderError {
    RenderError::PluginSetup {
        code: "not_an_effect",
        detail: "The plugin has no audio input; name an effect of GET /plugins/effects.".to_owned(),
    }
}

/// Names the field of the request in the plugin's refusal.
fn refused(code: &'static str, field: &str, error: HostError) -> RenderError {
    match error {
        HostError::Refused { reason } => {
            RenderError::PluginSetup { code, detail: format!("The plugin refuses `{field}`: {reason}.") }
        }
        other => other.into(),
    }
}

/// Returns the id of a parameter by its id in decimal digits, or by its name. `field` is the field
/// of the request that names it.
fn parameter_id(parameters: &[Parameter], key: &str, field: &str) -> Result<u32, RenderError> {
    let error = |detail: String| RenderError::PluginSetup { code: "bad_plugin_parameter", detail };
    let by_id = |id: u32| parameters.iter().find(|parameter| parameter.id == id);
    let mut by_name = parameters.iter().filter(|parameter| parameter.name == key);
    let found = match key.parse().ok().and_then(by_id) {
        Some(found) => found,
        None => match (by_name.next(), by_name.next()) {
            (Some(found), None) => found,
            (Some(first), Some(second)) => {
                return Err(error(format!(
                    "`{field}` names the parameter `{key}`, but the plugin has several of this name; use an id, such as \
                     {} or {}.",
                    first.id, second.id
                )));
            }
            (None, _) => {
                let names = parameters.iter().take(LISTED_NAMES);
                let names: Vec<_> =
                    names.map(|parameter| format!("`{}` ({})", parameter.name, parameter.id)).collect();
                return Err(error(format!(
                    "`{field}` names the parameter `{key}`, which the plugin does not have. It has {} parameters: {}{}",
                    parameters.len(),
                    names.join(", "),
                    if parameters.len() > LISTED_NAMES { ", and others." } else { "." }
                )));
            }
        },
    };
    match found.is_automatable {
        true => Ok(found.id),
        false => Err(error(format!("`{field}` names the parameter `{key}`, which cannot be changed."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(id: u32, name: &str, is_automatable: bool) -> Parameter {
        Parameter {
            id,
            name: name.to_owned(),
            short_name: String::new(),
            unit_label: String::new(),
            default_value: 0.0,
            value: 0.0,
            text: String::new(),
            step_count: 0,
            is_automatable,
            is_bypass: false,
        }
    }

    #[test]
    fn parameters_are_found_by_id_or_by_unique_name() {
        let parameters = [
            parameter(5, "Cutoff", true),
            parameter(9, "Level", true),
            parameter(11, "Level", true),
            parameter(12, "7", true),
            parameter(13, "Fixed", false),
        ];
        let id = |key: &str| match parameter_id(&parameters, key, "params") {
            Ok(id) => Ok(id),
            Err(RenderError::PluginSetup { code: "bad_plugin_parameter", detail }) => Err(detail),
            Err(other) => panic!("{other}"),
        };
        assert_eq!((id("5"), id("Cutoff"), id("7"), id("11")), (Ok(5), Ok(5), Ok(12), Ok(11)));
        for (key, part) in
            [("Level", "9 or 11"), ("cutoff", "`Cutoff` (5)"), ("6", "5 parameters"), ("Fixed", "cannot be")]
        {
            assert!(id(key).is_err_and(|detail| detail.contains(part) && detail.contains(key)), "{key}");
        }
    }
}
