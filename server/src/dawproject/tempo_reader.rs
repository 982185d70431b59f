//! Reads tempo, time signatures and their automation.

use schemas::Extra;
use schemas::project::{TempoPoint, TimeSignature};

use super::element_tree::{Node, Tree};
use super::mixer_reader::{transport_signature, transport_tempo};
use super::refusal::Refusal;
use super::time_scale::{TimeScale, TimeUnit, tick_of_beats};
use super::values::{number, required_number, value_of};
use super::warnings::Warnings;

/// Maximum number of tempo changes and of time signatures, as in the project schema.
const CHANGES_MAX: usize = 100_000;

/// Number of steps of a ramp per quarter note. A project has only steps.
const RAMP_STEPS_PER_BEAT: f64 = 4.0;

/// Maximum number of steps of a ramp.
const RAMP_STEPS_MAX: f64 = 1_024.0;

/// Range of a tempo in quarter notes per minute, as in the project schema.
const BPM_RANGE: std::ops::RangeInclusive<f64> = 1.0..=100_000.0;

/// Warnings about tempos that are not numbers, and about time signatures such as 4/3.
const UNREADABLE_TEMPO: &str = "Tempos that are not numbers were left out";
const IMPOSSIBLE_SIGNATURE: &str = "Time signatures that a project cannot have were left out";

/// Returns the unit of a timeline's times. `inherited_unit` is the unit of the enclosing timeline.
pub(super) fn time_unit(node: Node<'_>, attribute: &str, inherited_unit: TimeUnit) -> TimeUnit {
    match node.attribute(attribute).as_deref() {
        Some("seconds") => TimeUnit::Seconds,
        Some("beats") => TimeUnit::Beats,
        _ => inherited_unit,
    }
}

/// Returns the tempo changes of a file.
///
/// # Errors
/// A time is not a number, or there are too many changes.
pub(super) fn tempo_map(tree: &Tree, warnings: &mut Warnings) -> Result<Vec<TempoPoint>, Refusal> {
    let mut changes: Vec<(f64, f64)> = Vec::new();
    let arrangement = tree.root().child("Arrangement");
    if let Some(automation) = arrangement.and_then(|arrangement| arrangement.child("TempoAutomation")) {
        changes = tempo_changes(automation, warnings)?;
    }
    let bpm = transport_tempo(tree).and_then(|tempo| {
        let bpm = value_of(tempo).filter(|bpm| bpm.is_finite());
        if bpm.is_none() {
            warnings.add(UNREADABLE_TEMPO, "");
        }
        bpm
    });
    let first = changes.first().map(|&(_, bpm)| bpm).or(bpm).unwrap_or(120.0);
    if changes.first().is_none_or(|&(beats, _)| tick_of_beats(beats) > 0) {
        changes.insert(0, (0.0, first));
    }
    let mut map: Vec<TempoPoint> = Vec::with_capacity(changes.len());
    for (beats, bpm) in changes {
        if !BPM_RANGE.contains(&bpm) {
            warnings.add("Tempos outside 1 to 100000 BPM were set to the nearest possible tempo", "");
        }
        let point = TempoPoint {
            tick: tick_of_beats(beats),
            bpm: bpm.clamp(*BPM_RANGE.start(), *BPM_RANGE.end()),
            extra: Extra::default(),
        };
        match map.last_mut() {
            Some(last) if last.tick >= point.tick => last.bpm = point.bpm,
            _ => map.push(point),
        }
    }
    Ok(map)
}

/// Returns tempo changes as positions in beats with their tempo. A ramp becomes steps.
fn tempo_changes(automation: Node<'_>, warnings: &mut Warnings) -> Result<Vec<(f64, f64)>, Refusal> {
    let unit = time_unit(automation, "timeUnit", TimeUnit::Beats);
    let mut points = Vec::new();
    for node in automation.children().filter(|node| node.name() == "RealPoint") {
        let is_held = node.attribute("interpolation").is_some_and(|name| name == "hold");
        match value_of(node).filter(|bpm| bpm.is_finite()) {
            Some(bpm) => points.push((required_number(node, "time")?, bpm, is_held)),
            None => warnings.add(UNREADABLE_TEMPO, ""),
        }
    }
    points.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut changes: Vec<(f64, f64)> = Vec::new();
    // Position of the current point in beats.
    let mut position_beats = points.first().map_or(0.0, |&(time, bpm, _)| match unit {
        TimeUnit::Beats => time,
        TimeUnit::Seconds => time * bpm / 60.0,
    });
    for (index, &(time, bpm, is_held)) in points.iter().enumerate() {
        changes.push((position_beats, bpm));
        let Some(&(next_time, next_bpm, _)) = points.get(index + 1) else { break };
        let is_ramp = !is_held && next_bpm != bpm;
        let mean_bpm = if is_ramp { (bpm + next_bpm) / 2.0 } else { bpm };
        let length = match unit {
            TimeUnit::Beats => next_time - time,
            TimeUnit::Seconds => (next_time - time) * mean_bpm / 60.0,
        };
        if is_ramp && length > 0.0 {
            warnings.add("Ramps of the tempo became steps", "");
            let steps = (length * RAMP_STEPS_PER_BEAT).ceil().clamp(1.0, RAMP_STEPS_MAX);
            for step in 0..steps as usize {
                let start = step as f64 / steps;
                // Each step has the tempo at its middle.
                let step_fraction = (step as f64 + 0.5) / steps;
                changes.push((position_beats + start * length, bpm + (next_bpm - bpm) * step_fraction));
            }
        }
        if changes.len() > CHANGES_MAX {
            return Err(Refusal::from_reason(format!("it has more than {CHANGES_MAX} tempo changes")));
        }
        position_beats += length;
    }
    Ok(changes)
}

/// Returns the time signatures of a file.
///
/// # Errors
/// A value is not a number, or there are too many changes.
pub(super) fn time_signatures(
    tree: &Tree,
    scale: &TimeScale,
    warnings: &mut Warnings,
) -> Result<Vec<TimeSignature>, Refusal> {
    let of_transport = transport_signature(tree)?;
    let first = of_transport.and_then(|(numerator, denominator)| signature(0, numerator, denominator));
    if of_transport.is_some() && first.is_none() {
        warnings.add(IMPOSSIBLE_SIGNATURE, "");
    }
    let mut signatures = Vec::new();
    let arrangement = tree.root().child("Arrangement");
    let automation = arrangement.and_then(|arrangement| arrangement.child("TimeSignatureAutomation"));
    let unit = automation.map_or(TimeUnit::Beats, |node| time_unit(node, "timeUnit", TimeUnit::Beats));
    let points = automation.into_iter().flat_map(Node::children);
    for node in points.filter(|node| node.name() == "TimeSignaturePoint") {
        let tick = tick_of_beats(scale.after(0.0, required_number(node, "time")?, unit));
        let numbers = number(node, "numerator")?.zip(number(node, "denominator")?);
        match numbers.and_then(|(numerator, denominator)| signature(tick, numerator, denominator)) {
            Some(signature) => signatures.push(signature),
            None => warnings.add(IMPOSSIBLE_SIGNATURE, ""),
        }
        if signatures.len() > CHANGES_MAX {
            return Err(Refusal::from_reason(format!("it has more than {CHANGES_MAX} time signatures")));
        }
    }
    signatures.sort_by_key(|signature: &TimeSignature| signature.tick);
    if signatures.first().is_none_or(|signature| signature.tick > 0) {
        signatures.insert(0, first.unwrap_or_else(common_time));
    }
    // If several signatures have the same tick, the last one is kept.
    signatures.reverse();
    signatures.dedup_by_key(|signature| signature.tick);
    signatures.reverse();
    Ok(signatures)
}

fn common_time() -> TimeSignature {
    TimeSignature { tick: 0, numerator: 4, denominator: 4, extra: Extra::default() }
}

fn signature(tick: u32, numerator: f64, denominator: f64) -> Option<TimeSignature> {
    let is_whole = numerator.fract() == 0.0 && denominator.fract() == 0.0;
    let is_possible = is_whole && (1.0..=255.0).contains(&numerator) && (1.0..=128.0).contains(&denominator);
    let (numerator, denominator) = is_possible.then_some((numerator as u8, denominator as u8))?;
    let signature = TimeSignature { tick, numerator, denominator, extra: Extra::default() };
    denominator.is_power_of_two().then_some(signature)
}
