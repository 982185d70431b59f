//! Rules that a JSON Schema cannot express: the order of ticks, unique ids, references and totals.

use super::outline::{Outline, Totals, TrackOutline, side_chains};
use super::{Violations, effects};
use crate::json::View;
use crate::limits::{
    CONTROL_BYTES, MAX_EVENT_BYTES, MAX_PARAMS, MAX_PROJECT_EFFECTS, NOTE_BYTES, event_bytes,
};

/// Finds violations in a document that follows the schema.
pub(super) fn find(document: View<'_>, violations: &mut Violations) {
    check_order(document, "tempo_map", "tempo", violations);
    check_order(document, "time_signatures", "time signature", violations);
    let outline = Outline::from_document(document);
    check_unique_ids(&outline, violations);
    for (index, track) in document.list("tracks").enumerate() {
        let pointer = format!("/tracks/{index}");
        let track_outline = &outline.tracks[index];
        check_references(track_outline, &pointer, &outline, violations);
        for (effect, source_id) in &track_outline.side_chains {
            check_side_chain(
                source_id,
                Some(&track_outline.id),
                &format!("{pointer}/effects/{effect}"),
                &outline,
                violations,
            );
        }
        effects::find(track, &pointer, violations);
    }
    if let Some(master) = document.get("master") {
        for (effect, source_id) in side_chains(master) {
            check_side_chain(&source_id, None, &format!("/master/effects/{effect}"), &outline, violations);
        }
        effects::find(master, "/master", violations);
    }
    report_output_cycles(&outline, violations);
    check_totals(&outline.totals, violations);
}

fn check_order(document: View<'_>, field: &str, entry_name: &str, violations: &mut Violations) {
    let mut previous = None;
    for (index, entry) in document.list(field).enumerate() {
        if violations.is_full() {
            return;
        }
        let tick = entry.get("tick").and_then(View::as_number).unwrap_or(0.0);
        let detail = match previous {
            None if tick != 0.0 => {
                Some(format!("the first {entry_name} must be at tick 0, not at tick {tick}"))
            }
            Some(previous) if tick <= previous => Some(format!(
                "a {entry_name} at tick {tick} comes after one at tick {previous}; ticks must be in ascending \
                 order"
            )),
            _ => None,
        };
        if let Some(detail) = detail {
            violations.push(format!("/{field}/{index}/tick"), detail);
        }
        previous = Some(tick);
    }
}

fn check_unique_ids(outline: &Outline<'_>, violations: &mut Violations) {
    let mut seen = std::collections::HashSet::new();
    for (index, TrackOutline { id, .. }) in outline.tracks.iter().enumerate() {
        if !seen.insert(id) {
            violations
                .push(format!("/tracks/{index}/id"), format!("an earlier track has the same id \"{id}\""));
        }
    }
}

fn check_references(
    track: &TrackOutline<'_>,
    pointer: &str,
    outline: &Outline<'_>,
    violations: &mut Violations,
) {
    let mut check = |target: &str, pointer: String| {
        let detail = match outline.index_of.get(target).map(|&index| outline.tracks[index].kind.as_ref()) {
            None => format!("there is no track \"{target}\""),
            Some(_) if target == track.id => format!("track \"{target}\" cannot feed itself"),
            Some("bus" | "group") => return,
            Some(kind) => {
                format!("track \"{target}\" is of kind \"{kind}\"; only a bus or a group has inputs")
            }
        };
        violations.push(pointer, detail);
    };
    if let Some(output) = &track.output {
        check(output, format!("{pointer}/output"));
    }
    for (send, target) in track.sends.iter().enumerate() {
        check(target, format!("{pointer}/sends/{send}/to"));
    }
}

/// Checks that the side-chain refers to another existing track.
fn check_side_chain(
    source_id: &str,
    track_id: Option<&str>,
    pointer: &str,
    outline: &Outline<'_>,
    violations: &mut Violations,
) {
    let detail = if Some(source_id) == track_id {
        format!("track \"{source_id}\" cannot be the side-chain of its own effect")
    } else if !outline.index_of.contains_key(source_id) {
        format!("there is no track \"{source_id}\"")
    } else {
        return;
    };
    violations.push(format!("{pointer}/side_chain"), detail);
}

/// Reports tracks in a cycle of outputs, sends and side-chains.
fn report_output_cycles(outline: &Outline<'_>, violations: &mut Violations) {
    let tracks = &outline.tracks;
    // For each track, the tracks that it feeds through an output, a send or a side-chain.
    let mut fed_tracks: Vec<Vec<usize>> = tracks
        .iter()
        .map(|track| {
            let targets = track.output.iter().chain(&track.sends);
            targets.filter_map(|target| outline.index_of.get(target).copied()).collect()
        })
        .collect();
    for (index, track) in tracks.iter().enumerate() {
        for (_, source_id) in &track.side_chains {
            if let Some(&source) = outline.index_of.get(source_id) {
                fed_tracks[source].push(index);
            }
        }
    }
    // Repeatedly removes tracks without inputs. The remaining tracks include all cycles.
    let mut input_counts = vec![0_usize; tracks.len()];
    fed_tracks.iter().flatten().for_each(|&destination_index| input_counts[destination_index] += 1);
    let mut without_inputs: Vec<usize> =
        (0..tracks.len()).filter(|&index| input_counts[index] == 0).collect();
    while let Some(index) = without_inputs.pop() {
        for &destination_index in &fed_tracks[index] {
            input_counts[destination_index] -= 1;
            if input_counts[destination_index] == 0 {
                without_inputs.push(destination_index);
            }
        }
    }
    for index in (0..tracks.len()).filter(|&index| input_counts[index] > 0) {
        if violations.is_full() {
            return;
        }
        if is_in_cycle(index, &fed_tracks) {
            let detail = "the outputs, sends and side-chains of this track lead back to it";
            violations.push(format!("/tracks/{index}"), detail);
        }
    }
}

/// Whether the signal of track `start` leads back to it through another track. A track that feeds
/// itself is reported by [`check_references`] and [`check_side_chain`].
fn is_in_cycle(start: usize, fed_tracks: &[Vec<usize>]) -> bool {
    let mut seen = vec![false; fed_tracks.len()];
    let mut next: Vec<usize> =
        fed_tracks[start].iter().copied().filter(|&track_index| track_index != start).collect();
    while let Some(index) = next.pop() {
        if index == start {
            return true;
        }
        if !core::mem::replace(&mut seen[index], true) {
            next.extend(&fed_tracks[index]);
        }
    }
    false
}

fn check_totals(totals: &Totals, violations: &mut Violations) {
    let Totals { notes, controls, .. } = totals;
    let bytes = event_bytes(*notes, *controls);
    if bytes > MAX_EVENT_BYTES {
        violations.push(
            "/tracks",
            format!(
                "the project has {notes} notes and {controls} controls; at {NOTE_BYTES} and {CONTROL_BYTES} bytes each \
                 they take {bytes} bytes, and the limit is {MAX_EVENT_BYTES}"
            ),
        );
    }
    for (name, value_count, limit) in [
        ("effects", totals.effects, MAX_PROJECT_EFFECTS),
        ("parameter values of effects and instruments", totals.params, MAX_PARAMS),
    ] {
        if value_count > limit {
            violations.push(
                "/tracks",
                format!("the project has {value_count} {name} in all, and the limit is {limit}"),
            );
        }
    }
}
