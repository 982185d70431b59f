//! State, parameters and automation with which a plugin plays.

use songfoundry_bridge_protocol::host::{Bus, Event, EventKind, Opened, Parameter, ParameterValue};

use super::automation::{AutomationCurve, CurveReader};
use super::warnings::PluginFault;
use crate::plugin_hosts::{HostError, PluginHost};
use crate::rendering::RenderError;

/// Number of parameter names that an error lists.
const LISTED_NAMES: usize = 10;

/// Maximum length of a parameter's id in a warning, in characters.
const PRINTED_KEY_MAX_CHARS: usize = 64;

/// State, values and automation with which a plugin is set up before it plays.
#[derive(Debug, Default)]
pub struct PluginSetup {
    /// The state that is loaded first.
    pub start: StartState,
    /// Ids or names of parameters, and their normalized values. They are set by ascending id.
    pub values: Vec<(String, f64)>,
    /// Automation.
    pub curves: Vec<AutomationCurve>,
    /// Whether values and automation that the plugin cannot use are errors.
    pub unknown_parameters: UnknownParameters,
}

/// The treatment of values and automation of parameters that a plugin does not have, and of
/// automation of parameters that cannot be automated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownParameters {
    /// They are errors.
    #[default]
    Refuse,
    /// They are ignored, with a warning. A song may be older than the version of its plugin.
    Ignore,
}

/// The state that a plugin loads first.
#[derive(Debug, Default)]
pub enum StartState {
    /// The state of a new plugin.
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
    /// Loads the state. Returns the changes of the parameters. Adds ignored values to `ignored`.
    pub(super) fn apply(
        &self,
        host: &mut PluginHost<'_>,
        ignored: &mut Vec<PluginFault>,
    ) -> Result<Vec<Event>, RenderError> {
        self.load_start(host)?;
        self.value_changes(host.opened(), ignored)
    }

    /// Loads the state. Returns the values of all parameters; an empty list for the state of a new
    /// plugin.
    pub(crate) fn load_start(&self, host: &mut PluginHost<'_>) -> Result<Vec<ParameterValue>, RenderError> {
        match &self.start {
            StartState::New => Ok(Vec::new()),
            StartState::State(state) => {
                host.set_state(state).map_err(|error| refused(host, "bad_state", "state", error))
            }
            StartState::Preset(preset) => {
                host.load_preset(preset).map_err(|error| refused(host, "bad_preset", "preset", error))
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
                host.set_program(*index).map_err(|error| refused(host, "bad_preset", "preset", error))
            }
        }
    }

    /// Returns the changes of an open plugin's parameters, by ascending id. The order matters,
    /// because a parameter may change others. Adds ignored values to `ignored`.
    pub(crate) fn value_changes(
        &self,
        opened: &Opened,
        ignored: &mut Vec<PluginFault>,
    ) -> Result<Vec<Event>, RenderError> {
        let (mut changes, mut unknown) = (Vec::with_capacity(self.values.len()), Vec::new());
        for (key, value) in &self.values {
            match self.find(&opened.parameters, key, "params")? {
                Some(parameter) => changes.push(ParameterValue { id: parameter.id, value: *value }),
                None => unknown.push(shortened(key)),
            }
        }
        if !unknown.is_empty() {
            ignored.push(PluginFault::UnknownValues(unknown));
        }
        changes.sort_by_key(|change| change.id);
        let event = |change| Event { frame: 0, kind: EventKind::Parameter(change) };
        Ok(changes.into_iter().map(event).collect())
    }

    /// Returns the automation of an open plugin's parameters. Adds ignored automation to `ignored`.
    pub(super) fn curves(
        &self,
        opened: &Opened,
        ignored: &mut Vec<PluginFault>,
    ) -> Result<Vec<CurveReader<'_>>, RenderError> {
        let mut readers = Vec::with_capacity(self.curves.len());
        let (mut unknown, mut fixed) = (Vec::new(), Vec::new());
        for AutomationCurve { parameter: key, points } in &self.curves {
            match self.find(&opened.parameters, key, "automation")? {
                None => unknown.push(shortened(key)),
                Some(parameter) if parameter.is_automatable => {
                    readers.push(CurveReader::new(parameter.id, points));
                }
                Some(_) if self.unknown_parameters == UnknownParameters::Ignore => fixed.push(shortened(key)),
                Some(_) => {
                    return Err(bad_parameter(format!(
                        "`automation` names the parameter `{key}`, which cannot be automated."
                    )));
                }
            }
        }
        if !unknown.is_empty() {
            ignored.push(PluginFault::UnknownAutomation(unknown));
        }
        if !fixed.is_empty() {
            ignored.push(PluginFault::FixedAutomation(fixed));
        }
        Ok(readers)
    }

    /// Returns a parameter; `None` if it is unknown and unknown parameters are ignored.
    fn find<'p>(
        &self,
        parameters: &'p [Parameter],
        key: &str,
        field: &str,
    ) -> Result<Option<&'p Parameter>, RenderError> {
        match (find_parameter(parameters, key, field), self.unknown_parameters) {
            (Ok(found), _) => Ok(Some(found)),
            (Err(_), UnknownParameters::Ignore) => Ok(None),
            (Err(error), UnknownParameters::Refuse) => Err(error),
        }
    }
}

/// Returns the first characters of a parameter's id, for a warning.
fn shortened(key: &str) -> String {
    key.chars().take(PRINTED_KEY_MAX_CHARS).collect()
}

fn bad_parameter(detail: String) -> RenderError {
    RenderError::PluginSetup { code: "bad_plugin_parameter", detail }
}

/// Returns an error if a plugin cannot be used as an effect, or otherwise as an instrument.
pub(super) fn check_kind(opened: &Opened, plugin_id: &str, is_effect: bool) -> Result<(), RenderError> {
    let has_main = |buses: &[Bus]| buses.iter().any(|bus| bus.is_main);
    let (code, kind, list) = match is_effect {
        true => ("not_an_effect", "effect", "GET /plugins/effects"),
        false => ("not_an_instrument", "instrument", "GET /plugins/available"),
    };
    let missing = if is_effect && !has_main(&opened.inputs) {
        "has no audio input"
    } else if !is_effect && !opened.accepts_notes {
        "receives no notes"
    } else if !has_main(&opened.outputs) {
        "has no audio output"
    } else {
        return Ok(());
    };
    let detail = format!("The plugin {plugin_id} {missing}; name an {kind} of {list}.");
    Err(RenderError::PluginSetup { code, detail })
}

/// Adds the name of the plugin and the field of the request to a refusal of the plugin.
fn refused(host: &PluginHost<'_>, code: &'static str, field: &str, error: HostError) -> RenderError {
    match error {
        HostError::Refused { reason } => {
            let detail =
                format!("`{field}` cannot be used with the plugin {:?}: {reason}.", host.opened().name);
            RenderError::PluginSetup { code, detail }
        }
        other => other.into(),
    }
}

/// Returns a parameter by its id in decimal digits, or by its name. `field` is the field of the
/// request that names it.
fn find_parameter<'p>(
    parameters: &'p [Parameter],
    key: &str,
    field: &str,
) -> Result<&'p Parameter, RenderError> {
    let by_id = |id: u32| parameters.iter().find(|parameter| parameter.id == id);
    let mut by_name = parameters.iter().filter(|parameter| parameter.name == key);
    match key.parse().ok().and_then(by_id) {
        Some(found) => Ok(found),
        None => match (by_name.next(), by_name.next()) {
            (Some(found), None) => Ok(found),
            (Some(first), Some(second)) => Err(bad_parameter(format!(
                "`{field}` names the parameter `{key}`, but the plugin has several of this name; use an id, such as \
                     {} or {}.",
                first.id, second.id
            ))),
            (None, _) => {
                let names = parameters.iter().take(LISTED_NAMES);
                let names: Vec<_> =
                    names.map(|parameter| format!("`{}` ({})", parameter.name, parameter.id)).collect();
                Err(bad_parameter(format!(
                    "`{field}` names the parameter `{key}`, which the plugin does not have. It has {} parameters: {}{}",
                    parameters.len(),
                    names.join(", "),
                    if parameters.len() > LISTED_NAMES { ", and others." } else { "." }
                )))
            }
        },
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
        ];
        let id = |key: &str| match find_parameter(&parameters, key, "params") {
            Ok(found) => Ok(found.id),
            Err(RenderError::PluginSetup { code: "bad_plugin_parameter", detail }) => Err(detail),
            Err(other) => panic!("{other}"),
        };
        assert_eq!((id("5"), id("Cutoff"), id("7"), id("11")), (Ok(5), Ok(5), Ok(12), Ok(11)));
        for (key, part) in [("Level", "9 or 11"), ("cutoff", "`Cutoff` (5)"), ("6", "4 parameters")] {
            assert!(id(key).is_err_and(|detail| detail.contains(part) && detail.contains(key)), "{key}");
        }
    }

    #[test]
    fn unknown_parameters_are_refused_or_ignored() {
        let mut opened = crate::plugin_hosts::scripted::opened();
        opened.parameters = vec![parameter(5, "Cutoff", true), parameter(6, "Mode", false)];
        let values = [("6", 0.25), ("7", 0.5), ("5", 0.75)].map(|(id, value)| (id.to_owned(), value));
        let curve = |id: &str| AutomationCurve { parameter: id.to_owned(), points: Vec::new() };
        let setup = |values: &[(String, f64)], curves: &[&str], unknown_parameters| PluginSetup {
            values: values.to_vec(),
            curves: curves.iter().map(|id| curve(id)).collect(),
            unknown_parameters,
            ..PluginSetup::default()
        };
        let song = setup(&values, &["7", "6", "5"], UnknownParameters::Ignore);
        let mut ignored = Vec::new();
        let changes = song.value_changes(&opened, &mut ignored).expect("changes");
        let change = |id, value| Event { frame: 0, kind: EventKind::Parameter(ParameterValue { id, value }) };
        assert_eq!(changes, [change(5, 0.75), change(6, 0.25)]);
        assert_eq!(song.curves(&opened, &mut ignored).expect("curves").len(), 1);
        let faults = [
            PluginFault::UnknownValues(vec!["7".to_owned()]),
            PluginFault::UnknownAutomation(vec!["7".to_owned()]),
            PluginFault::FixedAutomation(vec!["6".to_owned()]),
        ];
        assert_eq!(ignored, faults);

        for request in [&["7"], &["6"]] {
            let request = setup(&[], request, UnknownParameters::Refuse);
            assert!(request.curves(&opened, &mut Vec::new()).is_err());
        }
        let request = setup(&values, &[], UnknownParameters::Refuse);
        assert!(request.value_changes(&opened, &mut Vec::new()).is_err());
        assert!(
            setup(&values[..1], &[], UnknownParameters::Refuse)
                .value_changes(&opened, &mut Vec::new())
                .is_ok()
        );
    }
}
