//! Ids, routes and totals of a document, without the items of its tracks.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::json::View;

/// The tracks of a document that follows the schema, in their order.
pub(super) struct Outline<'t> {
    pub(super) tracks: Vec<TrackOutline<'t>>,
    /// Index of each track by its id. If tracks share an id, it is the index of the last one.
    pub(super) index_of: HashMap<Cow<'t, str>, usize>,
    pub(super) totals: Totals,
}

/// References of a track to other tracks.
pub(super) struct TrackOutline<'t> {
    pub(super) id: Cow<'t, str>,
    pub(super) kind: Cow<'t, str>,
    pub(super) output: Option<Cow<'t, str>>,
    pub(super) sends: Vec<Cow<'t, str>>,
    /// Effects with a side-chain: the index of the effect, and the id of the track that feeds the
    /// side-chain.
    pub(super) side_chains: Vec<(usize, Cow<'t, str>)>,
}

/// Totals of all tracks and the master.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) notes: usize,
    pub(super) controls: usize,
    pub(super) effects: usize,
    pub(super) params: usize,
}

impl<'t> Outline<'t> {
    pub(super) fn from_document(document: View<'t>) -> Self {
        let mut outline = Self { tracks: Vec::new(), index_of: HashMap::new(), totals: Totals::default() };
        for (index, track) in document.list("tracks").enumerate() {
            let track = outline.track(track);
            outline.index_of.insert(track.id.clone(), index);
            outline.tracks.push(track);
        }
        if let Some(master) = document.get("master") {
            outline.totals.add_effects(master);
        }
        outline
    }

    fn track(&mut self, track: View<'t>) -> TrackOutline<'t> {
        for item in track.list("items").chain(track.list("takes")) {
            self.totals.notes += item.list("notes").count();
            self.totals.controls += item.list("controls").count();
        }
        self.totals.add_effects(track);
        self.totals.params += track.get("synth_engine").map_or(0, count_params);
        TrackOutline {
            id: track.text("id").unwrap_or_default(),
            kind: track.text("kind").unwrap_or_default(),
            output: track.text("output"),
            sends: track.list("sends").map(|send| send.text("to").unwrap_or_default()).collect(),
            side_chains: side_chains(track).collect(),
        }
    }
}

impl Totals {
    fn add_effects(&mut self, owner: View<'_>) {
        for effect in owner.list("effects") {
            self.effects += 1;
            self.params += count_params(effect);
        }
    }
}

/// Returns the number of parameter values of an effect or an instrument.
fn count_params(owner: View<'_>) -> usize {
    owner.get("params").map_or(0, |params| params.fields().count())
}

/// Returns the effects with a side-chain of a track or of the master, as in
/// [`TrackOutline::side_chains`].
pub(super) fn side_chains<'t>(owner: View<'t>) -> impl Iterator<Item = (usize, Cow<'t, str>)> {
    owner.list("effects").enumerate().filter_map(|(index, effect)| Some((index, effect.text("side_chain")?)))
}
