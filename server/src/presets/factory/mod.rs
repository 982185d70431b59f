//! The presets that come with the program.

mod chains_table;
mod instruments_table;

use std::sync::LazyLock;

use dsp_core::effects::{Scale, effect_kind};
use schemas::json::JsonText;
use serde_json::{Map, Value, json};

use super::queries::PresetQuery;
use super::{PresetKind, PresetSource, PresetSummary, StoredPreset};

/// How ids of the factory's presets begin; no UUID begins like this.
const ID_PREFIX: &str = "factory-";

/// The value of a parameter in a table.
#[derive(Debug, Clone, Copy)]
enum Set {
    /// A number in the parameter's unit.
    To(f64),
    /// A choice by its name.
    Choice(&'static str),
    /// A switch that is on.
    On,
}

/// An effect in a table: its kind, and what is not at its default.
type FactoryEffect = (&'static str, &'static [(&'static str, Set)]);

/// A chain in a table.
#[derive(Debug)]
struct FactoryChain {
    /// Id without the prefix; never changes.
    id: &'static str,
    name: &'static str,
    category: &'static str,
    description: &'static str,
    effects: &'static [FactoryEffect],
}

/// An instrument in a table: a sound of General MIDI in the default bank.
#[derive(Debug)]
struct FactoryInstrument {
    /// Bank of the sound: 0, or 128 for drum kits.
    bank: u16,
    /// Program of General MIDI, counted from 0.
    program: u16,
    /// Everything else.
    chain: FactoryChain,
}

static PRESETS: LazyLock<Vec<StoredPreset>> = LazyLock::new(|| {
    let instruments = instruments_table::INSTRUMENTS.iter().map(|instrument| {
        let FactoryInstrument { bank, program, chain } = instrument;
        let engine = json!({ "type": "soundfont", "bank": bank, "program": program });
        preset(PresetKind::Instrument, chain, &json!({ "synth_engine": engine, "effects": effects(chain) }))
    });
    let chains = chains_table::CHAINS
        .iter()
        .map(|chain| preset(PresetKind::EffectChain, chain, &json!({ "effects": effects(chain) })));
    instruments.chain(chains).collect()
});

fn preset(kind: PresetKind, chain: &FactoryChain, content: &Value) -> StoredPreset {
    let summary = PresetSummary {
        id: format!("{ID_PREFIX}{}", chain.id),
        kind,
        source: PresetSource::Factory,
        name: chain.name.to_owned(),
        category: chain.category.to_owned(),
        description: chain.description.to_owned(),
        created_at: None,
        updated_at: None,
    };
    StoredPreset { summary, content: JsonText::of_value(content) }
}

fn effects(chain: &FactoryChain) -> Vec<Value> {
    let effect = |&(name, set): &FactoryEffect| {
        let params: Map<String, Value> =
            set.iter().map(|&(id, value)| (id.to_owned(), number(name, id, value))).collect();
        json!({ "type": "builtin", "name": name, "params": params })
    };
    chain.effects.iter().map(effect).collect()
}

/// A value as pages write it: choices by their number.
fn number(kind: &str, id: &str, value: Set) -> Value {
    match value {
        Set::To(number) => json!(number),
        Set::On => json!(1),
        Set::Choice(name) => {
            let kind = effect_kind(kind);
            let parameter = kind.and_then(|kind| Some(&kind.parameters[kind.parameter_index(id)?]));
            let choices = match parameter.map(|parameter| parameter.scale) {
                Some(Scale::Choice(choices)) => choices,
                _ => &[],
            };
            // A name that is none stays, and a test finds it.
            choices.iter().position(|choice| *choice == name).map_or(json!(name), |place| json!(place))
        }
    }
}

/// Whether an id is one of the factory's.
pub(super) fn is_id(id: &str) -> bool {
    id.starts_with(ID_PREFIX)
}

/// The preset of this id.
pub(super) fn by_id(id: &str) -> Option<&'static StoredPreset> {
    PRESETS.iter().find(|preset| preset.summary.id == id)
}

/// Presets that a list asks for, behind the one with the id `after`.
pub(super) fn matching(query: &PresetQuery, after: Option<&str>) -> impl Iterator<Item = PresetSummary> {
    let known = |id: &str| PRESETS.iter().position(|preset| preset.summary.id == id);
    let start = after.map_or(0, |id| known(id).map_or(PRESETS.len(), |place| place + 1));
    let (kind, search, category) = (query.kind, query.search_key(), query.category_key());
    PRESETS[start..]
        .iter()
        .map(|preset| &preset.summary)
        .filter(move |one| {
            let text = format!("{}\n{}\n{}", one.name, one.category, one.description).to_lowercase();
            kind.is_none_or(|kind| kind == one.kind)
                && search.as_ref().is_none_or(|search| text.contains(search))
                && category.as_ref().is_none_or(|category| one.category.to_lowercase() == *category)
        })
        .cloned()
}

#[cfg(test)]
mod tests;
