//! Faults of a plugin's sound that do not end the render.

use serde::{Deserialize, Serialize};

use crate::plural::counted;

/// Maximum number of parameters that a warning names.
const NAMED_PARAMETERS: usize = 10;

/// A fault of a plugin's sound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginWarning {
    /// Name of the plugin.
    pub plugin_name: String,
    /// The fault.
    pub fault: PluginFault,
}

/// Faults of a plugin's sound. Parameters are identified by the ids in the song.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PluginFault {
    /// The song has values of parameters that the plugin does not have.
    UnknownValues(Vec<String>),
    /// The song automates parameters that the plugin does not have.
    UnknownAutomation(Vec<String>),
    /// The song automates parameters that cannot be automated.
    FixedAutomation(Vec<String>),
    /// Number of samples that were infinite or not a number.
    NonFiniteSamples(u64),
}

impl PluginWarning {
    /// Describes the fault in a sentence. `owner` is the track of the plugin, or the master.
    #[must_use]
    pub fn in_words(&self, owner: Option<&str>) -> String {
        let name = &self.plugin_name;
        let text = match &self.fault {
            PluginFault::UnknownValues(ids) => {
                format!(
                    "The plugin {name} has no {}, so the values in the song are ignored",
                    parameter_list_text(ids)
                )
            }
            PluginFault::UnknownAutomation(ids) => {
                format!("The plugin {name} has no {}, so the automation is ignored", parameter_list_text(ids))
            }
            PluginFault::FixedAutomation(ids) => format!(
                "The plugin {name} does not allow automation of the {}, so the automation is ignored",
                parameter_list_text(ids)
            ),
            PluginFault::NonFiniteSamples(count) => format!(
                "The plugin {name} made {} that are infinite or not a number; they are silent",
                counted(usize::try_from(*count).unwrap_or(usize::MAX), "sample")
            ),
        };
        match owner {
            Some(owner) => format!("{text} ({owner})."),
            None => format!("{text}."),
        }
    }
}

/// Names parameters by their ids, such as "parameters 3, 5 and 2 others".
fn parameter_list_text(ids: &[String]) -> String {
    let (named_ids, unnamed_ids) = ids.split_at(ids.len().min(NAMED_PARAMETERS));
    let noun = if ids.len() == 1 { "parameter" } else { "parameters" };
    let (first, last) = match (unnamed_ids.len(), named_ids) {
        (0, [first @ .., last]) => (first, last.clone()),
        (unnamed_ids, named_ids) => (named_ids, counted(unnamed_ids, "other")),
    };
    match first {
        [] => format!("{noun} {last}"),
        first => format!("{noun} {} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_name_the_plugin_and_the_parameters() {
        let check = |fault, expected: &str| {
            let warning = PluginWarning { plugin_name: "Echo".to_owned(), fault };
            assert_eq!(warning.in_words(None), expected);
        };
        let ids = |count: u32| (1..=count).map(|id| id.to_string()).collect();
        check(
            PluginFault::UnknownValues(ids(1)),
            "The plugin Echo has no parameter 1, so the values in the song are ignored.",
        );
        check(
            PluginFault::UnknownAutomation(ids(3)),
            "The plugin Echo has no parameters 1, 2 and 3, so the automation is ignored.",
        );
        check(
            PluginFault::FixedAutomation(ids(12)),
            "The plugin Echo does not allow automation of the parameters 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 others, \
             so the automation is ignored.",
        );
        let non_finite =
            PluginWarning { plugin_name: "Echo".to_owned(), fault: PluginFault::NonFiniteSamples(2) };
        assert_eq!(
            non_finite.in_words(Some("track `bass`")),
            "The plugin Echo made 2 samples that are infinite or not a number; they are silent (track `bass`)."
        );
    }
}
