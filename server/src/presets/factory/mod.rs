//! Factory presets, which are part of the program.

mod chains_table;
mod exports_table;
mod instruments_table;

use std::sync::LazyLock;

use dsp_core::effects::{Scale, effect_kind};
use schemas::json::JsonText;
use serde_json::{Map, Value, json};

use super::queries::PresetQuery;
use super::{PresetKind, PresetSource, PresetSummary, StoredPreset};

/// Prefix of the ids of factory presets. No UUID begins with it.
const ID_PREFIX: &str = "factory-";

/// Value of a parameter in a factory table.
#[derive(Debug, Clone, Copy)]
enum Setting {
    /// A number in the parameter's unit.
    To(f64),
    /// One of the parameter's choices, by its name.
    Choice(&'static str),
    /// The switch is on.
    On,
}

/// An effect in a factory table: its id, and the values of the parameters that differ from their
/// defaults.
type FactoryEffect = (&'static str, &'static [(&'static str, Setting)]);

/// A chain of effects in a factory table.
#[derive(Debug)]
struct FactoryChain {
    /// Id without the prefix. It must never change, because clients may store it.
    id: &'static str,
    name: &'static str,
    category: &'static str,
    description: &'static str,
    effects: &'static [FactoryEffect],
}

/// An instrument in a factory table: a preset of the default bank, which has the presets of General
/// MIDI.
#[derive(Debug)]
struct FactoryInstrument {
    /// SoundFont bank of the preset: 0, or 128 for drum kits.
    bank: u16,
    /// Program number of General MIDI, counted from 0.
    program: u16,
    /// Id, names, description and effects of the preset.
    chain: FactoryChain,
}

static PRESETS: LazyLock<Vec<StoredPreset>> = LazyLock::new(|| {
    let instruments = instruments_table::INSTRUMENTS.iter().map(|instrument| {
        let FactoryInstrument { bank, program, chain } = instrument;
        let engine = json!({ "type": "soundfont", "bank": bank, "program": program });
        make_preset(
            PresetKind::Instrument,
            chain,
            &json!({ "synth_engine": engine, "effects": effects(chain) }),
        )
    });
    let chains = chains_table::CHAINS
        .iter()
        .map(|chain| make_preset(PresetKind::EffectChain, chain, &json!({ "effects": effects(chain) })));
    let exports = exports_table::EXPORTS.iter().map(|export| {
        let summary = make_summary(PresetKind::Export, export.id, export.name, "", export.description);
        StoredPreset { summary, content: JsonText::of_value(&(export.options)()) }
    });
    instruments.chain(chains).chain(exports).collect()
});

fn make_preset(kind: PresetKind, chain: &FactoryChain, content: &Value) -> StoredPreset {
    let summary = make_summary(kind, chain.id, chain.name, chain.category, chain.description);
    StoredPreset { summary, content: JsonText::of_value(content) }
}

fn make_summary(kind: PresetKind, id: &str, name: &str, category: &str, description: &str) -> PresetSummary {
    PresetSummary {
        id: format!("{ID_PREFIX}{id}"),
        kind,
        source: PresetSource::Factory,
        name: name.to_owned(),
        category: category.to_owned(),
        description: description.to_owned(),
        created_at: None,
        updated_at: None,
    }
}

fn effects(chain: &FactoryChain) -> Vec<Value> {
    let effect = |&(name, settings): &FactoryEffect| {
        let params: Map<String, Value> =
            settings.iter().map(|&(id, setting)| (id.to_owned(), value(name, id, setting))).collect();
        json!({ "type": "builtin", "name": name, "params": params })
    };
    chain.effects.iter().map(effect).collect()
}

/// Returns a parameter's value in the form that the web page stores. A choice becomes its index.
fn value(kind: &str, id: &str, setting: Setting) -> Value {
    match setting {
        Setting::To(number) => json!(number),
        Setting::On => json!(1),
        Setting::Choice(name) => {
            let kind = effect_kind(kind);
            let parameter = kind.and_then(|kind| Some(&kind.parameters[kind.parameter_index(id)?]));
            let choices = match parameter.map(|parameter| parameter.scale) {
                Some(Scale::Choice(choices)) => choices,
                _ => &[],
            };
            // An unknown name is passed on unchanged. `tests.rs` reports such a preset as invalid.
            choices.iter().position(|choice| *choice == name).map_or(json!(name), |index| json!(index))
        }
    }
}

/// Whether an id begins with the prefix of factory ids.
pub(super) fn is_id(id: &str) -> bool {
    id.starts_with(ID_PREFIX)
}

/// Returns the factory preset with this id.
pub(super) fn find_by_id(id: &str) -> Option<&'static StoredPreset> {
    PRESETS.iter().find(|preset| preset.summary.id == id)
}

/// Returns the factory presets that match a query, starting after the preset with the id `after`.
pub(super) fn matching_presets(
    query: &PresetQuery,
    after: Option<&str>,
) -> impl Iterator<Item = PresetSummary> {
    let index_of = |id: &str| PRESETS.iter().position(|preset| preset.summary.id == id);
    let start = after.map_or(0, |id| index_of(id).map_or(PRESETS.len(), |index| index + 1));
    let (kind, search, category) = (query.kind, query.search_key(), query.category_key());
    PRESETS[start..]
        .iter()
        .map(|preset| &preset.summary)
        .filter(move |preset| {
            let text = format!("{}\n{}\n{}", preset.name, preset.category, preset.description).to_lowercase();
            kind.is_none_or(|kind| kind == preset.kind)
                && search.as_ref().is_none_or(|search| text.contains(search))
                && category.as_ref().is_none_or(|category| preset.category.to_lowercase() == *category)
        })
        .cloned()
}

#[cfg(test)]
mod tests;
