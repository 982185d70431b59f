//! The ids of a plugin's parameters, which are found without reading all of up to 10,000
//! parameters.

use std::collections::{HashMap, HashSet};

use songfoundry_bridge_protocol::host::Parameter;

/// The ids of a plugin's parameters.
#[derive(Debug)]
pub(super) struct ParameterIds {
    ids: HashSet<u32>,
    /// The ids by name; `None` for a name that several parameters have.
    by_name: HashMap<String, Option<u32>>,
}

impl ParameterIds {
    pub(super) fn new(parameters: &[Parameter]) -> Self {
        let ids = parameters.iter().map(|parameter| parameter.id).collect();
        let mut by_name = HashMap::with_capacity(parameters.len());
        for parameter in parameters {
            by_name.entry(parameter.name.clone()).and_modify(|id| *id = None).or_insert(Some(parameter.id));
        }
        Self { ids, by_name }
    }

    /// Returns the id of a parameter, by its id in decimal digits, or by its name. Returns `None`
    /// if there is no such parameter, or if several have the name.
    pub(super) fn find(&self, key: &str) -> Option<u32> {
        let by_id = key.parse().ok().filter(|id| self.ids.contains(id));
        by_id.or_else(|| self.by_name.get(key).copied().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_ids_and_may_share_names() {
        let parameter = |(id, name): (u32, &str)| Parameter {
            id,
            name: name.to_owned(),
            short_name: String::new(),
            unit_label: String::new(),
            default_value: 0.0,
            value: 0.0,
            text: String::new(),
            step_count: 0,
            is_automatable: true,
            is_bypass: false,
        };
        let ids =
            ParameterIds::new(&[(7, "Gain"), (8, "Band"), (9, "Band"), (1, "8"), (2, "3")].map(parameter));
        let keys = ["7", "Gain", "8", "3", "Band", "9", "gain", "4", ""];
        let found = keys.map(|key| ids.find(key));
        assert_eq!(found, [Some(7), Some(7), Some(8), Some(2), None, Some(9), None, None, None]);
    }
}
