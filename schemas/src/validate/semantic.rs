//! What a JSON Schema cannot say: order, unique ids, references, totals.

use std::collections::HashMap;

use serde_json::Value;

use super::{MAX_VIOLATIONS, Violation, effects};
use crate::limits::{CONTROL_BYTES, MAX_EVENT_BYTES, NOTE_BYTES, event_bytes};

/// Violations in a document that follows the schema.
pub(super) fn violations(document: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    ascending(document, "tempo_map", "tempo", &mut found);
    ascending(document, "time_signatures", "time signature", &mut found);
    let tracks = list(document, "tracks");
    let kinds = track_kinds(tracks, &mut found);
    for (index, track) in tracks.iter().enumerate() {
        references(track, index, &kinds, &mut found);
        let pointer = format!("/tracks/{index}");
        side_chains(track, text(track, "id"), &pointer, &kinds, &mut found);
        effects::violations(track, &pointer, &mut found);
    }
    if let Some(master) = document.get("master") {
        side_chains(master, None, "/master", &kinds, &mut found);
        effects::violations(master, "/master", &mut found);
    }
    output_cycles(tracks, &mut found);
    totals(tracks, &mut found);
    found.truncate(MAX_VIOLATIONS);
    found
}

fn ascending(document: &Value, field: &str, what: &str, found: &mut Vec<Violation>) {
    let mut previous = None;
    for (index, entry) in list(document, field).iter().enumerate() {
        let tick = entry.get("tick").and_then(Value::as_f64).unwrap_or(0.0);
        let detail = match previous {
            None if tick != 0.0 => Some(format!("the first {what} must stand at tick 0, not at tick {tick}")),
            Some(previous) if tick <= previous => {
                Some(format!("a {what} at tick {tick} follows one at tick {previous}; ticks must ascend"))
            }
            _ => None,
        };
        if let Some(detail) = detail {
            found.push(Violation { pointer: format!("/{field}/{index}/tick"), detail });
        }
        previous = Some(tick);
    }
}

fn track_kinds<'a>(tracks: &'a [Value], found: &mut Vec<Violation>) -> HashMap<&'a str, &'a str> {
    let mut kinds = HashMap::new();
    for (index, track) in tracks.iter().enumerate() {
        let id = text(track, "id").unwrap_or_default();
        if kinds.insert(id, text(track, "kind").unwrap_or_default()).is_some() {
            found.push(Violation {
                pointer: format!("/tracks/{index}/id"),
                detail: format!("another track has the id \"{id}\" already"),
            });
        }
    }
    kinds
}

fn references(track: &Value, index: usize, kinds: &HashMap<&str, &str>, found: &mut Vec<Violation>) {
    let own_id = text(track, "id").unwrap_or_default();
    let mut check = |target: &str, pointer: String| {
        let detail = match kinds.get(target) {
            None => format!("there is no track \"{target}\""),
            Some(_) if target == own_id => format!("track \"{target}\" cannot feed itself"),
            Some(&("bus" | "group")) => return,
            Some(kind) => {
                format!("track \"{target}\" is of kind \"{kind}\"; only a bus or a group can be fed")
            }
        };
        found.push(Violation { pointer, detail });
    };
    if let Some(output) = text(track, "output") {
        check(output, format!("/tracks/{index}/output"));
    }
    for (send, entry) in list(track, "sends").iter().enumerate() {
        check(text(entry, "to").unwrap_or_default(), format!("/tracks/{index}/sends/{send}/to"));
    }
}

/// Whoever a side-chain listens to has to be there, and to be another.
fn side_chains(
    owner: &Value,
    own_id: Option<&str>,
    pointer: &str,
    kinds: &HashMap<&str, &str>,
    found: &mut Vec<Violation>,
) {
    for (place, effect) in list(owner, "effects").iter().enumerate() {
        let Some(heard) = text(effect, "side_chain") else { continue };
        let detail = if Some(heard) == own_id {
            format!("track \"{heard}\" cannot listen to itself")
        } else if !kinds.contains_key(heard) {
            format!("there is no track \"{heard}\"")
        } else {
            continue;
        };
        found.push(Violation { pointer: format!("{pointer}/effects/{place}/side_chain"), detail });
    }
}

/// Reports the tracks from which outputs, sends and side-chains lead back to where they come from.
fn output_cycles(tracks: &[Value], found: &mut Vec<Violation>) {
    let index_of: HashMap<&str, usize> =
        tracks.iter().enumerate().filter_map(|(index, track)| Some((text(track, "id")?, index))).collect();
    let mut listeners = vec![Vec::new(); tracks.len()];
    for (index, track) in tracks.iter().enumerate() {
        let heard = list(track, "effects").iter().filter_map(|effect| text(effect, "side_chain"));
        heard.filter_map(|heard| index_of.get(heard)).for_each(|&heard| listeners[heard].push(index));
    }
    let feeds = |index: usize| {
        let track = &tracks[index];
        let sends = list(track, "sends").iter().filter_map(|send| text(send, "to"));
        let fed = text(track, "output").into_iter().chain(sends).filter_map(|to| index_of.get(to).copied());
        fed.chain(listeners[index].iter().copied())
    };
    // Takes away tracks that nothing remaining feeds; what is left feeds itself.
    let mut fed_by = vec![0_usize; tracks.len()];
    for index in 0..tracks.len() {
        for to in feeds(index) {
            fed_by[to] += 1;
        }
    }
    let mut ready: Vec<usize> = (0..tracks.len()).filter(|&index| fed_by[index] == 0).collect();
    while let Some(index) = ready.pop() {
        for to in feeds(index) {
            fed_by[to] -= 1;
            if fed_by[to] == 0 {
                ready.push(to);
            }
        }
    }
    for index in (0..tracks.len()).filter(|&index| fed_by[index] > 0) {
        if leads_back(index, tracks.len(), feeds) {
            found.push(Violation {
                pointer: format!("/tracks/{index}"),
                detail: "the outputs, sends and side-chains of this track lead back to it".into(),
            });
        }
        if found.len() >= MAX_VIOLATIONS {
            return;
        }
    }
}

/// Whether another track that `start` feeds, directly or not, feeds `start`. A track that
/// names itself is no case of this: its reference has been reported.
fn leads_back<I: Iterator<Item = usize>>(start: usize, count: usize, feeds: impl Fn(usize) -> I) -> bool {
    let mut seen = vec![false; count];
    let mut next: Vec<usize> = feeds(start).filter(|&to| to != start).collect();
    while let Some(index) = next.pop() {
        if index == start {
            return true;
        }
        if !core::mem::replace(&mut seen[index], true) {
            next.extend(feeds(index));
        }
    }
    false
}

fn totals(tracks: &[Value], found: &mut Vec<Violation>) {
    let total = |field: &str| -> usize {
        tracks.iter().flat_map(|track| list(track, "items")).map(|item| list(item, field).len()).sum()
    };
    let (notes, controls) = (total("notes"), total("controls"));
    let bytes = event_bytes(notes, controls);
    if bytes > MAX_EVENT_BYTES {
        found.push(Violation {
            pointer: "/tracks".into(),
            detail: format!(
                "the project has {notes} notes and {controls} controls; at {NOTE_BYTES} and {CONTROL_BYTES} bytes each \
                 they take {bytes} bytes, and the limit is {MAX_EVENT_BYTES}"
            ),
        });
    }
}

pub(super) fn list<'a>(object: &'a Value, field: &str) -> &'a [Value] {
    object.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(super) fn text<'a>(object: &'a Value, field: &str) -> Option<&'a str> {
    object.get(field).and_then(Value::as_str)
}
